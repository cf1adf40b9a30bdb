# SPDX-License-Identifier: MIT
"""
Reads the tables of counters in hw/perf.h and hw/hier.h: lists of macro calls.

A table is expanded as the C preprocessor does, as far as these files need it: macros with
arguments, "#", "##" and adjacent strings. Limits: no comments in a table, no parentheses and no
commas in an argument but in its strings.
"""
import re

STRING = r'"[^"]*"'
CALL = re.compile(rf"\b(\w+)\(((?:{STRING}|[^()\"])*)\)")


def macros(text):
    """Return the macros with arguments that a header defines: name to (parameters, body)."""
    text = text.replace("\\\n", " ")
    return {name: (re.findall(r"\w+", parameters), body.strip()) for name, parameters, body in
            re.findall(r"^#define (\w+)\(([^)]*)\)[ \t]+(.*)$", text, re.MULTILINE)}


def arguments(text):
    """Return the arguments of a call."""
    return [part.strip() for part in re.findall(rf"(?:{STRING}|[^,\"])+", text)]


def substitute(macro, values):
    """Return the body of a macro with its parameters replaced."""
    parameters, body = macro
    value = dict(zip(parameters, values))
    out = []
    for part in re.split(rf"({STRING}|\s*##\s*|#\w+|\w+)", body):
        if part.strip() == "##":
            continue
        out.append(f'"{value[part[1:]]}"' if part.startswith("#") else value.get(part, part))
    return "".join(out)


def expand(defined, text):
    """Return the calls that remain when all macros of `defined` are expanded, with arguments."""
    rows = []
    for name, inner in CALL.findall(text):
        if name in defined:
            rows += expand(defined, substitute(defined[name], arguments(inner)))
        else:
            rows.append([unquoted(value) for value in arguments(inner)])
    return rows


def unquoted(value):
    """Return the text of an argument; adjacent strings are one."""
    return "".join(re.findall(r'"([^"]*)"', value)) if '"' in value else value


def table(path, name):
    """Return the rows of a table of a header: the arguments of each call of its argument X."""
    defined = macros(path.read_text(encoding="utf-8"))
    rows = expand(defined, f"{name}(ROW)")
    assert rows, f"{path.name} has no rows of {name}"
    return rows
