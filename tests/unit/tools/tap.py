# SPDX-License-Identifier: MIT
"""
Cases of a tool's test program: each function marked with @test is one, and runs in a
folder that is removed at the end. Output: TAP.
"""

import os
import subprocess
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
            except (AssertionError, OSError, subprocess.TimeoutExpired) as err:
                failed += 1
                print(f"not ok {number} - {fn.__name__}")
                print("\n".join("# " + line for line in str(err).splitlines()))
        os.chdir("/")
    print(f"1..{len(tests)}")
    sys.exit(failed != 0)
