# SPDX-License-Identifier: MIT
"""Faults that a guest's kernel reports of itself fail the run."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import kernel_faults  # noqa: E402

# One line of each kind of report, as 6.12 prints it.
FAULTS = """\
BUG: KASAN: slab-use-after-free in drm_gpuvm_bo_extobj_add+0x1d2/0x2a0
BUG: kernel NULL pointer dereference, address: 0000000000000020
BUG: sleeping function called from invalid context at kernel/locking/mutex.c:585
BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 122s!
BUG kmalloc-64 (Tainted: G           O      ): Poison overwritten
BUG: Bad page state in process t_vm  pfn:01234
[ BUG: Invalid wait context ]
watchdog: BUG: soft lockup - CPU#1 stuck for 134s! [kworker/u8:2:40]
kernel BUG at drivers/dma-buf/dma-resv.c:319!
Oops: general protection fault, probably for non-canonical address
WARNING: CPU: 1 PID: 77 at drivers/gpu/drm/drm_gem.c:991 drm_gem_object_release+0x1/0x2
WARNING: possible circular locking dependency detected
WARNING: possible recursive locking detected
WARNING: inconsistent lock state
WARNING: suspicious RCU usage
WARNING: bad unlock balance detected!
WARNING: lock held when returning to user space!
WARNING: held lock freed!
INFO: task kworker/u8:1:36 blocked for more than 120 seconds.
INFO: trying to register non-static key.
INFO: lockdep is turned off.
turning off the locking correctness validator.
rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
rcu: INFO: rcu_preempt self-detected stall on CPU
UBSAN: shift-out-of-bounds in pumice_mmu.c:99:12
UBSAN: array-index-out-of-bounds in pumice_ccb.c:101:9
refcount_t: underflow; use-after-free.
DMA-API: pumice 0000:01:00.0: device driver has pending DMA allocations while released
DMA-API: debugging out of memory - disabling
DMA-API: cacheline tracking ENOMEM, dma-debug disabled
ODEBUG: free active (active state 0) object: 0000000012345678 object type: work_struct
ODEBUG: Out of memory. ODEBUG disabled
list_del corruption. prev->next should be ffff888004567890, but was dead000000000100
kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
kmemleak: Kernel memory leak detector disabled
Memory manager not clean during takedown.
Kernel panic - not syncing: Fatal exception
""".splitlines()

# Messages of a sound debug kernel.
SOUND = """\
kasan: KernelAddressSanitizer initialized
DMA-API: preallocated 65536 debug entries
DMA-API: debugging enabled by kernel config
kmemleak: Kernel memory leak detector initialized (mem pool available: 39000)
kmemleak: Automatic memory scanning thread ended
ODEBUG: selftest passed
Lock dependency validator: Copyright (c) 2006 Red Hat, Inc., Ingo Molnar
rcu: RCU lockdep checking is enabled.
pumice 0000:01:00.0: [drm] context 0 job 2: mmu-pt-invalid by usc-data, write at 0x40001000
pumice 0000:01:00.0: [drm] GPU reset: job 3 of context 5 timed out
FAULT_INJECTION: forcing a failure.
""".splitlines()

LEAK = """\
unreferenced object 0xffff888004567880 (size 64):
  comm "t_vm", pid 77, jiffies 4294938000
  hex dump (first 32 bytes):
    00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00  ................
  backtrace (crc 1234):
    [<0000000012345678>] pumice_bind_prepare_op+0x1/0x2
"""
LOCKDEP = " lock-classes:                          912 [max: 8192]\n debug_locks:             {:>13}\n"


class Log(unittest.TestCase):
    """kernel_faults.in_log"""

    def test_each_kind_of_report_is_a_fault(self):
        for line in FAULTS:
            self.assertEqual(kernel_faults.in_log(f"[   12.345678] {line}\n"),
                             [f"[   12.345678] {line}"])

    def test_messages_of_a_sound_kernel_are_not_faults(self):
        for line in SOUND:
            self.assertEqual(kernel_faults.in_log(f"[    0.000000] {line}\n"), [])

    def test_dma_debug_may_end_only_where_allocations_are_made_to_fail(self):
        off = kernel_faults.THEN_ALLOWED
        marker = kernel_faults.ALLOCATIONS_FAIL
        self.assertEqual(kernel_faults.in_log(f"{marker}\n{off}\n"), [])
        self.assertEqual(kernel_faults.in_log(f"{off}\n{marker}\n"), [off])
        self.assertEqual(kernel_faults.in_log(f"{marker}\n{off}\nBUG: x\n"), ["BUG: x"])


class Verdict(unittest.TestCase):
    """kernel_faults.in_verdict"""

    def check(self, kmemleak="", lockdep=LOCKDEP.format(1)):
        """Return the faults in a share with these files; None: there is no such file."""
        with tempfile.TemporaryDirectory() as folder:
            share = pathlib.Path(folder)
            for name, content in (("kmemleak", kmemleak), ("lockdep_stats", lockdep)):
                if content is not None:
                    (share / name).write_text(content)
            return kernel_faults.in_verdict(share)

    def test_sound_kernel_passes(self):
        self.assertEqual(self.check(), [])

    def test_each_leak_is_a_fault_and_reports_its_place(self):
        faults = self.check(kmemleak=LEAK * 2)
        self.assertEqual(len(faults), 2)
        self.assertIn("pumice_bind_prepare_op", faults[0])

    def test_lockdep_that_turned_itself_off_is_a_fault(self):
        self.assertEqual(len(self.check(lockdep=LOCKDEP.format(0))), 1)

    def test_missing_report_is_a_fault(self):
        self.assertEqual(len(self.check(kmemleak=None)), 1)
        self.assertEqual(len(self.check(lockdep=None)), 1)


if __name__ == "__main__":
    unittest.main()
