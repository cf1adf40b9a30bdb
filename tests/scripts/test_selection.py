# SPDX-License-Identifier: MIT
"""TESTS= runs the tests that it names and no others; JUnit files contain every case."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock
from xml.etree import ElementTree

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))
import by_path  # noqa: E402
import findings  # noqa: E402
import igt  # noqa: E402
import results  # noqa: E402
import selection  # noqa: E402
import unit  # noqa: E402

NAMES = ["t_submit", "t_sync", "t_race"]


class Words(unittest.TestCase):
    """Selections of names."""

    def test_patterns_and_cases(self):
        self.assertEqual(selection.select(NAMES, ["t_s*", "t_race:one", "t_race:two"]),
                         {"t_submit": [], "t_sync": [], "t_race": ["one", "two"]})

    def test_a_whole_program_includes_its_cases(self):
        self.assertEqual(selection.select(NAMES, ["t_sync:one", "t_sync"]), {"t_sync": []})

    def test_a_word_that_names_nothing_is_an_error(self):
        with self.assertRaisesRegex(SystemExit, "no test here is called t_snyc"):
            selection.select(NAMES, ["t_race", "t_snyc"])

    def test_unit_tests_have_the_names_of_meson(self):
        listing = "pumice:pds / pds_dispatch\npumice / tools-decode\npumice:gpu+threads / gpu_load\n"
        names = selection.meson_names(listing)
        self.assertEqual(names, ["pds_dispatch", "tools-decode", "gpu_load"])

    def test_a_word_that_names_no_unit_test_is_an_error(self):
        listing = subprocess.CompletedProcess([], 0, "pumice:pds / pds_dispatch\n")
        with tempfile.TemporaryDirectory() as out, \
                mock.patch.dict(os.environ, TESTS="pds_* pds_dispatsh"), \
                mock.patch.object(sys, "argv", ["unit.py"]), \
                mock.patch.object(unit, "OUT", pathlib.Path(out)), \
                mock.patch("subprocess.run", return_value=listing), \
                self.assertRaisesRegex(SystemExit, "no test here is called pds_dispatsh"):
            unit.main()

    def test_selected_unit_tests_build_nothing_else(self):
        commands = 'source <(sed "\\$d" "$0"); part() { echo "$3"; }; run_part unit'
        for words, built in (("", True), ("pds_dispatch", False)):
            done = subprocess.run(["bash", "-c", commands, TOP / "scripts/check.sh"], text=True,
                                  check=True, capture_output=True,
                                  env={**os.environ, "TESTS": words})
            self.assertEqual(" asan " in done.stdout, built, done.stdout)
            self.assertIn(" native", done.stdout)

    def test_subtests_of_igt(self):
        tests = ["igt@core_auth@many", "igt@pumice_gem@one", "igt@pumice_gem@two"]
        self.assertEqual(selection.subtests(tests, ["pumice_gem@o*"]), ["igt@pumice_gem@one"])
        self.assertEqual(selection.subtests(tests, ["pumice_*"]), tests[1:])
        self.assertEqual(selection.subtests(tests, []), tests)


class Guests(unittest.TestCase):
    """Guests that boot, and their programs."""

    def runs(self, wanted):
        """Return [(kernel, [program], [line of the job])]."""
        module = by_path.load("guest-tests.py")
        guests = {("stock", ""): ["t_submit", "t_sync"], ("fast", ""): ["t_race"]}
        return [(run.kernel, run.tests,
                 [line for line in module.job(run).splitlines() if line.startswith("run t_")])
                for run in module.selected(module.in_order(guests), wanted)]

    def test_all_run_without_a_selection(self):
        self.assertEqual([(kernel, tests) for kernel, tests, _ in self.runs([])],
                         [("stock", ["t_submit", "t_sync"]), ("fast", ["t_race"])])

    def test_guests_without_a_selected_program_do_not_boot(self):
        self.assertEqual(self.runs(["t_sync:a", "t_sync:b"]),
                         [("stock", ["t_sync"], ["run t_sync a b"])])

    ROWS = [["t_sync", "quick"], ["t_draw"]]

    def presets(self, quick, wanted=()):
        """Return {preset: programs}, and check the environment."""
        module = by_path.load("guest-tests.py")
        runs = module.selected(module.each_preset(self.ROWS, quick), wanted)
        for run in runs:
            self.assertIn(f"export PUMICE_PRESET={run.preset}\n", module.job(run))
        return {run.preset: run.tests for run in runs}

    def test_tests_of_results_run_with_each_preset(self):
        self.assertEqual(self.presets(False), {preset: ["t_sync", "t_draw"] for preset in selection.PRESETS})
        self.assertEqual(self.presets(False, ["t_draw:two"]), {preset: ["t_draw"] for preset in selection.PRESETS})

    def test_quick_tests_run_with_one_preset(self):
        self.assertEqual(self.presets(True), {"waves": ["t_sync"]})

    STRICT = [["t_draw", "unmapped", "read-only-store"], ["t_mode", "-"]]

    def strict(self, quick):
        """Return the programs of a GPU in mode strict, the kinds of their findings, and the job."""
        module = by_path.load("guest-tests.py")
        guests = {("stock", ""): ["t_sync", "t_mode", "t_draw"], ("fast", ""): ["t_race"],
                  ("stock", "virtual-gpus=4"): ["t_shares"]}
        with mock.patch.object(module.selection, "lines", return_value=self.STRICT), \
                mock.patch.object(module, "QUICK_STRICT", ("t_draw",)):
            run, *others = module.in_mode_strict(guests, quick)
        self.assertEqual([other.tests for other in others], [] if quick else [["t_race"], ["t_shares"]])
        return run.tests, run.strict, module.job(run)

    def test_programs_of_mode_strict_are_those_with_a_verdict(self):
        tests, kinds, job = self.strict(False)
        self.assertEqual(tests, ["t_sync", "t_draw"])
        self.assertEqual(kinds["t_draw"], {"unmapped", "read-only-store"})
        self.assertIn('echo strict >"$(gpu)/mode"', job)
        self.assertIn('cat "$(gpu)/findings" >$findings/$1.findings', job)
        self.assertEqual(self.strict(True)[0], ["t_draw"])

    def test_program_without_a_guest_in_the_list_of_findings_is_an_error(self):
        with mock.patch.object(self, "STRICT", [["t_rice", "unmapped"]]), \
                self.assertRaisesRegex(SystemExit, "t_rice"):
            self.strict(False)

    def test_findings_of_a_program_are_those_of_the_list(self):
        line = '{"finding":"unmapped","times":2}\n'
        for lines, kinds, bad in (("", set(), 0), (None, set(), 1), (line * 2, {"unmapped"}, 0), (line, set(), 1),
                                  ("", {"unmapped"}, 1), ("", {"?unmapped"}, 0), (line, {"?unmapped"}, 0),
                                  (line, {"?late-data"}, 1), (line + '{"lost": 2}\n', {"unmapped"}, 1),
                                  (line + '{"find', {"unmapped"}, 1), ('{"find', set(), 1)):
            with self.subTest(lines=lines, kinds=kinds), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "t.findings")
                if lines is not None:
                    path.write_text(lines)
                tally = mock.Mock()
                findings.add(tally, "t", path, kinds)
                self.assertEqual([call.args[1] for call in tally.add.call_args_list], [not bad])

    def test_unit_tests_of_mode_strict_are_those_with_a_verdict(self):
        rows = {unit.RESULTS: [["a_*", "quick"], ["b"]],
                unit.FINDINGS: [["a_*", "late-data"], ["a_2", "unmapped", "lds-race"], ["b", "-"]]}
        with mock.patch.object(unit, "native_tests", return_value=["a_1", "a_2", "b", "c", "path_c"]), \
                mock.patch.object(selection, "lines", side_effect=rows.get):
            self.assertEqual(unit.strict_tests(False), {"a_1": {"late-data"}, "a_2": {"unmapped", "lds-race"},
                                                        "path_c": set()})
            rows[unit.FINDINGS].append(["path_*", "past-end"])
            self.assertEqual(unit.strict_tests(False)["path_c"], {"past-end"})
            rows[unit.FINDINGS].append(["b", "past-end"])
            self.assertEqual(unit.strict_tests(False)["b"], {"past-end"})
            self.assertEqual(set(unit.strict_tests(True)), {"a_1", "a_2"})
            rows[unit.FINDINGS].append(["c", "-"])
            with self.assertRaisesRegex(SystemExit, "no test of results or of the library is called c"):
                unit.strict_tests(False)

    def test_findings_of_a_unit_test_are_those_of_the_list(self):
        finding = "1. unmapped, write of address 0x40\n   at  x:1\n1 finding\n"
        two = "1. uninitialised, read of r9\n   at  x:1\n2. {}\n   at  x:2\n2 findings\n"
        for result, status, output, kinds, good in (
                ("FAIL", 3, two.format("unpaired-barrier"), {"uninitialised"}, False),
                ("FAIL", 3, two.format("unpaired-barrier"), {"uninitialised", "unpaired-barrier"}, True),
                ("FAIL", 3, two.format("local-bounds of local memory, byte 64"), {"uninitialised"}, False),
                ("FAIL", 3, two.format("clash, write of sh3"), {"uninitialised"}, False),
                ("OK", 0, "0 findings\n", set(), True), ("EXPECTEDFAIL", 1, "", set(), True),
                ("FAIL", 3, finding, {"unmapped"}, True), ("FAIL", 3, finding, set(), False),
                ("FAIL", 1, finding, {"unmapped"}, False), ("OK", 0, "0 findings\n", {"unmapped"}, False),
                ("FAIL", 3, finding, {"unmapped", "late-data"}, False), ("TIMEOUT", -9, "", set(), False),
                ("FAIL", 3, finding + "[  FAILED  ] one\n", {"unmapped"}, False),
                ("FAIL", 3, finding.replace("1 finding", "256 findings, and no room for others, detected 1 time"),
                 {"unmapped"}, False),
                ("FAIL", 3, finding + "pumice-strict: not checked: a GPU in mode fast;\n", {"unmapped"}, False),
                ("FAIL", 3, finding, {"?unmapped"}, True), ("OK", 0, "", {"?unmapped"}, True),
                ("FAIL", 1, "", set(), False),
                ("FAIL", 1, "[  FAILED  ] one\n[       OK ] two\n", {"-one"}, True),
                ("FAIL", 2, "[  FAILED  ] one\n[       OK ] two\n", {"-one"}, False),
                ("FAIL", 2, "[  FAILED  ] one\n[  FAILED  ] two\n", {"-one"}, False),
                ("FAIL", 1, "[  FAILED  ] one\n" + finding, {"-one"}, False),
                ("FAIL", 1, "[  FAILED  ] one\n" + finding, {"-one", "unmapped"}, True),
                ("OK", 0, "[       OK ] one\n", {"-one"}, True), ("OK", 0, "[       OK ] two\n", {"-one"}, False)):
            with self.subTest(result=result, status=status, output=output, kinds=kinds):
                tally = mock.Mock()
                unit.add_strict(tally, {"name": "t", "result": result, "returncode": status}, output, kinds, "log")
                self.assertIs(tally.add.call_args.args[1], good)

    def test_lists_of_findings_have_kinds_of_findings(self):
        registers = ElementTree.parse(TOP / "hw/registers.xml")
        kinds = {value.get("name").lower().replace("_", "-")
                 for value in registers.findall("enum[@name='finding']/value")} - {"none"}
        self.assertIn("unmapped", kinds)
        module = by_path.load("guest-tests.py")
        for path in (unit.FINDINGS, module.FINDINGS, igt.LISTS / "findings"):
            for name, *words in selection.lines(path):
                # Only in this list cases may have no verdict.
                words = [word for word in words if path != unit.FINDINGS or not re.match("-.", word)]
                with self.subTest(path=path.name, name=name):
                    self.assertTrue(words == ["-"] or {word.lstrip("?") for word in words} <= kinds | {"lost"}, words)

    def guest_in_mode_strict(self, findings_of, cases=()):
        """Return the failures of a guest of two programs, of which t_draw has a list, with these findings."""
        module = by_path.load("guest-tests.py")
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(module, "OUT", pathlib.Path(folder)), \
                mock.patch.object(module, "BUILD", pathlib.Path(folder)), \
                mock.patch("subprocess.run", return_value=mock.Mock(returncode=0)) as command, \
                mock.patch("builtins.print"):
            run = module.Run("strict", "stock", "", ["t_draw", "t_sync"])
            run.strict = {"t_draw": {"unmapped", "clash"}}
            run.cases = {"t_draw": list(cases)}
            share = pathlib.Path(folder, "guest", run.name)
            share.mkdir(parents=True)
            (share / "rmmod.status").write_text("0\n")
            for test in run.tests:
                (share / f"{test}.tap").write_text("1..1\nok 1 - one\n")
                (share / f"{test}.status").write_text("0\n")
                lines = [f'{{"finding":"{kind}"}}\n' for kind in findings_of.get(test, ())]
                (share / f"{test}.findings").write_text("".join(lines))
            tally = results.Tally("guest")
            module.run_guest(tally, pathlib.Path(folder), run)
        self.assertIn(",mode=strict", " ".join(command.call_args.args[0]))
        return sorted(failure["case"] for failure in tally.failed)

    def test_programs_of_a_guest_have_the_findings_of_the_list(self):
        both = ("unmapped", "clash")
        for found, bad in (({"t_draw": both}, []), ({"t_draw": both[:1]}, ["findings of t_draw"]),
                           ({"t_draw": both, "t_sync": both[:1]}, ["findings of t_sync"])):
            with self.subTest(found=found):
                self.assertEqual(self.guest_in_mode_strict(found), bad)

    def test_cases_of_a_program_have_some_of_its_findings(self):
        for found, bad in (((), []), (("clash",), []), (("past-end",), ["findings of t_draw"])):
            with self.subTest(found=found):
                self.assertEqual(self.guest_in_mode_strict({"t_draw": found}, ["one"]), bad)

    def test_programs_run_between_their_beginning_and_their_end(self):
        """The job is a script of the shell: with a folder instead of debugfs."""
        for mode, left in (("strict", ["1"]), ("fast", None)):
            with self.subTest(mode=mode), tempfile.TemporaryDirectory() as folder:
                gpu = pathlib.Path(folder, "dri/7")
                gpu.mkdir(parents=True)
                (gpu / "mode").write_text("fast\n")
                (gpu / "findings").write_text("1\n")
                script = findings.STRICT.replace("/tmp/strict", folder).replace("mount ", ": mount ")
                subprocess.run(["sh", "-c", f"findings={folder}\n{script}\nbegin t\n"
                                f"echo {mode} >{gpu}/mode\nend t"], check=True, stderr=subprocess.DEVNULL)
                path = pathlib.Path(folder, "t.findings")
                self.assertEqual(path.read_text().split() if path.exists() else None, left)
                self.assertEqual((gpu / "findings").read_text(), "\n")
                self.assertEqual((gpu / "mode").read_text(), f"{mode}\n")

    def test_quick_programs_of_mode_strict_are_in_the_list(self):
        module = by_path.load("guest-tests.py")
        run, = module.in_mode_strict(module.rows(), True)
        self.assertEqual(sorted(run.tests), sorted(module.QUICK_STRICT))
        with mock.patch.object(module, "QUICK_STRICT", ("t_submitt",)), \
                self.assertRaisesRegex(SystemExit, "t_submitt"):
            list(module.in_mode_strict(module.rows(), False))

    def test_unit_tests_of_mode_strict_that_are_missing_are_failures(self):
        tests = {"a": {"unmapped"}, "b": set()}
        tally = mock.Mock()
        with mock.patch.object(unit, "strict_tests", side_effect=lambda quick: tests if not quick else {}), \
                mock.patch.object(unit, "meson_tests", return_value={"a"}) as run:
            unit.in_mode_strict(tally, False)
        self.assertEqual(run.call_args.args[2:], ("a", "b"))
        self.assertEqual(run.call_args.kwargs, {"strict": tests})
        self.assertEqual([(call.args[0], call.args[1]) for call in tally.add.call_args_list], [("strict: b", False)])

    def ended(self, status):
        """Return the number of failures of a program that leaves this status, None for none."""
        module = by_path.load("guest-tests.py")
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(module, "OUT", pathlib.Path(folder)), \
                mock.patch.object(module, "BUILD", pathlib.Path(folder)), \
                mock.patch("subprocess.run", return_value=mock.Mock(returncode=0)), \
                mock.patch("builtins.print"):
            run = module.Run("waves", "stock", "", ["t_draw"])
            share = pathlib.Path(folder, "guest", run.name)
            share.mkdir(parents=True)
            (share / "rmmod.status").write_text("0\n")
            (share / "t_draw.tap").write_text("1..1\nok 1 - one\n")
            if status is not None:
                (share / "t_draw.status").write_text(f"{status}\n")
            tally = results.Tally("guest")
            module.run_guest(tally, pathlib.Path(folder), run)
        return len(tally.failed)

    def test_program_that_the_guest_does_not_outlast_failed(self):
        self.assertEqual(self.ended(0), 0)
        self.assertEqual(self.ended(None), 1)
        self.assertEqual(self.ended(137), 1)

    def check_words(self, words):
        """Check the words of a row: quick, and after a "!" a preset and the text of a refusal."""
        for word in set(words) - {"quick"}:
            preset, _, text = word.partition("=")
            self.assertIn(preset, {f"!{name}" for name in selection.PRESETS})
            self.assertTrue(text)

    def test_the_list_of_unit_tests_names_the_texts_of_refusals(self):
        library = (TOP / "userspace/libpumice/stream.c").read_text(encoding="utf-8")
        for name, *words in selection.lines(unit.RESULTS):
            with self.subTest(name=name):
                words = [word for word in words if not word.startswith("quick=")]
                self.check_words(words)
                for text in (word.partition("=")[2] for word in words if "=" in word):
                    step = re.fullmatch(r"pumice-demo-(\w+): (job: job faulted: [a-z-]+ at|dispatch: (.+))", text)
                    self.assertTrue(step, text)
                    self.assertIn(step[3] or "", library)
                    self.assertTrue(name.startswith(f"demo_{step[1]}_"), text)

    def test_quick_unit_tests_are_those_of_a_pattern(self):
        rows = [["demo_*", "quick=*_2"], ["demo_b_*", "quick=*_2", "!waves=text"], ["demo_c_*"], ["t", "quick"],
                ["u"]]
        names = ["demo_a_0", "demo_a_2", "demo_b_0", "demo_b_2", "demo_c_2", "t", "u"]
        with mock.patch.object(unit, "native_tests", return_value=names), \
                mock.patch.object(selection, "lines", return_value=rows):
            self.assertEqual(unit.tests_of_results(True),
                             {"demo_a_2": {}, "demo_b_2": {"waves": "text"}, "t": {}})
            self.assertEqual(set(unit.tests_of_results(False)), set(names))

    def test_a_row_whose_pattern_makes_no_test_quick_is_an_error(self):
        with mock.patch.object(unit, "native_tests", return_value=["demo_a_threads_4"]), \
                mock.patch.object(selection, "lines", return_value=[["demo_*", "quick=*_2"]]), \
                self.assertRaisesRegex(SystemExit, "of demo_\\* no test is quick"):
            unit.tests_of_results(True)

    def test_a_test_that_no_build_has_run_is_a_failure(self):
        for quick, native, asan, missing in (
                (True, {"a", "b"}, {"c"}, 0), (True, {"a"}, {"c"}, 1), (False, {"a", "b", "c"}, {"c"}, 2)):
            tally = mock.Mock()
            with mock.patch.object(unit, "native_tests", return_value=["a", "b", "c"]), \
                    mock.patch.object(unit, "meson_tests", side_effect=[native, asan]):
                unit.c_tests(tally, quick)
            self.assertEqual([call.args[1] for call in tally.add.call_args_list], [False] * missing)

    def test_quick_tests_of_threads_are_those_that_no_pattern_leaves_out(self):
        names = ["demo_a_1", "demo_b_1", "path_a"]
        for patterns, left in (([["demo_b_*"]], ["demo_a_1", "path_a"]),
                               ([["demo_*"], ["path_a"]], [])):
            with mock.patch.object(unit, "listed_tests", return_value=names), \
                    mock.patch.object(selection, "lines", return_value=patterns):
                self.assertEqual(unit.tests_of_threads(True), left)
                self.assertEqual(unit.tests_of_threads(False), names)
        with mock.patch.object(unit, "listed_tests", return_value=names), \
                mock.patch.object(selection, "lines", return_value=[["demo_c_*"]]), \
                self.assertRaisesRegex(SystemExit, "demo_c_\\* leaves no test out"):
            unit.tests_of_threads(True)

    def test_lines_are_read_as_in_the_shell(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "list")
            path.write_text("# one's\n\na b\t# it's\nc \\\n\t\"!d=e(f, 0) is # 1\" g\n")
            self.assertEqual(list(selection.lines(path)),
                             [["a", "b"], ["c", "!d=e(f, 0) is # 1", "g"]])

    def refuse(self, result, output, status=1):
        """Return the number of failures for a program that has to be refused."""
        tally = results.Tally("presets")
        with mock.patch("builtins.print"):
            test = {"name": "t", "result": result, "returncode": status}
            unit.add_refused(tally, "waves", test, output, "pds-resource", "log")
        self.assertEqual(len(tally.passed) + len(tally.failed), 1)
        return len(tally.failed)

    def test_program_that_has_to_be_refused_fails_as_named(self):
        self.assertEqual(self.refuse("FAIL", "job faulted: pds-resource"), 0)
        self.assertEqual(self.refuse("FAIL", "word 3 is 4"), 1)
        self.assertEqual(self.refuse("OK", "job faulted: pds-resource"), 1)
        self.assertEqual(self.refuse("TIMEOUT", "job faulted: pds-resource"), 1)
        self.assertEqual(self.refuse("FAIL", "job faulted: pds-resource", -11), 1)

    def test_the_list_names_programs(self):
        module = by_path.load("guest-tests.py")
        programs = {test for tests in module.rows().values() for test in tests}
        rows = list(selection.lines(module.RESULTS))
        self.assertTrue(any("quick" in words for _, *words in rows))
        for program, *words in rows:
            with self.subTest(program=program):
                self.assertIn(program, programs)
                self.assertIn(words, ([], ["quick"]))

    def test_parts_of_igt_without_a_selected_test_do_not_run(self):
        with mock.patch.dict(os.environ, TESTS="core_auth"):
            self.assertEqual(igt.selected({"main": ["igt@core_auth"], "own": ["igt@pumice_gem"]}),
                             {"main": ["igt@core_auth"]})


class JUnit(unittest.TestCase):
    """The XML that a part leaves."""

    def suite(self, fill):
        """Return the root element of the file of a part."""
        with tempfile.TemporaryDirectory() as folder, mock.patch("builtins.print"), \
                mock.patch.object(results, "OUT", pathlib.Path(folder)):
            tally = results.Tally("part")
            fill(tally)
            self.status = tally.close()
            return ElementTree.parse(pathlib.Path(folder) / "results/part.xml").getroot()

    def test_each_case_is_there_and_failures_have_their_reason(self):
        def fill(tally):
            tally.add("t_sync: good", True)
            tally.add("t_sync: bad", False, "1 < 2 & \x00")
        suite = self.suite(fill)
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("2", "1"))
        cases = suite.findall("testcase")
        self.assertEqual([case.get("name") for case in cases], ["good", "bad"])
        self.assertEqual({case.get("classname") for case in cases}, {"part.t_sync"})
        self.assertEqual(cases[1].find("failure").get("message"), "1 < 2 & ?")

    def test_a_part_without_cases_has_failed(self):
        self.suite(lambda tally: None)
        self.assertEqual(self.status, 1)


if __name__ == "__main__":
    unittest.main()
