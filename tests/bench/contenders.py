"""contenders.py: the ways to one and the same shard: raw, through bindfs, through gocryptfs, through vouchfs. Each is mounted anew for every run."""
import os
import random
import shutil
import subprocess

from scratch import unmount

SHARD = "model.safetensors"
PASSWORD = ["-extpass", "echo", "-extpass", "not a secret"]


def call(*words):
    """Runs a command that must succeed; its messages are shown when it does not."""
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words[:3]))} gave {done.returncode}: {(done.stderr or done.stdout).strip()[-500:]}")
    return done.stdout


class Raw:
    """The file itself."""
    name = "raw"

    def __init__(self, folder, model):
        self.folder, self.model, self.point = folder, model, model

    def prepare(self):
        pass

    def mount(self):
        pass

    def unmount(self):
        pass

    @property
    def shard(self):
        return os.path.join(self.point, SHARD)


class Mounted(Raw):
    def __init__(self, folder, model):
        super().__init__(folder, model)
        self.point = os.path.join(folder, self.name)
        os.mkdir(self.point)

    def unmount(self):
        if not unmount(self.point):
            raise SystemExit(f"{self.name} stayed busy")


class Bindfs(Mounted):
    """Unverified FUSE: what any FUSE file system pays."""
    name = "bindfs"

    def mount(self):
        call("bindfs", "-r", self.model, self.point)


class Gocryptfs(Mounted):
    """Authenticated encryption, AES-GCM by 4 KiB blocks: another file system that checks what it serves."""
    name = "gocryptfs"

    def prepare(self):
        self.store = os.path.join(self.folder, "gocryptfs-store")
        os.mkdir(self.store)
        call("gocryptfs", "-q", "-init", "-scryptn", "10", *PASSWORD, self.store)
        call("gocryptfs", "-q", *PASSWORD, self.store, self.point)
        try:
            shutil.copyfile(os.path.join(self.model, SHARD), self.shard)
        finally:
            self.unmount()

    def mount(self):
        call("gocryptfs", "-q", "-ro", *PASSWORD, self.store, self.point)


class Vouchfs(Mounted):
    """Every block hashed and compared before it is served."""
    name = "vouchfs"
    binary = None  # set by measure.py

    def prepare(self):
        call(self.binary, "ingest", self.model, "--quiet")

    def mount(self):
        call(self.binary, "mount", self.model, self.point)

    def unmount(self):
        call(self.binary, "umount", self.point)


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
