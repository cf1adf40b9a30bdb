# SPDX-License-Identifier: MIT
"""
Cases of a tool's test program: each function marked with @test is one, and runs in a
folder that is removed at the end. Output: TAP.
"""

import os
import sys
import tempfile

tests = []


def test(fn):
    """Make a function a case."""
    tests.append(fn)
    return fn


def main():
    """Run all cases; exit status 1 if one failed."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for number, fn in enumerate(tests, 1):
            try:
                fn()
                print(f"ok {number} - {fn.__name__}")
            # Of any kind, such as one of a file that is not JSON: the other cases run, too.
            except Exception as err:  # pylint: disable=broad-exception-caught
                failed += 1
                print("\n".join("# " + line for line in repr(err).splitlines()))
                print(f"not ok {number} - {fn.__name__}")
        os.chdir("/")
    print(f"1..{len(tests)}")
    sys.exit(failed != 0)
