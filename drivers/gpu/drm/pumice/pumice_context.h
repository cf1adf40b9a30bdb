/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Contexts: what users submit jobs to; one queue, or two. */
#ifndef PUMICE_CONTEXT_H
#define PUMICE_CONTEXT_H

#include <linux/kref.h>

#include "pumice_device.h"
#include "pumice_queue.h"

struct pumice_blame;
struct pumice_job;
struct pumice_vm;

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
 * struct pumice_fault_place - where a job faulted; the firmware reports it, and only
 * user space reads it, so its numbers are copied as they are
 */
struct pumice_fault_place {
	/** @code: GPU virtual address of the program */
	u64 code;
	/** @known: DRM_PUMICE_FAULT_*: which of the others are valid */
	u32 known;
	/** @lane: lane that faulted */
	u32 lane;
	/** @instance: linear number of its instance in the work-group or task */
	u32 instance;
	/** @lanes: lanes of the wave that have an instance */
	u32 lanes;
	/** @slot: slot of the wave */
	u32 slot;
	/** @wave: its number in its task */
	u32 wave;
	/** @group: work-group id */
	u32 group[3];
};

/**
 * struct pumice_result - how one job ended
 */
struct pumice_result {
	/** @number: of the job; 0: none */
	u64 number;
	/** @error: what its fence carries */
	int error;
	/** @r: what the firmware reported; zero where it reported nothing */
	struct fwif_job_result r;
	/** @place: of a fault: in which program, wave and work-group */
	struct pumice_fault_place place;
};

/**
 * struct pumice_stuck - where a job was that timed out
 */
struct pumice_stuck {
	/** @number: of the job; 0: none */
	u64 number;
	/** @s: checked copy of what the firmware captured */
	struct fwif_stuck s;
};

/**
 * struct pumice_context - a queue of jobs of one VM, or the pair of a render context
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
	/** @pid: process that made it; constant */
	pid_t pid;
	/** @process: name of that process; constant */
	char process[TASK_COMM_LEN];
	/** @id: in its file; written once, under the lock of the file's table */
	u32 id;
	/** @type: enum drm_pumice_context_type; constant */
	u32 type;
	/** @timeout_ms: time on the data master that a job may have; constant */
	u32 timeout_ms;
	/** @queue_count: of @queues; constant */
	u32 queue_count;
	/** @queues: one, or PUMICE_QUEUE_GEOMETRY and PUMICE_QUEUE_FRAGMENT */
	struct pumice_queue queues[PUMICE_CONTEXT_QUEUES];
	/** @blame: of its file; a reference, constant */
	struct pumice_blame *blame;
	/**
	 * @priority_lock: serializes changes of @priority until the firmware has them; guards
	 * the queues' obj
	 */
	struct mutex priority_lock;
	/** @drained: woken when no job is in the schedulers' queues */
	wait_queue_head_t drained;
	/** @closed: takes no more jobs; under the VM's reservation */
	bool closed;
	/** @submitted: jobs that were submitted; under the VM's reservation, read without */
	u64 submitted;

	/** @lock: guards what follows, and the queues where they say so */
	spinlock_t lock;
	/** @priority: enum drm_pumice_priority; the firmware has it or reads it at the next kick */
	u32 priority;
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
	/** @stuck: where the job was that made the context GUILTY */
	struct pumice_stuck stuck;
	/** @ended: highest number of a job that ended */
	u64 ended;

	/** @free_work: the last reference may go where one cannot sleep */
	struct work_struct free_work;
};

/*
 * The queues of a context, the fragment queue after that of geometry. Both arguments are
 * plain pointers: they are looked at more than once.
 */
#define pumice_for_each_queue(q, ctx) \
	for ((q) = (ctx)->queues; (q) < (ctx)->queues + (ctx)->queue_count; (q)++)

/* Fragment jobs that the firmware has not got, while it has or had their geometry jobs. */
static inline u32 pumice_context_awaited_locked(const struct pumice_context *ctx)
{
	lockdep_assert_held(&ctx->lock);
	if (ctx->queue_count <= PUMICE_QUEUE_FRAGMENT)
		return 0;
	return ctx->queues[PUMICE_QUEUE_FRAGMENT].awaited;
}

struct pumice_context *pumice_context_get(struct pumice_context *ctx);
void pumice_context_put(struct pumice_context *ctx);
struct pumice_context *pumice_context_lookup(struct pumice_file *file, u32 id,
					     struct pumice_vm **vm);
bool pumice_context_idle(struct pumice_context *ctx);
void pumice_context_stop_locked(struct pumice_context *ctx, u32 state);
int pumice_context_kill(struct pumice_context *ctx);
void pumice_context_destroy(struct pumice_context *ctx);

int pumice_ioctl_context_create(struct drm_device *drm, void *data, struct drm_file *file);
int pumice_ioctl_context_destroy(struct drm_device *drm, void *data, struct drm_file *file);
int pumice_ioctl_context_set_priority(struct drm_device *drm, void *data, struct drm_file *file);
int pumice_ioctl_context_get_state(struct drm_device *drm, void *data, struct drm_file *file);
u32 pumice_priorities(struct drm_file *file);

#endif
