/* SPDX-License-Identifier: MIT */
/* Performance counters of the job on the data master. Called with interrupts off. */
#ifndef FW_COUNTERS_H
#define FW_COUNTERS_H

#include "pumice_types.h"

/** counters_begin - a slice of a job that is counted begins. */
void counters_begin(void);

/** counters_end - it is over: add what was counted. @addr: fw address of struct fwif_perf */
void counters_end(u32 addr);

#endif
