# SPDX-License-Identifier: MIT
"""PNG files of 8-bit RGB without interlacing: read, write, reduce.

Only the standard library: the tests of the pictures run with any python3 of the host, which need
not be the one that Debian's Pillow is installed for. Pillow's Image.reduce() also rounds averages
of nine pixels differently (of factor 3, up to one in 12 values).
"""

import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = 3


def read(path):
    """Return (width, height, [bytes of a row])."""
    data = path.read_bytes()
    if not data.startswith(SIGNATURE):
        raise ValueError(f"{path} is not a PNG file")
    at, packed, width, height = len(SIGNATURE), b"", 0, 0
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        chunk = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, *form = struct.unpack(">IIBBBBB", chunk)
            if form != [8, 2, 0, 0, 0]:
                raise ValueError(f"{path} is not 8-bit RGB without interlacing")
        elif kind == b"IDAT":
            packed += chunk
        at += 12 + length
    return width, height, unfilter(zlib.decompress(packed), width * CHANNELS, height)


def unfilter(raw, stride, height):
    """Undo the filters of the rows (PNG specification, section 9)."""
    rows, above = [], bytes(stride)
    for n in range(height):
        kind, line = raw[n * (stride + 1)], bytearray(raw[n * (stride + 1) + 1:][:stride])
        if kind == 2:
            line = bytearray((a + b) & 255 for a, b in zip(line, above))
        elif kind:
            for i in range(stride):
                left = line[i - CHANNELS] if i >= CHANNELS else 0
                corner = above[i - CHANNELS] if i >= CHANNELS else 0
                guess = {1: left, 3: (left + above[i]) // 2}.get(kind)
                line[i] = line[i] + (paeth(left, above[i], corner) if guess is None
                                     else guess) & 255
        above = bytes(line)
        rows.append(above)
    return rows


def paeth(left, up, corner):
    """Return the neighbour that is nearest to left + up - corner."""
    guess = left + up - corner
    near = min((abs(guess - left), 0, left), (abs(guess - up), 1, up),
               (abs(guess - corner), 2, corner))
    return near[2]


def reduce(width, height, rows, factor):
    """Average squares of factor x factor pixels; a remainder at the edge is dropped."""
    area, out = factor * factor, []
    for y in range(height // factor):
        group = rows[y * factor:(y + 1) * factor]
        sums = [sum(column) for column in zip(*group)]
        line = bytearray()
        for x in range(width // factor):
            first = x * factor * CHANNELS
            for c in range(CHANNELS):
                total = sum(sums[first + c:first + factor * CHANNELS:CHANNELS])
                line.append((2 * total + area) // (2 * area))
        out.append(bytes(line))
    return width // factor, height // factor, out


def write(path, width, height, rows):
    """Write a file."""
    def chunk(kind, body):
        return (struct.pack(">I", len(body)) + kind + body +
                struct.pack(">I", zlib.crc32(kind + body)))

    raw = b"".join(b"\x01" + bytes((line[i] - (line[i - CHANNELS] if i >= CHANNELS else 0)) & 255
                                   for i in range(len(line))) for line in rows)
    path.write_bytes(SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
                     + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))
