# SPDX-License-Identifier: MIT
"""Long steps report how far they are; a step's log says what it does."""

import os
import pathlib
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = TOP / "scripts"
KBUILD = "  HOSTCC  scripts/basic/fixdep\n  CC      mm/slub.o\n  CC [M]  drivers/gpu/drm/drm_gem.o\n"
NINJA = "[1/20] Compiling C object a.o\n../b.c:3: warning: unused\n[2/20] Compiling C object b.o\n"


class Steps(unittest.TestCase):
    """scripts/lib.sh, with build/ and out/ of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = dict(os.environ, BUILD=f"{self.folder}/build", OUT=f"{self.folder}/out",
                                PUMICE_CACHE=f"{self.folder}/cache")

    def shell(self, script, **environment):
        """Return both outputs of a script that has sourced lib.sh."""
        done = subprocess.run(["bash", "-c", f"set -euo pipefail; . {SCRIPTS}/lib.sh; {script}"],
                              env=dict(self.environment, **environment), check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.stdout

    def progress(self, log, total=""):
        """Return progress() of a log with this content."""
        (self.folder / "log").write_text(log)
        return self.shell(f"progress {self.folder}/log {total}").strip()

    def test_ninja_count_is_shown_with_its_last_line(self):
        self.assertEqual(self.progress(NINJA), "2 of 20, Compiling C object b.o")

    def test_ninja_count_survives_the_messages_after_it(self):
        self.assertEqual(self.progress(NINJA + "c.c:1: warning: x\n" * 5),
                         "2 of 20, Compiling C object b.o")

    def test_kbuild_objects_are_counted_of_the_expected(self):
        self.assertEqual(self.progress(KBUILD, 2300),
                         "3 of about 2300 objects, CC [M] drivers/gpu/drm/drm_gem.o")

    def test_kbuild_objects_beyond_the_expected_have_no_total(self):
        self.assertEqual(self.progress(KBUILD, 2), "3 objects, CC [M] drivers/gpu/drm/drm_gem.o")

    def test_last_line_of_other_commands_is_shown_and_cut(self):
        self.assertEqual(self.progress("Get:1 a\nGet:2 b  c\n\n"), "Get:2 b c")
        self.assertEqual(self.progress("x" * 200), "x" * 69 + "…")

    def test_a_command_with_a_lock_has_its_status_with_and_without_errexit(self):
        for errexit in ("-e", "+e"):
            for status in (0, 3):
                done = subprocess.run(["bash", "-c", f"set {errexit}; . {SCRIPTS}/lib.sh; "
                                       f"with_lock {self.folder}/lock sh -c 'exit {status}'"],
                                      env=self.environment, check=False)
                self.assertEqual(done.returncode, status)

    def test_empty_log_shows_nothing(self):
        self.assertEqual(self.progress(""), "")

    def test_step_shows_progress_until_it_is_done(self):
        printed = self.shell("step s title sh -c 'echo [3/4] object; for i in $(seq 600); do "
                             f"[ -e \"$0\" ] && exit 0; sleep 0.1; done; exit 1' {self.folder}/go 2>&1 | while read -r line; do "
                             f"echo \"$line\"; case $line in *'3 of 4, object'*) touch "
                             f"{self.folder}/go;; esac; done", STEP_INTERVAL="0.2")
        self.assertRegex(printed, r"title: \d+ s: 3 of 4, object")
        self.assertIn("✓ title", printed)

    def test_makes_of_a_step_log_also_under_a_silent_make(self):
        (self.folder / "Kbuild.mk").write_text(
            "all:\n\t$(if $(findstring s,$(firstword -$(MAKEFLAGS))),,@echo '  CC      x.o')\n")
        (self.folder / "Makefile").write_text(
            f"all:\n\t@{SCRIPTS}/step.sh s title $(MAKE) -f {self.folder}/Kbuild.mk\n")
        subprocess.run(["make", "-s", "-C", self.folder], env=self.environment, check=True,
                       capture_output=True)
        self.assertIn("CC      x.o", (self.folder / "out/logs/s.log").read_text())


if __name__ == "__main__":
    unittest.main()
