/* SPDX-License-Identifier: MIT */
/*
 * What the data masters VDM, PDM and TDM have in common: the registers that
 * start a job and tell how it ended (hw/registers.xml, units VDM, PDM, TDM).
 */
#ifndef PUMICE_GPU_DM_H
#define PUMICE_GPU_DM_H

#include <stdbool.h>

#include "../fault.h"

/* What is latched when a job is started. */
struct dm_job {
	unsigned int ctx;	/* MMU context of everything but the scene */
	u64 stream;		/* GPU virtual address: STREAM_BASE */
	u64 scene;		/* GPU virtual address in context 0: SCENE_BASE; 0 for the TDM */
	u64 tag;		/* TAG */
	u32 split;		/* VDM_SPLIT */
	bool partial;		/* PDM: a partial render */
};

/* What the registers show. */
struct dm_status {
	bool busy;
	struct gpu_fault fault;	/* of the running or last job */
	u64 time_start, time_end;	/* GPU clock; of the running or last job */
	u64 done;		/* primitives, tiles or commands */
};

/* How a job ended, or that it stands still (DM_MEMORY, of the VDM, which stays busy). */
enum dm_end { DM_DONE, DM_FAULT, DM_ABORTED, DM_MEMORY };

struct dm_ops {
	void (*ended)(void *opaque, enum dm_end end);	/* device lock held */
	u64 (*now)(void *opaque);			/* GPU clock */
	void (*lock)(void *opaque);			/* the device lock */
	void (*unlock)(void *opaque);
	/* The unit of this core has something to do; the TDM's own unit has number 0. */
	void (*wake)(void *opaque, unsigned int core);
};

struct mmu;
struct pds;
struct pm;
struct trace;

/* What the VDM and the PDM are made with. */
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
