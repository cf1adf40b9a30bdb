/* SPDX-License-Identifier: MIT */
/*
 * The VDM's state, shared by its files: vdm.c (a job's beginning and end), walk.c (the
 * control stream), dispatch.c (of chunks to cores), core.c (steps of a core), front.c (assembly
 * and shading), back.c (binning) and entry.c (pieces in between). No other file includes this.
 *
 * Locking: the device lock guards all of struct vdm, and the fields of a core under "Device
 * lock"; the other fields of a core belong to the thread of its unit. The scene does not
 * change while a job runs.
 *
 * Order. Chunks are numbered as they are made and dispatched in that order, so dispatched
 * chunks are always the first ones of the scene. The ring keeps them from the lowest that is
 * not done: when memory runs out, cores are stalled in different chunks, and those after the
 * lowest one are left out of the partial render and dispatched again (hw/formats.xml,
 * scene.limit).
 *
 * A task without instances is a chunk, too: a core begins it when it is the lowest one, and so all
 * draws before it are done. Chunks after it are dispatched meanwhile; the walk waits at a draw that
 * depends on it. The lowest chunk depends on nothing, so it is always begun.
 *
 * A core has up to VDM_PIECES pieces of draws in flight, of one chunk or of consecutive ones: while
 * the TA bins the vertices of one, tasks shade those of the next. They are the IDX FIFO between VDM
 * and MTE (idx, counted in primitives); their outputs are in the VPM. Numbers of pieces increase:
 *
 *	first <= back <= front <= queued <= front + 1 <= first + VDM_PIECES
 *
 *	first	the oldest piece whose outputs are kept: for the TA, or for copies of the next piece
 *	back	the next to bin
 *	front	the one being shaded; all tasks of those before it are started
 *	queued	those before it are in the FIFO
 */
#ifndef PUMICE_GPU_VDM_STATE_H
#define PUMICE_GPU_VDM_STATE_H

#include "../fifo/fifo.h"
#include "assemble.h"
#include "reuse.h"
#include "vdm.h"

#define VDM_RING	(4u * PUMICE_MAX_CORES)	/* chunks that may be dispatched and not retired */
#define VDM_MIN_BATCH	16u
#define VDM_TASKS	(VDM_PIECE_VERTICES / VDM_MIN_BATCH)	/* most tasks of a piece */
#define VDM_MAX_FIFO	4u	/* most chunks in the FIFO of a core */
#define VDM_PIECES	4u	/* of a core, in flight */
/* Most waves of outputs of a piece; copies begin one more. */
#define VDM_PIECE_WAVES	(VDM_PIECE_VERTICES / PUMICE_LANES + 1)

/* Draw state with its programs; reference counted. */
struct vdm_shared {
	u32 refs;
	struct vdm_record record;
	u32 vo_words;		/* of the vertex program */
	u64 addr;		/* of the record */
	struct pds_stage vertex, coordinate;	/* pds_stage_clear() */
};

/* Return the program whose outputs are binned: with deferred vertices the coordinate program. */
static inline const struct pds_stage *vdm_binned_stage(const struct vdm_shared *shared)
{
	return shared->record.state.deferred ? &shared->coordinate : &shared->vertex;
}

/* Some primitives of a draw, or a task without instances. */
struct vdm_chunk {
	u32 sequence;
	struct vdm_draw draw;
	struct vdm_shared *shared;	/* the ring's reference */
	u32 instance;			/* base_instance included */
	u64 part;			/* number of its draw and instance */
	struct vdm_place from;
	u64 end;			/* position after the last */
	/* Completion. */
	bool done;
	u64 prims;			/* valid if done */
	bool task;			/* a task without instances: it has no primitives */
};

enum vdm_phase {
	VDM_IDLE,
	VDM_BEGIN,	/* the scene is not read yet */
	VDM_RUN,
	VDM_MEMORY,	/* all cores are stalled until RESUME, FLUSH or ABORT */
	VDM_FLUSH,	/* cores write region headers, then MEMORY again */
	VDM_FINISH,	/* cores write region headers, then the job is done */
	VDM_DRAIN,	/* wait until no core has work of the job, then it ends */
	VDM_FREE,	/* a stopped job's pages are freed, then it ends */
};

/* Next step of a core's front. */
enum vdm_core_phase {
	VDM_CORE_IDLE,		/* has no chunk to assemble */
	VDM_CORE_ASSEMBLE,	/* assemble the next piece of its chunk */
	VDM_CORE_TASK,		/* run the task without instances */
	VDM_CORE_QUEUE,		/* enter the piece into the IDX FIFO */
	VDM_CORE_COPY_POSITIONS,	/* copy positions of the piece before */
	VDM_CORE_COPY,		/* allocate rows for copies of outputs of the piece before */
	VDM_CORE_COORDINATE,	/* start tasks of the coordinate program; cull and copy as below */
	VDM_CORE_VERTEX,	/* run the vertex program; cull primitives that have positions, copy
				 * when the piece before is shaded */
};

/* A piece in flight. */
struct vdm_entry {
	struct vdm_chunk chunk;
	bool last;		/* no piece of the chunk follows */
	u32 assembled;		/* primitives so far, including culled ones */
	u32 binned;		/* primitives that the TA has processed */
	struct vdm_piece piece;
	bool final;		/* all primitives that are not culled are in the piece */
	u32 most;		/* vertices, at most */
	bool open;		/* the TA waits for more primitives */

	/* Tasks of the current program. */
	u32 next;		/* first vertex to shade without a started task */
	u32 tasks;		/* started */
	u32 ended;		/* of these, those below this number have ended */
	u32 task_vertices;	/* of a full task */
	u32 ready;		/* vertices below this number have outputs */
	struct usc_gfx gfx[VDM_TASKS];
	_Atomic bool done[VDM_TASKS];	/* set by the threads of USCs */
	u32 *vo[VDM_PIECE_WAVES];	/* outputs of waves */
	u32 copy_waves;		/* waves of copies that have rows */
	bool copied;		/* all copies are made */
	u64 vpm;		/* position after its last rows in the VPM */
};

struct vdm_core {
	struct vdm *vdm;
	unsigned int number;

	/* Device lock. */
	bool busy;		/* has begun a chunk */
	struct fifo fifo;	/* chunks from the master VDM that it has not begun: */
	u32 fifo_first;		/* the first one is number fifo_chunk[fifo_first] */
	u32 fifo_chunk[VDM_MAX_FIFO];
	u32 chunks;		/* begun and in the FIFO */
	bool writing;		/* writes region headers */
	bool begun;		/* its TA has begun; written by its own thread while busy */
	_Atomic bool stalled;	/* on memory; its own thread reads it without the lock */
	bool progressed;	/* has binned since the last report */

	/* Its own thread; also under the device lock while it is stalled. */
	enum vdm_core_phase phase;
	struct vdm_chunk chunk;	/* that the front assembles */
	struct vdm_place place;	/* after the piece */
	u32 skipped;		/* primitives of culled pieces of the chunk before this piece */
	bool filling;		/* the next task has room and runs its PDS program */
	struct pds_place room;	/* of that task */
	u32 fill_pc;		/* its next instruction */
	u32 first, back, front, queued;	/* numbers of pieces: see above */
	bool keep;		/* the front's piece may copy outputs of the one before */
	bool quiet;		/* no page: stall when no task runs */
	bool no_chunk;		/* there was no further chunk in this call */
	bool binning;		/* the back's turn */
	u64 vpm;		/* position after the last rows in the VPM */
	u64 prims;		/* binned, of the oldest chunk, without
				 * those of its current piece */
	trace_span traced;	/* the oldest chunk; also under the device lock */
	u32 traced_chunk;	/* its number */
	struct fifo idx;

	struct ta *ta;
	struct mmu_tlb tlb;
	struct vdm_cache cache;
	struct vdm_reuse reuse;
	struct vdm_entry entry[VDM_PIECES];	/* piece n is entry[n % VDM_PIECES] */

	/* The front's piece before culling, and the tasks of the coordinate program. */
	struct vdm_entry positions;
	struct vdm_reuse position_reuse;	/* of positions; valid if reuse is */
	u32 *position_vo[VDM_PIECE_WAVES];	/* positions of the piece before */
	bool kept[VDM_PIECE_PRIMS];	/* its primitives */
	u32 culled, passed;	/* those below this number are culled or kept, and passed on */

	_Atomic u32 outstanding;	/* tasks that have not ended */
	_Atomic bool watching;		/* waits for any task to end */
	_Atomic u64 indices, vertices;	/* counters; written by its thread */
};

static inline struct vdm_entry *vdm_entry(struct vdm_core *core, u32 number)
{
	return &core->entry[number % VDM_PIECES];
}

/* Return the binned primitives of a stalled core's oldest chunk; culled ones are binned. */
static inline u64 vdm_core_binned(struct vdm_core *core)
{
	const struct vdm_entry *entry = vdm_entry(core, core->back);

	return core->prims + entry->assembled - entry->piece.prims + entry->binned;
}

/* Result of a step. ON: another one can follow at once. */
enum vdm_step { VDM_STEP_ON, VDM_STEP_WAIT };

/* The walk through the control stream. */
struct vdm_walk {
	u64 pc;
	u32 depth;
	u64 return_pc[PUMICE_VDM_MAX_DEPTH];
	bool halted;
	u32 after;		/* number of the chunk after the last task without instances; 0:
				 * there was none */
	struct vdm_shared *shared;	/* of the last STATE, or NULL */
	struct vdm_shared *loading;	/* of a STATE whose programs are not loaded yet, or NULL */
	bool drawing;
	struct vdm_draw draw;
	u64 draw_pc;			/* address of its command */
	u32 instance;			/* of the draw, from 0 */
	u64 count;			/* positions that complete primitives */
	struct vdm_place place;		/* of the next chunk */
	struct mmu_tlb tlb;
};

struct vdm {
	struct dm_config config;
	struct vdm_core *core;		/* config.cores of them */

	/* Running job. */
	struct dm_run run;
	enum vdm_phase phase;
	_Atomic bool stopping;		/* the job drains; read without the lock */
	struct dm_job job;
	struct pm_scene scene;
	bool scene_open;		/* its record is read and its chains are begun */
	u8 begun;			/* finished parts of the beginning; core 0 */
	unsigned int freeing_core;	/* the core that frees the pages */
	unsigned int cores;		/* used by the job: those the scene has room for */
	struct vdm_walk walk;
	bool walking;			/* a core loads programs without the lock */
	bool walk_wanted;		/* other cores wait for that */

	/* Chunks: number n, from lowest, is ring[n % VDM_RING]. */
	struct vdm_chunk ring[VDM_RING];
	u32 lowest;		/* first one that is not done */
	u32 next_dispatch;	/* next one to dispatch */
	u32 made;		/* next one to make */
	bool held;		/* a core, or the walk, waits for the lowest one to be done */
	u64 parts;		/* draws and instances so far, over all jobs */
	u64 before;		/* primitives of chunks below the lowest */

	/* Shortage of memory. */
	bool short_of_pages;	/* no chunk is dispatched */
	bool exclusive;		/* no chunk is dispatched until exclusive_at is done */
	u32 exclusive_at;
	bool flushed, progress;	/* since the last flush */
	u32 pending;		/* cores that have not written their headers */
	u32 used;		/* cores that have */

	/* Performance counters. */
	u64 primitives;
};

/* Return an event of a core: of its chunk, or its TA with arg0 of enum pumice_trace_ta. */
static inline struct trace_item vdm_event(const struct vdm_core *core, enum pumice_trace_kind kind,
					  enum pumice_trace_phase phase, u64 arg0, u64 arg1)
{
	return (struct trace_item){
		.kind = (u8)kind, .phase = (u8)phase, .dm = TRACE_VDM, .usc = (u8)core->number,
		.ctx = core->vdm->job.ctx, .arg0 = arg0, .arg1 = arg1,
	};
}

static inline struct trace_item vdm_chunk_event(const struct vdm_core *core,
						enum pumice_trace_phase phase)
{
	return vdm_event(core, PUMICE_TRACE_KIND_CHUNK, phase, core->traced_chunk, core->prims);
}

/* Trace that a core begins its oldest chunk, and that it ends it. */
static inline void vdm_trace_chunk(struct vdm_core *core, u32 sequence)
{
	core->traced_chunk = sequence;
	core->traced = trace_span_begin(core->vdm->config.trace,
					vdm_chunk_event(core, PUMICE_TRACE_PHASE_BEGIN));
}

static inline void vdm_trace_chunk_end(struct vdm_core *core, enum pumice_trace_phase phase)
{
	trace_span_end(core->vdm->config.trace, &core->traced, vdm_chunk_event(core, phase));
}

/* entry.c: drop all pieces of a core; no task runs. */
void vdm_entries_drop(struct vdm_core *core);
/*
 * Drop the pieces of all chunks but one, which is the oldest of the core, and the chunk that the
 * front assembles if it is another one; no task runs.
 */
void vdm_entries_drop_after(struct vdm_core *core, u32 sequence);
/* Free the rows of pieces in the VPM that neither the TA nor the next piece reads. */
void vdm_entries_release(struct vdm_core *core);
/* Update which tasks have ended, and so which vertices are ready. */
void vdm_entry_update(struct vdm_entry *entry);
/* Return whether all outputs of a piece's own tasks are complete; it has started all. */
static inline bool vdm_entry_shaded(const struct vdm_entry *entry)
{
	return entry->ended == entry->tasks;
}
static inline struct ta_draw vdm_ta_draw(const struct vdm_chunk *chunk)
{
	return (struct ta_draw){
		.state = chunk->shared->record.state,
		.kind = (u8)vdm_topology_kind(chunk->draw.topology),
		.sequence = chunk->sequence,
		.vertex_state = chunk->shared->addr,
		.draw = {
			.instance = chunk->instance,
			.base_instance = chunk->draw.base_instance,
		},
	};
}

/* cull.c: begin to cull the piece in core->positions; the front's piece has no primitives yet. */
void vdm_cull_begin(struct vdm_core *core, struct vdm_entry *entry);
/* Cull primitives that have positions, and pass others on to the front's piece; no lock held. */
enum vdm_step vdm_cull(struct vdm_core *core, struct vdm_entry *entry);

/* front.c, back.c: do a step with the core's pieces. No lock held. */
enum vdm_step vdm_front(struct vdm_core *core);
enum vdm_step vdm_back(struct vdm_core *core);

/* core.c: stop the job with a fault. No lock held. */
enum vdm_step vdm_core_fault(struct vdm *vdm, const struct gpu_fault *fault);
/* The core's TA begins with the first primitives. False: the job was stopped. */
bool vdm_core_begin_ta(struct vdm_core *core);
/* Trace that the TA begins work, and that it ends. */
trace_span vdm_trace_ta(const struct vdm_core *core, enum pumice_trace_ta work, u64 prims);
void vdm_trace_ta_end(const struct vdm_core *core, trace_span span, enum pumice_trace_ta work,
		      bool ok, u64 prims);

/*
 * Do the first steps of a job, on core 0: read the scene and empty its chains, a piece per
 * call. No lock held. After PM_OK call vdm_run() with the device lock held.
 */
enum pm_result vdm_begin_piece(struct vdm *vdm, struct gpu_fault *fault);
void vdm_run(struct vdm *vdm);
/*
 * In DRAIN: end the job if no core is busy, or enter FREE on this core. Device lock held. In
 * FREE: free a piece of the pages, no lock held; then vdm_freed() ends the job, with the
 * device lock held.
 */
void vdm_try_end(struct vdm *vdm, unsigned int core);
enum pm_result vdm_free_piece(struct vdm *vdm);
void vdm_freed(struct vdm *vdm);
/* Continue after a core, or all of them, has written its headers. Device lock held. */
void vdm_headers_done(struct vdm *vdm);
void vdm_wake_all(const struct vdm *vdm);

/* walk.c: execute one command, or make a chunk of the current draw. Device lock held. */
enum vdm_walk_result {
	VDM_WALK_CHUNK, VDM_WALK_ON, VDM_WALK_END, VDM_WALK_STOPPED,
	VDM_WALK_LOAD,	/* continue after vdm_walk_loaded() */
	VDM_WALK_SWEPT,	/* a flush has operated on caches: end the step */
	VDM_WALK_HELD,	/* the draw waits for a task without instances, or a flush for draws */
};
enum vdm_walk_result vdm_walk(struct vdm *vdm, struct vdm_chunk *chunk, u32 *cost);
void vdm_walk_begin(struct vdm *vdm);
/*
 * Load a piece of the programs of a STATE; no lock held. vdm_walk_loaded() makes it the draw
 * state.
 */
enum pds_load_result vdm_walk_load(struct vdm *vdm, struct gpu_fault *fault);
void vdm_walk_loaded(struct vdm *vdm);
void vdm_shared_put(struct vdm *vdm, struct vdm_shared *shared);

/* Dispatch of chunks: device lock held. */
enum vdm_dispatch_result { VDM_DISPATCH_CHUNK, VDM_DISPATCH_AGAIN, VDM_DISPATCH_WAIT };
/*
 * Begin the next chunk in the FIFO of a core. As the master VDM, enter further chunks into the
 * FIFOs of cores; the lock is dropped while programs are loaded.
 */
enum vdm_dispatch_result vdm_dispatch(struct vdm *vdm, struct vdm_core *core);
/* Complete a core's oldest chunk. */
void vdm_dispatch_done(struct vdm *vdm, struct vdm_core *core, u32 sequence);
/* After pages ran out: if every core is stalled or idle, the job reports it. */
void vdm_dispatch_memory(struct vdm *vdm);
/* Withdraw the chunks after the lowest one; they are dispatched again. */
void vdm_dispatch_rewind(struct vdm *vdm);
/* Drop all chunks and pieces of a core; no task of it runs. */
void vdm_dispatch_drop(struct vdm_core *core);
/* Drop all chunks. */
void vdm_dispatch_clear(struct vdm *vdm);

#endif
