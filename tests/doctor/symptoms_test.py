#!/usr/bin/env python3
"""Every row of the table of symptoms is told apart by an input that is tested, and answered under a heading of TROUBLESHOOTING.md; no input answers for two causes."""
import pathlib
import re
import unittest

from cases import CASES
from symptoms import FLAGS, ROWS
import tiny_inputs  # noqa: F401  fills CASES

PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs/TROUBLESHOOTING.md").read_text()
HEADINGS = re.findall(r"^### (.+)$", PAGE, re.M)


class Symptoms(unittest.TestCase):
    def test_the_rows_are_numbered_without_a_gap(self):
        self.assertEqual([row[0] for row in ROWS], ["C%02d" % n for n in range(1, 49)])

    def test_every_row_has_inputs_that_are_tested_unless_no_file_shows_it(self):
        slugs = {case.slug for case in CASES}
        for number, _, inputs, _ in ROWS:
            with self.subTest(row=number):
                self.assertLessEqual(set(inputs), slugs)
                self.assertEqual(bool(inputs), number <= "C40")

    def test_every_input_made_for_a_row_is_in_that_row(self):
        listed = {slug for _, _, inputs, _ in ROWS for slug in inputs}
        self.assertEqual({case.slug for case in CASES if case.id.startswith("C")} - listed, set())

    def test_every_row_is_answered_under_a_heading(self):
        for number, _, _, heading in ROWS:
            with self.subTest(row=number):
                self.assertTrue(any(heading in text for text in HEADINGS), heading)

    def test_the_page_shows_an_input_of_every_row_that_has_one(self):
        shown = set(re.findall(r"^<!-- doctor: (\S+) -->$", PAGE, re.M))
        for number, _, inputs, _ in ROWS:
            with self.subTest(row=number):
                self.assertTrue(not inputs or shown & set(inputs))

    def test_the_page_names_the_options_that_avoid_mapping(self):
        for flag in FLAGS:
            with self.subTest(flag=flag):
                self.assertIn(flag, PAGE)


if __name__ == "__main__":
    unittest.main()
