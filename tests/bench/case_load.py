"""case_load.py: what people wait for: the first tensor of a cold shard, and all of its tensors, checked in one way or another."""
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import time

import models
from case_reads import mounted, over
from contenders import Vouchfs
from machine import HERE, Failed, call
from samples import Case

sys.path.insert(0, os.path.join(HERE, "../clients"))
import setup  # noqa: E402


def python():
    """An interpreter that has safetensors and numpy: VOUCHFS_BENCH_PYTHON, that of the client tests, or this one."""
    for path in filter(None, (os.environ.get("VOUCHFS_BENCH_PYTHON"), setup.format_python(), sys.executable)):
        if pathlib.Path(path).exists() and subprocess.run([path, "-c", "import safetensors.numpy"], capture_output=True).returncode == 0:
            return str(path)
    raise Failed("no Python here has safetensors; tests/clients/setup.py formats installs one, VOUCHFS_BENCH_PYTHON names another")


class Loader:
    def __init__(self, folder):
        warm = os.path.join(folder, "warm.safetensors")
        models.write_shard(warm, 1 << 20)
        self.process = subprocess.Popen([python(), os.path.join(HERE, "loader.py"), warm], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline().strip() != "ready":
            raise Failed("loader.py does not start")

    def seconds(self, what, path):
        """Seconds, and a number that depends on what was loaded."""
        print(what, path, file=self.process.stdin, flush=True)
        words = self.process.stdout.readline().split()
        if len(words) != 2:
            raise Failed(f"loader.py could not load {path}")
        return float(words[0]), words[1]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


@contextlib.contextmanager
def loader(bench):
    made = Loader(bench.folder)
    try:
        yield made
    finally:
        made.close()


def same(seen):
    if len(set(seen)) > 1:
        raise Failed("the tensors are not the same everywhere")


def tensor(bench):
    case, seen = Case("tensor", "raw", "safe_open and one small tensor of a cold shard; less is better"), []
    with loader(bench) as load:
        for _, way in over(bench, "tensor"):
            bench.machine.cold()
            took, what = load.seconds("first", way.shard)
            case.add(way.name, "time", "ms", took * 1e3)
            seen.append(what)
    same(seen)
    return case


# ---- a check, then the load ----------------------------------------------------------------------------------------------------------

def model_signing(bench):
    """The command that verifies the model's signature, or None: VOUCHFS_BENCH_MODEL_SIGNING names the tool."""
    tool = shutil.which(os.environ.get("VOUCHFS_BENCH_MODEL_SIGNING", "model_signing"))
    if not tool:
        bench.say("note: model_signing takes no part: there is none here; pip install model-signing, VOUCHFS_BENCH_MODEL_SIGNING names it")
        return None
    key, public, signature = (os.path.join(bench.folder, name) for name in ("key.pem", "public.pem", "model.sig"))
    call("openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key)
    call("openssl", "ec", "-in", key, "-pubout", "-out", public)
    ignored = ["--ignore-paths", os.path.join(bench.model, ".vouch")]
    call(tool, "sign", "key", bench.model, "--private_key", key, "--signature", signature, *ignored)
    return [tool, "verify", "key", bench.model, "--public_key", public, "--signature", signature, *ignored]


def ways_to_load(bench):
    """{name: (command that checks first or None, contender whose file is loaded)}"""
    raw = next(way for way in bench.ways if way.name == "raw")
    ways = {"load, unchecked": (None, raw), "sha256sum, then load": (["sha256sum", raw.shard], raw)}
    if checked := model_signing(bench):
        ways["model_signing verify, then load"] = (checked, raw)
    return {**ways, **{f"load through {way.name}": (None, way) for way in bench.ways if isinstance(way, Vouchfs) and not way.pinned}}


def load(bench):
    case, seen = Case("load", "load, unchecked", "every tensor of a cold shard in memory, checked in one way or another; less is better"), []
    with loader(bench) as loading:
        ways = ways_to_load(bench)
        for turn in range(bench.rounds):
            for name, (check, way) in ways.items():
                bench.say(f"load: round {turn + 1} of {bench.rounds}, {name}")
                with bench.quiet(), mounted(way):
                    bench.machine.cold()
                    begin = time.monotonic()
                    if check:
                        call(*check)
                    seen.append(loading.seconds("all", way.shard)[1])
                    case.add(name, "time", "s", time.monotonic() - begin)
    same(seen)
    return case
