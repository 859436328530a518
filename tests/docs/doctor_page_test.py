#!/usr/bin/env python3
"""The man page of doctor has every code that the program knows, with its severity, verdict, meaning and advice."""
import json
import re
import unittest

from documents import MAN, run

PAGE = (MAN / "vouchfs-doctor.1").read_text()


def plain(roff):
    """The words of a piece of mdoc without its macros."""
    lines = [line[2:] if line.startswith("\\&") else line for line in roff.splitlines() if not re.match(r"^\.[A-Z]", line)]
    return " ".join(" ".join(lines).replace("\\e", "\\").split())


class Page(unittest.TestCase):
    def entries(self):
        """{code: its text} in the order of the page."""
        part = re.search(r"^\.Sh CODES$(.*?)^\.Sh ", PAGE, re.M | re.S).group(1)
        return {code: plain(text) for code, text in re.findall(r"^\.It Sy ([a-z]+\.[a-z0-9_]+)$(.*?)(?=^\.It |^\.El)", part, re.M | re.S)}

    def catalogue(self):
        done = run("doctor", "--codes", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_the_page_has_the_codes_of_the_program_and_no_others(self):
        self.assertEqual(sorted(self.entries()), [row["code"] for row in self.catalogue()])

    def test_each_entry_says_severity_verdict_meaning_and_advice(self):
        entries = self.entries()
        for row in self.catalogue():
            with self.subTest(code=row["code"]):
                text = entries[row["code"]].lower()
                head = row["severity"] + (" (%s)" % row["verdict"] if row["severity"] == "error" else "") + "."
                self.assertTrue(text.startswith(head), text)
                for piece in (row["title"], row["advice"]):
                    self.assertIn(" ".join(piece.replace("…", "...").lower().split()), text)


if __name__ == "__main__":
    unittest.main()
