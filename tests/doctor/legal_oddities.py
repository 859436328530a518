"""Whole models that look unusual: each is legal, and doctor must find neither an error nor a warning in it.

ODDITIES: [(name, build)]; build(folder) writes into an empty folder.
"""
import json
import struct

import tiny_writers as w
from cases import BIN, FILE, GGUF, INDEX
from inputs_shards import D3, SHARD_ROWS, index_of, write_shards
from tiny_writers import write

ROWS = [("ids", "I64", (2,)), ("weight", "F32", (2, 3))]
ODDITIES = []


def oddity(build):
    ODDITIES.append((build.__name__, build))
    return build


def header_text(rows, **more):
    header, body = w.rows_of(rows)
    return json.dumps({**more, **header}).encode(), body


def with_length(text, body, length):
    """A file whose header is blanks-padded to exactly this many bytes."""
    return struct.pack("<Q", length) + text.ljust(length) + body


@oddity
def blanks_before_and_behind_the_header(folder):
    text, body = header_text(ROWS)
    write(folder / FILE, with_length(b"  \n\t" + text, body, len(text) + 300))


@oddity
def a_header_of_8312_bytes_begins_like_zlib(folder):
    file = with_length(*header_text(ROWS), 8312)
    assert file[:2] == b"\x78\x20"
    write(folder / FILE, file)


@oddity
def unaligned_data(folder):
    write(folder / FILE, w.safetensors([("odd", "I8", (3,)), ("weight", "F32", (2, 3)), ("flag", "BOOL", (1,), b"\1")], metadata={"format": "pt", "a": "bc"}, align=1))


@oddity
def unknown_metadata(folder):
    write(folder / FILE, w.safetensors(ROWS, metadata={"format": "mlx", "": "", "modelspec.title": "Ünïcode \\ \" name", "x" * 500: "y" * 5000}))


@oddity
def unknown_fields_of_an_entry(folder):
    text, body = header_text(ROWS)
    header = json.loads(text)
    header["ids"]["note"] = {"a": [1, None, 2.5]}
    write(folder / FILE, w.from_header(header, body))


@oddity
def scalars_and_empty_shapes(folder):
    write(folder / FILE, w.safetensors([("scalar", "F32", ()), ("none", "F32", (0,)), ("none.too", "I64", (4, 0, 2)), ("one", "F16", (1, 1, 1)), ("", "U8", (3,))]))


@oddity
def every_dtype(folder):
    write(folder / FILE, w.safetensors([(dtype.lower(), dtype, (8,)) for dtype in w.SAFETENSORS_BITS if dtype != "BOOL"] + [("bool", "BOOL", (2,), b"\0\1")]))


@oddity
def names_that_few_would_choose(folder):
    write(folder / FILE, w.safetensors([("a/../b", "F32", (2,)), ("é\u0000\n", "F32", (2,)), ("x" * 4000, "F32", (2,)), ("__metadata", "F32", (2,))]))


@oddity
def numbers_in_other_order_than_the_data(folder):
    text, body = header_text(ROWS)
    header = json.loads(text)
    write(folder / FILE, w.from_header(dict(reversed(header.items())), body))


@oddity
def a_gguf_with_bytes_behind_its_end(folder):
    write(folder / GGUF, w.gguf() + bytes(4096))


@oddity
def a_gguf_without_padding_at_its_end(folder):
    write(folder / GGUF, w.gguf()[:-8])


@oddity
def a_gguf_of_version_2(folder):
    write(folder / GGUF, w.gguf(version=2))


@oddity
def a_gguf_of_keys_only(folder):
    write(folder / GGUF, w.gguf([]))


@oddity
def two_gguf_models_in_one_folder(folder):
    for name in ("tiny-q4.gguf", "tiny-q8.gguf"):
        write(folder / name, w.gguf())


@oddity
def both_parts_of_a_gguf(folder):
    for number, tensors in ((0, [("a.weight", (8,))]), (1, [("b.weight", (8,))])):
        keys = [w.gguf_value("general.architecture", "str", "llama")] if number == 0 else []
        keys += [w.gguf_value("split.no", "u16", number), w.gguf_value("split.count", "u16", 2), w.gguf_value("split.tensors.count", "i32", 2)]
        write(folder / ("tiny-%05d-of-00002.gguf" % (number + 1)), w.gguf(tensors, keys))


@oddity
def torch_of_both_forms(folder):
    write(folder / BIN, w.torch_zip().bytes())
    write(folder / "vectors.pt", w.torch_legacy())


@oddity
def torch_without_checksums(folder):
    file = w.Zip().add("data.pkl", w.state_dict(w.TORCH_TENSORS), crc=0).add("byteorder", b"little", crc=0)
    for i, (name, shape) in enumerate(w.TORCH_TENSORS):
        file.add("data/%d" % i, w.noise_of(name, 4 * w.product(shape)), crc=0)
    write(folder / BIN, file.add("version", b"3\n", crc=0).bytes())


@oddity
def training_arguments_beside_a_model(folder):
    write(folder / FILE, w.safetensors(ROWS))
    arguments = b"\x80\x02" + w.global_of("transformers.training_args", "TrainingArguments") + b")\x81}" + b"(" + w.unicode_of("seed") + w.number(7) + b"ub."
    write(folder / "training_args.bin", w.Zip("training_args").add("data.pkl", arguments).add("byteorder", b"little").add("version", b"3\n").bytes())


@oddity
def other_files_beside_a_model(folder):
    write(folder / FILE, w.safetensors(ROWS))
    for name, content in (("README.md", b"# A model\n"), ("tokenizer.model", w.noise_of("t", 500)), ("merges.txt", b"#version: 0.2\n"), ("vocab.txt", b"[PAD]\n"), ("LICENSE", b"MIT\n"),
                          ("config.json", b'{"model_type":"bert"}'), ("tokenizer.json", b'{"version":"1.0"}'), ("special_tokens_map.json", b"{}\n"), ("model.onnx", w.noise_of("o", 500)),
                          ("nested/empty.txt", b""), (".gitattributes", b"*.safetensors filter=lfs\n")):
        write(folder / name, content)


@oddity
def diffusers_layout(folder):
    write(folder / "model_index.json", {"_class_name": "StableDiffusionPipeline", "_diffusers_version": "0.30.0", "requires_safety_checker": False, "safety_checker": [None, None], "sizes": [1, 2],
                                        "scheduler": ["diffusers", "DDIMScheduler"], "text_encoder": ["transformers", "CLIPTextModel"], "tokenizer": ["transformers", "CLIPTokenizer"],
                                        "unet": ["diffusers", "UNet2DConditionModel"], "vae": ["diffusers", "AutoencoderKL"]})
    write(folder / "tokenizer/vocab.json", {"a": 0})
    for part in ("unet", "vae"):
        write(folder / part / "config.json", {"_class_name": part})
        write(folder / part / "diffusion_pytorch_model.safetensors", w.safetensors(ROWS))
    write(folder / "scheduler/scheduler_config.json", {"_class_name": "DDIMScheduler"})
    write(folder / "text_encoder/model.safetensors", w.safetensors(ROWS))


@oddity
def a_pipeline_of_one_folder(folder):
    write(folder / "model_index.json", {"_class_name": "DDPMPipeline", "scheduler": ["diffusers", "DDPMScheduler"], "unet": ["diffusers", "UNet2DModel"]})
    write(folder / "config.json", {"_class_name": "UNet2DModel"})
    write(folder / "scheduler_config.json", {"_class_name": "DDPMScheduler"})
    write(folder / "diffusion_pytorch_model.safetensors", w.safetensors(ROWS))


@oddity
def shards_with_their_index(folder):
    write_shards(folder)


@oddity
def one_shard_of_one_with_an_index(folder):
    write_shards(folder, {"model-00001-of-00001.safetensors": ROWS})


@oddity
def two_index_kinds_that_are_both_whole(folder):
    write_shards(folder)
    names = ["pytorch_model-0000%d-of-00002.bin" % i for i in (1, 2)]
    for name, (tensor, shape) in zip(names, w.TORCH_TENSORS):
        write(folder / name, w.torch_zip([(tensor, shape)]).bytes())
    total = sum(4 * w.product(shape) for _, shape in w.TORCH_TENSORS[:2])
    write(folder / "pytorch_model.bin.index.json", {"metadata": {"total_size": total}, "weight_map": dict(zip([t for t, _ in w.TORCH_TENSORS], names))})


@oddity
def consolidated_beside_shards_with_other_names(folder):
    write_shards(folder)
    write(folder / "consolidated.safetensors", w.safetensors([("tok." + name, dtype, shape) for rows in SHARD_ROWS for name, dtype, shape in rows]))


@oddity
def a_variant_beside_the_default(folder):
    write(folder / FILE, w.safetensors(ROWS))
    write(folder / "model.fp16.safetensors", w.safetensors([("ids", "I64", (2,)), ("weight", "F16", (2, 3))]))


@oddity
def weights_of_two_frameworks(folder):
    write(folder / FILE, w.safetensors(w_rows()))
    write(folder / BIN, w.torch_zip().bytes())


def w_rows():
    return [(name, "F32", shape) for name, shape in w.TORCH_TENSORS]


@oddity
def an_adapter_beside_its_config(folder):
    write(folder / "adapter_config.json", {"peft_type": "LORA", "base_model_name_or_path": "org/base-model", "r": 8})
    write(folder / "adapter_model.safetensors", w.safetensors([("base_model.model.q.lora_A.weight", "F32", (2, 3))]))


@oddity
def an_index_with_more_than_it_needs(folder):
    index = index_of(D3)
    write_shards(folder, index={**index, "metadata": {**index["metadata"], "total_parameters": 33, "format": "pt"}, "comment": ["x"]})


@oddity
def shards_in_a_subfolder(folder):
    write(folder / "config.json", {"model_type": "bert"})
    write_shards(folder / "checkpoint-10")
    assert (folder / "checkpoint-10" / INDEX).exists()


@oddity
def a_hub_cache(folder):
    w.hub_cache(folder, {FILE: w.safetensors(ROWS), "config.json": b"{}"})


@oddity
def an_ollama_store(folder):
    w.ollama_store(folder, w.gguf())
