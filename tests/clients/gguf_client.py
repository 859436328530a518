"""A user's program: reads GGUF files by the Python package gguf. gguf_client.py FOLDER [LEFT OUT...]: a JSON object a line for each *.gguf.

{"file", "tensors": {name: [dtype, shape, begin, end]}}, or {"file", "error"}.
"""
import json
import os
import sys

import gguf


def read(path):
    reader = gguf.GGUFReader(path)
    return {t.name: [t.tensor_type.name, [int(n) for n in t.shape], int(t.data_offset), int(t.data_offset) + int(t.n_bytes)] for t in reader.tensors}


for name in sorted(os.listdir(sys.argv[1])):
    if name.endswith(".gguf") and name not in sys.argv[2:]:
        try:
            print(json.dumps({"file": name, "tensors": read(os.path.join(sys.argv[1], name))}))
        except Exception as error:  # the package has no errors of its own
            print(json.dumps({"file": name, "error": "%s: %s" % (type(error).__name__, error)}))
