# SPDX-License-Identifier: MIT
"""Every ioctl has its case of failing allocations and its call of the fuzzer.

Pairs of calls (tests/guest/t_pairs.c) are made of the fuzzer's.
"""

import pathlib
import re
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
HEADER = TOP / "uapi/drm/pumice_drm.h"
SWEEPS = TOP / "tests/guest/t_alloc_fail.c"
FUZZER = TOP / "tests/fuzz/ioctl/calls.c"
PAIRS = TOP / "tests/guest/t_pairs.c"
# Of DRM itself, where the driver's own code runs; the fuzzer names the first two otherwise.
CORE = ["PRIME_EXPORT", "PRIME_IMPORT", "MODE_CREATE_DUMB"]
OF_THE_FUZZER = ["PRIME_HANDLE_TO_FD", "PRIME_FD_TO_HANDLE", "MODE_CREATE_DUMB", "GEM_CLOSE",
                 "SYNCOBJ_CREATE", "SYNCOBJ_DESTROY", "SYNCOBJ_WAIT", "SYNCOBJ_TIMELINE_WAIT",
                 "SYNCOBJ_TIMELINE_SIGNAL", "SYNCOBJ_TRANSFER", "closing a file"]


def ioctls():
    """Return the names of the driver's ioctls, such as BO_CREATE."""
    return re.findall(r"^#define DRM_IOCTL_PUMICE_(\w+)", HEADER.read_text(), re.M)


class Covered(unittest.TestCase):
    """Requirements of a new ioctl besides its own tests."""

    def test_there_are_ioctls(self):
        self.assertGreater(len(ioctls()), 20)

    def test_each_ioctl_has_a_sweep_of_failing_allocations(self):
        cases = re.findall(r"SWEEP_CASE\((\w+)\)", SWEEPS.read_text())
        for name in ioctls() + CORE:
            self.assertTrue(any(name.lower() in case for case in cases),
                            f"{name}: no SWEEP in {SWEEPS}")

    def test_each_ioctl_has_a_call_of_the_fuzzer(self):
        calls = re.findall(r'^\t\{ "([^"]*)", \w+, [1-9]', FUZZER.read_text(), re.M)
        for name in ioctls() + OF_THE_FUZZER:
            self.assertIn(name, calls, f"{name}: no row in {FUZZER}")

    def test_pairs_are_of_all_calls_of_the_fuzzer(self):
        text = PAIRS.read_text()
        self.assertIn("for (a = 0; a < fuzz_call_count; a++)", text)
        for name in re.findall(r'\{ \{ "([^"]*)", "([^"]*)" \} \}', text):
            for call in name:
                self.assertIn(f'{{ "{call}", ', FUZZER.read_text())


if __name__ == "__main__":
    unittest.main()
