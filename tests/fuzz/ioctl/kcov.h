/* SPDX-License-Identifier: MIT */
/*
 * Coverage of the driver by the calls of this thread.
 *
 * By the kernel's KCOV, which the module is built for on a kernel that has it. All
 * threads add to one set; without KCOV nothing is ever new.
 */
#ifndef FUZZ_IOCTL_KCOV_H
#define FUZZ_IOCTL_KCOV_H

#include <stdbool.h>
#include <stdint.h>

/** struct kcov - the trace of one thread */
struct kcov {
	int file;	/* -1: the kernel has none */
	uint64_t *trace;
};

/** kcov_is_available - return whether the kernel has KCOV. */
bool kcov_is_available(void);

/** kcov_open - trace the calling thread. */
struct kcov kcov_open(void);

void kcov_close(struct kcov *kcov);

/** kcov_begin - discard the coverage so far. */
void kcov_begin(struct kcov *kcov);

/** kcov_end - return whether this trace reached a place that no thread had reached before. */
bool kcov_end(struct kcov *kcov);

/** kcov_reached - return the number of places reached by all threads. */
uint32_t kcov_reached(void);

#endif
