# SPDX-License-Identifier: MIT
"""scripts/bench_against.py: its ratios are above 1 where this tree is faster."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import bench_against  # noqa: E402  pylint: disable=wrong-import-position


def row(ours, peer=None, ratio=None, unit="ms"):
    """Make a row as make bench writes it."""
    return {"name": "x", "unit": unit, "ours": ours, "peer": peer, "ratio": ratio}


def compare(before, after):
    """Compare one row over passes."""
    return bench_against.compare("x", [{"x": one} for one in before],
                                 [{"x": one} for one in after])


class Ratios(unittest.TestCase):
    """The direction of a row, its best figure and its median."""

    def test_less_time_is_better(self):
        """A time that halves has ratio 2, and the least time is the best."""
        got = compare([row(8.0, 4.0, 0.5), row(10.0, 4.0, 0.4)],
                      [row(4.0, 4.0, 1.0), row(5.0, 4.0, 0.8)])
        self.assertEqual((got["ratio"], got["before"], got["after"]), (2.0, 8.0, 4.0))

    def test_more_of_a_rate_is_better(self):
        """A rate that doubles has ratio 2, and the highest is the best."""
        got = compare([row(2.0, 4.0, 0.5, "GB/s")] * 2,
                      [row(4.0, 4.0, 1.0, "GB/s"), row(3.0, 4.0, 0.75, "GB/s")])
        self.assertEqual((got["ratios"], got["after"]), ([1.5, 2.0], 4.0))

    def test_median_of_passes(self):
        """One slow pass does not decide."""
        got = compare([row(1.0, 1.0, 1.0)] * 3,
                      [row(1.0, 1.0, 1.0), row(9.0, 1.0, 1 / 9), row(1.0, 1.0, 1.0)])
        self.assertEqual(got["ratio"], 1.0)

    def test_a_row_of_one_side_has_no_ratio(self):
        """A new row, and one that was removed."""
        got = bench_against.compare("x", [{}], [{"x": row(1.0, 2.0, 2.0)}])
        self.assertIsNone(got["ratio"])
        self.assertIsNone(got["before"])


if __name__ == "__main__":
    unittest.main()
