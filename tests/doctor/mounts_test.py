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
    def doctor(self, path, *options):
        done = mounts.vouchfs("doctor", "--json", *options, path)
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

    def places(self, records, code):
        """(file, offset, length, tensors) of every finding of a code; no other error may be there."""
        errors = [r for r in records if r.get("severity") == "error"]
        self.assertEqual({e["code"] for e in errors}, {code}, errors)
        return [(e["file"], e["offset"], e["length"], e["tensors"]) for e in errors]

    def test_blocks_that_a_mount_refuses_are_named_with_their_tensors(self):
        model, shard = self.sealed(), models.shard_name(1, 2)
        rows = models.read_header(os.path.join(model, shard))
        for block in (4, 12, 13):
            mounts.flip(os.path.join(model, shard), block * models.BLOCK + 7)
        expected = [(shard, offset, length, models.tensors_cut(rows, offset, length)) for offset, length in ((4 * models.BLOCK, models.BLOCK), (12 * models.BLOCK, 2 * models.BLOCK))]
        with self.mount(model) as mount:
            done, records = self.doctor(mount.path, "--deep")
            self.assertEqual(self.places(records, "seal.block_mismatch"), expected, done.stdout)
            # Now the mount refuses to open the file: its header cannot be read, and the answer is the same.
            for path, name in ((mount.path, shard), (os.path.join(mount.path, shard), shard)):
                done, records = self.doctor(path)
                self.assertEqual(self.places(records, "seal.block_mismatch"), expected, done.stdout)
                self.assertEqual((done.returncode, records[-1]["verdict"]), (3, "damaged"))
            command = next(r["command"] for r in records if r.get("code") == "seal.block_mismatch")
            self.assertEqual(command, "vouchfs doctor --deep " + model)
        done, records = self.doctor(model, "--deep")
        self.assertEqual(self.places(records, "seal.block_mismatch"), expected, "the source itself gives the same places")

    def test_blocks_that_a_mount_cannot_read_are_told_from_changed_ones(self):
        models.write_model(self.path("model"), shards=2, index=True)
        self.ingest(self.path("model"), "--seal", self.path("seal"))
        faulty, shard = mounts.FaultyFs(self, self.path("model"), self.new_folder("faulty")), models.shard_name(1, 2)
        faulty.tell("eio", "/" + shard, 5 * models.BLOCK, models.BLOCK, 0)
        rows = models.read_header(os.path.join(self.path("model"), shard))
        with self.mount(faulty.path, "--seal", self.path("seal")) as mount:
            done, records = self.doctor(mount.path, "--deep")
            self.assertEqual(self.places(records, "file.io_error"), [(shard, 5 * models.BLOCK, models.BLOCK, models.tensors_cut(rows, 5 * models.BLOCK, models.BLOCK))], done.stdout)
            self.assertIn("cannot be read from the source", done.stdout)

    def test_a_storage_that_fails_in_places_is_read_between_them(self):
        faulty, shard = self.on_faulty(), models.shard_name(1, 2)
        rows = models.read_header(os.path.join(self.path("model"), shard))
        for block in (3, 20):
            faulty.tell("eio", "/" + shard, block * models.BLOCK, models.BLOCK, 0)
        done, records = self.doctor(faulty.path, "--deep")
        found = self.places(records, "file.io_error")
        self.assertEqual([(offset, length) for _, offset, length, _ in found], [(3 * models.BLOCK, models.BLOCK), (20 * models.BLOCK, models.BLOCK)], done.stdout)
        self.assertEqual([names for *_, names in found], [models.tensors_cut(rows, offset, models.BLOCK) for _, offset, _, _ in found])


if __name__ == "__main__":
    mounts.main()
