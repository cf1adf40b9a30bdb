# SPDX-License-Identifier: MIT
"""Time limits of the guest tests' cases: a case that exceeds its limit is reported by its name."""

import pathlib
import re
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))
import by_path  # noqa: E402

LIMIT = re.compile(r"TEST_CASE_SECONDS\((\w+), (\d+)\)")


class Limits(unittest.TestCase):
    """A program that exceeds its own limit is killed: the case that did so is not reported."""

    def test_cases_end_before_their_program_is_killed(self):
        guest_tests = by_path.load("guest-tests.py")
        programs = {test for (kernel, _), tests in guest_tests.rows().items()
                    if kernel != "debug" for test in tests}
        cases = {name: int(seconds) for program in programs
                 for name, seconds in LIMIT.findall(self.source(program))}
        self.assertIn("no_event_of_ten_thousand_is_lost", cases)
        late = {name for name, seconds in cases.items() if seconds >= guest_tests.PROGRAM_TIMEOUT}
        self.assertEqual(late, set())

    @staticmethod
    def source(program):
        """Return the text of a program, or nothing for scripts."""
        path = TOP / f"tests/guest/{program}.c"
        return path.read_text(encoding="utf-8") if path.exists() else ""


if __name__ == "__main__":
    unittest.main()
