"""Files that a mount shows mended (`ingest --fix`): bytes, digests, exact pages, events, and what stays as it was."""
import hashlib
import json
import os
import struct

import models
import mounts

MARK = b"\xef\xbb\xbf"
SHARD = "model.safetensors"
PAGE = mounts.BLOCK


class MendedCase(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.model = self.new_folder("model")
        self.file = os.path.join(self.model, SHARD)
        self.rows = models.write_safetensors(self.file, [("a", "F32", (9000,)), ("b", "F16", (5, 7)), ("c", "BF16", (20000,))], seed=3)
        self.good = mounts.read_file(self.file)

    def put(self, name, data):
        mounts.write_file(os.path.join(self.model, name), data)

    def reference(self, data, name="reference"):
        mounts.write_file(self.path(name), data)
        return self.path(name)

    def split(self, data):
        """(header, offset of the data) of a safetensors file, by struct and json."""
        length, = struct.unpack("<Q", data[:8])
        return json.loads(data[8:8 + length]), 8 + length

    def with_format(self):
        """What the file must be when its format is added: by the words of docs, not by the seal."""
        header, offset = self.split(self.good)
        entry = b'"__metadata__":{"format":"pt"},'
        return struct.pack("<Q", offset - 8 + PAGE) + b"{" + entry + b" " * (PAGE - len(entry)) + self.good[9:]

    def check_described(self, mount, name, data):
        """Size, bytes, digests and attributes in the mount are those of `data`, by independent tools."""
        path, reference = mount / name, self.reference(data)
        self.assertEqual(os.stat(path).st_size, len(data))
        self.assertEqual(mounts.read_file(path), data)
        digest = mounts.verity_digest(reference)
        self.assertEqual(mounts.run("fsverity", "measure", path).stdout.split()[0], "sha256:" + digest)
        self.assertEqual(os.getxattr(path, "user.vouch.fsverity").decode(), "sha256:" + digest)
        self.assertEqual(os.getxattr(path, "user.vouch.sha256").decode(), hashlib.sha256(data).hexdigest())
        self.assertEqual(mounts.vouchfs_ok("digest", path).stdout.split()[0], "sha256:" + digest)
        row, = [f for f in json.loads(mounts.read_file(mount / "index.json"))["metadata"]["vouchfs"]["files"] if f["path"] == name]
        on_disk = os.path.join(self.model, name)
        self.assertEqual((row["size"], row["fsverity"], row["sha256"]), (len(data), digest, hashlib.sha256(data).hexdigest()))
        self.assertEqual((row["sealed"]["size"], row["sealed"]["fsverity"]), (os.path.getsize(on_disk), mounts.verity_digest(on_disk)))


class TestFormatAdded(MendedCase):
    def test_every_tensor_is_as_it_was_and_the_header_says_pt(self):
        self.ingest(self.model, "--fix=format")
        with self.mount(self.model) as mount:
            shown = mounts.read_file(mount / SHARD)
            header, offset = self.split(shown)
            self.assertEqual(header.pop("__metadata__"), {"format": "pt"})
            self.assertEqual(header, self.split(self.good)[0])
            self.assertEqual(offset % 8, 0)
            for name, row in header.items():
                begin, end = (offset + at for at in row["data_offsets"])
                self.assertEqual(shown[begin:end], self.good[self.rows[name][2]:self.rows[name][3]], name)

    def test_size_digests_and_attributes_are_those_of_what_is_shown(self):
        self.ingest(self.model, "--fix=format")
        with self.mount(self.model) as mount:
            self.check_described(mount, SHARD, self.with_format())
        self.assertEqual(mounts.read_file(self.file), self.good, "the file on disk")

    def test_a_corrupt_block_fails_exactly_the_page_in_step_with_it_and_names_block_and_tensors_of_the_file(self):
        self.ingest(self.model, "--fix=format")
        reference = self.reference(self.with_format())
        for block in (0, 3, 7, len(self.good) // PAGE):
            mounts.write_file(self.file, self.good)
            mounts.damage_block(self.file, block)
            pages = {0, 1} if block == 0 else {block + 1}
            with self.mount(self.model, "--on-known-bad=serve") as mount:
                for mode in mounts.MODES:
                    if mode != "direct":  # one large request over a bad page may fail whole: see SEMANTICS
                        self.assert_pages(mount / SHARD, reference, mode, bad=pages)
                event, = {json.dumps([e["file"], e["block"], e["offset"], sorted(e["tensors"])]) for e in mount.events("corrupt_block")}
                self.assertEqual(json.loads(event), [SHARD, block, block * PAGE, models.tensors_cut(self.rows, block * PAGE, PAGE)])

    def test_verify_and_ls_speak_of_the_file_on_disk(self):
        self.ingest(self.model, "--fix=format")
        listed = {r["name"]: (r["offset"], r["bytes"]) for r in models.records(mounts.vouchfs_ok("ls", self.model, "--json").stdout, "tensor")}
        self.assertEqual(listed, {name: (begin, end - begin) for name, (_, _, begin, end) in self.rows.items()})
        mounts.vouchfs_ok("verify", self.model)
        mounts.damage_block(self.file, 4)
        done = mounts.vouchfs("verify", self.model, "--json")
        self.assertEqual(done.returncode, 3)
        record, = models.records(done.stdout, "corrupt")
        self.assertEqual((record["file"], record["block"], record["tensors"]), (SHARD, 4, ["a"]))

    def test_a_header_that_has_a_format_is_shown_as_it_is(self):
        models.write_safetensors(self.file, [("a", "F32", (9000,))], metadata={"format": "mlx"})
        self.ingest(self.model, "--fix=format")
        with self.mount(self.model) as mount:
            self.assertEqual(mounts.read_file(mount / SHARD), mounts.read_file(self.file))

    def test_other_metadata_stay(self):
        models.write_safetensors(self.file, [("a", "F32", (9000,))], metadata={"who": "me"})
        self.ingest(self.model, "--fix=format")
        with self.mount(self.model) as mount:
            self.assertEqual(self.split(mounts.read_file(mount / SHARD))[0]["__metadata__"], {"format": "pt", "who": "me"})

    def test_nothing_is_mended_unless_asked_for_and_the_digest_tells(self):
        self.ingest(self.model)
        plain = mounts.vouchfs_ok("digest", self.model).stdout.split()[0]
        with self.mount(self.model) as mount:
            self.assertEqual(mounts.read_file(mount / SHARD), self.good)
        self.ingest(self.model, "--fix=format")
        mended = mounts.vouchfs_ok("digest", self.model).stdout.split()[0]
        self.assertNotEqual(plain, mended)
        with self.mount(self.model, "--digest", plain, expect=5):
            pass
        with self.mount(self.model, "--digest", mended) as mount:
            self.assertEqual(mounts.read_file(mount / SHARD), self.with_format())


class TestByteOrderMarkLeftOut(MendedCase):
    def setUp(self):
        super().setUp()
        mounts.write_file(self.file, MARK + self.good)
        self.put("config.json", MARK + b'{"model_type": "bert"}')
        self.put("vocab.txt", MARK + b"stays")

    def test_the_publishers_bytes_come_out(self):
        self.ingest(self.model, "--fix", "bom")
        with self.mount(self.model) as mount:
            self.check_described(mount, SHARD, self.good)
            self.check_described(mount, "config.json", b'{"model_type": "bert"}')
            self.assertEqual(mounts.read_file(mount / "vocab.txt"), MARK + b"stays")
            self.assertEqual(json.loads(mounts.read_file(mount / "index.json"))["weight_map"], dict.fromkeys("abc", SHARD))

    def test_without_the_fix_it_is_broken_as_before(self):
        done = mounts.vouchfs_ok("ingest", self.model)
        self.assertIn("HeaderTooLarge", done.stderr)
        with self.mount(self.model) as mount:
            self.assertEqual(mounts.read_file(mount / SHARD), MARK + self.good)
            self.assertEqual(mounts.read_file(mount / "config.json")[:3], MARK)
            self.assertEqual(json.loads(mounts.read_file(mount / "index.json"))["weight_map"], {})

    def test_a_corrupt_block_fails_the_two_pages_its_bytes_fall_into(self):
        self.ingest(self.model, "--fix=bom")
        reference = self.reference(self.good)
        mounts.damage_block(self.file, 5)
        with self.mount(self.model, "--on-known-bad=serve") as mount:
            for mode in ("read", "edge", "shared", "private"):
                self.assert_pages(mount / SHARD, reference, mode, bad={4, 5})
            self.assertEqual({e["block"] for e in mount.events("corrupt_block")}, {5})

    def test_with_both_fixes_it_is_the_file_with_its_format(self):
        self.ingest(self.model, "--fix=bom,format")
        wanted = self.with_format()
        with self.mount(self.model) as mount:
            self.assertEqual(mounts.read_file(mount / SHARD), wanted)
            for mode in mounts.MODES:
                self.assert_pages(mount / SHARD, self.reference(wanted), mode)

    def test_a_file_that_was_found_bad_is_refused_and_opens_again_when_put_right(self):
        self.ingest(self.model, "--fix=bom,format")
        mounts.damage_block(self.file, 5)
        with self.mount(self.model) as mount:
            self.assert_errno(5, lambda: mounts.read_file(mount / SHARD), "a read over the bad block")
            self.assert_errno(5, lambda: open(mount / SHARD, "rb").close(), "open of a file known to be bad")
            mounts.damage_block(self.file, 5)  # the same bit again: as it was
            self.assertTrue(mounts.wait_until(lambda: os.access(mount / SHARD, os.R_OK) and self.opens(mount / SHARD)))
            self.assertEqual(mounts.read_file(mount / SHARD), self.with_format())

    def opens(self, path):
        try:
            open(path, "rb").close()
            return True
        except OSError:
            return False


if __name__ == "__main__":
    mounts.main()
