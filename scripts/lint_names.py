#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Report static functions of the kernel module whose name does not identify them in a backtrace.

The rule is in Documentation/style.rst: in pumice_FILE.c a static function begins with FILE_ or
pumice_FILE_, an inline function of a header with pumice_, and no two files define the same
name. Functions to_STRUCT(), which convert a pointer to a base into its container, need no prefix.

Limits: functions that a macro defines are not seen. The KUnit tests, which are compiled into the
files that they test, are left out.
"""

import pathlib
import re

import lint_driver

# From "static" at the start of a line to the "{" of the body; a ";", "=" or "{" before that is
# the end of something else.
DEFINITION = re.compile(r"^static\s[^;={}()]*?\b(\w+)\([^;{]*\)\s*^\{", re.MULTILINE)
CONVERSION = re.compile(r"to_\w+$")


def static_functions(content):
    """Return [(line, name)] of the static functions that a text defines."""
    return [(content.count("\n", 0, found.start(1)) + 1, found.group(1))
            for found in DEFINITION.finditer(content)]


def allowed_prefixes(name):
    """Return the prefixes of which a static function of a file must have one."""
    if name.endswith(".h"):
        return ("pumice_",)
    word = pathlib.PurePath(name).stem.removeprefix("pumice_") + "_"
    return (word, "pumice_" + word)


def problems(files):
    """Return the problems of files, {name: content}."""
    found, first = [], {}
    for name, content in sorted(files.items()):
        prefixes = allowed_prefixes(name)
        for line, function in static_functions(content):
            place = f"{name}:{line}: static function {function}()"
            if function in first:
                found.append(f"{place} is also defined in {first[function]}")
            first.setdefault(function, f"{name}:{line}")
            if not function.startswith(prefixes) and not CONVERSION.match(function):
                found.append(f"{place} does not begin with {' or '.join(prefixes)}")
    return found


if __name__ == "__main__":
    lint_driver.main("*.[ch]", static_functions, problems)
