"""scratch.py: a scratch folder that disappears for certain, with every mount below it, even when this process is killed.

A guardian process waits for the end of a pipe that only we hold open; when it ends, for whatever reason, the guardian unmounts and removes.
There is no other way of cleaning up, so the one way is used every time.
"""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time


def mounts_below(folder):
    """Mount points below a folder, deepest first."""
    with open("/proc/self/mounts") as file:
        points = [line.split()[1].encode().decode("unicode_escape") for line in file]
    return sorted((point for point in points if point.startswith(folder + "/")), key=len, reverse=True)


def unmount(point, patience=20.0):
    """Unmounts; when it stays busy for too long, detaches it. Returns whether it went the ordinary way."""
    end = time.monotonic() + patience
    while True:
        done = subprocess.run(["umount", point], capture_output=True)
        if done.returncode == 0 or point not in mounts_below(os.path.dirname(point)):
            return True
        if time.monotonic() > end:
            subprocess.run(["umount", "-l", point], capture_output=True)
            return False
        # Busy: whoever reads is finishing. The condition is asked again by umount itself.
        time.sleep(0.05)


def guard(folder):
    """Body of the guardian."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()
    lazily = [point for point in mounts_below(folder) if not unmount(point)]
    if lazily:
        print(f"detached while busy: {', '.join(lazily)}", file=sys.stderr)
    # Never remove through a mount: what lies behind it may not be ours.
    if not mounts_below(folder):
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if os.path.exists(folder) else 0


@contextlib.contextmanager
def scratch(parent):
    """Yields a private folder; signals that would end us end the block, and the guardian does the rest."""
    def stop(number, _frame):
        raise SystemExit(128 + number)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    folder = os.path.realpath(tempfile.mkdtemp(prefix="vouchfs-bench-", dir=parent))
    guardian = subprocess.Popen([sys.executable, os.path.abspath(__file__), folder], stdin=subprocess.PIPE, start_new_session=True)
    try:
        yield folder
    finally:
        guardian.stdin.close()
        if guardian.wait() != 0:
            print(f"could not remove {folder}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(guard(sys.argv[1]))
