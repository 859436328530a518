#!/usr/bin/env python3
"""The Python safetensors library on a mount of a real 90 MB model, whole and in shards; and on a damaged one."""
import real_model
from real_model import WEIGHTS, drop_caches, mounts, setup

CLIENT = real_model.HERE / "safetensors_client.py"
TENSORS = 104  # of the model, as its header says


class SafetensorsOnTheMount(real_model.RealModelCase):
    def python(self, *words, **options):
        return self.answer(setup.python(), CLIENT, *words, **options)

    def source(self):
        return setup.model_dir() / WEIGHTS

    def test_every_tensor_of_the_whole_model_is_the_sources_by_mmap_and_pread(self):
        with self.mount(self.whole_model()) as mount:
            drop_caches()
            self.assertEqual(self.python("compare", self.source(), mount / WEIGHTS)["tensors"], TENSORS)
            self.assertEqual(mount.events("corrupt_block"), [])

    def test_every_tensor_of_the_shards_is_the_sources(self):
        with self.mount(self.sharded_model()) as mount:
            drop_caches()
            self.assertEqual(self.python("compare", self.source(), *(mount / self.shard(i) for i in (1, 2, 3)))["tensors"], TENSORS)

    def test_every_tensor_of_the_shards_is_found_by_the_synthesized_index(self):
        with self.mount(self.sharded_model()) as mount:
            self.assertEqual(self.python("index", self.source(), mount.path)["tensors"], TENSORS)

    def test_the_other_files_are_served_as_they_are(self):
        with self.mount(self.whole_model()) as mount:
            for name in ("config.json", "tokenizer.json", "1_Pooling/config.json"):
                self.assertEqual(mounts.read_file(mount / name), (setup.model_dir() / name).read_bytes(), name)


class SafetensorsOnADamagedShard(real_model.RealModelCase):
    def setUp(self):
        super().setUp()
        self.model = self.sharded_model()
        mounts.flip(self.path(self.model, self.shard(2)), 7_000_000)

    def assert_clean_exception(self, *words):
        status, _, err = self.client(setup.python(), CLIENT, "open", *words)
        self.assertEqual(status, 1, "a Python exception ends with 1, a signal with less than 0: %s" % err[-500:])
        self.assertIn("Traceback", err)
        self.assertIn("error", err.splitlines()[-1].lower())

    def test_once_known_bad_it_is_an_exception_at_open_by_mmap_and_pread(self):
        with self.mount(self.model) as mount:
            self.find_out(mount / self.shard(2))
            self.assert_clean_exception(mount / self.shard(2))
            self.assert_clean_exception(mount / self.shard(2), "pread")

    def test_not_yet_known_it_is_an_exception_by_pread(self):
        with self.mount(self.model) as mount:
            self.assert_clean_exception(mount / self.shard(2), "pread")
            self.assertEqual([e["file"] for e in mount.events("corrupt_block")], [self.shard(2)])

    def test_the_other_shards_load(self):
        with self.mount(self.model) as mount:
            self.find_out(mount / self.shard(2))
            for number in (1, 3):
                self.assertGreater(self.answer(setup.python(), CLIENT, "open", mount / self.shard(number))["tensors"], 0)


if __name__ == "__main__":
    mounts.main()
