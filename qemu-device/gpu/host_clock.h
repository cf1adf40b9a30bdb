/* SPDX-License-Identifier: MIT */
/* The host's clock, for times that units of the GPU are busy. */
#ifndef PUMICE_GPU_HOST_CLOCK_H
#define PUMICE_GPU_HOST_CLOCK_H

#include <time.h>

#include "pumice_types.h"

/* Return nanoseconds since a time in the past. */
static inline u64 host_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

#endif
