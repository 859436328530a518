"""ingest by its command line: refusals, a kill at any moment, going on, no room, no right, a model that changes."""
import json
import os
import random
import shutil
import signal
import subprocess

import models
import mounts


def manifest_digest(model):
    path = model + "/.vouch/manifest.json"
    return mounts.verity_digest(path) if os.path.exists(path) else None


class TestRefusals(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.model = self.path("model")
        models.write_model(self.model, shards=1)

    def check_refused(self, name, sealed):
        before = models.names_below(self.model)
        done = mounts.vouchfs("ingest", self.model)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(name, done.stderr)
        self.assertEqual(models.names_below(self.model), before)
        self.assertEqual(manifest_digest(self.model), sealed)

    def test_links_that_lead_nowhere_and_special_files_are_named_and_the_older_seal_stays(self):
        os.mkdir(self.model + "/sub")
        kinds = {"dangling.bin": lambda p: os.symlink("../gone", p), "loop.bin": lambda p: os.symlink("loop.bin", p), "sub/up": lambda p: os.symlink("..", p), "pipe.bin": os.mkfifo,
                 "device.bin": lambda p: os.mknod(p, 0o020644, os.makedev(1, 3))}
        for sealed in (False, True):
            if sealed:
                self.ingest(self.model)
            for name, make in kinds.items():
                with self.subTest(kind=name, sealed=sealed):
                    make(self.model + "/" + name)
                    self.check_refused(name, manifest_digest(self.model))
                    os.unlink(self.model + "/" + name)
        self.ingest(self.model)

    def test_a_name_that_is_not_utf8(self):
        with open(os.fsencode(self.model) + b"/w-\xff.bin", "w"):
            pass
        done = mounts.vouchfs("ingest", self.model, "--json")
        self.assertEqual(done.returncode, 3)
        self.assertIn("w-\\xff.bin", done.stderr)
        self.assertEqual(len(models.records(done.stdout, "error")), 1)

    def test_two_names_that_collide_in_a_view(self):
        for name in ("index.json", "index.json.orig"):
            mounts.write_file(self.model + "/" + name, b"{}")
        self.check_refused("index.json.orig", None)


class TestKilled(mounts.MountCase):
    def test_a_kill_at_any_moment_leaves_the_older_or_the_newer_seal_whole(self):
        """Kills after a random number of changes that were seen in the seal directory, so that every phase is met."""
        model, kept, fresh = self.path("model"), self.path("kept"), self.path("fresh")
        models.write_model(model, floats=300000)
        self.ingest(model)
        shutil.copytree(model + "/.vouch", kept)
        old = manifest_digest(model)
        for i in range(6):
            mounts.write_file("%s/extra-%d.bin" % (model, i), mounts.noise(1500000 + i, i))
        shutil.copytree(model, fresh, ignore=shutil.ignore_patterns(".vouch"))
        self.ingest(fresh)
        new, want = manifest_digest(fresh), models.names_below(fresh)
        rng = random.Random(20261130)
        killed, limit, outcomes = 0, 24, set()
        for _ in range(60):
            if killed == 15:
                break
            shutil.rmtree(model + "/.vouch")
            shutil.copytree(kept, model + "/.vouch")
            if self.kill_after(model, rng.randrange(1, limit + 1)):
                killed += 1
            else:
                limit = max(6, limit - 2)  # a busy machine shows fewer of the changes
            now = manifest_digest(model)
            self.assertIn(now, (old, new))
            outcomes.add(now)
            self.assertEqual(mounts.vouchfs("verify", model, "--quiet").returncode, 0)
            done = mounts.vouchfs_ok("ingest", model)
            self.assertEqual(manifest_digest(model), new, done.stdout)
            self.assertEqual(models.names_below(model), want)
        self.assertEqual(killed, 15, "too few were still running when the kill came")
        self.assertIn(old, outcomes)

    def kill_after(self, model, changes):
        """True when the ingest was killed, False when it had ended before so many changes were seen."""
        process = subprocess.Popen([mounts.binary(), "ingest", model, "--quiet"], stdin=subprocess.DEVNULL)
        last, seen = None, 0
        while process.poll() is None and seen < changes:
            now = models.names_below(model + "/.vouch")  # a folder that goes meanwhile is passed over
            seen, last = seen + (now != last), now
        process.kill()
        return process.wait() == -signal.SIGKILL


class TestNoRoomNoRight(mounts.MountCase):
    def small_disk(self, size):
        disk = self.new_folder("disk")
        mounts.run("mount", "-t", "tmpfs", "-o", "size=%d" % size, "tmpfs", disk).check_returncode()
        return disk

    def test_too_little_room_is_told_before_anything_is_read(self):
        disk = self.small_disk(16 << 20)
        model = self.path("model")
        os.mkdir(model)
        with open(model + "/huge.bin", "wb") as file:
            file.truncate(1 << 40)  # its tree alone takes 8 GiB
        done = mounts.vouchfs("ingest", model, "--seal", disk + "/seal", timeout=20)
        self.assertEqual(done.returncode, 6)
        self.assertIn("--seal DIR", done.stderr)
        self.assertEqual(os.listdir(disk), [])

    def test_a_disk_that_fills_up_keeps_the_older_seal_and_nothing_else(self):
        disk = self.small_disk(4 << 20)
        model, seal = self.path("model"), disk + "/seal"
        models.write_model(model, floats=400000)
        mounts.vouchfs_ok("ingest", model, "--seal", seal)
        before = models.names_below(disk)
        manifest = mounts.read_file(seal + "/manifest.json")
        # Room as the filesystem tells it, but no inode to put it in: the write itself fails.
        mounts.run("mount", "-o", "remount,nr_inodes=%d" % (len(before) + 2), disk).check_returncode()
        mounts.write_file(model + "/more.bin", mounts.noise(900000, 1))
        done = mounts.vouchfs("ingest", model, "--seal", seal, "--json")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("--seal DIR", models.records(done.stdout, "error")[0]["advice"])
        self.assertEqual(models.names_below(disk), before)
        self.assertEqual(mounts.read_file(seal + "/manifest.json"), manifest)
        mounts.run("mount", "-o", "remount,nr_inodes=1000", disk).check_returncode()
        mounts.vouchfs_ok("ingest", model, "--seal", seal)

    def test_a_read_only_model_gets_its_seal_elsewhere(self):
        disk = self.small_disk(4 << 20)
        models.write_model(disk + "/model")
        mounts.run("mount", "-o", "remount,ro", disk).check_returncode()
        done = mounts.vouchfs("ingest", disk + "/model")
        self.assertEqual(done.returncode, 6)
        self.assertIn("--seal DIR", done.stderr)
        mounts.vouchfs_ok("ingest", disk + "/model", "--seal", self.path("seal"))
        mounts.vouchfs_ok("verify", disk + "/model", "--seal", self.path("seal"))


class TestSeal(mounts.MountCase):
    def test_the_manifest_is_the_same_for_every_place_order_time_and_number_of_jobs(self):
        one, two = self.path("one"), self.path("deep/er/two")
        models.write_model(one, shards=3, index=True)
        os.makedirs(two)
        for name in reversed(sorted(os.listdir(one))):
            shutil.copy(one + "/" + name, two + "/" + name)
            os.utime(two + "/" + name, (1e9, 1e9))
            os.chmod(two + "/" + name, 0o444)
        mounts.vouchfs_ok("ingest", one, "--jobs", "1")
        mounts.vouchfs_ok("ingest", two, "--jobs", "8")
        self.assertEqual(mounts.read_file(one + "/.vouch/manifest.json"), mounts.read_file(two + "/.vouch/manifest.json"))
        self.assertEqual(models.names_below(one), models.names_below(two))

    def test_check_says_what_differs_and_writes_nothing(self):
        model = self.path("model")
        models.write_model(model)
        self.ingest(model)
        before = [(name, os.lstat(model + "/" + name).st_mtime_ns) for name in models.names_below(model)]
        mounts.vouchfs_ok("ingest", model, "--check")
        mounts.damage_block(model + "/" + models.shard_name(1, 2), 4)
        mounts.write_file(model + "/new.txt", b"1")
        done = mounts.vouchfs("ingest", model, "--check", "--json")
        self.assertEqual(done.returncode, 3)
        self.assertEqual([r["file"] for r in models.records(done.stdout, "difference")], [models.shard_name(1, 2), "new.txt"])
        after = [(name, os.lstat(model + "/" + name).st_mtime_ns) for name in models.names_below(model)]
        self.assertEqual({name for name, _ in set(after) ^ set(before)}, {"new.txt", models.shard_name(1, 2)})

    def test_an_interrupted_ingest_is_continued(self):
        model = self.path("model")
        os.mkdir(model)
        mounts.write_file(model + "/done.bin", mounts.noise(3 << 20, 1))
        with open(model + "/long.bin", "wb") as file:
            file.truncate(32 << 30)
        # Only a file that was left alone for two seconds may be taken over.
        ready = os.stat(model + "/done.bin").st_ctime + 2.1
        process = subprocess.Popen([mounts.binary(), "ingest", model, "--quiet", "--jobs", "2"])

        def records():
            work = model + "/.vouch/work"
            return os.path.isdir(work) and [n for n in os.listdir(work) if n.endswith(".json")]
        self.assertTrue(mounts.wait_until(records, 60), "no record of a finished file")
        process.terminate()
        self.assertEqual(process.wait(30), 130)
        name = "%s/.vouch/work/%s" % (model, records()[0])
        record = json.loads(mounts.read_file(name))
        self.assertEqual(record["path"], "done.bin")
        record["started_ns"] = int(ready * 1e9)  # as if it had been read a little later
        mounts.write_file(name, json.dumps(record).encode())
        os.truncate(model + "/long.bin", 10000)
        summary = models.records(mounts.vouchfs_ok("ingest", model, "--json").stdout, "summary")[0]
        self.assertEqual((summary["resumed_files"], summary["files"]), (1, 2))
        manifest = {row["path"]: row["fsverity"] for row in json.loads(mounts.read_file(model + "/.vouch/manifest.json"))["files"]}
        self.assertEqual(manifest, {name: mounts.verity_digest(model + "/" + name) for name in ("done.bin", "long.bin")})
        self.assertEqual(mounts.vouchfs("verify", model).returncode, 0)


if __name__ == "__main__":
    mounts.main()
