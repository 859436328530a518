"""contenders.py: the ways to one and the same model: raw, through bindfs, gocryptfs, passthrough_hp, vouchfs. Each is mounted anew for every run."""
import json
import os
import random
import shutil
import subprocess
import sys
import time

from machine import Failed, call, processes_of
from scratch import unmount

SHARD = "model.safetensors"
PASSWORD = ["-extpass", "echo", "-extpass", "not a secret"]


class Raw:
    """The file itself."""
    name = "raw"

    def __init__(self, folder, model):
        self.folder, self.model, self.point = folder, model, model

    def absent(self):
        """Why this contender cannot take part here; None when it can."""
        return None

    def prepare(self):
        pass

    def mount(self):
        pass

    def unmount(self):
        pass

    def processes(self):
        return []

    @property
    def shard(self):
        return os.path.join(self.point, SHARD)

    pinned = False

    @property
    def backing(self):
        """The file whose bytes are read to show the shard."""
        return os.path.join(self.model, SHARD)


class Mounted(Raw):
    tool = None

    def __init__(self, folder, model):
        super().__init__(folder, model)
        self.point = os.path.join(folder, "mount-" + self.name.replace(" ", ""))
        os.makedirs(self.point, exist_ok=True)

    def absent(self):
        return None if self.tool and shutil.which(self.tool) else f"there is no {self.name} here"

    def unmount(self):
        if not unmount(self.point):
            raise Failed(f"{self.name} stayed busy")

    def processes(self):
        return processes_of(self.point)


class Bindfs(Mounted):
    """Unverified FUSE of the common kind: what any FUSE file system pays."""
    name = tool = "bindfs"

    def mount(self):
        call("bindfs", "-r", self.model, self.point)


class Gocryptfs(Mounted):
    """Authenticated encryption, AES-GCM by 4 KiB blocks: another file system that checks what it serves."""
    name = tool = "gocryptfs"

    def prepare(self):
        self.store = os.path.join(self.folder, "gocryptfs-store")
        os.mkdir(self.store)
        call("gocryptfs", "-q", "-init", "-plaintextnames", "-scryptn", "10", *PASSWORD, self.store)
        call("gocryptfs", "-q", *PASSWORD, self.store, self.point)
        try:
            shutil.copyfile(os.path.join(self.model, SHARD), self.shard)
        finally:
            self.unmount()

    def mount(self):
        call("gocryptfs", "-q", "-ro", *PASSWORD, self.store, self.point)

    @property
    def backing(self):
        return os.path.join(self.store, SHARD)


class PassthroughHp(Mounted):
    """libfuse's fast example, unverified, without kernel passthrough; VOUCHFS_BENCH_PASSTHROUGH_HP names its binary."""
    name = "passthrough_hp"
    tool = os.environ.get("VOUCHFS_BENCH_PASSTHROUGH_HP", "passthrough_hp")

    def mount(self):
        # From libfuse 3.17 on it passes through in the kernel unless it is told not to.
        known = subprocess.run([self.tool, "--help"], capture_output=True, text=True)
        call(self.tool, *(["--nopassthrough"] if "nopassthrough" in known.stdout + known.stderr else []), self.model, self.point)
        # It goes into the background before it mounts.
        end = time.monotonic() + 10
        while not os.path.ismount(self.point):
            if time.monotonic() > end:
                raise Failed(f"{self.name} did not mount")
            time.sleep(0.01)


class Vouchfs(Mounted):
    """Every block hashed and compared before it is served."""

    def __init__(self, folder, model, name, binary, flags=(), readahead_kb=None):
        self.name, self.tool, self.flags, self.readahead_kb = name, binary, list(flags), readahead_kb
        super().__init__(folder, model)

    def absent(self):
        if super().absent():
            return super().absent()
        known = subprocess.run([self.tool, "mount", "--help"], capture_output=True, text=True).stdout
        strange = [flag for flag in self.flags if flag.startswith("--") and flag.split("=")[0] not in known]
        return f"{self.tool} does not know {strange[0]}" if strange else None

    def prepare(self):
        if not os.path.exists(os.path.join(self.model, ".vouch", "manifest.json")):
            call(self.tool, "ingest", self.model, "--quiet")

    def mount(self):
        call(self.tool, "mount", *self.flags, self.model, self.point)
        if self.readahead_kb:
            device = os.stat(self.point).st_dev
            with open(f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}/read_ahead_kb", "w") as file:
                file.write(self.readahead_kb)
        if self.pinned:
            self.settle()

    @property
    def pinned(self):
        """Whether it reads everything into memory at once: then nothing is cold, and it takes part in warm reads only."""
        return any(word.lstrip("-").split("=")[0] == "pin" for flag in self.flags for word in flag.split(","))

    def settle(self, patience=600.0):
        """Waits until all that is to be pinned is."""
        end = time.monotonic() + patience
        while True:
            with open(os.path.join(self.point, ".vouch/status.json")) as file:
                pin = json.load(file).get("pin") or {}
            if pin.get("state") == "done" and pin.get("pinned_files"):
                return
            if pin.get("state") != "filling" or time.monotonic() > end:
                raise Failed(f"{self.name} pins nothing: {pin.get('why') or pin}")
            time.sleep(0.05)

    def unmount(self):
        call(self.tool, "umount", self.point)


def vouchfs_of(text, folder, model):
    """A contender out of NAME=BINARY[,OPTION...]: ra=KB is the kernel's read-ahead, --WORD goes to `vouchfs mount`, the rest behind its -o."""
    name, _, rest = text.partition("=")
    binary, *options = rest.split(",") if rest else [name]
    flags = [word for word in options if word.startswith("--")]
    listed = [word for word in options if not word.startswith(("--", "ra="))]
    ahead = [word[3:] for word in options if word.startswith("ra=")]
    flags += ["-o", ",".join(listed)] if listed else []
    return Vouchfs(folder, model, name if rest else "vouchfs", os.path.abspath(binary), flags, ahead[-1] if ahead else None)


def contenders_here(folder, model, vouchfs, wanted=None):
    """Those that can take part, in the order in which they run; vouchfs: words of the --vouchfs option."""
    all_ways = [kind(folder, model) for kind in (Raw, Bindfs, Gocryptfs, PassthroughHp)] + [vouchfs_of(text, folder, model) for text in vouchfs]
    here = []
    for way in all_ways:
        if wanted and way.name not in wanted and not isinstance(way, Vouchfs):
            continue
        if way.absent():
            print(f"note: {way.name} takes no part: {way.absent()}", file=sys.stderr)
        else:
            here.append(way)
    return here


def check_all(ways, size):
    """Prepares every contender and looks whether it shows the same file."""
    for way in list(ways):
        way.prepare()
        try:
            way.mount()
        except Failed as error:
            if not way.pinned:
                raise
            print(f"note: {error}; it takes no part", file=sys.stderr)
            way.unmount()
            ways.remove(way)
            continue
        try:
            if not same_bytes(ways[0].shard, way.shard, size):
                raise Failed(f"{way.name} does not show the same file")
        finally:
            way.unmount()


def same_bytes(one, other, size, samples=64):
    """Whether two paths show the same file, by size and by blocks picked at random: a contender that serves something else measures nothing."""
    rng = random.Random(0)
    if os.path.getsize(other) != size:
        return False
    with open(one, "rb") as a, open(other, "rb") as b:
        for at in [0, max(0, size - 4096)] + [rng.randrange(size) for _ in range(samples)]:
            a.seek(at)
            b.seek(at)
            if a.read(4096) != b.read(4096):
                return False
    return True
