"""The reference reader itself: its digests and trees against fsverity, and every kind of damage against seals that fsverity's trees are put into."""
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import reference  # noqa: E402

BLOCK = 4096
EDGES = [0, 1, 4095, 4096, 4097, 127 * BLOCK, 128 * BLOCK - 1, 128 * BLOCK, 128 * BLOCK + 1, 129 * BLOCK + 7]


def fsverity(path, *options):
    """Hex digest that the fsverity tool gives; a missing tool is an error of the test."""
    return subprocess.run(["fsverity", "digest", "--compact", *options, path], check=True, capture_output=True, text=True).stdout.strip()


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def patch(path, at, data):
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(data)


class TreeOracle(unittest.TestCase):
    def test_digest_and_tree_are_those_of_the_fsverity_tool(self):
        rng = random.Random(1)
        with tempfile.TemporaryDirectory() as folder:
            path, tree_path = folder + "/data", folder + "/tree"
            for size in EDGES + [rng.randrange(3 << 20) for _ in range(5)] + [128 * 128 * BLOCK + 1]:
                write(path, rng.randbytes(size))
                want = fsverity(path, "--out-merkle-tree=" + tree_path)
                with open(path, "rb") as file:
                    tree = reference.Tree([reference.block_hash(block) for block in reference.blocks_of(file, size)])
                self.assertEqual(reference.fsverity_digest(path), want, size)
                with open(tree_path, "rb") as file:
                    self.assertTrue(tree.file_bytes() == file.read(), size)
                self.assertEqual(sum(reference.level_sizes(size)) * BLOCK, len(tree.file_bytes()))

    def test_an_empty_file_has_the_known_digest(self):
        with tempfile.NamedTemporaryFile() as file:
            self.assertEqual(reference.fsverity_digest(file.name), "3d248ca542a24fc62d1c43b916eae5016878e2533c88238480b26128a1f1af95")


class SealedModel(unittest.TestCase):
    """A model of three files, and a seal written by hand with digests and trees from the fsverity tool."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.model, self.seal = scratch.name + "/model", scratch.name + "/seal"
        rng = random.Random(2)
        self.shard_size = 300 * BLOCK + 100
        write(self.model + "/sub/model.safetensors", rng.randbytes(self.shard_size))
        write(self.model + "/config.json", b"{}\n")
        write(self.model + "/empty", b"")
        self.tensors = [{"name": name, "dtype": "U8", "shape": [end - begin], "begin": begin, "end": end}
                        for name, begin, end in (("a", 100, 2 * BLOCK), ("b", 2 * BLOCK, 200 * BLOCK), ("c", 200 * BLOCK, self.shard_size))]
        self.publish()

    def publish(self, edit_manifest=None, edit_table=None):
        os.makedirs(self.seal + "/trees", exist_ok=True)
        files = []
        for name in ("config.json", "empty", "sub/model.safetensors"):
            path = self.model + "/" + name
            scratch = self.seal + "/scratch"
            digest = fsverity(path, "--out-merkle-tree=" + scratch)
            os.rename(scratch, f"{self.seal}/trees/{digest}.tree") if os.path.getsize(path) > BLOCK else os.remove(scratch)
            with open(path, "rb") as file:
                files.append({"path": name, "size": os.path.getsize(path), "fsverity": digest, "sha256": hashlib.sha256(file.read()).hexdigest()})
        self.tree = f"{self.seal}/trees/{files[-1]['fsverity']}.tree"
        table = {"format": "vouchfs-tensors", "version": 1, "indexes": [], "files": [{"path": "sub/model.safetensors", "format": "safetensors", "tensors": self.tensors}]}
        if edit_table:
            edit_table(table)
        write(self.seal + "/tables/new", json.dumps(table, sort_keys=True).encode())
        digest = fsverity(self.seal + "/tables/new")
        size = os.path.getsize(self.seal + "/tables/new")
        os.rename(self.seal + "/tables/new", f"{self.seal}/tables/{digest}.json")
        self.table = f"{self.seal}/tables/{digest}.json"
        manifest = {"format": "vouchfs-manifest", "version": 1, "hash": "sha256", "block_size": BLOCK, "files": files, "tensors": {"size": size, "fsverity": digest}}
        if edit_manifest:
            edit_manifest(manifest)
        write(self.seal + "/manifest.json", json.dumps(manifest, sort_keys=True).encode())

    def findings(self):
        seal = reference.load_seal(self.seal)
        return [finding for path in seal.files for finding in reference.check_file(seal, self.model, path)]

    def kinds(self):
        return [(f.kind, f.level, f.block) for f in self.findings()]

    def flip(self, at, path="/sub/model.safetensors"):
        with open(self.model + path, "rb") as file:
            file.seek(at)
            byte = file.read(1)[0]
        patch(self.model + path, at, bytes([byte ^ 1]))

    def test_a_whole_model_has_no_findings(self):
        self.assertEqual(self.findings(), [])

    def test_a_flipped_bit_is_one_block_with_its_tensors(self):
        self.flip(200 * BLOCK - 1)
        (finding,) = self.findings()
        self.assertEqual((finding.kind, finding.block, finding.offset, finding.length, finding.tensors), ("block", 199, 199 * BLOCK, BLOCK, ("b",)))

    def test_a_block_that_two_tensors_share_names_both(self):
        self.tensors[0]["end"] = self.tensors[1]["begin"] = BLOCK + 10
        self.publish()
        self.flip(BLOCK)
        self.assertEqual(self.findings()[0].tensors, ("a", "b"))

    def test_the_partial_last_block_is_as_long_as_what_is_left(self):
        self.flip(self.shard_size - 1)
        (finding,) = self.findings()
        self.assertEqual((finding.block, finding.length), (300, 100))

    def test_a_file_of_one_block_is_checked_too(self):
        self.flip(0, "/config.json")
        self.assertEqual(self.kinds(), [("block", -1, 0)])

    def test_a_damaged_leaf_block_of_the_tree_is_told_apart_from_damaged_data(self):
        patch(self.tree, BLOCK + 2 * BLOCK + 5, b"!!")  # root, then leaves 0, 1, 2
        self.assertEqual(self.kinds(), [("tree", 0, 2)])

    def test_a_damaged_root_block_of_the_tree_is_told_apart_from_damaged_data(self):
        patch(self.tree, 5, b"!!")
        self.assertEqual(self.kinds(), [("tree", 1, 0)])

    def test_a_lost_tree_blames_no_data(self):
        os.remove(self.tree)
        self.assertEqual({f.kind for f in self.findings()}, {"tree"})

    def test_tree_and_data_damaged_under_the_same_tree_block_leave_its_range_unknown(self):
        patch(self.tree, BLOCK + BLOCK, b"!!")
        self.flip(130 * BLOCK)
        self.assertEqual([(f.kind, f.offset, f.length) for f in self.findings()], [("tree", 128 * BLOCK, 128 * BLOCK), ("unknown", 128 * BLOCK, 128 * BLOCK)])

    def test_a_truncated_file_is_bad_from_its_last_block_on(self):
        os.truncate(self.model + "/sub/model.safetensors", 298 * BLOCK + 1)
        self.assertEqual(self.kinds(), [("block", -1, 298), ("block", -1, 299), ("block", -1, 300), ("truncated", -1, -1)])

    def test_bytes_past_the_sealed_size_are_ignored(self):
        with open(self.model + "/sub/model.safetensors", "ab") as file:
            file.write(b"more")
        self.assertEqual(self.findings(), [])

    def test_a_missing_file_is_a_finding(self):
        os.remove(self.model + "/config.json")
        self.assertEqual(self.kinds(), [("missing", -1, -1)])

    def test_a_manifest_whose_sha256_contradicts_its_tree_is_found(self):
        self.publish(lambda manifest: manifest["files"][0].update(sha256="0" * 64))
        self.assertEqual(self.kinds(), [("sha256", -1, -1)])

    def test_an_edited_tensor_table_is_refused(self):
        patch(self.table, 1, b" ")
        self.assertRaises(reference.SealError, reference.load_seal, self.seal)

    def test_a_wrong_digest_is_refused_and_the_right_one_taken(self):
        right = fsverity(self.seal + "/manifest.json")
        self.assertEqual(reference.load_seal(self.seal, "sha256:" + right).model_digest, right)
        self.assertRaises(reference.SealError, reference.load_seal, self.seal, "sha256:" + "0" * 64)

    def test_seals_that_break_their_grammar_are_refused(self):
        def swap(manifest):
            manifest["files"].reverse()
        manifests = [swap, lambda m: m.update(version=2), lambda m: m.update(block_size=1024), lambda m: m.pop("files"), lambda m: m["files"].append(m["files"][-1]),
                     lambda m: m["files"][0].update(path="../config.json"), lambda m: m["files"][0].update(path="/config.json"), lambda m: m["files"][0].update(size=1.5),
                     lambda m: m["files"][0].update(size=-1), lambda m: m["files"][0].update(fsverity="00"), lambda m: m["files"].insert(2, dict(m["files"][0], path="sub"))]
        tables = [lambda t: t["files"][0].update(path="other"), lambda t: t["files"][0]["tensors"].reverse(), lambda t: t["files"][0]["tensors"][2].update(end=self.shard_size + 1)]
        for number, edit in enumerate(manifests):
            self.publish(edit_manifest=edit)
            with self.assertRaises(reference.SealError, msg=f"manifest {number}"):
                reference.load_seal(self.seal)
        for number, edit in enumerate(tables):
            saved = json.loads(json.dumps(self.tensors))
            self.publish(edit_table=edit)
            with self.assertRaises(reference.SealError, msg=f"table {number}"):
                reference.load_seal(self.seal)
            self.tensors = saved

    def run_command(self, *words):
        return subprocess.run([sys.executable, reference.__file__, *words], capture_output=True, text=True)

    def test_the_command_answers_with_its_exit_codes(self):
        self.assertEqual(self.run_command(self.seal, self.model).returncode, 0)
        self.flip(5)
        answer = self.run_command(self.seal, self.model)
        self.assertEqual(answer.returncode, 3)
        self.assertIn("block sub/model.safetensors: block 0 offset 0 length 4096 tensors a", answer.stdout)
        self.assertEqual(self.run_command(self.seal, self.model, "config.json").returncode, 0)
        self.assertEqual(self.run_command(self.seal, self.model, "nothing").returncode, 2)
        self.assertEqual(self.run_command("--digest", "sha256:" + "1" * 64, self.seal, self.model).returncode, 5)
        self.assertEqual(self.run_command(self.model, self.model).returncode, 10)
        self.assertEqual(self.run_command().returncode, 2)

    def test_digest_prints_the_line_of_the_fsverity_tool(self):
        path = self.model + "/sub/model.safetensors"
        want = subprocess.run(["fsverity", "digest", path], check=True, capture_output=True, text=True).stdout
        self.assertEqual(self.run_command("digest", path).stdout, want)


if __name__ == "__main__":
    unittest.main()
