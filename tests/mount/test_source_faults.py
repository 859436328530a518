"""The source file changes behind the mount: cut, grown, replaced, deleted, made unreadable, punched, overwritten while mapped.

Always: right bytes or an error, never a wrong byte, never a hang; names and sizes in the mount stay; well again without a remount."""
import errno
import os
import random
import shutil
import threading

import mounts
from mounts import BLOCK, MODES

SIZE = 1_500_777
PAGES = (SIZE + BLOCK - 1) // BLOCK
CUT = 800_100
HELD = ("read", "edge", "direct", "private", "shared")


class SourceCase(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.model = self.new_folder("model")
        for name in ("hurt.bin", "sound.bin"):
            mounts.write_file(os.path.join(self.model, name), mounts.noise(SIZE, name))
        self.good = self.seal_and_keep(self.model)
        self.hurt, self.reference = os.path.join(self.model, "hurt.bin"), os.path.join(self.good, "hurt.bin")
        self.data = mounts.read_file(self.reference)

    def swap_in(self, data):
        mounts.write_file(self.hurt + ".new", data)
        os.rename(self.hurt + ".new", self.hurt)

    def heal(self):
        """The right bytes at the right place; in place if it is still a file."""
        if os.path.isdir(self.hurt):
            os.rmdir(self.hurt)
        if os.path.exists(self.hurt):
            mounts.restore(self.hurt, self.reference)
        else:
            mounts.write_file(self.hurt, self.data)

    def check_well(self, mount, modes=MODES):
        for mode in modes:
            self.assertTrue(mounts.wait_until(lambda m=mode: not self.probe.pages(mount / "hurt.bin", self.reference, m).bad, 20), "still EIO by %s" % mode)
            self.assert_pages(mount / "hurt.bin", self.reference, mode)

    def shown(self, mount):
        return sorted((name, s.st_size, s.st_ino, s.st_mode) for name in os.listdir(mount.path) if name != ".vouch" for s in [os.stat(mount / name)])

    def check_fault(self, fault, must_fail, may_fail=(), kinds=("corrupt_block", "source_error")):
        """By every mode: opened before and read after the fault, and opened after it."""
        must_fail, may_fail = set(must_fail), set(may_fail)
        with self.mount(self.model, "--on-known-bad=serve") as mount:
            before = self.shown(mount)
            held = {mode: self.probe.hold(mount / "hurt.bin", self.reference, mode) for mode in HELD}
            fault()
            for mode in HELD:
                self.check(held[mode].read(), must_fail, may_fail, "held, " + mode)
            for mode in MODES:
                self.check(self.probe.pages(mount / "hurt.bin", self.reference, mode), must_fail, may_fail, "opened after, " + mode)
            self.assertEqual(self.shown(mount), before, "names, sizes or node numbers changed")
            if must_fail:
                self.assertTrue([e for e in mount.events(file="hurt.bin") if e["event"] in kinds], "no event of kind %s" % (kinds,))
            self.assert_pages(mount / "sound.bin", os.path.join(self.good, "sound.bin"), "shared")
            for mode in HELD:
                held[mode].close()
            self.heal()
            self.check_well(mount)

    def check(self, report, must_fail, may_fail, what):
        with self.subTest(way=what):
            self.assertEqual((report.open, report.wrong, report.other, report.size), (0, set(), [], SIZE), "open errno, WRONG pages, neither bytes nor EIO, size")
            self.assertEqual(mounts.runs(must_fail - report.bad), "none", "damaged pages that read as if fine")
            self.assertEqual(mounts.runs(report.bad - must_fail - may_fail), "none", "sound pages that fail")


class TestChangedInPlace(SourceCase):
    def test_cut(self):
        self.check_fault(lambda: os.truncate(self.hurt, CUT), range(CUT // BLOCK, PAGES))

    def test_cut_at_a_block_edge(self):
        self.check_fault(lambda: os.truncate(self.hurt, 100 * BLOCK), range(100, PAGES))

    def test_cut_by_one_byte(self):
        self.check_fault(lambda: os.truncate(self.hurt, SIZE - 1), [PAGES - 1])

    def test_emptied(self):
        self.check_fault(lambda: os.truncate(self.hurt, 0), range(PAGES))

    def test_grown(self):
        """Bytes past the sealed size are ignored: nothing fails and nothing more is shown."""
        def grow():
            with open(self.hurt, "ab") as file:
                file.write(b"more" * 5000)
        self.check_fault(grow, ())

    def test_block_zeroed(self):
        self.check_fault(lambda: mounts.patch(self.hurt, 50 * BLOCK, bytes(BLOCK)), [50])

    def test_hole_punched(self):
        self.check_fault(lambda: mounts.punch(self.hurt, 60 * BLOCK, 70 * BLOCK), range(60, 130))

    def test_hole_punched_across_block_edges(self):
        self.check_fault(lambda: mounts.punch(self.hurt, 60 * BLOCK + 4000, 200), [60, 61])

    def test_last_bytes_zeroed(self):
        self.check_fault(lambda: mounts.patch(self.hurt, SIZE - 3, b"\0\0\0"), [PAGES - 1])

    def test_overwritten_whole(self):
        self.check_fault(lambda: mounts.patch(self.hurt, 0, self.data[::-1]), range(PAGES))

    def test_overwritten_and_its_times_put_back(self):
        """Size and mtime say that nothing happened; bytes are never trusted by them."""
        before = os.stat(self.hurt)

        def overwrite():
            mounts.patch(self.hurt, 10 * BLOCK, mounts.noise(5 * BLOCK, 1))
            os.utime(self.hurt, ns=(before.st_atime_ns, before.st_mtime_ns))
        self.check_fault(overwrite, range(10, 15))


class TestAnotherFile(SourceCase):
    def test_replaced_by_other_bytes(self):
        self.check_fault(lambda: self.swap_in(self.data[::-1]), (), range(PAGES))

    def test_replaced_by_other_bytes_before_the_first_read(self):
        """With nobody holding the old inode, every page fails."""
        with self.mount(self.model, "--on-known-bad=serve") as mount:
            self.swap_in(self.data[::-1])
            for mode in MODES:
                self.check(self.probe.pages(mount / "hurt.bin", self.reference, mode), set(range(PAGES)), set(), mode)
            self.swap_in(self.data)
            self.check_well(mount)

    def test_replaced_by_the_same_bytes(self):
        self.check_fault(lambda: self.swap_in(self.data), ())

    def test_replaced_by_a_shorter_file(self):
        self.check_fault(lambda: self.swap_in(self.data[:CUT]), (), range(CUT // BLOCK, PAGES))

    def test_deleted(self):
        self.check_fault(lambda: os.unlink(self.hurt), (), range(PAGES))

    def test_deleted_before_the_first_read(self):
        with self.mount(self.model, "--on-known-bad=serve") as mount:
            os.unlink(self.hurt)
            for mode in MODES:
                self.check(self.probe.pages(mount / "hurt.bin", self.reference, mode), set(range(PAGES)), set(), mode)
            self.assertTrue([e for e in mount.events(file="hurt.bin") if e["event"] in ("source_error", "corrupt_block")])
            self.heal()
            self.check_well(mount)

    def test_replaced_by_a_folder(self):
        self.check_fault(lambda: (os.unlink(self.hurt), os.mkdir(self.hurt)), (), range(PAGES))

    def test_replaced_by_a_fifo(self):
        """Opening it must not wait for a writer."""
        def fifo():
            os.unlink(self.hurt)
            os.mkfifo(self.hurt)
        with self.mount(self.model, "--on-known-bad=serve") as mount:
            fifo()
            self.check(self.probe.pages(mount / "hurt.bin", self.reference, "read", seconds=20), set(range(PAGES)), set(), "read")
            os.unlink(self.hurt)
            self.heal()
            self.check_well(mount, ("read",))

    def test_the_whole_model_folder_goes_away_and_comes_back(self):
        with self.mount(self.model, "--on-known-bad=serve") as mount:
            before = self.shown(mount)
            os.rename(self.model, self.model + ".away")
            report = self.probe.pages(mount / "hurt.bin", self.reference, "read")
            self.assertEqual((report.wrong, report.other), (set(), []))
            self.assertEqual(self.shown(mount), before)
            os.rename(self.model + ".away", self.model)
            self.check_well(mount)

    def check_copied_anew(self, backup, *options):
        with self.mount(self.model, "--on-known-bad=serve", *options) as mount:
            shutil.rmtree(self.model)
            report = self.probe.pages(mount / "hurt.bin", self.reference, "read")
            self.assertEqual((report.wrong, report.other), (set(), []))
            shutil.copytree(backup, self.model)
            self.check_well(mount, ("read", "shared"))

    def test_a_model_folder_copied_anew_is_found(self):
        seal = self.path("seal")
        shutil.copytree(os.path.join(self.model, ".vouch"), seal)
        self.check_copied_anew(self.good, "--seal", seal)

    def test_a_model_folder_copied_anew_with_its_seal_is_found(self):
        backup = self.path("backup")
        shutil.copytree(self.model, backup)
        self.check_copied_anew(backup)


class TestUnreadable(SourceCase):
    """As a plain user: root reads anything."""

    def test_a_file_made_unreadable_fails_and_comes_back(self):
        for top, folders, files in os.walk(self.dir):
            for name in folders + files:
                os.chown(os.path.join(top, name), mounts.NOBODY, mounts.NOBODY)
        os.chmod(self.model, 0o755)
        mnt = self.new_folder("user-mnt")
        os.chown(mnt, mounts.NOBODY, mounts.NOBODY)
        # /dev/fuse is open to everybody on an ordinary system; here within the namespace, whatever the machine has.
        space = mounts.Namespace(self, 'mknod "$1/fuse" c 10 229; chmod 666 "$1/fuse"; mount --bind "$1/fuse" /dev/fuse')
        done = space.run(*mounts.AS_NOBODY, mounts.binary(), "mount", self.model, mnt, "--on-known-bad=serve")
        self.assertEqual(done.returncode, 0, done.stderr)
        probe = mounts.Probe((*space.prefix, *mounts.AS_NOBODY))
        self.addCleanup(probe.end)
        try:
            os.chmod(self.hurt, 0)
            for mode in MODES:
                self.check(probe.pages(os.path.join(mnt, "hurt.bin"), self.reference, mode), set(range(PAGES)), set(), mode)
            self.assert_pages(os.path.join(mnt, "sound.bin"), os.path.join(self.good, "sound.bin"), "read", probe=probe)
            events = space.run(*mounts.AS_NOBODY, "cat", os.path.join(mnt, ".vouch/events.jsonl")).stdout
            self.assertIn('"source_error"', events)
            self.assertIn("hurt.bin", events)
            os.chmod(self.hurt, 0o644)
            self.assertTrue(mounts.wait_until(lambda: not probe.pages(os.path.join(mnt, "hurt.bin"), self.reference, "read").bad, 20))
        finally:
            probe.process.stdin.close()
            probe.process.wait(10)
            done = space.run(*mounts.AS_NOBODY, "fusermount3", "-u", mnt)
        self.assertEqual(done.returncode, 0, done.stderr)


class TestOverwrittenWhileRead(SourceCase):
    """A writer changes blocks and changes them back, for a fixed number of rounds, while mapped and other readers work."""

    def write_and_undo(self, rounds, stop):
        rng = random.Random(2)
        with open(self.hurt, "r+b", buffering=0) as file:
            while rounds > 0 and not stop.is_set():
                rounds -= 1
                offset, length = rng.randrange(SIZE), rng.choice((1, 50, BLOCK, 20 * BLOCK))
                old = self.data[offset:offset + length]
                os.pwrite(file.fileno(), rng.randbytes(len(old)), offset)
                os.pwrite(file.fileno(), old, offset)

    def test_no_wrong_byte_in_any_mode(self):
        with self.mount(self.model, "--on-known-bad=serve") as mount:
            held = [self.probe.hold(mount / "hurt.bin", self.reference, mode) for mode in ("shared", "private")]
            stop = threading.Event()
            writer = threading.Thread(target=self.write_and_undo, args=(6000, stop))
            writer.start()
            reads = 0
            try:
                while writer.is_alive() and reads < 200:
                    for ask in [h.read for h in held] + [lambda m=m: self.probe.pages(mount / "hurt.bin", self.reference, m) for m in MODES]:
                        report = ask()
                        self.assertEqual((report.wrong, report.other), (set(), []), "WRONG pages, neither bytes nor EIO")
                        reads += 1
            finally:
                stop.set()
                writer.join()
            for one in held:
                one.close()
            self.assertGreater(reads, 7)
            self.check_well(mount)

    def test_a_page_already_mapped_keeps_its_verified_bytes(self):
        """The mapping holds verified bytes of the page cache, not the file: what happens to the file later does not reach it."""
        with self.mount(self.model, "--on-known-bad=serve") as mount:
            for mode in ("shared", "private"):
                held = self.probe.hold(mount / "hurt.bin", self.reference, mode)
                self.check_report(held.read(cold=False), self.reference, (), "before")
                mounts.patch(self.hurt, 0, self.data[::-1])
                self.check_report(held.read(cold=False), self.reference, (), "after the file was overwritten")
                held.close()
                self.heal()


class TestOtherReaders(SourceCase):
    def test_the_errno_is_eio_also_for_sendfile_and_copy(self):
        mounts.flip(self.hurt, 5 * BLOCK)
        with self.mount(self.model, "--on-known-bad=serve") as mount:
            fd = os.open(mount / "hurt.bin", os.O_RDONLY)
            out = os.open(self.path("out"), os.O_WRONLY | os.O_CREAT)
            self.assertEqual(os.sendfile(out, fd, 0, 5 * BLOCK), 5 * BLOCK)
            self.assert_errno(errno.EIO, lambda: os.sendfile(out, fd, 5 * BLOCK, BLOCK), "sendfile of a bad page")
            os.close(fd)
            os.close(out)
            self.assertNotEqual(mounts.run("cp", mount / "hurt.bin", self.path("copy")).returncode, 0)
            copied = mounts.read_file(self.path("copy"))
            self.assertEqual(copied, self.data[:len(copied)])
            self.assertLessEqual(len(copied), 5 * BLOCK)


if __name__ == "__main__":
    mounts.main()
