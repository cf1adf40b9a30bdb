# SPDX-License-Identifier: MIT
"""scripts/lint_format.py: what is reported of a file, and that the tree's files agree with it."""

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

    def problems(self, text, wanted=None):
        """The problems of a file with this text."""
        return lint_format.problems("tests/unit/new.c", text, wanted)

    def test_kernel_style_is_not_reported(self):
        self.assertEqual(self.problems(GOOD), [])

    def test_indentation_is_reported(self):
        found = self.problems(GOOD.replace("\treturn", "    return"))
        self.assertEqual(len(found), 1)
        self.assertIn("tests/unit/new.c:7: write:         return total;", found[0])

    def test_spaces_are_reported(self):
        self.assertEqual(len(self.problems(GOOD.replace("i = 0", "i=0"))), 1)

    def test_lines_that_were_not_added_are_not_reported(self):
        text = GOOD.replace("i = 0", "i=0")
        self.assertEqual(self.problems(text, {7}), [])
        self.assertEqual(len(self.problems(text, {5, 7})), 1)


class Layouts(unittest.TestCase):
    """Which file applies where."""

    def test_the_core_has_kernel_style_and_the_front_end_qemus(self):
        top = (TOP / ".clang-format").read_text()
        self.assertEqual((TOP / "qemu-device/gpu/.clang-format").read_text(), top)
        self.assertIn("IndentWidth: 8", top)
        self.assertIn("IndentWidth: 4", (TOP / "qemu-device/.clang-format").read_text())


if __name__ == "__main__":
    unittest.main()
