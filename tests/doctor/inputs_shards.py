"""Shards, their indexes, layouts and adapters."""
import json

import tiny_writers as w
from cases import FILE, INDEX, Want, case, note, one, warning
from tiny_writers import write

SHARDS = ["model-%05d-of-00003.safetensors" % i for i in (1, 2, 3)]
SHARD_ROWS = [[("layers.%d.a" % i, "F32", (4, 2)), ("layers.%d.b" % i, "F32", (3,))] for i in (1, 2, 3)]
S = w.safetensors([("ids", "I64", (2,)), ("weight", "F32", (2, 3))])


def index_of(shards, **change):
    """A right index of {file: rows}, `change`d where it is to be wrong (None takes a key away)."""
    total = sum(w.product(shape) * w.SAFETENSORS_BITS[dtype] // 8 for rows in shards.values() for _, dtype, shape in rows)
    index = {"metadata": {"total_size": total}, "weight_map": {row[0]: file for file, rows in shards.items() for row in rows}}
    return {key: value for key, value in {**index, **change}.items() if value is not None}


D3 = dict(zip(SHARDS, SHARD_ROWS))
D3_INDEX = index_of(D3)
INDEX_TEXT = json.dumps(D3_INDEX).encode()


def write_shards(folder, shards=None, index=None, without=()):
    """D3, or other {file: rows}; `index`: None for the right one, False for none, or what to write."""
    shards = D3 if shards is None else shards
    for file, rows in shards.items():
        if file not in without:
            write(folder / file, w.safetensors(rows))
    if index is not False:
        write(folder / INDEX, index_of(shards) if index is None else index)


for lost in (1, 2):
    @case("R50", ["", "a shard in the middle is absent", "the last shard is absent"][lost], "incomplete")
    def _(folder, lost=lost):
        write_shards(folder, without=[SHARDS[lost]])
        return [Want("index.names_missing_shard", SHARDS[lost], tensors=[row[0] for row in SHARD_ROWS[lost]], says=("2 tensors",))]


@case("R51", "three shards and no index", "incomplete")
def _(folder):
    write_shards(folder, index=False)
    return [Want("index.missing", INDEX, command=("vouchfs index",))]


one("R51", "a single file needs no index", "whole", S, [])

for name, content, word in (("is empty", b"", "empty"), ("has a byte order mark", b"\xef\xbb\xbf" + INDEX_TEXT, "byte order mark"), ("is cut", INDEX_TEXT[:90], ""),
                            ("is a web page", w.web_page("Not found"), "Not found")):
    @case("R52", "an index that " + name, "damaged")
    def _(folder, content=content, word=word):
        write_shards(folder, index=content)
        return [Want("index.not_json", INDEX, says=(word,))]

for key, reader in (("metadata", "transformers"), ("weight_map", "")):
    @case("R53", "an index without " + key, "damaged")
    def _(folder, key=key, reader=reader):
        write_shards(folder, index=index_of(D3, **{key: None}))
        return [Want("index.key_missing", INDEX, says=(key, reader))]


def remapped(**change):
    return index_of(D3, weight_map={name: file for name, file in {**D3_INDEX["weight_map"], **change}.items() if file})


@case("R54", "a tensor mapped to another shard", "damaged")
def _(folder):
    write_shards(folder, index=remapped(**{"layers.2.a": SHARDS[0]}))
    return [Want("index.wrong_shard", INDEX, tensors=["layers.2.a"], says=(SHARDS[0], SHARDS[1]))]


@case("R55", "an index that lacks a tensor", "damaged")
def _(folder):
    write_shards(folder, index=remapped(**{"layers.2.a": None}))
    return [Want("index.omits_tensor", INDEX, tensors=["layers.2.a"], says=(SHARDS[1],))]


@case("R56", "an index that names a tensor nowhere", "damaged")
def _(folder):
    write_shards(folder, index=remapped(**{"layers.9.a": SHARDS[1]}))
    return [Want("index.names_missing_tensor", INDEX, tensors=["layers.9.a"])]


@case("R59", "consolidated beside shards with the same tensors", "whole")
def _(folder):
    write_shards(folder)
    write(folder / "consolidated.safetensors", w.safetensors([row for rows in SHARD_ROWS for row in rows]))
    names = sorted(row[0] for rows in SHARD_ROWS for row in rows)
    return [warning("layout.duplicate_tensors", "consolidated.safetensors", tensors=names)]


@case("R61", "unusual shard names listed in an index", "whole")
def _(folder):
    write_shards(folder, dict(zip(["layers-22.safetensors", "model-000002-of-000004.safetensors", "model-mtp-of-00005.safetensors"], SHARD_ROWS)))
    return [note("shards.unusual_names", INDEX)]


@case("R63", "a wrong total_size", "whole")
def _(folder):
    write_shards(folder, index=index_of(D3, metadata={"total_size": 1}))
    return [note("index.total_size", INDEX, says=("1", str(D3_INDEX["metadata"]["total_size"])))]


@case("R65", "one shard of 0 bytes", "damaged")
def _(folder):
    write_shards(folder)
    write(folder / SHARDS[1], b"")
    return [Want("file.empty", SHARDS[1], tensors=[row[0] for row in SHARD_ROWS[1]])]


@case("R66", "only a variant", "whole")
def _(folder):
    write(folder / "model.fp16.safetensors", S)
    return [note("variant.only", "model.fp16.safetensors", says=("fp16",))]


@case("R66", "only a variant by its old names", "whole")
def _(folder):
    shards = dict(zip(["diffusion_pytorch_model-0000%d-of-00002.fp16.safetensors" % i for i in (1, 2)], SHARD_ROWS))
    write_shards(folder, shards, index=False)
    write(folder / "diffusion_pytorch_model.safetensors.fp16.index.json", index_of(shards))
    return [note("variant.only", next(iter(shards)), says=("fp16",))]


@case("R67", "an adapter alone", "whole")
def _(folder):
    write(folder / "adapter_config.json", {"peft_type": "LORA", "base_model_name_or_path": "org/base-model"})
    write(folder / "adapter_model.safetensors", S)
    return [note("adapter.only", "adapter_model.safetensors", says=("org/base-model",))]


@case("R68", "numbers 1 2 4 of 4 and no index", "incomplete")
def _(folder):
    write_shards(folder, {"model-0000%d-of-00004.safetensors" % n: rows for n, rows in zip((1, 2, 4), SHARD_ROWS)}, index=False)
    return [Want("shards.gap", "model-00003-of-00004.safetensors", says=("3",))]


@case("C15", "an adapter without tensors", "whole")
def _(folder):
    write(folder / "adapter_config.json", {"peft_type": "LORA", "base_model_name_or_path": "org/base-model"})
    write(folder / "adapter_model.safetensors", w.from_header("{}"))
    return [warning("adapter.empty", "adapter_model.safetensors")]


@case("C19", "layers that are in no shard", "incomplete")
def _(folder):
    write(folder / "config.json", {"model_type": "llama", "num_hidden_layers": 4})
    write(folder / FILE, w.safetensors(layers(0, 1, 3)))
    return [Want("model.layers_missing", "", says=("2",))]


def layers(*numbers):
    return [("model.layers.%d.mlp.weight" % i, "F32", (2, 2)) for i in numbers]


FOUR_LAYERS = {"model-00001-of-00002.safetensors": layers(0, 1), "model-00002-of-00002.safetensors": layers(2, 3)}


@case("C19", "a layer whose shard is absent", "incomplete")
def _(folder):
    write(folder / "config.json", {"model_type": "llama", "num_hidden_layers": 4})
    write_shards(folder, FOUR_LAYERS, without=["model-00002-of-00002.safetensors"])
    return [Want("index.names_missing_shard", "model-00002-of-00002.safetensors", tensors=[row[0] for row in layers(2, 3)])]


@case("C19", "a layer that its shard lacks", "damaged")
def _(folder):
    write(folder / "config.json", {"model_type": "llama", "num_hidden_layers": 4})
    write_shards(folder, {**FOUR_LAYERS, "model-00002-of-00002.safetensors": layers(2)}, index=index_of(FOUR_LAYERS))
    return [Want("index.names_missing_tensor", INDEX, tensors=["model.layers.3.mlp.weight"], says=("model-00002-of-00002.safetensors",))]


@case("C23", "an index that is a Git LFS pointer", "unusable")
def _(folder):
    write_shards(folder, index=w.lfs_pointer(INDEX_TEXT))
    return [Want("lfs.pointer", INDEX)]


@case("C20", "two index kinds of which one lacks its files", "damaged")
def _(folder):
    write_shards(folder)
    write(folder / "pytorch_model.bin.index.json", {"metadata": {"total_size": 8}, "weight_map": {"layers.1.a": "pytorch_model-00001-of-00001.bin"}})
    return [Want("index.two_kinds", "pytorch_model.bin.index.json", says=(INDEX,))]
