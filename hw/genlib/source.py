# SPDX-License-Identifier: MIT
"""
Reading the contract files: XML elements with their line numbers, and errors that report them.

The loaders describe each element they accept (attributes, children); an undescribed element
or attribute is an error, so that a misspelt attribute is always detected.

Limits: attributes and elements only; text between elements is ignored.
"""

import os
import re
from xml.parsers import expat

NAME = re.compile(r"^[A-Za-z][A-Za-z0-9_]*$")


class ContractError(Exception):
    """The contract cannot be read at all (missing file, not XML)."""


class Diag:
    """Collects all errors of a run."""

    def __init__(self):
        self.errors = []

    def error(self, node, message):
        """Record `message` at the place of `node`."""
        text = f"{node.file}:{node.line}: error: {message}"
        if text not in self.errors:
            self.errors.append(text)


class Node:
    """One XML element with its place in the file."""

    def __init__(self, tag, attrs, file, line):
        self.tag = tag
        self.attrs = attrs
        self.file = file
        self.line = line
        self.children = []
        self.includes = []  # roots of the files whose elements are among the children

    def all(self, *tags):
        """Return the children with one of the given tags, in file order."""
        return [c for c in self.children if c.tag in tags]

    def get(self, name, default=None):
        """Return the attribute's text, or `default`."""
        return self.attrs.get(name, default)


def read_xml(path):
    """
    Parse the file at `path` into a tree of nodes, with the elements of the files that it includes;
    raises ContractError.
    """
    root = parse(path)
    children = []
    for node in root.children:
        children += included(root, node) if node.tag == "include" else [node]
    root.children = children
    return root


def included(root, node):
    """Return the elements of the file that an <include> names; its root is the same."""
    place = f"{node.file}:{node.line}: error: "
    if list(node.attrs) != ["file"]:
        raise ContractError(f"{place}<include> has one attribute, 'file'")
    inner = parse(os.path.join(os.path.dirname(node.file), node.get("file")))
    if inner.tag != root.tag:
        raise ContractError(f"{place}the root of {node.get('file')} must be <{root.tag}>, "
                            f"not <{inner.tag}>")
    root.includes.append(inner)
    return inner.children


def parse(path):
    """Parse one file."""
    try:
        with open(path, "rb") as stream:
            data = stream.read()
    except OSError as err:
        raise ContractError(f"{path}:1: error: cannot read: {err.strerror}") from err
    parser = expat.ParserCreate()
    stack, roots = [], []

    def start(tag, attrs):
        node = Node(tag, attrs, path, parser.CurrentLineNumber)
        (stack[-1].children if stack else roots).append(node)
        stack.append(node)

    def end(_tag):
        stack.pop()

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    try:
        parser.Parse(data, True)
    except expat.ExpatError as err:
        reason = expat.errors.messages[err.code]
        raise ContractError(f"{path}:{err.lineno}: error: not well-formed XML: {reason}") from err
    return roots[0]


def check_shape(diag, node, required=(), optional=(), children=()):
    """
    Report missing and unknown attributes and children; True if the required ones are present. The
    roots of included files have the same attributes, none of them required.
    """
    known = set(required) | set(optional)
    complete = True
    for place in [node, *node.includes]:
        for attr in place.attrs:
            if attr not in known:
                diag.error(place, f"<{node.tag}> has no attribute '{attr}'")
    for attr in required:
        if attr not in node.attrs:
            diag.error(node, f"<{node.tag}> needs the attribute '{attr}'")
            complete = False
    for child in node.children:
        if child.tag not in children:
            diag.error(child, f"<{child.tag}> does not belong in <{node.tag}>")
    return complete


def read_int(diag, node, attr, default=0, low=0, high=(1 << 64) - 1):
    """Return the attribute as an integer (decimal, 0x, 0b); errors yield `default`."""
    text = node.get(attr)
    if text is None:
        return default
    try:
        value = int(text.replace("_", ""), 0)
    except ValueError:
        diag.error(node, f"{attr}=\"{text}\" is not a number")
        return default
    if not low <= value <= high:
        diag.error(node, f"{attr}=\"{text}\" is not in {low:#x}..{high:#x}")
        return default
    return value


def read_name(diag, node, attr="name"):
    """Return the attribute as an identifier; an error yields a usable substitute."""
    text = node.get(attr, "")
    if not NAME.match(text):
        diag.error(node, f"{attr}=\"{text}\" is not an identifier")
        return "invalid"
    return text


def read_choice(diag, node, attr, choices, default):
    """Return the attribute as one of `choices`."""
    text = node.get(attr, default)
    if text not in choices:
        diag.error(node, f"{attr}=\"{text}\" is not one of {', '.join(choices)}")
        return default
    return text


def read_bits(diag, node, limit):
    """Return bits="hi:lo" or "n" as (lo, width) with hi < limit; None after an error."""
    text = node.get("bits", "")
    match = re.match(r"^(\d+)(?::(\d+))?$", text)
    if not match:
        diag.error(node, f"bits=\"{text}\" is neither \"high:low\" nor one bit number")
        return None
    high = int(match.group(1))
    low = int(match.group(2)) if match.group(2) else high
    if low > high:
        diag.error(node, f"bits=\"{text}\" must be written high:low")
        return None
    if high >= limit:
        diag.error(node, f"bits=\"{text}\" reaches outside the {limit} bits")
        return None
    return low, high - low + 1


def doc_of(node, attr="doc"):
    """Return the attribute's text with its white space folded."""
    return " ".join(node.get(attr, "").split())


class Unique:
    """Refuses a second element of the same name within one scope."""

    def __init__(self, diag, what):
        self.diag = diag
        self.what = what
        self.seen = {}

    def add(self, key, node, shown=None):
        """Record `key`; False (and an error naming both places) when it is taken."""
        first = self.seen.setdefault(key, node)
        if first is not node:
            self.diag.error(node, f"{self.what} {shown or key} is already defined "
                                  f"at {first.file}:{first.line}")
            return False
        return True
