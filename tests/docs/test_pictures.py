# SPDX-License-Identifier: MIT
"""The pictures of the demos in the documentation are those that the GPU draws."""

import pathlib
import re
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "Documentation/pictures"), str(TOP / "scripts")]
import bench_growth  # noqa: E402  # pylint: disable=wrong-import-position
import demos  # noqa: E402  # pylint: disable=wrong-import-position
import png  # noqa: E402  # pylint: disable=wrong-import-position
import traffic  # noqa: E402  # pylint: disable=wrong-import-position

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


class Traffic(unittest.TestCase):
    """The plots of memory traffic; tests/install compares their counts with the GPU's."""

    page = (TOP / "Documentation/memory-traffic.rst").read_text(encoding="utf-8")

    def test_each_plot_is_of_the_counts_and_on_the_page(self):
        plots = traffic.read()
        self.assertEqual(set(plots), set(traffic.PLOTS))
        shown = re.findall(r"figure:: pictures/traffic/(\S+)\.svg", self.page)
        self.assertEqual(sorted(shown), sorted(plots))
        for name in plots:
            text = (traffic.FOLDER / f"{name}.svg").read_text(encoding="utf-8")
            self.assertIn(f"<title>counts {traffic.digest()}</title>", text, name)

    def test_the_page_reads_the_counts_right(self):
        plots = {name: {line: dict(points) for line, points in lines.items()}
                 for name, lines in traffic.read().items()}
        self.assertEqual(plots["stride"]["memory"][256], 128)
        order = plots["order"]
        self.assertLess(order["along columns"][512], 4.1)
        self.assertEqual((order["along rows"][1024], order["along columns"][1024]), (4, 128))
        self.assertEqual({y for line in ("nearest first", "farthest first")
                          for y in plots["layers"][line].values()}, {8})
        for layers, value in plots["layers"]["blended"].items():
            self.assertEqual(value, 4 + 4 * layers)
            self.assertEqual(plots["layers"]["computed"][layers], 16 * layers)
        self.assertEqual(round(plots["texels"]["farthest first"][16]), 1)
        self.assertEqual(round(plots["texels"]["blended"][16]), 16)
        texture = plots["texture"]
        self.assertEqual([round(texture[line][angle]) for line in ("linear", "twiddled")
                          for angle in (0, 90)], [3, 50, 3, 6])
        written, pixels, read = (plots["triangles"][line] for line in (
            "parameter buffer written", "pixels written", "parameter buffer read"))
        self.assertLess(written[2048] + read[2048], pixels[2048])
        self.assertEqual(round(written[32768] / pixels[32768]), 9)
        self.assertEqual(round(read[32768] / 32768), 95)
        for size, level in ((2048, "first level"), (4096, "second level"), (8192, "SLC"),
                            (262144, "SLC")):
            self.assertGreater(plots["working-set"][level][size], 87, size)
        self.assertEqual(plots["working-set"]["memory"][524288], 100)


class Growth(unittest.TestCase):
    """The plots of make bench-growth."""

    page = (TOP / "Documentation/benchmarks.rst").read_text(encoding="utf-8")

    def test_each_curve_has_a_plot_on_the_page_with_the_exponent_of_the_table(self):
        rows = re.findall(r"^   \* - (\S+)\n((?:     - .*\n)+)",
                          (bench_growth.FOLDER / "exponents.inc").read_text(encoding="utf-8"), re.M)
        self.assertEqual([name for name, _ in rows[1:]], list(bench_growth.CURVES))
        shown = re.findall(r"figure:: pictures/growth/(\S+)\.svg", self.page)
        self.assertEqual(shown, list(bench_growth.CURVES))
        for name, cells in rows[1:]:
            exponent = cells.split()[-3]
            plot = (bench_growth.FOLDER / f"{name}.svg").read_text(encoding="utf-8")
            self.assertIn(f">exponent {exponent}<", plot, name)


if __name__ == "__main__":
    unittest.main()
