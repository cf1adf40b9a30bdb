/* SPDX-License-Identifier: MIT */
/*
 * The VDM's state, shared by its files: vdm.c (a job's beginning and end), walk.c
 * (the control stream), deal.c (chunks), core.c (work of a core). Nobody else includes this.
 *
 * Locking: the device lock guards all of struct vdm, and of a core what stands under
 * "device lock"; the rest of a core belongs to the thread of its unit. The scene
 * does not change while a job runs.
 *
 * Order. Chunks are numbered as they are made and given to cores in that order, so
 * those given out are always the first ones of the scene. The ring remembers them
 * from the lowest that is not done: when memory ends cores stand at different
 * chunks, and what lies behind the lowest one is left out of the partial render and
 * dealt once more (hw/formats.xml, scene.limit).
 */
#ifndef PUMICE_GPU_VDM_STATE_H
#define PUMICE_GPU_VDM_STATE_H

#include "assemble.h"
#include "vdm.h"

#define VDM_RING	(4u * PUMICE_MAX_CORES)	/* chunks that may be given out and remembered */
#define VDM_TASKS	(VDM_PIECE_VERTICES / PUMICE_TASK_INSTANCES)	/* of a piece */

/* State of draws with its programs; counted. */
struct vdm_shared {
	u32 refs;
	struct vdm_record record;
	struct pds_stage vertex, coordinate;
	u32 vo_words;		/* of the vertex program */
};

/* Some primitives of a draw. */
struct vdm_chunk {
	u32 sequence;
	struct vdm_draw draw;
	struct vdm_shared *shared;	/* the ring's reference */
	u32 instance;			/* base_instance included */
	struct vdm_place from;
	u64 end;			/* place behind the last */
	/* How it is. */
	bool done;
	u64 prims;			/* of a done one */
};

enum vdm_phase {
	VDM_IDLE,
	VDM_BEGIN,	/* the scene is not read yet */
	VDM_RUN,
	VDM_MEMORY,	/* all cores stand still: RESUME, FLUSH or ABORT is to come */
	VDM_FLUSH,	/* cores write region headers, then MEMORY again */
	VDM_FINISH,	/* cores write region headers, then the job is done */
	VDM_DRAIN,	/* until no core has anything of the job: then it ends */
	VDM_FREE,	/* a stopped job's pages are given back, then it ends */
};

/* What a core is about. */
enum vdm_core_phase {
	VDM_CORE_IDLE,		/* has no chunk */
	VDM_CORE_ASSEMBLE,	/* the next piece of its chunk */
	VDM_CORE_COORDINATE,	/* coordinate program of the piece's vertices */
	VDM_CORE_VERTEX,	/* vertex program */
	VDM_CORE_BIN,		/* primitives to the TA */
};

struct vdm_core {
	struct vdm *vdm;
	unsigned int number;

	/* Device lock. */
	bool busy;		/* has a chunk */
	bool writing;		/* writes region headers */
	bool begun;		/* its TA has begun; written by its own thread while busy */
	_Atomic bool stands;	/* has no memory; read without the lock by its own thread */
	bool moved;		/* has binned something since it last told */

	/* Its own thread; device lock too while it stands. */
	enum vdm_core_phase phase;
	struct vdm_chunk chunk;
	struct vdm_place place;	/* behind the piece */
	u32 next;		/* first vertex of the piece without a task that was started */
	u32 tasks;		/* of the piece, so far */
	bool filling;		/* the next one has room, and runs its PDS program */
	struct pds_place room;	/* of that */
	u32 fill_pc;		/* its next instruction */
	u32 binned;		/* primitives of the piece */
	u64 prims;		/* of the chunk, so far */

	struct ta *ta;
	struct mmu_tlb tlb;
	struct vdm_cache cache;
	struct vdm_piece piece;
	struct usc_gfx gfx[VDM_TASKS];
	u32 *vo;		/* of the piece's vertices: rows of waves */

	_Atomic u32 outstanding;	/* tasks that have not left */
	_Atomic u64 indices, vertices;	/* counters; written by its thread */
};

/* The walk through the control stream. */
struct vdm_walk {
	u64 pc;
	u32 depth;
	u64 return_pc[PUMICE_VDM_MAX_DEPTH];
	bool halted;
	struct vdm_shared *shared;	/* of the last STATE, or NULL */
	struct vdm_shared *loading;	/* of a STATE whose programs are not loaded yet, or NULL */
	bool drawing;
	struct vdm_draw draw;
	u64 draw_pc;			/* of its command */
	u32 instance;			/* of the draw, from 0 */
	u64 count;			/* places of it that matter */
	struct vdm_place place;		/* of the next chunk */
	struct mmu_tlb tlb;
};

struct vdm {
	struct dm_config config;
	struct vdm_core *core;		/* config.cores of them */
	struct dm_status status;

	/* The running job. */
	enum vdm_phase phase;
	_Atomic bool stopping;		/* it drains; read without the lock */
	enum dm_end end;
	struct dm_job job;
	struct pm_scene scene;
	bool scene_open;		/* read, and its chains are begun */
	u8 begun;			/* parts of the beginning that are done; core 0 */
	unsigned int freer;		/* the core that gives the pages back */
	unsigned int cores;		/* that work for it: the scene has room for */
	struct vdm_walk walk;
	bool walking;			/* a core loads programs without the lock */
	bool walk_wanted;		/* others wait for that */

	/* Chunks: number n is ring[n % VDM_RING], from lowest on. */
	struct vdm_chunk ring[VDM_RING];
	u32 lowest;	/* first that is not done */
	u32 deal;	/* next to be given to a core */
	u32 made;	/* next to be made */
	u64 before;	/* primitives of chunks below the lowest */

	/* Running out of memory. */
	bool short_of_pages;	/* no more chunks are given out */
	bool alone;		/* no chunk is given out until alone_at is done */
	u32 alone_at;
	bool flushed, progress;	/* since the last flush */
	u32 pending;		/* cores that have not written their headers */
	u32 used;		/* cores that have */

	/* Performance counters. */
	u64 busy_ns;		/* of jobs that have ended */
	u64 primitives;
};

/* vdm.c, device lock held: the job ends by this fault, unless something stopped it before. */
void vdm_stop_fault(struct vdm *vdm, const struct gpu_fault *fault);
void vdm_stop_at(struct vdm *vdm, enum pumice_fault reason, unsigned int ctx, u64 addr);
/*
 * The first steps of a job, of core 0: read the scene and empty its chains, a piece at a
 * time. No lock held. PM_OK: vdm_run() follows, with the device lock held.
 */
enum pm_result vdm_begin_piece(struct vdm *vdm, struct gpu_fault *fault);
void vdm_run(struct vdm *vdm);
/*
 * In DRAIN: end the job if no core is busy, or go to FREE with this core. Device lock
 * held. In FREE: give a piece of the pages back, no lock held; then vdm_freed() ends the
 * job, with the device lock held.
 */
void vdm_try_end(struct vdm *vdm, unsigned int core);
enum pm_result vdm_free_piece(struct vdm *vdm);
void vdm_freed(struct vdm *vdm);
/* A core has written its headers, or all have: go on. Device lock held. */
void vdm_headers_done(struct vdm *vdm);
void vdm_wake_all(const struct vdm *vdm);

/* walk.c: do one command, or make a chunk of the current draw. Device lock held. */
enum vdm_walk_result {
	VDM_WALK_CHUNK, VDM_WALK_ON, VDM_WALK_END, VDM_WALK_STOPPED,
	VDM_WALK_LOAD,	/* not before vdm_walk_loaded() */
};
enum vdm_walk_result vdm_walk(struct vdm *vdm, struct vdm_chunk *chunk, u32 *cost);
void vdm_walk_begin(struct vdm *vdm);
/* A piece of loading the programs of a STATE; no lock held. Then it becomes the state of draws. */
enum pds_load_result vdm_walk_load(struct vdm *vdm, struct gpu_fault *fault);
void vdm_walk_loaded(struct vdm *vdm);
void vdm_shared_put(struct vdm *vdm, struct vdm_shared *shared);

/* deal.c: device lock held. */
enum vdm_deal_result { VDM_DEAL_CHUNK, VDM_DEAL_AGAIN, VDM_DEAL_WAIT };
/* The next chunk for a core. The lock is dropped while programs are loaded. */
enum vdm_deal_result vdm_deal(struct vdm *vdm, struct vdm_core *core);
/* A core's chunk is done. */
void vdm_deal_done(struct vdm *vdm, struct vdm_core *core);
/* Whether all cores stand still or are idle, after the pages ran out: the job reports it. */
void vdm_deal_memory(struct vdm *vdm);
/* Leave out what lies behind the lowest chunk; it becomes dealt again. */
void vdm_deal_rewind(struct vdm *vdm);
/* Forget all chunks. */
void vdm_deal_forget(struct vdm *vdm);

#endif
