// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Fence of a job that the firmware has.
 *
 * The scheduler's own fences, which users wait for, hold this one as their
 * parent, and this one holds the context. So all that can be reached from a
 * fence, the name of its scheduler included, lives as long as the fence; and, as
 * the context holds it, the module is not unloaded before. It is not let go here:
 * this code would still run when the module may go already.
 */
#include <linux/slab.h>

#include "pumice_context.h"
#include "pumice_fence.h"

static const char *driver_name(struct dma_fence *fence)
{
	return "pumice";
}

static const char *timeline_name(struct dma_fence *fence)
{
	return "pumice-context";
}

/* What the fence holds. May be called with interrupts off. */
static void drop(struct pumice_fence *fence)
{
	struct pumice_context *ctx = fence->queue->ctx;

	atomic_dec(&ctx->pdev->stats.fences);
	pumice_context_put(ctx);
}

static void release(struct dma_fence *base)
{
	drop(container_of(base, struct pumice_fence, base));
	dma_fence_free(base);
}

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = driver_name,
	.get_timeline_name = timeline_name,
	.release = release,
};

/**
 * pumice_fence_alloc - memory for a fence
 * @q: queue
 *
 * The fence must be given to pumice_fence_init() before it is used, or to
 * pumice_fence_discard(). Returns NULL without memory.
 */
struct pumice_fence *pumice_fence_alloc(struct pumice_queue *q)
{
	struct pumice_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL_ACCOUNT);

	if (!fence)
		return NULL;
	spin_lock_init(&fence->lock);
	fence->queue = q;
	pumice_context_get(q->ctx);
	atomic_inc(&q->ctx->pdev->stats.fences);
	return fence;
}

/**
 * pumice_fence_discard - free a fence that was not initialised
 * @fence: fence
 */
void pumice_fence_discard(struct pumice_fence *fence)
{
	drop(fence);
	kfree(fence);
}

/**
 * pumice_fence_init - make it a fence, with one reference
 * @fence: fence
 * @seqno: value of the queue's update object at which it signals
 */
void pumice_fence_init(struct pumice_fence *fence, u32 seqno)
{
	dma_fence_init(&fence->base, &fence_ops, &fence->lock, fence->queue->fence_context, seqno);
}

/* The fence as ours, or NULL. */
struct pumice_fence *to_pumice_fence(struct dma_fence *fence)
{
	if (!fence || fence->ops != &fence_ops)
		return NULL;
	return container_of(fence, struct pumice_fence, base);
}
