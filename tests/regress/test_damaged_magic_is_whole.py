"""What a person saw: a pytorch_model.bin of the legacy form with one bit of its first bytes flipped, with its line feeds turned into CRLF or cut after
13 bytes was "whole", and so was an archive with a record marked as encrypted; torch.load refused each.
What was wrong: only the whole magic number made a legacy file one, and a pickle without it that names no code had nobody who judged it; an encrypted
record had the code of a compressed one, a warning.
Right since: what is left of the magic number, or the protocol number behind it, makes it a damaged torch file; a promised name makes any other pickle
an error; an encrypted record is a broken archive.
"""
import mounts
import torch_writer as writer

VALUE = {"a": writer.T("float32", (2, 3), bytes(range(24)))}
PLAIN = writer.legacy_file(VALUE).replace(b"J\xe9\x03\0\0.", b"M\xe9\x03.")  # the protocol number as torch writes it


def with_flipped(at):
    return PLAIN[:at] + bytes([PLAIN[at] ^ 0x40]) + PLAIN[at + 1:]


class TestDamagedMagic(mounts.MountCase):
    def doctor(self, name, body):
        mounts.write_file(self.path(name), body)
        return mounts.vouchfs("doctor", "--json", self.path(name))

    def test_is_an_error_under_every_name_of_torch(self):
        damaged = {"crlf": PLAIN.replace(b"\n", b"\r\n"), "cut": PLAIN[:13], "gone": PLAIN[:4] + b"\1" * 10 + PLAIN[14:]}
        damaged |= {"flipped %d" % at: with_flipped(at) for at in range(2, 15)}
        for name in ("pytorch_model.bin", "model.pt", "weights.pth", "any.bin"):
            for how, body in damaged.items():
                with self.subTest(name=name, how=how):
                    done = self.doctor(name, body)
                    self.assertNotEqual(done.returncode, 0, done.stdout)
                    self.assertIn('"severity":"error"', done.stdout)
            self.assertEqual(self.doctor(name, PLAIN).returncode, 0, name)

    def test_is_not_seen_in_pickles_of_other_programs(self):
        done = self.doctor("words.bin", b"\x80\x02}q\x00X\x01\x00\x00\x00aK\x01s.")
        self.assertEqual(done.returncode, 0, done.stdout)
        done = self.doctor("pytorch_model.bin", b"\x80\x02}q\x00X\x01\x00\x00\x00aK\x01s.")
        self.assertIn("content.other_format", done.stdout)


class TestEncryptedRecord(mounts.MountCase):
    def test_is_an_error(self):
        body = bytearray(writer.zip_file(VALUE))
        body[body.index(b"PK\1\2") + 8] |= 1
        mounts.write_file(self.path("model.pt"), bytes(body))
        done = mounts.vouchfs("doctor", "--json", self.path("model.pt"))
        self.assertIn("unsupported encryption", done.stdout)
        self.assertIn('"severity":"error"', done.stdout)


if __name__ == "__main__":
    mounts.main()
