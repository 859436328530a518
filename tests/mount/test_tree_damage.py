"""The tree is damaged and the data are good: what cannot be judged fails, the event says that it is the tree; nothing else fails."""
import os

import mounts
from mounts import BLOCK, MODES

SIZES = {"three.bin": 66 * 1024 * 1024 + 5, "two.bin": 700_001, "one.bin": 300_000, "none.bin": 4096}


class TreeCase(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.model, self.seal = self.new_folder("model"), self.path("seal")
        for name, size in SIZES.items():
            # Noise of a prime number of blocks over and over: cheap to make, and no two places of a tree block hold the same hashes.
            period = mounts.noise(251 * BLOCK, name)
            mounts.write_file(os.path.join(self.model, name), (period * (size // len(period) + 1))[:size])
        self.good = self.seal_and_keep(self.model, "--seal", self.seal)
        self.digests = {row["path"]: row["fsverity"] for row in mounts.manifest_of(self.seal)["files"]}

    def tree(self, name):
        return os.path.join(self.seal, "trees", self.digests[name] + ".tree")

    def last(self, name):
        return (SIZES[name] - 1) // BLOCK

    def reference(self, name):
        return os.path.join(self.good, name)

    def under(self, name, level, index):
        """First and last data block below a tree block."""
        span = 128 ** (level + 1)
        return index * span, min((index + 1) * span - 1, self.last(name))

    def mounted(self):
        return self.mount(self.model, "--seal", self.seal, "--on-known-bad=serve")

    def check_others(self, mount, hurt):
        for name in SIZES:
            if name != hurt:
                self.assert_pages(mount / name, self.reference(name), "read", pages="0,%d" % self.last(name) if name == "three.bin" else "all")

    def check_event(self, mount, name, level, tree_block):
        events = mount.events("corrupt_tree", name)
        self.assertTrue(events, "no corrupt_tree event")
        self.assertEqual({(e["tree_level"], e["tree_block"]) for e in events}, {(level, tree_block)})
        self.assertEqual({e["result"] for e in events}, {"eio"})
        self.assertEqual(mount.events("corrupt_block", name), [], "the data are good, and the event must not say otherwise")


class TestEachLevel(TreeCase):
    def check_level(self, name, level, index, spot, pages, fail):
        """Flips a byte of one tree block; the pages asked for that lie below it fail, the others do not."""
        tree_block = mounts.tree_levels(SIZES[name])[level][1] + index
        mounts.flip(self.tree(name), tree_block * BLOCK + spot)
        with self.mounted() as mount:
            for mode in MODES:
                if mode == "stream" and pages != "all":
                    continue
                with self.subTest(file=name, level=level, mode=mode):
                    self.assert_pages(mount / name, self.reference(name), mode, fail, pages)
            self.check_others(mount, name)
            self.check_event(mount, name, level, tree_block)
            mounts.flip(self.tree(name), tree_block * BLOCK + spot)
            report = self.well(mount, name, pages)
            self.check_report(report, self.reference(name), (), "%s after its tree was put right" % name)

    def well(self, mount, name, pages):
        reports = []

        def look():
            reports.append(self.probe.pages(mount / name, self.reference(name), "read", pages))
            return not reports[-1].bad
        mounts.wait_until(look, 20)
        return reports[-1]

    def test_leaf_level_of_three(self):
        first, last = self.under("three.bin", 0, 60)
        pages = {0, first - 1, last + 1, self.last("three.bin")} | set(range(first, last + 1))
        self.check_level("three.bin", 0, 60, 100, mounts.runs(pages), range(first, last + 1))

    def test_middle_level_of_three(self):
        first, last = self.under("three.bin", 1, 1)
        self.assertEqual(first, 16384)
        fail = {first, first + 1, (first + last) // 2, last}
        self.check_level("three.bin", 1, 1, 33, mounts.runs({0, 5000, first - 1} | fail), fail)

    def test_root_level_of_three(self):
        fail = {0, 1, 127, 128, 16383, 16384, self.last("three.bin")}
        self.check_level("three.bin", 2, 0, 40, mounts.runs(fail), fail)

    def test_unused_rest_of_the_root_block(self):
        """Zeros behind the last hash of a tree block are hashed as well: one that is not zero is damage."""
        fail = {0, 16384, self.last("three.bin")}
        self.check_level("three.bin", 2, 0, BLOCK - 1, mounts.runs(fail), fail)

    def test_leaf_level_of_two(self):
        first, last = self.under("two.bin", 0, 1)
        self.check_level("two.bin", 0, 1, 0, "all", range(first, last + 1))

    def test_root_level_of_two(self):
        self.check_level("two.bin", 1, 0, 32, "all", range(0, self.last("two.bin") + 1))

    def test_the_only_level_of_one(self):
        self.check_level("one.bin", 0, 0, 7, "all", range(0, self.last("one.bin") + 1))


class TestLostTrees(TreeCase):
    def check(self, mount, name="two.bin"):
        for mode in MODES:
            with self.subTest(mode=mode):
                report = self.probe.pages(mount / name, self.reference(name), mode)
                self.check_report(report, self.reference(name), range(self.last(name) + 1), "%s by %s" % (name, mode))
        self.check_others(mount, name)
        self.assertTrue(mount.events("corrupt_tree", name), "no event says that it is the tree")

    def test_emptied(self):
        os.truncate(self.tree("two.bin"), 0)
        with self.mounted() as mount:
            self.check(mount)

    def test_deleted_before_the_mount(self):
        os.unlink(self.tree("two.bin"))
        with self.mounted() as mount:
            self.check(mount)

    def test_of_another_file(self):
        mounts.write_file(self.tree("two.bin"), mounts.read_file(self.tree("three.bin"))[:os.path.getsize(self.tree("two.bin"))])
        with self.mounted() as mount:
            self.check(mount)

    def test_cut_in_the_leaves(self):
        os.truncate(self.tree("two.bin"), 2 * BLOCK + 64)  # root, first leaf block, and two hashes of the second
        with self.mounted() as mount:
            self.assert_pages(mount / "two.bin", self.reference("two.bin"), "read", range(128, self.last("two.bin") + 1))

    def test_deleted_while_mounted_and_brought_back(self):
        with self.mounted() as mount:
            os.rename(self.tree("one.bin"), self.path("away"))
            report = self.probe.pages(mount / "one.bin", self.reference("one.bin"), "read")
            self.assertEqual((report.wrong, report.other), (set(), []))
            os.rename(self.path("away"), self.tree("one.bin"))
            self.assertTrue(mounts.wait_until(lambda: not self.probe.pages(mount / "one.bin", self.reference("one.bin"), "read").bad, 20))


class TestForgery(TreeCase):
    """Data changed, and the tree made to agree up to some level below the pinned root: never served."""

    def forge(self, name, block, levels):
        mounts.flip(os.path.join(self.model, name), block * BLOCK + 11)
        child, index = mounts.block_hash(os.path.join(self.model, name), block), block
        for count, start in mounts.tree_levels(SIZES[name])[:levels]:
            mounts.patch(self.tree(name), (start + index // 128) * BLOCK + index % 128 * 32, bytes.fromhex(child))
            index //= 128
            child = mounts.block_hash(self.tree(name), start + index)

    def check(self, name, block, levels):
        self.forge(name, block, levels)
        with self.mounted() as mount:
            for mode in ("read", "direct", "shared"):
                report = self.probe.pages(mount / name, self.reference(name), mode, "%d" % block)
                self.check_report(report, self.reference(name), {block}, "%s forged in %d levels, by %s" % (name, levels, mode))

    def test_leaf_of_three_levels(self):
        self.check("three.bin", 9000, 1)

    def test_two_of_three_levels(self):
        self.check("three.bin", 16500, 2)

    def test_all_three_levels(self):
        self.check("three.bin", 5, 3)

    def test_all_two_levels(self):
        self.check("two.bin", 130, 2)

    def test_the_only_level(self):
        self.check("one.bin", 3, 1)

    def test_a_verified_tree_block_that_changes_later_helps_nobody(self):
        """Read once, so that the tree is verified; then data and tree are forged together while mounted."""
        with self.mounted() as mount:
            self.assert_pages(mount / "one.bin", self.reference("one.bin"), "read", pages="0-2")
            self.forge("one.bin", 40, 1)
            for mode in MODES:
                if mode != "stream":
                    self.assert_pages(mount / "one.bin", self.reference("one.bin"), mode, {40}, pages="40")


if __name__ == "__main__":
    mounts.main()
