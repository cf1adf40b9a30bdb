# SPDX-License-Identifier: MIT
"""text_header.py OUT FILE…: C source of the texts of files, as arrays named after them."""

import pathlib
import sys


def main():
    """Write OUT."""
    lines = []
    for name in sys.argv[2:]:
        path = pathlib.Path(name)
        lines.append(f"static const char {path.stem}_text[] = {{")
        data = path.read_bytes() + b"\0"
        lines += ["\t" + " ".join(f"{byte}," for byte in data[i:i + 16])
                  for i in range(0, len(data), 16)]
        lines.append("};")
    pathlib.Path(sys.argv[1]).write_text("\n".join(lines) + "\n", encoding="utf-8")


main()
