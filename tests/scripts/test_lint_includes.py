# SPDX-License-Identifier: MIT
"""Findings of lint_includes.py, and lines that it accepts."""

import pathlib
import subprocess
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))
import lint_includes  # noqa: E402


def include(*names):
    """Return the text of a file with these includes."""
    return "/* One line. */\n" + "".join(f'#include "{name}"\n' for name in names)


class Folders(unittest.TestCase):
    """Small trees of folders."""

    def reported(self, **files):
        """Return the places that are reported, for headers named with _ instead of the slash."""
        content = {name.replace("_", "/") + ".h": text for name, text in files.items()}
        return sorted(problem.split(" ")[0]
                      for problem in lint_includes.problems(content, lint_includes.folder))

    def test_folders_in_one_direction_are_allowed(self):
        self.assertEqual(self.reported(a_a=include("../b/b.h", "../c/c.h"),
                                       b_b=include("../c/c.h"), c_c=include()), [])

    def test_two_folders_that_include_each_other_are_reported(self):
        self.assertEqual(self.reported(a_a=include("../b/b.h"), b_b=include("../a/x.h"),
                                       a_x=include()),
                         ["a/a.h:2:", "b/b.h:2:"])

    def test_a_circle_of_three_is_reported(self):
        self.assertEqual(self.reported(a_a=include("../b/b.h"), b_b=include("x.h", "../c/c.h"),
                                       b_x=include(), c_c=include("../a/a.h")),
                         ["a/a.h:2:", "b/b.h:3:", "c/c.h:2:"])

    def test_files_of_one_folder_may_include_each_other(self):
        self.assertEqual(self.reported(a_a=include("x.h"), a_x=include("a.h")), [])

    def test_files_without_folder_are_not_parts(self):
        self.assertEqual(self.reported(a_a=include("../gpu.h"), gpu=include("a/a.h")), [])

    def test_headers_of_other_trees_are_not_parts(self):
        self.assertEqual(self.reported(a_a=include("../b/fwif.h"), b_b=include("../a/a.h")), [])

    def test_a_source_and_its_header_are_one_part_of_the_firmware(self):
        files = {"dm.c": include("dm.h"), "dm.h": include(), "sched.c": include("dm.h", "sched.h"),
                 "sched.h": include()}
        self.assertEqual(lint_includes.problems(files, lint_includes.stem), [])
        files["dm.c"] += include("sched.h")
        self.assertEqual(sorted(lint_includes.problems(files, lint_includes.stem)),
                         ['dm.c:4: dm includes "sched.h"', 'sched.c:2: sched includes "dm.h"'])

    def test_the_tree_has_no_circle(self):
        done = subprocess.run([TOP / "scripts/lint_includes.py"], capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("", "", 0))


if __name__ == "__main__":
    unittest.main()
