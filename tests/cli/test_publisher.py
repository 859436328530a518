"""ingest against what the publisher left: every kind of evidence, what each mode refuses, the words for it, and provenance.json."""
import json
import os
import shutil

import models
import mounts
import stores
from stores import COMMIT, OTHER_COMMIT, git_sha1, sha256


class PublisherCase(mounts.MountCase):
    def setUp(self):
        super().setUp()
        models.write_model(self.path("made"), shards=2)
        self.files = {name: mounts.read_file(self.path("made", name)) for name in os.listdir(self.path("made"))}
        self.files["sub/vocab.txt"] = mounts.noise(9000, 3)
        self.shard = models.shard_name(1, 2)

    def plain(self, name="model"):
        folder = self.path(name)
        for path, data in self.files.items():
            mounts.write_file(os.path.join(folder, path), data)
        return folder

    def ingest(self, model, *options, code=0):
        done = mounts.vouchfs("ingest", model, "--json", *options)
        self.assertEqual(done.returncode, code, done.stderr)
        return models.records(done.stdout, "summary" if code == 0 else "error")[0], done.stderr

    def assert_refused(self, model, *words, seal=None, options=()):
        error, text = self.ingest(model, *options, code=5)
        for word in words:
            self.assertIn(word, error["message"])
        self.assertIn(words[0], text)
        self.assertFalse(os.path.exists((seal or model + "/.vouch") + "/manifest.json"), "something was published")
        return error


class TestEvidence(PublisherCase):
    def assert_kinds(self, seal, kinds, count):
        """Every file was checked against these kinds and no others, each with the digest it has."""
        rows, _ = stores.provenance(seal)
        checked = {path: row for path, row in rows.items() if row[1]}
        self.assertEqual(len(checked), count)
        for path, (result, evidence) in checked.items():
            self.assertEqual(result, "ok", path)
            self.assertEqual({kind for kind, _, _ in evidence}, kinds(path) if callable(kinds) else kinds, path)
            data = self.files[path]
            for _, digest, _ in evidence:
                self.assertIn(digest, ("sha256:" + sha256(data), "git-sha1:" + git_sha1(data)))
        return rows

    def test_a_snapshot_by_the_names_of_its_blobs_and_by_the_listing(self):
        _, snapshot = stores.hf_cache(self.path("hub"), self.files)
        summary, _ = self.ingest(snapshot)
        self.assertEqual((summary["publisher_ok"], summary["publisher_without"], summary["publisher_mismatches"]), (len(self.files), 0, 0))
        rows = self.assert_kinds(snapshot + "/.vouch", {"hf-blob", "hf-tree"}, len(self.files))
        self.assertIn(("hf-tree", "sha256:" + sha256(self.files[self.shard]), "trees/%s.json" % COMMIT), rows[self.shard][1])
        self.assertIn(("hf-blob", "git-sha1:" + git_sha1(self.files["config.json"]), "blobs/" + git_sha1(self.files["config.json"])), rows["config.json"][1])

    def test_a_model_folder_of_a_cache_and_its_revisions(self):
        home, snapshot = stores.hf_cache(self.path("hub"), self.files)
        other = {**self.files, "config.json": b"{}"}
        _, second = stores.hf_cache(self.path("hub"), other, commit=OTHER_COMMIT, refs=("v2", "refs/pr/1"))
        self.ingest(home)
        self.assertTrue(os.path.exists(snapshot + "/.vouch/manifest.json"))
        self.assertFalse(os.path.exists(second + "/.vouch"))
        for revision in ("v2", "refs/pr/1", OTHER_COMMIT):
            shutil.rmtree(second + "/.vouch", ignore_errors=True)
            self.ingest(home, "--revision", revision)
            self.assertTrue(os.path.exists(second + "/.vouch/manifest.json"), revision)
            mounts.vouchfs_ok("verify", home, "--revision", revision)
        for command in ("ingest", "verify", "ls"):
            done = mounts.vouchfs(command, home, "--revision", "absent")
            self.assertEqual(done.returncode, 10, command)
            self.assertIn("v2", done.stderr)
            self.assertEqual(mounts.vouchfs(command, self.path("made"), "--revision", "main").returncode, 2, command)
        self.assertEqual(mounts.vouchfs_ok("digest", home).stdout.split()[0], mounts.vouchfs_ok("digest", snapshot).stdout.split()[0])

    def test_a_download_into_a_folder_by_its_notes_and_listing(self):
        model = self.plain()
        for path, data in self.files.items():
            etag = sha256(data) if stores.is_large(path) else git_sha1(data)
            mounts.write_file("%s/.cache/huggingface/download/%s.metadata" % (model, path), ("%s\n%s\n%f\n" % (COMMIT, etag, os.stat(os.path.join(model, path)).st_mtime)).encode())
        self.ingest(model, "--check-publisher", "require")
        self.assert_kinds(model + "/.vouch", {"hf-local-dir"}, len(self.files))
        mounts.write_file(model + "/.cache/huggingface/trees/%s.json" % COMMIT, stores.hf_tree(self.files))
        self.ingest(model)
        self.assert_kinds(model + "/.vouch", {"hf-local-dir", "hf-tree"}, len(self.files))

    def test_a_git_checkout_by_its_pointers_and_blobs(self):
        model = self.path("repo")
        head = stores.git_repository(model, self.files)
        self.ingest(model, "--check-publisher", "require")
        rows = self.assert_kinds(model + "/.vouch", lambda path: {"git-lfs" if stores.is_large(path) else "git-blob"}, len(self.files))
        self.assertEqual(rows[self.shard][1][0][2], "git:" + head)
        mounts.flip(model + "/sub/vocab.txt", 5)
        shutil.rmtree(model + "/.vouch")
        self.assert_refused(model, "bytes changed", "git-blob", git_sha1(self.files["sub/vocab.txt"]))

    def test_a_sparse_checkout_is_checked_as_any_other(self):
        model = self.path("repo")
        stores.git_repository(model, self.files)
        git = ("git", "-C", model, "-c", "safe.directory=*")
        mounts.run(*git, "sparse-checkout", "set", "sub").check_returncode()
        # As a partial clone has it: with this number a reader must refuse a repository whose extensions it does not know.
        mounts.run(*git, "config", "core.repositoryformatversion", "1").check_returncode()
        self.assertIn("worktreeConfig", mounts.read_file(model + "/.git/config").decode(), "no extension is set: the test is void")
        self.ingest(model, "--check-publisher", "require")
        mounts.flip(model + "/sub/vocab.txt", 5)
        shutil.rmtree(model + "/.vouch")
        self.assert_refused(model, "bytes changed", "git-blob")

    def test_evidence_that_may_not_be_read_is_a_warning_and_no_silence(self):
        for folder in (".git", ".cache/huggingface/trees", ".cache/huggingface/download"):
            with self.subTest(folder=folder):
                model = self.path(folder.replace("/", "-"))
                if folder == ".git":
                    stores.git_repository(model, self.files)
                else:
                    self.plain(os.path.basename(model))
                    os.makedirs(os.path.join(model, folder))
                os.chmod(os.path.join(model, folder), 0o700)
                seal = self.new_folder("seal-" + os.path.basename(model))
                os.chmod(self.dir, 0o755)
                os.chown(seal, mounts.NOBODY, mounts.NOBODY)
                done = mounts.run(*mounts.AS_NOBODY, mounts.binary(), "ingest", model, "--seal", seal, "--json")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(folder, "".join(r["message"] for r in models.records(done.stdout, "warning")))

    def test_a_pointer_that_was_never_fetched(self):
        model = self.path("repo")
        stores.git_repository(model, self.files)
        mounts.write_file(os.path.join(model, self.shard), stores.lfs_pointer(self.files[self.shard]))
        self.assert_refused(model, "a Git LFS pointer lies in its place", "git lfs pull", sha256(self.files[self.shard]))

    def test_checksum_lists_are_exempt_themselves(self):
        model = self.plain()
        lines = "".join("%s  ./%s\n" % (sha256(data), path) for path, data in self.files.items() if path != "config.json")
        mounts.write_file(model + "/SHA256SUMS", lines.encode())
        mounts.write_file(model + "/config.json.sha256", sha256(self.files["config.json"]).encode() + b"\n")
        mounts.write_file(model + "/.gitattributes", b"*.bin filter=lfs\n")
        summary, _ = self.ingest(model, "--check-publisher", "require")
        self.assertEqual((summary["publisher_ok"], summary["publisher_exempt"]), (len(self.files), 3))
        rows = self.assert_kinds(model + "/.vouch", {"sha256sums"}, len(self.files))
        self.assertEqual({path for path, row in rows.items() if row[0] == "exempt"}, {"SHA256SUMS", "config.json.sha256", ".gitattributes"})

    def test_listed_files_that_are_absent_are_a_warning(self):
        _, snapshot = stores.hf_cache(self.path("hub"), self.files)
        os.unlink(os.path.join(snapshot, "sub/vocab.txt"))
        done = mounts.vouchfs_ok("ingest", snapshot, "--json")
        self.assertIn("1 file of the publisher's listing (trees/%s.json) not here: sub/vocab.txt" % COMMIT, "".join(r["message"] for r in models.records(done.stdout, "warning")))
        self.assertEqual(models.records(done.stdout, "summary")[0]["publisher_absent"], 1)
        _, document = stores.provenance(snapshot + "/.vouch")
        self.assertEqual([row["path"] for row in document["missing"]], ["sub/vocab.txt"])

    def test_listed_files_of_folders_that_a_seal_leaves_out_are_not_missed(self):
        model = self.plain()
        listed = {**self.files, ".git/config": b"x", ".cache/huggingface/.gitignore": b"*", "sub/.cache/y": b"y", "sub/.vouch/manifest.json": b"z", "sub/.cached": b"z"}
        mounts.write_file(model + "/SHA256SUMS", "".join("%s  ./%s\n" % (sha256(data), path) for path, data in listed.items()).encode())
        done = mounts.vouchfs_ok("ingest", model, "--json", "--check-publisher", "require")
        self.assertEqual(models.records(done.stdout, "summary")[0]["publisher_absent"], 1)
        self.assertIn("1 file of the publisher's listing (SHA256SUMS) not here: sub/.cached", "".join(r["message"] for r in models.records(done.stdout, "warning")))


class TestGitConversions(PublisherCase):
    """An untouched clone whose texts Git converted: refused, since it is not what was published, with the cause and a way out that works."""

    TEXT = b"# Model\n$Id$\nline\n"

    def clone(self, attributes=b"", *config):
        self.files = {"config.json": b'{\n  "a": 1\n}\n', "README.md": self.TEXT}
        self.files.update({".gitattributes": attributes} if attributes else {})
        stores.git_repository(self.path("origin"), self.files)
        self.git("clone", "--quiet", *[word for option in config for word in ("--config", option)], self.path("origin"), self.path("clone"))
        return self.path("clone")

    def git(self, *words):
        mounts.run("git", "-c", "safe.directory=*", *words).check_returncode()

    def assert_cause(self, model, cause, path):
        error = self.assert_refused(model, cause, "else it is as published", git_sha1(self.files[path]))
        self.assertEqual(error["file"], model + "/" + path)
        self.assertIn("core.autocrlf false", error["advice"])
        mounts.write_file(model + "/.git/info/attributes", b"* -text -ident\n")
        self.git("-C", model, "config", "core.autocrlf", "false")
        for name in self.files:
            os.unlink(os.path.join(model, name))
        self.git("-C", model, "checkout", "--quiet", "--", ".")
        self.ingest(model, "--check-publisher", "require")

    def test_line_ends_by_configuration(self):
        model = self.clone(b"", "core.autocrlf=true")
        self.assertIn(b"\r\n", mounts.read_file(model + "/README.md"), "Git converted nothing: the test is void")
        self.assert_cause(model, "Git converted its line ends when it was checked out", "README.md")

    def test_line_ends_by_attributes(self):
        self.assert_cause(self.clone(b"*.json text eol=crlf\n"), "Git converted its line ends when it was checked out", "config.json")

    def test_ident(self):
        self.assert_cause(self.clone(b"*.md ident\n"), "Git filled in its $Id$", "README.md")

    def test_both(self):
        self.assert_cause(self.clone(b"*.md text eol=crlf ident\n"), "Git converted its line ends and filled in its $Id$", "README.md")

    def test_a_byte_changed_besides_is_no_conversion(self):
        model = self.clone(b"*.md text eol=crlf ident\n")
        mounts.flip(model + "/README.md", 3)
        error = self.assert_refused(model, "the publisher's has %d" % len(self.TEXT))
        self.assertNotIn("Git converted", error["message"])
        self.assertNotIn("autocrlf", error["advice"])

    def test_off_seals_what_is_here_and_says_so(self):
        model = self.clone(b"", "core.autocrlf=true")
        self.ingest(model, "--check-publisher=off")
        rows, document = stores.provenance(model + "/.vouch")
        self.assertEqual((document["check"], rows["README.md"][0]), ("off", "unchecked"))


class TestRefusals(PublisherCase):
    def test_changed_bytes_of_the_right_size(self):
        _, snapshot = stores.hf_cache(self.path("hub"), self.files)
        mounts.flip(os.path.join(snapshot, self.shard), 20000)
        now = sha256(mounts.read_file(os.path.join(snapshot, self.shard)))
        error = self.assert_refused(snapshot, "bytes changed", "sha256:" + now, "sha256:" + sha256(self.files[self.shard]), "hf-blob", "blobs/")
        self.assertIn(self.shard, json.dumps(error))

    def test_a_transfer_that_stopped(self):
        _, snapshot = stores.hf_cache(self.path("hub"), self.files)
        size = len(self.files[self.shard])
        os.truncate(os.path.join(snapshot, self.shard), size - 777)
        self.assert_refused(snapshot, "transfer stopped at byte %d of %d" % (size - 777, size))

    def test_a_small_file_by_its_git_name(self):
        _, snapshot = stores.hf_cache(self.path("hub"), self.files, tree=False)
        mounts.flip(os.path.join(snapshot, "config.json"), 3)
        self.assert_refused(snapshot, "bytes changed (its right size is not known)", "git-sha1:" + git_sha1(self.files["config.json"]))

    def test_where_no_evidence_tells_a_size_the_header_tells_a_cut_file(self):
        _, snapshot = stores.hf_cache(self.path("hub"), self.files, tree=False)
        size = len(self.files[self.shard])
        os.truncate(os.path.join(snapshot, self.shard), size - 777)
        self.assert_refused(snapshot, "transfer stopped at byte %d" % (size - 777), sha256(self.files[self.shard]))

    def test_every_bad_file_is_counted_and_off_takes_them_all(self):
        _, snapshot = stores.hf_cache(self.path("hub"), self.files)
        for path in (self.shard, "config.json", "sub/vocab.txt"):
            mounts.flip(os.path.join(snapshot, path), 3)
        self.assert_refused(snapshot, "2 files more do not fit either")
        summary, _ = self.ingest(snapshot, "--check-publisher=off")
        self.assertEqual((summary["publisher_check"], summary["publisher_ok"]), ("off", 0))
        rows, document = stores.provenance(snapshot + "/.vouch")
        self.assertEqual(document["check"], "off")
        self.assertEqual({row[0] for row in rows.values()}, {"unchecked"})

    def test_require_wants_evidence_for_every_file(self):
        model = self.plain()
        mounts.write_file(model + "/SHA256SUMS", ("%s  config.json\n" % sha256(self.files["config.json"])).encode())
        self.assert_refused(model, "no evidence of the publisher for 3 files", self.shard, "sub/vocab.txt", options=("--check-publisher", "require"))
        summary, _ = self.ingest(model)
        self.assertEqual((summary["publisher_ok"], summary["publisher_without"]), (1, 3))
        rows, _ = stores.provenance(model + "/.vouch")
        self.assertEqual(rows[self.shard], ("absent", []))

    def test_an_older_seal_survives_a_refusal(self):
        model = self.plain()
        self.ingest(model)
        before = {name: mounts.read_file(model + "/.vouch/" + name) for name in ("manifest.json", "provenance.json")}
        names = models.names_below(model + "/.vouch")
        mounts.write_file(model + "/SHA256SUMS", ("%s  config.json\n" % ("0" * 64)).encode())
        self.ingest(model, code=5)
        for name, data in before.items():
            self.assertEqual(mounts.read_file(model + "/.vouch/" + name), data)
        self.assertEqual([name for name in models.names_below(model + "/.vouch") if not name.startswith("work")], names)

    def test_check_says_3_for_the_seal_and_5_for_the_publisher(self):
        model = self.plain()
        mounts.write_file(model + "/SHA256SUMS", ("%s  config.json\n" % ("0" * 64)).encode())
        self.ingest(model, "--check-publisher=off")
        self.ingest(model, "--check", "--check-publisher=off")
        self.ingest(model, "--check", code=5)
        mounts.flip(model + "/config.json", 2)
        self.ingest(model, "--check", code=3)

    def test_an_unknown_word_is_a_usage_error(self):
        self.assertEqual(mounts.vouchfs("ingest", self.plain(), "--check-publisher", "sometimes").returncode, 2)

    def test_a_list_that_cannot_be_read_is_a_warning(self):
        model = self.plain()
        mounts.write_file(model + "/SHA256SUMS", b"<!DOCTYPE html>\n")
        done = mounts.vouchfs_ok("ingest", model, "--json")
        self.assertIn("SHA256SUMS cannot be used", "".join(r["message"] for r in models.records(done.stdout, "warning")))


class TestProvenance(PublisherCase):
    def test_is_the_same_everywhere_and_of_this_seal(self):
        texts = []
        for top in ("one", "two/deeper"):
            _, snapshot = stores.hf_cache(self.path(top), self.files)
            self.ingest(snapshot)
            texts.append(mounts.read_file(snapshot + "/.vouch/provenance.json"))
            document = json.loads(texts[-1])
            self.assertEqual(texts[-1].decode(), json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n", "one text for one value")
            self.assertEqual(document["model_digest"], mounts.vouchfs_ok("digest", snapshot).stdout.split()[0])
        self.assertEqual(texts[0], texts[1])
        self.assertNotIn(self.dir.encode(), texts[0])

    def test_does_not_change_the_model_digest(self):
        plain = self.plain()
        _, snapshot = stores.hf_cache(self.path("hub"), self.files)
        self.ingest(plain)
        self.ingest(snapshot)
        self.assertEqual(mounts.read_file(plain + "/.vouch/manifest.json"), mounts.read_file(snapshot + "/.vouch/manifest.json"))
        self.assertNotEqual(mounts.read_file(plain + "/.vouch/provenance.json"), mounts.read_file(snapshot + "/.vouch/provenance.json"))

    def test_text_says_what_was_checked(self):
        _, snapshot = stores.hf_cache(self.path("hub"), self.files)
        self.assertIn("publisher: %d files as published (hf-blob, hf-tree)" % len(self.files), mounts.vouchfs_ok("ingest", snapshot).stdout)
        self.assertIn("publisher: no digests of it were found", mounts.vouchfs_ok("ingest", self.plain()).stdout)


if __name__ == "__main__":
    mounts.main()
