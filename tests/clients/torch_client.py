"""A user's program: saves what people save with the real torch, and says what is in a file. Run by the interpreter of the tests' own virtual environment.

torch_client.py make FOLDER       saves every sample; prints {file: {tensor: {dtype, shape, bytes as hex or null}}}
torch_client.py load FILE...      {file: null or the exception of torch.load(weights_only=True)}
torch_client.py unsafe FILE...    {file: the globals that torch.load(weights_only=True) refuses}
torch_client.py allowed           every global that it takes
"""
import collections
import json
import sys
import warnings

import torch

warnings.simplefilter("ignore")

OLD_DTYPES = ["float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex128", "complex64"]
NEW_DTYPES = ["complex32", "uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
              "float4_e2m1fn_x2", "bits8", "bits16"]


def of_bytes(dtype, *shape):
    """A tensor whose bytes are all different as far as they go."""
    dtype = getattr(torch, dtype)
    size = torch.empty(1, dtype=dtype).element_size()
    count = int(torch.Size(shape).numel())
    data = torch.arange(count * size, dtype=torch.int64).remainder(251).to(torch.uint8)
    if dtype == torch.bool:
        data = data.remainder(2)
    return data.view(dtype).reshape(shape) if count else torch.empty(shape, dtype=dtype)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(5, 4)
        self.layers = torch.nn.ModuleList([torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4)])
        self.head = torch.nn.Linear(4, 5, bias=False)
        self.head.weight = self.embed.weight
        self.register_buffer("steps", torch.tensor(7))


class Scripted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 3)
        self.register_buffer("scale", of_bytes("float16", 4))

    def forward(self, x):
        return self.linear(x)


def trained():
    net = torch.nn.Linear(3, 2)
    optimizer = torch.optim.AdamW(net.parameters())
    net(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    return {"model": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3, "lr": 0.1, "args": {"name": "x", "none": None, "flag": True},
            "rng": torch.get_rng_state()}


def views():
    base = of_bytes("float32", 6, 4)
    return {"base": base, "row": base[2], "column": base[:, 1], "transposed": base.t(), "every_other": base[::2, ::3], "expanded": base[0].expand(3, 4),
            "last": base[5, 3], "none": base[6:], "tied": base, "flat": base.view(-1)[5:11]}


def plain():
    return {"a": of_bytes("float32", 2, 3), "b": of_bytes("int64", 4), "c.weight": of_bytes("float16", 3, 1, 2), "scalar": of_bytes("bfloat16"), "empty": torch.empty(0, 4),
            "ones": of_bytes("uint8", 1, 1, 1, 1, 1, 1)}


def with_attribute():
    parameter = torch.nn.Parameter(of_bytes("float32", 3))
    parameter.note = "kept"
    return {"p": parameter}


def quantized():
    by_tensor = torch.quantize_per_tensor(torch.arange(6.0).reshape(2, 3), 0.1, 3, torch.qint8)
    by_channel = torch.quantize_per_channel(torch.arange(6.0).reshape(2, 3), torch.tensor([0.1, 0.2]), torch.tensor([1, 2]), 0, torch.quint8)
    return {"t": by_tensor, "c": by_channel, "wide": torch.quantize_per_tensor(torch.arange(4.0), 0.1, 0, torch.qint32)}


def half_bytes():
    values = torch.arange(15.0).reshape(3, 5)
    return {"q": torch.quantize_per_channel(values, torch.ones(3), torch.zeros(3), 0, torch.quint4x2)}


def sparse():
    dense = torch.tensor([[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]])
    return {"coo": dense.to_sparse(), "csr": dense.to_sparse_csr(), "csc": dense.to_sparse_csc(), "bsr": torch.eye(4).to_sparse_bsr((2, 2))}


def other_values():
    return {"t": of_bytes("int32", 2), "size": torch.Size([1, 2]), "dtype": torch.float16, "device": torch.device("cpu"), "set": {1, 2}, "complex": 1 + 2j,
            "bytes": b"\x00\xff" * 4, "bytearray": bytearray(b"abc"), "big": 1 << 100, "negative": -5, "counter": collections.Counter("abca"), "text": "ä" * 300,
            "tuple": (1, of_bytes("int8", 2), (3, 4, 5, of_bytes("int16", 1))), "keys": {0: of_bytes("uint8", 1), True: of_bytes("uint8", 2), None: of_bytes("uint8", 3)},
            "layout": torch.strided and None, "many": list(range(5000)), "deep": [[[[{"x": [of_bytes("uint8", 9)]}]]]]}


def samples():
    """(name, object, options of torch.save, torch.load(weights_only=True) takes it)"""
    state = Net().state_dict()
    yield "plain", plain(), {}
    yield "views", views(), {}
    yield "state_dict", state, {}
    yield "trained", trained(), {}
    yield "module", Net(), {}
    yield "parameters", {"p": torch.nn.Parameter(of_bytes("float32", 2, 2)), "b": torch.nn.Buffer(of_bytes("float32", 2))}, {}
    yield "attribute", with_attribute(), {}
    yield "values", other_values(), {}
    yield "root_tensor", of_bytes("float32", 3), {}
    yield "root_list", [of_bytes("float32", 3), [of_bytes("int8", 2)], {"x": of_bytes("int16", 1)}], {}
    yield "nothing", {}, {}
    yield "conjugate", {"c": of_bytes("complex64", 3).conj(), "n": of_bytes("complex64", 3).conj().imag}, {}
    yield "old_dtypes", {name: of_bytes(name, 3, 2) for name in OLD_DTYPES}, {}
    yield "new_dtypes", {name: of_bytes(name, 3, 2) for name in NEW_DTYPES}, {}
    yield "many", {f"layer.{i}.weight": of_bytes("float32", i % 7, 3) for i in range(700)}, {}
    for name, make in (("quantized", quantized), ("half_bytes", half_bytes), ("sparse", sparse)):
        try:
            yield name, make(), {}
        except (RuntimeError, NotImplementedError, AttributeError) as error:
            print(f"{name}: this torch cannot make it: {error}", file=sys.stderr)
    yield "meta", {"m": torch.empty(3, 4, device="meta"), "r": of_bytes("int8", 2)}, {}
    for protocol in (3, 4, 5):
        yield f"protocol_{protocol}", {"a": plain(), "v": views(), "o": other_values()}, {"pickle_protocol": protocol}


def bytes_of(tensor):
    """What the file must hold from the first to the last element, gaps included, by torch's own storage and strides."""
    if tensor.is_meta:
        return b""
    size = tensor.element_size()
    storage = bytes(tensor.untyped_storage())
    if tensor.numel() == 0:
        return b""
    if tensor.dtype == torch.quint4x2:
        return storage
    first = tensor.storage_offset() * size
    last = sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride()))
    return storage[first:first + (last + 1) * size]


def parts(tensor):
    """(what a part adds to the name, the part)"""
    if tensor.layout == torch.sparse_coo:
        return [("indices", tensor._indices()), ("values", tensor._values())]
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return [("crow_indices", tensor.crow_indices()), ("col_indices", tensor.col_indices()), ("values", tensor.values())]
    if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        return [("ccol_indices", tensor.ccol_indices()), ("row_indices", tensor.row_indices()), ("values", tensor.values())]
    found = [("", tensor)]
    if tensor.is_quantized and tensor.qscheme() in (torch.per_channel_affine, torch.per_channel_affine_float_qparams):
        found += [("scales", tensor.q_per_channel_scales()), ("zero_points", tensor.q_per_channel_zero_points())]
    return found


def walk(value, path=()):
    if isinstance(value, torch.nn.Module):
        for name, tensor in list(value.named_parameters(remove_duplicate=False)) + list(value.named_buffers(remove_duplicate=False)):
            yield name, tensor
    elif isinstance(value, torch.Tensor):
        for word, tensor in parts(value):
            yield ".".join(path + ((word,) if word else ())) or "tensor", tensor
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from walk(item, path + (str(key),))
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield from walk(item, path + (str(i),))


def described(value):
    return {name: {"dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape), "bytes": bytes_of(tensor).hex()} for name, tensor in walk(value)}


def make(folder):
    made = {}

    def save(name, value, **options):
        path = f"{folder}/{name}"
        torch.save(value, path, **options)
        made[path] = described(value)

    for name, value, options in samples():
        save(name + ".pt", value, **options)
        if name not in ("new_dtypes", "quantized", "half_bytes"):
            save(name + ".legacy.pt", value, _use_new_zipfile_serialization=False, **options)
    script = Scripted()
    torch.jit.save(torch.jit.script(script), f"{folder}/script.pt")
    made[f"{folder}/script.pt"] = described(script)
    torch.serialization.set_crc32_options(False)
    save("no_checksums.pt", plain())
    torch.serialization.set_crc32_options(True)
    from torch.utils.serialization import config
    config.save.storage_alignment = 4096
    save("aligned.pt", plain())
    return made


def load(paths):
    verdicts = {}
    for path in paths:
        try:
            torch.load(path, weights_only=True)
            verdicts[path] = None
        except Exception as error:  # noqa: BLE001: whatever it is, it is the answer
            verdicts[path] = f"{type(error).__name__}: {error}"
    return verdicts


def unsafe(paths):
    return {path: sorted(torch.serialization.get_unsafe_globals_in_checkpoint(path)) for path in paths}


def allowed():
    from torch import _weights_only_unpickler
    return sorted(_weights_only_unpickler._get_allowed_globals())


if __name__ == "__main__":
    what, *words = sys.argv[1:]
    print(json.dumps({"make": lambda: make(*words), "load": lambda: load(words), "unsafe": lambda: unsafe(words), "allowed": allowed}[what]()))
