"""case_reads.py: passes over one shard, cold and warm, and many random readers."""
import contextlib
import time

from machine import Failed, call, resident
from samples import Case

COLD = ("read", "mmap", "sequential", "willneed", "random")
WARM = ("read", "mmap")
THREADS = (1, 8, 32)
# Bytes of one operation, and how many operations the threads share.
OPERATIONS = {4096: 6400, 65536: 3200}


@contextlib.contextmanager
def mounted(way):
    way.mount()
    try:
        yield
    finally:
        way.unmount()


def over(bench, what, ways=None):
    """Rounds over contenders, each mounted anew and undisturbed while it is measured; yields (round, contender). By default all of them but those that hold everything in
    memory from the start.
    """
    for turn in range(bench.rounds):
        for way in ways or [way for way in bench.ways if not way.pinned]:
            bench.say(f"{what}: round {turn + 1} of {bench.rounds}, {way.name}")
            with bench.quiet(), mounted(way):
                yield turn, way


def cold(bench):
    case = Case("cold", "raw", "one pass over a shard that no cache holds")
    for _, way in over(bench, "cold"):
        for how in COLD:
            bench.machine.cold()
            case.add(way.name, how, "B/s", bench.machine.rate(how, way.shard))
    return case


def warm(bench):
    case = Case("warm", "raw", "another pass over a shard that was just read")
    for _, way in over(bench, "warm", bench.ways):
        bench.machine.rate("read", way.shard)
        for how in WARM:
            bench.machine.rate(how, way.shard)
            case.add(way.name, how, "B/s", bench.machine.rate(how, way.shard))
    return case


def fill(bench):
    """Bringing a cold shard into the page cache, by a pass and by `vouchfs warm`."""
    case, mine = Case("fill", "a pass over the raw file", "a cold shard into the page cache"), bench.vouchfs
    if not mine or "warm" not in call(mine.tool, "--help"):
        raise Failed("there is no vouchfs warm")
    for _, way in over(bench, "fill", [bench.ways[0], mine]):
        bench.machine.cold()
        case.add(f"a pass through {way.name}" if way is mine else case.base, "rate", "B/s", bench.machine.rate("read", way.shard))
        if way is mine:
            bench.machine.cold()
            begin = time.monotonic()
            call(mine.tool, "warm", "--quiet", way.shard)
            case.add("vouchfs warm", "rate", "B/s", bench.chosen.size / (time.monotonic() - begin))
            if resident(way.shard) < bench.chosen.size * 0.99:
                raise Failed("vouchfs warm left the shard cold")
    return case


def readers(bench):
    """One case a kind of reader: figures are the rate and the latencies."""
    cases = {}
    bench.machine.cold()
    for turn, way in over(bench, "readers"):
        for threads in THREADS:
            for bytes_each, operations in OPERATIONS.items():
                for how in ("read", "fault"):
                    name = f"{threads} {'thread' if threads == 1 else 'threads'}, {how}s of {bytes_each >> 10} KiB"
                    case = cases.setdefault(name, Case(f"readers: {name}", "raw", f"random {how}s of {bytes_each >> 10} KiB, cold, by {threads} threads"))
                    bench.drop_caches()
                    found = bench.machine.readers(way.shard, threads, bytes_each, how, operations if threads > 1 else operations // 4, turn + 1)
                    for figure, value in found.items():
                        case.add(way.name, figure, "/s" if figure == "rate" else "µs", value)
    return list(cases.values())
