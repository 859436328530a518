"""Every way to mount and to end it: background, -f, signals, a plain user, mount(8) by both types, fstab, busy mounts, exit codes."""
import contextlib
import json
import os
import signal
import subprocess

import mounts

# In a private mount namespace only: /sbin with the two helper names beside what is there, and a /dev/fuse for everybody.
HELPERS_IN_SBIN = """
mkdir "$1/sbin" "$1/real-sbin"
mount --bind /sbin/ "$1/real-sbin"
for tool in "$1/real-sbin"/*; do ln -s "$tool" "$1/sbin/${tool##*/}"; done
ln -sf "$VOUCHFS_BIN" "$1/sbin/mount.vouchfs"
ln -sf "$VOUCHFS_BIN" "$1/sbin/mount.fuse.vouchfs"
mount --bind "$1/sbin" /sbin/
"""
FUSE_FOR_ALL = 'mknod "$1/fuse" c 10 229; chmod 666 "$1/fuse"; mount --bind "$1/fuse" /dev/fuse\n'


class FormsCase(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.model = self.make_model("model")
        self.shard = "model-00001-of-00002.safetensors"
        self.good = self.path("model.good")

    def make_model(self, name):
        model = self.new_folder(name)
        for i in (1, 2):
            mounts.safetensors(os.path.join(model, "model-%05d-of-00002.safetensors" % i), {"t%d.%d" % (i, t): 5000 + t for t in range(3)}, seed=i)
        mounts.write_file(os.path.join(model, "config.json"), b"{}\n")
        self.seal_and_keep(model)
        return model

    def check_served(self, path, run=mounts.run):
        """Through `run`, so that it can be another user or namespace."""
        want = mounts.run("sha256sum", os.path.join(self.good, self.shard)).stdout.split()[0]
        done = run("sha256sum", os.path.join(path, self.shard))
        self.assertEqual(done.stdout.split()[:1], [want], done.stderr)
        self.assertIn("weight_map", run("cat", os.path.join(path, "index.json")).stdout)

    def check_ended(self, path):
        self.assertFalse(mounts.is_mounted(path))
        self.assertTrue(mounts.wait_until(lambda: not mounts.processes_of(path)), "a process is left")
        self.assertEqual(os.listdir(path), [])

    def superuser_row(self, path):
        return next(row for row in mounts.mount_rows() if row[0] == path)


class TestForegroundAndBackground(FormsCase):
    @contextlib.contextmanager
    def in_front(self, *options):
        path = self.new_folder("front")
        log = open(self.path("front.log"), "w+")
        self.addCleanup(log.close)
        process = subprocess.Popen([mounts.binary(), "mount", self.model, path, "-f", *options], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            self.assertTrue(mounts.wait_until(lambda: process.poll() is not None or os.path.exists(os.path.join(path, "index.json")), 30))
            self.assertIsNone(process.poll(), mounts.read_file(log.name).decode())
            yield process, path
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(20)

    def check_signal(self, number):
        with self.in_front() as (process, path):
            self.check_served(path)
            process.send_signal(number)
            self.assertEqual(process.wait(20), 0, "exit code after signal %d" % number)
            self.check_ended(path)

    def test_sigterm_unmounts_and_exits_0(self):
        self.check_signal(signal.SIGTERM)

    def test_sigint_unmounts_and_exits_0(self):
        self.check_signal(signal.SIGINT)

    def test_sigterm_ends_a_mount_with_an_open_file(self):
        with self.in_front() as (process, path):
            with open(os.path.join(path, self.shard), "rb") as file:
                file.read(10)
                process.terminate()
                self.assertTrue(mounts.wait_until(lambda: not mounts.is_mounted(path), 20), "still on its path")
            self.assertEqual(process.wait(20), 0)
            self.check_ended(path)

    def test_foreground_ends_with_0_when_unmounted(self):
        with self.in_front() as (process, path):
            self.unmount(path)
            self.assertEqual(process.wait(20), 0)
            self.check_ended(path)

    def test_background_answers_when_the_command_returns(self):
        for _ in range(10):  # a race would show now and then
            with self.mount(self.model) as mount:
                self.assertEqual(os.stat(mount / self.shard).st_size, os.path.getsize(os.path.join(self.good, self.shard)))

    def test_background_daemon_keeps_no_output_open(self):
        """run() itself reads both to their end and so waits for whoever holds them; the daemon's descriptors are looked at as well."""
        with self.mount(self.model) as mount:
            daemons = mount.daemons()
            self.assertTrue(daemons)
            for pid in daemons:
                for number in (0, 1, 2):
                    target = os.readlink("/proc/%d/fd/%d" % (pid, number))
                    self.assertFalse(target.startswith("pipe:"), "descriptor %d of the daemon is %s" % (number, target))

    def test_background_daemon_is_detached(self):
        with self.mount(self.model) as mount:
            for pid in mount.daemons():
                self.assertNotEqual(os.getsid(pid), os.getsid(0))
                self.assertFalse(os.readlink("/proc/%d/cwd" % pid).startswith(self.dir), "its folder would be kept busy")

    def test_sigterm_to_the_background_daemon_unmounts(self):
        path = self.new_folder("killed")
        mounts.vouchfs_ok("mount", self.model, path)
        for pid in mounts.processes_of(path):
            os.kill(pid, signal.SIGTERM)
        self.assertTrue(mounts.wait_until(lambda: not mounts.is_mounted(path), 20))
        self.check_ended(path)

    def test_json_summary_of_a_background_mount(self):
        path = self.new_folder("json")
        record = json.loads(mounts.vouchfs_ok("mount", self.model, path, "--json").stdout.splitlines()[-1])
        self.assertEqual(record["type"], "summary")
        self.unmount(path)


class TestAsRoot(FormsCase):
    def test_others_may_read_and_the_kernel_checks_modes(self):
        with self.mount(self.model) as mount:
            _, options, kind, source, super_options = self.superuser_row(mount.path)
            self.assertEqual(kind, "fuse.vouchfs")
            self.assertEqual(source, self.model)
            self.assertIn("ro", options.split(","))
            for word in ("allow_other", "default_permissions"):
                self.assertIn(word, super_options.split(","))
            self.check_served(mount.path, lambda *command: mounts.run(*mounts.AS_NOBODY, *command))

    def test_options_of_the_kernel_are_handed_on(self):
        with self.mount(self.model, "-o", "noexec,noatime") as mount:
            options = self.superuser_row(mount.path)[1].split(",")
            self.assertIn("noexec", options)
            self.assertIn("nosuid", options)
            self.assertIn("nodev", options)

    def test_rw_is_accepted_and_changes_nothing(self):
        with self.mount(self.model, "-o", "rw") as mount:
            self.assertIn("ro", self.superuser_row(mount.path)[1].split(","))

    def test_options_may_come_in_o(self):
        seal = self.path("seal")
        os.rename(os.path.join(self.model, ".vouch"), seal)
        digest = "sha256:" + mounts.verity_digest(os.path.join(seal, "manifest.json")).split(":")[-1]
        with self.mount(self.model, "-o", "seal=%s,digest=%s,on-known-bad=serve" % (seal, digest)) as mount:
            model = mount.status()["models"][0]
            self.assertEqual((model["trust"], model["on_known_bad"]), ("pinned", "serve"))

    def test_an_unknown_option_is_a_usage_error(self):
        with self.mount(self.model, "-o", "no_such_option", expect=2):
            pass


class TestAsAPlainUser(FormsCase):
    """Through fusermount3. In a namespace whose /dev/fuse is open to everybody, as on an ordinary system."""

    def setUp(self):
        super().setUp()
        self.mnt = self.new_folder("user-mnt")
        os.chown(self.mnt, mounts.NOBODY, mounts.NOBODY)
        self.space = mounts.Namespace(self, FUSE_FOR_ALL)

    def as_user(self, *command, **options):
        return self.space.run(*mounts.AS_NOBODY, *command, **options)

    def mount_as_user(self, *options):
        done = self.as_user(mounts.binary(), "mount", self.model, self.mnt, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(self.space.mounted(self.mnt))

    def end_by(self, *command):
        done = self.as_user(*command, self.mnt)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(self.space.mounted(self.mnt))
        self.assertTrue(mounts.wait_until(lambda: not mounts.processes_of(self.mnt)), "a process is left")

    def test_served_and_ended_by_fusermount3(self):
        self.mount_as_user()
        self.check_served(self.mnt, self.as_user)
        self.end_by("fusermount3", "-u")

    def test_ended_by_vouchfs_umount(self):
        self.mount_as_user()
        self.check_served(self.mnt, self.as_user)
        self.end_by(mounts.binary(), "umount")

    def test_status_and_verify_work_for_the_user(self):
        self.mount_as_user()
        self.assertEqual(self.as_user(mounts.binary(), "status", self.mnt).returncode, 0)
        self.assertEqual(self.as_user(mounts.binary(), "verify", self.mnt, "--quiet").returncode, 0)
        self.end_by("fusermount3", "-u")

    def test_writes_are_refused_with_erofs(self):
        self.mount_as_user()
        done = self.as_user("sh", "-c", 'LC_ALL=C; export LC_ALL; touch "$1/new"; rm -f "$1/config.json"; mkdir "$1/d"', "sh", self.mnt)
        self.assertEqual(done.stderr.count("Read-only file system"), 3, done.stderr)
        self.end_by("fusermount3", "-u")

    def test_a_folder_that_is_not_the_users_is_refused_with_7(self):
        other = self.new_folder("not-mine")
        done = self.as_user(mounts.binary(), "mount", self.model, other)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertFalse(self.space.mounted(other))
        self.assertEqual(mounts.processes_of(other), [])


class TestByMount8(FormsCase):
    def setUp(self):
        super().setUp()
        self.space = mounts.Namespace(self, HELPERS_IN_SBIN)
        self.mnt = self.new_folder("mnt8")

    def check(self, *command):
        done = self.space.run(*command)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(self.space.mounted(self.mnt))
        self.check_served(self.mnt, self.space.run)
        self.assertIn("fuse.vouchfs", self.space.run("findmnt", "-n", "-o", "FSTYPE", self.mnt).stdout)
        done = self.space.run("umount", self.mnt)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(mounts.wait_until(lambda: not mounts.processes_of(self.mnt)), "a process is left")

    def test_type_vouchfs(self):
        self.check("mount", "-t", "vouchfs", self.model, self.mnt)

    def test_type_fuse_vouchfs(self):
        self.check("mount", "-t", "fuse.vouchfs", self.model, self.mnt)

    def test_read_only_and_other_options(self):
        self.check("mount", "-r", "-t", "vouchfs", "-o", "nosuid,nodev,noexec", self.model, self.mnt)

    def test_our_own_options(self):
        digest = "sha256:" + mounts.verity_digest(os.path.join(self.model, ".vouch/manifest.json")).split(":")[-1]
        self.check("mount", "-t", "vouchfs", "-o", "digest=%s,on-known-bad=serve" % digest, self.model, self.mnt)

    def test_a_wrong_digest_mounts_nothing(self):
        done = self.space.run("mount", "-t", "vouchfs", "-o", "digest=sha256:" + "0" * 64, self.model, self.mnt)
        self.assertNotEqual(done.returncode, 0)
        self.assertFalse(self.space.mounted(self.mnt))

    def test_an_fstab_line(self):
        with open(self.path("fstab"), "w") as file:
            file.write("%s %s vouchfs ro,noauto,nofail,user,_netdev,x-systemd.automount 0 0\n" % (self.model, self.mnt))
        self.assertEqual(self.space.run("sh", "-c", 'touch /etc/fstab; mount --bind "$1" /etc/fstab', "sh", self.path("fstab")).returncode, 0)
        self.check("mount", self.mnt)

    def test_an_fstab_line_with_the_fuse_type_and_a_blank_in_the_path(self):
        model = self.make_model("a model")
        with open(self.path("fstab"), "w") as file:
            file.write("%s %s fuse.vouchfs defaults 0 0\n" % (model.replace(" ", "\\040"), self.mnt))
        self.assertEqual(self.space.run("sh", "-c", 'touch /etc/fstab; mount --bind "$1" /etc/fstab', "sh", self.path("fstab")).returncode, 0)
        self.check("mount", self.mnt)


class TestUnmounting(FormsCase):
    def mounted(self):
        path = self.path("mnt")
        os.makedirs(path, exist_ok=True)
        mounts.vouchfs_ok("mount", self.model, path)
        return path

    def test_umount_and_vouchfs_umount_end_it(self):
        for command in (("umount",), (mounts.binary(), "umount")):
            with self.subTest(command=command):
                path = self.mounted()
                self.assertEqual(mounts.run(*command, path).returncode, 0)
                self.check_ended(path)

    def test_what_is_no_mount_gives_7(self):
        self.assertEqual(mounts.vouchfs("umount", self.new_folder("nothing")).returncode, 7)
        self.assertEqual(mounts.vouchfs("umount", self.path("not-there")).returncode, 7)

    def test_a_busy_mount_ends_when_its_reader_lets_go(self):
        path = self.mounted()
        file = open(os.path.join(path, self.shard), "rb")
        self.addCleanup(file.close)
        process = subprocess.Popen([mounts.binary(), "umount", path, "--timeout", "30s"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        said = process.stderr.readline()  # it says who keeps it busy, and waits
        self.assertIn("in use", said)
        self.assertTrue(mounts.is_mounted(path))
        file.close()
        self.assertEqual(process.wait(20), 0)
        process.communicate()
        self.check_ended(path)

    def test_a_busy_mount_is_taken_off_its_path_when_patience_ends(self):
        path = self.mounted()
        with open(os.path.join(path, self.shard), "rb", buffering=0) as file:
            head = file.read(100)
            done = mounts.vouchfs("umount", path, "--timeout", "0")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertFalse(mounts.is_mounted(path))
            self.assertIn("in use", done.stderr)
            self.assertEqual(os.pread(file.fileno(), 100, 0), head, "its reader still reads")
        self.check_ended(path)

    def test_force_gives_readers_an_error(self):
        path = self.mounted()
        with open(os.path.join(path, self.shard), "rb", buffering=0) as file:
            done = mounts.vouchfs("umount", path, "--timeout", "0", "--force")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertFalse(mounts.is_mounted(path))
            with self.assertRaises(OSError):
                os.pread(file.fileno(), 100, 4096)
        self.check_ended(path)

    def test_a_mount_of_another_kind_is_left_alone(self):
        path = self.new_folder("tmpfs")
        mounts.run("mount", "-t", "tmpfs", "tmpfs", path).check_returncode()
        self.assertEqual(mounts.vouchfs("umount", path).returncode, 7)
        self.assertTrue(mounts.is_mounted(path))
        self.unmount(path)


class TestExitCodes(FormsCase):
    def refused(self, code, *arguments):
        done = mounts.vouchfs("mount", *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertTrue(done.stderr.strip(), "no reason given")
        self.assertEqual(mounts.mounts_below(self.dir), [])
        return done.stderr

    def test_model_not_there(self):
        self.assertIn("absent", self.refused(10, self.path("absent"), self.new_folder("m")))

    def test_model_without_a_seal(self):
        model = self.new_folder("unsealed")
        mounts.write_file(os.path.join(model, "f"), b"x")
        self.assertIn("ingest", self.refused(10, model, self.new_folder("m")), "the message says what to do")

    def test_seal_folder_not_there(self):
        self.refused(10, self.model, self.new_folder("m"), "--seal", self.path("no-seal"))

    def test_mount_point_not_there(self):
        self.refused(7, self.model, self.path("no-such-folder"))

    def test_mount_point_is_a_file(self):
        mounts.write_file(self.path("file"), b"")
        self.refused(7, self.model, self.path("file"))

    def test_wrong_digest(self):
        self.refused(5, self.model, self.new_folder("m"), "--digest", "sha256:" + "1" * 64)

    def test_mounted_already(self):
        with self.mount(self.model) as mount:
            done = mounts.vouchfs("mount", self.model, mount.path)
            self.assertEqual(done.returncode, 7)
            self.assertEqual(len([row for row in mounts.mount_rows() if row[0] == mount.path]), 1)

    def test_usage(self):
        self.refused(2, self.model)
        self.refused(2, self.model, self.new_folder("m"), "--no-such-flag")

    def test_no_fuse_device(self):
        space = mounts.Namespace(self, 'mount --bind /dev/null /dev/fuse')
        mnt = self.new_folder("m")
        done = space.run(mounts.binary(), "mount", self.model, mnt)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("fuse", done.stderr)
        self.assertEqual(mounts.processes_of(mnt), [])


if __name__ == "__main__":
    mounts.main()
