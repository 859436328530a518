"""An EIO of any weight format names the tensors that the bad bytes cut: GGUF, torch zip, legacy torch, safetensors."""
import os

import models
import mounts
import weight_samples

EIO = 5


class EventsCase(mounts.MountCase):
    def check(self, write):
        """write(path of the model) -> (file, {name: (dtype, shape, begin, end)}). One block in the middle of the data, and the last one."""
        model = self.new_folder("model")
        file, rows = write(model)
        path = os.path.join(model, file)
        self.seal_and_keep(model)
        begin, end = min(row[2] for row in rows.values()), max(row[3] for row in rows.values())
        bad = sorted({begin // 4096 + 1, (begin + end) // 2 // 4096, (end - 1) // 4096})
        for block in bad:
            mounts.damage_block(path, block)
        with self.mount(model, "--on-known-bad=serve") as mount:
            with open(mount / file, "rb", buffering=0) as reader:
                for block in bad:
                    self.assert_errno(EIO, lambda at=block * 4096: os.pread(reader.fileno(), 4096, at), "block %d" % block)
            events = mount.events("corrupt_block", file)
            self.assertEqual({event["block"]: sorted(event["tensors"]) for event in events}, {block: models.tensors_cut(rows, block * 4096, 4096) for block in bad})
            for event in events:
                self.assertTrue(event["tensors"])
            known = {bad["block"]: sorted(bad["tensors"]) for bad in mount.status()["models"][0]["known_bad"]}
            self.assertEqual(known, {event["block"]: sorted(event["tensors"]) for event in events})


class TestEventsNameTensorsOfGguf(EventsCase):
    def test_an_unreadable_block(self):
        self.check(lambda model: ("model-Q4_K.gguf", weight_samples.write_gguf(model + "/model-Q4_K.gguf")))


class TestEventsNameTensorsOfTorchFiles(EventsCase):
    def test_an_unreadable_block_of_the_zip_form(self):
        self.check(lambda model: ("pytorch_model.bin", weight_samples.write_torch(model + "/pytorch_model.bin")))

    def test_an_unreadable_block_of_the_legacy_form(self):
        self.check(lambda model: ("old.pth", weight_samples.write_torch(model + "/old.pth", legacy=True)))


class TestEventsNameTensorsOfSafetensors(EventsCase):
    def test_an_unreadable_block(self):
        self.check(lambda model: ("model.safetensors", models.write_safetensors(model + "/model.safetensors", [("a", "F32", (3000,)), ("b", "I8", (20_000,))])))


if __name__ == "__main__":
    mounts.main()
