"""Files of PyTorch, zip and legacy."""
import tiny_writers as w
from cases import BIN, Want, case, note, one, warning
from inputs_safetensors import POINTER, POINTER_SAYS
from tiny_writers import write

Z_ZIP = w.torch_zip()
Z = Z_ZIP.bytes()
L = w.torch_legacy()

one("R70", "a torch zip cut by one byte", "damaged", Z[:-1], [Want("torch.truncated", BIN)], file=BIN)
HALF = Z_ZIP.places["data/1"][1] + 8  # inside data/1
one("R70", "a torch zip cut inside a tensor", "damaged", Z[:HALF], [Want("torch.truncated", BIN, says=("data/0",))], file=BIN)
one("R71", "4 KiB of HTML", "unusable", w.web_page("Access denied", 4096), [Want("content.web_page", BIN, says=("Access denied",))], file=BIN)
one("R73", "a torch zip without data/2", "damaged", w.torch_zip(without=["data/2"]).bytes(), [Want("torch.record_missing", BIN, tensors=["head.bias"], says=("data/2",))],
    file=BIN)
AT = Z_ZIP.places["data/1"]
one("R74", "one byte of data 1 changed", "damaged", w.with_bytes(Z, AT[1] + 3, bytes([Z[AT[1] + 3] ^ 1])),
    [Want("torch.crc_mismatch", BIN, AT[1], AT[2], ["head.weight"], says=("data/1",))], file=BIN, options=("--deep",))
one("R74", "one byte of a local header changed", "damaged", w.with_bytes(Z, AT[0], b"X"), [Want("torch.bad_local_header", BIN, AT[0], tensors=["head.weight"], says=("data/1",))],
    file=BIN)
one("R76", "a Git LFS pointer named bin", "unusable", POINTER, [Want("lfs.pointer", BIN, says=POINTER_SAYS)], file=BIN)
one("R77", "a web page named bin", "unusable", w.web_page(), [Want("content.web_page", BIN, says=("Sign in",))], file=BIN)
one("D8", "zeros named bin", "damaged", bytes(5000), [Want("file.never_written", BIN, 0, 5000)], file=BIN)
one("D8", "no bytes named bin", "damaged", b"", [Want("file.empty", BIN)], file=BIN)
one("D8", "a pickle of another program named bin", "unusable", b"\x80\x02}q\x00" + w.unicode_of("step") + b"K\x05s.", [Want("content.other_format", BIN, 0)], file=BIN)
one("D8", "a torch zip copied as text", "damaged", w.torch_zip().bytes().replace(b"\n", b"\r\n"), [Want("text.crlf", BIN, 0)], file=BIN)
one("R79", "a pickle that calls os system", "unusable", w.torch_zip(more=w.CALL_OF_SYSTEM).bytes(), [Want("torch.unsafe_global", BIN, says=("os", "system"))], file=BIN)


@case("C26", "TorchScript", "whole")
def _(folder):
    file = w.Zip().add("data.pkl", w.state_dict(w.TORCH_TENSORS)).add("code/__torch__.py", b"pass\n").add("constants.pkl", b"\x80\x02).")
    for i, (name, shape) in enumerate(w.TORCH_TENSORS):
        file.add("data/%d" % i, w.noise_of(name, 4 * w.product(shape)))
    write(folder / "model.pt", file.add("version", b"3\n").bytes())
    return [note("torch.script", "model.pt")]


one("C28", "a legacy pickle cut", "damaged", L[:-5], [Want("torch.truncated", BIN, len(L) - 5, 5, ["head.bias"], says=(str(len(L) - 5), str(len(L))))], file=BIN)
one("C29", "a class that is not on the list", "whole", w.torch_zip(more=w.unicode_of("extra") + w.global_of("my_package.models", "Config") + b")R").bytes(),
    [warning("torch.unlisted_global", BIN, says=("my_package.models", "Config"))], file=BIN)
