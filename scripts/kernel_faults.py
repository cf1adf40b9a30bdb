# SPDX-License-Identifier: MIT
"""Faults that a guest's kernel reports of itself.

Every kernel reports in its log. A debug kernel (scripts/kernel/debug.config)
also has verdict files, which scripts/guest/init writes when the job has ended:

    kmemleak        memory without any reference to it; empty when all is well
    lockdep_stats   whether lockdep still checks: it turns itself off after its first
                    report, and when its tables are full
"""

import re

# Log lines that only a fault causes. Lines by which a debug kernel reports its
# checks at boot are not faults: they name no device and no object. If kmemleak
# has no memory for a scan area it scans the whole object: no leak is missed.
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
# guest. After it the second one is not a fault: DMA-API turns itself off when one of its
# own allocations fails. At any other time all later operations would be unchecked.
ALLOCATIONS_FAIL = "t_alloc_fail: allocations fail from here on"
THEN_ALLOWED = "DMA-API: cacheline tracking ENOMEM, dma-debug disabled"
LOCKDEP_ON = re.compile(r"^\s*debug_locks:\s+1$", re.M)
# Maximum number of lines shown of one leak.
LEAK_LINES = 12


def in_log(text):
    """Find the lines of a kernel's log that report a fault."""
    faults, allowed = [], False
    for line in text.splitlines():
        allowed |= ALLOCATIONS_FAIL in line
        if IN_LOG.search(line) and not (allowed and THEN_ALLOWED in line):
            faults.append(line.strip())
    return faults


def leaks(text):
    """Get the first lines of each object in a kmemleak report, as one text each."""
    objects = re.split(r"^(?=unreferenced object)", text, flags=re.M)
    return [" | ".join(line.strip() for line in leak.splitlines()[:LEAK_LINES])
            for leak in objects if leak.strip()]


def in_verdict(share):
    """List the faults in a debug kernel's verdict in a share; a missing file is a fault."""
    faults = []
    kmemleak, lockdep = share / "kmemleak", share / "lockdep_stats"
    if not kmemleak.exists():
        faults.append("the debug kernel left no report of kmemleak")
    else:
        faults += [f"leak: {leak}" for leak in leaks(kmemleak.read_text(errors="replace"))]
    if not lockdep.exists() or not LOCKDEP_ON.search(lockdep.read_text(errors="replace")):
        faults.append("lockdep is off: locks were not checked to the end")
    return faults
