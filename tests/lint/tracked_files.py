#!/usr/bin/env python3
"""What git tracks: no large or generated file, no path of the machine it was written on, scripts executable.

Prints one line a violation and exits 1 when there is any.

usage: tracked_files.py [ROOT]
"""
import pathlib
import re
import subprocess
import sys

LARGEST = 100 * 1024
GENERATED = re.compile(r"(^|/)(build|__pycache__|CMakeFiles)/|\.(o|a|so|pyc|log|whl|safetensors|gguf)$|(^|/)CMakeCache\.txt$")
BEFORE = r"(?<![\w.})-])"  # "include/vouchfs/" and "${dir}/src/" are no absolute paths
HOMES = re.compile(BEFORE + r"/(?:root|home/[a-z][a-z0-9_-]*)/")
# Test vectors of the formats themselves may be small files with the format's own name.
VECTORS = re.compile(r"^tests/(vectors|fuzz)/")


def tracked(root):
    rows = subprocess.run(["git", "-C", root, "ls-files", "-sz"], check=True, capture_output=True, text=True).stdout.split("\0")
    for row in filter(None, rows):
        meta, name = row.split("\t", 1)
        if (root / name).is_file():
            yield meta.split()[0], name


def problems(root):
    here = re.compile(BEFORE + re.escape(str(root)) + "/")
    for mode, name in tracked(root):
        data = (root / name).read_bytes()
        if len(data) > LARGEST:
            yield f"{name}: {len(data)} bytes; nothing over {LARGEST} is kept in the repository"
        if GENERATED.search(name) and not VECTORS.match(name):
            yield f"{name}: looks generated"
        if b"\0" in data[:8192]:
            continue
        text = data.decode(errors="replace")
        for number, line in enumerate(text.split("\n"), 1):
            if here.search(line) or HOMES.search(line):
                yield f"{name}:{number}: holds an absolute path of a machine: {line.strip()[:80]}"
        if text.startswith("#!") and mode != "100755":
            yield f"{name}: starts with #! and is not executable"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    found = list(problems(root))
    print("\n".join(found) or "every tracked file is in order")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
