# SPDX-License-Identifier: MIT
"""pumice_formats.h: the structures of formats.xml with their pack and unpack functions."""

from .cwriter import (Writer, elements, emit_enum, emit_enum_valid, lit, mask, members,
                      pack_words, reserved_masks, unpack_field, unpack_raw)
from .emit_registers import emit_field_macros


def formats_header(formats):
    """Return the whole header."""
    w = Writer("Structures in GPU memory: control-stream words, descriptors, page-table entries.\n"
               "struct pumice_x has the unpacked values; pumice_x_pack() and _unpack() convert\n"
               "them to and from the 32-bit words in memory (little endian).",
               "formats.xml", "PUMICE_FORMATS_H", ["\"pumice_regs.h\"", "\"pumice_types.h\""])
    w.line("#ifndef __ASSEMBLER__\n")
    emit_unpack_enum(w)
    for enum in formats.enums:
        emit_enum(w, enum)
        emit_enum_valid(w, enum)
    if formats.clients:
        emit_enum(w, formats.clients.enum)
        emit_enum_valid(w, formats.clients.enum)
    for item in formats.structs:
        emit_struct(w, item)
    for stream in formats.streams:
        emit_stream(w, stream)
    for stream in formats.streams:
        w.doc(f"Words of the longest {stream.name} command.")
        w.define(f"PUMICE_{stream.name.upper()}_CMD_MAX_WORDS",
                 lit(max(struct.words for struct in stream.cmds), 32))
    w.line()
    w.line("#endif /* __ASSEMBLER__ */")
    return w.text()


def emit_unpack_enum(w):
    """Write the results of unpack functions."""
    w.doc("Result of an unpack function; the structure is filled in every case.")
    w.line("""enum pumice_unpack {
	PUMICE_UNPACK_OK = 0,
	PUMICE_UNPACK_RESERVED = 1, /* a reserved bit is set */
	PUMICE_UNPACK_CONST = 2, /* a constant field holds another value */
	PUMICE_UNPACK_ENUM = 3, /* an enumerated field holds no value of its enumeration */
};
""")


def emit_struct(w, item):
    """Write everything about one structure."""
    upper = item.name.upper()
    w.line(f"/* struct {item.name} */")
    w.line(f"#define PUMICE_{upper}_WORDS {item.words}")
    for sub in item.fields:
        prefix = f"PUMICE_{upper}__{sub.name.upper()}"
        if sub.type == "const":
            w.define(f"{prefix}__VALUE", lit(sub.value, sub.width))
        if item.words <= 2 and sub.count == 1:
            w.define(f"{prefix}__WORD", str(sub.lo // 32))
            emit_field_macros(w, prefix, sub, item.words * 32)
    w.line()
    w.doc(item.doc)
    w.line(f"struct pumice_{item.name} {{")
    lines = members(item.fields)
    for text in lines or ["\tu32 unused; /* the structure has constant fields only */"]:
        w.line(text)
    w.line("};\n")
    emit_pack(w, item, bool(lines))
    emit_unpack(w, item, bool(lines))
    emit_defaults(w, item)
    if item.words == 2:
        emit_pack64(w, item)


def emit_pack(w, item, has_members):
    """Write pumice_<name>_pack()."""
    w.doc(f"Write @v as the {item.words} words of {item.name}; excess bits of a value are discarded.")
    w.line(f"static inline void\npumice_{item.name}_pack(u32 *dw, "
           f"const struct pumice_{item.name} *v)\n{{")
    if not has_members:
        w.line("\t(void)v;")
    for word, terms in enumerate(pack_words(item.fields, item.words)):
        w.line(f"\tdw[{word}] = " + (" |\n\t\t".join(terms) if terms else "0") + ";")
    w.line("}\n")


def emit_unpack(w, item, has_members):
    """Write pumice_<name>_unpack(), with its checks."""
    w.doc(f"Read the {item.words} words of {item.name} into @v and check them; "
          "@v is always filled.")
    w.line(f"static inline enum pumice_unpack\npumice_{item.name}_unpack(const u32 *dw, "
           f"struct pumice_{item.name} *v)\n{{")
    if not has_members:
        w.line("\tv->unused = 0;")
    for sub in item.fields:
        if sub.type != "const":
            for text in unpack_field(sub):
                w.line(f"\t{text}")
    tests = [f"(dw[{word}] & {lit(bits)})" for word, bits in
             sorted(reserved_masks(item.reserved).items())]
    if tests:
        w.line("\tif (" + " |\n\t    ".join(tests) + ")\n\t\treturn PUMICE_UNPACK_RESERVED;")
    for sub in item.fields:
        if sub.type == "const":
            for _, lo in elements(sub):
                w.line(f"\tif (({unpack_raw(lo, sub.width)}) != {lit(sub.value, sub.width)})\n"
                       "\t\treturn PUMICE_UNPACK_CONST;")
    for text in enum_tests(item.fields):
        w.line(f"\tif ({text})\n\t\treturn PUMICE_UNPACK_ENUM;")
    w.line("\treturn PUMICE_UNPACK_OK;\n}\n")


def emit_defaults(w, item):
    """Write pumice_<name>_defaults(). Floats exist in user space and the device only."""
    fields = [f for f in item.fields if f.type != "const"]
    if not fields:
        return
    floats = any(f.type in ("float", "number") for f in fields)
    if floats:
        w.line("#ifndef PUMICE_NO_FLOAT")
    w.doc(f"Fill @v with the defaults of {item.name}: 0 where formats.xml gives none.")
    w.line(f"static inline void\npumice_{item.name}_defaults(struct pumice_{item.name} *v)\n{{")
    if any(f.count > 1 for f in fields):
        w.line("\tu32 i;\n")
    for field in fields:
        element, indent, value = "", "\t", field.default
        if field.count > 1:
            w.line(f"\tfor (i = 0; i < {field.count}; i++)")
            element, indent = "[i]", "\t\t"
        if field.type == "number":
            element += ".u"
        elif field.type == "bool" and value == "0":
            value = "false"
        w.line(f"{indent}v->{field.name}{element} = {value};")
    w.line("}")
    w.line("#endif\n" if floats else "")


def enum_tests(fields, var="v"):
    """Return the C conditions that are true when an enumerated member has no known value."""
    out = []
    for item in fields:
        if item.type != "enum" or covers(item):
            continue
        out += [f"!pumice_{item.enum.name}_valid({var}->{item.name}{suffix})"
                for suffix, _ in elements(item)]
    return out


def covers(item):
    """Return whether every pattern of the field's bits is a value of its enumeration."""
    return item.width < 31 and len(item.enum.values) == mask(item.width) + 1


def emit_pack64(w, item):
    """Write the 64-bit forms of a two-word structure."""
    name = item.name
    w.doc(f"Return @v as one 64-bit value in the memory layout of {name}.")
    w.line(f"static inline u64 pumice_{name}_pack64(const struct pumice_{name} *v)\n{{\n"
           f"\tu32 dw[2];\n\n\tpumice_{name}_pack(dw, v);\n"
           "\treturn (u64)dw[1] << 32 | dw[0];\n}\n")
    w.doc(f"Unpack {name} from its 64-bit value; see pumice_{name}_unpack().")
    w.line(f"static inline enum pumice_unpack\npumice_{name}_unpack64(u64 raw, "
           f"struct pumice_{name} *v)\n{{\n"
           "\tconst u32 dw[2] = { (u32)raw, (u32)(raw >> 32) };\n\n"
           f"\treturn pumice_{name}_unpack(dw, v);\n}}\n")


def cmd_name(stream, struct):
    """Name of a command within its stream: the structure's, without the stream's prefix."""
    prefix = stream.name + "_"
    name = struct.name[len(prefix):] if struct.name.startswith(prefix) else struct.name
    return name.upper()


def emit_stream(w, stream):
    """Write the command types of a stream and the length of a command from its first word."""
    upper = stream.name.upper()
    w.doc(stream.doc)
    w.line(f"enum pumice_{stream.name}_cmd {{")
    for struct in stream.cmds:
        w.line(f"\tPUMICE_{upper}_CMD_{cmd_name(stream, struct)} = "
               f"0x{struct.field(stream.type_field).value:x},")
    w.line("};\n")
    raw = unpack_raw(stream.type_lo, stream.type_width, "dw")
    w.doc(f"Return the type of the {stream.name} command that begins with @word0; it may be unknown.")
    w.line(f"static inline u32 pumice_{stream.name}_cmd_type(u32 word0)\n{{\n"
           f"\tconst u32 dw[1] = {{ word0 }};\n\n\treturn {raw};\n}}\n")
    w.doc(f"Return the words of the {stream.name} command that begins with @word0; 0 if unknown.")
    w.line(f"static inline int pumice_{stream.name}_cmd_words(u32 word0)\n{{\n"
           f"\tswitch (pumice_{stream.name}_cmd_type(word0)) {{")
    for struct in stream.cmds:
        w.line(f"\tcase PUMICE_{upper}_CMD_{cmd_name(stream, struct)}:\n"
               f"\t\treturn PUMICE_{struct.name.upper()}_WORDS;")
    w.line("\tdefault:\n\t\treturn 0;\n\t}\n}\n")
