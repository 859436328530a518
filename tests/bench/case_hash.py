"""case_hash.py: how fast files are hashed: the backends on one core, and whole models by ingest, verify and the tools people use instead."""
import json
import os
import re
import shutil
import time

from contenders import SHARD
from machine import Failed, call
from samples import Case

OPENSSL = "openssl speed, 4 KiB"


def openssl_speed():
    text = call("taskset", "-c", "0", "openssl", "speed", "-seconds", "1", "-bytes", "4096", "-evp", "sha256")
    return float(re.findall(r"([\d.]+)k", text)[-1]) * 1000


def micro_cases(micro, wanted, *before):
    """The micro-benchmarks whose names fit, as Google Benchmark reports them."""
    return json.loads(call(*before, micro, "--benchmark_format=json", "--benchmark_min_time=0.5", f"--benchmark_filter={wanted}"))["benchmarks"]


def micro_rates(micro):
    """Bytes per second of each micro-benchmark of hashing, on one core."""
    return {case["name"]: case["bytes_per_second"] for case in micro_cases(micro, "/128$|^tree/|^stream/", "taskset", "-c", "0")}


def hashing(bench):
    case = Case("hash", OPENSSL, "hashing on one core, no file")
    for turn in range(bench.rounds):
        bench.say(f"hash: round {turn + 1} of {bench.rounds}")
        with bench.quiet():
            case.add(OPENSSL, "rate", "B/s", openssl_speed())
            rates = micro_rates(bench.chosen.micro) if bench.chosen.micro else {}
        for name, rate in rates.items():
            case.add(name, "rate", "B/s", rate)
    return case


def paths(bench):
    """What is done beside hashing for each block or request, in memory."""
    case = Case("paths", None, "nanoseconds of one operation, in memory")
    if not bench.chosen.micro:
        raise Failed("no micro-benchmarks were given")
    for turn in range(bench.rounds):
        bench.say(f"paths: round {turn + 1} of {bench.rounds}")
        with bench.quiet():
            found = micro_cases(bench.chosen.micro, "^(climb|serve|cache|streams)/")
        for micro in found:
            case.add(micro["name"].replace("/real_time", "").replace("threads:", "threads "), "time", "ns", micro["real_time"])
    return case


def jobs(bench):
    shard = os.path.join(bench.model, SHARD)
    yield "sha256sum", ["sha256sum", shard]
    yield "openssl dgst", ["openssl", "dgst", "-sha256", shard]
    if bench.vouchfs:
        yield "vouchfs ingest", [bench.vouchfs.tool, "ingest", "--quiet", bench.model]
        yield "vouchfs verify", [bench.vouchfs.tool, "verify", "--quiet", bench.model]


def ingest(bench):
    case = Case("ingest", "sha256sum", "a shard that no cache holds, hashed whole")
    for turn in range(bench.rounds):
        for name, job in jobs(bench):
            bench.say(f"ingest: round {turn + 1} of {bench.rounds}, {name}")
            if name == "vouchfs ingest":
                shutil.rmtree(os.path.join(bench.model, ".vouch"), ignore_errors=True)
            with bench.quiet():
                bench.machine.cold()
                begin = time.monotonic()
                call(*job)
                case.add(name, "rate", "B/s", bench.chosen.size / (time.monotonic() - begin))
    return case
