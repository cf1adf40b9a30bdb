/* SPDX-License-Identifier: MIT */
/*
 * Common definitions of the data masters VDM, PDM and TDM: the registers that start a job and
 * report how it ended (hw/registers.xml, units VDM, PDM, TDM).
 */
#ifndef PUMICE_GPU_DM_H
#define PUMICE_GPU_DM_H

#include <stdbool.h>

#include "../fault.h"

/* Values latched when a job is started. */
struct dm_job {
	unsigned int ctx;	/* MMU context of all accesses but the scene's */
	u64 stream;		/* GPU virtual address: STREAM_BASE */
	u64 scene;		/* GPU virtual address in context 0: SCENE_BASE; 0 for the TDM */
	u64 tag;		/* TAG */
	u32 split;		/* VDM_SPLIT */
	bool partial;		/* PDM: a partial render */
};

/* State visible in registers. */
struct dm_status {
	bool busy;
	struct gpu_fault fault;	/* of the running or last job */
	u64 time_start, time_end;	/* GPU clock; of the running or last job */
	u64 done;		/* primitives, tiles or commands */
};

/*
 * How a job ended, or that it is stalled on memory (DM_MEMORY, VDM only, which stays busy).
 */
enum dm_end { DM_DONE, DM_FAULT, DM_ABORTED, DM_MEMORY };

struct dm_ops {
	void (*ended)(void *opaque, enum dm_end end);	/* device lock held */
	u64 (*now)(void *opaque);			/* GPU clock */
	void (*lock)(void *opaque);			/* the device lock */
	void (*unlock)(void *opaque);
	/* Wake the unit of this core; the TDM's own unit has number 0. */
	void (*wake)(void *opaque, unsigned int core);
};

struct mmu;
struct pds;
struct pm;
struct trace;

/* Configuration of the VDM and the PDM. */
struct dm_config {
	unsigned int cores;
	struct mmu *mmu;
	struct pm *pm;
	struct pds *pds;
	const struct dm_ops *ops;
	void *opaque;
	struct trace *trace;	/* or NULL */
};

#endif
