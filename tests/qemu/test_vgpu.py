# SPDX-License-Identifier: MIT
"""Virtual GPUs as PCI functions of their own."""

import pathlib
import re
import subprocess
import tempfile
import time
import unittest

from endless import PCI_EJECT, PCI_SELECT
from machine import (BAR4, BARS, BUS_MASTER, CAP_EXPRESS, CAP_MSIX, CAP_PM, COMMAND,
                     MEMORY_SPACE, Machine, REG, command_line)

SLOT = 5            # of the function
PAGE, TABLE = 0xe0200000, 0xe0300000    # its BARs
CATALOGUE = 0x300000                    # and the directory, the table and the page after it
DATA = 0x305000
MAILBOX = 0x310000
VA = 0x1000         # of the page, in the part of the virtual GPU
DEVICE_CONTROL_FLR = 0x8000
EJECT = {"gpu": 4, "vgpu": SLOT}        # slots

# RV32: count in the first word of the page of virtual GPU 1, and raise its interrupt, for ever. A
# store that faults is skipped.
COUNTER = [
    0x90001437,     # lui s0, 0x90001       window, part 1, VA
    0x10004937,     # lui s2, 0x10004       unit IC
    0x00000297,     # auipc t0, 0
    0x02428293,     # addi t0, t0, handler
    0x30529073,     # csrw mtvec, t0
    0x00200993,     # li s3, 2
    0x00148493,     # 1: addi s1, s1, 1
    0x00942023,     # sw s1, 0(s0)
    0x01392623,     # sw s3, 12(s2)         HOST_IRQ
    0xff5ff06f,     # j 1b
    0x00000013,     # nop
    0x34102373,     # handler: csrr t1, mepc
    0x00430313,     # addi t1, t1, 4
    0x34131073,     # csrw mepc, t1
    0x30200073,     # mret
]


def function(properties="parent-gpu=gpu,number=1", slot=SLOT):
    """Return the options of a function."""
    return ["-device", f"pumice-vgpu,id=vgpu,addr={slot},{properties}"]


def refused(gpu, *more):
    """Return the message of QEMU for devices that it refuses."""
    options = [option for properties in more for option in ("-device", properties)]
    done = subprocess.run(command_line(gpu, *options), capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False, timeout=60)
    assert done.returncode == 1, done.returncode
    return done.stderr


class Guest:
    """A machine whose virtual GPU 1 is a function."""

    def __init__(self, properties="virtual-gpus=3,threads=1", board="q35", more=()):
        self.machine = Machine(properties, more=["-M", board, *function(), *more])

    def __enter__(self):
        self.machine.enable()
        self.enable()
        return self

    def __exit__(self, *exception):
        self.machine.__exit__(*exception)

    def enable(self, bus_master=True):
        """Place the BARs and switch the function on."""
        for offset, value in ((0, PAGE), (4, 0), (16, TABLE), (20, 0)):
            self.machine.config(BARS + offset, value, slot=SLOT)
        self.command(bus_master)

    def command(self, bus_master):
        """Switch bus-mastering of the function."""
        self.machine.config(COMMAND, MEMORY_SPACE | (BUS_MASTER if bus_master else 0), size=2,
                            slot=SLOT)

    def reg(self, name, value=None, size=4):
        """Read, or write, a register of the function."""
        if value is None:
            return self.machine.read(PAGE + REG[name], size)
        self.machine.write(PAGE + REG[name], value, size)
        return None

    def map_page(self):
        """Map the page in the part of the virtual GPU."""
        va = REG["OS_PART_SIZE"] + VA
        for table, index, target in ((CATALOGUE, va >> 30, CATALOGUE + 0x2000),
                                     (CATALOGUE + 0x2000, va >> 21 & 511, CATALOGUE + 0x3000),
                                     (CATALOGUE + 0x3000, va >> 12 & 511, DATA)):
            self.machine.write(table + 8 * index, target | 1, 8)
        self.reg("OS_CATALOGUE", CATALOGUE | 1, 8)

    def start(self):
        """Start the firmware that counts in the page."""
        self.map_page()
        self.machine.start_firmware(COUNTER)
        self.wait_for_counts()

    def count(self):
        """Return the word that the firmware counts in."""
        return self.machine.read(DATA)

    def wait_for_counts(self):
        """Wait until the GPU writes to the page."""
        before = self.count()
        self.machine.until("counts", lambda: self.count() != before)

    def assert_silent(self, test):
        """Check that the GPU does not write to the page, from now on."""
        before = self.count()
        time.sleep(0.05)
        test.assertEqual(self.count(), before)

    def reset_function(self, slot=SLOT):
        """Reset a function."""
        express = self.machine.capability(CAP_EXPRESS, slot)
        control = self.machine.config(express + 8, size=2, slot=slot)
        self.machine.config(express + 8, control | DEVICE_CONTROL_FLR, size=2, slot=slot)

    def unplug(self, name):
        """Remove a device of the root bus, as a guest ejects it."""
        self.machine.qmp("device_del", id=name)
        self.machine.qtest("outl", hex(PCI_SELECT), hex(0))
        self.machine.qtest("outl", hex(PCI_EJECT), hex(1 << EJECT[name]))
        self.machine.until("unplugged",
                           lambda: self.machine.config(0, slot=EJECT[name]) == 0xffffffff)


class Properties(unittest.TestCase):
    """Properties that -device accepts."""

    def test_bad_ones_are_refused_with_the_reason(self):
        cases = [("virtual-gpus=2", "number=1", "property 'parent-gpu' must be the id of a pumice"),
                 ("virtual-gpus=2", "parent-gpu=other,number=1", "'other' not found"),
                 ("virtual-gpus=2", "parent-gpu=gpu,number=0", "'number' must be 1 to 1, not 0"),
                 ("virtual-gpus=2", "parent-gpu=gpu,number=2", "'number' must be 1 to 1, not 2"),
                 ("virtual-gpus=8", "parent-gpu=gpu,number=4294967295", "'number' must be 1 to 7"),
                 ("virtual-gpus=1", "parent-gpu=gpu,number=1", "set its property 'virtual-gpus'")]
        for gpu, properties, text in cases:
            with self.subTest(properties):
                self.assertIn(text, refused("pumice,id=gpu," + gpu, "pumice-vgpu," + properties))

    def test_a_number_is_that_of_one_function(self):
        said = refused("pumice,id=gpu,virtual-gpus=3", "pumice-vgpu,parent-gpu=gpu,number=2",
                       "pumice-vgpu,parent-gpu=gpu,number=1", "pumice-vgpu,parent-gpu=gpu,number=2")
        self.assertIn("another device is virtual GPU 2", said)

    def test_another_kind_of_device_is_refused(self):
        said = refused("pumice,id=gpu,virtual-gpus=3", "pumice-vgpu,id=a,parent-gpu=gpu,number=2",
                       "pumice-vgpu,parent-gpu=a,number=1")
        self.assertIn("pumice", said)


class Function(unittest.TestCase):
    """Registers, interrupt and memory."""

    def test_configuration_space(self):
        with Guest() as guest:
            machine = guest.machine
            self.assertEqual(machine.config(0, slot=SLOT),
                             REG["PCI_DEVICE_VGPU"] << 16 | REG["PCI_VENDOR"])
            self.assertEqual(machine.config(8, slot=SLOT) >> 8, 0x030200)
            for capability in (CAP_PM, CAP_EXPRESS, CAP_MSIX):
                self.assertIsNotNone(machine.capability(capability, SLOT))
            msix = machine.capability(CAP_MSIX, SLOT)
            self.assertEqual(machine.config(msix + 2, size=2, slot=SLOT) & 0x7ff, 0)
            machine.config(BARS, 0xffffffff, slot=SLOT)
            self.assertEqual(machine.config(BARS, slot=SLOT) & ~15,
                             -REG["OS_PAGE_SIZE"] & 0xffffffff)

    def test_bar_0_is_the_page_of_the_number(self):
        with Guest() as guest:
            machine = guest.machine
            self.assertEqual(guest.reg("OS_INFO"), 3 << 8 | 1)
            guest.reg("OS_BOOT_ARG", 0x10001234)
            self.assertEqual(guest.reg("OS_BOOT_ARG"), 0x10001234)
            # Registers of the whole GPU are in page 0 only, except those that describe it.
            self.assertEqual(guest.reg("SYS_CONFIG"), machine.reg("SYS_CONFIG"))
            self.assertEqual(guest.reg("FW_STATUS"), 0)
            guest.reg("FW_ENTRY", 4)
            self.assertEqual(machine.reg("FW_ENTRY"), 0)
            # The device with the GPU keeps the pages without a function.
            self.assertEqual(machine.reg("OS_INFO", page=1), 0)
            machine.reg("OS_BOOT_ARG", 0x10005678, page=1)
            self.assertEqual(guest.reg("OS_BOOT_ARG"), 0x10001234)
            self.assertEqual(machine.reg("OS_INFO", page=2), 3 << 8 | 2)

    def test_the_interrupt_is_the_only_vector_of_the_function(self):
        with Guest() as guest:
            machine = guest.machine
            for base, slot, data in ((BAR4 + 16, 4, 0x1111), (TABLE, SLOT, 0x2222)):
                msix = machine.capability(CAP_MSIX, slot)
                machine.write(base, MAILBOX)
                machine.write(base + 4, 0)
                machine.write(base + 8, data)
                machine.write(base + 12, 0)
                machine.config(msix + 2, 0x8000, size=2, slot=slot)
            guest.reg("OS_IRQ_ENABLE", REG["OS_IRQ_ENABLE__FW__MASK"])
            guest.start()
            machine.until("interrupt", lambda: machine.read(MAILBOX) == 0x2222)

    def test_firmware_that_stops_is_an_event_of_each_page(self):
        with Guest() as guest:
            guest.machine.start_firmware([0xffffffff])
            guest.machine.until("event", lambda: guest.reg("OS_IRQ_STATUS"))
            self.assertEqual(guest.reg("OS_IRQ_STATUS"), REG["OS_IRQ_STATUS__LOCKUP__MASK"])

    def test_memory_is_accessed_through_the_bus_master_bit_of_the_function(self):
        with Guest() as guest:
            guest.start()
            guest.command(bus_master=False)
            guest.assert_silent(self)
            guest.command(bus_master=True)
            guest.wait_for_counts()
            # That of the device with the GPU has no effect, now that the firmware is loaded.
            guest.machine.config(COMMAND, MEMORY_SPACE, size=2)
            guest.wait_for_counts()

    def test_a_bus_master_of_another_function_gives_no_access(self):
        """The memory of the device with the GPU is not that of the virtual GPU."""
        with Guest() as guest:
            guest.command(bus_master=False)
            guest.map_page()
            guest.machine.start_firmware(COUNTER)
            guest.assert_silent(self)
            self.assertEqual(guest.count(), 0)


class Life(unittest.TestCase):
    """Reset and unplugging."""

    def test_a_reset_of_the_function_ends_its_accesses(self):
        with Guest() as guest:
            guest.reg("OS_IRQ_ENABLE", REG["OS_IRQ_ENABLE__FW__MASK"])
            guest.reg("OS_BOOT_ARG", 0x10001000)
            guest.reg("OS_CTRL", REG["OS_CTRL__CONNECT__MASK"])
            guest.start()
            guest.reset_function()
            guest.assert_silent(self)
            guest.enable()
            for name in ("OS_IRQ_ENABLE", "OS_BOOT_ARG", "OS_CATALOGUE"):
                self.assertEqual(guest.reg(name, size=8 if name == "OS_CATALOGUE" else 4), 0)
            # The connection has not ended: this firmware ends none.
            self.assertEqual(guest.reg("OS_CTRL"), REG["OS_CTRL__CONNECTED__MASK"])
            # The other functions are not affected; this one can be used again.
            self.assertEqual(guest.machine.field("FW_STATUS__STATE"), REG["FW_STATE_RUNNING"])
            guest.map_page()
            guest.wait_for_counts()

    def test_a_system_reset_takes_the_memory_before_the_guest_runs(self):
        """No access of the guest to the configuration space is needed for it."""
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "log"
            trace = ["-trace", "pumice_memory_commit", "-D", str(log)]

            def regions():
                return int(re.findall(r"pumice_memory_commit regions (\d+)", log.read_text())[-1])

            with Guest(more=trace) as guest:
                guest.machine.config(COMMAND, MEMORY_SPACE, size=2)
                self.assertGreater(regions(), 0)
                guest.machine.qmp("system_reset")
                guest.machine.until("reset", lambda: not guest.machine.config(
                    COMMAND, size=2, slot=SLOT) & MEMORY_SPACE)
                self.assertEqual(regions(), 0)

    def test_a_reset_of_the_gpu_disconnects(self):
        with Guest() as guest:
            guest.start()
            guest.reset_function(slot=4)
            guest.assert_silent(self)
            self.assertEqual(guest.reg("OS_CATALOGUE", size=8), 0)
            guest.machine.enable()
            guest.start()

    def test_unplugging_the_function_leaves_the_gpu(self):
        with Guest(board="pc") as guest:
            guest.start()
            guest.unplug("vgpu")
            guest.assert_silent(self)
            machine = guest.machine
            self.assertEqual(machine.field("FW_STATUS__STATE"), REG["FW_STATE_RUNNING"])
            # The page is not one of the device with the GPU again.
            self.assertEqual(machine.reg("OS_INFO", page=1), 0)
            reply = machine.qmp("device_add", driver="pumice-vgpu", id="vgpu", number=1,
                                addr=f"{SLOT:#x}", **{"parent-gpu": "gpu"})
            self.assertEqual(reply, {"return": {}})
            guest.enable()
            self.assertEqual(guest.reg("OS_CATALOGUE", size=8), 0)
            guest.map_page()
            guest.wait_for_counts()

    def test_unplugging_the_gpu_first_leaves_a_dead_function(self):
        with Guest(board="pc") as guest:
            guest.start()
            guest.unplug("gpu")
            guest.assert_silent(self)
            machine = guest.machine
            machine.until("end of threads", lambda: not machine.gpu_threads())
            self.assertEqual(guest.reg("OS_INFO"), 0xffffffff)
            guest.reg("OS_CTRL", 1)
            guest.command(bus_master=False)
            guest.command(bus_master=True)
            guest.reset_function()
            guest.unplug("vgpu")
            # The names are free.
            for driver, name, more in (("pumice", "gpu", {"virtual-gpus": 2}),
                                       ("pumice-vgpu", "vgpu", {"parent-gpu": "gpu", "number": 1})):
                reply = machine.qmp("device_add", driver=driver, id=name,
                                    addr=f"{EJECT[name]:#x}", **more)
                self.assertEqual(reply, {"return": {}})
            machine.enable()
            guest.enable()
            self.assertEqual(guest.reg("OS_INFO"), 2 << 8 | 1)

    def test_migration_is_refused(self):
        with Guest() as guest:
            reply = guest.machine.qmp("migrate", uri="exec:cat >/dev/null")
            self.assertIn("pumice", reply["error"]["desc"])

    def test_a_system_reset_in_the_middle(self):
        with Guest() as guest:
            for _ in range(5):
                guest.start()
                guest.machine.qmp("system_reset")
                guest.machine.until("reset", lambda: not guest.machine.config(
                    COMMAND, size=2, slot=SLOT) & MEMORY_SPACE)
                guest.assert_silent(self)
                guest.machine.enable()
                guest.enable()
                self.assertEqual(guest.reg("OS_CATALOGUE", size=8), 0)

    def test_functions_change_while_the_gpu_writes(self):
        with Guest("virtual-gpus=3,threads=2") as guest:
            guest.start()
            for n in range(50):
                guest.command(bus_master=bool(n & 1))
                guest.machine.config(BARS, PAGE + (n % 8 << 20), slot=SLOT)
                if not n % 10:
                    guest.reset_function()
                    guest.enable()
                    guest.map_page()
            guest.enable()
            guest.map_page()
            guest.wait_for_counts()


if __name__ == "__main__":
    unittest.main()
