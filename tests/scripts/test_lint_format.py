# SPDX-License-Identifier: MIT
"""scripts/lint_format.py: its reports of a file."""

import pathlib
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))
import lint_format  # noqa: E402  # pylint: disable=wrong-import-position

GOOD = """int sum(const int *numbers, int count)
{
	int i, total = 0;

	for (i = 0; i < count; i++)
		total += numbers[i];	/* a comment   in columns */
	return total;
}

#define ALIGNED		1
"""


class Format(unittest.TestCase):
    """Lines of a file in kernel style."""

    def problems(self, text):
        """Return the problems of a file with this text."""
        name = "tests/unit/new.c"
        return lint_format.problems(name, text, lint_format.formatted({name: text})[name])

    def test_kernel_style_is_not_reported(self):
        self.assertEqual(self.problems(GOOD), [])

    def test_indentation_is_reported(self):
        found = self.problems(GOOD.replace("\treturn", "    return"))
        self.assertEqual(len(found), 1)
        self.assertIn("tests/unit/new.c:7: write:         return total;", found[0])

    def test_spaces_are_reported(self):
        self.assertEqual(len(self.problems(GOOD.replace("i = 0", "i=0"))), 1)

    def test_continuations_are_aligned_or_indented_by_tabs(self):
        wide = GOOD.replace("total += numbers[i];\t/* a comment   in columns */",
                            f"total += max({'n' * 60},\n{{}}{'m' * 60});")
        for indent, wrong in [("\t\t\t     ", 0), ("\t\t\t", 0), ("\t\t  ", 1), ("  ", 1)]:
            with self.subTest(indent=indent):
                self.assertEqual(len(self.problems(wide.replace("{}", indent))), wrong)

    def test_spaces_that_clang_format_guesses_are_the_authors(self):
        text = GOOD.replace("int i, total", "int i, mask = (u16)~(1u << 3), total")
        self.assertEqual(self.problems(text), [])

    def test_each_line_is_reported(self):
        text = GOOD.replace("i = 0", "i=0").replace("\treturn", "    return")
        self.assertEqual(len(self.problems(text)), 2)


class Layouts(unittest.TestCase):
    """Selection of the style file of a source file."""

    def test_the_core_has_kernel_style_and_the_front_end_qemus(self):
        top = (TOP / ".clang-format").read_text()
        self.assertEqual((TOP / "qemu-device/gpu/.clang-format").read_text(), top)
        self.assertIn("IndentWidth: 8", top)
        self.assertIn("IndentWidth: 4", (TOP / "qemu-device/.clang-format").read_text())


if __name__ == "__main__":
    unittest.main()
