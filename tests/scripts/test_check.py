# SPDX-License-Identifier: MIT
"""
scripts/check.sh: words that name no part, parts that cannot be built, parts in the background
that end early, and times.
"""

import fcntl
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

    def test_all_guests_are_tested_on_request_and_the_main_ones_otherwise(self):
        part = ('part() { echo "$1"; shift 3; for word; do case $word in '
                'quick|all|--quick|--all|--strict) echo $word;; esac; done; }')
        for words, some, all_of_them in (      # without the variables of a make check
                ("kernels", "guest-7.3 --quick", "guest-7.2 --all guest-7.3 --all"),
                ("igt", "igt-fast", "igt-fast igt-stock"),
                ("strict", "strict quick guest-strict --strict --quick",
                 "strict all guest-strict --strict --all igt-fast-strict --strict")):
            for variable, wanted in (("", some), (f"{words.upper().rstrip('S')}_TESTS=all", all_of_them)):
                with self.subTest(part=words, variable=variable), tempfile.TemporaryDirectory() as out:
                    output = self.run_in_script(
                        out, f'make() {{ :; }}; {part}; add_times() {{ :; }}; '
                        f'unset KERNEL_TESTS IGT_TESTS STRICT_TESTS; export KERNELS="7.2 7.3" {variable}; run_part {words}')
                    self.assertEqual(" ".join(output.split()), wanted)

    def test_without_kernels_there_is_no_part_of_them(self):
        with tempfile.TemporaryDirectory() as out:
            output = self.run_in_script(out, 'make() { :; }; part() { echo "$1"; }; export KERNELS=; '
                                        'run_part kernels; echo end')
        self.assertEqual(output, "end\n")

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


class Times(unittest.TestCase):
    """Times of the parts are printed, and kept in the cache."""

    # Parts without anything to build, with a step of no time, and one each on both outputs.
    PARTS = """
make() { :; }
check_space() { :; }
steps() {
	echo "  ✓ short (0 s)"
	echo "  ✓ step of $1 (3 s)"
	echo "  ✓ other step (14 s)" >&2
	mkdir -p "$results"
	echo '{"passed": ["case"], "failed": []}' >"$results/guest-$1.json"
	[ "$1" != "$FAILS" ] && [ "$PYTHONUNBUFFERED" ]
}
one() { part "guest-$1" "part $1" "" steps "$1"; }
run_part() { if [ "$1" = kernels ]; then side_by_side one a b; else one "$1"; fi; }
"""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.out = pathlib.Path(holder.name)
        self.kept = self.out / "check-times"

    def script(self, commands, **variables):
        """Return the command and options that run commands after the functions of the script."""
        commands = f'source <(sed "\\$d" "{SCRIPT}"); {commands}'
        return {"args": ["bash", "-c", commands, str(SCRIPT)], "text": True,
                "env": {**os.environ, "OUT": str(self.out), "PUMICE_CACHE": str(self.out),
                        "PYTHONUNBUFFERED": "", **variables}}

    def run_in_script(self, commands, **variables):
        return subprocess.run(**self.script(commands, **variables), check=False, capture_output=True)

    def commit(self):
        return self.run_in_script("tree").stdout.strip()

    def test_a_run_of_several_parts_prints_and_keeps_its_times(self):
        commit = self.commit()
        for words, parts in (("lint kernels", ["lint", "a", "b"]),
                             ("lint docs -- unit", ["lint", "docs", "unit"])):
            done = self.run_in_script(f"{self.PARTS} main {words}", FAILS="")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            times = "".join(rf"\d+ s: part {name}\n" for name in parts)
            self.assertRegex(done.stdout, rf"\n== time\n{times}\d+ s: all parts\n== all parts\n"
                             r"3 passed, 0 failed\n\Z")
            for name in parts:
                self.assertIn(f"  ✓ step of {name} (3 s)\n  ✓ other step (14 s)\n", done.stdout)
            steps = "".join(rf"  \d+ s: part {name}\n    3 s: step of {name}\n    14 s: other step\n"
                            for name in parts)
            self.assertRegex(self.kept.read_text(encoding="utf-8"),
                             rf"(?:\A|\n)20[-\d]+T[:\d]+Z {commit}: {words}\n{steps}"
                             r"  \d+ s: all parts\n\Z")
        self.assertEqual(self.kept.read_text(encoding="utf-8").count("all parts"), 2)

    def test_a_part_that_fails_fails_the_run_and_has_a_time(self):
        for words in ("docs lint", "lint -- docs", "lint kernels"):
            fails = "b" if "kernels" in words else "docs"
            done = self.run_in_script(f"{self.PARTS} main {words}", FAILS=fails)
            self.assertEqual(done.returncode, 1, words)
            self.assertIn(f" s: part {fails}\n", done.stdout.partition("== time")[2])

    def test_a_run_of_one_part_is_not_kept(self):
        done = self.run_in_script(f"{self.PARTS} main lint", FAILS="")
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("== time", done.stdout)
        self.assertFalse(self.kept.exists())

    def test_the_commit_of_edited_files_is_dirty(self):
        git = ["git", "-C", str(self.out), "-c", "user.name=a", "-c", "user.email=a@b.c"]
        self.assertEqual(self.run_in_script(f'top={self.out}; tree').stdout, "unknown\n")
        (self.out / "file").write_text("one", encoding="ascii")
        for words in (["init", "-q"], ["add", "file"], ["commit", "-q", "-m", "one"], ["tag", "-a", "-m", "one", "v1"]):
            subprocess.run([*git, *words], check=True)
        commit = subprocess.run([*git, "rev-parse", "--short", "HEAD"], check=True, text=True,
                                capture_output=True).stdout.strip()
        self.assertEqual(self.run_in_script(f'top={self.out}; tree').stdout, f"{commit}\n")
        (self.out / "file").write_text("two", encoding="ascii")
        self.assertEqual(self.run_in_script(f'top={self.out}; tree').stdout, f"{commit}-dirty\n")

    def test_the_last_records_are_kept_whole(self):
        most = int(self.run_in_script("echo $RECORDS").stdout)
        self.assertGreaterEqual(most, 20)
        self.kept.write_text("  7 s: end of a record\n" + "".join(
            f"2026-11-29T00:00:00Z {n}: parts\n" + "  9 s: step\n" * n for n in range(most)),
                             encoding="utf-8")
        # One record is complete, and the last removes another one.
        for first in (0, 1):
            self.run_in_script('times=("1 s: part"); print_times "new: parts"')
            records = re.split(r"^(?=20)", self.kept.read_text(encoding="utf-8"), flags=re.M)
            self.assertEqual(records[0], "")
            self.assertEqual(len(records) - 1, most)
            self.assertEqual(records[1], f"2026-11-29T00:00:00Z {first + 1}: parts\n" +
                             "  9 s: step\n" * (first + 1))
            self.assertRegex(records[-1], r"Z new: parts\n  1 s: part\n  \d+ s: all parts\n\Z")

    def test_two_runs_that_end_together_keep_both_records(self):
        with open(f"{self.kept}.lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with subprocess.Popen(**self.script('times=("1 s: part"); print_times "second: parts"'),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as second:
                self.assertIn("waiting for another run", second.stderr.readline())
                self.kept.write_text("2026-11-29T00:00:00Z first: parts\n", encoding="utf-8")
                fcntl.flock(lock, fcntl.LOCK_UN)
                self.assertEqual(second.wait(), 0)
        self.assertRegex(self.kept.read_text(encoding="utf-8"),
                         r"\A20\S+ first: parts\n20\S+ second: parts\n  1 s: part\n")

    def test_a_cache_that_cannot_be_written_is_reported_and_no_failure(self):
        self.kept.mkdir()
        done = self.run_in_script(f"{self.PARTS} main lint unit", FAILS="")
        self.assertEqual(done.returncode, 0)
        self.assertIn(f"the times cannot be stored in {self.kept}\n", done.stderr)
        self.assertTrue(done.stdout.endswith("2 passed, 0 failed\n"), done.stdout)


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
        for name in ("unit.py", "results.py", "selection.py", "findings.py"):
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
