#!/usr/bin/env python3
"""Rules of the source that no compiler checks: what core/ must not use, and how long files and functions are.

Prints one line a violation and exits 1 when there is any; long files and functions are only reported.

usage: source_rules.py [ROOT]
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from layers import sources  # noqa: E402

# What is refused in core/, and why.
CORE_RULES = (
    (re.compile(r'^\s*#\s*include\s*[<"][^>"]*fuse[^>"]*[>"]', re.M), "core knows no FUSE"),
    (re.compile(r"^\s*#\s*include\s*<iostream>", re.M), "core does not talk to the terminal: use base/log.h"),
    (re.compile(r"(?<![\w.>:])(?:std::)?(?:_?exit|quick_exit|abort)\s*\("), "core never ends the process: return an Error"),
    (re.compile(r"(?<![\w.>:])(?:std::)?printf\s*\("), "core does not print: use base/log.h"),
)
LONG_FILE, LONG_FUNCTION = 400, 40
LITERAL = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)


def blank(text):
    """The text without comments and string contents, its lines kept; include lines stay as they are."""
    def keep(match):
        return match.group() if match.group().startswith('"') and is_include(text, match.start()) else "\n" * match.group().count("\n")
    return LITERAL.sub(keep, text)


def is_include(text, at):
    return text[text.rfind("\n", 0, at) + 1:at].lstrip().startswith("#")


def functions(text):
    """(first line, length) of each function body: a block that opens after ')' at namespace or class level and closes in column 0."""
    lines = text.split("\n")
    start = None
    for number, line in enumerate(lines, 1):
        if start is None and re.match(r"^[A-Za-z_~].*\)[^;]*\{\s*$", line):
            start = number
        elif start is not None and line.startswith("}"):
            yield start, number - start + 1
            start = None


def check(root):
    bad, long = [], []
    for layer, path in sources(root):
        shown, text = path.relative_to(root), path.read_text(errors="replace")
        code = blank(text)
        in_core = shown.parts[0] == "core"
        bad += [f"{shown}:{code.count(chr(10), 0, m.start(0)) + 1}: {why}" for rule, why in CORE_RULES if in_core for m in rule.finditer(code)]
        if path.suffix == ".h" and "#pragma once" not in text:
            bad.append(f"{shown}: a header without #pragma once")
        if text.count("\n") > LONG_FILE:
            long.append(f"note: {shown} has {text.count(chr(10))} lines")
        long += [f"note: {shown}:{at}: a function of {n} lines" for at, n in functions(code) if n > LONG_FUNCTION]
    return bad, long


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    bad, long = check(root)
    print("\n".join(bad + long) or "no rule broken, nothing long")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
