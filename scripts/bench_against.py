#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare the benchmarks' rows with those of an earlier commit, measured in the same call.

    bench_against.py COMMIT [--passes N] [--no-guest]

The commit is checked out into build/bench-against/ and built by its own Makefile. Each pass runs
`make bench` in both trees, one after the other, in alternating order. The table has the best
figure of each side and the median of the passes' ratios with its range: above 1, this tree is
faster. A row that only one side has is listed without a ratio.

The exit status indicates whether all could be measured; the rows go to out/bench-against.json.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

import bench

TOP = bench.TOP
TREES = bench.BUILD / "bench-against"
TIMEOUT = 90 * 60       # seconds: the first call builds QEMU for the commit


def git(*words):
    """Run git in this tree; return its output or fail."""
    result = subprocess.run(["git", "-C", str(TOP), *words], check=False, capture_output=True,
                            text=True)
    if result.returncode:
        bench.fail(f"git {words[0]}: {result.stderr.strip()}", "name a commit of this tree")
    return result.stdout.strip()


def check_out(commit):
    """Check out the commit in a folder of its own; return the folder."""
    tree = TREES / git("rev-parse", "--verify", commit + "^{commit}")
    if not (tree / ".git").exists():
        tree.parent.mkdir(parents=True, exist_ok=True)
        git("clone", "--quiet", "--no-checkout", str(TOP), str(tree))
    subprocess.run(["git", "-C", str(tree), "checkout", "--quiet", "--detach", tree.name],
                   check=True)
    return tree


def measure(tree, log, guest):
    """Run the tree's own benchmarks; return the rows by name."""
    env = {name: value for name, value in os.environ.items()
           if name not in ("BUILD", "OUT", "MAKEFLAGS", "MFLAGS", "PUMICE_QEMU")}
    out = tree / "out"
    if tree == TOP:
        env |= {"BUILD": str(bench.BUILD), "OUT": str(bench.OUT)}
        out = bench.OUT
    steps = [["make", "bench"]] if guest else [["make", "native"],
                                               ["scripts/bench.py", "--no-guest"]]
    with open(log, "ab") as stream:
        for step in steps:
            if subprocess.run(step, check=False, cwd=tree, env=env, stdout=stream,
                              stderr=stream, timeout=TIMEOUT).returncode:
                bench.fail(f"{' '.join(step)} failed in {tree}", f"see {log}")
    rows = json.loads((out / "bench.json").read_text(encoding="utf-8"))
    return {row["name"]: row for row in rows}


def is_less_better(unit):
    """Return whether a figure of this unit is a cost: all that are not rates."""
    return not unit.endswith("/s")


def compare(name, before, after):
    """Make the row of the table from the passes of both sides."""
    rows = [side[name] for side in before + after if name in side]
    cost = is_less_better(rows[0]["unit"])
    best = min if cost else max
    result = {"name": name, "unit": rows[0]["unit"], "less_is_better": cost}
    for side, passes in (("before", before), ("after", after)):
        figures = [one[name]["ours"] for one in passes if name in one]
        result[side] = best(figures) if figures else None
    ratios = sorted((b[name]["ours"] / a[name]["ours"] if cost else
                     a[name]["ours"] / b[name]["ours"])
                    for b, a in zip(before, after) if name in a and name in b)
    result["ratios"] = ratios
    result["ratio"] = statistics.median(ratios) if ratios else None
    return result


def table(rows):
    """Print the rows as text."""
    lines = [("", "unit", "before", "after", "ratio", "range")]
    for row in rows:
        ratios = row["ratios"]
        lines.append((row["name"], row["unit"], bench.number(row["before"]),
                      bench.number(row["after"]), bench.number(row["ratio"]),
                      f"{ratios[0]:.2f}–{ratios[-1]:.2f}" if ratios else "–"))
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join(cell.ljust(width) if i < 2 else cell.rjust(width)
                        for i, (cell, width) in enumerate(zip(line, widths))).rstrip())


def main():
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", help="to compare with")
    parser.add_argument("--passes", type=int, default=5, help="of both trees (default 5)")
    parser.add_argument("--no-guest", action="store_true", help="in this process only")
    options = parser.parse_args()
    if options.passes < 1:
        parser.error("at least one pass")
    tree = check_out(options.commit)
    log = bench.OUT / "logs/bench-against.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes(b"")
    for side in (tree, TOP):
        print(f"  … building and a first run in {side}", file=sys.stderr, flush=True)
        measure(side, log, not options.no_guest)
    bench.warn_if_busy()
    passes = {tree: [], TOP: []}
    for i in range(options.passes):
        print(f"  … pass {i + 1} of {options.passes}", file=sys.stderr, flush=True)
        for side in ((tree, TOP), (TOP, tree))[i % 2]:
            passes[side].append(measure(side, log, not options.no_guest))
    names = dict.fromkeys(name for side in passes.values() for one in side for name in one)
    rows = [compare(name, passes[tree], passes[TOP]) for name in names]
    (bench.OUT / "bench-against.json").write_text(json.dumps(rows, indent=1) + "\n",
                                                  encoding="utf-8")
    table(rows)


if __name__ == "__main__":
    main()
