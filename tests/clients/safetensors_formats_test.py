#!/usr/bin/env python3
"""The reader of safetensors headers beside the library itself: thousands of random files, taken and refused alike, for the same reason."""
import json
import os
import random

import format_tables
import safetensors_samples
import setup
from format_tables import HERE, mounts

# What the library prints (since 0.6) -> the rule's name. The first that fits counts.
RULES = (("header too small", "HeaderTooSmall"), ("header too large", "HeaderTooLarge"), ("invalid header length", "InvalidHeaderLength"), ("invalid UTF-8", "InvalidHeader"),
         ("invalid JSON in header: unknown variant", "UnknownDtype"), ("invalid JSON", "InvalidHeaderDeserialization"), ("invalid offset", "InvalidOffset"),
         ("overflow", "ValidationOverflow"), ("slice", "MisalignedSlice"), ("invalid shape, data", "TensorInvalidInfo"), ("incomplete metadata", "MetadataIncompleteBuffer"))


class FilesAreJudgedAsByTheLibrary(mounts.MountCase):
    def test_random_headers(self):
        count, seed = format_tables.count_and_seed(4000)
        rng = random.Random(seed)
        folder, files = self.new_folder("files"), {}
        for i in range(count):
            name = "f%06d.safetensors" % i
            files[name] = safetensors_samples.random_file(rng)
            mounts.write_file(os.path.join(folder, name), files[name])
        done = mounts.run(setup.format_python(), HERE / "safetensors_header_client.py", folder, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        library = {row["file"]: row for row in map(json.loads, done.stdout.splitlines())}
        rows = format_tables.tables_of(folder, self.path("seal"))
        self.assertEqual(sorted(rows), sorted(files))
        verdicts = {}
        for name, body in files.items():
            with self.subTest(name, bytes=body[:400]):
                verdict = format_tables.verdict_of(rows[name])
                verdicts[verdict] = verdicts.get(verdict, 0) + 1
                self.check(rows[name], library[name], body)
        print(verdicts)
        self.assertGreater(verdicts["ok"], count // 20)
        self.assertGreater(len(verdicts), 6)

    @staticmethod
    def rules_of(said):
        """The rule the library complains of; of two tensors over one range both may be."""
        return {next((rule for words, rule in RULES if words in error), error) for error in said.get("errors", [])} or {"ok"}

    def check(self, row, said, body):
        self.assertIn(format_tables.verdict_of(row), self.rules_of(said), "%s; the library: %s" % (row.get("problem"), said.get("errors")))
        if "problem" not in row:
            ours = {name: [dtype, shape, body[begin:end].hex()] for name, (dtype, shape, begin, end) in format_tables.tensors_of(row).items()}
            self.assertEqual(ours, said["tensors"])


if __name__ == "__main__":
    mounts.main()
