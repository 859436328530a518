#!/usr/bin/env python3
"""CONFIGURATION.md against the program: who wins, what a file may say, which variables there are."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from documents import DOCS, binary, run

PAGE = (DOCS / "CONFIGURATION.md").read_text()


class Configuration(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vouchfs-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "file"
        self.file.write_bytes(b"hello world\n")

    def digest(self, config=None, arguments=(), environment=None):
        """The algorithm that `vouchfs digest` used, or its exit code when it failed."""
        variables = {k: v for k, v in os.environ.items() if not k.startswith("VOUCHFS_")} | (environment or {})
        words = [binary(), "digest", str(self.file), *arguments]
        if config is not None:
            (self.folder / "config.toml").write_text(config)
            words += ["--config", str(self.folder / "config.toml")]
        done = subprocess.run(words, capture_output=True, text=True, timeout=30, env=variables)
        return done.stdout.split(":")[0] if done.returncode == 0 else done.returncode

    def test_the_file_loses_to_the_environment_and_that_to_the_command_line(self):
        file, variable = '[digest]\nhash-alg = "sha512"\n', {"VOUCHFS_HASH_ALG": "sha512"}
        self.assertEqual(self.digest(), "sha256")
        self.assertEqual(self.digest(file), "sha512")
        self.assertEqual(self.digest(file, environment={"VOUCHFS_HASH_ALG": "sha256"}), "sha256")
        self.assertEqual(self.digest(environment=variable), "sha512")
        self.assertEqual(self.digest(file, ["--hash-alg", "sha256"], variable), "sha256")
        self.assertEqual(self.digest(file, environment={"VOUCHFS_HASH_ALG": ""}), "sha512")

    def test_vouchfs_config_names_the_file(self):
        (self.folder / "other.toml").write_text('[digest]\nhash-alg = "sha512"\n')
        self.assertEqual(self.digest(environment={"VOUCHFS_CONFIG": str(self.folder / "other.toml")}), "sha512")

    def test_sections_of_other_commands_are_passed_over_and_a_key_at_the_top_holds_for_all(self):
        self.assertEqual(self.digest('[ingest]\njobs = 4\n'), "sha256")
        self.assertEqual(self.digest('hash-alg = "sha512"\n'), "sha512")

    def test_a_key_or_section_that_is_not_known_is_a_usage_error(self):
        self.assertEqual(self.digest('[digest]\nhash-algo = "sha512"\n'), 2)
        self.assertEqual(self.digest('hash-algo = "sha512"\n'), 2)
        self.assertEqual(self.digest('[digests]\nhash-alg = "sha512"\n'), 2)

    def test_the_example_of_the_page_is_accepted(self):
        example = re.search(r"^```toml\n(.*?)^```$", PAGE, re.M | re.S).group(1)
        self.assertEqual(self.digest(example), "sha256")

    def test_variables_of_the_page_are_variables_of_the_program(self):
        shown = set(re.findall(r"Env:(VOUCHFS_\w+)", "".join(run(c, "--help").stdout for c in ("ingest", "mount", "umount", "verify", "digest"))))
        named = set(re.findall(r"`(VOUCHFS_[A-Z_]+)`", PAGE)) - {"VOUCHFS_CONFIG", "VOUCHFS_HASH", "VOUCHFS_"}
        self.assertLessEqual(named, shown)
        self.assertGreaterEqual(len(named), 3)


if __name__ == "__main__":
    unittest.main()
