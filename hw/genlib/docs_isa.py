# SPDX-License-Identifier: MIT
"""Reference of an instruction set: an overview, and a page for every instruction."""

from . import diagrams
from .cwriter import bits_text
from .docs_tables import BITS_HEAD, BITS_WIDTHS, NOTE
from .rst import escape, field_rows, heading, label, literal, table

TITLES = {"usc": "USC instruction set", "pds": "PDS instruction set"}


def isa_pages(isa):
    """Return {file name: text}: <name>-isa.rst and <name>/<instruction>.rst."""
    pages = {f"{isa.name}/{op.name}.rst": op_page(isa, op) for op in isa.ops}
    pages[f"{isa.name}-isa.rst"] = isa_page(isa)
    return pages


def isa_page(isa):
    """Return the page with the overview."""
    out = [NOTE.format("isa.xml"), label(f"isa-{isa.name}"),
           heading(TITLES.get(isa.name, f"{isa.name} instruction set"), 0),
           escape(isa.doc) + "\n",
           f"Instructions are {isa.bits} bits wide. A field that an instruction does not use must "
           "be zero; an encoding that is not described here faults the job.\n"]
    rows = [[literal(f"{op.opcode:#04x}"), f":ref:`{op.name} <{anchor(isa, op)}>`",
             escape(op.texts["doc"])] for op in isa.ops]
    out += [heading("Overview", 1), table(["Opcode", "Instruction", "Meaning"], [10, 22, 68],
                                          rows)]
    out += [classes_section(isa), layouts_section(isa)]
    if isa.specials:
        out.append(specials_section(isa))
    out += [heading("Instructions", 1), ".. toctree::\n   :maxdepth: 1\n"]
    out += [f"   {isa.name}/{op.name}" for op in isa.ops]
    return "\n".join(out) + "\n"


def anchor(isa, op):
    """Return the label of an instruction's section."""
    return f"{isa.name}-{op.name.replace('_', '-')}"


def class_anchor(isa, kind):
    """Return a link to the section of operand classes."""
    return f":ref:`{kind.name} <{isa.name}-operands>`"


def classes_section(isa):
    """Return the section of operand classes."""
    rows = []
    for kind in isa.classes.values():
        banks = ", ".join(f"{b} (indexed)" if b in kind.indexed else b for b in kind.full) or "–"
        elem = ", ".join(kind.elem) if kind.elem else "–"
        doc = escape(kind.doc)
        if kind.enum:
            doc += f" Values: :ref:`{kind.enum.name} <enum-{kind.enum.name}>`."
        rows.append([literal(kind.name), banks if kind.is_register else "",
                     elem if kind.is_register else "", doc])
    return "\n".join([label(f"{isa.name}-operands"), heading("Operand classes", 1),
                      table(["Class", "Banks", "Banks as element 0", "Meaning"],
                            [12, 24, 20, 44], rows)])


def layouts_section(isa):
    """Return the bit tables of all layouts."""
    out = [heading("Layouts", 1)]
    for layout in isa.layouts:
        out += [label(f"{isa.name}-layout-{layout.name}"), heading(f"Layout {layout.name}", 2),
                escape(layout.doc) + "\n",
                diagrams.image(f"diagrams/{isa.name}-layout-{layout.name}.svg",
                               f"The fields of layout {layout.name}"),
                table(BITS_HEAD, BITS_WIDTHS, field_rows(layout.fields, layout.reserved))]
    return "\n".join(out)


def specials_section(isa):
    """Return the sections of predefined constants and special registers."""
    rows = [[s.bank, str(s.number), "–" if s.space is None else str(s.space), literal(s.name),
             literal(s.value), escape(s.doc) + (" Can be written." if s.writable else "")]
            for s in isa.specials]
    return "\n".join([heading("Predefined registers", 1),
                      "``l`` is the number of the lane. *Space* is the number in the common space "
                      "of special constants and registers.\n",
                      table(["Bank", "Number", "Space", "Name", "Value", "Meaning"],
                            [8, 8, 8, 16, 24, 36], rows)])


def op_page(isa, op):
    """Return the page of one instruction: encoding, operands, types, semantics, exceptions,
    example.
    """
    out = [NOTE.format("isa.xml"), label(anchor(isa, op)), heading(op.name, 0),
           escape(op.texts["doc"]) + "\n"]
    facts = [("Opcode", literal(f"{op.opcode:#04x}"))]
    if op.types:
        facts.append(("Types", ", ".join(literal(v.name.lower()) for v in op.types)))
    if op.forms:
        facts.append(("Forms", ", ".join(v.name.lower() for v in op.forms)))
    facts += [("Semantics", literal(op.texts["semantics"])),
              ("Exceptions", escape(op.texts["exceptions"])),
              ("Example", literal(op.texts["example"]))]
    out += [f":{name}: {text}" for name, text in facts if text]
    out.append("")
    names = {v.value: v.name.lower() for v in op.forms}
    for value, operands in op.operands.items():
        title = f"Operands, {names[value]} form" if len(op.operands) > 1 else "Operands"
        rows = [[literal(f.name), class_anchor(isa, kind), escape(kind.doc)]
                for f, kind in operands]
        if rows:
            out += [f"{title}:\n", table(["Field", "Class", "Meaning"], [14, 14, 72], rows)]
    out += [f"Encoding (layout :ref:`{op.layout.name} <{isa.name}-layout-{op.layout.name}>`):\n",
            diagrams.image(f"../diagrams/{isa.name}-{op.name}.svg", f"The bits of {op.name}"),
            table(["Bits", "Field", "Holds"], [14, 18, 68], encoding_rows(op))]
    return "\n".join(out)


def diagram_files(isa):
    """Return {file name: SVG} of layouts and instructions."""
    files = {f"{isa.name}-layout-{layout.name}.svg": diagrams.layout_diagram(layout, isa.bits)
             for layout in isa.layouts}
    for op in isa.ops:
        used = {row[1].strip("`") for row in encoding_rows(op) if row[2] != "0"}
        files[f"{isa.name}-{op.name}.svg"] = diagrams.encoding_diagram(op, isa.bits, used)
    return files


def encoding_rows(op):
    """Return the instruction's bits, highest first, with their contents."""
    used = {}
    for operands in op.operands.values():
        for item, kind in operands:
            used.setdefault(item.name, [])
            if kind.name not in used[item.name]:
                used[item.name].append(kind.name)
    immediate = any("IMM" in kind.full + kind.elem
                    for operands in op.operands.values() for _, kind in operands)
    rows = []
    for item in op.layout.fields:
        text = "0"
        if item.name == "opcode":
            text = f"{op.opcode:#04x}"
        elif item.name in ("type", "form"):
            values = op.types if item.name == "type" else op.forms
            text = ", ".join(f"{v.value} {v.name.lower()}" for v in values)
        elif item.name in used:
            text = " or ".join(used[item.name])
        elif item.name == "imm" and immediate:
            text = "immediate of the operand in bank IMM, else 0"
        rows.append((item.lo, [bits_text(item.lo, item.end), literal(item.name), text]))
    rows += [(r.lo, [bits_text(r.lo, r.end), "", "0 (reserved)"]) for r in op.layout.reserved]
    return [row for _, row in sorted(rows, key=lambda r: r[0], reverse=True)]
