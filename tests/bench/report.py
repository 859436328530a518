#!/usr/bin/env python3
"""Puts the figures of a run of tests/bench/run.sh into the documents: tables in docs/PERFORMANCE.md and README.md, the plot docs/performance.svg, and
docs/performance.json, which is all that tables and plot are made of. The prose between the tables is by hand and states no figure.

  report.py RUN.json...   takes over these runs (of a case that is in several, the last), then writes tables and plot
  report.py               writes tables and plot anew from docs/performance.json
  report.py --check       writes nothing; exit 1, with a line each, when a table or the plot is not what docs/performance.json gives
"""
import argparse
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import figures  # noqa: E402
import plot  # noqa: E402
import tables  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLACE = re.compile(r"(<!-- figures: ([\w-]+) -->\n).*?(<!-- end of figures -->)", re.S)


class Broken(Exception):
    """A page wants something that is not there."""


def page_with(text, record):
    """The page with every place between markers filled anew."""
    def fill(match):
        if match.group(2) not in tables.PLACES:
            raise Broken(f"there is no table {match.group(2)}; there are {', '.join(tables.PLACES)}")
        return match.group(1) + tables.PLACES[match.group(2)](record).strip("\n") + "\n" + match.group(3)
    return PLACE.sub(fill, text)


def outputs(root, record):
    """{path: text} of everything that is made from the record."""
    pages = [root / "docs/PERFORMANCE.md", root / "README.md"]
    made = {page: page_with(page.read_text(), record) for page in pages}
    return {**made, root / "docs/performance.svg": plot.svg(record)}


def stale(root, record):
    return [path for path, text in outputs(root, record).items() if not path.exists() or path.read_text() != text]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", metavar="RUN.json", type=pathlib.Path)
    parser.add_argument("--check", action="store_true", help="only compare")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="the tree to write into (default: this one)")
    chosen = parser.parse_args()
    if chosen.check and chosen.runs:
        parser.error("--check takes no runs")
    kept = chosen.root / "docs/performance.json"
    record = figures.merged([json.loads(path.read_text()) for path in chosen.runs]) if chosen.runs else json.loads(kept.read_text())
    try:
        if chosen.check:
            old = stale(chosen.root, record)
            for path in old:
                print(f"{path.relative_to(chosen.root)}: not what docs/performance.json gives; run tests/bench/report.py")
            return 1 if old else 0
        made = outputs(chosen.root, record)
    except Broken as error:
        raise SystemExit(f"report.py: {error}") from error
    for path, text in {kept: figures.text_of(record), **made}.items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
