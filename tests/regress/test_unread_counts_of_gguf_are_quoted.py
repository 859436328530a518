"""What a person saw: of a GGUF file with an absurd number of tensors "and 0 keys", of one cut at byte 10 "the header of 0 tensors".
What was wrong: numbers that were never read were quoted as the zeros they began with; and 291 tensors were called absurd in a file cut at byte 50.
Right since: a number is quoted when it was read; a file that ends before both says that.
"""
import struct

import mounts


class TestUnreadCountsOfGguf(mounts.MountCase):
    def doctor(self, body):
        mounts.write_file(self.path("model.gguf"), body)
        return mounts.vouchfs("doctor", "--json", self.path("model.gguf")).stdout

    def test_are_not_quoted_beside_an_absurd_one(self):
        said = self.doctor(b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 3) + bytes(100))
        self.assertIn('"code":"gguf.absurd_count"', said)
        self.assertIn(f"claims {1 << 60} tensors, far more", said)
        self.assertNotIn("0 keys", said)

    def test_are_quoted_once_read(self):
        said = self.doctor(b"GGUF" + struct.pack("<IQQ", 3, 2, 1 << 60) + bytes(100))
        self.assertIn(f"claims 2 tensors and {1 << 60} keys", said)

    def test_are_said_to_be_cut_off(self):
        whole = b"GGUF" + struct.pack("<IQQ", 3, 2, 3)
        for end in (8, 10, 15, 20, 23):
            with self.subTest(end=end):
                said = self.doctor(whole[:end])
                self.assertIn('"code":"gguf.header_truncated"', said)
                self.assertIn("before the numbers of tensors and keys do", said)
                self.assertNotIn("0 tensors", said)

    def test_of_a_file_cut_early_are_no_cause(self):
        whole = b"GGUF" + struct.pack("<IQQ", 3, 291, 24) + struct.pack("<Q", 20) + b"general.architecture"
        for end in (24, 26, 50):
            with self.subTest(end=end):
                said = self.doctor(whole[:end])
                self.assertIn('"code":"gguf.header_truncated"', said)
                self.assertIn("291 tensors", said)


if __name__ == "__main__":
    mounts.main()
