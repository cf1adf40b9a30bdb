# SPDX-License-Identifier: MIT
"""TESTS=: selects the tests of a part.

The variable holds names or patterns of the shell, separated by spaces. A test of
tests/guest is t_submit, or t_submit:CASE for one case of it; one of IGT is PROGRAM
or PROGRAM@SUBTEST; a unit test has the name that `meson test --list` prints. A word
without a match is an error, so that a typing error is not mistaken for success.
"""

import fnmatch
import os
import shlex
import sys

# Of the GPU, for tests of results; all other tests have the default one.
PRESETS = ["volcanic", "waves", "sgx543mp4", "videocore4"]


def words():
    """Return the words of TESTS=, none if everything runs."""
    return os.environ.get("TESTS", "").split()


def lines(path):
    """Yield the words of each line of a list, without comments, as in the shell.

    Quotation marks join words, and a backslash at the end of a line joins it with the next one.
    """
    for line in path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
        row = shlex.split(line, comments=True)
        if row:
            yield row


def select(names, wanted):
    """Return {name: its cases, none for all} of those that the words match."""
    chosen = {}
    for word in wanted:
        pattern, _, case = word.partition(":")
        found = fnmatch.filter(names, pattern)
        if not found:
            sys.exit(f"error: TESTS: no test here is called {pattern}\n"
                     f"       there are: {' '.join(sorted(names)[:40])} …")
        for name in found:
            cases = chosen.setdefault(name, set())
            cases.add(case)
    return {name: [] if "" in cases else sorted(cases) for name, cases in chosen.items()}


def meson_names(listing):
    """Return the names in the output of `meson test --list`: "PROJECT:SUITE / NAME" each."""
    return [line.partition(" / ")[2] for line in listing.splitlines() if " / " in line]


def subtests(tests, wanted):
    """Return those of IGT's tests (igt@PROGRAM@SUBTEST) that the words match."""
    chosen = [test for test in tests
              if any(fnmatch.fnmatch(test, f"igt@{word}") or fnmatch.fnmatch(test, f"igt@{word}@*")
                     for word in wanted)]
    return chosen if wanted else tests


def has_findings(found, kinds):
    """Return whether a test in mode strict found all of these kinds, "?KIND" perhaps, and no others."""
    needed = {kind for kind in kinds if kind[0] != "?"}
    return needed <= set(found) <= {kind.lstrip("?") for kind in kinds}
