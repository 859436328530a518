#!/usr/bin/env python3
"""The answers that TROUBLESHOOTING.md shows are those of doctor: each marked block is what the program prints for the input of that name.

<!-- doctor: SLUG --> stands above a fence with what `vouchfs doctor model` printed of the case SLUG of tests/doctor. `troubleshooting_test.py --update` writes the blocks anew.
"""
import os
import pathlib
import re
import sys
import tempfile
import unittest

from documents import DOCS, ROOT, binary

sys.path[:0] = [str(ROOT / "tests" / "doctor"), str(ROOT / "tests" / "support")]
import mounts  # noqa: E402
import tiny_inputs  # noqa: E402

PAGE = DOCS / "TROUBLESHOOTING.md"
BLOCK = re.compile(r"^(<!-- doctor: (\S+) -->\n```text\n)(.*?)^```$", re.M | re.S)


def environment(home):
    foreign = ("VOUCHFS_", "OLLAMA_", "HF_", "XDG_")
    return {**{k: v for k, v in os.environ.items() if not k.startswith(foreign)}, "HOME": home, "LC_ALL": "C.UTF-8"}


def run_case(slug, form=()):
    """What doctor prints of a case, run beside its folder `model`."""
    case = tiny_inputs.find(slug)
    with tempfile.TemporaryDirectory(prefix="vouchfs-test-") as top:
        os.chmod(top, 0o755)
        model = pathlib.Path(top, "model")
        model.mkdir()
        case.build(model)
        if case.sealed:
            mounts.vouchfs_ok("ingest", model, "--quiet")
        if case.spoil:
            case.spoil(model)
        path = case.path if ":" in case.path else "/".join(filter(None, ("model", case.path)))
        variables = {**environment(top), **{name: str(model / below) for name, below in case.environment}}
        return mounts.run(binary(), "doctor", *form, *case.options, path, cwd=top, env=variables).stdout.replace(top + "/", "")


def printed(slug):
    return "".join(line.rstrip() + "\n" for line in run_case(slug).strip().splitlines())


def updated(page):
    return BLOCK.sub(lambda match: match[1] + printed(match[2]) + "```", page)


class Troubleshooting(unittest.TestCase):
    maxDiff = 4000

    def test_every_answer_shown_is_the_programs(self):
        blocks = BLOCK.findall(PAGE.read_text())
        self.assertGreater(len(blocks), 50)
        self.assertEqual(len(blocks), PAGE.read_text().count("<!-- doctor:"), "a mark without a block")
        for _, slug, text in blocks:
            with self.subTest(case=slug):
                self.assertEqual(text, printed(slug))

    def test_every_answer_shown_has_the_codes_of_its_case(self):
        for _, slug, text in BLOCK.findall(PAGE.read_text()):
            case = tiny_inputs.find(slug)
            with tempfile.TemporaryDirectory(prefix="vouchfs-test-") as folder:
                wanted = case.build(pathlib.Path(folder))
            with self.subTest(case=slug):
                self.assertIn(case.verdict, text)
                for finding in wanted:
                    self.assertIn(finding.code, text)


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        PAGE.write_text(updated(PAGE.read_text()))
    else:
        unittest.main()
