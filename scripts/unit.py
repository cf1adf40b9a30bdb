#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the tests that need no guest and count their cases.

    unit.py all     all but the next; TESTS= selects
    unit.py quick   the same, each C test in one build, but random ones in both
    unit.py tsan [quick]     the tests of threads in build/tsan
    unit.py presets [quick]  the tests of results (tests/unit/results) under each preset
    unit.py strict [quick]   the same in mode strict, without findings (tests/strict/findings)
    unit.py lint all|part  lint.sh; part: without the checks that other parts of make check make
    unit.py docs    the documentation's: its commands in order, links, pictures
    unit.py FOLDER  tests in Python

The C tests of build/native and again, under ASan and UBSan, of build/asan; some of
build/native under valgrind, which detects decisions on uninitialised memory; the
generator's, the installation's, the scripts', the PCI device's, the debuggers' and the IGT
layer's tests in Python.
TESTS= runs only the C tests of build/native that it names (see selection.py).
Logs: out/logs/test-*.log.
"""

import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import time
from concurrent import futures

import findings
import selection
from results import Tally, parse

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build"))
OUT = pathlib.Path(os.environ.get("OUT", TOP / "out"))
RESULTS = TOP / "tests/unit/results"
LEFT_OUT = TOP / "tests/unit/tsan/left_out"
FINDINGS = TOP / "tests/strict/findings"
# Programs that open GPUs of the library, of which most are tests of results.
OF_LIBRARY = ("libpumice_*", "path_*", "scene_*")
PYTHON_TESTS = ["tests/hw", "tests/install", "tests/scripts", "tests/qemu", "tests/gdb", "tests/igt"]
# Selections of meson for the quick part. Tests of several seconds in a process of their own each, and
# those with fewer random inputs or other code under sanitizers (suites random and both), run in build/native.
QUICK = {
    "native": ["--suite", "demos", "--suite", "fuzz", "--suite", "random", "--suite", "slow", "--suite", "both"],
    "asan": ["--no-suite", "demos", "--no-suite", "slow"],
}
# Under valgrind: processing of pixels and texels by a program, and the on-chip state seen
# by a job. Each takes some ten seconds.
MEMCHECK = [
    ("pdm_own", "unit/pdm/test_pdm_own", [], {}),
    ("scene_random", "unit/scene/test_scene_random", [], {"PUMICE_SCENE": "0,6"}),
    ("fuzz_canary", "fuzz/fuzz_canary", ["faulted.bin", "reset.bin"], {}),
    ("fuzz_frame", "fuzz/fuzz_frame", ["reach-1.bin", "reach-2.bin", "reach-3.bin"], {}),
    ("fuzz_transfer", "fuzz/fuzz_transfer", ["reach-1.bin", "reach-2.bin"], {}),
]
# Instructions that valgrind translates at a time. With its default of 60, its memory for a
# translation is too small for a row of gathers, with which shaders read their coefficients.
VEX_INSNS = 20
# A report of undefined behaviour ends the test; leaks are failures.
# Shadow memory is cleared by stores rather than by new mappings, which cost more in most tests.
SANITIZERS = {"ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:clear_shadow_mmap_threshold=16777216",
              "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
              "TSAN_OPTIONS": f"suppressions={TOP}/tests/unit/tsan/suppressions.txt:"
                              "exitcode=66:history_size=7"}


def add_refused(tally, title, test, output, text, log):
    """Count a program that a preset refuses: it fails by itself, not by a signal, with the text."""
    status = test.get("returncode", 0)
    tally.add(f"{title}: {test['name']} is refused with {text}",
              test["result"] == "FAIL" and status > 0 and text in output,
              f"{test['result']} ({status}) {'with' if text in output else 'without'} {text}, "
              f"see {log}")


# A finding in the text of pumice-strict, or others for which there was no room, and a GPU in another mode.
FINDING = re.compile(r"^\d+\. ([a-z-]+)(?=,| of |$)", re.M)
LOST, UNCHECKED = ", and no room for others, ", "pumice-strict: not checked: "
# Its exit status if the command succeeds but has some: also that of a command of which three cases fail.
HAS_FINDINGS = 3


def add_strict(tally, test, output, kinds, log="build/native/meson-logs/testlog-pumice-strict.txt"):
    """
    Count a program under pumice-strict: it has findings of all these kinds and of no others. Its cases
    whose names follow "-" have no verdict.
    """
    left_out = {kind[1:] for kind in kinds if kind[0] == "-"}
    kinds = {kind for kind in kinds if kind[0] != "-"}
    cases = parse(output)[0]
    failed = [name for name, passed, _ in cases if not passed]
    bad = [name for name in failed if name not in left_out]
    unknown = left_out - {name for name, _, _ in cases}
    found = set(FINDING.findall(output)) | ({"lost"} if LOST in output else set())
    status = test.get("returncode", 0)
    if failed:
        good = test["result"] == "FAIL" and status == len(failed)
    elif found:
        good = test["result"] == "FAIL" and status == HAS_FINDINGS
    else:
        good = test["result"] in ("OK", "EXPECTEDFAIL")
    tally.add(f"strict: {test['name']}",
              good and not bad and not unknown and selection.has_findings(found, kinds) and UNCHECKED not in output,
              f"{test['result']} ({status}), {' '.join(bad) or 'no case'} failed, "
              f"{' '.join(sorted(unknown)) or 'no case'} of the list did not run, findings: "
              f"{' '.join(sorted(found)) or 'none'}, see {log}")


def meson_tests(tally, name, *selection, preset=None, refused=None, strict=None):
    """
    Run all tests of one build folder, or some; refused: {test: text that it fails with}; strict: under
    pumice-strict, {test: kinds of its findings}.

    Return the names of those that have run.
    """
    folder = BUILD / name
    environment = dict(os.environ, **SANITIZERS,
                       PUMICE_FIRMWARE=str(BUILD / "firmware/pumice_fw.bin"))
    title, results = name, folder / "meson-logs/testlog.json"
    if preset:
        environment["PUMICE_PRESET"] = title = preset
    if strict is not None:
        title, results = "strict", folder / "meson-logs/testlog-pumice-strict.json"
        selection = ("--wrapper", str(folder / "userspace/tools/pumice-strict"), *selection)
    if name != "native":
        # Time limit: the sanitizers make programs several times slower.
        factor = "5"
        # Random programs for the USC: their results are compared with more of them in build/native.
        environment.setdefault("PUMICE_TEST_PROGRAMS", "200")
    else:
        # Mode strict examines each access.
        factor = "2" if strict is None else "6"
    results.unlink(missing_ok=True)
    with open(OUT / "logs" / f"test-{title}.log", "wb") as log:
        subprocess.run(["meson", "test", "-C", str(folder), "--no-rebuild",
                        "--timeout-multiplier", factor,
                        "--num-processes", os.environ.get("JOBS", "2"), *selection],
                       env=environment, stdout=log, stderr=log, check=False)
    if not results.exists():
        tally.add(f"{title}: meson test", False, f"see out/logs/test-{title}.log")
        return set()
    ran = set()
    for line in results.read_text(encoding="utf-8").splitlines():
        test = json.loads(line)
        output = test.get("stdout", "") + "\n" + test.get("stderr", "")
        log = f"out/logs/test-{title}.log"
        name = test["name"].rpartition(" / ")[2]
        ran.add(name)
        if strict is not None:
            add_strict(tally, test, output, strict.get(name, set()))
            continue
        text = (refused or {}).get(name)
        if text:
            add_refused(tally, title, test, output, text, log)
            continue
        good = test["result"] in ("OK", "EXPECTEDFAIL")
        tally.add_output(f"{title}: {test['name']}", output, 0 if good else 1,
                         f"{test['result']}, see {log}")
    return ran


def add_missing(tally, title, expected, ran):
    """Count each test as failed that was in no run: a selection omits it, or a run has ended early."""
    for name in sorted(set(expected) - ran):
        tally.add(f"{title}: {name}", False, "it has not run")


def listed_tests(name, *words):
    """Return the names of the tests of a build folder, or of a selection of them."""
    listing = subprocess.run(["meson", "test", "-C", str(BUILD / name), "--no-rebuild", "--list", *words],
                             check=True, stdout=subprocess.PIPE, text=True).stdout
    return selection.meson_names(listing)


def native_tests():
    """Return the names of the tests of build/native."""
    return listed_tests("native")


def tests_of_threads(quick):
    """Return the names of the tests of threads, or those that no pattern of LEFT_OUT leaves out."""
    names = listed_tests("tsan", "--suite", "threads")
    for pattern, in selection.lines(LEFT_OUT) if quick else []:
        kept = [name for name in names if not fnmatch.fnmatch(name, pattern)]
        if kept == names:
            sys.exit(f"error: {LEFT_OUT}: {pattern} leaves no test out")
        names = kept
    return names


def selected():
    """Return the tests of build/native that TESTS= selects."""
    return selection.select(native_tests(), selection.words())


def is_quick(name, words):
    """Return whether the words of a row make a test of it a quick one."""
    return any(word == "quick" or word.startswith("quick=") and fnmatch.fnmatch(name, word[6:])
               for word in words)


def tests_of_results(quick):
    """Return {test: {preset that refuses it: text}}, of all tests of results or the quick ones.

    Quick are those of a row with the word quick, or with quick=PATTERN, whose names match.
    """
    tests, names = {}, native_tests()
    for pattern, *words in selection.lines(RESULTS):
        found = fnmatch.filter(names, pattern)
        if not found:
            sys.exit(f"error: {RESULTS}: no test is called {pattern}")
        for name in found:
            tests.pop(name, None)
            if not quick or is_quick(name, words):
                tests[name] = dict(word[1:].split("=", 1) for word in words if word[0] == "!")
        if any(word.startswith("quick") for word in words) and not any(
                is_quick(name, words) for name in found):
            sys.exit(f"error: {RESULTS}: of {pattern} no test is quick")
    return tests


def under_presets(tally, quick):
    """Run the tests of results under each preset."""
    tests = tests_of_results(quick)
    for preset in selection.PRESETS:
        ran = meson_tests(tally, "native", *tests, preset=preset,
                          refused={name: texts[preset] for name, texts in tests.items()
                                   if preset in texts})
        add_missing(tally, preset, tests, ran)


def strict_tests(quick):
    """
    Return {test: kinds of findings that it has in mode strict}, without those of no verdict there.

    Tests are those of results and of the library; quick: the quick ones of results.
    """
    names = native_tests()
    tests = {name: set() for name in [*tests_of_results(False),
                                      *(n for p in OF_LIBRARY for n in fnmatch.filter(names, p))]}
    for pattern, kinds in findings.expected(FINDINGS).items():
        found = fnmatch.filter(tests, pattern)
        if not found:
            sys.exit(f"error: {FINDINGS}: no test of results or of the library is called {pattern}")
        tests.update((name, kinds) for name in found)
    wanted = tests_of_results(True) if quick else tests
    return {name: kinds for name, kinds in tests.items() if name in wanted and findings.has_verdict(kinds)}


def in_mode_strict(tally, quick):
    """Run the tests of results and of the library in mode strict."""
    tests = strict_tests(quick)
    add_missing(tally, "strict", tests, meson_tests(tally, "native", *tests, strict=tests))


def logged(name, log, output, status):
    """Return the arguments of Tally.add_output(), with the output stored in a log."""
    (OUT / "logs" / log).write_text(output)
    return name, output, status, f"see out/logs/{log}"


def memcheck(name, program, files, variables):
    """Run a C test under valgrind. Without valgrind it fails."""
    corpus = TOP / "tests/fuzz/corpus" / name.removeprefix("fuzz_")
    command = ["valgrind", "--quiet", "--leak-check=no", "--track-origins=yes",
               f"--vex-guest-max-insns={VEX_INSNS}", "--error-exitcode=9",
               str(BUILD / "native/tests" / program),
               *(str(corpus / file) for file in files)]
    environment = dict(os.environ, **variables,
                       PUMICE_FIRMWARE=str(BUILD / "firmware/pumice_fw.bin"))
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True,
                              errors="replace", check=False, timeout=1800)
        output, status = done.stdout + done.stderr, done.returncode
    except (OSError, subprocess.TimeoutExpired) as error:
        output, status = str(error), 1
    return logged(f"memcheck: {name}", f"test-memcheck-{name}.log", output, status)


def python_tests(folder):
    """Run the Python tests in a folder."""
    done = subprocess.run([sys.executable, "-B", "scripts/tap-unittest.py", folder],
                          cwd=TOP, capture_output=True, text=True, errors="replace", check=False)
    return logged(folder, f"test-{folder.replace('/', '-')}.log", done.stdout + done.stderr,
                  done.returncode)


def side_by_side(tally, run, rows):
    """Run single-threaded programs, as many in parallel as there are jobs."""
    with futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for result in pool.map(lambda row: run(*row), rows):
            tally.add_output(*result)


def timed(title, run, *arguments):
    """Run with a line of output before and after; return the result."""
    start = time.monotonic()
    print(f"  … {title}", flush=True)
    result = run(*arguments)
    print(f"  ✓ {title} ({time.monotonic() - start:.0f} s)", flush=True)
    return result


def c_tests(tally, quick):
    """Run the C tests in both builds, or, if quick, each in one of them at least."""
    ran = {}
    for name, title in (("native", "unit tests"), ("asan", "unit tests under ASan and UBSan")):
        ran[name] = timed(title, meson_tests, tally, name, *(QUICK[name] if quick else []))
        if not quick:
            add_missing(tally, name, native_tests(), ran[name])
    if quick:
        add_missing(tally, "quick", native_tests(), ran["native"] | ran["asan"])


def main():
    """Run everything, then print the count."""
    (OUT / "logs").mkdir(parents=True, exist_ok=True)
    if sys.argv[1:2] == ["tsan"]:
        tally = Tally("tsan")
        names = tests_of_threads(sys.argv[2:] == ["quick"])
        add_missing(tally, "tsan", names, timed("tests of threads", meson_tests, tally, "tsan", *names))
        sys.exit(tally.close())
    if sys.argv[1:2] == ["presets"]:
        tally = Tally("presets")
        timed("tests of results under each preset", under_presets, tally,
              sys.argv[2:] == ["quick"])
        sys.exit(tally.close())
    if sys.argv[1:2] == ["strict"]:
        tally = Tally("strict")
        timed("tests of results in mode strict", in_mode_strict, tally, sys.argv[2:] == ["quick"])
        sys.exit(tally.close())
    if sys.argv[1:2] == ["lint"]:
        tally = Tally("lint")
        done = subprocess.run([TOP / "scripts/lint.sh", sys.argv[2]], stdout=subprocess.PIPE,
                              text=True, errors="replace", check=False)
        tally.add_output("lint", done.stdout, done.returncode, "see out/logs/lint-*.log")
        sys.exit(tally.close())
    if sys.argv[1:] == ["docs"]:
        tally = Tally("docs")
        timed("tests of the documentation", side_by_side, tally, python_tests, [("tests/docs",)])
        sys.exit(tally.close())
    tally = Tally("unit")
    folders, quick = sys.argv[1:], sys.argv[1:] == ["quick"]
    if quick or folders == ["all"]:
        folders = []
    if not folders and selection.words():
        timed("unit tests", meson_tests, tally, "native", *selected())
        sys.exit(tally.close())
    if not folders:
        c_tests(tally, quick)
        timed("unit tests under valgrind", side_by_side, tally, memcheck, MEMCHECK)
    folders = folders or PYTHON_TESTS
    timed(f"tests in {', '.join(folders)}", side_by_side, tally, python_tests,
          [(folder,) for folder in folders])
    sys.exit(tally.close())


if __name__ == "__main__":
    main()
