// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Dumps for devcoredump: when a job faults, when one takes too long, and before the
 * GPU is reset. The format is that of hw/dumpfile.h; pumice-dump reads it.
 *
 * A dump is written in two steps. Transient state (the job, its result, and, before a
 * kill or a reset, the GPU's registers, its waves and the firmware's log) is copied at
 * once, in the sections that signal fences: without allocating and without acquiring a
 * lock under which others allocate. Persistent state (streams and programs in the job's
 * address space, its page tables; after a fault, when the GPU continues, its registers
 * too) is copied later, by a worker, which then publishes the file.
 *
 * One dump at a time; others are dropped meanwhile. The core keeps one per device,
 * until it is read and cleared or for five minutes. A file contains memory of the
 * process whose job failed, and is readable by root only.
 *
 * Limits: the process may have changed the memory before the worker copies it. Buffers
 * of other drivers are not copied.
 */
#include <linux/devcoredump.h>
#include <linux/vmalloc.h>

#include "pumice_context.h"
#include "pumice_dump.h"
#include "pumice_fw.h"
#include "pumice_job.h"
#include "pumice_pm.h"
#include "pumice_vm.h"

#define DUMP_BYTES	(512u << 10)
/* Maximum number of dumps in an interval, in jiffies; further ones are dropped. */
#define LIMIT_INTERVAL	(5 * HZ)
#define LIMIT_BURST	4

/* Allocate the buffer of the next file, and permit its dump. */
static void dump_make_ready(struct pumice_device *pdev)
{
	struct pumice_dump *dump = &pdev->dump;

	dump->w = (struct pumice_dump_writer) { .size = DUMP_BYTES };
	dump->w.data = vzalloc(DUMP_BYTES);
	dump->w.used = sizeof(struct pumice_dump_header);
	dump->vm = NULL;
	dump->render = 0;
	dump->gpu_taken = false;
	dump->unwanted = false;
	memset(&dump->result, 0, sizeof(dump->result));
	memset(&dump->stuck, 0, sizeof(dump->stuck));
	spin_lock(&dump->lock);
	dump->busy = false;
	spin_unlock(&dump->lock);
}

static void dump_queue_work(struct pumice_device *pdev)
{
	queue_work(pumice_cleanup_wq, &pdev->dump.work);
}

/* Claim the dump. False if one is being written, the limit is reached, or without a buffer. */
static bool dump_begin(struct pumice_device *pdev)
{
	struct pumice_dump *dump = &pdev->dump;
	bool free;

	spin_lock(&dump->lock);
	free = !dump->busy && __ratelimit(&dump->limit);
	dump->busy |= free;
	spin_unlock(&dump->lock);
	if (free && !dump->w.data) {
		/* Without a buffer; the worker allocates one for the next dump. */
		dump_queue_work(pdev);
		return false;
	}
	return free;
}

static void dump_note_reason(struct pumice_device *pdev, u32 kind, u64 time, const char *why)
{
	pdev->dump.reason = (struct pumice_dump_reason) {
		.kind = kind,
		.context = FWIF_NO_CONTEXT,
		.time = time,
	};
	strscpy(pdev->dump.reason.text, why, sizeof(pdev->dump.reason.text));
}

/* Note the job's owner, and the address space to read. */
static void dump_note_job_locked(struct pumice_dump *dump, const struct pumice_job *job)
{
	struct pumice_context *ctx = job->ctx;

	lockdep_assert_held(&ctx->lock);
	dump->reason.dm = job->queue->dm;
	dump->reason.context = job->queue->id;
	dump->reason.seqno = job->seqno;
	dump->reason.job = job->number;
	dump->reason.stream = job->stream;
	dump->reason.catalogue = pumice_vm_catalogue(ctx->vm);
	dump->reason.pid = ctx->process.pid;
	dump->reason.uapi_context = READ_ONCE(ctx->id);
	memcpy(dump->reason.process, ctx->process.name, sizeof(dump->reason.process));
	dump->render = job->render;
	dump->vm = pumice_vm_get(ctx->vm);
	pumice_dump_put(&dump->w, PUMICE_DUMP_CONTEXT, 0, 1, &job->queue->shared->context,
			sizeof(struct fwif_context));
}

/**
 * pumice_dump_fault_locked - dump a job that has faulted
 * @job: job; under its context's lock
 * @r: copy of its result
 * @stuck: location captured by the firmware; ignored if it is of another job
 */
void pumice_dump_fault_locked(const struct pumice_job *job, const struct fwif_job_result *r,
			      const struct fwif_stuck *stuck)
{
	struct pumice_device *pdev = job->ctx->pdev;
	struct pumice_dump *dump = &pdev->dump;

	if (!dump_begin(pdev))
		return;
	dump_note_reason(pdev, PUMICE_DUMP_KIND_FAULT, r->time_end, "a job faulted");
	dump_note_job_locked(dump, job);
	dump->result = *r;
	pumice_copy_once(&dump->stuck, stuck, sizeof(dump->stuck));
	if (dump->stuck.seqno != job->seqno)
		memset(&dump->stuck, 0, sizeof(dump->stuck));
	dump_queue_work(pdev);
}

static void dump_write_gpu(struct pumice_device *pdev)
{
	lockdep_assert_held(&pdev->reset.lock);
	pumice_dump_write_gpu(pdev, &pdev->dump.w, false);
	pdev->dump.gpu_taken = true;
}

/**
 * pumice_dump_begin_timeout - begin the dump of a job before it is killed by its time-out
 * @job: job; under reset.lock
 *
 * Return: true if pumice_dump_end_timeout() must follow.
 */
bool pumice_dump_begin_timeout(struct pumice_job *job)
{
	struct pumice_device *pdev = job->ctx->pdev;

	if (!dump_begin(pdev))
		return false;
	dump_note_reason(pdev, PUMICE_DUMP_KIND_TIMEOUT, pumice_read64(pdev, PUMICE_SYS_CLOCK),
			 "a job took too long");
	spin_lock(&job->ctx->lock);
	dump_note_job_locked(&pdev->dump, job);
	spin_unlock(&job->ctx->lock);
	dump_write_gpu(pdev);
	return true;
}

/**
 * pumice_dump_end_timeout - submit the dump after the firmware was requested to kill the job
 * @job: job; under reset.lock, after pumice_dump_begin_timeout()
 */
void pumice_dump_end_timeout(struct pumice_job *job)
{
	struct pumice_context *ctx = job->ctx;
	struct pumice_dump *dump = &ctx->pdev->dump;
	const struct pumice_result *result;

	spin_lock(&ctx->lock);
	if (ctx->stuck.number == job->number)
		dump->stuck = ctx->stuck.s;
	result = &ctx->results[job->number % DRM_PUMICE_JOB_RESULTS];
	if (result->number == job->number)
		dump->result = result->r;
	spin_unlock(&ctx->lock);
	dump_queue_work(ctx->pdev);
}

/**
 * pumice_dump_drop - discard the dump of a job that has completed after all
 * @pdev: device; under reset.lock, after pumice_dump_begin_timeout()
 */
void pumice_dump_drop(struct pumice_device *pdev)
{
	pdev->dump.unwanted = true;
	dump_queue_work(pdev);
}

/* Find the job that has its data master, else any that the firmware has. */
static struct pumice_job *dump_blamed_job_locked(struct pumice_context *ctx, bool *runs)
{
	struct pumice_job *job, *found = NULL;
	struct pumice_queue *q;

	lockdep_assert_held(&ctx->lock);
	pumice_for_each_queue(q, ctx) {
		job = list_first_entry_or_null(&q->in_flight, struct pumice_job, node);
		if (!job)
			continue;
		*runs = READ_ONCE(q->shared->context.slice_start) &&
			READ_ONCE(q->shared->context.job_seqno) == job->seqno;
		found = job;
		if (*runs)
			break;
	}
	return found;
}

static void dump_note_blamed_job(struct pumice_device *pdev)
{
	struct pumice_context *ctx;
	struct pumice_job *job;
	bool only_running, runs;
	int pass;

	lockdep_assert_held(&pdev->reset.lock);
	for (pass = 0; pass < 2; pass++) {
		only_running = !pass;
		list_for_each_entry(ctx, &pdev->reset.contexts, node) {
			spin_lock(&ctx->lock);
			runs = false;
			job = dump_blamed_job_locked(ctx, &runs);
			if (job && (runs || !only_running))
				dump_note_job_locked(&pdev->dump, job);
			spin_unlock(&ctx->lock);
			if (pdev->dump.vm)
				return;
		}
	}
}

/**
 * pumice_dump_reset - dump the GPU before it is reset
 * @pdev: device, between drm_dev_enter() and drm_dev_exit(); under reset.lock
 * @why: reason, as text
 */
void pumice_dump_reset(struct pumice_device *pdev, const char *why)
{
	if (!dump_begin(pdev))
		return;
	dump_note_reason(pdev, PUMICE_DUMP_KIND_RESET, pumice_read64(pdev, PUMICE_SYS_CLOCK), why);
	dump_note_blamed_job(pdev);
	dump_write_gpu(pdev);
	dump_queue_work(pdev);
}

/* Copy the current state of the GPU, which has continued since the fault. */
static void dump_write_gpu_late(struct pumice_device *pdev)
{
	int idx;

	if (!drm_dev_enter(&pdev->drm, &idx))
		return;
	mutex_lock(&pdev->reset.lock);
	if (!pdev->reset.asleep && pumice_pm_get_if_awake(pdev)) {
		pumice_dump_write_gpu(pdev, &pdev->dump.w, true);
		pumice_pm_put(pdev);
	}
	mutex_unlock(&pdev->reset.lock);
	drm_dev_exit(idx);
}

static void dump_publish(struct pumice_device *pdev)
{
	struct pumice_dump_writer *w = &pdev->dump.w;

	pumice_dump_finish(w);
	/* Consumes the buffer; frees it if the core still has a dump of the device. */
	dev_coredumpv(pdev->drm.dev, w->data, w->used, GFP_KERNEL);
	w->data = NULL;
}

static void dump_write(struct pumice_device *pdev)
{
	struct pumice_dump *dump = &pdev->dump;
	struct pumice_dump_writer *w = &dump->w;

	pumice_dump_put(w, PUMICE_DUMP_REASON, 0, 1, &dump->reason, sizeof(dump->reason));
	pumice_dump_write_info(pdev, w);
	if (dump->result.seqno)
		pumice_dump_put(w, PUMICE_DUMP_RESULT, 0, 1, &dump->result, sizeof(dump->result));
	if (dump->stuck.seqno)
		pumice_dump_put(w, PUMICE_DUMP_STUCK, 0, 1, &dump->stuck, sizeof(dump->stuck));
	if (!dump->gpu_taken)
		dump_write_gpu_late(pdev);
	if (dump->vm)
		pumice_dump_write_memory(dump);
	dump_publish(pdev);
}

static void dump_work(struct work_struct *work)
{
	struct pumice_device *pdev = container_of(work, struct pumice_device, dump.work);
	struct pumice_dump *dump = &pdev->dump;

	if (dump->w.data && !dump->unwanted)
		dump_write(pdev);
	if (dump->vm)
		pumice_vm_put(dump->vm);
	vfree(dump->w.data);
	dump_make_ready(pdev);
}

/**
 * pumice_dump_init - initialize; must precede all other functions of this file
 * @pdev: device
 *
 * If no buffer can be allocated, dumps are dropped until one can be.
 */
void pumice_dump_init(struct pumice_device *pdev)
{
	spin_lock_init(&pdev->dump.lock);
	ratelimit_state_init(&pdev->dump.limit, LIMIT_INTERVAL, LIMIT_BURST);
	ratelimit_set_flags(&pdev->dump.limit, RATELIMIT_MSG_ON_RELEASE);
	INIT_WORK(&pdev->dump.work, dump_work);
	dump_make_ready(pdev);
}

/**
 * pumice_dump_stop - finish a dump that is being written, and begin no others
 * @pdev: device, unplugged
 *
 * Context: May sleep: waits for the work item.
 */
void pumice_dump_stop(struct pumice_device *pdev)
{
	flush_work(&pdev->dump.work);
}

/**
 * pumice_dump_fini - free the buffer; called after pumice_dump_stop()
 * @pdev: device
 */
void pumice_dump_fini(struct pumice_device *pdev)
{
	vfree(pdev->dump.w.data);
}
