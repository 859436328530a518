"""case_small.py: a folder of many small files: how often a second it is walked, cold and warm."""
import os
import random
import subprocess
import time

import contenders
from case_reads import mounted
from machine import Failed
from samples import Case

FILES = 10_000
COMMANDS = {"find": "find . -path ./.vouch -prune -o -type f -printf '%s %f\\n'", "ls -lR": "ls -lR --ignore=.vouch", "stat": "find part0 part1 -type f -print0 | xargs -0 stat -c '%s %n'"}


def make(model):
    rng = random.Random(2)
    for number in range(FILES):
        folder = os.path.join(model, f"part{number % 4}", f"d{number % 40:02}")
        if number < 40:
            os.makedirs(folder)
        with open(os.path.join(folder, f"piece-{number:05}.json"), "wb") as file:
            file.write(rng.randbytes(rng.randrange(1, 3000)))


def walk(command, folder):
    """Seconds of one walk, and how many of the model's files it saw: a mount shows an index more."""
    begin = time.monotonic()
    done = subprocess.run(command, shell=True, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    took = time.monotonic() - begin
    if done.returncode != 0:
        raise Failed(f"{command}: {done.stderr.strip()[-300:]}")
    return took, done.stdout.count("piece-")


def walks(case, bench, way, seen):
    for name, command in COMMANDS.items():
        for when in ("cold", "warm"):
            if when == "cold":
                bench.drop_caches("3")
            took, count = walk(command, way.point)
            case.add(way.name, f"{name}, {when}", "/s", 1 / took)
            if seen.setdefault(name, count) != count:
                raise Failed(f"{name} sees {count} files through {way.name}, {seen[name]} before")


def small(bench):
    folder = os.path.join(bench.folder, "small-case")
    model = os.path.join(folder, "model")
    os.makedirs(model)
    make(model)
    ways = contenders.contenders_here(folder, model, bench.chosen.vouchfs, ["raw", "bindfs"])
    ways = [way for way in ways if not way.pinned]
    for way in ways:
        way.prepare()
    case, seen = Case("small", "bindfs" if any(way.name == "bindfs" for way in ways) else "raw", f"{FILES:,} small files, walked so often a second"), {}
    for turn in range(bench.rounds):
        for way in ways:
            bench.say(f"small: round {turn + 1} of {bench.rounds}, {way.name}")
            with bench.quiet(), mounted(way):
                walks(case, bench, way, seen)
    return case
