"""Pinned files: once a file is whole in sealed memory, new readers are served by the kernel alone, old ones go on, and no byte is ever wrong."""
import errno
import fcntl
import hashlib
import json
import mmap
import os
import random
import shutil
import signal
import threading

import mounts

MIB = 1 << 20
SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else hashlib.sha256(file.read()).hexdigest()


class PinCase(mounts.MountCase):
    def make_model(self, name="model", sizes=(("a.bin", 9 * MIB + 5), ("sub/b.bin", 3 * MIB), ("c.json", 700))):
        model = self.new_folder(name)
        for seed, (file, size) in enumerate(sizes):
            mounts.write_file(os.path.join(model, file), mounts.noise(size, seed + 1))
        return model

    def pin(self, mount):
        return mount.status()["pin"]

    def wait_filled(self, mount):
        self.assertTrue(mounts.wait_until(lambda: self.pin(mount)["state"] != "filling"), "the fill does not end: %s" % self.pin(mount))
        return self.pin(mount)

    def reads(self, mount):
        return mount.status()["counters"]["reads"]

    def reads_during(self, mount, action):
        """READ requests that the action caused, those for status.json itself taken away."""
        first, second = self.reads(mount), self.reads(mount)
        action()
        return self.reads(mount) - second - (second - first)

    def memory_files(self, mount):
        """Descriptors of the daemon that are files in memory, as paths below /proc."""
        found = []
        for pid in mount.daemons():
            folder = "/proc/%d/fd" % pid
            found += [os.path.join(folder, fd) for fd in os.listdir(folder) if os.readlink(os.path.join(folder, fd)).startswith("/memfd:")]
        return found


class TestPinnedReads(PinCase):
    def setUp(self):
        super().setUp()
        self.model = self.make_model()
        self.good = self.seal_and_keep(self.model)

    def assert_same(self, mount, names=("a.bin", "sub/b.bin", "c.json"), prefix=""):
        for name in names:
            self.assertEqual(sha256(mount / (prefix + name)), sha256(os.path.join(self.good, name)), name)

    def test_everything_is_pinned_and_reads_do_not_reach_the_daemon(self):
        with self.mount(self.model, "--pin") as mount:
            pin = self.wait_filled(mount)
            self.assertEqual((pin["state"], pin["why"], pin["pinned_files"], pin["planned_files"]), ("done", None, 3, 3))
            self.assertEqual(pin["pinned_bytes"], 12 * MIB + 705)
            self.assertEqual(self.reads_during(mount, lambda: self.assert_same(mount)), 0)

    def test_every_way_of_reading_gives_the_right_bytes_without_the_daemon(self):
        reference = os.path.join(self.good, "a.bin")

        def read():
            for mode in mounts.MODES:
                self.check_report(self.probe.pages(mount / "a.bin", reference, mode), reference, (), mode)
        with self.mount(self.model, "--pin=a.bin") as mount:
            self.wait_filled(mount)
            self.assertEqual(self.reads_during(mount, read), 0)

    def test_attributes_are_those_of_a_file_that_is_not_pinned(self):
        def facts(mount):
            info = os.stat(mount / "a.bin")
            return (info.st_ino, info.st_size, info.st_mode, info.st_nlink, info.st_mtime, info.st_blksize, sorted(os.listxattr(mount / "a.bin")),
                    os.getxattr(mount / "a.bin", "user.vouch.sha256"), sorted(os.listdir(mount.path)), mounts.run("ls", "-liR", mount.path).stdout.replace(mount.path, ""))
        with self.mount(self.model) as mount:
            plain = facts(mount)
        with self.mount(self.model, "--pin") as mount:
            self.wait_filled(mount)
            self.assertEqual(facts(mount), plain)
            measured = mounts.run("fsverity", "measure", mount / "a.bin")
            if measured.returncode == 0:  # Linux 6.10 and newer
                self.assertEqual(measured.stdout.split()[0], "sha256:" + mounts.verity_digest(os.path.join(self.good, "a.bin")))
            self.assert_errno(errno.EROFS, lambda: open(mount / "a.bin", "r+b"), "open for writing")

    def test_the_memory_is_sealed(self):
        with self.mount(self.model, "--pin") as mount:
            self.wait_filled(mount)
            files = self.memory_files(mount)
            self.assertEqual(len(files), 3)
            for path in files:
                with open(path, "rb") as file:
                    self.assertEqual(fcntl.fcntl(file, fcntl.F_GET_SEALS) & SEALS, SEALS, path)
                self.assert_errno(errno.EPERM, lambda path=path: mounts.patch(path, 0, b"x"), "writing to sealed memory")

    def test_what_happens_on_disk_later_does_not_reach_a_pinned_file(self):
        with self.mount(self.model, "--pin") as mount:
            self.wait_filled(mount)
            for block in range(0, 2000, 100):
                mounts.damage_block(os.path.join(self.model, "a.bin"), block)
            os.truncate(os.path.join(self.model, "sub/b.bin"), 5)
            os.unlink(os.path.join(self.model, "c.json"))
            self.assert_same(mount)

    def test_a_digest_that_only_a_fuse_file_system_vouches_for_is_not_taken(self):
        """A mount of vouchfs answers FS_IOC_MEASURE_VERITY with the right digest, as any FUSE file system could; its files are copied all the same."""
        with self.mount(self.model) as below, self.mount(below.path, "--pin", "--seal", os.path.join(self.model, ".vouch")) as mount:
            self.assertEqual(self.wait_filled(mount)["pinned_files"], 3)
            self.assertEqual(len(self.memory_files(mount)), 3)
            self.assert_same(mount)

    def test_globs_choose_and_may_be_repeated(self):
        for options, pinned in ((("--pin=*.bin",), 2), (("--pin=a.bin", "--pin=*.json"), 2), (("-o", "pin=sub/*"), 1), (("-o", "pin"), 3), (("--pin=*",), 3)):
            with self.subTest(options=options), self.mount(self.model, *options) as mount:
                pin = self.wait_filled(mount)
                self.assertEqual((pin["pinned_files"], pin["why"]), (pinned, None))
                self.assert_same(mount)

    def test_the_option_does_not_eat_the_model(self):
        path = self.new_folder("front")
        mounts.vouchfs_ok("mount", "--pin", self.model, path)
        mount = mounts.Mount(path, None)
        try:
            self.assertEqual(self.wait_filled(mount)["pinned_files"], 3)
        finally:
            self.unmount(path)

    def test_a_configuration_file_may_say_it(self):
        for said, pinned in (('pin = true', 3), ('pin = "*.json"', 1)):
            mounts.write_file(self.path("config.toml"), ("[mount]\n%s\n" % said).encode())
            with self.subTest(said=said), self.mount(self.model, "--config", self.path("config.toml")) as mount:
                self.assertEqual(self.wait_filled(mount)["pinned_files"], pinned)

    def test_in_a_store_the_path_begins_with_the_model(self):
        store = self.new_folder("store")
        for name in ("one", "two"):
            shutil.copytree(self.model, os.path.join(store, name))
        with self.mount(store, "--pin=one/*.bin") as mount:
            self.assertEqual(self.wait_filled(mount)["pinned_files"], 2)
            self.assertEqual(self.reads_during(mount, lambda: self.assert_same(mount, ("a.bin",), "one/")), 0)
            self.assertGreater(self.reads_during(mount, lambda: self.assert_same(mount, ("a.bin",), "two/")), 0)


class SlowSource(PinCase):
    """The source of a.bin hangs or is slow, so that there is time before b.bin is pinned."""

    def setUp(self):
        super().setUp()
        self.model = self.make_model(sizes=(("a.bin", 48 * MIB), ("b.bin", 9 * MIB + 5)))
        self.good = self.seal_and_keep(self.model)
        self.behind = self.new_folder("behind")
        self.faulty = mounts.FaultyFs(self, self.model, self.behind)

    def assert_filling(self, mount):
        self.assertEqual(self.pin(mount)["state"], "filling")


class TestReadersWhoCameBefore(SlowSource):
    def test_old_readers_and_new_ones_get_the_same_bytes(self):
        good = mounts.read_file(os.path.join(self.good, "b.bin"))
        self.faulty.tell("hang", "/a.bin")
        with self.mount(self.behind, "--pin") as mount, open(mount / "b.bin", "rb", buffering=0) as early:
            mapped = mmap.mmap(early.fileno(), 0, prot=mmap.PROT_READ)
            self.assertEqual(mapped[:mounts.BLOCK], good[:mounts.BLOCK], "a reader waits for its own bytes only")
            self.assert_filling(mount)
            self.faulty.tell("clear")
            self.assertEqual(self.wait_filled(mount)["pinned_files"], 2)
            with open(mount / "b.bin", "rb", buffering=0) as late, mmap.mmap(late.fileno(), 0, prot=mmap.PROT_READ) as late_map:
                self.assertEqual(os.fstat(late.fileno()).st_ino, os.fstat(early.fileno()).st_ino)

                def read_late():
                    self.assertEqual(os.pread(late.fileno(), len(good), 0), good)
                    self.assertEqual(late_map[:], good)
                self.assertEqual(self.reads_during(mount, read_late), 0)
                self.assertEqual(mapped[:], good)
                self.assertEqual(os.pread(early.fileno(), len(good), 0), good)
                self.assertEqual(sha256("/proc/self/fd/%d" % early.fileno()), hashlib.sha256(good).hexdigest(), "the old file opened once more")
            mapped.close()

    def test_an_old_reader_gets_what_is_in_memory_without_the_disk(self):
        good = mounts.read_file(os.path.join(self.good, "b.bin"))
        self.faulty.tell("hang", "/a.bin")
        with self.mount(self.behind, "--pin") as mount, open(mount / "b.bin", "rb", buffering=0) as early:
            self.assert_filling(mount)
            self.faulty.tell("clear")
            self.wait_filled(mount)
            self.faulty.tell("eio", "/b.bin", 0, 1 << 40, 0)
            self.assertEqual(os.pread(early.fileno(), len(good), 0), good)
            self.assertEqual(mount.events(file="b.bin"), [])

    def test_a_reader_ahead_of_the_fill_is_served_at_once(self):
        reference = os.path.join(self.good, "b.bin")
        self.faulty.tell("hang", "/a.bin")
        with self.mount(self.behind, "--pin") as mount:
            for mode in mounts.MODES:
                self.check_report(self.probe.pages(mount / "b.bin", reference, mode), reference, (), mode)
            self.assert_filling(mount)
            self.faulty.tell("clear")
            self.wait_filled(mount)


class TestManyFilesAndReaders(PinCase):
    """Names are looked up, listed, opened and read by many threads while one file after the other changes over."""

    FILES = 600  # more than the daemon may hold descriptors for

    def test_every_byte_is_right_all_the_time(self):
        names = ["d%d/%03d.bin" % (i % 5, i) for i in range(self.FILES)]
        model = self.make_model(sizes=[(name, 5000 + i) for i, name in enumerate(names)] + [("z.bin", 20 * MIB)])
        good = self.seal_and_keep(model)
        right = {name: mounts.read_file(os.path.join(good, name)) for name in names}
        wrong, rounds = [], [0] * 8
        with self.mount(model, "--pin", prefix=("prlimit", "--nofile=1024:1024")) as mount:
            done = threading.Event()

            def read(number):
                order = random.Random(number).sample(names, len(names))
                while not wrong and (rounds[number] == 0 or not done.is_set()):
                    for name in order:
                        try:
                            if number % 2:
                                sum(1 for _ in os.scandir(os.path.dirname(mount / name)))
                            if mounts.read_file(mount / name) != right[name]:
                                wrong.append((name, "wrong bytes"))
                        except OSError as error:
                            wrong.append((name, error))
                    rounds[number] += 1
            threads = [threading.Thread(target=read, args=(number,)) for number in range(len(rounds))]
            for thread in threads:
                thread.start()
            try:
                pin = self.wait_filled(mount)
            finally:
                done.set()
                for thread in threads:
                    thread.join()
            self.assertEqual(wrong[:3], [])
            self.assertEqual(pin["pinned_files"], self.FILES + 1)
            self.assertEqual(self.memory_files(mount), [])
            self.assertEqual(self.reads_during(mount, lambda: [self.assertEqual(mounts.read_file(mount / name), right[name]) for name in names]), 0)


class TestEndWhileFilling(SlowSource):
    def mount_slowly(self, path):
        self.faulty.tell("delay", "/a.bin", 200)
        mounts.vouchfs_ok("mount", self.behind, path, "--pin")
        mount = mounts.Mount(path, None)
        self.assertTrue(mounts.wait_until(lambda: self.pin(mount)["filled_bytes"] > 0))
        self.assert_filling(mount)
        return mount

    def assert_ended(self, path):
        self.assertTrue(mounts.wait_until(lambda: not mounts.processes_of(path), 5), "the daemon goes on")

    def test_umount_ends_it(self):
        mount = self.mount_slowly(self.new_folder("mnt"))
        self.unmount(mount.path)
        self.assert_ended(mount.path)

    def test_sigterm_ends_it(self):
        mount = self.mount_slowly(self.new_folder("mnt"))
        for pid in mount.daemons():
            os.kill(pid, signal.SIGTERM)
        self.assert_ended(mount.path)
        self.assertTrue(mounts.wait_until(lambda: not mounts.is_mounted(mount.path)))

    def test_sigkill_leaves_no_process_and_open_pinned_files_go_on(self):
        path = self.new_folder("mnt")
        mounts.vouchfs_ok("mount", self.behind, path, "--pin")
        mount = mounts.Mount(path, None)
        self.wait_filled(mount)
        good = mounts.read_file(os.path.join(self.good, "b.bin"))
        with open(mount / "b.bin", "rb", buffering=0) as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
            for pid in mount.daemons():
                os.kill(pid, signal.SIGKILL)
            self.assert_ended(path)
            self.assertEqual(os.pread(file.fileno(), len(good), 0), good)
            self.assertEqual(mapped[:], good)
            self.assert_errno(errno.ENOTCONN, lambda: open(mount / "a.bin", "rb"), "a new open without a daemon")
        mounts.run("umount", path).check_returncode()


class TestMemory(PinCase):
    """One copy: neither the source's pages nor a second set of the mount's stay beside the pinned memory."""

    SIZE = 64 * MIB

    def cached(self, path):
        done = mounts.run("fincore", "--bytes", "--noheadings", "--output", "RES", path)
        done.check_returncode()
        return int(done.stdout.split()[0])

    def test_one_copy(self):
        model = self.make_model(sizes=(("a.bin", self.SIZE),))
        self.ingest(model)
        source = os.path.join(model, "a.bin")
        fd = os.open(source, os.O_RDONLY)
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)
        with self.mount(model, "--pin") as mount:
            mounts.read_file(mount / "a.bin")  # while it is filled, or after
            self.wait_filled(mount)
            mounts.read_file(mount / "a.bin")
            memory = sum(os.stat(path).st_blocks * 512 for path in self.memory_files(mount))
            self.assertEqual(memory, self.SIZE)
            self.assertLess(self.cached(source), MIB, "a second copy")
            self.assertEqual(self.cached(mount / "a.bin"), self.SIZE, "mapped, it is the pinned memory itself")
            for pid in mount.daemons():
                with open("/proc/%d/status" % pid) as status:
                    held = next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon:"))
                self.assertLess(held, 56 * MIB, "stretches read ahead, 32 MiB, and buffers")


class TestNotPinned(PinCase):
    def setUp(self):
        super().setUp()
        self.model = self.make_model()
        self.good = self.seal_and_keep(self.model)

    def lines(self, mount):
        return [line for line in mount.done.stderr.splitlines() if "pin" in line and "--digest" not in line]

    def assert_served(self, mount, *names):
        for name in names or ("a.bin", "sub/b.bin", "c.json"):
            self.assertEqual(sha256(mount / name), sha256(os.path.join(self.good, name)))

    def test_a_limit_leaves_out_what_does_not_fit_and_one_line_says_how_many(self):
        with self.mount(self.model, "--pin", "--pin-limit", "4M") as mount:
            pin = self.wait_filled(mount)
            self.assertEqual((pin["pinned_files"], pin["matching_files"], pin["limit_bytes"]), (2, 3, 4 * MIB))
            self.assertEqual(len(self.lines(mount)), 1, mount.done.stderr)
            self.assertIn("1 of 3 files does not fit into the limit of 4.0 MiB", self.lines(mount)[0])
            self.assertIn("2 of 3 files", mounts.vouchfs_ok("status", mount.path).stdout)
            self.assert_served(mount)
            self.assertEqual(len(self.memory_files(mount)), 2)

    def test_a_limit_below_everything_pins_nothing(self):
        for limit in (("--pin-limit", "100"), ("-o", "pin-limit=100")):
            with self.subTest(limit=limit), self.mount(self.model, "--pin", *limit) as mount:
                self.assertEqual(self.pin(mount)["state"], "off")
                self.assertEqual(len(self.lines(mount)), 1, mount.done.stderr)
                self.assert_served(mount)
                self.assertEqual(self.memory_files(mount), [])

    def test_a_limit_that_is_no_size_is_refused(self):
        self.assertEqual(mounts.vouchfs("mount", "--pin", "--pin-limit=much", self.model, self.new_folder("no")).returncode, 2)

    def test_a_glob_that_matches_nothing_is_said(self):
        with self.mount(self.model, "--pin=nothing.bin") as mount:
            self.assertEqual(len(self.lines(mount)), 1, mount.done.stderr)
            self.assertIn("no file", self.lines(mount)[0])

    def test_without_the_right_to_it_one_line_says_so_and_the_mount_serves(self):
        mnt = self.new_folder("user-mnt")
        os.chown(mnt, mounts.NOBODY, mounts.NOBODY)
        space = mounts.Namespace(self, 'mknod "$1/fuse" c 10 229; chmod 666 "$1/fuse"; mount --bind "$1/fuse" /dev/fuse')
        done = space.run(*mounts.AS_NOBODY, mounts.binary(), "mount", self.model, mnt, "--pin")
        self.assertEqual(done.returncode, 0, done.stderr)
        try:
            self.assertEqual(len([line for line in done.stderr.splitlines() if "--pin" in line]), 1, done.stderr)
            self.assertIn("CAP_SYS_ADMIN", done.stderr)
            told = space.run(*mounts.AS_NOBODY, mounts.binary(), "status", mnt, "--json").stdout
            self.assertEqual(json.loads(told)["pin"]["state"], "off")
            shown = space.run(*mounts.AS_NOBODY, "sha256sum", os.path.join(mnt, "a.bin")).stdout
            self.assertEqual(shown.split()[0], sha256(os.path.join(self.good, "a.bin")))
        finally:
            space.run(*mounts.AS_NOBODY, "fusermount3", "-u", mnt).check_returncode()
        self.assertTrue(mounts.wait_until(lambda: not mounts.processes_of(mnt)))

    def test_without_memory_for_a_file_it_is_left_out(self):
        """A limit on the size of files stands for a machine without memory: writing to the memory fails."""
        with self.mount(self.model, "--pin", prefix=("env", "--ignore-signal=XFSZ", "prlimit", "--fsize=%d" % (4 * MIB))) as mount:
            pin = self.wait_filled(mount)
            self.assertEqual(pin["pinned_files"], 2)
            self.assertIn("a.bin is not pinned", pin["why"])
            self.assertEqual(pin["filled_bytes"], pin["pinned_bytes"])
            self.assertEqual(len(self.memory_files(mount)), 2, "what was filled in vain is given back")
            self.assert_served(mount)

    def test_a_damaged_file_is_not_pinned_and_is_reported_as_a_read_of_it_would_be(self):
        mounts.damage_block(os.path.join(self.model, "a.bin"), 1000)
        with self.mount(self.model, "--pin") as mount:
            pin = self.wait_filled(mount)
            self.assertEqual((pin["pinned_files"], pin["state"]), (2, "done"))
            self.assertIn("a.bin is not pinned", pin["why"])
            events = mount.events("corrupt_block", "a.bin")
            self.assertEqual([(e["block"], e["result"]) for e in events], [(1000, "eio")])
            self.assert_served(mount, "sub/b.bin", "c.json")
            self.assert_errno(errno.EIO, lambda: mounts.read_file(mount / "a.bin"), "a known-bad file")
            self.assertEqual(len(self.memory_files(mount)), 2)

    def test_readers_of_a_damaged_file_get_exactly_the_bad_block_refused(self):
        mounts.damage_block(os.path.join(self.model, "a.bin"), 1000)
        with self.mount(self.model, "--pin", "--on-known-bad=serve") as mount:
            self.wait_filled(mount)
            for mode in ("read", "private"):
                self.assert_pages(mount / "a.bin", os.path.join(self.good, "a.bin"), mode, {1000})


if __name__ == "__main__":
    mounts.main()
