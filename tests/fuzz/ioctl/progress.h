/* SPDX-License-Identifier: MIT */
/*
 * Progress of a run of the ioctl fuzzer: the kinds of calls that have succeeded, and its end. Any
 * thread.
 */
#ifndef FUZZ_IOCTL_PROGRESS_H
#define FUZZ_IOCTL_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define PROGRESS_KINDS	64u

/** struct progress - of a run that ends at a time, or later if a kind of call has not succeeded */
struct progress {
	uint32_t kinds;			/* at most PROGRESS_KINDS */
	uint64_t deadline;		/* the usual end */
	uint64_t limit;			/* the end if a kind has not succeeded */
	_Atomic uint32_t done[PROGRESS_KINDS];	/* calls that succeeded */
	_Atomic uint64_t late;		/* bit n: kind n had not succeeded at the deadline */
};

/** progress_done - a call of a kind has succeeded. */
void progress_done(struct progress *progress, uint32_t kind);

/** progress_is_over - return whether the run ends at a time, and record kinds that are late. */
bool progress_is_over(struct progress *progress, uint64_t now);

#endif
