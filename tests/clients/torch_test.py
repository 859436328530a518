#!/usr/bin/env python3
"""The reader of torch files beside torch itself: the same names, shapes, types and bytes; the same damaged files refused; the same globals."""
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
import setup  # noqa: E402
import torch_writer as writer  # noqa: E402

CLIENT = HERE / "torch_client.py"
PROBE = pathlib.Path(os.environ["VOUCHFS_CLIENT_TOOLS"]) / "torch_probe"


def torch(*words):
    done = subprocess.run([setup.python(), CLIENT, *words], stdout=subprocess.PIPE, check=True, timeout=900)
    return json.loads(done.stdout)


def probe(*paths):
    done = subprocess.run([PROBE, *paths], stdout=subprocess.PIPE, check=True, timeout=300)
    return dict(zip(map(str, paths), map(json.loads, done.stdout.splitlines()), strict=True))


def setUpModule():
    folder = unittest.enterModuleContext(tempfile.TemporaryDirectory())
    TorchCase.made = torch("make", folder)


class TorchCase(unittest.TestCase):
    made = {}  # {path: {tensor: its dtype, shape and bytes}}, all that torch_client.py saves

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def write(self, files):
        """{name: bytes} as files; gives back their paths as text."""
        for name, data in files.items():
            (self.folder / name).write_bytes(data)
        return [str(self.folder / name) for name in files]


class TensorsAreTorchs(TorchCase):
    def test_names_shapes_types_and_bytes_of_everything_torch_saves(self):
        self.assertGreater(len(self.made), 35)
        for path, found in probe(*self.made).items():
            wanted, data = self.made[path], pathlib.Path(path).read_bytes()
            with self.subTest(os.path.basename(path)):
                self.assertEqual(found["faults"], [])
                self.assertEqual(found["form"], "legacy" if ".legacy" in path else "zip")
                self.assertEqual({t["name"] for t in found["tensors"]}, set(wanted))
                self.assertEqual(len(found["tensors"]), len(wanted))
                for tensor in found["tensors"]:
                    self.assertEqual({"dtype": tensor["dtype"], "shape": tensor["shape"], "bytes": data[tensor["begin"]:tensor["end"]].hex()},
                                     wanted[tensor["name"]], tensor["name"])

    def test_tensors_come_in_order_of_their_place(self):
        for path, found in probe(*self.made).items():
            order = [(t["begin"], t["end"], t["name"].encode()) for t in found["tensors"]]
            self.assertEqual(order, sorted(order), path)

    def test_a_script_is_told_as_torch_tells_it(self):
        verdicts = torch("load", *self.made)
        for path, found in probe(*self.made).items():
            self.assertEqual(found["torchscript"], "TorchScript" in (verdicts[path] or ""), path)
            self.assertEqual(found["torchscript"], path.endswith("script.pt"), path)

    def test_checksums_are_those_of_the_records_and_their_absence_is_seen(self):
        for path, found in probe(*self.made).items():
            if found["form"] == "legacy":
                continue
            data = pathlib.Path(path).read_bytes()
            self.assertEqual(found["checksums"], "no_checksums" not in path, path)
            for record in found["records"]:
                if not record["stored"]:
                    self.assertTrue(found["torchscript"] and record["name"].startswith("code/"), record)
                    continue
                content = data[record["begin"]:record["begin"] + record["bytes"]]
                self.assertEqual(record["crc32"], zlib.crc32(content) if found["checksums"] else 0, record["name"])

    def test_files_that_torch_refuses_for_an_opcode_are_told_apart(self):
        verdicts = torch("load", *self.made)
        for path, found in probe(*self.made).items():
            refused = verdicts[path] is not None and "Unsupported operand" in verdicts[path]
            self.assertEqual(found["restricted_opcode"] is not None, refused, "%s: %s" % (path, verdicts[path]))
            if refused:
                self.assertIn("Unsupported operand %d" % found["restricted_opcode"], verdicts[path])

    def test_the_tests_own_writer_writes_what_torch_reads(self):
        value = {"a": writer.T("float32", (2, 3), bytes(range(24))), "n": {"b": writer.T("int64", (), bytes(8))}}
        paths = self.write({"own.pt": writer.zip_file(value), "own.legacy.pt": writer.legacy_file(value)})
        self.assertEqual(torch("load", *paths), dict.fromkeys(paths))
        for found in probe(*paths).values():
            self.assertEqual(found["faults"], [])


class GlobalsAreTorchs(TorchCase):
    STRANGE = ("os.system", "posix.system", "builtins.eval", "builtins.getattr", "builtins.dict", "builtins.print", "subprocess.Popen", "torch.load",
               "torch._utils._rebuild_nested_tensor", "torch._utils._rebuild_xla_tensor", "torch.nn.modules.linear.Linear", "torch.storage._load_from_bytes",
               "numpy.core.multiarray._reconstruct", "collections.defaultdict", "torch.cuda.QInt8Storage", "torch.sparse.BoolTensor", "torch.HalfComplexStorage",
               "torch.nn.parameter.Buffer", "argparse.Namespace", "transformers.training_args.TrainingArguments", "torch.float3", "torch.sparse_coo")
    OLD = ("__builtin__.set", "__builtin__.unicode", "__builtin__.xrange", "copy_reg._reconstructor", "itertools.imap", "UserDict.UserDict", "StringIO.StringIO",
           "exceptions.StandardError", "__builtin__.complex", "itertools.izip_longest", "UserList.UserList", "UserString.UserString", "__builtin__.reduce")

    def ask(self, names):
        files = {f"global{i}.pt": writer.zip_file({"x": writer.Global(*name.rsplit(".", 1))}) for i, name in enumerate(names)}
        paths = self.write(files)
        return list(zip(names, (probe(*paths)[path] for path in paths), (torch_says for torch_says in map(torch("unsafe", *paths).get, paths)), strict=True))

    def test_what_torch_takes_is_allowed_and_what_it_refuses_is_not(self):
        taken = torch("allowed")
        self.assertGreater(len(taken), 120)
        for name, found, refused in self.ask([*taken, *self.STRANGE, *self.OLD]):
            (own,) = found["globals"]
            self.assertEqual([] if own["allowed"] else [own["name"]], refused, name)
            self.assertIsNone(found["problem"], name)

    def test_the_globals_of_real_files_are_judged_as_torch_judges_them(self):
        paths = [path for path in self.made if not any(word in path for word in (".legacy", "protocol", "script"))]
        refused = torch("unsafe", *paths)
        for path, found in probe(*paths).items():
            self.assertEqual(sorted(g["name"] for g in found["globals"] if not g["allowed"]), refused[path], path)
        self.assertTrue(any(refused.values()), "the sample with whole modules has such globals")


class DamageIsSeenWhereTorchSeesIt(TorchCase):
    def setUp(self):
        super().setUp()
        value = {"a": writer.T("float32", (2, 3), bytes(range(24))), "b": writer.T("int64", (4,), bytes(range(32))), "c": writer.T("uint8", (3,), b"xyz")}
        self.zip, self.legacy, self.records = writer.zip_file(value), writer.legacy_file(value), dict(writer.zip_records(value))

    def assert_no_worse(self, files, both=None):
        """What torch refuses has a problem; `both`: and the other way round."""
        paths = self.write(files)
        verdicts, ours = torch("load", *paths), probe(*paths)
        for name, path in zip(files, paths, strict=True):
            seen = bool(ours[path]["faults"]) or any(not g["allowed"] for g in ours[path]["globals"]) or ours[path]["restricted_opcode"] is not None
            if verdicts[path] is not None:
                self.assertTrue(seen, "%s: torch says: %s" % (name, verdicts[path][:300]))
            elif both:
                self.assertEqual(ours[path]["faults"], [], name)
        return verdicts, ours

    def test_cut_files_are_refused_at_every_length(self):
        files = {f"zip{n}.pt": self.zip[:n] for n in range(0, len(self.zip) - 1, 23)}
        files |= {f"legacy{n}.pt": self.legacy[:n] for n in range(0, len(self.legacy), 7)}
        verdicts, ours = self.assert_no_worse(files)
        self.assertNotIn(None, verdicts.values())
        for path, found in ours.items():
            self.assertIsNotNone(found["problem"], path)

    def test_bytes_and_comments_behind_the_archive_are_taken(self):
        comment = self.zip[:-2] + struct.pack("<H", 5) + b"hello"
        verdicts, _ = self.assert_no_worse({"trailing.pt": self.zip + b"x" * 10, "comment.pt": comment, "legacy_trailing.pt": self.legacy + b"x" * 10}, both=True)
        self.assertEqual(set(verdicts.values()), {None})

    def test_missing_records_are_refused_by_their_name(self):
        for name in ("data.pkl", "data/0", "data/1"):
            left = [(n, data) for n, data in self.records.items() if n != name]
            verdicts, ours = self.assert_no_worse({"missing.pt": writer.zip_of(left)})
            self.assertIn(name, *verdicts.values())
            (found,) = ours.values()
            self.assertIn(found["problem"], ("MissingPickle", "MissingRecord"))
            self.assertIn(found["faults"][0]["text"].split(": ")[0], *verdicts.values())

    def test_flipped_bytes_of_headers_are_seen_at_least_as_often(self):
        wheel = random.Random(4)
        data_begin = self.zip.index(bytes(range(24)))
        directory = self.zip.index(b"PK\1\2")
        places = sorted(wheel.sample(range(64), 12)) + list(range(data_begin - 64, data_begin - 40)) + list(range(directory, directory + 46 * 2, 3))
        places += list(range(self.zip.index(b"PK\6\6"), len(self.zip), 2))
        files = {}
        for at in places:
            damaged = bytearray(self.zip)
            damaged[at] ^= 0xFF
            files[f"flip{at}.pt"] = bytes(damaged)
        self.assert_no_worse(files)

    def test_a_tensor_outside_its_storage_is_refused(self):
        T = writer.T
        bad = {"long": T("float32", (7,), bytes(24)), "offset": T("float32", (6,), bytes(24), offset=1), "stride": T("float32", (2, 3), bytes(24), stride=(4, 1)),
               "huge": T("float32", (1 << 40, 1 << 40), bytes(24)), "negative": T("float32", (-1,), bytes(24)), "ranks": T("float32", (2, 3), bytes(24), stride=(1,)),
               "back": T("float32", (2,), bytes(24), stride=(-1,))}
        files = {}
        for name, tensor in bad.items():
            files |= {name + ".pt": writer.zip_file({"x": tensor}), name + ".legacy.pt": writer.legacy_file({"x": tensor})}
        verdicts, ours = self.assert_no_worse(files)
        for path, found in ours.items():
            self.assertEqual(found["problem"], "BadTensor", "%s: torch says %s" % (path, verdicts[path]))

    def test_other_files_under_the_name_are_refused_with_torchs_number(self):
        verdicts, ours = self.assert_no_worse({"html.bin": b"<!DOCTYPE html>" * 99, "lfs.bin": b"version https://git-lfs.github.com/spec/v1\n", "empty.bin": b"",
                                               "zeros.bin": bytes(4096), "gguf.bin": b"GGUF\3\0\0\0", "pickle.bin": b"\x80\x02}q\x00."})
        self.assertEqual({found["problem"] for found in ours.values()}, {"NotTorch"})

    def test_harmful_pickles_are_refused_in_both_forms_and_nothing_runs(self):
        mark = self.folder / "ran"
        call = {"x": writer.Call(writer.Global("posix", "system"), f"touch {mark}")}
        _, ours = self.assert_no_worse({"harm.pt": writer.zip_file(call), "harm.legacy.pt": writer.legacy_file(call)})
        for found in ours.values():
            self.assertIn({"name": "posix.system", "allowed": False}, [{k: g[k] for k in ("name", "allowed")} for g in found["globals"]])
        self.assertFalse(mark.exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
