#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the parts of the guest's initramfs.

A guest boots from several archives one after the other, each made when its own
inputs change:

    make-image.py base OUT --kernel DIR [--module KO] [--firmware BIN]
                       [--test-firmware NAME=BIN]… [--kmod NAME]… [--kmod-if-built NAME]… [--kunit KO]
        busybox, /init, kernel modules, the driver, its firmware; others that tests may choose;
        as /lib/kunit/pumice.ko the driver with its KUnit tests
    make-image.py programs [--examples FOLDER] OUT FOLDER…
        the programs in the folders of a build tree, in /pumice/bin, those of the
        examples in /pumice/examples, with the libraries they need
    make-image.py tools OUT PROGRAM…
        programs of this machine, in /pumice/bin, with the libraries they need; with gdb its
        data and Python's standard library

(igt.py makes the part that holds IGT.)
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from image import cpio, elf, modules  # noqa: E402

HERE = pathlib.Path(__file__).parent
# Modules for access to the host's share, on a kernel that has them as modules.
SHARE_MODULES = ["9pnet_virtio", "9p", "virtio_pci"]
# Libraries that the C library opens at run time, not found by the dependency walk.
OPENED_AT_RUN_TIME = ["libgcc_s.so.1"]
LIBRARIES = "/lib/x86_64-linux-gnu"


def busybox():
    """Return the static busybox and its applets' names."""
    for path in ("/bin/busybox", "/usr/bin/busybox"):
        if os.path.exists(path):
            applets = subprocess.run([path, "--list"], check=True, capture_output=True, text=True)
            return path, applets.stdout.split()
    sys.exit("error: no busybox on this machine\n       make packages")


def make_base(options):
    """Build the part with busybox, /init, modules, firmware."""
    kernel = modules.Kernel(options.kernel)
    path, applets = busybox()
    with cpio.Archive(options.out) as archive:
        for folder in ("dev", "proc", "sys", "host", "tmp", "etc"):
            archive.folder(folder)
        archive.character_device("dev/console", 5, 1)
        archive.character_device("dev/null", 1, 3)
        archive.data("init", (HERE / "guest/init").read_bytes(), 0o755)
        archive.file("etc/shell-start", HERE / "guest/shell-start")
        for name in ("debug-verdict", "control", "reload", "module-gdb"):
            archive.file(f"etc/{name}", HERE / "guest" / name)
        archive.data("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n"
                                   b"nobody:x:65534:65534:nobody:/:/bin/sh\n")  # lint: word
        archive.data("etc/group", b"root:x:0:\nvideo:x:44:\nrender:x:106:\nnogroup:x:65534:\n")
        archive.file("bin/busybox", path)
        for applet in applets:
            if applet != "busybox":
                archive.link(f"bin/{applet}", "busybox")
        archive.link("sbin/modprobe", "/bin/busybox")
        present = [name for name in SHARE_MODULES if name not in kernel.builtin]
        present += [name for name in options.kmod_if_built if name in kernel.paths]
        modules.add(archive, kernel, present + options.kmod, options.module)
        if options.kunit:
            archive.file("lib/kunit/pumice.ko", options.kunit)
        if options.firmware:
            archive.file("lib/firmware/pumice/pumice_fw.bin", options.firmware)
        for name, _, path in (word.partition("=") for word in options.test_firmware):
            archive.file(f"lib/firmware/pumice-test/{name}/pumice/pumice_fw.bin", path)


def executables(folder):
    """List the programs in a folder of a build tree, without subfolders."""
    return [str(path) for path in sorted(pathlib.Path(folder).glob("*"))
            if path.is_file() and os.access(path, os.X_OK) and ".so" not in path.name]


def make_programs(options):
    """Build the part with our programs and their libraries."""
    programs = {path: "pumice/bin" for folder in options.folder for path in executables(folder)}
    for path in executables(options.examples) if options.examples else []:
        programs[path] = "pumice/examples"
    with cpio.Archive(options.out) as archive:
        for folder in sorted(set(programs.values())):
            archive.folder(folder)
        for program, folder in programs.items():
            add = archive.stripped if elf.is_elf(program) else archive.file
            add(f"{folder}/{os.path.basename(program)}", program)
        dynamic = [p for p in programs if elf.is_elf(p)]
        for path, real in elf.closure(dynamic, extra=OPENED_AT_RUN_TIME).items():
            if path in programs:
                continue
            if os.path.dirname(path) not in elf.SEARCH:  # ours: its folder is of this machine only
                path = f"{LIBRARIES}/{os.path.basename(path)}"
            archive.stripped(path, real)


# Files and folders that a program opens at run time, by its name; {python} is that of gdb.
DATA = {"gdb": ["/usr/share/gdb", "/usr/lib/python3/dist-packages/../../{python}"]}


def add_tree(archive, folder):
    """Add a folder of this machine, without Python's caches, tests and link files."""
    for path in sorted(pathlib.Path(folder).resolve().rglob("*")):
        unused = {"__pycache__", "test", "tests"} & set(path.parts) or "/config-" in str(path)
        if path.is_file() and not unused:
            archive.file(str(path).lstrip("/"), path)


def make_tools(options):
    """Build the part with programs of this machine and their libraries."""
    programs = {}
    for name in options.program:
        path = shutil.which(name)
        if not path or not elf.is_elf(path):
            sys.exit(f"error: this machine has no program {name}\n       apt install {name}")
        programs[name] = os.path.realpath(path)
    with cpio.Archive(options.out) as archive:
        archive.folder("pumice/bin")
        for name, path in programs.items():
            archive.stripped(f"pumice/bin/{name}", path)
        needed = elf.closure(list(programs.values()), extra=OPENED_AT_RUN_TIME)
        for path, real in needed.items():
            if path not in programs.values():
                archive.stripped(path, real)
        python = next((re.match(r"lib(python3\.\d+)\.so", os.path.basename(path)).group(1)
                       for path in needed if "/libpython3" in path), None)
        for name in options.program:
            for folder in DATA.get(name, []):
                if python or "{" not in folder:
                    add_tree(archive, os.path.normpath(folder.format(python=python)))


def main():
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(required=True)
    base = parts.add_parser("base")
    base.add_argument("out")
    base.add_argument("--kernel", required=True)
    base.add_argument("--module", action="append", default=[])
    base.add_argument("--kunit")
    base.add_argument("--firmware")
    base.add_argument("--test-firmware", metavar="NAME=BIN", action="append", default=[])
    base.add_argument("--kmod", action="append", default=[])
    base.add_argument("--kmod-if-built", action="append", default=[])
    base.set_defaults(make=make_base)
    programs = parts.add_parser("programs")
    programs.add_argument("out")
    programs.add_argument("--examples", metavar="FOLDER")
    programs.add_argument("folder", nargs="*")
    programs.set_defaults(make=make_programs)
    tools = parts.add_parser("tools")
    tools.add_argument("out")
    tools.add_argument("program", nargs="+")
    tools.set_defaults(make=make_tools)
    options = parser.parse_args()
    os.makedirs(os.path.dirname(os.path.abspath(options.out)), exist_ok=True)
    try:
        options.make(options)
    except (FileNotFoundError, KeyError, ValueError) as problem:
        sys.exit(f"error: {options.out}: {problem}")


if __name__ == "__main__":
    main()
