#!/usr/bin/env python3
"""What SEMANTICS.md says of events, status, index.json, attributes and errors is what a mount of the program shows."""
import errno
import json
import os
import re
import sys
import unittest

from documents import DOCS, MAN, ROOT, codes, section, tables

sys.path.insert(0, str(ROOT / "tests" / "support"))
import mounts  # noqa: E402

SEMANTICS = (DOCS / "SEMANTICS.md").read_text()
SHARD = "model-00001-of-00002.safetensors"


def words_of(table):
    """Everything in back quotes in the first column of a table."""
    return {word for row in table[1:] for word in codes(row[0])}


def events_table():
    return tables(section(SEMANTICS, "Events"))[0]


def event_fields():
    """(fields that are always there, fields for some events only), as the page says."""
    rows = tables(section(SEMANTICS, "Events"))[1][1:]
    some = {word for row in rows if "only" in row[1] for word in codes(row[0])}
    return {word for row in rows for word in codes(row[0])} - some, some


class Facts(mounts.MountCase):
    def damaged_model(self):
        """A sealed model with a wrong index, a damaged block in one shard and a damaged tree of the other."""
        model = self.new_folder("model")
        for number in (1, 2):
            mounts.safetensors(f"{model}/model-0000{number}-of-00002.safetensors", {f"layer.{number}.weight": 300000}, number)
        index = {"metadata": {"total_size": 1}, "weight_map": {"layer.1.weight": SHARD, "layer.2.weight": SHARD}}
        mounts.write_file(f"{model}/model.safetensors.index.json", json.dumps(index).encode())
        self.ingest(model)
        mounts.damage_block(f"{model}/{SHARD}", 20)
        second = next(f for f in mounts.manifest_of(f"{model}/.vouch")["files"] if f["path"] == "model-00002-of-00002.safetensors")
        mounts.damage_block(f"{model}/.vouch/trees/{second['fsverity']}.tree", 1)
        return model

    def fail_to_read(self, path):
        self.assert_errno(errno.EIO, lambda: mounts.read_file(path), path)

    def provoke(self, mount):
        """Reads that cause events of several kinds."""
        self.fail_to_read(mount / SHARD)
        self.fail_to_read(mount / SHARD)  # now the open is refused
        self.fail_to_read(mount / "model-00002-of-00002.safetensors")

    def test_events_that_happen_have_the_names_and_fields_of_the_page(self):
        always, some = event_fields()
        with self.mount(self.damaged_model()) as mount:
            self.provoke(mount)
            events = mount.events()
            kinds = {event["event"] for event in events}
            self.assertLessEqual({"corrupt_block", "corrupt_tree", "open_refused", "index_corrected"}, kinds)
            self.assertLessEqual(kinds, words_of(events_table()))
            for event in events:
                with self.subTest(event=event["event"]):
                    self.assertLessEqual(always, set(event))
                    self.assertLessEqual(set(event), always | some)
            self.assertEqual({field for event in events for field in event} & some, some)
            self.assertLessEqual({event["result"] for event in events}, {"eio", "served", "repaired"})

    def test_every_event_of_the_page_is_one_of_the_code_and_the_reverse(self):
        code = "".join(p.read_text() for top in ("core", "fs", "mount_tools") for p in (ROOT / top).rglob("*.cpp"))
        made = set(re.findall(r'\.event = "(\w+)"', code)) | set(re.findall(r'start\("(\w+)"', code))
        made |= set(re.findall(r'return "((?:corrupt|source)_\w+)"', code))
        self.assertEqual(words_of(events_table()), made)

    def test_the_number_of_events_kept_is_that_of_the_code(self):
        kept = re.search(r"kKeptEvents = (\d+)", (ROOT / "core/observe/event.h").read_text()).group(1)
        self.assertIn("The newest %s different events are kept" % kept, SEMANTICS)

    def test_the_status_has_the_keys_of_the_page(self):
        whole, of_model = tables(section(SEMANTICS, "Status"))
        with self.mount(self.damaged_model()) as mount:
            self.provoke(mount)
            status = mount.status()
            self.assertEqual(words_of(whole), set(status))
            counters = next(row for row in whole if "`counters`" in row[0])
            self.assertEqual(set(codes(counters[1])), set(status["counters"]))
            model = status["models"][0]
            self.assertEqual(words_of(of_model), set(model))
            shards = next(row for row in of_model if "`shards`" in row[0])
            self.assertEqual(set(codes(shards[1])), set(model["shards"][0]))
            known_bad = next(row for row in of_model if "`known_bad`" in row[0])
            self.assertEqual(set(codes(known_bad[1])), set(model["known_bad"][0]))
            printed = mounts.vouchfs_ok("status", mount.path, "--json").stdout.splitlines()
            self.assertEqual(len(printed), 1)
            self.assertEqual({**json.loads(printed[0])}.keys() - status.keys(), {"type"})

    def test_index_json_has_the_keys_of_the_page(self):
        with self.mount(self.damaged_model()) as mount:
            index = json.loads(mounts.read_file(mount / "index.json"))
            keys = words_of(tables(section(SEMANTICS, "index.json"))[0])
            self.assertEqual(set(index["metadata"]["vouchfs"]), keys)
            self.assertEqual(set(index), {"metadata", "weight_map"})
            self.assertEqual(set(index["metadata"]), {"total_size", "total_parameters", "vouchfs"})

    def test_the_names_of_the_page_are_shown(self):
        names = [codes(row[0])[0] for row in tables(section(SEMANTICS, "Names"))[0][1:] if codes(row[0])]
        self.assertIn(".vouch/events.jsonl", names)
        with self.mount(self.damaged_model()) as mount:
            for name in names:
                with self.subTest(name=name):
                    self.assertTrue(os.path.exists(mount / name.replace("<name>", "model.safetensors.index.json")))
            listed = {f".vouch/{name}" for name in os.listdir(mount / ".vouch")}
            self.assertEqual(listed, {name for name in names if name.startswith(".vouch/")})

    def test_the_attributes_of_the_page_are_those_of_a_file(self):
        names = words_of(tables(section(SEMANTICS, "Extended attributes"))[0])
        with self.mount(self.damaged_model()) as mount:
            self.assertEqual(set(os.listxattr(mount / SHARD)), names)
            self.assertEqual(os.listxattr(mount / ".vouch/status.json"), ["user.vouch.model"])
            self.assertEqual(os.stat(mount / SHARD).st_mode & 0o7777, 0o444)
            self.assertEqual(os.stat(mount.path).st_mode & 0o7777, 0o555)
        page = (MAN / "vouchfs-mount.1").read_text()
        self.assertEqual(set(re.findall(r"^\.It Va (user\.\S+)$", page, re.M)), names)

    def test_writing_fails_as_the_page_says(self):
        self.assertIn("EROFS", section(SEMANTICS, "Writing"))
        with self.mount(self.damaged_model()) as mount:
            self.assert_errno(errno.EROFS, lambda: open(mount / SHARD, "r+b"), "open for writing")
            self.assert_errno(errno.EROFS, lambda: os.unlink(mount / SHARD), "unlink")
            self.assert_errno(errno.ENODATA, lambda: os.getxattr(mount / SHARD, "user.other"), "an attribute that is not there")


if __name__ == "__main__":
    mounts.main()
