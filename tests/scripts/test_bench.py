# SPDX-License-Identifier: MIT
"""Rows of the benchmarks that must not be missing."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import bench  # noqa: E402  pylint: disable=wrong-import-position


class Rows(unittest.TestCase):
    """Rows of pumice-bench."""

    def test_rows_without_rays_are_refused(self):
        """A build without Embree leaves the rows of rays out; the benchmarks then fail."""
        with self.assertRaisesRegex(SystemExit, "no rows of rays\n.*libembree-dev"):
            bench.require_rays([{"name": "saxpy"}, {"name": "65,522 triangles, build"}])

    def test_rows_with_rays_are_accepted(self):
        """One row of rays is sufficient: the others are written by the same function."""
        bench.require_rays([{"name": "saxpy"}, {"name": "rays, coherent"}])


if __name__ == "__main__":
    unittest.main()
