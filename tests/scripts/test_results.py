# SPDX-License-Identifier: MIT
"""The counting of test cases: bad or missing cases must be reported as failed."""

import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import results  # noqa: E402

CMOCKA = """\
[==========] Running 3 test(s).
[ RUN      ] ring_wraps
[       OK ] ring_wraps
[ RUN      ] ring_refuses_overflow
[  FAILED  ] ring_refuses_overflow
[ RUN      ] ring_is_empty_at_start
[       OK ] ring_is_empty_at_start
[==========] 3 test(s) run.
[  PASSED  ] 2 test(s).
[  FAILED  ] 1 test(s), listed below:
[  FAILED  ] ring_refuses_overflow
"""

class Counting(unittest.TestCase):
    """Tally.add_output on outputs of both kinds."""

    def setUp(self):
        printed = mock.patch("builtins.print")
        printed.start()
        self.addCleanup(printed.stop)
        self.tally = results.Tally("counting")

    def counts(self):
        """Return (passed, failed)."""
        return len(self.tally.passed), len(self.tally.failed)

    def test_tap_cases_are_counted(self):
        self.tally.add_output("t", "1..3\nok 1 - a\nnot ok 2 - b\nok 3 - c\n", 1)
        self.assertEqual(self.counts(), (2, 1))

    def test_failed_tap_case_is_reported_with_its_last_note(self):
        self.tally.add_output("t", "1..3\n# one\nok 1 - a\nnot ok 2 - b\n# two\n# three\n"
                              "not ok 3 - c\n", 1)
        self.assertEqual([bad["why"] for bad in self.tally.failed], ["", "three"])

    def test_tap_case_that_is_skipped_failed(self):
        self.tally.add_output("t", "1..1\nok 1 - a # SKIP no device\n", 0)
        self.assertEqual(self.counts(), (0, 1))

    def test_tap_case_that_is_planned_but_missing_failed(self):
        self.tally.add_output("t", "1..3\nok 1 - a\nok 2 - b\n", 0)
        self.assertEqual(self.counts(), (2, 1))

    def test_crash_after_good_cases_failed(self):
        self.tally.add_output("t", "1..1\nok 1 - a\n", 139)
        self.assertEqual(self.counts(), (1, 1))

    def test_empty_output_failed(self):
        self.tally.add_output("t", "", 127)
        self.assertEqual(self.counts(), (0, 1))

    def test_empty_plan_failed(self):
        self.tally.add_output("t", "1..0\n", 0)
        self.assertEqual(self.counts(), (0, 1))

    def test_cmocka_cases_are_counted_once(self):
        self.tally.add_output("t", CMOCKA, 1)
        self.assertEqual(self.counts(), (2, 1))

    def test_cmocka_group_that_dies_in_the_middle_failed(self):
        self.tally.add_output("t", "".join(CMOCKA.splitlines(True)[:3]), 139)
        self.assertEqual(self.counts(), (1, 1))

    def test_program_without_cases_counts_as_one(self):
        self.tally.add_output("t", "all well\n", 0)
        self.assertEqual(self.counts(), (1, 0))


class Closing(unittest.TestCase):
    """Tally.close: the line and the exit status."""

    def close(self, cases):
        """Return (exit status, last line) of a tally of these (case, good)."""
        tally = results.Tally("closing")
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch("results.OUT", pathlib.Path(folder)), \
                mock.patch("builtins.print") as printed:
            for case, good in cases:
                tally.add(case, good)
            status = tally.close()
            return status, printed.call_args.args[0]

    def test_all_good_is_success(self):
        self.assertEqual(self.close([("a", True)]), (0, "1 passed, 0 failed"))

    def test_one_bad_is_failure(self):
        self.assertEqual(self.close([("a", True), ("b", False)]), (1, "1 passed, 1 failed"))

    def test_nothing_run_is_failure(self):
        self.assertEqual(self.close([]), (1, "0 passed, 0 failed"))


if __name__ == "__main__":
    unittest.main()
