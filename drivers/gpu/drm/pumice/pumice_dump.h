/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Dumps of a GPU and of the job that failed on it, for devcoredump. */
#ifndef PUMICE_DUMP_KERNEL_H
#define PUMICE_DUMP_KERNEL_H

#include <linux/ratelimit.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "dumpfile.h"

struct pumice_device;
struct pumice_job;
struct pumice_vm;

/*
 * Ending of messages about failed firmware. The reset that follows such a message creates a dump
 * with a log that is no longer in fw_log of debugfs when the next firmware runs.
 */
#define PUMICE_SEE_DUMP		"; see the dump in /sys/class/devcoredump\n"

/**
 * struct pumice_dump_writer - a dump file that is being written
 */
struct pumice_dump_writer {
	/** @data: buffer of vmalloc(), or NULL */
	void *data;
	/** @size: of @data, bytes */
	size_t size;
	/** @used: bytes written, which is the offset of the next section's header */
	size_t used;
	/** @sections: number of sections in the file */
	u32 sections;
	/** @dropped: number of sections without space */
	u32 dropped;
};

/**
 * struct pumice_dump - the prepared or current dump of a device
 *
 * The buffer is preallocated, because paths that fail jobs must not wait for memory.
 * The thread that sets @busy owns all fields except @lock and @busy until @work ends.
 */
struct pumice_dump {
	/** @lock: guards @busy; no lock is acquired inside */
	spinlock_t lock;
	/** @busy: a dump is being written */
	bool busy;
	/** @limit: rate limit, for processes that fault continuously */
	struct ratelimit_state limit;
	/** @w: the file */
	struct pumice_dump_writer w;
	/** @reason: reason of the dump, and its job */
	struct pumice_dump_reason reason;
	/** @vm: address space of the job; a use of it, or NULL */
	struct pumice_vm *vm;
	/** @result: result of the job; all zero if there is none */
	struct fwif_job_result result;
	/** @stuck: location of the job; all zero if unknown */
	struct fwif_stuck stuck;
	/** @render: for a geometry job: the record of its fragment job, or 0 */
	u64 render;
	/** @gpu_taken: registers, waves and firmware state are already in the file */
	bool gpu_taken;
	/** @unwanted: the job has completed successfully meanwhile */
	bool unwanted;
	/** @work: copies memory and publishes the file */
	struct work_struct work;
};

void pumice_dump_init(struct pumice_device *pdev);
void pumice_dump_stop(struct pumice_device *pdev);
void pumice_dump_fini(struct pumice_device *pdev);

void pumice_dump_fault_locked(const struct pumice_job *job, const struct fwif_job_result *r,
			      const struct fwif_stuck *stuck);
bool pumice_dump_begin_timeout(struct pumice_job *job);
void pumice_dump_end_timeout(struct pumice_job *job);
void pumice_dump_drop(struct pumice_device *pdev);
void pumice_dump_reset(struct pumice_device *pdev, const char *why);

/* pumice_dump_write.c */
void *pumice_dump_section(struct pumice_dump_writer *w, u32 type, u64 addr, u32 count,
			  size_t bytes);
void pumice_dump_put(struct pumice_dump_writer *w, u32 type, u64 addr, u32 count,
		     const void *data, size_t bytes);
void pumice_dump_write_info(struct pumice_device *pdev, struct pumice_dump_writer *w);
void pumice_dump_write_gpu(struct pumice_device *pdev, struct pumice_dump_writer *w, bool late);
void pumice_dump_write_memory(struct pumice_dump *dump);
void pumice_dump_finish(struct pumice_dump_writer *w);

#endif
