"""doctor_case.py: runs doctor on what a test built, looks at its records, and holds it to writing nothing.

Needs: VOUCHFS_BIN (the command); Linux, root (tests take other users' part themselves).
"""
import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import shutil
import stat
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
import mounts  # noqa: E402

EXITS = {"whole": 0, "incomplete": 4, "damaged": 3, "unusable": 3}
HASHED = 64 << 20  # larger files are compared by size and times


@dataclasses.dataclass
class Answer:
    exit: int
    findings: list
    summary: dict
    stderr: str

    def of(self, *severities):
        return [f for f in self.findings if f["severity"] in severities]


def environment(more=()):
    """The caller's, without what would decide for doctor which stores there are."""
    foreign = ("VOUCHFS_", "OLLAMA_", "HF_", "HUGGINGFACE_", "XDG_")
    return {**{k: v for k, v in os.environ.items() if not k.startswith(foreign)}, **dict(more)}


def state(path):
    """What must not change of a file, folder or link: all but the time of the last access."""
    info = os.lstat(path)
    content = ""
    if stat.S_ISLNK(info.st_mode):
        content = os.readlink(path)
    elif stat.S_ISREG(info.st_mode) and info.st_size <= HASHED:
        content = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
    return (info.st_mode, info.st_uid, info.st_gid, info.st_size, info.st_blocks, info.st_mtime_ns, info.st_ctime_ns, info.st_ino, content)


def snapshot(folder):
    """{path: state} of everything below a folder, itself too."""
    found = {".": state(folder)}
    for top, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(top, name)
            found[os.path.relpath(path, folder)] = state(path)
    return found


class DoctorCase(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        self.assertIn("VOUCHFS_BIN", os.environ, "set VOUCHFS_BIN, or run this by ctest")
        self.assertEqual(os.geteuid(), 0, "these tests run as root (they take other users' part themselves)")
        self.folder = pathlib.Path(os.path.realpath(tempfile.mkdtemp(prefix="vouchfs-test-")))
        self.addCleanup(shutil.rmtree, self.folder)
        os.chmod(self.folder, 0o755)

    def new_folder(self, name):
        path = self.folder / name
        path.mkdir(parents=True)
        return path

    def doctor(self, *arguments, variables=(), prefix=(), timeout=120):
        """Runs `vouchfs doctor --json`; the summary must be the last record and fit the findings and the exit code."""
        done = mounts.run(*prefix, mounts.binary(), "doctor", "--json", *arguments, env=environment([("HOME", str(self.folder)), *variables]), timeout=timeout)
        records = [json.loads(line) for line in done.stdout.splitlines()]
        findings = [r for r in records if r["type"] == "finding"]
        summaries = [r for r in records if r["type"] == "summary"]
        self.assertEqual(len(summaries), 1, "%s\n%s" % (done.stdout[-2000:], done.stderr[-2000:]))
        self.assertEqual(records[-1]["type"], "summary")
        answer = Answer(done.returncode, findings, summaries[0], done.stderr)
        self.check_sums(answer)
        return answer

    def check_sums(self, answer):
        """The summary counts the findings; the exit code says the verdict."""
        for severity in ("error", "warning", "note"):
            self.assertEqual(answer.summary[severity + "s"], len(answer.of(severity)), severity)
        self.assertEqual(answer.exit, EXITS[answer.summary["verdict"]], answer.summary)
        self.assertEqual(answer.summary["verdict"] == "whole", not answer.of("error"), answer.findings)

    def said(self, answer):
        """Errors and warnings as sentences, for messages of tests."""
        return ["%s %s %s: %s" % (f["severity"], f["code"], f["file"], f["message"]) for f in answer.of("error", "warning")]

    def assert_healthy(self, answer, what=""):
        self.assertEqual((self.said(answer), answer.exit, answer.summary["verdict"]), ([], 0, "whole"), what)

    @contextlib.contextmanager
    def unchanged(self, folder=None):
        """Nothing below the folder changes inside the block."""
        folder = folder or self.folder
        before = snapshot(folder)
        yield
        self.assertEqual(snapshot(folder), before, "doctor wrote something")


def main():
    unittest.main()
