"""stores.py: folders as publishers' tools leave them: a Hugging Face cache, a --local-dir download, a Git repository, an Ollama store. For tests."""
import hashlib
import json
import os

import mounts

COMMIT = "89ab" * 10
OTHER_COMMIT = "4567" * 10
HOST = "registry.ollama.ai/library"


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def git_sha1(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def is_large(path):
    return path.endswith((".safetensors", ".gguf", ".bin"))


def lfs_pointer(data):
    return b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n" % (sha256(data).encode(), len(data))


def hf_tree(files):
    """The publisher's listing of {path: bytes}; large files are in LFS, and the blob named there is the pointer's."""
    rows = {}
    for path, data in files.items():
        large = is_large(path)
        rows[path] = {"size": len(data), "blob_id": git_sha1(lfs_pointer(data) if large else data), "lfs_sha256": sha256(data) if large else None,
                      "lfs_size": len(data) if large else None, "xet_hash": None}
    return json.dumps({"format_version": 1, "files": rows}).encode()


def hf_cache(top, files, commit=COMMIT, refs=("main",), tree=True, model="models--org--tiny"):
    """One snapshot of a model of a cache. Returns (model folder, snapshot folder)."""
    home = os.path.join(top, model)
    snapshot = os.path.join(home, "snapshots", commit)
    for path, data in files.items():
        blob = os.path.join(home, "blobs", sha256(data) if is_large(path) else git_sha1(data))
        link = os.path.join(snapshot, path)
        mounts.write_file(blob, data)
        os.makedirs(os.path.dirname(link), exist_ok=True)
        os.symlink(os.path.relpath(blob, os.path.dirname(link)), link)
    for ref in refs:
        mounts.write_file(os.path.join(home, "refs", ref), commit.encode())
    if tree:
        mounts.write_file(os.path.join(home, "trees", commit + ".json"), hf_tree(files))
    return home, snapshot


def blob_of(store, data, separator="-"):
    return os.path.join(store, "blobs", "sha256" + separator + sha256(data))


def ollama_model(store, name, layers, separator="-"):
    """Adds HOST/NAME/TAG of [(media type, bytes[, name])] to a store. Returns the manifest's path."""
    model, _, tag = name.partition(":")
    config = b'{"model_format":"gguf"}'
    rows = []
    for kind, data, *own in layers:
        mounts.write_file(blob_of(store, data, separator), data)
        rows.append({"mediaType": "application/vnd.ollama.image." + kind, "digest": "sha256:" + sha256(data), "size": len(data), **({"name": own[0]} if own else {})})
    mounts.write_file(blob_of(store, config, separator), config)
    head = {"mediaType": "application/vnd.docker.container.image.v1+json", "digest": "sha256:" + sha256(config), "size": len(config)}
    manifest = os.path.join(store, "manifests", HOST, model, tag or "latest")
    mounts.write_file(manifest, json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.docker.distribution.manifest.v2+json", "config": head, "layers": rows}).encode())
    return manifest


def git_repository(folder, files):
    """A repository whose HEAD holds these files, large ones as LFS pointers, and whose work tree holds the files themselves."""
    for path, data in files.items():
        mounts.write_file(os.path.join(folder, path), lfs_pointer(data) if is_large(path) else data)
    git = ("git", "-C", folder, "-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false", "-c", "safe.directory=*")
    for words in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--message", "x")):
        mounts.run(*git, *words).check_returncode()
    for path, data in files.items():
        mounts.write_file(os.path.join(folder, path), data)
    return mounts.run(*git, "rev-parse", "HEAD").stdout.strip()


def provenance(seal):
    """{path: (result, [(kind, digest, from)])} of provenance.json, and the whole document."""
    document = json.loads(mounts.read_file(os.path.join(seal, "provenance.json")))
    return {row["path"]: (row["result"], [(c["kind"], c["digest"], c["from"]) for c in row["checked"]]) for row in document["files"]}, document
