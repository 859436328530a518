#!/usr/bin/env python3
"""The JSON records that the man pages show are the ones that the commands print: same types, same keys, in the same order."""
import json
import os
import re
import sys
import unittest

from documents import MAN, ROOT

sys.path.insert(0, str(ROOT / "tests" / "support"))
import mounts  # noqa: E402

SHARD = "model-00001-of-00002.safetensors"


def shown(command):
    """{type: keys in order} of the records in a man page's OUTPUT section. Keys of nested objects are left aside."""
    text = (MAN / f"vouchfs-{command}.1").read_text()
    part = re.search(r"^\.Sh OUTPUT$(.*?)(?=^\.Sh )", text, re.M | re.S).group(1)
    records = {}
    for block in re.findall(r"^\.Bd -literal$(.*?)^\.Ed$", part, re.M | re.S):
        for line in re.findall(r'\{"type":.*?\}(?=\n(?:\{|\Z))', block.strip() + "\n", re.S):
            kind = re.match(r'\{"type":"(\w+)"', line).group(1)
            flat = re.sub(r"\[\{.*?\}\]", "", line[line.index(",") + 1:] if "," in line else "", flags=re.S)
            records[kind] = re.findall(r'"(\w+)"', flat)
    return records


class Records(mounts.MountCase):
    def model(self):
        model = self.new_folder("model")
        for number in (1, 2):
            mounts.safetensors(f"{model}/model-0000{number}-of-00002.safetensors", {f"layer.{number}": 30000}, number)
        os.mkdir(f"{model}/.cache")
        self.ingest(model)
        return model

    def check(self, command, *arguments, exit_code=0):
        done = mounts.vouchfs(command, "--json", *arguments)
        self.assertEqual(done.returncode, exit_code, done.stderr[-1000:])
        page = shown(command)
        self.assertGreaterEqual(len(page), 1)
        seen = {}
        for line in done.stdout.splitlines():
            record = json.loads(line)
            kind = record.pop("type")
            if kind != "error":
                seen[kind] = list(record)
        for kind, keys in seen.items():
            with self.subTest(command=command, type=kind):
                self.assertIn(kind, page)
                self.assertEqual(keys, page[kind])
        return set(seen)

    def test_ingest_digest_ls_and_version(self):
        model = self.model()
        self.assertEqual(self.check("ingest", model), {"left_out", "summary"})
        self.assertEqual(self.check("digest", model, f"{model}/{SHARD}"), {"digest"})
        self.assertEqual(self.check("ls", model), {"tensor", "summary"})
        self.assertEqual(self.check("index", model), {"index"})
        self.assertEqual(self.check("version"), {"version"})

    def test_what_is_mended_and_what_is_written(self):
        model = self.model()
        self.assertEqual(self.check("ingest", model, "--fix=format"), {"left_out", "fix", "summary"})
        self.assertEqual(self.check("index", model, "--write"), {"warning", "summary"})

    def test_a_check_that_finds_differences(self):
        model = self.model()
        mounts.damage_block(f"{model}/{SHARD}", 3)
        os.truncate(f"{model}/model-00002-of-00002.safetensors", 100)
        self.assertEqual(self.check("ingest", model, "--check", exit_code=3), {"left_out", "warning", "difference", "summary"})

    def test_verify(self):
        model = self.model()
        mounts.damage_block(f"{model}/{SHARD}", 3)
        self.assertEqual(self.check("verify", model, exit_code=3), {"corrupt", "summary"})

    def test_doctor(self):
        model = self.model()
        os.truncate(f"{model}/{SHARD}", 100)
        self.assertEqual(self.check("doctor", model, exit_code=3), {"finding", "summary"})
        self.assertEqual(self.check("doctor", "--codes"), {"code"})

    def test_mount_and_umount(self):
        model, mount = self.model(), self.new_folder("mnt")
        self.assertEqual(self.check("mount", model, mount), {"summary"})
        mounts.damage_block(f"{model}/{SHARD}", 3)
        self.assertEqual(self.check("warm", mount, exit_code=3), {"unread", "file", "summary"})
        self.assertEqual(self.check("umount", mount), {"summary"})


if __name__ == "__main__":
    mounts.main()
