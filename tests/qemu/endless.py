# SPDX-License-Identifier: MIT
"""
A machine whose GPU runs a job that never ends. There is no driver: endless_job.c lays out
what one would have prepared, and the firmware finds the job queued when it boots.

RAM and the DIMM are memory files that the test maps as well, so it observes every store of
the GPU, even after QEMU has removed that memory from the guest.

Each reply of QEMU must arrive within PATIENCE seconds. This detects hangs, it measures
nothing: whatever waits for the job's end waits for ever.

Limits: i440FX, where any slot can be unplugged by one register of its ACPI controllers.
"""

import functools
import json
import mmap
import os
import pathlib
import struct
import subprocess
import tempfile

from machine import (BARS, BUILD, BUS_MASTER, CAP_EXPRESS, COMMAND, MEMORY_SPACE, PATIENCE, REG,
                     SLOT, Machine)

MIB = 1 << 20
PAGE = 4096
RAM_BYTES, DIMM_BYTES = 64 * MIB, 16 * MIB
DIMM = 4 << 30                      # bus address
DIMM_SLOT = 0
LOOKS = 100                         # replies of QEMU while memory must not change
DEVICE_CONTROL, FLR = 8, 0x8000     # in the express capability

# ACPI hotplug registers of i440FX (QEMU: docs/specs/acpi_{pci,mem}_hotplug.rst).
PCI_EJECT, PCI_SELECT = 0xae08, 0xae10
MEMORY_SELECT, MEMORY_CONTROL, MEMORY_EJECT = 0xa00, 0xa14, 0x8


class Memory:
    """Guest memory at a bus address, mapped by the test as well."""

    def __init__(self, name, address, size):
        self.address = address
        self.file = os.memfd_create(name)
        os.ftruncate(self.file, size)
        self.bytes = mmap.mmap(self.file, size)
        self.option = (f"memory-backend-file,id={name},size={size},share=on,"
                       f"mem-path=/proc/{os.getpid()}/fd/{self.file}")

    def close(self):
        """Unmap it."""
        self.bytes.close()
        os.close(self.file)

    def load(self, at, image):
        """Write an image, but only the pages that differ."""
        for page in range(0, len(image), PAGE):
            new = image[page:page + PAGE]
            place = slice(at - self.address + page, at - self.address + page + len(new))
            if self.bytes[place] != new:
                self.bytes[place] = new

    def unpack(self, layout, at):
        """Read a number at a bus address."""
        return struct.unpack_from(layout, self.bytes, at - self.address)[0]


@functools.lru_cache
def prepare(base, counters):
    """Run endless_job; returns the memory from base on, and the places it reports."""
    program = BUILD / "native/tests/qemu/endless_job"
    firmware = {"PUMICE_FIRMWARE": str(BUILD / "firmware/pumice_fw.bin")}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "memory"
        said = subprocess.run([program, path, str(base), str(counters)], check=True,
                              env={**os.environ, **firmware}, stdout=subprocess.PIPE)
        return path.read_bytes(), json.loads(said.stdout)


class Endless(Machine):
    """
    The machine. The job's home is the memory that holds firmware, tables and queues; its
    counters may be in another.
    """

    def __init__(self, threads=2, properties="", more=()):
        self.ram = Memory("ram", 0, RAM_BYTES)
        self.dimm = Memory("dimm", DIMM, DIMM_BYTES)
        self.threads = threads
        self.bars = (None, None)
        self.job = self.home = self.counted = None
        super().__init__(",".join(filter(None, (f"threads={threads}", properties))), more=[
            "-object", self.ram.option, "-object", self.dimm.option,
            "-M", "pc,memory-backend=ram", "-m", "slots=1,maxmem=1G",
            "-device", "pc-dimm,id=slot,memdev=dimm," f"addr={DIMM},slot={DIMM_SLOT}", *more])
        self.enable()

    def __exit__(self, *what):
        super().__exit__(*what)
        for memory in (self.ram, self.dimm):
            memory.close()

    def end(self):
        """Request that QEMU ends; returns its exit status."""
        self.qmp("quit")
        return self.process.wait(PATIENCE)

    # The job

    def counters(self):
        """Return the page in which the shading clusters count."""
        at = self.job["counters"] - self.counted.address
        return self.counted.bytes[at:at + PAGE]

    def word(self, name, layout="<I"):
        """Read a field that the firmware writes, by its name in endless_job.c."""
        return self.home.unpack(layout, self.job[name])

    def start_job(self, home, counted):
        """Boot the firmware on a GPU in reset, and wait until the job counts."""
        base, counters = home.address + 8 * MIB, counted.address + 2 * MIB
        image, places = prepare(base, counters)
        self.home, self.counted = home, counted
        self.job = {**places, "base": base, "bytes": len(image), "counters": counters}
        home.load(base, image)
        counted.load(counters, bytes(PAGE))
        for offset, value, size in places["writes"]:
            self.write(self.bars[0] + offset, value, size)
        self.until_job_runs()

    def until_job_runs(self):
        """Wait until the counters change."""
        before = self.counters()
        self.until("job counts", lambda: self.counters() != before)

    def memory(self):
        """Return all that firmware and job can write."""
        at = self.job["base"] - self.home.address
        return self.home.bytes[at:at + self.job["bytes"]], self.counters()

    def is_constant(self, read):
        """Return whether read() returns the same before and after LOOKS replies of QEMU."""
        before = read()
        for _ in range(LOOKS):
            self.config(0)
        return read() == before

    # The device

    def enable(self, bus_master=True):
        super().enable(bus_master)
        self.bars = tuple(self.config(BARS + 4 * n) & ~15 for n in (0, 4))

    def move(self, bar0, bar4):
        """Move both BARs; BAR 0 has 64 bits."""
        self.config(BARS, bar0 & 0xffffffff)
        self.config(BARS + 4, bar0 >> 32)
        self.config(BARS + 16, bar4)
        self.bars = (bar0, bar4)

    def command(self, memory=True, bus_master=True):
        """Write the PCI command register."""
        self.config(COMMAND, memory * MEMORY_SPACE | bus_master * BUS_MASTER, size=2)

    def reg(self, name, value=None, page=0, size=4):
        """Read a register as in Machine, at the BAR's present address."""
        address = self.bars[0] + page * REG["OS_PAGE_SIZE"] + REG[name]
        if value is None:
            return self.read(address, size)
        self.write(address, value, size)
        return None

    def registers(self):
        """Read all registers that are not arrays, and those that boot the firmware; no clock."""
        offsets = {REG[name]: 4 for name in REG if name + "__RESET" in REG
                   and not name.startswith("SYS_CLOCK")}
        # Those are the same for any address of the job.
        offsets.update({offset: size for offset, _, size in prepare(0, PAGE)[1]["writes"]})
        return {offset: self.read(self.bars[0] + offset, size)
                for offset, size in offsets.items()}

    def function_level_reset(self):
        """Reset through the express capability, which clears the BARs and COMMAND, too."""
        at = self.capability(CAP_EXPRESS) + DEVICE_CONTROL
        self.config(at, self.config(at, size=2) | FLR, size=2)

    def reset_by_register(self):
        """Reset through SYS_RESET: the GPU alone, not its PCI function."""
        self.reg("SYS_RESET", REG["SYS_RESET_KEY"])
        self.until("reset", lambda: not self.field("SYS_STATUS__RESETTING"))

    # Plugging

    def has_device(self, name):
        """Return whether the machine has a device with this id."""
        return any(child["name"] == name
                   for child in self.qmp("qom-list", path="/machine/peripheral")["return"])

    def unplug_gpu(self):
        """Request the removal of the GPU, and eject it as a guest would."""
        self.qmp("device_del", id="gpu")
        self.qtest("outl", hex(PCI_SELECT), 0)
        self.qtest("outl", hex(PCI_EJECT), hex(1 << SLOT))

    def plug_gpu(self):
        """Plug a new GPU into the same slot."""
        return self.qmp("device_add", driver="pumice", id="gpu", addr=hex(SLOT),
                        threads=self.threads)

    def unplug_dimm(self):
        """Request the removal of the DIMM, and eject it."""
        self.qmp("device_del", id="slot")
        self.qtest("outl", hex(MEMORY_SELECT), DIMM_SLOT)
        self.qtest("outb", hex(MEMORY_CONTROL), MEMORY_EJECT)

    def plug_dimm(self):
        """Plug it in again; its memory is the same."""
        return self.qmp("device_add", driver="pc-dimm", id="slot", memdev="dimm", addr=DIMM,
                        slot=DIMM_SLOT)
