#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Our tests build unchanged in an IGT source tree: here in one that is made of our layer
and has what IGT's own build files offer to a driver's folder."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPT = TOP / "scripts/igt-in-tree.sh"
BUILD = {
    "meson.build": """\
project('igt-gpu-tools', 'c', default_options: ['c_std=gnu11', 'warning_level=1'])
libexecdir = 'libexec/igt-gpu-tools'
libexecdir_rpathdir = ''
add_project_arguments('-D_GNU_SOURCE', language: 'c')
subdir('lib')
subdir('tests')
""",
    "lib/meson.build": """\
igt = static_library('igt', 'children.c', 'igt_core.c', 'log.c', 'options.c')
test_deps = declare_dependency(link_with: igt, include_directories: include_directories('.'),
                               dependencies: dependency('libdrm'))
""",
    "tests/meson.build": "test_executables = []\ntest_list = []\n",
}


def run(*command):
    """Run a command; (exit status, output)."""
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


class InTree(unittest.TestCase):
    """make igt-in-tree."""

    def setUp(self):
        self.tree = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.tree)
        shutil.copytree(TOP / "tests/igt/lib", self.tree / "lib")
        (self.tree / "tests").mkdir()
        for name, text in BUILD.items():
            (self.tree / name).write_text(text)

    def put(self):
        """Run the script on the tree; it must work."""
        status, output = run(SCRIPT, self.tree)
        self.assertEqual(status, 0, output)

    def test_programs_build_and_list_their_subtests(self):
        self.put()
        status, output = run("meson", "setup", self.tree / "build", self.tree)
        self.assertEqual(status, 0, output)
        jobs = os.environ.get("JOBS", "2")
        status, output = run("ninja", "-C", self.tree / "build", "-j", jobs)
        self.assertEqual(status, 0, output)
        for source in (TOP / "tests/igt").glob("pumice_*.c"):
            with self.subTest(source.stem):
                status, output = run(self.tree / "build/tests/pumice" / source.stem,
                                     "--list-subtests")
                self.assertEqual(status, 0)
                self.assertTrue(output)

    def test_sources_are_unchanged(self):
        self.put()
        for source in (TOP / "tests/igt").glob("pumice_*.c"):
            self.assertEqual((self.tree / "tests/pumice" / source.name).read_bytes(),
                             source.read_bytes())

    def test_again_changes_nothing(self):
        self.put()
        first = (self.tree / "tests/meson.build").read_text()
        self.put()
        self.assertEqual((self.tree / "tests/meson.build").read_text(), first)
        self.assertEqual(first.count("subdir('pumice')"), 1)

    def test_other_folders_are_refused(self):
        status, output = run(SCRIPT, self.tree / "lib")
        self.assertNotEqual(status, 0)
        self.assertIn("is no IGT source tree", output)
        self.assertNotEqual(run(SCRIPT)[0], 0)


if __name__ == "__main__":
    unittest.main()
