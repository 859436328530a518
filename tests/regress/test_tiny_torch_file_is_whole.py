"""What a person saw: a model.pt, model.pth, x.ckpt or model.bin of one to seven bytes, such as the first four of an archive, was "whole".
What was wrong: no file of under eight bytes was read as one of torch, and what nobody had read was no weight file that could be too short.
Right since: under a name of torch's a file of under eight bytes is as good as empty; of the many other files called .bin only what begins as an
archive is.
"""
import mounts


class TestTinyTorchFile(mounts.MountCase):
    def doctor(self, name, body):
        mounts.write_file(self.path(name), body)
        return mounts.vouchfs("doctor", "--json", self.path(name))

    def test_is_too_short_under_every_name_of_weights(self):
        for name in ("model.pt", "model.pth", "x.ckpt", "model.bin", "pytorch_model.bin", "model.safetensors", "model.gguf"):
            for body in (b"x", b"PK\3", b"PK\3\4", b"PK\3\4abc", b"\x80\2}.", b"\0\0\0\0"):
                with self.subTest(name=name, body=body):
                    done = self.doctor(name, body)
                    self.assertNotEqual(done.returncode, 0, done.stdout)
                    self.assertIn('"code":"file.empty"', done.stdout)

    def test_of_another_program_is_judged_when_it_begins_as_an_archive(self):
        self.assertIn('"code":"file.empty"', self.doctor("words.bin", b"PK\3\4ab").stdout)
        self.assertEqual(self.doctor("words.bin", b"words").returncode, 0)


if __name__ == "__main__":
    mounts.main()
