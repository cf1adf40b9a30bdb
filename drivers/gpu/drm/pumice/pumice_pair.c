// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Paired submission: a geometry job is never started whose fragment job cannot
 * follow.
 *
 * A geometry job fills pages of the parameter buffer that only its fragment job
 * frees. Were it started while the fragment job still waits for something in the
 * kernel, the pages could be held for ever, and who needs them to signal what the
 * fragment job waits for would never get them. So the geometry job takes over:
 *
 * - fences of other drivers that the fragment job waits for (pumice_job.c);
 * - jobs of this GPU that it waits for: they are in the firmware's hands before;
 * - room in the fragment queue's ring: the credits are promised to the fragment
 *   job when the geometry job is scheduled, and kept until the fragment job has
 *   ended. All jobs of that queue have such promises, so that its scheduler never
 *   lacks the credits.
 *
 * The fragment job then waits for nothing but the geometry job to be scheduled.
 */
#include <linux/dma-fence.h>
#include <linux/slab.h>

#include "pumice_context.h"
#include "pumice_job.h"
#include "pumice_pair.h"

/**
 * pumice_pair_create - for two jobs of a render context
 * @ctx: context
 *
 * Returns it with a reference, or NULL without memory.
 */
struct pumice_pair *pumice_pair_create(struct pumice_context *ctx)
{
	struct pumice_pair *pair = kzalloc(sizeof(*pair), GFP_KERNEL);

	if (!pair)
		return NULL;
	kref_init(&pair->ref);
	INIT_LIST_HEAD(&pair->node);
	pair->fragment = &ctx->queues[PUMICE_QUEUE_FRAGMENT];
	return pair;
}

struct pumice_pair *pumice_pair_get(struct pumice_pair *pair)
{
	kref_get(&pair->ref);
	return pair;
}

static void last_put(struct kref *ref)
{
	struct pumice_pair *pair = container_of(ref, struct pumice_pair, ref);
	u32 i;

	for (i = 0; i < pair->early_count; i++)
		dma_fence_put(pair->early[i]);
	dma_fence_put(pair->ended);
	kfree(pair->early);
	kfree(pair);
}

/* @pair: or NULL. Does not sleep. */
void pumice_pair_put(struct pumice_pair *pair)
{
	if (pair)
		kref_put(&pair->ref, last_put);
}

/**
 * pumice_pair_make_room - the last that can fail before the jobs are armed
 * @pair: pair
 * @waits: most jobs that the fragment job will wait for in the firmware
 * @credits: of the fragment job
 *
 * Returns 0 or -ENOMEM.
 */
int pumice_pair_make_room(struct pumice_pair *pair, u32 waits, u32 credits)
{
	pair->early = kcalloc(waits, sizeof(struct dma_fence *), GFP_KERNEL);
	pair->credits = credits;
	return pair->early ? 0 : -ENOMEM;
}

/**
 * pumice_pair_arm - both jobs are armed and know all they wait for; neither is pushed
 * @fragment: the fragment job
 *
 * Cannot fail.
 */
void pumice_pair_arm(struct pumice_job *fragment)
{
	const u64 geometry = fragment->ctx->queues[PUMICE_QUEUE_GEOMETRY].entity.fence_context + 1;
	struct pumice_pair *pair = fragment->pair;
	u32 i;

	for (i = 0; i < fragment->native_count; i++)
		if (fragment->native[i]->context != geometry)
			pair->early[pair->early_count++] = dma_fence_get(fragment->native[i]);
	pair->ended = dma_fence_get(&fragment->base.s_fence->finished);
}

/**
 * pumice_pair_promise - room for the fragment job, before the geometry job is started
 * @pair: armed pair
 *
 * Returns NULL when the room is there, or a reference to a fence that signals
 * when there is more.
 */
struct dma_fence *pumice_pair_promise(struct pumice_pair *pair)
{
	struct pumice_queue *q = pair->fragment;
	struct dma_fence *fence = NULL;

	spin_lock(&q->ctx->lock);
	if (!pair->promised && !pair->over) {
		if (pumice_queue_has_room(q, pair->credits)) {
			pair->promised = true;
			q->promised += pair->credits;
			list_add_tail(&pair->node, &q->pairs);
		} else {
			fence = dma_fence_get(list_first_entry(&q->pairs, struct pumice_pair,
							       node)->ended);
		}
	}
	spin_unlock(&q->ctx->lock);
	return fence;
}

/* True for a fragment job whose geometry job never came to the firmware. */
bool pumice_pair_geometry_refused(const struct pumice_job *job)
{
	return job->pair && job->queue == job->pair->fragment && READ_ONCE(job->pair->refused);
}

/**
 * pumice_pair_end_locked - a job of a pair has ended
 * @job: any job, under its context's lock
 *
 * Counts for fragment jobs; more than once is as good as once.
 */
void pumice_pair_end_locked(struct pumice_job *job)
{
	struct pumice_pair *pair = job->pair;

	lockdep_assert_held(&job->ctx->lock);
	if (!pair || job->queue != pair->fragment)
		return;
	if (pair->promised) {
		list_del_init(&pair->node);
		job->queue->promised -= pair->credits;
	}
	pair->promised = false;
	pair->over = true;
}

/**
 * pumice_pair_end - as pumice_pair_end_locked(), without the lock
 * @job: any job
 */
void pumice_pair_end(struct pumice_job *job)
{
	if (!job->pair)
		return;
	spin_lock(&job->ctx->lock);
	pumice_pair_end_locked(job);
	spin_unlock(&job->ctx->lock);
}

/**
 * pumice_pair_refuse - a job is not given to the firmware
 * @job: any job, whose fences have not signalled
 *
 * With a geometry job its fragment job is lost, too.
 */
void pumice_pair_refuse(struct pumice_job *job)
{
	if (job->pair && job->queue != job->pair->fragment)
		WRITE_ONCE(job->pair->refused, true);
	pumice_pair_end(job);
}
