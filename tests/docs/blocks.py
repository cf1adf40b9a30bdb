# SPDX-License-Identifier: MIT
"""The code blocks of a document in Markdown or reStructuredText, and the commands in them."""

import re
from dataclasses import dataclass, field

# Attributes of the commands of a block that its caption gives.
CAPTIONS = {"In the guest": "guest", "This fails": "fails", "In GDB": "gdb"}


@dataclass
class Block:
    """One code block. kind: its language, "" if it has none, or a value of CAPTIONS."""
    kind: str
    lines: list
    line: int           # of the document, from 1
    before: str         # the text between the last block and this one
    commands: list = field(default_factory=list)


def commands(lines):
    """Return the commands of a block of sh: continued lines are joined, comments removed."""
    out, part = [], ""
    for line in lines:
        line = re.sub(r"(^|\s)#( .*)?$", "", line).rstrip()
        if line.endswith("\\"):
            part += (line[:-1].strip() if part else line[:-1].rstrip()) + " "
        elif line or part:
            out.append(part + (line.strip() if part else line))
            part = ""
    return out


def markdown(text):
    """Return the blocks between lines of three backquotes, and indented ones, which have no
    language.
    """
    out, body, kind, start, before = [], None, "", 0, []
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            if body is None:
                words = line.strip("` ").split()
                kind, body, start = words[-1] if words else "", [], number
            else:
                out.append(Block(kind, body, start, "\n".join(before)))
                body, before = None, []
        elif body is not None:
            body.append(line)
        elif line.startswith("    ") and (not before or not before[-1]):
            out.append(Block("", [line.strip()], number, "\n".join(before)))
        else:
            before.append(line)
    return out


def restructured(text):
    """Return code-block directives, and literal blocks after "::", which have no language."""
    out, before, lines, n = [], [], text.splitlines(), 0
    while n < len(lines):
        line = lines[n]
        directive = re.match(r"\s*\.\. code-block:: ?(\w*)$", line)
        literal = line.endswith("::") and not line.startswith("..")
        if not directive and not literal:
            before.append(line)
            n += 1
            continue
        start, n, body = n + 1, n + 1, []
        deeper = " " * (len(line) - len(line.lstrip()) + 1)
        while n < len(lines) and (not lines[n] or lines[n].startswith(deeper)):
            body.append(lines[n])
            n += 1
        kind = directive[1] if directive else ""
        while body and re.match(r"\s+:\w+:", body[0]):
            kind = CAPTIONS.get(body.pop(0).strip().removeprefix(":caption: "), kind)
        indent = min((len(b) - len(b.lstrip()) for b in body if b), default=0)
        out.append(Block(kind, [b[indent:] for b in body], start, "\n".join(before)))
        before = []
    return out


def read(path):
    """Return the blocks of a document."""
    text = path.read_text(encoding="utf-8")
    found = markdown(text) if path.suffix == ".md" else restructured(text)
    for block in found:
        while block.lines and not block.lines[-1]:
            block.lines.pop()
        while block.lines and not block.lines[0]:
            block.lines.pop(0)
        if block.kind in ("sh", *CAPTIONS.values()):
            block.commands = commands(block.lines)
    return found
