# SPDX-License-Identifier: MIT
"""
Loading and checking hw/registers.xml: units, registers, register fields, constants.

A register's offset counts from its unit's base. The offset in the generated header counts from
the start of a virtual GPU's page. All units share one address map, so no two may overlap.
"""

from dataclasses import dataclass, field as dc_field

from .model import check_cover, load_enum, load_fields
from .source import (Unique, check_shape, doc_of, read_choice, read_int, read_name)

ACCESS = ("ro", "rw", "wo", "w1c", "w1s")
BUSES = ("host", "fw", "both")
SCOPES = ("os", "global")
REG_TYPES = ("uint", "bool", "address", "enum", "int")
PAGE_SIZE = 0x10000


@dataclass
class Reg:
    """One register or array of registers; offset in bytes from the page start."""
    name: str
    unit: object
    offset: int
    size: int
    access: str
    reset: int
    count: int
    stride: int
    array: bool
    doc: str
    node: object
    fields: list = dc_field(default_factory=list)
    reserved: list = dc_field(default_factory=list)

    @property
    def macro(self):
        """The C name: PUMICE_<UNIT>_<REG>."""
        return f"PUMICE_{self.unit.name}_{self.name}"

    @property
    def writable(self):
        """Mask of the bits a write can change."""
        mask = 0
        for item in self.fields:
            if item.access != "ro":
                mask |= ((1 << item.width) - 1) << item.lo
        return mask


@dataclass
class Unit:
    """One hardware block's range of registers."""
    name: str
    base: int
    size: int
    bus: str
    scope: str
    doc: str
    node: object
    regs: list = dc_field(default_factory=list)


@dataclass
class Registers:
    """All of registers.xml."""
    units: list
    constants: list
    enums: list


def load_registers(ctx, root):
    """Read the <registers> tree; errors go to ctx.diag."""
    diag = ctx.diag
    if root.tag != "registers":
        diag.error(root, f"the root must be <registers>, not <{root.tag}>")
        return Registers([], [], [])
    check_shape(diag, root, (), ("doc",), ("enum", "constant", "unit"))
    enums = [e for e in (load_enum(ctx, n, "regs") for n in root.all("enum")) if e]
    constants = [c for c in (load_constant(ctx, n) for n in root.all("constant")) if c]
    names = Unique(diag, "unit")
    units = []
    for node in root.all("unit"):
        unit = load_unit(ctx, node)
        if unit and names.add(unit.name, node):
            units.append(unit)
    check_units_apart(diag, units)
    return Registers(units, constants, enums)


def load_constant(ctx, node):
    """Load one <constant> as (NAME, value, text as written, doc)."""
    if not check_shape(ctx.diag, node, ("name", "value"), ("doc",)):
        return None
    name = read_name(ctx.diag, node).upper()
    ctx.macro_names.add(f"PUMICE_{name}", node)
    return name, read_int(ctx.diag, node, "value"), node.get("value"), doc_of(node)


def load_unit(ctx, node):
    """Load one <unit> with its registers."""
    diag = ctx.diag
    if not check_shape(diag, node, ("name", "base", "size", "bus", "scope"), ("doc",), ("reg",)):
        return None
    unit = Unit(read_name(diag, node).upper(), read_int(diag, node, "base", high=PAGE_SIZE - 1),
                read_int(diag, node, "size", 8, low=4, high=PAGE_SIZE),
                read_choice(diag, node, "bus", BUSES, "host"),
                read_choice(diag, node, "scope", SCOPES, "global"), doc_of(node), node)
    if unit.base + unit.size > PAGE_SIZE:
        diag.error(node, f"unit {unit.name} reaches outside the {PAGE_SIZE:#x} bytes of a page")
    if unit.base % 8:
        diag.error(node, f"unit {unit.name}: base {unit.base:#x} is not a multiple of 8")
    for name in ("UNIT_BASE", "UNIT_SIZE"):
        ctx.macro_names.add(f"PUMICE_{unit.name}_{name}", node)
    names = Unique(diag, f"register in unit {unit.name}:")
    for child in node.all("reg"):
        reg = load_reg(ctx, unit, child)
        if reg and names.add(reg.name, child):
            unit.regs.append(reg)
    check_regs_apart(diag, unit)
    unit.regs.sort(key=lambda r: r.offset)
    return unit


def load_reg(ctx, unit, node):
    """Load one <reg> with its fields; offset becomes absolute within the page."""
    diag = ctx.diag
    if not check_shape(diag, node, ("name", "offset", "size", "access"),
                       ("reset", "count", "stride", "doc"), ("field", "reserved")):
        return None
    name = read_name(diag, node).upper()
    size = read_int(diag, node, "size", 32)
    if size not in (32, 64):
        diag.error(node, f"register {name}: size {size} is neither 32 nor 64")
        size = 32
    reg = Reg(name, unit, unit.base + read_int(diag, node, "offset"), size,
              read_choice(diag, node, "access", ACCESS, "ro"), read_int(diag, node, "reset"),
              read_int(diag, node, "count", 1, low=1, high=4096),
              read_int(diag, node, "stride", size // 8, low=1, high=PAGE_SIZE),
              "count" in node.attrs, doc_of(node), node)
    if "stride" in node.attrs and not reg.array:
        diag.error(node, f"register {name}: a stride without a count")
    for suffix in ("", "_COUNT", "_STRIDE") if reg.array else ("",):
        ctx.macro_names.add(reg.macro + suffix, node)
    reg.fields, reg.reserved = load_fields(ctx, node, size, types=REG_TYPES, extra=("access",))
    for item in reg.fields:
        item.access = read_choice(diag, item.node, "access", ACCESS, reg.access)
        check_reg_field(diag, item)
    check_cover(diag, node, reg.fields, reg.reserved, size, f"register {name}")
    check_place(diag, reg)
    check_reset(diag, reg)
    return reg


def check_reg_field(diag, item):
    """Register fields have no repetitions and hold addresses in place."""
    if item.count != 1:
        diag.error(item.node, f"field {item.name}: register fields have no count")
    if item.type == "address" and item.shift != item.lo:
        diag.error(item.node, f"field {item.name}: an address in a register is held in place, "
                              f"so its shift can only be {item.lo}")
    if item.type == "uint" and item.shift:
        diag.error(item.node, f"field {item.name}: register fields of type uint have no shift")


def check_place(diag, reg):
    """Check the alignment, and that every element is inside the unit."""
    nbytes = reg.size // 8
    if reg.offset % nbytes or (reg.array and reg.stride % nbytes):
        diag.error(reg.node, f"register {reg.name} at {reg.offset:#x} is misaligned for its "
                             f"{reg.size} bits")
    if reg.array and reg.stride < nbytes:
        diag.error(reg.node, f"register {reg.name}: elements {reg.stride} bytes apart overlap")
    end = reg.offset + (reg.count - 1) * reg.stride + nbytes
    if end > reg.unit.base + reg.unit.size:
        diag.error(reg.node, f"register {reg.name} reaches to {end:#x}, outside unit "
                             f"{reg.unit.name} ({reg.unit.base:#x}+{reg.unit.size:#x})")


def check_reset(diag, reg):
    """Check that a reset value fits, leaves reserved bits zero and names only values of enums."""
    if reg.reset >> reg.size:
        diag.error(reg.node, f"register {reg.name}: reset {reg.reset:#x} exceeds {reg.size} bits")
    for item in reg.reserved:
        if (reg.reset >> item.lo) & ((1 << item.width) - 1):
            diag.error(reg.node, f"register {reg.name}: reset {reg.reset:#x} sets reserved bits "
                                 f"{item.end - 1}:{item.lo}")
    for item in reg.fields:
        value = (reg.reset >> item.lo) & ((1 << item.width) - 1)
        if item.enum and value not in [v.value for v in item.enum.values]:
            diag.error(reg.node, f"register {reg.name}: reset gives field {item.name} the value "
                                 f"{value:#x}, which enum {item.enum.name} does not have")


def check_regs_apart(diag, unit):
    """Check that no byte of the unit belongs to two registers; array elements count one by one."""
    owner = {}
    for reg in unit.regs:
        for i in range(reg.count):
            start = reg.offset + i * reg.stride
            for byte in range(start, start + reg.size // 8, 4):
                other = owner.setdefault(byte, reg)
                if other is not reg:
                    diag.error(reg.node, f"register {reg.name} overlaps register {other.name} "
                                         f"(line {other.node.line}) at address {byte:#x}")
                    break
            else:
                continue
            break


def check_units_apart(diag, units):
    """Check that no two units share an address."""
    ordered = sorted(units, key=lambda u: u.base)
    for before, after in zip(ordered, ordered[1:]):
        if after.base < before.base + before.size:
            diag.error(after.node, f"unit {after.name} overlaps unit {before.name} "
                                   f"(line {before.node.line}) at address {after.base:#x}")
