/* SPDX-License-Identifier: MIT */
/* The calls of the ioctl fuzzer: each generates its arguments from a seed and live objects. */
#ifndef FUZZ_IOCTL_CALLS_H
#define FUZZ_IOCTL_CALLS_H

#include "state.h"

/** struct fuzz_call - one kind of call */
struct fuzz_call {
	const char *name;
	/** @run: make the call; returns 0 or a negative errno */
	int (*run)(struct fuzz *f, struct fuzz_rng *rng);
	/** @weight: how often it is chosen */
	u32 weight;
	/** @make: creates an object that @run destroys; NULL if it destroys none */
	int (*make)(struct fuzz *f, struct fuzz_rng *rng);
};

extern const struct fuzz_call fuzz_calls[];
extern const u32 fuzz_call_count;

#endif
