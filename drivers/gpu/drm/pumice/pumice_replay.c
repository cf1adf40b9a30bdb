// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Replay of jobs that the firmware had at a GPU reset and that had not begun.
 *
 * These jobs have had no effect yet, so they are submitted to the new firmware, with their
 * numbers and fences: waiters do not notice the reset. The memory written by a job that had
 * begun is undefined, and the pages of a completed geometry job are lost in the reset: a
 * context with such a job loses all its jobs in the firmware.
 *
 * The firmware reports which jobs had begun: it stores a job's number before it starts the
 * data master. Incorrect reports affect the results of that context alone.
 *
 * A job whose arrival makes the firmware fail would also fail the next one. The suspect is the
 * queue whose kick is the oldest command without a reply; if its oldest job was suspect before, the
 * job is lost. All others are resubmitted however often the firmware fails; pumice_reset.c
 * limits the number of failures.
 */
#include "pumice_ccb.h"
#include "pumice_context.h"
#include "pumice_events.h"
#include "pumice_job.h"
#include "pumice_queue.h"
#include "pumice_replay.h"

static struct pumice_job *replay_oldest_job(struct pumice_queue *q)
{
	return list_first_entry_or_null(&q->in_flight, struct pumice_job, node);
}

static bool replay_suspect(const struct pumice_queue *q)
{
	return q->ctx->pdev->kccb.suspect == q->obj->addr;
}

/* Return true if no job of the queue had begun (they begin in order) or is suspect again. */
static bool replay_queue_untouched(struct pumice_queue *q)
{
	const u32 begun = READ_ONCE(q->shared->context.job_seqno);
	const struct pumice_job *job = replay_oldest_job(q);

	return !job || ((s32)(job->seqno - begun) > 0 && !(job->suspect && replay_suspect(q)));
}

/*
 * Return true if there is no fragment job whose geometry job has completed: each fragment job
 * that the firmware has or awaits came with a geometry job, and completes after it.
 */
static bool replay_scenes_pending(struct pumice_context *ctx)
{
	struct pumice_queue *geometry = &ctx->queues[PUMICE_QUEUE_GEOMETRY];
	struct pumice_queue *fragment = &ctx->queues[PUMICE_QUEUE_FRAGMENT];

	return list_count_nodes(&geometry->in_flight) >=
	       list_count_nodes(&fragment->in_flight) + fragment->awaited;
}

static bool replay_possible_locked(struct pumice_context *ctx)
{
	struct pumice_queue *q;

	lockdep_assert_held(&ctx->lock);
	if (ctx->stopped)
		return false;
	pumice_for_each_queue(q, ctx)
		if (!replay_queue_untouched(q))
			return false;
	return ctx->queue_count < 2 || replay_scenes_pending(ctx);
}

static void replay_rewind_locked(struct pumice_queue *q)
{
	struct pumice_job *job = replay_oldest_job(q);

	pumice_queue_renew_locked(q, job ? job->seqno - 1 : q->seqno);
	if (job)
		job->suspect = replay_suspect(q);
	q->ticks = 0;
}

/**
 * pumice_replay_prepare - keep a context's jobs after a reset if none had begun
 * @ctx: context, in the list of contexts, under reset.lock, after pumice_queue_process()
 *
 * Return: false if the context has lost a job: then pumice_queue_cancel() must end them.
 * Otherwise the update objects show that the jobs did not run, because commands of other jobs
 * in the new firmware may wait for them, and pumice_replay_run() must follow.
 */
bool pumice_replay_prepare(struct pumice_context *ctx)
{
	struct pumice_queue *q;
	bool ret;

	lockdep_assert_held(&ctx->pdev->reset.lock);
	spin_lock(&ctx->lock);
	ret = replay_possible_locked(ctx);
	if (ret)
		pumice_for_each_queue(q, ctx)
			replay_rewind_locked(q);
	spin_unlock(&ctx->lock);
	return ret;
}

/* Write the jobs into the rings; with @kick, kick each queue, which uses a reservation each. */
static int replay_run_locked(struct pumice_context *ctx, bool kick)
{
	struct pumice_queue *q;
	struct pumice_job *job;
	int ret = 0;

	lockdep_assert_held(&ctx->lock);
	pumice_for_each_queue(q, ctx) {
		list_for_each_entry(job, &q->in_flight, node) {
			pumice_queue_emit_locked(job);
			job->submit_time = ktime_get();
			trace_pumice_job_run(q->id, job->seqno, q->dm);
		}
		if (kick && !ret && !list_empty(&q->in_flight))
			ret = pumice_queue_kick_locked(q);
		else if (kick)
			pumice_kccb_cancel(ctx->pdev);
	}
	return ret;
}

static void replay_unreserve(struct pumice_context *ctx, u32 count)
{
	while (count--)
		pumice_kccb_cancel(ctx->pdev);
}

/* Reserve space for a command of each queue, or none. */
static int replay_reserve(struct pumice_context *ctx)
{
	u32 count;
	int ret;

	for (count = 0; count < ctx->queue_count; count++) {
		ret = pumice_kccb_reserve(ctx->pdev);
		if (ret) {
			replay_unreserve(ctx, count);
			return ret;
		}
	}
	return 0;
}

/**
 * pumice_replay_run - submit a context's jobs to the new firmware
 * @ctx: context, under reset.lock, between drm_dev_enter() and drm_dev_exit();
 *	pumice_replay_prepare() or pumice_queue_cancel() was called for every context
 * @kick: false: only write them, because the firmware is to be reset again
 *
 * Waits for space in the kernel CCB. Includes contexts that were stopped meanwhile: their
 * destruction waits for the end of the reset, and jobs of other contexts may wait for their
 * jobs in the firmware.
 *
 * Return: 0; or an error if the firmware does not accept them, so that another reset is required:
 * -ECANCELED if it is down, -ETIMEDOUT if it does not free space in time.
 */
int pumice_replay_run(struct pumice_context *ctx, bool kick)
{
	int no_room, ret;

	lockdep_assert_held(&ctx->pdev->reset.lock);
	if (pumice_context_idle(ctx))
		return 0;
	no_room = kick ? replay_reserve(ctx) : 0;
	spin_lock(&ctx->lock);
	ret = replay_run_locked(ctx, kick && !no_room);
	spin_unlock(&ctx->lock);
	if (kick && !no_room)
		pumice_kccb_ring(ctx->pdev);
	return no_room ?: ret;
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_replay_test.c"
#endif
