# SPDX-License-Identifier: MIT
"""scripts/run-guest.py boots a guest again that a stale breakpoint ended, and no other."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "scripts"))
import by_path  # noqa: E402

# Replaces QEMU: counts its runs, writes a console, and exits with status 0 from run GOOD on.
QEMU = """#!/bin/sh
for word; do
	case $word in
	file:*) console=${word#file:} ;;
	local,id=host,path=*) share=${word#local,id=host,path=}; share=${share%%,*} ;;
	esac
done
echo run >>"$RUNS"
if [ "$(wc -l <"$RUNS")" -lt "$GOOD" ]; then
	[ -z "$BEGUN" ] || echo begun >"$share/job.log"
	echo "$CRASH" >"$console"
	exit 0
fi
echo "booting" >"$console"
echo "$*" >"$RUNS.words"
[ -z "$HANG" ] || exec sleep 60
touch "$share/job.log" "$share/dmesg"
echo 0 >"$share/status"
"""
STALE = "[    1.234567] Oops: int3: 0000 [#1] PREEMPT SMP NOPTI"


class BootAgain(unittest.TestCase):
    """A guest whose QEMU is a script."""

    def boot(self, good, crash=STALE, begun="", accelerator="tcg", hang=""):
        """Return (exit status, boots, output) of a guest that works from boot @good on."""
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            (work / "qemu").write_text(QEMU)
            (work / "qemu").chmod(0o755)
            for name in ("job", "image", "bzImage", "runs"):
                (work / name).touch()
            environment = os.environ | {
                "BUILD": folder, "OUT": folder, "PUMICE_ACCEL": accelerator, "BEGUN": begun,
                "RUNS": str(work / "runs"), "GOOD": str(good), "CRASH": crash, "HANG": hang}
            done = subprocess.run(
                [str(TOP / "scripts/run-guest.py"), "test", "--kernel", folder, "--image",
                 str(work / "image"), "--job", str(work / "job"), "--qemu",
                 str(work / "qemu"), "--timeout", "40", "--boot-timeout", "1" if hang else "20"],
                env=environment, capture_output=True, text=True, check=False)
            runs = len((work / "runs").read_text().splitlines())
            words = work / "runs.words"
            self.words = words.read_text().split() if words.exists() else []
            return done.returncode, runs, done.stderr

    def test_stale_breakpoint_at_boot_boots_again_and_reports_it(self):
        status, runs, printed = self.boot(good=2)
        self.assertEqual((status, runs), (0, 2))
        self.assertIn("boots again", printed)

    def test_second_crash_is_reported(self):
        status, runs, _ = self.boot(good=3)
        self.assertEqual((status, runs), (125, 2))

    def test_other_crashes_are_not_repeated(self):
        status, runs, _ = self.boot(good=2, crash="Oops: general protection fault: 0000 [#1]")
        self.assertEqual((status, runs), (125, 1))

    def test_crash_after_the_job_began_is_not_repeated(self):
        status, runs, _ = self.boot(good=2, begun="yes")
        self.assertEqual((status, runs), (125, 1))

    def test_with_kvm_it_is_a_fault_of_the_kernel(self):
        status, runs, _ = self.boot(good=2, accelerator="kvm")
        self.assertEqual((status, runs), (125, 1))

    def test_good_guest_boots_once(self):
        status, runs, printed = self.boot(good=1)
        self.assertEqual((status, runs, printed), (0, 1, ""))
        # The guest's tests read the properties of their device.
        device, = [word for word in self.words if word.startswith("pumice,")]
        self.assertIn("pumice_device=" + device.removesuffix(",bus=port0"), self.words)

    def test_guest_that_does_not_boot_is_stopped_before_its_timeout(self):
        status, runs, printed = self.boot(good=1, hang="yes")
        self.assertEqual(status, 124)
        # On a busy machine it may be stopped before it has counted its run.
        self.assertLessEqual(runs, 1)
        self.assertIn("did not boot within 1.0 s", printed)


class Kvm(unittest.TestCase):
    """The file that keeps whether KVM works."""

    def test_it_is_complete_when_another_guest_can_read_it(self):
        run_guest = by_path.load("run-guest.py")
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.multiple(run_guest, BUILD=pathlib.Path(folder),
                                    CACHE=pathlib.Path(folder), Guest=mock.Mock()), \
                mock.patch.dict(os.environ, PUMICE_ACCEL=""), \
                mock.patch.object(os, "access", return_value=True):
            run_guest.Guest.return_value.run.return_value = 0
            with mock.patch.object(os, "replace", side_effect=KeyboardInterrupt), \
                    self.assertRaises(KeyboardInterrupt):
                run_guest.kvm_works(argparse.Namespace())
            results = set(pathlib.Path(folder).glob("kvm-*"))
            self.assertTrue(run_guest.kvm_works(argparse.Namespace()))
            result, = set(pathlib.Path(folder).glob("kvm-*")) - results
            self.assertEqual(result.read_text(encoding="ascii"), "yes")


if __name__ == "__main__":
    sys.exit(unittest.main())
