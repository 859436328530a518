"""What a person saw: beside a download of aria2 that was still running, doctor called the preallocated model.gguf "whole" and advised to remove the
control file without which aria2 cannot resume; a folder with nothing but model.gguf.part was "unusable", no model, instead of one on its way.
What was wrong: names of partial files were a note about leftovers, whatever they stood beside, and promised no weights.
Right since: a download that has not ended is a finding of its own, file.unfinished_download, which makes a model incomplete (exit 4).
"""
import mounts


class TestRunningDownload(mounts.MountCase):
    def doctor(self, name):
        return mounts.vouchfs("doctor", self.path(name))

    def test_beside_its_control_file_is_incomplete_and_nothing_is_to_be_removed(self):
        mounts.write_file(self.path("m/model.gguf"), b"GGUF\3\0\0\0" + bytes(4096))
        mounts.write_file(self.path("m/model.gguf.aria2"), b"\0\1pieces")
        done = self.doctor("m")
        self.assertEqual(done.returncode, 4, done.stdout)
        self.assertIn("error: file.unfinished_download  model.gguf", done.stdout)
        self.assertIn("model.gguf.aria2", done.stdout)
        self.assertIn("aria2c -c", done.stdout)
        self.assertNotIn("remove", done.stdout)

    def test_with_nothing_beside_it_is_incomplete_under_every_name_of_the_tools(self):
        for ending in ("part", "aria2", "crdownload", "incomplete", "tmp", "download", "partial"):
            name = "model.gguf." + ending
            mounts.write_file(self.path(ending + "/" + name), b"GGUF\3\0")
            for path in (ending, ending + "/" + name):
                with self.subTest(path=path):
                    done = self.doctor(path)
                    self.assertEqual(done.returncode, 4, done.stdout)
                    self.assertIn("error: file.unfinished_download", done.stdout)


if __name__ == "__main__":
    mounts.main()
