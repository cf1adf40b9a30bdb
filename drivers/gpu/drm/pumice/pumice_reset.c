// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Recovery: from mild to hard.
 *
 * A job that takes too long costs its context: the firmware kills it, all
 * others go on. Firmware that does not answer costs a reset of the GPU: jobs
 * that it had begun are lost, contexts that lost none go on with the firmware booted
 * anew, and with the jobs that it had (pumice_replay.c). A GPU that does not come back is
 * unplugged.
 *
 * Time-outs and resets run on one ordered workqueue, under reset.lock. Fences wait for
 * them, so nothing is allocated there, and no lock taken under which others allocate;
 * lockdep checks it from the annotations.
 *
 * Only time on the GPU counts: a job that waits for others, or for its turn,
 * does not hang. A quarter of the time-out is a tick. At each, a job is killed
 * that has had the data master for the time-out, all its slices together, as the
 * firmware counts it; and, whatever the firmware counts, one that was there at
 * four ticks in a row while the firmware had no other job to run and neither
 * started one nor switched one out.
 *
 * A geometry job that is out of pages holds the VDM while fragment jobs of others are on
 * the PDM: that time is theirs. Its partial renders are on the PDM while fragment jobs of
 * others wait: that time is its own.
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
#include "pumice_queue.h"
#include "pumice_replay.h"
#include "pumice_reset.h"
#include "pumice_stuck.h"

#define BOOT_ATTEMPTS	2

/*
 * So that no run_job() is under way and none begins. That it waits for one which is in the
 * fence path itself is no deadlock. But up to Linux 6.15 lockdep takes the annotation for a
 * lock, and so would report a wait for run_job() inside of one.
 */
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
	if (pdev->reset.paused)
		return;
	list_for_each_entry(ctx, &pdev->reset.contexts, node)
		pumice_for_each_queue(q, ctx)
			drm_sched_wqueue_start(&q->sched);
}

/* The firmware goes: what it has done counts. Jobs that fault are jobs that it has served. */
static void note_progress(struct pumice_device *pdev)
{
	const struct fwif_boot *boot = &pdev->fw.shared->boot;

	lockdep_assert_held(&pdev->reset.lock);
	if (READ_ONCE(boot->jobs_done) || READ_ONCE(boot->jobs_faulted))
		pdev->reset.failures = 0;
}

/* Another failure; true if to boot the firmware again would be in vain. */
static bool failed_too_often(struct pumice_device *pdev)
{
	lockdep_assert_held(&pdev->reset.lock);
	return ++pdev->reset.failures >= PUMICE_FAILURES;
}

/* Nobody talks to the firmware after this. */
static void take_down(struct pumice_device *pdev)
{
	bool cookie;

	lockdep_assert_held(&pdev->reset.lock);
	note_progress(pdev);
	/* Before calls fail for it: who is canceled finds it under way. */
	WRITE_ONCE(pdev->reset.under_way, true);
	pause_schedulers(pdev);
	cookie = dma_fence_begin_signalling();
	pdev->fw.ready = false;
	pumice_irq_disable(pdev);
	pumice_kccb_close(pdev);
	dma_fence_end_signalling(cookie);
}

/* End the jobs that the firmware had, but for those that can be given to a new one if @up. */
static void end_jobs(struct pumice_device *pdev, bool up)
{
	struct pumice_context *ctx;

	lockdep_assert_held(&pdev->reset.lock);
	list_for_each_entry(ctx, &pdev->reset.contexts, node) {
		pumice_queue_process(ctx);
		if (!up || !pumice_replay_prepare(ctx))
			pumice_queue_cancel(ctx, -ECANCELED);
	}
	/* Whatever was reported until now is about the firmware that went. */
	WRITE_ONCE(pdev->reset.wanted, false);
}

/* Firmware that does not take the jobs is reset as well. */
static void replay_jobs(struct pumice_device *pdev)
{
	struct pumice_context *ctx;
	int ret = 0;

	lockdep_assert_held(&pdev->reset.lock);
	list_for_each_entry(ctx, &pdev->reset.contexts, node)
		ret = pumice_replay_run(ctx, !ret) ?: ret;
	if (ret)
		pumice_reset_schedule(pdev);
}

/* The firmware runs again. */
static void go_on(struct pumice_device *pdev)
{
	pumice_irq_enable(pdev);
	pumice_gpu_trace_restore(pdev);
	replay_jobs(pdev);
}

/* Reset the GPU, boot the firmware, end the jobs it had, or give them to it again. */
static int bring_up(struct pumice_device *pdev)
{
	int attempt, ret = -EIO;
	bool cookie;

	lockdep_assert_held(&pdev->reset.lock);
	cookie = dma_fence_begin_signalling();
	pdev->reset.heartbeat = 0;
	for (attempt = 0; ret && attempt < BOOT_ATTEMPTS; attempt++)
		ret = pumice_fw_boot(pdev);
	end_jobs(pdev, !ret);
	if (ret)
		WRITE_ONCE(pdev->reset.lost, true);
	else
		go_on(pdev);
	resume_schedulers(pdev);
	dma_fence_end_signalling(cookie);
	return ret;
}

/* Stop the GPU for good, and end the jobs that the firmware had. */
static void give_up(struct pumice_device *pdev)
{
	bool cookie;

	lockdep_assert_held(&pdev->reset.lock);
	cookie = dma_fence_begin_signalling();
	pumice_device_halt(pdev);
	end_jobs(pdev, false);
	WRITE_ONCE(pdev->reset.lost, true);
	resume_schedulers(pdev);
	dma_fence_end_signalling(cookie);
}

/* After take_down(), and what follows it: the GPU has forgotten all. */
static void finish_round(struct pumice_device *pdev)
{
	WRITE_ONCE(pdev->reset.rounds, pdev->reset.rounds + 1);
	/* The reset before it: pairs with that in none_under_way(). */
	smp_store_release(&pdev->reset.under_way, false);
	wake_up_all(&pdev->reset.over);
}

/* All jobs have ended; what is left is to let the device go. */
static void lose(struct pumice_device *pdev, const char *reason)
{
	drm_err(&pdev->drm, "%s; unplugging it\n", reason);
	WRITE_ONCE(pdev->reset.lost, true);
	queue_work(system_unbound_wq, &pdev->reset.lost_work);
}

/* Not in an annotated part of the fence path: it is one, but for pause_schedulers(). */
static void reset_locked(struct pumice_device *pdev, const char *reason)
{
	bool cookie;

	lockdep_assert_held(&pdev->reset.lock);
	if (pdev->reset.asleep) {
		finish_round(pdev);
		return;
	}
	drm_err(&pdev->drm, "resetting the GPU: %s\n", reason);
	trace_pumice_reset(reason);
	cookie = dma_fence_begin_signalling();
	pumice_dump_reset(pdev, reason);
	dma_fence_end_signalling(cookie);
	pdev->reset.count++;
	take_down(pdev);
	if (failed_too_often(pdev)) {
		give_up(pdev);
		lose(pdev, "the firmware fails again and again");
	} else if (bring_up(pdev)) {
		lose(pdev, "the GPU does not come back");
	} else {
		queue_work(system_unbound_wq, &pdev->reset.event_work);
	}
	finish_round(pdev);
}

static void reset_work(struct work_struct *work)
{
	struct pumice_device *pdev = container_of(work, struct pumice_device, reset.work);
	int idx;

	if (!drm_dev_enter(&pdev->drm, &idx)) {
		/* Unplugging; who waits is to see it. */
		wake_up_all(&pdev->reset.over);
		return;
	}
	mutex_lock(&pdev->reset.lock);
	if (READ_ONCE(pdev->reset.wanted))
		reset_locked(pdev, "firmware failed");
	mutex_unlock(&pdev->reset.lock);
	drm_dev_exit(idx);
}

/* Allocates, so it is no part of what fences wait for. */
static void event_work(struct work_struct *work)
{
	struct pumice_device *pdev = container_of(work, struct pumice_device, reset.event_work);

	pumice_wedged_event(&pdev->drm, false);
}

static void lost_work(struct work_struct *work)
{
	struct pumice_device *pdev = container_of(work, struct pumice_device, reset.lost_work);

	pumice_wedged_event(&pdev->drm, true);
	pumice_device_unplug(pdev);
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

	reset->wq = alloc_ordered_workqueue("pumice-reset", WQ_MEM_RECLAIM);
	if (!reset->wq)
		return -ENOMEM;
	mutex_init(&reset->lock);
	spin_lock_init(&reset->contexts_lock);
	init_waitqueue_head(&reset->over);
	INIT_LIST_HEAD(&reset->contexts);
	INIT_WORK(&reset->work, reset_work);
	INIT_WORK(&reset->lost_work, lost_work);
	INIT_WORK(&reset->event_work, event_work);
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
 *
 * Unless one comes before it whose firmware boots later than this is called.
 */
void pumice_reset_schedule(struct pumice_device *pdev)
{
	WRITE_ONCE(pdev->reset.wanted, true);
	queue_work(pdev->reset.wq, &pdev->reset.work);
}

static bool none_under_way(struct pumice_device *pdev)
{
	/* Pairs with that in finish_round(). */
	return !smp_load_acquire(&pdev->reset.under_way) || drm_dev_is_unplugged(&pdev->drm);
}

static bool round_ended(struct pumice_device *pdev, u32 rounds)
{
	return READ_ONCE(pdev->reset.rounds) != rounds || drm_dev_is_unplugged(&pdev->drm);
}

/**
 * pumice_reset_wait - let a reset that is under way come to its end
 * @pdev: device, between drm_dev_enter() and drm_dev_exit(); not under reset.lock
 */
void pumice_reset_wait(struct pumice_device *pdev)
{
	wait_event(pdev->reset.over, none_under_way(pdev));
}

/**
 * pumice_reset_and_wait - after a failed command: have the GPU forget all it knew
 * @pdev: device, between drm_dev_enter() and drm_dev_exit(); not under reset.lock
 * @error: what pumice_kccb_call() returned: -ECANCELED says that a reset is
 *	already under way
 *
 * Callers may be what fences wait for, and hold locks that such callers take: so it waits
 * for the reset's end, not for its lock or work item, in which the annotation of the
 * fence path begins.
 *
 * Returns 0 when the GPU has forgotten, or -ENODEV if it is being unplugged:
 * then only pumice_device_wait_gone() helps.
 */
int pumice_reset_and_wait(struct pumice_device *pdev, int error)
{
	u32 rounds = READ_ONCE(pdev->reset.rounds);

	if (error != -ECANCELED) {
		drm_err(&pdev->drm, "firmware command failed (%d)\n", error);
		pumice_reset_schedule(pdev);
		wait_event(pdev->reset.over, round_ended(pdev, rounds));
	} else {
		pumice_reset_wait(pdev);
	}
	return drm_dev_is_unplugged(&pdev->drm) ? -ENODEV : 0;
}

/* True while the firmware has or had a geometry job whose fragment job it has not got yet. */
static bool fragments_awaited(struct pumice_device *pdev)
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

/* Geometry jobs, and then their fragment jobs, which wait for nothing but to be scheduled. */
static void pause_geometry(struct pumice_device *pdev)
{
	const unsigned long end = jiffies + msecs_to_jiffies(pumice_fw_timeout_ms);
	struct pumice_context *ctx;

	lockdep_assert_held(&pdev->reset.lock);
	list_for_each_entry(ctx, &pdev->reset.contexts, node)
		drm_sched_wqueue_stop(&ctx->queues[0].sched);
	while (fragments_awaited(pdev) && time_before(jiffies, end))
		usleep_range(1000, 2000);
}

/**
 * pumice_reset_pause - no job is given to the firmware after this
 * @pdev: device
 *
 * Until pumice_reset_continue(); resets and time-outs go on. Not nested. What the firmware has
 * of a render context are pairs: a scene does not outlast the sleep that follows.
 */
void pumice_reset_pause(struct pumice_device *pdev)
{
	mutex_lock(&pdev->reset.lock);
	pdev->reset.paused = true;
	pause_geometry(pdev);
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
	pdev->reset.paused = false;
	resume_schedulers(pdev);
	mutex_unlock(&pdev->reset.lock);
}

/**
 * pumice_reset_sleep - stop a GPU that is not needed
 * @pdev: device, between drm_dev_enter() and drm_dev_exit(); without jobs
 */
void pumice_reset_sleep(struct pumice_device *pdev)
{
	mutex_lock(&pdev->reset.lock);
	take_down(pdev);
	pumice_device_halt(pdev);
	pumice_kccb_sleep(pdev);
	pdev->reset.asleep = true;
	finish_round(pdev);
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
	if (ret)
		lose(pdev, "the GPU does not wake");
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

/* GPU clock ticks for which a geometry job waited for others' pages, as the firmware says. */
static u64 stop_ticks(const struct pumice_queue *q)
{
	const struct fwif_context *fw = &q->shared->context;
	u64 now = pumice_read64(q->ctx->pdev, PUMICE_SYS_CLOCK);
	u64 start = READ_ONCE(fw->stop_start);
	u64 ticks = READ_ONCE(fw->stop_ticks);

	return start && start < now ? ticks + now - start : ticks;
}

/*
 * Time that a job has had the data master and was not stopped for want of pages, ms:
 * what the firmware says, but no more than the time for which the firmware has had the
 * job.
 */
static u64 job_ran_ms(const struct pumice_job *job)
{
	struct pumice_queue *q = job->queue;
	u64 most = ktime_ms_delta(ktime_get(), job->given);
	u64 ticks, stopped;

	if (READ_ONCE(q->shared->context.job_seqno) != job->seqno)
		return 0;
	ticks = pumice_queue_live_ticks(q);
	stopped = stop_ticks(q);
	ticks -= min(ticks, stopped);
	return min(mul_u64_u32_div(ticks, MSEC_PER_SEC, q->ctx->pdev->clock_hz), most);
}

/* True if the firmware says that a queue's job is on a data master, or a part of it is. */
static bool is_on(const struct pumice_queue *q, u32 dm)
{
	const struct fwif_context *fw = &q->shared->context;

	if (!q->known)
		return false;
	if (q->dm == FWIF_DM_VDM && dm == FWIF_DM_PDM)
		return READ_ONCE(fw->renders_partial);
	return q->dm == dm && READ_ONCE(fw->slice_start);
}

/*
 * True if the firmware says that another queue's job is on the data master that a queue
 * waits for: its own, or, with a geometry job that is out of pages, the one whose jobs
 * free them.
 */
static bool others_run(const struct pumice_queue *q)
{
	const bool stopped = READ_ONCE(q->shared->context.stop_start);
	const u32 dm = q->dm == FWIF_DM_VDM && stopped ? FWIF_DM_PDM : q->dm;
	struct pumice_device *pdev = q->ctx->pdev;
	struct pumice_context *ctx;
	struct pumice_queue *other;

	lockdep_assert_held(&pdev->reset.lock);
	list_for_each_entry(ctx, &pdev->reset.contexts, node)
		pumice_for_each_queue(other, ctx)
			if (other != q && is_on(other, dm))
				return true;
	return false;
}

/*
 * One tick of watching; true if the job hangs. The GPU has nothing else to do when
 * its data master is with this job or with none, and took and left no job, nor a partial
 * render of one, since the last look.
 */
static bool job_hangs(const struct pumice_job *job)
{
	struct pumice_queue *q = job->queue;
	const struct fwif_boot *boot = &q->ctx->pdev->fw.shared->boot;
	u32 starts = READ_ONCE(boot->jobs_started) + READ_ONCE(boot->switches) +
		     READ_ONCE(boot->partials);

	lockdep_assert_held(&q->ctx->pdev->reset.lock);
	if (job_waits(job) || starts != q->tick_starts || others_run(q))
		q->ticks = 0;
	q->tick_starts = starts;
	return ++q->ticks >= PUMICE_TIMEOUT_TICKS || job_ran_ms(job) >= q->ctx->timeout_ms;
}

/*
 * True while the firmware has a job. The scheduler lists a job and starts its time-out
 * before run_job(), and keeps one that run_job() refused until it is freed: neither has
 * a number, nor a fence of ours.
 */
static bool in_flight_locked(const struct pumice_job *job)
{
	lockdep_assert_held(&job->ctx->lock);
	return !list_empty(&job->node) && !job->error;
}

static bool in_flight(const struct pumice_job *job)
{
	bool ret;

	spin_lock(&job->ctx->lock);
	ret = in_flight_locked(job);
	spin_unlock(&job->ctx->lock);
	return ret;
}

/* False if the job has ended meanwhile: no context is to blame. */
static bool stop_guilty(struct pumice_context *ctx, struct pumice_job *job)
{
	bool guilty;

	spin_lock(&ctx->lock);
	guilty = in_flight_locked(job);
	if (guilty) {
		pumice_context_stop_locked(ctx, DRM_PUMICE_CONTEXT_GUILTY);
		ctx->guilty = job;
	}
	spin_unlock(&ctx->lock);
	return guilty;
}

/* The context pays for its job. Returns why the GPU has to be reset, or NULL. */
static const char *kill_guilty(struct pumice_context *ctx, struct pumice_job *job)
{
	struct pumice_device *pdev = ctx->pdev;
	bool dumps = pumice_dump_begin_timeout(job);
	int ret;

	/* Reading the GPU for a dump takes time, in which the job may end. */
	pumice_queue_process(ctx);
	if (!stop_guilty(ctx, job)) {
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

/* Its background loop has passed since the last look, as it must to answer a command. */
static bool firmware_goes_on(struct pumice_device *pdev)
{
	u32 heartbeat = READ_ONCE(pdev->fw.shared->boot.heartbeat);
	bool moves = heartbeat != pdev->reset.heartbeat;

	lockdep_assert_held(&pdev->reset.lock);
	pdev->reset.heartbeat = heartbeat;
	return moves;
}

/* Returns why the GPU has to be reset, or NULL. */
static const char *look_at_job(struct pumice_context *ctx, struct pumice_job *job)
{
	const struct fwif_kccb_cmd ping = { .type = FWIF_KCCB_PING };
	struct pumice_device *pdev = ctx->pdev;

	lockdep_assert_held(&pdev->reset.lock);
	if (pumice_kccb_call(pdev, &ping))
		return "firmware does not answer";
	pumice_irq_look(pdev);
	if (!firmware_goes_on(pdev))
		return "firmware answers, but does nothing else";
	pumice_queue_process(ctx);
	if (in_flight(job) && job_hangs(job))
		return kill_guilty(ctx, job);
	return NULL;
}

static void watch_job(struct pumice_context *ctx, struct pumice_job *job)
{
	bool cookie = dma_fence_begin_signalling();
	const char *reason = look_at_job(ctx, job);

	dma_fence_end_signalling(cookie);
	if (reason)
		reset_locked(ctx->pdev, reason);
	spin_lock(&ctx->lock);
	ctx->guilty = NULL;
	spin_unlock(&ctx->lock);
}

/**
 * pumice_reset_job_timed_out - the scheduler's tick for the oldest job of a queue
 * @base: job; the firmware may not have it yet, or never get it
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
		if (!dma_fence_is_signaled(&base->s_fence->finished))
			watch_job(job->ctx, job);
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
			lose(pdev, "the GPU does not come back from the function's reset");
		else
			queue_work(system_unbound_wq, &pdev->reset.event_work);
		finish_round(pdev);
		drm_dev_exit(pdev->reset.dev_idx);
		pdev->reset.pci = false;
	}
	mutex_unlock(&pdev->reset.lock);
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_reset_test.c"
#endif
