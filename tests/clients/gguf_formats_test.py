#!/usr/bin/env python3
"""The reader of GGUF beside three others: the Python package gguf, @huggingface/gguf, and llama.cpp itself.

On good files they agree on every name, shape, type and offset. Broken ones are refused by all that look: what each does not look at is in
gguf_samples.broken_files. Random ones are judged as llama.cpp judges them, in its own words.
"""
import json
import os
import random
import re
import subprocess

import format_tables
import gguf_samples
import setup
from format_tables import HERE, mounts

# The package counts 40 bytes for a block of Q8_1 and does not know Q2_0: both never stored in files (yet).
PYTHON_DIFFERS = {"types-q8_1.gguf", "types-q2_0.gguf"}
REAL_TENSORS = 236  # of the 253 MB model that llama_test.py runs
ACCEPTED = ("error loading model hyperparameters", "error loading model architecture", "error loading model vocabulary", "unknown model architecture", "key not found in model", "has wrong type")


class GgufCase(mounts.MountCase):
    def write(self, files):
        folder = self.path("files")
        for name, body in files.items():
            mounts.write_file(os.path.join(folder, name), body)
        return folder

    def ours(self, folder):
        return format_tables.tables_of(folder, self.path("seal"))

    def lines(self, *command):
        done = mounts.run(*command, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return {row["file"]: row for row in map(json.loads, done.stdout.splitlines())}

    def python(self, folder, left_out=()):
        return self.lines(setup.format_python(), HERE / "gguf_client.py", folder, *left_out)

    def hf(self, folder):
        return self.lines(setup.node(), HERE / "gguf_client.mjs", setup.folder("formats"), folder)

    def llama(self, folder, files):
        """{file: its error log}, None for a file that ended the process."""
        out, left = {}, sorted(files)
        while left:
            command = [setup.node(), HERE / "llama_header_client.mjs", setup.folder("node")] + [os.path.join(folder, name) for name in left]
            done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=600, check=False)
            rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
            out |= {row["file"]: row["log"] for row in rows}
            if len(rows) < len(left):
                self.assertLess(done.returncode, 0, "%s: neither a signal nor an answer: %s" % (left[len(rows)], done.stderr[-2000:]))
                out[left[len(rows)]] = None
            left = left[len(rows) + 1:]
        self.assertEqual(sorted(out), sorted(files))
        return out

    def llama_takes(self, log):
        """Whether llama.cpp took the header (and then missed the rest of a model)."""
        refused = log is None or any("gguf_init" in line or "within the file bounds" in line for line in log)
        taken = log is not None and any(word in line for line in log for word in ACCEPTED)
        self.assertNotEqual(refused, taken, "neither took it nor refused it: %s" % log)
        return taken


class GoodFilesAreReadAlike(GgufCase):
    def setUp(self):
        super().setUp()
        self.files = gguf_samples.good_files()
        self.folder = self.write(self.files)
        self.rows = self.ours(self.folder)
        self.assertEqual(sorted(self.rows), sorted(self.files))
        for name, row in self.rows.items():
            self.assertEqual(format_tables.verdict_of(row), "ok", name)
            self.assertTrue(row["tensors"], name)

    def test_by_the_python_package(self):
        found = self.python(self.folder)
        for name, row in self.rows.items():
            if name not in PYTHON_DIFFERS:
                self.assertEqual(found[name].get("tensors"), format_tables.tensors_of(row), "%s: %s" % (name, found[name]))

    def test_by_huggingface_gguf(self):
        found = self.hf(self.folder)
        for name, row in self.rows.items():
            self.assertEqual(found[name].get("tensors"), {tensor: place[:3] for tensor, place in format_tables.tensors_of(row).items()}, name)

    def test_by_llama_cpp(self):
        for name, log in self.llama(self.folder, self.files).items():
            self.assertTrue(self.llama_takes(log), "%s: %s" % (name, log))


class ARealModelIsReadAlike(GgufCase):
    def test_by_the_python_package_and_huggingface_gguf(self):
        folder = self.new_folder("files")
        os.symlink(setup.gguf(), os.path.join(folder, "model.gguf"))
        ours = format_tables.tensors_of(self.ours(folder)["model.gguf"])
        self.assertEqual(len(ours), REAL_TENSORS)
        self.assertEqual(ours, self.python(folder)["model.gguf"]["tensors"])
        self.assertEqual({name: place[:3] for name, place in ours.items()}, self.hf(folder)["model.gguf"]["tensors"])


class BrokenFilesAreRefusedAlike(GgufCase):
    def test_by_every_reader_that_looks(self):
        cases = gguf_samples.broken_files()
        folder = self.write({name: body for name, (body, _, _) in cases.items()})
        rows = self.ours(folder)
        left_out = [name for name, (_, _, readers) in cases.items() if "python?" in readers]
        python, hf, llama = self.python(folder, left_out), self.hf(folder), self.llama(folder, cases)
        for name, (_, rule, readers) in cases.items():
            with self.subTest(name):
                self.assertEqual(format_tables.verdict_of(rows[name]), rule)
                self.assertEqual(rows[name]["tensors"], [])
                log = llama[name]
                self.assertIsNotNone(log, "it ended the process of llama.cpp")
                found = set() if self.llama_takes(log) else {"llama"}
                found |= {reader for reader, said in (("python", python), ("hf", hf)) if "error" in said.get(name, {})}
                self.assertEqual(found, set(readers.split()) - {"python?"}, (log, python.get(name), hf[name]))


class RandomFilesAreJudgedAsByLlamaCpp(GgufCase):
    def test_taken_and_refused_alike_and_for_the_same_reason(self):
        count, seed = format_tables.count_and_seed(2000)
        rng = random.Random(seed)
        files = {"%05d.gguf" % i: gguf_samples.random_file(rng) for i in range(count)}
        folder = self.write(files)
        rows, logs = self.ours(folder), self.llama(folder, files)
        verdicts = {}
        for name in files:
            row, log = rows[name], logs[name]
            verdict = format_tables.verdict_of(row)
            verdicts[verdict] = verdicts.get(verdict, 0) + 1
            if self.is_known_difference(row, log):
                continue
            self.assertEqual(verdict == "ok", self.llama_takes(log), "%s: %s; llama.cpp: %s" % (name, row.get("problem"), log))
            if verdict != "ok" and not self.is_said_otherwise(row, log):
                text = row["problem"]["text"].split(", expected")[0]  # where it wraps past 2^63, another number follows
                self.assertTrue(any(text in line for line in log), "%s: %s; llama.cpp: %s" % (name, row["problem"], log))
        print(verdicts)
        self.assertGreater(verdicts["ok"], count // 20)
        self.assertGreater(len(verdicts), 5)

    @staticmethod
    def is_known_difference(row, log):
        """Names and keys that are no UTF-8, or hold a NUL byte: llama.cpp takes them (the latter cut short); JSON and Python have no way to write them.
        Sizes whose product passes 2^63: its arithmetic wraps for some of three and four dimensions."""
        detail = row["problem"]["detail"] if "problem" in row else ""
        return "is no text" in detail or "so many elements do not fit 63 bits" in detail

    @staticmethod
    def is_said_otherwise(row, log):
        """Refused by both, in other words: absurd counts (llama.cpp goes on to the first info or key that is not there), control characters in
        a name (escaped by us), alignments over 1 MiB, and types that were removed (of which it says that their blocks are empty)."""
        problem = row["problem"]
        removed = problem["name"] == "UnknownType" and any("block size (0)" in line for line in log)
        return removed or problem["name"] == "BadCount" or "\\x" in problem["text"] or "exceeds maximum allowed" in problem["text"]


if __name__ == "__main__":
    mounts.main()
