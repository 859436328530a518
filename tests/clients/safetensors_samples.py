"""safetensors files made by chance: legal ones with everything unusual a header may have, and the same with small changes to the text."""
import json
import re
import struct

BITS = {"BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16,
        "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "C64": 64, "F64": 64, "I64": 64, "U64": 64}
NAMES = ["a", "b", "c", "", "é", 'x\\"y', "long" * 20, "__meta"]
METADATA = ["{}", "null", '{"format":"pt"}', '{"a":1}', "[]", "3", '{"a":null}']
# What may stand in place of a word of the text. One thing is left out: {"F32":null} for a dtype, which serde takes for an enum, no writer
# writes, and our reader refuses (core/formats/safetensors_json.h).
WORDS = ["-1", "1.0", "1e2", "18446744073709551615", "18446744073709551616", "9223372036854775808", "null", "true", '"F32"', '"F8_XYZ"', "[]", "{}", "[1,2,3]", "-0", "01", "1e999",
         '"\\ud800"', '"\\u0000"', "\x00", " ", "\n", ",", "[", "]", "{", "}", '"', "0", "1", "2", "7", "3", '"dtype"', '"shape"', "\xef\xbb\xbf", '["F32"]']


def entry(rng, dtype, shape, begin, end):
    fields = ['"dtype":"%s"' % dtype, '"shape":%s' % json.dumps(shape), '"data_offsets":[%d,%d]' % (begin, end)]
    if rng.random() < 0.1:
        return '["%s",%s,[%d,%d]]' % (dtype, json.dumps(shape), begin, end)  # serde takes a struct as a list too
    if rng.random() < 0.1:
        fields.append('"extra":{"q":[1.5,null,true]}')
    rng.shuffle(fields)
    return "{" + ",".join(fields) + "}"


def legal_text(rng):
    """(text of a header, bytes of data)"""
    at, parts = 0, []
    for name in rng.sample(NAMES, rng.randint(0, 4)):
        dtype, shape = rng.choice(list(BITS)), [rng.choice([0, 1, 2, 3, 4, 8]) for _ in range(rng.randint(0, 3))]
        bits = BITS[dtype]
        for size in shape:
            bits *= size
        parts.append('"%s":%s' % (name, entry(rng, dtype, shape, at, at + (bits + 7) // 8)))
        at += (bits + 7) // 8
    if rng.random() < 0.3:
        parts.append('"__metadata__":' + rng.choice(METADATA))
    if rng.random() < 0.05:
        parts.append(rng.choice(parts) if parts else '"a":3')
    rng.shuffle(parts)
    return ("{" + ",".join(parts) + "}").encode(), at


def changed(rng, text):
    how, at = rng.random(), rng.randint(0, len(text))
    if how < 0.35:
        return text[:at] + text[at + rng.randint(1, 3):]
    if how < 0.8:
        words = list(re.finditer(rb'"[^"]*"|\d+|[\[\]{},:]', text))
        if not words:
            return text
        word = rng.choice(words)
        return text[:word.start()] + rng.choice(WORDS).encode("latin1") + text[word.end():]
    if how < 0.9:
        return text[:at] + rng.choice(WORDS).encode("latin1") + text[at:]
    return text[:at] + bytes([rng.randrange(256)]) + text[at:]


def random_file(rng):
    text, size = legal_text(rng)
    for _ in range(rng.choice([0, 0, 1, 1, 1, 2, 3])):
        text = changed(rng, text)
    if rng.random() < 0.1:
        text = rng.choice([b" ", b"\n\t", b"\xef\xbb\xbf", b"\0"]) + text
    if rng.random() < 0.1:
        text += rng.choice([b"  ", b"\0", b"x", b"{}", b"\0\0  "])
    if rng.random() < 0.02:
        depth = rng.randint(124, 129)  # serde_json's limit lies among these
        text, size = b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"z":' + b"[" * depth + b"]" * depth + b"}}", 1
    body = struct.pack("<Q", len(text)) + text + rng.randbytes(max(0, size + rng.choice([0, 0, 0, 0, 0, 1, -1, -2])))
    return body[:rng.randint(0, len(body))] if rng.random() < 0.03 else body
