"""GGUF files for readers to agree on: good ones, one for each rule broken, and any number made by chance."""
import struct

from format_tables import mounts  # noqa: F401  (puts tests/support on the path)
from gguf_writer import ARRAY, TYPES, VALUES, build, info, key, text

ARCH = ("general.architecture", "str", "llama")
TWO = [("a", "F32", (3, 2)), ("b", "F32", (5,))]


def good_files():
    """{file: bytes}"""
    out = {"types-%s" % name.lower(): build([("t", name, (elements * 3, 2)), ("behind", "F32", (3,))]) for name, (_, elements, _) in TYPES.items()}
    out |= {
        "two": build(TWO), "version-2": build(TWO, version=2), "no-padding": build(TWO, end_padding=False), "shapes": build([("one", "F16", (7,)), ("four", "I32", (2, 3, 4, 5))]),
        "scalar": build([("s", "F32", ())]), "unicode": build([("gewicht.ü.重み", "I8", (3,)), ("", "I8", (1,))]),
        "longest-name": build([("n" * 63, "F64", (1,))]),
        "values": build(TWO, keys=[ARCH] + [("v." + kind, kind, "x" if kind == "str" else 1) for kind in VALUES] + [("a." + kind, kind, ["x", ""] if kind == "str" else [1, 0])
                                                                                                                     for kind in VALUES] + [("none", "f32", [])]),
    }
    out |= {"alignment-%d" % n: build(TWO, alignment=n) for n in (8, 64, 4096)}
    out = {name: body for name, (body, _) in out.items()}
    out["trailing"] = out["two"] + b"x" * 1000
    return {name + ".gguf": body for name, body in out.items()}


def raw(pairs, infos, tensors=None, keys=None, version=3, magic=b"GGUF", data=4096):
    return magic + struct.pack("<IQQ", version, len(infos) if tensors is None else tensors, len(pairs) if keys is None else keys) + b"".join(pairs) + b"".join(infos) + bytes(data)


def broken_files():
    """{file: (bytes, our rule, the readers that refuse it too)}. What a reader is not named for, it takes: the honest exceptions.

    python: the package gguf of ggml, hf: @huggingface/gguf, llama: llama.cpp; python?: not asked, because it walks as many elements as it is told of, for hours.
    """
    arch, f32 = key(*ARCH), TYPES["F32"][0]
    one = info("a", f32, (3, 2), 0)
    two = build(TWO)[0]
    infos_end = 24 + len(arch) + 2 * (8 + 1 + 4 + 4 + 8) + 3 * 8
    everyone, strict = "llama python hf", "llama"
    return {name + ".gguf": case for name, case in {
        "magic-old": (b"tjgg" + two[4:], "BadMagic", everyone),
        "magic-page": (b"<!DOCTYPE html>" + two, "BadMagic", everyone),
        "version-0": (raw([arch], [one], version=0), "UnsupportedVersion", everyone),
        "version-1": (raw([arch], [one], version=1), "UnsupportedVersion", everyone),
        "version-4": (raw([arch], [one], version=4), "UnsupportedVersion", everyone),
        "byte-order": (raw([arch], [one], version=0x03000000), "ByteOrder", "llama python hf"),
        "count-2-40": (raw([arch], [one], tensors=1 << 40), "BadCount", everyone),
        "count-negative": (raw([arch], [one], tensors=(1 << 64) - 1), "BadCount", everyone),
        "keys-2-40": (raw([arch], [one], keys=1 << 40), "BadCount", everyone),
        "cut-in-infos": (two[:infos_end - 3], "TruncatedHeader", "llama python"),
        "cut-in-keys": (two[:40], "TruncatedHeader", "llama python"),
        "cut-in-data": (two[:-14], "DataOutOfBounds", "llama python"),
        "key-empty": (raw([key("", "u32", 1)], []), "BadKey", strict),
        "key-no-text": (raw([key(b"k\xff", "u32", 1)], []), "BadKey", "python"),
        "key-twice": (raw([key("k", "u32", 1)] * 2, []), "DuplicateKey", "llama python"),
        "value-type-13": (raw([text("k") + struct.pack("<I", 13) + bytes(8)], []), "BadValue", everyone),
        "array-of-arrays": (raw([text("k") + struct.pack("<IIQ", ARRAY, ARRAY, 1) + struct.pack("<IQ", 0, 0)], []), "BadValue", "llama"),
        "array-type-13": (raw([text("k") + struct.pack("<IIQ", ARRAY, 13, 1) + bytes(8)], []), "BadValue", everyone),
        "array-endless": (raw([text("k") + struct.pack("<IIQ", ARRAY, 0, 1 << 40)], []), "BadValue", "llama python? hf"),
        "text-endless": (raw([text("k") + struct.pack("<IQ", 8, 1 << 40)], []), "BadValue", "llama hf"),
        "alignment-0": (raw([arch, key("general.alignment", "u32", 0)], [one]), "BadAlignment", everyone),
        "alignment-33": (raw([arch, key("general.alignment", "u32", 33)], [one]), "BadAlignment", "llama python"),
        "alignment-u64": (raw([arch, key("general.alignment", "u64", 32)], [one]), "BadAlignment", "llama python"),
        "name-too-long": (raw([arch], [info("n" * 64, f32, (3,), 0)]), "BadName", strict),
        "name-no-text": (raw([arch], [info(b"a\xff", f32, (3,), 0)]), "BadName", "python"),
        "name-with-nul": (raw([arch], [info(b"a\0b", f32, (3,), 0)]), "BadName", ""),
        "tensor-twice": (build([("a", "F32", (3, 2)), ("a", "F32", (5,))])[0], "DuplicateTensor", "llama python"),
        "five-dimensions": (raw([arch], [info("a", f32, (1, 1, 1, 1, 1), 0)]), "BadShape", strict),
        "negative-dimension": (raw([arch], [info("a", f32, ((1 << 64) - 1,), 0)]), "BadShape", everyone),
        "elements-2-63": (raw([arch], [info("a", f32, (1 << 31, 1 << 32), 0)]), "BadShape", "llama python"),
        "block-of-32": (raw([arch], [info("a", TYPES["Q4_0"][0], (33,), 0)]), "BadShape", "llama python"),
        "type-200": (raw([arch], [info("a", 200, (3,), 0)]), "UnknownType", "llama python"),
        "type-removed": (raw([arch], [info("a", 4, (32,), 0)]), "UnknownType", "llama python"),
        "offset-hole": (raw([arch], [info("a", f32, (6,), 0), info("b", f32, (5,), 64)]), "BadOffset", strict),
        "offset-overlap": (raw([arch], [info("a", f32, (6,), 0), info("b", f32, (5,), 0)]), "BadOffset", strict),
        "offset-first": (raw([arch], [info("a", f32, (6,), 32)]), "BadOffset", strict),
    }.items()}


SPECIAL = (0, 1, 2, 3, 5, 31, 32, 33, 63, 64, 255, 256, 1 << 20, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)


def random_good(rng):
    tensors = []
    for name in rng.sample(["a", "b", "blk.0.attn_q.weight", "token_embd.weight", "ü", "x" * 63, "1"], rng.randint(0, 4)):
        dtype = rng.choice([t for t in TYPES if t not in ("Q2_K", "Q8_K")])
        elements = TYPES[dtype][1]
        tensors.append((name, dtype, tuple(elements * rng.randint(1, 3) if i == 0 else rng.randint(1, 4) for i in range(rng.randint(0 if elements == 1 else 1, 4)))))
    keys = [ARCH] + [(name, kind, value) for name, kind, value in (("n", "u32", 7), ("f", "f32", 0.5), ("words", "str", ["a", "bc"]), ("ids", "i32", [1, 2, 3]), ("on", "bool", True),
                                                                   ("name", "str", "model")) if rng.random() < 0.4]
    rng.shuffle(keys)
    return build(tensors, keys=keys, version=rng.choice((2, 3, 3)), alignment=rng.choice((32, 32, 32, 16, 64)), seed=rng.random(), end_padding=rng.random() < 0.8)


def random_file(rng):
    """A good file, changed in up to three places of its header, or cut."""
    body, places = random_good(rng)
    header = min([row[2] for row in places.values()] or [len(body)])
    body = bytearray(body)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        if len(body) < 5:
            break
        at, how = rng.randrange(4, max(5, min(header, len(body)))), rng.random()
        if how < 0.35:
            body[at] = rng.randrange(256)
        elif how < 0.6:
            body[at:at + 8] = struct.pack("<Q", rng.choice(SPECIAL))
        elif how < 0.85:
            body[at:at + 4] = struct.pack("<Q", rng.choice(SPECIAL))[:4]
        elif how < 0.95:
            del body[at:at + rng.choice((1, 4, 8))]
        else:
            body = body[:at]
    if rng.random() < 0.15:
        body = body[:rng.randint(0, len(body))]
    return bytes(body)
