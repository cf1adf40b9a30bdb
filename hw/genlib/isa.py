# SPDX-License-Identifier: MIT
"""
Loading and checking hw/isa.xml: instruction layouts, operand classes, operations, specials.

An instruction is a row of `word_bits` bits. All layouts of one instruction set hold the field
`opcode` at the same place; fields `type` and `form`, where a layout has them, hold values of
the enums <isa>_type and <isa>_form. An operation names for each form which fields it uses and
what each may hold (its class); every other field must be zero.
"""

import ast
from dataclasses import dataclass, field as dc_field

from .model import check_cover, load_enum, load_fields
from .source import Unique, check_shape, doc_of, read_choice, read_int, read_name

IMPLICIT = ("opcode", "type", "form")
CLASS_ATTRS = ("full", "elem", "indexed", "doc", "enum", "prefix", "join", "next", "optional", "hex",
               "special")
BOOLS = ("false", "true")
MAX_FIELDS = 64
MAX_FORM = 1
LANES = 32
SPECIAL = ("any", "ro", "rw")
SPACE_BANKS = ("SC", "SR")  # of the common space; in this order in its blocks
SPACE = 240
SPACE_BLOCK = 32


@dataclass
class Layout:
    """Positions of the fields in the instructions of a group of operations."""
    name: str
    doc: str
    node: object
    fields: list
    reserved: list

    def field(self, name):
        """Return the field called `name`, or None."""
        return next((f for f in self.fields if f.name == name), None)


@dataclass
class OperandClass:
    """Allowed operands; full, elem and indexed (of full: with an index only) are lists of banks."""
    name: str
    doc: str
    full: list
    elem: list
    enum: object
    prefix: str = ""
    join: str = None
    next: str = None
    optional: bool = False
    hex: bool = False
    indexed: list = dc_field(default_factory=list)
    special: str = "any"

    @property
    def is_register(self):
        """True for operands encoded as bank and number."""
        return bool(self.full or self.elem)


@dataclass
class Op:
    """One operation; operands[form value] is a list of (Field, OperandClass)."""
    name: str
    opcode: int
    layout: Layout
    types: list
    forms: list
    operands: dict
    node: object
    texts: dict


@dataclass
class Special:
    """
    A named register with a fixed meaning; lanes is its value in each lane, if constant; space its
    number in the common space of constants and registers, or None.
    """
    bank: str
    number: int
    name: str
    value: str
    doc: str
    lanes: list
    space: int = None
    writable: bool = False


@dataclass
class Isa:
    """One instruction set."""
    name: str
    bits: int
    doc: str
    enums: list
    banks: object = None
    type_enum: object = None
    form_enum: object = None
    layouts: list = dc_field(default_factory=list)
    classes: dict = dc_field(default_factory=dict)
    ops: list = dc_field(default_factory=list)
    specials: list = dc_field(default_factory=list)
    fields: list = dc_field(default_factory=list)


def load_isas(ctx, root):
    """Read <isas> or a single <isa>; errors go to ctx.diag."""
    if root.tag == "isas":
        check_shape(ctx.diag, root, (), ("doc",), ("isa",))
        nodes = root.all("isa")
    elif root.tag == "isa":
        nodes = [root]
    else:
        ctx.diag.error(root, f"the root must be <isas> or <isa>, not <{root.tag}>")
        return []
    names = Unique(ctx.diag, "isa")
    isas = [load_isa(ctx, node) for node in nodes]
    return [isa for isa, node in zip(isas, nodes) if isa and names.add(isa.name, node)]


def load_isa(ctx, node):
    """Load one <isa>."""
    diag = ctx.diag
    if not check_shape(diag, node, ("name", "word_bits"), ("doc",),
                       ("enum", "class", "layout", "op", "special")):
        return None
    isa = Isa(read_name(diag, node).lower(), read_int(diag, node, "word_bits", 128), doc_of(node),
              [e for e in (load_enum(ctx, n, "isa") for n in node.all("enum")) if e])
    if isa.bits % 32 or not 32 <= isa.bits <= 512:
        diag.error(node, f"word_bits {isa.bits} is not a multiple of 32 up to 512")
        isa.bits = 128
    isa.banks = ctx.enums.get(f"{isa.name}_bank")
    isa.type_enum = ctx.enums.get(f"{isa.name}_type")
    isa.form_enum = ctx.enums.get(f"{isa.name}_form")
    for enum, top in ((isa.banks, 31), (isa.type_enum, 31), (isa.form_enum, MAX_FORM)):
        if enum and enum.top > top:
            diag.error(node, f"isa {isa.name}: enum {enum.name} has a value above {top}")
            return None
    load_classes(ctx, isa, node)
    load_layouts(ctx, isa, node)
    if not isa.layouts:
        diag.error(node, f"isa {isa.name} has no layouts")
        return None
    collect_fields(diag, isa)
    load_ops(ctx, isa, node)
    load_specials(ctx, isa, node)
    return isa


def load_classes(ctx, isa, node):
    """Read the operand classes."""
    names = Unique(ctx.diag, "class")
    for child in node.all("class"):
        if not check_shape(ctx.diag, child, ("name",), CLASS_ATTRS):
            continue
        enum = None
        if child.get("enum"):
            enum = ctx.enums.get(child.get("enum").lower())
            if enum is None:
                ctx.diag.error(child, f"unknown enum {child.get('enum')}")
        name = read_name(ctx.diag, child).lower()
        item = OperandClass(name, doc_of(child), bank_list(ctx, isa, child, "full"),
                            bank_list(ctx, isa, child, "elem"), enum, child.get("prefix", ""),
                            child.get("join"), child.get("next"),
                            read_choice(ctx.diag, child, "optional", BOOLS, "false") == "true",
                            read_choice(ctx.diag, child, "hex", BOOLS, "false") == "true",
                            bank_list(ctx, isa, child, "indexed"),
                            read_choice(ctx.diag, child, "special", SPECIAL, "any"))
        for bank in item.indexed:
            if bank not in item.full:
                ctx.diag.error(child, f"bank {bank} is in indexed but not in full")
        if names.add(name, child):
            ctx.macro_names.add(f"PUMICE_{isa.name.upper()}_CLASS_{name.upper()}", child)
            isa.classes[name] = item


def bank_list(ctx, isa, node, attr):
    """Return the banks named in an attribute, as values of the enum <isa>_bank."""
    out = []
    for word in node.get(attr, "").upper().split():
        if isa.banks is None or isa.banks.number(word) is None:
            ctx.diag.error(node, f"unknown register bank {word}: not in enum {isa.name}_bank")
        else:
            out.append(word)
    return out


def load_layouts(ctx, isa, node):
    """Read the layouts; the opcode has the same bits in all of them."""
    diag = ctx.diag
    names = Unique(diag, "layout")
    first = None
    for child in node.all("layout"):
        if not check_shape(diag, child, ("name",), ("doc",), ("field", "reserved")):
            continue
        fields, reserved = load_fields(ctx, child, isa.bits,
                                       types=("uint", "int", "bool", "enum", "address"))
        for item in fields:
            item.name = item.name.lower()
            if item.count != 1:
                diag.error(item.node, f"field {item.name}: instruction fields have no count")
            for special, enum in (("type", isa.type_enum), ("form", isa.form_enum)):
                if item.name == special and enum is None:
                    diag.error(item.node, f"field {special}: there is no enum "
                                          f"{isa.name}_{special}")
        layout = Layout(read_name(diag, child).lower(), doc_of(child), child, fields, reserved)
        check_cover(diag, child, fields, reserved, isa.bits, f"layout {layout.name}")
        opcode = layout.field("opcode")
        if opcode is None:
            diag.error(child, f"layout {layout.name} has no field 'opcode'")
            continue
        first = first or opcode
        if (opcode.lo, opcode.width) != (first.lo, first.width):
            diag.error(opcode.node, f"layout {layout.name} has its opcode at bits "
                                    f"{opcode.end - 1}:{opcode.lo}, the first layout at bits "
                                    f"{first.end - 1}:{first.lo}")
        if names.add(layout.name, child):
            isa.layouts.append(layout)


def collect_fields(diag, isa):
    """Collect all field names in one list; the widest of one name determines its C type."""
    merged = {}
    for layout in isa.layouts:
        for item in layout.fields:
            known = merged.setdefault(item.name, item)
            if (known.type, known.enum, known.shift if known.type != "address" else 0) != \
                    (item.type, item.enum, item.shift if item.type != "address" else 0):
                diag.error(item.node, f"field {item.name} is of another type in layout "
                                      f"{layout.name} (line {known.node.line})")
            if item.width > known.width:
                merged[item.name] = item
    isa.fields = list(merged.values())
    if len(isa.fields) > MAX_FIELDS:
        diag.error(isa.layouts[0].node, f"more than {MAX_FIELDS} field names in isa {isa.name}")


def load_ops(ctx, isa, node):
    """Read the operations."""
    diag = ctx.diag
    names = Unique(diag, f"op in isa {isa.name}:")
    codes = Unique(diag, f"opcode in isa {isa.name}:")
    layouts = {item.name: item for item in isa.layouts}
    texts = ("doc", "semantics", "exceptions", "example")
    for child in node.all("op"):
        if not check_shape(diag, child, ("name", "opcode", "layout"),
                           texts + ("types", "forms", "operands", "scalar_operands")):
            continue
        name = read_name(diag, child).lower()
        layout = layouts.get(child.get("layout").lower())
        if layout is None:
            diag.error(child, f"op {name}: unknown layout {child.get('layout')}")
            continue
        opcode = read_int(diag, child, "opcode")
        if opcode >> layout.field("opcode").width:
            diag.error(child, f"op {name}: opcode {opcode:#x} is too big for "
                              f"{layout.field('opcode').width} bits")
        op = Op(name, opcode, layout, choices(diag, child, name, "types", isa.type_enum, layout),
                choices(diag, child, name, "forms", isa.form_enum, layout), {}, child,
                {t: doc_of(child, t) for t in texts})
        load_operands(diag, isa, op)
        if names.add(name, child) and codes.add(opcode, child, f"{opcode:#x}"):
            ctx.macro_names.add(f"PUMICE_{isa.name.upper()}_OP_{name.upper()}", child)
            isa.ops.append(op)
    isa.ops.sort(key=lambda o: o.opcode)


def choices(diag, node, op, attr, enum, layout):
    """Return types= or forms= as enum values; a layout without that field allows only the value 0.
    """
    out = []
    for word in node.get(attr, "").split():
        value = enum.number(word) if enum else None
        if value is None:
            diag.error(node, f"op {op}: unknown {attr[:-1]} {word}")
        elif value and layout.field(attr[:-1]) is None:
            diag.error(node, f"op {op}: {attr[:-1]} {word} cannot be encoded, layout "
                             f"{layout.name} has no field '{attr[:-1]}'")
        elif value in [v.value for v in out]:
            diag.error(node, f"op {op}: {attr[:-1]} {word} is named twice")
        else:
            out.append(next(v for v in enum.values if v.value == value))
    if not out and layout.field(attr[:-1]):
        diag.error(node, f"op {op}: layout {layout.name} has a field '{attr[:-1]}', so the op "
                         f"needs the attribute '{attr}'")
    return out


def load_operands(diag, isa, op):
    """Load the operand lists of each form: scalar_operands for the form SCALAR, else operands."""
    forms = [(v.value, v.name) for v in op.forms] or [(0, "")]
    if not any(name == "SCALAR" for _, name in forms) and op.node.get("scalar_operands"):
        diag.error(op.node, f"op {op.name}: scalar_operands without the form scalar")
    if all(name == "SCALAR" for _, name in forms) and op.node.get("operands"):
        diag.error(op.node, f"op {op.name}: operands, but the only form is scalar")
    for value, name in forms:
        attr = "scalar_operands" if name == "SCALAR" else "operands"
        op.operands[value] = operand_list(diag, isa, op, attr)


def operand_list(diag, isa, op, attr):
    """Parse "field:class field:class"."""
    out = []
    for word in op.node.get(attr, "").split():
        fname, _, cname = word.lower().partition(":")
        item, kind = op.layout.field(fname), isa.classes.get(cname)
        if item is None or fname in IMPLICIT:
            diag.error(op.node, f"op {op.name}: operand field {fname} is not in layout "
                                f"{op.layout.name}")
        elif kind is None:
            diag.error(op.node, f"op {op.name}: unknown operand class '{cname}'")
        elif fname in [f.name for f, _ in out]:
            diag.error(op.node, f"op {op.name}: operand field {fname} is named twice")
        else:
            if kind.enum and kind.enum.top >> item.width:
                diag.error(op.node, f"op {op.name}: enum {kind.enum.name} is too big for the "
                                    f"{item.width} bits of field {fname}")
            out.append((item, kind))
    return out


def load_specials(ctx, isa, node):
    """Read the predefined constants and special registers."""
    diag = ctx.diag
    names = Unique(diag, f"special in isa {isa.name}:")
    numbers = Unique(diag, f"special in isa {isa.name}:")
    places = Unique(diag, f"special in isa {isa.name}:")
    for child in node.all("special"):
        if not check_shape(diag, child, ("bank", "number", "name", "value"),
                           ("doc", "space", "access")):
            continue
        banks = bank_list(ctx, isa, child, "bank")
        if len(banks) != 1:
            continue
        name, number = read_name(diag, child).lower(), read_int(diag, child, "number")
        if names.add(name, child) and numbers.add((banks[0], number), child,
                                                  f"{banks[0]} {number}"):
            value = child.get("value")
            isa.specials.append(Special(banks[0], number, name, value, doc_of(child),
                                        lane_values(diag, child, value),
                                        space_number(diag, child, banks[0], number, places),
                                        read_choice(diag, child, "access", ("ro", "rw"), "ro")
                                        == "rw"))


def space_number(diag, node, bank, number, places):
    """Return the number in the common space, whose blocks of 32 alternate between its banks; or
    None.
    """
    if bank not in SPACE_BANKS:
        if node.get("space"):
            diag.error(node, f"bank {bank} is not in the common space")
        return None
    space = read_int(diag, node, "space", number)
    if space >= SPACE:
        diag.error(node, f"number {space} is not in the common space of {SPACE}")
    elif SPACE_BANKS[space // SPACE_BLOCK % 2] != bank:
        diag.error(node, f"number {space} is in a block of bank "
                         f"{SPACE_BANKS[space // SPACE_BLOCK % 2]}")
    places.add(space, node, f"number {space} of the common space")
    return space


def lane_values(diag, node, text):
    """Return the values in lanes 0..31 of an expression of the lane number l; [] if it names more.
    """
    try:
        tree = ast.parse(text, mode="eval").body
        names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
        if names - {"l"}:
            return []
        return [int(evaluate(tree, lane)) & 0xffffffff for lane in range(LANES)]
    except (SyntaxError, ValueError, ZeroDivisionError) as err:
        diag.error(node, f"value=\"{text}\" is not an expression of l: {err}")
        return []


def evaluate(tree, lane):
    """Evaluate an integer expression of C, with the few operators that the contract uses."""
    if isinstance(tree, ast.Constant) and isinstance(tree.value, int):
        return tree.value
    if isinstance(tree, ast.Name):
        return lane
    if isinstance(tree, ast.BinOp):
        a, b = evaluate(tree.left, lane), evaluate(tree.right, lane)
        table = {ast.Add: lambda: a + b, ast.Sub: lambda: a - b, ast.Mult: lambda: a * b,
                 ast.Div: lambda: a // b, ast.Mod: lambda: a % b, ast.LShift: lambda: a << b,
                 ast.RShift: lambda: a >> b, ast.BitAnd: lambda: a & b,
                 ast.BitOr: lambda: a | b, ast.BitXor: lambda: a ^ b}
        if type(tree.op) in table:
            return table[type(tree.op)]()
    if isinstance(tree, ast.Compare) and len(tree.ops) == 1:
        a, b = evaluate(tree.left, lane), evaluate(tree.comparators[0], lane)
        table = {ast.Lt: a < b, ast.LtE: a <= b, ast.Gt: a > b, ast.GtE: a >= b,
                 ast.Eq: a == b, ast.NotEq: a != b}
        if type(tree.ops[0]) in table:
            return table[type(tree.ops[0])]
    raise ValueError("operator not supported")
