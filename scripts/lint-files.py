#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rules for every file in git: licence, length, length of functions and of lines of C.

The licence is in the first line (the second after #! or <?xml; QEMU's files
have it in the comment that opens the file):
    drivers/               GPL-2.0 OR MIT
    uapi/                  the same, with the kernel's note on system calls
    qemu-device/, not gpu/ GPL-2.0-or-later
    hw/                    MIT, or with GPL-2.0 where the kernel includes it
    everything else        MIT
"""

import pathlib
import re
import sys

import sources

TOP = pathlib.Path(__file__).resolve().parent.parent
LONGEST_FILE = 1000
# A driver's interface is one header by the kernel's convention, and is only extended.
LONGEST_UAPI = 1500
LONGEST_FUNCTION = 80
LONGEST_LINE = 100
TAB = 8
# Texts are not divided: strings that reach the limit, or after which only punctuation follows, and
# addresses. A line without a blank after its indentation cannot be divided.
UNDIVIDED = re.compile(r'"[\s,;(){}\\]*$|://|^\s*\S+$')
C_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
IDENTIFIER = re.compile(r"SPDX-License-Identifier: (.*?)\s*(?:\*/.*|-->.*)?$")
NO_TEXT = (".png", ".gif", ".bin", ".svgz")
OPENING_LINES = 4
# Formats without comments, and the list of licences itself.
NO_LICENCE_LINE = ("debian/changelog", "debian/copyright", "debian/source/format",
                   "tests/unit/tools/trace.schema.json")
LICENCES = [
    (re.compile(r"drivers/|Kbuild$"), {"GPL-2.0 OR MIT"}),
    (re.compile(r"uapi/"), {"((GPL-2.0 WITH Linux-syscall-note) OR MIT)"}),
    (re.compile(r"qemu-device/gpu/"), {"MIT"}),
    (re.compile(r"qemu-device/"), {"GPL-2.0-or-later"}),
    (re.compile(r"hw/"), {"MIT", "(GPL-2.0 OR MIT)"}),
    (re.compile(r""), {"MIT"}),
]


def tracked():
    """List the files in git, or all without git; not the licences' texts, nor generated pages."""
    return [name for name in sources.tracked(TOP) if (TOP / name).is_file()
            and not name.startswith(("LICENSES/", "Documentation/reference/"))]


def licence_problem(name, lines):
    """Return the error in a file's licence line, or None."""
    first = [line for line in lines[:2] if not line.startswith(("#!", "<?xml"))][:1]
    if name.startswith("qemu-device/") and not name.startswith("qemu-device/gpu/"):
        first = lines[:OPENING_LINES]
    found = next(filter(None, (IDENTIFIER.search(line) for line in first)), None)
    if not found:
        return "no SPDX-License-Identifier in the first line"
    allowed = next(licences for folder, licences in LICENCES if folder.match(name))
    if found.group(1) not in allowed:
        return f"licence {found.group(1)}, should be {' or '.join(sorted(allowed))}"
    return None


def long_functions(lines):
    """Return [(line, length)] of the C functions that are too long."""
    start = None
    for number, line in enumerate(lines, 1):
        if line.startswith("{"):
            start = number
        elif line.startswith("}") and start is not None:
            if number - start - 1 > LONGEST_FUNCTION and not line.startswith("};"):
                yield start, number - start - 1
            start = None


def long_lines(lines):
    """Return [(line, length)] of the lines of C that are too long, in columns."""
    for number, line in enumerate(lines, 1):
        line = line.expandtabs(TAB)
        if len(line) > LONGEST_LINE and not UNDIVIDED.search(line) and \
                not any(found.end() > LONGEST_LINE for found in C_STRING.finditer(line)):
            yield number, len(line)


def check(name):
    """Return the problems of one file."""
    if name.endswith(NO_TEXT):
        return
    content = (TOP / name).read_bytes()
    try:
        lines = content.decode().splitlines()
    except UnicodeDecodeError as error:
        yield f"{name}:{content.count(bytes([10]), 0, error.start) + 1}: not text in UTF-8"
        return
    problem = None if name in NO_LICENCE_LINE else licence_problem(name, lines)
    if problem:
        yield f"{name}:1: {problem}"
    longest = LONGEST_UAPI if name.startswith("uapi/") else LONGEST_FILE
    if len(lines) > longest:
        yield f"{name}: {len(lines)} lines, at most {longest}"
    if name.endswith((".c", ".h")):
        for line, length in long_functions(lines):
            yield f"{name}:{line}: a function of {length} lines, at most {LONGEST_FUNCTION}"
        for line, length in long_lines(lines):
            yield f"{name}:{line}: {length} columns, at most {LONGEST_LINE}"


def main():
    """Check all, print the problems."""
    problems = [problem for name in tracked() for problem in check(name)]
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
