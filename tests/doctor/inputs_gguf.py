"""GGUF files and their splits."""
import struct

import tiny_writers as w
from cases import GGUF, Want, case, note, one
from inputs_safetensors import POINTER, POINTER_SAYS
from tiny_writers import write

G = w.gguf()
G_DATA = len(G) - 64  # two tensors of 32 and 24 bytes, both padded to 32

one("R90", "a GGUF cut inside its last tensor", "damaged", G[:-20], [Want("gguf.truncated", GGUF, len(G) - 20, 12, ["output.weight"])], file=GGUF)
one("R90", "a GGUF cut before its tensors", "damaged", G[:G_DATA], [Want("gguf.truncated", GGUF, G_DATA, 56, ["blk.0.weight", "output.weight"])], file=GGUF)
one("R91", "a GGUF cut in its tensor infos", "damaged", G[:110], [Want("gguf.header_truncated", GGUF)], file=GGUF)
one("R92", "a Git LFS pointer named gguf", "unusable", POINTER, [Want("lfs.pointer", GGUF, says=POINTER_SAYS)], file=GGUF)
one("R92", "an old format", "unusable", b"tjgg" + struct.pack("<I", 3) + w.noise_of("old", 600), [Want("gguf.old_format", GGUF)], file=GGUF)
one("R92", "a web page named gguf", "unusable", w.web_page(), [Want("content.web_page", GGUF)], file=GGUF)
one("D8", "zeros named gguf", "damaged", bytes(5000), [Want("file.never_written", GGUF, 0, 5000)], file=GGUF)
for version in (1, 4):
    one("R93", "version %d" % version, "unusable", w.gguf(version=version), [Want("gguf.version", GGUF, says=(str(version),))], file=GGUF)
one("R93", "the byte order of another machine", "unusable", b"GGUF" + struct.pack(">IQQ", 3, 2, 1) + G[24:], [Want("gguf.byte_order", GGUF)], file=GGUF)


def split(number, count, tensors, total):
    keys = [w.gguf_value("general.architecture", "str", "llama"), w.gguf_value("split.no", "u16", number - 1), w.gguf_value("split.count", "u16", count),
            w.gguf_value("split.tensors.count", "i32", total)]
    return w.gguf(tensors, keys)


@case("R94", "part 1 of 2 alone", "incomplete")
def _(folder):
    write(folder / "tiny-00001-of-00002.gguf", split(1, 2, [("a.weight", (8,))], 2))
    return [Want("gguf.split_missing", "tiny-00002-of-00002.gguf")]


one("R97", "one tensor name twice", "damaged", w.gguf([("x", (8,)), ("x", (8,))]), [Want("gguf.duplicate_tensor", GGUF, tensors=["x"])], file=GGUF)
one("R99", "2 to the 40 tensors", "damaged", w.gguf(count=2 ** 40), [Want("gguf.absurd_count", GGUF, says=(str(2 ** 40),))], file=GGUF)
one("R101", "type 200", "unusable", w.gguf(kind=200), [Want("gguf.unknown_type", GGUF, tensors=["blk.0.weight"], says=("200",))], file=GGUF)
one("R102", "bytes behind the end", "whole", G + b"trailing bytes", [note("gguf.trailing_bytes", GGUF, len(G), 14)], file=GGUF)
one("R102", "no padding at the end", "whole", G[:-8], [note("gguf.missing_padding", GGUF)], file=GGUF)
one("C32", "an architecture that only newer engines know", "whole", w.gguf(values=[w.gguf_value("general.architecture", "str", "brandnew")]), [], file=GGUF)


@case("C30", "a raw part of a GGUF", "incomplete")
def _(folder):
    write(folder / "tiny.gguf.part1of2", G[:len(G) - 40])
    return [Want("gguf.raw_part", "tiny.gguf.part1of2", says=("part2of2",))]


@case("C30", "both raw parts of a GGUF", "incomplete")
def _(folder):
    write(folder / "tiny.gguf.part1of2", G[:len(G) - 40])
    write(folder / "tiny.gguf.part2of2", G[len(G) - 40:])
    return [Want("gguf.raw_part", "tiny.gguf.part1of2", command=("cat ", "part1of2", "part2of2", "> "))]
