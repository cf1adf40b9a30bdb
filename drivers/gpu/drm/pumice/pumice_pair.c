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
 * - what the fragment job waits for (pumice_job.c): a partial render, which the
 *   geometry job may need, reads what the fragment job reads;
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
	struct pumice_pair *pair = kzalloc(sizeof(*pair), GFP_KERNEL_ACCOUNT);

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

	dma_fence_put(pair->ended);
	kfree(pair);
}

/* @pair: or NULL. Does not sleep. */
void pumice_pair_put(struct pumice_pair *pair)
{
	if (pair)
		kref_put(&pair->ref, last_put);
}

/**
 * pumice_pair_arm - both jobs are armed; neither is pushed
 * @fragment: the fragment job
 *
 * Cannot fail.
 */
void pumice_pair_arm(struct pumice_job *fragment)
{
	fragment->pair->credits = fragment->base.credits;
	fragment->pair->ended = dma_fence_get(&fragment->base.s_fence->finished);
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

static void forget_given_locked(struct pumice_pair *pair)
{
	if (pair->given)
		pair->fragment->awaited--;
	pair->given = false;
}

/**
 * pumice_pair_note_given_locked - a job of a pair is given to the firmware
 * @job: job, under its context's lock; its queue does not count it yet
 *
 * Returns for a geometry job the number of the fragment job before its own, in
 * the fragment queue; 0 if there is none. That job may not be given yet, but will
 * be, and as that number: else the context is stopped.
 */
u32 pumice_pair_note_given_locked(struct pumice_job *job)
{
	struct pumice_pair *pair = job->pair;
	struct pumice_queue *q = pair->fragment;
	u32 before;

	lockdep_assert_held(&job->ctx->lock);
	if (job->queue == q) {
		forget_given_locked(pair);
		return 0;
	}
	before = q->seqno + q->awaited;
	pair->given = !pair->over;
	q->awaited += pair->given;
	return before;
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
	forget_given_locked(pair);
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

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_pair_test.c"
#endif
