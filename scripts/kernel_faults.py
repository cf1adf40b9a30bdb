# SPDX-License-Identifier: MIT
"""What a guest's kernel reports of itself.

Every kernel reports in its log. A debug kernel (scripts/kernel/debug.config) leaves a
verdict beside it, which scripts/guest/init writes when the job has ended:

    kmemleak        memory that nothing refers to any more; empty when all is well
    lockdep_stats   whether lockdep still checks: it turns itself off after its first
                    report, and when its tables are full
"""

import re

# What only a fault brings into the log. Lines by which a debug kernel says at boot what
# it checks are no fault: they name no device and no object. Where kmemleak has no memory for a
# scan area it scans the whole object: nothing is lost.
IN_LOG = re.compile(
    r"\bBUG: |\bBUG [a-z]|kernel BUG at|WARNING: |Oops|general protection|Kernel panic"
    r"|INFO: task .* blocked|INFO: .*detected .*stall|INFO: trying to register non-static key"
    r"|INFO: lockdep is turned off|turning off the locking correctness validator"
    r"|UBSAN: |KASAN: (?!stack is|.*initialized)|refcount_t: "
    r"|DMA-API: (?!preallocated|debugging enabled)"
    r"|ODEBUG: (?!selftest passed)|list_(add|del) corruption|Bad page state|Bad rss-counter"
    r"|kmemleak: .*new suspected memory leaks|kmemleak: .*(disabled|Cannot allocate(?! a scan area))"
    r"|Memory manager not clean|device driver has pending DMA")
# t_alloc_fail writes the first line before allocations begin to fail, and runs last in a
# guest. From there on the second one is no fault: DMA-API turns itself off when one of its
# own allocations fails. Anywhere else, what comes after it would be unchecked.
ALLOCATIONS_FAIL = "t_alloc_fail: allocations fail from here on"
THEN_ALLOWED = "DMA-API: cacheline tracking ENOMEM, dma-debug disabled"
LOCKDEP_ON = re.compile(r"^\s*debug_locks:\s+1$", re.M)
# At most so many lines of one leak are shown.
LEAK_LINES = 12


def in_log(text):
    """The lines of a kernel's log that report a fault."""
    faults, allowed = [], False
    for line in text.splitlines():
        allowed |= ALLOCATIONS_FAIL in line
        if IN_LOG.search(line) and not (allowed and THEN_ALLOWED in line):
            faults.append(line.strip())
    return faults


def leaks(text):
    """The first lines of each object in a kmemleak report, as one text each."""
    objects = re.split(r"^(?=unreferenced object)", text, flags=re.M)
    return [" | ".join(line.strip() for line in leak.splitlines()[:LEAK_LINES])
            for leak in objects if leak.strip()]


def in_verdict(share):
    """What a debug kernel's verdict in a share says against it; one that lacks counts."""
    faults = []
    kmemleak, lockdep = share / "kmemleak", share / "lockdep_stats"
    if not kmemleak.exists():
        faults.append("the debug kernel left no report of kmemleak")
    else:
        faults += [f"leak: {leak}" for leak in leaks(kmemleak.read_text(errors="replace"))]
    if not lockdep.exists() or not LOCKDEP_ON.search(lockdep.read_text(errors="replace")):
        faults.append("lockdep is off: locks were not checked to the end")
    return faults
