# SPDX-License-Identifier: MIT
"""
scripts/check.sh: words that name no part, parts that cannot be built, and parts in the background
that end early.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
from xml.etree import ElementTree

TOP = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = TOP / "scripts/check.sh"


class Check(unittest.TestCase):
    def test_a_word_that_names_no_part_ends_the_script_before_the_first(self):
        for words in (["nosuch"], ["lint", "--", "igt", "nosuch"]):
            done = subprocess.run([SCRIPT, *words], text=True, capture_output=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("no part nosuch", done.stderr)
            self.assertNotIn("==", done.stdout)

    def test_every_part_has_a_name_and_every_name_a_part(self):
        script = SCRIPT.read_text(encoding="utf-8")
        body = re.search(r"^run_part\(\) \{\n(.*?)^\}", script, re.M | re.S)[1]
        names = re.search(r'^PARTS="([a-z ]+)"', script, re.M)[1].split()
        self.assertEqual(set(re.findall(r"^\t([a-z]+)\)$", body, re.M)), set(names))

    def test_qemu_is_that_of_make_without_its_environment(self):
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("PUMICE_QEMU", "BUILD", "MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
        for version in ("", "10.2"):
            with self.subTest(version=version), tempfile.TemporaryDirectory() as folder:
                environment.update(QEMU_VERSION=version, BUILD=folder, OUT=folder)
                made = subprocess.run(["make", "-s", "--eval", "path: ; @echo $(PUMICE_QEMU)", "path"],
                                      cwd=TOP, text=True, check=True, capture_output=True,
                                      env=environment)
                found = subprocess.run(
                    ["bash", "-c", f'source <(sed "\\$d" "{SCRIPT}"); printenv PUMICE_QEMU', SCRIPT],
                    text=True, check=True, capture_output=True, env=environment)
                self.assertEqual(found.stdout, made.stdout)
                self.assertTrue(made.stdout.startswith(folder), made.stdout)

    def run_in_script(self, out, commands):
        """Run commands after the functions of the script; its standard output."""
        commands = f'source <(sed "\\$d" "{SCRIPT}"); parts=() times=() failed=0; {commands}'
        done = subprocess.run(["bash", "-c", commands, str(SCRIPT)], text=True, check=False,
                              capture_output=True, env={**os.environ, "OUT": out})
        return done.stdout + done.stderr

    def test_parts_in_the_background_that_end_early_are_one_failure(self):
        with tempfile.TemporaryDirectory() as out:
            pathlib.Path(out, "none").touch()
            output = self.run_in_script(out, (
                'false & join_background "$OUT/none" $!; echo "failed $failed: ${parts[*]}"; '
                f'python3 "{TOP}/scripts/total.py" "${{parts[@]}}"'))
        self.assertIn("FAILED the parts in the background: nothing could be run", output)
        self.assertIn("failed 1: ", output)
        self.assertTrue(output.endswith("0 passed, 1 failed\n"), output)

    def test_a_part_that_cannot_be_built_is_a_failure_in_junits_file_too(self):
        with tempfile.TemporaryDirectory() as out:
            file = pathlib.Path(out, "results/some.xml")
            file.parent.mkdir()
            # Of the last run.
            file.write_text('<testsuite tests="9" failures="0"/>')
            file.with_suffix(".json").write_text('{"passed": ["one"], "failed": []}')
            output = self.run_in_script(out, 'part some "some part" nosuch.target true')
            self.assertIn("FAILED some part: nothing could be run", output)
            suite = ElementTree.parse(file).getroot()
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("1", "1"))
        self.assertEqual(suite.find("testcase").get("name"), "some part")
        self.assertIn("nothing could be run", suite.find("testcase/failure").get("message"))

    def test_times_of_earlier_runs_are_kept(self):
        with tempfile.TemporaryDirectory() as out:
            for part in ("one", "two"):
                self.run_in_script(out, f'PUMICE_CACHE=$OUT; times=("1 s: {part}"); print_times')
            kept = pathlib.Path(out, "check-times").read_text(encoding="utf-8")
        self.assertRegex(kept, r"(?s)\A20\S+Z \w*\n  1 s: one\n.*\n20\S+Z \w*\n  1 s: two\n")


class Targets(unittest.TestCase):
    """`make check` runs some parts in a quick form, and a target of each part runs all of it."""

    def words(self, part="lint", **variables):
        """Return the last three words of a part: program and arguments."""
        with tempfile.TemporaryDirectory() as out:
            done = subprocess.run(
                ["bash", "-c", f'source <(sed "\\$d" "{SCRIPT}"); part() {{ printf "%s\\n" "$@"; }}; '
                 f"run_part {part}", str(SCRIPT)], text=True, check=True, capture_output=True,
                env={**os.environ, "OUT": out, **variables})
        return done.stdout.splitlines()[-3:]

    def test_targets_run_all_of_a_part_and_make_check_a_quick_form(self):
        unit = str(TOP / "scripts/unit.py")
        makefile = (TOP / "Makefile").read_text(encoding="utf-8")
        for target, variable, part, quick, whole in (
                ("lint", "LINT_CHECKS", "lint", [unit, "lint", "part"], [unit, "lint", "all"]),
                ("check-unit", "UNIT_TESTS", "unit", [unit, "quick"], [unit, "all"]),
                ("check-docs", "DOCS_TESTS", "docs", ["DOCS_TESTS=quick", unit, "docs"],
                 ["DOCS_TESTS=all", unit, "docs"]),
                ("tsan", "TSAN_TESTS", "tsan", [unit, "tsan", "quick"], [unit, "tsan", "all"])):
            with self.subTest(target):
                self.assertEqual(self.words(part, **{variable: ""})[-len(quick):], quick)
                self.assertEqual(self.words(part, **{variable: "all"})[-len(whole):], whole)
                recipe = re.search(rf"^{target}:.*\n\t@(.*)", makefile, re.M)
                self.assertEqual(recipe[1], f"{variable}=all $(S)/check.sh {part}")

    def test_documents_name_the_targets_of_further_tests(self):
        makefile = (TOP / "Makefile").read_text(encoding="utf-8")
        targets = set(re.findall(r"^([\w-]+):.*\n\t@\w+=all \$\(S\)/check\.sh", makefile, re.M))
        self.assertIn("check-docs", targets)
        page = (TOP / "Documentation/testing.rst").read_text(encoding="utf-8")
        further = set(re.findall(r"``make ([\w-]+)``", page.partition("run further tests")[0]))
        # The others run the same tests in more builds, and more checks.
        self.assertEqual(targets - further, {"lint", "check-unit"})
        self.assertIn("`make check-docs`", (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8"))


class Lint(unittest.TestCase):
    """`make lint` and the part of `make check` leave the cases in files, as other parts do."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.dir = pathlib.Path(holder.name)

    def test_each_check_is_a_case_of_junits_file(self):
        (self.dir / "scripts").mkdir()
        for name in ("unit.py", "results.py", "selection.py"):
            shutil.copy(TOP / "scripts" / name, self.dir / "scripts" / name)
        script = self.dir / "scripts/lint.sh"
        script.write_text('#!/bin/sh\necho "ok 1 - $1"\necho "not ok 2 - words"\necho 1..2\nexit 1\n',
                          encoding="ascii")
        script.chmod(0o755)
        out = self.dir / "out"
        done = subprocess.run([self.dir / "scripts/unit.py", "lint", "all"], text=True, check=False,
                              capture_output=True, env={**os.environ, "OUT": str(out)})
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        suite = ElementTree.parse(out / "results/lint.xml").getroot()
        self.assertEqual((suite.get("name"), suite.get("tests"), suite.get("failures")),
                         ("lint", "2", "1"))
        self.assertEqual([case.get("name") for case in suite], ["all", "words"])

    def lint(self, *words):
        """Run lint.sh in a tree without a network: the root of its tools cannot be created."""
        if not (self.dir / "scripts").exists():
            shutil.copytree(TOP / "scripts", self.dir / "scripts")
            for name in ("firmware", "qemu-device"):
                (self.dir / name).symlink_to(TOP / name)
            (self.dir / "scripts/build-root.sh").write_text(
                f"#!/bin/sh\necho >>{self.dir}/attempts\necho no network >&2\nexit 1\n", encoding="ascii")
        return subprocess.run(
            [self.dir / "scripts/lint.sh", *words], text=True, check=False, capture_output=True,
            env={**os.environ, "OUT": str(self.dir / "out"), "BUILD": str(self.dir / "build")})

    def test_without_the_root_of_the_tools_the_reason_is_reported_once(self):
        # That of coccinelle has another log for its findings; in each run it is attempted again.
        for attempts, words in ((1, ["coccinelle", "spelling", "cppcheck", "includes"]), (2, ["python"])):
            done = self.lint(*words)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr.count("| no network\n"), 1, done.stderr)
            self.assertEqual(done.stderr.count("| error: the root with the tools is missing\n"),
                             len(set(words) - {"includes"}))
            self.assertEqual((self.dir / "attempts").read_text(encoding="ascii"), "\n" * attempts)
        self.assertEqual(list((self.dir / "build").glob("lint-*")), [])

    def test_every_check_with_tools_of_debian_13_creates_their_root(self):
        script = (TOP / "scripts/lint.sh").read_text(encoding="utf-8")
        users = {name for name, body in re.findall(r"^(\w+)\(\) \{\n(.*?)^\}", script, re.M | re.S)
                 if re.search(r"\binside ", body)}
        self.assertGreater(len(users), 5)
        self.assertEqual(set(re.findall(r'^check .*" with_tools (\w+)$', script, re.M)), users)

    def test_checks_are_reported_as_tap(self):
        # A check without tools of Debian 13 does not create their root.
        for words, lines in ((["all"], ["ok 1 - words", "1..1"]), (["part"], ["ok 1 - words", "1..1"]),
                             ([], ["1 passed, 0 failed"])):
            done = self.lint(*words, "includes")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([re.sub("- .*", "- words", line) for line in done.stdout.splitlines()],
                             lines)


if __name__ == "__main__":
    unittest.main()
