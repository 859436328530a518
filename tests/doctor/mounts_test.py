#!/usr/bin/env python3
"""Models on a mount: a live mount of vouchfs is healthy, and a mount whose daemon was killed is named as that."""
import json
import os
import pathlib
import signal
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
import models  # noqa: E402
import mounts  # noqa: E402


class OnAMount(mounts.MountCase):
    def doctor(self, path):
        done = mounts.vouchfs("doctor", "--json", path)
        return done, [json.loads(line) for line in done.stdout.splitlines()]

    def sealed(self):
        model = self.path("model")
        models.write_model(model, shards=2, index=True)
        self.ingest(model)
        return model

    def test_a_live_mount_is_whole(self):
        with self.mount(self.sealed()) as mount:
            done, records = self.doctor(mount.path)
            self.assertEqual([r for r in records if r.get("severity") in ("error", "warning")], [], done.stderr)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_mount_whose_daemon_was_killed_is_named(self):
        with self.mount(self.sealed()) as mount:
            for pid in mount.daemons():
                os.kill(pid, signal.SIGKILL)
            self.assertTrue(mounts.wait_until(lambda: not mount.daemons()))
            done, records = self.doctor(mount.path)
            findings = [r for r in records if r["type"] == "finding"]
            self.assertEqual([(f["code"], f["severity"]) for f in findings], [("mount.dead", "error")], done.stdout + done.stderr)
            self.assertIn("umount", findings[0]["command"])
            self.assertIn(mount.path, findings[0]["command"])
            self.assertIn("Transport endpoint is not connected", "\n".join(findings[0]["loader"]))
            self.assertEqual((done.returncode, records[-1]["verdict"]), (3, "damaged"))

    def on_faulty(self):
        """A model below faulty_fs, and the filesystem."""
        models.write_model(self.path("model"), shards=2, index=True)
        return mounts.FaultyFs(self, self.path("model"), self.new_folder("faulty"))

    def test_a_model_on_another_fuse_mount_is_noted(self):
        done, records = self.doctor(self.on_faulty().path)
        findings = [r for r in records if r["type"] == "finding"]
        self.assertEqual([(f["code"], f["severity"]) for f in findings], [("mount.network", "note")], done.stderr)
        for option in ("disable_mmap", "--no-mmap", "--safetensors-load-strategy"):
            self.assertIn(option, findings[0]["advice"])
        self.assertEqual(done.returncode, 0)

    def test_a_file_that_the_storage_fails_to_read_is_an_io_error(self):
        faulty, shard = self.on_faulty(), models.shard_name(2, 2)
        faulty.tell("eio", "/" + shard, 0, 4096, 0)
        done, records = self.doctor(faulty.path)
        errors = [(f["code"], f["file"]) for f in records if f.get("severity") == "error"]
        self.assertEqual(errors, [("file.io_error", shard)], done.stdout)
        self.assertEqual((done.returncode, records[-1]["verdict"]), (3, "damaged"))


if __name__ == "__main__":
    mounts.main()
