# SPDX-License-Identifier: MIT
"""Rows of the benchmarks that must not be missing."""

import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import bench  # noqa: E402  pylint: disable=wrong-import-position


class Rows(unittest.TestCase):
    """Rows of pumice-bench, whose place a function takes, as that of meson and ninja."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name)
        (self.build / "native").mkdir()
        self.set_up("")
        self.options_of_setup = ""      # for the compiler, if the folder is set up again
        self.omitted = False    # pumice-bench, by meson
        self.programs, self.targets = [], []
        self.rows = [{"name": "saxpy", "unit": "GB/s", "ours": 1, "peer": None, "ratio": None,
                      "goal": None, "limit": None, "met": None, "peer_name": ""}]
        for name, value in (("BUILD", self.build), ("OUT", self.build),
                            ("NATIVE", self.build / "native")):
            patch = mock.patch.object(bench, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def set_up(self, options):
        """Make the list of commands with options of the compiler."""
        (self.build / "native/compile_commands.json").write_text(
            json.dumps([{"command": f"cc {options} -c rays.c"}]), encoding="ascii")

    def run_program(self, command, **_):
        """Take the place of a program."""
        name = pathlib.Path(command[0]).name
        self.programs.append(name)
        if name == "meson":
            self.set_up(self.options_of_setup)
        elif name == "ninja":
            self.targets = command[3:]
            if not self.omitted:
                (self.build / "native/pumice-bench").touch()
        else:
            pathlib.Path(command[command.index("-o") + 1]).write_text(
                json.dumps(self.rows), encoding="ascii")
        return mock.Mock(returncode=0)

    def bench(self, *arguments):
        """Run the script in this process; return what it prints."""
        with mock.patch("sys.argv", ["bench.py", "--no-guest", *arguments]), \
                mock.patch("builtins.print") as printed, \
                mock.patch.object(bench.subprocess, "run", self.run_program):
            bench.main()
        return "\n".join(call.args[0] for call in printed.call_args_list)

    def test_without_embree_nothing_is_measured(self):
        """Rows of rays would be missing, which is known before the others are measured."""
        with self.assertRaisesRegex(SystemExit, "no rows of rays\n.*libembree-dev"):
            self.bench()
        self.assertEqual(self.programs, ["meson", "ninja"])

    def test_with_embree_all_is_measured(self):
        self.set_up("-DHAVE_EMBREE")
        (self.build / "native/pumice-bench").touch()
        self.bench()
        self.assertEqual(self.programs, ["ninja", "pumice-bench"])
        self.assertEqual(self.targets, ["tests/bench/pumice-bench",
                                        "userspace/libpumice/pumice_fw.bin"])

    def test_a_folder_set_up_before_embree_was_installed_is_set_up_again(self):
        self.options_of_setup = "-DHAVE_EMBREE"
        (self.build / "native/pumice-bench").touch()
        self.bench()
        self.assertEqual(self.programs, ["meson", "ninja", "pumice-bench"])
        self.assertEqual(self.targets, [])      # all, since a folder set up again is empty

    def test_a_program_that_meson_omits_is_reported_with_the_packages(self):
        """The name of a row and Embree change nothing: there is no program to run."""
        self.omitted = True
        for options, arguments in (("", ()), ("", ("--name", "saxpy")),
                                   ("-DHAVE_EMBREE", ()), ("-DHAVE_EMBREE", ("--name", "saxpy"))):
            with self.subTest(options=options, arguments=arguments):
                self.options_of_setup = options
                with self.assertRaisesRegex(SystemExit, r"OpenCL, EGL.*\n.*\[bench\] of "
                                                        "scripts/packages.txt"):
                    self.bench(*arguments)
        self.assertEqual(self.programs, 4 * ["meson", "ninja"])

    def test_chosen_rows_need_no_embree(self):
        self.bench("--name", "saxpy")
        self.assertEqual(self.programs, ["meson", "ninja", "pumice-bench"])

    def test_for_chosen_rows_a_program_without_embree_is_not_built_from_scratch(self):
        (self.build / "native/pumice-bench").touch()
        self.bench("--name", "saxpy")
        self.assertEqual(self.programs, ["ninja", "pumice-bench"])
        self.assertEqual(self.targets, ["tests/bench/pumice-bench",
                                        "userspace/libpumice/pumice_fw.bin"])

    def test_chosen_rows_without_embree_are_noted(self):
        (self.build / "native/pumice-bench").touch()
        note = f"built without Embree.* libembree-dev .*meson setup --wipe {self.build}/native"
        self.assertRegex(self.bench("--name", "saxpy"), note)
        self.set_up("-DHAVE_EMBREE")
        self.assertNotIn("Embree", self.bench("--name", "saxpy"))

    def test_a_name_that_selects_no_row_is_reported(self):
        (self.build / "native/pumice-bench").touch()
        self.rows = []
        with self.assertRaisesRegex(SystemExit, "no row has rays in its name, .* without Embree.*\n"
                                                ".*install libembree-dev .*meson setup --wipe"):
            self.bench("--name", "rays")
        self.set_up("-DHAVE_EMBREE")
        with self.assertRaisesRegex(SystemExit, "no row has raise in its name\n.*benchmarks.rst"):
            self.bench("--name", "raise")


if __name__ == "__main__":
    unittest.main()
