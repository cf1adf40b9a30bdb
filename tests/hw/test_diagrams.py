# SPDX-License-Identifier: MIT
"""
The diagrams of the reference pages, against the contract.

A diagram is read back from its geometry: the number of a row and the place and width of each
rectangle give the cells, which are compared with the bits or bytes that the XML names.
"""

import os
import unittest
import xml.etree.ElementTree as ElementTree

from contract import HW, ContractCase, run_generator
import reference

SVG = "{http://www.w3.org/2000/svg}"
LEFT, WIDTH = 86, 768


def cells(path, per_row, upwards=False):
    """Return {cell: (name, kind)} of a diagram, by geometry; cells of rows of dots are missing."""
    found = {}
    for row in ElementTree.parse(path).getroot().findall(f"{SVG}g"):
        first = int(row.get("data-row"))
        for box in row.findall(f"{SVG}rect"):
            start = (float(box.get("x")) - LEFT) / WIDTH * per_row
            size = float(box.get("width")) / WIDTH * per_row
            lo, count = round(start), round(size)
            assert abs(start - lo) < 0.01 and abs(size - count) < 0.01, path
            if not upwards:
                lo = per_row - lo - count
            for cell in range(first + lo, first + lo + count):
                assert cell not in found, f"{path}: two boxes at {cell}"
                found[cell] = (box.get("data-name"), box.get("data-kind"))
    return found


def bits_of(node, total):
    """Return [name or None] by bit: the fields and reserved bits of an XML element."""
    out = ["?"] * total
    for item in list(node):
        if item.tag not in ("field", "reserved"):
            continue
        hi, _, lo = item.get("bits").partition(":")
        base = reference.number(item.get("word")) * 32
        count = reference.number(item.get("count"), 1)
        lo = int(lo or hi)
        for bit in range(base + lo, base + lo + (int(hi) - lo + 1) * count):
            assert out[bit] == "?"
            out[bit] = None
            if item.tag == "field":
                name = item.get("name").lower()
                out[bit] = name + (f"[{count}]" if count > 1 else "")
    return out


class Diagrams(ContractCase):
    """Every diagram of the project's own contract."""

    def setUp(self):
        super().setUp()
        self.assertEqual(run_generator(HW, self.out, "--only", "docs").stderr, "")
        self.folder = os.path.join(self.out, "docs", "diagrams")

    def check(self, name, wanted):
        """Compare a diagram of bits with [name or None]."""
        found = cells(os.path.join(self.folder, name), 32)
        for bit, (text, kind) in found.items():
            self.assertEqual(kind == "reserved", wanted[bit] is None, f"{name}: bit {bit}")
            self.assertEqual(text.split(" = ")[0], wanted[bit] or "", f"{name}: bit {bit}")
        missing = [bit for bit in range(len(wanted)) if bit not in found]
        for bit in missing:     # in the middle of something that repeats
            self.assertEqual(wanted[bit], wanted[bit - 32], f"{name}: bit {bit}")
            self.assertEqual(wanted[bit], wanted[bit + 32], f"{name}: bit {bit}")

    def test_structures_have_every_field_at_its_bits(self):
        root = reference.read_root(os.path.join(HW, "formats.xml"))
        structs = root.findall("struct")
        self.assertGreater(len(structs), 40)
        for node in structs:
            self.check(f"struct-{node.get('name').lower()}.svg",
                       bits_of(node, 32 * int(node.get("words"))))

    def test_registers_have_every_field_at_its_bits(self):
        root = ElementTree.parse(os.path.join(HW, "registers.xml")).getroot()
        count = 0
        for unit in root.findall("unit"):
            for reg in unit.findall("reg"):
                self.check(f"reg-{unit.get('name')}-{reg.get('name')}.svg".lower(),
                           bits_of(reg, int(reg.get("size"))))
                count += 1
        self.assertGreater(count, 100)

    def test_layouts_have_every_field_at_its_bits(self):
        for isa in reference.read_isas(os.path.join(HW, "isa.xml")):
            for layout in isa.findall("layout"):
                self.check(f"{isa.get('name')}-layout-{layout.get('name')}.svg",
                           bits_of(layout, int(isa.get("word_bits"))))

    def test_instructions_have_their_opcode_and_no_field_of_another_layout(self):
        for isa in reference.read_isas(os.path.join(HW, "isa.xml")):
            bits = int(isa.get("word_bits"))
            layouts = {item.get("name"): bits_of(item, bits) for item in isa.findall("layout")}
            for op in isa.findall("op"):
                wanted = layouts[op.get("layout")]
                path = os.path.join(self.folder, f"{isa.get('name')}-{op.get('name')}.svg")
                found = cells(path, 32)
                for bit in set(range(bits)) - set(found):   # a row of dots
                    self.assertEqual(found[bit - 32], ("0", "reserved"), path)
                    self.assertEqual(found[bit + 32], ("0", "reserved"), path)
                names = set()
                for bit, (text, _) in found.items():
                    if text != "0":
                        self.assertEqual(text.split(" = ")[0], wanted[bit], f"{path}: bit {bit}")
                    names.add(text)
                opcode = reference.number(op.get("opcode"))
                self.assertIn(f"opcode = {opcode:#04x}", names)
                for kind in ("types", "forms"):
                    drawn = kind[:-1] in names
                    has = bool(op.get(kind)) and kind[:-1] in wanted
                    self.assertEqual(drawn, has, f"{path}: {kind}")

    def test_units_have_every_register_at_its_offset(self):
        root = ElementTree.parse(os.path.join(HW, "registers.xml")).getroot()
        for unit in root.findall("unit"):
            name = f"unit-{unit.get('name').lower()}.svg"
            regs = unit.findall("reg")
            first = min(int(reg.get("offset"), 0) for reg in regs) // 16 * 16
            found = cells(os.path.join(self.folder, name), 16, upwards=True)
            for reg in regs:
                for n in range(reference.number(reg.get("count"), 1)):
                    at = int(reg.get("offset"), 0) + n * reference.number(reg.get("stride"))
                    for byte in range(at - first, at - first + int(reg.get("size")) // 8):
                        text = found.get(byte, found.get(byte % 16, (None,)))[0]
                        if byte in found:
                            self.assertEqual(text.partition("[")[0], reg.get("name"),
                                             f"{name}: byte {byte:#x}")
            drawn = {text.partition("[")[0] for text, kind in found.values() if kind != "gap"}
            self.assertEqual(drawn, {reg.get("name") for reg in regs})

    def test_every_diagram_is_shown_on_a_page_and_exists(self):
        shown = set()
        for folder, _, names in os.walk(os.path.join(self.out, "docs")):
            for name in names:
                if not name.endswith(".rst"):
                    continue
                with open(os.path.join(folder, name), encoding="utf-8") as stream:
                    for line in stream:
                        if line.startswith(".. image:: "):
                            path = os.path.normpath(os.path.join(folder, line.split()[2]))
                            self.assertTrue(os.path.exists(path), path)
                            shown.add(os.path.basename(path))
        self.assertEqual(shown, set(os.listdir(self.folder)))

    def test_the_page_walk_has_the_levels_of_the_mmu(self):
        root = ElementTree.parse(os.path.join(self.folder, "page-walk.svg")).getroot()
        found = {box.get("data-name"): (int(box.get("data-end")), int(box.get("data-lo")))
                 for box in root.iter(f"{SVG}rect") if box.get("data-name")}
        self.assertEqual(found, {"page catalogue": (40, 30), "page directory": (30, 21),
                                 "page table": (21, 12), "page": (12, 0)})


if __name__ == "__main__":
    unittest.main()
