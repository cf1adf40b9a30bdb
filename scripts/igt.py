#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""IGT in a guest, upstream's tests and ours, against the lists in tests/igt/.

    igt.py image ROOT OUT              make the guest image's part with IGT
    igt.py run KERNEL [--strict] IMAGE… [-- …]
                                       run the list of KERNEL (fast, stock or debug);
                                       words after -- are for run-guest.py

--strict: with a GPU in mode strict. tests/igt/findings has the programs whose jobs have errors on
purpose; others have no finding.

On the debug kernel, where time is another, upstream's tests of DRM's core prove nothing
more: it runs our own programs, pumice_faults as on the others, and core_hotunplug.

The part with IGT comes last: its C library is the newer one and serves our own
programs too.

A guest for each of these that has something to run on the kernel, one after the other:
  timed  the programs that test moments in time, on a processor whose clock
         counts instructions, so that a busy machine does not spoil them
  apart  core_hotunplug, because a failure there can abort all that follows,
         while jobs are submitted
  own    the programs of tests/igt/, whose names start with pumice_
  faults pumice_faults, with a GPU that makes faults on request, on such a clock, too
  main   the rest
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from image import cpio, elf, modules
import findings
import selection
from results import Tally

TOP = pathlib.Path(__file__).resolve().parent.parent
LISTS = TOP / "tests/igt"
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build"))
OUT = pathlib.Path(os.environ.get("OUT", TOP / "out"))
FOLDER = "/usr/libexec/igt-gpu-tools"
OWN = BUILD / "native/tests/igt"
PART = {"core_hotunplug": "apart", "syncobj_wait": "timed", "syncobj_timeline": "timed",
        "syncobj_eventfd": "timed", "sw_sync": "timed", "pumice_faults": "faults"}
# Initial estimate of the time limit of a run, in seconds; TCG on two busy cores.
TIMEOUT = {"main": 600, "timed": 900, "apart": 300, "own": 900, "faults": 600}
PER_TEST = 120
DEBUG_FACTOR = 6        # factor on the debug kernel
DEBUG_PARTS = ("own", "apart", "faults")
# On a processor whose clock counts instructions.
OWN_TIME = ("timed", "faults")
# There the GPU runs on the same clock, and raises faults on request. Not with late=poison: most of
# the programs are long loops, and an instruction at a time they take about twenty times as long.
DEVICE = {"faults": "pumice,cores=4,threads=0,fault-injection=on"}
STRICT_DEVICE = {"faults": f"{DEVICE['faults']},mode=strict"}

# The job in the guest. The device must be there before IGT looks for it.
JOB = """\
modprobe pumice || exit 1
{before}
mkdir -p results
findings=$PWD/results
{mode}
status=0
# igt NAME: the tests in testlist.NAME.
igt() {{
	begin $1
	igt_runner -o -m -s --per-test-timeout {per_test} {options} \\
		--test-list "$PWD/testlist.$1" {folder} "$PWD/results/$1" || status=$?
	[ -s results/$1/results.json ] || igt_results results/$1
	end $1
}}
{runs}
{after}
# Contexts hold the module until a work item has freed them. A reference after ten
# seconds is lost.
for try in $(seq 100); do
	modprobe -r pumice && break
	sleep 0.1
done
! grep -q '^pumice ' /proc/modules; echo $? >/host/rmmod.status
exit $status
"""
# Some of the stress program's jobs fault on purpose, and the kernel
# reports each suppressed line at the level of a warning. Therefore IGT
# checks only errors here; run-guest.py checks the relevant warnings.
STRESS = {
    "before": "pumice-stress >stress.log 2>&1 &\nstress=$!",
    "after": "kill $stress; wait $stress; echo $? >stress.status",
    "options": "--dmesg-warn-level 3",
}
ENDED_BY_KILL = "143"
# A clock that counts instructions jumps to the next deadline while the guest waits
# for this machine: so nothing is written to the share until all tests are done.
# This is also faster: a long kernel log is read and written again for each subtest.
IN_MEMORY = {
    "before": "cp testlist.* /tmp && cd /tmp",
    "after": "cp -r results runner.log /host",
    "options": ">>runner.log 2>&1",
}
# gputop draws on the terminal that it reads from, so it needs one.
GPUTOP = {
    "before": IN_MEMORY["before"],
    "after": f"""\
cp -r results /host; cd /host
{FOLDER}/gputop_load >load.pid &
load=$!
for try in $(seq 100); do [ -s load.pid ] && break; sleep 0.1; done
gputop -n 3 -d 1 </dev/console >gputop.txt
kill $load""",
    "options": "",
}
AROUND = {"apart": STRESS, "own": GPUTOP, "timed": IN_MEMORY, "faults": IN_MEMORY}
NOTHING_AROUND = {"before": "", "after": "", "options": ""}
# Kernel messages caused by this machine not running the guest for long.
BUSY = re.compile(r"clocksource: Long readout interval|hrtimer: interrupt took")
# Programs that load a kernel module by a name that newer kernels do not have: 6.12.107
# moved the buddy allocator's test to gpu_buddy_tests.
LOADS = {"drm_buddy": "drm_buddy_test"}
# Minimum percentage of GPU time of a client with an endless job.
GPUTOP_BUSY = 90.0


def rows(name):
    """Read the lines of a list in tests/igt/, without comments."""
    for line in (LISTS / name).read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            yield line


def programs():
    """Return [(program, number of subtests, kernels, left out)] of programs.txt."""
    for line in rows("programs.txt"):
        name, count, kernels, *rest = line.split(None, 3)
        yield name, int(count), kernels.split(","), re.findall(r"(?:^|\s)-(\S+)", "".join(rest))


def expectations(name, kernel):
    """Return {subtest: reason} of fails.txt, flakes.txt or skips.txt for a kernel."""
    found = {}
    for line in rows(f"{name}.txt"):
        which, test, *reason = line.split(None, 2)
        if not reason:
            sys.exit(f"error: tests/igt/{name}.txt: {test} has no reason")
        if which in (kernel, "all"):
            found[test] = reason[0]
    return found


def is_own(program):
    """Return whether a program is one of tests/igt/ rather than upstream's."""
    return program.startswith("pumice_")


def subtests(root, program):
    """List the subtests of a program; upstream's run with their own C library."""
    if is_own(program):
        output = subprocess.run([OWN / program, "--list-subtests"], check=True,
                                capture_output=True, text=True)
        return output.stdout.split()
    loader = f"{root}/lib64/ld-linux-x86-64.so.2"
    libraries = f"{root}/usr/lib/x86_64-linux-gnu"
    output = subprocess.run([loader, "--library-path", libraries, f"{root}{FOLDER}/{program}",
                             "--list-subtests"], check=False, capture_output=True, text=True)
    return output.stdout.split() or [""]


def testlist(root):
    """Return {program: [igt@program@subtest]} without the excluded ones."""
    lists = {}
    for name, count, _kernels, left_out in programs():
        tests = [f"igt@{name}@{sub}".rstrip("@") for sub in subtests(root, name)
                 if sub not in left_out]
        if len(tests) != count:
            sys.exit(f"error: {name} has {len(tests)} subtests, programs.txt says {count}\n"
                     f"       look at the new list, then correct tests/igt/programs.txt")
        lists[name] = tests
    return lists


def make_image(root, out):
    """Add IGT's runner, the listed programs and the expanded list."""
    lists = testlist(root)
    wanted = ["/usr/bin/igt_runner", "/usr/bin/igt_results", "/usr/bin/gputop", "/usr/bin/kmod"]
    wanted += [f"{FOLDER}/{name}" for name in lists if not is_own(name)]
    with cpio.Archive(out) as archive:
        for path, real in elf.closure(wanted, root, extra=["libgcc_s.so.1"]).items():
            archive.file(path, root + real)
        for name in [*filter(is_own, lists), "gputop_load"]:
            archive.stripped(f"{FOLDER}/{name}", str(OWN / name))
        archive.link("sbin/modprobe", "/usr/bin/kmod")
        names = " ".join(lists)
        archive.data(f"{FOLDER}/test-list.txt", f"TESTLIST\n{names}\nEND TESTLIST\n".encode())
    with open(f"{out}.json", "w", encoding="utf-8") as stream:
        json.dump(lists, stream, indent=1)


def without_module(program, kernel):
    """Return whether a program loads a module that the named kernel does not have."""
    return program in LOADS and \
        LOADS[program] not in modules.Kernel(BUILD / "kernel" / kernel).paths


def chosen(lists, kernel):
    """Return the subtests to run on a kernel: {part: [subtest]}."""
    parts = {"own": [], "main": [], "timed": [], "apart": [], "faults": []}
    stock = {line.split()[0] for line in rows("stock.txt")}
    for name, _count, kernels, _left_out in programs():
        tests = lists[name]
        if kernel not in kernels and kernel != "debug":
            tests = [test for test in tests if kernel == "stock" and test in stock]
        elif without_module(name, kernel):
            print(f"not run: {name}: this kernel has no module {LOADS[name]}")
            tests = []
        parts[PART.get(name, "own" if is_own(name) else "main")].extend(tests)
    return {part: tests for part, tests in parts.items()
            if tests and (kernel != "debug" or part in DEBUG_PARTS)}


def selected(parts):
    """Return the parts with only those tests that TESTS= names."""
    wanted = selection.words()
    parts = {part: selection.subtests(tests, wanted) for part, tests in parts.items()}
    return {part: tests for part, tests in parts.items() if tests}


def result_of(result):
    """Return a subtest's result, without kernel warnings caused by a busy machine."""
    lines = result.get("dmesg-warnings", "").splitlines()
    if result["result"] == "dmesg-warn" and lines and all(map(BUSY.search, lines)):
        return "pass"
    return result["result"]


def evaluate(tally, kernel, tests, results):
    """Compare each test's result, and those of its dynamic subtests, with the lists of tests/igt.
    """
    fails, flakes, skips = (expectations(n, kernel) for n in ("fails", "flakes", "skips"))
    names = [name for test in tests
             for name in [test, *(n for n in results if n.startswith(f"{test}@"))]]
    for test in names:
        result = result_of(results[test]) if test in results else "missing"
        wanted = "fail" if test in fails else "skip" if test in skips else "pass"
        case = f"{kernel}: {test}"
        if test in flakes:
            print(f"not evaluated {case}: {result} ({flakes[test]})")
        elif result != wanted:
            tally.add(case, False, f"{result}, expected {wanted}")
        elif result == "pass":
            tally.add(case, True)
        else:
            print(f"{result} as expected {case}: {fails.get(test) or skips.get(test)}")


class Run:
    """The guests of a kernel."""

    def __init__(self, kernel, strict):
        self.kernel = kernel
        self.strict = strict    # in mode strict
        self.title = f"{kernel}{'-strict' if strict else ''}"
        self.factor = DEBUG_FACTOR if kernel == "debug" else findings.FACTOR if strict else 1

    def share(self, part):
        """Return the folder that a guest has left."""
        return OUT / "guest" / f"igt-{self.title}-{part}"

    def device(self, part):
        """Return the GPU of a guest, or None for the usual one."""
        return STRICT_DEVICE.get(part, findings.GPU) if self.strict else DEVICE.get(part)

    def lists(self, tests):
        """Return {name: tests} for each run of igt_runner: in mode strict of each program."""
        lists = {}
        for test in tests:
            name = test.split("@")[1] if self.strict else "all"
            lists.setdefault(name, []).append(test)
        return lists


def run_guest(run, part, lists, images, extra):
    """Run one guest. Returns (its exit status, {test: result})."""
    share = run.share(part)
    work = BUILD / "guest" / share.name
    work.mkdir(parents=True, exist_ok=True)
    (work / "job").write_text(JOB.format(
        folder=FOLDER, per_test=PER_TEST * run.factor,
        mode=findings.STRICT if run.strict else findings.FAST,
        runs="\n".join(f"igt {name}" for name in lists), **AROUND.get(part, NOTHING_AROUND)))
    shutil.rmtree(share / "results", ignore_errors=True)
    command = [str(TOP / "scripts/run-guest.py"), share.name,
               "--kernel", str(BUILD / "kernel" / run.kernel), "--job", str(work / "job"),
               "--timeout", str(TIMEOUT[part] * run.factor), *extra]
    for name, tests in lists.items():
        path = work / f"testlist.{name}"
        path.write_text("".join(f"{test}\n" for test in tests))
        command += ["--put", str(path)]
    if part in OWN_TIME:
        command.append("--own-time")
    if run.device(part):
        command += ["--device", run.device(part)]
    for image in images:
        command += ["--image", image]
    status = subprocess.run(command, check=False).returncode
    results = {}
    for path in share.glob("results/*/results.json"):
        results.update(json.loads(path.read_text(encoding="utf-8"))["tests"])
    return status, results


def evaluate_findings(tally, run, part, names):
    """Compare the findings of each program with the list."""
    listed = findings.expected(LISTS / "findings")
    unknown = set(listed) - {name for name, *_ in programs()}
    if unknown:
        sys.exit(f"error: tests/igt/findings names what programs.txt does not: {' '.join(sorted(unknown))}")
    for name in names:
        if findings.has_verdict(listed.get(name)):
            findings.add(tally, name, run.share(part) / f"results/{name}.findings",
                         listed.get(name, set()), some=bool(selection.words()))


def evaluate_stress(tally, run):
    """Check that the stress program ran to its end without a wrong result."""
    share = run.share("apart")
    status, log = share / "stress.status", share / "stress.log"
    good = (status.exists() and status.read_text().strip() == ENDED_BY_KILL
            and "wrong data" not in log.read_text())
    tally.add(f"{run.title}: jobs continue during core_hotunplug", good, f"see {log}")


def evaluate_gputop(tally, run):
    """Check that gputop shows our client, with an engine that is busy nearly always."""
    share = run.share("own")
    try:
        pid = (share / "load.pid").read_text().strip()
        frames = (share / "gputop.txt").read_text().split("\033[H\033[J")
    except FileNotFoundError as problem:
        tally.add(f"{run.title}: gputop shows a busy client", False, str(problem))
        return
    good = False
    for frame in frames:
        line = re.search(rf"^\s*{pid}\s(.*)\bgputop_load\b", frame, re.M)
        engines = re.findall(r"\|\s*(\d+\.\d)%", line[1]) if line else []
        good |= "compute" in frame and any(float(e) > GPUTOP_BUSY for e in engines)
    tally.add(f"{run.title}: gputop shows a busy client", good, f"see {share}/gputop.txt")


def run_all(run, images, extra):
    """Run the guests of a kernel; return the exit status."""
    with open(next(i for i in images if "igt" in os.path.basename(i)) + ".json",
              encoding="utf-8") as stream:
        lists = json.load(stream)
    tally = Tally(f"igt-{run.title}")
    for part, tests in selected(chosen(lists, run.kernel)).items():
        print(f"  … IGT on the {run.title} kernel, {len(tests)} subtests ({part})", flush=True)
        names = run.lists(tests)
        status, results = run_guest(run, part, names, images, extra)
        evaluate(tally, run.kernel, tests, results)
        if run.strict:
            evaluate_findings(tally, run, part, names)
        if part == "apart":
            evaluate_stress(tally, run)
        if part == "own" and not selection.words():
            evaluate_gputop(tally, run)
        share = run.share(part)
        unloaded = share / "rmmod.status"
        tally.add(f"{run.title}: the driver unloads after {part}",
                  unloaded.exists() and unloaded.read_text().strip() == "0", f"see {share}/")
        # 125: the guest died, or its kernel reported a fault of its own.
        tally.add(f"{run.title}: the guest of {part} stays sound", status not in (124, 125),
                  f"see {OUT}/logs/{share.name}-console.log")
    return tally.close(may_be_empty=bool(selection.words()))


def main():
    """Parse the command line and run."""
    arguments = sys.argv[1:]
    extra = arguments[arguments.index("--") + 1:] if "--" in arguments else []
    arguments = arguments[:arguments.index("--")] if "--" in arguments else arguments
    if len(arguments) == 3 and arguments[0] == "image":
        make_image(arguments[1].rstrip("/"), arguments[2])
    elif len(arguments) >= 3 and arguments[0] == "run":
        run = Run(arguments[1], "--strict" in arguments)
        sys.exit(run_all(run, [word for word in arguments[2:] if word != "--strict"], extra))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
