# SPDX-License-Identifier: MIT
"""
Generates C headers, decoder tables and reference pages from the hardware contract.

    python3 hw/gen.py --out DIR [--only regs,formats,isa,docs] [--hw DIR]

A file is written only if its content changes, so that nothing is rebuilt unnecessarily. Exits 1
with `file:line: error: ...` messages if the contract is inconsistent; then nothing is written.
Requires only the standard library of Python 3.8.
"""

import argparse
import os
import sys

from genlib import outputs
from genlib.source import ContractError


def write_if_changed(path, text):
    """Write `text` to `path` unless the file has this content; True if written."""
    try:
        with open(path, encoding="utf-8") as stream:
            if stream.read() == text:
                return False
    except OSError:
        pass
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "w", encoding="utf-8") as stream:
        stream.write(text)
    os.replace(temporary, path)
    return True


def main(argv):
    """Run the generator; returns the exit status."""
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--out", required=True, help="directory for the generated files")
    parser.add_argument("--only", default=",".join(outputs.KINDS),
                        help="comma-separated list of: " + ", ".join(outputs.KINDS))
    parser.add_argument("--hw", default=here, help="directory of the contract files")
    args = parser.parse_args(argv)
    kinds = [k for k in args.only.split(",") if k]
    for kind in kinds:
        if kind not in outputs.KINDS:
            parser.error(f"--only: unknown output '{kind}'")
    try:
        contract, errors = outputs.load(args.hw)
    except ContractError as err:
        errors = [str(err)]
    if errors:
        print("\n".join(errors), file=sys.stderr)
        return 1
    for name, text in sorted(outputs.generate(contract, kinds).items()):
        write_if_changed(os.path.join(args.out, name), text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
