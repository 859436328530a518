"""What a mount costs: it does not grow with the model, and what was read once is not asked for again."""
import os
import time

import mounts


class CostCase(mounts.MountCase):
    def resident(self, mount):
        """Bytes of memory that the mount's processes hold for themselves (anonymous: mapped files can be dropped by the kernel)."""
        total = 0
        for pid in mount.daemons():
            with open("/proc/%d/status" % pid) as file:
                total += sum(int(line.split()[1]) * 1024 for line in file if line.startswith("RssAnon:"))
        return total

    def sparse_model(self, name, size, files=1):
        model = self.new_folder(name)
        for i in range(files):
            with open(os.path.join(model, "weights-%d.bin" % i), "wb") as file:
                file.truncate(size)
                file.write(b"head")
        self.ingest(model, timeout=900)
        return model

    def time_to_mount(self, model):
        began = time.monotonic()
        with self.mount(model) as mount:
            took = time.monotonic() - began
            return took, self.resident(mount)


class TestTreeCache(CostCase):
    LEAVES = 200  # tree blocks of 128 data blocks each

    def misses_of_a_second_round(self, *options):
        """Reads one block below every leaf of the tree, then the block of each that lies farthest off: tree blocks that had to be read again for it."""
        with self.mount(self.model, *options) as mount:
            with open(mount / "f.bin", "rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
                for leaf in range(self.LEAVES):
                    os.pread(file.fileno(), mounts.BLOCK, leaf * 128 * mounts.BLOCK)
                before = mount.status()["counters"]["tree_cache_misses"]
                for leaf in range(self.LEAVES):
                    os.pread(file.fileno(), mounts.BLOCK, (leaf * 128 + 64) * mounts.BLOCK)
                return mount.status()["counters"]["tree_cache_misses"] - before

    def setUp(self):
        super().setUp()
        self.model = self.new_folder("model")
        mounts.write_file(os.path.join(self.model, "f.bin"), mounts.noise(self.LEAVES * 128 * mounts.BLOCK, 1))
        self.ingest(self.model)

    def test_by_default_the_tree_of_the_model_is_kept(self):
        self.assertEqual(self.misses_of_a_second_round(), 0)

    def test_a_small_bound_is_kept_to_and_the_bytes_are_right(self):
        self.assertGreater(self.misses_of_a_second_round("--tree-cache=64K"), self.LEAVES // 2)
        self.assertGreater(self.misses_of_a_second_round("-o", "tree-cache=65536"), self.LEAVES // 2)

    def test_a_size_that_is_none_is_refused(self):
        for size in ("much", "-1", "1X"):
            with self.subTest(size=size):
                self.assertEqual(mounts.vouchfs("mount", "--tree-cache=" + size, self.model, self.new_folder("mnt" + size)).returncode, 2)


class TestPageCacheIsKept(CostCase):
    def setUp(self):
        super().setUp()
        self.model = self.new_folder("model")
        mounts.write_file(os.path.join(self.model, "f.bin"), mounts.noise(6_000_000, 1))
        self.good = self.seal_and_keep(self.model)

    def reads(self, mount):
        return mount.status()["counters"]["reads"]

    def reads_during(self, mount, action):
        """READ requests that the action caused, those for status.json itself taken away."""
        first, second = self.reads(mount), self.reads(mount)
        action()
        return self.reads(mount) - second - (second - first)

    def test_a_second_read_sends_no_request(self):
        with self.mount(self.model) as mount:
            reference = os.path.join(self.good, "f.bin")
            self.assertGreater(self.reads_during(mount, lambda: mounts.read_file(mount / "f.bin")), 0)

            def again():
                for mode in ("read", "stream", "edge", "private", "shared"):
                    report = self.probe.pages(mount / "f.bin", reference, mode, cold=False)
                    self.check_report(report, reference, (), mode)
            self.assertEqual(self.reads_during(mount, again), 0)

    def test_a_second_read_by_another_process_sends_no_request(self):
        with self.mount(self.model) as mount:
            mounts.run("sha256sum", mount / "f.bin")
            self.assertEqual(self.reads_during(mount, lambda: mounts.run("sha256sum", mount / "f.bin")), 0)

    def test_a_second_listing_sends_no_request(self):
        with self.mount(self.model) as mount:
            def requests():
                return mount.status()["counters"]["requests"]

            def look():
                os.listdir(mount.path), os.stat(mount / "f.bin"), os.path.exists(mount / "not-there")
            before = requests()
            look()
            self.assertGreater(requests(), before + 1, "the counter stands still")
            first, second = requests(), requests()
            for _ in range(20):
                look()
            grown = requests() - second - (second - first)
            self.assertLessEqual(grown, 2 * 20, "opendir and releasedir at most")

    def test_one_copy_in_memory(self):
        """What the source left in the page cache is dropped or never came in."""
        source = os.path.join(self.model, "f.bin")
        fd = os.open(source, os.O_RDONLY)
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)
        with self.mount(self.model) as mount:
            mounts.read_file(mount / "f.bin")
            self.assertLess(self.cached(source), 20, "pages of the source in the page cache")

    def cached(self, path):
        done = mounts.run("fincore", "--bytes", "--noheadings", "--output", "PAGES", path)
        done.check_returncode()
        return int(done.stdout.split()[0])


class TestOfManyGibibytes(CostCase):
    """A sparse file of 3 GiB: its tree is 24 MiB, of which nothing is needed to mount."""

    SIZE = 3 << 30

    def test_time_and_memory_do_not_grow_with_the_model(self):
        small, large = self.sparse_model("small", 1 << 20), self.sparse_model("large", self.SIZE)
        small_time, small_memory = min(self.time_to_mount(small) for _ in range(5))
        large_time, large_memory = min(self.time_to_mount(large) for _ in range(5))
        print("1 MiB: %.3f s, %d KiB; 3 GiB: %.3f s, %d KiB" % (small_time, small_memory >> 10, large_time, large_memory >> 10))
        self.assertLess(large_time, small_time * 3 + 0.5)
        self.assertLess(large_memory, small_memory + (4 << 20))
        with self.mount(large) as mount:
            before = self.resident(mount)
            done = mounts.run("dd", "if=" + mount / "weights-0.bin", "of=/dev/null", "bs=4M", timeout=500)
            self.assertEqual(done.returncode, 0, done.stderr)
            grown = self.resident(mount) - before
            print("read 3 GiB: %d KiB more" % (grown >> 10))
            self.assertLess(grown, 128 << 20, "the tree cache is bounded by 32 MiB, buffers by the number of threads")


if __name__ == "__main__":
    mounts.main()
