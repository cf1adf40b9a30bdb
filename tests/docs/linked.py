# SPDX-License-Identifier: MIT
"""Sources in the programs of unit tests, read from build/native, which must be complete.

A source is in a program that has all global symbols of its object, by itself or in a library of the
build folder that it loads: an archive's object is linked whole or not at all. The objects of a
program's own sources, which may have main() only, are in the folder of its target. A fake that
defines all names of a source counts as that source.
"""

import functools
import json
import pathlib
import re
import subprocess

import session

NATIVE = session.BUILD / "native"
ELF = b"\x7fELF"


def output(*command):
    """Return what a command prints; it must succeed."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@functools.cache
def symbols(path, *options):
    """Return the symbols that an object, program or library defines, without main()."""
    lines = output("nm", "--defined-only", "--portability", *options, str(path)).splitlines()
    return {line.split()[0] for line in lines if " " in line} - {"main"}


@functools.cache
def symbols_with_libraries(program, build):
    """Return the symbols of a program and of the libraries of a build folder that it loads."""
    paths = map(pathlib.Path, re.findall(r"=> (/\S+)", output("ldd", str(program))))
    return symbols(program).union(*(symbols(path) for path in paths
                                    if build in path.resolve().parents))


def is_elf(path):
    """Return whether a file is a program, a library or an object."""
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.read(len(ELF)) == ELF


class Build:
    """The objects and tests of a build folder of meson."""

    def __init__(self, build=NATIVE):
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

    def is_in(self, source, test):
        """Return whether a source is in a program of a test."""
        return any(f"{program}.p" == str(path.parent) or
                   (symbols(path, "--extern-only") and
                    symbols(path, "--extern-only") <= symbols_with_libraries(program, self.build))
                   for program in self.tests[test] for path in self.objects[source])
