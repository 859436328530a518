"""Known-bad files: open() is refused by default and served on request; what is put right on disk opens at once; no second disk read."""
import errno
import os
import subprocess

import mounts
from mounts import BLOCK

SIZE = 1_000_003
BAD = 100


class KnownBadCase(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.model = self.new_folder("model")
        for name in ("hurt.bin", "sound.bin"):
            mounts.write_file(os.path.join(self.model, name), mounts.noise(SIZE, name))
        self.good = self.seal_and_keep(self.model)
        self.hurt = os.path.join(self.model, "hurt.bin")
        self.reference = os.path.join(self.good, "hurt.bin")

    def read_bad(self, mount):
        self.assert_pages(mount / "hurt.bin", self.reference, "read", {BAD}, pages="%d" % BAD)

    def opens(self, mount):
        try:
            os.close(os.open(mount / "hurt.bin", os.O_RDONLY))
            return True
        except OSError as error:
            self.assertEqual(error.errno, errno.EIO)
            return False


class TestRefusedByDefault(KnownBadCase):
    def test_open_fails_once_a_block_is_known_bad(self):
        mounts.flip(self.hurt, BAD * BLOCK)
        with self.mount(self.model) as mount:
            self.assertTrue(self.opens(mount), "nothing is known yet")
            self.read_bad(mount)
            for _ in range(3):
                self.assertFalse(self.opens(mount))
            events = mount.events("open_refused", "hurt.bin")
            self.assertEqual(len(events), 1)
            self.assertEqual(events[0]["count"], 3)
            self.assertEqual(mount.status()["counters"]["refused_opens"], 3)
            self.assertEqual(os.stat(mount / "hurt.bin").st_size, SIZE, "stat is not refused")
            self.assert_pages(mount / "sound.bin", os.path.join(self.good, "sound.bin"), "shared")

    def test_a_reader_that_had_it_open_reads_the_rest(self):
        mounts.flip(self.hurt, BAD * BLOCK)
        with self.mount(self.model) as mount:
            held = self.probe.hold(mount / "hurt.bin", self.reference, "shared")
            self.read_bad(mount)
            self.assertFalse(self.opens(mount))
            self.check_report(held.read(), self.reference, {BAD}, "mapped before the block was known")
            held.close()

    def test_opens_at_once_when_put_right_in_place(self):
        mounts.flip(self.hurt, BAD * BLOCK)
        with self.mount(self.model) as mount:
            self.read_bad(mount)
            self.assertFalse(self.opens(mount))
            mounts.flip(self.hurt, BAD * BLOCK)
            self.assertTrue(self.opens(mount), "the first open after the repair")
            for mode in mounts.MODES:
                self.assert_pages(mount / "hurt.bin", self.reference, mode)
            self.assertNotEqual(os.getxattr(mount / "hurt.bin", "user.vouch.state"), b"bad")
            self.assertEqual(mount.status()["models"][0]["known_bad"], [])

    def test_opens_at_once_when_replaced_by_the_right_file(self):
        mounts.flip(self.hurt, BAD * BLOCK)
        with self.mount(self.model) as mount:
            self.read_bad(mount)
            self.assertFalse(self.opens(mount))
            mounts.write_file(self.hurt + ".new", mounts.read_file(self.reference))
            os.rename(self.hurt + ".new", self.hurt)
            self.assertTrue(self.opens(mount), "the first open after the replacement")
            self.assert_pages(mount / "hurt.bin", self.reference, "private")

    def test_stays_refused_while_one_of_two_blocks_is_bad(self):
        mounts.flip(self.hurt, BAD * BLOCK)
        mounts.flip(self.hurt, 7 * BLOCK)
        with self.mount(self.model) as mount:
            self.assert_pages(mount / "hurt.bin", self.reference, "read", {7, BAD})
            mounts.flip(self.hurt, 7 * BLOCK)
            self.assertFalse(self.opens(mount))
            mounts.flip(self.hurt, BAD * BLOCK)
            self.assertTrue(self.opens(mount))


class TestServedOnRequest(KnownBadCase):
    def test_open_works_and_good_pages_read(self):
        mounts.flip(self.hurt, BAD * BLOCK)
        with self.mount(self.model, "--on-known-bad=serve") as mount:
            for mode in mounts.MODES:
                self.assert_pages(mount / "hurt.bin", self.reference, mode, {BAD})
            self.assertEqual(mount.events("open_refused"), [])

    def test_an_unknown_policy_is_a_usage_error(self):
        with self.mount(self.model, "--on-known-bad=perhaps", expect=2):
            pass


class TestNoSecondDiskRead(KnownBadCase):
    """Counted by a filesystem under the source, which sees every read."""

    def setUp(self):
        super().setUp()
        self.seal = self.path("seal")
        os.rename(os.path.join(self.model, ".vouch"), self.seal)
        self.store = mounts.FaultyFs(self, self.model, self.new_folder("store"))

    def reads_of_hurt(self):
        return self.store.counts()["files"].get("/hurt.bin", 0)

    def test_a_known_bad_page_is_not_read_again_within_a_second(self):
        mounts.flip(self.hurt, BAD * BLOCK)
        with self.mount(self.store.path, "--seal", self.seal, "--on-known-bad=serve") as mount:
            fd = os.open(mount / "hurt.bin", os.O_RDONLY)
            touches, seconds = 0, 0.0
            with self.assertRaises(OSError):
                os.pread(fd, 1, BAD * BLOCK)
            before, began = self.reads_of_hurt(), os.times().elapsed
            while touches < 2000 and seconds < 3:
                with self.assertRaises(OSError):
                    os.pread(fd, 1, BAD * BLOCK)
                touches, seconds = touches + 1, os.times().elapsed - began
            os.close(fd)
            # Looked at again at most once a second; a look is a read, and one more past the cache.
            looks = int(seconds) + 1
            self.assertLessEqual(self.reads_of_hurt() - before, 4 * looks, "%d touches in %.2f s" % (touches, seconds))
            self.assertGreater(touches, 100)
            self.assertEqual(len(mount.events("corrupt_block", "hurt.bin")), 1)

    def test_neighbours_of_a_bad_page_come_without_a_disk_read_each(self):
        mounts.flip(self.hurt, BAD * BLOCK)
        with self.mount(self.store.path, "--seal", self.seal, "--on-known-bad=serve") as mount:
            self.store.tell("reset")
            self.assert_pages(mount / "hurt.bin", self.reference, "shared", {BAD})
            # 245 pages in windows of 32 and more: far fewer reads than pages, though one window was asked for page by page.
            self.assertLess(self.reads_of_hurt(), 60)

    def test_a_block_put_right_under_an_unchanged_stamp_is_seen_soon(self):
        """The known-bad table holds for a second whatever the metadata say: here the fault goes away and the file never changed."""
        self.store.tell("eio", "/hurt.bin", BAD * BLOCK, BLOCK, 0)
        with self.mount(self.store.path, "--seal", self.seal, "--on-known-bad=serve") as mount:
            self.assert_pages(mount / "hurt.bin", self.reference, "read", {BAD})
            self.store.tell("clear")
            self.assertTrue(mounts.wait_until(lambda: not self.probe.pages(mount / "hurt.bin", self.reference, "read").bad, 10))


class TestLogOfRepeats(KnownBadCase):
    def test_a_thousand_reads_of_a_bad_block_are_a_few_lines(self):
        mounts.flip(self.hurt, BAD * BLOCK)
        mnt, log = self.new_folder("front"), self.path("log")
        with open(log, "w") as out:
            process = subprocess.Popen([mounts.binary(), "mount", self.model, mnt, "-f", "--on-known-bad=serve"], stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        self.assertTrue(mounts.wait_until(lambda: os.path.exists(os.path.join(mnt, "hurt.bin")), 30))
        fd = os.open(os.path.join(mnt, "hurt.bin"), os.O_RDONLY)
        for _ in range(1000):
            self.assert_errno(errno.EIO, lambda: os.pread(fd, 1, BAD * BLOCK), "a bad page")
        os.close(fd)
        self.unmount(mnt)
        self.assertEqual(process.wait(20), 0)
        lines = [line for line in mounts.read_file(log).decode().splitlines() if "hurt.bin" in line]
        self.assertTrue(lines, "not logged at all")
        self.assertLessEqual(len(lines), 5, lines)


if __name__ == "__main__":
    mounts.main()
