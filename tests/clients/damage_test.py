#!/usr/bin/env python3
"""doctor --deep beside torch, safetensors and llama.cpp over damaged files: what the library refuses is never whole, and what it reads is no error
but for the damage that only a checksum shows.

VOUCHFS_DAMAGE_SEED and VOUCHFS_DAMAGE_COUNT (files of each kind) make other runs and longer ones.
"""
import json
import os
import random

import gguf_formats_test
import gguf_samples
import real_model
from real_model import mounts, setup

import torch_writer as writer

CLIENT = real_model.HERE / "doctor_client.py"
SEED, COUNT = int(os.environ.get("VOUCHFS_DAMAGE_SEED", "20")), int(os.environ.get("VOUCHFS_DAMAGE_COUNT", "300"))
LENGTHS = (1, 2, 4, 8, 16, 64, 512)
# {code: words of the message} of what torch reads all the same: it looks at no checksum and at few local headers, nor at the protocol of a pickle,
# of which it misses the first byte as little. Storages that are not in the list of a legacy file are whatever its memory held before, and of their
# counts it takes the bytes modulo 2^64.
STRICTER = {"torch.crc_mismatch": "", "torch.bad_local_header": "", "torch.no_directory": "", "torch.pickle_broken": "", "content.unknown": "first bytes",
            "torch.record_missing": "not in the list of the storages that follow", "torch.bad_tensor": "elements by its own count"}
# A name whose letters changed their case, in the list of records alone: torch finds the record all the same.
OTHER_CASE = ("torch.bad_local_header", "has another name in its local header")
VALUE = {"a.weight": writer.T("float32", (2, 3), bytes(range(1, 25))), "a.bias": writer.T("int64", (4,), bytes(range(32))), "b": writer.T("uint8", (3,), b"xyz")}


def damaged(rng, body, places, other):
    """`body` with one damage or two, often at one of `places`, where structures stand."""
    body = bytearray(body)

    def place():
        at = rng.choice(places) + rng.randrange(64) if rng.random() < 0.6 else rng.randrange(len(body) or 1)
        return min(at, len(body) - 1)

    for _ in range(rng.choice((1, 1, 1, 2))):
        if not body:
            break
        at, length = place(), rng.choice(LENGTHS)
        way = rng.randrange(9)
        if way == 0:
            body[at] ^= 1 << rng.randrange(8)
        elif way == 1:
            del body[at:]
        elif way == 2:
            body[at:at + length] = bytes(len(body[at:at + length]))
        elif way == 3:
            body[at:at] = body[at:at + length]
        elif way == 4:
            body[at:at] = rng.randbytes(length)
        elif way == 5:
            body = body.replace(b"\n", b"\r\n")
        elif way == 6:
            body[at:at + length] = other[at:at + length]
        elif way == 7:
            del body[at:at + length]
        else:
            body += rng.randbytes(length)
    return bytes(body)


class DamageCase(real_model.RealModelCase):
    def judged(self, names, folder):
        """{file: (severity, code, message) of errors, and of what torch's restricted loader refuses}"""
        done = mounts.vouchfs("doctor", "--json", "--deep", *(os.path.join(folder, name) for name in names), timeout=200)
        self.assertIn(done.returncode, (0, 1, 2, 3, 4, 5, 6), done.stderr)
        self.assertEqual(done.stderr, "")
        found = {name: set() for name in names}
        for row in map(json.loads, done.stdout.splitlines()):
            if row["type"] == "finding" and (row["severity"] == "error" or row["code"] == "torch.unlisted_global"):
                found[os.path.basename(row["file"])].add((row["severity"], row["code"], row["message"]))
        return found


def is_stricter(row, rows, stricter):
    _, code, message = row
    if code in stricter and stricter[code] in message:
        return True
    return code == "torch.record_missing" and any(other == OTHER_CASE[0] and OTHER_CASE[1] in words for _, other, words in rows)


class DamagedFiles(DamageCase):
    def compare(self, name, bodies, places, stricter):
        rng, folder = random.Random(SEED), self.new_folder("damaged")
        for i in range(COUNT):
            body = rng.choice(bodies)
            mounts.write_file(os.path.join(folder, name % i), damaged(rng, body, places(body), rng.choice(bodies)))
        names = sorted(os.listdir(folder))
        said = self.answer(setup.python(), CLIENT, "loads", folder)
        found = self.judged(names, folder)
        for file in names:
            errors = [row for row in found[file] if row[0] == "error"]
            with self.subTest(file=file, seed=SEED):
                if said[file] is not None:
                    self.assertTrue(found[file], "doctor says nothing; the library: %s" % said[file][:400])
                else:
                    self.assertEqual([row for row in errors if not is_stricter(row, errors, stricter)], [])
        refused = sum(text is not None for text in said.values())
        print("%s: %d refused, %d read" % (name, refused, COUNT - refused))
        self.assertGreater(refused, COUNT // 3)
        self.assertGreater(COUNT - refused, COUNT // 50)

    def test_of_torch_are_seen(self):
        def places(body):
            return [0] + ([body.index(b"PK\1\2"), body.index(b"PK\5\6")] if body.startswith(b"PK") else [0])
        self.compare("pytorch_model.%04d.bin", [writer.zip_file(VALUE), writer.legacy_file(VALUE)], places, STRICTER)

    def test_of_safetensors_are_seen(self):
        bodies = []
        for i in range(3):
            path = self.path("good%d" % i)
            mounts.safetensors(path, {"x.%d" % j: (j + 1) * (i + 1) for j in range(i + 1)}, seed=i)
            bodies.append(mounts.read_file(path))
        self.compare("model%04d.safetensors", bodies, lambda _: [0], {})


class DamagedGguf(DamageCase, gguf_formats_test.GgufCase):
    """Beside llama.cpp, which takes names and keys that are no text, and sizes whose product wraps past 2^63: gguf_formats_test says why these are errors."""
    STRICTER = ("is no text", "so many elements do not fit 63 bits")

    def write_damaged(self):
        rng, files = random.Random(SEED), {}
        for i in range(COUNT):
            body, places = gguf_samples.random_good(rng)
            data = min((row[2] for row in places.values()), default=len(body))
            files["%05d.gguf" % i] = damaged(rng, body, [0, 20, data // 2, max(0, data - 60), max(0, len(body) - 64)], gguf_samples.random_good(rng)[0])
        return files, self.write(files)

    def test_is_seen(self):
        files, folder = self.write_damaged()
        logs, found, taken = self.llama(folder, files), self.judged(sorted(files), folder), 0
        for file in files:
            with self.subTest(file=file, seed=SEED):
                if self.llama_takes(logs[file]):
                    taken += 1
                    self.assertFalse([row for row in found[file] if not any(words in row[2] for words in self.STRICTER)])
                else:
                    self.assertTrue(found[file], "doctor says nothing; llama.cpp: %s" % logs[file])
        print("gguf: %d refused, %d taken" % (COUNT - taken, taken))
        self.assertGreater(taken, COUNT // 10)
        self.assertGreater(COUNT - taken, COUNT // 3)


if __name__ == "__main__":
    mounts.main()
