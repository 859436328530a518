"""The exit codes are frozen: this table, the page EXIT_CODES.md and what the commands return are one."""
import fcntl
import os
import pathlib
import re
import shutil
import signal
import subprocess

import models
import mounts

FROZEN = {0: "ok", 1: "other", 2: "usage", 3: "corruption", 4: "incomplete", 5: "untrusted", 6: "io", 7: "mount", 8: "all_repaired", 9: "repair_incomplete",
          10: "not_found", 130: "interrupted"}
SHARD = models.shard_name(1, 2)


class TestExitCodes(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.model = self.path("model")
        models.write_model(self.model)
        self.ingest(self.model)

    def expect(self, code, *arguments, prefix=()):
        done = mounts.run(*prefix, mounts.binary(), *arguments)
        self.assertEqual(done.returncode, code, "vouchfs %s: %s" % (" ".join(arguments), done.stderr))
        if code != 0:
            self.assertRegex(done.stderr, "^vouchfs: ")
        return done

    def test_the_table_is_the_one_of_the_page_and_of_help(self):
        page = pathlib.Path(__file__).resolve().parents[2] / "docs" / "EXIT_CODES.md"
        self.assertEqual({int(code): name for code, name in re.findall(r"^\| (\d+) \| (\w+) \|", page.read_text(), re.M)}, FROZEN)
        named = re.search(r"Exit codes: (.*)", mounts.vouchfs("--help").stdout, re.S).group(1)
        self.assertEqual([int(code) for code in re.findall(r"\b(\d+) ", named)], sorted(FROZEN))

    def test_0_when_all_is_well(self):
        for arguments in (["--help"], ["version"], ["--version"], ["ingest", self.model], ["ingest", self.model, "--check"], ["verify", self.model], ["ls", self.model],
                          ["digest", self.model, self.model + "/config.json"]):
            self.expect(0, *arguments)

    def test_0_with_a_warning_for_an_incomplete_model(self):
        os.unlink(self.model + "/" + SHARD)
        self.assertIn(SHARD, self.expect(0, "ingest", self.model).stderr)

    def test_1_when_another_ingest_is_at_work(self):
        seal = os.open(self.model + "/.vouch", os.O_RDONLY)
        self.addCleanup(os.close, seal)
        fcntl.flock(seal, fcntl.LOCK_EX)
        self.assertIn("another ingest", self.expect(1, "ingest", self.model).stderr)

    def test_2_for_a_command_line_that_cannot_be(self):
        for arguments in ([], ["no-such-command"], ["ingest"], ["verify", self.model, "--no-such-option"], ["ingest", self.model, "--jobs", "many"], ["mount", self.model],
                          ["verify", self.model, "--digest", "sha256:12"], ["digest", "--block-size", "1000", self.model + "/config.json"], ["digest", "--salt", "xy", "x"],
                          ["ls", self.model, "--config", self.path("none.toml")]):
            done = mounts.vouchfs(*arguments)
            self.assertEqual(done.returncode, 2, "%s: %s" % (arguments, done.stderr))
            self.assertEqual(done.stdout, "")
            self.assertTrue(done.stderr.strip())

    def test_3_for_bytes_that_are_wrong(self):
        mounts.damage_block(self.model + "/" + SHARD, 3)
        self.expect(3, "verify", self.model)
        self.expect(3, "ingest", self.model, "--check")
        os.truncate(self.model + "/" + SHARD, 5000)
        self.expect(3, "verify", self.model)
        self.expect(3, "ingest", self.model, "--strict")
        os.unlink(self.model + "/" + SHARD)
        self.expect(3, "verify", self.model)

    def test_4_when_strict_and_a_shard_is_missing(self):
        os.unlink(self.model + "/" + SHARD)
        self.expect(4, "ingest", self.model, "--strict")

    def test_5_when_the_seal_is_not_the_wanted_one(self):
        self.expect(5, "verify", self.model, "--digest", "sha256:" + "0" * 64)
        table = os.path.join(self.model, ".vouch/tables", os.listdir(self.model + "/.vouch/tables")[0])
        mounts.flip(table, 20)
        self.expect(5, "verify", self.model)

    def test_6_when_a_file_or_the_seal_cannot_be_read_or_written(self):
        for top, folders, files in os.walk(self.dir):
            for name in folders + files + ["."]:
                os.chown(os.path.join(top, name), mounts.NOBODY, mounts.NOBODY)
        os.chmod(self.model + "/" + SHARD, 0)
        done = self.expect(6, "ingest", self.model, prefix=mounts.AS_NOBODY)
        self.assertIn(SHARD, done.stderr)
        os.chmod(self.model + "/" + SHARD, 0o444)
        shutil.rmtree(self.model + "/.vouch")
        os.chmod(self.model, 0o555)
        done = self.expect(6, "ingest", self.model, prefix=mounts.AS_NOBODY)
        self.assertIn("--seal DIR", done.stderr)
        self.expect(0, "ingest", self.model, "--seal", self.path("seal"), prefix=mounts.AS_NOBODY)

    def test_7_when_the_mount_point_is_missing(self):
        self.expect(7, "mount", self.model, self.path("nowhere"))

    def test_10_for_what_is_not_there(self):
        gone, bare, point = self.path("no/such/model"), self.path("bare"), self.new_folder("point")
        models.write_model(bare, shards=1)
        for arguments in (["ingest", gone], ["digest", gone], ["verify", gone], ["ls", gone], ["mount", gone, point], ["verify", bare], ["mount", bare, point],
                          ["digest", bare], ["ingest", bare, "--check"], ["ingest", self.model, "--seal", self.path("no/parent")]):
            self.expect(10, *arguments)

    def test_130_when_interrupted_and_the_older_seal_stays(self):
        manifest = mounts.read_file(self.model + "/.vouch/manifest.json")
        with open(self.model + "/large.bin", "wb") as file:
            file.truncate(64 << 30)
        for number in (signal.SIGINT, signal.SIGTERM):
            shutil.rmtree(self.model + "/.vouch/work", ignore_errors=True)
            process = subprocess.Popen([mounts.binary(), "ingest", self.model, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertTrue(mounts.wait_until(lambda: os.path.exists(self.model + "/.vouch/work")), "ingest has not begun")
            process.send_signal(number)
            out, err = process.communicate(timeout=30)
            self.assertEqual(process.returncode, 130, err)
            self.assertEqual(models.records(out, "error")[0]["code"], "cancelled")
            self.assertEqual(mounts.read_file(self.model + "/.vouch/manifest.json"), manifest)


if __name__ == "__main__":
    mounts.main()
