/* SPDX-License-Identifier: MIT */
/*
 * State of one USC. Only files of this folder see it.
 *
 * All of it but the configuration and the addresses of the stores is plain data
 * with indices, so that a snapshot is a copy.
 */
#ifndef PUMICE_GPU_USC_STATE_H
#define PUMICE_GPU_USC_STATE_H

#include "perf.h"
#include "program.h"
#include "usc.h"

#define USC_GROUP_WAVES (PUMICE_GROUP_TASKS * USC_MAX_WAVES)

/* Wave instructions that a wave runs before the next of its group, and a group before the next. */
#define USC_WAVE_QUANTUM 256u
#define USC_GROUP_QUANTUM 8192u
/*
 * Issue slots of a wave from a global access to its completion. A wave's own
 * slots are counted, so that what a program sees of its signals depends on the
 * program alone, not on what else runs.
 */
#define USC_GLOBAL_LATENCY 64u

/* Behind the local memory: what a wave-wide load may read without using it. */
#define USC_LOCAL_SLACK 192u	/* a row, and the words behind it */

/* Rows of a wave outside the unified store: its internal registers, then its index registers. */
#define USC_OWN_INDEX PUMICE_USC_OWN_REGS	/* row of IDX0 */
#define USC_OWN_ROWS (PUMICE_USC_OWN_REGS + PUMICE_USC_INDEX_REGS)
#define USC_OWN_WORDS (USC_OWN_ROWS * USC_ROW_WORDS)

/* One wave: slot * USC_MAX_WAVES + number in the task. Valid while its group runs. */
struct usc_wave {
	u32 pc;			/* next instruction */
	u32 valid;		/* bit l: lane l has an instance, which was not dropped */
	u32 instance;		/* linear number of lane 0's instance in the work-group */
	u32 regs;		/* first word of its registers in the unified store */
	u32 shared;		/* first word of its task's shared registers in the common store */
	u8 slot;
	u8 in_group;		/* number in its work-group */
	bool direct;		/* FRAGMENT, TILE: one sample a pixel, of which none failed its tests */
	bool in_line;		/* and 8 spans side by side in the tile */
	bool one_prim;		/* and all spans are of one primitive */
	u32 dc_words;		/* dynamic constants; 0 before the first window */
	u64 dc_base;		/* where they are: GPU virtual address */
	u64 clock;		/* issue slots used */
	u64 resume;		/* slot of the group at which what it waits for is there */
	u64 done[PUMICE_USC_SIGNALS];	/* clock at which the signal is done */
};

/* How far a running group is. Sets of waves by number in the group. */
struct usc_run {
	u32 runnable, barrier, ended;
	u8 waves;
	u8 current;		/* wave whose turn it is */
	u32 left;		/* of its quantum */
	u64 slots;		/* issue slots that the group used or let pass */
	u8 wave[USC_GROUP_WAVES];	/* index in usc->wave */
};

struct usc {
	/* Configuration and stores. */
	struct usc_config config;
	u32 *unified;		/* rows of USC_ROW_WORDS */
	u32 *common;
	u8 *local;		/* with USC_LOCAL_SLACK bytes behind it */
	u32 *constants;		/* rows of bank K, by number */
	u32 *own;		/* USC_OWN_WORDS for each of wave[] */
	u32 slot_reg[PUMICE_USC_SLOTS][PUMICE_USC_OWN_REGS];
	struct tag *tag;

	/* Shared with the PDS: bit g is group g. */
	_Atomic u64 live;	/* started and not done */
	_Atomic u64 abort;	/* to be abandoned */

	/* Performance counters: written by the thread that steps, read by any. */
	_Atomic u64 count[PUMICE_PERF_NUMBER];
	_Atomic bool detail;	/* count what hw/perf.h calls detailed */

	/* Of the thread that steps. */
	u64 busy_since;		/* host's time from which it ran waves in this step, or 0 */
	u64 running;		/* groups with waves */
	u8 current;		/* group whose turn it is */
	u32 left;		/* of its quantum */
	struct mmu_tlb tlb;
	struct usc_task task[PUMICE_USC_SLOTS];
	struct usc_group group[PUMICE_USC_SLOTS];
	struct usc_run run[PUMICE_USC_SLOTS];
	struct usc_wave wave[PUMICE_USC_SLOTS * USC_MAX_WAVES];
};

/* The first word of a wave's registers in the unified store. */
static inline u32 usc_wave_regs(const struct usc_task *task, unsigned int wave)
{
	return (task->us_row + wave * ((u32)task->temps + task->attrs)) * USC_ROW_WORDS;
}

/* Count n. By the thread that steps only. */
static inline void usc_count(struct usc *usc, enum pumice_perf_counter counter, u64 n)
{
	u64 before = atomic_load_explicit(&usc->count[counter], memory_order_relaxed);

	atomic_store_explicit(&usc->count[counter], before + n, memory_order_relaxed);
}

/* Around the running of waves: count the time. */
void usc_busy_begin(struct usc *usc);
void usc_busy_end(struct usc *usc);

/* Lanes and spans of a wave that begins. */
void usc_gfx_wave_begin(const struct usc_gfx *gfx, struct usc_wave *wave, u32 in_task);

/* Take up a started group: waves to their first instruction, temporaries and local memory zeroed. */
void usc_group_begin(struct usc *usc, unsigned int group);
/* The group leaves; tells the PDS. */
void usc_group_finish(struct usc *usc, unsigned int group);

#endif
