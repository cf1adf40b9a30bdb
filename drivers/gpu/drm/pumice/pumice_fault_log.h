/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The last jobs of a GPU that failed on it. */
#ifndef PUMICE_FAULT_LOG_H
#define PUMICE_FAULT_LOG_H

#include <linux/spinlock.h>
#include <linux/types.h>

#include "pumice_process.h"

struct fwif_job_result;
struct pumice_device;
struct pumice_job;
struct seq_file;

/* Records that are kept: enough for a fault to be found after a few others. */
#define PUMICE_FAULT_LOG_COUNT	16u

/**
 * struct pumice_fault_record - one job that failed, or several that were lost together
 *
 * Everything is copied: nothing of the process, its file or its context is referenced.
 */
struct pumice_fault_record {
	/** @time: CLOCK_MONOTONIC when the driver processed the report, ns */
	u64 time;
	/** @job: number of the job in its context, as JOB_GET_RESULT counts */
	u64 job;
	/** @addr: see struct fwif_job_result */
	u64 addr;
	/** @context: id of the context in its file */
	u32 context;
	/** @queue: id of the queue: the firmware's context */
	u32 queue;
	/** @seqno: number of the job in its queue */
	u32 seqno;
	/** @dm: enum fwif_dm */
	u32 dm;
	/** @error: error of its fence */
	int error;
	/** @more: number of jobs lost with it: those that follow it in its queue */
	u32 more;
	/** @process: process that created the context */
	struct pumice_process process;
	/** @fault: enum pumice_fault; _RESET: lost in a reset; _NONE: no result of the firmware */
	u8 fault;
	/** @unit: enum pumice_unit */
	u8 unit;
	/** @access: enum pumice_access */
	u8 access;
};

/**
 * struct pumice_fault_ring - the last records of one kind
 */
struct pumice_fault_ring {
	/** @total: records so far; number n, from 0, is in @kept[n % PUMICE_FAULT_LOG_COUNT] */
	u64 total;
	/** @kept: the last ones */
	struct pumice_fault_record kept[PUMICE_FAULT_LOG_COUNT];
};

/**
 * struct pumice_fault_log - the last of a GPU's jobs that failed
 */
struct pumice_fault_log {
	/** @lock: guards all fields; nests inside context.lock, no lock is acquired inside */
	spinlock_t lock;
	/** @failed: jobs that faulted, timed out or ended without a result */
	struct pumice_fault_ring failed;
	/** @lost: jobs that a reset ended and that did not cause it */
	struct pumice_fault_ring lost;
};

void pumice_fault_log_init(struct pumice_fault_log *log);
void pumice_fault_log_note_locked(const struct pumice_job *job, int error,
				  const struct fwif_job_result *r);
void pumice_fault_log_show(struct seq_file *m, struct pumice_device *pdev);

#endif
