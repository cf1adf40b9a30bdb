# SPDX-License-Identifier: MIT
"""The pictures of the demos in the documentation are those that the GPU draws."""

import pathlib
import re
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "Documentation/pictures"))
import demos  # noqa: E402  # pylint: disable=wrong-import-position
import png  # noqa: E402  # pylint: disable=wrong-import-position

# Their values are random: a picture of the product or of the sums modulo 2^32 would be noise, and
# the reduction has three numbers.
WITHOUT_PICTURE = {"matmul", "reduction", "scan"}
PAGE = (TOP / "Documentation/demos.rst").read_text(encoding="utf-8")


class Pictures(unittest.TestCase):
    """Each picture of the page."""

    def test_every_demo_that_draws_has_its_picture_and_all_have_their_text(self):
        source = (TOP / "userspace/demos/meson.build").read_text(encoding="utf-8")
        names = set(re.findall(r"^  '(\w+)': ", source, re.M))
        self.assertGreater(len(names), 12)
        self.assertEqual(set(re.findall(r"``pumice-demo-(\w+)``", PAGE)), names)
        shown = set(re.findall(r"figure:: pictures/demos/(\S+)", PAGE))
        self.assertEqual(shown, set(demos.PICTURES))
        self.assertEqual({name.partition(".")[0] for name in shown}, names - WITHOUT_PICTURE)
        for name in names:
            text = (TOP / f"userspace/demos/{name}.c").read_text(encoding="utf-8")
            writes = re.search(r"\b(?:demo_write_\w+|picture_write|draw_write|draw_arguments)\(", text)
            self.assertEqual(bool(writes), name not in WITHOUT_PICTURE, name)
        written = re.findall(r"^demo (\w+).* (?:-o|-p) ", (TOP / "scripts/run.sh").read_text(), re.M)
        self.assertEqual({name.partition(".")[0] for name in shown}, set(written))

    def test_the_gpu_draws_the_pictures(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in demos.PICTURES:
                kept = TOP / "Documentation/pictures/demos" / name
                with self.subTest(picture=name):
                    drawn = demos.draw(name, folder)
                    if name.endswith(".png"):       # compression may differ
                        self.assertEqual(png.read(drawn), png.read(kept))
                    else:
                        self.assertEqual(drawn.read_bytes(), kept.read_bytes())

    def test_reduction_averages_squares(self):
        rows = [bytes([0, 10, 20, 100, 10, 20, 7, 7, 7]), bytes([0, 10, 20, 101, 11, 20, 7, 7, 7])]
        self.assertEqual(png.reduce(3, 2, rows, 2), (1, 1, [bytes([50, 10, 20])]))


if __name__ == "__main__":
    unittest.main()
