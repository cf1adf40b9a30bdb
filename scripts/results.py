# SPDX-License-Identifier: MIT
"""Count test cases and end with 'N passed, N failed'.

    results.py NAME TITLE    record a part of the checks that could not be run, as one failure

Each part of the checks collects its cases in a Tally, which writes them to
out/results/NAME.json for the total, and in NAME.xml in JUnit's format.

Supports the output formats of the project's test programs: TAP, and cmocka's own format.
"""

import json
import os
import pathlib
import re
import sys
from xml.etree import ElementTree

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
        """Count a case; why is the reason of a failure."""
        if good:
            self.passed.append(case)
        else:
            self.failed.append({"case": case, "why": why})
            print(f"FAILED {case}{': ' + why if why else ''}", flush=True)

    def add_output(self, program, output, status, why=""):
        """Count the cases in a program's output; a case that is not reported has failed.

        A program that fails without a failed case, or prints no case at
        all, is itself counted as a case: tests that cannot run must be counted.
        """
        cases, planned = parse(output)
        for case, good, note in cases:
            self.add(f"{program}: {case}", good, note)
        if planned is not None and planned != len(cases):
            self.add(f"{program}: all of its cases", False,
                     f"planned {planned} cases, reported {len(cases)}")
        elif status and all(good for _, good, _ in cases):
            self.add(f"{program}: exits with status 0", False,
                     f"exit status {status}{', ' if why else ''}{why}")
        elif not cases:
            self.add(program, planned is None, why or "no test case")

    def close(self, may_be_empty=False):
        """Write the result, print the closing line; return the exit status.

        A part without cases has failed, unless TESTS= may have selected those of other parts.
        """
        folder = OUT / "results"
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / f"{self.name}.json", "w", encoding="utf-8") as stream:
            json.dump({"passed": self.passed, "failed": self.failed}, stream, indent=1)
        junit(self.name, self.passed, self.failed).write(
            folder / f"{self.name}.xml", encoding="utf-8", xml_declaration=True)
        print(f"{len(self.passed)} passed, {len(self.failed)} failed", flush=True)
        return 1 if self.failed or not (self.passed or may_be_empty) else 0


# Characters that XML does not allow.
NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(name, passed, failed):
    """Return a part's cases as JUnit's XML, for CI services."""
    suite = ElementTree.Element("testsuite", name=name, tests=str(len(passed) + len(failed)),
                                failures=str(len(failed)))
    for case in passed:
        add_case(suite, name, case)
    for failure in failed:
        case = add_case(suite, name, failure["case"])
        ElementTree.SubElement(case, "failure", message=NO_XML.sub("?", failure["why"]))
    return ElementTree.ElementTree(suite)


def add_case(suite, name, case):
    """Return a case of a suite. Its class is the program where the name has one."""
    program, colon, rest = NO_XML.sub("?", case).partition(": ")
    return ElementTree.SubElement(suite, "testcase", name=rest if colon else program,
                                  classname=f"{name}.{program}" if colon else name)


def parse(output):
    """Return ([(case, good, note)], planned number or None) of a program's output.

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
            # The rest lists the failed ones a second time.
            in_summary = True
        elif tap:
            skipped = re.search(r"# *SKIP", tap.group(3), re.IGNORECASE)
            cases.append((tap.group(3) or f"case {tap.group(2)}",
                          tap.group(1) == "ok" and not skipped, note))
            note = ""
        elif cmocka and not in_summary:
            cases.append((cmocka.group(2), cmocka.group(1) == "OK", ""))
    return cases, planned


def main():
    """Record a part that could not be run."""
    name, title = sys.argv[1:]
    tally = Tally(name)
    tally.add(title, False, "nothing could be run; see the message above")
    sys.exit(tally.close())


if __name__ == "__main__":
    main()
