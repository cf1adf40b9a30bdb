# SPDX-License-Identifier: MIT
"""The tables of files and folders have a row for each, and rows only of those that exist.

Headers need no row: they are named with their sources.
"""

import pathlib
import re
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))
import sources  # noqa: E402  # pylint: disable=wrong-import-position

OVERVIEW = "Documentation/overview.rst"
DIAGRAM = "Documentation/pictures/overview.svg"
# Folders of the GPU core that are not blocks of the diagram.
NOT_DRAWN = {
    "cache": "is shared by MCU, DCU, TCU and SLC", "core": "is the box of cores itself",
    "dm": "is shared by the data masters",
    "fifo": "is shared by blocks", "fwctl": "is drawn as a part of the firmware processor",
    "fwgdb": "is for debuggers", "half": "is the box of TAG and TF", "inject": "is for tests",
    "levels": "is for the compiler", "mem": "is drawn as the arrow to guest memory",
    "texel": "is shared by blocks", "trace": "is for observers",
}


def children(folder):
    """Return the names of the files and folders in a folder of the tree."""
    prefix = f"{folder}/"
    return {name[len(prefix):].split("/")[0] for name in sources.files(TOP)
            if name.startswith(prefix)} - {"README.md", "meson.build"}


def literals(document, heading):
    """Return the literals of the table that follows a heading's line, by the page's syntax."""
    text = (TOP / document).read_text(encoding="utf-8").split(f"\n{heading}", 1)[1]
    if document.endswith(".md"):
        return set(re.findall(r"`([^`\n]+)`", first_cells(text)))
    table = re.split(r"^=+ +=+.*\n", text, maxsplit=2, flags=re.M)[1]
    return set(re.findall(r"``([^`\n]+)``", table))


def first_cells(text):
    """Return the first cell of each row of a table in Markdown."""
    rows = re.match(r"[^\n]*\n((?:\|[^\n]*\n)+)", text)[1]
    return "\n".join(row.split("|")[1] for row in rows.splitlines())


def first_parts(names):
    """Return the files and folders of a folder that names of paths are in."""
    return {name.split("/")[0] for name in names}


class Tables(unittest.TestCase):
    """A row for each."""

    def test_each_folder_of_the_gpu_core_is_a_block_of_the_overview(self):
        folders = {name for name in children("qemu-device/gpu")
                   if (TOP / "qemu-device/gpu" / name).is_dir()}
        listed = {name.removeprefix("gpu/") for name in literals(OVERVIEW, "Block  ")}
        self.assertGreater(len(folders), 20)
        self.assertEqual(folders - listed, set())

    def test_folders_of_the_overview_exist(self):
        for name in literals(OVERVIEW, "Block  ") - {"qemu-device/", "hw/registers.xml"}:
            with self.subTest(name=name):
                self.assertTrue((TOP / "qemu-device/gpu" / name.removeprefix("gpu/")).is_dir())

    def test_each_block_is_in_the_diagram_or_has_a_reason_not_to_be(self):
        folders = {name for name in children("qemu-device/gpu")
                   if (TOP / "qemu-device/gpu" / name).is_dir()}
        text = (TOP / DIAGRAM).read_text(encoding="utf-8")
        drawn = {name for names in re.findall(r"gpu/([\w, ]+)<", text) for name in names.split(", ")}
        self.assertEqual(folders - drawn, set(NOT_DRAWN))
        self.assertEqual(drawn - folders, set())

    def test_each_file_of_the_driver_has_a_row(self):
        listed = literals("Documentation/driver/internals.rst", "File ")
        for name in children("drivers/gpu/drm/pumice"):
            if name.endswith(".c"):
                with self.subTest(file=name):
                    self.assertIn(name, listed)
        for name in listed:
            if name.startswith("pumice_") and name.endswith((".c", ".h")):
                with self.subTest(row=name):
                    self.assertTrue((TOP / "drivers/gpu/drm/pumice" / name).is_file())

    def test_each_source_of_the_firmware_has_a_row(self):
        self.compare("firmware", "| file | duty |",
                     lambda name: not name.endswith(".h") and name != "Makefile")

    def test_each_file_of_the_contract_has_a_row(self):
        self.compare("hw", "| File | Contents |")

    def test_each_script_has_a_row(self):
        self.compare("scripts", "| Script | Purpose |")

    def test_each_folder_of_tests_has_a_row(self):
        self.compare("tests", "| Folder | Runs | Tests |")

    def compare(self, folder, heading, counts=lambda name: True):
        """Compare a folder with the table of its README."""
        listed = first_parts(literals(f"{folder}/README.md", heading))
        present = children(folder)
        self.assertGreater(len(present), 5)
        self.assertEqual({name for name in present if counts(name)} - listed, set(), "no row")
        self.assertEqual(listed - present, set(), "no file")

    def test_tables_are_read_as_written(self):
        self.assertEqual(first_cells("\n| --- | --- |\n| `a.c`, `b/` | `c` |\n\n| `d` |\n"),
                         " --- \n `a.c`, `b/` ")


if __name__ == "__main__":
    unittest.main()
