"""weight_samples.py: one small model in every weight format, with the place of every tensor found without a parser. Needs nothing but Python."""
import os

import gguf_writer
import models
import mounts
import torch_writer


def torch_tensors(seed):
    """{name: T}, and {name: (dtype, shape, bytes of its data)}; "tied" is "embed" again, "view" its middle."""
    embed, bias = mounts.noise(60_000, seed), mounts.noise(30_000, seed + 1)
    tensors = {
        "embed": torch_writer.T("float32", (150, 100), embed, key="0"),
        "layers": {"0": {"bias": torch_writer.T("bfloat16", (15_000,), bias, key="1")}},
        "tied": torch_writer.T("float32", (150, 100), embed, key="0"),
        "view": torch_writer.T("float32", (10, 100), embed, offset=5000, key="0"),
    }
    rows = {"embed": ("float32", (150, 100), embed), "layers.0.bias": ("bfloat16", (15_000,), bias), "tied": ("float32", (150, 100), embed),
            "view": ("float32", (10, 100), embed[20_000:24_000])}
    return tensors, rows


def write_torch(path, seed=1, legacy=False):
    """Writes a file of torch.save. Returns {name: (dtype, shape, begin, end)}; the places are where the data is found in the file."""
    tensors, rows = torch_tensors(seed)
    body = torch_writer.legacy_file(tensors) if legacy else torch_writer.zip_file(tensors)
    mounts.write_file(path, body)
    return {name: (dtype, list(shape), body.index(data), body.index(data) + len(data)) for name, (dtype, shape, data) in rows.items()}


def write_gguf(path, seed=1, prefix="blk.0"):
    return gguf_writer.write(path, [(prefix + ".norm", "F32", (64,)), (prefix + ".q4", "Q4_K", (256, 90)), (prefix + ".out", "F16", (33, 7, 3))], seed=seed)


def write_all(folder):
    """A folder with every format. Returns {file: {name: (dtype, shape, begin, end)}}."""
    os.makedirs(folder)
    return {
        "model.safetensors": models.write_safetensors(os.path.join(folder, "model.safetensors"), [("st.a", "F32", (64, 50)), ("st.b", "BF16", (999,))]),
        "model-Q4_K.gguf": write_gguf(os.path.join(folder, "model-Q4_K.gguf")),
        "pytorch_model.bin": write_torch(os.path.join(folder, "pytorch_model.bin")),
        "old/legacy.pt": write_torch(os.path.join(folder, "old/legacy.pt"), seed=7, legacy=True),
    }
