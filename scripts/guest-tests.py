#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run tests/guest/ in guests and count their cases.

    guest-tests.py FOLDER [--as-stock KERNEL [--quick|--all]]
    guest-tests.py FOLDER --debug [--quick|--all]
    guest-tests.py FOLDER --pairs
    guest-tests.py FOLDER --presets [--quick|--all]
    guest-tests.py FOLDER --strict [--quick|--all]

tests/guest/list names each program, its kernel (stock, fast or debug) and what is
added to the kernel's command line, or virtual-gpus=N for a GPU with a function for each but
the first one; rows that agree in both share a guest and run one
after the other, so later programs run in the state that earlier ones left. FOLDER holds the
images stock.cpio, fast.cpio, debug.cpio and programs.cpio.

--as-stock runs the rows of the stock kernel, and only those, on another one, whose
image in FOLDER has its name; with --quick those in tests/guest/quick alone.

--debug runs the rows of the debug kernel, and only those; with --all for longer, after
every other program on that kernel too, and races on the stock kernel.

--pairs runs t_pairs alone on the debug kernel, with all pairs of calls.

--presets runs the programs of tests/guest/results on the stock kernel, in a guest for each
preset of the GPU; with --quick those that are marked quick there, in one guest.

--strict runs all rows but those of the debug kernel with a GPU in mode strict, or with --quick a few
programs of the stock kernel; tests/guest/findings lists those whose jobs have errors on purpose, and others have no finding.

TESTS= runs only the programs that it names (see selection.py), and no check of the list.

Each program prints TAP. A program that prints no case, or fewer than it planned,
has failed; so has a listed program that was not built, and one that was built
but is not listed.
"""

import argparse
import os
import pathlib
import subprocess
import sys

import findings
import selection
from results import Tally

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build"))
OUT = pathlib.Path(os.environ.get("OUT", TOP / "out"))
PROGRAMS = BUILD / "native/tests/guest"
LIST = TOP / "tests/guest/list"
QUICK = TOP / "tests/guest/quick"
RESULTS = TOP / "tests/guest/results"
FINDINGS = TOP / "tests/guest/findings"
GUEST_TIMEOUT = 900     # seconds of one guest
PROGRAM_TIMEOUT = 240   # seconds of one program
DEBUG_FACTOR = 6        # factor for both on the debug kernel
PAIRS_FACTOR = 48       # factor with all pairs of calls
# Run time of programs with a configurable duration, in seconds.
SHORT = {"PUMICE_RACE_SECONDS": 5, "PUMICE_FUZZ_SECONDS": 30}
LONG = {"PUMICE_RACE_SECONDS": 30, "PUMICE_FUZZ_SECONDS": 300}
PAIRS = {"PUMICE_PAIRS": "all"}
# Status of a program that the guest did not outlast.
NOT_ENDED = -1
# Of the guest of quick tests with a preset: its USCs are the smallest.
QUICK_PRESET = "waves"
# Quick tests in mode strict: jobs and their synchronisation, mappings, frames.
QUICK_STRICT = ("t_submit", "t_vm_gpu", "t_draw")

# Cases deliberately keep jobs running meanwhile: on a busy machine this
# may exceed the driver's default time limit. t_timeout sets its own.
JOB = """\
{environment}
{before}
findings=/host
{mode}
modprobe pumice job_timeout_ms=30000 || echo "the driver did not load" >&2
run() {{
	echo "running $*"
	# An earlier program that was killed may have left another limit.
	echo 30000 2>/dev/null >/sys/module/pumice/parameters/job_timeout_ms
	begin "$1"
	timeout -s KILL {timeout} "$@" >/host/$1.tap 2>&1
	echo $? >/host/$1.status
	end "$1"
}}
{programs}
# Nothing must remain after the last file is closed. The last user of a job's fence may
# need a moment.
looks=0
while [ "$(cat /sys/module/pumice/refcnt 2>/dev/null || echo 0)" -ne 0 ] && [ $looks -lt 300 ]; do
	sleep 0.1
	looks=$((looks + 1))
done
! grep -q '^pumice ' /proc/modules || rmmod pumice
echo $? >/host/rmmod.status
"""
# The GPU of rows with virtual-gpus=N, and its functions.
SEVERAL = "virtual-gpus="
SHARED_GPU = "pumice,id=gpu0,cores=4,threads=2,late=poison"
# Programs that also run for long on the stock kernel, in `make check-debug`.
RACES = ["t_race"]
# The driver with its KUnit tests, which run while it is loaded.
KUNIT = """\
insmod /lib/kunit/pumice.ko
cat /sys/kernel/debug/kunit/pumice_*/results >/host/kunit.tap
rmmod pumice
echo $? >/host/kunit.status
"""


def rows():
    """Return {(kernel, command line): [program, …]} in the list's order."""
    guests = {}
    for words in selection.lines(LIST):
        guests.setdefault((words[1], " ".join(words[2:])), []).append(words[0])
    return guests


class Run:
    """One guest: a kernel, words for its command line, programs."""

    def __init__(self, name, kernel, extra, tests, seconds=None, kunit=False):
        self.name = f"guest-tests-{name}"
        self.kernel = kernel
        self.extra = extra
        self.tests = tests
        self.title = f"{kernel} kernel{' with ' + extra if extra else ''}"
        self.factor = DEBUG_FACTOR if kernel == "debug" else 1
        self.seconds = seconds or {}
        self.kunit = kunit
        self.preset = None
        self.strict = None  # in mode strict: {program: kinds of findings that its errors have}
        self.cases = {}     # of a program, where only some run


def in_order(guests):
    """Yield all rows, but those of the debug kernel."""
    for number, ((kernel, extra), tests) in enumerate(guests.items()):
        if kernel != "debug":
            yield Run(f"{kernel}-{number}", kernel, extra, tests)


def on_debug(guests, quick):
    """Yield the debug kernel's rows; unless quick, all other programs and long races before."""
    others, own = [], []
    for (kernel, extra), tests in guests.items():
        if SEVERAL in extra:
            continue
        chosen = own if kernel == "debug" else others
        chosen += [test for test in tests if test not in chosen]
    if not quick:
        yield Run("debug-all", "debug", "", [test for test in others if test not in own])
        yield Run("debug-races", "stock", "", RACES, LONG)
        for (_kernel, extra), tests in guests.items():
            if SEVERAL in extra:
                yield Run("debug-several", "debug", extra, tests)
    yield Run("debug", "debug", "", own, SHORT if quick else LONG, kunit=True)


def all_pairs():
    """Run every call concurrently with every other."""
    run = Run("debug-pairs", "debug", "", ["t_pairs"], PAIRS)
    run.factor = PAIRS_FACTOR
    yield run


def each_preset(rows_of_results, quick):
    """Run the tests of results with the GPU of each preset, or the quick ones with one."""
    for preset in [QUICK_PRESET] if quick else selection.PRESETS:
        # The GPU in a program's own process is the same one.
        run = Run(preset, "stock", "", [], {"PUMICE_PRESET": preset})
        run.preset = preset
        run.title = f"preset {preset}"
        run.tests += [program for program, *words in rows_of_results if not quick or "quick" in words]
        yield run


def in_mode_strict(guests, quick):
    """Run all rows but the debug kernel's with a GPU in mode strict, or a few of the stock kernel's."""
    listed = findings.expected(FINDINGS)
    unknown = set(listed) - {test for tests in guests.values() for test in tests}
    if unknown:
        sys.exit(f"error: {FINDINGS} names what {LIST} does not: {' '.join(sorted(unknown))}")
    for run in in_order(guests):
        run.tests = [test for test in run.tests if findings.has_verdict(listed.get(test))]
        run.name = run.name.replace("tests-", "tests-strict-")
        run.title = f"mode strict, {run.title}"
        run.strict = listed
        run.factor = findings.FACTOR
        if (run.kernel, run.extra) == ("stock", ""):
            if set(QUICK_STRICT) - set(run.tests):
                sys.exit(f"error: not all of {' '.join(QUICK_STRICT)} have a verdict in mode strict")
            if quick:
                run.tests = [test for test in run.tests if test in QUICK_STRICT]
        elif quick:
            continue
        yield run


def as_stock(guests, kernel, quick):
    """Run the stock kernel's rows on another kernel."""
    wanted = {words[0] for words in selection.lines(QUICK)} if quick else None
    unknown = (wanted or set()) - {test for tests in guests.values() for test in tests}
    if unknown:
        sys.exit(f"error: {QUICK} names what {LIST} does not: {' '.join(sorted(unknown))}")
    for (listed, extra), tests in guests.items():
        chosen = [test for test in tests if wanted is None or test in wanted]
        if listed == "stock" and chosen:
            yield Run(f"{kernel}-several" if extra else kernel, kernel, extra, chosen)


def selected(runs, wanted):
    """Return the runs, with only those programs that TESTS= names."""
    runs = list(runs)
    if not wanted:
        return runs
    chosen = selection.select({test for run in runs for test in run.tests}, wanted)
    for run in runs:
        run.tests = [test for test in run.tests if test in chosen]
        run.cases = chosen
        run.kunit = False
    return [run for run in runs if run.tests]


def text(path):
    """Read a file that may be missing."""
    return path.read_text(errors="replace") if path.exists() else ""


def job(run):
    """Write the script that the guest runs."""
    environment = "\n".join(f"export {name}={value}" for name, value in run.seconds.items())
    programs = "\n".join(" ".join(["run", test, *run.cases.get(test, [])]) for test in run.tests)
    return JOB.format(programs=programs, environment=environment,
                      mode=findings.FAST if run.strict is None else findings.STRICT,
                      before=KUNIT if run.kunit else "",
                      timeout=PROGRAM_TIMEOUT * run.factor)


def check_trace(tally, run, path):
    """Check the form of the trace that t_trace left, by its schema and rules."""
    done = subprocess.run([sys.executable, "-B", TOP / "tests/unit/tools/trace_check.py", path],
                          check=False, capture_output=True, text=True)
    tally.add(f"the trace of t_trace is well formed ({run.title})", done.returncode == 0,
              f"{path}: {done.stderr.strip()}")


def several(word, mode=""):
    """Return options of run-guest.py for a GPU with this property, and its functions; mode: a property, too."""
    options = ["--device", f"{SHARED_GPU},{word}{mode}"]
    for number in range(1, int(word.removeprefix(SEVERAL))):
        options += ["--qemu-option", f"-device pumice-vgpu,parent-gpu=gpu0,number={number}"]
    return options


def run_guest(tally, images, run):
    """Boot one guest, run its programs, count their cases."""
    work = BUILD / "guest" / run.name
    work.mkdir(parents=True, exist_ok=True)
    (work / "job").write_text(job(run))
    command = [str(TOP / "scripts/run-guest.py"), run.name, "--job", str(work / "job"),
               "--kernel", str(BUILD / "kernel" / run.kernel),
               "--timeout", str(GUEST_TIMEOUT * run.factor),
               "--image", str(images / f"{run.kernel}.cpio"),
               "--image", str(images / "programs.cpio"), "--show"]
    if run.strict is not None and SEVERAL not in run.extra:
        command += ["--device", findings.GPU]
    if run.preset:
        command += ["--device", f"pumice,preset={run.preset},threads=2,late=poison"]
    mode = "" if run.strict is None else ",mode=strict"
    for word in run.extra.split():
        command += several(word, mode) if word.startswith(SEVERAL) else ["--append", word]
    print(f"booting a guest: {run.title}", flush=True)
    status = subprocess.run(command, check=False).returncode
    share = OUT / "guest" / run.name
    for test in (["kunit"] if run.kunit else []) + run.tests:
        code = text(share / f"{test}.status").strip()
        tally.add_output(f"{test} ({run.title})", text(share / f"{test}.tap"),
                         int(code) if code else NOT_ENDED, f"see {share}/{test}.tap")
        if run.strict is not None:
            findings.add(tally, test, share / f"{test}.findings", run.strict.get(test, set()),
                         some=bool(run.cases.get(test)))
    if "t_trace" in run.tests:
        check_trace(tally, run, share / "t_trace.trace.json")
    tally.add(f"the driver unloads after the tests ({run.title})",
              text(share / "rmmod.status").strip() == "0", f"see {share}/dmesg")
    tally.add(f"the guest's kernel stays sound ({run.title})", status not in (124, 125),
              f"see {OUT}/logs/{run.name}-console.log and {share}/")


def check_list(tally, guests):
    """Check that every listed program was built, and every built one is listed."""
    listed = {test for tests in guests.values() for test in tests}
    for test in sorted(listed):
        tally.add(f"{test} was built", (PROGRAMS / test).exists(), f"not in {PROGRAMS}")
    for path in sorted(PROGRAMS.glob("t_*")):
        if path.is_file():
            tally.add(f"{path.name} is listed", path.name in listed, f"not in {LIST}")


def main():
    """Run all guests."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--as-stock", metavar="KERNEL")
    which.add_argument("--debug", action="store_true")
    which.add_argument("--pairs", action="store_true")
    which.add_argument("--presets", action="store_true")
    which.add_argument("--strict", action="store_true")
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--quick", action="store_true")
    extent.add_argument("--all", action="store_false", dest="quick")
    options = parser.parse_args()
    guests = rows()
    if options.as_stock:
        tally = Tally(f"guest-{options.as_stock}")
        runs = as_stock(guests, options.as_stock, options.quick)
    elif options.debug:
        tally = Tally("guest-debug")
        runs = on_debug(guests, options.quick)
    elif options.pairs:
        tally = Tally("guest-pairs")
        runs = all_pairs()
    elif options.presets:
        tally = Tally("guest-presets")
        runs = each_preset(list(selection.lines(RESULTS)), options.quick)
    elif options.strict:
        tally = Tally("guest-strict")
        runs = in_mode_strict(guests, options.quick)
    else:
        tally = Tally("guest")
        runs = in_order(guests)
        if not selection.words():
            check_list(tally, guests)
    for run in selected(runs, selection.words()):
        run_guest(tally, options.folder, run)
    sys.exit(tally.close())


if __name__ == "__main__":
    main()
