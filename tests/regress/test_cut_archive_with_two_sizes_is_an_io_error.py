"""What a person saw: of a cut torch file doctor said "file.io_error … the file ended while it was read", and sent them to the kernel log.
What was wrong: a record stored as it is, with one size packed and another unpacked, was read by the second when the archive had lost its
directory, and so past the end of the file. Seen by the fuzzer of torch files.
Right since: such a record is a broken local header, as it is in an archive that has its directory.
"""
import json
import os

import mounts
import torch_writer

PACKED_AT = 18  # in a local header: the packed size, then the other one


class TestCutArchiveWithTwoSizes(mounts.MountCase):
    def test_is_damage_of_the_file_and_not_of_the_disk(self):
        folder = self.new_folder("model")
        whole = torch_writer.zip_file({"a": torch_writer.T("float32", (2, 3), bytes(24))})
        sizes = (1).to_bytes(4, "little") + (1 << 24).to_bytes(4, "little")
        mounts.write_file(os.path.join(folder, "pytorch_model.bin"), whole[:PACKED_AT] + sizes + whole[PACKED_AT + 8 : -1])
        done = mounts.vouchfs("doctor", "--json", folder)
        codes = [record["code"] for record in map(json.loads, done.stdout.splitlines()) if "code" in record]
        self.assertEqual((done.returncode, codes), (3, ["torch.truncated"]))


if __name__ == "__main__":
    mounts.main()
