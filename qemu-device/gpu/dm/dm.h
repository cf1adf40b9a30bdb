/* SPDX-License-Identifier: MIT */
/*
 * Common definitions of the data masters: a job from its start to its end, and for the VDM,
 * PDM and TDM the registers that start it and report how it ended (hw/registers.xml).
 */
#ifndef PUMICE_GPU_DM_H
#define PUMICE_GPU_DM_H

#include <stdbool.h>

#include "../fault.h"
#include "pumice_formats.h"

/* Values latched when a job is started. */
struct dm_job {
	unsigned int ctx;	/* MMU context of all accesses but the scene's */
	u64 stream;		/* GPU virtual address: STREAM_BASE */
	u64 scene;		/* GPU virtual address in context 0: SCENE_BASE; 0 for the TDM */
	u64 tag;		/* TAG */
	u32 split;		/* VDM_SPLIT */
	bool partial;		/* PDM: a partial render */
	u32 presents;		/* TDM: PRESENT commands that the job may run */
};

/* State visible in registers. */
struct dm_status {
	bool busy;
	struct gpu_fault fault;	/* of the running or last job */
	u64 time_start, time_end;	/* GPU clock; of the running or last job */
	/*
	 * Work-groups (of the whole job, also those before a switch), primitives, tiles, commands.
	 */
	u64 done;
};

/*
 * Ends of jobs: arg1 of JOB_END. Only the CDM switches jobs out. DM_MEMORY does not end a job: the
 * VDM is stalled on memory, and stays busy.
 */
enum dm_end {
	DM_DONE = PUMICE_TRACE_END_DONE,
	DM_FAULT = PUMICE_TRACE_END_FAULT,
	DM_ABORTED = PUMICE_TRACE_END_ABORTED,
	DM_SWITCHED = PUMICE_TRACE_END_SWITCHED,
	DM_MEMORY = PUMICE_TRACE_END_COUNT,
};

/* A data master, as the common code of its jobs needs it. */
struct dm_unit {
	enum pumice_unit unit;	/* of the faults that it detects itself */
	/* Discard the remainder of the job, which ends when it has drained. Device lock held. */
	void (*stopped)(void *opaque);
};

/* The running or last job. Device lock. */
struct dm_run {
	const struct dm_unit *unit;
	void *opaque;		/* of the unit's functions */
	struct dm_status status;
	enum dm_end end;	/* how the job ends: DM_DONE until it is stopped */
	u64 busy_ns;		/* of jobs that have ended */
};

/* Start a job; none runs. @opaque: for the functions of @unit; @now: GPU clock */
void dm_run_begin(struct dm_run *run, const struct dm_unit *unit, void *opaque, u64 now);
/*
 * Make the job end with this fault, or as aborted, after it has drained. Nothing is changed if
 * no job runs or it was stopped before: the first reason wins. Device lock held.
 */
void dm_stop_fault(struct dm_run *run, const struct gpu_fault *fault);
void dm_abort(struct dm_run *run);
/* Stop it with a fault that the data master itself detected at an address. */
void dm_stop_at(struct dm_run *run, enum pumice_fault reason, unsigned int ctx, u64 addr);
/* End the job, which has drained. */
void dm_run_end(struct dm_run *run, u64 now);
/* Return the duration of all jobs, including the running one. */
u64 dm_run_busy_ns(const struct dm_run *run, u64 now);

/* Return the fault that a unit itself detected at an address. */
struct gpu_fault dm_fault(enum pumice_unit unit, enum pumice_fault reason, unsigned int ctx,
			  u64 addr);

struct dm_ops {
	void (*ended)(void *opaque, enum dm_end end);	/* device lock held */
	void (*flipped)(void *opaque);			/* TDM: a flip; device lock held */
	u64 (*now)(void *opaque);			/* GPU clock */
	void (*lock)(void *opaque);			/* the device lock */
	void (*unlock)(void *opaque);
	/* Wake the unit of this core; the TDM's own unit has number 0. */
	void (*wake)(void *opaque, unsigned int core);
};

struct halves;
struct mmu;
struct pds;
struct pm;
struct trace;

/* Configuration of the VDM and the PDM. */
struct dm_config {
	unsigned int cores;
	u32 uscs_per_core;
	u32 batch;	/* most instances of a task: 16, or a multiple of 32 up to 128 */
	u32 idx_fifo;	/* VDM: primitives in the IDX FIFO of a core */
	u32 chunk_fifo;	/* VDM: chunks between the master and a core, 1 to 4 */
	u32 tile_fifo;	/* PDM: tiles between the master IPF and a core, 1 to 64 */
	u32 tsp_vertices;	/* PDM: vertices in the TSP's cache of a core, a power of two */
	struct mmu *mmu;
	struct pm *pm;
	struct pds *pds;
	struct halves *halves;	/* PDM */
	const struct dm_ops *ops;
	void *opaque;
	struct trace *trace;	/* or NULL */
};

#endif
