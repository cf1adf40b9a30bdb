/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Contexts: the objects that users submit jobs to, with one queue or two. */
#ifndef PUMICE_CONTEXT_H
#define PUMICE_CONTEXT_H

#include "pumice_device.h"
#include "pumice_object.h"
#include "pumice_process.h"
#include "pumice_queue.h"

struct pumice_blame;
struct pumice_job;
struct pumice_vm;

/**
 * struct pumice_context_status - status of a context's completed jobs, for users
 */
struct pumice_context_status {
	/** @done: completed jobs */
	u64 done;
	/** @failed: completed jobs that failed; included in @done */
	u64 failed;
	/** @fault: result of the last job that faulted; all zero if none */
	struct fwif_job_result fault;
	/** @last_start: GPU clock at the start of the job that completed last */
	u64 last_start;
	/** @last_end: GPU clock at its end */
	u64 last_end;
};

/**
 * struct pumice_fault_place - location of a job's fault, reported by the firmware and read by
 * user space only, so the values are copied without checks
 */
struct pumice_fault_place {
	/** @code: GPU virtual address of the program */
	u64 code;
	/** @known: DRM_PUMICE_FAULT_*: valid fields of the following */
	u32 known;
	/** @lane: lane that faulted */
	u32 lane;
	/** @instance: linear number of its instance in the work-group or task */
	u32 instance;
	/** @lanes: number of lanes of the wave that have an instance */
	u32 lanes;
	/** @slot: slot of the wave */
	u32 slot;
	/** @wave: number of the wave in its task */
	u32 wave;
	/** @group: work-group id */
	u32 group[3];
};

/**
 * struct pumice_result - result of one job
 */
struct pumice_result {
	/** @number: number of the job; 0: none */
	u64 number;
	/** @error: error of its fence */
	int error;
	/** @r: the firmware's report; zero where it reported nothing */
	struct fwif_job_result r;
	/** @place: for a fault: its program, wave and work-group */
	struct pumice_fault_place place;
};

/**
 * struct pumice_stuck - state of a job that timed out
 */
struct pumice_stuck {
	/** @number: number of the job; 0: none */
	u64 number;
	/** @s: checked copy of the state that the firmware captured */
	struct fwif_stuck s;
};

/**
 * struct pumice_context - a queue of jobs of one VM, or the queue pair of a render context
 *
 * Destruction frees everything except the structure, which jobs and fences reference.
 */
struct pumice_context {
	/** @base: references of the file, jobs, fences */
	struct pumice_object base;
	/** @pdev: device; a reference to its drm_device */
	struct pumice_device *pdev;
	/**
	 * @vm: a user count of the VM, until destruction; no longer: its reservation holds our
	 * fences
	 */
	struct pumice_vm *vm;
	/** @node: in reset.contexts, until destroyed; changes under reset.lock */
	struct list_head node;
	/** @process: process that created it; constant */
	struct pumice_process process;
	/**
	 * @id: id in its file, or 0 before it has one; written once, under the lock of the file's
	 * table, under which submissions look it up. Others read it with READ_ONCE()
	 */
	u32 id;
	/** @type: enum drm_pumice_context_type; constant */
	u32 type;
	/** @timeout_ms: maximum time of a job on the data master; constant */
	u32 timeout_ms;
	/** @queue_count: number of @queues; constant */
	u32 queue_count;
	/** @queues: one, or PUMICE_QUEUE_GEOMETRY and PUMICE_QUEUE_FRAGMENT */
	struct pumice_queue queues[PUMICE_CONTEXT_QUEUES];
	/** @blame: counters of its file; a reference, constant */
	struct pumice_blame *blame;
	/**
	 * @priority_lock: serializes changes of @priority until the firmware has them; guards
	 * the queues' obj
	 */
	struct mutex priority_lock;
	/** @drained: woken when no job is in the schedulers' queues */
	wait_queue_head_t drained;
	/** @closed: no more jobs are accepted; under the VM's reservation */
	bool closed;
	/** @submitted: submitted jobs; written under the VM's reservation, read without */
	u64 submitted;

	/** @lock: guards the following fields, and the fields of queues that refer to it */
	spinlock_t lock;
	/** @priority: enum drm_pumice_priority; the firmware has it or reads it at the next kick */
	u32 priority;
	/** @stopped: no more jobs are submitted to the firmware */
	bool stopped;
	/** @state: DRM_PUMICE_CONTEXT_* */
	u32 state;
	/** @guilty: job being killed because it timed out, or NULL */
	const struct pumice_job *guilty;
	/** @status: status for users */
	struct pumice_context_status status;
	/** @results: results of the last jobs, by number */
	struct pumice_result results[DRM_PUMICE_JOB_RESULTS];
	/** @stuck: state of the job that made the context GUILTY */
	struct pumice_stuck stuck;
	/** @ended: highest number of a completed job */
	u64 ended;
	/** @kill_work: ends its jobs after the firmware has killed one; has a reference */
	struct work_struct kill_work;
};

/*
 * Iterate over the queues of a context, the fragment queue after the geometry queue. Both
 * arguments must be plain pointers: they are evaluated more than once.
 */
#define pumice_for_each_queue(q, ctx) \
	for ((q) = (ctx)->queues; (q) < (ctx)->queues + (ctx)->queue_count; (q)++)

/* Count fragment jobs not yet submitted to the firmware although their geometry jobs were. */
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
void pumice_context_kill_later(struct pumice_context *ctx);
void pumice_context_kill_work(struct work_struct *work);
void pumice_context_destroy(struct pumice_context *ctx);

int pumice_ioctl_context_create(struct drm_device *drm, void *data, struct drm_file *file);
int pumice_ioctl_context_destroy(struct drm_device *drm, void *data, struct drm_file *file);
int pumice_ioctl_context_set_priority(struct drm_device *drm, void *data, struct drm_file *file);
int pumice_ioctl_context_get_state(struct drm_device *drm, void *data, struct drm_file *file);
u32 pumice_priorities(struct drm_file *file);

#endif
