# SPDX-License-Identifier: MIT
"""Count test cases and close with 'N passed, N failed'.

Each part of the checks collects its cases in a Tally, which leaves them in
out/results/NAME.json for the total.

Understands what the project's test programs print: TAP, and cmocka's own format.
"""

import json
import os
import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parent.parent
OUT = pathlib.Path(os.environ.get("OUT", TOP / "out"))

TAP_PLAN = re.compile(r"^\s*1\.\.(\d+)")
TAP_CASE = re.compile(r"^\s*(not ok|ok)\b\s*(\d+)?\s*-?\s*(.*)$")
CMOCKA_CASE = re.compile(r"^\[\s+(OK|FAILED|SKIPPED)\s+\] (\w+)$")
CMOCKA_PLAN = re.compile(r"^\[=+\] Running (\d+) test")
CMOCKA_END = re.compile(r"^\[=+\] \d+ test\(s\) run")


class Tally:
    """The cases of one part of the checks."""

    def __init__(self, name):
        self.name = name
        self.passed = []
        self.failed = []

    def add(self, case, good, why=""):
        """Count a case; why says what is wrong with a bad one."""
        if good:
            self.passed.append(case)
        else:
            self.failed.append({"case": case, "why": why})
            print(f"FAILED {case}{': ' + why if why else ''}", flush=True)

    def add_output(self, program, output, status, why=""):
        """Count the cases in a program's output; a case that is not told failed.

        A program that ends badly without a failed case, or that prints no case
        at all, is itself a case: what cannot run must not vanish.
        """
        cases, planned = parse(output)
        failed = sum(not good for _, good, _ in cases)
        for case, good, note in cases:
            self.add(f"{program}: {case}", good, note)
        if planned is not None and planned != len(cases):
            self.add(f"{program}: all of its cases", False,
                     f"planned {planned} cases, told of {len(cases)}")
        elif status != 0 and not failed:
            self.add(f"{program}: ends well", False, why or f"exit status {status}")
        elif not cases:
            self.add(program, status == 0 and planned is None, why or "no test case")

    def close(self):
        """Write the result, print the closing line; the exit status."""
        folder = OUT / "results"
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / f"{self.name}.json", "w", encoding="utf-8") as stream:
            json.dump({"passed": self.passed, "failed": self.failed}, stream, indent=1)
        print(f"{len(self.passed)} passed, {len(self.failed)} failed", flush=True)
        return 1 if self.failed or not self.passed else 0


def parse(output):
    """([(case, good, note)], planned number or None) from a program's output.

    A TAP case's note is the last comment before it.
    """
    cases, planned, in_summary, note = [], None, False, ""
    for line in output.splitlines():
        plan = TAP_PLAN.match(line) or CMOCKA_PLAN.match(line)
        note = line[1:].strip() if line.startswith("#") else note
        tap, cmocka = TAP_CASE.match(line), CMOCKA_CASE.match(line)
        if plan:
            planned, in_summary = (planned or 0) + int(plan.group(1)), False
        elif CMOCKA_END.match(line):
            # What follows names the failed ones a second time.
            in_summary = True
        elif tap:
            skipped = re.search(r"# *SKIP", tap.group(3), re.IGNORECASE)
            cases.append((tap.group(3) or f"case {tap.group(2)}",
                          tap.group(1) == "ok" and not skipped, note))
            note = ""
        elif cmocka and not in_summary:
            cases.append((cmocka.group(2), cmocka.group(1) == "OK", ""))
    return cases, planned
