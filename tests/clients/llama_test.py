#!/usr/bin/env python3
"""llama.cpp (node-llama-cpp's prebuilt CPU binary) maps a real 253 MB GGUF on the mount and answers as from the source."""
import json
import os
import shutil

import real_model
from real_model import drop_caches, mounts, setup

CLIENT = real_model.HERE / "llama_client.mjs"
PROMPT = "The capital of France is"


class LlamaOnTheMount(real_model.RealModelCase):
    def setUp(self):
        super().setUp()
        self.model = self.new_folder("gguf")
        shutil.copyfile(setup.gguf(), os.path.join(self.model, "model.gguf"))
        self.ingest(self.model)

    def complete(self, path):
        return self.answer(setup.node(), CLIENT, setup.folder("node"), path, PROMPT)["answer"]

    def test_by_mmap_it_completes_a_prompt_exactly_as_from_the_source(self):
        wanted = self.complete(setup.gguf())
        self.assertTrue(wanted.strip())
        with self.mount(self.model) as mount:
            drop_caches()
            self.assertEqual(self.complete(mount / "model.gguf"), wanted)
            self.assertEqual(mount.events("corrupt_block"), [])

    def test_a_file_known_to_be_bad_is_an_error_message_and_no_crash(self):
        mounts.flip(os.path.join(self.model, "model.gguf"), 100_000_000)
        with self.mount(self.model) as mount:
            self.find_out(mount / "model.gguf")
            status, out, err = self.client(setup.node(), CLIENT, setup.folder("node"), mount / "model.gguf", PROMPT)
            self.assertEqual(status, 7, err[-500:])
            self.assertIn("error", json.loads(out.splitlines()[-1]))


if __name__ == "__main__":
    mounts.main()
