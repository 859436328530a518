"""ingest, ls, verify and index.json over models in every weight format: safetensors, GGUF, and both forms of torch.save."""
import json
import os
import shutil

import gguf_writer
import models
import mounts
import torch_writer
import weight_samples


class FormatsCase(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.model = self.path("model")

    def table(self, model=None):
        text = mounts.read_file(os.path.join(model or self.model, ".vouch/manifest.json"))
        digest = json.loads(text)["tensors"]["fsverity"]
        return json.loads(mounts.read_file(os.path.join(model or self.model, ".vouch/tables", digest + ".json")))

    def ls(self):
        return models.records(mounts.vouchfs_ok("ls", self.model, "--json").stdout, "tensor")


class TestLsOfEveryFormat(FormatsCase):
    def test_rows_are_those_of_the_files_with_and_without_a_seal(self):
        rows = weight_samples.write_all(self.model)
        want = sorted((name, dtype, list(shape), file, begin, end - begin) for file, tensors in rows.items() for name, (dtype, shape, begin, end) in tensors.items())
        for sealed in (False, True):
            if sealed:
                self.ingest(self.model)
            self.assertEqual(sorted((r["name"], r["dtype"], r["shape"], r["file"], r["offset"], r["bytes"]) for r in self.ls()), want, "sealed" if sealed else "unsealed")

    def test_the_table_says_the_format_of_each_file(self):
        weight_samples.write_all(self.model)
        self.ingest(self.model)
        self.assertEqual({row["path"]: row["format"] for row in self.table()["files"]},
                         {"model.safetensors": "safetensors", "model-Q4_K.gguf": "gguf", "pytorch_model.bin": "torch", "old/legacy.pt": "torch"})

    def test_every_type_of_gguf(self):
        os.makedirs(self.model)
        tensors = [("t.%s" % name.lower(), name, (elements * 2, 3)) for name, (_, elements, _) in gguf_writer.TYPES.items()]
        places = gguf_writer.write(self.model + "/all.gguf", tensors)
        self.assertEqual({r["name"]: (r["dtype"], r["shape"], r["offset"], r["offset"] + r["bytes"]) for r in self.ls()}, places)

    def test_every_part_of_a_split(self):
        os.makedirs(self.model)
        rows = gguf_writer.write_split(self.model, "big-Q8_0", [[("a", "Q8_0", (32, 4))], [("b", "F32", (5,)), ("c", "I8", (3,))], []])
        self.assertEqual(sorted((r["file"], r["name"]) for r in self.ls()), sorted((file, name) for file, places in rows.items() for name in places))

    def test_files_of_a_torch_name_without_tensors_are_bytes_like_any_other(self):
        os.makedirs(self.model)
        for name, body in {"training_args.bin": torch_writer.zip_file({"lr": 0.5}), "raw.bin": mounts.noise(9000, 1), "page.bin": b"<!DOCTYPE html>", "empty.bin": b"",
                           "old.pt": torch_writer.legacy_file({"step": 3})}.items():
            mounts.write_file(self.model + "/" + name, body)
        done = mounts.vouchfs_ok("ingest", self.model)
        self.assertEqual(self.table()["files"], [])
        self.assertNotIn("header", done.stderr)


class TestBrokenFilesOfEveryFormat(FormatsCase):
    def setUp(self):
        super().setUp()
        self.rows = weight_samples.write_all(self.model)

    def test_a_cut_file_is_named_with_its_rule_and_the_rest_is_listed(self):
        rules = {"model.safetensors": "MetadataIncompleteBuffer", "model-Q4_K.gguf": "DataOutOfBounds", "pytorch_model.bin": "MissingCentralDirectory", "old/legacy.pt": "UnexpectedEnd"}
        for file, rule in rules.items():
            body = mounts.read_file(self.model + "/" + file)
            mounts.write_file(self.model + "/" + file, body[:-600])
            done = mounts.vouchfs_ok("ls", self.model, "--json")
            self.assertEqual({r["file"] for r in models.records(done.stdout, "tensor")}, set(self.rows) - {file})
            self.assertIn("%s: its header cannot be used: %s" % (file, rule), done.stderr)
            self.ingest(self.model)
            row = next(row for row in self.table()["files"] if row["path"] == file)
            self.assertEqual((row["problem"]["name"], row["tensors"]), (rule, []))
            shutil.rmtree(self.model + "/.vouch")
            mounts.write_file(self.model + "/" + file, body)

    def test_strict_refuses_a_broken_file_of_any_format(self):
        for file in self.rows:
            body = mounts.read_file(self.model + "/" + file)
            mounts.write_file(self.model + "/" + file, body[:-600])
            done = mounts.vouchfs("ingest", self.model, "--strict")
            self.assertEqual(done.returncode, 3, file)
            self.assertIn(file, done.stderr)
            mounts.write_file(self.model + "/" + file, body)
        mounts.vouchfs_ok("ingest", self.model, "--strict")


class TestVerifyNamesTensorsOfEveryFormat(FormatsCase):
    def test_each_damaged_block_with_exactly_the_tensors_it_cuts(self):
        rows = weight_samples.write_all(self.model)
        self.ingest(self.model)
        shutil.copytree(self.model, self.path("good"))
        for file, tensors in rows.items():
            blocks = (os.path.getsize(self.model + "/" + file) + 4095) // 4096
            for block in {0, 1, 5, blocks // 2, blocks - 1} & set(range(blocks)):
                mounts.damage_block(self.model + "/" + file, block)
                done = mounts.vouchfs("verify", self.model, "--json")
                self.assertEqual(done.returncode, 3, done.stderr)
                runs = models.records(done.stdout, "corrupt")
                self.assertEqual([(run["file"], run["block"], sorted(run["tensors"])) for run in runs],
                                 [(file, block, models.tensors_cut(tensors, block * 4096, 4096))])
                shutil.copyfile(self.path("good", file), self.model + "/" + file)


class TestDeterminismWithEveryFormat(FormatsCase):
    def test_the_same_files_give_the_same_seal_elsewhere_and_with_any_number_of_threads(self):
        weight_samples.write_all(self.model)
        digests = set()
        for jobs in ("1", "2", "7"):
            copy = self.path("copy-" + jobs)
            shutil.copytree(self.model, copy)
            self.ingest(copy, "--jobs", jobs)
            digests.add(mounts.vouchfs_ok("digest", copy).stdout.split()[0])
        self.assertEqual(len(digests), 1)


class TestRootIndexOfEveryFormat(FormatsCase):
    def index(self):
        self.ingest(self.model)
        with self.mount(self.model) as mount:
            return json.loads(mounts.read_file(mount / "index.json"))

    def test_every_tensor_has_its_file(self):
        rows = weight_samples.write_all(self.model)
        shutil.rmtree(self.model + "/old")
        del rows["old/legacy.pt"]
        index = self.index()
        self.assertEqual(index["weight_map"], {name: file for file, tensors in rows.items() for name in tensors})
        self.assertEqual(index["metadata"]["vouchfs"]["ambiguous"], {})
        # tied weights and views are counted once
        embed, tied = rows["pytorch_model.bin"]["embed"], rows["pytorch_model.bin"]["tied"]
        self.assertEqual(embed[2:], tied[2:])
        want = sum(end - begin for tensors in rows.values() for name, (_, _, begin, end) in tensors.items() if name not in ("tied", "view"))
        self.assertEqual(index["metadata"]["total_size"], want)

    def test_a_split_gguf(self):
        os.makedirs(self.model)
        rows = gguf_writer.write_split(self.model, "m", [[("a", "F32", (4,))], [("b", "Q4_0", (64,))]])
        self.assertEqual(self.index()["weight_map"], {name: file for file, tensors in rows.items() for name in tensors})

    def test_of_a_tensor_in_both_forms_the_safetensors_file_is_named(self):
        os.makedirs(self.model)
        models.write_safetensors(self.model + "/model.safetensors", [("embed", "F32", (150, 100)), ("layers.0.bias", "BF16", (15_000,))])
        weight_samples.write_torch(self.model + "/a.bin")  # sorts first
        index = self.index()
        self.assertEqual({name: index["weight_map"][name] for name in ("embed", "layers.0.bias", "tied", "view")},
                         {"embed": "model.safetensors", "layers.0.bias": "model.safetensors", "tied": "a.bin", "view": "a.bin"})
        self.assertEqual(index["metadata"]["vouchfs"]["ambiguous"], {})


if __name__ == "__main__":
    mounts.main()
