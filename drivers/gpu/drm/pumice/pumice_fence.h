/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Fence of a job that the firmware has. */
#ifndef PUMICE_FENCE_H
#define PUMICE_FENCE_H

#include <linux/dma-fence.h>
#include <linux/spinlock.h>

struct pumice_queue;

/**
 * struct pumice_fence - signals when the queue's update object reaches the job
 */
struct pumice_fence {
	/** @base: base; must be first, because it is freed through this address */
	struct dma_fence base;
	/** @lock: lock of @base */
	spinlock_t lock;
	/** @queue: queue; a reference to its context keeps its update object */
	struct pumice_queue *queue;
};

struct pumice_fence *pumice_fence_alloc(struct pumice_queue *q);
void pumice_fence_discard(struct pumice_fence *fence);
void pumice_fence_init(struct pumice_fence *fence, u32 seqno);
struct pumice_fence *to_pumice_fence(struct dma_fence *fence);

#endif
