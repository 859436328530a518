"""Mounts of models that lie in stores: an Ollama model under readable names, a snapshot of a Hugging Face cache as plain files."""
import errno
import json
import os
import stat

import gguf_writer
import models
import mounts
import stores


class TestOllamaModel(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.store = self.path("store")
        self.env = {**os.environ, "OLLAMA_MODELS": self.store}
        weights, self.places = gguf_writer.build([("blk.0.w", "F32", (64, 500)), ("blk.1.w", "F32", (64, 500))], seed=5)
        self.files = {"model.gguf": weights, "license": b"free\n", "license-2": b"as in beer\n", "params.json": b'{"stop":["<s>"]}', "template": b"{{ .Prompt }}",
                      "tensors/a.weight": mounts.noise(10000, 9), "config.json": b'{"model_format":"gguf"}'}
        self.layers = [("model", weights), ("license", b"free\n"), ("license", b"as in beer\n"), ("params", self.files["params.json"]), ("template", self.files["template"]),
                       ("tensor", self.files["tensors/a.weight"], "a.weight")]
        self.manifest = stores.ollama_model(self.store, "tiny:1b", self.layers)
        self.seal = self.store + "/.vouch/" + stores.HOST + "/tiny/1b"

    def vouchfs(self, *words, code=0):
        done = mounts.vouchfs(*words, env=self.env)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def assert_view(self, mount):
        for name, data in self.files.items():
            info = os.lstat(mount / name)
            self.assertTrue(stat.S_ISREG(info.st_mode), name)
            self.assertEqual(info.st_size, len(data), name)
            self.assertEqual(mounts.read_file(mount / name), data, name)
        shown = {name for name in models.names_below(mount.path) if not name.startswith(".vouch")}
        self.assertEqual(shown, set(self.files) | {"tensors", "index.json"})

    def test_is_served_under_readable_names(self):
        summary = models.records(self.vouchfs("ingest", "ollama:tiny:1b", "--json").stdout, "summary")[0]
        self.assertEqual((summary["publisher_ok"], summary["files"]), (len(self.files), len(self.files)))
        rows, _ = stores.provenance(self.seal)
        self.assertEqual(rows["model.gguf"], ("ok", [("ollama", "sha256:" + stores.sha256(self.files["model.gguf"]), "manifests/%s/tiny/1b" % stores.HOST)]))
        with self.mount("ollama:tiny:1b", env=self.env) as mount:
            self.assert_view(mount)
            self.assertEqual(json.loads(mounts.read_file(mount / ".vouch/status.json"))["models"][0]["name"], "tiny-1b")
            self.vouchfs("verify", mount.path)
            self.assertEqual(models.records(self.vouchfs("status", mount.path, "--json").stdout)[0]["models"][0]["layout"], "blobs")

    def test_bad_bytes_of_a_blob_are_an_error_of_the_file_that_names_its_tensors(self):
        self.vouchfs("ingest", "ollama:tiny:1b")
        begin, end = self.places["blk.1.w"][2:]
        block = (begin + end) // 2 // mounts.BLOCK
        mounts.damage_block(stores.blob_of(self.store, self.files["model.gguf"]), block)
        done = self.vouchfs("verify", "ollama:tiny:1b", "--json", code=3)
        self.assertEqual([(r["file"], r["block"], r["tensors"]) for r in models.records(done.stdout, "corrupt")], [("model.gguf", block, ["blk.1.w"])])
        good = self.path("good.gguf")
        mounts.write_file(good, self.files["model.gguf"])
        with self.mount("ollama:tiny:1b", env=self.env) as mount:
            with open(mount / "model.gguf", "rb") as file:
                self.assertEqual(os.pread(file.fileno(), 100, 0), self.files["model.gguf"][:100])
                with self.assertRaises(OSError) as caught:
                    os.pread(file.fileno(), 100, block * mounts.BLOCK)
                self.assertEqual(caught.exception.errno, errno.EIO)
            events = [json.loads(line) for line in mounts.read_file(mount / ".vouch/events.jsonl").splitlines()]
            corrupt = [event for event in events if event["event"] == "corrupt_block"][0]
            self.assertEqual((corrupt["file"], corrupt["block"], corrupt["tensors"], corrupt["model"]), ("model.gguf", block, ["blk.1.w"], "tiny-1b"))

    def test_the_seal_alone_says_where_bytes_lie(self):
        self.vouchfs("ingest", "ollama:tiny:1b")
        mounts.write_file(self.manifest, b"")  # an emptied manifest, as a full disk leaves it
        with self.mount("ollama:tiny:1b", env=self.env) as mount:
            self.assert_view(mount)
        os.unlink(self.manifest)
        with self.mount("ollama:tiny:1b", env=self.env) as mount:
            self.assert_view(mount)
        self.vouchfs("ingest", "ollama:tiny:1b", code=10)

    def test_blobs_with_a_colon_and_a_seal_elsewhere(self):
        old = self.path("old")
        self.env["OLLAMA_MODELS"] = old
        stores.ollama_model(old, "tiny", self.layers, separator=":")
        self.vouchfs("ingest", "ollama:tiny", "--seal", self.path("seal"))
        self.assertFalse(os.path.exists(old + "/.vouch"))
        with self.mount("ollama:tiny", "--seal", self.path("seal"), env=self.env) as mount:
            self.assert_view(mount)

    def test_a_blob_that_is_not_what_its_name_says_is_refused(self):
        blob = stores.blob_of(self.store, self.files["model.gguf"])
        mounts.flip(blob, 9000)
        error = self.vouchfs("ingest", "ollama:tiny:1b", code=5).stderr
        self.assertIn("%s: does not fit what the publisher left; the content of 'model.gguf': bytes changed" % blob, error)
        self.assertIn("sha256:" + stores.sha256(self.files["model.gguf"]), error)
        os.truncate(blob, 8000)
        self.assertIn("transfer stopped at byte 8000 of %d" % len(self.files["model.gguf"]), self.vouchfs("ingest", "ollama:tiny:1b", code=5).stderr)
        self.assertFalse(os.path.exists(self.seal + "/manifest.json"))
        os.unlink(blob)
        self.assertIn("model.gguf", self.vouchfs("ingest", "ollama:tiny:1b", code=4).stderr)

    def test_a_refused_model_leaves_no_folders_in_the_store(self):
        stores.ollama_model(self.store, "small", [("template", b"{{ .Prompt }}")])
        mounts.write_file(stores.blob_of(self.store, b"{{ .Prompt }}"), b"{{ .Prxmpt }}")
        self.vouchfs("ingest", "ollama:small", code=5)
        self.assertFalse(os.path.exists(self.store + "/.vouch"))

    def test_ls_and_digest_take_the_name_too(self):
        rows = models.records(self.vouchfs("ls", "ollama:tiny:1b", "--json").stdout, "tensor")
        self.assertEqual({(r["name"], r["file"], r["offset"]) for r in rows}, {(name, "model.gguf", place[2]) for name, place in self.places.items()})
        self.vouchfs("digest", "ollama:tiny:1b", code=10)
        self.vouchfs("ingest", "ollama:tiny:1b")
        self.assertEqual(models.records(self.vouchfs("ls", "ollama:tiny:1b", "--json").stdout, "tensor"), rows)
        self.assertEqual(self.vouchfs("digest", "ollama:tiny:1b").stdout.split()[0].split(":")[1], mounts.verity_digest(self.seal + "/manifest.json").split(":")[-1])

    def test_names_that_are_not_there(self):
        for name, code in (("ollama:other", 10), ("ollama:tiny", 10), ("ollama:../../etc/passwd", 2), ("ollama:", 2)):
            for command in ("ingest", "verify", "ls"):
                self.vouchfs(command, name, code=code)
            with self.mount(name, env=self.env, expect=code) as mount:
                self.assertEqual(os.listdir(mount.path), [])

    def test_a_layer_that_would_lead_out_of_the_model_is_refused(self):
        stores.ollama_model(self.store, "evil", [("json", b"x", "../../../etc/x")])
        self.assertIn("no path inside a model", self.vouchfs("ingest", "ollama:evil", code=3).stderr)


class TestSnapshot(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.rows = models.write_model(self.path("made"), shards=2)
        self.files = {name: mounts.read_file(self.path("made", name)) for name in os.listdir(self.path("made"))}
        self.files["sub/vocab.txt"] = mounts.noise(9000, 3)
        self.home, self.snapshot = stores.hf_cache(self.path("hub"), self.files)
        self.shard = models.shard_name(2, 2)

    def test_is_served_as_plain_files_by_any_of_its_names(self):
        mounts.vouchfs_ok("ingest", self.home)
        link = self.path("short-name")
        os.symlink(self.snapshot, link)
        for model, options in ((self.home, ()), (self.home, ("--revision", "main")), (self.home, ("-o", "revision=" + stores.COMMIT)), (self.snapshot, ()), (link, ())):
            with self.subTest(model=model, options=options), self.mount(model, *options) as mount:
                for name, data in self.files.items():
                    self.assertTrue(stat.S_ISREG(os.lstat(mount / name).st_mode), name)
                    self.assertEqual(mounts.read_file(mount / name), data, name)
                self.assertEqual(json.loads(mounts.read_file(mount / ".vouch/status.json"))["models"][0]["name"], "org--tiny")
                mounts.vouchfs_ok("verify", mount.path)

    def test_bad_bytes_behind_a_link_are_an_error_of_the_file(self):
        mounts.vouchfs_ok("ingest", self.home)
        mounts.damage_block(os.path.realpath(os.path.join(self.snapshot, self.shard)), 3)
        good = self.path("made", self.shard)
        with self.mount(self.home) as mount:
            self.assert_pages(mount / self.shard, good, "read", bad={3})
            event = json.loads(mounts.read_file(mount / ".vouch/events.jsonl").splitlines()[0])
            self.assertEqual((event["file"], event["block"], event["model"]), (self.shard, 3, "org--tiny"))
            self.assertEqual(event["tensors"], models.tensors_cut(self.rows[self.shard], 3 * mounts.BLOCK, mounts.BLOCK))

    def test_a_revision_without_a_seal_or_that_is_not_there(self):
        for options in ((), ("--revision", "v9")):
            with self.mount(self.home, *options, expect=10):
                pass


if __name__ == "__main__":
    mounts.main()
