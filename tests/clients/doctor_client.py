"""A user's program: what the real libraries write and say. Run by the interpreter of the tests' own virtual environment.

doctor_client.py write FOLDER    saves a small model by torch (zip, legacy, with an optimizer), safetensors and transformers (in shards) into subfolders
doctor_client.py errors FILE...  prints, for each FILE, what its library says when it cannot load it, by its default way and by older ones; null where it can
doctor_client.py loads FOLDER    prints {file: null or what its library says}, each file loaded once, by its default way, and every tensor of it read
"""
import json
import os
import sys

import torch


def write(top):
    from safetensors.torch import save_file
    from transformers import BertConfig, BertModel
    torch.manual_seed(1)
    model = BertModel(BertConfig(vocab_size=120, hidden_size=32, num_hidden_layers=3, num_attention_heads=2, intermediate_size=64, max_position_embeddings=40))
    for name in ("zip", "legacy", "training", "plain"):
        os.makedirs(os.path.join(top, name))
    torch.save(model.state_dict(), os.path.join(top, "zip/pytorch_model.bin"))
    torch.save(model.state_dict(), os.path.join(top, "legacy/pytorch_model.bin"), _use_new_zipfile_serialization=False)
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.zeros(1, 4, dtype=torch.long)).last_hidden_state.sum().backward()
    optimizer.step()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3, "loss": 0.5}, os.path.join(top, "training/checkpoint.pt"))
    save_file(model.state_dict(), os.path.join(top, "plain/model.safetensors"))
    model.save_pretrained(os.path.join(top, "sharded"), max_shard_size="40KB")
    model.save_pretrained(os.path.join(top, "single"))
    return len(model.state_dict())


def open_safetensors(path):
    from safetensors import safe_open
    with safe_open(path, framework="pt"):
        pass


def ways_of(path):
    """How programs open such a file. Without weights_only only what names no code: the files come from the test itself, which keeps such away."""
    if path.endswith(".safetensors"):
        return [open_safetensors]
    return [torch.load, lambda p: torch.load(p, weights_only=False), lambda p: torch.load(p, mmap=True)]


def errors_of(path):
    said = []
    for way in ways_of(path):
        try:
            way(path)
            said.append(None)
        except Exception as error:  # noqa: BLE001  whatever it says is the answer
            said.append(str(error))
    return said


def load_all(path):
    if path.endswith(".safetensors"):
        from safetensors.torch import load_file
        load_file(path)
    else:
        torch.load(path)


def loads(folder):
    said = {}
    for name in sorted(os.listdir(folder)):
        try:
            load_all(os.path.join(folder, name))
            said[name] = None
        except Exception as error:  # noqa: BLE001  whatever it says is the answer
            said[name] = "%s: %s" % (type(error).__name__, error)
    return said


def main(what, *paths):
    print(json.dumps(loads(*paths) if what == "loads" else write(*paths) if what == "write" else [errors_of(path) for path in paths]))


if __name__ == "__main__":
    main(*sys.argv[1:])
