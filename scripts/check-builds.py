#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compile everything native with warnings as errors, by several compilers.

GPU core, library, tools, demos and tests, and the firmware, in a root folder of
Debian 13 with its GCC and its clang; the device in QEMU by this machine's compiler. Each
is a case. A few unit tests are linked and run as they come from there, and the programs of the
firmware processor's tests are linked; the others are compiled only: unit.py runs them all.

PUMICE_QEMU= is the QEMU to build, as for run-guest.py.

Build folders: build/trixie-gcc, build/trixie-clang. Logs: out/logs/trixie-*.log.
"""

import os
import pathlib
import subprocess

from results import Tally

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build"))
OUT = pathlib.Path(os.environ.get("OUT", TOP / "out"))
SUITE = "trixie"
# By name: C and C++ compiler, options of meson, settings of the firmware's
# Makefile. GCC has more warnings with optimisation, as in users' builds;
# clang has the same at any level, so the fastest level is used.
COMPILERS = {
    "gcc": (["gcc", "g++"], ["-Ddebug=false", "-Doptimization=2"],
            ["CC=riscv64-unknown-elf-gcc"]),
    "clang": (["clang", "clang++"], ["-Ddebug=false", "-Doptimization=0"],
              ["CC=clang --target=riscv32-unknown-elf"]),
}
SMOKE = ["tests/unit/fwcpu/test_fwcpu_encoding", "tests/unit/mmu/test_mmu_walk"]
# By the root's compilers for RISC-V, whatever the compiler of the others is.
WORKLOADS = [f"tests/unit/fwcpu/workload_{name}-{level}.elf"
             for name in ("gcc", "clang") for level in ("O0", "O2", "Os")]


def run(command, **environment):
    """Run a command that does its own logging; return its success."""
    return subprocess.run(command, cwd=TOP, check=False,
                          env=dict(os.environ, WERROR="1", **environment)).returncode == 0


def native(tally, root, name):
    """Build the native parts and the firmware with one compiler; run the smoke tests."""
    (cc, cxx), options, firmware = COMPILERS[name]
    folder = f"{SUITE}-{name}"
    where = f"see out/logs/{folder}.log"
    built = run(["scripts/build-native.sh", folder, *options],
                NATIVE_ROOT=root, CC=cc, CXX=cxx, OBJECTS="1", TARGETS=" ".join(SMOKE + WORKLOADS))
    tally.add(f"{folder}: native parts", built, where)
    inside = ["scripts/build-root.sh", "run", root]
    tally.add(f"{folder}: firmware", run(
        ["scripts/step.sh", f"{folder}-firmware", f"building the firmware ({folder})", *inside,
         "make", "-C", TOP / "firmware", f"O={BUILD / folder}-firmware", f"GEN={BUILD / 'gen'}",
         "WERROR=1", *firmware]), f"see out/logs/{folder}-firmware.log")
    for test in SMOKE if built else []:
        done = subprocess.run([*inside, BUILD / folder / test], cwd=TOP, capture_output=True,
                              text=True, check=False)
        tally.add_output(f"{folder}: {test}", done.stdout + done.stderr, done.returncode)


def main():
    """Run all compilers, then print the count."""
    tally = Tally("builds")
    made = subprocess.run(["scripts/build-root.sh", "native", SUITE], cwd=TOP, check=False,
                          stdout=subprocess.PIPE, text=True)
    if made.returncode == 0:
        for name in COMPILERS:
            native(tally, made.stdout.strip(), name)
    else:
        tally.add(f"{SUITE}: a root folder to build in", False, "see out/logs/build-root-*.log")
    qemu = os.environ.get("PUMICE_QEMU") or BUILD / "qemu/qemu-system-x86_64"
    tally.add("qemu: the device", run(["scripts/build-qemu.sh", qemu]),
              "see out/logs/qemu*.log")
    raise SystemExit(tally.close())


if __name__ == "__main__":
    main()
