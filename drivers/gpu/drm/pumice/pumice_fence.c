// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Fence of a job that the firmware has.
 *
 * The scheduler's own fences, which users wait for, reference this one as their
 * parent, and this one references the context. So everything reachable from a
 * fence, including the name of its scheduler, lives as long as the fence; and, because
 * of the context's reference, so does the module. The context is not put here directly:
 * this code would still be running when the module may already be unloaded.
 */
#include <linux/slab.h>

#include "pumice_context.h"
#include "pumice_fence.h"

static const char *pumice_fence_driver_name(struct dma_fence *fence)
{
	return "pumice";
}

static const char *pumice_fence_timeline_name(struct dma_fence *fence)
{
	return "pumice-context";
}

/* Drop the references that the fence holds. May be called with interrupts off. */
static void pumice_fence_drop(struct pumice_fence *fence)
{
	struct pumice_context *ctx = fence->queue->ctx;

	atomic_dec(&ctx->pdev->stats.fences);
	pumice_context_put(ctx);
}

static void pumice_fence_release(struct dma_fence *base)
{
	pumice_fence_drop(container_of(base, struct pumice_fence, base));
	dma_fence_free(base);
}

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = pumice_fence_driver_name,
	.get_timeline_name = pumice_fence_timeline_name,
	.release = pumice_fence_release,
};

/**
 * pumice_fence_alloc - allocate the memory of a fence
 * @q: queue
 *
 * The fence must be passed to pumice_fence_init() before it is used, or to
 * pumice_fence_discard().
 *
 * Context: May sleep.
 *
 * Return: the fence, or NULL without memory.
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
	pumice_fence_drop(fence);
	kfree(fence);
}

/**
 * pumice_fence_init - initialize a fence, with one reference
 * @fence: fence
 * @seqno: value of the queue's update object at which it signals
 */
void pumice_fence_init(struct pumice_fence *fence, u32 seqno)
{
	dma_fence_init(&fence->base, &fence_ops, &fence->lock, fence->queue->fence_context, seqno);
}

/**
 * to_pumice_fence - convert a fence to the driver's fence of a job
 * @fence: any fence, or NULL
 *
 * Context: Any.
 *
 * Return: the structure that contains @fence, without a reference of its own; NULL if @fence
 * is NULL or was not initialized by pumice_fence_init().
 */
struct pumice_fence *to_pumice_fence(struct dma_fence *fence)
{
	if (!fence || fence->ops != &fence_ops)
		return NULL;
	return container_of(fence, struct pumice_fence, base);
}
