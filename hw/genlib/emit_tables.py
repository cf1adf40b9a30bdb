# SPDX-License-Identifier: MIT
"""Tables for traces and tools: pumice_reg_table.[ch] and pumice_format_table.[ch]."""

from .clients import KINDS
from .cwriter import Writer, lit, string

BUS = {"host": "PUMICE_REG_BUS_HOST", "fw": "PUMICE_REG_BUS_FW", "both": "PUMICE_REG_BUS_BOTH"}


def field_info(item, shift=None):
    """Return the initializer of struct pumice_field_info for a field."""
    valid, text = "NULL", "NULL"
    if item.enum:
        valid, text = f"pumice_{item.enum.name}_valid", f"pumice_{item.enum.name}_str"
    shift = item.shift if shift is None else shift
    return (f"{{ {string(item.name)}, {item.lo}, {item.width}, "
            f"PUMICE_FIELD_{item.type.upper()}, {shift}, {item.count}, {lit(item.value, 64)}, "
            f"{valid}, {text} }}")


def emit_fields(w, name, fields, reserved):
    """Return one table of fields, lowest bit first; long reserved ranges are limited to 64 bits."""
    rows = [(f.lo, field_info(f)) for f in fields]
    for item in reserved:
        for lo in range(item.lo, item.end, 64):
            width = min(64, item.end - lo)
            rows.append((lo, f"{{ NULL, {lo}, {width}, PUMICE_FIELD_RESERVED, 0, 1, 0, NULL, "
                             "NULL }"))
    w.line(f"static const struct pumice_field_info {name}[] = {{")
    for _, row in sorted(rows):
        w.line(f"\t{row},")
    w.line("};\n")
    return len(rows)


def reg_words(rows):
    """Return the place in rows of the register that each 32-bit word belongs to, by the word."""
    return {(reg.offset + element * reg.stride) // 4 + half: place
            for place, reg in enumerate(rows)
            for element in range(reg.count) for half in range(reg.size // 32)}


def reg_table_rows(regs):
    """Return all registers by rising offset, the order of the table."""
    return sorted((r for u in regs.units for r in u.regs), key=lambda r: r.offset)


def reg_table_header(regs):
    """Return pumice_reg_table.h."""
    w = Writer("The table of all registers, by rising offset.", "registers.xml",
               "PUMICE_REG_TABLE_H", ["\"pumice_info.h\""], license_id="MIT")
    w.define("PUMICE_REG_TABLE_SIZE", str(sum(len(u.regs) for u in regs.units)))
    w.define("PUMICE_REG_WORDS", str(max(reg_words(reg_table_rows(regs))) + 1))
    w.line("extern const struct pumice_reg_info pumice_reg_table[PUMICE_REG_TABLE_SIZE];\n")
    w.doc("For each 32-bit word of a page: 1 + the place of its register in the table, or 0.")
    w.line("extern const u16 pumice_reg_words[PUMICE_REG_WORDS];")
    w.line("""
/**
 * pumice_reg_find - the register that holds a byte
 * @offset: bytes from the start of a virtual GPU's page
 * @index: element of a register array, 0 for a plain register; may be NULL
 *
 * Returns NULL where there is no register. The high half of a 64-bit register is part of it.
 */
const struct pumice_reg_info *pumice_reg_find(u32 offset, u32 *index);""")
    return w.text()


def reg_table_source(regs):
    """Return pumice_reg_table.c."""
    w = Writer("The table of all registers.", "registers.xml",
               includes=["\"pumice_names.h\"", "\"pumice_reg_table.h\""], license_id="MIT")
    rows = reg_table_rows(regs)
    sizes = {}
    for reg in rows:
        sizes[reg.macro] = emit_fields(w, f"{reg.macro.lower()}_fields", reg.fields, reg.reserved)
    w.line("const struct pumice_reg_info pumice_reg_table[PUMICE_REG_TABLE_SIZE] = {")
    for reg in rows:
        per_os = "true" if reg.unit.scope == "os" else "false"
        w.line(f"\t{{ {string(reg.unit.name)}, {string(reg.unit.name + '_' + reg.name)}, "
               f"0x{reg.offset:x}, {reg.size}, PUMICE_REG_{reg.access.upper()},\n"
               f"\t  {BUS[reg.unit.bus]}, {per_os}, {reg.count}, {reg.stride}, "
               f"{lit(reg.reset, 64)}, {lit(reg.writable, 64)},\n"
               f"\t  {reg.macro.lower()}_fields, {sizes[reg.macro]} }},")
    w.line("};\n")
    w.line("const u16 pumice_reg_words[PUMICE_REG_WORDS] = {")
    for word, place in sorted(reg_words(rows).items()):
        w.line(f"\t[0x{word:x}] = {place + 1},")
    w.line("};")
    return w.text()


def format_table_header(formats):
    """Return pumice_format_table.h."""
    w = Writer("Tables of the structures in memory and of the command streams.", "formats.xml",
               "PUMICE_FORMAT_TABLE_H", ["\"pumice_info.h\""], license_id="MIT")
    w.define("PUMICE_FORMAT_TABLE_SIZE", str(len(formats.structs)))
    w.line("extern const struct pumice_format_info "
           "pumice_format_table[PUMICE_FORMAT_TABLE_SIZE];\n")
    for stream in formats.streams:
        w.line(f"extern const struct pumice_stream_info pumice_stream_{stream.name};")
    if formats.clients:
        client_table_header(w, formats.clients)
    return w.text()


def client_table_header(w, clients):
    """Write the declarations of the table of clients and of their keys."""
    w.line()
    w.doc("The clients of memory, by enum pumice_mem_client.")
    w.line("extern const struct pumice_client_info pumice_client_table"
           f"[{len(clients.rows)}];\n")
    w.doc("Their numbers by unit, access and kind; that of no client is the number of clients.")
    w.line(f"extern const u8 pumice_client_keys[{clients.units.top + 1}]"
           f"[{clients.accesses.top + 1}][{KINDS}];")
    w.line(f"""
/**
 * pumice_client_find - the client that makes a request
 * @unit: enum pumice_unit
 * @access: enum pumice_access
 * @kind: which of two kinds of data, for units that have two; else 0 or 1
 *
 * Returns an enum pumice_mem_client, or the number of clients if the unit makes no such request.
 */
static inline u32 pumice_client_find(u32 unit, u32 access, u32 kind)
{{
	if (unit > {clients.units.top} || access > {clients.accesses.top} || kind >= {KINDS})
		return {len(clients.rows)};
	return pumice_client_keys[unit][access][kind];
}}""")


def format_table_source(formats):
    """Return pumice_format_table.c."""
    w = Writer("Tables of the structures in memory and of the command streams.", "formats.xml",
               includes=["\"pumice_format_table.h\"", "\"pumice_names.h\""], license_id="MIT")
    sizes, index = {}, {}
    for item in formats.structs:
        sizes[item.name] = emit_fields(w, f"{item.name}_fields", item.fields, item.reserved)
    w.line("const struct pumice_format_info pumice_format_table[PUMICE_FORMAT_TABLE_SIZE] = {")
    for i, item in enumerate(formats.structs):
        index[item.name] = i
        w.line(f"\t{{ {string(item.name)}, {item.words}, {sizes[item.name]}, "
               f"{item.name}_fields }},")
    w.line("};\n")
    for stream in formats.streams:
        w.line(f"static const struct pumice_stream_cmd {stream.name}_cmds[] = {{")
        for cmd in stream.cmds:
            w.line(f"\t{{ 0x{cmd.field(stream.type_field).value:x}, "
                   f"&pumice_format_table[{index[cmd.name]}] }},")
        w.line("};\n")
        w.line(f"const struct pumice_stream_info pumice_stream_{stream.name} = {{\n"
               f"\t{string(stream.name)}, {stream.type_lo}, {stream.type_width}, "
               f"{len(stream.cmds)}, {stream.name}_cmds\n}};\n")
    if formats.clients:
        client_table_source(w, formats.clients)
    return w.text()


def client_table_source(w, clients):
    """Write the table of clients, and of their numbers by key."""
    count = len(clients.rows)
    w.line(f"const struct pumice_client_info pumice_client_table[{count}] = {{")
    for row in clients.rows:
        unit = row.unit.value if row.unit else 0
        w.line(f"\t{{ {string(row.name)}, {string(row.doc)},\n"
               f"\t  {unit}, {row.access.value}, {KINDS if row.kind is None else row.kind}, "
               f"{row.path.value}, {row.slc.value} }},")
    w.line("};\n")
    keys = {(row.unit.value, row.access.value, kind): number
            for number, row in enumerate(clients.rows) if row.unit for kind in row.kinds}
    w.line(f"const u8 pumice_client_keys[{clients.units.top + 1}][{clients.accesses.top + 1}]"
           f"[{KINDS}] = {{")
    for unit in range(clients.units.top + 1):
        cells = ["{ " + ", ".join(str(keys.get((unit, access, kind), count))
                                  for kind in range(KINDS)) + " }"
                 for access in range(clients.accesses.top + 1)]
        w.line("\t{ " + ", ".join(cells) + " },")
    w.line("};")
