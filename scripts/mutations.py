#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Build seeded errors into a copy of the sources and have the tests find them.

    mutations.py              all mutations of tests/mutations/*.toml
    mutations.py --handful    those that make check runs
    mutations.py --check      only whether every mutation can still be applied
    mutations.py PATTERN…     those whose name or file matches (shell patterns; a folder's
                              name matches what is in it)
    --shard I/N               of those, every N-th from the I-th on, counted from 1

Each mutation replaces one text in one file and names the test that has to fail
(tests/mutations/README.md). The named tests run once without any mutation first. A
mutation is caught when its build succeeds and its test fails; everything else is a
failure of this run: the test passes, the build fails, the time is up.

The copy is in build/mutations/tree and keeps its build folders; every run makes it equal
to this work tree first, so that one that was interrupted leaves no trace. The table is
out/mutations.txt; it also has the results of earlier runs, with the commit they were made on,
of rows that have not changed since. Its total keeps them apart.
"""

import argparse
import fcntl
import fnmatch
import hashlib
import json
import os
import pathlib
import re
import signal
import sys
import time
import tomllib

import results
import sources
from mutation_programs import Programs, words
from mutation_tests import UNKNOWN, Failure, runners

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build"))
LISTS = TOP / "tests/mutations"
KEYS = {"name", "file", "old", "new", "test"}
OPTIONAL = {"handful"}
# Kinds of tests for mutations of a folder: see mutation_tests.py.
KINDS = [
    ("drivers/", {"kunit", "guest", "igt"}),
    ("firmware/", {"unit", "guest", "igt"}),
    ("qemu-device/gpu/", {"unit"}),
    ("userspace/", {"unit"}),
    ("hw/", {"unit"}),
    ("tests/bench/", {"unit"}),
    ("scripts/bench_growth.py", {"unit"}),
]
# Sources that contain the names of cases.
TEST_SOURCES = ["tests", "drivers/gpu/drm/pumice/tests"]


class Mutation:
    """One replaced text and the test that must fail."""

    def __init__(self, row, source):
        missing, unknown = KEYS - set(row), set(row) - KEYS - OPTIONAL
        if missing or unknown:
            raise ValueError(f"{source}: {row.get('name', '?')}: "
                             f"missing {sorted(missing)}, unknown {sorted(unknown)}")
        self.name, self.file, self.test = row["name"], row["file"], row["test"]
        self.old, self.new = row["old"].strip("\n"), row["new"].strip("\n")
        self.handful = row.get("handful", False)
        edit = "\0".join((self.file, self.old, self.new, self.test))
        self.digest = hashlib.sha256(edit.encode()).hexdigest()[:16]
        kind, *rest = self.test.split("/")
        if len(rest) != 2:
            raise ValueError(f"{source}: {self.name}: a test is KIND/PROGRAM/CASE")
        self.kind, (self.program, self.case) = kind, rest

    def problem(self, top, cases):
        """Return why it cannot be applied to the sources in top, or None."""
        path = top / self.file
        kinds = next((kinds for folder, kinds in KINDS if self.file.startswith(folder)), set())
        if self.kind not in kinds:
            return f"{self.file} is not tested by tests of kind {self.kind}"
        if not path.is_file():
            return f"there is no {self.file}"
        found = path.read_text(encoding="utf-8").count(self.old)
        if found != 1:
            return f"its old text occurs {found} times in {self.file}, not once"
        if self.old == self.new:
            return "its new text is the old one"
        if self.case not in cases:
            return f"no test has a case {self.case}"
        return None

    def matches(self, patterns):
        """Return whether its name or file is selected."""
        return not patterns or any(
            fnmatch.fnmatchcase(text, pattern) for pattern in patterns
            for text in (self.name, self.file, *(str(p) for p in pathlib.Path(self.file).parents)))


def load(folder=LISTS):
    """Return all mutations, in the order of files and rows."""
    found = []
    for path in sorted(folder.glob("*.toml")):
        with open(path, "rb") as stream:
            found += [Mutation(row, path.name) for row in tomllib.load(stream)["mutation"]]
    names = [mutation.name for mutation in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"two mutations have the name {', '.join(twice)}")
    return found


def words_of_tests(top=TOP):
    """Return all words in the sources of tests: a case's name must be one of them."""
    found = set()
    for folder in TEST_SOURCES:
        for path in (top / folder).rglob("*"):
            if path.suffix in (".c", ".py", ".sh"):
                found |= words(path.read_text(encoding="utf-8"))
    return found


def check(mutations, top=TOP):
    """Return {name: problem} of those that cannot be applied."""
    cases, programs = words_of_tests(top), Programs(top)
    found = {}
    for m in mutations:
        found[m.name] = m.problem(top, cases)
        if not found[m.name] and m.kind == "unit":
            found[m.name] = programs.problem(m.program, m.case)
    return {name: problem for name, problem in found.items() if problem}


class Tree:
    """The copy of the sources that mutations are built in."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.lock = open(folder.parent / f"{folder.name}.lock", "w", encoding="ascii")
        fcntl.flock(self.lock, fcntl.LOCK_EX)

    def sync(self, source=TOP):
        """Make it equal to source; only differing files are written, and so rebuilt."""
        names = set(sources.files(source))
        for name in names:
            self.copy(source / name, self.folder / name)
        listing = self.folder.parent / f"{self.folder.name}.files"
        before = set(listing.read_text("utf-8").split("\n")) if listing.exists() else set()
        for name in before - names - {""}:
            (self.folder / name).unlink(missing_ok=True)
        listing.write_text("\n".join(sorted(names)), encoding="utf-8")

    @staticmethod
    def copy(source, target):
        """Copy a file or link if it differs."""
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            if not target.is_symlink() or os.readlink(target) != os.readlink(source):
                target.unlink(missing_ok=True)
                target.symlink_to(os.readlink(source))
            return
        data, mode = source.read_bytes(), source.stat().st_mode
        if not target.is_file() or target.read_bytes() != data:
            target.write_bytes(data)
        if target.stat().st_mode != mode:
            target.chmod(mode)

    def replace(self, mutation, old, new):
        """Replace one text of the mutation's file by another; it must occur exactly once."""
        path = self.folder / mutation.file
        text = path.read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise Failure(f"its text occurs {text.count(old)} times in {mutation.file}")
        path.write_text(text.replace(old, new), encoding="utf-8")

    def apply(self, mutation):
        """Apply the mutation; returns the state that undo() needs."""
        original = (self.folder / mutation.file).read_bytes()
        self.replace(mutation, mutation.old, mutation.new)
        return original

    def undo(self, mutation, original):
        """Restore the original file."""
        (self.folder / mutation.file).write_bytes(original)


def evaluate(case, cases, why):
    """Return (caught, explanation) of a run: {case: good} and the reason of its end.

    A run that ended abnormally before the case's result counts as a failure of that
    case: it was the only case that ran, or its program crashed. An abnormal end after
    the case had passed does not count. The harness's own time limit is handled before.
    """
    failed = sorted(name for name, good in cases.items() if not good)
    if case in cases and not cases[case]:
        others = len(failed) - 1
        return True, f"{case} fails" + (f", and {others} more" if others else "")
    if why and case not in cases:
        return True, why
    if why:
        return False, f"{case} passes; {why}"
    if failed:
        return False, f"{case} passes; these fail: {', '.join(failed)}"
    return False, f"{case} passes"


class Run:
    """Runs baselines and mutations, one after the other."""

    def __init__(self, tree, kinds):
        self.tree = tree
        self.runners = kinds
        self.baseline = {}

    def test(self, mutation):
        """Return ({case: good}, reason of an abnormal end) of its test in the unmodified tree."""
        return self.runners[mutation.kind].run(mutation)

    def together(self, mutations):
        """Run the tests of guests without a mutation, many in each guest, since a boot takes longer than
        most of them. sound() runs those alone that did not pass."""
        groups = {}
        for m in mutations:
            runner = self.runners[m.kind]
            if hasattr(runner, "passed_together") and m.case != UNKNOWN:
                groups.setdefault((m.kind, *runner.special(m)), {})[m.test] = m
        for (kind, *_), tests in groups.items():
            if len(tests) == 1:
                continue
            try:
                for test in self.runners[kind].passed_together(list(tests.values())):
                    self.baseline[test] = None
            except Failure as failure:
                print(f"note: tests of kind {kind} run alone: {failure}", flush=True)

    def sound(self, mutation):
        """Return None if its test passes without it, else the reason; cached for each test."""
        if mutation.test not in self.baseline:
            try:
                self.runners[mutation.kind].build(mutation)
                cases, why = self.test(mutation)
            except Failure as failure:
                cases, why = {}, str(failure)
            if mutation.case == UNKNOWN:
                why = why or ("a case fails" if not all(cases.values()) else "")
            elif not why and not cases.get(mutation.case):
                why = "it fails" if mutation.case in cases else "it has no such case"
            self.baseline[mutation.test] = why and f"without the mutation: {why}"
        return self.baseline[mutation.test]

    def one(self, mutation):
        """Return (outcome, explanation) of one mutation."""
        why = self.sound(mutation)
        if why:
            return "no baseline", why
        original = self.tree.apply(mutation)
        try:
            try:
                self.runners[mutation.kind].build(mutation)
            except Failure as failure:
                return "not built", str(failure)
            caught, why = evaluate(mutation.case, *self.test(mutation))
            return ("caught" if caught else "SURVIVED"), why
        except Failure as failure:
            return "no result", str(failure)
        finally:
            self.tree.undo(mutation, original)


class Table:
    """The stored result of each mutation; written after each, read by the next run."""

    def __init__(self, folder, mutations):
        self.json = folder / "mutations.json"
        self.text = folder / "mutations.txt"
        self.mutations = mutations
        self.rows = json.loads(self.json.read_text("utf-8")) if self.json.exists() else {}
        self.commit = sources.commit(TOP)

    def add(self, mutation, outcome, why, seconds):
        """Store one result."""
        self.rows[mutation.name] = {"outcome": outcome, "why": why, "commit": self.commit,
                                    "edit": mutation.digest, "seconds": round(seconds)}
        self.write()

    def row(self, mutation):
        """Return the stored result of an unchanged mutation, or None."""
        row = self.rows.get(mutation.name)
        return row if row and row.get("edit") == mutation.digest else None

    def line(self, mutation):
        """Return the columns of one mutation."""
        row = self.row(mutation)
        if not row:
            return (mutation.name, mutation.file, "not run", "", "", mutation.test, "")
        return (mutation.name, mutation.file, row["outcome"], str(row["seconds"]),
                row["commit"], mutation.test, row["why"])

    def total(self):
        """Count the caught ones: at this commit, and before."""
        rows = [row for row in map(self.row, self.mutations) if row and row["outcome"] == "caught"]
        now = sum(row["commit"] == self.commit for row in rows)
        return (f"{self.commit}: {now} of {len(self.mutations)} caught; {len(rows) - now} more at "
                f"other commits; {len(self.mutations) - len(rows)} not caught or not run\n")

    def write(self):
        """Write both files, atomically."""
        lines = [("mutation", "file", "outcome", "s", "commit", "test", "explanation"),
                 *map(self.line, self.mutations)]
        widths = [max(len(line[i]) for line in lines) for i in range(6)]
        text = "".join("  ".join([*(word.ljust(width) for word, width in zip(line, widths)),
                                  line[6]]).rstrip() + "\n" for line in lines) + self.total()
        self.json.parent.mkdir(parents=True, exist_ok=True)
        for path, content in ((self.json, json.dumps(self.rows, indent=1)), (self.text, text)):
            new = path.with_suffix(".new")
            new.write_text(content, encoding="utf-8")
            new.replace(path)


def select(mutations, options):
    """Select the mutations of the command line; a pattern without a match is an error."""
    for pattern in options.pattern:
        if not any(m.matches([pattern]) for m in mutations):
            sys.exit(f"error: no mutation has the name or file {pattern}")
    chosen = [m for m in mutations if m.matches(options.pattern)
              and (m.handful or not options.handful)]
    if options.shard:
        found = re.fullmatch(r"(\d+)/(\d+)", options.shard)
        number, count = map(int, found.groups()) if found else (0, 0)
        if not 1 <= number <= count:
            sys.exit(f"error: --shard {options.shard}: I/N is accepted, I from 1 to N")
        chosen = chosen[number - 1::count]
    return chosen


def run_all(mutations, chosen):
    """Run the selected ones; return the exit status."""
    tally = results.Tally("mutations")
    tree = Tree(BUILD / "mutations/tree")
    # Read with the tree's lock held: another run may just have written its results.
    table = Table(results.OUT, mutations)
    tree.sync()
    run = Run(tree, runners(tree.folder, BUILD))
    run.together(chosen)
    for mutation in chosen:
        start = time.monotonic()
        outcome, why = run.one(mutation)
        seconds = time.monotonic() - start
        print(f"{outcome:9} {mutation.name} ({seconds:.0f} s): {why}", flush=True)
        table.add(mutation, outcome, why, seconds)
        tally.add(f"mutation {mutation.name}", outcome == "caught", f"{outcome}: {why}")
    print(f"see {table.text}")
    return tally.close()


def main():
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="*")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--handful", action="store_true")
    parser.add_argument("--shard")
    parser.add_argument("--find", action="store_true",
                        help="take rows with ? for the case, and show which cases fail")
    options = parser.parse_args()
    mutations = load()
    problems = check([m for m in mutations if not (options.find and m.case == UNKNOWN)])
    for name, problem in problems.items():
        print(f"error: mutation {name}: {problem}", file=sys.stderr)
    if problems:
        sys.exit(1)
    if options.check:
        print(f"{len(mutations)} mutations can be applied")
        return
    chosen = select(mutations, options)
    if not chosen:
        sys.exit("error: no mutation is selected")
    # End with an exception, so that the file is restored and the child ends first.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(run_all(mutations, chosen))


if __name__ == "__main__":
    main()
