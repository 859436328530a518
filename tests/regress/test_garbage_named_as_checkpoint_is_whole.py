"""What a person saw: a model.pt, model.pth, x.ckpt or model.bin of zeros, of a server's answer or of a gzip archive was "whole", exit 0.
What was wrong: only the names that torch's own writers give promised weights; under the others a file that is nothing of torch's was not judged.
Right since: content that no writer gives to these names is told; .bin and .pth files of other programs stay unjudged.
"""
import gzip
import hashlib

import mounts

GZIP = gzip.compress(b"weights " * 400, mtime=0)
JSON = b'{"error": "Repository not found", "code": 404}\n'
UNKNOWN = b"\x93" + b"".join(hashlib.sha256(bytes([i])).digest() for i in range(64))


class TestGarbageNamedAsCheckpoint(mounts.MountCase):
    def doctor(self, name, body):
        mounts.write_file(self.path(name), body)
        return mounts.vouchfs("doctor", "--json", self.path(name))

    def test_is_an_error(self):
        bodies = {"zeros": bytes(4000), "gzip": GZIP, "json": JSON}
        codes = {"zeros": "file.never_written", "gzip": "content.other_format", "json": "content.error_text"}
        for name in ("model.pt", "model.pth", "x.ckpt", "model.bin"):
            for what, body in bodies.items():
                with self.subTest(name=name, what=what):
                    done = self.doctor(name, body)
                    self.assertNotEqual(done.returncode, 0, done.stdout)
                    self.assertIn(f'"code":"{codes[what]}"', done.stdout)

    def test_of_unknown_bytes_is_an_error_where_only_torch_uses_the_ending(self):
        for name in ("model.pt", "model.pth"):
            with self.subTest(name=name):
                self.assertIn('"code":"content.unknown"', self.doctor(name, UNKNOWN).stdout)

    def test_of_other_programs_is_left_alone(self):
        others = {"lid.bin": bytes.fromhex("ba162f4f0c000000") + UNKNOWN, "site.pth": b"/opt/packages\nimport site\n",
                  "model.bin": bytes.fromhex("0600000012") + b"\0WhisperSpec\0" + UNKNOWN, "tf.ckpt": UNKNOWN}
        for name, body in others.items():
            with self.subTest(name=name):
                done = self.doctor(name, body)
                self.assertEqual(done.returncode, 0, done.stdout)
                self.assertNotIn('"severity":"warning"', done.stdout)

    def test_of_data_beside_a_graph_may_begin_with_zeros(self):
        mounts.write_file(self.path("model.xml"), b'<?xml version="1.0"?>\n<net name="m" version="11"></net>\n')
        done = self.doctor("model.bin", bytes(8192) + UNKNOWN)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(mounts.vouchfs("doctor", self.path("")).returncode, 0)


if __name__ == "__main__":
    mounts.main()
