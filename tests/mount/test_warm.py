"""`vouchfs warm`: what it reads is in the page cache and right, what it says of the page cache is so, and damage never gets in there."""
import json
import mmap
import os
import re
import shutil
import signal
import subprocess

import mounts
from mounts import BLOCK

SIZE = 3_000_001
SHARD = "model-00001-of-00002.safetensors"
OTHER = "model-00002-of-00002.safetensors"
TENSORS = {SHARD: {"early": 50_000, "middle": 300_000, "late": 50_000}, OTHER: {"other": 400_000}}


class WarmCase(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.model = self.new_folder("model")
        self.places = {name: mounts.safetensors(os.path.join(self.model, name), tensors, name) for name, tensors in TENSORS.items()}
        mounts.write_file(os.path.join(self.model, "sub", "notes[1].txt"), b"notes")
        self.good = self.seal_and_keep(self.model)

    def warm(self, *arguments, expect=0, **options):
        done = mounts.vouchfs("warm", *arguments, **options)
        self.assertEqual(done.returncode, expect, done.stdout[-1000:] + done.stderr[-1000:])
        return done

    def records(self, *arguments, kind="file", **options):
        lines = [json.loads(line) for line in self.warm("--json", *arguments, **options).stdout.splitlines()]
        return [line for line in lines if line["type"] == kind]

    def summary(self, *arguments, **options):
        return self.records(*arguments, kind="summary", **options)[0]

    def resident(self, path):
        """Bytes in the page cache, by another program; whole pages."""
        done = mounts.run("fincore", "--bytes", "--noheadings", "--output", "RES", path)
        done.check_returncode()
        return int(done.stdout)

    def reads(self, mount):
        return mount.status()["counters"]["reads"]

    def reads_during(self, mount, action):
        first, second = self.reads(mount), self.reads(mount)
        action()
        return self.reads(mount) - second - (second - first)

    def end_of(self, name):
        return os.path.getsize(os.path.join(self.model, name))

    def whole(self, name):
        return -(-self.end_of(name) // BLOCK) * BLOCK


class TestWarm(WarmCase):
    def test_a_file_a_folder_a_pattern_and_a_mount_point(self):
        with self.mount(self.model) as mount:
            self.warm(mount / SHARD)
            self.assertEqual((self.resident(mount / SHARD), self.resident(mount / OTHER)), (self.whole(SHARD), 0))
            self.warm(mount / "*-00002-of-*")
            self.assertEqual(self.resident(mount / OTHER), self.whole(OTHER))
            self.assertEqual(self.resident(mount / "index.json"), 0)
            self.warm(mount.path)
            self.assertEqual(self.resident(mount / "index.json"), BLOCK)
            names = [record["file"] for record in self.records(mount / "sub", mount / "sub/notes[1].txt")]
            self.assertEqual(names, [mount / "sub/notes[1].txt"], "a name with a bracket is a name, and no file comes twice")

    def test_folders_of_seals_are_left_out(self):
        with self.mount(self.model) as mount:
            self.assertFalse([record for record in self.records(mount.path) if "/.vouch/" in record["file"]])

    def test_readers_after_it_ask_the_mount_for_nothing_and_get_the_right_bytes(self):
        for name in TENSORS:  # as they lie there when nobody has just written them
            with open(os.path.join(self.model, name), "rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        with self.mount(self.model) as mount:
            self.assertGreater(self.reads_during(mount, lambda: self.warm(mount.path)), 0)

            def read():
                for name in TENSORS:
                    for mode in ("read", "stream", "private", "shared"):
                        self.check_report(self.probe.pages(mount / name, os.path.join(self.good, name), mode, cold=False), os.path.join(self.good, name), (), mode)
            self.assertEqual(self.reads_during(mount, read), 0)
            self.assertLess(self.resident(os.path.join(self.model, SHARD)), self.whole(SHARD) // 10, "the source does not lie in memory as well")

    def test_a_mount_seen_through_a_bind_mount(self):
        with self.mount(self.model) as mount:
            elsewhere = self.new_folder("bound")
            mounts.run("mount", "--bind", mount / "sub", elsewhere).check_returncode()
            try:
                self.assertEqual(self.summary(elsewhere)["files"], 1)
            finally:
                mounts.run("umount", elsewhere).check_returncode()

    def test_every_number_of_threads(self):
        with self.mount(self.model) as mount:
            for jobs in ("1", "2", "7"):
                self.warm("--evict", mount.path)
                summary = self.summary("--jobs", jobs, mount.path)
                self.assertEqual(summary["resident_bytes"], summary["bytes"])

    def test_progress_can_be_interrupted(self):
        source = self.new_folder("store")
        store = mounts.FaultyFs(self, self.model, source)
        with self.mount(source) as mount:
            store.tell("delay", "/" + SHARD, 300)
            before = store.counts()
            process = subprocess.Popen([mounts.binary(), "warm", "--jobs=1", mount / SHARD], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertTrue(mounts.wait_until(lambda: store.counts() != before), "reads nothing")
            process.send_signal(signal.SIGINT)
            self.assertIn("interrupted", process.communicate(timeout=60)[1])
            self.assertEqual(process.returncode, 130)
            store.tell("clear")


class TestCheckAndEvict(WarmCase):
    def hundred(self, text):
        return re.search(r"\b100(\.0+)?\s*%|\b1\.0\b", text) is not None

    def test_check_says_what_is_there_and_reads_nothing(self):
        with self.mount(self.model) as mount:
            said = []
            self.assertEqual(self.reads_during(mount, lambda: said.append(self.warm("--check", mount / SHARD, mount / OTHER).stdout)), 0)
            self.assertEqual(said[0].count(": 0% of "), 3, "two files, and both together")
            self.assertFalse(self.hundred(said[0]))
            self.warm(mount / SHARD)
            records = self.records("--check", mount / SHARD, mount / OTHER)
            self.assertEqual([record["resident_bytes"] for record in records], [self.end_of(SHARD), 0])
            self.assertRegex(self.warm("--check", mount / SHARD, mount / OTHER).stdout, r"(?m)^2 files: 50% of \d+ bytes")
            self.assertTrue(self.hundred(self.warm("--check", mount / SHARD).stdout))
            self.assertFalse(self.hundred(self.warm("--check", mount / OTHER).stdout))

    def test_one_page_of_many_is_neither_none_nor_all(self):
        with self.mount(self.model) as mount:
            with open(mount / SHARD, "rb", buffering=0) as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
                os.pread(file.fileno(), 1, 0)
            self.assertIn(": <1% of", self.warm("--check", mount / SHARD).stdout)
            self.warm(mount / SHARD)
            with open(mount / SHARD, "rb", buffering=0) as file:
                os.posix_fadvise(file.fileno(), 0, BLOCK, os.POSIX_FADV_DONTNEED)
            self.assertIn(": 99% of", self.warm("--check", mount / SHARD).stdout)

    def test_evict_takes_out_what_nobody_has_mapped(self):
        with self.mount(self.model) as mount:
            self.warm(mount.path)
            with open(mount / SHARD, "rb") as file, mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ) as mapping:
                mapping[BLOCK]
                done = self.warm("--evict", mount.path)
                self.assertRegex(done.stderr, r"\d+ bytes stay in the page cache")
                self.assertGreater(self.resident(mount / SHARD), 0)
            self.assertEqual(self.warm("--evict", mount.path).stderr, "")
            for name in TENSORS:
                self.assertEqual(self.resident(mount / name), 0)

    def test_who_may_not_know_is_not_told_wrong(self):
        """The kernel may answer a user who owns no file, or not; mincore would have said that everything is there."""
        with self.mount(self.model, "-o", "allow_other") as mount:
            done = mounts.run(*mounts.AS_NOBODY, mounts.binary(), "warm", "--check", mount / SHARD)
            self.assertFalse(self.hundred(done.stdout + done.stderr), done.stdout)
            self.assertIn(done.returncode, (0, 1))


class TestTensors(WarmCase):
    def blocks(self, name, tensor, shift=0):
        begin, end = self.places[name][tensor]
        return (-(-(end + shift) // BLOCK) - (begin + shift) // BLOCK) * BLOCK

    def test_only_the_blocks_of_tensors_that_match(self):
        with self.mount(self.model) as mount:
            summary = self.summary("--tensor", "early", "--tensor=oth*", mount.path)
            self.assertEqual(summary["files"], 2)
            self.assertEqual(summary["resident_bytes"], summary["bytes"])
            last = self.end_of(OTHER) - self.whole(OTHER)  # the file ends within its last block
            self.assertEqual(summary["bytes"], self.blocks(SHARD, "early") + self.blocks(OTHER, "other") + last)
            self.warm("--evict", mount.path)
            self.assertEqual(self.summary("--check", "--tensor", "*", mount.path)["resident_bytes"], 0)

    def damage_in(self, tensor):
        """Its last block: of a range that lies a block too far in front it would not be part."""
        block = (self.places[SHARD][tensor][1] - 1) // BLOCK
        mounts.damage_block(os.path.join(self.model, SHARD), block)
        return block * BLOCK

    def test_damage_in_another_tensor_is_not_met(self):
        at = self.damage_in("late")
        with self.mount(self.model, "--on-known-bad=serve") as mount:
            self.warm("--tensor", "early", mount.path)
            unread = self.records("--tensor", "late", mount.path, kind="unread", expect=3)
            self.assertEqual(unread, [{"type": "unread", "file": mount / SHARD, "offset": at, "length": self.end_of(SHARD) - at}])

    def test_a_file_that_is_mended_has_its_tensors_elsewhere(self):
        shutil.rmtree(os.path.join(self.model, ".vouch"))
        self.ingest(self.model, "--fix=format")
        at = self.damage_in("late")
        with self.mount(self.model, "--on-known-bad=serve") as mount:
            self.assertEqual(self.summary("--tensor", "middle", mount / SHARD)["bytes"], self.blocks(SHARD, "middle", BLOCK))
            unread = self.records("--tensor", "late", mount.path, kind="unread", expect=3)
            self.assertEqual([(row["offset"], row["length"]) for row in unread], [(at + BLOCK, self.end_of(SHARD) - at)])

    def test_no_tensor_of_that_name(self):
        with self.mount(self.model) as mount:
            self.assertIn("vouchfs ls", self.warm("--tensor", "nope", mount.path, expect=10).stderr)


class TestWhatGoesWrong(WarmCase):
    def test_a_damaged_block_stays_out_and_its_neighbours_come_in(self):
        bad = 200
        mounts.damage_block(os.path.join(self.model, SHARD), bad)
        with self.mount(self.model, "--on-known-bad=serve") as mount:
            done = self.warm("--json", mount.path, expect=3)
            lines = [json.loads(line) for line in done.stdout.splitlines()]
            self.assertEqual([(line["offset"], line["length"]) for line in lines if line["type"] == "unread"], [(bad * BLOCK, BLOCK)])
            summary = lines[-1]
            self.assertEqual(summary["unread_bytes"], BLOCK)
            self.assertIn("vouchfs status " + mount.path, done.stderr)
            report = self.probe.pages(mount / SHARD, os.path.join(self.good, SHARD), "read", cold=False)
            self.check_report(report, os.path.join(self.good, SHARD), {bad}, "after warm")

    def test_a_file_whose_open_is_refused(self):
        mounts.damage_block(os.path.join(self.model, SHARD), 200)
        with self.mount(self.model) as mount:
            self.warm(mount / SHARD, expect=3)
            done = self.warm("--json", mount.path, expect=3)
            self.assertEqual(json.loads(done.stdout.splitlines()[-1])["unread_bytes"], self.end_of(SHARD))
            self.assertEqual(self.resident(mount / OTHER), self.whole(OTHER), "the others are warmed all the same")

    def test_a_source_that_fails_and_is_well_again(self):
        source = self.new_folder("store")
        store = mounts.FaultyFs(self, self.model, source)
        with self.mount(source) as mount:
            store.tell("eio", "/" + SHARD, 40 * BLOCK, BLOCK, 0)
            unread = self.records(mount.path, kind="unread", expect=3)
            self.assertEqual([(row["offset"], row["length"]) for row in unread], [(40 * BLOCK, BLOCK)])
            store.tell("clear")
            self.assertEqual(self.records(mount.path, kind="unread"), [])

    def test_places_that_are_no_mount(self):
        with self.mount(self.model) as mount:
            self.assertIn("findmnt", self.warm(self.model, expect=7).stderr)
            for nowhere in ("nope", "nope*", "sub/[x]"):
                self.warm(mount / nowhere, expect=10)
            self.warm("--check", "--evict", mount.path, expect=2)
            self.warm(expect=2)

    def test_a_mount_whose_daemon_is_gone(self):
        path = self.new_folder("mnt")
        mounts.vouchfs_ok("mount", self.model, path)
        for pid in mounts.processes_of(path):
            os.kill(pid, signal.SIGKILL)
        self.assertTrue(mounts.wait_until(lambda: not mounts.processes_of(path)))
        self.assertIn("vouchfs umount", self.warm(path, expect=7).stderr)
        mounts.run("umount", path).check_returncode()


if __name__ == "__main__":
    mounts.main()
