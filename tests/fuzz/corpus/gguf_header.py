"""Writes GGUF files to start fuzzing from: gguf_header.py FOLDER."""
import os
import sys

import gguf_writer

SEEDS = {
    "small": ([("a", "F32", (3, 2)), ("b", "Q4_0", (32,))], {}),
    "keys": ([("x", "I8", (3,))], {"keys": [("general.architecture", "str", "llama"), ("n", "u16", 1), ("on", "bool", True), ("f", "f64", 0.5), ("words", "str", ["a", "bc"]),
                                            ("scores", "f32", [0.5, 1.5]), ("none", "i32", [])]}),
    "split": ([("x", "F16", (2, 2, 2, 2))], {"keys": [("split.no", "u16", 0), ("split.count", "u16", 2), ("split.tensors.count", "i32", 2)]}),
    "aligned": ([("a", "F64", ()), ("b", "Q4_K", (256,)), ("none", "F32", (0,))], {"alignment": 64, "version": 2, "end_padding": False}),
    "empty": ([], {"keys": []}),
}

for seed, (tensors, options) in SEEDS.items():
    gguf_writer.write(os.path.join(sys.argv[1], seed + ".gguf"), tensors, **options)
