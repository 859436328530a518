"""The filesystem under the source fails: EIO in a range, for a while, short reads, slow, hanging. Played by faulty_fs, a real filesystem."""
import os
import threading

import mounts
from mounts import BLOCK, MODES

SIZE = 1_200_001
PAGES = (SIZE + BLOCK - 1) // BLOCK


class StoreCase(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.model, self.seal = self.new_folder("model"), self.path("seal")
        for name in ("a.bin", "b.bin"):
            mounts.write_file(os.path.join(self.model, name), mounts.noise(SIZE, name))
        self.ingest(self.model, "--seal", self.seal)
        self.store = mounts.FaultyFs(self, self.model, self.new_folder("store"))

    def mounted(self):
        return self.mount(self.store.path, "--seal", self.seal, "--on-known-bad=serve")

    def reference(self, name):
        return os.path.join(self.model, name)

    def check_all(self, mount, bad=()):
        """a.bin fails in these pages, b.bin in none, in every mode."""
        for mode in MODES:
            for name, pages in (("a.bin", bad), ("b.bin", ())):
                with self.subTest(mode=mode, file=name):
                    self.assert_pages(mount / name, self.reference(name), mode, pages)

    def check_well(self, mount):
        self.assertTrue(mounts.wait_until(lambda: not self.probe.pages(mount / "a.bin", self.reference("a.bin"), "read").bad, 20), "still EIO when the store is well")
        self.check_all(mount)


class TestBackingErrors(StoreCase):
    def check_range(self, first, count):
        with self.mounted() as mount:
            self.store.tell("eio", "/a.bin", first * BLOCK, count * BLOCK, 0)
            self.check_all(mount, range(first, first + count))
            self.assertGreater(self.store.counts()["faults"], 0, "the store was never asked")
            events = mount.events("source_error", "a.bin")
            self.assertTrue(events, "no source_error event")
            blocks = {e["block"] for e in events}
            self.assertLessEqual(blocks, set(range(first, first + count)))
            self.assertTrue(any("Input/output error" in s["outcome"] for e in events for s in e["sources"]), "the event does not say what the store answered: %s" % events[0]["sources"])
            self.store.tell("clear")
            self.check_well(mount)

    def test_first_page(self):
        self.check_range(0, 1)

    def test_one_in_the_middle(self):
        self.check_range(150, 1)

    def test_a_run_across_windows(self):
        self.check_range(60, 9)

    def test_last_partial_page(self):
        self.check_range(PAGES - 1, 1)

    def test_less_than_a_page(self):
        with self.mounted() as mount:
            self.store.tell("eio", "/a.bin", 70 * BLOCK + 512, 512, 0)
            self.check_all(mount, {70})

    def test_whole_file(self):
        self.check_range(0, PAGES)

    def test_errors_that_pass_are_read_over_or_end(self):
        with self.mounted() as mount:
            self.store.tell("eio", "/a.bin", 0, SIZE, 3)
            for mode in MODES:
                report = self.probe.pages(mount / "a.bin", self.reference("a.bin"), mode)
                self.assertEqual((report.wrong, report.other), (set(), []))
            self.check_well(mount)

    def test_error_and_corruption_in_one_window_are_told_apart(self):
        victim = self.reference("a.bin")
        keep = self.path("keep.bin")
        mounts.write_file(keep, mounts.read_file(victim))
        with self.mounted() as mount:
            self.store.tell("eio", "/a.bin", 40 * BLOCK, BLOCK, 0)
            mounts.flip(victim, 45 * BLOCK)
            for mode in MODES:
                self.assert_pages(mount / "a.bin", keep, mode, {40, 45})
            self.assertEqual({e["block"] for e in mount.events("source_error", "a.bin")}, {40})
            self.assertEqual({e["block"] for e in mount.events("corrupt_block", "a.bin")}, {45})


class TestWrongBytesOnce(StoreCase):
    """A fault of memory or transport: wrong at first, right when it is read again past the page cache."""

    def test_is_served_and_said(self):
        with self.mounted() as mount:
            for mode, block in zip(MODES, (3, 70, 130, 200, 260, PAGES - 1)):
                with self.subTest(mode=mode):
                    self.store.tell("flip", "/a.bin", block * BLOCK + 5, 1)
                    self.assert_pages(mount / "a.bin", self.reference("a.bin"), mode)
                    self.store.tell("clear")
            events = mount.events()
            self.assertEqual({(e["event"], e["result"]) for e in events}, {("transient_mismatch", "served")})
            self.assertEqual({e["block"] for e in events}, {3, 70, 130, 200, 260, PAGES - 1})
            self.assertEqual(mount.status()["counters"]["corrupt_blocks"], 0)
            self.assertEqual(mount.status()["models"][0]["known_bad"], [])

    def test_twice_in_a_row_is_corruption(self):
        with self.mounted() as mount:
            self.store.tell("flip", "/a.bin", 100 * BLOCK, 0)
            for mode in MODES:
                self.assert_pages(mount / "a.bin", self.reference("a.bin"), mode, {100})
            self.assertEqual({(e["event"], e["block"]) for e in mount.events()}, {("corrupt_block", 100)})
            self.store.tell("clear")
            self.check_well(mount)


class TestShortReads(StoreCase):
    def check_short(self, most):
        with self.mounted() as mount:
            self.store.tell("short", "/a.bin", most)
            self.check_all(mount)
            self.assertGreater(self.store.counts()["faults"], 0, "no read was cut short")
            self.assertEqual(mount.events(), [], "a short read that was read on is nothing to report")

    def test_of_odd_length(self):
        self.check_short(5001)

    def test_of_a_page(self):
        self.check_short(BLOCK)

    def test_of_less_than_a_page(self):
        self.check_short(1000)

    def test_of_whole_windows_less_a_byte(self):
        self.check_short(128 * 1024 - 1)


class TestSlowAndHanging(StoreCase):
    def test_a_slow_file_is_right(self):
        with self.mounted() as mount:
            self.store.tell("delay", "/a.bin", 3)
            self.check_all(mount)

    def test_a_hanging_file_stops_neither_others_nor_the_namespace(self):
        with self.mounted() as mount:
            self.store.tell("hang", "/a.bin")
            slow = mounts.Probe()
            self.addCleanup(slow.end)
            answer = []
            reader = threading.Thread(target=lambda: answer.append(slow.pages(mount / "a.bin", self.reference("a.bin"), "shared")))
            reader.start()
            try:
                self.assertTrue(mounts.wait_until(lambda: self.store.counts()["waiting"] > 0), "nothing waits in the store")
                for mode in MODES:
                    self.assert_pages(mount / "b.bin", self.reference("b.bin"), mode)
                self.assertEqual(os.stat(mount / "a.bin").st_size, SIZE)
                self.assertIn("a.bin", os.listdir(mount.path))
                mount.status()
                self.assertTrue(reader.is_alive())
            finally:
                self.store.tell("clear")
                reader.join(30)
            self.assertFalse(reader.is_alive())
            self.check_report(answer[0], self.reference("a.bin"), (), "the one that waited")


if __name__ == "__main__":
    mounts.main()
