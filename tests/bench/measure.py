#!/usr/bin/env python3
"""Measures vouchfs beside others in one run: cold and warm read and mmap of one shard, hash backends, ingest. Prints a table, writes JSON beside it.

Every figure is the median of several runs and stands with its ratio to something measured in the same run, moments before or after: figures
of different machines or hours do not compare. Cold: page cache dropped, memory touched and freed just before. Warm: the second pass.
It judges nothing: the exit code is 0 whatever the figures are.
"""
import argparse
import json
import os
import platform
import re
import shutil
import statistics
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import contenders  # noqa: E402
from contenders import SHARD, call  # noqa: E402
from scratch import scratch  # noqa: E402

GROUPS = ("mounts", "hash", "ingest")
HERE = os.path.dirname(os.path.abspath(__file__))
CHUNK = 64 << 20
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def size_of(text):
    match = re.fullmatch(r"(\d+)([KMGT]?)", text.upper())
    if not match:
        raise argparse.ArgumentTypeError(f"{text} is no size; write 4G")
    return int(match.group(1)) * UNITS[match.group(2)]


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vouchfs", default=os.environ.get("VOUCHFS_BIN"), metavar="BINARY", help="the command to measure")
    parser.add_argument("--micro", default=os.environ.get("VOUCHFS_MICRO"), metavar="BINARY", help="the micro-benchmarks")
    parser.add_argument("--size", type=size_of, default=4 << 30, help="bytes of the shard, with K, M, G, T (default 4G)")
    parser.add_argument("--runs", type=int, default=5, help="runs of everything (default 5)")
    parser.add_argument("--only", action="append", choices=GROUPS, help="measure this group only; may be repeated")
    parser.add_argument("--dir", default="/var/tmp", help="where the scratch folder goes: on the disk that is to be measured (default /var/tmp)")
    parser.add_argument("--json", default="vouchfs-bench.json", metavar="FILE", help="where the JSON goes (default vouchfs-bench.json)")
    chosen = parser.parse_args()
    chosen.only = chosen.only or list(GROUPS)
    if chosen.runs < 1:
        parser.error("--runs wants at least 1")
    if os.geteuid() != 0:
        parser.error("only root can drop the page cache; without that nothing is cold")
    return chosen


class Machine:
    """Makes things cold and reads files, through the helper that is compiled into the scratch folder."""

    def __init__(self, folder, size):
        self.helper = os.path.join(folder, "read_rate")
        call(os.environ.get("CC", "cc"), "-O2", "-o", self.helper, os.path.join(HERE, "read_rate.c"))
        self.size = size

    def cold(self):
        """Drops the page cache, then touches and frees enough memory for the file twice over, as far as the machine has it."""
        with open("/proc/sys/vm/drop_caches", "w") as file:
            file.write("1\n")
        with open("/proc/meminfo") as file:
            available = int(re.search(r"MemAvailable:\s+(\d+) kB", file.read()).group(1)) * 1024
        call(self.helper, "touch", min(2 * self.size + (1 << 30), available * 7 // 10))

    def rate(self, how, path):
        """Bytes per second of one pass over a file."""
        done, seconds = call(self.helper, how, path).split()
        if int(done) != self.size:
            raise SystemExit(f"{path}: {done} bytes came, not {self.size}")
        return int(done) / float(seconds)


def make_model(folder, size):
    """A model of one valid safetensors shard of exactly `size` bytes, no two of its blocks equal."""
    model = os.path.join(folder, "model")
    os.mkdir(model)
    noise = os.urandom(min(CHUNK, size) + 8192)
    tensor = lambda end: json.dumps({"weights": {"dtype": "U8", "shape": [end], "data_offsets": [0, end]}}).encode().ljust(120)
    head = struct.pack("<Q", 120) + tensor(size - 128)
    with open(os.path.join(model, SHARD), "wb") as file:
        file.write(head)
        left, turn = size - len(head), 0
        while left:
            shift = turn * 61 % 8192
            piece = memoryview(noise)[shift:shift + min(CHUNK, left)]
            file.write(piece)
            left -= len(piece)
            turn += 1
        os.fsync(file.fileno())
    return model


def add(samples, group, name, figure, value):
    samples.setdefault(group, {}).setdefault(name, {}).setdefault(figure, []).append(value)


# ---- the three groups ----------------------------------------------------------------------------------------------------------

def contenders_here(folder, model):
    kinds = [contenders.Raw]
    for kind, tool in ((contenders.Bindfs, "bindfs"), (contenders.Gocryptfs, "gocryptfs"), (contenders.Vouchfs, contenders.Vouchfs.binary)):
        if tool and shutil.which(tool):
            kinds.append(kind)
        else:
            print(f"note: no {kind.name} here, so it is not in the table", file=sys.stderr)
    return [kind(folder, model) for kind in kinds]


def measure_mounts(samples, machine, folder, model, runs):
    ways = contenders_here(folder, model)
    for way in ways:
        way.prepare()
        way.mount()
        try:
            if not contenders.same_bytes(os.path.join(model, SHARD), way.shard, machine.size):
                raise SystemExit(f"{way.name} does not show the same file")
        finally:
            way.unmount()
    os.sync()  # once: only clean pages can be dropped, and nothing is written from here on
    for run in range(runs):
        for way in ways:
            print(f"mounts: run {run + 1} of {runs}, {way.name}", file=sys.stderr)
            way.mount()
            try:
                for how in ("read", "mmap"):
                    machine.cold()
                    add(samples, "mounts", way.name, f"cold {how}", machine.rate(how, way.shard))
                    add(samples, "mounts", way.name, f"warm {how}", machine.rate(how, way.shard))
            finally:
                way.unmount()


def micro_rates(micro, seconds="0.5"):
    """Bytes per second of each micro-benchmark, on one core."""
    text = call("taskset", "-c", "0", micro, "--benchmark_format=json", f"--benchmark_min_time={seconds}", "--benchmark_filter=/128$|^tree/|^stream/")
    return {case["name"]: case["bytes_per_second"] for case in json.loads(text)["benchmarks"]}


def openssl_speed():
    text = call("taskset", "-c", "0", "openssl", "speed", "-seconds", "1", "-bytes", "4096", "-evp", "sha256")
    return float(re.findall(r"([\d.]+)k", text)[-1]) * 1000


def measure_hash(samples, micro, runs):
    for run in range(runs):
        print(f"hash: run {run + 1} of {runs}", file=sys.stderr)
        add(samples, "hash", "openssl speed, 4 KiB", "rate", openssl_speed())
        for name, rate in micro_rates(micro).items():
            add(samples, "hash", name, "rate", rate)


def measure_ingest(samples, machine, model, binary, runs):
    shard = os.path.join(model, SHARD)
    jobs = {"sha256sum": ["sha256sum", shard], "openssl dgst": ["openssl", "dgst", "-sha256", shard], "vouchfs ingest": [binary, "ingest", "--quiet", model],
            "vouchfs verify": [binary, "verify", "--quiet", model]}
    if not binary:
        jobs = {name: job for name, job in jobs.items() if "vouchfs" not in name}
    for run in range(runs):
        for name, job in jobs.items():
            print(f"ingest: run {run + 1} of {runs}, {name}", file=sys.stderr)
            if name == "vouchfs ingest":
                shutil.rmtree(os.path.join(model, ".vouch"), ignore_errors=True)
            machine.cold()
            start = time.monotonic()
            call(*job)
            add(samples, "ingest", name, "cold", machine.size / (time.monotonic() - start))


# ---- what comes out --------------------------------------------------------------------------------------------------------------

AGAINST = {"mounts": "raw", "hash": "openssl speed, 4 KiB", "ingest": "sha256sum"}


def summarize(samples):
    """Medians, and medians of the ratios run by run."""
    groups = {}
    for group, rows in samples.items():
        base = rows[AGAINST[group]]
        groups[group] = {name: {figure: {"bytes_per_second": values, "median": statistics.median(values),
                                         "ratio": statistics.median(v / b for v, b in zip(values, base[figure]))}
                                for figure, values in figures.items()} for name, figures in rows.items()}
    return groups


def table(summary):
    """One Markdown table: GB/s, and in brackets the ratio."""
    lines = ["| what | against | cold read | warm read | cold mmap | warm mmap | rate |", "|---|---|---|---|---|---|---|"]
    for group, rows in summary.items():
        for name, figures in rows.items():
            cell = lambda *keys: next((f"{figures[k]['median'] / 1e9:.2f} ({figures[k]['ratio']:.2f}x)" for k in keys if k in figures), "")
            cells = [cell("cold read"), cell("warm read"), cell("cold mmap"), cell("warm mmap"), cell("rate", "cold")]
            lines.append(f"| {name} | {AGAINST[group]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def environment(binary):
    with open("/proc/cpuinfo") as file:
        model = re.search(r"model name\s*:\s*(.*)", file.read())
    version = subprocess.run([binary, "version"], capture_output=True, text=True).stdout.strip() if binary else None
    return {"kernel": platform.release(), "cpu": model.group(1) if model else platform.machine(), "cores": os.cpu_count(), "load": os.getloadavg(), "vouchfs": version}


def main():
    chosen = options()
    contenders.Vouchfs.binary = os.path.abspath(chosen.vouchfs) if chosen.vouchfs else None
    free = shutil.disk_usage(chosen.dir).free
    if free < 2 * chosen.size + (2 << 30):
        raise SystemExit(f"{chosen.dir} has {free >> 30} GiB free; twice the shard and 2 GiB are needed. Give --size or --dir.")
    if os.getloadavg()[0] > os.cpu_count() / 2:
        print(f"note: the load is {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; figures of a busy machine say little", file=sys.stderr)
    samples = {}
    with scratch(chosen.dir) as folder:
        machine = Machine(folder, chosen.size)
        model = make_model(folder, chosen.size)
        if "mounts" in chosen.only:
            measure_mounts(samples, machine, folder, model, chosen.runs)
        if "hash" in chosen.only and chosen.micro:
            measure_hash(samples, os.path.abspath(chosen.micro), chosen.runs)
        if "ingest" in chosen.only:
            measure_ingest(samples, machine, model, contenders.Vouchfs.binary, chosen.runs)
        summary = summarize(samples)
        print(f"GB/s (ratio), medians of {chosen.runs} runs, shard of {chosen.size / (1 << 30):.2f} GiB\n")
        print(table(summary))
        with open(chosen.json, "w") as file:
            json.dump({"size": chosen.size, "runs": chosen.runs, "environment": environment(contenders.Vouchfs.binary), "groups": summary}, file, indent=1)
            file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
