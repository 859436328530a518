#!/usr/bin/env python3
"""The installed package: installs a build into a prefix of its own, builds examples/embed against it and reads through it.

usage: embed_test.py BUILD_DIR [COMPILER]
"""
import hashlib
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD, COMPILER = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "c++"
BLOCK = 4096


def run(*command, **keywords):
    return subprocess.run([str(c) for c in command], capture_output=True, stdin=subprocess.DEVNULL, **keywords)


def must(*command):
    answer = run(*command)
    assert answer.returncode == 0, f"{command} gave {answer.returncode}: {(answer.stdout + answer.stderr).decode()[-2000:]}"
    return answer.stdout.decode()


def write_model(folder):
    """One safetensors file of twenty blocks and a bit, and a config."""
    folder.mkdir()
    size = 20 * BLOCK + 100
    header = json.dumps({"w": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}).encode()
    header += b" " * (-len(header) % 8)
    data = bytes(i * 7 % 251 for i in range(size))
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + data)
    (folder / "config.json").write_text("{}\n")


class InstalledPackage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="vouchfs-embed-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.dir = pathlib.Path(cls.folder.name)
        cls.prefix = cls.dir / "prefix"
        must("cmake", "--install", BUILD, "--prefix", cls.prefix)
        must("cmake", "-S", ROOT / "examples/embed", "-B", cls.dir / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={cls.prefix}", f"-DCMAKE_CXX_COMPILER={COMPILER}")
        must("cmake", "--build", cls.dir / "build")
        cls.embed = cls.dir / "build/embed"
        cls.model = cls.dir / "model"
        write_model(cls.model)
        must(cls.prefix / "bin/vouchfs", "ingest", cls.model)

    def test_a_sealed_file_comes_out_as_it_was_sealed(self):
        for name in ("model.safetensors", "config.json"):
            answer = run(self.embed, self.model, name)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertEqual(hashlib.sha256(answer.stdout).hexdigest(), hashlib.sha256((self.model / name).read_bytes()).hexdigest())

    def test_a_damaged_file_gives_no_wrong_byte_and_names_the_place(self):
        path = self.model / "model.safetensors"
        whole = path.read_bytes()
        at = 11 * BLOCK + 5
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
        self.addCleanup(path.write_bytes, whole)
        answer = run(self.embed, self.model, "model.safetensors")
        self.assertEqual(answer.returncode, 3, answer.stderr)
        self.assertTrue(whole.startswith(answer.stdout))
        self.assertLessEqual(len(answer.stdout), 11 * BLOCK)
        self.assertIn(b"model.safetensors", answer.stderr)
        self.assertIn(str(11 * BLOCK).encode(), answer.stderr)

    def test_a_name_that_is_not_sealed_is_an_error(self):
        answer = run(self.embed, self.model, "no.such.file")
        self.assertEqual(answer.returncode, 1)
        self.assertIn(b"no.such.file", answer.stderr)

    def test_nothing_of_it_is_linked_with_fuse(self):
        self.assertNotIn("fuse", must("ldd", self.embed))

    def test_the_mount_helpers_are_relative_links_to_the_command(self):
        for name in ("mount.vouchfs", "mount.fuse.vouchfs"):
            self.assertEqual(os.readlink(self.prefix / "sbin" / name), "../bin/vouchfs")
            self.assertTrue((self.prefix / "sbin" / name).samefile(self.prefix / "bin/vouchfs"))

    def test_every_module_is_a_target_and_its_headers_are_there(self):
        names = [p.parent.name for p in (ROOT / "core").glob("*/CMakeLists.txt")]
        lines = "".join(f'if(NOT TARGET vouchfs::{n})\n  message(FATAL_ERROR "no vouchfs::{n}")\nendif()\n' for n in names)
        probe = self.dir / "probe"
        probe.mkdir()
        (probe / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.25)\nproject(probe LANGUAGES C CXX)\nfind_package(vouchfs REQUIRED)\n{lines}")
        must("cmake", "-S", probe, "-B", probe / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        for name in names:
            for header in (ROOT / "core" / name).glob("*.h"):
                self.assertTrue((self.prefix / "include/vouchfs" / name / header.name).is_file(), header)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
