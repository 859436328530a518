#!/usr/bin/env python3
"""The man pages and the program say the same: commands, options, exit codes. And the pages are well formed."""
import re
import shutil
import subprocess
import unittest

from documents import DOCS, MAN, ROOT, binary, run, tables


def help_commands():
    """Commands that `vouchfs --help` lists."""
    result = run("--help")
    listed = result.stdout.split("Commands:")[1].split("\n\n")[0]
    return re.findall(r"^  ([a-z]+) ", listed, re.M)


def help_options(command):
    """Options that `vouchfs COMMAND --help` lists, long and short."""
    result = run(command, "--help")
    assert result.returncode == 0, result.stderr
    options = set()
    for line in result.stdout.splitlines():
        match = re.match(r"\s+((?:-\w|--[\w-]+)(?:,\s*(?:-\w|--[\w-]+))*)", line)
        if match:
            options.update(re.split(r",\s*", match.group(1)))
    return options


def roff_options(text):
    """Options that a piece of mdoc names in .Fl macros, as .It of a list (tagged) or anywhere."""
    return {"-" + name for name in re.findall(r"(?:^|\s)Fl ([\w-]+)", text)}


def tagged(page):
    """Options that a page explains: the tags of its OPTIONS section."""
    text = page.read_text()
    part = re.search(r"^\.Sh OPTIONS$(.*?)(?=^\.Sh |\Z)", text, re.M | re.S)
    return roff_options("\n".join(line for line in part.group(1).splitlines() if line.startswith(".It Fl"))) if part else set()


def synopsis(page):
    return roff_options(re.search(r"^\.Sh SYNOPSIS$(.*?)^\.Sh ", page.read_text(), re.M | re.S).group(1))


class Commands(unittest.TestCase):
    def test_every_command_has_a_page_and_a_line_in_the_main_page(self):
        commands = help_commands()
        self.assertGreaterEqual(len(commands), 8)
        listed = re.findall(r"^\.It Cm (\w+)$", (MAN / "vouchfs.1").read_text(), re.M)
        self.assertEqual([c for c in listed if c in commands], listed)
        self.assertEqual(sorted(listed), sorted(commands))
        self.assertEqual(sorted(p.stem.split("-", 1)[1] for p in MAN.glob("vouchfs-*.1")), sorted(commands))

    def test_every_option_of_help_is_explained_and_every_explained_option_exists(self):
        for command in help_commands():
            with self.subTest(command=command):
                self.assertEqual(tagged(MAN / f"vouchfs-{command}.1"), help_options(command))

    def test_the_synopsis_shows_every_long_option(self):
        for command in help_commands():
            with self.subTest(command=command):
                page = MAN / f"vouchfs-{command}.1"
                long_options = {o for o in tagged(page) if o.startswith("--")} - {"--help"}
                covered = synopsis(page)
                twins = {"--foreground": "-f", "--quiet": "-q", "--options": "-o"}
                self.assertEqual({o for o in long_options if o not in covered and twins.get(o) not in covered}, set())
                self.assertLessEqual(covered, tagged(page) | {"--help"})


class MountOptions(unittest.TestCase):
    VALUES = {"seal": "/none", "digest": "sha256:" + "0" * 64, "on-known-bad": "serve", "revision": "main", "tree-cache": "8M",
              "pin": "*.bin", "pin-limit": "1G"}

    def listed(self):
        names = []
        for line in re.findall(r"^\.It Cm (.+)$", (MAN / "mount.vouchfs.8").read_text(), re.M):
            names += [line.split()[0]] if " Ns = " in line else line.split(" , ")
        return names

    def exit_code(self, option):
        return run("mount", "-o", option, "/nonexistent/model", "/nonexistent/mount-point").returncode

    def test_every_option_of_the_page_is_taken_and_another_is_a_usage_error(self):
        self.assertGreaterEqual(len(self.listed()), 8)
        for name in self.listed():
            with self.subTest(option=name):
                self.assertNotEqual(self.exit_code(f"{name}={self.VALUES[name]}" if name in self.VALUES else name), 2)
        self.assertEqual(self.exit_code("digset=sha256:" + "0" * 64), 2)

    def test_every_option_that_has_an_effect_is_on_the_page(self):
        code = (ROOT / "mount_tools" / "mount_options.cpp").read_text()
        handed_on = re.findall(r'"(\w+)"', re.search(r"kHandedOn = \{(.*?)\}", code, re.S).group(1))
        with_value = re.findall(r'\{"([\w-]+)", &options\.', code)
        own = re.findall(r'word == "(\w+)"', code)
        self.assertLessEqual({"seal", "tree-cache", "pin", "pin-limit", "noexec", "allow_other"}, set(handed_on + with_value + own))
        self.assertEqual(set(handed_on + with_value + own) - set(self.listed()), set())


class ExitCodes(unittest.TestCase):
    def header(self):
        text = (ROOT / "mount_tools" / "exit_code.h").read_text()
        return {int(number): name for name, number in re.findall(r"^\s*(\w+) = (\d+),", text, re.M)}

    def page(self):
        table = tables((DOCS / "EXIT_CODES.md").read_text())[0]
        return {int(row[0]): row[1] for row in table[1:]}

    def test_the_page_lists_the_codes_of_the_header(self):
        self.assertEqual(self.page(), self.header())
        self.assertEqual(sorted(self.header()), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 130])

    def test_the_man_page_lists_the_codes_of_the_header(self):
        part = re.search(r"^\.Sh EXIT STATUS$(.*?)^\.Sh ", (MAN / "vouchfs.1").read_text(), re.M | re.S).group(1)
        self.assertEqual([int(n) for n in re.findall(r"^\.It (\d+)$", part, re.M)], sorted(self.header()))

    def test_help_lists_the_codes_of_the_header(self):
        text = run("--help").stdout
        listed = re.search(r"Exit codes?:(.*)", text, re.S).group(1)
        self.assertEqual(sorted({int(n) for n in re.findall(r"\b\d+\b", listed)}), sorted(self.header()))

    def test_a_usage_error_exits_with_the_code_of_the_page(self):
        usage = [number for number, name in self.page().items() if name == "usage"]
        self.assertEqual([run("no-such-command").returncode], usage)


class Form(unittest.TestCase):
    def test_no_page_gives_a_warning_of_groff(self):
        for page in sorted(MAN.glob("*.[18]")):
            with self.subTest(page=page.name):
                result = subprocess.run(["groff", "-mandoc", "-wmac", "-Tutf8", "-z", str(page)], capture_output=True, text=True, timeout=30)
                self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_no_page_gives_a_warning_of_mandoc_where_it_is_installed(self):
        if not shutil.which("mandoc"):
            return  # groff is the one that is always there
        pages = sorted(str(p) for p in MAN.glob("*.[18]"))
        result = subprocess.run(["mandoc", "-T", "lint", *pages], capture_output=True, text=True, timeout=30)
        foreign = ("referenced manual not found", "outdated mandoc.db")  # about the machine, not about the page
        self.assertEqual([line for line in result.stdout.splitlines() if not any(f in line for f in foreign)], [])

    def test_every_page_has_its_sections_in_order(self):
        for page in sorted(MAN.glob("*.[18]")):
            with self.subTest(page=page.name):
                sections = re.findall(r"^\.Sh (.+)$", page.read_text(), re.M)
                self.assertEqual(sections[:3], ["NAME", "SYNOPSIS", "DESCRIPTION"])
                self.assertEqual(sections[-1], "SEE ALSO")
                self.assertIn("EXIT STATUS", sections)


if __name__ == "__main__":
    binary()
    unittest.main()
