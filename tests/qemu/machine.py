# SPDX-License-Identifier: MIT
"""
A machine without a processor that runs: QEMU with the GPU, driven by its qtest
and QMP sockets. The test is the guest: it programs PCI, writes registers and
memory, and steps the virtual clock.

Limits: uses only build/gen/pumice_regs.h; the GPU is in slot 4 of the root bus,
its BARs at the addresses in BAR0 and BAR4.
"""

import contextlib
import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build"))
QEMU = os.environ.get("PUMICE_QEMU") or BUILD / "qemu/qemu-system-x86_64"
FIRMWARE_FOLDERS = ["/usr/share/seabios", "/usr/share/qemu"]
PATIENCE = 60   # seconds; then the test fails

SLOT = 4
BAR0, BAR4 = 0xe0000000, 0xe0100000
COMMAND, BARS, CAPABILITIES = 0x04, 0x10, 0x34
MEMORY_SPACE, BUS_MASTER = 0x2, 0x4
CAP_PM, CAP_EXPRESS, CAP_MSIX = 0x01, 0x10, 0x11


def load_macros():
    """Return the generated constants: name without PUMICE_ -> number."""
    text = (BUILD / "gen/pumice_regs.h").read_text(encoding="ascii")
    found = re.findall(r"^#define PUMICE_(\w+) (0x[0-9a-f]+|\d+)U?(?:LL)?\b", text,
                       re.MULTILINE)
    enums = re.findall(r"^\tPUMICE_(\w+) = (0x[0-9a-f]+),", text, re.MULTILINE)
    return {name: int(value, 0) for name, value in found + enums}


REG = load_macros()


def command_line(device, *more):
    """Return QEMU's command line but for the sockets."""
    line = [str(QEMU), "-nodefaults", "-no-user-config", "-M", "q35", "-m", "64M",
            "-display", "none", "-vga", "none"]
    for folder in FIRMWARE_FOLDERS:
        line += ["-L", folder]
    return line + (["-device", device] if device else []) + list(more)


def refused(properties):
    """Return the message of QEMU for properties that it refuses."""
    done = subprocess.run(command_line("pumice," + properties), capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False, timeout=60)
    assert done.returncode == 1, done.returncode
    return done.stderr


class Line:
    """A line-based socket of QEMU."""

    def __init__(self, path, process):
        deadline = time.monotonic() + PATIENCE
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        while True:
            try:
                self.socket.connect(path)
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        self.file = self.socket.makefile("rw")

    def close(self):
        """Close the connection."""
        self.file.close()
        self.socket.close()

    def send(self, text):
        """Write a line."""
        self.file.write(text + "\n")
        self.file.flush()

    def receive(self):
        """Read a line."""
        line = self.file.readline()
        if not line:
            raise EOFError("QEMU hung up")
        return line.strip()


class Machine:
    """QEMU with one GPU. Use in a with statement."""

    def __init__(self, properties="", more=()):
        self.folder = tempfile.TemporaryDirectory()
        device = f"pumice,id=gpu,addr={SLOT}" + ("," + properties if properties else "")
        paths = {name: f"{self.folder.name}/{name}" for name in ("qtest", "qmp")}
        # By default each qtest command is logged to stderr, a pipe that is never emptied: when it
        # is full, QEMU hangs.
        line = command_line(device, "-accel", "qtest", "-qtest-log", "none",
                            "-qtest", f"unix:{paths['qtest']},server=on,wait=off",
                            "-qmp", f"unix:{paths['qmp']},server=on,wait=off", *more)
        self.process = subprocess.Popen(line, stderr=subprocess.PIPE)
        self.lines = {}
        self.events = []    # of QMP that were received with replies
        for name, path in paths.items():
            self.lines[name] = Line(path, self.process)
        self.lines["qmp"].receive()
        self.qmp("qmp_capabilities")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for line in self.lines.values():
            line.close()
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stderr.close()
            self.folder.cleanup()

    def qmp(self, command, **arguments):
        """Run a QMP command; return its reply, errors included."""
        self.lines["qmp"].send(json.dumps({"execute": command, "arguments": arguments}))
        while True:
            reply = json.loads(self.lines["qmp"].receive())
            if "return" in reply or "error" in reply:
                return reply
            self.events.append(reply)

    def qtest(self, *words):
        """Run a qtest command; return the words after OK."""
        self.lines["qtest"].send(" ".join(str(word) for word in words))
        while True:
            reply = self.lines["qtest"].receive()
            if reply.startswith("OK"):
                return reply.split()[1:]
            if not reply.startswith("IRQ"):
                raise ValueError(reply)

    # Bus accesses

    def read(self, address, size=4):
        """Read memory or registers by bus address, 4 or 8 bytes."""
        return int(self.qtest({4: "readl", 8: "readq"}[size], hex(address))[0], 0)

    def write(self, address, value, size=4):
        """Write memory or registers by bus address, 4 or 8 bytes."""
        self.qtest({4: "writel", 8: "writeq"}[size], hex(address), hex(value))

    def config(self, offset, value=None, size=4, slot=SLOT):
        """Read, or write, PCI configuration space of the GPU, or of another slot."""
        self.qtest("outl", hex(0xcf8), hex(0x80000000 | slot << 11 | offset & ~3))
        letter = {1: "b", 2: "w", 4: "l"}[size]
        port = hex(0xcfc + (offset & 3))
        if value is None:
            return int(self.qtest(f"in{letter}", port)[0], 0)
        self.qtest(f"out{letter}", port, hex(value))
        return None

    def capability(self, number, slot=SLOT):
        """Return the offset of a capability, or None."""
        at = self.config(CAPABILITIES, size=1, slot=slot)
        while at:
            if self.config(at, size=1, slot=slot) == number:
                return at
            at = self.config(at + 1, size=1, slot=slot)
        return None

    def enable(self, bus_master=True):
        """Place the BARs and switch the device on."""
        self.config(BARS, BAR0)
        self.config(BARS + 4, 0)
        self.config(BARS + 16, BAR4)
        self.config(COMMAND, MEMORY_SPACE | (BUS_MASTER if bus_master else 0), size=2)

    # The GPU

    def reg(self, name, value=None, page=0, size=4):
        """Read, or write, a register of the GPU by its name."""
        address = BAR0 + page * REG["OS_PAGE_SIZE"] + REG[name]
        if value is None:
            return self.read(address, size)
        self.write(address, value, size)
        return None

    def field(self, name):
        """Return the value of a register field, REG__FIELD."""
        return (self.reg(name.split("__")[0]) & REG[name + "__MASK"]) >> REG[name + "__SHIFT"]

    def property(self, name):
        """Return the value of a property of the device."""
        return self.qmp("qom-get", path="/machine/peripheral/gpu", property=name)["return"]

    def set_property(self, name, value):
        """Set a property of the device at run time; returns QMP's reply."""
        return self.qmp("qom-set", path="/machine/peripheral/gpu", property=name, value=value)

    def gpu_threads(self):
        """Count the threads of GPUs in QEMU. One that was joined can be listed for some time."""
        names = []
        for comm in pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/comm"):
            # A thread may end after it was listed.
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                names.append(comm.read_text(encoding="utf-8"))
        return sum(name.startswith("pumice/") for name in names)

    def start_firmware(self, words, address=0x200000):
        """Put an image into memory and set RUN."""
        image = struct.pack(f"<{len(words)}I", *words)
        self.qtest("write", hex(address), hex(len(image)), "0x" + image.hex())
        self.reg("FW_IMAGE_ADDR", address, size=8)
        self.reg("FW_IMAGE_SIZE", len(image))
        self.reg("FW_CTRL", 0)
        self.reg("FW_CTRL", REG["FW_CTRL__RUN__MASK"])

    def until(self, what, condition):
        """Poll for a condition that the GPU's own threads cause."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(what)
            time.sleep(0.001)
