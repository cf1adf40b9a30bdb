#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""total.py RESULT…: list the failures of all parts, end with the sum."""

import json
import sys


def main():
    """Read the parts' results, print the sum."""
    passed, failed = 0, []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as stream:
            part = json.load(stream)
        passed += len(part["passed"])
        failed += part["failed"]
    print("== all parts")
    for failure in failed:
        print(f"FAILED {failure['case']}: {failure['why']}")
    print(f"{passed} passed, {len(failed)} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
