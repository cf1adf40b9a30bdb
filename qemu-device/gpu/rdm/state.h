/* SPDX-License-Identifier: MIT */
/*
 * The RDM's state, shared by its files: rdm.c (a job's beginning and end), command.c and walk.c
 * (the control stream), launch.c (programs and the progress of a launch), source.c (rays from their
 * source to the tasks of hits and misses) and task.c (tasks on the USCs). No other file includes
 * this.
 *
 * Locking: the device lock guards the fields under "Device lock"; all others belong to the thread
 * of the unit's step, which drops the lock while it works on a launch, or are atomic.
 *
 * The path of a ray:
 *
 *	batch	rays of consecutive numbers: of a buffer, or the outputs of a task of the program
 *		that generates rays. The walker traces them
 *	collect	a ray goes to the task of hits or misses that is being filled; a full one is queued
 *	task	queued tasks get room on a core in order of the queue, their registers are filled,
 *		and they run
 *
 * Batches and other tasks are of different pools: a batch waits for tasks of hits and misses, which
 * end without it.
 */
#ifndef PUMICE_GPU_RDM_STATE_H
#define PUMICE_GPU_RDM_STATE_H

#include "../pds/gfx.h"
#include "../rtu/rtu.h"
#include "../trace/trace.h"
#include "command.h"
#include "rdm.h"

#define RDM_BATCHES	16u
#define RDM_WORK	64u	/* tasks of hits and misses */
#define RDM_TASKS	(RDM_BATCHES + RDM_WORK)	/* the batches are the first */
#define RDM_WAVES	(PUMICE_TASK_INSTANCES / PUMICE_LANES)
#define RDM_LAUNCHES	2u	/* whose tasks run at a time */

enum rdm_phase {
	RDM_IDLE,
	RDM_FETCH,	/* fetch the next command */
	RDM_LOAD,	/* load programs of a launch */
	RDM_RUN,	/* dispatch its rays */
	RDM_WAIT,	/* wait for all tasks, then do the waiting command */
	RDM_DRAIN,	/* wait for all tasks, then end the job */
};

enum rdm_task_phase {
	RDM_TASK_FREE,
	RDM_TASK_COLLECT,	/* hits or misses are added */
	RDM_TASK_QUEUED,	/* waits for room, or its PDS program runs */
	RDM_TASK_RUN,		/* on a USC */
	RDM_TASK_TRACE,		/* the rays of the batch are traced */
};

struct rdm_launch {
	struct rdm_programs programs;
	struct pds_stage stage[RDM_KINDS];
	u32 loaded;		/* stages that are loaded, or that there are not */
	u32 tasks;		/* that are not free */
	u32 width;
	u64 rays;		/* total */
	u64 next;		/* number of the next one */
	u64 addr;		/* of the buffer */
};

struct rdm_task {
	enum rdm_kind kind;
	enum rdm_task_phase phase;
	struct rdm_launch *launch;
	u32 count;		/* rays */
	bool filling;		/* has room; its PDS program runs */
	u32 fill_pc;		/* its next instruction */
	struct pds_place place;
	struct usc_gfx gfx;
	_Atomic bool ended;	/* set by the thread of a USC */

	/* TRACE: the wave whose rays are traced, and its lanes to trace and then to collect. */
	u32 wave, lanes, collect;
	bool resumed;

	/* Register n of wave w: as in struct pds_rays. */
	u32 index[PUMICE_TASK_INSTANCES];
	u32 ray[RDM_WAVES * PUMICE_RT_RAY_REGS * PUMICE_LANES];
	u32 result[RDM_WAVES * PUMICE_RT_RESULT_REGS * PUMICE_LANES];
};

struct rdm {
	/* Configuration. */
	struct dm_config config;
	struct rtu *rtu;

	/* Device lock. */
	struct dm_run run;
	enum rdm_phase phase;
	struct dm_job job;
	struct dm_walk walk;
	bool has_programs;
	struct rdm_programs programs;	/* of the last STATE */
	struct rdm_command waiting;	/* the waiting command of RDM_WAIT */
	struct pumice_rdm_launch next;	/* the launch of RDM_LOAD, with programs */
	u64 command;		/* its address in the stream */

	_Atomic bool stopping;	/* the job was stopped */
	_Atomic u32 running;	/* tasks on USCs */

	/* The unit's step. */
	struct mmu_tlb tlb;
	struct rdm_launch launch[RDM_LAUNCHES];
	u32 current;		/* launch that is loaded or dispatched */
	bool begun;		/* it has the place of an earlier one */
	struct rdm_task *tracing;	/* the batch that is traced, or NULL */
	struct rdm_task *task;	/* RDM_TASKS */
	struct rdm_task *collector[RDM_KINDS];	/* HIT, MISS: the one being filled, or NULL */
	u8 queue[RDM_TASKS];	/* numbers of queued tasks */
	u32 queue_first, queued;
	unsigned int next_core;
	u32 waits_on;		/* bit n: entered as waiting on core n */
	u64 ended;		/* tasks of the job */

	/* Performance counters: written by the step, read by any thread. */
	_Atomic u64 rays, hits, tasks;
};

_Static_assert(PUMICE_MAX_CORES <= 32, "cores are bits of waits_on");

/* Result of a piece of work without the lock. */
enum rdm_result {
	RDM_MORE,	/* call again */
	RDM_STALL,	/* the unit is woken */
	RDM_DONE,
	RDM_FAULTED,	/* *fault is filled in */
};

static inline void rdm_count(_Atomic u64 *counter, u64 n)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

/* walk.c, with the device lock: fetch a command, and execute or begin it. */
void rdm_walk_fetch(struct rdm *rdm);
/* All tasks have ended: execute the waiting command. */
void rdm_walk_waited(struct rdm *rdm);

/* launch.c. Load a piece of the current launch's programs. */
enum rdm_result rdm_launch_load(struct rdm *rdm, struct gpu_fault *fault);
/* Do a piece of dispatching it; DONE when all of its tasks were started. */
enum rdm_result rdm_launch_run(struct rdm *rdm, struct gpu_fault *fault);
/* Release the programs of all launches, whose tasks are free. */
void rdm_launch_drop(struct rdm *rdm);

/* source.c. Begin the next batch; MORE, or STALL if there is none or all are in use. */
enum rdm_result rdm_source_begin(struct rdm *rdm, struct gpu_fault *fault);
/* Trace a piece of a batch, or pass on its results; STALL if there is none, or no task is free. */
enum rdm_result rdm_source_trace(struct rdm *rdm, struct gpu_fault *fault);
/* Queue the tasks that are being filled. */
void rdm_source_flush(struct rdm *rdm);

/* task.c. Return a free task of a pool that begins with task first, or NULL. */
struct rdm_task *rdm_task_find(struct rdm *rdm, u32 first, u32 end);
/* Use a free task for the current launch. */
void rdm_task_take(struct rdm *rdm, struct rdm_task *task, enum rdm_kind kind,
		   enum rdm_task_phase phase);
void rdm_task_queue(struct rdm *rdm, struct rdm_task *task);
void rdm_task_free(struct rdm_task *task);
/* Do a piece of starting the first queued task; STALL if there is none, or no room. */
enum rdm_result rdm_task_start(struct rdm *rdm, struct gpu_fault *fault);
/* Free tasks that have ended, and trace the batches of those that generated rays. */
void rdm_task_reap(struct rdm *rdm);
/* Return whether any task is not free. */
bool rdm_task_any(const struct rdm *rdm);
/* Free all tasks of a stopped job, of which none runs. Device lock held, or parked. */
void rdm_task_drop_all(struct rdm *rdm);
/* Free them without the PDS, which is reset. */
void rdm_task_reset(struct rdm *rdm);
extern const struct pds_task_ops rdm_task_ops;

#endif
