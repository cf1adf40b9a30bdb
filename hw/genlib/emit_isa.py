# SPDX-License-Identifier: MIT
"""
C that follows from isa.xml: pumice_isa_enums.h (numbers only, for every side), pumice_isa.h
(unpacked instructions, table declarations) and pumice_isa.c (tables, pack and unpack).
"""

from .cwriter import (Writer, emit_enum, emit_enum_valid, lit, mask, members, pack_words,
                      reserved_masks, string, unpack_field)
from .emit_tables import field_info
from .isa import IMPLICIT


def enums_header(isas):
    """Return pumice_isa_enums.h."""
    w = Writer("Numbers of the instruction sets: enumerations, opcodes, layouts, operand classes,\n"
               "special registers.", "isa.xml", "PUMICE_ISA_ENUMS_H", ["\"pumice_types.h\""])
    w.line("#ifndef __ASSEMBLER__\n")
    for isa in isas:
        for enum in isa.enums:
            emit_enum(w, enum)
            emit_enum_valid(w, enum)
        upper = isa.name.upper()
        w.define(f"PUMICE_{upper}_WORDS", str(isa.bits // 32),
                 f"32-bit words of a {isa.name} instruction")
        w.line()
        numbered(w, f"Operations of the {isa.name} instruction set.", f"pumice_{isa.name}_op",
                 [(f"PUMICE_{upper}_OP_{o.name.upper()}", f"0x{o.opcode:02x}", "")
                  for o in isa.ops])
        numbered(w, "Layouts of instructions.", f"pumice_{isa.name}_layout",
                 [(f"PUMICE_{upper}_LAYOUT_{o.name.upper()}", i, o.doc)
                  for i, o in enumerate(isa.layouts)])
        numbered(w, "Classes of operands.", f"pumice_{isa.name}_class",
                 [(f"PUMICE_{upper}_CLASS_{o.name.upper()}", i, "")
                  for i, o in enumerate(isa.classes.values())])
        numbered(w, "Fields of instructions, over all layouts.", f"pumice_{isa.name}_field",
                 [(f"PUMICE_{upper}_FIELD_{o.name.upper()}", i, "")
                  for i, o in enumerate(isa.fields)])
        for bank in sorted({s.bank for s in isa.specials}):
            numbered(w, f"Numbers in the register bank {bank}.",
                     f"pumice_{isa.name}_{bank.lower()}",
                     [(f"PUMICE_{upper}_{bank}_{s.name.upper()}", s.number, "")
                      for s in isa.specials if s.bank == bank])
    w.line("#endif /* __ASSEMBLER__ */")
    return w.text()


def numbered(w, doc, name, values):
    """Write one C enumeration of (name, number, doc)."""
    if not values:
        return
    w.doc(doc)
    w.line(f"enum {name} {{")
    for value, number, text in values:
        w.line(f"\t{value} = {number}," + (f" /* {text} */" if text and len(text) < 56 else ""))
    w.line("};\n")


def isa_header(isas):
    """Return pumice_isa.h."""
    w = Writer("Instructions unpacked, their pack and unpack functions, and tables of the\n"
               "instruction sets. Link with the decoder library.", "isa.xml", "PUMICE_ISA_H",
               ["\"pumice_info.h\"", "\"pumice_isa_enums.h\"", "\"pumice_types.h\""])
    for isa in isas:
        name, upper = isa.name, isa.name.upper()
        w.doc(f"One {name} instruction with the fields of all layouts; fields that its layout "
              "does not have are 0.")
        w.line(f"struct pumice_{name}_insn {{")
        for text in members(isa.fields):
            w.line(text)
        w.line("};\n")
        w.doc("The instruction set's description.")
        w.line(f"extern const struct pumice_isa_info pumice_{name}_isa;\n")
        w.doc("All operations by rising opcode; pumice_isa_find_opcode() looks one up.")
        w.line(f"#define PUMICE_{upper}_OPS {len(isa.ops)}")
        w.line(f"extern const struct pumice_isa_op_info pumice_{name}_ops[PUMICE_{upper}_OPS];\n")
        w.line(f"""/**
 * pumice_{name}_pack - write an instruction; excess bits of a value are discarded
 * @dw: PUMICE_{upper}_WORDS words
 * @v: fields that the opcode's layout does not have are not written
 *
 * An unknown opcode is packed as zeroes, which is not a legal instruction.
 */
void pumice_{name}_pack(u32 *dw, const struct pumice_{name}_insn *v);

/**
 * pumice_{name}_unpack - read an instruction and check that its encoding is legal
 * @dw: PUMICE_{upper}_WORDS words
 * @v: filled for every result; for an unknown opcode only with the opcode
 *
 * Returns the result of pumice_isa_check().
 */
enum pumice_isa_unpack pumice_{name}_unpack(const u32 *dw, struct pumice_{name}_insn *v);
""")
    return w.text()


def isa_source(isas):
    """Return pumice_isa.c."""
    w = Writer("Tables of the instruction sets, pack and unpack.", "isa.xml",
               includes=["<string.h>", "\"pumice_isa.h\"", "\"pumice_names.h\""],
               license_id="MIT")
    for isa in isas:
        emit_classes(w, isa)
        emit_layouts(w, isa)
        emit_ops(w, isa)
        emit_specials(w, isa)
        emit_info(w, isa)
        emit_pack(w, isa)
        emit_unpack(w, isa)
    return w.text()


def bank_mask(isa, banks):
    """Return bit n for bank n."""
    out = 0
    for bank in banks:
        out |= 1 << isa.banks.number(bank)
    return out


def emit_classes(w, isa):
    """Write the table of operand classes."""
    if not isa.classes:
        return
    w.line(f"static const struct pumice_isa_class {isa.name}_classes[] = {{")
    for item in isa.classes.values():
        valid = f"pumice_{item.enum.name}_valid" if item.enum else "NULL"
        text = f"pumice_{item.enum.name}_str" if item.enum else "NULL"
        w.line(f"\t{{ {string(item.name)}, {string(item.doc)},\n"
               f"\t  {lit(bank_mask(isa, item.full))}, {lit(bank_mask(isa, item.elem))}, "
               f"{lit(bank_mask(isa, item.indexed))}, {valid}, {text},\n"
               f"\t  {string(item.prefix)}, {maybe(item.join)}, {maybe(item.next)}, "
               f"{str(item.optional).lower()}, {str(item.hex).lower()}, "
               f"PUMICE_ISA_SPECIAL_{item.special.upper()} }},")
    w.line("};\n")


def maybe(text):
    """Return a C string literal, or NULL for None."""
    return "NULL" if text is None else string(text)


def emit_layouts(w, isa):
    """Write the field names, and the positions of the fields in each layout."""
    w.line(f"static const char *const {isa.name}_fields[] = {{")
    for item in isa.fields:
        w.line(f"\t{string(item.name)},")
    w.line("};\n")
    index = {f.name: i for i, f in enumerate(isa.fields)}
    for layout in isa.layouts:
        w.line(f"static const struct pumice_isa_place {isa.name}_places_{layout.name}[] = {{")
        for item in layout.fields:
            w.line(f"\t{{ {index[item.name]}, {field_info(item)} }},")
        w.line("};\n")
        masks = reserved_masks(layout.reserved)
        row = ", ".join(lit(masks.get(i, 0)) for i in range(isa.bits // 32))
        w.line(f"static const u32 {isa.name}_reserved_{layout.name}[] = {{ {row} }};\n")
    w.line(f"static const struct pumice_isa_layout {isa.name}_layouts[] = {{")
    for layout in isa.layouts:
        w.line(f"\t{{ {string(layout.name)}, {len(layout.fields)}, "
               f"{isa.name}_places_{layout.name}, {isa.name}_reserved_{layout.name} }},")
    w.line("};\n")


def form_name(value):
    """Return the suffix of a form's operand table."""
    return f"form{value}"


def emit_ops(w, isa):
    """Write the operand lists and the table of operations."""
    index = {f.name: i for i, f in enumerate(isa.fields)}
    classes = {name: i for i, name in enumerate(isa.classes)}
    for op in isa.ops:
        for value, operands in op.operands.items():
            if operands:
                row = ", ".join(f"{{ {index[f.name]}, {classes[c.name]} }}" for f, c in operands)
                w.line(f"static const struct pumice_isa_operand {isa.name}_{op.name}_"
                       f"{form_name(value)}[] = {{\n\t{row}\n}};\n")
    w.line(f"const struct pumice_isa_op_info pumice_{isa.name}_ops[] = {{")
    for op in isa.ops:
        layout = next(i for i, item in enumerate(isa.layouts) if item is op.layout)
        types = sum(1 << v.value for v in op.types)
        forms = sum(1 << v.value for v in op.forms)
        w.line(f"\t{{\n\t\t.name = {string(op.name)},\n\t\t.opcode = 0x{op.opcode:x},\n"
               f"\t\t.layout = {layout},\n\t\t.types = {lit(types)},\n\t\t.forms = {lit(forms)},\n"
               "\t\t.form = {")
        for value, operands in op.operands.items():
            uses = 0
            for name in IMPLICIT + tuple(f.name for f, _ in operands):
                uses |= 1 << index[name] if name in index else 0
            table = f"{isa.name}_{op.name}_{form_name(value)}" if operands else "NULL"
            syntax = ", ".join(f.name for f, _ in operands)
            w.line(f"\t\t\t[{value}] = {{ true, {len(operands)}, {lit(uses, 64)},\n"
                   f"\t\t\t\t{table}, {string(syntax)} }},")
        w.line("\t\t},")
        for key, text in op.texts.items():
            w.line(f"\t\t.{key} = {string(text)},")
        w.line("\t},")
    w.line("};\n")


def emit_specials(w, isa):
    """Write the table of special registers."""
    if not isa.specials:
        return
    w.line(f"static const struct pumice_isa_special {isa.name}_specials[] = {{")
    for item in isa.specials:
        space = "PUMICE_ISA_NO_SPACE" if item.space is None else item.space
        w.line(f"\t{{ {string(item.name)}, {isa.banks.number(item.bank)}, {item.number}, {space}, "
               f"{str(item.writable).lower()}, {'true' if item.lanes else 'false'}, {string(item.value)},\n"
               f"\t  {string(item.doc)},")
        lanes = item.lanes or [0]
        rows = [", ".join(lit(v) for v in lanes[i:i + 8]) for i in range(0, len(lanes), 8)]
        w.line("\t  { " + ",\n\t    ".join(rows) + " } },")
    w.line("};\n")


def emit_info(w, isa):
    """Write the description of the whole set."""
    index = {f.name: i for i, f in enumerate(isa.fields)}
    number = {name: index.get(name, "PUMICE_ISA_NO_FIELD") for name in ("type", "form", "imm", "dim")}
    opcode = isa.layouts[0].field("opcode")
    used = {b for c in isa.classes.values() for b in c.full + c.elem}
    known = sum(1 << v.value for v in isa.banks.values) if isa.banks and used else 0
    text = {k: f"pumice_{e.name}_str" if e else "NULL"
            for k, e in (("type", isa.type_enum), ("form", isa.form_enum))}
    w.line(f"""const struct pumice_isa_info pumice_{isa.name}_isa = {{
	.name = {string(isa.name)},
	.words = {isa.bits // 32},
	.opcode_bit = {opcode.lo},
	.opcode_width = {opcode.width},
	.nr_fields = {len(isa.fields)},
	.field_type = {number['type']},
	.field_form = {number['form']},
	.field_imm = {number['imm']},
	.field_dim = {number['dim']},
	.nr_layouts = {len(isa.layouts)},
	.nr_classes = {len(isa.classes)},
	.nr_ops = {len(isa.ops)},
	.nr_specials = {len(isa.specials)},
	.banks = {lit(bank_mask(isa, used))},
	.known_banks = {lit(known)},
	.fields = {isa.name}_fields,
	.layouts = {isa.name}_layouts,
	.classes = {isa.name + '_classes' if isa.classes else 'NULL'},
	.ops = pumice_{isa.name}_ops,
	.specials = {isa.name + '_specials' if isa.specials else 'NULL'},
	.type_text = {text['type']},
	.form_text = {text['form']},
}};
""")


def emit_pack(w, isa):
    """Write one function per layout, and the choice by opcode."""
    name, words = isa.name, isa.bits // 32
    for layout in isa.layouts:
        w.line(f"static void {name}_pack_{layout.name}(u32 *dw, "
               f"const struct pumice_{name}_insn *v)\n{{")
        for word, terms in enumerate(pack_words(layout.fields, words)):
            w.line(f"\tdw[{word}] = " + (" |\n\t\t".join(terms) if terms else "0") + ";")
        w.line("}\n")
    w.line(f"""void pumice_{name}_pack(u32 *dw, const struct pumice_{name}_insn *v)
{{
	const struct pumice_isa_op_info *op = pumice_isa_find_opcode(&pumice_{name}_isa, v->opcode);

	if (!op) {{
		memset(dw, 0, {words} * sizeof(*dw));
		return;
	}}
	switch (op->layout) {{""")
    for i, layout in enumerate(isa.layouts):
        w.line(f"\tcase {i}:\n\t\t{name}_pack_{layout.name}(dw, v);\n\t\tbreak;")
    w.line("\t}\n}\n")


def emit_unpack(w, isa):
    """Write one function per layout, and the choice by opcode."""
    name = isa.name
    for layout in isa.layouts:
        w.line(f"static void {name}_unpack_{layout.name}(const u32 *dw, "
               f"struct pumice_{name}_insn *v)\n{{")
        for item in layout.fields:
            for text in unpack_field(item):
                w.line(f"\t{text}")
        w.line("}\n")
    opcode = isa.layouts[0].field("opcode")
    w.line(f"""enum pumice_isa_unpack
pumice_{name}_unpack(const u32 *dw, struct pumice_{name}_insn *v)
{{
	const struct pumice_isa_op_info *op;
	u32 opcode = (u32)pumice_bits(dw, {opcode.lo}, {opcode.width});

	memset(v, 0, sizeof(*v));
	op = pumice_isa_find_opcode(&pumice_{name}_isa, opcode);
	if (!op) {{
		v->opcode = opcode & {lit(mask(opcode.width))};
		return PUMICE_ISA_UNPACK_OPCODE;
	}}
	switch (op->layout) {{""")
    for i, layout in enumerate(isa.layouts):
        w.line(f"\tcase {i}:\n\t\t{name}_unpack_{layout.name}(dw, v);\n\t\tbreak;")
    w.line(f"\t}}\n\treturn pumice_isa_check(&pumice_{name}_isa, dw);\n}}\n")

