# SPDX-License-Identifier: MIT
"""
<clients> of formats.xml: who makes requests to memory, and the policy for each.

A request names the unit, the access and, where a unit reads or writes two kinds of data, the kind.
Every row has one of these keys, a row without a kind both of its access; no two rows share one. The
words of the policy are values of the enumerations mem_path and mem_slc.
"""

from dataclasses import dataclass, field as dc_field

from .model import Enum, EnumValue
from .source import Unique, check_shape, doc_of, read_int, read_name

NAME = "mem_client"
KINDS = 2


@dataclass
class Client:
    """One row; unit is None for requests that no unit makes, kind for both kinds."""
    name: str
    unit: object
    access: object
    kind: object
    path: object
    slc: object
    doc: str

    @property
    def kinds(self):
        """The kinds whose requests are this client's."""
        return range(KINDS) if self.kind is None else (self.kind,)


@dataclass
class Clients:
    """All rows, in the order of their numbers, with the enumerations that they use."""
    rows: list = dc_field(default_factory=list)
    units: object = None
    accesses: object = None
    enum: object = None


def load_clients(ctx, nodes):
    """Read the <clients> element, of which there is at most one; None without it."""
    if not nodes:
        return None
    for node in nodes[1:]:
        ctx.diag.error(node, "<clients> is already defined at "
                             f"{nodes[0].file}:{nodes[0].line}")
    node = nodes[0]
    check_shape(ctx.diag, node, (), ("doc",), ("client",))
    clients = Clients(units=ctx.enums.get("unit"), accesses=ctx.enums.get("access"))
    names, keys = Unique(ctx.diag, "client"), Unique(ctx.diag, "client of")
    for child in node.all("client"):
        row = load_client(ctx, child)
        if row and names.add(row.name, child) and add_keys(keys, row, child):
            clients.rows.append(row)
    check_units(ctx.diag, node, clients)
    add_enum(ctx, node, clients)
    return clients


def load_client(ctx, node):
    """Read one <client>; None if it is incomplete."""
    diag = ctx.diag
    if not check_shape(diag, node, ("name", "access", "path", "slc", "doc"), ("unit", "kind")):
        return None
    words = {attr: read_word(ctx, node, attr, enum) for attr, enum in (
        ("access", "access"), ("path", "mem_path"), ("slc", "mem_slc"))}
    unit = read_word(ctx, node, "unit", "unit") if node.get("unit") is not None else None
    kind = None
    if node.get("kind") is not None:
        kind = read_int(diag, node, "kind", high=KINDS - 1)
    if None in words.values() or (unit is None and node.get("unit") is not None):
        return None
    return Client(read_name(diag, node).upper(), unit, words["access"], kind, words["path"],
                  words["slc"], doc_of(node))


def read_word(ctx, node, attr, name):
    """Return the value of an enumeration that an attribute names; None after an error."""
    enum = ctx.enums.get(name)
    if enum is None:
        ctx.diag.error(node, f"{attr}: there is no enum {name}")
        return None
    text = node.get(attr)
    value = next((v for v in enum.values if v.name == text.upper()), None)
    if value is None:
        ctx.diag.error(node, f"{attr}=\"{text}\" is not a value of enum {name}")
    return value


def add_keys(keys, row, node):
    """Record the keys of a row; False if another row has one of them."""
    if row.unit is None:
        return True
    return all([keys.add((row.unit.name, row.access.name, kind), node,
                         f"unit {row.unit.name}, access {row.access.name}, kind {kind}")
                for kind in row.kinds])


def check_units(diag, node, clients):
    """Report every unit but NONE that has no client: a new unit needs a policy."""
    known = {row.unit.name for row in clients.rows if row.unit}
    for unit in clients.units.values if clients.units else []:
        if unit.name not in known and unit.name != "NONE":
            diag.error(node, f"unit {unit.name} has no client")


def add_enum(ctx, node, clients):
    """Add the enumeration of the rows, for its texts."""
    enum = Enum(NAME, doc_of(node), "formats")
    for number, row in enumerate(clients.rows):
        ctx.macro_names.add(f"PUMICE_{NAME.upper()}_{row.name}", node)
        enum.values.append(EnumValue(row.name, number, row.doc,
                                     row.name.lower().replace("_", "-")))
    if ctx.enum_names.add(NAME, node):
        ctx.enums[NAME] = enum
    clients.enum = enum
