/* SPDX-License-Identifier: MIT */
/*
 * Activity of a unit: its requests, and the time in which it had one. The time is measured while
 * detailed counters are enabled only, because a clock is read twice for each request.
 *
 * Written by one thread at a time, the one that uses the unit; read by any.
 */
#ifndef PUMICE_GPU_ACTIVITY_H
#define PUMICE_GPU_ACTIVITY_H

#include <stdatomic.h>
#include <stdbool.h>

#include "count.h"
#include "host_clock.h"

struct activity {
	_Atomic u64 requests, busy_ns;
	_Atomic bool detail;	/* measure the time */
};

/* Clear the counts; detail remains. */
static inline void activity_reset(struct activity *a)
{
	atomic_store_explicit(&a->requests, 0, memory_order_relaxed);
	atomic_store_explicit(&a->busy_ns, 0, memory_order_relaxed);
}

static inline void activity_set_detail(struct activity *a, bool detail)
{
	atomic_store_explicit(&a->detail, detail, memory_order_relaxed);
}

static inline u64 activity_requests(const struct activity *a)
{
	return atomic_load_explicit(&a->requests, memory_order_relaxed);
}

static inline u64 activity_busy_ns(const struct activity *a)
{
	return atomic_load_explicit(&a->busy_ns, memory_order_relaxed);
}

static inline void activity_count(struct activity *a)
{
	count_add(&a->requests, 1);
}

/* The unit begins to work; the result is for activity_end(). */
static inline u64 activity_begin(const struct activity *a)
{
	return atomic_load_explicit(&a->detail, memory_order_relaxed) ? host_ns() : 0;
}

static inline void activity_end(struct activity *a, u64 began)
{
	if (began)
		count_add(&a->busy_ns, host_ns() - began);
}

#endif
