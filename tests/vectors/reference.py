#!/usr/bin/env python3
"""An independent reading of the seal format (docs/formats/seal.md): checks files of a model against a seal, sharing no code with vouchfs.

usage: reference.py [--digest sha256:HEX] SEAL_DIR MODEL_DIR [FILE...]   check these files, or all that the manifest names
       reference.py digest FILE...                                       the line that `fsverity digest` prints

Exit: 0 clean; 2 usage; 3 corruption, each place on a line of its own; 5 the seal does not fit itself or the digest; 10 no seal there.
Standard library only; Python 3.9 and newer. As a module: load_seal(), check_file(), fsverity_digest(), Tree.
"""
import dataclasses
import hashlib
import json
import os
import struct
import sys

BLOCK = 4096
HASH = 32
ARITY = BLOCK // HASH
BATCH = 256 * BLOCK
MAX_MANIFEST, MAX_TABLE, MAX_FILES, MAX_BYTES = 256 << 20, 1 << 30, 1_000_000, 1 << 60
MISSING, OK, CORRUPT, USAGE, BAD_SEAL, NO_SEAL = "missing", 0, 3, 2, 5, 10


class SealError(Exception):
    """The seal cannot be used: it breaks its grammar, or a part does not fit the digest it is named by."""


# ---- the fs-verity tree, SHA-256, 4096-byte blocks, no salt ----------------------------------------------------------------------

def block_hash(block):
    """Hash of one block; a short last block is padded with zero bytes."""
    return hashlib.sha256(block.ljust(BLOCK, b"\0")).digest()


def descriptor_digest(root, size):
    """The fs-verity digest: the hash of the 256-byte descriptor that names the root and the exact size."""
    head = struct.pack("<BBBBIQ", 1, 1, 12, 0, 0, size)
    return hashlib.sha256((head + root).ljust(256, b"\0")).hexdigest()


def split(level):
    """The tree blocks of a level, given its hashes one after the other; the last one padded."""
    return [level[at:at + BLOCK].ljust(BLOCK, b"\0") for at in range(0, len(level), BLOCK)]


class Tree:
    """Every level of the tree over these block hashes, worked out anew: levels[0] is the leaf level, a list of tree blocks each."""

    def __init__(self, leaf_hashes):
        self.levels = []
        hashes = b"".join(leaf_hashes)
        while len(hashes) > HASH:
            self.levels.append(split(hashes))
            hashes = b"".join(block_hash(block) for block in self.levels[-1])
        self.root = hashes or bytes(HASH)

    def file_bytes(self):
        """As in a tree file: root level first."""
        return b"".join(block for level in reversed(self.levels) for block in level)


def level_sizes(size):
    """Tree blocks of each level of a file of `size` bytes, leaf level first; empty for at most one block."""
    counts, below = [], -(-size // BLOCK)
    while below > 1:
        below = -(-below // ARITY)
        counts.append(below)
    return counts


def blocks_of(file, size):
    """The first `size` bytes of an open file, block by block; stops early where the file does."""
    left = size
    while left:
        batch = file.read(min(BATCH, left))
        if not batch:
            return
        # A short read in the middle must not shift the blocks behind it.
        while len(batch) % BLOCK and len(batch) < left:
            more = file.read(min(BATCH - len(batch) % BATCH, left - len(batch)))
            if not more:
                break
            batch += more
        left -= len(batch)
        for at in range(0, len(batch), BLOCK):
            yield batch[at:at + BLOCK]


def fsverity_digest(path):
    """Hex fs-verity digest of a file."""
    size = os.stat(path).st_size
    with open(path, "rb") as file:
        return descriptor_digest(Tree([block_hash(block) for block in blocks_of(file, size)]).root, size)


# ---- the seal ------------------------------------------------------------------------------------------------------------------

@dataclasses.dataclass
class Seal:
    directory: str
    model_digest: str
    files: dict    # path -> entry of the manifest
    tensors: dict  # path -> list of tensors, in order of begin


def need(good, why):
    if not good:
        raise SealError(why)


def parse_json(text, what):
    """JSON as the format wants it: UTF-8, no key twice, no number but integers."""
    def pairs(items):
        need(len(dict(items)) == len(items), f"{what}: a key comes twice")
        return dict(items)

    def refuse(number):
        raise SealError(f"{what}: {number} is not an integer")
    try:
        value = json.loads(text.decode("utf-8"), object_pairs_hook=pairs, parse_float=refuse, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise SealError(f"{what}: {error}") from None
    need(isinstance(value, dict), f"{what}: no JSON object")
    return value


def number(value, limit):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= limit


def is_hex(value):
    return isinstance(value, str) and len(value) == 64 and all(digit in "0123456789abcdefABCDEF" for digit in value)


def good_path(path):
    names = path.split("/") if isinstance(path, str) else []
    return bool(names) and len(os.fsencode(path)) <= 4095 and "\0" not in path and all(n not in ("", ".", "..") and len(os.fsencode(n)) <= 255 for n in names)


def read_bounded(path, limit):
    with open(path, "rb") as file:
        data = file.read(limit + 1)
    need(len(data) <= limit, f"{path}: more than {limit} bytes")
    return data


def check_manifest(manifest):
    for key, wanted in (("format", "vouchfs-manifest"), ("version", 1), ("hash", "sha256"), ("block_size", BLOCK)):
        need(manifest.get(key) == wanted, f"manifest: {key} is {manifest.get(key)!r}, not {wanted!r}")
    files, tensors = manifest.get("files"), manifest.get("tensors")
    need(isinstance(files, list) and len(files) <= MAX_FILES, "manifest: no list of files")
    for entry in files:
        need(isinstance(entry, dict) and good_path(entry.get("path")), f"manifest: bad path in {str(entry)[:120]}")
        need(number(entry.get("size"), MAX_BYTES) and is_hex(entry.get("fsverity")) and is_hex(entry.get("sha256")), f"manifest: bad entry of {entry['path']}")
    paths = [entry["path"].encode() for entry in files]
    need(all(a < b for a, b in zip(paths, paths[1:])), "manifest: paths are not sorted, or one comes twice")
    folders = {path[:at] for path in paths for at, byte in enumerate(path) if byte == ord("/")}
    need(not folders & set(paths), "manifest: a path is a file and a folder")
    need(isinstance(tensors, dict) and number(tensors.get("size"), MAX_TABLE) and is_hex(tensors.get("fsverity")), "manifest: no tensor table named")


def check_table(table, files):
    """The tensors of each file, checked against the manifest: known files, ranges inside them, in order, without overlap."""
    need(isinstance(table.get("files"), list), "tensor table: no list of files")
    found = {}
    for entry in table["files"]:
        path, tensors = entry.get("path"), entry.get("tensors")
        need(path in files and path not in found and isinstance(tensors, list), f"tensor table: {path} is not in the manifest, or comes twice")
        end = 0
        for tensor in tensors:
            begin = tensor.get("begin")
            need(isinstance(tensor.get("name"), str) and number(begin, MAX_BYTES) and number(tensor.get("end"), files[path]["size"]), f"tensor table: bad range in {path}")
            need(end <= begin <= tensor["end"], f"tensor table: {tensor['name']} is out of order in {path}")
            end = tensor["end"]
        found[path] = tensors
    return found


def load_seal(directory, digest=None):
    """Reads and checks manifest and tensor table. digest: "sha256:HEX" or HEX that the manifest must have. Raises SealError, FileNotFoundError."""
    manifest_bytes = read_bounded(os.path.join(directory, "manifest.json"), MAX_MANIFEST)
    model_digest = descriptor_digest(Tree([block_hash(manifest_bytes[at:at + BLOCK]) for at in range(0, len(manifest_bytes), BLOCK)]).root, len(manifest_bytes))
    need(digest is None or digest.split(":")[-1].lower() == model_digest, f"manifest: its digest is sha256:{model_digest}, not {digest}")
    manifest = parse_json(manifest_bytes, "manifest")
    check_manifest(manifest)
    files = {entry["path"]: entry for entry in manifest["files"]}
    named = manifest["tensors"]
    path = os.path.join(directory, "tables", named["fsverity"].lower() + ".json")
    try:
        table_bytes = read_bounded(path, MAX_TABLE)
    except FileNotFoundError:
        raise SealError("the tensor table that the manifest names is lost") from None
    table_digest = descriptor_digest(Tree([block_hash(table_bytes[at:at + BLOCK]) for at in range(0, len(table_bytes), BLOCK)]).root, len(table_bytes))
    need(len(table_bytes) == named["size"] and table_digest == named["fsverity"].lower(), "the tensor table does not fit the manifest")
    return Seal(directory, model_digest, files, check_table(parse_json(table_bytes, "tensor table"), files))


# ---- checking one file ---------------------------------------------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Finding:
    kind: str     # "block": data is wrong; "tree": a tree block is wrong; "unknown": no good tree block is left to judge the range; "missing", "truncated", "sha256"
    file: str
    offset: int   # of the bytes concerned, from the start of the file; for "tree" the bytes below the block
    length: int
    level: int = -1   # of a tree block, leaf level 0
    block: int = -1   # index of the data block in the file, or of the tree block in its level
    tensors: tuple = ()

    def __str__(self):
        place = f"level {self.level} block {self.block}" if self.kind == "tree" else f"block {self.block}" if self.kind == "block" else "bytes"
        names = f" tensors {', '.join(self.tensors)}" if self.tensors else ""
        return f"{self.kind} {self.file}: {place} offset {self.offset} length {self.length}{names}"


class FileCheck:
    """Climbs down from the digest in the manifest: a hash is believed only when the block that holds it was right."""

    def __init__(self, seal, path, stored, leaf_hashes):
        self.entry, self.path, self.size = seal.files[path], path, seal.files[path]["size"]
        self.tensors = seal.tensors.get(path, [])
        self.computed = Tree(leaf_hashes)
        self.leaf_hashes = leaf_hashes
        self.stored = self.cut(stored)
        self.findings = []

    def cut(self, stored):
        """The stored tree as levels, leaf level first; blocks that are not there are empty."""
        levels, at = [], 0
        for count in reversed(level_sizes(self.size)):
            levels.insert(0, [stored[at + i * BLOCK:at + (i + 1) * BLOCK] for i in range(count)])
            at += count * BLOCK
        return levels

    def note(self, kind, begin, end, **more):
        end = min(end, self.size)
        names = () if kind == "tree" else tuple(t["name"] for t in self.tensors if t["begin"] < end and begin < t["end"])
        self.findings.append(Finding(kind, self.path, begin, end - begin, tensors=names, **more))

    def good_root(self):
        """The root that fits the digest: the stored tree's, else the one worked out from the data."""
        stored = block_hash(self.stored[-1][0]) if self.stored else self.computed.root
        for root in (stored, self.computed.root):
            if descriptor_digest(root, self.size) == self.entry["fsverity"].lower():
                return root
        return None

    def climb(self, level, block, expected):
        """Checks one tree block against the hash its parent gives, then everything below it. Level -1 is the data."""
        span = BLOCK * ARITY ** (level + 1)
        begin, end = block * span, (block + 1) * span
        if level < 0:
            if block >= len(self.leaf_hashes) or self.leaf_hashes[block] != expected:
                self.note("block", begin, end, block=block)
            return
        good = self.stored[level][block]
        if block_hash(good) != expected or len(good) != BLOCK:
            self.note("tree", begin, end, level=level, block=block)
            # What the data gives may still be right: then only the tree is damaged.
            good = self.computed.levels[level][block] if level < len(self.computed.levels) and block < len(self.computed.levels[level]) else b""
            if block_hash(good) != expected:
                self.note("unknown", begin, end)
                return
        below = self.stored[level - 1] if level else None
        count = len(below) if level else -(-self.size // BLOCK)
        for child in range(block * ARITY, min((block + 1) * ARITY, count)):
            at = child % ARITY * HASH
            self.climb(level - 1, child, good[at:at + HASH])

    def run(self):
        root = self.good_root()
        top = len(self.stored) - 1
        if root is not None and self.size:
            self.climb(top, 0, root)
        elif root is None and top < 0:
            self.note("block", 0, self.size, block=0)
        elif root is None:
            self.note("tree", 0, self.size, level=top, block=0)
            self.note("unknown", 0, self.size)
        return self.findings


def check_file(seal, model, path):
    """Findings of one file of the manifest against the bytes in the model directory; empty when all is right."""
    entry = seal.files[path]
    size = entry["size"]
    tree_path = os.path.join(seal.directory, "trees", entry["fsverity"].lower() + ".tree")
    stored = b""
    if size > BLOCK and os.path.exists(tree_path):
        with open(tree_path, "rb") as file:
            stored = file.read(BLOCK * sum(level_sizes(size)))
    plain = hashlib.sha256()
    hashes, seen = [], 0
    try:
        with open(os.path.join(model, path), "rb") as file:
            for block in blocks_of(file, size):
                plain.update(block)
                hashes.append(block_hash(block))
                seen += len(block)
    except FileNotFoundError:
        return [Finding(MISSING, path, 0, size)]
    findings = FileCheck(seal, path, stored, hashes).run()
    if seen < size:
        findings.append(Finding("truncated", path, seen, size - seen))
    elif not findings and plain.hexdigest() != entry["sha256"].lower():
        findings.append(Finding("sha256", path, 0, size))
    return findings


# ---- the command ---------------------------------------------------------------------------------------------------------------

def check_model(seal_dir, model, paths, digest):
    try:
        seal = load_seal(seal_dir, digest)
    except FileNotFoundError as error:
        print(f"{error.filename}: there is no seal", file=sys.stderr)
        return NO_SEAL
    except SealError as error:
        print(f"{seal_dir}: {error}", file=sys.stderr)
        return BAD_SEAL
    unknown = [path for path in paths if path not in seal.files]
    if unknown:
        print(f"not in the manifest: {', '.join(unknown)}", file=sys.stderr)
        return USAGE
    findings = [finding for path in paths or seal.files for finding in check_file(seal, model, path)]
    for finding in findings:
        print(finding)
    print(f"sha256:{seal.model_digest} {len(paths or seal.files)} files, {len(findings)} findings")
    return CORRUPT if findings else OK


def main(words):
    digest = None
    if words[:1] == ["--digest"] and len(words) > 1:
        digest, words = words[1], words[2:]
    if words[:1] == ["digest"] and len(words) > 1 and digest is None:
        for path in words[1:]:
            print(f"sha256:{fsverity_digest(path)} {path}")
        return OK
    if len(words) < 2 or words[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return USAGE
    return check_model(words[0], words[1], words[2:], digest)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
