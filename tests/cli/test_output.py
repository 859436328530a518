"""What the commands say and where: help, JSON lines, errors, warnings, progress, full outputs."""
import json
import os
import pty
import re
import select
import subprocess

import models
import mounts

COMMANDS = ("ingest", "mount", "umount", "verify", "doctor", "status", "warm", "digest", "ls", "index", "version")
SHARD = models.shard_name(2, 2)


class TestOutput(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.model = self.path("model")
        models.write_model(self.model)

    def test_help_names_every_command_and_goes_to_stdout(self):
        done = mounts.vouchfs("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(re.findall(r"^  ([a-z]+) ", done.stdout.split("Commands:")[1].split("\n\n")[0], re.M), list(COMMANDS))
        bare = mounts.vouchfs()
        self.assertEqual((bare.returncode, bare.stdout, bare.stderr), (2, "", done.stdout))

    def test_help_of_every_command_has_the_options_of_all(self):
        for command in COMMANDS:
            done = mounts.vouchfs(command, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""), command)
            for option in ("--json", "--quiet", "--config", "--help"):
                self.assertIn(option, done.stdout, command)
            self.assertIn("Usage: vouchfs %s" % command, done.stdout)

    def test_json_puts_nothing_but_records_on_stdout(self):
        os.mkdir(self.model + "/.cache")
        ingest = models.records(mounts.vouchfs_ok("ingest", self.model, "--json").stdout)
        self.assertEqual([r["type"] for r in ingest], ["left_out", "summary"])
        digest = ingest[-1]["model_digest"]
        self.assertEqual(digest, "sha256:" + mounts.verity_digest(self.model + "/.vouch/manifest.json"))
        self.assertEqual([ingest[-1][key] for key in ("files", "tensors", "warnings")], [3, 6, 0])
        summary = models.records(mounts.vouchfs_ok("verify", self.model, "--json").stdout)
        self.assertEqual([(r["type"], r["model_digest"]) for r in summary], [("summary", digest)])
        self.assertEqual(models.records(mounts.vouchfs_ok("digest", self.model, "--json").stdout), [{"type": "digest", "digest": digest, "path": self.model}])
        self.assertEqual(len(models.records(mounts.vouchfs_ok("ls", self.model, "--json").stdout, "tensor")), 6)
        self.assertEqual(models.records(mounts.vouchfs_ok("version", "--json").stdout)[0]["type"], "version")

    def test_an_error_is_a_line_on_stderr_and_a_record_with_json(self):
        os.mkfifo(self.model + "/pipe")
        done = mounts.vouchfs("ingest", self.model, "--json")
        error = models.records(done.stdout)
        self.assertEqual([r["type"] for r in error], ["error"])
        self.assertEqual((error[0]["file"], error[0]["code"]), (self.model + "/pipe", "bad_format"))
        self.assertTrue(error[0]["message"] and error[0]["advice"])
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn(self.model + "/pipe", done.stderr)
        plain = mounts.vouchfs("ingest", self.model)
        self.assertEqual((plain.stdout, plain.stderr), ("", done.stderr))

    def test_a_usage_error_is_a_record_too(self):
        done = mounts.vouchfs("ingest", "--json")
        self.assertEqual(models.records(done.stdout, "error")[0]["code"], "invalid_argument")

    def test_names_cannot_write_to_the_terminal(self):
        os.symlink("nowhere", self.model + "/evil\x1b[31m\nname")
        done = mounts.vouchfs("ingest", self.model)
        self.assertNotIn("\x1b", done.stderr)
        self.assertIn("evil\\x1b[31m\\x0aname", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_quiet_says_nothing_but_warnings_errors_and_what_was_asked_for(self):
        done = mounts.vouchfs_ok("ingest", self.model, "--quiet")
        self.assertEqual((done.stdout, done.stderr), ("", ""))
        done = mounts.vouchfs_ok("verify", self.model, "-q")
        self.assertEqual((done.stdout, done.stderr), ("", ""))
        self.assertIn("config.json", mounts.vouchfs_ok("digest", self.model + "/config.json", "--quiet").stdout)
        os.truncate(self.model + "/" + SHARD, 9000)
        done = mounts.vouchfs_ok("ingest", self.model, "--quiet")
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, "^vouchfs: warning: .*%s" % SHARD)
        done = mounts.vouchfs_ok("ingest", self.model, "--json")
        self.assertIn(SHARD, models.records(done.stdout, "warning")[0]["message"])

    def test_left_out_folders_are_named(self):
        os.makedirs(self.model + "/sub/.git")
        self.assertIn("left out: sub/.git", mounts.vouchfs_ok("ingest", self.model).stdout)

    def test_a_bar_on_a_terminal_and_none_elsewhere(self):
        with open(self.model + "/large.bin", "wb") as file:
            file.truncate(64 << 30)
        screen, terminal = pty.openpty()
        process = subprocess.Popen([mounts.binary(), "ingest", self.model], stdout=subprocess.DEVNULL, stderr=terminal)
        os.close(terminal)
        seen = b""
        try:
            while not re.search(rb"ingest +\d+% \[[# ]+\]  [\d.]+ \w+ of 64\.0 GiB  [\d.]+ \w+/s  \d+ \w+ left", seen):
                self.assertTrue(select.select([screen], [], [], 30)[0], "no bar: %r" % seen[-300:])
                seen += os.read(screen, 4096)
        finally:
            process.terminate()
            process.wait(30)
            os.close(screen)
        self.assertEqual(process.returncode, 130)
        os.unlink(self.model + "/large.bin")
        self.assertEqual(mounts.vouchfs_ok("ingest", self.model).stderr, "")

    def test_an_output_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([mounts.binary(), "version"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=30)
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output", done.stderr)

    def test_every_file_gets_its_digest_though_one_fails(self):
        done = mounts.vouchfs("digest", self.model + "/gone", self.model + "/config.json")
        self.assertEqual(done.returncode, 10)
        self.assertEqual(done.stdout, mounts.run("fsverity", "digest", self.model + "/config.json").stdout)

    def test_version_names_what_is_compiled_in(self):
        record = models.records(mounts.vouchfs_ok("version", "--json").stdout)[0]
        self.assertRegex(record["version"], r"^\d+\.\d+\.\d+$")
        self.assertIn("openssl", record["hash_backends"])
        self.assertRegex(record["libfuse"], r"^3\.\d+")
        for wish in record["hash_backends"]:
            again = json.loads(mounts.vouchfs_ok("version", "--json", env=dict(os.environ, VOUCHFS_HASH=wish)).stdout)
            self.assertEqual(again["hash"], wish)
        done = mounts.vouchfs_ok("version", env=dict(os.environ, VOUCHFS_HASH="abacus"))
        self.assertIn("abacus", done.stderr)


if __name__ == "__main__":
    mounts.main()
