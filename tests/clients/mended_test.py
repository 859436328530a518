#!/usr/bin/env python3
"""What a mount mends and makes, in the hands of the real libraries: a header without a format, a byte order mark, .bin shards without an index."""
import json
import os
import shutil
import struct

import real_model
from real_model import WEIGHTS, mounts, setup

CLIENT = real_model.HERE / "safetensors_client.py"
BIN_CLIENT = real_model.HERE / "bin_client.py"


class MendedForRealLibraries(real_model.RealModelCase):
    def model(self, weights):
        folder = self.path("model")
        shutil.copytree(setup.model_dir(), folder, ignore=shutil.ignore_patterns(WEIGHTS))
        mounts.write_file(os.path.join(folder, WEIGHTS), weights)
        return folder

    def source(self):
        return setup.model_dir() / WEIGHTS

    def without_metadata(self):
        data = mounts.read_file(self.source())
        length, = struct.unpack("<Q", data[:8])
        header = json.loads(data[8:8 + length])
        header.pop("__metadata__")
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        return struct.pack("<Q", len(text)) + text + data[8 + length:]

    def metadata(self, path):
        return self.answer(setup.python(), CLIENT, "metadata", path)["metadata"]

    def compare(self, path):
        self.assertGreater(self.answer(setup.python(), CLIENT, "compare", self.source(), path)["tensors"], 100)

    def test_a_header_without_a_format_has_pt_on_the_mount_and_every_tensor_is_the_sources(self):
        model = self.model(self.without_metadata())
        self.assertIsNone(self.metadata(os.path.join(model, WEIGHTS)))
        self.ingest(model, "--fix=format")
        with self.mount(model) as mount:
            self.assertEqual(self.metadata(mount / WEIGHTS), {"format": "pt"})
            self.compare(mount / WEIGHTS)

    def test_a_file_behind_a_byte_order_mark_loads_from_the_mount_alone(self):
        model = self.model(b"\xef\xbb\xbf" + mounts.read_file(self.source()))
        status, _, err = self.client(setup.python(), CLIENT, "open", os.path.join(model, WEIGHTS))
        self.assertEqual(status, 1)
        self.assertIn("header too large", err)
        self.ingest(model, "--fix=bom")
        with self.mount(model) as mount:
            self.assertEqual(mounts.verity_digest(mount / WEIGHTS), mounts.verity_digest(self.source()))
            self.compare(mount / WEIGHTS)

    def test_both_together_load(self):
        model = self.model(b"\xef\xbb\xbf" + self.without_metadata())
        self.ingest(model, "--fix=bom,format")
        with self.mount(model) as mount:
            self.assertEqual(self.metadata(mount / WEIGHTS), {"format": "pt"})
            self.compare(mount / WEIGHTS)

    def test_bin_shards_without_an_index_load_from_the_mount_and_with_the_one_that_is_written(self):
        folder = self.path("bin")
        shutil.copytree(setup.model_dir(), folder, ignore=shutil.ignore_patterns(WEIGHTS))
        count = self.answer(setup.python(), BIN_CLIENT, "split", self.source(), folder)["tensors"]
        status, _, _ = self.client(setup.python(), BIN_CLIENT, "load", self.source(), folder)
        self.assertEqual(status, 1, "without an index it cannot be loaded")
        self.ingest(folder)
        with self.mount(folder) as mount:
            loaded = self.answer(setup.python(), BIN_CLIENT, "load", self.source(), mount.path)["tensors"]
            self.assertGreater(loaded, 100)
            self.assertEqual(len(json.loads(mounts.read_file(mount / "pytorch_model.bin.index.json"))["weight_map"]), count)
            made = mounts.read_file(mount / "pytorch_model.bin.index.json")
        mounts.vouchfs_ok("index", folder, "--write")
        self.assertEqual(mounts.read_file(os.path.join(folder, "pytorch_model.bin.index.json")), made)
        self.assertEqual(self.answer(setup.python(), BIN_CLIENT, "load", self.source(), folder)["tensors"], loaded)


if __name__ == "__main__":
    mounts.main()
