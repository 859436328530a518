"""doctor on the command line: paths and links, several models, users and their permissions, records, text. Runs as root."""
import json
import os
import pwd
import subprocess

import models
import mounts

SHARDS = [models.shard_name(i, 2) for i in (1, 2)]
FIELDS = ["type", "path", "code", "severity", "file", "offset", "length", "tensors", "message", "loader", "advice", "command"]
OTHER = 4242  # a user without an account


class DoctorCase(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.model = self.path("model")
        self.rows = models.write_model(self.model, shards=2, index=True)
        os.chmod(self.path(""), 0o755)

    def doctor(self, *arguments, code, **options):
        done = mounts.vouchfs("doctor", *arguments, "--json", **options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return models.records(done.stdout, "finding"), models.records(done.stdout, "summary")

    def codes(self, *arguments, code, **options):
        return [(f["severity"], f["code"], f["file"]) for f in self.doctor(*arguments, code=code, **options)[0]]

    def cut(self, shard=SHARDS[1], by=100):
        path = os.path.join(self.model, shard)
        os.truncate(path, os.path.getsize(path) - by)


class TestPaths(DoctorCase):
    def test_a_whole_model_in_every_way_to_name_it(self):
        os.symlink("model", self.path("link"))
        for path in (self.model, self.model + "/", self.path("link"), os.path.join(self.model, SHARDS[0]), os.path.join(self.model, "model.safetensors.index.json")):
            findings, summary = self.doctor(path, code=0)
            self.assertEqual((findings, summary[0]["verdict"]), ([], "whole"), path)
        self.assertEqual(self.codes(".", code=0, cwd=self.model), [])

    def test_a_sealed_model_and_a_seal_elsewhere(self):
        mounts.vouchfs_ok("ingest", self.model, "--seal", self.path("seal"))
        self.assertEqual(self.codes(self.model, "--seal", self.path("seal"), code=0), [])
        os.unlink(os.path.join(self.model, "config.json"))
        self.assertEqual(self.codes(self.model, "--seal", self.path("seal"), code=4), [("error", "seal.missing_file", "config.json")])
        self.assertEqual(self.codes(self.model, code=0), [])

    def test_several_paths_are_judged_each_and_the_worst_counts(self):
        self.cut()
        good = self.path("good")
        models.write_model(good, shards=1)
        findings, summary = self.doctor(good, self.model, code=3)
        self.assertEqual([(f["path"], f["code"]) for f in findings], [(self.model, "safetensors.truncated")])
        self.assertEqual([s["verdict"] for s in summary], ["damaged"])
        self.assertEqual(summary[0]["models"], 2)

    def test_a_path_that_is_not_there_stops_no_other(self):
        self.cut()
        findings, summary = self.doctor(self.path("nothing"), self.model, code=10)
        self.assertEqual([f["code"] for f in findings], ["safetensors.truncated"])
        self.assertEqual(summary[0]["verdict"], "damaged")


class TestRecords(DoctorCase):
    def test_a_finding_has_every_field_and_every_tensor(self):
        self.cut(by=40000)
        done = mounts.vouchfs("doctor", self.model, "--json")
        line = next(line for line in done.stdout.splitlines() if '"finding"' in line)
        finding = json.loads(line)
        self.assertEqual(list(finding), FIELDS)
        size = os.path.getsize(os.path.join(self.model, SHARDS[1]))
        self.assertEqual((finding["offset"], finding["length"]), (size, 40000))
        self.assertEqual(sorted(finding["tensors"]), models.tensors_cut(self.rows[SHARDS[1]], size, 40000))
        self.assertIn("MetadataIncompleteBuffer", finding["loader"][1])

    def test_the_summary_counts(self):
        self.cut()
        summary = self.doctor(self.model, code=3)[1][0]
        self.assertEqual({k: summary[k] for k in ("verdict", "errors", "warnings", "notes", "files", "tensors")},
                         {"verdict": "damaged", "errors": 1, "warnings": 0, "notes": 0, "files": 4, "tensors": 6})
        self.assertEqual(summary["bytes"], sum(os.path.getsize(os.path.join(self.model, name)) for name in os.listdir(self.model)))

    def test_text_for_people_ends_with_the_verdict_and_has_no_colours(self):
        self.cut()
        done = mounts.vouchfs("doctor", self.model)
        lines = done.stdout.splitlines()
        self.assertTrue(lines[0].startswith("error: safetensors.truncated  " + SHARDS[1]), lines[0])
        self.assertRegex(lines[-1], r"verdict: damaged: 1 error, 0 warnings, 0 notes in 4 files, \d+\.\d KiB$")
        self.assertNotIn("\x1b", done.stdout)
        self.assertEqual(done.stderr, "")

    def test_commands_are_quoted_for_a_shell(self):
        folder = self.path("it's a model")
        models.write_model(folder, shards=2)
        command = self.doctor(folder, code=4)[0][0]["command"]
        subprocess.run(["sh", "-c", command.replace("vouchfs", mounts.binary(), 1)], check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(self.codes(folder, code=0), [])


class TestUsers(DoctorCase):
    def file(self, mode, owner=0, group=0):
        path = os.path.join(self.model, SHARDS[1])
        os.chown(path, owner, group)
        os.chmod(path, mode)
        return path

    def test_permission_is_told_apart_from_absence(self):
        self.file(0o600)
        findings, summary = self.doctor(self.model, "--as", str(OTHER), code=4)
        self.assertEqual([(f["code"], f["file"]) for f in findings], [("file.unreadable", SHARDS[1])])
        self.assertIn("mode 0600, owner root (0)", findings[0]["message"])
        self.assertEqual(sorted(findings[0]["tensors"]), sorted(self.rows[SHARDS[1]]))
        self.assertEqual(summary[0]["verdict"], "incomplete")
        self.assertEqual(self.codes(self.model, code=0), [])

    def test_owner_and_group_count(self):
        nobody = pwd.getpwuid(mounts.NOBODY)
        for owner, group, mode in ((OTHER, 0, 0o400), (0, OTHER, 0o040)):
            self.file(mode, owner, group)
            self.assertEqual(self.codes(self.model, "--as", str(OTHER), code=0), [])
            self.assertEqual(len(self.codes(self.model, "--as", nobody.pw_name, code=4)), 1)
        self.file(0o040, 0, nobody.pw_gid)
        self.assertEqual(self.codes(self.model, "--as", nobody.pw_name, code=0), [])

    def test_supplementary_groups_count(self):
        group = 4343
        self.file(0o040, 0, group)
        name = pwd.getpwuid(mounts.NOBODY).pw_name
        self.assertEqual(len(self.codes(self.model, "--as", name, code=4)), 1)
        mounts.write_file(self.path("group"), mounts.read_file("/etc/group") + ("\ndoctor-testers:x:%d:%s\n" % (group, name)).encode())
        script = 'mount --bind "$0" /etc/group && exec "$@"'  # in a mount namespace of its own
        done = mounts.run("unshare", "-m", "sh", "-c", script, self.path("group"), mounts.binary(), "doctor", self.model, "--as", name)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_our_own_identity_stays(self):
        self.file(0o600)
        models.write_model(self.path("later"), shards=1)
        os.chmod(self.path("later"), 0o700)
        findings = self.doctor(self.model, self.path("later"), "--as", str(OTHER), code=4)[0]
        self.assertEqual([f["code"] for f in findings], ["file.unreadable", "folder.unreadable"])

    def test_a_folder_above_the_model_bars_it_whole_in_one_finding(self):
        os.mkdir(self.path("barred"), 0o700)
        os.rename(self.model, self.path("barred/model"))
        findings = self.doctor(self.path("barred/model"), "--as", str(OTHER), code=4)[0]
        self.assertEqual([(f["code"], f["file"]) for f in findings], [("folder.unreadable", "")])
        self.assertIn(self.path("barred"), findings[0]["message"])
        self.assertIn("4 files", findings[0]["message"])

    def test_an_unknown_user_is_a_misuse(self):
        done = mounts.vouchfs("doctor", self.model, "--as", "no-such-user-here")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no-such-user-here", done.stderr)

    def test_only_root_can_judge_for_others(self):
        os.chmod(self.path(""), 0o755)
        done = mounts.run(*mounts.AS_NOBODY, mounts.binary(), "doctor", self.model, "--as", str(OTHER))
        self.assertEqual(done.returncode, 2)
        self.assertIn("only root", done.stderr)
        done = mounts.run(*mounts.AS_NOBODY, mounts.binary(), "doctor", self.model, "--as", str(mounts.NOBODY))
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    mounts.main()
