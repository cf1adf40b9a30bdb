/* SPDX-License-Identifier: MIT */
/*
 * Counts of one writer: one thread at a time adds to a count, under the lock of its unit or as the
 * unit's only thread, and any thread may read it meanwhile. Nothing else is ordered by them.
 */
#ifndef PUMICE_COUNT_H
#define PUMICE_COUNT_H

#include <stdatomic.h>

#include "pumice_types.h"

/* Add n. Plain loads and stores of the host: no locked instruction. */
static inline void count_add(_Atomic u64 *count, u64 n)
{
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

#endif
