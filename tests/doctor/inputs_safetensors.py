"""Safetensors files that are cut, empty, something else, or break a rule of the header."""
import hashlib
import json
import os
import struct

import tiny_writers as w
from cases import FILE, Want, case, note, one, warning
from tiny_writers import write

ROWS = [("ids", "I64", (2,)), ("weight", "F32", (2, 3))]
S = w.safetensors(ROWS)
S_DATA = w.data_offset(S)
Z = w.torch_zip().bytes()
G = w.gguf()
DATA = w.noise_of("data", 48)
BIG = w.noise_of("big", 5000)
POINTER = w.lfs_pointer(BIG)
POINTER_SAYS = (hashlib.sha256(BIG).hexdigest(),)


def header_of(*entries):
    """A header as JSON text, with entries that a dictionary could not hold."""
    return "{" + ",".join(['"__metadata__":{"format":"pt"}', *entries]) + "}"


def entry(name, dtype="F32", shape=(2, 3), begin=0, end=24):
    return '"%s":{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}' % (name, dtype, json.dumps(list(shape)), begin, end)


# ---- cut, empty, other content ------------------------------------------------------------------------------------------

one("R01", "cut by one byte", "damaged", S[:-1], [Want("safetensors.truncated", FILE, len(S) - 1, 1, ["weight"], says=("1 byte",))])
one("R01", "half of the data", "damaged", S[:-20], [Want("safetensors.truncated", FILE, len(S) - 20, 20, ["weight"], says=("20 bytes",))])
one("R01", "half of the file", "damaged", S[:len(S) // 2], [Want("safetensors.header_truncated", FILE)])
one("R03", "first 8 bytes zero", "damaged", bytes(8) + S[8:], [Want("file.zero_head", FILE, 0)])
one("R04", "zeros of the same size", "damaged", bytes(len(S)), [Want("file.never_written", FILE)])


@case("R04", "a sparse file", "damaged")
def _(folder):
    write(folder / FILE, b"")
    os.truncate(folder / FILE, 1 << 30)
    return [Want("file.never_written", FILE, 0, 1 << 30)]


one("R05", "no bytes", "damaged", b"", [Want("file.empty", FILE)])
one("R05", "7 bytes", "damaged", S[:7], [Want("file.empty", FILE, says=("7 bytes",))])
one("R06", "header only", "damaged", S[:S_DATA], [Want("safetensors.truncated", FILE, S_DATA, 40, ["ids", "weight"], says=("40 bytes",))])
one("R07", "cut inside the JSON", "damaged", S[:40], [Want("safetensors.header_truncated", FILE)])
one("R08", "a length of 100000001", "damaged", struct.pack("<Q", 100_000_001) + S[8:], [Want("safetensors.length_impossible", FILE, 0, says=("100000001",))])

one("R10", "a Git LFS pointer", "unusable", POINTER, [Want("lfs.pointer", FILE, 0, len(POINTER), says=(*POINTER_SAYS, "5000"))])
one("R10", "a Git LFS pointer given as a file", "unusable", POINTER, [Want("lfs.pointer", FILE, says=POINTER_SAYS)], path=FILE)
one("R10", "a Git LFS pointer with CRLF", "unusable", POINTER.replace(b"\n", b"\r\n"), [Want("lfs.pointer", FILE, says=POINTER_SAYS)])


@case("R10", "a pointer in a clone", "unusable")
def _(folder):
    write(folder / ".git/HEAD", b"ref: refs/heads/main\n")
    write(folder / FILE, POINTER)
    return [Want("lfs.pointer", FILE, says=POINTER_SAYS, command=("git", "lfs pull", FILE))]


@case("R10", "a pointer whose content lies in the store", "unusable")
def _(folder):
    digest = hashlib.sha256(BIG).hexdigest()
    content = ".git/lfs/objects/%s/%s/%s" % (digest[:2], digest[2:4], digest)
    write(folder / content, BIG)
    write(folder / ".git/HEAD", b"ref: refs/heads/main\n")
    write(folder / FILE, POINTER)
    return [Want("lfs.pointer", FILE, says=(digest[:2] + "/" + digest[2:4],))]


one("R11", "a web page", "unusable", w.web_page(), [Want("content.web_page", FILE, says=("Sign in to your account",))])
one("R13", "an error text", "unusable", b"Entry not found", [Want("content.error_text", FILE, says=("Entry not found",))])
one("R15", "a torch zip under this name", "unusable", Z, [Want("content.other_format", FILE, says=("torch.save",))])
one("R16", "a GGUF under this name", "unusable", G, [Want("content.other_format", FILE, says=("GGUF",))])
one("C04", "a byte order mark before a good file", "damaged", b"\xef\xbb\xbf" + S, [Want("content.bom", FILE, 0, 3)])

# ---- rules of the header ------------------------------------------------------------------------------------------------

NOT_UTF8 = S.replace(b"weight", b"we\xffght", 1)
one("R17", "byte ff in the header", "damaged", NOT_UTF8, [Want("safetensors.header_not_utf8", FILE, NOT_UTF8.index(b"\xff"))])

TRAILING_COMMA = header_of(entry("x"))[:-1] + ",}"
one("R18", "a trailing comma", "damaged", w.from_header(TRAILING_COMMA, DATA[:24]), [Want("safetensors.header_json", FILE, 8 + TRAILING_COMMA.rindex("}"))])
one("R18", "single quotes", "damaged", w.from_header(header_of(entry("x")).replace('"', "'"), DATA[:24]), [Want("safetensors.header_json", FILE, 9)])
NO_BRACE = header_of(entry("x"))[:-1]
one("R18", "a missing brace", "damaged", w.from_header(NO_BRACE, DATA[:24]), [Want("safetensors.header_json", FILE)])
one("R19", "two tensors over one range", "damaged", w.from_header(header_of(entry("x"), entry("y")), DATA[:24]), [Want("safetensors.overlap", FILE, tensors=["x", "y"])])
one("R21", "begin after end", "damaged", w.from_header(header_of(entry("x", begin=24, end=0)), DATA[:24]), [Want("safetensors.bad_range", FILE, tensors=["x"])])
PAST = w.from_header(header_of(entry("x"), entry("y", begin=24, end=48)), DATA[:36])
one("R22", "a tensor past the end of the file", "damaged", PAST, [Want("safetensors.truncated", FILE, len(PAST), 12, ["y"], says=("12 bytes",))])
one("R23", "F32 2x3 in 20 bytes", "damaged", w.from_header(header_of(entry("x", end=20)), DATA[:20]), [Want("safetensors.size_mismatch", FILE, tensors=["x"])])
ABSURD = w.from_header(header_of(entry("x", shape=(2, 2 ** 64 - 2))), DATA[:24])
one("R24", "an absurd shape", "damaged", ABSURD, [Want("safetensors.shape_overflow", FILE, tensors=["x"])])
one("R25", "a dtype nobody knows", "unusable", w.from_header(header_of(entry("x", dtype="F8_XYZ", shape=(24,))), DATA[:24]),
    [Want("safetensors.unknown_dtype", FILE, tensors=["x"], says=("F8_XYZ",))])
one("R25", "F4", "whole", w.safetensors([("x", "F4", (4, 8))]), [note("safetensors.needs_newer", FILE, says=("0.6",))])
one("R27", "one name twice and a hole", "damaged", w.from_header(header_of(entry("x"), entry("x", begin=24, end=48)), DATA),
    [Want("safetensors.duplicate_name", FILE, tensors=["x"])])
one("R27", "one name twice and the file fits", "whole", w.from_header(header_of(entry("x"), entry("x")), DATA[:24]),
    [warning("safetensors.duplicate_name", FILE, tensors=["x"])])
one("R29", "a number in the metadata", "damaged", w.from_header('{"__metadata__":{"format":"pt","step":7},%s}' % entry("x"), DATA[:24]),
    [Want("safetensors.metadata_not_text", FILE, says=("step",))])
one("R32", "no metadata", "whole", w.safetensors(ROWS, metadata=None), [note("safetensors.no_format", FILE)])
one("R33", "empty metadata", "whole", w.safetensors(ROWS, metadata={}), [note("safetensors.no_format", FILE)])
one("R33", "metadata is null", "whole", w.from_header('{"__metadata__":null,%s}' % entry("x"), DATA[:24]), [note("safetensors.no_format", FILE)])
one("R34", "no tensors", "whole", w.from_header("{}", align=8), [warning("safetensors.no_tensors", FILE)])


@case("R35", "empty tensors where the config gives them a size", "damaged")
def _(folder):
    write(folder / "config.json", {"model_type": "llama", "hidden_size": 8, "vocab_size": 32, "num_hidden_layers": 1})
    write(folder / FILE, w.safetensors([("model.embed_tokens.weight", "F32", (0,)), ("model.layers.0.mlp.up_proj.weight", "F32", (0,)), ("model.norm.weight", "F32", (8,))]))
    return [Want("model.empty_tensors", FILE, tensors=["model.embed_tokens.weight", "model.layers.0.mlp.up_proj.weight"])]


@case("C05", "a header that is really over 100 MB", "damaged")
def _(folder):
    length = 100_000_008
    text = header_of(entry("x")).encode()
    write(folder / FILE, struct.pack("<Q", length) + text.ljust(length) + DATA[:24])
    return [Want("safetensors.header_too_large", FILE, says=(str(length),))]


one("C10", "bytes behind the end", "damaged", S + b"appended", [Want("safetensors.trailing_bytes", FILE, len(S), 8, says=("8 bytes",))])
one("C10", "two downloads joined", "damaged", S + S, [Want("safetensors.trailing_bytes", FILE, len(S), len(S))])
one("C12", "a hole between tensors", "damaged", w.from_header(header_of(entry("x"), entry("y", begin=28, end=52)), w.noise_of("data", 52)), [Want("safetensors.gap", FILE)])
one("C13", "F8_E8M0", "whole", w.safetensors([("x", "F8_E8M0", (4, 8))]), [note("safetensors.needs_newer", FILE, says=("0.6",))])
UNALIGNED = next(file for file in (w.safetensors(ROWS, metadata={"format": "pt", "x": "a" * i}, align=1) for i in range(2)) if w.data_offset(file) % 8)
one("R41", "a header of odd length", "whole", UNALIGNED, [note("safetensors.unaligned", FILE)])
