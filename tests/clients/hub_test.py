#!/usr/bin/env python3
"""huggingface_hub writes what it leaves beside a download, and ingest reads it; a sealed snapshot is still a snapshot to huggingface_hub."""
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
import models  # noqa: E402
import mounts  # noqa: E402
import setup  # noqa: E402
import stores  # noqa: E402


class Hub(mounts.MountCase):
    def setUp(self):
        super().setUp()
        models.write_model(self.path("made"), shards=2)
        self.files = {name: mounts.read_file(self.path("made", name)) for name in os.listdir(self.path("made"))}
        self.files["sub/vocab.txt"] = mounts.noise(9000, 3)

    def hub(self, *words):
        done = mounts.run(setup.python(), HERE / "hub_client.py", *words, timeout=300, env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": self.path("home")})
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return json.loads(done.stdout.splitlines()[-1])

    def download(self):
        folder = self.path("local")
        rows = {}
        for path, data in self.files.items():
            mounts.write_file(os.path.join(folder, path), data)
            large = stores.is_large(path)
            rows[path] = {"bytes": len(data), "git_sha1": stores.git_sha1(stores.lfs_pointer(data) if large else data), "sha256": stores.sha256(data) if large else None}
        self.hub("write", folder, stores.COMMIT, json.dumps(rows))
        return folder

    def test_notes_and_listing_as_the_library_writes_them_are_evidence_for_every_file(self):
        folder = self.download()
        mounts.vouchfs_ok("ingest", folder, "--check-publisher", "require")
        rows, document = stores.provenance(folder + "/.vouch")
        self.assertEqual({path: (result, sorted(kind for kind, _, _ in checked)) for path, (result, checked) in rows.items()},
                         {path: ("ok", ["hf-local-dir", "hf-tree"]) for path in self.files})
        self.assertEqual(document["missing"], [])

    def test_a_file_changed_behind_the_librarys_back_is_refused(self):
        folder = self.download()
        path = os.path.join(folder, "sub/vocab.txt")
        before = os.stat(path)
        mounts.flip(path, 100)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # damage does not touch times
        done = mounts.vouchfs("ingest", folder)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("bytes changed", done.stderr)
        self.assertIn(stores.git_sha1(self.files["sub/vocab.txt"]), done.stderr)

    def test_a_sealed_snapshot_is_a_snapshot_to_the_library(self):
        home, _ = stores.hf_cache(self.path("hub"), self.files)
        want = {"org/tiny": {stores.COMMIT: ["main"]}}
        self.assertEqual(self.hub("scan", os.path.dirname(home)), {"warnings": [], "repos": want})
        mounts.vouchfs_ok("ingest", home)
        self.assertEqual(self.hub("scan", os.path.dirname(home)), {"warnings": [], "repos": want})


if __name__ == "__main__":
    mounts.main()
