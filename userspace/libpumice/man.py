#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Manual pages of libpumice, generated from the comments of its public headers.

    man.py OUT-DIRECTORY HEADER… -- GENERATED-HEADER…

Written to man3/ and man7/ there. One page of section 3 for each function, with
the structures and enumerations that its declaration names, and libpumice.7
from the comment that opens the first header. A function without a comment, a
parameter in a comment that the function does not have, and a result without a
text are errors. Pages of the generated headers: man_records.py.
"""
import os
import re
import sys

import man_records
from man_text import bold_refs, clean, escape, paragraphs

COMMENT = re.compile(r"/\*\*\s(.*?)\*/\n(#define [^\n]*|.*?;)", re.S)
SECTION = re.compile(r"^#define (PUMICE_\w+)[ \t]+(.*)$", re.M)


class Item:
    """A documented function, structure or enumeration."""

    def __init__(self, comment, code):
        text = clean(comment)
        head, _, rest = text.partition("\n")
        match = re.match(r"(?:(struct|enum) )?(\w+) - (.*)", head, re.S)
        if not match:
            raise ValueError(f"comment without 'name - purpose': {head}")
        self.kind, self.name, self.brief = match.group(1) or "function", match[2], match[3]
        # One line may hold it all: purpose, parameters, Return.
        self.brief, *more = re.split(r"(?<=\.) (?=@|Return:|[A-Z])", self.brief, maxsplit=1)
        rest = "\n".join(more + [rest])
        if rest.split("\n\n")[0].strip() and not rest.lstrip().startswith(("@", "Return:")):
            first, _, others = rest.partition("\n\n")
            if not more:
                self.brief += " " + " ".join(first.split("@")[0].split())
                rest = first[len(first.split("@")[0]):] + "\n\n" + others
        self.brief = self.brief.replace("@", "") # a summary has no mark-up
        self.code = code.strip()
        self.params, self.body, self.result = split_parts(rest)
        # "return the size" says it all.
        if not self.result and self.brief.startswith("return "):
            result = self.brief.removeprefix("return ")
            self.result = result[0].upper() + result[1:]

    def check(self):
        for name in self.params:
            if self.kind == "function" and not re.search(rf"\b{name}\b", self.code):
                raise ValueError(f"{self.name}: no parameter '{name}'")
        if self.is_function() and not self.result and not self.code.startswith("void "):
            raise ValueError(f"{self.name}: no Return:, and the summary does not begin with return")

    def is_function(self):
        return self.kind == "function" and not self.code.startswith("#define")


def split_parts(text):
    """Return ({parameter: text}, [paragraph], text of Return:)."""
    params, body, result = {}, [], ""
    text, _, result = text.partition("Return:")
    for part in paragraphs(text):
        names = re.findall(r"@(\w+):((?:(?!@\w+:).)*)", part, re.S)
        if part.lstrip().startswith("@") and names:
            params.update((name, " ".join(value.split())) for name, value in names)
        else:
            body.append(part)
    return params, body, " ".join(result.split())


def members(item):
    """Return [(member, text)] of a structure or enumeration."""
    found = re.findall(r"/\*\* @(\w+): (.*?)\*/\s*(.*?)[;=]", item.code, re.S)
    return [(f"{decl.strip()}" if item.kind == "struct" else name, " ".join(clean(text).split()))
            for name, text, decl in found]


def parse(text, header):
    """Find all documented items; a structure's code ends at its closing brace."""
    items = []
    for match in COMMENT.finditer(text):
        if match.group(1).lstrip().startswith("@"):
            continue
        start, end = match.start(2), match.end(2)
        if re.match(r"(struct|enum) \w+ \{", text[start:]):
            end = text.index("\n};", start) + 3
        items.append(Item(match.group(1), text[start:end]))
        items[-1].header = header
    return items


def page(item, types):
    named = [t for t in types if re.search(rf"\b{t.kind} {t.name}\b", item.code)]
    out = ['.\\" SPDX-License-Identifier: MIT',
           f'.TH {item.name} 3 "" "libpumice" "Pumice"',
           ".SH NAME", f"{item.name} \\- {escape(item.brief.rstrip('.'))}",
           ".SH SYNOPSIS", ".nf", f".B #include <pumice/{item.header}>", ".PP"]
    out += [f"\\fB{escape(line)}\\fR" for line in item.code.split("\n")] + [".fi"]
    if item.params or item.body:
        out.append(".SH DESCRIPTION")
    for name, text in item.params.items():
        out += [".TP", f".I {name}", bold_refs(text)]
    for text in item.body:
        out += [".PP", bold_refs(text)]
    for kind in named:
        out += [".SS " + f"{kind.kind} {kind.name}", escape(kind.brief)]
        for name, text in members(kind):
            out += [".TP", f".B {escape(name)}", bold_refs(text)]
    if item.result:
        out += [".SH RETURN VALUE", bold_refs(item.result)]
    return "\n".join(out + [".SH SEE ALSO", ".BR libpumice (7)", ""])


def overview(text, functions, macros):
    opening = clean(re.search(r"/\*\n(.*?)\*/", text, re.S).group(1))
    head, *rest = paragraphs(opening)
    out = ['.\\" SPDX-License-Identifier: MIT', '.TH libpumice 7 "" "libpumice" "Pumice"',
           ".SH NAME", "libpumice \\- " + escape(head.split(": ", 1)[1].rstrip(".")),
           ".SH DESCRIPTION"]
    for part in rest:
        drawing = "─" in part
        out += [".PP"] + ([".nf"] if drawing else []) + [bold_refs(part)]
        out += [".fi"] if drawing else []
    for title, items in (("FUNCTIONS", functions), ("MACROS", macros)):
        out.append(f".SH {title}")
        for item in items:
            out += [".TP", f".BR {item.name} (3)", escape(item.brief)]
    return "\n".join(out + [""])


def main():
    directory, *headers = sys.argv[1:]
    split = headers.index("--")
    headers, generated = headers[:split], headers[split + 1:]
    texts = [open(header, encoding="utf-8").read() for header in headers]
    text = "".join(texts)
    items = []
    for header, part in zip(headers, texts):
        items += parse(part, os.path.basename(header))
    for item in items:
        item.check()
    functions = [i for i in items if i.kind == "function"]
    macros = [i for i in functions if not i.is_function()]
    types = [i for i in items if i.kind != "function"]
    declared = set(re.findall(r"^[a-z][\w\s*]*?\*?(pumice_\w+)\(", text, re.M))
    missing = declared - {i.name for i in functions}
    if missing:
        raise ValueError("no comment: " + ", ".join(sorted(missing)))
    pages = {f"man3/{i.name}.3": page(i, types) for i in functions}
    for header in generated:
        with open(header, encoding="utf-8") as stream:
            pages.update(man_records.pages_of(os.path.basename(header), stream.read()))
    pages["man7/libpumice.7"] = overview(texts[0], [i for i in functions if i.is_function()],
                                         macros)
    for name, content in pages.items():
        os.makedirs(os.path.join(directory, os.path.dirname(name)), exist_ok=True)
        with open(os.path.join(directory, name), "w", encoding="utf-8") as out:
            out.write(content)


if __name__ == "__main__":
    try:
        main()
    except ValueError as err:
        sys.exit(f"man.py: {err}")
