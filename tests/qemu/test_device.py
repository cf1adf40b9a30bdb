# SPDX-License-Identifier: MIT
"""The PCI device, as a guest without a driver sees it."""

import contextlib
import itertools
import pathlib
import subprocess
import tempfile
import unittest

from machine import (BAR0, BARS, BUS_MASTER, CAP_EXPRESS, CAP_MSIX, CAP_PM, COMMAND, BAR4,
                     MEMORY_SPACE, Machine, REG, command_line, refused)

# RV32: sleep for good; an illegal instruction.
SLEEPER = [0x10500073, 0xffdff06f]
BROKEN = [0xffffffff]

STATE = {name[9:]: value for name, value in REG.items() if name.startswith("FW_STATE_")}
ERROR = {name[14:]: value for name, value in REG.items() if name.startswith("FW_BOOT_ERROR_")}
DEVICE_CONTROL_FLR = 0x8000
DEVICE_CAPABILITY_FLR = 1 << 28


class Properties(unittest.TestCase):
    """Properties that -device accepts."""

    def test_values_out_of_range_are_refused_with_the_range(self):
        cases = [("cores=0", "1 to 16"), ("cores=17", "1 to 16"), ("threads=65", "0 to 64"),
                 ("virtual-gpus=0", "1 to 8"), ("virtual-gpus=9", "1 to 8"),
                 ("unified-store-kib=0", "1 to 4095"), ("unified-store-kib=4096", "1 to 4095"),
                 ("common-store-kib=1024", "1 to 1023"), ("local-memory-kib=1024", "1 to 1023"),
                 ("slot-registers=9", "0 to 8"), ("slot-registers=4294967294", "0 to 8"),
                 ("uscs=0", "1 to 4"), ("uscs=5", "1 to 4"), ("slots=49", "1 to 48"),
                 ("tasks=65", "1 to 64"), ("waves=193", "1 to 192"), ("batch=15", "16 to 128"),
                 ("vpm-kib=0", "1 to 4096"), ("idx-fifo=4097", "1 to 4096"),
                 ("chunk-fifo=5", "1 to 4"), ("tile-fifo=65", "1 to 64"),
                 ("tsp-vertices=2048", "4 to 1024"), ("tsp-vertices=96", "power of two"),
                 ("slc-kib=8", "16 to 65536"), ("data-l1-bytes=128", "256 to 1048576"),
                 ("data-l2-bytes=0", "256 to 1048576"), ("texture-l1-bytes=255", "256 to 1048576"),
                 ("texture-l2-bytes=2097152", "256 to 1048576")]
        for properties, text in cases:
            with self.subTest(properties):
                said = refused(properties)
                self.assertIn(properties.split("=", maxsplit=1)[0], said)
                self.assertIn(text, said)

    def test_descriptions_of_caches_have_the_limits(self):
        """Each by itself: the help is sorted by name."""
        text = subprocess.run(command_line("pumice,help"), capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, check=True, timeout=60).stdout
        lines = {line.split("=")[0].strip(): line for line in text.splitlines()}
        self.assertRegex(lines["slc-kib"], "KiB, a power of two from 16 to 65536, at least a line for each "
                         "way of each bank; .* mode counted")
        for cache in ("data-l1", "data-l2", "texture-l1", "texture-l2"):
            self.assertRegex(lines[cache + "-bytes"],
                             "bytes, a power of two from 256 to 1048576, at least a line for each "
                             "way of the preset; .* mode counted")
        self.assertNotIn("the same", text)

    def test_sizes_that_contradict_each_other_are_refused(self):
        cases = [("slc-kib=48", "16 to 65536 KiB, a power of two"),
                 ("texture-l2-bytes=768", "256 to 1048576 bytes, a power of two"),
                 ("preset=volcano", "must be default, volcanic, waves, sgx543mp4 or"),
                 ("batch=48", "16, 32, 64, 96 or 128"),
                 ("waves=3", "more waves than a USC"),
                 ("tasks=47", "tasks must be at least as many as slots"),
                 ("late=soon", "late must be early, data or poison"),
                 ("pixel-outputs=tile", "pixel-outputs must be common or partition")]
        for properties, text in cases:
            with self.subTest(properties):
                self.assertIn(text, refused(properties))

    def test_preset_sets_the_sizes_that_properties_do_not(self):
        with Machine("preset=waves,cores=2,slot-registers=0") as machine:
            machine.enable()
            self.assertEqual(machine.field("SYS_SHAPE__PRESET"), REG["PRESET_WAVES"])
            self.assertEqual(machine.field("SYS_CONFIG__CORES"), 2)
            self.assertEqual(machine.field("SYS_CONFIG__USCS"), 2)
            self.assertEqual(machine.field("SYS_CONFIG__SLOTS"), 2)
            self.assertEqual(machine.field("SYS_SHAPE__WAVES"), 2)
            self.assertEqual(machine.field("SYS_SHAPE__GROUP"), 64)
            self.assertEqual(machine.field("SYS_STORES__UNIFIED_KIB"), 12)
            self.assertEqual(machine.field("SYS_REGISTERS__SLOT"), 0)
            # The values that a user inspects are the effective ones.
            self.assertEqual(machine.property("cores"), 2)
            self.assertEqual(machine.property("batch"), 64)
            self.assertEqual(machine.property("slot-registers"), 0)

    def test_registers_report_the_properties(self):
        properties = ("cores=16,threads=1,unified-store-kib=128,common-store-kib=32,"
                      "local-memory-kib=16")
        with Machine(properties) as machine:
            machine.enable()
            self.assertEqual(machine.field("SYS_CONFIG__CORES"), 16)
            self.assertEqual(machine.field("SYS_CONFIG__OSES"), 1)
            self.assertEqual(machine.field("SYS_STORES__UNIFIED_KIB"), 128)
            self.assertEqual(machine.field("SYS_STORES__COMMON_KIB"), 32)
            self.assertEqual(machine.field("SYS_STORES__LOCAL_KIB"), 16)

    def test_the_sizes_of_caches_are_those_of_the_properties(self):
        sizes = {"slc-kib": 32, "data-l1-bytes": 256, "data-l2-bytes": 512,
                 "texture-l1-bytes": 1024, "texture-l2-bytes": 2048}
        names = {"slc-kib": "SLC", "data-l1-bytes": "DATA_L1", "data-l2-bytes": "DATA_L2",
                 "texture-l1-bytes": "TEXTURE_L1", "texture-l2-bytes": "TEXTURE_L2"}
        with Machine(",".join(f"{name}={size}" for name, size in sizes.items())) as machine:
            machine.enable()
            for name, size in sizes.items():
                size_bytes = size << 10 if name.endswith("-kib") else size
                with self.subTest(name=name):
                    self.assertEqual(1 << machine.field(f"SYS_CACHES__{names[name]}"), size_bytes)
                    self.assertEqual(machine.property(name), size)

    def test_the_sizes_of_units_are_those_of_the_properties(self):
        names = {"vpm-kib": "VPM_KIB", "idx-fifo": "IDX_FIFO", "chunk-fifo": "CHUNK_FIFO",
                 "tile-fifo": "TILE_FIFO", "tsp-vertices": "TSP_VERTICES"}
        sizes = {"vpm-kib": 4096, "idx-fifo": 33, "chunk-fifo": 3, "tile-fifo": 64,
                 "tsp-vertices": 1024}
        with Machine(",".join(f"{name}={size}" for name, size in sizes.items())) as machine:
            machine.enable()
            units = machine.reg("SYS_UNITS", size=8)
            for name, size in sizes.items():
                field = f"SYS_UNITS__{names[name]}"
                with self.subTest(name=name):
                    value = (units & REG[field + "__MASK"]) >> REG[field + "__SHIFT"]
                    self.assertEqual(value, size)

    def test_slot_registers_leave_the_rest_as_internal_registers(self):
        for slot in (0, 1, 4, 8):
            with Machine(f"slot-registers={slot}") as machine:
                machine.enable()
                self.assertEqual(machine.field("SYS_REGISTERS__SLOT"), slot)
                self.assertEqual(machine.field("SYS_REGISTERS__INTERNAL"), 8 - slot)

    def test_units_of_data_masters_are_reached_as_the_register_map_defines(self):
        with Machine() as machine:
            machine.enable()
            self.assertEqual(machine.reg("PDS_CTRL"), REG["PDS_CTRL__RESET"])
            machine.reg("PDS_CDM_LOCAL", 0x12345)
            self.assertEqual(machine.reg("PDS_CDM_LOCAL"), 0x12345)
            machine.reg("TRACE_BASE", 0x1122334455, size=8)
            self.assertEqual(machine.read(BAR0 + REG["TRACE_BASE"] + 4), 0x11)
            machine.reg("CDM_TAG", 0x1122334455, size=8)
            self.assertEqual(machine.reg("CDM_TAG", size=8), 0)
            machine.reg("PERF_CTRL", 0xffffffff)
            self.assertEqual(machine.reg("PERF_CTRL"), REG["PERF_CTRL__DETAIL__MASK"])


class Pci(unittest.TestCase):
    """Configuration space, BARs, DMA, interrupts, resets."""

    def test_configuration_space_identifies_the_device(self):
        with Machine() as machine:
            self.assertEqual(machine.config(0), REG["PCI_DEVICE"] << 16 | REG["PCI_VENDOR"])
            self.assertEqual(machine.config(8) >> 8, 0x030200)
            sizes = []
            for bar in (0, 4):
                machine.config(BARS + 4 * bar, 0xffffffff)
                sizes.append(1 + ~(machine.config(BARS + 4 * bar) & ~0xf) % (1 << 32))
            self.assertEqual(sizes[0], REG["OS_COUNT"] * REG["OS_PAGE_SIZE"])
            msix = machine.capability(CAP_MSIX)
            self.assertEqual(machine.config(msix + 2, size=2) & 0x7ff, REG["OS_COUNT"] - 1)
            self.assertEqual(machine.config(msix + 4) & 7, 4)
            self.assertIsNotNone(machine.capability(CAP_PM))
            express = machine.capability(CAP_EXPRESS)
            self.assertTrue(machine.config(express + 4) & DEVICE_CAPABILITY_FLR)

    def test_registers_are_in_pages_of_bar_0(self):
        with Machine() as machine:
            machine.enable()
            self.assertEqual(machine.reg("SYS_ID"), REG["SYS_ID__RESET"])
            self.assertEqual(machine.reg("SYS_CLOCK_HZ"), 1000000000)
            machine.reg("FW_BOOT_ARG", 0x1122334455667788, size=8)
            self.assertEqual(machine.reg("FW_BOOT_ARG", size=8), 0x1122334455667788)
            self.assertEqual(machine.read(BAR0 + REG["FW_BOOT_ARG"] + 4), 0x11223344)
            for page in range(1, REG["OS_COUNT"]):
                self.assertEqual(machine.reg("SYS_ID", page=page), 0)

    def test_pages_of_virtual_gpus_are_active(self):
        with Machine("virtual-gpus=3") as machine:
            machine.enable()
            self.assertEqual(machine.field("SYS_CONFIG__OSES"), 3)
            for page in range(REG["OS_COUNT"]):
                info = machine.reg("OS_INFO", page=page)
                self.assertEqual(info, page | 3 << 8 if page < 3 else 0)
                machine.reg("OS_BOOT_ARG", 0x1000 * page, page=page)
            for page in range(REG["OS_COUNT"]):
                self.assertEqual(machine.reg("OS_BOOT_ARG", page=page),
                                 0x1000 * page if page < 3 else 0)

    def test_the_gpu_reaches_memory_only_as_bus_master(self):
        for threads in (1, 2):
            with Machine(f"threads={threads}") as machine:
                machine.enable(bus_master=False)
                machine.start_firmware(SLEEPER)
                machine.until("boot", lambda: machine.field("FW_STATUS__STATE") != STATE["OFF"])
                self.assertEqual(machine.field("FW_STATUS__STATE"), STATE["BOOT_FAILED"])
                self.assertEqual(machine.field("FW_STATUS__BOOT_ERROR"), ERROR["ADDR"])
                machine.config(COMMAND, MEMORY_SPACE | BUS_MASTER, size=2)
                machine.start_firmware(SLEEPER)
                machine.until("boot", lambda: machine.field("FW_STATUS__STATE") != STATE["OFF"])
                self.assertEqual(machine.field("FW_STATUS__STATE"), STATE["RUNNING"])

    def test_other_devices_are_not_memory(self):
        with Machine() as machine:
            machine.enable()
            for address in (BAR0, BAR4, 0xfee00000, 0xb0000000):
                machine.start_firmware(SLEEPER)
                machine.reg("FW_CTRL", 0)
                machine.reg("FW_IMAGE_ADDR", address, size=8)
                machine.reg("FW_CTRL", 1)
                machine.until("boot", lambda: machine.field("FW_STATUS__STATE") != STATE["OFF"])
                self.assertEqual(machine.field("FW_STATUS__BOOT_ERROR"), ERROR["ADDR"])

    def program_vector(self, machine, vector, address, data, masked):
        """Fill a row of the MSI-X table."""
        row = BAR4 + 16 * vector
        machine.write(row, address)
        machine.write(row + 4, 0)
        machine.write(row + 8, data)
        machine.write(row + 12, int(masked))

    def test_interrupts_go_out_by_msi_x_and_wait_while_masked(self):
        mailbox = 0x100000
        for threads in (1, 2):
            with Machine(f"threads={threads}") as machine:
                machine.enable()
                self.program_vector(machine, 0, mailbox, 0xabcd, True)
                msix = machine.capability(CAP_MSIX)
                machine.config(msix + 2, 0x8000, size=2)
                machine.reg("OS_IRQ_ENABLE", REG["OS_IRQ_ENABLE__LOCKUP__MASK"])
                machine.start_firmware(BROKEN)
                pending = BAR4 + (machine.config(msix + 8) & ~7)
                machine.until("pending bit", lambda: machine.read(pending) & 1)
                self.assertEqual(machine.reg("OS_IRQ_STATUS"),
                                 REG["OS_IRQ_STATUS__LOCKUP__MASK"])
                self.assertEqual(machine.read(mailbox), 0)
                machine.write(BAR4 + 12, 0)
                machine.until("interrupt", lambda: machine.read(mailbox) == 0xabcd)
                self.assertEqual(machine.read(pending) & 1, 0)

    def test_function_level_reset_puts_registers_back(self):
        with Machine() as machine:
            machine.enable()
            machine.start_firmware(SLEEPER)
            machine.until("boot", lambda: machine.field("FW_STATUS__STATE") == STATE["RUNNING"])
            express = machine.capability(CAP_EXPRESS)
            control = machine.config(express + 8, size=2)
            machine.config(express + 8, control | DEVICE_CONTROL_FLR, size=2)
            machine.enable()
            self.assertEqual(machine.field("FW_STATUS__STATE"), STATE["OFF"])
            self.assertEqual(machine.reg("FW_IMAGE_SIZE"), 0)
            machine.start_firmware(SLEEPER)
            machine.until("boot", lambda: machine.field("FW_STATUS__STATE") == STATE["RUNNING"])

    def test_system_reset_resets_the_registers(self):
        with Machine() as machine:
            machine.enable()
            machine.start_firmware(SLEEPER)
            machine.until("boot", lambda: machine.field("FW_STATUS__STATE") == STATE["RUNNING"])
            machine.qmp("system_reset")
            machine.until("reset", lambda: not machine.config(COMMAND, size=2) & MEMORY_SPACE)
            machine.enable()
            self.assertEqual(machine.field("FW_STATUS__STATE"), STATE["OFF"])
            self.assertEqual(machine.reg("FW_IMAGE_ADDR", size=8), 0)

    def test_accesses_of_one_and_two_bytes_change_nothing(self):
        with Machine() as machine:
            machine.enable()
            machine.reg("FW_ENTRY", 0x11223344)
            for word in ("writeb", "writew"):
                machine.qtest(word, hex(BAR0 + REG["FW_ENTRY"]), "0xff")
            self.assertEqual(machine.reg("FW_ENTRY"), 0x11223344)


class Time(unittest.TestCase):
    """Threads that run the GPU, and the times at which they do."""

    def test_the_gpu_has_as_many_threads_as_requested(self):
        for threads in (0, 1, 3):
            with Machine(f"threads={threads}") as machine:
                machine.enable()
                machine.start_firmware(SLEEPER)
                machine.until("boot", lambda: machine.field("FW_STATUS__STATE") == STATE["RUNNING"])
                self.assertEqual(machine.gpu_threads(), threads)

    def test_without_threads_the_firmwares_timer_follows_the_virtual_clock(self):
        # lui s0, bus + IC; TIMECMP = 2^20; mie = timer; wfi; then an illegal instruction.
        timer = [0x10004437, 0x00042a23, 0x001002b7, 0x00542823, 0x08000293, 0x30429073,
                 0x10500073, 0xffffffff]
        with Machine("threads=0") as machine:
            machine.enable()
            machine.start_firmware(timer)
            machine.qtest("clock_step", 1000)
            self.assertEqual(machine.field("FW_STATUS__STATE"), STATE["RUNNING"])
            machine.qtest("clock_step", (1 << 20) - 5000)
            self.assertEqual(machine.field("FW_STATUS__STATE"), STATE["RUNNING"])
            machine.qtest("clock_step", 100000)
            self.assertEqual(machine.field("FW_STATUS__STATE"), STATE["LOCKUP"])

    def test_a_stopped_machine_holds_the_gpu(self):
        with Machine("threads=2") as machine:
            machine.enable()
            machine.qmp("stop")
            machine.start_firmware(SLEEPER)
            for _ in range(100):
                self.assertEqual(machine.field("FW_STATUS__STATE"), STATE["OFF"])
            machine.qmp("cont")
            machine.until("boot", lambda: machine.field("FW_STATUS__STATE") == STATE["RUNNING"])

    def test_the_clock_register_is_the_virtual_clock(self):
        with Machine() as machine:
            machine.enable()
            before = machine.reg("SYS_CLOCK", size=8)
            machine.qtest("clock_step", 12345678)
            self.assertEqual(machine.reg("SYS_CLOCK", size=8) - before, 12345678)


@contextlib.contextmanager
def logged(what, properties=""):
    """Start a machine with QEMU's log; yield it and a function that reads its lines."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "log"
        with Machine(properties, more=[*what, "-D", str(path)]) as machine:
            machine.enable()
            yield machine, lambda: path.read_text().splitlines()


class Host(unittest.TestCase):
    """Costs of a guest to the host."""

    def test_a_bar_that_moves_does_not_change_the_memory_map_of_the_gpu(self):
        with logged(["-trace", "pumice_memory_commit"]) as (machine, lines):
            before = len(lines())
            self.assertGreater(before, 0)
            for n in range(8):
                machine.config(BARS, BAR0 + (n << 20))
                self.assertEqual(machine.config(BARS) & ~15, BAR0 + (n << 20))
            self.assertEqual(len(lines()), before)
            machine.config(COMMAND, MEMORY_SPACE, size=2)
            self.assertEqual(len(lines()), before + 1)

    def test_lines_about_the_guest_are_few_and_the_others_are_counted(self):
        with logged(["-d", "guest_errors"]) as (machine, lines):
            reads = 0
            for reads in itertools.count(1):
                machine.read(BAR0 + REG["OS_PAGE_SIZE"] - 8)
                if any("lines suppressed" in line for line in lines()):
                    break
            about = [line for line in lines() if "pumice: register read" in line]
            suppressed = [int(line.split()[1]) for line in lines() if "suppressed" in line]
            # Each access is a line or is counted, and the line about the count is one more.
            self.assertEqual(len(about) + sum(suppressed), reads)
            self.assertGreater(suppressed[0], 0)


# RV32: s0 = bus; s1 and s2 run over the registers and the values. Stores to every register
# of the firmware's bus in turn and loads it, again and again.
def storm(stride):
    """Return firmware that stores to all registers of its bus."""
    return [
        0x10000437,                     # lui s0, 0x10000
        0x00000493,                     # li s1, 0
        0x12345937,                     # lui s2, 0x12345
        0x00940333,                     # 1: add t1, s0, s1
        0x01232023,                     # sw s2, 0(t1)
        0x00032383,                     # lw t2, 0(t1)
        0x00790933,                     # add s2, s2, t2
        0x00190913,                     # addi s2, s2, 1
        stride << 20 | 0x00048493,      # addi s1, s1, stride
        0x01049493,                     # slli s1, s1, 16
        0x0104d493,                     # srli s1, s1, 16
        0xfe1ff06f,                     # j 1b
    ]


class Storm(unittest.TestCase):
    """The machine changes around a GPU whose firmware does anything it can."""

    def start(self, machine, stride):
        """Start firmware that accesses all registers, without interrupts."""
        machine.enable()
        machine.start_firmware(storm(stride))
        machine.until("boot", lambda: machine.field("FW_STATUS__STATE") == STATE["RUNNING"])

    def test_bars_move_and_bus_mastering_is_switched(self):
        with Machine("threads=2") as machine:
            self.start(machine, 4)
            for n in range(100):
                machine.config(BARS, BAR0 + (n % 8 << 20))
                machine.config(COMMAND, MEMORY_SPACE | (BUS_MASTER if n & 1 else 0), size=2)
            machine.enable()
            self.assertEqual(machine.field("SYS_CONFIG__OSES"), 1)

    def test_the_machine_can_be_stopped_and_resumed(self):
        with Machine("threads=2") as machine:
            self.start(machine, 12)
            for _ in range(50):
                self.assertEqual(machine.qmp("stop"), {"return": {}})
                self.assertEqual(machine.qmp("cont"), {"return": {}})
            self.assertEqual(machine.field("SYS_CONFIG__OSES"), 1)

    def test_function_level_resets_in_the_middle(self):
        with Machine("threads=2") as machine:
            for n in range(20):
                self.start(machine, 4 + 4 * n)
                express = machine.capability(CAP_EXPRESS)
                control = machine.config(express + 8, size=2)
                machine.config(express + 8, control | DEVICE_CONTROL_FLR, size=2)
                machine.enable()
                self.assertEqual(machine.field("FW_STATUS__STATE"), STATE["OFF"])


class Life(unittest.TestCase):
    """Plugging, migration."""

    def test_migration_is_refused(self):
        with Machine() as machine:
            reply = machine.qmp("migrate", uri="exec:cat >/dev/null")
            self.assertIn("pumice", reply["error"]["desc"])

    def test_a_second_gpu_is_plugged_into_a_root_port(self):
        with Machine(more=["-device", "pcie-root-port,id=rp,chassis=1,slot=1"]) as machine:
            reply = machine.qmp("device_add", driver="pumice", id="second", bus="rp", cores=2)
            self.assertEqual(reply, {"return": {}})
            reply = machine.qmp("device_add", driver="pumice", id="third", bus="rp", cores=99)
            self.assertIn("error", reply)


if __name__ == "__main__":
    unittest.main()
