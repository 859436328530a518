"""What the product finds in weight files: the rows of the tensor table of a seal."""
import json
import os
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
import mounts  # noqa: E402


def tables_of(folder, seal):
    """Ingests a folder; {file: row of the tensor table}."""
    mounts.vouchfs_ok("ingest", folder, "--seal", seal, "--quiet", timeout=600)
    digest = json.loads(mounts.read_file(os.path.join(seal, "manifest.json")))["tensors"]["fsverity"]
    table = json.loads(mounts.read_file(os.path.join(seal, "tables", digest + ".json")))
    return {row["path"]: row for row in table["files"]}


def verdict_of(row):
    return row["problem"]["name"] if "problem" in row else "ok"


def tensors_of(row):
    """{name: [dtype, shape, begin, end]}"""
    return {t["name"]: [t["dtype"], t["shape"], t["begin"], t["end"]] for t in row["tensors"]}


def count_and_seed(default):
    """How many random files, from which seed: VOUCHFS_FORMAT_FILES and VOUCHFS_FORMAT_SEED; the seed is printed, to run the same again."""
    seed = int(os.environ.get("VOUCHFS_FORMAT_SEED") or random.SystemRandom().randrange(1 << 32))
    count = int(os.environ.get("VOUCHFS_FORMAT_FILES") or default)
    print("VOUCHFS_FORMAT_SEED=%d VOUCHFS_FORMAT_FILES=%d" % (seed, count), flush=True)
    return count, seed
