"""Writes torch files to start fuzzing from: torch_file.py FOLDER."""
import pathlib
import sys

import torch_writer as writer

FOLDER = pathlib.Path(sys.argv[1])
VALUES = {
    "plain": {"a": writer.T("float32", (2, 3), bytes(24)), "b": writer.T("int64", (2,), bytes(16))},
    "nested": {"model": {"w": writer.T("float16", (3, 2), bytes(12), stride=(1, 3))}, "list": [1, None, True, 1.5, "x", b"y"]},
    "tied": {"a": writer.T("uint8", (4,), bytes(4), key="k"), "b": writer.T("uint8", (2,), bytes(4), offset=1, key="k")},
    "harm": {"x": writer.Call(writer.Global("posix", "system"), "true")},
    "empty": {},
}

for name, value in VALUES.items():
    whole = writer.zip_file(value)
    (FOLDER / (name + ".zip")).write_bytes(whole)
    (FOLDER / (name + ".cut")).write_bytes(whole[:-1])
    (FOLDER / (name + ".two_sizes")).write_bytes(whole[:18] + b"\1\0\0\0\0\0\0\1" + whole[26:-1])
    (FOLDER / (name + ".zip32")).write_bytes(writer.zip_file(value, zip64=False, checksums=False))
    (FOLDER / (name + ".legacy")).write_bytes(writer.legacy_file(value))
