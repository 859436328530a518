"""Ten thousand random corruptions, each of one file: no wrong byte, every damaged page fails, no other does.

VOUCHFS_TEST_SEED repeats a run; the seed stands in every message."""
import os
import random

import mounts
from mounts import BLOCK, MODES

CORRUPTIONS = int(os.environ.get("VOUCHFS_TEST_CORRUPTIONS", "10000"))
FILES = 500


class TestTenThousandCorruptions(mounts.MountCase):
    def make_model(self):
        rng = random.Random(self.seed)
        self.model, self.good, self.data = self.new_folder("model"), self.new_folder("good"), {}
        for i in range(FILES):
            size = rng.choice((rng.randrange(1, BLOCK + 1), rng.randrange(BLOCK, 40_000), rng.randrange(1, 12) * BLOCK, rng.randrange(128 * BLOCK, 150 * BLOCK) if i % 10 == 0 else BLOCK + 1))
            data = bytearray(rng.randbytes(size))
            if i % 4 == 0 and size > 3 * BLOCK:
                data[BLOCK:2 * BLOCK] = bytes(BLOCK)  # blocks of zeros, as in preallocated files
            self.data["f%03d" % i] = bytes(data)
        for name, data in self.data.items():
            mounts.write_file(os.path.join(self.model, name), data)
            mounts.write_file(os.path.join(self.good, name), data)
        self.ingest(self.model)

    def corrupt(self, data, rng):
        """(kind, new bytes): the bytes the file has afterwards, always different from what it had in what matters or in its length."""
        size = len(data)
        blocks = (size + BLOCK - 1) // BLOCK
        start = rng.randrange(blocks) * BLOCK
        end = min(size, start + BLOCK)
        kind = rng.choice(("bit", "bit", "bit", "byte", "zeros", "noise", "run", "swap", "shift", "cut", "grow", "other"))
        out = bytearray(data)
        if kind == "bit":
            out[rng.randrange(size)] ^= 1 << rng.randrange(8)
        elif kind == "byte":
            out[rng.choice((0, size - 1, start, end - 1))] ^= rng.randrange(1, 256)
        elif kind == "zeros":
            out[start:end] = bytes(end - start)
        elif kind == "noise":
            out[start:end] = rng.randbytes(end - start)
        elif kind == "run":
            at = rng.randrange(size)
            length = min(size - at, rng.randrange(1, 30_000))
            out[at:at + length] = rng.randbytes(length)
        elif kind == "swap" and blocks > 2:
            a, b = (rng.randrange(blocks - 1) * BLOCK for _ in range(2))
            out[a:a + BLOCK], out[b:b + BLOCK] = out[b:b + BLOCK], out[a:a + BLOCK]
        elif kind == "shift":
            at = rng.randrange(size)
            out = (out[:at] + b"!" + out[at:])[:size]
        elif kind == "cut":
            del out[rng.randrange(size):]
        elif kind == "grow":
            out += rng.randbytes(rng.randrange(1, 3 * BLOCK))
        elif kind == "other":
            other = self.data[rng.choice(list(self.data))]
            out[start:end] = other[:end - start].ljust(end - start, b"\7")
        return kind, bytes(out)

    def pages_that_fail(self, name, now):
        """(must, may): may is a cut that took only zeros: what is gone cannot be told from what was there."""
        must, may, data = set(), set(), self.data[name]
        for page in range((len(data) + BLOCK - 1) // BLOCK):
            was = data[page * BLOCK:(page + 1) * BLOCK]
            got = now[page * BLOCK:page * BLOCK + len(was)]
            if got != was:
                (may if got.ljust(len(was), b"\0") == was else must).add(page)
        return must, may

    def check(self, mount, name, kind, now, mode):
        what = "%s (%s) by %s, seed %d" % (name, kind, mode, self.seed)
        must, may = self.pages_that_fail(name, now)
        report = self.probe.pages(mount / name, os.path.join(self.good, name), mode)
        self.assertEqual((report.open, report.wrong, report.other), (0, set(), []), "%s: open errno, WRONG pages, neither bytes nor EIO" % what)
        self.assertEqual(mounts.runs(must - report.bad), "none", "%s: damaged pages that read as if fine" % what)
        self.assertEqual(mounts.runs(report.bad - must - may), "none", "%s: sound pages that fail" % what)
        return len(report.bad)

    def test_no_wrong_byte(self):
        self.seed = int(os.environ.get("VOUCHFS_TEST_SEED", "0")) or 20261130
        self.make_model()
        rng = random.Random(self.seed + 1)
        done = refused = 0
        while done < CORRUPTIONS:
            with self.mount(self.model, "--on-known-bad=serve") as mount:  # a new mount a round: nothing is known, nothing cached
                for name in rng.sample(sorted(self.data), min(FILES, CORRUPTIONS - done)):
                    kind, now = self.corrupt(self.data[name], rng)
                    mounts.write_file(os.path.join(self.model, name), now)
                    refused += self.check(mount, name, kind, now, rng.choice(MODES))
                    done += 1
            for name, data in self.data.items():
                mounts.write_file(os.path.join(self.model, name), data)
        print("%d corruptions, %d pages refused" % (done, refused))
        self.assertGreater(refused, CORRUPTIONS // 2)
        with self.mount(self.model) as mount:
            for name in self.data:
                self.assert_pages(mount / name, os.path.join(self.good, name), rng.choice(MODES))


if __name__ == "__main__":
    mounts.main()
