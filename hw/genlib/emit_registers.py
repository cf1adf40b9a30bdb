# SPDX-License-Identifier: MIT
"""C headers that follow from registers.xml: pumice_regs.h; and pumice_names.h for all enums."""

from .cwriter import ALL_FILES, Writer, emit_enum, emit_enum_valid, lit, mask, string


def regs_header(regs):
    """Return pumice_regs.h: offsets, fields, reset values, constants and enumerations."""
    w = Writer("Registers of the Pumice GPU: offsets, fields, reset values, constants.\n"
               "Offsets count from the start of a virtual GPU's page of BAR0.",
               "registers.xml", "PUMICE_REGS_H", ["\"pumice_types.h\""])
    for name, value, text, doc in regs.constants:
        w.doc(doc)
        suffix = "" if value <= 0x7fffffff else "U" if value <= 0xffffffff else "ULL"
        w.line(f"#define PUMICE_{name} {text.replace('_', '')}{suffix}")
    w.line("\n#ifndef __ASSEMBLER__\n")
    for enum in regs.enums:
        emit_enum(w, enum)
        emit_enum_valid(w, enum)
    w.line("#endif /* __ASSEMBLER__ */")
    for unit in regs.units:
        emit_unit(w, unit)
    return w.text()


def emit_unit(w, unit):
    """Write all macros of one unit."""
    w.line()
    w.doc(f"{unit.name} - {unit.doc}")
    w.define(f"PUMICE_{unit.name}_UNIT_BASE", f"0x{unit.base:x}")
    w.define(f"PUMICE_{unit.name}_UNIT_SIZE", f"0x{unit.size:x}")
    for reg in unit.regs:
        emit_reg(w, reg)


def emit_reg(w, reg):
    """Write the offset, fields, reset value and writable bits of one register."""
    w.line()
    w.doc(f"{reg.size} bits, {reg.access}. {reg.doc}")
    if reg.array:
        w.define(f"{reg.macro}(n)", f"(0x{reg.offset:x} + (n) * 0x{reg.stride:x})")
        w.define(f"{reg.macro}_COUNT", str(reg.count))
        w.define(f"{reg.macro}_STRIDE", f"0x{reg.stride:x}")
    else:
        w.define(reg.macro, f"0x{reg.offset:x}")
    w.define(f"{reg.macro}__RESET", lit(reg.reset, reg.size))
    w.define(f"{reg.macro}__WRITABLE", lit(reg.writable, reg.size))
    for item in reg.fields:
        emit_field_macros(w, f"{reg.macro}__{item.name.upper()}", item, reg.size)


def emit_field_macros(w, prefix, item, bits):
    """Write __SHIFT and __MASK of a field in a value of `bits` bits; addresses are held in place.
    """
    in_place = item.type == "address" and item.shift == item.lo
    w.define(f"{prefix}__SHIFT", "0" if in_place else str(item.lo), item.doc)
    w.define(f"{prefix}__MASK", lit(mask(item.width) << item.lo, bits))


def fault_docs(w, enum):
    """Write the description of each fault, for reports to users."""
    w.doc("Return the description of a value of enum pumice_fault, or \"\".")
    w.line("static inline const char *pumice_fault_doc(u32 v)\n{\n\tswitch (v) {")
    for item in enum.values:
        w.line(f"\tcase 0x{item.value:x}U:\n\t\treturn {string(item.doc)};")
    w.line("\tdefault:\n\t\treturn \"\";\n\t}\n}\n")


def names_header(enums):
    """Return pumice_names.h: a short text for every value of every enumeration."""
    w = Writer("Short texts of the values of all enumerations, for messages.\n"
               "Kept apart from the enumerations so that the firmware carries no strings.",
               ALL_FILES, "PUMICE_NAMES_H",
               ["\"pumice_formats.h\"", "\"pumice_isa_enums.h\"", "\"pumice_regs.h\""])
    for enum in enums:
        w.doc(f"Return the text of a value of enum pumice_{enum.name}, or \"unknown\".")
        w.line(f"static inline const char *pumice_{enum.name}_str(u32 v)\n{{\n\tswitch (v) {{")
        for item in enum.values:
            w.line(f"\tcase 0x{item.value:x}U:\n\t\treturn {string(item.text)};")
        w.line("\tdefault:\n\t\treturn \"unknown\";\n\t}\n}\n")
        if enum.name == "fault":
            fault_docs(w, enum)
    return w.text()
