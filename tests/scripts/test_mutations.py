# SPDX-License-Identifier: MIT
"""The list of mutations can be applied, and what the harness says of them is true."""

import pathlib
import shutil
import sys
import tempfile
import unittest
from unittest import mock

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))
import igt  # noqa: E402
import mutation_programs  # noqa: E402
import mutation_tests  # noqa: E402
import mutations  # noqa: E402

ROW = {"name": "a", "file": "firmware/x.c", "test": "unit/t/rule", "old": "one", "new": "two"}
FEWEST = 100
# See its README.
NONE_IN = ("core", "levels")
NO_ROW = {"pumice_bench.c", "pumice_events.c"}


class TheList(unittest.TestCase):
    """tests/mutations/*.toml and the sources as they are."""

    def test_every_mutation_can_be_applied(self):
        self.assertEqual(mutations.check(mutations.load()), {})

    def test_there_are_as_many_as_promised_and_each_side_has_some(self):
        files = [mutation.file for mutation in mutations.load()]
        self.assertGreaterEqual(len(files), FEWEST)
        blocks = {path.name for path in (TOP / "qemu-device/gpu").iterdir()
                  if any(path.glob("*.c")) and path.name not in NONE_IN}
        for folder in [*(f"qemu-device/gpu/{block}/" for block in sorted(blocks)), "firmware/",
                       "drivers/", "userspace/libpumice/", "userspace/compiler/"]:
            with self.subTest(folder=folder):
                self.assertTrue(any(file.startswith(folder) for file in files))

    def test_each_file_of_driver_and_firmware_has_one(self):
        files = {mutation.file for mutation in mutations.load()}
        for folder in ("drivers/gpu/drm/pumice", "firmware"):
            for path in (TOP / folder).glob("*.c"):
                name = str(path.relative_to(TOP))
                with self.subTest(file=name):
                    self.assertNotEqual(name in files, path.name in NO_ROW)

    def test_the_handful_has_every_kind(self):
        kinds = {mutation.kind for mutation in mutations.load() if mutation.handful}
        self.assertLessEqual({"unit", "kunit", "guest", "igt"}, kinds)


class Rows(unittest.TestCase):
    """Rows that are refused."""

    def problem(self, text, **changes):
        """Return the problem of a row whose file has this text."""
        with tempfile.TemporaryDirectory() as folder:
            top = pathlib.Path(folder)
            (top / "firmware").mkdir()
            (top / "firmware/x.c").write_text(text, encoding="utf-8")
            return mutations.Mutation({**ROW, **changes}, "list").problem(top, {"rule"})

    def test_text_that_occurs_once_is_fit(self):
        self.assertIsNone(self.problem("one three"))

    def test_missing_text_is_refused(self):
        self.assertIn("occurs 0 times", self.problem("three"))

    def test_text_that_occurs_twice_is_refused(self):
        self.assertIn("occurs 2 times", self.problem("one one"))

    def test_missing_file_is_refused(self):
        self.assertIn("there is no", self.problem("one", file="firmware/y.c"))

    def test_case_that_no_test_has_is_refused(self):
        self.assertIn("no test has", self.problem("one", test="unit/t/removed"))

    def test_kind_that_does_not_build_the_file_is_refused(self):
        self.assertIn("not tested by", self.problem("one", test="kunit/t/rule"))

    def test_edit_that_changes_nothing_is_refused(self):
        self.assertIn("the old one", self.problem("one", new="one"))

    def test_unknown_key_is_refused(self):
        with self.assertRaises(ValueError):
            mutations.Mutation({**ROW, "tset": ""}, "list")


class TestsOfMeson(unittest.TestCase):
    """Tests that meson.build defines; no other is accepted."""

    MESON = """\
foreach name : ['one', 'two']
  test('t_' + name, program)
endforeach
foreach demo : ['life']
  test('demo_@0@_threads_@1@'.format(demo, '2'), program)
endforeach
# test('comment', program)
test('plain',
  program)
"""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        for name, text in (("firmware/x.c", "one"), ("tests/t/meson.build", self.MESON),
                           ("tests/t/test_one.c", "rule /* remark */ // line"),
                           ("tests/t/test_next_one.c", "next"), ("tests/t/table.c", "shared"),
                           ("tests/u/test_two.c", "other")):
            (self.top / name).parent.mkdir(parents=True, exist_ok=True)
            (self.top / name).write_text(text, encoding="utf-8")

    def problem(self, program, case="rule"):
        """Return what mutations.check() says of a row with this test."""
        row = mutations.Mutation({**ROW, "test": f"unit/{program}/{case}"}, "list")
        return mutations.check([row], self.top).get("a")

    def test_name_is_accepted(self):
        self.assertIsNone(self.problem("plain"))

    def test_name_with_a_text_of_the_loop_is_accepted(self):
        self.assertIsNone(self.problem("t_two"))
        self.assertIsNone(self.problem("demo_life_threads_2"))

    def test_name_that_meson_does_not_define_is_refused(self):
        for program in ("t", "t_three", "t_", "plain2", "test_one", "comment",
                        "demo_life_threads_3"):
            with self.subTest(program=program):
                self.assertEqual(self.problem(program), f"meson defines no test {program}")

    def test_case_of_another_folder_is_refused(self):
        self.assertIn("no source of the test plain", self.problem("plain", "other"))

    def test_case_of_another_program_of_the_folder_is_refused(self):
        self.assertIsNone(self.problem("t_one"))
        self.assertIn("no source of the test t_one", self.problem("t_one", "next"))
        self.assertIsNone(self.problem("t_one", "shared"))

    def test_program_without_a_source_of_its_name_has_cases_of_the_folder(self):
        self.assertIsNone(self.problem("plain", "next"))

    def test_comments_have_no_cases(self):
        for case in ("remark", "line"):
            self.assertIn("no source of the test t_one", self.problem("t_one", case))

    def test_program_in_the_guest_is_not_one_of_meson(self):
        row = mutations.Mutation({**ROW, "test": "guest/t_x/rule"}, "list")
        self.assertEqual(mutations.check([row], self.top), {})

    def test_every_test_of_this_tree_is_found(self):
        programs = mutation_programs.Programs(TOP)
        for name in ("workers", "pds_dispatch", "firmware_masters", "usc-ops", "canary",
                     "demo_scan_of_1000_values"):
            with self.subTest(program=name):
                self.assertEqual(len(programs.folders(name)), 1)


class FakeTree:
    """A tree without files that remembers whether the error is built in."""

    mutated = False

    def apply(self, _mutation):
        self.mutated = True

    def undo(self, _mutation, _original):
        self.mutated = False


class FakeTests:
    """A runner whose results are given: for the sources as they are, and mutated."""

    def __init__(self, tree, plain, mutated, build=None):
        self.tree, self.results, self.broken = tree, (plain, mutated), build

    def build(self, _mutation):
        if self.broken and self.tree.mutated:
            raise mutation_tests.Failure(self.broken)

    def run(self, _mutation):
        result = self.results[self.tree.mutated]
        if isinstance(result, Exception):
            raise result
        return result


class Outcomes(unittest.TestCase):
    """Verdict of a mutation, by the result of its test."""

    def outcome(self, mutated, plain=({"rule": True, "other": True}, ""), build=None):
        """Return the word for it."""
        tree = FakeTree()
        run = mutations.Run(tree, {"unit": FakeTests(tree, plain, mutated, build)})
        outcome, _ = run.one(mutations.Mutation(ROW, "list"))
        self.assertFalse(tree.mutated)
        return outcome

    def test_named_case_that_fails_catches(self):
        self.assertEqual(self.outcome(({"rule": False, "other": True}, "")), "caught")

    def test_mutation_that_nothing_notices_survives(self):
        self.assertEqual(self.outcome(({"rule": True, "other": True}, "")), "SURVIVED")

    def test_another_case_that_fails_does_not_count(self):
        self.assertEqual(self.outcome(({"rule": True, "other": False}, "")), "SURVIVED")

    def test_crash_counts(self):
        self.assertEqual(self.outcome(({}, "t ends with status -11")), "caught")

    def test_crash_after_the_named_case_passed_does_not_count(self):
        self.assertEqual(self.outcome(({"rule": True}, "t ends with status -11")), "SURVIVED")

    def test_build_error_is_not_a_catch(self):
        self.assertEqual(self.outcome(({"rule": False}, ""), build="x.c:1: error"), "not built")

    def test_time_limit_of_the_harness_is_not_a_catch(self):
        self.assertEqual(self.outcome(mutation_tests.Failure("time is up")), "no result")

    def test_test_that_fails_anyway_is_inconclusive(self):
        plain = ({"rule": False}, "")
        self.assertEqual(self.outcome(({"rule": False}, ""), plain), "no baseline")

    def test_test_without_the_case_is_inconclusive(self):
        self.assertEqual(self.outcome(({}, ""), ({"other": True}, "")), "no baseline")


class FakeGuest(mutation_tests.Guest):
    """A runner of guests that notes their tests instead of booting; some tests fail in them."""

    def __init__(self, folder, failing=(), status=0):
        super().__init__(mutation_tests.Builder(folder), folder)
        self.failing, self.status, self.guests, self.built = failing, status, [], 0

    def build(self, _mutation):
        self.built += 1

    def boot(self, mutations_of_guest):
        self.guests.append([m.test for m in mutations_of_guest])
        share = self.builder.tree / "out/guest/mutation"
        shutil.rmtree(share, ignore_errors=True)
        share.mkdir(parents=True)
        for number, m in enumerate(mutations_of_guest):
            word = "not ok" if m.test in self.failing else "ok"
            (share / f"{number}.tap").write_text(f"1..1\n{word} 1 - {m.case}\n", encoding="utf-8")
            (share / f"{number}.status").write_text("0", encoding="utf-8")
        return self.status, "error: it"


class Together(unittest.TestCase):
    """Tests of guests without a mutation: many in each guest."""

    def run_all(self, tests, **more):
        """Return the guests and the verdicts on the tests without a mutation."""
        with tempfile.TemporaryDirectory() as folder:
            guest = FakeGuest(pathlib.Path(folder), **more)
            run = mutations.Run(FakeTree(), dict.fromkeys(("unit", "kunit", "guest", "igt"), guest))
            rows = [mutations.Mutation({**ROW, "name": str(number), "test": test}, "list")
                    for number, test in enumerate(tests)]
            run.together(rows)
            together = list(guest.guests)
            return together, [run.sound(row) for row in rows], guest.guests[len(together):]

    def test_tests_of_a_kind_share_guests(self):
        tests = [f"guest/t{number}/rule" for number in range(mutation_tests.TOGETHER + 1)]
        together, verdicts, alone = self.run_all([*tests, "kunit/s/rule", tests[0], "kunit/r/rule"])
        self.assertEqual(together, [tests[:-1], tests[-1:], ["kunit/s/rule", "kunit/r/rule"]])
        self.assertEqual((set(verdicts), alone), ({None}, []))

    def test_tests_of_another_device_have_guests_of_their_own(self):
        tests = ["igt/pumice_fence/rule", "igt/pumice_gem/rule", "igt/pumice_faults/rule",
                 "igt/pumice_faults/else"]
        together, _, _ = self.run_all(tests)
        self.assertEqual(together, [tests[:2], tests[2:]])

    def test_test_that_fails_after_others_runs_alone(self):
        bad = "guest/b/rule"
        _, verdicts, alone = self.run_all(["guest/a/rule", bad], failing=[bad])
        self.assertEqual(alone, [[bad]])
        self.assertIsNone(verdicts[0])
        self.assertIn("it fails", verdicts[1])

    def test_nothing_passed_in_a_guest_that_failed(self):
        tests = ["guest/a/rule", "guest/b/rule"]
        _, verdicts, alone = self.run_all(tests, status=125)
        self.assertEqual(alone, [tests[:1], tests[1:]])
        self.assertNotIn(None, verdicts)

    def test_a_single_test_runs_alone(self):
        together, _, alone = self.run_all(["guest/a/rule", "kunit/s/rule"])
        self.assertEqual((together, alone), ([], [["guest/a/rule"], ["kunit/s/rule"]]))


class Trees(unittest.TestCase):
    """The copy that is built."""

    def test_interrupted_run_leaves_no_trace_and_unchanged_files_are_not_written(self):
        with tempfile.TemporaryDirectory() as folder:
            source, copy = pathlib.Path(folder) / "source", pathlib.Path(folder) / "build/tree"
            source.mkdir()
            for name in ("x.c", "y.c"):
                (source / name).write_text("one", encoding="utf-8")
            names = mock.Mock(stdout=b"x.c\0y.c\0gone.c\0")
            with mock.patch("subprocess.run", return_value=names):
                tree = mutations.Tree(copy)
                tree.sync(source)
                before = (copy / "y.c").stat().st_mtime_ns
                (copy / "x.c").write_text("two", encoding="utf-8")
                tree.sync(source)
            self.assertEqual((copy / "x.c").read_text(encoding="utf-8"), "one")
            self.assertEqual((copy / "y.c").stat().st_mtime_ns, before)
            tree.lock.close()


class Selection(unittest.TestCase):
    """ONLY= and SHARD=."""

    ALL = [mutations.Mutation({**ROW, "name": name, "file": file}, "list") for name, file in
           (("vdm-a", "firmware/x.c"), ("vdm-b", "firmware/y.c"), ("cdm-c", "hw/z.xml"))]

    def select(self, *patterns, shard=None, handful=False):
        """Return the names of the selected ones."""
        options = mock.Mock(pattern=list(patterns), shard=shard, handful=handful)
        return [m.name for m in mutations.select(self.ALL, options)]

    def test_names_files_and_folders_select(self):
        self.assertEqual(self.select("vdm-*"), ["vdm-a", "vdm-b"])
        self.assertEqual(self.select("firmware/y.c", "hw"), ["vdm-b", "cdm-c"])
        self.assertEqual(self.select(), ["vdm-a", "vdm-b", "cdm-c"])

    def test_a_pattern_without_a_match_is_an_error_next_to_others(self):
        for pattern in ("nosuch", "vdm", "firmware/"):
            with self.assertRaisesRegex(SystemExit, f"^error: no mutation .* {pattern}$"):
                self.select("vdm-*", pattern)

    def test_a_shard_is_one_of_all(self):
        self.assertEqual(self.select(shard="1/2"), ["vdm-a", "cdm-c"])
        self.assertEqual(self.select(shard="2/2"), ["vdm-b"])
        for shard in ("0/2", "3/2", "-1/2", "1", "1/2/3", "a/b", "1/0"):
            with self.assertRaisesRegex(SystemExit, f"^error: --shard {shard}: "):
                self.select(shard=shard)


class Guests(unittest.TestCase):
    """Reading of the files of a guest."""

    def evaluate(self, status, files, test="guest/t/rule", console="", number=0):
        """Return ({case: good}, why) or Failure."""
        with tempfile.TemporaryDirectory() as folder:
            share = pathlib.Path(folder)
            for name, text in files.items():
                (share / name).write_text(text, encoding="utf-8")
            (share / "console").write_text(console, encoding="utf-8")
            mutation = mutations.Mutation({**ROW, "test": test}, "list")
            return mutation_tests.Guest.evaluate(mutation, status, "error: it", share,
                                              share / "console", number)

    def test_case_that_fails_is_seen(self):
        cases, why = self.evaluate(0, {"0.tap": "1..1\nnot ok 1 - rule\n", "0.status": "1"})
        self.assertEqual((cases, why), ({"rule": False}, ""))

    def test_fault_of_the_kernel_is_reported(self):
        for console, dmesg in (("kernel BUG at x.c:1\n", ""), ("", "Oops: 0002\n")):
            cases, why = self.evaluate(125, {"0.tap": "1..1\nok 1 - rule\n", "job.log": "",
                                          "dmesg": dmesg}, console=console)
            self.assertEqual(cases, {})
            self.assertIn(console.strip() or dmesg.strip(), why)

    def test_guest_that_ended_without_a_report_is_inconclusive(self):
        with self.assertRaises(mutation_tests.Failure):
            self.evaluate(125, {"job.log": "", "dmesg": "all is well\n"})

    def test_kernel_that_crashes_before_the_job_is_inconclusive(self):
        with self.assertRaises(mutation_tests.Failure):
            self.evaluate(125, {}, console="Oops: int3: 0000 [#1]\n")

    def test_guest_that_does_not_end_is_inconclusive(self):
        with self.assertRaises(mutation_tests.Failure):
            self.evaluate(124, {"0.tap": "1..1\nnot ok 1 - rule\n"})

    def test_case_that_did_not_run_is_inconclusive(self):
        with self.assertRaises(mutation_tests.Failure):
            self.evaluate(0, {"0.tap": "1..0\n", "0.status": "1"})

    def test_skipped_subtest_is_inconclusive(self):
        with self.assertRaises(mutation_tests.Failure):
            self.evaluate(0, {"0.status": "77"}, "igt/p/rule")

    def test_subtest_that_fails_or_crashes_is_seen(self):
        for status in ("98", "112", "139"):
            cases, why = self.evaluate(0, {"0.status": status, "dmesg": "[    9.0] mutation test 0\n"},
                                       "igt/p/rule")
            self.assertEqual((cases, why), ({"rule": False}, ""))

    def test_subtest_fails_at_a_reset_that_it_does_not_announce(self):
        begin = "[    9.0] mutation test 0\n"
        mark = "[    9.1] [IGT] add ignored dmesg regex: "
        reset = "[    9.2] pumice 0000:01:00.0: [drm] *ERROR* resetting the GPU: firmware failed\n"
        for announced, good in (("", False), (f"{mark}resetting the GPU: firmware failed\n", True),
                                (f"{mark}(resetting the GPU: |)does not reply\n", False)):
            with self.subTest(announced=announced):
                cases, _ = self.evaluate(0, {"0.status": "0", "dmesg": begin + announced + reset},
                                      "igt/p/rule")
                self.assertEqual(cases, {"rule": good})
        for other, good in (("[    9.3] mutation test 1\n", False), ("", True)):
            with self.subTest(other=other):
                log = f"{begin}{mark}resetting the GPU: firmware failed\n{other}{reset}"
                cases, _ = self.evaluate(0, {"1.status": "0", "0.status": "0", "dmesg": log},
                                      "igt/p/rule", number=1 if other else 0)
                self.assertEqual(cases, {"rule": good})

        with self.subTest("a reset of the next test"):
            cases, _ = self.evaluate(0, {"0.status": "0", "1.status": "0",
                                         "dmesg": f"{begin}[    9.1] mutation test 1\n{reset}"}, "igt/p/rule")
            self.assertEqual(cases, {"rule": True})

    def test_subtest_without_its_part_of_the_log_is_inconclusive(self):
        for files in ({}, {"dmesg": "[    9.0] mutation test 1\n"}):
            with self.subTest(files=files), self.assertRaises(mutation_tests.Failure):
                self.evaluate(0, {"0.status": "0", **files}, "igt/p/rule")

    def test_job_begins_each_test_with_a_new_driver_and_a_mark(self):
        begin = ("echo 'mutation test {}' >/dev/kmsg", "modprobe -r pumice kunit 2>/dev/null",
                 "echo 1 >/sys/bus/pci/rescan")
        end = {
            "kunit": ("modprobe kunit filter_glob={program}.{case}", "modprobe pumice",
                      "cat /sys/kernel/debug/kunit/{program}/results >/host/{number}.tap"),
            "guest": ("modprobe pumice job_timeout_ms=30000 || exit 1",
                      "timeout -s KILL 200 {program} {case} >/host/{number}.tap 2>&1",
                      "echo $? >/host/{number}.status"),
            "igt": ("modprobe pumice || exit 1",
                    f"timeout -s KILL 200 {igt.FOLDER}/{{program}} --run-subtest {{case}} "
                    ">/tmp/{number}.tap 2>&1",
                    "echo $? >/tmp/{number}.status", "cp /tmp/{number}.tap /tmp/{number}.status /host"),
        }
        for kind, lines in end.items():
            rows = [mutations.Mutation({**ROW, "test": f"{kind}/p{n}/c{n}"}, "list") for n in range(2)]
            wanted = [line.format(number, number=number, program=f"p{number}", case=f"c{number}")
                      for number in range(2) for line in (*begin, *lines)]
            with self.subTest(kind=kind):
                self.assertEqual(mutation_tests.job_of(rows).splitlines(), wanted)

    def test_unknown_case_runs_all_of_a_suite(self):
        row = mutations.Mutation({**ROW, "test": "kunit/s/?"}, "list")
        self.assertIn("modprobe kunit filter_glob=*\n", mutation_tests.job_of([row]))

    def test_time_limit_of_a_guest_grows_with_its_tests(self):
        rows = [mutations.Mutation({**ROW, "test": f"guest/p/c{n}"}, "list") for n in range(3)]
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(mutation_tests, "call", return_value=(0, "")) as call:
            guest = mutation_tests.Guest(mutation_tests.Builder(pathlib.Path(folder)), pathlib.Path(folder))
            guest.image.parent.mkdir(parents=True)
            for count in (1, 3):
                guest.boot(rows[:count])
            (first, _), (second, _) = (c.args for c in call.call_args_list)
            limits = [int(command[command.index("--timeout") + 1]) for command in (first, second)]
            job = guest.image.with_suffix(".job").read_text(encoding="utf-8")
        self.assertEqual(limits, [420, 460])
        self.assertEqual(job, mutation_tests.job_of(rows))

    def test_subtest_at_the_limit_of_the_harness_is_inconclusive(self):
        for status in ("124", "137", "79", "127"):
            with self.subTest(status=status), self.assertRaises(mutation_tests.Failure):
                self.evaluate(0, {"0.status": status}, "igt/p/rule")

    def test_faults_on_request_have_their_device_and_clock(self):
        options = [mutation_tests.Guest.special(mutations.Mutation({**ROW, "test": test}, "list"))
                   for test in ("igt/pumice_faults/rule", "igt/pumice_fence/rule")]
        self.assertIn("--own-time", options[0])
        self.assertIn("fault-injection=on", options[0][-1])
        self.assertEqual(options[1], [])


class Tables(unittest.TestCase):
    """Results of earlier runs that are kept."""

    def table(self, folder, row, commit):
        """Return a table of one row, as a run at this commit sees it."""
        with mock.patch("sources.commit", return_value=commit):
            return mutations.Table(pathlib.Path(folder), [mutations.Mutation(row, "list")])

    def test_result_of_a_row_that_was_edited_is_forgotten(self):
        with tempfile.TemporaryDirectory() as folder:
            table = self.table(folder, ROW, "one")
            table.add(table.mutations[0], "caught", "rule fails", 1)
            self.assertIn("one: 1 of 1 caught", table.total())
            later = self.table(folder, ROW, "two")
            self.assertIn("two: 0 of 1 caught; 1 more at other commits", later.total())
            for change in ({"old": "three"}, {"new": "three"}, {"test": "unit/t/other"}):
                edited = self.table(folder, {**ROW, **change}, "one")
                self.assertIn("0 of 1 caught; 0 more", edited.total())
                self.assertEqual(edited.line(edited.mutations[0])[2], "not run")


if __name__ == "__main__":
    unittest.main()
