/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Fence of a job that the firmware has. */
#ifndef PUMICE_FENCE_H
#define PUMICE_FENCE_H

#include <linux/dma-fence.h>
#include <linux/spinlock.h>

struct pumice_context;

/**
 * struct pumice_fence - signals when the context's update object reaches the job
 */
struct pumice_fence {
	/** @base: base, first: it is freed through its address */
	struct dma_fence base;
	/** @lock: lock of @base */
	spinlock_t lock;
	/** @ctx: context; a reference, so that its update object stays as long as the fence */
	struct pumice_context *ctx;
};

struct pumice_fence *pumice_fence_alloc(struct pumice_context *ctx);
void pumice_fence_discard(struct pumice_fence *fence);
void pumice_fence_init(struct pumice_fence *fence, u32 seqno);
struct pumice_fence *to_pumice_fence(struct dma_fence *fence);

#endif
