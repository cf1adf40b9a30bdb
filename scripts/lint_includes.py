#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Report parts that include each other's headers in a circle.

The parts are the folders of the GPU core, and in firmware/ each source with its header; the rule
is in Documentation/style.rst. Sources count as their part's headers do.

Limits: reports one circle of each tree, if it has any. Files directly in qemu-device/gpu
connect the blocks and are not parts. A dependency without #include, by a prototype of its own, is
not seen.
"""

import graphlib
import pathlib
import posixpath
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)


def folder(name):
    """Return the part that a file of the GPU core belongs to, None for one without folder."""
    return name.partition("/")[0] if "/" in name else None


def stem(name):
    """Return the part that a file of the firmware belongs to."""
    return posixpath.splitext(name)[0]


# Trees, and how a file's name in a tree results in its part.
TREES = {"qemu-device/gpu": folder, "firmware": stem}


def edges(files, part):
    """Return {part: {included part: "file:line: include"}} of files, {name: content}."""
    found = {}
    for name, content in sorted(files.items()):
        for match in INCLUDE.finditer(content):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), match[1]))
            user, used = part(name), part(target)
            if target in files and user and used and user != used:
                line = content.count("\n", 0, match.start(1)) + 1
                found.setdefault(user, {}).setdefault(
                    used, f'{name}:{line}: {user} includes "{match[1]}"')
    return found


def problems(files, part):
    """Return the includes of a circle, one of each part in it; empty if there is none."""
    graph = edges(files, part)
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        circle = error.args[1]
        # Each is a dependency of the next.
        return [graph[user][used] for used, user in zip(circle, circle[1:])]
    return []


def main():
    """Check every tree, print the problems."""
    found = []
    for tree, part in TREES.items():
        files = {path.relative_to(TOP / tree).as_posix(): path.read_text(encoding="utf-8")
                 for path in (TOP / tree).rglob("*.[ch]")}
        if not edges(files, part):
            sys.exit(f"error: no include between parts found in {tree}")
        found += [f"{tree}/{problem}" for problem in problems(files, part)]
    print("".join(problem + "\n" for problem in found), end="")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
