#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The plots of Documentation/memory-traffic.rst, from the counts that examples/traffic prints:

    traffic.py [TRAFFIC.csv]

draws those of Documentation/pictures/traffic/traffic.csv, or replaces that file first. Run
manually; needs python3-matplotlib. tests/docs compares the file with the program's output, and
the plots with the file, whose hash they contain.
"""

import csv
import hashlib
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent / "traffic"
COUNTS = FOLDER / "traffic.csv"
LICENCE = "# SPDX-License-Identifier: MIT\n"
# Plot: title of the horizontal axis and its base of logarithm or 0, then of the vertical axis.
PLOTS = {
    "stride": ("bytes from one instance's word to the next one's", 2,
               "bytes of memory read for each word", 2),
    "order": ("rows and columns of the matrix", 2, "bytes of memory read for each word", 2),
    "working-set": ("bytes of the array", 2, "hits, or bytes of memory, in %", 0),
    "texture": ("rotation in degrees", 0, "misses of the first cache for 100 pixels", 0),
    "layers": ("layers", 2, "bytes of memory for each pixel", 2),
    "texels": ("layers", 2, "texels read for each pixel", 2),
    "triangles": ("triangles", 2, "bytes of memory", 10),
}
# Lines that are not counted, and their names.
COMPUTED = {"requested": "requested",
            "computed": "without a tile buffer (computed)"}


def read():
    """Return {plot: {line: [(x, y)]}}."""
    plots = {}
    with open(COUNTS, encoding="utf-8", newline="") as file:
        file.readline()     # the licence
        for row in csv.DictReader(file):
            lines = plots.setdefault(row["plot"], {})
            lines.setdefault(row["line"], []).append((float(row["x"]), float(row["y"])))
    return plots


def digest():
    """Return the mark of the counts that a plot was drawn from."""
    return hashlib.sha256(COUNTS.read_bytes()).hexdigest()[:16]


def draw(name, lines, pyplot):
    """Draw a plot as SVG, with its text as text."""
    across, base, up, up_base = PLOTS[name]
    figure, axes = pyplot.subplots(figsize=(7, 3.6))
    marks = iter("os^DvP")
    for line, points in lines.items():
        computed = line in COMPUTED
        axes.plot(*zip(*points), label=COMPUTED.get(line, line), alpha=0.8,
                  linestyle="--" if computed else "-", marker=None if computed else next(marks))
    for setter, value in ((axes.set_xscale, base), (axes.set_yscale, up_base)):
        if value:
            setter("log", base=value)
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    if name in ("stride", "order", "layers", "texels"):
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(pyplot.FuncFormatter(lambda value, _: f"{value:g}"))
    axes.grid(True, alpha=0.3)
    axes.legend()
    figure.tight_layout()
    path = FOLDER / f"{name}.svg"
    figure.savefig(path, metadata={"Date": None, "Creator": None, "Title": f"counts {digest()}"})
    pyplot.close(figure)
    text = path.read_text(encoding="utf-8")
    start = text.index("<svg")
    path.write_text("<!-- SPDX-License-Identifier: MIT -->\n" + "\n".join(
        line.rstrip() for line in text[start:].splitlines()) + "\n", encoding="utf-8")


def main():
    """Draw all plots."""
    import matplotlib  # pylint: disable=import-outside-toplevel
    matplotlib.use("svg")
    from matplotlib import pyplot  # pylint: disable=import-outside-toplevel

    matplotlib.rcParams["svg.fonttype"] = "none"
    matplotlib.rcParams["svg.hashsalt"] = "traffic"
    if len(sys.argv) > 1:
        counts = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
        COUNTS.write_text(LICENCE + counts, encoding="utf-8")
    for name, lines in read().items():
        draw(name, lines, pyplot)


if __name__ == "__main__":
    main()
