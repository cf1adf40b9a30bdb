# SPDX-License-Identifier: MIT
"""
GDB debugs the firmware of a GPU in a process and of the GPU in QEMU.

GDB runs with a script and the firmware's ELF file. Where the test must act between two of its
commands, GDB writes a line into a FIFO (SIGNAL). The process whose GPU is debugged computes the
right results afterwards; the job in QEMU runs.
"""

import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "qemu"))
from endless import Endless  # noqa: E402
from machine import BUILD, PATIENCE, REG, TOP  # noqa: E402

FIRMWARE = BUILD / "firmware/pumice_fw.bin"
ELF = BUILD / "firmware/pumice_fw.elf"
JOB = BUILD / "native/tests/gdb/gdb_job"
# Registers, as the firmware addresses them; the first is SYS_ID.
BUS = REG["FW_BUS_BASE"] + REG["SYS_ID"]
# An error ends a script; this prints it.
ATTEMPT = ["python", "def attempt(text):", "    try: gdb.execute(text)",
           "    except gdb.error as error: print('error:', error)", "end"]


class Debugger:
    """gdb-multiarch with a script; output() waits for its end."""

    def __init__(self, folder, socket_path, commands):
        # One for each: the end of a FIFO that was just read may still be open.
        self.fifos = []
        for index, line in enumerate(commands):
            if line == "SIGNAL":
                self.fifos.append(f"{folder}/fifo-{index}")
                os.mkfifo(self.fifos[-1])
        unused = iter(list(self.fifos))
        script = pathlib.Path(folder) / "script"
        script.write_text("\n".join([
            "set pagination off", "set confirm off", "set width 0",
            f"set remotetimeout {PATIENCE}", f"target remote {socket_path}",
            *(f"shell echo >{next(unused)}" if line == "SIGNAL" else line
              for line in commands)]) + "\n")
        self.process = subprocess.Popen(
            ["gdb-multiarch", "-nx", "-batch", "-x", str(script), str(ELF)], cwd=TOP,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def wait_for_signal(self):
        """Wait until GDB has come to the next command SIGNAL."""
        with open(self.fifos.pop(0), encoding="ascii") as fifo:
            fifo.readline()

    def output(self):
        """Return the text that it has printed."""
        try:
            return self.process.communicate(timeout=PATIENCE)[0]
        except subprocess.TimeoutExpired as expired:
            raise TimeoutError(f"GDB does not end: {expired.output}") from expired


class FirmwareTest(unittest.TestCase):
    """Shared by the tests below."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = f"{self.folder}/gdb"

    def debug(self, commands):
        """Start GDB."""
        gdb = Debugger(self.folder, self.path, commands)
        self.addCleanup(gdb.process.stdout.close)
        self.addCleanup(gdb.process.wait)
        self.addCleanup(gdb.process.kill)
        return gdb

    def check_order(self, output, *patterns):
        """Check that the patterns are found in the output, in this order."""
        at = 0
        for pattern in patterns:
            found = re.compile(pattern, re.MULTILINE).search(output, at)
            self.assertTrue(found, f"no {pattern!r} after {output[:at][-200:]!r} in:\n{output}")
            at = found.end()


# A job is started by the background loop, not by an interrupt task.
AT_START_OF_JOB = [
    r"^Breakpoint \d+, dm_start \(", r"^#0 +dm_start \(", r" sched_start_next \(",
    r" sched_check_dependencies \(", r" fw_main \("]


class InProcess(FirmwareTest):
    """A GPU in a process (libpumice, option fw-gdb)."""

    def start(self, device="inproc:cores=1,threads=1,fw-gdb="):
        """Start the process; returns it when its device is open."""
        job = subprocess.Popen([JOB, device + self.path], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "PUMICE_FIRMWARE": str(FIRMWARE)})
        for end in (job.stdin.close, job.stdout.close, job.wait, job.kill):
            self.addCleanup(end)
        self.assertEqual(job.stdout.readline(), "ready\n")
        return job

    def run_job(self, job):
        """Run a job, and expect the right results."""
        job.stdin.write("\n")
        job.stdin.flush()
        self.assertEqual(job.stdout.readline(), "right\n")

    def test_break_backtrace_step_variable_and_the_job_is_right(self):
        job = self.start()
        gdb = self.debug(["break dm_start", "SIGNAL", "continue", "backtrace",
                          "print c->dm", "print fw_boot->jobs_started", "print $pc", "stepi",
                          "print $pc", "next", "info registers mstatus mtvec",
                          "delete", "detach"])
        gdb.wait_for_signal()
        self.run_job(job)
        output = gdb.output()
        self.check_order(output, *AT_START_OF_JOB, r"^\$1 = 0$", r"^\$2 = 0$", r"^\$3 = .* 0x",
                         r"^\$4 = .* 0x", r"^mstatus +0x1880", r"^mtvec +0x",
                         r"detached\]$")
        pcs = re.findall(r"^\$[34] = .*?(0x[0-9a-f]+)", output, re.MULTILINE)
        self.assertIn(int(pcs[1], 0) - int(pcs[0], 0), (2, 4))
        self.run_job(job)

    def test_a_breakpoint_is_met_by_each_job(self):
        job = self.start()
        gdb = self.debug(["break dm_start", "commands", "silent", "print fw_boot->jobs_started",
                          "end", "SIGNAL", "continue", "continue", "continue", "detach"])
        gdb.wait_for_signal()
        for _ in range(3):
            job.stdin.write("\n")
        job.stdin.flush()
        output = gdb.output()
        self.check_order(output, r"^\$1 = 0$", r"^\$2 = 1$", r"^\$3 = 2$", r"detached\]$")
        for _ in range(3):
            self.assertEqual(job.stdout.readline(), "right\n")

    def test_memory_and_variables_are_written(self):
        job = self.start()
        gdb = self.debug([
            *ATTEMPT, "print fw_boot->magic", "set var fw_boot->log_level = 1",
            "print fw_boot->log_level",
            "python attempt('print *(unsigned int *)0xf0000000 = 1')",
            f"python attempt('print *(unsigned int *){BUS:#x}')", "monitor mmio on",
            f"print/x *(unsigned int *){BUS:#x}",
            f"python attempt('print *(unsigned int *){BUS:#x} = 1')",
            "set var $mscratch = 0x1234", "print/x $mscratch", "detach"])
        self.check_order(gdb.output(), r"^\$1 = [1-9]", r"^\$2 = 1$",
                         r"^error: Cannot access memory at .*0xf0000000",
                         rf"^error: Cannot access memory at .*{BUS:#x}",
                         "^words of the firmware bus are read", rf"^\$3 = {REG['SYS_ID__RESET']:#x}$",
                         rf"^error: Cannot access memory at .*{BUS:#x}",
                         r"^\$4 = 0x1234$", r"detached\]$")
        self.run_job(job)

    def test_step_into_a_function_and_finish_it(self):
        job = self.start()
        gdb = self.debug(["break dm_start", "SIGNAL", "continue", "break caches_start", "continue",
                          "finish", "tbreak sched_job_ended", "continue", "detach"])
        gdb.wait_for_signal()
        self.run_job(job)
        self.check_order(gdb.output(), r"^Breakpoint 1, dm_start",
                         r"^Breakpoint 2(\.\d+)?, .*caches_start", r"dm_start .*dm\.c",
                         r"^Temporary breakpoint", r"detached\]$")

    def test_an_interrupt_halts_a_processor_that_sleeps(self):
        job = self.start()
        with socket.socket(socket.AF_UNIX) as peer, peer.makefile("rb") as replies:
            peer.connect(self.path)
            # Halted, it sleeps on; then it is interrupted while it waits for work.
            peer.sendall(b"$?#3f")
            self.assertEqual(replies.read(17), b"+$T05thread:1;#d7")
            peer.sendall(b"$c#63")
            self.assertEqual(replies.read(1), b"+")
            self.run_job(job)
            peer.sendall(b"\x03")
            self.assertEqual(replies.read(16), b"$T02thread:1;#d4")
            peer.sendall(b"$D#44")
            self.assertEqual(replies.read(7), b"+$OK#9a")
            self.run_job(job)

    def test_a_debugger_that_dies_leaves_a_processor_that_runs(self):
        job = self.start()
        gdb = self.debug(["break dm_start", "SIGNAL", "continue", "SIGNAL",
                          "python import time; time.sleep(1000)"])
        gdb.wait_for_signal()
        job.stdin.write("\n")
        job.stdin.flush()
        gdb.wait_for_signal()
        gdb.process.kill()
        self.assertEqual(job.stdout.readline(), "right\n")
        # And nothing is left of its breakpoint.
        self.run_job(job)

    def test_a_peer_that_is_not_a_debugger_does_not_disturb(self):
        job = self.start()
        for text in (b"GET / HTTP/1.1\r\n\r\n", b"$" * 100000, b"$m0,4#00" * 1000, b"\x03" * 1000,
                     b"-" * 1000, b"$g#67" * 10000):
            with socket.socket(socket.AF_UNIX) as peer:
                peer.connect(self.path)
                try:
                    peer.sendall(text)
                except OSError:
                    pass    # It does not read, so that it may be hung up on.
            self.run_job(job)

    def test_without_threads_it_is_refused(self):
        done = subprocess.run([JOB, f"inproc:threads=0,fw-gdb={self.path}"], text=True,
                              capture_output=True, check=False,
                              env={**os.environ, "PUMICE_FIRMWARE": str(FIRMWARE)})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("use threads=1 or more", done.stderr)
        self.assertFalse(os.path.exists(self.path))

    def test_the_socket_is_removed_with_the_device(self):
        job = self.start()
        job.stdin.close()
        self.assertEqual(job.wait(PATIENCE), 0)
        self.assertFalse(os.path.exists(self.path))


class InQemu(FirmwareTest):
    """The GPU in QEMU (property fw-gdb)."""

    def start(self):
        """Return a machine whose GPU has no firmware yet."""
        machine = Endless(2, "fw-gdb=fwgdb", ["-chardev", "socket,id=fwgdb,server=on,wait=off,"
                                              f"path={self.path}"])
        self.addCleanup(machine.__exit__)
        return machine

    def test_from_the_first_instruction_to_the_first_job(self):
        machine = self.start()
        gdb = self.debug(["print $pc", "break fw_main", "SIGNAL", "continue", "backtrace",
                          "break dm_start", "continue", "backtrace", "stepi",
                          "print c->dm", "delete", "detach"])
        gdb.wait_for_signal()
        machine.start_job(machine.ram, machine.ram)
        self.check_order(gdb.output(), r"^\$1 = .*0x0", r"^Breakpoint 1, fw_main",
                         r"^#0 +fw_main", *AT_START_OF_JOB, r"detached\]$")
        self.assertEqual(machine.word("jobs_faulted"), 0)
        self.assertEqual(machine.end(), 0)

    def test_a_halted_processor_survives_reset_and_boot(self):
        machine = self.start()
        machine.start_job(machine.ram, machine.ram)
        gdb = self.debug(["print $pc", "SIGNAL", "SIGNAL", "maintenance flush register-cache", "print $pc", "stepi", "print $pc",
                          "break dm_start", "SIGNAL", "continue", "delete", "detach"])
        gdb.wait_for_signal()
        machine.reset_by_register()
        gdb.wait_for_signal()
        gdb.wait_for_signal()
        waiter = threading.Thread(target=machine.start_job, args=(machine.ram, machine.ram))
        waiter.start()
        output = gdb.output()
        waiter.join(PATIENCE)
        self.assertFalse(waiter.is_alive())
        self.check_order(output, r"^\$1 = ", r"^\$2 = .*0x0", r"^\$3 = .*0x0", r"dm_start", r"detached\]$")
        self.assertEqual(machine.end(), 0)

    def test_unplug_and_end_while_halted(self):
        machine = self.start()
        machine.start_job(machine.ram, machine.ram)
        gdb = self.debug(["SIGNAL", "python import time; time.sleep(1000)"])
        gdb.wait_for_signal()
        machine.unplug_gpu()
        self.assertFalse(machine.has_device("gpu"))
        gdb.process.kill()
        self.assertEqual(machine.end(), 0)


if __name__ == "__main__":
    unittest.main()
