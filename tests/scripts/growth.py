#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Curves of growth: growth.py PUMICE-GROWTH

The fit of scripts/bench_growth.py with rows of known exponents, and the rows of the program in
small sizes. No time is judged. Output: TAP.
"""
import json
import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "scripts"), str(TOP / "tests/unit/tools")]
import bench_growth  # noqa: E402  pylint: disable=wrong-import-position
from tap import main, test  # noqa: E402  pylint: disable=wrong-import-position

PROGRAM = os.path.abspath(sys.argv[1])
SIZES = [10 * 2 ** n for n in range(12)]


def rows_of(**costs):
    """Return rows of all curves: of the named ones {size: seconds}, else a linear cost."""
    curves = {name: costs.get(name.replace("-", "_"), {size: 1e-6 * size for size in SIZES})
              for name in bench_growth.CURVES}
    return [{"curve": name, "size": size, "seconds": seconds, "cpu": 1e-6 * size}
            for name, points in curves.items() for size, seconds in points.items()]


def run(rows):
    """Run the script; return its status, standard output and standard error."""
    text = rows if isinstance(rows, str) else json.dumps(rows)
    pathlib.Path("rows.json").write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, "-B", str(TOP / "scripts/bench_growth.py"), "--no-plots",
                           "--rows", "rows.json"], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def refuse(rows, words):
    """Check that rows are refused with one line of error that has these words."""
    status, out, err = run(rows)
    assert status == 1 and not out, (status, out)
    lines = err.splitlines()
    assert len(lines) == 2 and lines[0].startswith("error: no exponents from rows.json: "), err
    assert words in lines[0], err


@test
def linear_costs_pass():
    """Check that all exponents are 1."""
    status, out, err = run(rows_of())
    assert (status, err) == (0, ""), err
    lines = out.splitlines()[1:]
    assert [line.split()[0] for line in lines] == list(bench_growth.CURVES), out
    assert all(line.split()[-2:] == ["1.00", "1.00"] for line in lines), out


@test
def an_exponent_above_the_limit_fails_with_its_curve():
    """Check that 1.09 passes, and that the table is printed in both cases."""
    for exponent, expected in ((1.3, 1), (1.09, 0)):
        status, out, err = run(rows_of(points={n: 1e-6 * n ** exponent for n in SIZES}))
        assert status == expected, (exponent, err)
        assert f"{exponent:.2f}" in out, out
        first = "error: the cost of points grows with exponent 1.30, above 1.1 (of processor time: 1.00)"
        assert err.splitlines()[:1] == [first][:expected], err


@test
def fixed_costs_do_not_hide_growth():
    """Fit a curve half of whose sizes have a fixed cost, and the others a quadratic one."""
    cost = {n: 1e-3 + 1e-7 * n ** 2 for n in SIZES}
    slope = bench_growth.fit(list(cost.items()))[0]
    assert 1.9 < slope <= 2, slope
    assert run(rows_of(draws=cost))[0] == 1


@test
def a_cost_that_hardly_grows_is_fitted_to_the_upper_half():
    """Fit a curve of which no size takes 8 times as long as the smallest one."""
    cost = {n: max(n / 4, 1) ** 1.3 for n in (1, 2, 3, 4, 6, 8, 12, 16)}
    slope = bench_growth.fit(list(cost.items()))[0]
    assert abs(slope - 1.3) < 1e-6, slope
    assert run(rows_of(cores={n: 1 for n in cost}))[0] == 0


@test
def a_curve_with_too_few_sizes_is_refused():
    """Refuse a curve without rows, too."""
    few = {n: n for n in SIZES[:7]}
    refuse(rows_of(cores=few), "curve cores has 7 sizes; an exponent needs 8")
    refuse([row for row in rows_of() if row["curve"] != "binds"], "curve binds has 0 sizes")


@test
def malformed_rows_are_refused():
    """Check that the message has the number of the row."""
    good = rows_of()
    refuse(json.dumps(good)[:-1], "delimiter")
    refuse("", "Expecting value")
    refuse("{}", "not a list of rows")
    row = {"curve": "draws", "size": 1, "seconds": 1, "cpu": 1}
    for row, words in (({"curve": "draws", "size": 1}, "other members than"), (1, "other members"),
                       (dict(row, curve="draw"), "unknown curve, draw"),
                       (dict(row, size=0), "not a positive number"),
                       (dict(row, seconds="1"), "not a positive number"),
                       (dict(row, cpu=None), "not a positive number")):
        refuse([*good, row], f"row {len(good)} has ")
        refuse([*good, row], words)
    refuse([*good, good[0]], "curve draws has a size twice")


@test
def the_program_measures_each_curve():
    """Measure the two smallest sizes of each."""
    done = subprocess.run([PROGRAM, "-c", "2", "-r", "1", "-o", "grown.json"], check=False,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    curves = bench_growth.parse(pathlib.Path("grown.json").read_text(encoding="utf-8"))
    for name, points in curves.items():
        assert len(points) == 2, (name, points)
    assert [point[0] for point in curves["contexts"]] == [1, 2], curves


@test
def the_program_measures_the_named_curve_only():
    """Check that an unknown name is an error."""
    done = subprocess.run([PROGRAM, "-c", "1", "-r", "1", "-n", "cores"], check=False,
                          capture_output=True, text=True)
    assert [row["curve"] for row in json.loads(done.stdout)] == ["cores"], done.stdout
    done = subprocess.run([PROGRAM, "-n", "core"], check=False, capture_output=True, text=True)
    assert done.returncode == 1 and "core is not a curve" in done.stderr, done.stderr


main()
