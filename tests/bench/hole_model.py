"""hole_model.py: a sealed model of any size whose shards are holes from end to end: a true seal, made without reading or writing the bytes.

All blocks of a hole are equal, so all hashes of a level are too, but for the last ones; of a tree only its leaf level is long. All shards are of one size and
share one tree. Layout and manifest: docs/formats/seal.md.
"""
import hashlib
import json
import os
import struct

BLOCK, HASH = 4096, 32
ARITY = BLOCK // HASH
RUN = 1024  # tree blocks written at once


def sha256(data):
    return hashlib.sha256(data).digest()


class Level:
    """Hashes of `count` blocks that are all `same` but for the last, packed into tree blocks."""

    def __init__(self, same, last, count):
        self.blocks = -(-count // ARITY)
        ending = count - (self.blocks - 1) * ARITY
        self.full, self.last = same * ARITY, (same * (ending - 1) + last).ljust(BLOCK, b"\0")

    def above(self):
        return Level(sha256(self.full), sha256(self.last), self.blocks)

    def write(self, file):
        left = self.blocks - 1
        while left:
            file.write(self.full * min(RUN, left))
            left -= min(RUN, left)
        file.write(self.last)


def write_tree(file, size):
    """The tree of a hole of `size` bytes, more than one block of them. Gives its fs-verity digest."""
    zero = sha256(bytes(BLOCK))
    levels = [Level(zero, zero, -(-size // BLOCK))]
    while levels[-1].blocks > 1:
        levels.append(levels[-1].above())
    for level in reversed(levels):
        level.write(file)
    return sha256(struct.pack("<BBBBIQ64s32s144s", 1, 1, 12, 0, 0, size, sha256(levels[-1].last), b"", b"")).hex()


def tree_bytes(size):
    """About what the tree takes on the disk."""
    return size // ARITY * (ARITY + 2) // ARITY


def shard_name(number):
    return f"part-{number:02}.dat"


def make(folder, sealed, shards, size):
    """Makes the model `folder` of so many shards. `sealed` is a sealed model of shards of the same names: its seal is taken over, with other files in the manifest."""
    trees, tables = (os.path.join(folder, ".vouch", name) for name in ("trees", "tables"))
    os.makedirs(trees)
    os.mkdir(tables)
    new = os.path.join(trees, "new")
    with open(new, "wb") as file:
        digest = write_tree(file, size)
    os.rename(new, os.path.join(trees, digest + ".tree"))
    for number in range(shards):
        with open(os.path.join(folder, shard_name(number)), "wb") as file:
            file.truncate(size)
    for name in os.listdir(os.path.join(sealed, ".vouch/tables")):
        os.link(os.path.join(sealed, ".vouch/tables", name), os.path.join(tables, name))
    with open(os.path.join(sealed, ".vouch/manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    for entry in manifest["files"]:
        entry.update(size=size, fsverity=digest, sha256=sha256(b"not known: nobody reads that much").hex())
    with open(os.path.join(folder, ".vouch/manifest.json"), "w", encoding="utf-8") as file:
        file.write(json.dumps(manifest, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n")
