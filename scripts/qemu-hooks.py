#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hook hw/pumice/ into a QEMU source tree.

    qemu-hooks.py QEMU_SOURCE

Three files of QEMU name the folder: hw/meson.build, hw/Kconfig and the list of
trace-event folders in meson.build. Two list the modules of the QAPI schema, to
which hw/pumice/pumice.json is added: as qapi/pumice.json, a copy, since modules
are in that folder. Each hook is found by its meaning, not by
line numbers, and applied once; a file that is already right is not touched, so
that ninja does not configure again.

A fourth change mends a race of late 10.0 under TCG with several processors: a
processor looks up a section number from its TLB in the memory map of this very
moment, which another processor may just have replaced (guests do so when they
place PCI BARs), and QEMU aborts in iotlb_to_section(). Let each processor keep a
reference to the map that its TLB was filled from until it flushes that TLB. A
QEMU whose code does not look like that is left alone.
"""

import pathlib
import re
import sys

FOLDER = "pumice"


def append_line(text, line):
    """Return the text with the line appended, unless it contains it."""
    if line in text.splitlines():
        return text
    return text.rstrip("\n") + "\n" + line + "\n"


def add_trace_folder(text):
    """Add the folder to the trace_events_subdirs that hold hw/core."""
    entry = f"'hw/{FOLDER}',"
    if entry in text:
        return text
    changed, count = re.subn(r"^( *)'hw/core',$", rf"\g<0>\n\g<1>{entry}", text,
                             count=1, flags=re.MULTILINE)
    if not count:
        sys.exit("error: QEMU's meson.build has no list of trace folders with 'hw/core'\n"
                 "       this QEMU is too different: use the 10.0 series")
    return changed


def add_schema_module(text):
    """Add the module to the list of those of a system emulator in qapi/meson.build."""
    if f"'{FOLDER}'," in text:
        return text
    changed, count = re.subn(r"^( *)'qdev',$", rf"\g<0>\n\g<1>'{FOLDER}',", text, count=1,
                             flags=re.MULTILINE)
    if not count:
        sys.exit("error: QEMU's qapi/meson.build has no list of modules with 'qdev'\n"
                 "       this QEMU is too different: use the 10.0 series")
    return changed


# (original, replacement) in system/physmem.c.
KEEP_MAP = [
    ("    MemoryListener tcg_as_listener;\n",
     "    MemoryListener tcg_as_listener;\n"
     "    /* The map that the CPU's TLB was filled from */\n"
     "    FlatView *tlb_view;\n"),
    ("AddressSpaceDispatch *d = address_space_to_dispatch(cpu->cpu_ases[asidx].as);",
     "AddressSpaceDispatch *d = flatview_to_dispatch(cpu->cpu_ases[asidx].tlb_view);"),
    ("AddressSpaceDispatch *d = address_space_to_dispatch(cpuas->as);",
     "AddressSpaceDispatch *d = flatview_to_dispatch(cpuas->tlb_view);"),
    ("            memory_listener_unregister(&cpuas->tcg_as_listener);\n",
     "            memory_listener_unregister(&cpuas->tcg_as_listener);\n"
     "            flatview_unref(cpuas->tlb_view);\n"),
    ("static void tcg_commit_cpu(CPUState *cpu, run_on_cpu_data data)\n{\n",
     "static void tcg_commit_cpu(CPUState *cpu, run_on_cpu_data data)\n{\n"
     "    CPUAddressSpace *cpuas = data.host_ptr;\n"
     "    FlatView *old = cpuas->tlb_view;\n\n"
     "    cpuas->tlb_view = address_space_get_flatview(cpuas->as);\n"
     "    if (old) {\n"
     "        flatview_unref(old);\n"
     "    }\n"),
]


def keep_map(text):
    """Apply KEEP_MAP if all of it matches, once each."""
    if "tlb_view" in text or any(text.count(old) != 1 for old, _ in KEEP_MAP):
        return text
    for old, new in KEEP_MAP:
        text = text.replace(old, new)
    return text


def apply(path, change):
    """Rewrite one file by a function, when that changes it. A file that is missing is empty."""
    old = path.read_text() if path.exists() else ""
    new = change(old)
    if new != old:
        path.write_text(new)


def main():
    """Apply the hooks and the correction."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    source = pathlib.Path(sys.argv[1])
    apply(source / "hw/meson.build", lambda t: append_line(t, f"subdir('{FOLDER}')"))
    apply(source / "hw/Kconfig", lambda t: append_line(t, f"source {FOLDER}/Kconfig"))
    apply(source / "meson.build", add_trace_folder)
    schema = (source / f"hw/{FOLDER}/{FOLDER}.json").read_text()
    apply(source / f"qapi/{FOLDER}.json", lambda t: schema)
    apply(source / "qapi/qapi-schema.json",
          lambda t: append_line(t, f"{{ 'include': '{FOLDER}.json' }}"))
    apply(source / "qapi/meson.build", add_schema_module)
    apply(source / "system/physmem.c", keep_map)


if __name__ == "__main__":
    main()
