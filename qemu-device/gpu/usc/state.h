/* SPDX-License-Identifier: MIT */
/*
 * State of one USC. Only files of this folder include it.
 *
 * All of it except the configuration and the addresses of the stores and of the second level of the
 * TLB is plain data with indices, so that a snapshot is a copy.
 */
#ifndef PUMICE_GPU_USC_STATE_H
#define PUMICE_GPU_USC_STATE_H

#include "late.h"
#include "perf.h"
#include "program.h"
#include "unset.h"
#include "usc.h"
#include "watch.h"

#define USC_GROUP_WAVES (PUMICE_GROUP_TASKS * USC_MAX_WAVES)

/* Performance counters: all numbers before those of the memory hierarchy, which no USC counts. */
#define USC_COUNTERS PUMICE_PERF_HIER_SLC_READ_BYTES
_Static_assert((unsigned int)PUMICE_PERF_NUMBER == PUMICE_PERF_HIER_RDM_WRITE_REQUESTS + 1u,
	       "no other counters follow");

/* Quantum of a wave within its group, and of a group, in wave instructions. */
#define USC_WAVE_QUANTUM 256u
#define USC_GROUP_QUANTUM 8192u
/* Quantum of a data master while instructions are run one at a time, and else: see wave.c. */
#define USC_FINE_QUANTUM 32u
#define USC_SHARED_QUANTUM 256u
/*
 * Issue slots of a wave from a global access to its completion. A wave's own slots are
 * counted, so that the state of signals depends on the program only, not on other waves.
 */
#define USC_GLOBAL_LATENCY 64u

/* Slack after the local memory: a wave-wide load may read it without using it. */
#define USC_LOCAL_SLACK 192u	/* a row, and the words after it */

/* Rows of a wave outside the unified store: its internal registers, then its index registers. */
#define USC_OWN_INDEX PUMICE_USC_OWN_REGS	/* row of IDX0 */
#define USC_OWN_ROWS (PUMICE_USC_OWN_REGS + PUMICE_USC_INDEX_REGS)
#define USC_OWN_WORDS (USC_OWN_ROWS * USC_ROW_WORDS)

/* Words of the uniform stream that are fetched together: 64 bytes, aligned. */
#define USC_UNIFORM_WINDOW 16u

/* Dynamic constants that the instances of a wave have fetched with one index register. */
struct usc_dc_windows {
	u64 tag[PUMICE_LANES];	/* GPU virtual address, in windows; if the lane's bit is set in
				 * dc_kept */
	u32 word[PUMICE_LANES][PUMICE_USC_DC_WINDOW];
};

/* One wave: slot * USC_MAX_WAVES + number in the task. Valid while its group runs. */
struct usc_wave {
	u32 pc;			/* next instruction */
	u32 valid;		/* bit l: lane l has an instance, which was not dropped */
	u32 instance;		/* linear number of lane 0's instance in the work-group */
	u32 regs;		/* first word of its registers in the unified store */
	u32 shared;		/* first word of its task's shared registers in the common store */
	u32 coeffs_alt;		/* the same for its coefficients in the alternate set */
	u8 slot;
	u8 in_group;		/* number in its work-group */
	bool direct;		/* FRAGMENT, TILE: one sample per pixel, none of which failed
				 * its tests */
	bool in_line;		/* and 8 adjacent spans in the tile */
	bool one_prim;		/* and all spans belong to one primitive */
	u32 dc_words;		/* size of dynamic constants; 0 before the first window */
	u64 dc_base;		/* their GPU virtual address */
	u32 dc_kept[PUMICE_USC_INDEX_REGS];	/* bit l: lane l has a window */
	u32 uniforms;		/* words of the uniform stream that it has read */
	bool uniforms_kept;	/* the words around the next one are in usc->uniform */
	u32 ray_lanes;		/* of a ray query that was interrupted: still to do; or 0 */
	u64 ray_base;		/* its structure */
	u64 clock;		/* issue slots used */
	u64 resume;		/* slot of the USC at which its wait ends */
	u64 done[PUMICE_USC_SIGNALS];	/* clock at which the signal is done */
};

/* Progress of a running group. Sets of waves are by number in the group. */
struct usc_run {
	u32 runnable, barrier, ended;
	u32 copying;		/* wait for all of the group to reach a work-group copy */
	u32 meeting;		/* wait to write a slot register, see exec_slot.c */
	u32 together;		/* of runnable: execute the instruction that they waited at now,
				 * before any other wave runs */
	bool executed;		/* one of these has written the slot register, or copied */
	u8 waves;
	u8 current;		/* wave that runs next */
	u32 left;		/* rest of its quantum */
	u8 wave[USC_GROUP_WAVES];	/* index in usc->wave */
};

struct usc {
	/* Configuration and stores. */
	struct usc_config config;
	u32 *unified;		/* rows of USC_ROW_WORDS */
	u32 *common;
	u8 *local;		/* followed by USC_LOCAL_SLACK bytes */
	/* unified, common and local may have been written since the last reset. */
	_Atomic bool written;
	u32 *constants;		/* rows of bank K, by number */
	u32 *own;		/* USC_OWN_WORDS for each of wave[] */
	struct usc_dc_windows *dc;	/* PUMICE_USC_INDEX_REGS for each of wave[] */
	u32 (*uniform)[USC_UNIFORM_WINDOW];	/* fetched words of its stream,
						 * for each of wave[] */
	u32 slot_reg[PUMICE_USC_SLOTS][PUMICE_USC_OWN_REGS];
	struct rtu *rtu;
	struct usc_late *late;	/* see late.h; NULL: data are not late */
	enum usc_late_mode late_chosen;	/* by the configuration, for other modes than strict */
	struct strict *strict;	/* receives findings; NULL: not mode strict */
	struct usc_watch *watch;	/* the same */
	struct usc_unset *unset;	/* the same */
	/* Mode strict: the wave that runs or NULL, its instruction, and a lane or PUMICE_LANES. */
	const struct exec *stepped;
	const struct usc_insn *stepped_at;
	u32 stepped_lane;

	/* Shared with the PDS: bit g is group g. */
	_Atomic u64 live;	/* started and not done */
	_Atomic u64 abort;	/* to be aborted */

	/* Performance counters: written by the thread that steps, read by any. */
	_Atomic u64 count[USC_COUNTERS];
	_Atomic u64 tag_reads[PUMICE_WAVE_MASTER_COUNT];	/* the same */
	_Atomic bool detail;	/* count the detailed counters of hw/perf.h */

	/* Owned by the thread that steps. */
	u64 busy_since;		/* host time at which it began to run waves in this step, or 0 */
	u64 running;		/* groups with waves */
	u64 ended;		/* groups that have ended, and are not reported yet */
	u32 unreported;		/* instructions of groups that run since then */
	u8 current;		/* group that runs next */
	u32 left;		/* rest of its quantum */
	u64 slots;		/* issue slots that groups used, or in which all waited */
	/* Of data masters that take turns, see wave.c. */
	u8 running_of[PUMICE_WAVE_MASTER_COUNT];	/* number of groups of each with waves */
	u8 master;		/* whose turn it is */
	u8 kept[PUMICE_WAVE_MASTER_COUNT];	/* group that each continues with */
	u32 kept_left[PUMICE_WAVE_MASTER_COUNT];	/* rest of its quantum */
	struct mmu_tlb tlb;
	/*
	 * Its second level. Not aligned to lines of the host's cache: the thread that steps writes
	 * it and its neighbours, and no other does.
	 */
	struct mmu_tlb_entry far[MMU_TLB_FAR_SMALL];
	struct usc_task task[PUMICE_USC_SLOTS];
	struct usc_group group[PUMICE_USC_TASKS];
	struct usc_run run[PUMICE_USC_TASKS];
	struct usc_wave wave[PUMICE_USC_SLOTS * USC_MAX_WAVES];
};

/* Return the first word of a wave's registers in the unified store. */
static inline u32 usc_wave_regs(const struct usc_task *task, unsigned int wave)
{
	return (task->us_row + wave * ((u32)task->temps + task->attrs)) * USC_ROW_WORDS;
}

/* Count n. Only for the thread that steps. */
static inline void usc_count(struct usc *usc, enum pumice_perf_counter counter, u64 n)
{
	u64 before = atomic_load_explicit(&usc->count[counter], memory_order_relaxed);

	atomic_store_explicit(&usc->count[counter], before + n, memory_order_relaxed);
}

/* Count the time between both calls, while waves run. */
void usc_busy_begin(struct usc *usc);
void usc_busy_end(struct usc *usc);

/* Initialise lanes and spans of a new wave. */
void usc_gfx_wave_begin(const struct usc_gfx *gfx, struct usc_wave *wave, u32 in_task);

/*
 * Begin a started group: set waves to their first instruction, zero temporaries and local
 * memory.
 */
void usc_group_begin(struct usc *usc, unsigned int group);
/*
 * Let waves of a task write a slot register if all others wait, too: to be called when one of
 * its waves has stopped.
 */
void usc_slot_select_writers(struct usc *usc, struct usc_run *run, unsigned int slot);
/* Count a group that begins, which ends a long turn of others early, or one that ends. */
void usc_turns_begin(struct usc *usc, unsigned int group);
void usc_turns_end(struct usc *usc, unsigned int group);
/* End the group; the PDS is notified at once, or of a work-group by usc_report_ended(). */
void usc_group_finish(struct usc *usc, unsigned int group);
/* Notify the PDS of groups that have ended. */
void usc_report_ended(struct usc *usc);

#endif
