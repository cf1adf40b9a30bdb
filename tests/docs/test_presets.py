# SPDX-License-Identifier: MIT
"""The tables of presets in Documentation/device.rst are those of hw/presets.h."""

import pathlib
import re
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
COLUMNS = ("name", "document", "cores", "uscs", "slots", "tasks", "waves", "batch", "unified",
           "common", "local", "slot registers", "vpm", "idx", "chunks", "tiles", "outputs",
           "tsp")


def of_header(macro="PUMICE_PRESETS"):
    """Return {name: sizes} of the rows of a macro."""
    text = (TOP / "hw/presets.h").read_text(encoding="utf-8")
    text = text.split(f"#define {macro}(X)", 1)[1].split("\n\n", 1)[0]
    rows = re.findall(r"^\tX\(([A-Z0-9]+), ([0-9A-Za-z, ]+)\)", text, flags=re.MULTILINE)
    return {name.lower(): sizes.split(", ") for name, sizes in rows}


def of_page(heading="Preset", names=2):
    """Return the same for a table in the page, whose first columns are names."""
    text = (TOP / "Documentation/device.rst").read_text(encoding="utf-8")
    table = text.split(f"\n{heading}  ", 1)[1].split("\n\n", 1)[0]
    rows = [line.split() for line in table.splitlines() if line.startswith("``")]
    return {row[0].strip("`"): [cell.strip("`") for cell in row[names:]] for row in rows}


class Presets(unittest.TestCase):
    """Names and sizes."""

    def test_the_page_has_the_sizes_of_the_device(self):
        header = of_header()
        self.assertEqual(header, of_page())
        for name, sizes in header.items():
            with self.subTest(preset=name):
                self.assertEqual(len(sizes), len(COLUMNS) - 2)

    def test_the_page_has_the_caches_of_the_device(self):
        caches = of_header("PUMICE_PRESET_CACHES")
        self.assertEqual(list(caches), list(of_header()))
        self.assertEqual(caches, of_page("Caches", 1))

    def test_the_page_has_the_hierarchy_of_the_device(self):
        rows = of_header("PUMICE_PRESET_HIERARCHY")
        self.assertEqual(list(rows), list(of_header()))
        self.assertEqual(rows, of_page("Hierarchy", 1))

    def test_the_page_has_the_memory_of_the_host(self):
        page = (TOP / "Documentation/device.rst").read_text(encoding="utf-8")
        page = " ".join(page.split("- Memory in addition to guest RAM", 1)[1].split())
        size = dict(zip(COLUMNS[2:], of_header()["default"]))
        stores = sum(int(size[store]) for store in ("unified", "common", "local"))
        self.assertIn(f"the stores of each USC, {stores} KiB with the default preset", page)
        self.assertIn(f"(``vpm-kib``), {size['vpm']} KiB with the default preset", page)
        source = (TOP / "qemu-device/gpu/usc/program.h").read_text(encoding="utf-8")
        programs = sum(int(mib) for mib in re.findall(r"USC_CACHE_\w+_BYTES\t*\((\d+)u << 20\)",
                                                      source.replace("USC_CACHE_IDLE_BYTES", "")))
        for name in ("device", "execution"):
            text = (TOP / f"Documentation/{name}.rst").read_text(encoding="utf-8")
            self.assertRegex(" ".join(text.split()), rf"most {programs} MiB|{programs} MiB at most")
        watch = int(re.search(r"(\d+) bytes for each byte of local memory", page)[1])
        self.assertIn(f"by KiB at the first access, {watch * int(size['local'])} KiB with the default "
                      "preset;", page)

    def test_pages_have_the_room_of_the_fifos_of_tiles(self):
        room = {sizes[COLUMNS.index("tiles") - 2] for sizes in of_header().values()}
        self.assertEqual(len(room), 1)
        for page in ("triangle", "parameter-buffer"):
            text = (TOP / f"Documentation/{page}.rst").read_text(encoding="utf-8")
            found = re.search(r"room\s+for\s+(\d+)\b[\w\s]*\(property\s+``tile-fifo``\)", text)
            self.assertEqual({found[1]}, room)
            self.assertNotRegex(text, r"FIFO\s+of\s+\d+|\d+\s+tiles\s+wait")

    def test_the_register_map_has_the_presets_in_their_order(self):
        text = (TOP / "hw/registers.xml").read_text(encoding="utf-8")
        enum = text.split('<enum name="preset"', 1)[1].split("</enum>", 1)[0]
        values = re.findall(r'<value name="([A-Z0-9]+)" value="(\d+)"', enum)
        self.assertEqual([(name.lower(), int(n)) for name, n in values],
                         [(name, n) for n, name in enumerate(of_header())])


if __name__ == "__main__":
    unittest.main()
