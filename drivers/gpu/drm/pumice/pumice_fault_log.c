// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The last jobs of a GPU that failed, for debugfs: the kernel log names no process, and a context
 * is often destroyed before its fault is examined.
 *
 * A job failed if it faulted, timed out, was lost in a reset or ended without a result of the
 * firmware. Jobs that the firmware never had, because their context was stopped, are consequences
 * of that failure; jobs of a context that its user destroys are none.
 *
 * A reset may end hundreds of jobs of many queues. Those of one queue share a record, and they have
 * a ring of their own: the job that caused the reset is kept.
 *
 * Limits: PUMICE_FAULT_LOG_COUNT records of each kind, of all processes together; a process that
 * faults continuously displaces the others.
 */
#include <linux/seq_file.h>
#include <linux/timekeeping.h>

#include "fwlog.h"
#include "pumice_context.h"
#include "pumice_device.h"
#include "pumice_fault_log.h"
#include "pumice_job.h"
#include "pumice_names.h"

/**
 * pumice_fault_log_init - initialize an empty log
 * @log: log of a device that is being probed
 */
void pumice_fault_log_init(struct pumice_fault_log *log)
{
	spin_lock_init(&log->lock);
}

/* Return true if a job was lost in a reset, did not cause it, and the device still exists. */
static bool fault_log_is_lost(int error, u8 fault)
{
	return error && error != -ETIMEDOUT && error != -ENODEV && fault == PUMICE_FAULT_RESET;
}

/* Return true if @next, a lost job, is the one after those of @last, and was lost with them. */
static bool fault_log_is_lost_with(const struct pumice_fault_record *next,
				   const struct pumice_fault_record *last)
{
	return next->process.pid == last->process.pid && next->queue == last->queue &&
	       next->seqno == last->seqno + last->more + 1;
}

static void fault_log_add(struct pumice_fault_log *log, const struct pumice_fault_record *record)
{
	const bool lost = fault_log_is_lost(record->error, record->fault);
	struct pumice_fault_ring *ring = lost ? &log->lost : &log->failed;
	struct pumice_fault_record *last;

	spin_lock(&log->lock);
	last = &ring->kept[(ring->total - 1) % PUMICE_FAULT_LOG_COUNT];
	if (lost && ring->total && fault_log_is_lost_with(record, last))
		last->more++;
	else
		ring->kept[ring->total++ % PUMICE_FAULT_LOG_COUNT] = *record;
	spin_unlock(&log->lock);
}

/**
 * pumice_fault_log_note_locked - store a job that completes, if it failed on the GPU
 * @job: job that the firmware had; under its context's lock
 * @error: error of its fence
 * @r: copy of its result, or NULL if the firmware wrote none
 *
 * Does not sleep or allocate: the job's fence has not signalled yet.
 */
void pumice_fault_log_note_locked(const struct pumice_job *job, int error,
				  const struct fwif_job_result *r)
{
	const struct fwif_job_result none = { .fault = PUMICE_FAULT_NONE };
	const struct pumice_context *ctx = job->ctx;
	struct pumice_fault_record record;

	lockdep_assert_held(&ctx->lock);
	r = r ?: &none;
	if (error != -EIO && error != -ETIMEDOUT && !fault_log_is_lost(error, r->fault))
		return;
	record = (struct pumice_fault_record){
		.time = ktime_get_ns(),
		.job = job->number,
		.addr = r->addr,
		.context = READ_ONCE(ctx->id),
		.queue = job->queue->id,
		.seqno = job->seqno,
		.dm = job->queue->dm,
		.error = error,
		.process = ctx->process,
		.fault = r->fault,
		.unit = r->unit,
		.access = r->access,
	};
	fault_log_add(&ctx->pdev->fault_log, &record);
}

/* Copy record @n. Returns false if it does not exist, or was overwritten meanwhile. */
static bool fault_log_copy(struct pumice_fault_log *log, const struct pumice_fault_ring *ring,
			   u64 n, struct pumice_fault_record *record)
{
	bool kept;

	spin_lock(&log->lock);
	kept = n < ring->total && ring->total - n <= PUMICE_FAULT_LOG_COUNT;
	if (kept)
		*record = ring->kept[n % PUMICE_FAULT_LOG_COUNT];
	spin_unlock(&log->lock);
	return kept;
}

/* Print how a job failed. */
static void fault_log_print_end(struct seq_file *m, const struct pumice_fault_record *record)
{
	if (record->error == -ETIMEDOUT && record->fault == PUMICE_FAULT_RESET)
		seq_puts(m, "timed out, and ended without a result by a reset of the GPU\n");
	else if (record->fault == PUMICE_FAULT_RESET)
		seq_puts(m, "lost in a reset of the GPU, without a result\n");
	else if (record->fault == PUMICE_FAULT_NONE)
		seq_puts(m, "ended without a result of the firmware\n");
	else if (record->error == -ETIMEDOUT && record->unit == PUMICE_UNIT_NONE)
		seq_puts(m, "timed out\n");
	else if (record->error == -ETIMEDOUT)
		seq_printf(m, "timed out in %s, at 0x%llx\n", pumice_unit_str(record->unit),
			   record->addr);
	else
		seq_printf(m, "%s by %s, %s at 0x%llx\n", pumice_fault_str(record->fault),
			   pumice_unit_str(record->unit), pumice_access_str(record->access),
			   record->addr);
}

static void fault_log_print(struct seq_file *m, const struct pumice_fault_record *record)
{
	seq_printf(m, "[%5llu.%06llu] ", record->time / NSEC_PER_SEC,
		   record->time % NSEC_PER_SEC / NSEC_PER_USEC);
	pumice_process_show(m, &record->process);
	seq_printf(m, ": context %u job %u, %s, its context %u job %llu", record->queue,
		   record->seqno, pumice_fwif_dm_name(record->dm), record->context, record->job);
	if (record->more)
		seq_printf(m, " and %u after it", record->more);
	seq_puts(m, ": ");
	fault_log_print_end(m, record);
}

static void fault_log_print_ring(struct seq_file *m, struct pumice_fault_log *log,
				 const struct pumice_fault_ring *ring, const char *title)
{
	struct pumice_fault_record record;
	u64 total, n;

	spin_lock(&log->lock);
	total = ring->total;
	spin_unlock(&log->lock);
	seq_printf(m, "%s, %llu in total:\n", title, total);
	for (n = total - min_t(u64, total, PUMICE_FAULT_LOG_COUNT); n < total; n++)
		if (fault_log_copy(log, ring, n, &record))
			fault_log_print(m, &record);
}

/**
 * pumice_fault_log_show - print the kept records, the oldest of each kind first
 * @m: file of debugfs
 * @pdev: device
 */
void pumice_fault_log_show(struct seq_file *m, struct pumice_device *pdev)
{
	struct pumice_fault_log *log = &pdev->fault_log;

	fault_log_print_ring(m, log, &log->lost, "last records of jobs lost in a reset");
	fault_log_print_ring(m, log, &log->failed, "last jobs that failed");
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_fault_log_test.c"
#endif
