# SPDX-License-Identifier: MIT
"""Elements of reStructuredText for the reference pages."""

import re

from .cwriter import bits_text


def heading(text, level):
    """Return a heading; level 0 is the page's title."""
    return f"{text}\n{'=-~^'[level] * len(text)}\n"


def label(text):
    """Return a target that other pages can refer to."""
    return f".. _{text}:\n"


def escape(text):
    """Escape the characters of a text that mean markup."""
    return re.sub(r"([*`|_\\])", r"\\\1", text)


def literal(text):
    """Return a text as a literal, in a fixed-width font."""
    return f"``{text}``" if text else ""


def table(head, widths, rows):
    """Return a list-table; cells are reStructuredText."""
    out = [".. list-table::", "   :header-rows: 1",
           "   :widths: " + " ".join(str(w) for w in widths), ""]
    for row in [head] + rows:
        for i, cell in enumerate(row):
            mark = "*" if i == 0 else " "
            out.append(f"   {mark} - {cell}".rstrip())
    return "\n".join(out) + "\n"


def field_rows(fields, reserved, word_bits=0):
    """Return the rows (bits, name, type, meaning) of a bit table, highest bits first."""
    rows = []
    for item in fields:
        name = item.name
        if item.count > 1:
            name += f"[{item.count}]"
        rows.append((item.lo, [bits_text(item.lo, item.end, word_bits), literal(name),
                               type_text(item), escape(meaning(item))]))
    for item in reserved:
        rows.append((item.lo, [bits_text(item.lo, item.end, word_bits), "", "reserved",
                               "Must be zero."]))
    ascending = bool(word_bits)
    return [row for _, row in sorted(rows, key=lambda r: r[0], reverse=not ascending)]


def meaning(item):
    """Return the purpose of a field, and its value in pumice_<structure>_defaults() if not 0."""
    if item.default == "0":
        return item.doc
    return f"{item.doc} Default: {item.node.get('default')}.".strip()


def type_text(item):
    """Return the type of a field, with a link to its enumeration."""
    if item.type == "const":
        return f"constant {item.value:#x}"
    if item.enum:
        return f":ref:`{item.enum.name} <enum-{item.enum.name}>`"
    if item.type == "address":
        return f"address, in units of {1 << item.shift} bytes" if item.shift else "address"
    return item.type


def enum_section(enum, level):
    """Return the section of one enumeration."""
    rows = [[str(v.value), literal(v.name), escape(v.text), escape(v.doc)] for v in enum.values]
    return "\n".join([label(f"enum-{enum.name}"), heading(enum.name, level),
                      escape(enum.doc) + "\n",
                      table(["Value", "Name", "Text", "Meaning"], [8, 22, 22, 48], rows)])
