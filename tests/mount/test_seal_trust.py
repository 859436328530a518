"""Edited manifests, tensor tables and pins: refused with exit 5 and nothing mounted, or EIO on exactly the files that no longer fit."""
import json
import os

import mounts

FILES = {"a.bin": 50_000, "b.bin": 4096, "c.bin": 9_000, "empty.bin": 0}


class SealCase(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.model = self.new_folder("model")
        for name, size in FILES.items():
            mounts.write_file(os.path.join(self.model, name), mounts.noise(size, name))
        mounts.safetensors(os.path.join(self.model, "model.safetensors"), {"w": 3000, "v": 10})
        self.good = self.seal_and_keep(self.model)
        self.seal = os.path.join(self.model, ".vouch")
        self.manifest = os.path.join(self.seal, "manifest.json")
        self.text = mounts.read_file(self.manifest)
        self.digest = "sha256:" + mounts.verity_digest(self.manifest).split(":")[-1]

    def table(self):
        return os.path.join(self.seal, "tables", mounts.manifest_of(self.seal)["tensors"]["fsverity"] + ".json")

    def rows(self):
        return {row["path"]: row for row in mounts.manifest_of(self.seal)["files"]}

    def refused(self, *options, expect=5):
        """Nothing mounted, no process left (the mount context looks), and a reason given."""
        with self.mount(self.model, *options, expect=expect) as mount:
            self.assertTrue(mount.done.stderr.strip(), "refused without a word")
            self.assertEqual(os.listdir(mount.path), [])

    def reads(self, mount, name, bad=()):
        self.assert_pages(mount / name, os.path.join(self.good, name), "read", bad)


class TestPinned(SealCase):
    def test_the_right_digest_mounts(self):
        with self.mount(self.model, "--digest", self.digest) as mount:
            for name in FILES:
                self.reads(mount, name)
            self.assertEqual(mount.status()["models"][0]["trust"], "pinned")
            self.assertIn(self.digest[7:], mounts.read_file(mount / ".vouch/digest").decode())

    def test_edited_manifests_are_refused(self):
        hexes = self.rows()["a.bin"]["fsverity"]
        edits = {
            "one digit of a digest": self.text.replace(hexes.encode(), (hexes[:-1] + ("0" if hexes[-1] != "0" else "1")).encode()),
            "a blank at the end": self.text + b" ",
            "last newline gone": self.text[:-1],
            "half of it": self.text[:len(self.text) // 2],
            "empty": b"",
            "no JSON": b"{" * 300,
            "a file less": json.dumps({**json.loads(self.text), "files": json.loads(self.text)["files"][1:]}).encode(),
        }
        for what, text in edits.items():
            with self.subTest(edit=what):
                self.assertNotEqual(text, self.text)
                mounts.write_file(self.manifest, text)
                self.refused("--digest", self.digest)

    def test_another_digest_is_refused(self):
        self.refused("--digest", self.digest[:-1] + ("0" if self.digest[-1] != "0" else "1"))

    def test_a_malformed_digest_is_a_usage_error(self):
        for text in ("sha256:12", self.digest[:-1], self.digest[7:-1] + "g", "md5:" + "0" * 64, ""):
            with self.subTest(digest=text):
                self.refused("--digest", text, expect=2)


class TestUnpinned(SealCase):
    def edit(self, change):
        manifest = json.loads(self.text)
        change({row["path"]: row for row in manifest["files"]})
        mounts.write_file(self.manifest, json.dumps(manifest, sort_keys=True).encode() + b"\n")

    def test_trust_is_said_to_be_as_mounted(self):
        with self.mount(self.model) as mount:
            self.assertEqual(mount.status()["models"][0]["trust"], "as-mounted")

    def test_other_whitespace_mounts_and_fits(self):
        mounts.write_file(self.manifest, json.dumps(json.loads(self.text), indent=7).encode())
        with self.mount(self.model) as mount:
            for name in FILES:
                self.reads(mount, name)

    def test_a_file_with_another_digest_fails_whole_and_alone(self):
        for name in ("a.bin", "b.bin", "c.bin"):
            with self.subTest(file=name):
                def other_digest(rows):
                    # Its tree under the new name, so that it is the root that does not fit, not the tree that is lost.
                    old = rows[name]["fsverity"]
                    rows[name]["fsverity"] = old[:-1] + ("0" if old[-1] != "0" else "1")
                    tree = os.path.join(self.seal, "trees", old + ".tree")
                    if os.path.exists(tree):
                        mounts.write_file(os.path.join(self.seal, "trees", rows[name]["fsverity"] + ".tree"), mounts.read_file(tree))
                self.edit(other_digest)
                with self.mount(self.model, "--on-known-bad=serve") as mount:
                    for other, size in FILES.items():
                        self.reads(mount, other, range((size + 4095) // 4096) if other == name else ())

    def test_a_file_with_another_size_gives_no_wrong_byte(self):
        for size in (49_999, 50_001, 40_960, 90_000):
            with self.subTest(size=size):
                self.edit(lambda rows: rows["a.bin"].update(size=size))
                with self.mount(self.model, "--on-known-bad=serve") as mount:
                    fd = os.open(mount / "a.bin", os.O_RDONLY)
                    for page in range((size + 4095) // 4096):
                        self.assert_errno(5, lambda: os.pread(fd, 4096, page * 4096), "page %d of a file with a forged size" % page)
                    os.close(fd)
                    self.reads(mount, "c.bin")

    def test_a_file_that_is_not_there_fails_alone(self):
        def rename(rows):
            rows["a.bin"]["path"] = "a0.bin"
        self.edit(rename)
        with self.mount(self.model, "--on-known-bad=serve") as mount:
            self.assertNotIn("a.bin", os.listdir(mount.path))
            self.assert_errno(5, lambda: mounts.read_file(mount / "a0.bin"), "a file of the manifest that is not in the model")
            self.reads(mount, "c.bin")

    def test_unsafe_manifests_are_refused(self):
        def at(path):
            return lambda rows: rows["a.bin"].update(path=path)
        for what, change in {"up": at("../a.bin"), "absolute": at("/etc/passwd"), "twice": at("b.bin"), "negative": lambda rows: rows["a.bin"].update(size=-1),
                             "float": lambda rows: rows["a.bin"].update(size=50000.0), "huge": lambda rows: rows["a.bin"].update(size=1 << 63)}.items():
            with self.subTest(edit=what):
                self.edit(change)
                mnt = self.new_folder("mnt-" + what)
                done = mounts.vouchfs("mount", self.model, mnt)
                self.assertNotEqual(done.returncode, 0)
                self.assertFalse(mounts.is_mounted(mnt))
                self.assertIn("manifest", done.stderr)


class TestTensorTable(SealCase):
    def check(self, change):
        path, text = self.table(), mounts.read_file(self.table())
        mounts.write_file(path, change(text))
        self.refused()
        self.refused("--digest", self.digest)

    def test_one_byte_changed(self):
        self.check(lambda text: text.replace(b'"w"', b'"x"', 1))

    def test_cut(self):
        self.check(lambda text: text[:-2])

    def test_empty(self):
        self.check(lambda text: b"")

    def test_a_blank_added(self):
        self.check(lambda text: text + b" ")

    def test_lost(self):
        os.unlink(self.table())
        done = mounts.vouchfs("mount", self.model, self.new_folder("lost-mnt"))
        self.assertNotEqual(done.returncode, 0)
        self.assertFalse(mounts.is_mounted(self.path("lost-mnt")))


if __name__ == "__main__":
    mounts.main()
