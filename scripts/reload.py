#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make reload: the driver and firmware of this tree into the guest of `make shell`.

    reload.py [NAME] --module KO --firmware BIN [--parameters "NAME=VALUE…"]
    reload.py [NAME] --run COMMAND

Copies both files into the guest's share, out/guest/NAME/reload, and has the guest run
/etc/reload (scripts/guest/reload) through its control port, out/guest/NAME.control. With
--run the guest runs a command instead. Prints what the guest prints; the exit status is the
guest's, or 2 without a guest and for a parameter that the module does not have, which the kernel
would ignore. NAME is shell by default.
"""

import argparse
import os
import pathlib
import re
import secrets
import shlex
import shutil
import socket
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
OUT = pathlib.Path(os.environ.get("OUT", TOP / "out"))
PATIENCE = 120  # seconds without output of the guest
NO_GUEST = 2
# Characters of a value that the kernel reads without quotation marks.
PLAIN = re.compile(r"[!#-~]*")
# An entry of the module's section .modinfo, and parameters that the kernel has for every module.
PARAMETER = re.compile(rb"\0parmtype=(\w+):")
OF_THE_KERNEL = {"dyndbg", "async_probe"}


def fail(what, way_out):
    """Exit with one line for the failure and one for the remedy."""
    print(f"error: {what}\n       {way_out}", file=sys.stderr)
    sys.exit(NO_GUEST)


def connect(name):
    """Open the control port of the running guest."""
    port = socket.socket(socket.AF_UNIX)
    port.settimeout(PATIENCE)
    try:
        port.connect(os.path.relpath(OUT / "guest" / f"{name}.control"))
    except OSError:
        fail(f"no guest named {name} runs", "start it in another terminal: make shell")
    return port


def run(port, command):
    """Run a command in the guest, print its output, return its status."""
    token = secrets.token_hex(16)  # which the command's output does not contain
    # The command is one word: a guest of an older tree, whose shell runs the whole line, fails at
    # the token, and runs no part of the command.
    port.sendall(f"{token} sh -c {shlex.quote(command)}\n".encode())
    with port.makefile("r", errors="replace") as lines:
        for line in lines:
            if f"{token}: not found" in line:
                fail("the guest is of an older tree", "start it again: make shell")
            # The last line of the output may lack its end.
            output, end, number = line.rstrip("\r\n").partition(f"status {token} ")
            if output or not end:
                print(output, flush=True)
            if end:
                return int(number)
    fail("the guest ended", "see its console")
    return NO_GUEST


def check_line(command, option):
    """Fail if a command is not one line: the guest reads a line."""
    if "\n" in command:
        fail(f"{option} has more than one line, of which the guest would run the first",
             "separate commands by ';', or run a script: --run 'sh /host/FILE'")


def kernel_word(word):
    """Return a word NAME=VALUE as the kernel reads it: a value with blanks in double quotation
    marks, for which the kernel has no escape.
    """
    name, equals, value = word.partition("=")
    if len(value) > 1 and value[0] == value[-1] == '"':
        value = value[1:-1]
    if '"' in value:
        fail(f"the value of {name} has a double quotation mark, which the kernel cannot read",
             "dyndbg accepts single ones: format 'job' +p")
    return f"{name}{equals}{value}" if PLAIN.fullmatch(value) else f'{name}{equals}"{value}"'


def module_parameters(options):
    """Return the parameters as words for insmod; fail if one is not the module's."""
    known = {name.decode() for name in PARAMETER.findall(pathlib.Path(options.module).read_bytes())}
    try:
        words = shlex.split(options.parameters)
    except ValueError:
        fail(f"--parameters {options.parameters} ends in a quotation or after a backslash",
             "close it: --parameters \"dyndbg='file pumice_vm.c +p'\"")
    for word in words:
        name = word.partition("=")[0]
        if name.replace("-", "_") not in known | OF_THE_KERNEL:
            fail(f"the driver has no parameter {name}", f"there are: {', '.join(sorted(known))}")
    return [kernel_word(word) for word in words]


def place(name, options):
    """Copy the files and rename them when complete: an interrupted copy is not loaded."""
    folder = OUT / "guest" / name / "reload"
    for source, target in ((options.module, folder / "pumice.ko"),
                           (options.firmware, folder / "firmware/pumice/pumice_fw.bin")):
        target.parent.mkdir(parents=True, exist_ok=True)
        new = target.with_name(target.name + ".new")
        shutil.copyfile(source, new)
        os.replace(new, target)


def main():
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", default="shell")
    parser.add_argument("--module")
    parser.add_argument("--firmware")
    parser.add_argument("--parameters", default="", help="of the module")
    parser.add_argument("--run", metavar="COMMAND")
    options = parser.parse_args()
    if not options.run and not (options.module and options.firmware):
        parser.error("give --module and --firmware, or --run")
    check_line(options.run or "", "--run")
    check_line(options.parameters, "--parameters")
    parameters = [] if options.run else module_parameters(options)
    port = connect(options.name)
    try:
        if options.run:
            return run(port, options.run)
        place(options.name, options)
        status = run(port, shlex.join(["sh", "/etc/reload", *parameters]))
    except TimeoutError:
        fail(f"the guest does not reply for {PATIENCE} s", "see its console")
    if not status:
        print("the guest runs this tree's driver and firmware")
    return status


if __name__ == "__main__":
    sys.exit(main())
