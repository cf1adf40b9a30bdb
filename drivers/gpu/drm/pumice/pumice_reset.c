// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Recovery: from mild to hard.
 *
 * A job that takes too long costs its context: the firmware kills it, all
 * others go on. Firmware that does not answer costs a reset of the GPU: jobs
 * that it had are lost, contexts that lost none go on with the firmware booted
 * anew. A GPU that does not come back is unplugged.
 *
 * Time-outs and resets run on one ordered workqueue, under reset.lock.
 *
 * Only time on the GPU counts: a job that waits for others, or for its turn,
 * does not hang. A quarter of the time-out is a tick. At each, a job is killed
 * that has had the data master for the time-out, all its slices together, as the
 * firmware counts it; and, whatever the firmware counts, one that was there at
 * four ticks in a row while the firmware had no other job to run and neither
 * started one nor switched one out.
 */
#include "pumice_ccb.h"
#include "pumice_context.h"
#include "pumice_events.h"
#include "pumice_fence.h"
#include "pumice_fw.h"
#include "pumice_gpu_trace.h"
#include "pumice_irq.h"
#include "pumice_job.h"
#include "pumice_queue.h"
#include "pumice_reset.h"

#define BOOT_ATTEMPTS	2

/* So that no run_job() is under way and none begins. */
static void pause_schedulers(struct pumice_device *pdev)
{
	struct pumice_context *ctx;
	struct pumice_queue *q;

	lockdep_assert_held(&pdev->reset.lock);
	list_for_each_entry(ctx, &pdev->reset.contexts, node)
		pumice_for_each_queue(q, ctx)
			drm_sched_wqueue_stop(&q->sched);
}

static void resume_schedulers(struct pumice_device *pdev)
{
	struct pumice_context *ctx;
	struct pumice_queue *q;

	lockdep_assert_held(&pdev->reset.lock);
	list_for_each_entry(ctx, &pdev->reset.contexts, node)
		pumice_for_each_queue(q, ctx)
			drm_sched_wqueue_start(&q->sched);
}

/* Nobody talks to the firmware after this. */
static void take_down(struct pumice_device *pdev)
{
	lockdep_assert_held(&pdev->reset.lock);
	pause_schedulers(pdev);
	pdev->fw.ready = false;
	pumice_irq_disable(pdev);
	pumice_kccb_close(pdev);
}

/* Reset the GPU, boot the firmware, end the jobs it had. */
static int bring_up(struct pumice_device *pdev)
{
	struct pumice_context *ctx;
	int attempt, ret = -EIO;

	lockdep_assert_held(&pdev->reset.lock);
	pdev->reset.heartbeat = 0;
	for (attempt = 0; ret && attempt < BOOT_ATTEMPTS; attempt++)
		ret = pumice_fw_boot(pdev);
	list_for_each_entry(ctx, &pdev->reset.contexts, node)
		pumice_queue_cancel(ctx, -ECANCELED);
	if (!ret) {
		pumice_irq_enable(pdev);
		pumice_gpu_trace_restore(pdev);
	}
	resume_schedulers(pdev);
	return ret;
}

static void reset_locked(struct pumice_device *pdev, const char *reason)
{
	lockdep_assert_held(&pdev->reset.lock);
	if (pdev->reset.asleep)
		return;
	drm_err(&pdev->drm, "resetting the GPU: %s\n", reason);
	trace_pumice_reset(reason);
	pdev->reset.count++;
	take_down(pdev);
	if (bring_up(pdev)) {
		drm_err(&pdev->drm, "the GPU does not come back; unplugging it\n");
		queue_work(system_unbound_wq, &pdev->reset.lost_work);
	}
}

static void reset_work(struct work_struct *work)
{
	struct pumice_device *pdev = container_of(work, struct pumice_device, reset.work);
	int idx;

	if (!drm_dev_enter(&pdev->drm, &idx))
		return;
	mutex_lock(&pdev->reset.lock);
	reset_locked(pdev, "firmware failed");
	mutex_unlock(&pdev->reset.lock);
	drm_dev_exit(idx);
}

static void lost_work(struct work_struct *work)
{
	pumice_device_unplug(container_of(work, struct pumice_device, reset.lost_work));
}

/**
 * pumice_reset_init - before anything else of this file
 * @pdev: device
 *
 * Returns 0 or -ENOMEM.
 */
int pumice_reset_init(struct pumice_device *pdev)
{
	struct pumice_reset *reset = &pdev->reset;

	reset->wq = alloc_ordered_workqueue("pumice-reset", 0);
	if (!reset->wq)
		return -ENOMEM;
	mutex_init(&reset->lock);
	spin_lock_init(&reset->contexts_lock);
	INIT_LIST_HEAD(&reset->contexts);
	INIT_WORK(&reset->work, reset_work);
	INIT_WORK(&reset->lost_work, lost_work);
	return 0;
}

/**
 * pumice_reset_stop - no reset is under way after this, and none begins
 * @pdev: device, unplugged
 */
void pumice_reset_stop(struct pumice_device *pdev)
{
	cancel_work_sync(&pdev->reset.work);
}

/**
 * pumice_reset_schedule - reset the GPU soon
 * @pdev: device
 */
void pumice_reset_schedule(struct pumice_device *pdev)
{
	queue_work(pdev->reset.wq, &pdev->reset.work);
}

/**
 * pumice_reset_and_wait - after a failed command: have the GPU forget all it knew
 * @pdev: device, between drm_dev_enter() and drm_dev_exit(); not under reset.lock
 * @error: what pumice_kccb_call() returned: -ECANCELED says that a reset is
 *	already under way
 *
 * Returns 0 when the GPU has forgotten, or -ENODEV if it is being unplugged:
 * then only pumice_device_wait_gone() helps.
 */
int pumice_reset_and_wait(struct pumice_device *pdev, int error)
{
	if (error != -ECANCELED) {
		drm_err(&pdev->drm, "firmware command failed (%d)\n", error);
		pumice_reset_schedule(pdev);
		flush_work(&pdev->reset.work);
	}
	mutex_lock(&pdev->reset.lock);
	mutex_unlock(&pdev->reset.lock);
	return drm_dev_is_unplugged(&pdev->drm) ? -ENODEV : 0;
}

/**
 * pumice_reset_pause - no job is given to the firmware after this
 * @pdev: device
 */
void pumice_reset_pause(struct pumice_device *pdev)
{
	mutex_lock(&pdev->reset.lock);
	pause_schedulers(pdev);
	mutex_unlock(&pdev->reset.lock);
}

/**
 * pumice_reset_continue - end of pumice_reset_pause()
 * @pdev: device
 */
void pumice_reset_continue(struct pumice_device *pdev)
{
	mutex_lock(&pdev->reset.lock);
	resume_schedulers(pdev);
	mutex_unlock(&pdev->reset.lock);
}

/**
 * pumice_reset_sleep - stop a GPU that nobody needs
 * @pdev: device, between drm_dev_enter() and drm_dev_exit(); without jobs
 */
void pumice_reset_sleep(struct pumice_device *pdev)
{
	mutex_lock(&pdev->reset.lock);
	take_down(pdev);
	pumice_device_halt(pdev);
	pumice_kccb_sleep(pdev);
	pdev->reset.asleep = true;
	mutex_unlock(&pdev->reset.lock);
}

/**
 * pumice_reset_wake - end of pumice_reset_sleep()
 * @pdev: device, between drm_dev_enter() and drm_dev_exit()
 *
 * Returns 0, or an error: then the device is being unplugged.
 */
int pumice_reset_wake(struct pumice_device *pdev)
{
	int ret;

	mutex_lock(&pdev->reset.lock);
	pdev->reset.asleep = false;
	ret = bring_up(pdev);
	mutex_unlock(&pdev->reset.lock);
	if (ret) {
		drm_err(&pdev->drm, "the GPU does not wake; unplugging it\n");
		queue_work(system_unbound_wq, &pdev->reset.lost_work);
	}
	return ret;
}

/* True while a job waits for jobs of other contexts. */
static bool job_waits(const struct pumice_job *job)
{
	u32 i;

	for (i = 0; i < job->native_count; i++)
		if (!dma_fence_is_signaled(job->native[i]))
			return true;
	return false;
}

/*
 * Time that a job has had the data master, ms: what the firmware says, but no more
 * than the time for which the firmware has had the job.
 */
static u64 job_ran_ms(const struct pumice_job *job)
{
	struct pumice_queue *q = job->queue;
	u64 most = ktime_ms_delta(ktime_get(), job->given);
	u64 ticks;

	if (READ_ONCE(q->shared->context.job_seqno) != job->seqno)
		return 0;
	ticks = pumice_queue_live_ticks(q);
	return min(mul_u64_u32_div(ticks, MSEC_PER_SEC, q->ctx->pdev->clock_hz), most);
}

/* True if the firmware says that another queue's job is on the data master. */
static bool others_run(const struct pumice_queue *q)
{
	struct pumice_device *pdev = q->ctx->pdev;
	struct pumice_context *ctx;
	struct pumice_queue *other;

	lockdep_assert_held(&pdev->reset.lock);
	list_for_each_entry(ctx, &pdev->reset.contexts, node)
		pumice_for_each_queue(other, ctx)
			if (other != q && other->dm == q->dm && other->known &&
			    READ_ONCE(other->shared->context.slice_start))
				return true;
	return false;
}

/*
 * One tick of watching; true if the job hangs. The GPU has nothing else to do when
 * its data master is with this job or with none, and took and left no job since
 * the last look.
 */
static bool job_hangs(const struct pumice_job *job)
{
	struct pumice_queue *q = job->queue;
	const struct fwif_boot *boot = &q->ctx->pdev->fw.shared->boot;
	u32 starts = READ_ONCE(boot->jobs_started) + READ_ONCE(boot->switches);

	lockdep_assert_held(&q->ctx->pdev->reset.lock);
	if (job_waits(job) || starts != q->tick_starts || others_run(q))
		q->ticks = 0;
	q->tick_starts = starts;
	return ++q->ticks >= PUMICE_TIMEOUT_TICKS || job_ran_ms(job) >= q->ctx->timeout_ms;
}

/* The context pays for its job. */
static void kill_guilty(struct pumice_context *ctx, const struct pumice_job *job)
{
	struct pumice_device *pdev = ctx->pdev;

	drm_warn(&pdev->drm, "context %u job %u timed out\n", job->queue->id, job->seqno);
	spin_lock(&ctx->lock);
	ctx->stopped = true;
	ctx->state |= DRM_PUMICE_CONTEXT_GUILTY;
	ctx->guilty = job;
	spin_unlock(&ctx->lock);
	if (pumice_context_kill(ctx))
		reset_locked(pdev, "firmware did not stop a job");
	spin_lock(&ctx->lock);
	ctx->guilty = NULL;
	spin_unlock(&ctx->lock);
}

/* Its background loop has passed since the last look, as it must to answer a command. */
static bool firmware_goes_on(struct pumice_device *pdev)
{
	u32 heartbeat = READ_ONCE(pdev->fw.shared->boot.heartbeat);
	bool moves = heartbeat != pdev->reset.heartbeat;

	lockdep_assert_held(&pdev->reset.lock);
	pdev->reset.heartbeat = heartbeat;
	return moves;
}

static void look_at_job(struct pumice_context *ctx, const struct pumice_job *job)
{
	const struct fwif_kccb_cmd ping = { .type = FWIF_KCCB_PING };
	struct pumice_device *pdev = ctx->pdev;

	lockdep_assert_held(&pdev->reset.lock);
	if (pumice_kccb_call(pdev, &ping)) {
		reset_locked(pdev, "firmware does not answer");
		return;
	}
	if (!firmware_goes_on(pdev)) {
		reset_locked(pdev, "firmware answers, but does nothing else");
		return;
	}
	pumice_queue_process(ctx);
	if (!dma_fence_is_signaled(&job->fence->base) && job_hangs(job))
		kill_guilty(ctx, job);
}

/**
 * pumice_reset_job_timed_out - the scheduler's tick for the oldest job of a context
 * @base: job, which the firmware has
 *
 * Returns what the scheduler is to do: keep the job, ended or not.
 */
enum drm_gpu_sched_stat pumice_reset_job_timed_out(struct drm_sched_job *base)
{
	struct pumice_job *job = to_pumice_job(base);
	struct pumice_device *pdev = job->ctx->pdev;
	enum drm_gpu_sched_stat stat;
	int idx;

	mutex_lock(&pdev->reset.lock);
	if (drm_dev_enter(&pdev->drm, &idx)) {
		if (!dma_fence_is_signaled(&job->fence->base))
			look_at_job(job->ctx, job);
		drm_dev_exit(idx);
	}
	stat = pumice_sched_keep_job(base);
	mutex_unlock(&pdev->reset.lock);
	return stat;
}

/**
 * pumice_reset_pci_prepare - the PCI core is about to reset the function
 * @pci: device
 *
 * pumice_reset_pci_done() always follows, in the same thread; the lock is held
 * in between.
 */
void pumice_reset_pci_prepare(struct pci_dev *pci)
{
	struct pumice_device *pdev = pci_get_drvdata(pci);

	mutex_lock(&pdev->reset.lock);
	pdev->reset.pci = !pdev->reset.asleep &&
			  drm_dev_enter(&pdev->drm, &pdev->reset.dev_idx);
	if (pdev->reset.pci) {
		pdev->reset.count++;
		take_down(pdev);
		pumice_device_halt(pdev);
	}
}

/**
 * pumice_reset_pci_done - the PCI core has reset the function
 * @pci: device
 */
void pumice_reset_pci_done(struct pci_dev *pci)
{
	struct pumice_device *pdev = pci_get_drvdata(pci);

	if (pdev->reset.pci) {
		if (bring_up(pdev))
			queue_work(system_unbound_wq, &pdev->reset.lost_work);
		drm_dev_exit(pdev->reset.dev_idx);
		pdev->reset.pci = false;
	}
	mutex_unlock(&pdev->reset.lock);
}
