#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
pumice-dump as a program: its output for damaged files, files of other kinds and
files without some section: dump.py PUMICE-DUMP

Files are made with struct alone, by the description in hw/dumpfile.h. The output for
real dumps is checked by tests/unit/path/test_dump.c. Output: TAP.
"""
import os
import struct
import subprocess
import sys

from tap import main, test

DUMP = os.path.abspath(sys.argv[1])
MAGIC = 0x00504d55444d5550
INFO = 1
SECTIONS = "info, reason, places, walk, stream, memory, waves, registers, firmware, log"


def run(*args, status=0):
    """Run the tool; (standard output, standard error)."""
    done = subprocess.run([DUMP, *args], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == status, f"status {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout, done.stderr


def write(name, *sections, count=None, version=1, magic=MAGIC):
    """Write a dump of sections, each (type, data)."""
    body = b""
    for kind, data in sections:
        body += struct.pack("<IIQQII", kind, 0, len(data), 0, 0, 0)
        body += data + bytes(-len(data) % 8)
    with open(name, "wb") as out:
        out.write(struct.pack("<QIIQII", magic, version, 32, 32 + len(body),
                              len(sections) if count is None else count, 0) + body)


@test
def a_missing_section_is_reported():
    write("info.dump", (INFO, b"kernel: 1\n"))
    assert run("info.dump") == ("kernel: 1\n", "")
    assert run("-s", "info", "info.dump") == ("kernel: 1\n", "")
    for name in SECTIONS.split(", ")[1:]:
        assert run("-s", name, "info.dump") == (f"(section {name}: not in this dump)\n", "")


@test
def a_file_that_is_not_a_dump_prints_nothing():
    with open("text", "w") as out:
        out.write("root:x:0:0:root:/root:/bin/bash\n" * 20)
    out, err = run("text", status=1)
    assert (out, err) == ("", "pumice-dump: text: not a dump of a Pumice GPU: expected the data file of a "
                          "devcoredump, or a copy of it\n"), out + err
    out, err = run("-s", "info", "text", status=1)
    assert not out, out


@test
def another_version_is_reported_with_that_of_the_tool():
    write("new.dump", (INFO, b"kernel: 1\n"), version=7)
    out, err = run("new.dump", status=1)
    assert not out, out
    assert "a dump of version 7, but this tool reads version 1\n" in err, err


@test
def sections_before_the_damage_are_printed():
    write("cut.dump", (INFO, b"kernel: 1\n"), count=2)
    out, err = run("cut.dump", status=1)
    assert out == "kernel: 1\n", out
    assert "the file ends before its last section" in err, err


@test
def an_unknown_section_lists_the_names_of_all():
    _, err = run("-s", "foo", "info.dump", status=2)
    assert err.startswith(f"pumice-dump: there is no section 'foo'; accepted: {SECTIONS} (see "), err


if __name__ == "__main__":
    main()
