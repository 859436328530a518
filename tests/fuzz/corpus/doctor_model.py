"""Writes seeds for doctor_model_fuzz into the folder it is given: a good file for each name of the target, by the byte that picks it."""
import json
import pathlib
import struct
import sys

import stores

SHARDS = ["model-%05d-of-00003.safetensors" % i for i in (1, 2, 3)]
HEADER = b'{"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}   '
INDEX = {"metadata": {"total_size": 12}, "weight_map": {"a": SHARDS[0], "b": SHARDS[1], "c": SHARDS[2]}}
FILES = {"config.json": b"{}", SHARDS[1]: b"x" * 20}
SUM = stores.sha256(b"x")
SEEDS = [
    json.dumps({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 2, "tie_word_embeddings": False}).encode(),
    json.dumps({"base_model_name_or_path": "org/base", "peft_type": "LORA"}).encode(),
    json.dumps({"_class_name": "FluxPipeline", "_diffusers_version": "0.30", "unet": ["diffusers", "UNet"]}).encode(),
    json.dumps(INDEX).encode(),
    json.dumps(INDEX).replace(".safetensors", ".bin").encode(),
    b'{"version": "1.0", "model": NaN}',
    ("%s  %s\n%s *%s\n" % (SUM, SHARDS[0], SUM, SHARDS[1])).encode(),
    struct.pack("<Q", len(HEADER)) + HEADER + b"\0" * 8,
    b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + struct.pack("<Q", 1) + b"b" + struct.pack("<IQIQ", 1, 32, 0, 0) + b"\0" * 200,
    b"\x80\x02cposix\nsystem\nX\x02\x00\x00\x00id\x85R.",
    ("%s\n%s\n4102444800.0\n" % (stores.COMMIT, SUM)).encode(),
    stores.hf_tree(FILES),
    b'{"format":"vouchfs-manifest","version":1,"hash":"sha256","block_size":4096,"files":[],"tensors":{"size":2,"fsverity":"%s"}}\n' % SUM.encode(),
]

folder = pathlib.Path(sys.argv[1])
for number, data in enumerate(SEEDS):
    (folder / ("%02d" % number)).write_bytes(bytes([number]) + data)
# The same files broken in ways that people meet: cut, a web page, a pointer, zeros.
for number in (0, 3, 7, 8, 9):
    for name, data in (("cut", SEEDS[number][:len(SEEDS[number]) // 2]), ("page", b"<!DOCTYPE html><title>Log in</title>"),
                       ("pointer", stores.lfs_pointer(SEEDS[number])), ("zeros", b"\0" * 5000)):
        (folder / ("%02d-%s" % (number, name))).write_bytes(bytes([number]) + data)
