"""index.json and the shard indexes as a mount shows them, against the headers read here by a few lines of our own."""
import json
import os
import struct

import mounts

INDEX = "model.safetensors.index.json"


def header(path):
    """{tensor: (bytes, number of elements)}"""
    data = mounts.read_file(path)
    length = struct.unpack("<Q", data[:8])[0]
    out = {}
    for name, row in json.loads(data[8:8 + length]).items():
        if name != "__metadata__":
            count = 1
            for dimension in row["shape"]:
                count *= dimension
            out[name] = (row["data_offsets"][1] - row["data_offsets"][0], count)
    return out


class IndexCase(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.model = self.new_folder("model")

    def shards(self, count=3, folder="", stem="model", present=None, prefix=""):
        """Writes numbered shards (all, or those in `present`). Returns {tensor: file} as the headers say, all shards counted."""
        weights = {}
        for i in range(1, count + 1):
            name = "%s-%05d-of-%05d.safetensors" % (stem, i, count)
            tensors = {"%slayer.%d.%s" % (prefix, i, part): 700 + i for part in ("weight", "bias")}
            weights.update({tensor: name for tensor in tensors})
            if present is None or i in present:
                mounts.safetensors(os.path.join(self.model, folder, name), tensors, seed=i)
        return weights

    def total(self, weights, folder=""):
        return sum(header(os.path.join(self.model, folder, file))[tensor][0] for tensor, file in weights.items())

    def put_index(self, weights, total=None, folder="", name=INDEX, extra=None):
        text = json.dumps({"metadata": {"total_size": self.total(weights, folder) if total is None else total, **(extra or {})}, "weight_map": weights}, indent=1) + "\n\n"
        mounts.write_file(os.path.join(self.model, folder, name), text.encode())
        return text.encode()

    def mounted(self):
        self.ingest(self.model)
        return self.mount(self.model)

    def load(self, mount, name="index.json"):
        data = mounts.read_file(mount / name)
        self.assertEqual(os.stat(mount / name).st_size, len(data))
        index = json.loads(data)
        self.assertEqual(list(index["weight_map"]), sorted(index["weight_map"]), "sorted")
        return index

    def check_root(self, mount, weights):
        """index.json against the headers and the manifest."""
        index = self.load(mount)
        self.assertEqual(index["weight_map"], weights)
        rows = [header(os.path.join(self.model, file))[tensor] for tensor, file in weights.items() if os.path.exists(os.path.join(self.model, file))]
        self.assertEqual(index["metadata"]["total_size"], sum(row[0] for row in rows))
        self.assertEqual(index["metadata"]["total_parameters"], sum(row[1] for row in rows))
        own = index["metadata"]["vouchfs"]
        self.assertEqual(own["model_digest"], mounts.read_file(mount / ".vouch/digest").decode().strip())
        self.assertEqual({f["path"]: (f["size"], f["sha256"], f["fsverity"]) for f in own["files"]},
                         {f["path"]: (f["size"], f["sha256"], f["fsverity"]) for f in mounts.manifest_of(os.path.join(self.model, ".vouch"))["files"]})
        return index


class TestRootIndex(IndexCase):
    def test_of_one_file(self):
        mounts.safetensors(os.path.join(self.model, "model.safetensors"), {"a": 100, "b": 7})
        with self.mounted() as mount:
            self.check_root(mount, {"a": "model.safetensors", "b": "model.safetensors"})
            self.assertFalse(os.path.exists(mount / INDEX), "one file needs no shard index")

    def test_of_a_model_without_tensors(self):
        mounts.write_file(os.path.join(self.model, "readme.md"), b"nothing here")
        with self.mounted() as mount:
            index = self.check_root(mount, {})
            self.assertEqual(index["metadata"]["total_size"], 0)

    def test_of_an_empty_model(self):
        with self.mounted() as mount:
            self.check_root(mount, {})

    def test_of_all_folders(self):
        mounts.safetensors(os.path.join(self.model, "unet/diffusion_pytorch_model.safetensors"), {"u.w": 50})
        mounts.safetensors(os.path.join(self.model, "text_encoder/model.safetensors"), {"t.w": 60})
        with self.mounted() as mount:
            self.check_root(mount, {"t.w": "text_encoder/model.safetensors", "u.w": "unet/diffusion_pytorch_model.safetensors"})
            for folder in ("unet", "text_encoder"):
                self.assertFalse(os.path.exists(mount / (folder + "/index.json")), "folders get none")

    def test_a_tensor_that_two_folders_hold_is_listed(self):
        for folder in ("a", "b"):
            mounts.safetensors(os.path.join(self.model, folder, "model.safetensors"), {"same": 10, folder + ".own": 5})
        with self.mounted() as mount:
            index = self.load(mount)
            self.assertEqual(index["metadata"]["vouchfs"]["ambiguous"], {"same": ["a/model.safetensors", "b/model.safetensors"]})
            self.assertEqual(index["weight_map"]["same"], "a/model.safetensors")

    def test_the_models_own_file_of_that_name(self):
        mounts.write_file(os.path.join(self.model, "index.json"), b"the publisher's own\n")
        mounts.safetensors(os.path.join(self.model, "model.safetensors"), {"a": 10})
        with self.mounted() as mount:
            self.load(mount)
            self.assertEqual(mounts.read_file(mount / "index.json.orig"), b"the publisher's own\n")

    def test_a_broken_header_is_named_and_its_bytes_are_served(self):
        mounts.write_file(os.path.join(self.model, "broken.safetensors"), b"\xff" * 5000)
        mounts.safetensors(os.path.join(self.model, "whole.safetensors"), {"a": 10})
        with self.mounted() as mount:
            index = self.load(mount)
            self.assertEqual([b["path"] for b in index["metadata"]["vouchfs"]["broken_files"]], ["broken.safetensors"])
            self.assertEqual(index["weight_map"], {"a": "whole.safetensors"})
            self.assertEqual(mounts.read_file(mount / "broken.safetensors"), b"\xff" * 5000)


class TestShardIndex(IndexCase):
    def test_absent_is_synthesized(self):
        weights = self.shards()
        with self.mounted() as mount:
            self.check_root(mount, weights)
            index = self.load(mount, INDEX)
            self.assertEqual(index["weight_map"], weights)
            self.assertEqual(index["metadata"]["total_size"], self.total(weights))
            self.assertEqual(mount.events("index_corrected"), [])
        self.assertFalse(os.path.exists(os.path.join(self.model, INDEX)), "the model itself is not written to")

    def test_right_is_served_byte_for_byte(self):
        text = self.put_index(self.shards(), extra={"made_by": "somebody"})
        with self.mounted() as mount:
            self.assertEqual(mounts.read_file(mount / INDEX), text)
            self.assertFalse(os.path.exists(mount / (INDEX + ".orig")))
            self.assertEqual(mount.events("index_corrected"), [])

    def check_corrected(self, weights, text, *names_in_changes):
        with self.mounted() as mount:
            self.check_root(mount, weights)
            index = self.load(mount, INDEX)
            self.assertEqual(index["weight_map"], weights)
            self.assertEqual(index["metadata"]["total_size"], self.total(weights))
            self.assertEqual(mounts.read_file(mount / (INDEX + ".orig")), text)
            events = mount.events("index_corrected")
            self.assertEqual([e["file"] for e in events], [INDEX])
            for name in names_in_changes:
                self.assertTrue(any(name in change for change in events[0]["changes"]), (name, events[0]["changes"]))
        self.assertEqual(mounts.read_file(os.path.join(self.model, INDEX)), text)

    def test_tensor_in_the_wrong_file_is_corrected(self):
        weights = self.shards()
        text = self.put_index({**weights, "layer.1.bias": "model-00002-of-00003.safetensors"}, total=self.total(weights))
        self.check_corrected(weights, text, "layer.1.bias")

    def test_tensor_left_out_is_corrected(self):
        weights = self.shards()
        text = self.put_index({k: v for k, v in weights.items() if k != "layer.2.weight"}, total=self.total(weights))
        self.check_corrected(weights, text, "layer.2.weight")

    def test_tensor_that_no_file_holds_is_corrected(self):
        weights = self.shards()
        text = self.put_index({**weights, "ghost": "model-00001-of-00003.safetensors"}, total=self.total(weights))
        self.check_corrected(weights, text, "ghost")

    def test_wrong_total_size_is_corrected(self):
        weights = self.shards()
        text = self.put_index(weights, total=self.total(weights) + 1)
        self.check_corrected(weights, text, "total_size")

    def test_no_json_is_corrected(self):
        weights = self.shards()
        mounts.write_file(os.path.join(self.model, INDEX), b"<html>rate limit</html>")
        self.check_corrected(weights, b"<html>rate limit</html>")

    def test_folders_have_their_own(self):
        unet = self.shards(2, "unet", "diffusion_pytorch_model", prefix="u.")
        text_encoder = self.shards(2, "text_encoder", prefix="t.")
        with self.mounted() as mount:
            name = "unet/diffusion_pytorch_model.safetensors.index.json"
            self.assertEqual(self.load(mount, name)["weight_map"], unet)
            self.assertEqual(self.load(mount, "text_encoder/" + INDEX)["weight_map"], text_encoder)
            self.assertFalse(os.path.exists(mount / INDEX))
            self.check_root(mount, {**{k: "unet/" + v for k, v in unet.items()}, **{k: "text_encoder/" + v for k, v in text_encoder.items()}})

    def test_an_index_of_another_kind_gets_no_second_one_beside_it(self):
        self.shards()
        mounts.write_file(os.path.join(self.model, "pytorch_model.bin.index.json"), b'{"metadata": {}, "weight_map": {}}')
        with self.mounted() as mount:
            self.assertFalse(os.path.exists(mount / INDEX))


class TestMissingShards(IndexCase):
    def test_named_by_the_index_keeps_its_entries(self):
        weights = self.shards(3, present={1, 3})
        text = json.dumps({"metadata": {"total_size": 999_999}, "weight_map": weights}).encode()
        mounts.write_file(os.path.join(self.model, INDEX), text)
        with self.mounted() as mount:
            index = self.load(mount)
            self.assertEqual(index["weight_map"], weights)
            self.assertEqual(index["metadata"]["vouchfs"]["missing_files"], ["model-00002-of-00003.safetensors"])
            self.assertEqual(json.loads(mounts.read_file(mount / INDEX))["weight_map"], weights)
            self.assertFalse(os.path.exists(mount / "model-00002-of-00003.safetensors"), "not made to look as if it were there")

    def test_missing_by_number_gets_no_index_that_looks_complete(self):
        weights = self.shards(4, present={1, 2, 4})
        with self.mounted() as mount:
            index = self.load(mount)
            self.assertEqual(index["metadata"]["vouchfs"]["missing_files"], ["model-00003-of-00004.safetensors"])
            self.assertEqual(index["weight_map"], {k: v for k, v in weights.items() if "00003" not in v})
            self.assertFalse(os.path.exists(mount / INDEX))


if __name__ == "__main__":
    mounts.main()
