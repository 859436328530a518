"""vouchfs and the reference reader on the same seals: what `vouchfs ingest` writes, the reference accepts; the blocks that `vouchfs verify` names, it names.

Needs VOUCHFS_BIN.
"""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import reference  # noqa: E402

BLOCK = 4096


def vouchfs(*words):
    return subprocess.run([os.environ["VOUCHFS_BIN"], *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)


def shard(rng, size):
    """A safetensors file of tensors of random lengths, `size` bytes of data."""
    cuts = sorted({0, size, *(rng.randrange(size + 1) for _ in range(6))})
    header = json.dumps({f"t{i}": {"dtype": "U8", "shape": [end - begin], "data_offsets": [begin, end]} for i, (begin, end) in enumerate(zip(cuts, cuts[1:]))}).encode()
    return struct.pack("<Q", len(header)) + header + rng.randbytes(size)


class Agreement(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.rng = random.Random(self.id())
        self.model = scratch.name
        os.mkdir(self.model + "/sub")
        files = {"a.safetensors": shard(self.rng, 700_000), "sub/b.safetensors": shard(self.rng, 128 * BLOCK - 300), "config.json": b"{}", "empty": b"", "one": b"x" * BLOCK,
                 "names with ä, \" and \\": b"text"}
        for name, data in files.items():
            with open(f"{self.model}/{name}", "wb") as file:
                file.write(data)
        done = vouchfs("ingest", self.model, "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.seal = self.model + "/.vouch"

    def ours(self):
        """(file, block, tensors) of every bad block that verify reports."""
        done = vouchfs("verify", self.model, "--json")
        records = [json.loads(line) for line in done.stdout.splitlines()]
        corrupt = {(r["file"], block, tuple(r["tensors"])) for r in records if r["type"] == "corrupt" for block in [r["block"]]}
        self.assertEqual(done.returncode, 3 if corrupt else 0, done.stderr)
        self.assertTrue(all(r["length"] <= BLOCK for r in records if r["type"] == "corrupt"), "the damages of this test are single blocks")
        return corrupt

    def theirs(self):
        seal = reference.load_seal(self.seal)
        return {(f.file, f.block, f.tensors) for path in seal.files for f in reference.check_file(seal, self.model, path)}

    def test_a_fresh_seal_is_accepted_and_the_model_digests_are_equal(self):
        self.assertEqual(self.theirs(), set())
        seal = reference.load_seal(self.seal)
        self.assertEqual(vouchfs("digest", self.model).stdout.split()[0], "sha256:" + seal.model_digest)
        self.assertEqual(sorted(seal.files), sorted(os.path.relpath(os.path.join(top, name), self.model) for top, _, names in os.walk(self.model) if ".vouch" not in top for name in names))

    def test_a_fresh_trees_bytes_are_those_worked_out_again(self):
        for path, entry in reference.load_seal(self.seal).files.items():
            if entry["size"] > BLOCK:
                with open(f"{self.model}/{path}", "rb") as file, open(f"{self.seal}/trees/{entry['fsverity']}.tree", "rb") as tree:
                    self.assertTrue(reference.Tree([reference.block_hash(block) for block in reference.blocks_of(file, entry["size"])]).file_bytes() == tree.read(), path)

    def test_both_name_the_same_blocks_and_tensors(self):
        for _ in range(8):
            name = self.rng.choice(["a.safetensors", "sub/b.safetensors", "config.json", "one"])
            path = f"{self.model}/{name}"
            at = self.rng.randrange(os.path.getsize(path))
            with open(path, "r+b") as file:
                file.seek(at)
                good = file.read(1)
                file.seek(at)
                file.write(bytes([good[0] ^ 1 << self.rng.randrange(8)]))
            ours = self.ours()
            self.assertEqual({(file, block) for file, block, _ in ours}, {(name, at // BLOCK)})
            self.assertEqual(ours, self.theirs(), f"{name}, byte {at}")
            with open(path, "r+b") as file:
                file.seek(at)
                file.write(good)
            self.assertEqual(self.ours(), set())


if __name__ == "__main__":
    unittest.main()
