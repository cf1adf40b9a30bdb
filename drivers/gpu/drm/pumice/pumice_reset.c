// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Recovery, in increasing order of severity.
 *
 * A job that takes too long stops its context: the firmware kills it, all other contexts
 * continue. If the firmware does not reply, the GPU is reset: jobs that had begun are
 * lost, contexts that lost none continue with the restarted firmware and with the jobs
 * that it had (pumice_replay.c). A GPU that does not recover is
 * unplugged. A virtual GPU other than 0 disconnects from the firmware and connects again instead,
 * which leaves the jobs of others alone; it does the same after a reset by number 0.
 *
 * Time-outs and resets run on one ordered workqueue, under reset.lock. Fences wait for
 * them, so nothing is allocated there, and no lock taken under which others allocate;
 * lockdep checks it from the annotations.
 *
 * Only time on the GPU counts: a job that waits for other jobs, or to be scheduled by
 * the firmware, does not hang. A quarter of the time-out is a tick. At each tick, a job is
 * killed that has had the data master for the time-out, all its slices together, as the
 * firmware counts it; and, whatever the firmware counts, a job that was there at
 * four consecutive ticks while the firmware had no other job to run and neither
 * started one nor switched one out.
 *
 * While a geometry job that is out of pages holds the VDM, time in which fragment jobs of
 * other contexts are on the PDM does not count for it. Time in which its partial renders are
 * on the PDM, and fragment jobs of others wait, does.
 */
#include <linux/delay.h>

#include "pumice_ccb.h"
#include "pumice_context.h"
#include "pumice_events.h"
#include "pumice_fence.h"
#include "pumice_fw.h"
#include "pumice_gpu_trace.h"
#include "pumice_irq.h"
#include "pumice_job.h"
#include "pumice_places.h"
#include "pumice_queue.h"
#include "pumice_replay.h"
#include "pumice_reset.h"
#include "pumice_stuck.h"
#include "pumice_vgpu.h"
#include "times.h"

#define BOOT_ATTEMPTS	2
/* Reason of a virtual GPU other than 0. */
#define OTHER_RESET	"the GPU was reset by virtual GPU 0"

/* Stop the schedulers of all queues, or only of the first queue of each context. */
static void reset_stop_each(struct pumice_device *pdev, bool all)
{
	struct pumice_context *ctx;
	struct pumice_queue *q;

	lockdep_assert_held(&pdev->reset.lock);
	list_for_each_entry(ctx, &pdev->reset.contexts, node)
		pumice_for_each_queue(q, ctx)
			if (all || q == ctx->queues)
				drm_sched_wqueue_stop(&q->sched);
}

/*
 * Stop schedulers, so that no run_job() is running and none begins; twice, with a grace period
 * in between, for the reason in pumice_sched.c. Waiting for a run_job() that is itself in the
 * fence path cannot deadlock, but up to Linux 6.15 lockdep treats the annotation as a lock, and
 * would report a wait for run_job() inside of one.
 */
static void reset_pause_schedulers(struct pumice_device *pdev, bool all)
{
	reset_stop_each(pdev, all);
	synchronize_rcu();
	reset_stop_each(pdev, all);
}

static void reset_resume_schedulers(struct pumice_device *pdev)
{
	struct pumice_context *ctx;
	struct pumice_queue *q;

	lockdep_assert_held(&pdev->reset.lock);
	if (pdev->reset.paused)
		return;
	list_for_each_entry(ctx, &pdev->reset.contexts, node)
		pumice_for_each_queue(q, ctx)
			drm_sched_wqueue_start(&q->sched);
}

/* Note completed jobs before the firmware is quiesced; jobs that fault count as completed. */
static void reset_note_progress(struct pumice_device *pdev)
{
	const struct fwif_boot *boot = &pdev->fw.shared->boot;

	lockdep_assert_held(&pdev->reset.lock);
	if (READ_ONCE(boot->jobs_done) || READ_ONCE(boot->jobs_faulted))
		pdev->reset.failures = 0;
}

/* Count a failure; true if the firmware is not to be booted again. */
static bool reset_failed_too_often(struct pumice_device *pdev)
{
	lockdep_assert_held(&pdev->reset.lock);
	return ++pdev->reset.failures >= PUMICE_FAILURES;
}

/* Quiesce the firmware: no command is sent to it afterwards. */
static void reset_quiesce(struct pumice_device *pdev)
{
	bool cookie;

	lockdep_assert_held(&pdev->reset.lock);
	reset_note_progress(pdev);
	/* Before calls are canceled: their callers must see that a reset is under way. */
	WRITE_ONCE(pdev->reset.under_way, true);
	reset_pause_schedulers(pdev, true);
	cookie = dma_fence_begin_signalling();
	pdev->fw.ready = false;
	pumice_irq_disable(pdev);
	pumice_kccb_close(pdev);
	dma_fence_end_signalling(cookie);
}

/* End the jobs that the firmware had, except, if @up, those that can be resubmitted. */
static void reset_end_jobs(struct pumice_device *pdev, bool up)
{
	struct pumice_context *ctx;

	lockdep_assert_held(&pdev->reset.lock);
	list_for_each_entry(ctx, &pdev->reset.contexts, node) {
		pumice_queue_process(ctx);
		if (!up || !pumice_replay_prepare(ctx))
			pumice_queue_cancel(ctx, -ECANCELED);
	}
	/* Reports up to this point concern the previous firmware. */
	WRITE_ONCE(pdev->reset.wanted, false);
}

/* Resubmit the jobs. Firmware that does not accept them is reset as well. */
static void reset_replay_jobs(struct pumice_device *pdev)
{
	struct pumice_context *ctx;
	int ret = 0;

	lockdep_assert_held(&pdev->reset.lock);
	list_for_each_entry(ctx, &pdev->reset.contexts, node)
		ret = pumice_replay_run(ctx, !ret) ?: ret;
	if (ret)
		pumice_reset_schedule(pdev);
}

/* Resume operation with the running firmware. */
static void reset_resume(struct pumice_device *pdev)
{
	pumice_irq_enable(pdev);
	pumice_gpu_trace_restore(pdev);
	reset_replay_jobs(pdev);
}

/* Reset the GPU, boot the firmware, and end or resubmit the jobs that it had. */
static int reset_bring_up(struct pumice_device *pdev)
{
	int attempt, ret = -EIO;
	bool cookie;

	lockdep_assert_held(&pdev->reset.lock);
	cookie = dma_fence_begin_signalling();
	pdev->reset.heartbeat = 0;
	/* -ENODEV: the GPU was removed. */
	for (attempt = 0; ret && ret != -ENODEV && attempt < BOOT_ATTEMPTS; attempt++)
		ret = pumice_fw_boot(pdev);
	reset_end_jobs(pdev, !ret);
	if (ret)
		WRITE_ONCE(pdev->reset.lost, true);
	else
		reset_resume(pdev);
	reset_resume_schedulers(pdev);
	dma_fence_end_signalling(cookie);
	return ret;
}

/* Stop the GPU permanently, and end the jobs that the firmware had. */
static void reset_stop_forever(struct pumice_device *pdev)
{
	bool cookie;

	lockdep_assert_held(&pdev->reset.lock);
	cookie = dma_fence_begin_signalling();
	pumice_device_halt(pdev);
	reset_end_jobs(pdev, false);
	WRITE_ONCE(pdev->reset.lost, true);
	reset_resume_schedulers(pdev);
	dma_fence_end_signalling(cookie);
}

/* Complete a reset after reset_quiesce() and the following step: the GPU has lost all its state. */
static void reset_finish_round(struct pumice_device *pdev)
{
	WRITE_ONCE(pdev->reset.rounds, pdev->reset.rounds + 1);
	/* Order the reset before this store: pairs with the load in reset_none_under_way(). */
	smp_store_release(&pdev->reset.under_way, false);
	wake_up_all(&pdev->reset.over);
}

/* Unplug the device, after all jobs have ended. */
static void reset_lose_device(struct pumice_device *pdev, const char *reason)
{
	drm_err(&pdev->drm, "GPU lost: %s; unplugging it. Unbind and bind the driver to retry\n",
		reason);
	WRITE_ONCE(pdev->reset.lost, true);
	queue_work(system_unbound_wq, &pdev->reset.lost_work);
}

/*
 * Must not be called in an annotated fence path: it is one itself, except
 * reset_pause_schedulers().
 */
static void reset_locked(struct pumice_device *pdev, const char *reason)
{
	bool cookie, by_other;

	lockdep_assert_held(&pdev->reset.lock);
	if (pdev->reset.asleep) {
		reset_finish_round(pdev);
		return;
	}
	by_other = pumice_vgpu_is_lost(pdev);
	if (by_other)
		reason = OTHER_RESET;
	else if (READ_ONCE(pdev->vgpu.stopped))
		by_other = true;	/* number 0 is about to reset the GPU */
	if (pdev->os)
		drm_err(&pdev->drm, "connecting to the firmware again: %s\n", reason);
	else
		drm_err(&pdev->drm, "resetting the GPU: %s\n", reason);
	trace_pumice_reset(reason);
	cookie = dma_fence_begin_signalling();
	pumice_dump_reset(pdev, reason);
	dma_fence_end_signalling(cookie);
	pdev->reset.count++;
	reset_quiesce(pdev);
	if (!by_other && reset_failed_too_often(pdev)) {
		reset_stop_forever(pdev);
		reset_lose_device(pdev, "firmware failed repeatedly");
	} else if (reset_bring_up(pdev)) {
		reset_lose_device(pdev, "firmware did not boot after a reset");
	} else {
		pumice_places_reset(pdev);
		queue_work(system_unbound_wq, &pdev->reset.event_work);
	}
	reset_finish_round(pdev);
}

static void reset_work(struct work_struct *work)
{
	struct pumice_device *pdev = container_of(work, struct pumice_device, reset.work);
	int idx;

	if (!drm_dev_enter(&pdev->drm, &idx)) {
		/* The device is being unplugged, which waiters must notice. */
		wake_up_all(&pdev->reset.over);
		return;
	}
	mutex_lock(&pdev->reset.lock);
	if (READ_ONCE(pdev->reset.wanted))
		reset_locked(pdev, "firmware failed");
	mutex_unlock(&pdev->reset.lock);
	drm_dev_exit(idx);
}

/* Send the uevent. This allocates, so no fence may wait for it. */
static void reset_event_work(struct work_struct *work)
{
	struct pumice_device *pdev = container_of(work, struct pumice_device, reset.event_work);

	pumice_wedged_event(&pdev->drm, false);
}

static void reset_lost_work(struct work_struct *work)
{
	struct pumice_device *pdev = container_of(work, struct pumice_device, reset.lost_work);

	pumice_wedged_event(&pdev->drm, true);
	pumice_device_unplug(pdev);
}

/**
 * pumice_reset_init - initialize; must precede all other functions of this file
 * @pdev: device
 *
 * Context: May sleep.
 *
 * Return: 0 or -ENOMEM.
 */
int pumice_reset_init(struct pumice_device *pdev)
{
	struct pumice_reset *reset = &pdev->reset;

	reset->wq = alloc_ordered_workqueue("pumice-reset", WQ_MEM_RECLAIM);
	if (!reset->wq)
		return -ENOMEM;
	mutex_init(&reset->lock);
	spin_lock_init(&reset->contexts_lock);
	init_waitqueue_head(&reset->over);
	INIT_LIST_HEAD(&reset->contexts);
	INIT_WORK(&reset->work, reset_work);
	INIT_WORK(&reset->lost_work, reset_lost_work);
	INIT_WORK(&reset->event_work, reset_event_work);
	return 0;
}

/**
 * pumice_reset_stop - wait for a reset that is under way, and permit no further ones
 * @pdev: device, unplugged
 */
void pumice_reset_stop(struct pumice_device *pdev)
{
	cancel_work_sync(&pdev->reset.work);
}

/**
 * pumice_reset_schedule - queue a reset of the GPU
 * @pdev: device
 *
 * It is skipped if another reset boots the firmware between this call and its execution.
 *
 * Context: Any.
 */
void pumice_reset_schedule(struct pumice_device *pdev)
{
	WRITE_ONCE(pdev->reset.wanted, true);
	queue_work(pdev->reset.wq, &pdev->reset.work);
}

static bool reset_none_under_way(struct pumice_device *pdev)
{
	/* Pairs with the release in reset_finish_round(). */
	return !smp_load_acquire(&pdev->reset.under_way) || drm_dev_is_unplugged(&pdev->drm);
}

static bool reset_round_ended(struct pumice_device *pdev, u32 rounds)
{
	return READ_ONCE(pdev->reset.rounds) != rounds || drm_dev_is_unplugged(&pdev->drm);
}

/**
 * pumice_reset_wait - wait for the end of a reset that is under way
 * @pdev: device, between drm_dev_enter() and drm_dev_exit(); not under reset.lock
 */
void pumice_reset_wait(struct pumice_device *pdev)
{
	wait_event(pdev->reset.over, reset_none_under_way(pdev));
}

/**
 * pumice_reset_and_wait - after a failed command, reset the GPU to discard all its state
 * @pdev: device, between drm_dev_enter() and drm_dev_exit(); not under reset.lock
 * @error: result of pumice_kccb_call(): -ECANCELED means that a reset is already
 *	under way
 *
 * Fences may wait for the callers, which may also hold locks that such code acquires: so
 * this waits for the reset's end, not for its lock or work item, in which the annotation of
 * the fence path begins.
 *
 * Return: 0 when the GPU has lost its state, or -ENODEV if it is being unplugged:
 * then the caller must use pumice_device_wait_unplugged().
 */
int pumice_reset_and_wait(struct pumice_device *pdev, int error)
{
	u32 rounds = READ_ONCE(pdev->reset.rounds);

	if (error != -ECANCELED) {
		drm_err(&pdev->drm, "firmware command failed: %pe\n", ERR_PTR(error));
		pumice_reset_schedule(pdev);
		wait_event(pdev->reset.over, reset_round_ended(pdev, rounds));
	} else {
		pumice_reset_wait(pdev);
	}
	return drm_dev_is_unplugged(&pdev->drm) ? -ENODEV : 0;
}

/* Return true while the firmware lacks the fragment job of a geometry job that it has or had. */
static bool reset_fragments_awaited(struct pumice_device *pdev)
{
	struct pumice_context *ctx;
	u32 awaited = 0;

	lockdep_assert_held(&pdev->reset.lock);
	list_for_each_entry(ctx, &pdev->reset.contexts, node) {
		spin_lock(&ctx->lock);
		awaited += pumice_context_awaited_locked(ctx);
		spin_unlock(&ctx->lock);
	}
	return awaited;
}

/* Pause geometry jobs, then wait for their fragment jobs, which only have to be scheduled. */
static void reset_pause_geometry(struct pumice_device *pdev)
{
	const unsigned long end = jiffies + msecs_to_jiffies(pumice_fw_timeout_ms);

	reset_pause_schedulers(pdev, false);
	while (reset_fragments_awaited(pdev) && time_before(jiffies, end))
		usleep_range(1000, 2000);
}

/**
 * pumice_reset_pause - stop the submission of jobs to the firmware
 * @pdev: device
 *
 * Until pumice_reset_continue(); resets and time-outs continue. Not nested. The firmware is
 * left with complete pairs of a render context: scenes do not survive the following sleep.
 */
void pumice_reset_pause(struct pumice_device *pdev)
{
	mutex_lock(&pdev->reset.lock);
	pdev->reset.paused = true;
	reset_pause_geometry(pdev);
	reset_pause_schedulers(pdev, true);
	mutex_unlock(&pdev->reset.lock);
}

/**
 * pumice_reset_continue - undo pumice_reset_pause()
 * @pdev: device
 *
 * Context: May sleep. Acquires reset.lock.
 */
void pumice_reset_continue(struct pumice_device *pdev)
{
	mutex_lock(&pdev->reset.lock);
	pdev->reset.paused = false;
	reset_resume_schedulers(pdev);
	mutex_unlock(&pdev->reset.lock);
}

/**
 * pumice_reset_sleep - stop an idle GPU
 * @pdev: device, between drm_dev_enter() and drm_dev_exit(); without jobs
 */
void pumice_reset_sleep(struct pumice_device *pdev)
{
	mutex_lock(&pdev->reset.lock);
	reset_quiesce(pdev);
	pumice_device_halt(pdev);
	pumice_kccb_sleep(pdev);
	pdev->reset.asleep = true;
	reset_finish_round(pdev);
	mutex_unlock(&pdev->reset.lock);
}

/**
 * pumice_reset_wake - undo pumice_reset_sleep()
 * @pdev: device, between drm_dev_enter() and drm_dev_exit()
 *
 * Return: 0; or the error of the last attempt of pumice_fw_boot(), in which case the device is
 * being unplugged.
 */
int pumice_reset_wake(struct pumice_device *pdev)
{
	int ret;

	mutex_lock(&pdev->reset.lock);
	pdev->reset.asleep = false;
	ret = reset_bring_up(pdev);
	mutex_unlock(&pdev->reset.lock);
	if (ret)
		reset_lose_device(pdev, "firmware did not boot after suspend");
	return ret;
}

/* Return true while a job waits for jobs of other contexts. */
static bool reset_job_waits(const struct pumice_job *job)
{
	u32 i;

	for (i = 0; i < job->gpu_dep_count; i++)
		if (!dma_fence_is_signaled(job->gpu_deps[i]))
			return true;
	return false;
}

/*
 * Return the time in ms for which a job has had the data master without being stopped for lack
 * of pages: as reported by the firmware, but at most the time for which the firmware has had
 * the job.
 */
static u64 reset_job_ran_ms(const struct pumice_job *job)
{
	struct pumice_queue *q = job->queue;
	u64 max_ms = ktime_ms_delta(ktime_get(), job->submit_time);
	struct pumice_times times;
	u64 ticks;

	/* While the firmware writes the times, none counts until the next tick. */
	if (!pumice_times_read(&q->shared->context, &times) || times.job_seqno != job->seqno)
		return 0;
	ticks = pumice_times_ran_itself(&times, pumice_read64(q->ctx->pdev, PUMICE_SYS_CLOCK));
	return min(mul_u64_u32_div(ticks, MSEC_PER_SEC, q->ctx->pdev->clock_hz), max_ms);
}

/* Return true if the firmware reports all or part of a queue's job on a data master. */
static bool reset_queue_is_on(const struct pumice_queue *q, u32 dm)
{
	const struct fwif_context *fw = &q->shared->context;

	if (!q->registered)
		return false;
	if (q->dm == FWIF_DM_VDM && dm == FWIF_DM_PDM)
		return READ_ONCE(fw->renders_partial);
	return q->dm == dm && READ_ONCE(fw->slice_start);
}

/*
 * Return true if the firmware reports another queue's job on the data master that a queue
 * waits for: its own or, for a geometry job that is out of pages, the one whose jobs
 * free them.
 */
static bool reset_others_run(const struct pumice_queue *q)
{
	const bool stopped = READ_ONCE(q->shared->context.stop_start);
	const u32 dm = q->dm == FWIF_DM_VDM && stopped ? FWIF_DM_PDM : q->dm;
	struct pumice_device *pdev = q->ctx->pdev;
	struct pumice_context *ctx;
	struct pumice_queue *other;

	lockdep_assert_held(&pdev->reset.lock);
	list_for_each_entry(ctx, &pdev->reset.contexts, node)
		pumice_for_each_queue(other, ctx)
			if (other != q && reset_queue_is_on(other, dm))
				return true;
	return false;
}

/*
 * Process one tick; true if the job hangs. The GPU is otherwise idle if its data master has
 * this job or none, and has neither started nor switched out a job, nor a partial render of
 * one, since the last check.
 */
static bool reset_job_hangs(const struct pumice_job *job)
{
	struct pumice_queue *q = job->queue;
	const struct fwif_boot *boot = &q->ctx->pdev->fw.shared->boot;
	u32 starts = READ_ONCE(boot->jobs_started) + READ_ONCE(boot->switches) +
		     READ_ONCE(boot->partials);

	lockdep_assert_held(&q->ctx->pdev->reset.lock);
	if (reset_job_waits(job) || starts != q->tick_starts || reset_others_run(q))
		q->ticks = 0;
	q->tick_starts = starts;
	return ++q->ticks >= PUMICE_TIMEOUT_TICKS || reset_job_ran_ms(job) >= q->ctx->timeout_ms;
}

/*
 * Return true while the firmware has a job. The scheduler lists a job and starts its time-out
 * before run_job(), and keeps one that run_job() refused until it is freed: neither has
 * a number, nor a fence of this driver.
 */
static bool reset_in_flight_locked(const struct pumice_job *job)
{
	lockdep_assert_held(&job->ctx->lock);
	return !list_empty(&job->node) && !job->error;
}

static bool reset_in_flight(const struct pumice_job *job)
{
	bool ret;

	spin_lock(&job->ctx->lock);
	ret = reset_in_flight_locked(job);
	spin_unlock(&job->ctx->lock);
	return ret;
}

/* Stop the context of a job; false if the job has ended meanwhile, so no context is guilty. */
static bool reset_stop_guilty(struct pumice_context *ctx, struct pumice_job *job)
{
	bool guilty;

	spin_lock(&ctx->lock);
	guilty = reset_in_flight_locked(job);
	if (guilty) {
		pumice_context_stop_locked(ctx, DRM_PUMICE_CONTEXT_GUILTY);
		ctx->guilty = job;
	}
	spin_unlock(&ctx->lock);
	return guilty;
}

/* Stop a context and kill its job. Returns why the GPU has to be reset, or NULL. */
static const char *reset_kill_guilty(struct pumice_context *ctx, struct pumice_job *job)
{
	struct pumice_device *pdev = ctx->pdev;
	bool dumps = pumice_dump_begin_timeout(job);
	int ret;

	/* Reading the GPU for a dump takes time, during which the job may end. */
	pumice_queue_process(ctx);
	if (!reset_stop_guilty(ctx, job)) {
		if (dumps)
			pumice_dump_drop(pdev);
		return NULL;
	}
	ret = pumice_context_kill(ctx);
	pumice_stuck_report(job);
	if (dumps)
		pumice_dump_end_timeout(job);
	return ret ? "firmware did not stop a job" : NULL;
}

/* Return true if the firmware's main loop, which replies to commands, ran since the last check. */
static bool reset_fw_progresses(struct pumice_device *pdev)
{
	u32 heartbeat = READ_ONCE(pdev->fw.shared->boot.heartbeat);
	bool moves = heartbeat != pdev->reset.heartbeat;

	lockdep_assert_held(&pdev->reset.lock);
	pdev->reset.heartbeat = heartbeat;
	return moves;
}

/* Check a job at a tick. Returns why the GPU has to be reset, or NULL. */
static const char *reset_check_job(struct pumice_context *ctx, struct pumice_job *job)
{
	const struct fwif_kccb_cmd ping = { .type = FWIF_KCCB_PING };
	struct pumice_device *pdev = ctx->pdev;

	lockdep_assert_held(&pdev->reset.lock);
	if (pumice_vgpu_is_lost(pdev))
		return OTHER_RESET;
	if (pumice_kccb_call(pdev, &ping))
		return "firmware does not reply";
	pumice_irq_recheck(pdev);
	if (!reset_fw_progresses(pdev))
		return "firmware replies, but makes no progress";
	pumice_queue_process(ctx);
	if (reset_in_flight(job) && reset_job_hangs(job))
		return reset_kill_guilty(ctx, job);
	return NULL;
}

static void reset_watch_job(struct pumice_context *ctx, struct pumice_job *job)
{
	const char *reason;
	bool cookie;

	/* A lost GPU has no jobs, and is neither called nor reset again. */
	if (ctx->pdev->reset.lost)
		return;
	/*
	 * A context that is being destroyed has no job in the firmware, and its queues are without
	 * shared memory. But the scheduler may not have completed a job yet that was refused.
	 */
	if (list_empty(&ctx->node))
		return;
	cookie = dma_fence_begin_signalling();
	reason = reset_check_job(ctx, job);
	dma_fence_end_signalling(cookie);
	if (reason)
		reset_locked(ctx->pdev, reason);
	spin_lock(&ctx->lock);
	ctx->guilty = NULL;
	pumice_queue_start_tick_locked(job->queue);
	spin_unlock(&ctx->lock);
}

/**
 * pumice_reset_job_timed_out - handle the scheduler's tick for the oldest job of a queue
 * @base: job; the firmware may not have it yet, or never get it
 *
 * Context: Process context. Acquires reset.lock.
 *
 * Return: the scheduler's next step: keep the job, ended or not.
 */
enum drm_gpu_sched_stat pumice_reset_job_timed_out(struct drm_sched_job *base)
{
	struct pumice_job *job = to_pumice_job(base);
	struct pumice_device *pdev = job->ctx->pdev;
	enum drm_gpu_sched_stat stat;
	int idx;

	mutex_lock(&pdev->reset.lock);
	if (drm_dev_enter(&pdev->drm, &idx)) {
		if (!dma_fence_is_signaled(&base->s_fence->finished))
			reset_watch_job(job->ctx, job);
		drm_dev_exit(idx);
	}
	stat = pumice_sched_keep_job(base);
	mutex_unlock(&pdev->reset.lock);
	return stat;
}

/**
 * pumice_reset_pci_prepare - stop the GPU before the PCI core resets the function
 * @pci: device
 *
 * pumice_reset_pci_done() always follows, in the same thread; reset.lock is held
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
		reset_quiesce(pdev);
		pumice_device_halt(pdev);
	}
}

/**
 * pumice_reset_pci_done - restart the GPU after the PCI core has reset the function
 * @pci: device
 */
void pumice_reset_pci_done(struct pci_dev *pci)
{
	struct pumice_device *pdev = pci_get_drvdata(pci);

	if (pdev->reset.pci) {
		if (reset_bring_up(pdev)) {
			reset_lose_device(pdev, "firmware did not boot after a function reset");
		} else {
			pumice_places_reset(pdev);
			queue_work(system_unbound_wq, &pdev->reset.event_work);
		}
		reset_finish_round(pdev);
		drm_dev_exit(pdev->reset.dev_idx);
		pdev->reset.pci = false;
	}
	mutex_unlock(&pdev->reset.lock);
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_reset_test.c"
#endif
