#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Our tests build in an IGT source tree: here in one that is made of our layer and has what
IGT's own build files and lib/drmtest.[ch] offer to a driver's folder."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPT = TOP / "scripts/igt-in-tree.py"
LIBRARY = ("children", "cleanup", "drmtest", "igt_core", "kmsg", "log", "options")
PROGRAMS = sorted(path.stem for path in (TOP / "tests/igt").glob("pumice_*.c"))
BUILD = {
    "meson.build": """\
project('igt-gpu-tools', 'c', default_options: ['c_std=gnu11', 'warning_level=1'])
libdir = get_option('libdir')
libexecdir = join_paths(get_option('libexecdir'), 'igt-gpu-tools')
v3ddir = join_paths(libexecdir, 'v3d')
add_project_arguments('-D_GNU_SOURCE', '-Werror=declaration-after-statement', language: 'c')
inc = include_directories('include/drm-uapi', 'lib')
if true
	v3d_rpathdir = '$ORIGIN'
	foreach p : v3ddir.split('/')
		v3d_rpathdir = join_paths(v3d_rpathdir, '..')
	endforeach
	v3d_rpathdir = join_paths(v3d_rpathdir, libdir)
else
	v3d_rpathdir = ''
endif
subdir('lib')
subdir('tests')
""",
    "lib/meson.build": """\
lib_sources = [%s]
lib_deps = [dependency('libdrm')]
lib_igt_build = static_library('igt', lib_sources, include_directories: inc,
			       dependencies: lib_deps)
lib_igt = declare_dependency(link_with : lib_igt_build, include_directories : inc)
igt_deps = [ lib_igt ] + lib_deps
""" % ", ".join(f"'{name}.c'" for name in LIBRARY),
    "tests/meson.build": """\
test_deps = [ igt_deps ]
test_executables = []
test_list = []

subdir('v3d')

custom_target('testlist', output : 'test-list.txt', command : [ 'echo', test_list ],
	      capture : true, build_by_default : true)
""",
    "tests/v3d/meson.build": "test_list += 'v3d/v3d_nothing'\n",
}


def run(*command, **environment):
    """Run a command; (exit status, output)."""
    done = subprocess.run(command, check=False, capture_output=True, text=True,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout + done.stderr


class InTree(unittest.TestCase):
    """make igt-in-tree."""

    def setUp(self):
        self.tree = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.tree)
        shutil.copytree(TOP / "tests/igt/lib", self.tree / "lib")
        for name in ("drmtest.c", "drmtest.h"):
            path = self.tree / "lib" / name
            path.write_text(re.sub(r"^.*DRIVER_PUMICE.*\n", "", path.read_text(), flags=re.M))
        for name, text in BUILD.items():
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            (self.tree / name).write_text(text)

    def put(self):
        """Run the script on the tree; it must work."""
        status, output = run(SCRIPT, self.tree)
        self.assertEqual(status, 0, output)

    def files(self):
        """Return {path: text} of the tree."""
        return {path: path.read_text() for path in self.tree.rglob("*") if path.is_file()}

    def build(self):
        """Put, build and install; the folder with the programs."""
        status, self.listed = run(SCRIPT, "--build", self.tree)
        self.assertEqual(status, 0, self.listed)
        status, output = run("meson", "configure", "-Dprefix=" + str(self.tree / "usr"),
                             "-Dlibexecdir=libexec", self.tree / "build")
        self.assertEqual(status, 0, output)
        jobs = os.environ.get("JOBS", "2")
        status, output = run("ninja", "-C", self.tree / "build", "-j", jobs, "install")
        self.assertEqual(status, 0, output)
        return self.tree / "usr/libexec/igt-gpu-tools/pumice"

    def test_programs_build_and_describe_their_subtests(self):
        folder = self.build()
        self.assertEqual(sorted(path.name for path in folder.iterdir()), PROGRAMS)
        for program in PROGRAMS:
            with self.subTest(program):
                status, output = run(folder / program, "--list-subtests")
                self.assertEqual(status, 0)
                status, described = run(folder / program, "--describe")
                self.assertEqual(status, 0)
                self.assertNotIn("NO DOCUMENTATION", described)
                places = re.findall(r"^SUB (\S+) (\S+\.c:\d+):$", described, re.M)
                self.assertEqual([name for name, _place in places], output.split())
                for name, _place in places:
                    self.assertIn(f"igt@pumice/{program}@{name}\n", self.listed)
                # Each where it is written, and none where a macro is defined.
                self.assertEqual(len({place for _name, place in places}), len(places))
        # Made before the list is: the runner finds them there.
        self.assertEqual((self.tree / "build/tests/test-list.txt").read_text().split(),
                         [*(f"pumice/{name}" for name in PROGRAMS), "v3d/v3d_nothing"])

    def test_driver_has_a_bit_of_its_own_and_its_place_by_name(self):
        self.put()
        text = (self.tree / "lib/drmtest.h").read_text()
        bits = dict(re.findall(r"^#define DRIVER_(\w+)\s+\(1 << (\d+)\)", text, re.M))
        self.assertIn("PUMICE", bits)
        self.assertEqual(len(set(bits.values())), len(bits))
        names = re.findall(r"\{ DRIVER_\w+, \"(\w+)\" \}",
                           (self.tree / "lib/drmtest.c").read_text())
        self.assertEqual(names, sorted(names))
        self.assertIn("pumice", names)

    def test_sources_are_unchanged_but_for_the_uapi_header(self):
        self.put()
        for program in PROGRAMS:
            self.assertEqual((self.tree / f"tests/pumice/{program}.c").read_bytes(),
                             (TOP / f"tests/igt/{program}.c").read_bytes())
        want = (TOP / "tests/fixture/gpu.h").read_text()
        self.assertEqual((self.tree / "lib/pumice/gpu.h").read_text(),
                         want.replace("<drm/pumice_drm.h>", '"pumice_drm.h"'))

    def test_every_source_has_licence_and_copyright(self):
        self.put()
        for folder in ("tests/pumice", "lib/pumice", "include/drm-uapi"):
            for path in (self.tree / folder).glob("*.[ch]"):
                with self.subTest(path.name):
                    self.assertIn("SPDX-License-Identifier", path.read_text())
                    self.assertIn("Copyright", path.read_text())

    def test_no_process_is_forked_past_igt(self):
        for path in (TOP / "tests/igt").glob("*.c"):
            self.assertNotRegex(path.read_text(), r"\bv?fork\(", path.name)

    def test_again_changes_nothing(self):
        self.put()
        first = self.files()
        self.put()
        self.assertEqual(self.files(), first)

    def test_folder_that_was_listed_too_late_moves(self):
        path = self.tree / "tests/meson.build"
        path.write_text(path.read_text() + "subdir('pumice')\n")
        self.put()
        text = path.read_text()
        self.assertEqual(text.count("subdir('pumice')"), 1)
        self.assertLess(text.index("subdir('pumice')"), text.index("subdir('v3d')"))

    def test_tree_without_a_place_for_our_lines_is_refused(self):
        (self.tree / "tests/meson.build").write_text("test_list = []\n")
        status, output = run(SCRIPT, self.tree)
        self.assertNotEqual(status, 0)
        self.assertIn("tests/meson.build has no line like", output)

    def test_tree_with_blocks_of_old_is_refused(self):
        path = self.tree / "lib/igt_core.h"
        path.write_text(path.read_text().replace("#define igt_fixture()", "#define igt_fixture"))
        status, output = run(SCRIPT, self.tree)
        self.assertNotEqual(status, 0)
        self.assertIn("too old", output)
        self.assertFalse((self.tree / "tests/pumice").exists())

    def test_other_folders_are_refused(self):
        status, output = run(SCRIPT, self.tree / "lib")
        self.assertNotEqual(status, 0)
        self.assertIn("is not an IGT source tree", output)
        self.assertNotEqual(run(SCRIPT)[0], 0)


if __name__ == "__main__":
    unittest.main()
