#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hook hw/pumice/ into a QEMU source tree.

    qemu-hooks.py QEMU_SOURCE

Three files of QEMU name the folder: hw/meson.build, hw/Kconfig and the list of
trace-event folders in meson.build. Each hook is found by what it means, not by
line numbers, and applied once; a file that is already right is not touched, so
that ninja does not configure again.
"""

import pathlib
import re
import sys

FOLDER = "pumice"


def append_line(text, line):
    """The text with the line at its end, unless it is in there."""
    if line in text.splitlines():
        return text
    return text.rstrip("\n") + "\n" + line + "\n"


def add_trace_folder(text):
    """Add the folder to the trace_events_subdirs that hold hw/core."""
    entry = f"'hw/{FOLDER}',"
    if entry in text:
        return text
    changed, count = re.subn(r"^( *)'hw/core',$", rf"\g<0>\n\g<1>{entry}", text,
                             count=1, flags=re.MULTILINE)
    if not count:
        sys.exit("error: QEMU's meson.build has no list of trace folders with 'hw/core'\n"
                 "       this QEMU is too different: use the 10.0 series")
    return changed


def apply(path, change):
    """Rewrite one file by a function, when that changes it."""
    old = path.read_text()
    new = change(old)
    if new != old:
        path.write_text(new)


def main():
    """Apply the three hooks."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    source = pathlib.Path(sys.argv[1])
    apply(source / "hw/meson.build", lambda t: append_line(t, f"subdir('{FOLDER}')"))
    apply(source / "hw/Kconfig", lambda t: append_line(t, f"source {FOLDER}/Kconfig"))
    apply(source / "meson.build", add_trace_folder)


if __name__ == "__main__":
    main()
