#!/usr/bin/env python3
"""Links between documents resolve, anchors too, and no page is out of reach of README.md."""
import re
import unittest

from documents import DOCS, MAN, ROOT, markdown, without_code

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def anchors(page):
    """The anchors of a page's headings, as forges make them."""
    out = set()
    for heading in re.findall(r"^#+ +(.+?) *$", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S), re.M):
        text = re.sub(r"[^\w\- ]", "", heading.lower())
        out.add(text.replace(" ", "-"))
    return out


def links(page):
    """Targets of a page's links into the project, as (path, anchor)."""
    for target in LINK.findall(without_code(page.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        yield (page.parent / path).resolve() if path else page, anchor


class Links(unittest.TestCase):
    def test_every_link_leads_to_a_file_of_the_project(self):
        for page in markdown():
            for path, _ in links(page):
                with self.subTest(page=str(page.relative_to(ROOT)), link=str(path)):
                    self.assertTrue(path.is_relative_to(ROOT), "leads out of the project")
                    self.assertTrue(path.exists(), "there is no such file")

    def test_every_anchor_is_a_heading_of_its_page(self):
        for page in markdown():
            for path, anchor in links(page):
                if anchor and path.suffix == ".md" and path.exists():
                    with self.subTest(page=str(page.relative_to(ROOT)), anchor=anchor):
                        self.assertIn(anchor, anchors(path))

    def test_every_page_can_be_reached_from_the_readme(self):
        reached, todo = set(), [ROOT / "README.md"]
        while todo:
            page = todo.pop()
            if page in reached or not page.exists() or page.suffix != ".md":
                continue
            reached.add(page)
            todo += [path for path, _ in links(page)]
        missing = [str(p.relative_to(ROOT)) for p in DOCS.rglob("*.md") if p not in reached]
        self.assertEqual(missing, [])

    def test_the_list_of_decisions_is_whole(self):
        listed = {path.name for path, _ in links(DOCS / "decisions" / "README.md") if path.parent.name == "decisions"}
        there = {p.name for p in (DOCS / "decisions").glob("[0-9]*.md")}
        self.assertEqual(listed, there)

    def test_every_decision_says_context_decision_and_consequences(self):
        for page in (DOCS / "decisions").glob("[0-9]*.md"):
            with self.subTest(page=page.name):
                text = page.read_text()
                self.assertRegex(text, r"\A# %s: \S" % page.name[:4])
                self.assertEqual(re.findall(r"^## (.+)$", text, re.M)[:3], ["Context", "Decision", "Consequences"])

    def test_man_pages_refer_to_man_pages_that_exist(self):
        for page in MAN.glob("*.[18]"):
            for name, number in re.findall(r"^\.Xr (\S*vouchfs\S*) (\d)", page.read_text(), re.M):
                with self.subTest(page=page.name, link=name):
                    self.assertTrue((MAN / f"{name}.{number}").exists())


if __name__ == "__main__":
    unittest.main()
