# SPDX-License-Identifier: MIT
"""scripts/coverage.py: the list of functions and lines that no test reaches."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import coverage  # noqa: E402  # pylint: disable=wrong-import-position


class Unreached(unittest.TestCase):
    """Of counts as gcovr writes them."""

    def test_functions_and_lines_that_were_not_reached_are_listed(self):
        text = coverage.unreached([{
            "file": "a.c",
            "functions": [{"name": "called", "lineno": 1, "execution_count": 3},
                          {"name": "never", "lineno": 9, "execution_count": 0}],
            "lines": [{"line_number": n, "count": 0 if n in (4, 9, 10, 11) else 2,
                       "gcovr/noncode": n == 4} for n in range(1, 13)]}])
        self.assertEqual(text, "1 functions that no test calls:\na.c:9: never\n\n"
                               "1 places that no test reaches:\na.c:9-11\n")


if __name__ == "__main__":
    unittest.main()
