#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make coverage: which lines of the GPU core, library, compiler and tools the unit tests reach.

Runs the tests of build/coverage (TESTS= selects some), then gcovr. Writes to out/coverage:

    index.html      every source with its counts
    summary.txt     lines reached of each file
    unreached.txt   functions that no test calls, then the lines that none reaches

Firmware and driver do not run on this machine: make mutations measures their tests.
"""

import json
import os
import pathlib
import subprocess
import sys

import selection

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build"))
OUT = pathlib.Path(os.environ.get("OUT", TOP / "out"))
FOLDER = BUILD / "coverage"
TARGET = OUT / "coverage"
FOLDERS = ("qemu-device/gpu/", "userspace/", "hw/")


def run_tests():
    """Run the tests; a failed one is reported, and does not prevent the report."""
    for data in FOLDER.rglob("*.gcda"):
        data.unlink()
    environment = dict(os.environ, PUMICE_FIRMWARE=str(BUILD / "firmware/pumice_fw.bin"))
    with open(OUT / "logs/coverage.log", "wb") as log:
        done = subprocess.run(["meson", "test", "-C", str(FOLDER), "--no-rebuild",
                               "--timeout-multiplier", "5", "--num-processes",
                               os.environ.get("JOBS", "2"), *selection.words()],
                              env=environment, stdout=log, stderr=log, check=False)
    if done.returncode:
        print("note: tests failed, see out/logs/coverage.log", flush=True)
    return done.returncode


def ranges(numbers):
    """Return [(first, last)] of consecutive numbers."""
    out = []
    for number in sorted(numbers):
        if out and number == out[-1][1] + 1:
            out[-1][1] = number
        else:
            out.append([number, number])
    return out


def unreached(files):
    """Return the text of unreached.txt."""
    functions, lines = [], []
    for entry in files:
        name = entry["file"]
        for item in entry.get("functions", []):
            if not item["execution_count"]:
                functions.append(f"{name}:{item['lineno']}: {item['name']}")
        missed = [line["line_number"] for line in entry["lines"]
                  if not line["count"] and not line.get("gcovr/noncode")]
        lines += [f"{name}:{first}" + (f"-{last}" if last > first else "")
                  for first, last in ranges(missed)]
    return (f"{len(functions)} functions that no test calls:\n" + "\n".join(functions) +
            f"\n\n{len(lines)} places that no test reaches:\n" + "\n".join(lines) + "\n")


def merging():
    """Return the options for merging: from 6.0 on gcovr refuses inline functions that several
    programs contain, by default.
    """
    usage = subprocess.run(["gcovr", "--help"], check=True, capture_output=True, text=True).stdout
    option = "--merge-mode-functions"
    return [option, "merge-use-line-min"] if option in usage else []


def report():
    """Run gcovr."""
    filters = [word for name in FOLDERS for word in ("--filter", f"{TOP}/{name}")]
    command = ["gcovr", "--root", str(TOP), "--object-directory", str(FOLDER), *filters,
               "--gcov-ignore-parse-errors", "--exclude-throw-branches", *merging(),
               "-j", os.environ.get("JOBS", "2"),
               "--html-details", str(TARGET / "index.html"), "--txt", str(TARGET / "summary.txt"),
               "--json", str(TARGET / "coverage.json"), str(FOLDER)]
    subprocess.run(command, cwd=TOP, check=True)
    files = json.loads((TARGET / "coverage.json").read_text(encoding="utf-8"))["files"]
    (TARGET / "unreached.txt").write_text(unreached(files), encoding="utf-8")
    total = (TARGET / "summary.txt").read_text(encoding="utf-8").splitlines()
    print("\n".join(line for line in total if line.startswith("TOTAL")))
    print(f"see {TARGET}/index.html and {TARGET}/unreached.txt")


def main():
    """Run the tests, write the report."""
    (OUT / "logs").mkdir(parents=True, exist_ok=True)
    TARGET.mkdir(parents=True, exist_ok=True)
    status = run_tests()
    report()
    sys.exit(1 if status else 0)


if __name__ == "__main__":
    main()
