#!/usr/bin/env python3
"""Splits one safetensors file into shards, without an index, by nothing but the format: the work of a publisher who forgot one.

usage: split_safetensors.py FILE FOLDER SHARDS
"""
import json
import os
import struct
import sys


def read_header(file):
    (length,) = struct.unpack("<Q", file.read(8))
    header = json.loads(file.read(length))
    return header.pop("__metadata__", None), header, 8 + length


def deal(header, shards):
    """The tensors in file order, cut into groups of about the same number of bytes."""
    ordered = sorted(header.items(), key=lambda item: item[1]["data_offsets"])
    total = sum(end - begin for begin, end in (row["data_offsets"] for _, row in ordered))
    groups, at = [[] for _ in range(shards)], 0
    for name, row in ordered:
        begin, end = row["data_offsets"]
        groups[min(at * shards // max(total, 1), shards - 1)].append((name, row))
        at += end - begin
    return groups


def write_shard(source, base, path, metadata, group):
    header, at = ({"__metadata__": metadata} if metadata else {}), 0
    for name, row in group:
        begin, end = row["data_offsets"]
        header[name] = {"dtype": row["dtype"], "shape": row["shape"], "data_offsets": [at, at + end - begin]}
        at += end - begin
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for _, row in group:
            source.seek(base + row["data_offsets"][0])
            out.write(source.read(row["data_offsets"][1] - row["data_offsets"][0]))


def split(path, folder, shards):
    """Writes FOLDER/model-0000i-of-0000n.safetensors and returns their names."""
    names = ["model-%05d-of-%05d.safetensors" % (i + 1, shards) for i in range(shards)]
    with open(path, "rb") as source:
        metadata, header, base = read_header(source)
        for name, group in zip(names, deal(header, shards)):
            write_shard(source, base, os.path.join(folder, name), metadata, group)
    return names


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    print("\n".join(split(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
