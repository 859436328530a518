#!/usr/bin/env python3
"""The examples that documents mark as runnable run as printed, on a model that has everything a real one has.

A block is marked by an HTML comment in the line above its fence: <!-- runnable -->, or <!-- runnable: exit N --> when it must end with N.
It runs with MODEL, SEALED (a sealed copy of MODEL) and MOUNTPOINT set, and vouchfs on its PATH. A mount that it leaves fails the test.
"""
import os
import re
import sys
import unittest

from documents import ROOT, markdown

sys.path.insert(0, str(ROOT / "tests" / "support"))
import mounts  # noqa: E402

MARK = re.compile(r"^<!-- runnable(?:: exit (\d+))? -->\n```sh\n(.*?)^```$", re.M | re.S)


def examples():
    """(page, expected exit, script) of each marked block."""
    return [(str(page.relative_to(ROOT)), int(code or 0), script) for page in markdown() for code, script in MARK.findall(page.read_text())]


class Examples(mounts.MountCase):
    def make_model(self, folder):
        model = f"{folder}/a model"
        os.mkdir(model)
        for number in (1, 2):
            mounts.safetensors(f"{model}/model-0000{number}-of-00002.safetensors", {f"layer.{number}.weight": 20000, f"layer.{number}.bias": 100}, number)
        mounts.write_file(f"{model}/config.json", b"{}\n")
        return model

    def run_example(self, folder, script):
        model, sealed, tools = self.make_model(folder), f"{folder}/sealed", f"{folder}/bin"
        mounts.run("cp", "-r", model, sealed).check_returncode()
        self.ingest(sealed)
        os.mkdir(tools)
        os.symlink(mounts.binary(), tools + "/vouchfs")
        os.mkdir(f"{folder}/mount point")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("VOUCHFS_")}
        environment.update(MODEL=model, SEALED=sealed, MOUNTPOINT=f"{folder}/mount point", PATH=tools + ":" + os.environ["PATH"])
        return mounts.run("bash", "-euo", "pipefail", "-c", script, cwd=folder, env=environment, timeout=60)

    def test_marked_examples_run_as_printed(self):
        found = examples()
        self.assertGreaterEqual(len(found), 3, "the marks are gone from the documents")
        for number, (page, expected, script) in enumerate(found):
            with self.subTest(page=page, script=script.splitlines()[0]):
                folder = self.new_folder(str(number))
                done = self.run_example(folder, script)
                self.assertEqual(done.returncode, expected, done.stderr[-2000:])
                self.assertEqual(mounts.mounts_below(folder), [], "the example leaves a mount")

    def test_the_readme_and_semantics_have_examples_that_run(self):
        pages = {page for page, _, _ in examples()}
        self.assertLessEqual({"README.md", "docs/SEMANTICS.md"}, pages)


if __name__ == "__main__":
    mounts.main()
