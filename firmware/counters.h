/* SPDX-License-Identifier: MIT */
/* Performance counters of the jobs on the data masters. Called with interrupts off. */
#ifndef FW_COUNTERS_H
#define FW_COUNTERS_H

#include "pumice_types.h"

/** counters_bytes - size of the host's struct fwif_perf */
u32 counters_bytes(void);

/** counters_begin - start counting for a slice. @dm: enum fwif_dm */
void counters_begin(u32 dm);

/** counters_end - stop counting and add the difference. @addr: fw address of struct fwif_perf */
void counters_end(u32 dm, u32 addr);

#endif
