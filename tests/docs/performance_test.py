#!/usr/bin/env python3
"""Tables and plot of docs/PERFORMANCE.md and README.md are what tests/bench/report.py makes of docs/performance.json: no figure is typed by hand."""
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

from documents import ROOT

REPORT = ROOT / "tests/bench/report.py"
KEPT = ("docs/PERFORMANCE.md", "docs/performance.json", "docs/performance.svg", "README.md")
PLACE = re.compile(r"<!-- figures: [\w-]+ -->\n.*?<!-- end of figures -->", re.S)
FIGURE = re.compile(r"\d[\d.,]* ?(?:GB/s|MB/s|times|ms|µs|percent|%)")


def report(*arguments):
    return subprocess.run([sys.executable, REPORT, *map(str, arguments)], capture_output=True, text=True)


class Figures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vouchfs-figures-")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "docs").mkdir()
        for name in KEPT:
            shutil.copy(ROOT / name, self.root / name)

    def stale(self):
        """Names of the files that --check calls stale."""
        done = report("--check", "--root", self.root)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 1 if done.stdout else 0)
        return [line.split(":")[0] for line in done.stdout.splitlines()]

    def change(self, name, pattern, new):
        path = self.root / name
        text, count = re.subn(pattern, new, path.read_text(), count=1)
        self.assertEqual(count, 1, f"{pattern} is not in {name}")
        path.write_text(text)

    def test_the_tree_shows_what_is_recorded(self):
        self.assertEqual(self.stale(), [])

    def test_a_figure_typed_into_a_table_is_found(self):
        self.change("docs/PERFORMANCE.md", r"\| \d+\.\d\d GB/s", "| 9.87 GB/s")
        self.assertEqual(self.stale(), ["docs/PERFORMANCE.md"])

    def test_a_figure_typed_into_the_readme_is_found(self):
        self.change("README.md", r"\| \d+\.\d\d GB/s", "| 9.87 GB/s")
        self.assertEqual(self.stale(), ["README.md"])

    def test_a_changed_plot_is_found(self):
        self.change("docs/performance.svg", r'<rect x="(\d+)" y="(\d+)" width="[\d.]+"', r'<rect x="\1" y="\2" width="500"')
        self.assertEqual(self.stale(), ["docs/performance.svg"])

    def test_a_changed_record_makes_all_of_them_stale(self):
        self.change("docs/performance.json", r'("raw": \{"read": \{"median": )\d+', r"\g<1>123")
        self.change("docs/performance.json", r'("bindfs": \{"read": \{"median": )(\d+\.\d+, "ratio": )\d+', r"\g<1>\g<2>7")
        self.assertEqual(self.stale(), ["docs/PERFORMANCE.md", "README.md", "docs/performance.svg"])
        self.assertEqual(report("--root", self.root).returncode, 0)
        self.assertEqual(self.stale(), [])

    def test_the_plot_is_whole_and_shows_every_contender(self):
        text = (ROOT / "docs/performance.svg").read_text()
        xml.fromstring(text)
        for name in json.loads((ROOT / "docs/performance.json").read_text())["cases"]["cold"]["rows"]:
            with self.subTest(contender=name):
                self.assertTrue(name == "raw" or f">{name}</text>" in text)

    def test_prose_states_no_measured_figure(self):
        text = (ROOT / "docs/PERFORMANCE.md").read_text()
        self.assertEqual(FIGURE.findall(PLACE.sub("", text)), [])

    def test_every_table_stands_on_the_page(self):
        sys.path.insert(0, str(ROOT / "tests/bench"))
        import tables
        text = (ROOT / "docs/PERFORMANCE.md").read_text() + (ROOT / "README.md").read_text()
        for name in tables.PLACES:
            with self.subTest(table=name):
                self.assertIn(f"<!-- figures: {name} -->", text)


class Runs(unittest.TestCase):
    def run_of(self, kernel, rate):
        case = {"base": "raw", "about": "", "units": {"read": "B/s"}, "rows": {way: {"read": {"values": [1e9 * x, 2e9 * x, 4e9 * x]}} for way, x in (("raw", 1), ("vouchfs", rate))}}
        environment = dict.fromkeys(("cpu", "cores", "memory_gib", "system", "filesystem", "vouchfs"), "x")
        return {"schema": 1, "size": 1 << 30, "rounds": 3, "environment": {"kernel": kernel, "load": [0], **environment}, "cases": {"cold": case}}

    def taken(self, *runs):
        with tempfile.TemporaryDirectory(prefix="vouchfs-figures-") as folder:
            root = Path(folder)
            (root / "docs").mkdir()
            for page in ("docs/PERFORMANCE.md", "README.md"):
                (root / page).write_text("<!-- figures: cold -->\nold\n<!-- end of figures -->\n")
            files = [root / f"{at}.json" for at in range(len(runs))]
            for path, run in zip(files, runs):
                path.write_text(json.dumps(run))
            return report("--root", root, *files), (root / "README.md").read_text()

    def test_of_two_runs_the_later_one_counts(self):
        done, text = self.taken(self.run_of("6.1", 0.5), self.run_of("6.1", 0.25))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| vouchfs | 0.50 GB/s (0.25) |", text)
        self.assertIn("1 GiB, median of 3 rounds; in brackets the ratio to raw.", text)

    def test_runs_of_two_machines_are_refused(self):
        done, text = self.taken(self.run_of("6.1", 0.5), self.run_of("6.2", 0.5))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("different machines", done.stderr)
        self.assertIn("old", text)


if __name__ == "__main__":
    unittest.main()
