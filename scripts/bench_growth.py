#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure how costs grow with sizes, fit their exponents and plot them.

    bench_growth.py [--rows FILE] [--folder FOLDER] [--no-plots]

pumice-growth measures each curve; --rows reads its rows from a file instead. A row is {curve, size,
seconds, cpu}. The plots and the table of Documentation/benchmarks.rst go to Documentation/pictures/growth.

The exponent of a curve is the slope of a line through log(seconds) over log(size), by least squares.
It is fitted to the sizes that take at least 8 times as long as the smallest one, whose time is
mostly that of its fixed costs: these are an eighth or less of the others. If these are fewer than
4, the cost hardly grows, and the upper half of the sizes is used.

An exponent above 1.1 is an error, after everything has been written. The exponent of the time of
processors (cpu) shows if other load on the machine is the cause: long runs have more of it.
"""

import argparse
import importlib.util
import json
import math
import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build"))
OUT = pathlib.Path(os.environ.get("OUT", TOP / "out"))
FOLDER = TOP / "Documentation/pictures/growth"
TARGETS = ("tests/bench/pumice-growth", "userspace/libpumice/pumice_fw.bin")
# Of each curve: its horizontal axis, and the work that is timed.
CURVES = {
    "draws": ("draws", "a frame"),
    "triangles": ("triangles of 2 pixels", "a frame"),
    "pixels": ("pixels", "a frame"),
    "work-groups": ("work-groups of one wave", "a job"),
    "binds": ("mappings of single pages", "bind and unbind all"),
    "points": ("points of a timeline", "all jobs"),
    "contexts": ("contexts with 16 jobs each", "all jobs"),
    "cores": ("cores", "a small job and a frame"),
}
MEMBERS = {"curve", "size", "seconds", "cpu"}
LIMIT = 1.1
FIXED_SHARE = 8     # minimum ratio of a time to that of the smallest size, for the fit
FEWEST = 4          # sizes of a fit


def fail(what, way_out):
    """Exit with one line for the failure and one for the remedy."""
    sys.exit(f"error: {what}\n       {way_out}")


def parse(text):
    """Return {curve: [(size, seconds, cpu)]} of rows in JSON, in the order of sizes; ValueError."""
    curves = {name: [] for name in CURVES}
    rows = json.loads(text)
    if not isinstance(rows, list):
        raise ValueError("not a list of rows")
    for number, row in enumerate(rows):
        if not isinstance(row, dict) or set(row) != MEMBERS:
            raise ValueError(f"row {number} has other members than {', '.join(sorted(MEMBERS))}")
        if row["curve"] not in curves:
            raise ValueError(f"row {number} has an unknown curve, {row['curve']}")
        point = (row["size"], row["seconds"], row["cpu"])
        if not all(isinstance(value, (int, float)) and value > 0 for value in point):
            raise ValueError(f"row {number} has a size or a time that is not a positive number")
        curves[row["curve"]].append(point)
    for name, points in curves.items():
        points.sort()
        if len({point[0] for point in points}) != len(points):
            raise ValueError(f"curve {name} has a size twice")
    return curves


def fitted(points):
    """Return the points of a curve that its exponent is fitted to; ValueError if they are too few."""
    if len(points) < 2 * FEWEST:
        raise ValueError(f"{len(points)} sizes; an exponent needs {2 * FEWEST}")
    upper = [point for point in points if point[1] >= FIXED_SHARE * points[0][1]]
    return upper if len(upper) >= FEWEST else points[len(points) // 2:]


def fit(points):
    """Return (exponent, factor): seconds = factor * size ** exponent, by least squares."""
    logs = [(math.log(size), math.log(seconds)) for size, seconds in fitted(points)]
    middle_x, middle_y = (sum(values) / len(logs) for values in zip(*logs))
    exponent = (sum((x - middle_x) * (y - middle_y) for x, y in logs) /
                sum((x - middle_x) ** 2 for x, _ in logs))
    return exponent, math.exp(middle_y - exponent * middle_x)


def exponents(curves):
    """Return {curve: (exponent, factor, exponent of cpu)}; ValueError for one without a fit."""
    fits = {}
    for name, points in curves.items():
        try:
            fits[name] = (*fit([point[:2] for point in points]),
                          fit([(size, cpu) for size, _, cpu in points])[0])
        except ValueError as problem:
            raise ValueError(f"curve {name} has {problem}") from problem
    return fits


def too_steep(fits):
    """Return a line for each curve whose exponent is above the limit."""
    return [f"the cost of {name} grows with exponent {exponent:.2f}, above {LIMIT} "
            f"(of processor time: {cpu:.2f})"
            for name, (exponent, _, cpu) in fits.items() if exponent > LIMIT]


def time_text(seconds):
    """Format a time with three significant digits."""
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1:
            break
    return f"{seconds * scale:.3g} {unit}"


def lines_of(curves, fits):
    """Return the cells of the table, a line for each curve."""
    lines = []
    for name, points in curves.items():
        used, (size, seconds, _) = fitted(points), points[-1]
        lines.append((name, f"{points[0][0]:,} to {size:,}", time_text(points[0][1]),
                      time_text(seconds), time_text(seconds / size), f"{used[0][0]:,}",
                      f"{fits[name][0]:.2f}", f"{fits[name][2]:.2f}"))
    return lines


HEAD = ("Curve", "Sizes", "Smallest", "Largest", "Largest, each", "Fitted from", "Exponent", "Of CPU")


def table(lines):
    """Format the table as text."""
    widths = [max(len(line[i]) for line in [HEAD, *lines]) for i in range(len(HEAD))]
    return "\n".join("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip()
                     for line in [HEAD, *lines])


def page(lines):
    """Format the table for the documentation."""
    text = [".. SPDX-License-Identifier: MIT", ".. Written by make bench-growth.", "",
            ".. list-table::", "   :header-rows: 1", ""]
    for line in [HEAD, *lines]:
        text += [f"   {'*' if i == 0 else ' '} - {cell}" for i, cell in enumerate(line)]
    return "\n".join(text) + "\n"


def draw(name, points, model, folder, pyplot):
    """Draw a curve as SVG, with its text as text."""
    across, work = CURVES[name]
    exponent, factor, _ = model
    sizes = [point[0] for point in fitted(points)]
    figure, axes = pyplot.subplots(figsize=(6, 3.2))
    axes.loglog([point[0] for point in points], [point[1] for point in points], "o",
                label="measured")
    axes.loglog(sizes, [factor * size ** exponent for size in sizes], "--",
                label=f"exponent {exponent:.2f}")
    axes.set_xlabel(across)
    axes.set_ylabel(f"{work}, seconds")
    axes.grid(True, alpha=0.3)
    axes.legend()
    figure.tight_layout()
    path = folder / f"{name}.svg"
    figure.savefig(path, metadata={"Date": None, "Creator": None, "Title": name})
    pyplot.close(figure)
    text = path.read_text(encoding="utf-8")
    path.write_text("<!-- SPDX-License-Identifier: MIT -->\n" + "\n".join(
        line.rstrip() for line in text[text.index("<svg"):].splitlines()) + "\n", encoding="utf-8")


def draw_all(curves, fits, folder):
    """Draw all curves; the same rows give the same files."""
    import matplotlib  # pylint: disable=import-outside-toplevel
    matplotlib.use("svg")
    from matplotlib import pyplot  # pylint: disable=import-outside-toplevel

    matplotlib.rcParams["svg.fonttype"] = "none"
    matplotlib.rcParams["svg.hashsalt"] = "growth"
    for name, points in curves.items():
        draw(name, points, fits[name], folder, pyplot)


def measure():
    """Build and run pumice-growth; return the file of its rows."""
    log, path = OUT / "logs/bench-growth-build.log", OUT / "growth.json"
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "wb") as stream:
        if subprocess.run(["ninja", "-C", str(BUILD / "native"), *TARGETS], check=False,
                          stdout=stream, stderr=stream).returncode:
            fail("pumice-growth cannot be built", f"see {log}")
    if subprocess.run([str(BUILD / "native" / TARGETS[0]), "-o", str(path)], check=False).returncode:
        fail("pumice-growth failed", "see the message above")
    return path


def main():
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=pathlib.Path, help="file of rows, instead of a measurement")
    parser.add_argument("--folder", type=pathlib.Path, default=FOLDER, help="of plots and table")
    parser.add_argument("--no-plots", action="store_true", help="print the table only")
    options = parser.parse_args()
    if not options.no_plots and not importlib.util.find_spec("matplotlib"):
        fail("the plots need matplotlib", "install python3-matplotlib, or add --no-plots")
    path = options.rows or measure()
    try:
        curves = parse(path.read_text(encoding="utf-8"))
        fits = exponents(curves)
    except (OSError, ValueError) as problem:
        fail(f"no exponents from {path}: {problem}", "pumice-growth writes a row for each size")
    lines = lines_of(curves, fits)
    print(table(lines))
    if not options.no_plots:
        options.folder.mkdir(parents=True, exist_ok=True)
        draw_all(curves, fits, options.folder)
        (options.folder / "exponents.inc").write_text(page(lines), encoding="utf-8")
        print(f"plots in {options.folder}")
    steep = too_steep(fits)
    if steep:
        fail("; ".join(steep), "see the plot, and repeat it on a quiet machine")


if __name__ == "__main__":
    main()
