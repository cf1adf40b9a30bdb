# SPDX-License-Identifier: MIT
"""The table of presets in Documentation/device.rst is that of hw/presets.h."""

import pathlib
import re
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
COLUMNS = ("name", "document", "cores", "uscs", "slots", "tasks", "waves", "batch", "unified",
           "common", "local", "slot registers", "vpm", "idx", "chunks", "tiles", "outputs",
           "tsp")


def of_header():
    """Return {name: sizes} of the rows of PUMICE_PRESETS()."""
    text = (TOP / "hw/presets.h").read_text(encoding="utf-8")
    rows = re.findall(r"^\tX\(([A-Z0-9]+), ([0-9a-z, ]+)\)", text, flags=re.MULTILINE)
    return {name.lower(): sizes.split(", ") for name, sizes in rows}


def of_page():
    """Return the same for the table in the page."""
    text = (TOP / "Documentation/device.rst").read_text(encoding="utf-8")
    table = text.split("\nPreset  ", 1)[1].split("\n\n", 1)[0]
    rows = [line.split() for line in table.splitlines() if line.startswith("``")]
    return {row[0].strip("`"): [cell.strip("`") for cell in row[2:]] for row in rows}


class Presets(unittest.TestCase):
    """Names and sizes."""

    def test_the_page_has_the_sizes_of_the_device(self):
        header = of_header()
        self.assertEqual(header, of_page())
        for name, sizes in header.items():
            with self.subTest(preset=name):
                self.assertEqual(len(sizes), len(COLUMNS) - 2)

    def test_the_register_map_has_the_presets_in_their_order(self):
        text = (TOP / "hw/registers.xml").read_text(encoding="utf-8")
        enum = text.split('<enum name="preset"', 1)[1].split("</enum>", 1)[0]
        values = re.findall(r'<value name="([A-Z0-9]+)" value="(\d+)"', enum)
        self.assertEqual([(name.lower(), int(n)) for name, n in values],
                         [(name, n) for n, name in enumerate(of_header())])


if __name__ == "__main__":
    unittest.main()
