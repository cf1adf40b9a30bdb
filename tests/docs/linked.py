# SPDX-License-Identifier: MIT
"""Which sources are in the programs of the unit tests, read from build/native.

A source is in a program that has all global symbols of its object: by itself, or in a library of the
build folder that it loads. A source of the program's own, whose only global symbol may be main(), is
in the folder of its target. Fakes of tests that have all names of a source are not told apart from it.
"""

import functools
import json
import pathlib
import re
import subprocess

import session

BUILD = session.BUILD / "native"
ELF = b"\x7fELF"


def output(*command):
    """Return what a command prints; it must succeed."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def symbols(path, *options):
    """Return the symbols that an object, program or library defines."""
    lines = output("nm", "--defined-only", "--portability", *options, str(path)).splitlines()
    return {line.split()[0] for line in lines if " " in line} - {"main"}


def is_elf(path):
    """Return whether a file is a program or library."""
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.read(4) == ELF


class Build:
    """The objects and tests of a build folder of meson."""

    def __init__(self, build=BUILD):
        self.build = build.resolve()
        self.objects = {}       # {source: objects}
        self.tests = {}         # {test: programs}
        for row in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
            source = (self.build / row["file"]).resolve()
            self.objects.setdefault(source, []).append(self.build / row["output"])
        for row in json.loads((build / "meson-info/intro-tests.json").read_text(encoding="utf-8")):
            self.tests[row["name"]] = self.programs([*row["cmd"], *row["env"].values()])

    def programs(self, words):
        """Return those words of a command that are programs of the build folder."""
        paths = [self.build / word for word in words]
        return [path for path in paths if self.build in path.parents and is_elf(path)]

    @functools.cache
    def names(self, path):
        """Return the global symbols of an object."""
        return symbols(path, "--extern-only")

    @functools.cache
    def linked(self, program):
        """Return the symbols of a program and of the libraries of the build folder that it loads."""
        paths = [pathlib.Path(path) for path in re.findall(r"=> (/\S+)", output("ldd", str(program)))]
        return symbols(program).union(*(symbols(path) for path in paths
                                        if self.build in path.resolve().parents))

    def is_in(self, source, test):
        """Return whether a source is in a program of a test."""
        return any(f"{program}.p" == str(path.parent) or
                   (self.names(path) and self.names(path) <= self.linked(program))
                   for program in self.tests[test] for path in self.objects[source])
