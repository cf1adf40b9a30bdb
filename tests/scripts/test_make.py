# SPDX-License-Identifier: MIT
"""Command lines of make that are wrong."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent.parent


def make(*arguments):
    """Run make without the variables of the make that runs the tests."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")}
    return subprocess.run(["make", "-C", TOP, *arguments], capture_output=True, text=True,
                          check=False, env=environment)


class Variables(unittest.TestCase):
    """Variables of the command line."""

    def test_an_unknown_one_is_refused(self):
        result = make("help", "PREFX=/usr")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, "unknown variable PREFX; known: .*PREFIX")
        self.assertNotIn("make run", result.stdout)

    def test_known_ones_are_accepted(self):
        result = make("help", "TESTS=t_submit t_sync:A", "PREFIX=/usr")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_prefix_is_absolute(self):
        result = subprocess.run([TOP / "scripts/install.sh"], capture_output=True, text=True,
                                check=False, env={**os.environ, "PREFIX": "usr"})
        self.assertEqual(result.returncode, 1)
        self.assertIn("error: PREFIX=usr is not absolute\n", result.stderr)

    def test_gdb_of_the_shell_is_0_or_1(self):
        for value in ("yes", "2", "01", "/usr/bin/gdb"):
            result = subprocess.run(
                [TOP / "scripts/shell.sh"], capture_output=True, text=True, check=False,
                stdin=subprocess.DEVNULL, env={**os.environ, "CORES": "1", "THREADS": "0", "GDB": value})
            self.assertEqual(result.returncode, 1)
            self.assertEqual(result.stderr, f"error: GDB={value} is neither 0 nor 1\n"
                             "       make shell GDB=1 has sockets for debuggers\n")


class Archive(unittest.TestCase):
    """make dist."""

    def test_a_tree_that_is_not_a_clone_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("scripts/dist.sh", "scripts/lib.sh", "meson.build"):
                (pathlib.Path(folder) / name).parent.mkdir(exist_ok=True)
                shutil.copy(TOP / name, pathlib.Path(folder) / name)
            result = subprocess.run([f"{folder}/scripts/dist.sh"], capture_output=True, text=True,
                                    check=False, env={**os.environ, "OUT": folder, "BUILD": folder,
                                                      "GIT_CEILING_DIRECTORIES":
                                                      str(pathlib.Path(folder).parent)})
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, f"error: {folder} is not a clone of the repository\n"
                                        "       make dist archives a commit: run it in a clone\n")


if __name__ == "__main__":
    unittest.main()
