"""What the document tests share: where the documents are, and the pieces of Markdown they look at."""
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MAN = DOCS / "man"


def binary():
    """The vouchfs command under test."""
    path = os.environ.get("VOUCHFS_BIN")
    if not path or not os.access(path, os.X_OK):
        raise RuntimeError("VOUCHFS_BIN does not name the vouchfs command: %r" % path)
    return path


def run(*arguments, **options):
    """Runs vouchfs; nothing of the caller's environment decides what it does."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("VOUCHFS_")}
    return subprocess.run([binary(), *arguments], capture_output=True, text=True, timeout=60, env=environment, **options)


def markdown():
    """Every Markdown page of the project that people read."""
    pages = [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "tests").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
    return sorted(p for p in pages if "build" not in p.relative_to(ROOT).parts)


def without_code(text):
    """The text with fenced blocks and inline code blanked, lines kept."""
    text = re.sub(r"^```.*?^```", lambda m: "\n" * m.group().count("\n"), text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", text)


def section(text, heading):
    """The part of a Markdown text below a heading of any level, up to the next heading of this level or a higher one."""
    match = re.search(r"^(#+) %s[ \t]*$" % re.escape(heading), text, re.M)
    if not match:
        raise AssertionError("no heading '%s'" % heading)
    rest = text[match.end():]
    end = re.search(r"^#{1,%d} " % len(match.group(1)), rest, re.M)
    return rest[:end.start()] if end else rest


def tables(text):
    """Every table of a Markdown text, as lists of rows of cells, the head row first."""
    found, rows = [], []
    for line in text.splitlines() + [""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif rows:
            found.append([rows[0], *rows[2:]])
            rows = []
    return found


def codes(cell):
    """The words in back quotes of a table cell."""
    return re.findall(r"`([^`]+)`", cell)
