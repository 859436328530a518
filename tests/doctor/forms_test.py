#!/usr/bin/env python3
"""What doctor prints: one screen for people, GitHub annotations (--ci), a JUnit file (--junit), the list of codes (--codes); exit codes are the same in every form."""
import json
import re
import xml.etree.ElementTree

import tiny_writers as w
from cases import BIN, FILE
from doctor_case import DoctorCase, environment, main, mounts
from inputs_safetensors import POINTER, S
from inputs_shards import SHARDS, write_shards
from tiny_writers import write

HOSTILE = "a%25,b:c\n::error::forged\r<&\"'>]]>\x1b[31m.safetensors"
ANNOTATION = re.compile(r"^::(error|warning|notice) file=([^,:\r\n]*),title=([a-z._]+)::([^\r\n]*)$")


def unescape(text, more=()):
    for code, char in (("%0D", "\r"), ("%0A", "\n"), *more, ("%25", "%")):
        text = text.replace(code, char)
    return text


def property_of(text):
    return unescape(text, (("%3A", ":"), ("%2C", ",")))


class Forms(DoctorCase):
    def model(self):
        """An error, a warning and a note."""
        model = self.new_folder("model")
        write_shards(model)
        write(model / SHARDS[1], w.safetensors([("layers.2.a", "F32", (4, 2)), ("layers.2.b", "F32", (3,))])[:-4])
        write(model / "more/model.safetensors", w.from_header("{}"))
        write(model / "other/model.safetensors", w.safetensors([("x", "F32", (2,))], metadata=None))
        return model

    def run_doctor(self, *arguments, **options):
        return mounts.vouchfs("doctor", *arguments, env=environment([("HOME", str(self.folder))]), **options)

    def annotations(self, text):
        """(the annotations as fields, the other lines)."""
        rows, rest = [], []
        for line in text.splitlines():
            match = ANNOTATION.match(line)
            if match:
                rows.append((match[1], property_of(match[2]), match[3], unescape(match[4])))
            else:
                rest.append(line)
        return rows, rest

    def test_a_path_that_begins_with_a_dash_stays_a_path_in_commands(self):
        folder = self.new_folder("dash")
        write(folder / "-x" / FILE, b"\xef\xbb\xbf" + S)
        lines = self.run_doctor("--json", "--", "-x", cwd=folder).stdout.splitlines()
        command, = (row["command"] for row in map(json.loads, lines) if row["type"] == "finding")
        done = mounts.run("sh", "-euc", command, cwd=folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        self.assertEqual((folder / "-x" / (FILE + ".fixed")).read_bytes(), S)

    def test_an_annotation_of_a_link_to_nothing_names_the_link(self):
        link = self.new_folder("links") / FILE
        link.symlink_to("nowhere")
        rows, _ = self.annotations(self.run_doctor("--ci", link).stdout)
        self.assertEqual([row[:3] for row in rows], [("error", str(link), "link.dangling")])

    def test_the_forms_agree_on_findings_and_exit_code(self):
        model = self.model()
        answer = self.doctor(model)
        self.assertEqual({f["severity"] for f in answer.findings}, {"error", "warning", "note"})
        wanted = [({"note": "notice"}.get(f["severity"], f["severity"]), "%s/%s" % (model, f["file"]), f["code"]) for f in answer.findings]
        ci = self.run_doctor("--ci", model)
        rows, rest = self.annotations(ci.stdout)
        self.assertEqual([row[:3] for row in rows], wanted)
        self.assertEqual(len(rest), 1)
        self.assertIn(answer.summary["verdict"], rest[0])
        text = self.run_doctor(model)
        for finding in answer.findings:
            self.assertIn(finding["code"], text.stdout)
            self.assertIn(finding["file"], text.stdout)
        self.assertIn(answer.summary["verdict"], text.stdout)
        self.assertEqual({ci.returncode, text.returncode, answer.exit}, {3})

    def test_the_order_is_worst_first(self):
        severities = [f["severity"] for f in self.doctor(self.model()).findings]
        self.assertEqual(severities, sorted(severities, key=["error", "warning", "note"].index))

    def test_hostile_names_stay_inside_their_annotation(self):
        model = self.new_folder("model")
        write(model / HOSTILE, POINTER)
        rows, rest = self.annotations(self.run_doctor("--ci", model).stdout)
        shown = HOSTILE.replace("\x1b", "\\x1b")
        self.assertEqual([row[:3] for row in rows if row[0] == "error"], [("error", "%s/%s" % (model, shown), "lfs.pointer")])
        self.assertEqual([line for line in rest if line.startswith("::")], [])

    def test_a_path_that_is_not_there_is_an_error_in_every_form(self):
        model, nowhere = self.model(), self.folder / "nowhere"
        done, root = self.junit(model, nowhere)
        self.assertEqual(done.returncode, 10)
        self.assertEqual([(suite.get("name"), suite.get("errors")) for suite in root], [("vouchfs doctor %s" % model, "0"), ("vouchfs doctor %s" % nowhere, "1")])
        self.assertEqual((root.get("errors"), len(root.findall(".//error"))), ("1", 1))
        alone = self.run_doctor("--ci", nowhere)
        rows, rest = self.annotations(alone.stdout)
        self.assertEqual((alone.returncode, [row[:2] for row in rows], rest), (10, [("error", str(nowhere))], []))

    def test_quiet_hides_notes_and_the_verdict_counts_them(self):
        model = self.model()
        answer = self.doctor(model)
        for form in ((), ("--ci",)):
            said = self.run_doctor("--quiet", *form, model).stdout
            for finding in answer.findings:
                self.assertEqual(finding["code"] in said, finding["severity"] != "note", finding["code"])
            self.assertIn("%d note" % answer.summary["notes"], said)

    def test_the_help_fits_a_terminal(self):
        said = self.run_doctor("--help").stdout
        self.assertEqual([line for line in said.splitlines() if len(line) > 80], [])
        self.assertNotIn("... ...", said)

    def test_names_are_no_commands_to_a_ci_server(self):
        model = self.new_folder("model")
        for name in ("##[stop-commands]tok", "##vso[task.setvariable]x", "::error::forged"):
            write(model / name / FILE, w.safetensors([(name, "F32", (2,))])[:-4])
        for command in (("doctor",), ("ls",), ("doctor", "--deep")):
            done = mounts.vouchfs(*command, model, env=environment([("HOME", str(self.folder))]))
            said = done.stdout + done.stderr
            self.assertNotRegex(said, r"(?m)##\[|##vso\[|^\s*::")
        self.assertIn(r"#\x23[stop-commands]tok", self.run_doctor(model).stdout)

    def junit(self, *arguments):
        path = self.folder / "report.xml"
        done = self.run_doctor("--junit", path, *arguments)
        return done, xml.etree.ElementTree.parse(path).getroot()

    def test_a_junit_file_has_a_case_a_finding_and_one_for_the_verdict(self):
        model = self.model()
        answer = self.doctor(model)
        done, root = self.junit(model)
        self.assertEqual(done.returncode, answer.exit)
        self.assertEqual([root.tag, *(suite.tag for suite in root)], ["testsuites", "testsuite"])
        suite = root[0]
        cases = list(suite)
        self.assertEqual([case.get("classname") for case in cases], [f["code"] for f in answer.findings] + ["verdict"])
        failed = [case.get("classname") for case in cases if case.find("failure") is not None]
        self.assertEqual(failed, [f["code"] for f in answer.of("error")] + ["verdict"])
        for element in (root, suite):
            self.assertEqual((int(element.get("tests")), int(element.get("failures"))), (len(cases), len(failed)))
        for case, finding in zip(cases, answer.findings):
            self.assertEqual(case.get("name"), "%s/%s" % (model, finding["file"]))
            self.assertIn(finding["message"], "".join(case.itertext()))

    def test_a_junit_file_is_well_formed_with_hostile_names(self):
        model = self.new_folder("model")
        write(model / HOSTILE, POINTER)
        _, root = self.junit(model)
        case = next(c for c in root.iter("testcase") if c.get("classname") == "lfs.pointer")
        for piece in ("a%25,b:c", "::error::forged", "<&\"'>]]>"):
            self.assertIn(piece, case.get("name"))
        self.assertNotIn("\x1b", case.get("name"))

    def test_a_whole_model_passes_in_every_form(self):
        model = self.new_folder("model")
        write(model / FILE, S)
        done, root = self.junit("--ci", model)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(root.get("failures"), "0")
        rows, rest = self.annotations(done.stdout)
        self.assertEqual([row for row in rows if row[0] != "notice"], [])
        self.assertIn("whole", rest[0])

    def test_several_paths_give_the_worst_exit_code_and_a_suite_each(self):
        good, bad = self.new_folder("good"), self.new_folder("bad")
        write(good / FILE, S)
        write(bad / BIN, w.web_page())
        done, root = self.junit(good, bad, good)
        self.assertEqual(done.returncode, 3)
        self.assertEqual([suite.get("failures") for suite in root], ["0", "2", "0"])

    def test_a_junit_file_that_cannot_be_written_is_an_error_of_its_own(self):
        model = self.new_folder("model")
        write(model / FILE, S)
        done = self.run_doctor("--junit", self.folder / "no such folder/report.xml", model)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no such folder", done.stderr)

    def test_a_path_that_is_not_there_is_exit_10(self):
        done = self.run_doctor("--json", self.folder / "nothing")
        self.assertEqual(done.returncode, 10)
        self.assertEqual([json.loads(line)["type"] for line in done.stdout.splitlines()], ["error"])


class Codes(DoctorCase):
    def test_the_list_of_codes_is_sorted_and_whole(self):
        done = mounts.vouchfs_ok("doctor", "--codes", "--json")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual({row["type"] for row in rows}, {"code"})
        codes = [row["code"] for row in rows]
        self.assertEqual(codes, sorted(set(codes)))
        self.assertGreater(len(codes), 80)
        for row in rows:
            with self.subTest(code=row["code"]):
                self.assertIn(row["severity"], ("error", "warning", "note"))
                self.assertEqual(row["verdict"] == "whole", row["severity"] != "error")
                self.assertTrue(row["title"] and row["advice"])
        text = mounts.vouchfs_ok("doctor", "--codes").stdout
        for code in codes:
            self.assertIn(code, text)


if __name__ == "__main__":
    main()
