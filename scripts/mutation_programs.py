# SPDX-License-Identifier: MIT
"""Tests that meson.build defines, read from the sources: a tree without a build has no other list.

Used by mutations.py for rows of kind unit. A name is a text, a text with numbered places
('scan_@0@'.format(…)) or a text and a variable ('pds_' + name): a variable may be each text of its
meson.build, which needs no evaluation of loops. So a wrong name is accepted if it is joined from
texts of one file; a right one is never refused.

The cases of a program are in the source of its name, test_dispatch.c for pds_dispatch, or in
sources of the folder that have the name of no program. If no source has its name, they are
in any of the folder. Comments are not read.
"""

import pathlib
import re

import sources

TEST = re.compile(r"^\s*test\(\s*'([^']*)'\s*(\+\s*\w+)?", re.M)
PLACE = re.compile(r"@\d@")
# A literal may contain the begin of a comment: it is kept, as group 1.
C_COMMENT = re.compile(r"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')|//[^\n]*|/\*.*?\*/""", re.S)
SCRIPT_COMMENT = re.compile(r"#[^\n]*")
# Sources that contain the names of cases, and their comments.
COMMENTS = {".c": C_COMMENT, ".h": C_COMMENT, ".py": SCRIPT_COMMENT, ".sh": SCRIPT_COMMENT}
# Of a program's own source.
PREFIX = "test_"


def words(text):
    """Return the words of a text that may be names of cases."""
    return set("".join(c if c.isalnum() or c in "_-" else " " for c in text).split())


def words_of_source(path):
    """Return the words of a source outside of its comments."""
    return words(COMMENTS[path.suffix].sub(lambda found: found[1] if found.lastindex else " ",
                                           path.read_text(encoding="utf-8")))


def own_sources(program, paths):
    """Return those of a folder's sources that have the name of a program: the longest such name."""
    named = {}
    for path in paths:
        stem = path.stem.removeprefix(PREFIX).replace("-", "_")
        if path.suffix != ".h" and f"_{program.replace('-', '_')}".endswith(f"_{stem}"):
            named.setdefault(len(stem), []).append(path)
    return named[max(named)] if named else []


def literals(text):
    """Return all texts of a meson.build."""
    return set(re.findall(r"'([^'\n]*)'", text))


class Programs:
    """The tests of all meson.build files below a folder, and the words in their sources."""

    def __init__(self, top):
        self.top = top
        self.files = [name for name in sources.files(top)]
        self.names = []     # (pattern, texts, folder)
        self.known = {}     # {path: words}
        for name in self.files:
            folder, _, base = name.rpartition("/")
            if base == "meson.build":
                self.read((top / name).read_text(encoding="utf-8"), folder)

    def read(self, text, folder):
        """Add the tests of one meson.build."""
        texts = literals(text)
        for literal, variable in TEST.findall(text):
            parts = PLACE.split(literal) + ([""] if variable else [])
            pattern = re.compile("(.+)".join(re.escape(part) for part in parts))
            self.names.append((pattern, texts, folder))

    def folders(self, program):
        """Return the folders whose meson.build defines a test of this name."""
        found = set()
        for pattern, texts, folder in self.names:
            match = pattern.fullmatch(program)
            if match and texts.issuperset(match.groups()):
                found.add(folder)
        return found

    def words_of(self, path):
        """Return the words of a source; read once."""
        if path not in self.known:
            self.known[path] = words_of_source(self.top / path)
        return self.known[path]

    def has_case(self, folder, program, case):
        """Return whether a source of the program has a word: the name of a case."""
        paths = [pathlib.Path(name) for name in self.files
                 if name.startswith(folder + "/") and pathlib.Path(name).suffix in COMMENTS]
        own = own_sources(program, paths)
        shared = [path for path in paths if not own or not path.name.startswith(PREFIX)]
        return any(case in self.words_of(path) for path in own + shared)

    def problem(self, program, case):
        """Return why there is no such case, or None."""
        folders = self.folders(program)
        if not folders:
            return f"meson defines no test {program}"
        if not any(self.has_case(folder, program, case) for folder in folders):
            return f"no source of the test {program} has a case {case}"
        return None
