# SPDX-License-Identifier: MIT
"""Find the dependencies of an ELF program: interpreter and libraries, transitively.

Reads the dynamic section itself, so that the closure can be computed
in the root of another Debian release, whose programs cannot run here.

Limits: 64-bit little-endian ELF; no $LIB or $PLATFORM in run paths.
"""

import os
import struct

PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NEEDED, DT_STRTAB, DT_RPATH, DT_RUNPATH = 1, 5, 15, 29

SEARCH = ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64",
          "/lib", "/usr/lib", "/usr/local/lib"]


def is_elf(path):
    """Return whether the file starts with the ELF magic."""
    with open(path, "rb") as stream:
        return stream.read(4) == b"\x7fELF"


def _text(image, offset):
    return image[offset:image.index(b"\0", offset)].decode()


def read(path):
    """Return (interpreter or None, [needed names], [run paths]) of an ELF file."""
    with open(path, "rb") as stream:
        image = stream.read()
    if image[:6] != b"\x7fELF\x02\x01":
        raise ValueError(f"{path} is not a 64-bit little-endian ELF file")
    offset, = struct.unpack_from("<Q", image, 0x20)
    size, count = struct.unpack_from("<HH", image, 0x36)
    segments = [struct.unpack_from("<IIQQQQQQ", image, offset + i * size) for i in range(count)]
    interpreter, dynamic = None, []
    for kind, _flags, start, _va, _pa, length, _memory, _align in segments:
        if kind == PT_INTERP:
            interpreter = _text(image, start)
        elif kind == PT_DYNAMIC:
            dynamic = list(struct.iter_unpack("<QQ", image[start:start + length]))
    strings = dict(dynamic).get(DT_STRTAB, 0)
    for kind, _flags, start, va, _pa, length, _memory, _align in segments:
        if kind == PT_LOAD and va <= strings < va + length:
            strings += start - va
            break
    needed = [_text(image, strings + value) for tag, value in dynamic if tag == DT_NEEDED]
    paths = [part for tag, value in dynamic if tag in (DT_RPATH, DT_RUNPATH)
             for part in _text(image, strings + value).split(":")]
    return interpreter, needed, paths


def resolve(root, path):
    """Follow links inside root; return the real file's path inside it."""
    for _ in range(40):
        parts, done = path.strip("/").split("/"), ""
        for index, part in enumerate(parts):
            here = os.path.normpath(f"{done}/{part}")
            if os.path.islink(root + here):
                target = os.readlink(root + here)
                base = target if target.startswith("/") else f"{done}/{target}"
                path = os.path.normpath("/".join([base] + parts[index + 1:]))
                break
            done = here
        else:
            return done
    raise ValueError(f"too many links: {path}")


def _find(root, name, folders):
    for folder in folders:
        candidate = os.path.normpath(f"{folder}/{name}")
        if os.path.exists(root + resolve(root, candidate)):
            return candidate
    return None


def closure(programs, root="", extra=()):
    """Find all files that the programs need at run time.

    programs, extra: paths inside root (files or bare library names in
    extra). Returns {path inside root: path of the real file inside root};
    the key of a library is the path at which the loader searches for it.
    """
    found = {}
    work = list(programs)
    work += [_find(root, name, SEARCH) or f"{name} (not found)" for name in extra]
    while work:
        path = work.pop()
        if path in found:
            continue
        real = resolve(root, path)
        if not os.path.exists(root + real):
            raise FileNotFoundError(f"{path} is not in {root or '/'}")
        found[path] = real
        if not is_elf(root + real):
            continue
        interpreter, needed, run_paths = read(root + real)
        origin = os.path.dirname(path)
        folders = [p.replace("$ORIGIN", origin) for p in run_paths] + SEARCH
        if interpreter:
            work.append(interpreter)
        for name in needed:
            library = _find(root, name, folders)
            if library is None:
                raise FileNotFoundError(f"{path} needs {name}, which is not in {root or '/'}")
            work.append(library)
    return found
