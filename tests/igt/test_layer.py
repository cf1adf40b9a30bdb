#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The layer under tests/igt/: command line, output and exit statuses are IGT's."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = pathlib.Path(os.environ.get("BUILD", TOP / "build")) / "native/tests/igt/layer_sample"
SUBTESTS = ["passes", "fails", "skips", "crashes", "warns", "ioctl-refused", "ioctl-fails",
            "succeeds-early", "aborts", "skipped-by-fixture", "failed-by-fixture",
            "after-groups", "child-passes", "child-fails", "child-crashes", "child-hangs",
            "helper-passes", "helper-is-stopped", "helper-fails", "announces"]


def run(*arguments, **environment):
    """Run the sample; (exit status, standard output, standard error)."""
    done = subprocess.run([PROGRAM, *arguments], check=False, capture_output=True, text=True,
                          timeout=60,
                          env={**os.environ, "IGT_LAYER_KMSG": "/dev/null", **environment})
    return done.returncode, done.stdout, done.stderr


class Layer(unittest.TestCase):
    """Each test names the rule that it proves."""

    def expect(self, subtest, status, result):
        """Check that a single subtest ends the program with a status and reports a result."""
        got, out, err = run("--run-subtest", subtest)
        line = re.compile(rf"^Subtest {subtest}: {result} \(\d+\.\d{{3}}s\)$", re.M)
        self.assertEqual(got, status)
        for text in (out, err):
            self.assertIn(f"Starting subtest: {subtest}\n", text)
            self.assertRegex(text, line)
        return out, err

    def test_output_opens_with_the_version(self):
        self.assertRegex(run("--run-subtest", "passes")[1],
                         r"\AIGT-Version: \S+ \(\S+\) \(Linux: \S+ \S+\)\n")

    def test_list_subtests_names_all_and_runs_none(self):
        status, out, _err = run("--list-subtests")
        self.assertEqual(status, 0)
        self.assertEqual(out.split(), SUBTESTS)

    def test_passed_subtest_is_success(self):
        self.expect("passes", 0, "SUCCESS")
        self.expect("ioctl-refused", 0, "SUCCESS")
        self.expect("succeeds-early", 0, "SUCCESS")
        self.expect("child-passes", 0, "SUCCESS")
        self.expect("after-groups", 0, "SUCCESS")

    def test_failed_subtest_gives_98_and_reports_why(self):
        _out, err = self.expect("fails", 98, "FAIL")
        self.assertRegex(err, r"CRITICAL: Test assertion failure function fail_below, file .*:\d+:")
        self.assertIn("CRITICAL: error: 1 != 2\n", err)
        self.assertIn("DEBUG: said before the failure\n", err)
        self.expect("ioctl-fails", 98, "FAIL")

    def test_skipped_subtest_gives_77(self):
        out, _err = self.expect("skips", 77, "SKIP")
        self.assertIn("Test requirement: ", out)

    def test_crash_is_a_failure_that_reports_the_signal(self):
        _out, err = self.expect("crashes", 128 + 11, "CRASH")
        self.assertIn("Received signal SIGSEGV.\n", err)

    def test_subtests_after_a_crash_run(self):
        status, out, _err = run("--run-subtest", "crashes,warns")
        self.assertEqual(status, 128 + 11)
        self.assertIn("Subtest warns: SUCCESS", out)

    def test_warning_goes_to_standard_error(self):
        _out, err = self.expect("warns", 0, "SUCCESS")
        self.assertRegex(err, r"(?m)^\(\S+:\d+\) WARNING: a warning$")

    def test_abort_gives_112_at_once(self):
        status, out, err = run("--run-subtest", "aborts,after-groups")
        self.assertEqual(status, 112)
        self.assertIn("not fit\n", err)
        self.assertNotIn("after-groups", out)

    def test_unknown_subtest_gives_79(self):
        status, _out, err = run("--run-subtest", "nonsense")
        self.assertEqual(status, 79)
        self.assertIn("Unknown subtest: nonsense\n", err)

    def test_unknown_option_gives_79(self):
        self.assertEqual(run("--nonsense")[0], 79)
        self.assertEqual(run("nonsense")[0], 79)

    def test_patterns_choose_subtests(self):
        _status, out, _err = run("--run-subtest", "*ss*,w*rns,!*er-group*,!child-*,!helper-*")
        self.assertEqual(re.findall(r"Starting subtest: (\S+)", out), ["passes", "warns"])

    def test_failed_fixture_is_a_failure_whatever_runs(self):
        self.assertEqual(run("--run-subtest", "passes", LAYER_SAMPLE_FAILS="1")[0], 98)

    def test_fixture_decides_for_its_group_alone(self):
        status, out, _err = run("--run-subtest", "*-by-fixture,after-groups",
                                LAYER_SAMPLE_FAILS="1")
        self.assertEqual(status, 98)
        self.assertIn("Subtest skipped-by-fixture: SKIP\n", out)
        self.assertIn("Subtest failed-by-fixture: FAIL\n", out)
        self.assertIn("Subtest after-groups: SUCCESS", out)
        self.assertNotIn("Starting subtest: skipped-by-fixture", out)

    def test_failed_child_fails_its_subtest(self):
        _out, err = self.expect("child-fails", 98, "FAIL")
        self.assertIn("error: 1 == 1\n", err)

    def test_crashed_child_fails_its_subtest(self):
        self.expect("child-crashes", 128 + 11, "FAIL")

    def test_child_that_hangs_fails_its_subtest(self):
        _out, err = self.expect("child-hangs", 98, "FAIL")
        self.assertIn("children that pause", err)

    def test_helper_of_a_child_may_pass_fail_or_be_stopped(self):
        self.expect("helper-passes", 0, "SUCCESS")
        self.expect("helper-is-stopped", 0, "SUCCESS")
        self.expect("helper-fails", 98, "FAIL")

    def test_exit_handlers_run_however_the_program_ends(self):
        for subtest in ("passes", "fails", "crashes", "aborts", "child-crashes"):
            out, err = run("--run-subtest", subtest, LAYER_SAMPLE_CLEANS="1")[1:]
            self.assertEqual((out + err).count("cleaned up, signal 0\n"), 1, subtest)
        out = run("--run-subtest", "passes", LAYER_SAMPLE_CLEANS="1",
                  LAYER_SAMPLE_TERMINATES="1")
        self.assertEqual(out[0], -15)
        self.assertEqual(out[1].count("cleaned up, signal 15\n"), 1)

    def marks(self, *arguments):
        """Return the lines that a run writes to the kernel's log."""
        with tempfile.NamedTemporaryFile("r") as log:
            run(*arguments, IGT_LAYER_KMSG=log.name)
            return log.read()

    def test_marks_in_the_kernel_log_are_those_that_the_runner_looks_for(self):
        self.assertEqual(self.marks("--run-subtest", "passes,fails"), """\
<6>[IGT] layer_sample: executing
<6>[IGT] layer_sample: starting subtest passes
<6>[IGT] layer_sample: finished subtest passes, SUCCESS
<6>[IGT] layer_sample: starting subtest fails
<6>[IGT] layer_sample: finished subtest fails, FAIL
<6>[IGT] layer_sample: exiting, ret=98
""")
        self.assertEqual(self.marks("--list-subtests") + self.marks("--describe"), "")

    def test_expected_messages_are_announced_in_their_subtest(self):
        self.assertIn("""\
: starting subtest announces
<6>[IGT] add ignored dmesg regex: job [0-9]+ timed out|reset
""", self.marks("--run-subtest", "announces"))

    def test_show_testlist_names_all_as_the_runner_does(self):
        status, out, _err = run("--show-testlist")
        self.assertEqual(status, 0)
        self.assertEqual(out.split(), [f"igt@layer_sample@{name}" for name in SUBTESTS])

    def test_device_filters_other_than_nodes_are_refused(self):
        for arguments, environment in ((("--device", "pci:vendor=1234"), {}),
                                       ((), {"IGT_DEVICE": "sys:/sys"})):
            self.assertEqual(run(*arguments, **environment)[0], 79)
        self.assertEqual(run("--device", "drm:/dev/dri/renderD128", "--run-subtest",
                             "passes")[0], 0)

    def test_one_failure_among_successes_is_a_failure(self):
        self.assertEqual(run("--run-subtest", "passes,fails,after-groups")[0], 98)
        self.assertEqual(run("--run-subtest", "passes,skips")[0], 0)

    def test_describe_prints_the_proven_rules(self):
        status, out, _err = run("--describe")
        self.assertEqual(status, 0)
        self.assertTrue(out.startswith("Every verdict that a subtest can end with.\n\nSUB passes "))
        self.assertRegex(out, r"SUB passes \S+:\d+:\n  Succeeds\n\n")
        self.assertRegex(out, r"SUB fails \S+:\d+:\n  NO DOCUMENTATION!\n\n")
        self.assertRegex(out, r"SUB skipped-by-fixture \S+:\d+:\n"
                              r"  A group whose fixture skips\n\n  never runs\n\n")
        self.assertRegex(out, r"SUB after-groups \S+:\d+:\n  NO DOCUMENTATION!\n\n")

    def test_help_version_and_description_succeed(self):
        for option in ("--help", "-h", "--version", "--help-description"):
            status, out, _err = run(option)
            self.assertEqual(status, 0)
            self.assertTrue(out)


if __name__ == "__main__":
    unittest.main()
