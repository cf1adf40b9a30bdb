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
                   if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "PARAMETERS")}
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
        result = make("help", "TESTS=t_submit t_sync:A", "PREFIX=/usr", "PRESET_TESTS=all", "TSAN_TESTS=all")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_parts_of_their_own_run_all_tests(self):
        for target, words in (("check-igt", "IGT_TESTS=all "), ("check-kernels", "KERNEL_TESTS=all "),
                              ("check-strict", "STRICT_TESTS=all "), ("check-presets", "PRESET_TESTS=all "),
                              ("check-debug", "DEBUG_TESTS=all "), ("tsan", "TSAN_TESTS=all "),
                              ("check-docs", "DOCS_TESTS=all "), ("check-unit", "UNIT_TESTS=all ")):
            with self.subTest(target=target):
                *_, last = make("-n", "--no-print-directory", target).stdout.splitlines()
                self.assertTrue(last.startswith(words), last)

    def test_a_check_has_all_its_parts(self):
        *_, last = make("-n", "--no-print-directory", "check").stdout.splitlines()
        self.assertEqual(last.split()[1:], "lint unit builds -- guest debug igt kernels presets strict docs "
                         "mutations tsan".split())

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


class Recipes(unittest.TestCase):
    """Values of variables reach the programs as they are, with recipes run on programs that only log."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.top = pathlib.Path(holder.name)
        (self.top / "scripts").mkdir()
        (self.top / "Makefile").symlink_to(TOP / "Makefile")
        for name in ("firm", "ware"):
            (self.top / name).touch()   # a pattern must not be replaced by their names

    def make(self, *arguments):
        """Run make in the folder, with its own build folder."""
        result = make("-C", self.top, *arguments, f"BUILD={self.top}/build", f"OUT={self.top}/out",
                      "QEMU_VERSION=")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def words(self, program, target, products, *variables):
        """Return the arguments of the program in the recipe, with its products as up to date."""
        path = self.top / "scripts" / program
        path.write_text(f'#!/bin/sh\nfor word; do printf "%s\\0" "$word"; done >{self.top}/words\n',
                        encoding="ascii")
        path.chmod(0o755)
        old = [word for name in products for word in ("-o", f"{self.top}/build/{name}")]
        self.make(*old, target, *variables)
        return (self.top / "words").read_text(encoding="utf-8").split("\0")[:-1]

    def test_parameters_of_reload_are_one_word(self):
        for value in ("", 'dyndbg="file', 'dyndbg="file a.c +p"', "dyndbg='file a.c +p'", "slice_us=500\\",
                      "a=1 b=2", "a=`true`"):
            variables = [f"PARAMETERS={value}"] if value else []
            words = self.words("reload.py", "reload", ["module/stock.ko", "firmware/pumice_fw.bin"],
                               *variables)
            self.assertEqual(words[-2:], ["--parameters", value])

    def test_selected_mutations_are_words(self):
        products = ["qemu/qemu-system-x86_64", "guest/programs.cpio", "guest/igt.cpio", "kernel/.fast",
                    ".packages-check"]
        for value, wanted in (("", []), ("cdm-* f* 'a", ["cdm-*", "f*", "'a"])):
            self.assertEqual(self.words("mutations.py", "mutations", products, f"ONLY={value}"), wanted)
        self.assertEqual(self.words("mutations.py", "mutations", products, "ONLY=f*", "SHARD=1/4"),
                         ["f*", "--shard", "1/4"])

    def test_a_base_and_a_folder_are_one_word(self):
        products = [".packages-bench", "qemu/qemu-system-x86_64", "guest/stock.cpio",
                    "guest/programs.cpio"]
        for value in ("f*", "HEAD^{/a \"b}", "it's"):
            self.assertEqual(self.words("bench_against.py", "bench-against", products, f"BASE={value}"),
                             [value])
            self.assertEqual(self.words("igt-in-tree.py", "igt-in-tree", ["gen/.done"],
                                        f"IGT_SRC={value}"), ["--build", value])

    def test_tools_of_the_shell_are_words(self):
        target = f"{self.top}/build/guest/tools.cpio"
        self.assertEqual(self.words("make-image.py", target, [], "TOOLS=f* g'db"),
                         ["tools", target, "f*", "g'db"])

    def test_a_setting_may_have_an_apostrophe(self):
        self.make("help", "QEMU_SRC=/it's/qemu")
        self.assertEqual((self.top / "build/.set-qemu").read_text(encoding="ascii").strip(),
                         "/it's/qemu")


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
