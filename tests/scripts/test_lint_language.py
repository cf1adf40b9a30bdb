# SPDX-License-Identifier: MIT
"""Findings of lint_language.py, and lines that it accepts."""

import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))
import lint_language  # noqa: E402
import lint_words  # noqa: E402

WORDS = lint_words.of_prose()
NAMES = {tests: lint_words.replaced_words(lint_words.NAMES, tests) for tests in (False, True)}


def found(name, content, wanted=None):
    """Return the line numbers that are reported."""
    return [int(problem.split(":")[1])
            for problem in lint_language.problems(
                name, content, WORDS, NAMES[name.startswith("tests/")], wanted)]


class Words(unittest.TestCase):
    """Lines of single files."""

    def test_a_word_of_the_list_is_found_in_prose(self):
        self.assertEqual(found("a.rst", "fine\nThe unit tells the firmware.\n"), [2])

    def test_part_of_another_word_is_not(self):
        self.assertEqual(found("a.rst", "teller, foretold, belies, understands\n"), [])

    def test_in_c_comments_and_strings_count(self):
        content = 'int fine;\n/* one\n * nobody\n */\nfine = f("behind");\n'
        self.assertEqual(found("a.c", content), [3, 5])

    def test_identifiers_count_and_are_split(self):
        content = "int told;\n/* one\n */\nrun_behind(untold, NOBODY_WAITS);\nby_hand();\n"
        self.assertEqual(found("a.c", content), [1, 4, 4, 5])
        self.assertEqual(found("a.py", "def test_what_is_left(self):\n"), [1, 1])
        self.assertEqual(found("a.toml", 'test = "guest/t_x/jobs_are_told"\n'), [1])

    def test_words_of_two_identifiers_are_not_a_phrase(self):
        self.assertEqual(found("a.c", "f(by, hand, what, was);\n"), [])

    def test_names_count_in_identifiers_only(self):
        self.assertEqual(found("a.c", "/* on the ground */\nstruct ground *g;\n"), [2])
        self.assertEqual(found("a.rst", "common ground, pick, what it is\n"), [])

    def test_names_of_fixtures_are_reported_in_tests_only(self):
        content = "struct world *w;\nopen_world(w);\nto_world(w);\nfloat world[3];\n"
        self.assertEqual(found("tests/a.c", content), [1, 2])
        self.assertEqual(found("userspace/demos/a.c", content), [])

    def test_what_counts_as_a_part_of_a_name_only(self):
        content = "const char *what;\nint what_is_purged;\nint wakes_who_sleeps;\nint whatever;\n"
        self.assertEqual(found("a.c", content), [2, 3])

    def test_a_comment_that_is_a_clause_is_found(self):
        content = "/* What is stored. */\nint a;\t/* What? */\n/*\n * Who sleeps.\n */\n"
        self.assertEqual(found("a.c", content), [1, 4])
        self.assertEqual(found("a.py", '"""What it prints."""\n# What came.\nWhat\n'), [1, 2])
        self.assertEqual(found("a.h", "/* Whether it fits. */\n/* Return whether it fits. */\n"), [1])

    def test_a_later_sentence_that_is_a_clause_is_found(self):
        for text in ("/* It ends. What follows is not read. */\n",
                     "/*\n * It ends.\n * What follows is not read.\n */\n",
                     "/*\n * How it ends.\n */\n"):
            self.assertEqual(len(found("a.c", text)), 1, text)
        self.assertEqual(found("a.rst", "It ends. Who owns it is woken.\n"), [1])
        self.assertEqual(found("a.py", '"""Ends.\n\nWhich one ends is not known.\n"""\n'), [3])
        for text in ("It ends. Why not?\n", "It ends.\n\nMethod\n----\n", "See what follows.\n",
                     "It ends.\n- What to do\n"):
            self.assertEqual(found("a.rst", text), [], text)

    def test_clauses_of_place_time_and_manner_are_found(self):
        for word in ("How", "Why", "Which", "Where", "When"):
            self.assertEqual(found("a.c", f"/* {word} a job ends. */\n"), [1], word)
            self.assertEqual(found("a.xml", f'<a doc="{word} a job ends."/>\n'), [1], word)
        self.assertEqual(found("a.c", "/* When a job ends, the next one begins. */\n"), [])

    def test_a_clause_after_a_preposition_is_found(self):
        for text in ("wait for what it depends on", "of what these leave, a part", "enlarged by\nwhat"):
            self.assertEqual(found("a.rst", text + "\n"), [1], text)
        self.assertEqual(found("a.c", "/* Poll for what a job\n * writes. */\nf(by, what);\n"), [1])
        self.assertEqual(found("a.rst", "the flag, and what it means; whatever\n"), [])

    def test_a_clause_as_predicate_or_after_a_colon_is_found(self):
        for text in ("the list is what it needs", "the rest is dropped: what is\nsent", "it reads; what",
                     "This is how it\nends.", "these are where they\nwere", "so is whether it ends"):
            self.assertEqual(found("a.rst", text + " of\n"), [1], text)
        self.assertEqual(found("a.c", "/* Limits: it is\n * what a job writes. */\n"), [1])
        for text in ("if (x):\n    what = f()", '{"what": what}', "f(x); what = 1", "*what: text",
                     "the name; what: its text", "unknown word: WHAT is a file", "it is somewhat slow",
                     "The end; where it is absent, none", "Return: whether it ended."):
            self.assertEqual(found("a.py", text + "\n"), [], text)

    def test_a_heading_that_is_a_clause_is_found(self):
        self.assertEqual(found("a.md", "# What counts\n\n## How it ends\nWhat?\n"), [1, 3])
        self.assertEqual(found("a.rst", "What it is\n==========\n\nEnds\n----\n"), [1])
        for text in ("# Whatever\n", "# What is it?\n", "# Results\n", "# When idle, it ends\n"):
            self.assertEqual(found("a.md", text), [], text)
        self.assertEqual(found("a.rst", "What\nis it\n\nWhen it ends\n"), [])

    def test_a_negated_noun_is_found(self):
        content = "/* 0 is no number. */\nint words_that_are_no_shader;\n"
        self.assertEqual(found("a.c", content), [1, 2])
        for text in ("There is no number", "where there are no numbers", "it is no longer used",
                     "there\nare no numbers", "it is not a number"):
            self.assertEqual(found("a.rst", text + "\n"), [], text)

    def test_a_docstring_of_a_function_begins_with_a_verb(self):
        def lines(text, head="def f():", wanted=None):
            content = f'class A:\n    {head}\n        """{text}"""\n'
            return lint_language.docstrings("a.py", content, wanted)

        self.assertEqual(lines("Return the size, or None."), [])
        self.assertEqual(lines("The size."),
                         ['a.py:3: "The": begin with a verb (Return ...)'])
        self.assertEqual(len(lines("(size, name).")), 1)
        self.assertEqual(len(lines("The size.", "async def f():")), 1)
        self.assertEqual(lines("The size.", wanted={4}), [])
        self.assertEqual(lines("The size.", "@property\n    def f(self):"), [])
        self.assertEqual(lines("Sizes are bytes.", "def test_sizes(self):"), [])

    def test_a_phrase_over_two_lines_is_found(self):
        self.assertEqual(found("a.rst", "a job that is now\nand then repeated\n"), [1])
        self.assertEqual(found("a.h", "/*\n * a job now\n * and then\n */\n"), [2])
        self.assertEqual(found("a.rst", "now\n\nand then\n"), [])
        self.assertEqual(found("a.rst", "now\nand then\n", {2}), [1])

    def test_names_that_python_defines_count(self):
        content = "def ask(peer):\n    pick = f(1)\n    for answer in pick:\n        print(answer)\n"
        self.assertEqual(found("a.py", content), [1, 2, 3])
        self.assertEqual(found("a.py", "x = f(1)  # pick\nif pick == 1:\n"), [])

    def test_the_marker_excepts_a_line(self):
        self.assertEqual(found("a.rst", "the triangle behind .. lint: word\n"), [])

    def test_lines_that_were_not_added_are_left_alone(self):
        self.assertEqual(found("a.rst", "told\ntold\n", {2}), [2])

    def test_the_list_reports_each_word_that_it_names(self):
        for pattern, _ in WORDS + NAMES[True]:
            self.assertTrue(pattern.pattern.startswith(r"\b(?:"))
        self.assertEqual(found("a.md", "whoever dealt\n"), [1, 1])


class Citations(unittest.TestCase):
    """Sections of source documents."""

    def test_a_section_that_is_not_listed_is_reported(self):
        self.assertEqual(len(list(lint_language.citations(
            "a.c", '/* document 004, "Render Target Data" */', "Master DPM"))), 1)

    def test_a_section_that_is_listed_is_not(self):
        self.assertEqual(list(lint_language.citations(
            "a.c", '/* document 004, "Master DPM" */', "Master DPM")), [])

    def test_a_citation_over_two_lines_counts(self):
        text = ' * Source: document 004, "Master\n * DPM".\n'
        self.assertEqual(list(lint_language.citations("a.c", text, "Master DPM")), [])
        self.assertEqual(len(list(lint_language.citations("a.c", text, "VDM"))), 1)

    def test_xml_cites_without_quotes_up_to_an_item(self):
        text = '<a doc="A word (document 002, Operands: Sreg; document 003, Temporary)."/>'
        self.assertEqual(list(lint_language.citations("a.xml", text, "Operands; Temporary")), [])
        self.assertEqual(len(list(lint_language.citations("a.xml", text, "Operands"))), 1)
        self.assertEqual(len(list(lint_language.citations("a.xml", text, "Temporary"))), 1)

    def test_a_citation_without_a_section_is_reported(self):
        for text in ("(document 003)", "Source: document 001; hw/isa.xml", "(documents 001 and 004)"):
            self.assertEqual(len(list(lint_language.citations("a.xml", text, ""))), 1, text)
        self.assertEqual(list(lint_language.citations("a.c", "the kernel of document 002", "")), [])


class Changes(unittest.TestCase):
    """Which lines of a work tree count."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        for patch in (mock.patch.object(lint_language, "TOP", self.top),
                      mock.patch("builtins.print")):
            self.printed = patch.start()
            self.addCleanup(patch.stop)
        self.git("init", "-q", "-b", "main")
        self.write("old.rst", "told\n")
        self.commit()

    def git(self, *arguments):
        """Run git in the tree."""
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments],
                       cwd=self.top, check=True)

    def write(self, name, text):
        """Write a file of the tree."""
        (self.top / name).write_text(text, encoding="utf-8")

    def commit(self):
        """Commit all changes."""
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "x")

    def report(self, *arguments):
        """Return the output of main()."""
        lint_language.main(arguments, None)
        return self.printed.call_args.args[0]

    def test_old_lines_are_left_alone_and_new_ones_are_not(self):
        self.write("old.rst", "told\nnobody\n")
        self.commit()
        self.assertNotIn("old.rst:1", self.report())
        self.assertIn("old.rst:2", self.report())

    def test_uncommitted_changes_count(self):
        self.commit_something()
        self.write("old.rst", "told\nnobody\n")
        self.write("new.rst", "behind\n")
        self.assertIn("old.rst:2", self.report())
        self.assertIn("new.rst:1", self.report())

    def test_each_commit_of_a_branch_counts(self):
        self.git("checkout", "-q", "-b", "series")
        self.write("first.rst", "behind\n")
        self.commit()
        self.commit_something()
        self.assertIn("first.rst:1", self.report())

    def test_text_without_a_known_suffix_counts_and_data_does_not(self):
        self.commit_something()
        for name in ("Makefile", "init", "pumice.1", "a.yml", "picture.svg", "LICENSES/MIT.txt"):
            (self.top / name).parent.mkdir(exist_ok=True)
            self.write(name, "told\n")
        self.assertEqual([line.split(":")[0] for line in sorted(self.report().splitlines())],
                         ["Makefile", "a.yml", "init", "pumice.1"])

    def test_all_lines_count_on_request(self):
        self.commit_something()
        self.assertEqual(self.report(), "")
        self.assertIn("old.rst:1", self.report("--all"))

    def commit_something(self):
        """Create a commit without words of the list."""
        self.write("fine.rst", "fine\n")
        self.commit()


if __name__ == "__main__":
    unittest.main()
