"""The scenarios of the fs-verity tests of xfstests, through the mount: 574 (small files block by block, the tail behind the end of the file,
sparse files, tree damage) and 579 (readers, mappings and corruption at once)."""
import os
import threading

import mounts
from mounts import BLOCK, MODES


class ScenarioCase(mounts.MountCase):
    def sealed(self, files):
        """files: {name: bytes}. Returns (model, good)."""
        model = self.new_folder("model")
        for name, data in files.items():
            mounts.write_file(os.path.join(model, name), data)
        return model, self.seal_and_keep(model)


class TestSmallFilesBlockByBlock(ScenarioCase):
    """Files of 1 to 4 blocks, full and partial; each block corrupted in turn, at its first, a middle and its last byte."""

    def sizes(self):
        return [blocks * BLOCK - less for blocks in (1, 2, 3, 4) for less in (0, 1, 2048, BLOCK - 1)]

    def test_each_block_of_each_size(self):
        files, hurt = {}, {}
        for size in self.sizes():
            for block in range((size + BLOCK - 1) // BLOCK):
                end = min(size, (block + 1) * BLOCK)
                for spot, offset in {"first": block * BLOCK, "middle": (block * BLOCK + end) // 2, "last": end - 1}.items():
                    name = "s%05d-b%d-%s" % (size, block, spot)
                    files[name], hurt[name] = mounts.noise(size, name), (block, offset)
        model, good = self.sealed(files)
        for name, (block, offset) in hurt.items():
            mounts.flip(os.path.join(model, name), offset, 0x10)
        for mode in MODES:
            with self.mount(model, "--on-known-bad=serve") as mount:
                for name, (block, _) in hurt.items():
                    with self.subTest(file=name, mode=mode):
                        self.assert_pages(mount / name, os.path.join(good, name), mode, {block})
                self.assertEqual(len(mount.events("corrupt_block")), len(hurt))

    def test_empty_files_open_and_read_empty(self):
        model, _ = self.sealed({"empty": b"", "other": b"x"})
        with self.mount(model) as mount:
            self.assertEqual(mounts.read_file(mount / "empty"), b"")
            mounts.write_file(os.path.join(model, "empty"), b"now it has bytes past its sealed size")
            self.assertEqual(mounts.read_file(mount / "empty"), b"")


class TestTailBehindTheEnd(ScenarioCase):
    """Bytes behind the end of the file in its last page must reach a mapping as zeros, whatever the source has there."""

    def test_grown_source_leaves_zeros_behind_the_end(self):
        size = 3 * BLOCK + 1234
        model, good = self.sealed({"f": mounts.noise(size, 1)})
        with open(os.path.join(model, "f"), "ab") as file:
            file.write(b"\xff" * 2 * BLOCK)
        with self.mount(model) as mount:
            for mode in MODES:  # the probe looks at the rest of the mapped page itself
                self.assert_pages(mount / "f", os.path.join(good, "f"), mode)
            fd = os.open(mount / "f", os.O_RDONLY)
            self.assertEqual(os.pread(fd, BLOCK, size), b"")
            self.assertEqual(len(os.pread(fd, BLOCK, size - 10)), 10)
            os.close(fd)

    def test_last_byte_of_a_partial_block(self):
        model, good = self.sealed({"f": mounts.noise(2 * BLOCK + 1, 2)})
        mounts.flip(os.path.join(model, "f"), 2 * BLOCK)
        for mode in MODES:
            with self.mount(model, "--on-known-bad=serve") as mount:
                self.assert_pages(mount / "f", os.path.join(good, "f"), mode, {2})


class TestSparseFiles(ScenarioCase):
    SIZE = 3 * 1024 * 1024 + 17

    def sparse(self):
        model = self.new_folder("model")
        path = os.path.join(model, "sparse")
        with open(path, "wb") as file:
            file.truncate(self.SIZE)
            for offset in (0, 70 * BLOCK, 300 * BLOCK + 5, self.SIZE - 100):
                file.seek(offset)
                file.write(mounts.noise(100, offset))
        return model, path, self.seal_and_keep(model)

    def test_holes_read_as_zeros_and_damage_in_a_hole_fails(self):
        model, path, good = self.sparse()
        bad = {10, 299, 500}
        for block in bad:
            mounts.patch(path, block * BLOCK + 77, b"\1")
        with self.mount(model, "--on-known-bad=serve") as mount:
            for mode in MODES:
                self.assert_pages(mount / "sparse", os.path.join(good, "sparse"), mode, bad)

    def test_punching_what_is_zero_already_changes_nothing(self):
        model, path, good = self.sparse()
        mounts.patch(path, 100 * BLOCK, bytes(50 * BLOCK))  # the same bytes, now allocated
        mounts.punch(path, 120 * BLOCK, 10 * BLOCK)
        with self.mount(model) as mount:
            for mode in MODES:
                self.assert_pages(mount / "sparse", os.path.join(good, "sparse"), mode)

    def test_punching_data_fails_its_blocks(self):
        model, path, good = self.sparse()
        mounts.punch(path, 70 * BLOCK, BLOCK)
        with self.mount(model, "--on-known-bad=serve") as mount:
            for mode in MODES:
                self.assert_pages(mount / "sparse", os.path.join(good, "sparse"), mode, {70})


class TestConcurrentReadersAndCorruption(ScenarioCase):
    """A storm of readers of every kind while the file is damaged and put right again and again. Afterwards every byte is right."""

    SIZE = 8 * 1024 * 1024 + 321

    def test_no_wrong_byte_in_the_storm(self):
        model, good = self.sealed({"f": mounts.noise(self.SIZE, 9)})
        path, reference = os.path.join(model, "f"), os.path.join(good, "f")
        stop = threading.Event()

        def corrupt():
            block = 0
            while not stop.is_set():
                block = (block * 5 + 13) % (self.SIZE // BLOCK)
                mounts.damage_block(path, block, block % 4)
                with open(reference, "rb") as file:
                    mounts.patch(path, block * BLOCK, os.pread(file.fileno(), BLOCK, block * BLOCK))
        with self.mount(model, "--on-known-bad=serve") as mount:
            corrupter = threading.Thread(target=corrupt)
            corrupter.start()
            try:
                done = mounts.run(mounts.helper("page_storm"), mount / "f", reference, 12, 400, 7, "any", timeout=120)
            finally:
                stop.set()
                corrupter.join()
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertTrue(mounts.wait_until(lambda: not self.probe.pages(mount / "f", reference, "read").bad, 20))
            for mode in MODES:
                self.assert_pages(mount / "f", reference, mode)


if __name__ == "__main__":
    mounts.main()
