/* SPDX-License-Identifier: MIT */
/*
 * Unified shading cluster (USC): keeps tasks in slots and runs their waves.
 *
 * Source: document 000, "Unified Shading Cluster" and "USC Register Stores"; document 002,
 * "Waves" and "Instructions"; document 003, "Types of Registers".
 *
 * The PDS owns the allocation of slots and stores. It fills a free group with its tasks,
 * writes shared and attribute registers, and publishes it with usc_group_start(). From then
 * on the group belongs to the USC until ops->groups_done. A USC's step runs on one thread at a
 * time.
 */
#ifndef PUMICE_GPU_USC_H
#define PUMICE_GPU_USC_H

#include <stdatomic.h>
#include <stdbool.h>

#include "../fault.h"
#include "../mmu/mmu.h"

#define USC_MAX_WAVES (PUMICE_TASK_INSTANCES / PUMICE_LANES)	/* of one task */
#define USC_ROW_WORDS PUMICE_LANES	/* unified store row: one register of one wave */

struct lines_writer;
struct strict;
struct tag;
struct usc;
struct usc_program;	/* predecoded program, see program.h */
struct usc_gfx;		/* see gfx.h */

/* State of a group; PDS to READY, USC to FREE. */
enum usc_group_state { USC_GROUP_FREE, USC_GROUP_READY, USC_GROUP_RUNNING };

/* One task: occupies one slot. Filled by the PDS; constant while the task runs. */
struct usc_task {
	u8 group;		/* index of its work-group */
	u8 index;		/* task in its work-group */
	u8 waves;		/* 0 to 4; a task of 0 instances only sequences */
	u8 temps;		/* temporary registers of an instance */
	u8 attrs;		/* attribute registers of an instance */
	u16 instances;		/* 0 to 128 */
	u16 shared;		/* shared registers, words */
	u16 coeffs;		/* coefficient registers, words: after the shared ones */
	u16 coeffs_alt;		/* those of the alternate set, words: after these */
	u32 us_row;		/* first row in the unified store; see usc_attr() for the layout */
	u32 cs_word;		/* first word in the common store */
};

/* One work-group on this USC. Filled by the PDS. */
struct usc_group {
	_Atomic u32 state;	/* enum usc_group_state */
	u8 tasks;		/* 1 to 8; 0: it ends at once, without slots */
	u8 slot[PUMICE_GROUP_TASKS];	/* slots of the tasks, in task order */
	u8 ctx;			/* MMU context */
	u16 waves;		/* of all tasks */
	u32 first_wave;		/* wave 0's number in the compute task (constant "wave") */
	u32 local_byte;		/* first byte in local memory */
	u32 local_bytes;
	u64 code_addr;		/* GPU virtual address of the program, for fault reports */
	struct usc_program *program;	/* from usc_program_get(); the PDS holds the reference */
	const struct usc_gfx *gfx;	/* of the vertex and pixel data
					 * master, see gfx.h; else NULL */
};

/* Callbacks of the USC, from its step. */
struct usc_ops {
	/*
	 * All waves of a task have ended, not all of its group: the slot and the registers of the
	 * task may be reused.
	 */
	void (*task_done)(void *opaque, unsigned int usc, unsigned int group, unsigned int task);
	/*
	 * Groups ended (bit n: group n); their resources may be reused. Work-groups that end one
	 * after the other are reported together: when none runs any longer, before a fault, when
	 * the next group has run for 256 to 511 instructions, and at the end of the step.
	 */
	void (*groups_done)(void *opaque, unsigned int usc, u64 groups);
	/*
	 * The group faulted; groups_done follows when all its waves have ended. All of *fault
	 * is filled in.
	 */
	void (*fault)(void *opaque, unsigned int group, const struct gpu_fault *fault);
};

/* Arrival of data whose access has a signal: late.c. */
enum usc_late_mode {
	USC_LATE_EARLY,		/* at issue */
	USC_LATE_DATA,		/* when the access is complete by the wave's clock */
	USC_LATE_POISON,	/* when the wave has waited; an earlier use is a fault */
};

struct usc_config {
	unsigned int number;	/* over all cores */
	/* For special registers: the core, and the USC's number in it. */
	unsigned int core, in_core;
	u32 unified_bytes, common_bytes, local_bytes;
	enum usc_late_mode late;
	struct tag *tag;	/* of its half of the core */
	u8 tcu;			/* its interface there */
	struct mmu *mmu;
	const struct usc_ops *ops;
	void *opaque;
};

/* Allocate a USC with its stores. Returns NULL when out of memory. */
struct usc *usc_create(const struct usc_config *config);
void usc_destroy(struct usc *usc);
/* Data to detect errors of programs, or for modes that do not: see usc_exchange_checks(). */
struct usc_checks {
	enum usc_late_mode late_mode;
	struct usc_late *late;		/* NULL: not needed, or the USC keeps its own */
	struct usc_watch *watch;
	struct usc_unset *unset;
};

/* Allocate it for mode strict, or for the others. Returns false when out of memory. */
bool usc_checks_create(struct usc_checks *checks, const struct usc *usc, bool strict);
/* Also of those whose creation has failed. */
void usc_checks_destroy(struct usc_checks *checks);
/*
 * Detect errors of programs and report them to strict, from now on; NULL: no longer. Late data are
 * as with USC_LATE_POISON meanwhile. checks, which were created for this since the last exchange,
 * become those that the USC has had. Only while it has no group, and no step runs.
 */
void usc_exchange_checks(struct usc *usc, struct strict *strict, struct usc_checks *checks);
/* Drop all tasks at once, without callbacks; only while no step runs. */
void usc_reset(struct usc *usc);

/*
 * For the PDS: return a task to describe, by its slot, or a group to fill, by its number, which is
 * less than PUMICE_USC_TASKS.
 */
struct usc_task *usc_task(struct usc *usc, unsigned int slot);
struct usc_group *usc_group(struct usc *usc, unsigned int group);
/*
 * Return the task's shared registers; task->shared words. These and the attribute registers keep
 * the values of the previous owner: the PDS must fill or zero all of them, in every lane.
 */
u32 *usc_shared(struct usc *usc, const struct usc_task *task);
/*
 * Return the task's coefficient registers; task->coeffs words, to be filled like the shared ones.
 */
u32 *usc_coeffs(struct usc *usc, const struct usc_task *task);
/* The same for the alternate set; task->coeffs_alt words. */
u32 *usc_coeffs_alt(struct usc *usc, const struct usc_task *task);
/*
 * Return one attribute register of one wave: 32 words. Rows of a task are, for each wave, its
 * temporaries and then its attributes: row = us_row + wave * (temps + attrs) + temps + reg.
 */
u32 *usc_attr(struct usc *usc, const struct usc_task *task, unsigned int wave, unsigned int reg);

/*
 * Return words that the PDS has allocated for pixel outputs, in the unified store from a row, or in
 * the common store from a word. They keep the values of the previous owner.
 */
u32 *usc_outputs_unified(struct usc *usc, u32 row);
u32 *usc_outputs_common(struct usc *usc, u32 word);

/*
 * Start a filled group. Its temporaries and local memory are zeroed when it starts. True when
 * the USC had no group: wake it. A USC with other groups starts this one before its step
 * returns false.
 */
bool usc_group_start(struct usc *usc, unsigned int group);

/*
 * Run waves for about budget wave instructions. Returns true while more can be run. Checks
 * *stop (park, invalidation wait) every few hundred instructions, and after each one that
 * reads textures, stores a tile or misses the TLB, and returns early when it is set.
 */
bool usc_step(struct usc *usc, u32 budget, const _Atomic bool *stop);
/* True when a step has work to do. Any thread. */
bool usc_has_work(struct usc *usc);
/* Abort every group at the next step: waves stop, groups_done is called for them. Any thread. */
void usc_abort(struct usc *usc);
/* The same for the groups whose bits are set. Groups that are not started are ignored. */
void usc_abort_groups(struct usc *usc, u64 groups);

/* Return the number of its requests to the texture unit for a data master's tasks; any thread. */
u64 usc_tag_reads(const struct usc *usc, enum pumice_wave_master master);

/* Return the data master of the task in a slot; in the thread that steps. */
enum pumice_wave_master usc_slot_master(const struct usc *usc, unsigned int slot);

/*
 * Mode strict, in the thread that steps: set the place of the instruction that runs, if one does;
 * the unit remains.
 */
void usc_get_place(const struct usc *usc, struct lines_writer *place);
/* The same: return whether the instruction compares and exchanges memory. */
bool usc_compares(const struct usc *usc);

/* State of one wave in flight, for a debugger. */
struct usc_wave_info {
	u64 code;	/* GPU virtual address of its program */
	u32 pc;		/* next instruction, or the barrier that it waits at */
	u32 lanes;	/* bit l: lane l has an instance that was not dropped */
	u8 usc, slot, wave;	/* USC over all cores, slot, wave of the task */
	u8 state;	/* enum pumice_wave_state */
	u8 master;	/* enum pumice_wave_master */
	u8 ctx;		/* MMU context */
};

/* Maximum waves of one USC. */
#define USC_WAVES (PUMICE_USC_SLOTS * USC_MAX_WAVES)

/*
 * Copy the waves in flight of the data masters in mask masters (bit n: enum
 * pumice_wave_master n) to out, which has room for USC_WAVES; returns their number. Only
 * while no step runs.
 */
u32 usc_waves(const struct usc *usc, u32 masters, struct usc_wave_info *out);

/*
 * Predecoded programs, cached by content for all USCs of a GPU. Checks every instruction: an
 * encoding that can never run faults here. One lock inside; any thread.
 */
struct usc_program_cache;
struct usc_program_cache *usc_program_cache_create(void);
/* Callbacks for loads that wait for memory. Without them, such a load faults at once. */
struct usc_cache_ops {
	u64 (*now)(void *opaque);	/* GPU clock */
	/* Loads wait: continue them at the deadline, and on room(). No lock held. */
	void (*wait)(void *opaque, u64 deadline);
	/* There may be memory for a waiting load. The device lock may be held. */
	void (*room)(void *opaque);
};
void usc_program_cache_set_ops(struct usc_program_cache *cache, const struct usc_cache_ops *ops,
			       void *opaque);
void usc_program_cache_destroy(struct usc_program_cache *cache);
/* Limits that a program's register operands are checked against. */
struct usc_program_limits {
	u32 temps, attrs, shared;
	u32 coeffs;	/* of a fragment program: of one primitive */
	u32 coeffs_alt;	/* the same in the alternate set */
	u32 slot_regs;	/* of a slot, at most PUMICE_USC_OWN_REGS; the others of these are
			 * internal registers */
	u32 stage;	/* enum usc_stage, see gfx.h */
	u32 vo;		/* VERTEX: vertex output registers */
	u32 outputs;	/* FRAGMENT, TILE: pixel output registers */
};
/*
 * Fetch, check and predecode the program at addr (insns instructions), a piece in each call,
 * so that a program of 65536 instructions does not delay other work. *load is NULL before the
 * first call, and again after USC_LOAD_DONE and USC_LOAD_FAULT; in between call with the same
 * arguments, or cancel with usc_load_drop(). No lock held.
 *
 * USC_LOAD_DONE: *program is a counted reference. USC_LOAD_FAULT: *fault is filled in except
 * usc. USC_LOAD_WAIT: decoded programs use all memory available to them, see usc_cache_ops;
 * this becomes a fault when no program of the data master has become idle for
 * USC_LOAD_PATIENCE_NS.
 */
struct usc_load;
enum usc_load_result { USC_LOAD_FAULT, USC_LOAD_DONE, USC_LOAD_MORE, USC_LOAD_WAIT };
enum usc_load_result usc_program_load(struct usc_program_cache *cache, struct mmu *mmu,
				      struct mmu_tlb *tlb, unsigned int ctx, u64 addr, u32 insns,
				      const struct usc_program_limits *limits,
				      struct usc_load **load, struct usc_program **program,
				      struct gpu_fault *fault);
void usc_load_drop(struct usc_program_cache *cache, struct usc_load *load);
/*
 * Do all pieces at once, for tests and tools; NULL with *fault on a fault. Does not wait for
 * memory.
 */
struct usc_program *usc_program_get(struct usc_program_cache *cache, struct mmu *mmu,
				    struct mmu_tlb *tlb, unsigned int ctx, u64 addr, u32 insns,
				    const struct usc_program_limits *limits,
				    struct gpu_fault *fault);
void usc_program_put(struct usc_program_cache *cache, struct usc_program *program);

/*
 * Performance counters, hw/perf.h. Any thread; exact while no step runs. The counts are kept
 * over usc_reset().
 */
/* Enable or disable the detailed counters of hw/perf.h, from the waves' next quantum. */
void usc_set_detail(struct usc *usc, bool detail);
/* Return whether waves are run an instruction at a time: for counts, requests, or late data. */
bool usc_is_stepped(const struct usc *usc);
/* Add this USC's counts to value[], by enum pumice_perf_counter. */
void usc_counters_add(const struct usc *usc, u64 *value);
/* Add the counter USC_PROGRAMS. */
void usc_program_cache_counters_add(struct usc_program_cache *cache, u64 *value);

#endif
