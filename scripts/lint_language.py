#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Report words that Documentation/style-words.inc replaces, in lines that a change adds.

lint_language.py [--all]: compare with LINT_BASE, else with the upstream branch, else with the
previous commit; uncommitted changes count. --all checks every line of every file instead.
Looks at comments and strings of C, at all text of other files. A line that contains
"lint: word" is left out. Also checks that every cited section of a source document
("document 004, "PDS"") is listed in Documentation/sources.rst.
"""

import csv
import os
import pathlib
import re
import sys

import sources

TOP = pathlib.Path(__file__).resolve().parent.parent
WORDS = TOP / "Documentation" / "style-words.inc"
SOURCES = TOP / "Documentation" / "sources.rst"
SUFFIXES = (".c", ".h", ".S", ".py", ".sh", ".xml", ".rst", ".md", ".pasm", ".toml")
# Files that list the words themselves.
EXCEPT = ("Documentation/style.rst", "scripts/lint_language.py", "tests/scripts/test_lint_language.py")
MARKER = "lint: word"
C_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
CITATION = re.compile(r'[Dd]ocument (00[0-4]), "([^"]+)"')


def replaced_words():
    """Return [(pattern, replacement)]."""
    rows = [line.strip() for line in WORDS.read_text(encoding="utf-8").splitlines()
            if line.startswith('   "')]
    return [(re.compile(r"\b(?:" + "|".join(map(re.escape, avoid.split(", "))) + r")\b",
                        re.IGNORECASE), write) for avoid, write, _ in csv.reader(rows)]


def text_lines(name, content):
    """Return [(number, text)] of the lines of a file, for C reduced to comments and strings."""
    if not name.endswith((".c", ".h")):
        return list(enumerate(content.splitlines(), 1))
    lines = {}
    for match in C_TEXT.finditer(content):
        first = content.count("\n", 0, match.start()) + 1
        for number, text in enumerate(match.group().split("\n"), first):
            lines[number] = lines.get(number, "") + " " + text
    return sorted(lines.items())


def problems(name, content, words, wanted=None):
    """Return the problems of one file; wanted: the line numbers to check, None for all."""
    source = content.splitlines()
    for number, text in text_lines(name, content):
        if wanted is not None and number not in wanted or MARKER in source[number - 1]:
            continue
        for pattern, write in words:
            found = pattern.search(text)
            if found:
                yield f"{name}:{number}: \"{found.group()}\": write {write}"


def citations(name, content, sections):
    """Return cited sections that sources.rst does not list."""
    for number, line in enumerate(content.splitlines(), 1):
        for document, section in CITATION.findall(line):
            if section not in sections:
                yield f"{name}:{number}: document {document} has no section \"{section}\" " \
                      "(Documentation/sources.rst)"


def git(*arguments):
    """The output of git, empty if it fails."""
    return sources.git(arguments, TOP) or ""


def base(environment):
    """Return the commit to compare with for added lines."""
    head = git("rev-parse", "HEAD").strip()
    upstream = git("merge-base", "HEAD", "@{upstream}").strip()
    if environment:
        return environment
    return upstream if upstream and upstream != head else "HEAD~1"


def added_lines(commit):
    """Return {name: the numbers of its added lines}."""
    added = {}
    name = None
    for line in git("diff", "-U0", "--no-color", "--no-ext-diff", commit).splitlines():
        if line.startswith("+++ "):
            name = line[6:] if line.startswith("+++ b/") else None
        elif line.startswith("@@") and name:
            start, _, count = re.search(r"\+(\d+)(,(\d+))?", line).groups()
            first = int(start)
            added.setdefault(name, set()).update(range(first, first + int(count or 1)))
    return added


def main(arguments, environment):
    """Check, print the problems."""
    words = replaced_words()
    sections = SOURCES.read_text(encoding="utf-8")
    untracked = git("ls-files", "--others", "--exclude-standard").splitlines()
    added = {} if "--all" in arguments else added_lines(base(environment))
    whole = set(untracked if "--all" not in arguments else git("ls-files").splitlines())
    found = []
    for name in git("ls-files").splitlines() + untracked:
        path = TOP / name
        if not name.endswith(SUFFIXES) or name in EXCEPT or not path.is_file():
            continue
        content = path.read_text(encoding="utf-8")
        found += citations(name, content, sections)
        found += problems(name, content, words, None if name in whole else added.get(name, ()))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ.get("LINT_BASE")))
