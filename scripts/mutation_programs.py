# SPDX-License-Identifier: MIT
"""Tests that meson.build defines, read from the sources: a tree without a build has no other list.

Used by mutations.py for rows of kind unit. A name is a text, a text with numbered places
('scan_@0@'.format(…)) or a text and a variable ('pds_' + name): a variable may be each text of its
meson.build, which needs no evaluation of loops. So a wrong name is accepted if it is joined from
texts of one file; a right one is never refused.
"""

import re

import sources

TEST = re.compile(r"^\s*test\(\s*'([^']*)'\s*(\+\s*\w+)?", re.M)
PLACE = re.compile(r"@\d@")
# Sources that contain the names of cases.
SUFFIXES = (".c", ".h", ".py", ".sh")


def words(text):
    """Return the words of a text that may be names of cases."""
    return set("".join(c if c.isalnum() or c in "_-" else " " for c in text).split())


def literals(text):
    """Return all texts of a meson.build."""
    return set(re.findall(r"'([^'\n]*)'", text))


class Programs:
    """The tests of all meson.build files below a folder, and the words in their sources."""

    def __init__(self, top):
        self.top = top
        self.files = [name for name in sources.files(top)]
        self.names = []     # (pattern, texts, folder)
        self.known = {}     # {folder: words}
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

    def has_case(self, folder, case):
        """Return whether a source in the folder has a word: the name of a case of its tests."""
        if folder not in self.known:
            self.known[folder] = set()
            for name in self.files:
                if name.startswith(folder + "/") and name.endswith(SUFFIXES):
                    text = (self.top / name).read_text(encoding="utf-8")
                    self.known[folder] |= words(text)
        return case in self.known[folder]

    def problem(self, program, case):
        """Return why there is no such case, or None."""
        folders = self.folders(program)
        if not folders:
            return f"meson defines no test {program}"
        if not any(self.has_case(folder, case) for folder in folders):
            return f"no source in the folder of the test {program} has a case {case}"
        return None
