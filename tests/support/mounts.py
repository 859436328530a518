"""mounts.py: mounts a model for a test and takes it away again for certain; asks the reading helpers; makes and damages files.

Everything a test makes lies in one private folder whose name is unique on the machine. A process belongs to the test when that name is on
its command line: only such processes are looked for, and only by their id is one ended. What has to be ended by force fails the test. Should
the test itself be killed, a guardian (started apart from it) unmounts what is left in the folder.

Needs: VOUCHFS_BIN (the command) and VOUCHFS_TEST_HELPERS (folder of page_probe, page_storm, faulty_fs); Linux, Python 3.9, root.
"""
import atexit
import contextlib
import dataclasses
import errno
import hashlib
import json
import os
import random
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

BLOCK = 4096
MODES = ("read", "stream", "edge", "direct", "private", "shared")
NOBODY = 65534
AS_NOBODY = ("setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups")


def binary():
    return os.environ["VOUCHFS_BIN"]


def helper(name):
    return os.path.join(os.environ["VOUCHFS_TEST_HELPERS"], name)


# ---- waiting and running -------------------------------------------------------------------------------------------------------

def wait_until(condition, seconds=30.0):
    """Whether the condition came true within this time; looks again every few milliseconds. Generous: only a failing test waits it out."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(0.01)


def run(*command, timeout=60, **options):
    """Runs a command with its output captured as text. One that does not end in time is killed and is an error of the test: it hangs."""
    options.setdefault("stdin", subprocess.DEVNULL)
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", **options)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):  # one that waits in the kernel dies only when its mount does
            process.communicate(timeout=2)
        raise AssertionError("did not end, nor close its output, within %s s: %s" % (timeout, " ".join(map(str, command)))) from None
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def vouchfs(*arguments, **options):
    return run(binary(), *arguments, **options)


def vouchfs_ok(*arguments, **options):
    done = vouchfs(*arguments, **options)
    if done.returncode != 0:
        raise AssertionError("vouchfs %s: exit %d\n%s" % (" ".join(map(str, arguments)), done.returncode, done.stderr[-2000:]))
    return done


# ---- mounts and processes below a folder ---------------------------------------------------------------------------------------

def _unescape(text):
    """mountinfo writes blanks, tabs, newlines and backslashes in octal."""
    raw, out, at = text.encode("utf-8", "surrogateescape"), bytearray(), 0
    while at < len(raw):
        if raw[at:at + 1] == b"\\" and raw[at + 1:at + 4].isdigit():
            out.append(int(raw[at + 1:at + 4], 8))
            at += 4
        else:
            out.append(raw[at])
            at += 1
    return os.fsdecode(bytes(out))


def mount_rows(pid="self"):
    """[(mount point, mount options, filesystem type, source, super options)] of the mount namespace of a process."""
    rows = []
    with open("/proc/%s/mountinfo" % pid, errors="surrogateescape") as table:
        for line in table:
            left, _, right = line.rstrip("\n").partition(" - ")
            fields, tail = left.split(" "), right.split(" ")
            rows.append((_unescape(fields[4]), fields[5], tail[0], _unescape(tail[1]), tail[2]))
    return rows


def is_mounted(path):
    return any(row[0] == path for row in mount_rows())


def mounts_below(folder):
    return [row[0] for row in mount_rows() if row[0].startswith(folder + "/")]


def processes_of(text):
    """Ids of living processes that have this text on their command line, our own aside."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            with open("/proc/%s/cmdline" % name, "rb") as file:
                words = file.read()
            with open("/proc/%s/stat" % name, "rb") as file:
                state = file.read().rpartition(b") ")[2][:1]
            if os.fsencode(text) in words and state not in b"ZX":
                found.append(int(name))
    return found


def clear_away(folder):
    """Unmounts everything below the folder and ends every process of it. Returns what had to be forced, as sentences."""
    forced = []
    for path in reversed(mounts_below(folder)):
        if subprocess.run(["umount", path], capture_output=True, timeout=20).returncode != 0:
            forced.append("%s had to be unmounted by force" % path)
            subprocess.run(["umount", "-f", path], capture_output=True, timeout=20)  # ends the FUSE connection: whoever waits gets an error
            subprocess.run(["umount", "-l", path], capture_output=True, timeout=20)
    if not wait_until(lambda: not processes_of(folder)):
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in processes_of(folder):
                with contextlib.suppress(OSError):
                    command = read_file("/proc/%d/cmdline" % pid).replace(b"\0", b" ").decode(errors="replace")
                    forced.append("process %d had to be ended by signal %d: %s" % (pid, number, command.strip()[:200]))
                    os.kill(pid, number)
            if wait_until(lambda: not processes_of(folder), 5):
                break
    return forced


class _Guardian:
    """A process of its own session and parent that clears away the test's folders when the test process is gone, however it went."""

    def __init__(self):
        reader, writer = os.pipe()
        self.writer = os.fdopen(writer, "w")
        subprocess.run(["setsid", "--fork", sys.executable, os.path.realpath(__file__), "--guard"], stdin=reader, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        os.close(reader)
        atexit.register(self.writer.close)

    def tell(self, sign, folder):
        self.writer.write(sign + folder + "\n")
        self.writer.flush()

    _one = None

    @classmethod
    def get(cls):
        if cls._one is None:
            cls._one = cls()
        return cls._one


def _guard():
    folders = set()
    for line in sys.stdin:
        (folders.add if line[0] == "+" else folders.discard)(line[1:].rstrip("\n"))
    for folder in folders:
        clear_away(folder)
        shutil.rmtree(folder, ignore_errors=True)


# ---- making, damaging and describing files -------------------------------------------------------------------------------------

def noise(size, seed):
    return random.Random(seed).randbytes(size)


def write_file(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def read_file(path):
    with open(path, "rb") as file:
        return file.read()


def patch(path, offset, data):
    """Writes into a file in place."""
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)


def flip(path, offset, mask=1):
    with open(path, "r+b") as file:
        file.seek(offset)
        old = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([old ^ mask]))


def damage_block(path, block, how=0):
    """Makes one block of a file wrong: how 0 flips a bit of its last byte, 1 of its first, 2 zeroes it, 3 fills it with noise."""
    start = block * BLOCK
    length = min(BLOCK, os.path.getsize(path) - start)
    if how == 0:
        flip(path, start + length - 1, 0x80)
    elif how == 1:
        flip(path, start)
    else:
        patch(path, start, bytes(length) if how == 2 else noise(length, start))


def restore(path, reference):
    """The reference's bytes again, in place: the same inode."""
    with open(path, "r+b") as file, open(reference, "rb") as good:
        shutil.copyfileobj(good, file, 1 << 20)
        file.truncate()


def punch(path, offset, length):
    run("fallocate", "--punch-hole", "--offset", offset, "--length", length, path).check_returncode()


def block_hash(path, block):
    """SHA-256 of one block, the last one filled up with zeros: the leaf hash of fs-verity."""
    with open(path, "rb") as file:
        file.seek(block * BLOCK)
        return hashlib.sha256(file.read(BLOCK).ljust(BLOCK, b"\0")).hexdigest()


def verity_digest(path):
    """By the independent tool."""
    done = run("fsverity", "digest", "--compact", path)
    done.check_returncode()
    return done.stdout.strip()


def tree_levels(size):
    """[(blocks of the level, index in the tree file of its first block)], leaf level first, of a file of this size; root level is stored first."""
    counts, blocks = [], (size + BLOCK - 1) // BLOCK
    while blocks > 1:
        blocks = (blocks + 127) // 128
        counts.append(blocks)
    return [(count, sum(counts[level + 1:])) for level, count in enumerate(counts)]


def safetensors(path, tensors, seed=0):
    """Writes {name: number of float32} as a safetensors file of noise. Returns {name: (begin, end)} in bytes of the file."""
    header, at = {}, 0
    for name, count in tensors.items():
        header[name] = {"dtype": "F32", "shape": [count], "data_offsets": [at, at + 4 * count]}
        at += 4 * count
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    write_file(path, struct.pack("<Q", len(text)) + text + noise(at, seed))
    return {name: (8 + len(text) + row["data_offsets"][0], 8 + len(text) + row["data_offsets"][1]) for name, row in header.items()}


def tensors_cut(places, offset, length):
    return sorted(name for name, (begin, end) in places.items() if begin < offset + length and end > offset)


def manifest_of(seal):
    return json.loads(read_file(os.path.join(seal, "manifest.json")))


def runs(pages):
    """A set of pages as the helpers take it: "3,8-12"."""
    out = []
    for page in sorted(pages):
        if out and out[-1][1] == page - 1:
            out[-1][1] = page
        else:
            out.append([page, page])
    return ",".join("%d-%d" % (first, last) for first, last in out) or "none"


# ---- asking the reading helper -------------------------------------------------------------------------------------------------

@dataclasses.dataclass
class Report:
    open: int = 0  # errno of open, or 0
    size: int = 0
    pages: int = 0
    bad: set = dataclasses.field(default_factory=set)    # EIO or SIGBUS
    wrong: set = dataclasses.field(default_factory=set)  # bytes that are not the reference's
    other: list = dataclasses.field(default_factory=list)


class Held:
    """A file that is open, or mapped, until close()."""

    def __init__(self, probe, handle):
        self.probe, self.handle = probe, handle

    def read(self, pages="all", cold=True, seconds=60):
        return self.probe.ask(["read", self.handle, "cold" if cold else "warm", pages], seconds)

    def close(self):
        self.probe.command(["close", self.handle])


class Probe:
    """A page_probe process. One question at a time."""

    def __init__(self, prefix=()):
        self.process = subprocess.Popen([*prefix, helper("page_probe")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.pending = b""
        self.handles = 0

    def command(self, words, seconds=60):
        self.process.stdin.write(("\t".join(map(str, words)) + "\n").encode("utf-8", "surrogateescape"))
        return json.loads(self._line(words, seconds))

    def _line(self, words, seconds):
        end = time.monotonic() + seconds
        while b"\n" not in self.pending:
            if not select.select([self.process.stdout], [], [], max(0.0, end - time.monotonic()))[0]:
                raise AssertionError("a reader hangs: no answer within %s s to: %s" % (seconds, " ".join(map(str, words))))
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            if not more:
                raise AssertionError("a reader died (status %s) of: %s" % (self.process.wait(), " ".join(map(str, words))))
            self.pending += more
        line, self.pending = self.pending.split(b"\n", 1)
        return line

    def ask(self, words, seconds=60):
        answer = self.command(words, seconds)
        if answer["open"] != 0:
            return Report(open=answer["open"])
        return Report(0, answer["size"], answer["pages"], set(answer["bad"]), set(answer["wrong"]), answer["other"])

    def pages(self, file, reference, mode="read", pages="all", cold=True, seconds=60):
        return self.ask(["probe", mode, "cold" if cold else "warm", file, reference, pages], seconds)

    def hold(self, file, reference, mode):
        handle, self.handles = self.handles, self.handles + 1
        answer = self.command(["open", handle, mode, file, reference])
        if answer["open"] != 0:
            raise AssertionError("cannot open %s (%s): %s" % (file, mode, os.strerror(answer["open"])))
        return Held(self, handle)

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(5)
        self.process.stdout.close()


# ---- mounting ------------------------------------------------------------------------------------------------------------------

class Mount:
    """A mount that was made; what it says of itself."""

    def __init__(self, path, done):
        self.path, self.done = path, done

    def __truediv__(self, name):
        return os.path.join(self.path, name)

    def events(self, kind=None, file=None, model_folder=""):
        text = read_file(os.path.join(self.path, model_folder, ".vouch/events.jsonl")).decode()
        events = [json.loads(line) for line in text.splitlines()]
        return [e for e in events if (kind is None or e["event"] == kind) and (file is None or e["file"] == file)]

    def status(self):
        return json.loads(read_file(self / ".vouch/status.json"))

    def daemons(self):
        return processes_of(self.path)


class MountCase(unittest.TestCase):
    """A test with a private folder, a probe, and mounts that are certainly gone at its end."""

    maxDiff = 2000

    def setUp(self):
        for name in ("VOUCHFS_BIN", "VOUCHFS_TEST_HELPERS"):
            self.assertIn(name, os.environ, "set %s, or run this by ctest" % name)
        self.assertTrue(os.path.exists("/dev/fuse"), "/dev/fuse is not there: a mount test cannot run, which is a failure")
        self.assertEqual(os.geteuid(), 0, "mount tests run as root (they take other users' part themselves)")
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="vouchfs-test-"))
        os.chmod(self.dir, 0o755)
        _Guardian.get().tell("+", self.dir)
        self.addCleanup(self._leave)
        self._probe = None
        self._mounts_made = 0

    def _leave(self):
        if self._probe is not None:
            self._probe.end()
        forced = clear_away(self.dir)
        shutil.rmtree(self.dir, ignore_errors=True)
        _Guardian.get().tell("-", self.dir)
        if forced:
            raise AssertionError("left behind: " + "; ".join(forced))

    @property
    def probe(self):
        if self._probe is None:
            self._probe = Probe()
        return self._probe

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def new_folder(self, name):
        os.makedirs(self.path(name))
        return self.path(name)

    def ingest(self, model, *options, timeout=60):
        return vouchfs_ok("ingest", model, *options, "--quiet", timeout=timeout)

    def seal_and_keep(self, model, *options):
        """Seals the model and returns a folder with an untouched copy of its files."""
        self.ingest(model, *options)
        good = model.rstrip("/") + ".good"
        shutil.copytree(model, good, symlinks=False, ignore=shutil.ignore_patterns(".vouch"))
        return good

    @contextlib.contextmanager
    def mount(self, model, *options, expect=0, prefix=(), at=None, timeout=60, env=None):
        """vouchfs mount MODEL in the background; at the end it is unmounted and its processes must be gone."""
        self._mounts_made += 1
        path = at or self.new_folder("%d-mnt" % self._mounts_made)
        done = run(*prefix, binary(), "mount", model, path, *options, timeout=timeout, env=env)
        self.assertEqual(done.returncode, expect, "vouchfs mount %s: %s" % (" ".join(options), done.stderr[-2000:]))
        self.assertEqual(is_mounted(path), expect == 0, "exit %d, but the mount point says otherwise" % done.returncode)
        yield Mount(path, done)
        if expect == 0:
            self.unmount(path)
        self.assertTrue(wait_until(lambda: not processes_of(path)), "a process of the mount is left: %s" % processes_of(path))

    def unmount(self, path, prefix=("umount",)):
        """A plain unmount must do; a reader that has just closed its file may still be on its way out."""
        done = []

        def gone():
            if not is_mounted(path):
                return True
            done[:] = [run(*prefix, path, timeout=30)]
            return done[0].returncode == 0
        self.assertTrue(wait_until(gone), "cannot unmount %s: %s" % (path, done and done[0].stderr))
        self.assertFalse(is_mounted(path))

    def assert_pages(self, file, reference, mode, bad=(), pages="all", probe=None):
        """Read in this mode, exactly these pages fail, every other gives the reference's bytes."""
        self.check_report((probe or self.probe).pages(file, reference, mode, pages), reference, bad, "%s by %s" % (os.path.basename(file), mode))

    def check_report(self, report, reference, bad, what):
        self.assertEqual(report.open, 0, "%s: open fails: %s" % (what, os.strerror(report.open)))
        self.assertEqual(report.wrong, set(), "%s: WRONG BYTES" % what)
        self.assertEqual(report.other, [], "%s: neither bytes nor EIO in [page, why]" % what)
        self.assertEqual(runs(report.bad), runs(set(bad)), "%s: pages that fail, and those that should" % what)
        self.assertEqual(report.size, os.path.getsize(reference), "%s: size" % what)

    def assert_errno(self, number, action, what):
        try:
            action()
        except OSError as error:
            self.assertEqual(errno.errorcode.get(error.errno), errno.errorcode[number], what)
            return
        self.fail("%s: succeeds, but must fail with %s" % (what, errno.errorcode[number]))


class FaultyFs:
    """The failing backing store of tests/support/faulty_fs.c, showing `source` at `path`."""

    def __init__(self, case, source, path):
        self.path = path
        self.process = subprocess.Popen([helper("faulty_fs"), source, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        case.addCleanup(self.end)
        self._answer_is("ready")

    def _answer(self):
        if not select.select([self.process.stdout], [], [], 20)[0]:
            raise AssertionError("faulty_fs does not answer")
        return self.process.stdout.readline().strip()

    def _answer_is(self, expected):
        answer = self._answer()
        if answer != expected:
            raise AssertionError("faulty_fs says %r instead of %r" % (answer, expected))

    def tell(self, *words):
        self.process.stdin.write("\t".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        self._answer_is("ok")

    def counts(self):
        self.process.stdin.write("counts\n")
        self.process.stdin.flush()
        return json.loads(self._answer())

    def end(self):
        if self.process.stdin.closed:
            return
        self.process.stdin.close()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(5)
            raise AssertionError("faulty_fs had to be killed") from None
        finally:
            self.process.stdout.close()


class Namespace:
    """A private mount namespace: what a test changes in it (/etc/fstab, /sbin, /dev/fuse) exists for nobody else."""

    def __init__(self, case, setup):
        """setup: a shell script; $1 is the test's folder."""
        script = "set -e\n%s\necho ready\nread end\n" % setup
        self.process = subprocess.Popen(["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", case.dir], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        case.addCleanup(self.end)
        if self.process.stdout.readline() != "ready\n":
            raise AssertionError("cannot set up a private mount namespace (status %s)" % self.process.wait())
        self.prefix = ("nsenter", "--mount", "--target", str(self.process.pid), "--")

    def run(self, *command, **options):
        return run(*self.prefix, *command, **options)

    def mounted(self, path):
        return any(row[0] == path for row in mount_rows(self.process.pid))

    def end(self):
        if self.process.stdin.closed:
            return
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()


class _OutOfTime(Exception):
    pass


def _out_of_time(number, frame):
    raise _OutOfTime("the test did not end in its time")


def main():
    """unittest.main, ended with an error (and cleaned up after) shortly before the runner would kill it."""
    seconds = int(os.environ.get("VOUCHFS_TEST_SECONDS", "0"))
    signal.signal(signal.SIGALRM, _out_of_time)
    signal.alarm(seconds)
    unittest.main(verbosity=2)


if __name__ == "__main__":
    if sys.argv[1:] == ["--guard"]:
        _guard()
