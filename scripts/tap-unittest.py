#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tap-unittest.py FOLDER: run the unittest cases in FOLDER, print TAP."""

import sys
import unittest


class Tap(unittest.TestResult):
    """A result that prints a TAP line a case."""

    def __init__(self):
        super().__init__()
        self.number = 0

    def _line(self, good, test, detail=""):
        # The comments before a case are its own: results.py reports the last one as its reason.
        self.number += 1
        for line in detail.rstrip().splitlines():
            print(f"# {line}")
        print(f"{'ok' if good else 'not ok'} {self.number} - {test.id()}")

    def addSuccess(self, test):
        super().addSuccess(test)
        self._line(True, test)

    def addError(self, test, err):
        super().addError(test, err)
        self._line(False, test, self.errors[-1][1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._line(False, test, self.failures[-1][1])

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
            self._line(False, subtest, str(err[1]))


def main():
    """Run all cases in the folder; none at all is also a failure."""
    result = Tap()
    unittest.defaultTestLoader.discover(sys.argv[1]).run(result)
    print(f"1..{result.number}")
    sys.exit(0 if result.wasSuccessful() and result.number else 1)


if __name__ == "__main__":
    main()
