#!/usr/bin/env python3
"""The glossary has every binding word, and the documents keep to it."""
import re
import unittest

from documents import DOCS, ROOT, markdown, section, tables, without_code

# Frozen: the words that the design rests on.
BINDING = ["model", "shard", "block", "tree", "seal", "model digest", "source", "view", "event"]
# Words for a thing that has a name already, and that name.
SYNONYMS = {r"chunks?": "block", r"hash trees?": "tree", r"Merkle proofs?": "tree", r"root digest": "root hash or fs-verity digest",
            r"weight files? map": "index", r"master digest": "model digest", r"seal digest": "model digest", r"snapshot digest": "model digest"}


class Words(unittest.TestCase):
    def test_the_glossary_defines_every_binding_word_once(self):
        words = [row[0] for table in tables((DOCS / "GLOSSARY.md").read_text()) for row in table[1:]]
        self.assertEqual(words[:len(BINDING)], BINDING)
        self.assertEqual(len(words), len(set(words)))

    def test_every_word_of_the_glossary_is_used_elsewhere(self):
        text = " ".join(p.read_text() for p in markdown() if p.name != "GLOSSARY.md").lower().replace("_", " ")
        for table in tables((DOCS / "GLOSSARY.md").read_text()):
            for row in table[1:]:
                for word in row[0].split(", "):
                    with self.subTest(word=word):
                        self.assertTrue(word.lower() in text, "no other document uses it")

    def test_no_document_uses_another_word_for_a_word_of_the_glossary(self):
        for page in markdown():
            text = without_code(page.read_text())
            for pattern, word in SYNONYMS.items():
                if page == DOCS / "decisions" / "0003-fs-verity-layout.md" and word == "tree":
                    continue  # it speaks of hash trees in general
                with self.subTest(page=str(page.relative_to(ROOT)), word=word):
                    self.assertIsNone(re.search(r"\b%s\b" % pattern, text, re.I))

    def test_the_readme_leads_with_the_promise(self):
        head = (ROOT / "README.md").read_text()[:300]
        self.assertIn("Hash once at ingest, verify only what is read, warm reads cost nothing.", head)

    def test_the_readme_sets_up_with_two_commands_that_exist(self):
        shown = re.findall(r"^\./(\S+)$", section((ROOT / "README.md").read_text(), "Set up"), re.M)
        self.assertEqual(len(shown), 2)
        for script in shown:
            with self.subTest(script=script):
                self.assertTrue((ROOT / script).stat().st_mode & 0o100, "it is not executable")


if __name__ == "__main__":
    unittest.main()
