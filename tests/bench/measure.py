#!/usr/bin/env python3
"""Measures vouchfs beside others in one run. Prints tables, writes JSON.

Every figure is the median of several rounds and stands with its ratio to something measured in the same round, moments before or after: figures
of different machines or hours do not compare. Cold: page cache dropped, memory touched and freed just before. It judges nothing: the exit code
is 0 whatever the figures are.

cases: {cases}
"""
import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import case_hash  # noqa: E402
import case_load  # noqa: E402
import case_memory  # noqa: E402
import case_mount  # noqa: E402
import case_reads  # noqa: E402
import case_small  # noqa: E402
import contenders  # noqa: E402
import machine  # noqa: E402
import models  # noqa: E402
from samples import table  # noqa: E402
from scratch import scratch  # noqa: E402

CASES = {"cold": case_reads.cold, "warm": case_reads.warm, "fill": case_reads.fill, "readers": case_reads.readers, "hash": case_hash.hashing, "paths": case_hash.paths, "ingest": case_hash.ingest,
         "memory": case_memory.memory, "mount": case_mount.mount, "small": case_small.small, "tensor": case_load.tensor, "load": case_load.load}
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def size_of(text):
    match = re.fullmatch(r"(\d+)([KMGT]?)", text.upper())
    if not match:
        raise argparse.ArgumentTypeError(f"{text} is no size; write 4G")
    return int(match.group(1)) * UNITS[match.group(2)]


def words(text):
    return [word for word in text.split(",") if word]


def options():
    parser = argparse.ArgumentParser(description=__doc__.format(cases=", ".join(CASES)), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vouchfs", action="append", default=[], metavar="NAME=BINARY[,OPTION...]",
                        help="a build to measure, under a name; may be repeated. OPTION: ra=KB (the kernel's read-ahead of the mount), --WORD of vouchfs mount, or one of its -o options")
    parser.add_argument("--micro", default=os.environ.get("VOUCHFS_MICRO"), metavar="BINARY", help="the micro-benchmarks")
    parser.add_argument("--size", type=size_of, default=4 << 30, help="bytes of the shard, with K, M, G, T (default 4G)")
    parser.add_argument("--rounds", "--runs", type=int, default=5, help="rounds of everything (default 5)")
    parser.add_argument("--cases", type=words, default=list(CASES), metavar="LIST", help="only these cases, separated by commas")
    parser.add_argument("--peers", type=words, metavar="LIST", help="beside raw and vouchfs only these: bindfs, gocryptfs, passthrough_hp")
    parser.add_argument("--quick", action="store_true", help="256M and two rounds: to see that everything runs")
    parser.add_argument("--dir", default="/var/tmp", help="where the scratch folder goes: on the disk that is to be measured (default /var/tmp)")
    parser.add_argument("--json", default="vouchfs-bench.json", metavar="FILE", help="where the JSON goes (default vouchfs-bench.json)")
    parser.add_argument("--lock", metavar="FILE", help="hold this lock while a contender is measured")
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.size, chosen.rounds = 256 << 20, 2
    check(parser, chosen)
    return chosen


def check(parser, chosen):
    unknown = [case for case in chosen.cases if case not in CASES]
    if unknown:
        parser.error(f"there is no case {unknown[0]}; there are {', '.join(CASES)}")
    if chosen.rounds < 1:
        parser.error("--rounds wants at least 1")
    if chosen.size < 1 << 20:
        parser.error("--size wants at least 1M")
    if os.geteuid() != 0:
        parser.error("only root can drop the page cache; without that nothing is cold")
    free = shutil.disk_usage(chosen.dir).free
    if free < 2 * chosen.size + (2 << 30):
        parser.error(f"{chosen.dir} has {free >> 30} GiB free; twice the shard and 2 GiB are needed. Give --size or --dir")


class Bench:
    """One run: what was chosen, the machine, the model, the contenders."""

    def __init__(self, chosen, folder):
        self.folder, self.chosen, self.rounds = folder, chosen, chosen.rounds
        self.machine = machine.Machine(folder, chosen.size)
        self.model = models.one_shard(folder, chosen.size)
        wanted = None if chosen.peers is None else ["raw", *chosen.peers]
        self.ways = contenders.contenders_here(folder, self.model, chosen.vouchfs, wanted)
        contenders.check_all(self.ways, chosen.size)
        os.sync()  # once: only clean pages can be dropped

    def quiet(self):
        return machine.quiet(self.chosen.lock)

    @staticmethod
    def drop_caches(what="1"):
        machine.drop_caches(what)

    @staticmethod
    def say(text):
        print(text, file=sys.stderr, flush=True)

    @property
    def vouchfs(self):
        """The first build of vouchfs, or None."""
        return next((way for way in self.ways if isinstance(way, contenders.Vouchfs) and not way.pinned), None)


def first_line(path, pattern):
    with open(path) as file:
        found = re.search(pattern, file.read())
    return found.group(1) if found else None


def environment(bench):
    binary = bench.vouchfs.tool if bench.vouchfs else None
    version = subprocess.run([binary, "version"], capture_output=True, text=True).stdout.strip().splitlines() if binary else []
    kind = subprocess.run(["stat", "-f", "-c", "%T", bench.folder], capture_output=True, text=True).stdout.strip()
    return {"kernel": platform.release(), "cpu": first_line("/proc/cpuinfo", r"model name\s*:\s*(.*)") or platform.machine(), "cores": os.cpu_count(),
            "memory_gib": round(int(first_line("/proc/meminfo", r"MemTotal:\s*(\d+)")) / (1 << 20), 1), "system": first_line("/etc/os-release", r'PRETTY_NAME="?([^"\n]*)'),
            "filesystem": kind, "load": [round(x, 1) for x in os.getloadavg()], "vouchfs": version[0] if version else None}


def run(bench):
    """Runs the chosen cases; one that fails is left out with a line. The JSON is written after each, so that a run that is cut short leaves what it has."""
    found, environ = {}, environment(bench)
    for name in bench.chosen.cases:
        try:
            done = CASES[name](bench)
        except machine.Failed as error:
            bench.say(f"note: {name} is left out: {error}")
            continue
        for case in done if isinstance(done, list) else [done]:
            found[case.name] = case.summary()
            print(f"\n### {case.name}: {case.about}\n\n{table(found[case.name])}", flush=True)
        with open(bench.chosen.json, "w") as file:
            json.dump({"schema": 1, "size": bench.chosen.size, "rounds": bench.rounds, "environment": environ, "cases": found}, file, indent=1, ensure_ascii=False)
            file.write("\n")


def main():
    chosen = options()
    if os.getloadavg()[0] > os.cpu_count() / 2:
        print(f"note: the load is {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; figures of a busy machine say little", file=sys.stderr)
    with scratch(chosen.dir) as folder:
        try:
            bench = Bench(chosen, folder)
        except machine.Failed as error:
            raise SystemExit(f"measure.py: {error}")
        print(f"medians of {chosen.rounds} rounds, in brackets the ratio to the first row; a shard of {chosen.size / (1 << 30):.2f} GiB")
        run(bench)
    return 0


if __name__ == "__main__":
    sys.exit(main())
