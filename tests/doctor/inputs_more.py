"""What neither the collection of breakages nor the table of symptoms has, and doctor has a code for: ids D1, D2 …"""
import hashlib
import json
import os
import shutil
import subprocess

import tiny_writers as w
from cases import BIN, FILE, GGUF, INDEX, Want, case, note, one, warning
from inputs_safetensors import S, entry, header_of
from inputs_shards import D3, SHARDS, SHARD_ROWS, index_of, write_shards
from inputs_stores import HUB_FILES, hub_case, store_case
from inputs_torch import Z, Z_ZIP
from tiny_writers import COMMIT, REPO, write

# ---- files ---------------------------------------------------------------------------------------------------------------------

one("D1", "bytes of no known format", "unusable", bytes(0x80 | (i * 37 & 0x7f) for i in range(5000)), [Want("content.unknown", FILE)])


@case("D1", "a fifo in place of a file", "incomplete")
def _(folder):
    os.mkfifo(folder / FILE)
    return [Want("file.special", FILE)]


@case("D1", "a link that leads to itself", "incomplete")
def _(folder):
    (folder / FILE).symlink_to(FILE)
    return [Want("link.loop", FILE)]


@case("D1", "a part file beside the model", "whole")
def _(folder):
    write(folder / FILE, S)
    write(folder / (FILE + ".part"), S[:50])
    return [note("file.stale_partial", FILE + ".part")]


@case("D1", "a download of aria2 that runs", "incomplete")
def _(folder):
    write(folder / FILE, S)
    write(folder / (FILE + ".aria2"), b"\0\1pieces")
    return [Want("file.unfinished_download", FILE)]


@case("D1", "nothing but a part file", "incomplete")
def _(folder):
    write(folder / (FILE + ".part"), S[:50])
    return [Want("file.unfinished_download", FILE + ".part")]


@case("D1", "a folder that is no model", "unusable")
def _(folder):
    write(folder / "README.md", b"# nothing here\n")
    return [Want("path.not_a_model", "")]


@case("D1", "an empty folder", "unusable")
def _(folder):
    return [Want("path.not_a_model", "")]


@case("D1", "a config without weights", "incomplete")
def _(folder):
    write(folder / "config.json", {"model_type": "llama"})
    return [Want("model.no_weights", "")]


def pipeline(folder):
    write(folder / "model_index.json", {"_class_name": "StableDiffusionPipeline", "safety_checker": [None, None], "scheduler": ["diffusers", "PNDMScheduler"],
                                        "text_encoder": ["transformers", "CLIPTextModel"], "vae": ["diffusers", "AutoencoderKL"]})
    write(folder / "scheduler/scheduler_config.json", {"_class_name": "PNDMScheduler"})
    for part, name in (("text_encoder", FILE), ("vae", "diffusion_pytorch_model.safetensors")):
        write(folder / part / "config.json", {"_class_name": part})
        write(folder / part / name, S)


@case("D1", "a pipeline without two of its components", "incomplete")
def _(folder):
    pipeline(folder)
    for part in ("scheduler", "vae"):
        shutil.rmtree(folder / part)
    return [Want("pipeline.component_missing", "model_index.json", says=("2 components", "scheduler (PNDMScheduler), vae (AutoencoderKL)"))]


@case("D1", "a component of a pipeline without its weights", "incomplete")
def _(folder):
    pipeline(folder)
    (folder / "text_encoder" / FILE).unlink()
    return [Want("model.no_weights", "text_encoder", says=("CLIPTextModel",))]


@case("D1", "a link to nothing that is named itself", "incomplete", path=FILE)
def _(folder):
    (folder / FILE).symlink_to("../../blobs/gone")
    return [Want("link.dangling", FILE)]


for words, content, code in (("a config that does not parse", b'{"model_type": "bert",}', "json.broken"),
                             ("a config with a byte order mark", b'\xef\xbb\xbf{"model_type": "bert"}', "json.bom"),
                             ("an empty config", b"", "file.empty")):
    @case("D1", words, "damaged")
    def _(folder, content=content, code=code):
        write(folder / FILE, S)
        write(folder / "config.json", content)
        return [Want(code, "config.json")]


@case("D1", "a tokenizer that is a Git LFS pointer", "unusable")
def _(folder):
    write(folder / FILE, S)
    write(folder / "tokenizer.json", w.lfs_pointer(b"{}" * 100))
    return [Want("lfs.pointer", "tokenizer.json")]


# ---- safetensors and indexes ---------------------------------------------------------------------------------------------------

one("D2", "three elements of four bits", "damaged", w.from_header(header_of(entry("x", "F4", (3,), 0, 2)), b"12"), [Want("safetensors.partial_byte", FILE, tensors=["x"])])
one("D2", "blanks before the header", "whole", w.from_header("   " + json.dumps({"__metadata__": w.PT, **w.rows_of([("x", "F32", (2, 3))])[0]}), w.noise_of("x", 24)),
    [note("safetensors.leading_blanks", FILE)])


@case("D2", "an index entry that is a number", "damaged")
def _(folder):
    write_shards(folder, index=index_of(D3, weight_map={**index_of(D3)["weight_map"], "layers.1.a": 1}))
    return [Want("index.malformed", INDEX)]


@case("D2", "an index that names nothing", "damaged")
def _(folder):
    write_shards(folder, index={"metadata": {"total_size": 0}, "weight_map": {}})
    return [Want("index.omits_tensor", INDEX, tensors=[name for rows in SHARD_ROWS for name, _, _ in rows])]


@case("D2", "an index whose map is a list", "damaged")
def _(folder):
    write_shards(folder, index={"metadata": {"total_size": 0}, "weight_map": []})
    return [Want("index.malformed", INDEX)]


@case("D2", "an index that leads out of its folder", "damaged")
def _(folder):
    write_shards(folder, index=index_of(D3, weight_map={**index_of(D3)["weight_map"], "layers.1.a": "../" + SHARDS[0]}))
    return [Want("index.unsafe_name", INDEX, tensors=["layers.1.a"])]


@case("D2", "the index of a subfolder and of a variant lack tensors", "damaged")
def _(folder):
    shards = {"diffusion_pytorch_model-0000%d-of-00002.fp16.safetensors" % i: rows for i, rows in zip((1, 2), SHARD_ROWS)}
    plain = {name.replace(".fp16", ""): rows for name, rows in shards.items()}
    write(folder / "model_index.json", {"_class_name": "X"})
    lacking = {name: rows[:1] for name, rows in shards.items()}
    write_shards(folder / "unet", {**shards, **plain}, index=False)
    write(folder / "unet/diffusion_pytorch_model.safetensors.index.json", index_of(plain))
    write(folder / "unet/diffusion_pytorch_model.safetensors.index.fp16.json", index_of(lacking))
    return [Want("index.omits_tensor", "unet/diffusion_pytorch_model.safetensors.index.fp16.json", tensors=["layers.1.b", "layers.2.b"], command=("--folder unet", "--name"))]


@case("D2", "consolidated beside shards with other names", "whole")
def _(folder):
    write_shards(folder)
    write(folder / "consolidated.safetensors", w.safetensors([("tok." + name, dtype, shape) for rows in SHARD_ROWS for name, dtype, shape in rows]))
    return [note("layout.consolidated", "consolidated.safetensors")]


# ---- torch and GGUF ------------------------------------------------------------------------------------------------------------

one("D3", "a torch zip that ends in zeros", "damaged", Z[:Z_ZIP.places["data/2"][1]] + bytes(1 << 17), [Want("torch.no_directory", BIN, Z_ZIP.places["data/2"][1] + (1 << 16), 1 << 16)], file=BIN)
one("D3", "a pickle that ends too early", "damaged", w.Zip().add("data.pkl", w.state_dict(w.TORCH_TENSORS)[:60]).add("version", b"3\n").bytes(), [Want("torch.pickle_broken", BIN)],
    file=BIN)


@case("D3", "a tensor larger than its storage", "damaged")
def _(folder):
    file = w.Zip().add("data.pkl", w.state_dict([("x", (4, 4))])).add("data/0", w.noise_of("x", 32)).add("version", b"3\n")
    write(folder / BIN, file.bytes())
    return [Want("torch.bad_tensor", BIN, tensors=["x"])]


@case("D3", "a torch file packed again with compression", "whole")
def _(folder):
    import io
    import zipfile
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", w.state_dict([("x", (64, 64))]))
        archive.writestr("archive/data/0", bytes(range(1, 65)) * 256)
        archive.writestr("archive/version", b"3\n")
    write(folder / BIN, packed.getvalue())
    return [warning("torch.compressed_record", BIN)]


one("D4", "an alignment of 3", "damaged", w.gguf(values=[w.gguf_value("general.alignment", "u32", 3)]), [Want("gguf.header", GGUF, says=("alignment",))], file=GGUF)


@case("D4", "a part under the name of another", "damaged")
def _(folder):
    for name, number in (("tiny-00001-of-00002.gguf", 0), ("tiny-00002-of-00002.gguf", 0)):
        keys = [w.gguf_value("split.no", "u16", number), w.gguf_value("split.count", "u16", 2), w.gguf_value("split.tensors.count", "i32", 2)]
        write(folder / name, w.gguf([("t%s.weight" % name[9], (8,))], keys))
    return [Want("gguf.split_mismatch", "tiny-00002-of-00002.gguf")]


# ---- data ----------------------------------------------------------------------------------------------------------------------

LARGE = [("first.weight", "F32", (1024, 1024)), ("second.weight", "F32", (1024, 1024))]


def write_large(folder, spoil):
    raw = bytearray(w.safetensors(LARGE))
    spoil(raw)
    write(folder / FILE, bytes(raw))


@case("D5", "a hole in tensor data", "whole")
def _(folder):
    write_large(folder, lambda raw: None)
    subprocess.run(["fallocate", "--punch-hole", "--offset", str(1 << 20), "--length", str(1 << 20), folder / FILE], check=True)
    return [warning("data.hole", FILE, 1 << 20, 1 << 20, ["first.weight"])]


@case("D5", "a run of zeros in tensor data", "whole", options=("--deep",))
def _(folder):
    def spoil(raw):
        raw[5 << 20:6 << 20] = bytes(1 << 20)
    write_large(folder, spoil)
    return [warning("data.zero_run", FILE, 5 << 20, 1 << 20, ["second.weight"])]


# ---- publishers and stores -----------------------------------------------------------------------------------------------------

def tree_of(files):
    return {"format_version": 1, "files": {path: {"size": len(raw), "blob_id": w.git_sha1(raw), "lfs_sha256": hashlib.sha256(raw).hexdigest(), "lfs_size": len(raw)} for path, raw in files.items()}}


hub_case("D6", "a weight file of the listing that nobody has to fetch is a note", "whole", [note("publisher.absent_file", "snapshots/%s/extra.safetensors" % COMMIT)],
         lambda repo, blobs: write(repo / "trees" / (COMMIT + ".json"), tree_of({**HUB_FILES, "extra.safetensors": S})))
hub_case("D6", "a listing that cannot be read", "whole", [warning("publisher.bad_list", "", says=("trees/%s.json" % COMMIT,))],
         lambda repo, blobs: write(repo / "trees" / (COMMIT + ".json"), b'{"format_version":1,"files":'))


@case("D6", "a cache folder without a snapshot", "incomplete", path=REPO)
def _(folder):
    write(folder / REPO / "refs/main", COMMIT.encode())
    (folder / REPO / "blobs").mkdir()
    return [Want("hub.no_snapshot", "snapshots")]


hub_case("D6", "a blob that nothing names", "whole", [note("store.unused_blob", "blobs/" + hashlib.sha256(b"unused").hexdigest())],
         lambda repo, blobs: write(repo / "blobs" / hashlib.sha256(b"unused").hexdigest(), b"unused"))


def leave_partial(folder, blobs):
    os.rename(blobs["model"], str(blobs["model"]) + "-partial")
    write(str(blobs["model"]) + "-partial-0", {"N": 0, "Offset": 0, "Size": 100, "Completed": 50})


store_case("D6", "a layer that was not downloaded to its end", "incomplete", [Want("ollama.partial", "model.gguf")], leave_partial)

# ---- seals ---------------------------------------------------------------------------------------------------------------------


def sealed_case(name, verdict, want, spoil):
    @case("D7", name, verdict, sealed=True, spoil=spoil)
    def _(folder):
        write(folder / FILE, S)
        write(folder / "config.json", b'{"model_type":"bert"}')
        write(folder / "vocab.txt", b"[PAD]\n")
        return want


sealed_case("a sealed file that is gone", "incomplete", [Want("seal.missing_file", "vocab.txt")], lambda folder: (folder / "vocab.txt").unlink())
sealed_case("a sealed file of another size", "damaged", [Want("seal.size_mismatch", "vocab.txt")], lambda folder: write(folder / "vocab.txt", b"[PAD]\n[CLS]\n"))
sealed_case("a file that the seal does not know", "whole", [note("seal.unsealed_file", "new.txt")], lambda folder: write(folder / "new.txt", b"new"))
sealed_case("a seal that is broken", "whole", [warning("seal.unusable", "", says=(".vouch/manifest.json",))], lambda folder: write(folder / ".vouch/manifest.json", b"{"))
