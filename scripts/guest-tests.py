#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run tests/guest/ in a guest with Debian's kernel and count their cases.

    guest-tests.py IMAGE…

Each program prints TAP. One guest runs them all, one after the other; between
them the driver stays loaded, so what one leaves behind the next one meets.
A program whose TAP has an empty plan and no case is one that the guest killed.
"""

import os
import pathlib
import subprocess
import sys

from results import Tally

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build"))
OUT = pathlib.Path(os.environ.get("OUT", TOP / "out"))
PROGRAMS = BUILD / "native/tests/guest"
NAME = "guest-tests"
TIMEOUT = 900

JOB = """\
modprobe pumice || echo "the driver did not load" >&2
for test in {tests}; do
	echo "running $test"
	$test >/host/$test.tap 2>&1
	echo $? >/host/$test.status
done
# What is left when the last file is closed: nothing.
rmmod pumice; echo $? >/host/rmmod.status
"""


def programs():
    """The test programs, by name."""
    return [path.name for path in sorted(PROGRAMS.glob("*"))
            if path.is_file() and os.access(path, os.X_OK) and ".so" not in path.name]


def text(path):
    """The content of a file that may be missing."""
    return path.read_text(errors="replace") if path.exists() else ""


def main():
    """Boot, run, count."""
    tests = programs()
    tally = Tally("guest")
    work = BUILD / "guest" / NAME
    work.mkdir(parents=True, exist_ok=True)
    (work / "job").write_text(JOB.format(tests=" ".join(tests)))
    share = OUT / "guest" / NAME
    for old in list(share.glob("*.tap")) + list(share.glob("*.status")):
        old.unlink()
    command = [str(TOP / "scripts/run-guest.py"), NAME, "--job", str(work / "job"),
               "--timeout", str(TIMEOUT), "--show"]
    for image in sys.argv[1:]:
        command += ["--image", image]
    status = subprocess.run(command, check=False).returncode
    for test in tests:
        code = text(share / f"{test}.status").strip()
        tally.add_output(test, text(share / f"{test}.tap"), int(code) if code else 1,
                         f"see {share}/{test}.tap")
    tally.add("there are test programs", bool(tests), f"none in {PROGRAMS}")
    tally.add("the driver unloads after the tests",
              text(share / "rmmod.status").strip() == "0", f"see {share}/dmesg")
    tally.add("the guest's kernel stays sound", status not in (124, 125),
              f"see {OUT}/logs/{NAME}-console.log and {share}/dmesg")
    sys.exit(tally.close())


if __name__ == "__main__":
    main()
