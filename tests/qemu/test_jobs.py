# SPDX-License-Identifier: MIT
"""
The machine changes while the GPU runs a job that never ends (endless.py).

Whatever changes, QEMU replies in time; the GPU does not write memory that it has lost; and
the same job can be started again afterwards.
"""

import itertools
import random
import unittest

from endless import MIB, Endless
from machine import BAR0, BAR4, COMMAND, MEMORY_SPACE, REG

STATE = {name[9:]: value for name, value in REG.items() if name.startswith("FW_STATE_")}
BUS_FAULTS = (REG["FAULT_MMU_BUS"], REG["FAULT_MMU_TABLE_BUS"])
# For BAR 0, which has 64 bits: below 4 GiB, and above it beyond the room for DIMMs; for BAR 4.
PLACES = [BAR0, BAR0 + 2 * MIB, 0xc0000000, 0x280000000, 0x4000000000]
PLACES4 = [BAR4, BAR4 + 2 * MIB, 0xc0100000]
SEED = 20261122
STEPS = 250


class JobTest(unittest.TestCase):
    """Shared by the tests below."""

    def setUp(self):
        self.numbers = itertools.count()

    def start(self, threads=2):
        """Return a machine without a job."""
        machine = Endless(threads)
        self.addCleanup(machine.__exit__)
        return machine

    def start_job(self, threads=2):
        """Return a machine with a job that counts in RAM."""
        machine = self.start(threads)
        machine.start_job(machine.ram, machine.ram)
        return machine

    def check_registers_at(self, machine, old=None):
        """Check that registers and MSI-X table are at the addresses of the BARs, and no longer at the
        old ones.
        """
        bar0, bar4 = machine.bars
        for index, address in enumerate((bar0 + REG["FW_ENTRY"], bar4)):
            value = 0x10000 + 16 * next(self.numbers)
            machine.write(address, value)
            self.assertEqual(machine.read(address), value)
            if old and old[index] not in machine.bars:
                former = old[index] + address - machine.bars[index]
                machine.write(former, 0x12345670)
                self.assertNotEqual(machine.read(former), value)
                self.assertEqual(machine.read(address), value)
        self.assertEqual(machine.reg("SYS_ID"), REG["SYS_ID__RESET"])

    def check_no_registers(self, machine):
        """Check that the registers do not respond."""
        self.assertNotEqual(machine.reg("SYS_ID"), REG["SYS_ID__RESET"])

    def check_memory_is_lost(self, machine):
        """Check that nothing is written, and the firmware, without its memory, locks up."""
        self.assertTrue(machine.is_constant(machine.memory))
        machine.until("lock-up", lambda: machine.field("FW_STATUS__STATE") == STATE["LOCKUP"])


class Jobs(JobTest):
    """One kind of change at a time."""

    def test_registers_move_with_the_bars_while_a_job_runs(self):
        for threads in (1, 2):
            machine = self.start_job(threads)
            for n in range(100):
                old = machine.bars
                machine.move(PLACES[n % 5], PLACES4[n % 3])
                self.check_registers_at(machine, old)
                machine.command(memory=False)
                self.check_no_registers(machine)
                machine.command()
            machine.until_job_runs()
            self.assertEqual(machine.word("jobs_faulted"), 0)
            self.assertEqual(machine.end(), 0)

    def test_without_bus_mastering_nothing_is_written(self):
        machine = self.start_job()
        for _ in range(20):
            machine.command(bus_master=False)
            self.check_memory_is_lost(machine)
            machine.command()
            self.assertTrue(machine.is_constant(machine.memory))
            machine.reset_by_register()
            machine.start_job(machine.ram, machine.ram)
        self.assertEqual(machine.end(), 0)

    def test_function_level_reset_ends_the_job(self):
        machine = self.start()
        fresh = machine.registers()
        for _ in range(10):
            machine.start_job(machine.ram, machine.ram)
            self.assertNotEqual(machine.registers(), fresh)
            machine.function_level_reset()
            before = machine.memory()
            machine.enable()
            self.assertTrue(machine.is_constant(machine.memory))
            self.assertEqual(machine.memory(), before)
            self.assertEqual(machine.registers(), fresh)
        self.assertEqual(machine.end(), 0)

    def test_a_job_whose_memory_is_unplugged_faults(self):
        machine = self.start()
        for _ in range(10):
            machine.start_job(machine.ram, machine.dimm)
            machine.unplug_dimm()
            self.assertFalse(machine.has_device("slot"))
            before = machine.counters()
            # Of the words that are checked, the firmware writes the address last.
            machine.until("fault", lambda: machine.word("fault_address", "<Q"))
            self.assertEqual(machine.word("jobs_faulted"), 1)
            self.assertIn(machine.word("fault", "<B"), BUS_FAULTS)
            self.assertEqual(machine.word("fault_address", "<Q") & ~31,
                             machine.job["counters_va"])
            self.assertTrue(machine.is_constant(machine.counters))
            self.assertEqual(machine.counters(), before)
            self.assertEqual(machine.plug_dimm(), {"return": {}})
            machine.reset_by_register()
        self.assertEqual(machine.end(), 0)

    def test_firmware_whose_memory_is_unplugged_locks_up(self):
        machine = self.start()
        for _ in range(10):
            machine.start_job(machine.dimm, machine.ram)
            machine.unplug_dimm()
            self.assertFalse(machine.has_device("slot"))
            self.check_memory_is_lost(machine)
            self.assertEqual(machine.plug_dimm(), {"return": {}})
            machine.reset_by_register()
        self.assertEqual(machine.end(), 0)

    def test_unplugging_the_gpu_ends_its_job(self):
        machine = self.start()
        for _ in range(10):
            machine.start_job(machine.ram, machine.dimm)
            machine.unplug_gpu()
            self.assertEqual(machine.config(0), 0xffffffff)
            self.assertFalse(machine.has_device("gpu"))
            machine.until("end of threads", lambda: not machine.gpu_threads())
            self.assertTrue(machine.is_constant(machine.memory))
            self.assertEqual(machine.plug_gpu(), {"return": {}})
            machine.enable()
        self.assertEqual(machine.end(), 0)

    def test_qemu_ends_while_a_job_runs(self):
        for threads in (1, 4):
            self.assertEqual(self.start_job(threads).end(), 0)



class RandomChanges:
    """
    Changes of one machine, and what they make of its job: RUNS, it counts; FAULTED, it does
    not, but the firmware may write; LOST, nothing writes; UNKNOWN, it may or may not have
    accessed memory while it was unplugged.
    """

    RUNS, FAULTED, LOST, UNKNOWN = range(4)

    def __init__(self, test, machine, chance):
        self.test, self.machine, self.chance = test, machine, chance
        self.job = self.LOST
        self.bus_master = self.dimm = True
        self.history = []
        self.stopped_too = [self.move_bars, self.hide_bars, self.end_bus_mastering,
                            self.interrupt_bus_mastering, self.reset_function,
                            self.change_dimm, self.change_gpu]
        self.changes = [*self.stopped_too, self.reset_system, self.stop_for_a_while]
        self.start_job()

    def step(self):
        """Apply the next change and check its consequences."""
        if self.job != self.RUNS and self.chance.random() < 0.7:
            change = self.start_job
        else:
            change = self.chance.choice(self.changes)
        self.history.append(change.__name__)
        change()
        self.check()

    def check(self):
        """Check what must be true of the job now."""
        machine = self.machine
        if self.job == self.RUNS:
            machine.until_job_runs()
        elif self.job == self.FAULTED:
            self.test.assertTrue(machine.is_constant(machine.counters))
        elif self.job == self.LOST:
            self.test.assertTrue(machine.is_constant(machine.memory))

    def start_job(self):
        """Start the job again, in any memory present."""
        machine = self.machine
        memories = [machine.ram, machine.dimm] if self.dimm else [machine.ram]
        machine.command()
        self.bus_master = True
        machine.reset_by_register()
        machine.start_job(self.chance.choice(memories), self.chance.choice(memories))
        self.job = self.RUNS

    def move_bars(self):
        """Move both BARs anywhere."""
        old = self.machine.bars
        self.machine.move(self.chance.choice(PLACES), self.chance.choice(PLACES4))
        self.test.check_registers_at(self.machine, old)

    def hide_bars(self):
        """Switch memory decoding off and on."""
        self.machine.command(memory=False, bus_master=self.bus_master)
        self.test.check_no_registers(self.machine)
        self.machine.command(bus_master=self.bus_master)

    def end_bus_mastering(self):
        """Switch bus mastering off until the next job."""
        self.machine.command(bus_master=False)
        self.bus_master = False
        self.job = self.LOST

    def interrupt_bus_mastering(self):
        """Switch bus mastering off and on faster than the GPU may notice."""
        for n in range(2 * self.chance.randrange(1, 10)):
            self.machine.command(bus_master=n % 2)
        self.bus_master = True
        self.job = self.UNKNOWN

    def after_reset(self):
        """Configure a device that is as after power-on."""
        self.machine.enable()
        self.bus_master = True
        self.job = self.LOST

    def reset_function(self):
        """Reset the function (FLR)."""
        self.machine.function_level_reset()
        self.after_reset()

    def reset_system(self):
        """Reset the whole machine."""
        machine = self.machine
        machine.qmp("system_reset")
        machine.until("reset", lambda: not machine.config(COMMAND, size=2) & MEMORY_SPACE)
        self.after_reset()

    def stop_for_a_while(self):
        """Stop the machine: nothing is written, whatever else changes; then continue."""
        machine = self.machine
        self.test.assertEqual(machine.qmp("stop"), {"return": {}})
        self.test.assertTrue(machine.is_constant(machine.memory))
        change = self.chance.choice(self.stopped_too)
        self.history.append(change.__name__)
        change()
        self.test.assertTrue(machine.is_constant(machine.memory))
        self.test.assertEqual(machine.qmp("cont"), {"return": {}})

    def change_dimm(self):
        """Remove the DIMM, or add it again."""
        machine, self.dimm = self.machine, not self.dimm
        (machine.plug_dimm if self.dimm else machine.unplug_dimm)()
        self.test.assertEqual(machine.has_device("slot"), self.dimm)
        if machine.dimm not in (machine.home, machine.counted):
            return
        if self.dimm:
            self.job = self.UNKNOWN
        elif self.job == self.RUNS:
            self.job = self.LOST if machine.home is machine.dimm else self.FAULTED

    def change_gpu(self):
        """Replace the GPU by a new one."""
        machine = self.machine
        machine.unplug_gpu()
        self.test.assertFalse(machine.has_device("gpu"))
        self.test.assertTrue(machine.is_constant(machine.memory))
        self.test.assertEqual(machine.plug_gpu(), {"return": {}})
        self.after_reset()


class Storm(JobTest):
    """All changes in random order."""

    def storm(self, threads):
        """Apply many changes to one machine."""
        changes = RandomChanges(self, self.start(threads), random.Random(SEED + threads))
        for _ in range(STEPS):
            try:
                changes.step()
            except Exception as error:
                raise AssertionError(f"{threads} threads: {changes.history}") from error
        self.assertEqual(changes.machine.end(), 0)

    def test_changes_in_any_order_with_one_thread(self):
        self.storm(1)

    def test_changes_in_any_order_with_three_threads(self):
        self.storm(3)


if __name__ == "__main__":
    unittest.main()
