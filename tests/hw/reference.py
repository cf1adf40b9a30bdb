# SPDX-License-Identifier: MIT
"""
A second, independent reading of the contract, to test the generated C against.

Reads the XML with another parser than the generator and packs a structure as one big integer,
where the generated C works word by word. Shares no code with hw/genlib.
"""

import os
import struct
import xml.etree.ElementTree as ElementTree


def number(text, default=0):
    """Return a number of the contract."""
    return default if text is None else int(text, 0)


class Field:
    """One element of one field: its bits and what the C member is called."""

    def __init__(self, node, index):
        hi, _, lo = node.get("bits").partition(":")
        local = int(lo or hi)
        self.width = int(hi) - local + 1
        self.lo = number(node.get("word")) * 32 + local + index * self.width
        self.kind = node.get("type") or ("enum" if node.get("enum") else "uint")
        self.enum = node.get("enum")
        default = local if self.kind == "address" else 0
        self.shift = number(node.get("shift"), default)
        self.const = number(node.get("value")) if self.kind == "const" else None
        self.default = node.get("default")
        self.member = node.get("name").lower()
        if number(node.get("count"), 1) > 1:
            self.member += f"[{index}]"

    def assign(self, structure, value):
        """Return a C statement that sets the member to a C expression of unpacked(raw)."""
        if self.kind == "float":
            return f"{structure}.{self.member} = pumice_f32_from_bits((u32){value});"
        tail = ".u" if self.kind == "number" else ""
        return f"{structure}.{self.member}{tail} = {value};"

    def value(self, structure):
        """Return a C expression of the member as an integer."""
        if self.kind == "float":
            return f"pumice_f32_bits({structure}.{self.member})"
        return f"{structure}.{self.member}" + (".u" if self.kind == "number" else "")

    def default_raw(self, names):
        """Return the raw bits of the default; names: {enum: {NAME: value}}."""
        if self.default is None:
            return 0
        if self.kind == "float":
            return struct.unpack("<I", struct.pack("<f", float(self.default)))[0]
        enum, _, name = self.default.partition(".")
        value = names[enum][name] if name else int(self.default, 0)
        return value >> self.shift

    def unpacked(self, raw):
        """Return the member's value for raw bits, as a C literal."""
        if self.kind == "int" and raw >> (self.width - 1):
            return f"(s64)0x{(raw - (1 << self.width)) & 0xffffffffffffffff:x}ULL"
        return f"0x{raw << self.shift:x}ULL"


class Struct:
    """A row of words with its fields and reserved bits."""

    def __init__(self, node, words, name=None):
        self.name = name or node.get("name").lower()
        self.words = words
        self.fields = [Field(f, i) for f in node.findall("field")
                       for i in range(number(f.get("count"), 1))]
        self.reserved = []
        for item in node.findall("reserved"):
            hi, _, lo = item.get("bits").partition(":")
            base = number(item.get("word")) * 32
            self.reserved += range(base + int(lo or hi), base + int(hi) + 1)

    def random_raw(self, rng, enums):
        """Return random legal raw bits by field: often all zeroes, all ones or the sign bit alone.
        """
        out = []
        for item in self.fields:
            top = (1 << item.width) - 1
            if item.const is not None:
                out.append(item.const)
            elif item.enum:
                out.append(rng.choice(enums[item.enum.lower()]))
            else:
                out.append(rng.choice([0, top, top ^ (top >> 1), rng.randint(0, top),
                                       rng.randint(0, top)]))
        return out

    def row(self, raws):
        """Return the words as a list of C literals."""
        return words_of(self.join(raws), self.words)

    def join(self, raws):
        """Return the whole structure as one integer."""
        value = 0
        for item, raw in zip(self.fields, raws):
            value |= raw << item.lo
        return value


def words_of(value, words):
    """Return a big integer as 32-bit words, lowest first, as C literals."""
    return [f"0x{value >> (32 * i) & 0xffffffff:x}U" for i in range(words)]


def read_root(path):
    """Return the root element of a file, with the elements of the files that it includes."""
    root = ElementTree.parse(path).getroot()
    for at in reversed(range(len(root))):
        if root[at].tag == "include":
            inner = os.path.join(os.path.dirname(path), root[at].get("file"))
            root[at:at + 1] = list(ElementTree.parse(inner).getroot())
    return root


def read_enums(*paths):
    """Return {name: [values]} of all enumerations of the files."""
    out = {}
    for path in paths:
        for node in read_root(path).iter("enum"):
            out[node.get("name").lower()] = [number(v.get("value")) for v in node.findall("value")]
    return out


def read_enum_names(*paths):
    """Return {enum: {NAME: value}} of all enumerations of the files."""
    return {node.get("name").lower(): {v.get("name"): number(v.get("value"))
                                       for v in node.findall("value")}
            for path in paths for node in read_root(path).iter("enum")}


def read_structs(path):
    """Return all structures of a formats file."""
    root = read_root(path)
    return [Struct(node, number(node.get("words"))) for node in root.findall("struct")]


def read_clients(path):
    """Return the <client> elements of a formats file."""
    return read_root(path).findall("clients/client")


def read_isas(path):
    """Return the <isa> elements of an ISA file."""
    root = ElementTree.parse(path).getroot()
    return [root] if root.tag == "isa" else root.findall("isa")
