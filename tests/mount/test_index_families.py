"""Indexes of every family as a mount shows them: .bin, diffusers, consolidated, TensorFlow and Flax; two kinds side by side."""
import json
import os

import models
import mounts
from torch_writer import T, zip_file

SAFETENSORS = "model.safetensors.index.json"
BIN = "pytorch_model.bin.index.json"


class FamilyCase(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.model = self.new_folder("model")

    def put(self, name, data):
        mounts.write_file(os.path.join(self.model, name), data if isinstance(data, bytes) else data.encode())

    def put_index(self, name, weights, **metadata):
        text = json.dumps({"metadata": metadata, "weight_map": weights}, indent=3) + "\n"
        self.put(name, text)
        return text.encode()

    def shards(self, pattern, count=2, folder="", present=None):
        """Numbered shards after the ending of the pattern. Returns {tensor: file}."""
        out = {}
        for i in range(1, count + 1):
            name = pattern % (i, count)
            tensor = "layer.%d.weight" % i
            out[tensor] = name
            path = os.path.join(self.model, folder, name)
            if present is not None and i not in present:
                continue
            if name.endswith(".bin"):
                mounts.write_file(path, zip_file({tensor: T("float32", (100 * i,), mounts.noise(400 * i, i))}))
            else:
                mounts.safetensors(path, {tensor: 100 * i}, i)
        return out

    def mounted(self):
        self.ingest(self.model)
        return self.mount(self.model)

    def indexes(self, mount):
        return sorted(name for name in models.names_below(mount.path) if ".index." in name)

    def weight_map(self, mount, name):
        index = json.loads(mounts.read_file(mount / name))
        return index["weight_map"], index["metadata"].get("total_size")

    def states(self, mount):
        return {row["path"]: row["state"] for row in json.loads(mounts.read_file(mount / "index.json"))["metadata"]["vouchfs"]["indexes"]}


class TestMadeUpIndexes(FamilyCase):
    def test_each_kind_of_set_gets_its_own_name(self):
        for pattern, name in (("pytorch_model-%05d-of-%05d.bin", BIN),
                              ("pytorch_model.fp16-%05d-of-%05d.bin", "pytorch_model.bin.index.fp16.json"),
                              ("diffusion_pytorch_model-%05d-of-%05d.bin", "diffusion_pytorch_model.bin.index.json"),
                              ("diffusion_pytorch_model-%05d-of-%05d.safetensors", "diffusion_pytorch_model.safetensors.index.json"),
                              ("consolidated-%05d-of-%05d.safetensors", "consolidated.safetensors.index.json")):
            with self.subTest(pattern):
                self.model = self.new_folder("of-" + name)
                weights = self.shards(pattern)
                with self.mounted() as mount:
                    self.assertEqual(self.indexes(mount), [name])
                    self.assertEqual(self.weight_map(mount, name), (weights, 1200))
                    self.assertEqual(self.states(mount), {name: "synthesized"})

    def test_each_folder_of_a_pipeline_gets_its_own(self):
        for folder in ("text_encoder", "unet"):
            self.shards("diffusion_pytorch_model-%05d-of-%05d.bin" if folder == "unet" else "model-%05d-of-%05d.safetensors", folder=folder)
        with self.mounted() as mount:
            self.assertEqual(self.indexes(mount), ["text_encoder/" + SAFETENSORS, "unet/diffusion_pytorch_model.bin.index.json"])

    def test_a_set_of_bin_files_with_a_gap_gets_none_and_the_gap_is_named(self):
        self.shards("pytorch_model-%05d-of-%05d.bin", 3, present=(1, 3))
        with self.mounted() as mount:
            self.assertEqual(self.indexes(mount), [])
            self.assertEqual(json.loads(mounts.read_file(mount / "index.json"))["metadata"]["vouchfs"]["missing_files"], ["pytorch_model-00002-of-00003.bin"])


class TestPublishedIndexes(FamilyCase):
    def test_a_right_bin_index_is_served_byte_for_byte_and_a_wrong_one_corrected(self):
        weights = self.shards("pytorch_model-%05d-of-%05d.bin")
        published = self.put_index(BIN, weights, total_size=1200, by="them")
        with self.mounted() as mount:
            self.assertEqual(mounts.read_file(mount / BIN), published)
        wrong = self.put_index(BIN, dict(weights, **{"layer.1.weight": weights["layer.2.weight"]}), total_size=1200, by="them")
        with self.mounted() as mount:
            self.assertEqual(json.loads(mounts.read_file(mount / BIN)), {"metadata": {"by": "them", "total_size": 1200}, "weight_map": weights})
            self.assertEqual(mounts.read_file(mount / (BIN + ".orig")), wrong)
            self.assertEqual(mount.events("index_corrected")[0]["tensors"], ["layer.1.weight"])

    def test_two_kinds_are_both_served_and_nothing_is_made_or_ambiguous(self):
        weights = self.shards("model-%05d-of-%05d.safetensors")
        bins = self.shards("pytorch_model-%05d-of-%05d.bin")
        published = {SAFETENSORS: self.put_index(SAFETENSORS, weights, total_size=1200), BIN: self.put_index(BIN, bins, total_size=1200)}
        with self.mounted() as mount:
            self.assertEqual(self.indexes(mount), sorted(published))
            for name, data in published.items():
                self.assertEqual(mounts.read_file(mount / name), data)
            root = json.loads(mounts.read_file(mount / "index.json"))
            self.assertEqual(root["weight_map"], weights)
            self.assertEqual((root["metadata"]["total_size"], root["metadata"]["vouchfs"]["ambiguous"]), (1200, {}))

    def test_no_second_kind_is_made_beside_an_index_or_a_whole_single_file(self):
        bins = self.shards("pytorch_model-%05d-of-%05d.bin")
        self.shards("model-%05d-of-%05d.safetensors")
        self.put_index(BIN, bins)
        with self.mounted() as mount:
            self.assertEqual(self.indexes(mount), [BIN])
        os.remove(os.path.join(self.model, BIN))
        mounts.safetensors(os.path.join(self.model, "model.safetensors"), {"all": 9})
        with self.mounted() as mount:
            self.assertEqual(self.indexes(mount), [])

    def test_indexes_of_weights_that_are_not_read_tell_what_is_missing_and_stay_as_they_are(self):
        for index, shard in (("tf_model.h5.index.json", "tf_model-%05d-of-%05d.h5"), ("flax_model.msgpack.index.json", "flax_model-%05d-of-%05d.msgpack")):
            with self.subTest(index):
                self.model = self.new_folder("of-" + index)
                self.put(shard % (1, 2), b"whatever")
                published = self.put_index(index, {"a": shard % (1, 2), "b": shard % (2, 2)})
                with self.mounted() as mount:
                    self.assertEqual(mounts.read_file(mount / index), published)
                    self.assertEqual(self.states(mount), {index: "right"})
                    root = json.loads(mounts.read_file(mount / "index.json"))
                    self.assertEqual((root["metadata"]["vouchfs"]["missing_files"], root["weight_map"]), ([shard % (2, 2)], {}))
                self.put(index, "<html>")
                with self.mounted() as mount:
                    self.assertEqual(mounts.read_file(mount / index), b"<html>")
                    self.assertEqual(self.states(mount), {index: "wrong"})
                    self.assertEqual([event["file"] for event in mount.events("index_wrong")], [index])

    def test_an_index_beside_bin_files_that_are_none_says_so_and_is_served(self):
        weights = self.shards("pytorch_model-%05d-of-%05d.bin")
        published = self.put_index(BIN, weights)
        self.put(weights["layer.1.weight"], "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 5\n")
        with self.mounted() as mount:
            self.assertEqual(mounts.read_file(mount / BIN), published)
            root = json.loads(mounts.read_file(mount / "index.json"))
            self.assertEqual(root["metadata"]["vouchfs"]["missing_files"], [], "the file is there, only no weight file")
            self.assertEqual(root["weight_map"], weights)


if __name__ == "__main__":
    mounts.main()
