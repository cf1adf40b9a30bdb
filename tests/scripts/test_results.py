# SPDX-License-Identifier: MIT
"""The counting of test cases: bad or missing cases must be reported as failed."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock
from xml.etree import ElementTree

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import results  # noqa: E402
import unit  # noqa: E402

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

    def close(self, cases, **options):
        """Return (exit status, last line) of a tally of these (case, good)."""
        tally = results.Tally("closing")
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch("results.OUT", pathlib.Path(folder)), \
                mock.patch("builtins.print") as printed:
            for case, good in cases:
                tally.add(case, good)
            status = tally.close(**options)
            return status, printed.call_args.args[0]

    def test_all_good_is_success(self):
        self.assertEqual(self.close([("a", True)]), (0, "1 passed, 0 failed"))

    def test_one_bad_is_failure(self):
        self.assertEqual(self.close([("a", True), ("b", False)]), (1, "1 passed, 1 failed"))

    def test_nothing_run_is_failure(self):
        self.assertEqual(self.close([]), (1, "0 passed, 0 failed"))

    def test_nothing_run_is_success_if_other_parts_may_have_the_tests(self):
        self.assertEqual(self.close([], may_be_empty=True), (0, "0 passed, 0 failed"))
        self.assertEqual(self.close([("b", False)], may_be_empty=True), (1, "0 passed, 1 failed"))


class Junit(unittest.TestCase):
    """The file for CI services."""

    def suite(self, passed, failed):
        """Return the suite of these cases, written and read."""
        with tempfile.TemporaryFile() as file:
            results.junit("part", passed, failed).write(file, encoding="utf-8")
            file.seek(0)
            return ElementTree.parse(file).getroot()

    def test_the_program_is_the_class(self):
        suite = self.suite(["t_bo: one: two", "whole"], [])
        self.assertEqual([(case.get("classname"), case.get("name")) for case in suite],
                         [("part.t_bo", "one: two"), ("part", "whole")])

    def test_any_text_makes_a_valid_file(self):
        text = "a\x1b[2J\x00\ud800\uffff<&>\"' \u00e4"
        suite = self.suite([text], [{"case": f"t: {text}", "why": text}])
        shown = "a?[2J???<&>\"' \u00e4"
        self.assertEqual([case.get("name") for case in suite], [shown, shown])
        self.assertEqual(suite[1][0].get("message"), shown)
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("2", "1"))


class Total(unittest.TestCase):
    """total.py: the sum of all parts."""

    def total(self, *parts):
        """Return (exit status, lines) of parts of (passed, failed) cases."""
        with tempfile.TemporaryDirectory() as folder:
            files = [pathlib.Path(folder, f"{number}.json") for number in range(len(parts))]
            for file, (passed, failed) in zip(files, parts):
                file.write_text(json.dumps({"passed": passed, "failed": [
                    {"case": case, "why": "reason"} for case in failed]}))
            done = subprocess.run([sys.executable, "-B", SCRIPTS / "total.py", *files], text=True,
                                  check=False, capture_output=True)
        return done.returncode, done.stdout.splitlines()

    def test_cases_of_all_parts_are_summed(self):
        self.assertEqual(self.total((["a", "b"], []), (["c"], [])),
                         (0, ["== all parts", "3 passed, 0 failed"]))

    def test_a_failure_of_any_part_is_a_failure(self):
        self.assertEqual(self.total((["a"], ["b"]), (["c"], [])),
                         (1, ["== all parts", "FAILED b: reason", "2 passed, 1 failed"]))

    def test_no_case_at_all_is_a_failure(self):
        self.assertEqual(self.total(([], []))[0], 1)


CASES = """
import os, sys, unittest

class Some(unittest.TestCase):
    def test_good(self):
        os.write(2, b"\\xff name of a process\\n")
    def test_bad(self):
        self.assertTrue(False, "reason")
    def test_lists(self):
        self.assertEqual([1, 2], [1, 3])
    def test_error(self):
        raise KeyError("missing")
    @unittest.skip("no device")
    def test_skipped(self):
        pass
    @unittest.expectedFailure
    def test_unexpected(self):
        pass
    @unittest.expectedFailure
    def test_expected(self):
        self.fail()
    def test_parts(self):
        for number in range(3):
            with self.subTest(number=number):
                self.assertNotEqual(number, 1)
                if number == 2:
                    raise StopIteration
"""


class Python(unittest.TestCase):
    """tap-unittest.py, as unit.py runs it."""

    def run_tests(self, text):
        """Return [(case, whether it is good, note)], and the exit status."""
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(unit, "OUT", pathlib.Path(folder)):
            (pathlib.Path(folder) / "logs").mkdir()
            tests = pathlib.Path(folder, "tests")
            tests.mkdir()
            (tests / "test_some.py").write_text(text)
            _, output, status, _ = unit.python_tests(str(tests))
        found, planned = results.parse(output)
        self.assertEqual(planned, len(found))
        return [(case.rpartition("test_")[2], good, note) for case, good, note in found], status

    def cases(self, text):
        """Return {case: whether it is good}, and the exit status."""
        found, status = self.run_tests(text)
        return {case: good for case, good, _ in found}, status

    def test_only_passed_cases_are_good(self):
        self.assertEqual(self.cases(CASES), ({
            "good": True, "bad": False, "lists": False, "error": False, "skipped": False,
            "unexpected": False, "expected": True, "parts (number=1)": False,
            "parts (number=2)": False}, 1))

    def test_each_failure_is_reported_with_its_own_reason(self):
        self.assertEqual({case: note for case, _, note in self.run_tests(CASES)[0]}, {
            "good": "", "bad": "AssertionError: False is not true : reason",
            "lists": "AssertionError: Lists differ: [1, 2] != [1, 3]",
            "error": "KeyError: 'missing'", "skipped": "skipped: no device",
            "unexpected": "passes, but is expected to fail", "expected": "",
            "parts (number=1)": "AssertionError: 1 == 1", "parts (number=2)": "StopIteration"})

    def test_a_reason_of_several_lines_is_its_first(self):
        text = CASES.replace('"reason"', '"some\\nreason\\n\\n"')
        self.assertIn(("bad", False, "AssertionError: False is not true : some"),
                      self.run_tests(text)[0])

    def test_no_case_is_a_failure(self):
        self.assertEqual(self.cases("")[1], 1)


if __name__ == "__main__":
    unittest.main()
