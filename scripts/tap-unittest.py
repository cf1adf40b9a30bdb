#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tap-unittest.py FOLDER: run the unittest cases in FOLDER, print TAP."""

import sys
import unittest


def reason_of(err):
    """Return the type of an exception and the first line of its text."""
    kind, value, _ = err
    lines = str(value).strip().splitlines()
    return f"{kind.__name__}: {lines[0]}" if lines else kind.__name__


class Tap(unittest.TestResult):
    """A result that prints a TAP line a case."""

    def __init__(self):
        super().__init__()
        self.number = 0

    def _line(self, good, test, why="", trace=""):
        # The comments before a case are its own: results.py reports the last one as its reason.
        self.number += 1
        for line in [*trace.rstrip().splitlines(), *why.splitlines()]:
            print(f"# {line}")
        print(f"{'ok' if good else 'not ok'} {self.number} - {test.id()}")

    def addSuccess(self, test):
        super().addSuccess(test)
        self._line(True, test)

    def addError(self, test, err):
        super().addError(test, err)
        self._line(False, test, reason_of(err), self.errors[-1][1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._line(False, test, reason_of(err), self.failures[-1][1])

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._line(False, test, f"skipped: {reason}")

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self._line(True, test)

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self._line(False, test, "passes, but is expected to fail")

    def addSubTest(self, test, subtest, err):
        # A passed sub-test is part of its case; a failed one is a failed case.
        super().addSubTest(test, subtest, err)
        if err:
            failed = issubclass(err[0], test.failureException)
            self._line(False, subtest, reason_of(err),
                       (self.failures if failed else self.errors)[-1][1])


def main():
    """Run all cases in the folder; none at all is also a failure."""
    result = Tap()
    unittest.defaultTestLoader.discover(sys.argv[1]).run(result)
    print(f"1..{result.number}")
    sys.exit(0 if result.wasSuccessful() and result.number else 1)


if __name__ == "__main__":
    main()
