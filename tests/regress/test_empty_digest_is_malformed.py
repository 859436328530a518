"""What a person saw: a script with an unset variable, `vouchfs mount --digest "$DIGEST" MODEL MNT`, mounted the model unpinned and said nothing.
What was wrong: an empty word was taken for no digest at all, on the command line and in -o digest=.
Right since: an empty digest is a malformed one, exit 2, and nothing is mounted.
"""
import os

import mounts


class TestEmptyDigest(mounts.MountCase):
    def test_is_a_usage_error_everywhere(self):
        model = self.new_folder("model")
        mounts.write_file(os.path.join(model, "f"), b"x")
        self.ingest(model)
        for options in (("--digest", ""), ("--digest=",), ("-o", "digest=")):
            with self.subTest(options=options):
                with self.mount(model, *options, expect=2) as mount:
                    self.assertIn("digest", mount.done.stderr)


if __name__ == "__main__":
    mounts.main()
