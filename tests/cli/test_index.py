"""`vouchfs index`: the bytes a mount would show, and what is written beside the shards, or refused."""
import json
import os
import stat

import models
import mounts
from torch_writer import T, zip_file

INDEX = "model.safetensors.index.json"
BIN_INDEX = "pytorch_model.bin.index.json"


def bin_name(number, count=2):
    return "pytorch_model-%05d-of-%05d.bin" % (number, count)


class IndexCase(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.model = self.path("model")

    def index(self, *options, expect=0):
        done = mounts.vouchfs("index", self.model, *options)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def weight_map(self, rows):
        return {tensor: file for file, tensors in rows.items() for tensor in tensors}

    def put(self, name, text):
        mounts.write_file(os.path.join(self.model, name), text if isinstance(text, bytes) else text.encode())

    def get(self, name):
        return mounts.read_file(os.path.join(self.model, name))

    def as_mounted(self, name):
        self.ingest(self.model)
        with self.mount(self.model) as mount:
            return mounts.read_file(mount / name)

    def bins(self, folder="", count=2, present=None):
        """Shards of torch.save: 0.weight is tied to 0.tied. Returns {tensor: file}."""
        out = {}
        for i in range(1, count + 1):
            tensors = {"%d.weight" % i: T("float32", (50, 3), mounts.noise(600, i), key="0"), "%d.tied" % i: T("float32", (150,), mounts.noise(600, i), key="0"),
                       "%d.bias" % i: T("float16", (7,), mounts.noise(14, i))}
            out.update({tensor: bin_name(i, count) for tensor in tensors})
            if present is None or i in present:
                self.put(os.path.join(folder, bin_name(i, count)), zip_file(tensors))
        return out

    def names(self):
        return [name for name in models.names_below(self.model) if not name.startswith(".vouch")]


class TestPrinted(IndexCase):
    def test_a_missing_index_is_that_of_the_mount_before_and_after_the_seal(self):
        rows = models.write_model(self.model, shards=3)
        printed = self.index().stdout
        index = json.loads(printed)
        self.assertEqual(index["weight_map"], self.weight_map(rows))
        self.assertEqual(index["metadata"]["total_size"], 3 * 3 * 8000 * 4)
        self.assertEqual(self.as_mounted(INDEX).decode(), printed)
        self.assertEqual(self.index().stdout, printed, "from the seal")

    def test_of_bin_shards_it_is_that_of_the_mount_and_tied_tensors_count_once(self):
        weights = self.bins()
        printed = self.index().stdout
        self.assertEqual(json.loads(printed), {"metadata": {"total_size": 2 * 614}, "weight_map": weights})
        self.assertEqual(self.as_mounted(BIN_INDEX).decode(), printed)

    def test_a_right_index_is_the_publishers_bytes_sealed_or_not(self):
        models.write_model(self.model, index=True)
        self.put(INDEX, json.dumps(json.loads(self.get(INDEX)), indent=5) + "\n\n\n")
        self.assertEqual(self.index().stdout.encode(), self.get(INDEX))
        self.ingest(self.model)
        self.assertEqual(self.index().stdout.encode(), self.get(INDEX))
        mounts.damage_block(os.path.join(self.model, INDEX), 0)
        self.assertEqual(self.index(expect=3).stdout, "", "nothing that does not fit the seal is printed")

    def test_a_wrong_bin_index_is_corrected_as_the_mount_does(self):
        weights = self.bins()
        wrong = dict(weights, **{"1.bias": bin_name(2)})
        self.put(BIN_INDEX, json.dumps({"metadata": {"total_size": 2 * 614, "from": "them"}, "weight_map": wrong}))
        printed = self.index().stdout
        self.assertEqual(json.loads(printed), {"metadata": {"total_size": 2 * 614, "from": "them"}, "weight_map": weights})
        self.assertEqual(self.as_mounted(BIN_INDEX).decode(), printed)

    def test_json_holds_the_same_text_in_one_record(self):
        rows = models.write_model(self.model)
        text = self.index().stdout
        record, = models.records(self.index("--json").stdout)
        self.assertEqual(record, {"type": "index", "path": INDEX, "family": "safetensors", "state": "synthesized", "files": 2, "corrections": 0, "missing_files": [], "text": text})
        self.assertEqual(json.loads(record["text"])["weight_map"], self.weight_map(rows))

    def test_a_missing_shard_that_the_publisher_names_is_a_warning_and_one_that_nobody_names_refuses(self):
        models.write_model(self.model, shards=3, index=True)
        published = self.get(INDEX)
        os.remove(os.path.join(self.model, models.shard_name(2, 3)))
        done = self.index()
        self.assertEqual(done.stdout.encode(), published)
        self.assertIn(models.shard_name(2, 3) + " is missing", done.stderr)
        os.remove(os.path.join(self.model, INDEX))
        done = self.index(expect=4)
        self.assertEqual(done.stdout, "")
        self.assertIn(models.shard_name(2, 3), done.stderr)

    def test_indexes_of_weights_that_are_not_read_are_printed_as_they_are(self):
        for index, shard in (("tf_model.h5.index.json", "tf_model-00001-of-00002.h5"), ("flax_model.msgpack.index.json", "flax_model-00001-of-00002.msgpack")):
            self.put(shard, b"x")
            text = json.dumps({"metadata": {}, "weight_map": {"a": shard, "b": shard.replace("00001-", "00002-")}})
            self.put(index, text)
            done = self.index("--name", index)
            self.assertEqual(done.stdout, text)
            self.assertIn("00002-of-00002", done.stderr)


class TestChoice(IndexCase):
    def test_several_folders_must_be_chosen_from_and_the_message_names_them(self):
        for folder in ("unet", "vae"):
            models.write_model(os.path.join(self.model, folder))
        done = self.index(expect=2)
        self.assertIn("unet/" + INDEX, done.stderr)
        self.assertIn("vae/" + INDEX, done.stderr)
        for spelling in ("unet", "unet/", "./unet"):
            self.assertEqual(models.records(self.index("--folder", spelling, "--json").stdout)[0]["path"], "unet/" + INDEX)
        self.index("--folder", "nowhere", expect=10)
        self.index("--folder", ".", expect=10)

    def test_two_kinds_are_chosen_by_name(self):
        rows = models.write_model(self.model, index=True)
        weights = self.bins()
        self.put(BIN_INDEX, json.dumps({"metadata": {}, "weight_map": weights}))
        self.index(expect=2)
        self.assertEqual(json.loads(self.index("--name", INDEX).stdout)["weight_map"], self.weight_map(rows))
        self.assertEqual(json.loads(self.index("--name", BIN_INDEX).stdout)["weight_map"], weights)

    def test_a_single_file_gets_one_only_on_request(self):
        for name, index, family in (("model.safetensors", INDEX, "safetensors"), ("other.safetensors", INDEX, "safetensors"), ("pytorch_model.bin", BIN_INDEX, "torch")):
            self.model = self.new_folder("of-" + name)
            if family == "torch":
                self.put(name, zip_file({"w": T("float32", (3,), bytes(12))}))
            else:
                models.write_safetensors(os.path.join(self.model, name), [("w", "F32", (3,))])
            self.assertIn("--single", self.index(expect=10).stderr)
            record, = models.records(self.index("--single", "--json").stdout)
            self.assertEqual((record["path"], record["family"], record["state"]), (index, family, "single"))
            self.assertEqual(json.loads(record["text"]), {"metadata": {"total_size": 12}, "weight_map": {"w": name}})

    def test_what_has_no_index_says_why(self):
        self.new_folder("model")
        self.assertIn("no weights", self.index(expect=10).stderr)
        self.put("model.safetensors", b"version https://git-lfs.github.com/spec/v1\n")
        self.index("--single", expect=10)

    def test_a_tensor_in_two_files_or_a_broken_header_is_told(self):
        models.write_model(self.model)
        second = os.path.join(self.model, models.shard_name(2, 2))
        models.write_safetensors(second, [("layers.1.w0", "F32", (8000,))])
        self.assertIn("layers.1.w0", self.index(expect=3).stderr)
        mounts.patch(second, 0, b"\xff" * 8)
        self.assertIn(models.shard_name(2, 2), self.index(expect=3).stderr)


class TestWritten(IndexCase):
    def test_it_is_what_is_printed_whole_and_readable_and_the_only_new_file(self):
        self.bins()
        before = self.names()
        text = self.index().stdout
        os.umask(0o022)
        record, = models.records(self.index("--write", "--json").stdout)
        self.assertEqual((record["type"], record["path"], record["written"]), ("summary", BIN_INDEX, True))
        self.assertEqual(self.get(BIN_INDEX).decode(), text)
        self.assertEqual(sorted(self.names()), sorted(before + [BIN_INDEX]))
        self.assertEqual(stat.S_IMODE(os.stat(os.path.join(self.model, BIN_INDEX)).st_mode), 0o644)

    def test_a_second_run_finds_it_right_and_leaves_it(self):
        models.write_model(self.model)
        self.index("--write")
        before = os.stat(os.path.join(self.model, INDEX))
        record, = models.records(self.index("--write", "--json").stdout)
        self.assertEqual((record["state"], record["written"]), ("right", False))
        after = os.stat(os.path.join(self.model, INDEX))
        self.assertEqual((before.st_ino, before.st_mtime_ns), (after.st_ino, after.st_mtime_ns))
        self.assertTrue(models.records(self.index("--write", "--force", "--json").stdout)[0]["written"])
        self.assertEqual(self.names().count(INDEX + ".orig"), 1)

    def test_a_wrong_one_is_replaced_and_kept(self):
        models.write_model(self.model, index=True)
        wrong = json.loads(self.get(INDEX))
        wrong["weight_map"]["layers.1.w0"] = models.shard_name(2, 2)
        self.put(INDEX, json.dumps(wrong))
        text = self.index().stdout
        self.index("--write")
        self.assertEqual(self.get(INDEX).decode(), text)
        self.assertEqual(json.loads(self.get(INDEX + ".orig")), wrong)
        self.put(INDEX, json.dumps(wrong))
        self.assertIn(".orig", self.index("--write", expect=1).stderr)
        self.assertEqual(json.loads(self.get(INDEX)), wrong, "an original that cannot be kept is not thrown away")

    def test_a_foreign_file_stays_without_force(self):
        models.write_model(self.model)
        for content in (b"<html>", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", b""):
            self.put(INDEX, content)
            self.index("--write", expect=1)
            self.assertEqual(self.get(INDEX), content)
        self.index("--write", "--force")
        self.assertIn("weight_map", json.loads(self.get(INDEX)))
        os.remove(os.path.join(self.model, INDEX))
        os.mkdir(os.path.join(self.model, INDEX))
        self.index("--write", "--force", expect=1)

    def test_an_incomplete_model_gets_none_and_the_shard_is_named(self):
        weights = self.bins(count=3, present=(1, 3))
        before = self.names()
        for options in (("--write",), ("--write", "--force")):
            done = self.index(*options, expect=4)
            self.assertIn(bin_name(2, 3), done.stderr)
            self.assertEqual(self.names(), before)
        self.put(BIN_INDEX, json.dumps({"metadata": {}, "weight_map": dict(weights, **{"1.bias": bin_name(3, 3)})}))
        published = self.get(BIN_INDEX)
        self.assertIn(bin_name(2, 3), self.index("--write", "--force", expect=4).stderr)
        self.assertEqual(self.get(BIN_INDEX), published)

    def test_a_sealed_index_is_replaced_only_by_force_and_a_new_one_asks_for_a_new_seal(self):
        models.write_model(self.model, index=True)
        wrong = self.get(INDEX).replace(b'"total_size": 192000', b'"total_size": 1')
        self.put(INDEX, wrong)
        self.ingest(self.model)
        self.assertIn("sealed", self.index("--write", expect=1).stderr)
        self.assertEqual(self.get(INDEX), wrong)
        self.assertIn("ingest the model again", self.index("--write", "--force").stderr)
        self.assertEqual(self.get(INDEX + ".orig"), wrong)

    def test_where_nothing_can_be_written_nothing_is_left(self):
        models.write_model(self.model)
        os.chmod(self.model, 0o555)
        done = mounts.run(*mounts.AS_NOBODY, mounts.binary(), "index", self.model, "--write")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertEqual(sorted(self.names()), sorted(["config.json", models.shard_name(1, 2), models.shard_name(2, 2)]))


if __name__ == "__main__":
    mounts.main()
