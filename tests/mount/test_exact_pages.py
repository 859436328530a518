"""The pages that are bad, and no others, fail; by every way of reading; one event a block; status; well again when the file is."""
import errno
import json
import os
import random

import mounts
from mounts import BLOCK, MODES

SHARD_FLOATS = [270_001, 90_000, 133_333, 160_000, 12_345]  # 2.6 MB: more than two of the largest windows
WINDOW = 32   # pages of the kernel's usual readahead window (128 KiB)
REQUEST = 256  # pages of the largest request (1 MiB), which is also the window that a mount made by root gets


def cases(size):
    """{name: bad blocks} for a file of this size whose last block is partial."""
    last = size // BLOCK
    middle = last // 2
    return {
        "first": {0},
        "middle": {middle},
        "last_full": {last - 1},
        "last_partial": {last},
        "several_in_one_window": {3 * WINDOW + 1, 3 * WINDOW + 2, 3 * WINDOW + 9, 3 * WINDOW + 31},
        "run_across_windows": set(range(2 * WINDOW - 5, 2 * WINDOW + 6)),
        "run_across_requests": set(range(REQUEST - 3, REQUEST + 4)) | set(range(2 * REQUEST - 1, 2 * REQUEST + 1)),
        "one_whole_request": set(range(REQUEST, 2 * REQUEST)),
        "one_whole_window": set(range(2 * WINDOW, 3 * WINDOW)),
        "every_second": set(range(0, last + 1, 2)),
        "edges_of_windows": {WINDOW - 1, WINDOW, 4 * WINDOW - 1, 4 * WINDOW, last - 1, last},
        "none": set(),
    }


class DamagedModel:
    """Shards, each damaged in its own way, with an untouched copy and what is where."""

    def __init__(self, case):
        self.model, self.places = case.new_folder("model"), {}
        names = list(cases(BLOCK * 1000))
        for i, name in enumerate(names):
            tensors = {"%s.w%d" % (name, t): count for t, count in enumerate(SHARD_FLOATS)}
            self.places[name] = mounts.safetensors(self.file(name), tensors, seed=i)
        self.bad = {name: cases(os.path.getsize(self.file(name)))[name] for name in names}
        self.good = case.seal_and_keep(self.model)

    def shard(self, name):
        return "shard_%s.safetensors" % name

    def file(self, name):
        return os.path.join(self.model, self.shard(name))

    def reference(self, name):
        return os.path.join(self.good, self.shard(name))

    def damage(self):
        for name, blocks in self.bad.items():
            for i, block in enumerate(sorted(blocks)):
                mounts.damage_block(self.file(name), block, i % 4)

    def restore(self):
        for name in self.bad:
            mounts.restore(self.file(name), self.reference(name))


class TestExactPages(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.m = DamagedModel(self)
        self.assertNotEqual(os.path.getsize(self.m.file("last_partial")) % BLOCK, 0, "the last block must be partial")
        self.m.damage()

    def check_all(self, mount, mode, bad):
        for name in self.m.bad:
            with self.subTest(case=name, mode=mode):
                self.assert_pages(mount / self.m.shard(name), self.m.reference(name), mode, bad[name])

    def check_mode(self, mode):
        """A mount of its own: nothing another mode read before is in any cache."""
        with self.mount(self.m.model, "--on-known-bad=serve") as mount:
            self.check_all(mount, mode, self.m.bad)
            self.m.restore()
            self.wait_well(mount, mode)
            self.check_all(mount, mode, {name: set() for name in self.m.bad})

    def wait_well(self, mount, mode):
        """A known-bad block may be refused for a second more, unless the source's size, inode or ctime changed: they did here."""
        names = [name for name in self.m.bad if self.m.bad[name]]

        def well():
            return not any(self.probe.pages(mount / self.m.shard(n), self.m.reference(n), mode, mounts.runs(self.m.bad[n])).bad for n in names)
        self.assertTrue(mounts.wait_until(well, 20), "still EIO after the files were restored on disk")

    def test_by_read(self):
        self.check_mode("read")

    def test_by_long_reads(self):
        self.check_mode("stream")

    def test_by_pread_across_the_edge(self):
        self.check_mode("edge")

    def test_by_direct_reads(self):
        self.check_mode("direct")

    def test_by_private_mapping(self):
        self.check_mode("private")

    def test_by_shared_mapping(self):
        self.check_mode("shared")

    def test_all_modes_on_one_mount_in_random_order(self):
        orders = [(name, mode) for name in self.m.bad for mode in MODES]
        random.Random(3).shuffle(orders)
        with self.mount(self.m.model, "--on-known-bad=serve") as mount:
            for name, mode in orders:
                with self.subTest(case=name, mode=mode):
                    self.assert_pages(mount / self.m.shard(name), self.m.reference(name), mode, self.m.bad[name])


class TestEventsOfDamage(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.m = DamagedModel(self)
        self.m.damage()

    def read_everything(self, mount, mode="read"):
        for name in self.m.bad:
            self.assert_pages(mount / self.m.shard(name), self.m.reference(name), mode, self.m.bad[name])

    def expected_fields(self, name, block):
        offset = block * BLOCK
        length = min(BLOCK, os.path.getsize(self.m.reference(name)) - offset)
        return {"file": self.m.shard(name), "block": block, "offset": offset, "length": length, "model": "model", "result": "eio",
                "tensors": mounts.tensors_cut(self.m.places[name], offset, length),
                "expected": mounts.block_hash(self.m.reference(name), block), "actual": mounts.block_hash(self.m.file(name), block)}

    def test_one_event_a_block_with_every_fact(self):
        with self.mount(self.m.model, "--on-known-bad=serve") as mount:
            for mode in MODES:
                self.read_everything(mount, mode)
            events = mount.events("corrupt_block")
            wanted = [(self.m.shard(name), block) for name, blocks in self.m.bad.items() for block in sorted(blocks)]
            self.assertEqual(sorted((e["file"], e["block"]) for e in events), sorted(wanted), "one event line a bad block")
            by_block = {(e["file"], e["block"]): e for e in events}
            for name, blocks in self.m.bad.items():
                for block in blocks:
                    event = by_block[self.m.shard(name), block]
                    expected = self.expected_fields(name, block)
                    self.assertEqual({k: sorted(event[k]) if k == "tensors" else event[k] for k in expected}, expected)
                    self.assertRegex(event["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
                    self.assertEqual([s["name"] for s in event["sources"]], ["model"])
                    self.assertGreaterEqual(event["count"], 1)
                    self.assertEqual(event["uid"], 0)
                    self.assertGreater(event["pid"], 0)

    def test_repeats_count_up_and_add_no_line(self):
        with self.mount(self.m.model, "--on-known-bad=serve") as mount:
            fd = os.open(mount / self.m.shard("first"), os.O_RDONLY)
            for _ in range(500):
                self.assert_errno(errno.EIO, lambda: os.pread(fd, 10, 0), "a bad page")
            os.close(fd)
            events = mount.events("corrupt_block", self.m.shard("first"))
            self.assertEqual(len(events), 1)
            self.assertGreater(events[0]["count"], 1)

    def test_status_names_the_damage(self):
        with self.mount(self.m.model, "--on-known-bad=serve") as mount:
            self.read_everything(mount)
            wanted = sorted((self.m.shard(n), b) for n, blocks in self.m.bad.items() for b in blocks)
            done = mounts.vouchfs("status", mount.path, "--json")
            record = json.loads(done.stdout.splitlines()[0])
            model = record["models"][0]
            self.assertEqual(record["type"], "status")
            self.assertEqual(sorted((k["file"], k["block"]) for k in model["known_bad"]), wanted)
            one = next(k for k in model["known_bad"] if k["file"] == self.m.shard("middle"))
            self.assertEqual(sorted(one["tensors"]), mounts.tensors_cut(self.m.places["middle"], one["block"] * BLOCK, BLOCK))
            states = {s["path"]: s["state"] for s in model["shards"]}
            self.assertEqual({p: "bad" if self.m.bad[n] else "ok" for n in self.m.bad for p in [self.m.shard(n)]}, {p: states[p] for p in states})
            human = mounts.vouchfs("status", mount.path).stdout
            self.assertIn(self.m.shard("middle"), human)
            self.assertEqual(os.getxattr(mount / self.m.shard("first"), "user.vouch.state"), b"bad")
            self.assertEqual(os.getxattr(mount / self.m.shard("none"), "user.vouch.state"), b"ok")

    def test_counter_counts_each_bad_block_once(self):
        """Direct reads of a page ask for it once and no more, so the count is exact however slow the machine is."""
        with self.mount(self.m.model, "--on-known-bad=serve") as mount:
            self.read_everything(mount, "direct")
            counters = mount.status()["counters"]
            total = sum(map(len, self.m.bad.values()))
            self.assertEqual((counters["corrupt_blocks"], counters["failed_reads"]), (total, total))

    def test_the_source_is_never_written_to(self):
        before = {name: (os.stat(self.m.file(name)).st_mtime_ns, mounts.read_file(self.m.file(name))) for name in self.m.bad}
        with self.mount(self.m.model, "--on-known-bad=serve") as mount:
            self.read_everything(mount)
        for name, (mtime, data) in before.items():
            self.assertEqual((os.stat(self.m.file(name)).st_mtime_ns, mounts.read_file(self.m.file(name))), (mtime, data))


if __name__ == "__main__":
    mounts.main()
