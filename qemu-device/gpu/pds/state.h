/* SPDX-License-Identifier: MIT */
/*
 * The PDS's state, shared by these of its files. No other file of the GPU includes this header.
 *
 * pds.c	launches of the CDM, and ends of its groups
 * compute.c	the source of compute of a core: starts groups of the CDM
 * task.c	tasks of the VDM, PDM and RDM
 * direct.c	programs that need no task: counts of the tasks that are left out
 * core.c	the PDS of one core: claims, releases, data masters that wait
 * slots.c	slots of tasks that USCs manage
 * rows.c	rows of the VPM
 * outputs.c	pixel outputs of tiles
 * starved.c	data masters that wait and have no task in slots
 * stage.c	stages: programs of the VDM, PDM and RDM
 * vertex.c	fills the registers of a task of vertices
 * fragment.c	fills those of a task of fragments, or of a whole tile
 * ray.c	fills those of a task of rays
 *
 * The other files of the PDS have their own state, or none:
 *
 * resource.c	resources of one USC: claim and release
 * alloc.c	allocator of one store
 * dms.c	data master selector
 * order.c	dependencies of groups without instances
 * code.c	references to USC programs
 * program.c	PDS programs: fetch, check, decode
 * check.c	PDS programs: valid operands, by stage
 * run.c	PDS programs: execution
 * fill.c	operations that are common to PDS programs of all data masters
 * attr.c	vertex attributes
 *
 * Locking: each core has a lock. It guards the fields of struct pds_core, except atomic ones
 * and those that are constant, and struct unit of the core's USCs, except as noted there. The
 * device lock guards the fields of struct pds that change, except as noted there, and may be held
 * when a core's lock is taken, not vice versa; so may the lock of the order of groups, which is
 * taken after the device lock. At most one core's lock is held at a time. Owners are notified of
 * room with the core's lock held, so that they may only wake units.
 *
 * The source of compute of a core, struct pds_compute, belongs to the thread that steps it, without
 * a lock. It reads struct current, which is constant while a launch is begun.
 *
 * A claim and the registers of its task belong to the claimer until it is started, and to the
 * USC until it has ended: without a lock. The same is true of the fields of struct unit that
 * describe a group by its number: the thread that ends it reads them before it releases the claim,
 * after which the number may be that of another group.
 */
#ifndef PUMICE_GPU_PDS_STATE_H
#define PUMICE_GPU_PDS_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "code.h"
#include "dms.h"
#include "gfx.h"
#include "order.h"
#include "run.h"
#include "../vpm/vpm.h"

#define PDS_UNIFIED_ROW_BYTES (USC_ROW_WORDS * (u32)sizeof(u32))

#define PDS_POOL_HALVES 2u	/* of the pool of the VPM: of the PDM, of the RDM */

_Static_assert(PDS_MAX_USCS <= 64, "USCs that were tried are bits of a u64");

/* The PDS's state of one USC. */
struct unit {
	struct pds_unit accounts;
	/* Of accounts, read without the lock to compare USCs. */
	_Atomic u32 load;	/* waves */
	_Atomic u32 room;	/* entries that are free */
	u64 ready[PDS_DM_COUNT];	/* bit n: group n waits for slots and
					 * is of the data master */
	u64 started[PDS_DM_COUNT];	/* bit n: group n runs and is of the data master */
	u64 stopped;		/* bit n: group n runs, and its job was stopped */
	/* GPU clock when group n became ready or, if it is started, got slots. */
	u64 since[PUMICE_USC_TASKS];
	/* For the trace: reads of its texture unit when the trace began, and in the last event. */
	u64 tag_base[PDS_DM_COUNT], tag_last[PDS_DM_COUNT];
	trace_span span[PUMICE_USC_TASKS];	/* of each task of another data master */

	/*
	 * Tasks that the USC manages, by claim.entry[]: described to the USC when they get slots.
	 */
	struct usc_task task[PUMICE_USC_TASKS];

	/* Of a group, by its number: constant while it runs. */
	u16 code[PUMICE_USC_TASKS];	/* program of a work-group */
	u64 linear[PUMICE_USC_TASKS];	/* the work-group's number in its launch */
	u32 id[PUMICE_USC_TASKS][3];	/* its id, base included */
	u32 epoch[PUMICE_USC_TASKS];	/* see order.h */
	bool sequences[PUMICE_USC_TASKS];	/* it has no instances */
	const struct usc_gfx *gfx[PUMICE_USC_TASKS];	/* of a task of another data master */

	u8 apart[HOST_APART];	/* from the next USC's, which may be of another core */
};

#define PDS_BATCH	8u	/* small groups that claim room in one step */

/* The source of compute of a core. */
struct pds_compute {
	/* Groups that have room and are not started: the first ones are filled. */
	u32 claimed, filled;
	struct pds_place place[PDS_BATCH];
	unsigned int next;		/* next USC of the round robin, in the core */
	/* Of the group that is being filled. */
	u32 task;	/* number in the group */
	u32 pc;
	struct mmu_tlb tlb;
	/*
	 * Groups that it has started: added before the USC receives them. Others may read it. The
	 * CDM looks whether all have ended only when no source starts any; then their ends are
	 * complete, and nothing of them reaches its next job. USCs add to the ends as the last
	 * effect of an end but for a wake-up of the CDM; all in one order with these additions.
	 */
	_Atomic u64 started;
};

/* Counts of tasks that were left out: see direct.h. */
struct pds_direct_counts {
	_Atomic u64 tasks, waves, issued;
};

/* The PDS of one core. */
struct pds_core {
	/* Constant. */
	struct pds *pds;
	unsigned int number;
	unsigned int first, uscs;	/* its USCs, numbered over all cores */

	pthread_mutex_t lock;

	/* Registers. */
	bool out_of_order;
	struct pds_limits limits[PDS_DM_COUNT];	/* for each USC */

	/* Running state. */
	u8 next;			/* next USC of the round robin, for tasks */
	struct pds_compute compute;	/* not of the lock */
	struct dms dms;			/* its policy is a register */
	struct pds_need wanted[PDS_DM_COUNT][PDS_WAITERS];	/* of each waiter that waits */
	u64 wanted_since[PDS_DM_COUNT][PDS_WAITERS];	/* GPU clock, of the same */
	u64 outputs_since[PDS_WAITERS];	/* the same for each tile that waits: dms.outputs */
	u64 ended[PDS_DM_COUNT];	/* GPU clock when a group of each ended last */
	struct vpm vpm;			/* the outputs belong to the data masters */
	struct pds_store pool[PDS_POOL_HALVES];	/* its rows that are not in the ring: rows.c */
	u32 pooled[PDS_DM_COUNT];	/* rows of the pool that each has */
	u32 wanted_output_words;	/* of each tile that waits: dms.outputs */
	u32 output_bytes;		/* of pixel outputs of tiles */
	u32 tasks, held, waves;		/* see struct pds_load */
	u32 waiting;			/* tasks that wait for slots */
	u32 counted;			/* tasks, as pds.tasks has them */

	/* Performance counters. */
	u64 started;
	u64 waited[PDS_DM_COUNT];
	u64 occupancy;			/* tasks * ns up to time */
	u64 slot_waits;			/* tasks that waited for slots */
	u64 slot_wait_ns;		/* tasks that wait for slots * ns up to time */
	u64 time;			/* GPU clock, when tasks last started or ended */
	u64 output_waits;
	u64 output_occupancy;		/* output_bytes * ns up to output_time */
	u64 output_time;
	_Atomic u64 dma_bytes;
	struct pds_direct_counts direct;

	u8 apart[HOST_APART];		/* from the next core's */
};

/*
 * Where and when the PDS program of the last launch was fetched, in mode fast, as struct
 * usc_source; insns 0: no program. Until the counts change the same fetch has the same words.
 */
struct pds_source {
	u64 addr, gen, code;
	u32 ctx, insns;
	struct pds_program_limits limits;
};

/*
 * The launch being dispatched. Device lock, or the CDM's unit while it dropped that; once it is
 * begun, constant until its end.
 */
struct current {
	struct pds_source source;	/* of program */
	bool begun;	/* its programs are loaded */
	bool loading;	/* the PDS program is loaded, the USC program is not */
	struct usc_load *load;
	u16 code;
	struct usc_program *usc_program;	/* of code, whose line all ends of groups write */
	bool slow;	/* groups are filled in pieces */
	u32 batch;	/* groups that claim room in one step, at most */
	unsigned int cost;
	u64 before;	/* groups that were started before the launch */
	struct pds_launch launch;
	struct pds_need need;
	struct pds_program program;
	struct pds_local_ids local;
};

/* Receiver of task events. */
struct pds_task_owner {
	const struct pds_task_ops *ops;
	void *opaque;
};

struct pds {
	/* Constant while jobs run. */
	struct pds_config config;
	struct pds_capacity capacity;	/* of each USC */
	struct pds_task_owner owner[PDS_DM_COUNT];
	unsigned int cores;
	struct pds_core *core;		/* cores of them */
	struct unit *unit;		/* config.uscs of them; see struct pds_core */

	/* Registers; device lock. */
	struct pds_control control;

	/* Running state; device lock. */
	struct pds_code_table codes;	/* its own locking */
	struct current current;
	struct pds_order order;		/* of groups; its own locking */
	u64 sequences;			/* groups of the CDM without instances that were started,
					 * each by the only source that has groups */
	struct mmu_tlb tlb;		/* of the launch */

	/* Threads of all cores write these, and read fields of the launch for each group. */
	u8 apart_before[HOST_APART];

	/* Groups of the CDM over all cores; see pds_compute.started. */
	_Atomic u64 done;		/* have ended, of those with instances */
	_Atomic u64 sequenced;		/* the same, of those without */

	/* Over all cores. */
	_Atomic u32 tasks, peak_tasks;	/* see struct pds_load */
	_Atomic u32 output_bytes, peak_output_bytes;	/* the same */

	u8 apart_after[HOST_APART];
};

/* Return the number of a data master in the trace. */
static inline enum trace_master pds_trace_master(enum pds_dm dm)
{
	return trace_master_of((enum pumice_wave_master)dm);
}

/* Return the core of a USC. */
static inline unsigned int pds_core_of(const struct pds *pds, unsigned int usc)
{
	return usc / pds->config.uscs_per_core;
}

static inline struct pds_core *pds_lock_core(const struct pds *pds, unsigned int number)
{
	struct pds_core *core = &pds->core[number];

	pthread_mutex_lock(&core->lock);
	return core;
}

/* core.c: count the core's tasks in slots among those of all cores. */
void pds_core_count_tasks(struct pds_core *core);

/* Return the tasks in slots over all cores; the core's lock is held. */
static inline u32 pds_core_all_tasks(const struct pds_core *core)
{
	return atomic_load_explicit(&core->pds->tasks, memory_order_relaxed) + core->tasks -
	       core->counted;
}

/*
 * The tasks that started and ended during a hold of the lock are counted at its end, once: other
 * cores count theirs in the same host line. None ends in the hold that started it, so the maximum
 * is that of each hold's end.
 */
static inline void pds_unlock_core(struct pds_core *core)
{
	if (core->counted != core->tasks)
		pds_core_count_tasks(core);
	pthread_mutex_unlock(&core->lock);
}

/* Return a task of a group, which was claimed and is not in slots. */
static inline struct usc_task *pds_task_of(const struct pds *pds, const struct pds_place *place,
					   u32 task)
{
	struct unit *unit = &pds->unit[place->usc];

	return &unit->task[unit->accounts.claim[place->group].entry[task]];
}

/* Count bytes that a PDS program has read, for the core of a USC. No lock. */
static inline void pds_count_dma(const struct pds *pds, unsigned int usc, u64 bytes)
{
	atomic_fetch_add_explicit(&pds->core[pds_core_of(pds, usc)].dma_bytes, bytes,
				  memory_order_relaxed);
}

/* compute.c: return the number of groups of the CDM that were started since pds_reset(). */
u64 pds_started(const struct pds *pds);
void pds_compute_reset(struct pds_compute *compute);
/*
 * Start groups without instances that do not wait for others any longer. The order's lock is held
 * until they are started: pds_abort() removes each of them under this lock, or finds it on its core
 * later.
 */
void pds_start_resolved(struct pds *pds, u64 time);

/* core.c. Allocate the cores; false when out of memory. */
bool pds_cores_create(struct pds *pds);
void pds_cores_destroy(struct pds *pds);
/* Drop all groups of a core, and set its registers. Takes the lock. */
void pds_core_reset(struct pds_core *core, const struct pds_control *control);
/*
 * Find the USC with the fewest waves of count USCs from first, except those tried and those without
 * entries for a need; among equals the first from next. Returns false when there is none. Any lock
 * or none: a USC whose core is not locked may have other waves or entries now. If it has more
 * entries, its waiting data masters are notified after this.
 */
bool pds_lowest_load(const struct pds *pds, unsigned int first, unsigned int count,
		     const struct pds_need *need, unsigned int next, u64 tried, unsigned int *usc);

/* The following functions are called with the core's lock held. */

/*
 * Allocate the needs of a group on the USC of the core with the fewest waves that has room, or on
 * that of the need, if the DMS admits its data master, which then no longer waits. On a USC that
 * other data masters hold only if its own has groups on none that they do not hold.
 */
bool pds_core_claim_any(struct pds_core *core, const struct pds_need *need, unsigned int next,
			struct pds_place *place);
/* Release a claim whose group was not started. */
void pds_core_drop(struct pds_core *core, const struct pds_place *place);
/*
 * A group has ended: release its resources, in order if that is requested. pds_core_ended()
 * follows, once for several groups of a USC.
 */
void pds_core_end(struct pds_core *core, const struct pds_place *place, u64 now);
/*
 * Groups or tasks of a USC have ended: start those that wait for slots, and notify data masters
 * that wait on the core.
 */
void pds_core_ended(struct pds_core *core, unsigned int usc, u64 now);
/* One task of a group has ended, others run: release its resources, unless in order. */
void pds_core_end_task(struct pds_core *core, const struct pds_place *place, u32 task, u64 now);
/* Notify data masters that wait for room on the core. */
void pds_core_room(struct pds_core *core);
/* Enter the waiter of a need for which there is no room. False: it was entered before. */
bool pds_core_wait(struct pds_core *core, const struct pds_need *need);
/* task.c: the same, counted and traced. ctx: MMU context of the job */
void pds_core_start_waiting(struct pds_core *core, const struct pds_need *need, unsigned int ctx);
/* Record that a data master no longer waits: others may have room now. */
void pds_core_leave(struct pds_core *core, enum pds_dm dm);
/* Return whether a tile of the PDM may claim room for its outputs, if there is any. */
bool pds_core_admits_tile(struct pds_core *core);
/*
 * Data masters that wait and may claim room, as sets: for tasks, and the PDM for outputs of tiles.
 */
struct pds_admitted {
	u8 tasks, tiles;
};
struct pds_admitted pds_core_admitted(struct pds_core *core);
/* Record that a data master got the rows it waited for, before which these were admitted. */
void pds_core_end_wait(struct pds_core *core, enum pds_dm dm, const struct pds_admitted *before);
/* A tile has claimed room, before which these were admitted: others may have to wait no longer. */
void pds_core_tile_claimed(struct pds_core *core, unsigned int tile,
			   const struct pds_admitted *before);
/* Update the counters of time; call before tasks start or end. now: GPU clock, or an older time */
void pds_core_tick(struct pds_core *core, u64 now);

/* rows.c, with the core's lock held. */

/* Return whether the vertex pipe memory has as many rows as a need; as many free ones now. */
bool pds_rows_could_fit(const struct pds_core *core, const struct pds_need *need);
bool pds_rows_suffice(const struct pds_core *core, const struct pds_need *need);
/* Return whether a need is that of a large task that waits for rows of other data masters. */
bool pds_rows_are_of_others(const struct pds_core *core, const struct pds_need *need);
/* Allocate the rows of a need; false without a change if there are too few. */
bool pds_rows_claim(struct pds_core *core, const struct pds_need *need, struct pds_place *place);
/* Free the rows of a place, which must be the last claimed ones if they are of the VDM. */
void pds_rows_drop(struct pds_core *core, const struct pds_need *need,
		   const struct pds_place *place);
/* Free all rows and clear the counters. */
void pds_rows_reset(struct pds_core *core);

/* slots.c, with the core's lock held. */

/*
 * A filled group waits for slots: it gets them after a start or an end of another one, or is
 * stopped by pds_core_stop(). now: GPU clock
 */
void pds_core_ready(struct pds_core *core, const struct pds_place *place, enum pds_dm dm, u64 now);
/* Start a filled group on its USC when it gets slots: at once, or after others. now: GPU clock */
void pds_core_start(struct pds_core *core, const struct pds_place *place, enum pds_dm dm, u64 now);
/* Slots of a USC are free: start groups that wait for some. */
void pds_core_fill_slots(struct pds_core *core, unsigned int usc, u64 now);
/* Mark all groups of a data master that run or wait for slots as stopped, and abort them. */
void pds_core_stop(struct pds_core *core, enum pds_dm dm);
/* Return whether a group ends because its job was stopped. Called once, when it has ended. */
bool pds_was_stopped(struct unit *unit, unsigned int group);
/*
 * A group has ended: trace how much the texture unit of its USC has read for its data master, if
 * it has.
 */
void pds_trace_tag(struct pds *pds, const struct pds_place *place);

/*
 * outputs.c: units of the store of pixel outputs that remain for tasks, whatever tiles are in
 * flight, while one has this number of words.
 */
u32 pds_output_reserve(const struct pds *pds, u32 words);
/*
 * Return the resources of a USC that are sure to become free for
 * a task of such a tile; 0: of no tile.
 */
struct pds_capacity pds_capacity_for_tile(const struct pds *pds, u32 words);
/* Return whether no end of a task makes room for the tile that waits. Core's lock held. */
bool pds_outputs_excluded(const struct pds_core *core);
/* Update the occupancy counter. Core's lock held. */
void pds_outputs_tick(struct pds_core *core, u64 now);

/*
 * stage.c: execute a piece of the program that fills a task of vertices or rays, with run() for
 * each instruction. in: its argument; count: instances. Results as of pds_fill_vertices().
 */
struct pds_fill;
bool pds_fill_piece(struct pds *pds, const struct pds_place *place, const struct pds_stage *stage,
		    bool (*run)(struct pds_fill *fill, const void *in,
				const struct pumice_pds_insn *insn, struct gpu_fault *fault),
		    const void *in, u32 count, struct mmu_tlb *tlb, u32 *pc,
		    struct gpu_fault *fault);

/* task.c: trace that a task of another data master gets its slot. Core's lock held. */
void pds_task_trace_begin(struct pds *pds, const struct pds_place *place);
/* A task of another data master has ended, or faulted. No lock. */
void pds_task_ended(struct pds *pds, unsigned int usc, unsigned int group);
void pds_task_faulted(struct pds *pds, unsigned int group, const struct gpu_fault *fault);

#endif
