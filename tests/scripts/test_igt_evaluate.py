# SPDX-License-Identifier: MIT
"""Evaluation of IGT's results: each difference from the lists is a failure."""

import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import igt  # noqa: E402
import results  # noqa: E402

LISTS = {
    "fails": {"igt@a@known": "upstream bug"},
    "flakes": {"igt@a@flaky": "depends on the host's load"},
    "skips": {"igt@a@skipped": "no slot power"},
}


class Judge(unittest.TestCase):
    """igt.evaluate for one test and one result."""

    def evaluate(self, test, result):
        """Return (passed, failed) counted for this result."""
        tally = results.Tally("evaluate")
        outcome = {} if result is None else {test: {"result": result}}
        with mock.patch("igt.expectations", lambda name, kernel: LISTS[name]), \
                mock.patch("builtins.print"):
            igt.evaluate(tally, "fast", [test], outcome)
        return len(tally.passed), len(tally.failed)

    def test_pass_passes(self):
        self.assertEqual(self.evaluate("igt@a@x", "pass"), (1, 0))

    def test_fail_fails(self):
        self.assertEqual(self.evaluate("igt@a@x", "fail"), (0, 1))

    def test_warning_of_the_kernel_fails(self):
        self.assertEqual(self.evaluate("igt@a@x", "dmesg-warn"), (0, 1))

    def test_missing_result_fails(self):
        self.assertEqual(self.evaluate("igt@a@x", None), (0, 1))

    def test_unexpected_skip_fails(self):
        self.assertEqual(self.evaluate("igt@a@x", "skip"), (0, 1))

    def test_expected_skip_counts_neither_way(self):
        self.assertEqual(self.evaluate("igt@a@skipped", "skip"), (0, 0))

    def test_skip_that_now_passes_fails(self):
        self.assertEqual(self.evaluate("igt@a@skipped", "pass"), (0, 1))

    def test_expected_failure_counts_neither_way(self):
        self.assertEqual(self.evaluate("igt@a@known", "fail"), (0, 0))

    def test_known_failure_that_now_passes_fails(self):
        self.assertEqual(self.evaluate("igt@a@known", "pass"), (0, 1))

    def test_flake_is_not_judged(self):
        for result in ("pass", "fail"):
            self.assertEqual(self.evaluate("igt@a@flaky", result), (0, 0))


class Strict(unittest.TestCase):
    """IGT with a GPU in mode strict."""

    TESTS = ["igt@pumice_gem@a", "igt@pumice_gem@b", "igt@pumice_hang@a"]

    def test_each_program_has_a_run_of_its_own(self):
        self.assertEqual(igt.Run("fast", True).lists(self.TESTS),
                         {"pumice_gem": self.TESTS[:2], "pumice_hang": self.TESTS[2:]})
        self.assertEqual(igt.Run("fast", False).lists(self.TESTS), {"all": self.TESTS})

    def test_each_guest_has_a_gpu_in_mode_strict(self):
        for part in igt.TIMEOUT:
            self.assertIn(",mode=strict", igt.Run("fast", True).device(part))
            self.assertNotIn("mode", igt.Run("fast", False).device(part) or "")

    def test_findings_are_those_of_the_list(self):
        run = igt.Run("fast", True)
        for lines, bad in (("", 1), ('{"finding":"unmapped"}\n', 0), ('{"finding":"clash"}\n', 1)):
            with self.subTest(lines=lines), tempfile.TemporaryDirectory() as folder, \
                    mock.patch("igt.OUT", pathlib.Path(folder)), mock.patch("builtins.print"), \
                    mock.patch("findings.expected", lambda _: {"pumice_hang": {"unmapped"}, "core_auth": {"-"}}):
                path = run.share("own") / "results"
                path.mkdir(parents=True)
                (path / "pumice_hang.findings").write_text(lines)
                (path / "pumice_gem.findings").write_text("")
                tally = results.Tally("findings")
                igt.evaluate_findings(tally, run, "own", ["pumice_gem", "pumice_hang", "core_auth"])
                self.assertEqual((len(tally.passed), len(tally.failed)), (2 - bad, bad))
                igt.evaluate_findings(tally, run, "own", ["pumice_left"])
                self.assertEqual(len(tally.failed), bad + 1)

    def test_findings_of_selected_subtests_are_some_of_the_list(self):
        run = igt.Run("fast", True)
        with tempfile.TemporaryDirectory() as folder, mock.patch("igt.OUT", pathlib.Path(folder)), \
                mock.patch("builtins.print"), mock.patch.dict("os.environ", TESTS="pumice_hang@a"), \
                mock.patch("findings.expected", lambda _: {"pumice_hang": {"unmapped"}}):
            path = run.share("own") / "results"
            path.mkdir(parents=True)
            (path / "pumice_hang.findings").write_text("")
            tally = results.Tally("findings")
            igt.evaluate_findings(tally, run, "own", ["pumice_hang"])
            self.assertEqual((len(tally.passed), len(tally.failed)), (1, 0))

    def test_a_program_that_does_not_exist_is_an_error(self):
        with mock.patch("findings.expected", lambda _: {"pumice_gum": {"unmapped"}}), \
                self.assertRaisesRegex(SystemExit, "pumice_gum"):
            igt.evaluate_findings(None, igt.Run("fast", True), "own", [])

    def test_results_of_all_runs_count(self):
        """As run_guest() reads them, of a guest that does not run."""
        with tempfile.TemporaryDirectory() as folder, mock.patch("igt.OUT", pathlib.Path(folder)), \
                mock.patch("igt.BUILD", pathlib.Path(folder)):
            run = igt.Run("fast", True)

            def guest(command, **_):
                for name in ("a", "b"):
                    self.assertIn(str(run.share("own").parent.parent / "guest" / run.share("own").name
                                      / f"testlist.{name}"), command)
                    path = run.share("own") / "results" / name
                    path.mkdir(parents=True)
                    (path / "results.json").write_text(f'{{"tests": {{"igt@{name}": {{}}}}}}')
                return mock.Mock(returncode=3)
            with mock.patch("igt.subprocess.run", guest):
                self.assertEqual(igt.run_guest(run, "own", {"a": ["igt@a"], "b": ["igt@b"]}, [], []),
                                 (3, {"igt@a": {}, "igt@b": {}}))


FRAME = ("\033[H\033[J\033[7mDRM minor 128\nPID   compute  NAME\033[0m\n"
         "{pid}   1M   1M |{busy}% ███      | {name} \n")


class Gputop(unittest.TestCase):
    """igt.evaluate_gputop for screens of gputop."""

    def evaluate(self, **line):
        """Return (passed, failed) for a frame with this line, our client being process 66."""
        tally = results.Tally("evaluate")
        with tempfile.TemporaryDirectory() as folder:
            share = pathlib.Path(folder) / "guest/igt-fast-own"
            share.mkdir(parents=True)
            (share / "load.pid").write_text("66\n")
            if line:
                (share / "gputop.txt").write_text(FRAME.format(**line))
            with mock.patch("igt.OUT", pathlib.Path(folder)), mock.patch("builtins.print"):
                igt.evaluate_gputop(tally, igt.Run("fast", False))
        return len(tally.passed), len(tally.failed)

    def test_busy_client_passes(self):
        self.assertEqual(self.evaluate(pid=66, busy="100.0", name="gputop_load"), (1, 0))

    def test_idle_client_fails(self):
        self.assertEqual(self.evaluate(pid=66, busy="  0.0", name="gputop_load"), (0, 1))

    def test_other_client_fails(self):
        self.assertEqual(self.evaluate(pid=67, busy="100.0", name="gputop_load"), (0, 1))
        self.assertEqual(self.evaluate(pid=66, busy="100.0", name="another"), (0, 1))

    def test_no_output_fails(self):
        self.assertEqual(self.evaluate(), (0, 1))


class Lists(unittest.TestCase):
    """The lists in tests/igt/ themselves."""

    def test_upstream_programs_make_the_render_list_of_268(self):
        kernels_own = {"dmabuf", "drm_mm", "drm_buddy"}
        self.assertEqual(sum(count for name, count, _, _ in igt.programs()
                             if not igt.is_own(name) and name not in kernels_own), 268)

    def test_as_many_of_our_subtests_as_promised_are_about_fences_and_the_mmu(self):
        own = {name: count for name, count, _, _ in igt.programs() if igt.is_own(name)}
        subject = sum(own[f"pumice_{name}"] for name in ("fence", "timeline", "dmabuf", "vm_bind",
                                                         "vm_layout", "mmu_fault"))
        self.assertGreaterEqual(sum(own.values()), 240)
        self.assertGreaterEqual(subject, 160)

    def test_each_expectation_has_a_reason(self):
        for name in ("fails", "flakes", "skips"):
            for kernel in ("fast", "stock"):
                igt.expectations(name, kernel)


class Chosen(unittest.TestCase):
    """Programs that run on a kernel."""

    def run_on_fast(self, module):
        """Return the subtests of part main on a kernel that has one module of tests."""
        lists = {name: [f"igt@{name}"] for name, *_ in igt.programs()}
        with mock.patch.object(igt.modules, "Kernel") as kernel, mock.patch("builtins.print"):
            kernel.return_value.paths = {module: "x.ko"}
            return igt.chosen(lists, "fast")["main"]

    def test_a_program_runs_where_the_kernel_has_the_module_that_it_loads(self):
        self.assertIn("igt@drm_buddy", self.run_on_fast("drm_buddy_test"))

    def test_a_program_whose_module_is_renamed_is_left_out(self):
        tests = self.run_on_fast("gpu_buddy_tests")
        self.assertNotIn("igt@drm_buddy", tests)
        self.assertIn("igt@drm_mm", tests)


if __name__ == "__main__":
    unittest.main()
