"""models.py: small safetensors models for tests, and what the tests read of a seal and of JSON lines. Needs nothing but Python."""
import json
import os
import random
import struct

BLOCK = 4096
DTYPE_BYTES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1, "F8_E4M3": 1, "F8_E5M2": 1}


def write_safetensors(path, tensors, seed=0, metadata=None):
    """Writes [(name, dtype, shape)] with noise for data. Returns {name: (dtype, shape, begin, end)}, places in bytes of the file."""
    header, at = {"__metadata__": metadata} if metadata else {}, 0
    for name, dtype, shape in tensors:
        size = DTYPE_BYTES[dtype]
        for dimension in shape:
            size *= dimension
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + random.Random(seed).randbytes(at))
    return read_header(path)


def read_header(path):
    """{name: (dtype, shape, begin, end)} by a reader of our own."""
    with open(path, "rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        rows = json.loads(file.read(length))
    return {name: (row["dtype"], row["shape"], row["data_offsets"][0] + 8 + length, row["data_offsets"][1] + 8 + length) for name, row in rows.items() if name != "__metadata__"}


def shard_name(number, count):
    return "model-%05d-of-%05d.safetensors" % (number, count)


def write_model(folder, shards=2, tensors=3, floats=8000, index=False, seed=1):
    """A model of numbered shards (one: model.safetensors) with a config. Returns {file: {tensor: (dtype, shape, begin, end)}}."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump({"model_type": "bert", "hidden_size": 64}, file)
    out = {}
    for i in range(1, shards + 1):
        name = "model.safetensors" if shards == 1 else shard_name(i, shards)
        rows = [("layers.%d.w%d" % (i, t), "F32", (floats,)) for t in range(tensors)]
        out[name] = write_safetensors(os.path.join(folder, name), rows, seed * 1000 + i, {"format": "pt"})
    if index:
        weights = {tensor: name for name, rows in out.items() for tensor in rows}
        with open(os.path.join(folder, "model.safetensors.index.json"), "w") as file:
            json.dump({"metadata": {"total_size": shards * tensors * floats * 4}, "weight_map": weights}, file)
    return out


def tensors_cut(rows, offset, length):
    """Names of the tensors of a file that a byte range cuts."""
    return sorted(name for name, (_, _, begin, end) in rows.items() if begin < offset + length and end > offset)


def records(text, kind=None):
    """Every line of text as a JSON object, of one type when it is given. A line that is no object is an error."""
    out = [json.loads(line) for line in text.splitlines()]
    for record in out:
        if not isinstance(record, dict) or "type" not in record:
            raise AssertionError("no record: %r" % record)
    return [record for record in out if kind is None or record["type"] == kind]


def names_below(folder):
    """Every path below a folder, relative, sorted."""
    return sorted(os.path.relpath(os.path.join(top, name), folder) for top, folders, files in os.walk(folder) for name in folders + files)
