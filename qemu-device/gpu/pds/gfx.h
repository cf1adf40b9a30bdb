/* SPDX-License-Identifier: MIT */
/*
 * PDS, for the vertex, the pixel and the ray-tracing data master: tasks of a core's USCs.
 *
 * Source: document 004, "PDS" and "DMS". A data master loads a stage once, and then for each
 * task: claims room on a USC of its core, lets the PDS program fill the registers, and starts
 * it. Claim, start and end take the lock of the core's PDS for a moment; the filling takes no
 * lock. So cores work in parallel.
 *
 * DMS: a data master that waits for room on a core can make others wait there: see dms.h.
 */
#ifndef PUMICE_GPU_PDS_GFX_H
#define PUMICE_GPU_PDS_GFX_H

#include <stddef.h>
#include <string.h>

#include "../half/half.h"
#include "../usc/gfx.h"
#include "pds.h"
#include "program.h"
#include "resource.h"

/* A fetched and checked stage: valid for any number of tasks of one job. */
struct pds_stage {
	struct pumice_stage state;
	u8 stage;			/* enum usc_stage */
	u8 direct;			/* enum usc_direct: pds_stage_find_direct() */
	unsigned int ctx;
	u64 code_addr;			/* of the USC program */
	struct usc_program *code;	/* with a reference */
	struct usc_load *load;		/* state of loading it */
	u32 vo_words;			/* VERTEX, RAYS: output registers in the VPM */
	u32 tile_words;			/* of the limits */
	struct pds_program program;	/* the last member */
};

/*
 * Clear a stage, for each draw and object: not the room for instructions, which are valid up to
 * program.insns.
 */
static inline void pds_stage_clear(struct pds_stage *stage)
{
	memset(stage, 0, offsetof(struct pds_stage, program.insn));
}

static inline enum pds_load_result pds_load_result_of(enum usc_load_result result)
{
	switch (result) {
	case USC_LOAD_DONE:
		return PDS_LOADED;
	case USC_LOAD_MORE:
		return PDS_LOAD_MORE;
	case USC_LOAD_WAIT:
		return PDS_LOAD_WAIT;
	default:
		return PDS_LOAD_FAULT;
	}
}

/* Limits that a stage's programs are checked against. */
struct pds_stage_limits {
	u8 stage;		/* enum usc_stage */
	u32 vo;			/* VERTEX, RAYS: vertex output registers */
	u32 positions;		/* VERTEX: words of a vertex in the VPM next to these, of the
				 * coordinate program */
	bool deferred;		/* VERTEX: they are in the pool of the VPM */
	u32 outputs;		/* FRAGMENT, TILE: pixel output registers */
	u32 tile_words;		/* of the PDM: pixel outputs of the tile that its tasks belong to */
	u32 varyings;		/* FRAGMENT */
	const struct pumice_vdm_attribute *attribute;	/* VERTEX: the table, while it is loaded */
	u32 attributes;
};

/*
 * Fetch and check the PDS and USC program, a piece in each call; *out is zero before the
 * first one, which checks the state and copies it for the others. Any thread, with the caller's
 * TLB, no lock held. Released by pds_stage_drop().
 */
enum pds_load_result pds_stage_load(struct pds *pds, struct mmu_tlb *tlb, unsigned int ctx,
		    const struct pumice_stage *state, const struct pds_stage_limits *limits,
		    struct pds_stage *out, struct gpu_fault *fault);
/*
 * Release a stage when its last task is done. A zeroed stage that was never loaded may be
 * released, too.
 */
void pds_stage_drop(struct pds *pds, struct pds_stage *stage);
/*
 * Maximum number of primitives that one task of a loaded fragment stage has room for; at
 * least 1.
 */
u32 pds_stage_max_prims(const struct pds *pds, const struct pds_stage *stage);

/* Room for one task. */
struct pds_place {
	unsigned int usc;	/* over all cores */
	unsigned int group;
	u64 vpm;		/* of its outputs: position in the ring of the core's VPM, for the
				 * VDM; else row in the pool */
	u32 vpm_rows;		/* of these */
};

/*
 * Claim room for a task of this number of instances (1 to 128) and, for a fragment task, of
 * primitives (1 to pds_stage_max_prims()). PDS_STARTED: claimed. PDS_WAIT: no room; ops->room
 * is called when there may be some, and until a claim succeeds others may have to wait on the
 * core: see dms.h. PDS_FAULT: it can never fit.
 *
 * A task with outputs gets vo_words rows of the VPM for each of its waves. They are not released
 * when it ends, but by pds_vpm_free(), or for other data masters than the VDM by pds_pool_free().
 */
enum pds_result pds_task_claim(struct pds *pds, enum pds_dm dm, unsigned int core,
			       const struct pds_stage *stage, u32 instances, u32 prims,
			       struct pds_place *place, struct gpu_fault *fault);

/*
 * Vertices whose outputs one piece of a draw may have in the VPM, and those of one of its tasks:
 * chosen such that two pieces always fit. So a piece waits at most for those before the last one.
 * 0: the VPM is too small for this number of output registers.
 */
struct pds_piece_limits {
	u32 vertices, task;
};
struct pds_piece_limits pds_piece_limits(const struct pds *pds, u32 vo_words);
/*
 * Claim rows of a core's VPM for one more wave of outputs, which no task writes. Results as those
 * of pds_task_claim().
 */
enum pds_result pds_vpm_claim(struct pds *pds, unsigned int core, u32 rows, unsigned int ctx,
			      u64 *at);
/* Free the rows that were claimed last, from a position on. */
void pds_vpm_undo(struct pds *pds, unsigned int core, u64 at);
/* Free all rows of a core's VPM before a position, in which no running task writes. */
void pds_vpm_free(struct pds *pds, unsigned int core, u64 end);
/* Return the row at a position. */
u32 *pds_vpm_row(const struct pds *pds, unsigned int core, u64 at);

/*
 * Most instances of a task with outputs of another data master than the VDM: as many as the half of
 * the pool that its data master has is enough for, but at least a wave. 0: the VPM is too small for
 * this number of output registers.
 */
u32 pds_pool_instances(const struct pds *pds, u32 vo_words);
/* Return the outputs of a claimed task of theirs; rows as in struct pds_rays. */
u32 *pds_pool_row(const struct pds *pds, const struct pds_place *place);
/* Free the outputs of a task that has ended, if it has any: place->vpm_rows becomes 0. */
void pds_pool_free(struct pds *pds, enum pds_dm dm, struct pds_place *place);

/* Inputs of a vertex task: vertex and instance number of each instance. */
struct pds_vertices {
	const u32 *vertex;
	u32 instance;		/* base_instance included */
	u32 base_instance;	/* divisors count from here */
	u32 count;
};
/*
 * Fill the registers of a vertex task. Memory may be slow and programs long, so the program
 * is run in pieces, starting at instruction *pc, which is 0 at first: call again until *pc is
 * stage->program.insns.
 */
bool pds_fill_vertices(struct pds *pds, const struct pds_place *place,
		       const struct pds_stage *stage, const struct pds_vertices *in,
		       struct mmu_tlb *tlb, u32 *pc, struct gpu_fault *fault);

/*
 * Inputs of a task of rays. Register n of wave w is the row at (w * registers + n) * PUMICE_LANES.
 */
struct pds_rays {
	const u32 *index;	/* numbers of the rays in their launch */
	u32 width;		/* rays of a row of the launch */
	u32 count;
	/* HIT. */
	const u32 *ray;		/* PUMICE_RT_RAY_REGS registers */
	const u32 *result;	/* PUMICE_RT_RESULT_REGS registers */
};
/* Fill the registers of a task of rays, as those of a vertex task are. */
bool pds_fill_rays(struct pds *pds, const struct pds_place *place, const struct pds_stage *stage,
		   const struct pds_rays *in, struct mmu_tlb *tlb, u32 *pc,
		   struct gpu_fault *fault);

/* Inputs of a fragment task: the spans of gfx, whose prim is an index of prims[]. */
struct pds_fragments {
	const struct usc_gfx *gfx;
	const struct itr_prim *prim;
	u32 prims;
	u32 varyings;
};
/*
 * Texture reads are slow, so the program is run in pieces, like that of vertices. No other
 * limit is needed: bursts of fragment tasks are read once per task.
 */
#define PDS_PIECE_TEXTURES 2u
bool pds_fill_fragments(struct pds *pds, const struct pds_place *place,
			const struct pds_stage *stage, const struct pds_fragments *in,
			struct half *half, struct mmu_tlb *tlb, u32 *pc, struct gpu_fault *fault);

/* Called by any thread. */
struct pds_task_ops {
	/* A task has ended; no lock held. */
	void (*task_done)(void *opaque, unsigned int core, const struct usc_gfx *gfx);
	/* A task faulted, task_done follows; no lock held. */
	void (*task_fault)(void *opaque, unsigned int core, const struct usc_gfx *gfx,
			   const struct gpu_fault *fault);
	/*
	 * The core, where a claim returned PDS_WAIT, may have room. The core's lock is held, and
	 * the device lock or not: this may only wake a unit.
	 */
	void (*room)(void *opaque, unsigned int core);
};
/* Call before the first task of the data master. */
void pds_set_task_ops(struct pds *pds, enum pds_dm dm, const struct pds_task_ops *ops,
		      void *opaque);

/* Start a filled task. */
void pds_task_start(struct pds *pds, enum pds_dm dm, const struct pds_place *place,
		    const struct usc_gfx *gfx);
/* Release a claimed task that was not started; of a core's vertex tasks, the last one claimed. */
void pds_task_drop(struct pds *pds, const struct pds_place *place);
/* Record that the data master no longer waits for room on a core. */
void pds_task_leave(struct pds *pds, enum pds_dm dm, unsigned int core);
/*
 * Stop the data master's running tasks; task_done is called for each. Its waiting claims are
 * cancelled. Device lock held.
 */
void pds_dm_abort(struct pds *pds, enum pds_dm dm);

/* Return how often a data master, or the CDM, began to wait for room, over all cores. */
u64 pds_waits(const struct pds *pds, enum pds_dm dm);

/*
 * Return the GPU clock since which a data master, or the CDM, has waited for room or slots while it
 * had no task in slots; 0 if it does not wait or has some.
 */
u64 pds_starved_since(const struct pds *pds, enum pds_dm dm);
/*
 * Return the GPU clock at which the oldest task of a data master got its slot, of those in slots of
 * the USCs for which another one, waiter, waits; 0 if there are none.
 */
u64 pds_oldest(const struct pds *pds, enum pds_dm waiter, enum pds_dm dm);

#endif
