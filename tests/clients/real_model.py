"""What the client tests share: the real model whole and in shards, and programs run as a user's own."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
import mounts  # noqa: E402
import setup  # noqa: E402
from split_safetensors import split  # noqa: E402

WEIGHTS = "model.safetensors"
SHARDS = 3


class RealModelCase(mounts.MountCase):
    def whole_model(self):
        """A copy of the model as its package ships it, sealed."""
        folder = self.path("whole")
        shutil.copytree(setup.model_dir(), folder)
        self.ingest(folder)
        return folder

    def sharded_model(self):
        """The same in three shards and without an index, sealed."""
        folder = self.path("sharded")
        shutil.copytree(setup.model_dir(), folder, ignore=shutil.ignore_patterns(WEIGHTS))
        self.assertEqual(split(setup.model_dir() / WEIGHTS, folder, SHARDS), [self.shard(i + 1) for i in range(SHARDS)])
        self.assertFalse([name for name in os.listdir(folder) if name.endswith(".index.json")])
        self.ingest(folder)
        return folder

    @staticmethod
    def shard(number):
        return "model-%05d-of-%05d.safetensors" % (number, SHARDS)

    def find_out(self, path):
        """Reads a damaged file to its damage, so that the mount knows of it."""
        def to_the_end():
            with open(path, "rb", buffering=0) as file:
                while file.read(1 << 20):
                    pass
        self.assert_errno(mounts.errno.EIO, to_the_end, "reading the damaged file through")

    def client(self, *command, timeout=500, env=None):
        """Runs a client program; gives back its exit status and what it printed and said."""
        done = mounts.run(*command, timeout=timeout, env={**os.environ, **(env or {})})
        return done.returncode, done.stdout, done.stderr

    def answer(self, *command, **options):
        """The JSON a client prints on its last line; it has to end well."""
        status, out, err = self.client(*command, **options)
        self.assertEqual(status, 0, "%s: %s" % (command[-2:], err[-2000:]))
        return json.loads(out.splitlines()[-1])


def drop_caches():
    """Makes every page cache cold."""
    subprocess.run(["sync"], check=True)
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("1")
