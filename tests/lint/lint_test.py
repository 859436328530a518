#!/usr/bin/env python3
"""The lint checks catch what they are for: each test plants a fault in a copy of the tree and wants it named."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def run(script, root):
    return subprocess.run([sys.executable, HERE / script, root], capture_output=True, text=True)


class PlantedFaults(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="vouchfs-lint-")
        self.root = pathlib.Path(self.folder.name)
        for name in ("core", "fs", "mount_tools", "cmake"):
            if (ROOT / name).exists():
                shutil.copytree(ROOT / name, self.root / name)
        shutil.copy(ROOT / "CMakeLists.txt", self.root)

    def tearDown(self):
        self.folder.cleanup()

    def plant(self, name, text):
        path = self.root / name
        path.write_text(text + (path.read_text() if path.exists() else ""))

    def assert_refused(self, script, *words):
        answer = run(script, self.root)
        self.assertEqual(answer.returncode, 1, answer.stdout + answer.stderr)
        for word in words:
            self.assertIn(word, answer.stdout)

    def test_the_copy_is_clean_before_anything_is_planted(self):
        for script in ("layers.py", "source_rules.py"):
            answer = run(script, self.root)
            self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)

    def test_an_upward_include_is_refused(self):
        self.plant("core/base/planted.h", '#pragma once\n#include "verify/verified_file.h"\n')
        self.assert_refused("layers.py", "core/base/planted.h", "base (rank 0)", "verify/verified_file.h")

    def test_a_sideways_include_is_refused(self):
        self.plant("core/hash/planted.cpp", "#  include <observe/event.h>\n")
        self.assert_refused("layers.py", "core/hash/planted.cpp")

    def test_an_upward_include_by_a_relative_path_is_refused(self):
        self.plant("core/merkle/planted.cpp", '#include "../seal/manifest.h"\n')
        self.assert_refused("layers.py", "core/merkle/planted.cpp", "seal")

    def test_an_include_of_a_header_that_is_not_there_still_counts(self):
        self.plant("core/base/planted.cpp", '#include "fs/not_there.h"\n')
        self.assert_refused("layers.py", "fs/not_there.h")

    def test_a_folder_without_a_rank_is_refused(self):
        (self.root / "core/nowhere").mkdir()
        self.plant("core/nowhere/planted.h", "#pragma once\n")
        self.assert_refused("layers.py", "nowhere has no rank")

    def test_fuse_in_core_is_refused(self):
        self.plant("core/view/planted.cpp", "#include <fuse3/fuse_lowlevel.h>\n")
        self.assert_refused("source_rules.py", "core/view/planted.cpp:1", "no FUSE")

    def test_ending_the_process_in_core_is_refused(self):
        self.plant("core/base/planted.cpp", 'void f() {\n  const char* s = "exit(1)";  // exit(2)\n  (void)s;\n  std::exit(3);\n}\n')
        answer = run("source_rules.py", self.root)
        self.assertIn("core/base/planted.cpp:4", answer.stdout)
        self.assertNotIn("planted.cpp:2", answer.stdout)
        self.assertEqual(answer.returncode, 1)

    def test_iostream_in_core_is_refused(self):
        self.plant("core/base/planted.cpp", "#include <iostream>\n")
        self.assert_refused("source_rules.py", "core/base/planted.cpp:1")

    def test_cmake_refuses_an_upward_dependency_when_it_configures(self):
        path = self.root / "core/base/CMakeLists.txt"
        path.write_text(path.read_text().replace("vouchfs_module(base", "vouchfs_module(base DEPENDS seal", 1))
        answer = subprocess.run(["cmake", "-S", self.root, "-B", self.root / "build", "-DBUILD_TESTING=OFF", "-DVOUCHFS_BUILD_FUSE=OFF"], capture_output=True, text=True)
        self.assertNotEqual(answer.returncode, 0)
        self.assertIn("layers: base (rank 0) may not use seal (rank 3)", " ".join(answer.stderr.split()))


class PlantedFiles(unittest.TestCase):
    def check(self, name, data, word, mode=0o644):
        with tempfile.TemporaryDirectory(prefix="vouchfs-lint-") as folder:
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod(mode)
            for command in (["init", "-q"], ["add", "-Af"]):
                subprocess.run(["git", "-C", folder, *command], check=True)
            answer = run("tracked_files.py", pathlib.Path(folder))
            self.assertEqual(answer.returncode, 1 if word else 0, answer.stdout + answer.stderr)
            self.assertIn(word or "in order", answer.stdout)

    def test_an_ordinary_file_passes(self):
        self.check("a.cpp", b"int main() {}\n", None)

    def test_a_large_file_is_refused(self):
        self.check("model.bin", bytes(200_000), "200000 bytes")

    def test_a_build_output_is_refused(self):
        self.check("x/build/a.txt", b"x", "generated")

    def test_a_home_folder_is_refused(self):
        self.check("a.md", b"see /" + b"root/secret\n", "a.md:1")

    def test_a_script_without_the_bit_is_refused(self):
        self.check("run", b"#!/bin/sh\n", "not executable")


if __name__ == "__main__":
    unittest.main(verbosity=2)
