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

/**
 * struct pumice_dump_writer - a dump file that is being written
 */
struct pumice_dump_writer {
	/** @data: buffer of vmalloc(), or NULL */
	void *data;
	/** @size: of @data, bytes */
	size_t size;
	/** @used: bytes written; also what the next section's header is at */
	size_t used;
	/** @sections: in the file */
	u32 sections;
	/** @dropped: that found no room */
	u32 dropped;
};

/**
 * struct pumice_dump - the dump of a device that is prepared for or being written
 *
 * The buffer is allocated beforehand, since what fails jobs must not wait for memory.
 * Who set @busy owns everything but @lock and @busy, up to the end of @work.
 */
struct pumice_dump {
	/** @lock: guards @busy; nothing is taken inside it */
	spinlock_t lock;
	/** @busy: a dump is being written */
	bool busy;
	/** @limit: a process that faults all the time gets a few dumps only */
	struct ratelimit_state limit;
	/** @w: the file */
	struct pumice_dump_writer w;
	/** @reason: why, and which job */
	struct pumice_dump_reason reason;
	/** @vm: address space of the job; a use of it, or NULL */
	struct pumice_vm *vm;
	/** @result: of the job; all zero if there is none */
	struct fwif_job_result result;
	/** @stuck: where the job was; all zero if that is not known */
	struct fwif_stuck stuck;
	/** @render: of a geometry job: the record of its fragment job, or 0 */
	u64 render;
	/** @gpu_taken: registers, waves and firmware are in the file already */
	bool gpu_taken;
	/** @unwanted: the job has ended well meanwhile */
	bool unwanted;
	/** @work: takes memory and publishes the file */
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
