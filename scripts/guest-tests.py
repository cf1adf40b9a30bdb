#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run tests/guest/ in guests and count their cases.

    guest-tests.py FOLDER [--as-stock KERNEL [--quick|--all]]

tests/guest/list names each program, its kernel (stock or fast) and what is added
to the kernel's command line; rows that agree in both share a guest and run one
after the other, so what one leaves behind the next one meets. FOLDER holds the
images stock.cpio, fast.cpio and programs.cpio.

--as-stock runs the rows of the stock kernel, and only those, on another one, whose
image in FOLDER has its name; with --quick those in tests/guest/quick alone.

Each program prints TAP. A program that prints no case, or fewer than it planned,
has failed; so has a listed program that was not built, and one that was built
but is not listed.
"""

import argparse
import os
import pathlib
import subprocess
import sys

from results import Tally

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build"))
OUT = pathlib.Path(os.environ.get("OUT", TOP / "out"))
PROGRAMS = BUILD / "native/tests/guest"
LIST = TOP / "tests/guest/list"
QUICK = TOP / "tests/guest/quick"
GUEST_TIMEOUT = 900     # seconds of one guest
PROGRAM_TIMEOUT = 240   # seconds of one program

# Cases hold jobs on purpose while they do other things: on a busy machine that may
# take longer than the driver's usual limit. t_timeout sets its own.
JOB = """\
modprobe pumice job_timeout_ms=30000 || echo "the driver did not load" >&2
for test in {tests}; do
	echo "running $test"
	timeout -s KILL {timeout} $test >/host/$test.tap 2>&1
	echo $? >/host/$test.status
done
# What is left when the last file is closed: nothing.
! grep -q '^pumice ' /proc/modules || rmmod pumice
echo $? >/host/rmmod.status
"""


def lines(path):
    """The words of each line of a list, without comments."""
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.partition("#")[0].split()
        if words:
            yield words


def rows():
    """{(kernel, command line): [program, …]} in the list's order."""
    guests = {}
    for words in lines(LIST):
        guests.setdefault((words[1], " ".join(words[2:])), []).append(words[0])
    return guests


def as_stock(guests, kernel, quick):
    """The stock kernel's rows for another kernel."""
    wanted = {words[0] for words in lines(QUICK)} if quick else None
    unknown = (wanted or set()) - {test for tests in guests.values() for test in tests}
    if unknown:
        sys.exit(f"error: {QUICK} names what {LIST} does not: {' '.join(sorted(unknown))}")
    for (listed, extra), tests in guests.items():
        chosen = [test for test in tests if wanted is None or test in wanted]
        if listed == "stock" and chosen:
            yield (kernel, extra), chosen


def text(path):
    """The content of a file that may be missing."""
    return path.read_text(errors="replace") if path.exists() else ""


def run_guest(tally, images, number, kernel, extra, tests):
    """Boot one guest, run its programs, count their cases."""
    name = f"guest-tests-{kernel}-{number}"
    title = f"{kernel} kernel{' with ' + extra if extra else ''}"
    work = BUILD / "guest" / name
    work.mkdir(parents=True, exist_ok=True)
    (work / "job").write_text(JOB.format(tests=" ".join(tests), timeout=PROGRAM_TIMEOUT))
    command = [str(TOP / "scripts/run-guest.py"), name, "--job", str(work / "job"),
               "--kernel", str(BUILD / "kernel" / kernel), "--timeout", str(GUEST_TIMEOUT),
               "--image", str(images / f"{kernel}.cpio"),
               "--image", str(images / "programs.cpio"), "--show"]
    for word in extra.split():
        command += ["--append", word]
    print(f"booting a guest: {title}", flush=True)
    status = subprocess.run(command, check=False).returncode
    share = OUT / "guest" / name
    for test in tests:
        code = text(share / f"{test}.status").strip()
        tally.add_output(f"{test} ({title})", text(share / f"{test}.tap"),
                         int(code) if code else 1, f"see {share}/{test}.tap")
    tally.add(f"the driver unloads after the tests ({title})",
              text(share / "rmmod.status").strip() == "0", f"see {share}/dmesg")
    tally.add(f"the guest's kernel stays sound ({title})", status not in (124, 125),
              f"see {OUT}/logs/{name}-console.log and {share}/dmesg")


def check_list(tally, guests):
    """Every listed program was built, every built one is listed."""
    listed = {test for tests in guests.values() for test in tests}
    for test in sorted(listed):
        tally.add(f"{test} was built", (PROGRAMS / test).exists(), f"not in {PROGRAMS}")
    for path in sorted(PROGRAMS.glob("t_*")):
        if path.is_file():
            tally.add(f"{path.name} is listed", path.name in listed, f"not in {LIST}")


def main():
    """All guests."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--as-stock", metavar="KERNEL")
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--quick", action="store_true")
    extent.add_argument("--all", action="store_false", dest="quick")
    options = parser.parse_args()
    guests = rows()
    if options.as_stock:
        tally = Tally(f"guest-{options.as_stock}")
        guests = dict(as_stock(guests, options.as_stock, options.quick))
    else:
        tally = Tally("guest")
        check_list(tally, guests)
    for number, ((kernel, extra), tests) in enumerate(guests.items()):
        run_guest(tally, options.folder, number, kernel, extra, tests)
    sys.exit(tally.close())


if __name__ == "__main__":
    main()
