"""What a person saw: doctor advised `vouchfs ingest --fix=bom` for a torch archive or a GGUF file behind a byte order mark; the mount then served the
mark all the same.
What was wrong: the advice was given for every format, but a view mends safetensors and JSON files alone (decision 0018).
Right since: of other formats doctor gives the command alone that takes the mark away.
"""
import os
import subprocess

import mounts
import torch_writer as writer

MARK = b"\xef\xbb\xbf"


class TestByteOrderMark(mounts.MountCase):
    def test_before_a_torch_archive_goes_by_the_command_that_doctor_prints(self):
        path = self.path("m/pytorch_model.bin")
        good = writer.zip_file({"a": writer.T("float32", (2, 3), bytes(range(24)))})
        mounts.write_file(path, MARK + good)
        done = mounts.vouchfs("doctor", self.path("m"))
        self.assertIn("error: content.bom", done.stdout)
        self.assertNotIn("--fix", done.stdout)
        self.assertIn("Unsupported operand 239", done.stdout)
        command = next(line.strip()[2:] for line in done.stdout.splitlines() if line.strip().startswith("$ "))
        subprocess.run(command, shell=True, check=True)
        os.replace(path + ".fixed", path)
        self.assertEqual(mounts.read_file(path), good)
        done = mounts.vouchfs("doctor", self.path("m"))
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    mounts.main()
