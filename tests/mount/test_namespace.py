"""What the mount shows: names, sizes, modes, attributes, digests; what it refuses; that it shows the same after a remount."""
import ctypes
import errno
import json
import mmap
import os
import stat

import mounts
from mounts import BLOCK


class ViewCase(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.model = self.new_folder("model")
        self.files = {"config.json": b"{}\n", "empty": b"", "one-block.bin": mounts.noise(BLOCK, 1), "sub/deeper/x.bin": mounts.noise(10_000, 2), "sub/y.txt": b"y",
                      "with blank.txt": b"1", "komma,plus+\\back.txt": b"2", "größe-模型.bin": mounts.noise(5000, 3), "-dash": b"3", "sub-sibling.txt": b"4"}
        for name, data in self.files.items():
            mounts.write_file(os.path.join(self.model, name), data)
        self.places = mounts.safetensors(os.path.join(self.model, "model.safetensors"), {"w": 9000, "v": 3})
        self.files["model.safetensors"] = mounts.read_file(os.path.join(self.model, "model.safetensors"))
        self.ingest(self.model)
        self.seal = os.path.join(self.model, ".vouch")

    def walk(self, top):
        """{relative path: stat} of everything below."""
        out = {}
        for folder, folders, files in os.walk(top):
            for name in folders + files:
                path = os.path.join(folder, name)
                out[os.path.relpath(path, top)] = os.lstat(path)
        return out


class TestNamesAndBytes(ViewCase):
    def test_every_file_with_its_bytes_and_nothing_else(self):
        own = {"index.json", ".vouch", ".vouch/manifest.json", ".vouch/tensors.json", ".vouch/digest", ".vouch/status.json", ".vouch/events.jsonl"}
        with self.mount(self.model) as mount:
            self.assertEqual(set(self.walk(mount.path)), set(self.files) | {"sub", "sub/deeper"} | own)
            for name, data in self.files.items():
                self.assertEqual(mounts.read_file(mount / name), data, name)
                self.assertEqual(os.stat(mount / name).st_size, len(data), name)

    def test_names_that_are_not_there(self):
        with self.mount(self.model) as mount:
            for name in ("nothing", "sub/nothing", ".vouch/nothing", "CONFIG.JSON", "sub/..nothing", "x" * 255):
                self.assert_errno(errno.ENOENT, lambda: os.stat(mount / name), name)
            self.assert_errno(errno.ENOTDIR, lambda: os.stat(mount / "config.json/x"), "below a file")
            self.assert_errno(errno.ENOTDIR, lambda: os.listdir(mount / "config.json"), "listing a file")
            self.assert_errno(errno.EISDIR, lambda: mounts.read_file(mount / "sub"), "reading a folder")

    def test_modes_links_and_owners(self):
        with self.mount(self.model) as mount:
            for name, info in self.walk(mount.path).items():
                folder = stat.S_ISDIR(info.st_mode)
                self.assertEqual(stat.S_IMODE(info.st_mode), 0o555 if folder else 0o444, name)
                self.assertEqual(info.st_uid, 0, name)
                if not folder:
                    self.assertEqual(info.st_nlink, 1, name)
            self.assertEqual(os.stat(mount.path).st_nlink, 2 + 2, "root: two sub-folders")
            self.assertEqual(os.stat(mount / "sub").st_nlink, 3)
            self.assertEqual(os.stat(mount / "sub/deeper").st_nlink, 2)

    def test_statfs_is_full_and_read_only(self):
        with self.mount(self.model) as mount:
            info = os.statvfs(mount.path)
            self.assertTrue(info.f_flag & os.ST_RDONLY)
            self.assertEqual((info.f_bfree, info.f_bavail), (0, 0))
            self.assertGreaterEqual(info.f_namemax, 255)

    def test_the_seal_is_shown_byte_for_byte(self):
        with self.mount(self.model) as mount:
            manifest = mounts.manifest_of(self.seal)
            self.assertEqual(mounts.read_file(mount / ".vouch/manifest.json"), mounts.read_file(os.path.join(self.seal, "manifest.json")))
            self.assertEqual(mounts.read_file(mount / ".vouch/tensors.json"), mounts.read_file(os.path.join(self.seal, "tables", manifest["tensors"]["fsverity"] + ".json")))
            digest = mounts.verity_digest(os.path.join(self.seal, "manifest.json")).split(":")[-1]
            self.assertEqual(mounts.read_file(mount / ".vouch/digest"), b"sha256:" + digest.encode() + b"\n")

    def test_a_model_path_with_blanks_commas_and_other_letters(self):
        for name in ("a b", "a,b", "größe 模型,x=y", "back\\slash", "quote'\"s"):
            with self.subTest(path=name):
                model = self.new_folder(name)
                mounts.write_file(os.path.join(model, "f"), b"data")
                self.ingest(model)
                with self.mount(model, at=self.new_folder("mnt " + name)) as mount:
                    self.assertEqual(mounts.read_file(mount / "f"), b"data")
                    row = next(row for row in mounts.mount_rows() if row[0] == mount.path)
                    self.assertEqual(row[3], model, "the source shown by the mount table")

    def test_symbolic_links_of_the_model_are_plain_files(self):
        model = self.new_folder("linked/snapshot")
        mounts.write_file(self.path("linked/blobs/abc"), b"blob")
        os.symlink("../blobs/abc", os.path.join(model, "weights.bin"))
        self.ingest(model)
        with self.mount(model) as mount:
            self.assertTrue(stat.S_ISREG(os.lstat(mount / "weights.bin").st_mode))
            self.assertEqual(mounts.read_file(mount / "weights.bin"), b"blob")


class TestMountedOverItself(ViewCase):
    def test_over_its_own_model_folder(self):
        with self.mount(self.model, at=self.model) as mount:
            for name, data in self.files.items():
                self.assertEqual(mounts.read_file(mount / name), data, name)
        self.assertEqual(mounts.read_file(os.path.join(self.model, "config.json")), b"{}\n")

    def test_over_its_own_folder_damage_is_seen_and_mended(self):
        handle = os.open(os.path.join(self.model, "one-block.bin"), os.O_RDWR)  # a way in, under the mount
        self.addCleanup(os.close, handle)
        reference = self.path("reference")
        mounts.write_file(reference, self.files["one-block.bin"])
        with self.mount(self.model, "--on-known-bad=serve", at=self.model) as mount:
            os.pwrite(handle, b"damage", 100)
            self.assert_pages(mount / "one-block.bin", reference, "shared", {0})
            os.pwrite(handle, self.files["one-block.bin"], 0)
            self.assertTrue(mounts.wait_until(lambda: not self.probe.pages(mount / "one-block.bin", reference, "read").bad, 20))

    def test_on_a_folder_within_the_model(self):
        inner = os.path.join(self.model, "sub/deeper")
        with self.mount(self.model, at=inner) as mount:
            for name, data in self.files.items():
                if not name.startswith("sub/deeper"):
                    self.assertEqual(mounts.read_file(mount / name), data, name)


class TestReadOnly(ViewCase):
    def attempts(self, root):
        """{what: function}: every way to change something."""
        def opened(name, flags, mode=0o644):
            return lambda: os.close(os.open(os.path.join(root, name), flags, mode))
        file, new, folder = os.path.join(root, "config.json"), os.path.join(root, "new"), os.path.join(root, "sub")
        out = {
            "open for writing": opened("config.json", os.O_WRONLY), "open for both": opened("config.json", os.O_RDWR), "open to append": opened("config.json", os.O_WRONLY | os.O_APPEND),
            "open and cut": opened("config.json", os.O_RDONLY | os.O_TRUNC), "create": opened("new", os.O_WRONLY | os.O_CREAT), "create in a folder": opened("sub/new", os.O_WRONLY | os.O_CREAT),
            "create a nameless file": opened("sub", os.O_WRONLY | os.O_TMPFILE), "write index.json": opened("index.json", os.O_WRONLY), "write status": opened(".vouch/status.json", os.O_WRONLY),
            "write digest": opened(".vouch/digest", os.O_RDWR), "create in .vouch": opened(".vouch/new", os.O_WRONLY | os.O_CREAT),
            "truncate": lambda: os.truncate(file, 1), "unlink": lambda: os.unlink(file), "rename": lambda: os.rename(file, new), "rename over": lambda: os.rename(file, os.path.join(root, "empty")),
            "mkdir": lambda: os.mkdir(new), "rmdir": lambda: os.rmdir(folder), "symlink": lambda: os.symlink("x", new), "link": lambda: os.link(file, new),
            "mkfifo": lambda: os.mkfifo(new), "mknod": lambda: os.mknod(new, stat.S_IFREG | 0o644), "chmod": lambda: os.chmod(file, 0o600), "chown": lambda: os.chown(file, 1, 1),
            "utime": lambda: os.utime(file, (1, 1)), "chmod of a folder": lambda: os.chmod(folder, 0o700), "setxattr": lambda: os.setxattr(file, "user.x", b"1"),
            "setxattr of ours": lambda: os.setxattr(file, "user.vouch.state", b"ok"), "removexattr": lambda: os.removexattr(file, "user.vouch.state"),
        }
        return out

    def test_every_attempt_gets_erofs(self):
        with self.mount(self.model) as mount:
            for what, attempt in self.attempts(mount.path).items():
                with self.subTest(attempt=what):
                    self.assert_errno(errno.EROFS, attempt, what)
            self.assertEqual(mounts.read_file(mount / "config.json"), b"{}\n")

    def test_a_writable_mapping_is_refused(self):
        with self.mount(self.model) as mount:
            with open(mount / "config.json", "rb") as file:
                self.assert_errno(errno.EACCES, lambda: mmap.mmap(file.fileno(), 3, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE), "a writable mapping")

    def test_remounted_read_write_it_is_still_refused(self):
        with self.mount(self.model) as mount:
            if mounts.run("mount", "-o", "remount,rw", mount.path).returncode == 0:
                for what, attempt in self.attempts(mount.path).items():
                    with self.subTest(attempt=what):
                        try:
                            attempt()
                            self.fail("%s succeeds after a remount" % what)
                        except OSError as error:
                            self.assertIn(error.errno, (errno.EROFS, errno.EOPNOTSUPP, errno.EACCES), what)


class TestDigestsAndAttributes(ViewCase):
    def rows(self):
        return {row["path"]: row for row in mounts.manifest_of(self.seal)["files"]}

    def test_fsverity_measure_agrees_with_digest_of_the_source(self):
        with self.mount(self.model) as mount:
            for name in list(self.files):
                measured = mounts.run("fsverity", "measure", mount / name)
                self.assertEqual(measured.returncode, 0, measured.stderr)
                self.assertEqual(measured.stdout.split()[0], "sha256:" + mounts.verity_digest(os.path.join(self.model, name)).split(":")[-1], name)

    def test_fsverity_measure_of_what_is_synthesized(self):
        with self.mount(self.model) as mount:
            for name in ("index.json", ".vouch/manifest.json", ".vouch/tensors.json", ".vouch/digest"):
                copy = self.path("copy")
                mounts.write_file(copy, mounts.read_file(mount / name))
                measured = mounts.run("fsverity", "measure", mount / name)
                self.assertEqual(measured.returncode, 0, name + measured.stderr)
                self.assertEqual(measured.stdout.split()[0].split(":")[1], mounts.verity_digest(copy).split(":")[-1], name)
            for name in (".vouch/status.json", ".vouch/events.jsonl"):
                self.assertNotEqual(mounts.run("fsverity", "measure", mount / name).returncode, 0, name)

    def test_extended_attributes(self):
        with self.mount(self.model) as mount:
            digest = mounts.read_file(mount / ".vouch/digest").strip()
            for name, row in self.rows().items():
                got = {key: os.getxattr(mount / name, key) for key in os.listxattr(mount / name)}
                self.assertEqual(got, {"user.vouch.fsverity": b"sha256:" + row["fsverity"].encode(), "user.vouch.sha256": row["sha256"].encode(),
                                       "user.vouch.state": b"ok", "user.vouch.model": digest}, name)
                want = mounts.run("sha256sum", os.path.join(self.model, name)).stdout.lstrip("\\").split()[0]
                self.assertEqual(got["user.vouch.sha256"].decode(), want)
            self.assert_errno(errno.ENODATA, lambda: os.getxattr(mount / "config.json", "user.other"), "an unknown attribute")
            self.assert_errno(errno.ENODATA, lambda: os.getxattr(mount / "config.json", "security.selinux"), "an attribute of the system")
            self.assert_errno(errno.ENODATA, lambda: os.getxattr(mount / ".vouch/status.json", "user.vouch.sha256"), "a digest of what changes")
            self.assertEqual(os.getxattr(mount / "sub", "user.vouch.model"), digest)

    def test_a_buffer_that_is_too_small_gets_erange(self):
        with self.mount(self.model) as mount:
            libc = ctypes.CDLL(None, use_errno=True)
            path = os.fsencode(mount / "config.json")
            small = ctypes.create_string_buffer(5)
            self.assertEqual(libc.getxattr(path, b"user.vouch.sha256", small, ctypes.c_size_t(5)), -1)
            self.assertEqual(ctypes.get_errno(), errno.ERANGE)
            self.assertEqual(libc.getxattr(path, b"user.vouch.sha256", None, ctypes.c_size_t(0)), 64)


class _Dirent(ctypes.Structure):
    _fields_ = [("ino", ctypes.c_uint64), ("off", ctypes.c_int64), ("reclen", ctypes.c_ushort), ("type", ctypes.c_ubyte), ("name", ctypes.c_char * 256)]


class Folder:
    """opendir and its relatives, with telldir and seekdir, which Python lacks."""

    def __init__(self, path):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.opendir.restype = ctypes.c_void_p
        self.libc.readdir.restype = ctypes.POINTER(_Dirent)
        self.libc.telldir.restype = ctypes.c_long
        self.handle = ctypes.c_void_p(self.libc.opendir(os.fsencode(path)))

    def next(self):
        entry = self.libc.readdir(self.handle)
        return (entry.contents.name.decode(), entry.contents.ino, entry.contents.type) if entry else None

    def rest(self):
        return list(iter(self.next, None))

    def tell(self):
        return self.libc.telldir(self.handle)

    def seek(self, place):
        self.libc.seekdir(self.handle, ctypes.c_long(place))

    def close(self):
        self.libc.closedir(self.handle)


class TestReaddir(mounts.MountCase):
    COUNT = 3000  # several buffers of the kernel

    def setUp(self):
        super().setUp()
        self.model = self.new_folder("model")
        for i in range(self.COUNT):
            mounts.write_file(os.path.join(self.model, "many/file-with-a-longer-name-%05d" % i), b"")
        self.ingest(self.model)

    def test_each_name_once_in_order_and_with_its_inode(self):
        with self.mount(self.model) as mount:
            folder = Folder(mount / "many")
            entries = folder.rest()
            folder.close()
            names = [e[0] for e in entries]
            self.assertEqual(sorted(names), sorted([".", ".."] + os.listdir(os.path.join(self.model, "many"))))
            self.assertEqual(len(set(names)), len(names))
            for name, inode, kind in entries[2:40] + entries[-40:]:
                info = os.lstat(mount / ("many/" + name))
                self.assertEqual((info.st_ino, 8), (inode, kind), name)

    def test_seek_to_any_place_continues_there(self):
        with self.mount(self.model) as mount:
            folder = Folder(mount / "many")
            places, entries = [folder.tell()], []
            while (entry := folder.next()) is not None:
                entries.append(entry)
                places.append(folder.tell())
            for at in (0, 1, 2, 3, 500, 1777, len(entries) - 1, len(entries)):
                folder.seek(places[at])
                self.assertEqual(folder.rest(), entries[at:], "after a seek to entry %d" % at)
            folder.seek(places[-1] + 1000)
            self.assertEqual(folder.rest(), [], "a place behind the end is the end")
            folder.close()


class TestSameAfterRemount(ViewCase):
    def inodes(self, mount):
        return {name: info.st_ino for name, info in self.walk(mount.path).items()}

    def test_inode_numbers(self):
        with self.mount(self.model) as mount:
            first = self.inodes(mount)
        with self.mount(self.model, at=self.new_folder("elsewhere")) as mount:
            self.assertEqual(self.inodes(mount), first)
        self.assertEqual(len(set(first.values())), len(first), "no two alike")

    def test_inode_numbers_of_another_model_differ(self):
        other = self.new_folder("other")
        for name, data in self.files.items():
            mounts.write_file(os.path.join(other, name), data)
        mounts.write_file(os.path.join(other, "config.json"), b"{ }\n")
        self.ingest(other)
        with self.mount(self.model) as one, self.mount(other) as two:
            self.assertEqual(set(self.inodes(one).values()) & set(self.inodes(two).values()), set())

    def test_directory_places(self):
        def places(mount):
            folder, out = Folder(mount.path), []
            while (entry := folder.next()) is not None:
                out.append((entry[0], folder.tell()))
            folder.close()
            return out
        with self.mount(self.model) as mount:
            first = places(mount)
        with self.mount(self.model) as mount:
            self.assertEqual(places(mount), first)

    def test_synthesized_bytes(self):
        def bytes_of(mount):
            return {name: mounts.read_file(mount / name) for name in ("index.json", ".vouch/manifest.json", ".vouch/tensors.json", ".vouch/digest")}
        with self.mount(self.model) as mount:
            first = bytes_of(mount)
        with self.mount(self.model) as mount:
            self.assertEqual(bytes_of(mount), first)


class TestStore(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.store = self.new_folder("store")
        self.digests = {}
        for i, name in enumerate(("alpha", "beta-7b", "gamma mit blank")):
            model = os.path.join(self.store, name)
            mounts.safetensors(os.path.join(model, "model.safetensors"), {"t%d" % i: 2000 + i}, seed=i)
            mounts.write_file(os.path.join(model, "config.json"), b"{}")
            self.ingest(model)
            self.digests[name] = "sha256:" + mounts.verity_digest(os.path.join(model, ".vouch/manifest.json")).split(":")[-1]
        mounts.write_file(os.path.join(self.store, "unsealed/f.bin"), b"hidden")
        mounts.write_file(os.path.join(self.store, "readme.txt"), b"no model")

    def test_every_sealed_model_and_the_list(self):
        with self.mount(self.store) as mount:
            self.assertEqual(set(os.listdir(mount.path)) - {"index.json", ".vouch"}, set(self.digests))
            listed = json.loads(mounts.read_file(mount / "index.json"))["models"]
            self.assertEqual({row["name"]: row["digest"] for row in listed}, self.digests)
            for row in listed:
                folder = os.path.join(self.store, row["name"])
                sizes = [os.path.getsize(os.path.join(folder, name)) for name in ("model.safetensors", "config.json")]
                self.assertEqual((row["files"], row["bytes"]), (2, sum(sizes)))
                for name in ("model.safetensors", "config.json"):
                    self.assertEqual(mounts.read_file(mount / (row["name"] + "/" + name)), mounts.read_file(os.path.join(folder, name)))
                self.assertEqual(mounts.read_file(mount / (row["name"] + "/.vouch/digest")).decode().strip(), row["digest"])
                self.assertIn("weight_map", json.loads(mounts.read_file(mount / (row["name"] + "/index.json"))))

    def test_what_is_not_sealed_is_hidden_and_logged(self):
        with self.mount(self.store) as mount:
            self.assertNotIn("unsealed", os.listdir(mount.path))
            hidden = [e for e in mount.events("model_hidden")]
            self.assertTrue(any("unsealed" in json.dumps(e) for e in hidden), hidden)

    def test_events_and_known_bad_belong_to_their_model(self):
        reference = self.path("reference")
        victim = os.path.join(self.store, "alpha/model.safetensors")
        mounts.write_file(reference, mounts.read_file(victim))
        mounts.flip(victim, 5000)
        with self.mount(self.store, "--on-known-bad=serve") as mount:
            self.assert_pages(mount / "alpha/model.safetensors", reference, "read", {1})
            self.assertEqual([e["model"] for e in mount.events("corrupt_block", model_folder="alpha")], ["alpha"])
            self.assertEqual(mount.events("corrupt_block", model_folder="beta-7b"), [])
            status = {m["name"]: m for m in mount.status()["models"]}
            self.assertEqual(len(status["alpha"]["known_bad"]), 1)
            self.assertEqual(status["beta-7b"]["known_bad"], [])

    def test_the_same_model_twice_has_different_inodes(self):
        twin = os.path.join(self.store, "twin")
        for name in ("model.safetensors", "config.json"):
            mounts.write_file(os.path.join(twin, name), mounts.read_file(os.path.join(self.store, "alpha", name)))
        self.ingest(twin)
        with self.mount(self.store) as mount:
            one, two = (os.stat(mount / (folder + "/model.safetensors")).st_ino for folder in ("alpha", "twin"))
            self.assertNotEqual(one, two)

    def test_a_store_with_no_sealed_model_is_not_found(self):
        empty = self.new_folder("no-models")
        mounts.write_file(os.path.join(empty, "a/f"), b"")
        with self.mount(empty, expect=10):
            pass


class TestLiveFiles(ViewCase):
    def test_status_and_events_are_made_when_read(self):
        reference = self.path("reference")
        mounts.write_file(reference, self.files["one-block.bin"])
        with self.mount(self.model, "--on-known-bad=serve") as mount:
            self.assertEqual(mount.events(), [])
            before = mount.status()
            mounts.flip(os.path.join(self.model, "one-block.bin"), 9)
            self.assert_pages(mount / "one-block.bin", reference, "read", {0})
            self.assertEqual(len(mount.events()), 1)
            after = mount.status()
            self.assertGreater(after["counters"]["corrupt_blocks"], before["counters"]["corrupt_blocks"])
            self.assertEqual(os.stat(mount / ".vouch/status.json").st_size, 0, "its length is known only when it is read")

    def test_an_open_file_keeps_its_content(self):
        with self.mount(self.model, "--on-known-bad=serve") as mount:
            with open(mount / ".vouch/events.jsonl", "rb", buffering=0) as log:
                self.assertEqual(os.pread(log.fileno(), 100, 0), b"")
                mounts.flip(os.path.join(self.model, "one-block.bin"), 9)
                self.assert_errno(errno.EIO, lambda: mounts.read_file(mount / "one-block.bin"), "reading the damaged file")
                self.assertEqual(os.pread(log.fileno(), 100, 0), b"", "no line is torn between two reads")
            self.assertEqual(len(mount.events()), 1)


if __name__ == "__main__":
    mounts.main()
