#!/usr/bin/env python3
"""Checks every #include of core/, fs/ and mount_tools/ against the ranks in cmake/layers.txt.

A folder may include itself and folders of strictly lower rank. Prints one line a violation and exits 1 when there is any.

usage: layers.py [ROOT]
"""
import pathlib
import re
import sys

CODE = {".h", ".hpp", ".c", ".cc", ".cpp", ".inl"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)
TOPS = ("fs", "mount_tools")  # layers that are folders of the root; every other rank names a folder of core/


def ranks(root):
    rows = re.findall(r"^([a-z_]+)[ \t]+(\d+)[ \t]*$", (root / "cmake/layers.txt").read_text(), re.M)
    return {name: int(rank) for name, rank in rows}


def sources(root):
    """(layer, path) of every code file under core/, fs/ and mount_tools/."""
    for top in ("core", *TOPS):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in CODE and path.is_file():
                parts = path.relative_to(root).parts
                yield (parts[1] if top == "core" and len(parts) > 2 else top), path


def target_layer(root, path, include, known):
    """The layer an include line leads to, or None for a header of somebody else."""
    for base in (path.parent, root / "core", root):
        found = (base / include).resolve()
        if found.is_file() and found.is_relative_to(root):
            parts = found.relative_to(root).parts
            return parts[1] if parts[0] == "core" and len(parts) > 2 else parts[0]
    first = include.split("/")[0]
    return first if "/" in include and first in known else None


def violations(root):
    root = root.resolve()
    known = ranks(root)
    for layer, path in sources(root):
        shown = path.relative_to(root)
        if layer not in known:
            yield f"{shown}: its folder {layer} has no rank in cmake/layers.txt"
            continue
        for include in INCLUDE.findall(COMMENT.sub(" ", path.read_text(errors="replace"))):
            target = target_layer(root, path, include, known)
            if target is None or target == layer:
                continue
            if target not in known:
                yield f"{shown}: includes {include} of {target}, which has no rank"
            elif known[target] >= known[layer]:
                yield f"{shown}: {layer} (rank {known[layer]}) may not include {include} ({target}, rank {known[target]})"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    found = list(violations(root))
    count = sum(1 for _ in sources(root.resolve()))
    print("\n".join(found) or f"{count} files keep to the layers")
    return 1 if found or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
