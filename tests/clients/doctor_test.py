#!/usr/bin/env python3
"""doctor and the real libraries: no alarm about what they publish and save, and the words it quotes are the words they print."""
import json
import os
import pathlib
import re
import sys

import real_model
from real_model import mounts, setup

sys.path.insert(0, str(real_model.HERE.parent / "doctor"))
from cases import BIN, CASES, FILE  # noqa: E402
import tiny_inputs  # noqa: E402,F401  fills CASES

# Codes about one file alone, which its library sees too.
OF_FILES = ("safetensors.", "torch.", "file.", "content.", "lfs.", "text.")
CLIENT = real_model.HERE / "doctor_client.py"
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}


class WithRealLibraries(real_model.RealModelCase):
    def doctor(self, *arguments):
        done = mounts.vouchfs("doctor", "--json", *arguments, timeout=400)
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]

    def assert_healthy(self, path):
        for options in ((), ("--deep",)):
            code, records = self.doctor(path, *options)
            alarms = [(r["severity"], r["code"], r["file"], r["message"]) for r in records if r.get("severity") in ("error", "warning")]
            self.assertEqual((alarms, records[-1]["verdict"], code), ([], "whole", 0), "%s %s" % (path, options))


class NoAlarm(WithRealLibraries):
    def test_about_a_published_sentence_transformer(self):
        self.assert_healthy(setup.model_dir())
        self.assert_healthy(setup.model_dir() / "model.safetensors")

    def test_about_the_same_in_shards_with_a_seal(self):
        self.sharded_model()
        mounts.vouchfs_ok("index", self.path("sharded"), "--write")
        self.assert_healthy(self.path("sharded"))

    def test_about_a_published_gguf(self):
        self.assert_healthy(setup.gguf())

    def test_about_what_torch_safetensors_and_transformers_save(self):
        self.assertGreater(self.answer(setup.python(), CLIENT, "write", self.path("saved"), env=OFFLINE), 10)
        self.assertIn("model.safetensors.index.json", os.listdir(self.path("saved/sharded")))
        for name in sorted(os.listdir(self.path("saved"))):
            with self.subTest(saved=name):
                self.assert_healthy(self.path("saved", name))


class Words(WithRealLibraries):
    """Of each broken single file: what its library prints is among what doctor says that loaders print."""

    def build(self):
        """{slug: path of the broken file} of the cases that are one file which a library can be given."""
        built = {}
        for case in CASES:
            if case.sealed or case.path or "--as" in case.options or case.id == "R79":  # R79 is code: no library gets it
                continue
            folder = pathlib.Path(self.path(case.slug))
            folder.mkdir()
            wants = case.build(folder)
            for name in (FILE, BIN):
                if len(wants) == 1 and wants[0].code.startswith(OF_FILES) and wants[0].severity == "error" and wants[0].file == name and (folder / name).is_file():
                    built[case.slug] = str(folder / name)
        return built

    def quoted(self, path):
        _, records = self.doctor(os.path.dirname(path))
        return [text for r in records if r.get("severity") == "error" for text in r["loader"]]

    def test_are_those_that_safetensors_and_torch_print(self):
        built = self.build()
        self.assertGreater(len(built), 35)
        said = dict(zip(built, self.answer(setup.python(), CLIENT, "errors", *built.values(), env=OFFLINE)))
        for slug, path in built.items():
            with self.subTest(case=slug):
                words, quoted = [text for text in said[slug] if text is not None], self.quoted(path)
                if not words:  # the library loads it without a word, and doctor quotes nothing
                    self.assertEqual(quoted, [])
                    continue
                # Of two tensors over one range the library names one or the other, as its hash table has them.
                # An uncaught exception is printed with its class in front.
                texts = [re.sub(r"^[A-Z]\w*Error: ", "", re.sub(r"`[xy]`", "…", text)) for text in quoted]
                pieces = [[piece.strip() for piece in text.split("…")] for text in texts]
                self.assertTrue(any(all(piece in text for piece in quote) for quote in pieces for text in words), "\nit prints %r\ndoctor quotes %r" % (words, quoted))


if __name__ == "__main__":
    mounts.main()
