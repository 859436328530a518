#!/usr/bin/env python3
"""Each tiny input gives the answer that the collection of reported breakages asks for: code, file, place, verdict, exit code, and no other error.

One test method an input, made from the cases: `tiny_inputs_test.py TinyInputs.test_R08_a_length_of_100000001`.
"""
import os
import subprocess

from doctor_case import HERE, DoctorCase, environment, main, mounts
from tiny_inputs import CASES, find

MEMORY_KIB = 256 << 10  # far below what 2^40 tensors or a header of 100 MB would take as objects; the program and its libraries take about 30 MiB

# Inputs about mounts: doctor does not answer them, mounts do. What tells each apart: a test of a file.
MOUNT_INPUTS = {
    "R140": ("mount/test_exact_pages.py", "test_by_private_mapping", "test_by_shared_mapping"),
    "R141": ("mount/test_storm.py", "test_sound_file"),
    "R142": ("doctor/mounts_test.py", "test_a_mount_whose_daemon_was_killed_is_named"),
    "R143": ("mount/test_exact_pages.py", "test_by_direct_reads", "test_by_private_mapping"),
    "R144": ("mount/test_source_faults.py", "test_cut_by_one_byte"),
    "R146": ("unit/source/posix_source_test.cpp", "AFilesystemWithoutDirectIoIsReadAllTheSame"),
}
WANTED = ("R01 R03 R04 R05 R06 R07 R08 R10 R11 R13 R15 R16 R17 R18 R19 R21 R22 R23 R24 R25 R27 R29 R32 R33 R34 R35 R36 R37 R38 R41 R50 R51 R52 R53 R54 R55 R56 R59 R61 R63 R65 "
          "R66 R67 R68 R70 R71 R73 R74 R76 R77 R79 R90 R91 R92 R93 R94 R97 R99 R101 R102 R110 R111 R112 R113 R120 R121 R122 R126 R127").split()


class CaseOfDoctor(DoctorCase):
    def build(self, case):
        """Builds a case; gives back the arguments of doctor, the variables and what must be said."""
        want = case.build(self.folder)
        if case.sealed:
            mounts.vouchfs_ok("ingest", self.folder, "--quiet")
        if case.spoil:
            case.spoil(self.folder)
        path = case.path if ":" in case.path else self.folder / case.path
        return [path, *case.options], [(name, str(self.folder / below)) for name, below in case.environment], want

    def examine(self, case):
        arguments, variables, want = self.build(case)
        with self.unchanged():
            answer = self.doctor(*arguments, variables=variables)
        self.assertEqual(answer.summary["verdict"], case.verdict, self.said(answer))
        for wanted in want:
            self.check_finding(answer, wanted)
        self.check_nothing_else(answer, want)
        return answer

    def check_finding(self, answer, want):
        same_code = [f for f in answer.findings if f["code"] == want.code]
        self.assertIn(want.file, [f["file"] for f in same_code], "%s is not said of this file; said was: %s" % (want.code, answer.findings))
        finding = next(f for f in same_code if f["file"] == want.file)
        self.assertEqual(finding["severity"], want.severity)
        for key in ("offset", "length"):
            if getattr(want, key) is not None:
                self.assertEqual(finding[key], getattr(want, key), "%s: %s" % (key, finding))
        if want.tensors is not None:
            self.assertEqual(finding["tensors"], want.tensors)
        for words, key in ((want.says, "message"), (want.command, "command")):
            for word in words:
                self.assertIn(word, finding[key])
        if want.severity == "error":
            self.assertTrue(finding["advice"], "an error without advice")

    def check_nothing_else(self, answer, want):
        """One cause, one finding: no error and no warning but those that are wanted, and none twice."""
        wanted = sorted((w.severity, w.code, w.file) for w in want if w.severity != "note")
        self.assertEqual(sorted((f["severity"], f["code"], f["file"]) for f in answer.of("error", "warning")), wanted, self.said(answer))


class TinyInputs(CaseOfDoctor):
    """Filled below: one method a case."""


def method_of(case):
    def method(self):
        self.examine(case)
    method.__doc__ = None
    return method


for _case in CASES:
    setattr(TinyInputs, "test_" + _case.slug, method_of(_case))


class TheRest(CaseOfDoctor):
    def test_every_input_of_the_collection_is_here(self):
        self.assertEqual(sorted({c.id for c in CASES if c.id.startswith("R")} | {"R127"}, key=lambda i: int(i[1:])), WANTED)
        self.assertEqual(len({c.slug for c in CASES}), len(CASES))

    def test_inputs_about_mounts_have_tests_of_mounts(self):
        for number, (file, *names) in MOUNT_INPUTS.items():
            text = (HERE.parent / file).read_text()
            for name in names:
                with self.subTest(input=number, test=name):
                    self.assertIn(name, text)

    def test_R127_a_cache_that_cannot_be_written(self):
        case = find("R121_a_snapshot_link_to_nothing")  # a cache; made whole again
        repo = self.folder / case.path
        case.build(self.folder)
        subprocess.run(["rm", "-r", repo], check=True)
        import inputs_stores
        import tiny_writers
        tiny_writers.hub_cache(self.folder, inputs_stores.HUB_FILES)
        read_only = ("unshare", "-m", "sh", "-c", 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"', self.folder)
        answer = self.doctor(repo, prefix=read_only)
        self.assert_healthy(answer)
        notes = [f for f in answer.findings if f["code"] == "hub.read_only"]
        self.assertEqual(len(notes), 1, answer.findings)
        self.assertIn("HF_HUB", notes[0]["advice"] + notes[0]["message"] + notes[0]["command"])
        self.assertEqual([f for f in self.doctor(repo).findings if f["code"] == "hub.read_only"], [], "a cache that can be written is called read-only")

    def test_absurd_counts_and_lengths_take_little_memory(self):
        for slug in ("R99_2_to_the_40_tensors", "R08_a_length_of_100000001", "R24_an_absurd_shape"):
            with self.subTest(case=slug):
                folder = self.new_folder(slug)
                find(slug).build(folder)
                process = subprocess.Popen([mounts.binary(), "doctor", folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                self.assertEqual(process.returncode, 3)
                self.assertLess(used.ru_maxrss, MEMORY_KIB)

    def test_run_as_that_user_the_answer_is_the_same_as_with_as(self):
        for slug in ("R126_mode_0600_and_another_owner", "R126_a_folder_on_the_way_that_may_not_be_passed"):
            with self.subTest(case=slug):
                case, folder = find(slug), self.new_folder(slug)
                wanted = [(w.code, w.file) for w in case.build(folder)]
                for arguments, prefix in ((case.options, ()), ((), mounts.AS_NOBODY)):
                    answer = self.doctor(folder, *arguments, prefix=prefix)
                    self.assertEqual([(f["code"], f["file"]) for f in answer.of("error")], wanted, self.said(answer))
                    self.assertEqual(answer.summary["verdict"], "incomplete")

    def test_nothing_of_a_pickle_is_run(self):
        mark = self.folder / "mark"
        import tiny_writers as w
        call = w.unicode_of("extra") + w.global_of("os", "system") + w.unicode_of("touch %s" % mark) + b"\x85R"
        model = self.new_folder("model")
        w.write(model / "pytorch_model.bin", w.torch_zip(more=call).bytes())
        for options in ((), ("--deep",)):
            self.assertEqual(self.doctor(model, *options).exit, 3)
        self.assertFalse(mark.exists(), "the code of the pickle was run")


if __name__ == "__main__":
    main()
