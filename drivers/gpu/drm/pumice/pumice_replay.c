// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Jobs that a reset of the GPU finds in the firmware and that had not begun.
 *
 * They have done nothing yet, so they are given to the new firmware, with the numbers and
 * fences that they have: whoever waits for them does not notice. What a job that had begun
 * has stored is not known, and the pages of a geometry job that has ended went with the
 * reset: a context that has such a job loses all that it has in the firmware.
 *
 * Which job had begun is the firmware's word: it stores a job's number before it starts the
 * data master. A firmware that lies harms the result of that context alone.
 *
 * A job at whose arrival the firmware fails would fail the next one. Suspect is the queue whose
 * kick is the oldest command without an answer; where its oldest job was suspect before, it is
 * lost. All others are given again however often the firmware fails: pumice_reset.c gives it up
 * in the end.
 */
#include "pumice_ccb.h"
#include "pumice_context.h"
#include "pumice_events.h"
#include "pumice_job.h"
#include "pumice_queue.h"
#include "pumice_replay.h"

static struct pumice_job *oldest(struct pumice_queue *q)
{
	return list_first_entry_or_null(&q->in_flight, struct pumice_job, node);
}

static bool suspect(const struct pumice_queue *q)
{
	return q->ctx->pdev->kccb.suspect == q->obj->addr;
}

/* True if none of the queue's jobs had begun, which they do in their order, nor fails firmware. */
static bool untouched(struct pumice_queue *q)
{
	const u32 begun = READ_ONCE(q->shared->context.job_seqno);
	const struct pumice_job *job = oldest(q);

	return !job || ((s32)(job->seqno - begun) > 0 && !(job->suspect && suspect(q)));
}

/*
 * True if no fragment job is left whose geometry job has ended: each that the firmware has or
 * awaits came with a geometry job, and ends after it.
 */
static bool scenes_to_come(struct pumice_context *ctx)
{
	struct pumice_queue *geometry = &ctx->queues[PUMICE_QUEUE_GEOMETRY];
	struct pumice_queue *fragment = &ctx->queues[PUMICE_QUEUE_FRAGMENT];

	return list_count_nodes(&geometry->in_flight) >=
	       list_count_nodes(&fragment->in_flight) + fragment->awaited;
}

static bool can_go_on_locked(struct pumice_context *ctx)
{
	struct pumice_queue *q;

	lockdep_assert_held(&ctx->lock);
	if (ctx->stopped)
		return false;
	pumice_for_each_queue(q, ctx)
		if (!untouched(q))
			return false;
	return ctx->queue_count < 2 || scenes_to_come(ctx);
}

static void rewind_locked(struct pumice_queue *q)
{
	struct pumice_job *job = oldest(q);

	pumice_queue_renew_locked(q, job ? job->seqno - 1 : q->seqno);
	if (job)
		job->suspect = suspect(q);
	q->ticks = 0;
}

/**
 * pumice_replay_prepare - the firmware is gone: keep a context's jobs if none had begun
 * @ctx: context, in the list of contexts, under reset.lock, after pumice_queue_process()
 *
 * Returns false if the context has lost a job: then pumice_queue_cancel() has to end them.
 * Else the update objects are those of jobs that did not run, as the commands of others in
 * the new firmware may wait for them, and pumice_replay_run() has to follow.
 */
bool pumice_replay_prepare(struct pumice_context *ctx)
{
	struct pumice_queue *q;
	bool ret;

	lockdep_assert_held(&ctx->pdev->reset.lock);
	spin_lock(&ctx->lock);
	ret = can_go_on_locked(ctx);
	if (ret)
		pumice_for_each_queue(q, ctx)
			rewind_locked(q);
	spin_unlock(&ctx->lock);
	return ret;
}

/* Write the jobs into the rings, and with @kick, which uses a reservation a queue, show them. */
static int run_locked(struct pumice_context *ctx, bool kick)
{
	struct pumice_queue *q;
	struct pumice_job *job;
	int ret = 0;

	lockdep_assert_held(&ctx->lock);
	pumice_for_each_queue(q, ctx) {
		list_for_each_entry(job, &q->in_flight, node) {
			pumice_queue_emit_locked(job);
			job->given = ktime_get();
			trace_pumice_job_run(q->id, job->seqno, q->dm);
		}
		if (kick && !ret && !list_empty(&q->in_flight))
			ret = pumice_queue_kick_locked(q);
		else if (kick)
			pumice_kccb_unreserve(ctx->pdev);
	}
	return ret;
}

static void unreserve(struct pumice_context *ctx, u32 count)
{
	while (count--)
		pumice_kccb_unreserve(ctx->pdev);
}

/* Room for a command of each queue, or none. */
static int reserve(struct pumice_context *ctx)
{
	u32 count;
	int ret;

	for (count = 0; count < ctx->queue_count; count++) {
		ret = pumice_kccb_reserve(ctx->pdev);
		if (ret) {
			unreserve(ctx, count);
			return ret;
		}
	}
	return 0;
}

/**
 * pumice_replay_run - give a context's jobs to the new firmware
 * @ctx: context, under reset.lock, between drm_dev_enter() and drm_dev_exit(). For each
 *	context pumice_replay_prepare() or pumice_queue_cancel() was called
 * @kick: false: only write them, as the firmware is to be reset again
 *
 * Waits for room in the kernel CCB. A context that was stopped meanwhile is no exception: who
 * destroys it waits for the end of the reset, and others' jobs may wait for its jobs in the
 * firmware.
 *
 * Returns 0, or an error if the firmware does not take them: then only another reset helps.
 */
int pumice_replay_run(struct pumice_context *ctx, bool kick)
{
	int no_room, ret;

	lockdep_assert_held(&ctx->pdev->reset.lock);
	if (pumice_context_idle(ctx))
		return 0;
	no_room = kick ? reserve(ctx) : 0;
	spin_lock(&ctx->lock);
	ret = run_locked(ctx, kick && !no_room);
	spin_unlock(&ctx->lock);
	return no_room ?: ret;
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_replay_test.c"
#endif
