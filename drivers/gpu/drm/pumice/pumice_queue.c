// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * From the scheduler to the firmware and back.
 *
 * run_job() writes a job into its context's client CCB: WAITs for jobs of other
 * contexts, the COMPUTE, and an UPDATE of the context's update object with the
 * job's number. The interrupt thread reads update objects and ends the jobs
 * they have reached.
 *
 * The scheduler's credits keep the ring from overflowing: a credit is 8 bytes,
 * and a job holds its own until it has ended, when the firmware has read them.
 */
#include "pumice_ccb.h"
#include "pumice_context.h"
#include "pumice_events.h"
#include "pumice_fdinfo.h"
#include "pumice_fence.h"
#include "pumice_fw.h"
#include "pumice_job.h"
#include "pumice_names.h"
#include "pumice_perfmon.h"
#include "pumice_queue.h"
#include "pumice_reset.h"
#include "pumice_result.h"
#include "pumice_vm.h"

#define CREDIT_BYTES	8u
#define JOB_BYTES	(sizeof(struct fwif_cccb_compute) + sizeof(struct fwif_cccb_update))
/*
 * What no job may use: the two fillers before the ring's end that can be in
 * flight, shorter than the longest command each, and the gap that tells a full
 * ring from an empty one.
 */
#define SPARE_BYTES	(2 * sizeof(struct fwif_cccb_compute) + CREDIT_BYTES)
#define CREDIT_LIMIT	((PUMICE_CCCB_BYTES - SPARE_BYTES) / CREDIT_BYTES)
#define CCCB_MASK	(PUMICE_CCCB_BYTES - 1)
#define RESULT_MASK	(PUMICE_RESULT_COUNT - 1)

static_assert((PUMICE_MAX_NATIVE + DRM_PUMICE_MAX_JOBS) * sizeof(struct fwif_cccb_wait) +
	      JOB_BYTES <= CREDIT_LIMIT * CREDIT_BYTES);
static_assert(CREDIT_LIMIT * CREDIT_BYTES / JOB_BYTES < PUMICE_RESULT_COUNT);

/* Credits of a job that waits for so many others. */
u32 pumice_queue_credits(u32 waits)
{
	return (JOB_BYTES + waits * sizeof(struct fwif_cccb_wait)) / CREDIT_BYTES;
}

/* Append a command, with a filler before where it would not fit up to the ring's end. */
static void emit(struct pumice_context *ctx, const void *cmd, u32 bytes)
{
	u8 *cccb = ctx->shared->cccb;
	u32 left = PUMICE_CCCB_BYTES - ctx->write;
	const struct fwif_cccb_header pad = { .type = FWIF_CCCB_PAD, .bytes = left };

	lockdep_assert_held(&ctx->lock);
	if (left < bytes) {
		memcpy(cccb + ctx->write, &pad, sizeof(pad));
		ctx->write = 0;
	}
	memcpy(cccb + ctx->write, cmd, bytes);
	ctx->write = (ctx->write + bytes) & CCCB_MASK;
}

/*
 * The firmware's fence of a job of this GPU that is scheduled, or NULL if it has
 * none to wait for there. The parent is set before "scheduled" signals.
 */
static struct pumice_fence *native_fence(struct dma_fence *finished)
{
	struct drm_sched_fence *s_fence = to_drm_sched_fence(finished);

	/* pairs with the release in the scheduler, which sets it */
	return to_pumice_fence(smp_load_acquire(&s_fence->parent));
}

static void emit_waits(struct pumice_job *job)
{
	struct pumice_fence *fence;
	struct fwif_cccb_wait wait;
	u32 i;

	for (i = 0; i < job->native_count; i++) {
		if (dma_fence_is_signaled(job->native[i]))
			continue;
		fence = native_fence(job->native[i]);
		if (!fence)
			continue;
		wait = (struct fwif_cccb_wait) {
			.header = { FWIF_CCCB_WAIT, sizeof(wait) },
			.object = fence->ctx->ufo->addr,
			.value = (u32)fence->base.seqno,
		};
		emit(job->ctx, &wait, sizeof(wait));
	}
}

static void emit_job(struct pumice_job *job)
{
	struct pumice_context *ctx = job->ctx;
	const struct fwif_cccb_compute compute = {
		.header = { FWIF_CCCB_COMPUTE, sizeof(compute) },
		.stream = job->stream,
		.seqno = job->seqno,
		.perf = job->perfmon ? job->perfmon->obj->addr : 0,
	};
	const struct fwif_cccb_update update = {
		.header = { FWIF_CCCB_UPDATE, sizeof(update) },
		.object = ctx->ufo->addr,
		.value = job->seqno,
	};

	emit_waits(job);
	emit(ctx, &compute, sizeof(compute));
	emit(ctx, &update, sizeof(update));
}

/* Give a job to the firmware; uses a reservation of the kernel CCB. */
static int submit_locked(struct pumice_job *job)
{
	struct pumice_context *ctx = job->ctx;
	struct fwif_kccb_cmd kick = { .type = FWIF_KCCB_KICK, .context = ctx->obj->addr };
	u32 write = ctx->write;
	int ret;

	lockdep_assert_held(&ctx->lock);
	job->seqno = ctx->seqno + 1;
	pumice_fence_init(job->fence, job->seqno);
	job->fenced = true;
	emit_job(job);
	dma_wmb(); /* the commands before the kick that shows them */
	kick.write = ctx->write;
	ret = pumice_kccb_push_reserved(ctx->pdev, &kick);
	if (ret) {
		ctx->write = write;
		return ret;
	}
	ctx->seqno = job->seqno;
	ctx->known = true;
	job->given = ktime_get();
	list_add_tail(&job->node, &ctx->in_flight);
	trace_pumice_job_run(ctx->id, job->seqno);
	return 0;
}

static int submit(struct pumice_job *job)
{
	struct pumice_context *ctx = job->ctx;
	int ret;

	ret = pumice_kccb_reserve(ctx->pdev);
	if (ret) {
		if (ret == -ETIMEDOUT)
			pumice_reset_schedule(ctx->pdev);
		return -ECANCELED;
	}
	spin_lock(&ctx->lock);
	if (ctx->stopped) {
		pumice_kccb_unreserve(ctx->pdev);
		ret = -ECANCELED;
	} else {
		pumice_vm_note_use(ctx->vm);
		ret = submit_locked(job);
	}
	spin_unlock(&ctx->lock);
	return ret;
}

static struct dma_fence *run_job(struct drm_sched_job *base)
{
	struct pumice_job *job = to_pumice_job(base);
	int ret, idx;

	if (!drm_dev_enter(&job->ctx->pdev->drm, &idx)) {
		ret = -ENODEV;
	} else {
		ret = submit(job);
		drm_dev_exit(idx);
	}
	if (ret)
		pumice_result_note(job, ret);
	pumice_job_note_unqueued(job);
	return ret ? ERR_PTR(ret) : dma_fence_get(&job->fence->base);
}

/*
 * What a job still has to wait for in the kernel: that jobs of this GPU are
 * scheduled. One that turns out to have no fence of ours is waited for whole.
 */
static struct dma_fence *prepare_job(struct drm_sched_job *base, struct drm_sched_entity *entity)
{
	struct pumice_job *job = to_pumice_job(base);
	struct drm_sched_fence *s_fence;
	u32 i;

	if (READ_ONCE(job->ctx->stopped))
		return NULL;
	for (i = 0; i < job->native_count; i++) {
		s_fence = to_drm_sched_fence(job->native[i]);
		if (dma_fence_is_signaled(&s_fence->finished))
			continue;
		if (!dma_fence_is_signaled(&s_fence->scheduled))
			return dma_fence_get(&s_fence->scheduled);
		if (!native_fence(&s_fence->finished))
			return dma_fence_get(&s_fence->finished);
	}
	return NULL;
}

static void free_job(struct drm_sched_job *base)
{
	pumice_job_destroy(to_pumice_job(base));
}

static const struct drm_sched_backend_ops sched_ops = {
	.prepare_job = prepare_job,
	.run_job = run_job,
	.timedout_job = pumice_reset_job_timed_out,
	.free_job = free_job,
};

/**
 * pumice_queue_init - scheduler and entity of a context
 * @ctx: context
 *
 * Returns 0 or an error.
 */
int pumice_queue_init(struct pumice_context *ctx)
{
	struct drm_gpu_scheduler *sched = &ctx->sched;
	struct pumice_device *pdev = ctx->pdev;
	long tick;
	int ret;

	ctx->timeout_ms = READ_ONCE(pumice_job_timeout_ms);
	tick = msecs_to_jiffies(ctx->timeout_ms) / PUMICE_TIMEOUT_TICKS;
	ret = pumice_sched_init(sched, &sched_ops, pdev->sched_wq, CREDIT_LIMIT, max(tick, 1L),
				pdev->reset.wq, "pumice", pdev->drm.dev);
	if (ret)
		return ret;
	ret = drm_sched_entity_init(&ctx->entity, DRM_SCHED_PRIORITY_KERNEL, &sched, 1, NULL);
	if (ret)
		drm_sched_fini(sched);
	return ret;
}

static void report_fault(struct pumice_context *ctx, const struct fwif_job_result *r)
{
	dev_info_ratelimited(ctx->pdev->drm.dev,
			     "context %u job %u: %s by %s, %s at 0x%llx, usc %u pc %u\n",
			     ctx->id, r->seqno, pumice_fault_str(r->fault),
			     pumice_unit_str(r->unit), pumice_access_str(r->access), r->addr,
			     r->usc, r->pc);
}

/* The errno that a job's fence carries. */
static int result_error(struct pumice_context *ctx, const struct pumice_job *job,
			const struct fwif_job_result *r)
{
	if (r->seqno != job->seqno) {
		drm_err_ratelimited(&ctx->pdev->drm, "context %u job %u: firmware left no result\n",
				    ctx->id, job->seqno);
		return -EIO;
	}
	if (ctx->guilty == job)
		return r->fault ? -ETIMEDOUT : 0;
	switch (r->fault) {
	case PUMICE_FAULT_NONE:
		return 0;
	case PUMICE_FAULT_KILLED:
	case PUMICE_FAULT_RESET:
		return -ECANCELED;
	default:
		return -EIO;
	}
}

/* End a job; error 0 is success. */
static void end_job_locked(struct pumice_context *ctx, struct pumice_job *job, int error,
			   const struct fwif_job_result *r)
{
	lockdep_assert_held(&ctx->lock);
	pumice_result_note_locked(job, error, r);
	list_del_init(&job->node);
	ctx->news.done++;
	ctx->news.failed += !!error;
	if (error)
		dma_fence_set_error(&job->fence->base, error);
	dma_fence_signal(&job->fence->base);
}

/* End a job that the firmware says has ended. */
static void finish_job_locked(struct pumice_context *ctx, struct pumice_job *job)
{
	struct fwif_job_result r;
	int error;

	pumice_copy_once(&r, &ctx->shared->results[job->seqno & RESULT_MASK], sizeof(r));
	error = result_error(ctx, job, &r);
	if (r.seqno == job->seqno) {
		ctx->news.last_start = r.time_start;
		ctx->news.last_end = r.time_end;
		pumice_fdinfo_job_ended_locked(ctx, &r);
		trace_pumice_job_start(ctx->id, &r);
		if (r.fault) {
			trace_pumice_job_fault(ctx->id, &r);
			ctx->news.fault = r;
		}
	}
	if (error == -EIO) {
		ctx->state |= DRM_PUMICE_CONTEXT_FAULTED;
		report_fault(ctx, &r);
	}
	if (r.seqno == job->seqno)
		trace_pumice_job_done(ctx->id, &r, error);
	end_job_locked(ctx, job, error, r.seqno == job->seqno ? &r : NULL);
}

static void process_locked(struct pumice_context *ctx)
{
	struct pumice_job *job, *next;
	u32 reached;

	lockdep_assert_held(&ctx->lock);
	reached = READ_ONCE(*(u32 *)ctx->ufo->cpu);
	dma_rmb(); /* the update object before the results of the jobs it has reached */
	if ((s32)(reached - ctx->seqno) > 0) {
		drm_err_ratelimited(&ctx->pdev->drm, "context %u: job %u ended, which is not\n",
				    ctx->id, reached);
		pumice_reset_schedule(ctx->pdev);
		return;
	}
	list_for_each_entry_safe(job, next, &ctx->in_flight, node) {
		if ((s32)(reached - job->seqno) < 0)
			break;
		finish_job_locked(ctx, job);
	}
}

/**
 * pumice_queue_process - end the jobs of a context that have ended
 * @ctx: context, in the list of contexts; between drm_dev_enter() and drm_dev_exit()
 */
void pumice_queue_process(struct pumice_context *ctx)
{
	bool cookie = dma_fence_begin_signalling();

	spin_lock(&ctx->lock);
	process_locked(ctx);
	spin_unlock(&ctx->lock);
	dma_fence_end_signalling(cookie);
}

/**
 * pumice_queue_process_all - end the jobs of all contexts that have ended
 * @pdev: device, between drm_dev_enter() and drm_dev_exit()
 */
void pumice_queue_process_all(struct pumice_device *pdev)
{
	bool cookie = dma_fence_begin_signalling();
	struct pumice_context *ctx;

	spin_lock(&pdev->reset.contexts_lock);
	list_for_each_entry(ctx, &pdev->reset.contexts, node) {
		spin_lock(&ctx->lock);
		process_locked(ctx);
		spin_unlock(&ctx->lock);
	}
	spin_unlock(&pdev->reset.contexts_lock);
	dma_fence_end_signalling(cookie);
}

/**
 * pumice_queue_cancel - the firmware is gone: end all jobs it had
 * @ctx: context, in the list of contexts; its memory is still there
 * @error: errno of their fences
 *
 * A context that lost a job takes no more. The others are as new to the next
 * firmware.
 */
void pumice_queue_cancel(struct pumice_context *ctx, int error)
{
	bool cookie = dma_fence_begin_signalling();
	struct pumice_job *job, *next;

	spin_lock(&ctx->lock);
	process_locked(ctx);
	list_for_each_entry_safe(job, next, &ctx->in_flight, node) {
		ctx->stopped = true;
		if (!(ctx->state & DRM_PUMICE_CONTEXT_GUILTY))
			ctx->state |= DRM_PUMICE_CONTEXT_INNOCENT;
		ctx->news.fault = (struct fwif_job_result) {
			.seqno = job->seqno,
			.fault = PUMICE_FAULT_RESET,
		};
		end_job_locked(ctx, job, job == ctx->guilty ? -ETIMEDOUT : error,
			       &ctx->news.fault);
	}
	WRITE_ONCE(*(u32 *)ctx->ufo->cpu, ctx->seqno);
	ctx->write = 0;
	ctx->known = false;
	spin_unlock(&ctx->lock);
	dma_fence_end_signalling(cookie);
}
