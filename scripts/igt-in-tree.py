#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Add our IGT tests to an IGT source tree, with the layout of a driver's tests:

    igt-in-tree.py [--build] IGT_SRC

    tests/pumice/        the programs, a meson.build
    lib/igt_pumice.[ch]  what they share; lib/pumice/ what that is made of
    include/drm-uapi/    the uapi headers
    lib/drmtest.[ch]     DRIVER_PUMICE, for --device, IGT_DEVICE and the module's loading
    meson.build (three)  install folder, library, the tests before test-list.txt is made

--build then builds IGT in IGT_SRC/build, and lists our subtests. A second run updates all of
this. It supports IGT trees whose blocks are written igt_main(), as in 2.4. Sources are copied
unmodified except for the name of the uapi header's folder, and a copyright line if there is none.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build"))
OWN = TOP / "tests/igt"
# Files of this layer that IGT does not need, as it has its own.
OURS_ONLY = ("layer_sample", "gputop_load")
COPYRIGHT = "/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */\n"
# In lists sorted by name our lines are added before those of this driver.
NEIGHBOUR = "v3d"

LIB_BUILD = """\
# SPDX-License-Identifier: MIT
lib_igt_pumice_build = static_library('igt_pumice',
	[
		'../igt_pumice.c',
{sources}
	],
	dependencies : igt_deps)

lib_igt_pumice = declare_dependency(link_with : lib_igt_pumice_build,
				    include_directories : include_directories('.'))
"""
TESTS_BUILD = """\
# SPDX-License-Identifier: MIT
{programs}

foreach prog, others : pumice_progs
	test_executables += executable(prog, [ prog + '.c' ] + others,
				       dependencies : test_deps + [ lib_igt_pumice ],
				       install_dir : pumicedir,
				       install_rpath : pumice_rpathdir,
				       install : true)
	test_list += join_paths('pumice', prog)
endforeach
"""
RPATH = """\
	pumice_rpathdir = '$ORIGIN'
	foreach p : pumicedir.split('/')
		pumice_rpathdir = join_paths(pumice_rpathdir, '..')
	endforeach
	pumice_rpathdir = join_paths(pumice_rpathdir, libdir)

"""


def fail(text):
    """Exit with a message."""
    sys.exit(f"igt-in-tree.py: {text}")


def put(source, folder):
    """Copy a source into a folder of the tree."""
    text = source.read_text(encoding="utf-8")
    text = re.sub(r"#include <drm/(pumice_\w+\.h)>", r'#include "\1"', text)
    if "Copyright" not in text:
        first, rest = text.split("\n", 1)
        text = f"{first}\n{COPYRIGHT}{rest}"
    (folder / source.name).write_text(text, encoding="utf-8")


def sources(*patterns):
    """List the C files of this tree and of the build folder."""
    return sorted(path for pattern in patterns for path in pattern.parent.glob(pattern.name))


def empty(folder):
    """Create an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def programs():
    """Return the programs and the additional files of each, from tests/igt/meson.build."""
    text = (OWN / "meson.build").read_text(encoding="utf-8")
    return re.search(r"^igt_programs (= \{\n.*?^\})", text, re.M | re.S)[1]


def put_tests(src):
    """Copy the programs. Returns their number."""
    to = empty(src / "tests/pumice")
    for path in sources(OWN / "*.[ch]"):
        if path.stem not in OURS_ONLY and path.stem != "igt_pumice":
            put(path, to)
    text = TESTS_BUILD.format(programs=f"pumice_progs {programs()}")
    (to / "meson.build").write_text(text, encoding="utf-8")
    return len(list(to.glob("pumice_*.c")))


def put_library(src):
    """Copy the programs' shared files, including generated ones."""
    to = empty(src / "lib/pumice")
    for path in sources(OWN / "igt_pumice.[ch]"):
        put(path, src / "lib")
    for path in sources(TOP / "tests/fixture/*.[ch]", TOP / "hw/perf.h", TOP / "hw/decode/*.[ch]",
                        BUILD / "gen/*.h", BUILD / "gen/pumice_isa*.c",
                        BUILD / "gen/pumice_*_table.c", BUILD / "gen/pumice_decode*.c"):
        put(path, to)
    names = "\n".join(f"\t\t'{path.name}'," for path in sorted(to.glob("*.c")))
    (to / "meson.build").write_text(LIB_BUILD.format(sources=names), encoding="utf-8")
    headers = src / "include/drm-uapi"
    headers.mkdir(parents=True, exist_ok=True)
    for path in sources(TOP / "uapi/drm/*.h"):
        put(path, headers)


class Edit:
    """One of IGT's own files while our lines are added to it."""

    def __init__(self, src, name):
        self.path, self.name = src / name, name
        self.text = self.path.read_text(encoding="utf-8")

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None:
            self.path.write_text(self.text, encoding="utf-8")

    def insert(self, lines, anchor, after=False):
        """Insert lines before (or after) the line that matches a pattern, unless present."""
        if lines.strip("\n") in self.text:
            return
        found = list(re.finditer(rf"^{anchor}.*\n", self.text, re.M))
        if not found:
            fail(f"{self.name} has no line like \"{anchor}\": add manually\n{lines}")
        at = found[-1].end() if after else found[-1].start()
        self.text = self.text[:at] + lines + self.text[at:]

    def remove(self, lines):
        """Remove lines, wherever they are."""
        self.text = self.text.replace(lines, "")


def add_driver(src):
    """Add DRIVER_PUMICE: a bit that no other driver has, and the module by its name."""
    with Edit(src, "lib/drmtest.h") as edit:
        bits = re.findall(r"^#define DRIVER_\w+\s+\(1 << (\d+)\)", edit.text, re.M)
        if not bits:
            fail("lib/drmtest.h defines no driver by its bit")
        if "DRIVER_PUMICE" not in edit.text:
            edit.insert(f"#define DRIVER_PUMICE\t(1 << {max(map(int, bits)) + 1})\n",
                        r"#define DRIVER_\w+\s+\(1 << \d+\)", after=True)
    with Edit(src, "lib/drmtest.c") as edit:
        edit.insert("\t{ DRIVER_PUMICE, \"pumice\" },\n", rf"\t\{{ DRIVER_{NEIGHBOUR.upper()},")


def add_build(src):
    """Add the lines of IGT's own build files."""
    with Edit(src, "meson.build") as edit:
        edit.insert("pumicedir = join_paths(libexecdir, 'pumice')\n", f"{NEIGHBOUR}dir = ")
        edit.insert(RPATH, rf"\s+{NEIGHBOUR}_rpathdir = '\$ORIGIN'")
        edit.insert("\tpumice_rpathdir = ''\n", rf"\s+{NEIGHBOUR}_rpathdir = ''")
    with Edit(src, "lib/meson.build") as edit:
        edit.insert("subdir('pumice')\n", "igt_deps = ", after=True)
    with Edit(src, "tests/meson.build") as edit:
        if not re.search(rf"^subdir\('pumice'\)\n\nsubdir\('{NEIGHBOUR}'\)", edit.text, re.M):
            edit.remove("subdir('pumice')\n")
            edit.insert("subdir('pumice')\n\n", rf"subdir\('{NEIGHBOUR}'\)")


def need_blocks(src):
    """Reject a tree whose blocks have another form than ours."""
    core = (src / "lib/igt_core.h").read_text(encoding="utf-8")
    for block in ("igt_main", "igt_fixture", "igt_subtest_group"):
        if not re.search(rf"^#define {block}\(\)", core, re.M):
            fail(f"{src} is too old: its lib/igt_core.h has no {block}() with parentheses")


def build(src):
    """Build the tree, and list our subtests."""
    folder = src / "build"
    if not (folder / "build.ninja").exists():
        subprocess.run(["meson", "setup", folder, src], check=True)
    subprocess.run(["ninja", "-C", folder, "-j", os.environ.get("JOBS", "2")], check=True)
    for program in sorted((folder / "tests").glob("**/pumice_*")):
        if program.is_file() and os.access(program, os.X_OK):
            done = subprocess.run([program, "--list-subtests"], check=True, capture_output=True,
                                  text=True)
            print("".join(f"igt@pumice/{program.name}@{name}\n" for name in done.stdout.split()),
                  end="")


def main():
    """Parse the command line and run."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--build"]
    if len(arguments) != 1 or not arguments[0]:
        fail("no IGT source tree named: make igt-in-tree IGT_SRC=DIR")
    src = pathlib.Path(arguments[0])
    if not all((src / name).exists() for name in ("lib/igt_core.h", "tests/meson.build")):
        fail(f"{src} is not an IGT source tree: it has no lib/igt_core.h or tests/meson.build")
    need_blocks(src)
    add_driver(src)
    add_build(src)
    put_library(src)
    count = put_tests(src)
    print(f"put {count} programs into {src}/tests/pumice", flush=True)
    if len(arguments) + 1 != len(sys.argv):
        build(src)


if __name__ == "__main__":
    main()
