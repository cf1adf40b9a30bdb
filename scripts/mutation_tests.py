# SPDX-License-Identifier: MIT
"""How mutations.py builds and runs the test that a mutation names.

    unit/TEST/CASE        TEST of meson's list, built and run on this machine
    kunit/SUITE/CASE      KUnit of the driver, in a guest on the small kernel
    guest/PROGRAM/CASE    tests/guest, the same
    igt/PROGRAM/SUBTEST   tests/igt, the same; with the device and the clock that igt.py gives
                          the program

A runner has build(mutation), which brings what the test needs up to date in the copy of
the sources, and run(mutation): ({case: good}, why the run ended badly, or ""). Both raise
Failure when they cannot say anything about the test, also when the time is up that the
harness allows: a test that hangs has to end by a limit of its own. A guest that ended without
a report of its kernel, one that QEMU's own end took along for example, is such a Failure, too.

QEMU and the programs in the guest are those of the work tree itself: no mutation of the
driver or the firmware changes them.
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
# As often as this may a test take its own time limit: others use the machine, too.
PATIENCE = 4
MESON_SECONDS = 30
GUEST_SECONDS = 420
PROGRAM_SECONDS = 200
GUEST = "mutation"
# What a subtest that fails ends with: by an assertion, by an abort, by a signal. The last one
# is no failure where it is the harness's own limit.
IGT_FAILURE, IGT_ABORT, SIGNALED = 98, 112, 128
KILLED = SIGNALED + signal.SIGKILL
# A reset of the GPU that no subtest announces: igt_runner would make its result a dmesg-warn.
RESET = "resetting the GPU: "
ANNOUNCED = re.compile(r"\[IGT\] add ignored dmesg regex: (.*)")
# In the place of a case's name in a row that is being written: the run names those that fail.
UNKNOWN = "?"
DIED = 125

KUNIT_JOB = """\
modprobe pumice
cat /sys/kernel/debug/kunit/{program}/results >/host/test.tap
"""
GUEST_JOB = """\
modprobe pumice job_timeout_ms=30000 || exit 1
timeout -s KILL {seconds} {program} {case} >/host/test.tap 2>&1
echo $? >/host/test.status
"""
IGT_JOB = """\
modprobe pumice || exit 1
timeout -s KILL {seconds} {folder}/{program} --run-subtest {case} >/tmp/test.tap 2>&1
echo $? >/tmp/test.status
cp /tmp/test.tap /tmp/test.status /host
"""


class Failure(Exception):
    """Nothing can be said about the test."""


def call(command, seconds, **options):
    """(status, output) of a command; its whole process group ends with the time."""
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
    """What to show of a failed build: its first line with an error, or its last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    bad = [line for line in lines if pattern in line]
    return (bad or lines or ["no output"])[0 if bad else -1][:160]


def cases_of(output):
    """{case: good}; of a case that runs several times, each time counts."""
    cases = {}
    for name, good, _ in results.parse(output)[0]:
        cases[name] = good and cases.get(name, True)
    return cases


def unannounced_resets(log):
    """The lines of a kernel's log by which the driver reports a reset and no subtest does."""
    # Python warns of "[[", which POSIX allows.
    announced = [re.compile(regex.replace("[[]", r"\[")) for regex in ANNOUNCED.findall(log)]
    return [line for line in log.splitlines()
            if RESET in line and not ANNOUNCED.search(line)
            and not any(regex.search(line) for regex in announced)]


class Builder:
    """Commands in the copy, with its own build folder."""

    def __init__(self, tree):
        self.tree = tree
        self.build = tree / "build"
        self.environment = dict(os.environ, BUILD=str(self.build), OUT=str(tree / "out"))
        # A mutation may leave something unused.
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
    """Tests of meson's list."""

    def __init__(self, builder):
        self.builder = builder
        self.folder = builder.build / "native"
        self.ready = False
        self.tests = {}

    def prepare(self):
        """Configure, and learn which targets each test needs."""
        self.ready = True
        self.builder.command("make", "-s", "gen")
        self.builder.command("scripts/build-native.sh", "native", "--buildtype=debugoptimized",
                             TARGETS="build.ninja")
        files = {target["id"]: target["filename"] for target in self.introspect("targets")}
        for test in self.introspect("tests"):
            wanted = [os.path.relpath(path, self.folder) for depend in test["depends"]
                      for path in files[depend]]
            self.tests[test["name"]] = dict(test, wanted=wanted)

    def introspect(self, what):
        """One of meson's lists."""
        path = self.folder / f"meson-info/intro-{what}.json"
        return json.loads(path.read_text("utf-8"))

    def find(self, mutation):
        """The test's entry."""
        if not self.ready:
            self.prepare()
        if mutation.program not in self.tests:
            raise Failure(f"meson has no test {mutation.program}")
        return self.tests[mutation.program]

    def build(self, mutation):
        """The test's own program and what it names in its list, firmware included."""
        self.builder.command("scripts/build-native.sh", "native",
                             TARGETS=" ".join(self.find(mutation)["wanted"]))

    def run(self, mutation):
        """All cases of the program: cmocka chooses none by name."""
        test = self.find(mutation)
        limit = (test.get("timeout") or MESON_SECONDS) * PATIENCE
        status, output = call(test["cmd"], limit, cwd=test["workdir"] or self.folder,
                              env=dict(self.builder.environment, **test["env"]))
        cases = cases_of(output)
        if status is None:
            # Meson's limit is the test's own.
            return cases, f"{mutation.program} is not done after {limit} s"
        bad = status and all(cases.values())
        return cases, f"{mutation.program} ends with status {status}" if bad else ""


class Guest:
    """KUnit, tests/guest and tests/igt on the small kernel."""

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
        """Kernel, headers; once."""
        self.ready = True
        self.builder.command("make", "-s", "gen", self.builder.build / "kernel/.fast")
        self.image.parent.mkdir(parents=True, exist_ok=True)

    def build(self, mutation):
        """Firmware, the module that the test needs, and the guest's image."""
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

    def run(self, mutation):
        """Boot a guest with one test."""
        kind = mutation.kind
        text = {"kunit": KUNIT_JOB, "guest": GUEST_JOB, "igt": IGT_JOB}[kind]
        job = self.image.with_suffix(".job")
        job.write_text(text.format(program=mutation.program, case=mutation.case, folder=igt.FOLDER,
                                   seconds=PROGRAM_SECONDS))
        images = [self.image, self.programs / "programs.cpio"]
        images += [self.programs / "igt.cpio"] if kind == "igt" else []
        command = ["scripts/run-guest.py", GUEST, "--kernel", self.builder.build / "kernel/fast",
                   "--job", job, "--timeout", GUEST_SECONDS, "--qemu", self.qemu]
        for image in images:
            command += ["--image", image]
        command += self.special(mutation)
        status, output = call(command, GUEST_SECONDS + 60, cwd=self.builder.tree,
                              env=self.builder.environment)
        out = self.builder.tree / "out"
        return self.judge(mutation, status, output, out / "guest" / GUEST,
                          out / f"logs/{GUEST}-console.log")

    @staticmethod
    def special(mutation):
        """The options of run-guest.py by which igt.py runs this program."""
        part = igt.PART.get(mutation.program) if mutation.kind == "igt" else None
        options = ["--own-time"] if part in igt.OWN_TIME else []
        return options + (["--device", igt.DEVICE[part]] if part in igt.DEVICE else [])

    @staticmethod
    def kernel_fault(share, console):
        """The first line by which the guest's kernel reports a fault after the job began."""
        if not (share / "job.log").exists():
            return None
        logs = [log.read_text(errors="replace") for log in (console, share / "dmesg")
                if log.exists()]
        return next((line for log in logs for line in kernel_faults.in_log(log)), None)

    @classmethod
    def judge(cls, mutation, status, output, share, console):
        """What the guest left."""
        tap, ended = share / "test.tap", share / "test.status"
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
            resets = unannounced_resets(log.read_text(errors="replace")) if log.exists() else []
            return {mutation.case: code == 0 and not resets}, ""
        cases = cases_of(text)
        if not cases or (mutation.case not in cases and mutation.case != UNKNOWN):
            raise Failure(f"{mutation.program} (status {code}) has no result of {mutation.case}")
        return cases, ""


def runners(tree, build):
    """{kind: runner}."""
    builder = Builder(pathlib.Path(tree))
    guest = Guest(builder, pathlib.Path(build))
    return {"unit": Unit(builder), "kunit": guest, "guest": guest, "igt": guest}
