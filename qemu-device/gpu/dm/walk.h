/* SPDX-License-Identifier: MIT */
/*
 * Control commands that the streams of the CDM and the RDM have in common: sub-lists, links,
 * fences, flushes, time stamps and markers.
 *
 * Source: document 000, "Compute Workload"; hw/formats.xml, stream "cdm"; hw/rdm.xml. Each word is
 * read from memory once by the data master, which decodes its other commands itself.
 */
#ifndef PUMICE_GPU_DM_WALK_H
#define PUMICE_GPU_DM_WALK_H

#include "../mmu/mmu.h"
#include "dm.h"
#include "flush.h"

/* Position in a stream. */
struct dm_walk {
	u64 pc;		/* GPU virtual address */
	u32 depth;	/* sub-lists entered */
	u64 return_pc[PUMICE_CDM_MAX_DEPTH];
	bool swept;	/* the last command operated on caches: dm_flush() */
};

/* A decoded control command. */
struct dm_control {
	union {
		struct pumice_cdm_call call;
		struct pumice_cdm_link link;
		struct dm_flush flush;
		struct pumice_cdm_timestamp timestamp;
		struct pumice_cdm_marker marker;
	};
};

/* The running job, for commands that change memory or stop it. */
struct dm_walk_access {
	struct dm_run *run;
	struct mmu *mmu;
	struct mmu_tlb *tlb;
	unsigned int ctx;
	u64 (*now)(void *opaque);		/* GPU clock */
	void *opaque;
	enum pumice_fault too_deep, no_call;	/* of CALL and RETURN */
};

/*
 * Return the alignment in bytes of the address in a command's second word, where a misaligned one
 * has a fault of its own; else 0.
 */
u32 dm_control_align(enum pumice_cdm_type type);
/* Unpack a control command; CONST if the type is not of one. */
enum pumice_unpack dm_control_unpack(const u32 *words, enum pumice_cdm_type type,
				     struct dm_control *out);
/* Return whether it is executed after all launches before it. */
bool dm_control_waits(enum pumice_cdm_type type, const struct dm_control *control);

/*
 * Execute a control command except HALT. @next: address after it. Returns false with the job
 * stopped. A command that writes to memory does one atomic store. Device lock held. walk->swept:
 * the caller ends its step.
 */
bool dm_walk_control(struct dm_walk *walk, const struct dm_walk_access *access,
		     enum pumice_cdm_type type, const struct dm_control *control, u64 next);

#endif
