/* SPDX-License-Identifier: MIT */
/*
 * Interface of a texture cache unit (TCU): the path of texels from memory to the TAG, one for each
 * USC. A shader processing unit (SPU) has up to four: those of the USCs of a core.
 *
 * Source: document 000, "Texture Pipeline Unit". A TAG that two USCs share uses the interface of
 * the USC that reads, one request at a time: a texel of each lane of a wave.
 *
 * Limits: a request reads memory through the TLB of the TAG. Caches are those of cache.h, which
 * texels pass in detailed modes.
 */
#ifndef PUMICE_GPU_TCU_H
#define PUMICE_GPU_TCU_H

#include "../activity.h"

#define SPU_TCUS	4u	/* at most */

/* Written with the lock of its TAG, read by any thread. */
struct tcu {
	_Atomic u64 requests;
};

static inline void tcu_reset(struct tcu *tcu)
{
	atomic_store_explicit(&tcu->requests, 0, memory_order_relaxed);
}

/* Count requests, a texel of each lane of a wave each. */
static inline void tcu_count(struct tcu *tcu, u64 requests)
{
	count_add(&tcu->requests, requests);
}

static inline u64 tcu_requests(const struct tcu *tcu)
{
	return atomic_load_explicit(&tcu->requests, memory_order_relaxed);
}

#endif
