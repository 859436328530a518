#!/usr/bin/env python3
"""Every code that doctor knows is said by it in some test, and no test wants a code that it does not know."""
import json
import pathlib
import tempfile
import unittest

import mounts
from tiny_inputs import CASES

# Codes that need more than files: the test that shows each.
ELSEWHERE = {
    "hub.read_only": ("tiny_inputs_test.py", "test_R127_a_cache_that_cannot_be_written"),
    "mount.dead": ("mounts_test.py", "test_a_mount_whose_daemon_was_killed_is_named"),
    "mount.network": ("mounts_test.py", "test_a_model_on_another_fuse_mount_is_noted"),
    "file.io_error": ("mounts_test.py", "test_a_file_that_the_storage_fails_to_read_is_an_io_error"),
}


class Codes(unittest.TestCase):
    def known(self):
        return {json.loads(line)["code"] for line in mounts.vouchfs_ok("doctor", "--codes", "--json").stdout.splitlines()}

    def wanted(self):
        codes = set()
        for case in CASES:
            with tempfile.TemporaryDirectory(prefix="vouchfs-test-") as folder:
                codes |= {want.code for want in case.build(pathlib.Path(folder))}
        return codes

    def test_every_code_is_wanted_by_a_case_and_every_wanted_code_is_known(self):
        known, wanted = self.known(), self.wanted() | set(ELSEWHERE)
        self.assertEqual((known - wanted, wanted - known), (set(), set()))

    def test_what_is_shown_elsewhere_is_shown_there(self):
        for code, (file, name) in ELSEWHERE.items():
            with self.subTest(code=code):
                text = (pathlib.Path(__file__).parent / file).read_text()
                self.assertIn("def %s(" % name, text)
                self.assertIn(code, text)


if __name__ == "__main__":
    unittest.main()
