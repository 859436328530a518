"""A user's program: reads safetensors files by the Python library. Run by the interpreter of the tests' own virtual environment.

safetensors_client.py compare SOURCE FILE...   every tensor of the FILEs by every way equals SOURCE's, and together they are all of them
safetensors_client.py index SOURCE FOLDER      the same, each tensor found by FOLDER's model.safetensors.index.json
safetensors_client.py open FILE [BACKEND]      reads every tensor of FILE
safetensors_client.py metadata FILE            what the library says of the file's __metadata__
"""
import json
import os
import sys

import safetensors
import safetensors.numpy

BACKENDS = ({}, {"backend": "pread"})  # the default is mmap


def same(found, wanted):
    return found.dtype == wanted.dtype and found.shape == wanted.shape and found.tobytes() == wanted.tobytes()


def read_all(path, **options):
    with safetensors.safe_open(path, framework="np", **options) as file:
        return {name: file.get_tensor(name) for name in file.keys()}


def require(condition, *words):
    if not condition:
        raise SystemExit(" ".join(map(str, words)))


def compare(wanted, *paths):
    seen = set()
    for path in paths:
        ways = [("safe_open %s" % way, read_all(path, **way)) for way in BACKENDS] + [("load_file", safetensors.numpy.load_file(path))]
        for way, tensors in ways:
            for name, tensor in tensors.items():
                require(same(tensor, wanted[name]), name, "of", path, "differs by", way)
            require(set(tensors) == set(ways[0][1]), path, "has other tensors by", way)
        seen |= set(ways[0][1])
    require(seen == set(wanted), "tensors missing:", sorted(set(wanted) - seen)[:5])
    return len(seen)


def by_index(wanted, folder):
    with open(os.path.join(folder, "model.safetensors.index.json")) as file:
        index = json.load(file)
    require(index["metadata"]["total_size"] == sum(t.nbytes for t in wanted.values()), "total_size is", index["metadata"]["total_size"])
    require(set(index["weight_map"]) == set(wanted), "weight_map lists", len(index["weight_map"]), "tensors")
    for name, tensor in wanted.items():
        with safetensors.safe_open(os.path.join(folder, index["weight_map"][name]), framework="np") as file:
            require(same(file.get_tensor(name), tensor), name, "differs by the index")
    return len(wanted)


def metadata(path):
    with safetensors.safe_open(path, framework="np") as file:
        return file.metadata()


def main(what, first, *rest):
    if what == "open":
        return len(read_all(first, **({"backend": rest[0]} if rest else {})))
    return {"compare": compare, "index": by_index}[what](safetensors.numpy.load_file(first), *rest)


if __name__ == "__main__":
    print(json.dumps({"metadata": metadata(sys.argv[2])} if sys.argv[1] == "metadata" else {"tensors": main(*sys.argv[1:])}))
