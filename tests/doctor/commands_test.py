#!/usr/bin/env python3
"""The commands that doctor prints work as printed: run in a shell, each exits with 0, and those that mend the model have mended it."""
import os

from cases import CASES
from doctor_case import DoctorCase, environment, main, mounts
import tiny_inputs  # noqa: F401  fills CASES

# Commands that need a network, a clone of a real repository, or another program: only their form is looked at.
FOREIGN = ("git -C ", "hf download ", "ollama pull ", "umount ")
# After the command doctor finds no error.
MENDS = ("vouchfs index ", "chmod ")


class Commands(DoctorCase):
    def run_in_shell(self, command):
        tools = self.folder / "tools"
        if not tools.exists():
            tools.mkdir()
            (tools / "vouchfs").symlink_to(mounts.binary())
        return mounts.run("sh", "-euc", command, cwd=self.folder, env={**environment(), "PATH": "%s:%s" % (tools, os.environ["PATH"])})

    def diagnose(self, case, model):
        variables = [(name, str(model / below)) for name, below in case.environment]
        return self.doctor(case.path if ":" in case.path else model / case.path, *case.options, variables=variables)

    def commands_of(self, answer):
        return {(f["code"], f["command"]) for f in answer.findings if f["command"]}

    def test_each_command_of_each_case(self):
        ran, foreign = set(), set()
        for case in CASES:
            if case.sealed:
                continue
            with self.subTest(case=case.slug):
                model = self.new_folder(case.slug + " model")  # a blank: quoting matters
                case.build(model)
                for code, command in self.commands_of(self.diagnose(case, model)):
                    self.assertNotIn("\n", command)
                    if any(word in command for word in FOREIGN):
                        foreign.add(code)
                        continue
                    done = self.run_in_shell(command)
                    self.assertEqual(done.returncode, 0, "%s: %s" % (command, done.stderr))
                    ran.add(code)
                    if command.startswith(MENDS):
                        self.assertEqual(self.said(self.diagnose(case, model)), [], command)
        self.assertLessEqual({"index.missing", "index.wrong_shard", "index.omits_tensor", "index.not_json", "index.key_missing", "content.bom", "file.unreadable", "folder.unreadable"}, ran)
        self.assertLessEqual({"hub.no_snapshot", "link.dangling", "ollama.layer_missing", "lfs.pointer"}, foreign)


if __name__ == "__main__":
    main()
