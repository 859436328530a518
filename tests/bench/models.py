"""models.py: the models that are measured, made in the scratch folder."""
import json
import os
import struct

from contenders import SHARD

PIECE = 64 << 20
TENSOR = 128 << 20
SMALL = 16 << 10


def header(size):
    """Header of a shard of exactly `size` bytes: one small tensor, then big ones."""
    room = 256 + 128 * (size // TENSOR + 2)
    end, at, tensors = size - 8 - room, min(SMALL, (size - 8 - room) // 2), {}
    tensors["small"] = {"dtype": "U8", "shape": [at], "data_offsets": [0, at]}
    while at < end:
        stop = min(at + TENSOR, end)
        tensors[f"layer.{len(tensors)}.weight"] = {"dtype": "U8", "shape": [stop - at], "data_offsets": [at, stop]}
        at = stop
    return struct.pack("<Q", room) + json.dumps(tensors).encode().ljust(room)


def write_shard(path, size):
    """A valid safetensors file of exactly `size` bytes, no two of its blocks equal."""
    noise = os.urandom(min(PIECE, size) + 8192)
    head = header(size)
    with open(path, "wb") as file:
        file.write(head)
        left, turn = size - len(head), 0
        while left:
            shift = turn * 61 % 8192
            piece = memoryview(noise)[shift:shift + min(PIECE, left)]
            file.write(piece)
            left -= len(piece)
            turn += 1
        os.fsync(file.fileno())


def one_shard(folder, size):
    model = os.path.join(folder, "model")
    os.mkdir(model)
    write_shard(os.path.join(model, SHARD), size)
    return model
