#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Build id and image file of the firmware.

    pack_image.py id --fwif FWIF FILE...            print the build id: interface version and a hash of the files
    pack_image.py pack --fwif FWIF --id ID --entry N BIN OUT
                                        put struct fwif_image_header (hw/fwif.h) before BIN

The same sources give the same id and, with the same compiler, the same image.
"""
import argparse
import hashlib
import os
import re
import struct
import sys
import zlib

MAGIC = 0x57465550
HEADER = struct.Struct("<6I2I32s")
ID_BYTES = 32
RAM_BYTES = 0x100000


def fwif_version(path):
    """Return FWIF_VERSION as defined in hw/fwif.h."""
    text = open(path, encoding="utf-8").read()
    part = {name: int(value) for name, value in
            re.findall(r"#define FWIF_VERSION_(MAJOR|MINOR)\s+(\d+)u", text)}
    return part["MAJOR"], part["MINOR"]


def build_id(fwif, files):
    digest = hashlib.sha256()
    for path in sorted(files, key=os.path.basename):
        digest.update(os.path.basename(path).encode() + b"\0")
        digest.update(open(path, "rb").read())
    return "fw-%d.%d-%s" % (*fwif_version(fwif), digest.hexdigest()[:16])


def pack(payload, ident, entry, version):
    payload += b"\0" * (-len(payload) % 4)
    ident = ident.encode()
    if len(ident) >= ID_BYTES:
        raise ValueError(f"build id longer than {ID_BYTES - 1} bytes")
    if not 0 < len(payload) <= RAM_BYTES:
        raise ValueError(f"image of {len(payload)} bytes does not fit private memory")
    if entry % 2 or entry >= len(payload):
        raise ValueError(f"entry {entry:#x} outside of the image")
    return HEADER.pack(MAGIC, version, HEADER.size + len(payload), len(payload), entry,
                       zlib.crc32(payload), 0, 0, ident) + payload


def main():
    parser = argparse.ArgumentParser(description="Build id and image file of the firmware.")
    sub = parser.add_subparsers(dest="what", required=True)
    p = sub.add_parser("id")
    p.add_argument("--fwif", required=True)
    p.add_argument("files", nargs="+")
    p = sub.add_parser("pack")
    p.add_argument("--fwif", required=True)
    p.add_argument("--id", required=True)
    p.add_argument("--entry", required=True, type=lambda text: int(text, 0))
    p.add_argument("bin")
    p.add_argument("out")
    args = parser.parse_args()
    if args.what == "id":
        print(build_id(args.fwif, args.files))
        return 0
    major, minor = fwif_version(args.fwif)
    image = pack(open(args.bin, "rb").read(), args.id, args.entry, major << 16 | minor)
    with open(args.out + ".new", "wb") as out:
        out.write(image)
    os.replace(args.out + ".new", args.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
