#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the benchmarks and print their table.

    bench.py [--no-guest] [--rounds N] [--name TEXT]

pumice-bench measures in this process, against PoCL; pumice-bench-guest in a guest.
Their rows go to out/bench.json as one list of {name, unit, ours, peer, peer_name,
ratio, goal, met}; ratio is always higher for better, and null if a row
has no peer or no goal. See tests/bench/README.md.

The exit status indicates whether all rows could be measured and all results were
right; a goal that is not met is reported in the table, since a busy machine is no
error.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build"))
OUT = pathlib.Path(os.environ.get("OUT", TOP / "out"))
NATIVE = BUILD / "native/tests/bench"
# Of ninja: pumice-bench, and the firmware that it loads when it runs.
TARGETS = ("tests/bench/pumice-bench", "userspace/libpumice/pumice_fw.bin")
GUEST = "bench"
GUEST_TIMEOUT = 180     # seconds
DEVICE = "pumice,cores=4,threads=2"     # in fast mode: data of loads are early
JOB = """\
modprobe pumice && pumice-bench-guest >/host/rows.json
"""


def fail(what, way_out):
    """Exit with one line for the failure and one for the remedy."""
    sys.exit(f"error: {what}\n       {way_out}")


def has_rays():
    """Return whether pumice-bench is compiled with Embree, the peer of its rows of rays."""
    commands = BUILD / "native/compile_commands.json"
    return "-DHAVE_EMBREE" in commands.read_text(encoding="utf-8")


def build(name):
    """Build pumice-bench; meson omits it without OpenCL, EGL or OpenGL ES.

    Without Embree it has no rows of rays. The folder is wiped and set up again if there is no
    program, or if the program has no rows of rays and all rows are measured (name is empty),
    since Embree may have been installed meanwhile.
    """
    native = BUILD / "native"
    log = OUT / "logs/bench-build.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    if (NATIVE / "pumice-bench").exists() and (name or has_rays()):
        steps = [["ninja", "-C", str(native), *TARGETS]]
    else:
        # Only --wipe forgets results of checks in every version of meson. It also removes the
        # library and the tools, which are built again.
        steps = [["meson", "setup", "--wipe", str(native), str(TOP)], ["ninja", "-C", str(native)]]
    with open(log, "wb") as stream:
        for step in steps:
            if subprocess.run(step, check=False, stdout=stream, stderr=stream).returncode:
                fail("the benchmarks cannot be built", f"see {log}")
    if not (NATIVE / "pumice-bench").exists():
        fail("pumice-bench cannot be built without OpenCL, EGL and OpenGL ES",
             "install the packages of section [bench] of scripts/packages.txt and run this again")


def read_rows(path, what):
    """Read a program's list of rows."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        fail(f"{what} left no rows: {problem}", "see the messages above")
    return rows


def native_rows(options):
    """Get the rows measured in process."""
    path = OUT / "bench-native.json"
    command = [str(NATIVE / "pumice-bench"), "-o", str(path), "-r", str(options.rounds)]
    if options.name:
        command += ["-n", options.name]
    if subprocess.run(command, check=False).returncode:
        fail("pumice-bench failed", "see the message above")
    return read_rows(path, "pumice-bench")


def guest_rows():
    """Get the rows measured through the kernel driver."""
    images = BUILD / "guest"
    job = images / "bench.job"
    job.write_text(JOB, encoding="ascii")
    scripts = TOP / "scripts"
    print("  … booting a guest", file=sys.stderr, flush=True)
    status = subprocess.run([str(scripts / "run-guest.py"), GUEST,
                             "--kernel", str(BUILD / "kernel/stock"), "--job", str(job),
                             "--device", DEVICE,
                             "--image", str(images / "stock.cpio"),
                             "--image", str(images / "programs.cpio"),
                             "--timeout", str(GUEST_TIMEOUT), "--show"], check=False).returncode
    share = OUT / "guest" / GUEST
    if status:
        fail(f"the guest's benchmarks failed with status {status}", f"see {share}/job.log")
    return read_rows(share / "rows.json", "pumice-bench-guest")


def check_selection(name, rows):
    """Report that a name selects no row, or that rows of rays, which it may select, are missing."""
    missing = not has_rays()
    remedy = ("for rows of rays, install libembree-dev and set the folder up again: "
              f"meson setup --wipe {BUILD / 'native'}")
    if not rows:
        fail(f"no row has {name} in its name" +
             (", and pumice-bench was built without Embree, the peer of rays" if missing else ""),
             remedy if missing else "see Documentation/benchmarks.rst")
    if missing:
        print(f"note: pumice-bench was built without Embree; {remedy}", file=sys.stderr)


def number(value):
    """Format with four significant digits."""
    return "–" if value is None else f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def table(rows):
    """Format the rows as text."""
    head = ("", "unit", "ours", "peer", "ratio", "goal", "limit", "", "peer is")
    verdict = {True: "met", False: "NOT MET", None: ""}
    lines = [head] + [(row["name"], row["unit"], number(row["ours"]), number(row["peer"]),
                       number(row["ratio"]), number(row["goal"]), number(row["limit"]),
                       verdict[row["met"]],
                       row["peer_name"] or "–") for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        cells = [text.ljust(width) if i in (0, 1, 7, 8) else text.rjust(width)
                 for i, (text, width) in enumerate(zip(line, widths))]
        print("  ".join(cells).rstrip())


def warn_if_busy():
    """Warn if other processes use the processors."""
    load, processors = os.getloadavg()[0], os.cpu_count() or 1
    if load > processors / 2:
        print(f"this machine is busy (load {load:.1f} on {processors} processors): "
              "expect less, above all of two threads", file=sys.stderr)


def main():
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-guest", action="store_true", help="in this process only")
    parser.add_argument("--rounds", type=int, default=9, help="of which the best counts")
    parser.add_argument("--name", help="rows with this in their name; without a guest")
    options = parser.parse_args()
    build(options.name)
    if not options.name and not has_rays():
        fail("pumice-bench was built without Embree, and has no rows of rays",
             "install libembree-dev (scripts/packages.txt) and run this again")
    warn_if_busy()
    rows = native_rows(options)
    if options.name:
        check_selection(options.name, rows)
    if not options.no_guest and not options.name:
        rows += guest_rows()
    (OUT / "bench.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    table(rows)
    goals = [row for row in rows if row["met"] is not None]
    print(f"{sum(row['met'] for row in goals)} of {len(goals)} goals met; "
          f"rows in {OUT / 'bench.json'}")


if __name__ == "__main__":
    main()
