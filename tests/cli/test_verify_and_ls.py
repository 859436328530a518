"""verify: every bad range with its tensors, for a model, a store and a mount. ls: the rows of the headers, with and without a seal."""
import os
import shutil

import models
import mounts

SHARDS = [models.shard_name(i, 3) for i in (1, 2, 3)]


class VerifyCase(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.model = self.path("model")
        self.rows = models.write_model(self.model, shards=3, tensors=4, floats=9000)
        mounts.write_file(self.model + "/sub/vocab.txt", mounts.noise(3 * 4096 + 5, 1))
        mounts.write_file(self.model + "/empty", b"")
        self.good = self.seal_and_keep(self.model)
        self.digest = "sha256:" + mounts.verity_digest(self.model + "/.vouch/manifest.json")

    def verify(self, path, code, *options):
        done = mounts.vouchfs("verify", path, "--json", *options)
        self.assertEqual(done.returncode, code, done.stderr)
        return models.records(done.stdout, "corrupt"), models.records(done.stdout, "summary")

    def check_runs(self, runs, damaged):
        """damaged: {file: {blocks}}: these blocks and no others, each run with exactly the tensors it cuts."""
        found = {}
        for run in runs:
            size = os.path.getsize(self.good + "/" + run["file"])
            self.assertEqual(run["offset"], run["block"] * 4096)
            self.assertEqual(run["length"], min(size, (run["block"] + run["blocks"]) * 4096) - run["offset"])
            self.assertEqual(sorted(run["tensors"]), models.tensors_cut(self.rows.get(run["file"], {}), run["offset"], run["length"]))
            found.setdefault(run["file"], set()).update(range(run["block"], run["block"] + run["blocks"]))
        self.assertEqual(found, damaged)

    def damage(self):
        last = (os.path.getsize(self.model + "/" + SHARDS[2]) - 1) // 4096
        damaged = {SHARDS[0]: {0, 17}, SHARDS[2]: {20, 21, 22, last}, "sub/vocab.txt": {3}}
        for file, blocks in damaged.items():
            for block in blocks:
                mounts.damage_block(self.model + "/" + file, block, block % 4)
        return damaged


class TestVerify(VerifyCase):
    def test_a_whole_model(self):
        runs, summary = self.verify(self.model, 0)
        sizes = [os.path.getsize(os.path.join(top, f)) for top, _, files in os.walk(self.good) for f in files]
        self.assertEqual(runs, [])
        self.assertEqual({k: summary[0][k] for k in ("model_digest", "files", "bytes", "blocks", "corrupt_blocks")},
                         {"model_digest": self.digest, "files": 6, "bytes": sum(sizes), "blocks": sum((s + 4095) // 4096 for s in sizes), "corrupt_blocks": 0})
        self.assertIsInstance(summary[0]["seconds"], float)

    def test_damaged_blocks_and_no_others_with_any_number_of_threads(self):
        damaged = self.damage()
        for jobs in ("1", "2", "9"):
            runs, summary = self.verify(self.model, 3, "--jobs", jobs)
            self.check_runs(runs, damaged)
            self.assertEqual(summary[0]["corrupt_blocks"], 7)

    def test_words_for_people_name_file_bytes_and_tensors(self):
        mounts.damage_block(self.model + "/" + SHARDS[0], 17)
        done = mounts.vouchfs("verify", self.model)
        line = next(line for line in done.stdout.splitlines() if line.startswith(SHARDS[0]))
        self.assertIn("block 17 (bytes %d to %d)" % (17 * 4096, 18 * 4096 - 1), line)
        for tensor in models.tensors_cut(self.rows[SHARDS[0]], 17 * 4096, 4096):
            self.assertIn(tensor, line)
        self.assertIn("1 of ", done.stderr)

    def test_a_cut_file_counts_what_is_not_there(self):
        blocks = (os.path.getsize(self.good + "/" + SHARDS[1]) + 4095) // 4096
        os.truncate(self.model + "/" + SHARDS[1], 50000)
        runs, summary = self.verify(self.model, 3)
        self.check_runs(runs, {SHARDS[1]: set(range(12, blocks))})
        self.assertEqual([run["kind"] for run in runs], ["truncated"])
        self.assertEqual(summary[0]["corrupt_blocks"], blocks - 12)

    def test_a_lost_file_counts_whole_and_an_empty_one_is_missed_too(self):
        os.unlink(self.model + "/" + SHARDS[1])
        os.unlink(self.model + "/empty")
        runs, summary = self.verify(self.model, 3)
        blocks = (os.path.getsize(self.good + "/" + SHARDS[1]) + 4095) // 4096
        self.assertEqual([(run["file"], run["kind"], run["blocks"]) for run in runs], [("empty", "lost", 0), (SHARDS[1], "lost", blocks)])
        self.assertEqual(sorted(runs[1]["tensors"]), sorted(self.rows[SHARDS[1]]))
        self.assertEqual(summary[0]["corrupt_blocks"], blocks)

    def test_a_damaged_tree_is_told_from_damaged_data(self):
        tree = "%s/.vouch/trees/%s.tree" % (self.model, mounts.verity_digest(self.good + "/" + SHARDS[0]))
        mounts.flip(tree, 70)
        runs, _ = self.verify(self.model, 3)
        self.assertEqual({(run["file"], run["kind"]) for run in runs}, {(SHARDS[0], "tree")})

    def test_bytes_past_the_sealed_size_do_not_count(self):
        with open(self.model + "/" + SHARDS[0], "ab") as file:
            file.write(b"more")
        self.verify(self.model, 0)

    def test_a_seal_elsewhere_and_a_pinned_digest(self):
        shutil.move(self.model + "/.vouch", self.path("seal"))
        self.verify(self.model, 0, "--seal", self.path("seal"), "--digest", self.digest)
        self.verify(self.model, 5, "--seal", self.path("seal"), "--digest", "sha256:" + "1" * 64)

    def test_an_edited_manifest_makes_the_file_bad_that_no_longer_fits_it(self):
        path = self.model + "/.vouch/manifest.json"
        other = mounts.verity_digest(self.good + "/" + SHARDS[1])
        text = mounts.read_file(path).decode().replace(mounts.verity_digest(self.good + "/" + SHARDS[0]), other)
        mounts.write_file(path, text.encode())
        runs, _ = self.verify(self.model, 3)
        self.assertEqual({run["file"] for run in runs}, {SHARDS[0]})


class TestVerifyOfAMount(VerifyCase):
    def test_the_sources_behind_a_mount_are_checked_against_its_digest(self):
        with self.mount(self.model) as mount:
            _, summary = self.verify(mount.path, 0)
            self.assertEqual(summary[0]["model_digest"], self.digest)
            damaged = self.damage()
            runs, summary = self.verify(mount.path, 3)
            self.check_runs(runs, damaged)
            mounts.write_file(self.model + "/new", b"1")
            self.ingest(self.model)  # another seal now lies where the mount had its own
            self.verify(mount.path, 5)

    def test_every_model_of_a_store_mounted_or_not(self):
        store = self.new_folder("store")
        shutil.move(self.model, store + "/one")
        models.write_model(store + "/two", shards=1, seed=3)
        self.ingest(store + "/two")
        self.model = store + "/one"
        os.mkdir(store + "/not-a-model")
        _, summary = self.verify(store, 0)
        self.assertEqual([s["model"] for s in summary], ["one", "two"])
        mounts.damage_block(store + "/one/" + SHARDS[0], 1)
        with self.mount(store) as mount:
            runs, summary = self.verify(mount.path, 3)
        self.assertEqual([(run["model"], run["file"], run["block"]) for run in runs], [("one", SHARDS[0], 1)])
        self.assertEqual([s["corrupt_blocks"] for s in summary], [1, 0])


class TestRate(mounts.MountCase):
    def test_ingest_and_verify_read_no_faster_than_allowed(self):
        model = self.path("model")
        os.mkdir(model)
        for name in ("a", "b", "c"):
            mounts.write_file(model + "/" + name, mounts.noise(4 << 20, 1))
        for command in ("ingest", "verify"):
            summary, = models.records(mounts.vouchfs_ok(command, model, "--json", "--rate", "8M").stdout, "summary")
            self.assertEqual(summary["bytes"], 12 << 20)
            self.assertGreater(summary["seconds"], 1.3)  # 1.5 less the tenth of a second that may be made up for
            self.assertLess(summary["seconds"], 6)

    def test_a_rate_that_is_no_size_is_refused(self):
        model = self.path("model")
        models.write_model(model)
        mounts.vouchfs_ok("ingest", model)
        for command in ("ingest", "verify"):
            done = mounts.vouchfs(command, model, "--rate", "fast")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("fast", done.stderr)


class TestLs(mounts.MountCase):
    def test_rows_of_headers_with_and_without_a_seal(self):
        model = self.path("model")
        rows = models.write_model(model)
        os.mkdir(model + "/sub")
        rows["sub/extra.safetensors"] = models.write_safetensors(model + "/sub/extra.safetensors",
                                                                 [("half", "BF16", (7, 5)), ("scalar", "F64", ()), ("none", "I8", (0, 3)), ("f8", "F8_E4M3", (10,))])
        want = [(name, d, list(s), file, a, z - a) for file, tensors in rows.items() for name, (d, s, a, z) in tensors.items()]
        for sealed in (False, True):
            if sealed:
                self.ingest(model)
            got = models.records(mounts.vouchfs_ok("ls", model, "--json").stdout, "tensor")
            self.assertEqual(sorted((r["name"], r["dtype"], r["shape"], r["file"], r["offset"], r["bytes"]) for r in got), sorted(want))
            text = mounts.vouchfs_ok("ls", model).stdout.splitlines()
            self.assertEqual(len(text), len(want))
            self.assertTrue(any(line.split()[:2] == ["half", "BF16"] and "[7, 5]" in line for line in text))

    def test_a_broken_header_is_named_and_the_rest_listed(self):
        model = self.path("model")
        models.write_model(model)
        os.truncate(model + "/" + models.shard_name(2, 2), 9000)
        done = mounts.vouchfs_ok("ls", model)
        self.assertEqual(len(done.stdout.splitlines()), 3)
        self.assertIn(models.shard_name(2, 2), done.stderr)


if __name__ == "__main__":
    mounts.main()
