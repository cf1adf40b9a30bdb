/* SPDX-License-Identifier: MIT */
/*
 * Mode strict: races in memory between waves of all work-groups and jobs. See race.c.
 *
 * Functions take a lock, a leaf, and may be called by any thread. Those of jobs accept NULL, for
 * other modes.
 */
#ifndef PUMICE_GPU_STRICT_RACE_H
#define PUMICE_GPU_STRICT_RACE_H

#include <stdbool.h>

#include "pumice_regs.h"
#include "pumice_types.h"

#define RACE_WAVES 32u	/* most waves of a work-group */

struct race;

/* A work-group. */
struct race_group {
	u8 master;	/* enum pumice_wave_master */
	u8 ctx;		/* MMU context */
	u8 core;
	u16 usc;	/* over all cores */
	u64 code;	/* GPU virtual address of its program */
};

/* Numbers of fences that a wave is after: of those in its core, and in the GPU. */
struct race_acquired {
	u64 core, device;
};

/* A lane's access to memory. */
struct race_access {
	u32 group;	/* from race_group_begin() */
	u8 wave, lane;	/* number in the group, number in the wave */
	bool write;
	bool atomic;	/* an atomic operation, which writes */
	bool compares;	/* that writes if memory has a value which was loaded before */
	u32 pc;		/* instruction index in the program */
	u32 clock;	/* of its wave, not 0 */
	const u32 *before;	/* by wave of the group: accesses up to this clock precede it */
	struct race_acquired acquired;
};

/* The other side of a race. */
struct race_other {
	struct race_group group;
	u64 tag;	/* of its job: TAG of the data master */
	bool same_job;
	bool write;
	u8 wave, lane;
	u32 pc;
};

/* Create the state of a GPU; NULL when out of memory. */
struct race *race_create(void);
void race_destroy(struct race *race);

/*
 * A data master begins a job, or ends it: all its work-groups have ended. ready: since when it
 * could have begun if its data master had been free, 0 if that is not known; clock: the present
 * time of the same clock.
 */
void race_job_begin(struct race *race, enum pumice_wave_master master, u64 tag, u64 ready);
void race_job_end(struct race *race, enum pumice_wave_master master, u64 clock);
/* All jobs have ended: a reset. */
void race_reset(struct race *race);
/*
 * All work-groups that the compute job has begun precede those after: a command of its stream has
 * waited for them. There is one compute job at a time.
 */
void race_job_orders(struct race *race);

/* A work-group begins to access memory: return its number, not 0. */
u32 race_group_begin(struct race *race, const struct race_group *group);
/*
 * A wave of a work-group executes a fence, of its core or of the GPU. before: as in struct
 * race_access. Updates the numbers of the wave.
 */
void race_fence(struct race *race, u32 group, const u32 *before, bool device,
		struct race_acquired *acquired);
/*
 * Record an access to bytes at host, in one page of 4 KiB. Returns whether it races with an earlier
 * one, *other.
 */
bool race_access(struct race *race, const struct race_access *access, const u8 *host, u32 bytes,
		 struct race_other *other);
/* Return the number of blocks of the shadow that accesses have been compared with, so far. */
u64 race_compared(struct race *race);

#endif
