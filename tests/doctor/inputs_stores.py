"""Stores: an Ollama store, a Hugging Face cache, and who may read them."""
import hashlib
import json
import os

import tiny_writers as w
from cases import FILE, Want, case, note, warning
from inputs_deep import W, W_DATA
from tiny_writers import COMMIT, REPO, SNAPSHOT, write

NOBODY = 65534
S = w.safetensors([("ids", "I64", (2,)), ("weight", "F32", (2, 3))])

# ---- Ollama -------------------------------------------------------------------------------------------------------------

TINY = dict(path="ollama:tiny:latest", environment=(("OLLAMA_MODELS", ""),))
BIG_G = w.gguf([("blk.0.weight", (64, 64)), ("output.weight", (64, 64))])
BIG_G_DATA = len(BIG_G) - 2 * 16384


def store_case(number, name, verdict, want, change, **more):
    """A good store, then one blob (or the manifest) changed: change(folder, blobs)."""
    @case(number, name, verdict, **{**TINY, **more})
    def _(folder):
        change(folder, w.ollama_store(folder, BIG_G))
        return want


def replace(media, content):
    return lambda folder, blobs: write(blobs[media], content)


for words, cut in (("a manifest of 0 bytes", 0), ("a cut manifest", 120)):
    @case("R110", words, "damaged")
    def _(folder, cut=cut):
        w.ollama_store(folder, BIG_G)
        write(folder / w.OLLAMA_MANIFEST, (folder / w.OLLAMA_MANIFEST).read_bytes()[:cut])
        return [Want("ollama.manifest_broken", w.OLLAMA_MANIFEST)]

store_case("R111", "a blob is absent", "incomplete", [Want("ollama.layer_missing", "model.gguf", says=("model", str(len(BIG_G)), hashlib.sha256(BIG_G).hexdigest()))],
           lambda folder, blobs: blobs["model"].unlink())
store_case("R112", "one bit of a blob changed", "damaged", [Want("publisher.digest_mismatch", "model.gguf", says=(hashlib.sha256(BIG_G).hexdigest(),))],
           replace("model", w.with_bytes(BIG_G, BIG_G_DATA + 9000, bytes([BIG_G[BIG_G_DATA + 9000] ^ 1]))), options=("--deep",))
store_case("R112", "a blob of zeros", "damaged", [Want("file.never_written", "model.gguf")], replace("model", bytes(len(BIG_G))))
store_case("R112", "the data of a blob zeroed", "damaged", [Want("publisher.digest_mismatch", "model.gguf", tensors=["blk.0.weight", "output.weight"], says=("every value of the tensor is zero",))],
           replace("model", BIG_G[:BIG_G_DATA].ljust(len(BIG_G), b"\0")),
           options=("--deep",))
store_case("C33", "a blob of no bytes", "damaged", [Want("file.empty", "model.gguf")], replace("model", b""))
store_case("R113", "a blob cut", "damaged", [Want("publisher.size_mismatch", "model.gguf", len(BIG_G) - 1000, 1000, says=("transfer stopped at byte %d" % (len(BIG_G) - 1000),))],
           replace("model", BIG_G[:-1000]))

# ---- Hugging Face cache -------------------------------------------------------------------------------------------------

CONFIG = json.dumps({"model_type": "bert", "hidden_size": 64}).encode()
HUB_FILES = {"config.json": CONFIG, FILE: W}
LINKED = SNAPSHOT + "/" + FILE


def hub_case(number, name, verdict, want, change, **more):
    @case(number, name, verdict, **{"path": REPO, **more})
    def _(folder):
        change(folder / REPO, w.hub_cache(folder, HUB_FILES))
        return want


hub_case("R120", "an unfinished download by its older name", "incomplete", [Want("hub.incomplete_download", "blobs/%s.incomplete" % ("a" * 64))],
         lambda repo, blobs: write(repo / "blobs" / ("a" * 64 + ".incomplete"), W[:100]))
hub_case("R120", "an unfinished download by its newer name", "incomplete", [Want("hub.incomplete_download", "blobs/%s.0a1b2c3d.incomplete" % ("a" * 64))],
         lambda repo, blobs: write(repo / "blobs" / ("a" * 64 + ".0a1b2c3d.incomplete"), W[:100]))
hub_case("R120", "a part file of a finished download is a note", "whole", [note("hub.incomplete_download", "blobs/%s.incomplete" % hashlib.sha256(W).hexdigest())],
         lambda repo, blobs: write(repo / "blobs" / (blobs[FILE].name + ".incomplete"), W[:100]))
hub_case("R121", "a snapshot link to nothing", "incomplete", [Want("link.dangling", LINKED, says=(hashlib.sha256(W).hexdigest(),))], lambda repo, blobs: blobs[FILE].unlink())
hub_case("R122", "a blob that is not its SHA-256", "damaged", [Want("publisher.digest_mismatch", LINKED, says=(hashlib.sha256(W).hexdigest(),))],
         lambda repo, blobs: write(blobs[FILE], w.with_bytes(W, W_DATA + 26000, b"!")), options=("--deep",))
hub_case("R122", "a blob that is not its git SHA-1", "damaged", [Want("publisher.digest_mismatch", SNAPSHOT + "/config.json", says=(w.git_sha1(CONFIG),))],
         lambda repo, blobs: write(blobs["config.json"], CONFIG.replace(b"64", b"65")), options=("--deep",))


@case("R126", "mode 0600 and another owner", "incomplete", options=("--as", str(NOBODY)))
def _(folder):
    write(folder / FILE, S)
    os.chmod(folder / FILE, 0o600)
    return [Want("file.unreadable", FILE, says=("0600",))]


@case("R126", "a folder on the way that may not be passed", "incomplete", options=("--as", str(NOBODY)))
def _(folder):
    write(folder / "unet" / FILE, S)
    write(folder / "model_index.json", {"_class_name": "X"})
    os.chmod(folder / "unet", 0o700)
    return [Want("folder.unreadable", "unet", says=("0700",))]


@case("R126", "root may read it", "whole")
def _(folder):
    write(folder / FILE, S)
    os.chmod(folder / FILE, 0o600)
    return []


READ_ONLY = "R127 read-only cache"  # needs a read-only mount: tiny_inputs_test.py makes it


@case("C37", "a ref with a newline", "incomplete", path=REPO)
def _(folder):
    w.hub_cache(folder, HUB_FILES)
    write(folder / REPO / "refs/main", COMMIT.encode() + b"\n")
    return [Want("hub.bad_ref", "refs/main", says=("newline",))]


@case("C37", "no ref at all", "whole", path=REPO)
def _(folder):
    w.hub_cache(folder, HUB_FILES)
    (folder / REPO / "refs/main").unlink()
    return [warning("hub.no_ref", "refs")]


@case("C37", "marked absent though it is there", "whole", path=REPO)
def _(folder):
    w.hub_cache(folder, HUB_FILES)
    write(folder / REPO / ".no_exist" / COMMIT / FILE, b"")
    return [warning("hub.no_exist", ".no_exist/%s/%s" % (COMMIT, FILE))]
