#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Report added lines of C whose indentation or spaces .clang-format would change.

lint_format.py [--all]: the lines that lint_language.py checks; --all checks every file.
Differences in line breaks, in the alignment of comments and columns, and in macros are left to
the author, as clang-format has no setting that agrees with the kernel there. Code between the
comments "clang-format off" and "clang-format on" is not checked.
"""

import difflib
import os
import re
import subprocess
import sys
from concurrent import futures

import lint_language
import sources

TOP = lint_language.TOP
# The kernel's layout of trace events; fragments that are no C by themselves.
EXCEPT = re.compile(r"pumice_events\.h$|fwcpu/exec_\w+\.h$|\.inc\.h$")


def plain(line):
    """The line with one space for each run of them after the indentation, without its comment."""
    indent = re.match(r"\s*", line)[0].expandtabs(8)
    return indent + re.sub(r"\s+", " ", re.sub(r"\s*/\*.*", "", line).strip())


def tokens(line):
    """The line without spaces."""
    return re.sub(r"\s+", "", line)


def problems(name, content, wanted):
    """Return the problems of one file; wanted: the line numbers to check, None for all."""
    ranges = [f"--lines={n}:{n}" for n in sorted(wanted)] if wanted is not None else []
    done = subprocess.run(["clang-format", "--style=file", *ranges, f"--assume-filename={name}"],
                          cwd=TOP, input=content, check=True, capture_output=True, text=True)
    old, new = content.splitlines(), done.stdout.splitlines()
    found = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        if kind != "replace" or b - a != d - c:
            continue
        for n in range(b - a):
            was, better = old[a + n], new[c + n]
            macro = was.endswith("\\") or was.lstrip().startswith("#")
            if macro or tokens(was) != tokens(better) or plain(was) == plain(better):
                continue
            if wanted is None or a + n + 1 in wanted:
                found.append(f"{name}:{a + n + 1}: write: {better.expandtabs(8)}")
    return found


def main(arguments, environment):
    """Check, print the problems."""
    everything = "--all" in arguments
    names = [name for name in sources.files(TOP)
             if name.endswith((".c", ".h")) and not EXCEPT.search(name)]
    added = {} if everything else lint_language.added_lines(lint_language.base(environment))
    chosen = [(name, (TOP / name).read_text(encoding="utf-8"), None if everything else added[name])
              for name in names if everything or added.get(name)]
    with futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        found = [line for lines in pool.map(lambda item: problems(*item), chosen)
                 for line in lines]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ.get("LINT_BASE")))
