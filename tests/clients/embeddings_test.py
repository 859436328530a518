#!/usr/bin/env python3
"""sentence-transformers (torch, transformers) loads a real model in shards, with no index on disk, through the mount's synthesized one."""
import real_model
from real_model import drop_caches, mounts, setup

CLIENT = real_model.HERE / "embeddings_client.py"
# Offline, and one thread: the order of float additions must not depend on how many threads shared them out.
ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}


class Embeddings(real_model.RealModelCase):
    def embed(self, folder):
        return self.answer(setup.python(), CLIENT, folder, env=ENVIRONMENT)

    def test_the_sharded_mount_gives_the_same_embeddings_as_the_source(self):
        wanted = self.embed(setup.model_dir())
        self.assertEqual(wanted["shape"], [3, 384])
        with self.mount(self.sharded_model()) as mount:
            drop_caches()
            self.assertEqual(self.embed(mount.path), wanted)
            self.assertEqual(mount.events("corrupt_block"), [])


if __name__ == "__main__":
    mounts.main()
