// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Paired submission: a geometry job is started only if its fragment job can
 * follow.
 *
 * A geometry job fills pages of the parameter buffer that only its fragment job
 * frees. If it were started while the fragment job still waits for a fence in the
 * kernel, the pages could be held forever, and a job that needs them in order to signal
 * that fence would never get them. Therefore the geometry job takes over:
 *
 * - the fragment job's dependencies (pumice_job.c): a partial render, which the
 *   geometry job may need, reads the same memory as the fragment job;
 * - space in the fragment queue's ring: the credits are reserved for the fragment
 *   job when the geometry job is scheduled, and kept until the fragment job has
 *   completed. All jobs of that queue have such reservations, so that its scheduler
 *   never lacks the credits.
 *
 * The fragment job then only waits until the geometry job is scheduled.
 */
#include <linux/dma-fence.h>
#include <linux/slab.h>

#include "pumice_context.h"
#include "pumice_job.h"
#include "pumice_pair.h"

/**
 * pumice_pair_create - create the state shared by two jobs of a render context
 * @ctx: context
 *
 * Context: May sleep.
 *
 * Return: the pair with a reference, or NULL without memory.
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

/**
 * pumice_pair_get - acquire a reference
 * @pair: pair, to which the caller has a reference
 *
 * Context: Any.
 *
 * Return: @pair.
 */
struct pumice_pair *pumice_pair_get(struct pumice_pair *pair)
{
	kref_get(&pair->ref);
	return pair;
}

static void pair_last_put(struct kref *ref)
{
	struct pumice_pair *pair = container_of(ref, struct pumice_pair, ref);

	dma_fence_put(pair->ended);
	kfree(pair);
}

/**
 * pumice_pair_put - drop a reference, and free the pair with the last one
 * @pair: pair, or NULL
 *
 * Context: Does not sleep.
 */
void pumice_pair_put(struct pumice_pair *pair)
{
	if (pair)
		kref_put(&pair->ref, pair_last_put);
}

/**
 * pumice_pair_arm - initialize a pair when both jobs are armed and neither is pushed
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
 * pumice_pair_promise - reserve credits for the fragment job before its geometry job starts
 * @pair: armed pair
 *
 * Context: Does not sleep. Acquires the context's lock.
 *
 * Return: NULL if the credits are reserved, or a reference to a fence that signals
 * when credits are released.
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

static void pair_clear_submitted_locked(struct pumice_pair *pair)
{
	if (pair->submitted)
		pair->fragment->awaited--;
	pair->submitted = false;
}

/**
 * pumice_pair_note_submitted_locked - note that a job of a pair is submitted to the firmware
 * @job: job, under its context's lock; its queue does not count it yet
 *
 * Return: for a geometry job, the number in the fragment queue of the fragment job before
 * its own; 0 if there is none. That job may not be submitted yet, but will be, and with
 * that number, unless the context is stopped.
 */
u32 pumice_pair_note_submitted_locked(struct pumice_job *job)
{
	struct pumice_pair *pair = job->pair;
	struct pumice_queue *q = pair->fragment;
	u32 before;

	lockdep_assert_held(&job->ctx->lock);
	if (job->queue == q) {
		pair_clear_submitted_locked(pair);
		return 0;
	}
	before = q->seqno + q->awaited;
	pair->submitted = !pair->over;
	q->awaited += pair->submitted;
	return before;
}

/**
 * pumice_pair_geometry_refused - check whether the geometry job of a fragment job was refused
 * @job: any job
 *
 * Context: Any. The result for a fragment job is final once its geometry job is scheduled.
 *
 * Return: true for a fragment job whose geometry job was not submitted to the firmware; false
 * for all others.
 */
bool pumice_pair_geometry_refused(const struct pumice_job *job)
{
	return job->pair && job->queue == job->pair->fragment && READ_ONCE(job->pair->refused);
}

/**
 * pumice_pair_end_locked - note that a job of a pair has completed
 * @job: any job, under its context's lock
 *
 * Only fragment jobs have an effect; repeated calls have none.
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
	pair_clear_submitted_locked(pair);
	pair->promised = false;
	pair->over = true;
}

/**
 * pumice_pair_end - acquire the lock and call pumice_pair_end_locked()
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
 * pumice_pair_refuse - note that a job will not be submitted to the firmware
 * @job: any job, whose fences have not signalled
 *
 * If a geometry job is refused, so is its fragment job.
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
