# SPDX-License-Identifier: MIT
"""Build and run the test that a mutation names, for mutations.py.

    unit/TEST/CASE        TEST of meson's list, built and run on this machine
    kunit/SUITE/CASE      KUnit of the driver, in a guest on the small kernel
    guest/PROGRAM/CASE    tests/guest, the same
    igt/PROGRAM/SUBTEST   tests/igt, the same; with the device and the clock that igt.py gives
                          the program

A runner has build(mutation), which updates the test's dependencies in the copy of the
sources, and run(mutation): ({case: good}, reason of an abnormal end, or ""). Both raise
Failure if there is no verdict on the test, also when the time limit of the harness has
expired: a test that hangs must end by its own limit. A guest that ended without a
report of its kernel, for example because QEMU itself ended, is also such a Failure.

QEMU and the programs in the guest are those of the work tree
itself: no mutation of the driver or the firmware affects them.
"""

import json
import os
import pathlib
import re
import signal
import subprocess

import igt
import kernel_faults
import results

BUILD_SECONDS = 1800
# Factor on a test's own time limit, since the machine is shared with other processes.
PATIENCE = 4
MESON_SECONDS = 30
GUEST_SECONDS = 420
PROGRAM_SECONDS = 200
GUEST = "mutation"
# Exit codes of a failed subtest: by an assertion, by an abort, by a
# signal. The last one is not a failure if it is the harness's own limit.
IGT_FAILURE, IGT_ABORT, SIGNALED = 98, 112, 128
KILLED = SIGNALED + signal.SIGKILL
# A reset of the GPU that no subtest announces: igt_runner would make its result a dmesg-warn.
RESET = "resetting the GPU: "
ANNOUNCED = re.compile(r"\[IGT\] add ignored dmesg regex: (.*)")
# Replaces a case's name in a row under construction: the run lists the failing cases.
UNKNOWN = "?"
# Loaded into tests of kind unit; selects cases of cmocka by PUMICE_CASE.
FILTER = "tests/mutations/case_filter.c"
DIED = 125

# The lines of a guest's job for each of its tests, which have numbers from 0. Each begins with a new
# driver and a mark in the kernel's log, so that a test has the same conditions alone and after others.
MARK = "mutation test "
BEGIN = (f"echo '{MARK}{{number}}' >/dev/kmsg\n"
         "modprobe -r pumice kunit 2>/dev/null\n"
         "echo 1 >/sys/bus/pci/rescan\n")
LINES = {
    "kunit": "modprobe kunit filter_glob={only}\n"
             "modprobe pumice\n"
             "cat /sys/kernel/debug/kunit/{program}/results >/host/{number}.tap\n",
    "guest": "modprobe pumice job_timeout_ms=30000 || exit 1\n"
             "timeout -s KILL {seconds} {program} {case} >/host/{number}.tap 2>&1\n"
             "echo $? >/host/{number}.status\n",
    "igt": "modprobe pumice || exit 1\n"
           "timeout -s KILL {seconds} {folder}/{program} --run-subtest {case} >/tmp/{number}.tap 2>&1\n"
           "echo $? >/tmp/{number}.status\n"
           "cp /tmp/{number}.tap /tmp/{number}.status /host\n",
}
# Tests that one guest runs without a mutation, and what each adds to its time limit, in seconds.
TOGETHER, MORE_SECONDS = 25, 20


class Failure(Exception):
    """There is no verdict on the test."""


def call(command, seconds, **options):
    """Return (status, output) of a command; a time-out ends its whole process group."""
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, start_new_session=True, **options) as child:
        try:
            output, _ = child.communicate(timeout=seconds)
        except BaseException as problem:
            os.killpg(child.pid, signal.SIGKILL)
            output, _ = child.communicate()
            if isinstance(problem, subprocess.TimeoutExpired):
                return None, output
            raise
    return child.returncode, output


def last_lines(output, pattern="error"):
    """Return the line to show of a failed build: the first with an error, or the last."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    bad = [line for line in lines if pattern in line]
    return (bad or lines or ["no output"])[0 if bad else -1][:160]


def cases_of(output):
    """Return {case: good}; a case that runs several times must pass each time."""
    cases = {}
    for name, good, _ in results.parse(output)[0]:
        cases[name] = good and cases.get(name, True)
    return cases


def unannounced_resets(log):
    """Find the log lines of GPU resets that no subtest announced."""
    # Python warns of "[[", which POSIX allows.
    announced = [re.compile(regex.replace("[[]", r"\[")) for regex in ANNOUNCED.findall(log)]
    return [line for line in log.splitlines()
            if RESET in line and not ANNOUNCED.search(line)
            and not any(regex.search(line) for regex in announced)]


def part_of_log(log, number):
    """Return the part of a kernel's log that is of a test, from its mark to the next. Failure without the mark,
    as the log has lost lines then."""
    _, mark, after = log.partition(f"{MARK}{number}\n")
    if not mark:
        raise Failure(f"the guest's log has no mark of its test {number}")
    return after.partition(MARK)[0]


def job_of(mutations):
    """Return the job of a guest that runs the tests of mutations, of one kind."""
    return "".join((BEGIN + LINES[m.kind]).format(
        number=number, program=m.program, case=m.case, folder=igt.FOLDER, seconds=PROGRAM_SECONDS,
        only="*" if m.case == UNKNOWN else f"{m.program}.{m.case}") for number, m in enumerate(mutations))


class Builder:
    """Runs commands in the copy, with its own build folder."""

    def __init__(self, tree):
        self.tree = tree
        self.build = tree / "build"
        self.environment = dict(os.environ, BUILD=str(self.build), OUT=str(tree / "out"))
        # A mutation may cause unused code.
        self.environment.pop("WERROR", None)

    def command(self, *command, **more):
        """Run one; Failure when it fails."""
        status, output = call(command, BUILD_SECONDS, cwd=self.tree,
                              env=dict(self.environment, **more))
        if status is None:
            raise Failure(f"not built in {BUILD_SECONDS} s")
        if status:
            raise Failure(last_lines(output))
        return output


class Unit:
    """Runner of tests of meson's list."""

    def __init__(self, builder):
        self.builder = builder
        self.folder = builder.build / "native"
        self.filter = builder.build / "case_filter.so"
        self.ready = False
        self.tests = {}

    def prepare(self):
        """Configure, and read which targets each test needs."""
        self.ready = True
        self.builder.command("make", "-s", "gen")
        self.builder.command("scripts/build-native.sh", "native", "--buildtype=debugoptimized",
                             TARGETS="build.ninja")
        self.builder.command("cc", "-shared", "-fPIC", "-O1", "-o", self.filter, FILTER)
        files = {target["id"]: target["filename"] for target in self.introspect("targets")}
        for test in self.introspect("tests"):
            wanted = [os.path.relpath(path, self.folder) for depend in test["depends"]
                      for path in files[depend]]
            self.tests[test["name"]] = dict(test, wanted=wanted)

    def introspect(self, what):
        """Read one of meson's lists."""
        path = self.folder / f"meson-info/intro-{what}.json"
        return json.loads(path.read_text("utf-8"))

    def find(self, mutation):
        """Find the test's entry."""
        if not self.ready:
            self.prepare()
        if mutation.program not in self.tests:
            raise Failure(f"meson has no test {mutation.program}")
        return self.tests[mutation.program]

    def build(self, mutation):
        """Build the test's own program and its dependencies, firmware included."""
        self.builder.command("scripts/build-native.sh", "native",
                             TARGETS=" ".join(self.find(mutation)["wanted"]))

    def run(self, mutation):
        """Run the case, or all cases of a program that does not select them by cmocka."""
        test = self.find(mutation)
        select = {} if mutation.case == UNKNOWN else {
            "PUMICE_CASE": mutation.case, "LD_PRELOAD": str(self.filter)}
        limit = (test.get("timeout") or MESON_SECONDS) * PATIENCE
        status, output = call(test["cmd"], limit, cwd=test["workdir"] or self.folder,
                              env=dict(self.builder.environment, **test["env"], **select))
        cases = cases_of(output)
        if status is None:
            # Return the test's own limit, set in meson.
            return cases, f"{mutation.program} is not done after {limit} s"
        bad = status and all(cases.values())
        return cases, f"{mutation.program} ends with status {status}" if bad else ""


class Guest:
    """Runner of KUnit, tests/guest and tests/igt on the small kernel."""

    def __init__(self, builder, build):
        self.builder = builder
        self.programs = build / "guest"
        self.qemu = os.environ.get("PUMICE_QEMU") or str(build / "qemu/qemu-system-x86_64")
        self.firmware = builder.build / "firmware/pumice_fw.bin"
        self.module = builder.build / "module/fast.ko"
        self.kunit = builder.build / "module/kunit.ko"
        self.image = builder.build / "guest/mutation.cpio"
        self.ready = False

    def prepare(self):
        """Prepare kernel and headers; once."""
        self.ready = True
        self.builder.command("make", "-s", "gen", self.builder.build / "kernel/.fast")
        self.image.parent.mkdir(parents=True, exist_ok=True)

    def build(self, mutation):
        """Build firmware, the module that the test needs, and the guest's image."""
        kunit = mutation.kind == "kunit"
        kernel = self.builder.build / "kernel/fast"
        if not self.ready:
            self.prepare()
        self.builder.command("make", "-s", "firmware")
        product = self.kunit if kunit else self.module
        product.parent.mkdir(parents=True, exist_ok=True)
        self.builder.command("scripts/build-module.sh", kernel, product,
                             *(["CONFIG_DRM_PUMICE_KUNIT_TEST=y"] if kunit else []),
                             MODULE_WORK=str(product.with_suffix("")))
        self.builder.command("scripts/make-image.py", "base", self.image, "--kernel", kernel,
                             "--module", product, "--firmware", self.firmware)

    def boot(self, mutations):
        """Run the tests of mutations of one kind in a guest; return (status, output)."""
        kind = mutations[0].kind
        seconds = GUEST_SECONDS + MORE_SECONDS * (len(mutations) - 1)
        job = self.image.with_suffix(".job")
        job.write_text(job_of(mutations))
        images = [self.image, self.programs / "programs.cpio"]
        images += [self.programs / "igt.cpio"] if kind == "igt" else []
        command = ["scripts/run-guest.py", GUEST, "--kernel", self.builder.build / "kernel/fast",
                   "--job", job, "--timeout", seconds, "--qemu", self.qemu]
        for image in images:
            command += ["--image", image]
        command += self.special(mutations[0])
        return call(command, seconds + 60, cwd=self.builder.tree, env=self.builder.environment)

    def read(self, mutation, number, status, output):
        """Return the result of a test by its number in the guest that boot() has run."""
        out = self.builder.tree / "out"
        return self.evaluate(mutation, status, output, out / "guest" / GUEST,
                             out / f"logs/{GUEST}-console.log", number)

    def run(self, mutation):
        """Boot a guest with one test."""
        return self.read(mutation, 0, *self.boot([mutation]))

    def passed_together(self, mutations):
        """Return those of the tests, of one kind and with the same device, each of one of the mutations,
        that pass one after the other in a guest. Others may still pass alone."""
        self.build(mutations[0])
        passed = set()
        for begin in range(0, len(mutations), TOGETHER):
            group = mutations[begin:begin + TOGETHER]
            result = self.boot(group)
            for number, m in enumerate(group):
                try:
                    cases, _ = self.read(m, number, *result)
                except Failure:
                    continue
                if cases.get(m.case):
                    passed.add(m.test)
        return passed

    @staticmethod
    def special(mutation):
        """Return the options of run-guest.py with which igt.py runs this program."""
        part = igt.PART.get(mutation.program) if mutation.kind == "igt" else None
        options = ["--own-time"] if part in igt.OWN_TIME else []
        return options + (["--device", igt.DEVICE[part]] if part in igt.DEVICE else [])

    @staticmethod
    def kernel_fault(share, console):
        """Find the first line with a fault of the guest's kernel after the start of the job."""
        if not (share / "job.log").exists():
            return None
        logs = [log.read_text(errors="replace") for log in (console, share / "dmesg")
                if log.exists()]
        return next((line for log in logs for line in kernel_faults.in_log(log)), None)

    @classmethod
    def evaluate(cls, mutation, status, output, share, console, number=0):
        """Read a result file of the guest."""
        tap, ended = share / f"{number}.tap", share / f"{number}.status"
        text = tap.read_text(errors="replace") if tap.exists() else ""
        code = int(ended.read_text()) if ended.exists() and ended.read_text().strip() else None
        fault = cls.kernel_fault(share, console) if status == DIED else None
        if fault:
            return {}, f"the guest's kernel reports a fault: {fault}"
        if status:
            raise Failure(f"the guest ended with status {status}: {last_lines(output)}")
        if mutation.kind == "igt":
            failed = code in (IGT_FAILURE, IGT_ABORT) or (code or 0) > SIGNALED
            if code == KILLED or not (failed or code == 0):
                raise Failure(f"{mutation.program} ended with status {code}")
            log = share / "dmesg"
            resets = unannounced_resets(part_of_log(
                log.read_text(errors="replace") if log.exists() else "", number))
            return {mutation.case: code == 0 and not resets}, ""
        cases = cases_of(text)
        if not cases or (mutation.case not in cases and mutation.case != UNKNOWN):
            raise Failure(f"{mutation.program} (status {code}) has no result of {mutation.case}")
        return cases, ""


def runners(tree, build):
    """Return {kind: runner}."""
    builder = Builder(pathlib.Path(tree))
    guest = Guest(builder, pathlib.Path(build))
    return {"unit": Unit(builder), "kunit": guest, "guest": guest, "igt": guest}
