"""Writes pickles of torch files to start fuzzing from: torch_pickle.py FOLDER."""
import collections
import pathlib
import pickle
import sys

import torch_writer as writer

FOLDER = pathlib.Path(sys.argv[1])
T, Call, Global = writer.T, writer.Call, writer.Global
TENSOR = T("float32", (2, 3), bytes(24))
SCALES = T("float32", (2,), bytes(16))
SIZE = Call(Global("torch", "Size"), (2, 3))
VALUES = {
    "two": {"a": TENSOR, "b": SCALES},
    "parameter": {"p": Call(Global("torch._utils", "_rebuild_parameter"), TENSOR, True, None)},
    "state": {"p": Call(Global("torch._utils", "_rebuild_parameter_with_state"), TENSOR, True, None, {"inner": SCALES})},
    "sparse": Call(Global("torch._utils", "_rebuild_sparse_tensor"), Call(Global("torch.serialization", "_get_layout"), "torch.sparse_csr"), (TENSOR, TENSOR, SCALES, SIZE)),
    "meta": [Call(Global("torch._utils", "_rebuild_meta_tensor_no_storage"), Global("torch", "float16"), (2, 3), (3, 1), False)],
    "subclass": Call(Global("torch._tensor", "_rebuild_from_type_v2"), Global("torch._utils", "_rebuild_meta_tensor_no_storage"), Global("a", "b"),
                     (Global("torch", "int8"), (2,), (1,), False), {"x": TENSOR}),
    "ordered": Call(Global("collections", "OrderedDict"), [["a", TENSOR], ("b", SCALES)]),
}

for name, value in VALUES.items():
    (FOLDER / name).write_bytes(writer.Pickler().dump(value))
plain = {"a": [1, -1, 1 << 20, 1 << 70, 1.5, None, True], "b": ("x", b"y", {1, 2}, frozenset("z"), bytearray(b"w")), "c": collections.OrderedDict(d=1), "e": {"f": {}}}
for protocol in range(2, 6):
    (FOLDER / f"python{protocol}").write_bytes(pickle.dumps(plain, protocol))
