#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Report lines of C whose indentation or spaces .clang-format would change.

lint_format.py [FILE…]: without a file every header and source of the tree.
Differences in line breaks, in the alignment of comments and columns, and in macros are left to
the author, as clang-format has no setting that agrees with the kernel there; so is the alignment
of the continuation of a line, with a bracket or by tabs. Code between the
comments "clang-format off" and "clang-format on" is not checked.

lint.sh runs this with clang-format of one Debian release: others differ in a few lines.
"""

import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent import futures

import sources

TOP = pathlib.Path(__file__).resolve().parent.parent
STYLES = (".clang-format", "qemu-device/.clang-format", "qemu-device/gpu/.clang-format")
# The kernel's layout of trace events; fragments that are not C by themselves.
EXCEPT = re.compile(r"pumice_events\.h$|fwcpu/exec_\w+\.h$|\.inc\.h$")


def plain(line):
    """Return the line with one space for each run of them after the indentation, without its
    comment.

    Spaces next to these are the author's: "& * - ~ !", which clang-format cannot assign to an
    operand or to an unknown type, the brace of a compound literal, and an empty
    argument.
    """
    indent = re.match(r"\s*", line)[0].expandtabs(8)
    text = re.sub(r"\s+", " ", re.sub(r"\s*/\*.*", "", line).strip())
    text = text.replace(" (*", "(*").replace(", )", ",)")
    return indent + re.sub(r" ?(->|[&*~!-]+|\) ?\{) ?", lambda m: m[1].replace(" ", ""), text)


def own_alignment(before, was, better):
    """Return whether only the indentation of a continuation line differs, and it is one of those
    that kernel style has: tabs where clang-format aligns with a bracket, or the start of an operand
    of the line before. So is the line after a macro without a semicolon.
    """
    if plain(was).lstrip() != plain(better).lstrip():
        return False
    if re.fullmatch(r"\s*[A-Z][A-Z0-9_]*\(.*\)", before):
        return True
    before, was, better = (line.expandtabs(8) for line in (before, was, better))
    column = len(was) - len(was.lstrip())
    if column % 8 == 0 and (len(better) - len(better.lstrip())) % 8:
        return True
    starts = {found.start() for found in re.finditer(r"(?<!\w)[\w(\"'*&!~-]", before)}
    return column % 8 and column in starts


def tokens(line):
    """Return the line without spaces."""
    return re.sub(r"\s+", "", line)


def formatted(contents):
    """Return {name: text} of files, {name: content}, as clang-format writes them."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for name in [*contents, *STYLES]:
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            text = contents[name] if name in contents else sources.text(TOP / name)
            (copy / name).write_text(text, encoding="utf-8")
        subprocess.run(["clang-format", "--style=file", "-i", *contents], cwd=copy, check=True)
        return {name: sources.text(copy / name) for name in contents}


def problems(name, content, better):
    """Return the problems of one file; better: its text by clang-format."""
    old, new = content.splitlines(), better.splitlines()
    found = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        if kind != "replace" or b - a != d - c:
            continue
        for n in range(b - a):
            was, wanted = old[a + n], new[c + n]
            macro = was.endswith("\\") or was.lstrip().startswith("#")
            if macro or tokens(was) != tokens(wanted) or plain(was) == plain(wanted) or \
                    own_alignment(old[a + n - 1], was, wanted):
                continue
            found.append(f"{name}:{a + n + 1}: write: {wanted.expandtabs(8)}")
    return found


def main(names):
    """Check, print the problems."""
    contents = {name: sources.text(TOP / name)
                for name in names or sources.files(TOP)
                if name.endswith((".c", ".h")) and not EXCEPT.search(name)}
    jobs = int(os.environ.get("JOBS", "2"))
    parts = [dict(list(contents.items())[n::jobs]) for n in range(min(jobs, len(contents)))]
    with futures.ThreadPoolExecutor(jobs) as pool:
        better = {name: text for part in pool.map(formatted, parts) for name, text in part.items()}
    found = [line for name, content in contents.items()
             for line in problems(name, content, better[name])]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
