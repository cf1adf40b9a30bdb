/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Contexts: a queue of jobs, its scheduler, and its ring to the firmware. */
#ifndef PUMICE_CONTEXT_H
#define PUMICE_CONTEXT_H

#include <linux/kref.h>

#include "pumice_device.h"
#include "pumice_formats.h"
#include "pumice_fw_mem.h"

struct pumice_job;
struct pumice_vm;

/* Client CCB, bytes; and results, which are more than jobs fit into it. */
#define PUMICE_CCCB_BYTES	8192u
#define PUMICE_RESULT_COUNT	256u

/**
 * struct pumice_context_shared - what the context shares with the firmware
 */
struct pumice_context_shared {
	struct fwif_context context;
	u8 cccb[PUMICE_CCCB_BYTES] __aligned(8);
	u32 save[PUMICE_CDM_SAVE_WORDS] __aligned(8);
	struct fwif_job_result results[PUMICE_RESULT_COUNT];
};

/**
 * struct pumice_context_news - how the jobs of a context ended, for users
 */
struct pumice_context_news {
	/** @done: jobs that ended */
	u64 done;
	/** @failed: of these, not well */
	u64 failed;
	/** @fault: result of the last job that faulted; all zero if none */
	struct fwif_job_result fault;
	/** @last_start: GPU clock at the start of the job that ended last */
	u64 last_start;
	/** @last_end: GPU clock at its end */
	u64 last_end;
};

/**
 * struct pumice_result - how one job ended
 */
struct pumice_result {
	/** @number: of the job; 0: none */
	u64 number;
	/** @error: what its fence carries */
	int error;
	/** @r: what the firmware told; zero where it told nothing */
	struct fwif_job_result r;
};

/**
 * struct pumice_context - a queue of jobs of one VM
 *
 * Destroying it takes all but the structure, which jobs and fences keep.
 */
struct pumice_context {
	/** @ref: file, jobs, fences */
	struct kref ref;
	/** @pdev: device; a reference to its drm_device */
	struct pumice_device *pdev;
	/** @vm: VM; a use of it, until destroyed. Not longer: its reservation holds our fences */
	struct pumice_vm *vm;
	/** @node: in reset.contexts, until destroyed */
	struct list_head node;
	/** @id: below FWIF_MAX_CONTEXTS, until destroyed */
	u32 id;
	/** @priority: enum drm_pumice_priority; constant */
	u32 priority;
	/** @fence_context: of struct pumice_fence; constant */
	u64 fence_context;
	/** @obj: memory of @shared, until destroyed */
	struct pumice_fw_obj *obj;
	/** @shared: shared with the firmware; under @lock */
	struct pumice_context_shared *shared;
	/** @ufo: update object: number of the last job that ended */
	struct pumice_fw_obj *ufo;

	struct drm_gpu_scheduler sched;
	struct drm_sched_entity entity;
	/** @queued: jobs pushed and not yet run or killed */
	atomic_t queued;
	/** @drained: woken when @queued becomes 0 */
	wait_queue_head_t drained;
	/** @closed: takes no more jobs; under the VM's reservation */
	bool closed;
	/** @submitted: jobs that were submitted; under the VM's reservation, read without */
	u64 submitted;

	/** @lock: guards what follows */
	spinlock_t lock;
	/** @write: offset in the client CCB, bytes */
	u32 write;
	/** @seqno: of the last job given to the firmware */
	u32 seqno;
	/** @in_flight: jobs that the firmware has, struct pumice_job.node, oldest first */
	struct list_head in_flight;
	/** @known: the firmware knows the context */
	bool known;
	/** @stopped: gives no more jobs to the firmware */
	bool stopped;
	/** @state: DRM_PUMICE_CONTEXT_* */
	u32 state;
	/** @guilty: job that is killed for taking too long, or NULL */
	const struct pumice_job *guilty;
	/** @news: for users */
	struct pumice_context_news news;
	/** @results: how the last jobs ended, by number */
	struct pumice_result results[DRM_PUMICE_JOB_RESULTS];
	/** @ended: highest number of a job that ended */
	u64 ended;
	/** @busy_ticks: GPU clock ticks on the data master of the jobs that ended */
	u64 busy_ticks;
	/** @shown_ticks: the most that fdinfo has shown of it */
	u64 shown_ticks;

	/** @ticks: looks in a row at which the GPU was busy with the same job; under reset.lock */
	u32 ticks;
	/** @tick_starts: jobs started and switched out at the last look; under reset.lock */
	u32 tick_starts;
	/** @timeout_ms: time on the data master that a job may have; constant */
	u32 timeout_ms;

	/** @free_work: the last reference may go where one cannot sleep */
	struct work_struct free_work;
};

struct pumice_context *pumice_context_get(struct pumice_context *ctx);
void pumice_context_put(struct pumice_context *ctx);
struct pumice_context *pumice_context_lookup(struct pumice_file *file, u32 id,
					     struct pumice_vm **vm);
int pumice_context_kill(struct pumice_context *ctx);
void pumice_context_destroy(struct pumice_context *ctx);

int pumice_ioctl_context_create(struct drm_device *drm, void *data, struct drm_file *file);
int pumice_ioctl_context_destroy(struct drm_device *drm, void *data, struct drm_file *file);
int pumice_ioctl_context_get_state(struct drm_device *drm, void *data, struct drm_file *file);
u32 pumice_priorities(struct drm_file *file);

#endif
