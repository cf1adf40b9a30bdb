# SPDX-License-Identifier: MIT
"""
Loading and checking hw/formats.xml: structures in memory and the streams made of them.

A structure is an array of little-endian 32-bit words. A stream is a sequence of structures that
are distinguished by a const field (`type`, or type_field) at the same bits of word 0. The clients
of memory are in clients.py.
"""

from dataclasses import dataclass, field as dc_field

from .clients import load_clients
from .model import check_cover, load_enum, load_fields
from .source import Unique, check_shape, doc_of, read_int, read_name

MAX_WORDS = 1024


@dataclass
class Struct:
    """One structure in memory."""
    name: str
    words: int
    doc: str
    node: object
    fields: list = dc_field(default_factory=list)
    reserved: list = dc_field(default_factory=list)

    def field(self, name):
        """Return the field called `name`, or None."""
        return next((f for f in self.fields if f.name == name), None)


@dataclass
class Stream:
    """A command stream; `type_lo` and `type_width` place the type within word 0."""
    name: str
    doc: str
    cmds: list
    type_field: str = "type"
    type_lo: int = 0
    type_width: int = 0


@dataclass
class Formats:
    """All of formats.xml."""
    enums: list
    structs: list
    streams: list
    clients: object = None


def load_formats(ctx, root):
    """Read the <formats> tree; errors go to ctx.diag."""
    diag = ctx.diag
    if root.tag != "formats":
        diag.error(root, f"the root must be <formats>, not <{root.tag}>")
        return Formats([], [], [])
    check_shape(diag, root, (), ("doc",), ("enum", "struct", "stream", "clients"))
    enums = [e for e in (load_enum(ctx, n, "formats") for n in root.all("enum")) if e]
    names = Unique(diag, "struct")
    structs = {}
    for node in root.all("struct"):
        item = load_struct(ctx, node)
        if item and names.add(item.name, node):
            ctx.macro_names.add(f"PUMICE_{item.name.upper()}_WORDS", node)
            structs[item.name] = item
    stream_names = Unique(diag, "stream")
    streams = []
    for node in root.all("stream"):
        item = load_stream(ctx, node, structs)
        if item and stream_names.add(item.name, node):
            streams.append(item)
    clients = load_clients(ctx, root.all("clients"))
    return Formats(enums, list(structs.values()), streams, clients)


def load_struct(ctx, node):
    """Load one <struct> with its fields."""
    diag = ctx.diag
    if not check_shape(diag, node, ("name", "words"), ("doc",), ("field", "reserved")):
        return None
    item = Struct(read_name(diag, node).lower(),
                  read_int(diag, node, "words", 1, low=1, high=MAX_WORDS), doc_of(node), node)
    total = item.words * 32
    item.fields, item.reserved = load_fields(ctx, node, total, word_bits=32, extra=("default",))
    for sub in item.fields:
        sub.name = sub.name.lower()
    check_cover(diag, node, item.fields, item.reserved, total, f"struct {item.name}")
    return item


def load_stream(ctx, node, structs):
    """Load one <stream>; every command's type field must be const and in the same place."""
    diag = ctx.diag
    if not check_shape(diag, node, ("name",), ("doc", "type_field"), ("cmd",)):
        return None
    type_field = node.get("type_field", "type").lower()
    stream = Stream(read_name(diag, node).lower(), doc_of(node), [], type_field)
    types = Unique(diag, f"type in stream {stream.name}:")
    for child in node.all("cmd"):
        if not check_shape(diag, child, ("struct",), ("doc",)):
            continue
        struct = structs.get(child.get("struct").lower())
        if struct is None:
            diag.error(child, f"stream {stream.name}: unknown struct {child.get('struct')}")
            continue
        kind = struct.field(type_field)
        if kind is None or kind.type != "const" or kind.end > 32:
            diag.error(child, f"stream {stream.name}: struct {struct.name} has no const field "
                              f"'{type_field}' in word 0")
            continue
        if not stream.cmds:
            stream.type_lo, stream.type_width = kind.lo, kind.width
        elif (kind.lo, kind.width) != (stream.type_lo, stream.type_width):
            diag.error(child, f"stream {stream.name}: struct {struct.name} has its type at bits "
                              f"{kind.end - 1}:{kind.lo}, the first command at bits "
                              f"{stream.type_lo + stream.type_width - 1}:{stream.type_lo}")
        if types.add(kind.value, child, f"{kind.value:#x}"):
            stream.cmds.append(struct)
    if not stream.cmds:
        diag.error(node, f"stream {stream.name} has no commands")
        return None
    return stream
