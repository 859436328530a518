#!/usr/bin/env python3
"""doctor --deep: places as the seal has them, digests as sha256sum has them, progress, jobs; and that doctor never writes anything, nor needs to."""
import os
import struct
import subprocess

import models
import mounts

SHARDS = [models.shard_name(i, 3) for i in (1, 2, 3)]


def listing(folder):
    """Everything of a tree that a write would change; access times are no writes."""
    rows = []
    for top, folders, files in os.walk(folder):
        for name in [".", *folders, *files]:
            info = os.lstat(os.path.join(top, name))
            rows.append((os.path.join(top, name), info.st_mode, info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino, info.st_nlink))
    return sorted(rows)


class DeepCase(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.model = self.path("model")
        self.rows = models.write_model(self.model, shards=3, tensors=4, floats=9000, index=True)
        for name in SHARDS:  # noise may hold NaN: only finite numbers here
            self.write_floats(name)

    def write_floats(self, name):
        path = self.model + "/" + name
        begin = min(row[2] for row in self.rows[name].values())
        count = (os.path.getsize(path) - begin) // 4
        mounts.patch(path, begin, struct.pack("<%df" % count, *(1.0 + i % 1000 for i in range(count))))

    def doctor(self, *arguments, code=0):
        done = mounts.vouchfs("doctor", self.model, "--json", *arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return models.records(done.stdout, "finding")

    def test_a_good_model_is_whole_with_and_without_a_seal(self):
        self.assertEqual(self.doctor("--deep"), [])
        self.ingest(self.model)
        self.assertEqual(self.doctor("--deep"), [])

    def test_places_and_tensors_are_those_that_verify_finds(self):
        self.ingest(self.model)
        for name, offset in ((SHARDS[0], 5000), (SHARDS[1], 70000), (SHARDS[1], 74000), (SHARDS[2], 143000)):
            mounts.flip(self.model + "/" + name, offset)
        verified = models.records(mounts.vouchfs("verify", self.model, "--json").stdout, "corrupt")
        wanted = sorted((r["file"], r["offset"], r["length"], sorted(r["tensors"])) for r in verified)
        self.assertTrue(wanted)
        for jobs in ("1", "3"):
            found = self.doctor("--deep", "--jobs", jobs, code=3)
            self.assertEqual({f["code"] for f in found}, {"seal.block_mismatch"})
            self.assertEqual(sorted((f["file"], f["offset"], f["length"], sorted(f["tensors"])) for f in found), wanted)

    def test_digests_are_those_of_sha256sum(self):
        sums = subprocess.run(["sha256sum", *SHARDS], cwd=self.model, capture_output=True, text=True, check=True).stdout
        mounts.write_file(self.model + "/SHA256SUMS", sums.encode())
        self.assertEqual(self.doctor("--deep"), [])
        mounts.flip(self.model + "/" + SHARDS[1], 70000)
        self.assertEqual(self.doctor(), [])
        found = self.doctor("--deep", code=3)
        self.assertEqual([(f["code"], f["file"]) for f in found], [("publisher.digest_mismatch", SHARDS[1])])
        now = subprocess.run(["sha256sum", SHARDS[1]], cwd=self.model, capture_output=True, text=True, check=True).stdout.split()[0]
        then = [line.split()[0] for line in sums.splitlines() if SHARDS[1] in line][0]
        for digest in (now, then):
            self.assertIn(digest, found[0]["message"])

    def test_nothing_is_written_whatever_is_wrong(self):
        self.ingest(self.model)
        mounts.flip(self.model + "/" + SHARDS[1], 70000)
        os.truncate(self.model + "/" + SHARDS[2], 9000)
        before = listing(self.model)
        for arguments in ((), ("--deep",), ("--ci",)):
            mounts.vouchfs("doctor", self.model, *arguments)
        self.assertEqual(listing(self.model), before)

    def test_a_read_only_filesystem_gives_the_same_answer(self):
        self.ingest(self.model)
        mounts.flip(self.model + "/" + SHARDS[1], 70000)
        there = self.new_folder("read-only")
        mounts.run("mount", "--bind", self.model, there)
        try:
            mounts.run("mount", "-o", "remount,bind,ro", there)
            self.assertRaises(OSError, open, there + "/probe", "w")
            answers = [models.records(mounts.vouchfs("doctor", path, "--deep", "--json").stdout, "finding") for path in (self.model, there)]
        finally:
            mounts.run("umount", there)
        strip = [[{key: value for key, value in f.items() if key not in ("path", "command")} for f in answer] for answer in answers]
        self.assertEqual(strip[0], strip[1])
        self.assertEqual([f["code"] for f in strip[0]], ["seal.block_mismatch"])


if __name__ == "__main__":
    mounts.main()
