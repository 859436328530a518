"""case_mount.py: what does not grow with the model: time to mount, memory of the daemon, and the bytes read for one random block."""
import os
import random
import shutil
import statistics
import time

import contenders
import hole_model
from machine import Failed, call, sum_of_field
from samples import Case

SHARDS, READS = 10, 200
SMALL, BIG = 1 << 20, 1 << 40


def make_models(bench, folder):
    """{name: model}: a small one, sealed by vouchfs, and one of 1 TiB beside it with the same number of files."""
    size = BIG // SHARDS + 1234  # the last block is not a whole one
    if shutil.disk_usage(folder).free < hole_model.tree_bytes(size) + (1 << 30):
        raise Failed("the tree of a large shard has no room on the disk")
    made = {f"{SMALL >> 20} MiB": os.path.join(folder, "small"), f"{BIG >> 40} TiB": os.path.join(folder, "big")}
    small, big = made.values()
    os.mkdir(small)
    for number in range(SHARDS):
        with open(os.path.join(small, hole_model.shard_name(number)), "wb") as file:
            file.truncate(SMALL // SHARDS)
    call(bench.vouchfs.tool, "ingest", "--quiet", small)
    hole_model.make(big, small, SHARDS, size)
    return made


def random_reads(way, rng):
    """Median milliseconds of a cold read of one block at a random place, and bytes that the daemon read for each."""
    names = [os.path.join(way.point, hole_model.shard_name(number)) for number in range(SHARDS)]
    size = os.path.getsize(names[0])
    files = [os.open(name, os.O_RDONLY) for name in names]
    before, waits = sum_of_field(way.processes(), "io", "rchar"), []
    try:
        for _ in range(READS):
            at = rng.randrange(size // 4096) * 4096
            begin = time.monotonic()
            if os.pread(rng.choice(files), 4096, at) != bytes(4096):
                raise Failed("the model of holes is not served as it is")
            waits.append(time.monotonic() - begin)
    finally:
        for file in files:
            os.close(file)
    return statistics.median(waits) * 1e3, (sum_of_field(way.processes(), "io", "rchar") - before) / READS


def measure(case, bench, name, way, rng):
    with bench.quiet():
        bench.drop_caches("3")
        call(way.tool, "version")  # the program itself is warm: what counts is the model
        begin = time.monotonic()
        way.mount()
        took = time.monotonic() - begin
        try:
            case.add(name, "mount", "ms", took * 1e3)
            case.add(name, "memory", "MiB", sum_of_field(way.processes(), "status", "VmRSS") / (1 << 20))
            wait, read = random_reads(way, rng)
            case.add(name, "random 4 KiB", "ms", wait)
            case.add(name, "read for it", "KiB", read / 1024)
            case.add(name, "memory after 200", "MiB", sum_of_field(way.processes(), "status", "VmRSS") / (1 << 20))
        finally:
            way.unmount()


def mount(bench):
    if not bench.vouchfs:
        raise Failed("it is about vouchfs alone")
    folder = os.path.join(bench.folder, "mount-case")
    os.mkdir(folder)
    try:
        models = make_models(bench, folder)
        case, rng = Case("mount", next(iter(models)), "models of 10 files, cold: until the mount answers, and one block at random places"), random.Random(1)
        for turn in range(bench.rounds):
            for name, model in models.items():
                bench.say(f"mount: round {turn + 1} of {bench.rounds}, {name}")
                way = contenders.Vouchfs(os.path.join(folder), model, f"of-{os.path.basename(model)}", bench.vouchfs.tool, bench.vouchfs.flags)
                measure(case, bench, name, way, rng)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return case
