# SPDX-License-Identifier: MIT
"""
Diagrams of the reference pages, as SVG: bit fields, register maps, the page-table walk.

draw() lays out boxes in rows of `per_row` cells, the highest cell of a row on the left or, for
maps of bytes, on the right. Rows that one box covers completely, as those above and below do,
are drawn as one row of dots. A rectangle of the class "box" carries its name in data-name, and
a row its first cell in data-row, so that a test can compare the drawing with the contract.
"""

from dataclasses import dataclass

from .cwriter import bits_text

WIDTH = 768             # of a row, in pixels
LEFT = 86               # for the name of a row
LETTER = 6.3            # width of a character of the font
LOWEST, DOTS = 28, 18   # heights of rows
COLOURS = {"field": "#e8f0fa", "const": "#fbefd5", "reserved": "#eeeeee", "gap": "#ffffff"}
STYLE = ("text{font:11px 'DejaVu Sans Mono',Menlo,monospace;fill:#112}"
         ".n{font-size:9px;fill:#667}.box{stroke:#556}")


@dataclass
class Box:
    """Cells lo to end - 1, with a name; kind is a key of COLOURS."""
    lo: int
    end: int
    name: str
    kind: str = "field"


def markup(text):
    """Escape a text for XML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def svg(width, height, parts):
    """Return a complete file."""
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
            f'width="{width:g}" height="{height:g}">\n<!-- SPDX-License-Identifier: MIT -->\n'
            f'<style>{STYLE}</style>\n<rect width="100%" height="100%" fill="#fff"/>\n'
            + "\n".join(parts) + "\n</svg>\n")


def fill_gaps(boxes, total):
    """Return the boxes in order, with one of kind "gap" for each range that none covers."""
    out, at = [], 0
    for box in sorted(boxes, key=lambda b: b.lo):
        if box.lo > at:
            out.append(Box(at, box.lo, "", "gap"))
        out.append(box)
        at = box.end
    if at < total:
        out.append(Box(at, total, "", "gap"))
    return out


def rows_of(boxes, total, per_row):
    """Return [(first cell, boxes in the row, whether it is a row of dots)]; runs of dots are
    joined.
    """
    rows = []
    for start in range(0, total, per_row):
        inside = [b for b in boxes if b.lo < start + per_row and b.end > start]
        whole = (len(inside) == 1 and inside[0].lo <= start - per_row and
                 inside[0].end >= start + 2 * per_row)
        if whole and rows and rows[-1][2] and rows[-1][1] == inside:
            continue
        rows.append((start, inside, whole))
    return rows


def draw(boxes, total, per_row, row_name, numbers=True, upwards=False):
    """
    Return the SVG of boxes in `total` cells.

    row_name: function of the first cell of a row. numbers: print the first and last cell of a
    box above it. upwards: cell 0 of a row is on the left.
    """
    cell = WIDTH / per_row
    parts, y = [], 4.0
    for start, inside, dots in rows_of(fill_gaps(boxes, total), total, per_row):
        if dots:
            parts.append(f'<text x="{LEFT + WIDTH / 2:g}" y="{y + 13:g}">⋮</text>')
            y += DOTS
            continue
        height = row_height(inside, start, per_row, cell)
        y += 12 if numbers else 2
        end = min(start + per_row, total)
        parts += [f'<g data-row="{start}">',
                  f'<text x="4" y="{y + height / 2 + 4:g}">{markup(row_name(start))}</text>']
        for box in inside:
            lo, hi = max(box.lo, start) - start, min(box.end, end) - start
            x = LEFT + (lo if upwards else per_row - hi) * cell
            parts += box_parts(box, x, y, (hi - lo) * cell, height)
            if numbers:
                parts += number_parts(lo, hi, x, y, cell)
        parts.append("</g>")
        y += height
    return svg(LEFT + WIDTH + 4, y + 4, parts)


def row_height(inside, start, per_row, cell):
    """Return a height at which the names that are written upright fit."""
    longest = 0
    for box in inside:
        width = (min(box.end, start + per_row) - max(box.lo, start)) * cell
        if len(box.name) * LETTER > width - 4:
            longest = max(longest, len(box.name))
    return max(LOWEST, longest * LETTER + 10)


def box_parts(box, x, y, width, height):
    """Return one rectangle with its name."""
    parts = [f'<rect class="box" data-name="{markup(box.name)}" data-kind="{box.kind}" x="{x:g}" '
             f'y="{y:g}" width="{width:g}" height="{height:g}" fill="{COLOURS[box.kind]}"/>']
    middle, line = x + width / 2, y + height / 2 + 4
    if box.name and len(box.name) * LETTER <= width - 4:
        parts.append(f'<text x="{middle:g}" y="{line:g}" text-anchor="middle">'
                     f'{markup(box.name)}</text>')
    elif box.name:
        parts.append(f'<text transform="translate({middle + 4:g} {y + height / 2:g}) rotate(-90)" '
                     f'text-anchor="middle">{markup(box.name)}</text>')
    return parts


def number_parts(lo, hi, x, y, cell):
    """Return the first and the last bit, above the ends of a box."""
    if hi - lo == 1:
        return [f'<text class="n" x="{x + cell / 2:g}" y="{y - 2:g}" text-anchor="middle">{lo}'
                '</text>']
    return [f'<text class="n" x="{x + 2:g}" y="{y - 2:g}">{hi - 1}</text>',
            f'<text class="n" x="{x + (hi - lo) * cell - 2:g}" y="{y - 2:g}" text-anchor="end">{lo}'
            '</text>']


def field_boxes(fields, reserved):
    """Return the boxes of a bit structure."""
    boxes = []
    for item in fields:
        name = item.name.lower()
        if item.count > 1:
            name += f"[{item.count}]"
        if item.type == "const":
            boxes.append(Box(item.lo, item.end, f"{name} = {item.value:#x}", "const"))
        else:
            boxes.append(Box(item.lo, item.end, name))
    return boxes + [Box(item.lo, item.end, "", "reserved") for item in reserved]


def struct_diagram(item):
    """Draw the words of a structure in memory."""
    return draw(field_boxes(item.fields, item.reserved), item.words * 32, 32,
                lambda bit: f"word {bit // 32}")


def register_diagram(reg):
    """Draw the bits of a register."""
    return draw(field_boxes(reg.fields, reg.reserved), reg.size, 32,
                lambda bit: f"{bit + 31}:{bit}")


def layout_diagram(layout, bits):
    """Draw the fields of an instruction layout."""
    return draw(field_boxes(layout.fields, layout.reserved), bits, 32,
                lambda bit: f"{bit + 31}:{bit}")


def encoding_diagram(op, bits, used):
    """Draw the bits of one instruction; `used` names the fields that it does not leave zero."""
    boxes = []
    for item in op.layout.fields:
        if item.name == "opcode":
            boxes.append(Box(item.lo, item.end, f"opcode = {op.opcode:#04x}", "const"))
        elif item.name in used:
            boxes.append(Box(item.lo, item.end, item.name))
        else:
            boxes.append(Box(item.lo, item.end, "0", "reserved"))
    boxes += [Box(item.lo, item.end, "0", "reserved") for item in op.layout.reserved]
    return draw(boxes, bits, 32, lambda bit: f"{bit + 31}:{bit}")


def unit_diagram(unit):
    """Draw the registers of a unit by offset, 16 bytes a row, up to the last one."""
    boxes = []
    for reg in unit.regs:
        size = reg.size // 8
        if reg.array and reg.stride == size:
            boxes.append(Box(reg.offset, reg.offset + size * reg.count, f"{reg.name}[{reg.count}]"))
            continue
        for n in range(reg.count):
            at = reg.offset + n * reg.stride
            boxes.append(Box(at, at + size, f"{reg.name}[{n}]" if reg.array else reg.name))
    shift = boxes[0].lo // 16 * 16
    for box in boxes:
        box.lo, box.end = box.lo - shift, box.end - shift
    total = (max(box.end for box in boxes) + 15) // 16 * 16
    return draw(boxes, total, 16, lambda byte: f"{byte + shift:#06x}", numbers=False, upwards=True)


def map_diagram(units, page):
    """Draw the units in a page of BAR0, 16 KiB a row."""
    boxes = [Box(unit.base, unit.base + unit.size, unit.name,
                 "field" if unit.scope == "os" else "const") for unit in units]
    return draw(boxes, page, 0x4000, lambda byte: f"{byte:#06x}", numbers=False, upwards=True)


def walk_diagram(address_bits, entries, smallest, largest):
    """
    Return the walk from a GPU virtual address to a page.

    entries: the structures of catalogue, directory and table; smallest, largest: address bits of
    pages. A page table translates as much as the largest page; a directory is as large as the
    smallest page, and the catalogue has an entry for the rest of the address.
    """
    per_directory = smallest - (entries[1].words * 4).bit_length() + 1
    bounds = [address_bits, largest + per_directory, largest, smallest, 0]
    tables = ["page catalogue", "page directory", "page table", "page"]
    parts, step, width, x0 = [], 190, 168, 12
    parts.append(f'<text x="{x0}" y="16">GPU virtual address</text>')
    for n, table in enumerate(tables):
        hi, lo, x = bounds[n], bounds[n + 1], x0 + n * step
        parts += [f'<rect class="box" data-name="{table}" data-lo="{lo}" data-end="{hi}" x="{x}" '
                  f'y="26" width="{step}" height="30" fill="{COLOURS["const"]}"/>',
                  f'<text x="{x + 6}" y="45">{bits_text(lo, hi)}</text>',
                  f'<path d="M{x + width / 2} 56V92" stroke="#445" marker-end="url(#a)"/>',
                  f'<rect class="box" x="{x}" y="94" width="{width}" height="84" '
                  f'fill="{COLOURS["field"]}"/>',
                  f'<text x="{x + 8}" y="112">{table}</text>']
        if n < len(entries):
            size = entries[n].words * 4
            wording = "at most " if n == 2 else ""
            lines = [f"{wording}{1 << (hi - lo)} × {size} B", entries[n].name,
                     f"each {amount(1 << lo)}" if n < 2 else f"each {amount(1 << lo)} or more"]
            parts.append(f'<path d="M{x + width} 140H{x + step - 2}" stroke="#445" '
                         'marker-end="url(#a)"/>')
        else:
            lines = [f"{amount(1 << hi)} to {amount(1 << bounds[2])}", "of memory"]
        parts += [f'<text class="n" x="{x + 8}" y="{130 + 16 * i}">{line}</text>'
                  for i, line in enumerate(lines)]
    marker = ('<defs><marker id="a" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
              'markerHeight="7" orient="auto"><path d="M0 0L10 5L0 10z" fill="#445"/></marker></defs>')
    return svg(x0 + 4 * step, 192, [marker] + parts)


def amount(size):
    """Return a number of bytes in the largest unit that divides it."""
    for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >> shift:
            return f"{size >> shift} {unit}"
    return f"{size} B"


def image(path, text):
    """Return the directive that shows a diagram; text describes it to readers without the picture.
    """
    return f".. image:: {path}\n   :alt: {text}\n"
