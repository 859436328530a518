"""A user's program: shards of torch.save, written and loaded by the real libraries. Run by the interpreter of the tests' own virtual environment.

bin_client.py split SOURCE FOLDER    writes SOURCE's tensors as two .bin shards without an index
bin_client.py load SOURCE FOLDER     transformers loads FOLDER as it finds it; every parameter equals SOURCE's
"""
import json
import os
import sys

import safetensors.torch
import torch


def split(source, folder):
    tensors = safetensors.torch.load_file(source)
    names = sorted(tensors)
    for number, part in ((1, names[0::2]), (2, names[1::2])):
        torch.save({name: tensors[name] for name in part}, os.path.join(folder, "pytorch_model-%05d-of-00002.bin" % number))
    return len(names)


def load(source, folder):
    import transformers
    wanted = safetensors.torch.load_file(source)
    model, info = transformers.AutoModel.from_pretrained(folder, output_loading_info=True, use_safetensors=False)
    if info["missing_keys"]:
        raise SystemExit("not loaded: %s" % list(info["missing_keys"])[:5])
    found = model.state_dict()
    compared = [name for name in wanted if name in found]
    for name in compared:
        if not torch.equal(found[name], wanted[name].to(found[name].dtype)):
            raise SystemExit("%s differs" % name)
    return len(compared)


if __name__ == "__main__":
    print(json.dumps({"tensors": {"split": split, "load": load}[sys.argv[1]](*sys.argv[2:])}))
