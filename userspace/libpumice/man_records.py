# SPDX-License-Identifier: MIT
"""Manual pages of the inline functions of generated headers: records of memory and of streams.

A page of section 3 for each record, with its structure and its functions (_pack, _unpack,
_defaults …), and for each other function. Each function of a record refers to the record's page. A
function without a comment is an error.
"""
import re

from man_text import bold_refs, clean, escape

FUNCTION = re.compile(r"^/\*(?P<comment>(?:(?!\*/).)*)\*/\n(?P<code>static inline [^{;]*?"
                      r"\b(?P<name>pumice_\w+)\([^{;]*\))\n\{", re.M | re.S)
STRUCT = re.compile(r"^(?:/\*(?P<comment>(?:(?!\*/).)*)\*/\n)?(?P<code>(?:struct|union) (?P<name>pumice_\w+) "
                    r"\{\n.*?^\};)", re.M | re.S)
OF_RECORD = re.compile(r"(pumice_\w+?)_(?:pack|unpack|defaults)(?:64)?$")


def record_of(name, structs):
    """Return the record that a function packs, unpacks or initialises, or None."""
    match = OF_RECORD.match(name)
    return match[1] if match and match[1] in structs else None


def text_of(comment):
    """Return a comment as one paragraph."""
    return bold_refs(" ".join(clean(comment or "").split()))


def declaration(code):
    """Return a function's declaration, on one line."""
    return " ".join(code.removeprefix("static inline").split()) + ";"


def page(name, header, purpose, struct, functions):
    """Return a page. @functions: matches of FUNCTION"""
    names = ", ".join([name] if not struct else [f["name"] for f in functions])
    out = ['.\\" SPDX-License-Identifier: MIT', f'.TH {name} 3 "" "libpumice" "Pumice"', ".SH NAME",
           f"{names} \\- {escape(purpose)}", ".SH SYNOPSIS", ".nf",
           f".B #include <pumice/{header}>", ".PP"]
    out += [f"\\fB{escape(declaration(f['code']))}\\fR" for f in functions] + [".fi",
                                                                              ".SH DESCRIPTION"]
    if struct:
        out += [".nf"] + [escape(line) for line in struct["code"].split("\n")] + [".fi"]
    for function in functions:
        out += [".TP", f".BR {function['name']} ()", text_of(function["comment"])]
    return "\n".join(out + [".SH SEE ALSO", ".BR libpumice (7)", ""])


def pages_of(header, text):
    """Return {file: content} of a header."""
    structs = {match["name"]: match for match in STRUCT.finditer(text)}
    functions = list(FUNCTION.finditer(text))
    declared = set(re.findall(r"^(?:static inline [^;{]*?\b)?(pumice_\w+)\([^;{]*\)\n\{", text, re.M))
    missing = declared - {match["name"] for match in functions}
    if missing:
        raise ValueError("no comment: " + ", ".join(sorted(missing)))
    records, pages = {}, {}
    for function in functions:
        record = record_of(function["name"], structs)
        if record:
            records.setdefault(record, []).append(function)
        else:
            pages[function["name"]] = page(function["name"], header, "inline function of a format",
                                           None, [function])
    for record, of_record in records.items():
        struct = structs[record]
        pages[record] = page(record, header, "a record in GPU memory", struct, of_record)
        for function in of_record:
            pages[function["name"]] = f".so man3/{record}.3\n"
    return {f"man3/{name}.3": content for name, content in pages.items()}
