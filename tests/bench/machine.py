"""machine.py: what the cases need of the machine: cold caches, timed passes by compiled helpers, page cache and memory of others."""
import contextlib
import fcntl
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


class Failed(Exception):
    """A command of a case failed: the case is left out, with its message."""


def call(*words, ok=(0,)):
    """Runs a command that must succeed; its messages are shown when it does not. Returns what it printed."""
    words = [str(word) for word in words]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise Failed(f"{words[0]}: {error.strerror}") from error
    if done.returncode not in ok:
        raise Failed(f"{' '.join(words[:3])} gave {done.returncode}: {(done.stderr or done.stdout).strip()[-500:]}")
    return done.stdout


def drop_caches(what="1"):
    with open("/proc/sys/vm/drop_caches", "w") as file:
        file.write(what + "\n")


@contextlib.contextmanager
def quiet(lock):
    """Holds a lock file for the time of one measurement, so that others who respect it do not disturb; nothing without a file."""
    if not lock:
        yield
        return
    with open(lock, "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class Machine:
    """Makes things cold and reads files, through helpers that are compiled into the scratch folder."""

    def __init__(self, folder, size):
        self.size = size
        self.helpers = {name: os.path.join(folder, name) for name in ("read_rate", "readers")}
        for name, out in self.helpers.items():
            call(os.environ.get("CC", "cc"), "-O2", "-pthread", "-o", out, os.path.join(HERE, name + ".c"))

    def cold(self):
        """Drops the page cache, then touches and frees enough memory for the file twice over, as far as the machine has it."""
        drop_caches()
        with open("/proc/meminfo") as file:
            available = int(re.search(r"MemAvailable:\s+(\d+) kB", file.read()).group(1)) * 1024
        call(self.helpers["read_rate"], "touch", min(2 * self.size + (1 << 30), available * 7 // 10))

    def rate(self, how, path):
        """Bytes per second of one pass over a file."""
        done, seconds = call(self.helpers["read_rate"], how, path).split()
        if how != "random" and int(done) != os.path.getsize(path):
            raise Failed(f"{path}: {done} bytes came, not {os.path.getsize(path)}")
        return int(done) / float(seconds)

    def readers(self, path, threads, bytes_each, how, operations, seed):
        """Operations per second and latencies of random readers: {figure: value}, latencies in microseconds."""
        seconds, count, *latencies = map(float, call(self.helpers["readers"], path, threads, bytes_each, how, operations, seed).split())
        return {"rate": count / seconds, **dict(zip(("p50", "p99", "p99.9", "longest"), latencies))}


# ---- others ----------------------------------------------------------------------------------------------------------------------

def processes_of(word):
    """Ids of the processes that have this word among their arguments, without ours."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/cmdline", "rb") as file:
            if word.encode() in file.read().split(b"\0") and int(name) != os.getpid():
                found.append(int(name))
    return sorted(found)


def sum_of_field(pids, file, field):
    """Sum of a "field: number" line over processes: /proc/PID/<file>; kB lines give bytes."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/{file}") as text:
            for line in text:
                if line.startswith(field + ":"):
                    total += int(line.split()[1]) * (1024 if line.rstrip().endswith("kB") else 1)
    return total


def resident(*paths):
    """Bytes of these files in the page cache."""
    return sum(map(int, call("fincore", "-b", "-n", "-r", "-o", "RES", *paths).split()))
