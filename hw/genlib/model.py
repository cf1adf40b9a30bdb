# SPDX-License-Identifier: MIT
"""
Shared by registers, formats and instructions: enumerations, bit fields and checks of gaps.

A bit structure is an array of bits counted from bit 0 of its first 32-bit word. Every bit belongs
to exactly one field or one <reserved>; check_cover() refuses overlaps and unnamed gaps.
"""

import re
from dataclasses import dataclass, field as dc_field

from .source import (Unique, check_shape, doc_of, read_bits, read_choice, read_int, read_name)

FIELD_TYPES = ("uint", "int", "bool", "enum", "address", "const", "float", "number")
C_KEYWORDS = frozenset(
    "auto bool break case char const continue default do double else enum extern false float for "
    "goto if inline int long register restrict return short signed sizeof static struct switch "
    "true typedef union unsigned void volatile while".split())


@dataclass
class EnumValue:
    """One named number of an enumeration."""
    name: str
    value: int
    doc: str
    text: str


@dataclass
class Enum:
    """A named set of numbers; `home` is the contract file (regs, formats, isa) it came from."""
    name: str
    doc: str
    home: str
    values: list = dc_field(default_factory=list)

    def number(self, name):
        """Return the value called `name` (any case), or None."""
        for item in self.values:
            if item.name == name.upper():
                return item.value
        return None

    @property
    def top(self):
        """The largest value."""
        return max((v.value for v in self.values), default=0)


@dataclass
class Field:
    """One field; `lo` counts from bit 0 of the whole structure, `count` repeats it upwards."""
    name: str
    lo: int
    width: int
    type: str
    node: object
    doc: str = ""
    enum: object = None
    shift: int = 0
    value: int = 0
    count: int = 1
    access: str = ""
    default: str = "0"

    @property
    def end(self):
        """First bit after the field and all its repetitions."""
        return self.lo + self.width * self.count

    @property
    def signed(self):
        """True for two's complement fields."""
        return self.type == "int"

    @property
    def member_bits(self):
        """Bits of the C type that holds one unpacked value."""
        if self.type == "address":
            return 64
        for size in (8, 16, 32):
            if self.width + self.shift <= size and not (self.type in ("enum", "float", "number") and
                                                        size < 32):
                return size
        return 64


@dataclass
class Reserved:
    """Bits that must be zero."""
    lo: int
    width: int
    node: object

    @property
    def end(self):
        """First bit after the range."""
        return self.lo + self.width


class Context:
    """State shared by the three loaders: errors, enumerations and used names."""

    def __init__(self, diag):
        self.diag = diag
        self.enums = {}
        self.enum_names = Unique(diag, "enum")
        self.macro_names = Unique(diag, "C name")


def load_enum(ctx, node, home):
    """Read one <enum> and add it to the context."""
    diag = ctx.diag
    if not check_shape(diag, node, ("name",), ("doc",), ("value",)):
        return None
    name = read_name(diag, node).lower()
    enum = Enum(name, doc_of(node), home)
    names, numbers = Unique(diag, f"value name in enum {name}:"), Unique(
        diag, f"value in enum {name}:")
    for child in node.all("value"):
        if not check_shape(diag, child, ("name", "value"), ("doc", "text")):
            continue
        vname = read_name_loose(diag, child)
        value = read_int(diag, child, "value", high=0x7fffffff)
        if names.add(vname, child) and numbers.add(value, child, f"{value:#x}"):
            ctx.macro_names.add(f"PUMICE_{name.upper()}_{vname}", child)
            enum.values.append(EnumValue(vname, value, doc_of(child),
                                         child.get("text") or vname.lower().replace("_", "-")))
    if not enum.values:
        diag.error(node, f"enum {name} has no values")
    ctx.macro_names.add(f"PUMICE_{name.upper()}_COUNT", node)
    if ctx.enum_names.add(name, node):
        ctx.enums[name] = enum
    return enum


def read_name_loose(diag, node):
    """Return a value name: an identifier tail, which may begin with a digit (PUMICE_X_4K)."""
    text = node.get("name", "")
    if not text.replace("_", "").isalnum() or not text.isascii():
        diag.error(node, f"name=\"{text}\" is not made of letters, digits and _")
        return "INVALID"
    return text.upper()


def load_fields(ctx, node, total, word_bits=0, types=FIELD_TYPES, extra=()):
    """
    Read the <field> and <reserved> children of `node`, a structure of `total` bits.

    word_bits: 32 when bits count from the word given by the attribute `word`, 0 when they
    count from the start. Returns (fields, reserved) with lo counted from the start.
    """
    fields, reserved = [], []
    names = Unique(ctx.diag, "field")
    where = ("word",) if word_bits else ()
    for child in node.all("field", "reserved"):
        if child.tag == "reserved":
            optional, need = ("doc",), where + ("bits",)
        else:
            optional = ("doc", "type", "enum", "shift", "value", "count") + tuple(extra)
            need = where + ("name", "bits")
        if not check_shape(ctx.diag, child, need, optional):
            continue
        start = 0
        if word_bits:
            start = word_bits * read_int(ctx.diag, child, "word", high=total // word_bits - 1)
        bits = read_bits(ctx.diag, child, total - start)
        if bits is None:
            continue
        lo, width = start + bits[0], bits[1]
        if child.tag == "reserved":
            reserved.append(Reserved(lo, width, child))
            continue
        item = load_field(ctx, child, lo, width, bits[0], types)
        if item.end > total:
            ctx.diag.error(child, f"field {item.name}: its {item.count} repetitions reach "
                                  f"outside the {total} bits of the structure")
            continue
        if names.add(item.name.lower(), child):
            fields.append(item)
    fields.sort(key=lambda f: f.lo)
    reserved.sort(key=lambda r: r.lo)
    return fields, reserved


def load_field(ctx, node, lo, width, local_lo, types):
    """Read one <field> at bit `lo`; `local_lo` is its bit as written, for in-place addresses."""
    diag = ctx.diag
    name = read_name(diag, node)
    if name.lower() in C_KEYWORDS:
        diag.error(node, f"field {name}: a C keyword cannot be a member name")
    default = "enum" if node.get("enum") else "uint"
    item = Field(name, lo, width, read_choice(diag, node, "type", types, default), node,
                 doc_of(node))
    item.count = read_int(diag, node, "count", 1, low=1, high=4096)
    if width > 64:
        diag.error(node, f"field {name} is {width} bits wide; the widest field is 64 bits")
        item.width = 64
    if node.get("enum"):
        item.enum = ctx.enums.get(node.get("enum").lower())
        if item.enum is None:
            diag.error(node, f"field {name}: unknown enum {node.get('enum')}")
    item.shift = read_int(diag, node, "shift", local_lo if item.type == "address" else 0, high=63)
    check_field_type(diag, node, item)
    if item.type == "const":
        item.value = read_const(diag, node, item)
    elif node.get("value") is not None:
        diag.error(node, f"field {name}: only type=\"const\" has a value")
    if node.get("default") is not None:
        item.default = read_default(ctx, node, item)
    return item


def check_field_type(diag, node, item):
    """Refuse invalid combinations of type, width, shift and enum of a field."""
    if item.type == "bool" and item.width != 1:
        diag.error(node, f"field {item.name}: a bool is one bit, not {item.width}")
    if item.type in ("float", "number") and item.width != 32:
        diag.error(node, f"field {item.name}: a {item.type} is 32 bits, not {item.width}")
    if item.type == "enum" and not node.get("enum"):
        diag.error(node, f"field {item.name}: type=\"enum\" needs the attribute 'enum'")
    if item.enum and item.type not in ("enum", "const"):
        diag.error(node, f"field {item.name}: an enum on a field of type {item.type}")
    if item.enum and item.enum.top >> item.width:
        diag.error(node, f"field {item.name}: enum {item.enum.name} has the value "
                         f"{item.enum.top:#x}, too big for {item.width} bits")
    if item.type not in ("address", "uint") and item.shift:
        diag.error(node, f"field {item.name}: shift on a field of type {item.type}")
    if item.shift + item.width > 64:
        diag.error(node, f"field {item.name}: {item.width} bits shifted by {item.shift} exceed "
                         "64 bits")


def read_const(diag, node, item):
    """Return the value of a const field: a number or the name of a value of its enum."""
    text = node.get("value")
    if text is None:
        diag.error(node, f"field {item.name}: type=\"const\" needs the attribute 'value'")
        return 0
    if item.enum:
        value = item.enum.number(text)
        if value is not None:
            return value
    value = read_int(diag, node, "value")
    if value >> item.width:
        diag.error(node, f"field {item.name}: value {text} is too big for {item.width} bits")
        return 0
    return value


def read_default(ctx, node, item):
    """Return the attribute `default` as a C literal: a number, of a float with a dot, or enum.NAME.
    """
    text = node.get("default")
    if item.type in ("const", "number", "address"):
        ctx.diag.error(node, f"field {item.name}: type=\"{item.type}\" has no default")
        return "0"
    if item.type == "float":
        if re.fullmatch(r"-?[0-9]+\.[0-9]+", text):
            return f"{text}f"
        ctx.diag.error(node, f"field {item.name}: default=\"{text}\" is not a number with a dot")
        return "0"
    name, _, value = text.partition(".")
    if value:
        enum = ctx.enums.get(name.lower())
        number = enum.number(value) if enum else None
        if number is None:
            ctx.diag.error(node, f"field {item.name}: default=\"{text}\" is not a value of an enum")
            return "0"
        literal = f"PUMICE_{name.upper()}_{value.upper()}"
    else:
        number = read_int(ctx.diag, node, "default")
        literal = {"0": "false", "1": "true"}.get(text, text) if item.type == "bool" else \
            f"0x{number:x}"
    if number >> item.shift >> item.width:
        ctx.diag.error(node, f"field {item.name}: default=\"{text}\" is too big for "
                             f"{item.width} bits")
    return literal


def check_cover(diag, node, fields, reserved, total, what):
    """Report overlaps and bits that neither a field nor <reserved> names."""
    position, previous = 0, None
    for item in sorted(fields + reserved, key=lambda i: (i.lo, i.end)):
        label = f"field {item.name}" if isinstance(item, Field) else "<reserved>"
        if item.lo < position:
            diag.error(item.node, f"{label} overlaps {previous} in {what} at bit "
                                  f"{item.lo} (word {item.lo // 32} bit {item.lo % 32})")
        elif item.lo > position:
            diag.error(node, f"{what}: {bit_range(position, item.lo)} before {label} belong to "
                             "no field and no <reserved>")
        if item.end > position:
            position, previous = item.end, f"{label} (line {item.node.line})"
    if position < total:
        diag.error(node, f"{what}: {bit_range(position, total)} belong to no field and no "
                         "<reserved>")


def bit_range(lo, end):
    """Return a range of bits in words, with the 32-bit word where that helps."""
    text = f"bits {end - 1}:{lo}"
    if end > 64:
        text += f" (from word {lo // 32} bit {lo % 32})"
    return text
