"""Changed bytes: what only a full read (--deep) sees."""
import hashlib
import struct

import tiny_writers as w
from cases import FILE, Want, case, note, one, warning
from tiny_writers import write

WIDE = [("first.weight", "F32", (64, 64)), ("second.weight", "F32", (64, 64)), ("second.bias", "F32", (64,))]
W = w.safetensors(WIDE)
W_DATA = w.data_offset(W)


ZERO_TENSOR = w.with_bytes(W, W_DATA + 16384, bytes(16384))
one("R36", "a tensor of zeros", "whole", ZERO_TENSOR, [warning("data.zero_tensor", FILE, W_DATA + 16384, 16384, ["second.weight"])], options=("--deep",))
one("R36", "a bias of zeros is none", "whole", w.with_bytes(W, W_DATA + 32768, bytes(256)), [], options=("--deep",))
ODD = w.with_bytes(W, W_DATA + 400, struct.pack("<ff", float("nan"), float("inf")))
one("R37", "NaN and Inf", "whole", ODD, [note("data.not_finite", FILE, tensors=["first.weight"])], options=("--deep",))


def flip_far_inside(folder):
    raw = bytearray((folder / FILE).read_bytes())
    raw[W_DATA + 26000] ^= 1
    (folder / FILE).write_bytes(raw)


BAD_BLOCK = (W_DATA + 26000) // 4096
one("R38", "one bit changed after sealing", "damaged", W, [Want("seal.block_mismatch", FILE, BAD_BLOCK * 4096, 4096, ["second.weight"])], options=("--deep",),
    sealed=True, spoil=flip_far_inside)


@case("C40", "line ends converted", "damaged")
def _(folder):
    raw = w.safetensors([("x", "U8", (26000,), (b"line\n" + w.noise_of("x", 35)) * 500)])
    write(folder / FILE, raw.replace(b"\n", b"\r\n"))
    write(folder / "SHA256SUMS", ("%s  %s\n" % (hashlib.sha256(raw).hexdigest(), FILE)).encode())
    return [Want("text.crlf", FILE)]


@case("C39", "the right size and other bytes", "damaged", options=("--deep",))
def _(folder):
    write(folder / FILE, w.with_bytes(W, W_DATA + 26000, b"!"))
    write(folder / "SHA256SUMS", ("%s  %s\n" % (hashlib.sha256(W).hexdigest(), FILE)).encode())
    return [Want("publisher.digest_mismatch", FILE, says=("bytes changed", hashlib.sha256(W).hexdigest()))]
