"""gguf_writer.py: small GGUF files for tests, good ones and ones broken on purpose. Needs nothing but Python.

The table of types is its own, not the product's: name -> (id, elements of a block, bytes of a block), from ggml.h.
"""
import random
import struct

TYPES = {
    "F32": (0, 1, 4), "F16": (1, 1, 2), "Q4_0": (2, 32, 18), "Q4_1": (3, 32, 20), "Q5_0": (6, 32, 22), "Q5_1": (7, 32, 24), "Q8_0": (8, 32, 34), "Q8_1": (9, 32, 36),
    "Q2_K": (10, 256, 84), "Q3_K": (11, 256, 110), "Q4_K": (12, 256, 144), "Q5_K": (13, 256, 176), "Q6_K": (14, 256, 210), "Q8_K": (15, 256, 292),
    "IQ2_XXS": (16, 256, 66), "IQ2_XS": (17, 256, 74), "IQ3_XXS": (18, 256, 98), "IQ1_S": (19, 256, 50), "IQ4_NL": (20, 32, 18), "IQ3_S": (21, 256, 110),
    "IQ2_S": (22, 256, 82), "IQ4_XS": (23, 256, 136), "I8": (24, 1, 1), "I16": (25, 1, 2), "I32": (26, 1, 4), "I64": (27, 1, 8), "F64": (28, 1, 8),
    "IQ1_M": (29, 256, 56), "BF16": (30, 1, 2), "TQ1_0": (34, 256, 54), "TQ2_0": (35, 256, 66), "MXFP4": (39, 32, 17), "NVFP4": (40, 64, 36), "Q1_0": (41, 128, 18),
    "Q2_0": (42, 64, 18),
}
VALUES = {"u8": (0, "B"), "i8": (1, "b"), "u16": (2, "H"), "i16": (3, "h"), "u32": (4, "I"), "i32": (5, "i"), "f32": (6, "f"), "bool": (7, "?"), "str": (8, None),
          "u64": (10, "Q"), "i64": (11, "q"), "f64": (12, "d")}
ARRAY = 9


def text(value):
    raw = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(raw)) + raw


def scalar(kind, value):
    return text(value) if kind == "str" else struct.pack("<" + VALUES[kind][1], value)


def key(name, kind, value):
    """One key-value pair; a list is an array."""
    if not isinstance(value, (list, tuple)):
        return text(name) + struct.pack("<I", VALUES[kind][0]) + scalar(kind, value)
    return text(name) + struct.pack("<IIQ", ARRAY, VALUES[kind][0], len(value)) + b"".join(scalar(kind, item) for item in value)


def size_of(dtype, shape):
    _, elements, size = TYPES[dtype]
    count = 1
    for dimension in shape:
        count *= dimension
    return count // elements * size


def padded(size, alignment):
    return (size + alignment - 1) // alignment * alignment


def info(name, type_id, shape, offset):
    return text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", n) for n in shape) + struct.pack("<IQ", type_id, offset)


def build(tensors, keys=(("general.architecture", "str", "llama"),), version=3, alignment=32, seed=0, end_padding=True):
    """[(name, dtype, shape)], shape in the file's own order -> (bytes of the file, {name: (dtype, shape, begin, end)})."""
    pairs = [key(*row) for row in keys]
    if alignment != 32:
        pairs.append(key("general.alignment", "u32", alignment))
    infos, places, at = [], {}, 0
    for name, dtype, shape in tensors:
        infos.append(info(name, TYPES[dtype][0], shape, at))
        places[name] = (dtype, list(shape), at, at + size_of(dtype, shape))
        at = padded(places[name][3], alignment)
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(pairs)) + b"".join(pairs) + b"".join(infos)
    data = padded(len(head), alignment)
    end = at if end_padding or not places else max(row[3] for row in places.values())
    body = head + bytes(data - len(head)) + random.Random(seed).randbytes(end) if tensors else head
    return body, {name: (dtype, shape, begin + data, end_ + data) for name, (dtype, shape, begin, end_) in places.items()}


def write(path, tensors, **options):
    """Writes such a file; returns the places, in bytes of the file."""
    body, places = build(tensors, **options)
    with open(path, "wb") as file:
        file.write(body)
    return places


def write_split(folder, stem, parts, **options):
    """parts: a list of tensor lists. Writes STEM-00001-of-0000N.gguf ...; returns {file: places}."""
    out, total = {}, sum(len(tensors) for tensors in parts)
    for number, tensors in enumerate(parts):
        name = "%s-%05d-of-%05d.gguf" % (stem, number + 1, len(parts))
        keys = [("general.architecture", "str", "llama"), ("split.no", "u16", number), ("split.count", "u16", len(parts)), ("split.tensors.count", "i32", total)]
        out[name] = write("%s/%s" % (folder, name), tensors, keys=keys, seed=number, **options)
    return out
