#!/usr/bin/env python3
"""doctor on whole caches and stores: every model of them, what lies between the models, and files named from where the caller stands."""
import hashlib
import json
import os

import gguf_writer
import models
import mounts

COMMIT, OTHER = "c" * 40, "d" * 40


class StoreCase(mounts.MountCase):
    def doctor(self, *arguments, env=None, code=None):
        done = mounts.vouchfs("doctor", *arguments, "--json", env=env) if env else mounts.vouchfs("doctor", *arguments, "--json")
        records = models.records(done.stdout)
        summary = [r for r in records if r["type"] == "summary"]
        self.assertEqual(len(summary), 1, done.stdout + done.stderr)
        if code is not None:
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return [r for r in records if r["type"] == "finding"], summary[0]

    def said(self, findings):
        return [(f["severity"], f["code"], f["file"]) for f in findings]

    def put(self, path, content=b""):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)

    def weights(self, folder, name="model.safetensors"):
        os.makedirs(folder, exist_ok=True)
        models.write_safetensors(os.path.join(folder, name), [("a.weight", "F32", (64, 64))], metadata={"format": "pt"})
        with open(os.path.join(folder, name), "rb") as file:
            return file.read()


class HubCache(StoreCase):
    """Two models in one cache: `good`, and `late`, of which one file was not finished."""

    def setUp(self):
        super().setUp()
        self.hub = os.path.join(self.new_folder("home"), "hub")
        body = self.weights(self.new_folder("source"))
        digest = hashlib.sha256(body).hexdigest()
        for name in ("good", "late"):
            repo = os.path.join(self.hub, "models--org--" + name)
            snapshot = os.path.join(repo, "snapshots", COMMIT)
            os.makedirs(snapshot)
            self.put(os.path.join(repo, "blobs", digest), body)
            os.symlink("../../blobs/" + digest, os.path.join(snapshot, "model.safetensors"))
            self.put(os.path.join(repo, "refs", "main"), COMMIT.encode())
        self.late = os.path.join(self.hub, "models--org--late")
        os.rename(os.path.join(self.late, "blobs", digest), os.path.join(self.late, "blobs", digest + ".0a1b2c3d.incomplete"))
        os.truncate(os.path.join(self.late, "blobs", digest + ".0a1b2c3d.incomplete"), 1000)

    def test_a_whole_cache_is_judged_model_by_model(self):
        file = "models--org--late/snapshots/%s/model.safetensors" % COMMIT
        wanted = [("error", "link.dangling", file), ("note", "hub.incomplete_download", file)]
        findings, summary = self.doctor(self.hub, code=4)
        self.assertEqual(self.said(findings), wanted)
        self.assertEqual((summary["verdict"], summary["models"]), ("incomplete", 2))
        self.assertIn("1000", findings[1]["message"])
        self.assertIn("hf download org/late model.safetensors --revision " + COMMIT, findings[0]["command"])

    def test_the_home_of_the_cache_names_files_from_there(self):
        findings, _ = self.doctor(os.path.dirname(self.hub), code=4)
        self.assertEqual({f["file"] for f in findings}, {"hub/models--org--late/snapshots/%s/model.safetensors" % COMMIT})

    def test_a_revision_chooses_one_snapshot(self):
        good = os.path.join(self.hub, "models--org--good")
        self.put(os.path.join(good, "snapshots", OTHER, "model.safetensors"), b"")
        self.put(os.path.join(good, "refs", "v2"), OTHER.encode())
        self.assertEqual(self.doctor(good, "--revision", "main", code=0)[1]["models"], 1)
        findings, _ = self.doctor(good, "--revision", "v2", code=3)
        self.assertEqual(self.said(findings)[0], ("error", "file.empty", "snapshots/%s/model.safetensors" % OTHER))
        self.assertEqual(self.doctor(good, code=3)[1]["models"], 2)

    def test_a_cache_folder_without_a_snapshot_is_incomplete_and_the_others_are_judged(self):
        self.put(os.path.join(self.hub, "models--org--none", "blobs", "e" * 64 + ".incomplete"), b"x" * 10)
        findings, summary = self.doctor(self.hub, code=4)
        self.assertIn(("error", "hub.no_snapshot", "models--org--none/snapshots"), self.said(findings))
        self.assertIn(("error", "hub.incomplete_download", "models--org--none/blobs/%s.incomplete" % ("e" * 64)), self.said(findings))
        self.assertEqual(summary["models"], 3)


class OllamaStore(StoreCase):
    """tiny:latest whole; tiny:cut names a blob that is cut."""

    def setUp(self):
        super().setUp()
        self.store = self.new_folder("store")
        body, _ = gguf_writer.build([("blk.0.weight", "F32", (64, 64)), ("output.weight", "F32", (64, 64))])
        self.body = body
        self.blob = self.model("latest", body, body)
        self.cut = self.model("cut", body + b"\0" * 32, body[:-100])

    def model(self, tag, published, stored):
        digest = hashlib.sha256(published).hexdigest()
        manifest = {"schemaVersion": 2, "mediaType": "application/vnd.docker.distribution.manifest.v2+json", "config": {"mediaType": "application/vnd.docker.container.image.v1+json", "digest": "", "size": 0},
                    "layers": [{"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:" + digest, "size": len(published)}]}
        self.put(os.path.join(self.store, "manifests/registry.ollama.ai/library/tiny", tag), json.dumps(manifest).encode())
        self.put(os.path.join(self.store, "blobs", "sha256-" + digest), stored)
        return os.path.join(self.store, "blobs", "sha256-" + digest)

    def test_every_model_of_a_store_is_judged_and_files_are_named_by_their_blobs(self):
        findings, summary = self.doctor(self.store, code=3)
        self.assertEqual(self.said(findings), [("error", "publisher.size_mismatch", "blobs/" + os.path.basename(self.cut))])
        self.assertEqual((findings[0]["offset"], findings[0]["length"]), (len(self.body) - 100, 132))
        self.assertEqual(findings[0]["tensors"], ["output.weight"])
        self.assertEqual(summary["models"], 2)

    def test_a_model_by_its_name_is_judged_alone(self):
        env = dict(os.environ, OLLAMA_MODELS=self.store)
        self.assertEqual(self.doctor("ollama:tiny", env=env, code=0)[0], [])
        self.assertEqual(self.said(self.doctor("ollama:tiny:cut", env=env, code=3)[0]), [("error", "publisher.size_mismatch", "model.gguf")])

    def test_a_blob_of_zeros_fails_by_its_head_and_by_its_digest(self):
        self.put(self.blob, b"\0" * len(self.body))
        name = "blobs/" + os.path.basename(self.blob)
        findings, _ = self.doctor(self.store, "--deep", code=3)
        ours = sorted((f for f in findings if f["file"] == name), key=lambda f: f["code"])
        self.assertEqual(self.said(ours), [("error", "file.never_written", name), ("error", "publisher.digest_mismatch", name)])
        self.assertIn(hashlib.sha256(self.body).hexdigest(), ours[1]["message"])
        self.assertIn(hashlib.sha256(b"\0" * len(self.body)).hexdigest(), ours[1]["message"])

    def test_a_reserved_download_is_not_taken_for_a_finished_one(self):
        os.unlink(self.cut)
        partial = self.cut + "-partial"
        self.put(partial)
        os.truncate(partial, len(self.body) + 32)
        findings, _ = self.doctor(self.store, code=4)
        self.assertEqual(self.said(findings), [("error", "ollama.partial", "blobs/" + os.path.basename(self.cut))])
        self.assertIn("0 of %d bytes are there" % (len(self.body) + 32), findings[0]["message"])


class FolderOfModels(StoreCase):
    def test_each_folder_is_a_model_of_its_own(self):
        top = self.new_folder("top")
        self.weights(os.path.join(top, "a"))
        self.weights(os.path.join(top, "b"))
        os.truncate(os.path.join(top, "b", "model.safetensors"), 5000)
        findings, summary = self.doctor(top, code=3)
        self.assertEqual(self.said(findings), [("error", "safetensors.truncated", "b/model.safetensors")])
        self.assertEqual(summary["models"], 2)


if __name__ == "__main__":
    mounts.main()
