/* SPDX-License-Identifier: MIT */
/*
 * The PDM's state, shared by its files: pdm.c (a job's beginning and end, dispatch of tiles
 * to cores), list.c (the render control list), tile.c (a tile from clear to store), walk.c
 * (primitives of a tile), shade.c (spans of visible pixels), task.c (tasks of spans), vertices.c
 * (deferred vertex shading), object.c (state of objects), spill.c (memory for partial renders),
 * scoreboard.c (order of the tasks of a pixel), counters.c (visibility, statistics), direct.c
 * (clear and store without tasks). No other file includes this.
 *
 * A core has PDM_TILES tiles in flight, so that it sets up one while the programs of another
 * run.
 */
#ifndef PUMICE_GPU_PDM_STATE_H
#define PUMICE_GPU_PDM_STATE_H

#include <stdatomic.h>

#include "../ipf/ipf.h"
#include "../isp/isp.h"
#include "../pds/outputs.h"
#include "../tag/tag.h"
#include "../tsp/cache.h"
#include "../tsp/tsp.h"
#include "../vdm/command.h"
#include "list.h"
#include "pdm.h"
#include "scoreboard.h"

#define PDM_TILES	2u	/* tiles of a core */
#define PDM_TASKS	64u	/* concurrent tasks of a tile */
#define PDM_TASK_SPANS	(PUMICE_TASK_INSTANCES / USC_SPAN_LANES)
#define PDM_MAX_PRIMS	4096u	/* primitives that tags of a tile can refer to */
#define PDM_MAX_OBJECTS	128u	/* pairs of ISP and TSP state that a tile caches */
#define PDM_MAX_SPANS	(PUMICE_TILE_PIXELS * PUMICE_MAX_SAMPLES)
#define PDM_VERTICES	256u	/* vertices that a tile has shaded and keeps */
#define PDM_BUCKETS	128u	/* of their numbers */
#define PDM_NEEDED	(3u * PDM_TASK_SPANS)	/* most vertices of a task's primitives */
#define PDM_PLANES	64u	/* primitives whose planes a tile caches */

/* Decoded state of an object, and counts of the current tile for it. */
struct pdm_object {
	u64 isp_addr, tsp_addr;
	bool used;		/* the ISP state was read: the entry is not free */
	struct isp_state isp;

	/* Valid while the program is loaded: stage.code. */
	struct tsp_state tsp;
	u32 max_prims;		/* of a task */
	u64 varyings;		/* bit n: the program reads varying n */
	bool reads_depth;	/* it reads the depth plane */
	u32 varying_count;	/* of these */

	/* Of the current tile. */
	u64 visible;		/* samples of this tile, for its visibility counter */
	u32 spans, first;	/* of the pass being shaded */

	struct pds_stage stage;	/* the last member: pds_stage_clear() */
};

/* A primitive that tags can refer to. */
struct pdm_prim {
	struct ipf_prim prim;
	struct pumice_prim_block header;
	u32 block;		/* pb_ref */
	u16 object;
	u8 half;		/* index of its triangle */
	bool back;
	u32 planes;		/* number of its planes: see shade.c */
};

/* Visible pixels of one primitive in a quad. */
struct pdm_span {
	u16 prim;
	u16 samples;
	u8 quad;
};

/* A vertex, and the outputs of the vertex program for it. */
struct pdm_vertex {
	u32 kept;	/* pdm_vertices.kept: it is valid */
	u32 needed;	/* pdm_vertices.gather: a primitive of the task has it */
	bool shaded;
	u16 link;	/* next one of its bucket, plus 1 */
	u64 state;	/* GPU virtual address of its vdm_state */
	struct pumice_prim_draw draw;
	u32 number;
	u32 position[4], varying[PUMICE_MAX_VARYINGS];
};

enum pdm_vertex_phase {
	PDM_VERTEX_IDLE,
	PDM_VERTEX_LOAD,	/* load the program */
	PDM_VERTEX_START,	/* claim room, fill and start a task */
	PDM_VERTEX_RUN,
};

/* Deferred vertex shading: see vertices.c. */
struct pdm_vertices {
	enum pdm_vertex_phase phase;

	/* The vertex program; until the tile needs no more vertices. */
	u64 state;			/* address of its record, or 0 */
	struct vdm_record record;
	struct pds_stage stage;
	bool loaded;

	/* The vertices of the built task's primitives, by index in vertex[]. */
	u32 kept, gather;
	u32 next;			/* vertex[] to replace */
	u16 bucket[PDM_BUCKETS];	/* first vertex by number, plus 1; 0: none */
	u16 of[PDM_TASK_SPANS][3];
	u16 missing[PDM_NEEDED];	/* not shaded yet */
	u32 missing_count;

	/* The vertex task. */
	u16 shading[PDM_NEEDED];
	u32 number[PDM_NEEDED];
	u32 count;
	struct pds_place room;		/* its outputs in the VPM; from its start until they are
					 * kept */
	struct usc_gfx gfx;
	_Atomic bool ended;
	u64 total;			/* vertices shaded for this tile */
	u32 cost;			/* of work that no step was charged for yet */

	struct pdm_vertex vertex[PDM_VERTICES];
};

enum pdm_task_state { PDM_TASK_FREE, PDM_TASK_BUILT, PDM_TASK_RUNS, PDM_TASK_DONE };

struct pdm_task {
	struct usc_gfx gfx;
	struct pdm_tile *tile;
	const struct pds_stage *stage;
	_Atomic u8 state;	/* enum pdm_task_state */
	u16 object;
	bool late;		/* its program decides on depth, stencil or mask */
	u32 spans, prims, fragments;
	u16 prim[PDM_TASK_SPANS];
	u64 visible;		/* samples that operation depth let pass */
	struct usc_span span[PDM_TASK_SPANS];
};

enum pdm_phase {
	PDM_TILE_NONE,		/* no tile */
	PDM_TILE_ROOM,		/* claim room for its outputs */
	PDM_TILE_BEGIN,		/* clear or load */
	PDM_TILE_WALK,		/* draw primitives */
	PDM_TILE_SHADE,		/* start tasks, drain, then continue with phase after */
	PDM_TILE_DRAIN,
	PDM_TILE_END,		/* spill, or run the end-of-tile program */
	PDM_TILE_STORE,		/* store depth, stencil, mask, counters */
	PDM_TILE_LEAVE,		/* last tile of its macro tile: free the pages */
};

/* State of shading. */
struct pdm_shade {
	const struct pds_stage *fixed;	/* background or end of tile: no object */
	u32 spans;
	u32 order[PDM_MAX_OBJECTS];	/* objects by first use */
	u32 objects;			/* entries of order */
	u32 at_object, at_span, at_sample;
	u8 place[PDM_MAX_PRIMS];	/* of each primitive in the last task that has it */
	struct pdm_span found[PDM_MAX_SPANS], sorted[PDM_MAX_SPANS];
};

struct pdm_tile {
	/* Constant. */
	struct pdm *pdm;
	struct pdm_core *core;
	u8 slot;			/* index of the tile in the core */

	/* Written by the thread of the core's unit. */
	enum pdm_phase phase, after;
	struct ipf_work entry;		/* from the master IPF, as its stream is: number slot */
	struct pds_stage own_store;	/* the last program of a STORE_PROGRAM, kept for the next */
	u32 own_words[4];		/* its stage */
	enum { PDM_STORE_NONE, PDM_STORE_LOADING, PDM_STORE_LOADED } own_state;
	u32 number_x, number_y, macro;
	struct ipf_prims prims;		/* the current entry of its stream */
	u32 mask;			/* primitives not drawn yet */
	u16 object;			/* their object */
	bool object_known;
	struct ipf_prim prim;		/* the current primitive */
	u32 prim_number;
	struct isp_triangle triangle[2];
	struct isp_setup setup;
	u32 triangles, at_triangle;	/* its triangles */
	bool finished;			/* no more primitives */
	bool drop_objects;		/* drop all objects when nothing is pending */
	bool memory_waits;		/* its last load waits for memory for programs */
	struct pumice_tile_stats stats;
	u32 tasks;			/* started */
	u64 issued;			/* bit n: task[n] was started and is not reaped */
	u32 waits, isp_waits;		/* for locked samples: of tasks, of primitives */
	struct pdm_scoreboard scoreboard;
	trace_span traced, traced_isp, traced_pass;	/* the tile, its ISP and its pass */
	struct pdm_shade shade;
	struct pdm_task *built;		/* task that waits for room, or is being filled */
	bool held;			/* it waits for locked samples */
	bool isp_held;			/* a primitive does */
	bool ready;			/* its vertices are shaded */
	bool filling;			/* it, or a vertex task for it, has room */
	struct pds_place place;		/* the room */
	u32 fill_pc;			/* next instruction of the PDS program */
	struct pdm_object *objects[PDM_MAX_OBJECTS];
	u32 object_count;		/* used entries */
	u32 programs;			/* those whose program is loaded */
	u32 prim_count;
	u32 planes;			/* sets of planes computed so far */
	u64 varying_planes;		/* planes of varyings computed for this tile */
	struct pds_outputs outputs;	/* its part of a store */
	/* All samples have these outputs, and the store does not: see direct.c. */
	bool is_constant;
	u32 constant[PUMICE_USC_MAX_OUTPUTS];

	/* Shared with the threads of USCs. */
	struct isp_tile isp;		/* by ops->depth, at pixels of that
					 * task only; mask: atomic */
	struct usc_tile usc;
	struct mmu_tlb pbe_tlb;		/* of ops->pbe: one task at a time */
	_Atomic u32 running;		/* tasks that have not ended */
	_Atomic bool starved;		/* waits for any task to end */

	/* Large arrays. */
	struct pdm_task task[PDM_TASKS];
	struct pdm_prim record[PDM_MAX_PRIMS];	/* tag n refers to n - 1 */
	struct tsp_plane plane[PDM_PLANES][TSP_MAX_PLANES];
	struct pdm_vertices vertices;
};

_Static_assert(PDM_TASKS == 64, "bits of pdm_tile.issued");
_Static_assert(PDM_TILES <= IPF_MASTER_STREAMS, "each tile receives a stream");
_Static_assert(PDM_TILES <= PDS_OUTPUT_PIECES && PDM_TILES <= PDS_WAITERS,
	       "tiles that may have outputs on one USC, and wait");

struct pdm_core {
	u32 number;
	struct mmu_tlb tlb;
	struct tsp_cache vertices;
	/* For the trace: reads of the TITRs when the trace began, and in the last event. */
	_Atomic u64 ahead_base, ahead_last;
	struct pdm_tile *tile[PDM_TILES];
};

enum pdm_job_phase { PDM_IDLE, PDM_LOAD, PDM_RUN, PDM_FINISH };

struct pdm_counts {
	u64 tiles, primitives, covered, shaded, passes, tasks, planes, vertices, waits, isp_waits;
};

struct pdm {
	/* Configuration. */
	struct dm_config config;

	/* State visible in registers; device lock. */
	struct dm_run run;

	/*
	 * The job. Written in phase LOAD by core 0, and in FINISH by the core that ends the
	 * job; constant in between, read by all cores.
	 */
	struct dm_job job;
	u64 number;			/* of the job since the PDM was created */
	struct pm_scene scene;
	struct pm_scene_state scene_state;
	u64 record;			/* GPU virtual address of render */
	struct pumice_pdm_render render;
	struct pds_stage background, end_of_tile;
	bool has_background, has_end_of_tile;
	bool scene_known;		/* so this job frees its pages */
	u8 loaded;			/* number of parts of the job read so far; core 0 */
	unsigned int finisher;		/* the core that ends the job */

	/* Progress; device lock. */
	_Atomic u8 phase;		/* enum pdm_job_phase; also read without the lock */
	_Atomic bool stopping;		/* fault or abort; also read without the lock */
	struct pdm_list list;		/* some fields belong to the core that walks it */
	u32 left[PM_MACRO_TILES];	/* tiles of each macro tile that are not done */
	u32 active;			/* tiles in flight, over all cores */
	_Atomic u32 memory_waits;	/* tiles whose last load waits for
					 * memory; without the lock */
	struct pdm_counts counts;

	struct mmu_tlb tlb;		/* of LOAD and FINISH */
	struct pdm_core core[PUMICE_MAX_CORES];
};

/* An event of a unit about a tile, which is its arg0. */
static inline struct trace_item pdm_event(const struct pdm_tile *tile, enum pumice_trace_kind kind,
					  enum pumice_trace_phase phase, u64 arg1)
{
	return (struct trace_item){
		.kind = (u8)kind, .phase = (u8)phase, .dm = TRACE_PDM,
		.usc = (u8)tile->core->number, .slot = tile->slot, .ctx = tile->pdm->job.ctx,
		.arg0 = tile->number_x | (u64)tile->number_y << 32, .arg1 = arg1,
	};
}

/* Trace that a unit begins to work on a tile; the result is for pdm_trace_end(). */
static inline trace_span pdm_trace_start(const struct pdm_tile *tile, enum pumice_trace_kind kind)
{
	return trace_span_begin(tile->pdm->config.trace,
				pdm_event(tile, kind, PUMICE_TRACE_PHASE_BEGIN, 0));
}

static inline void pdm_trace_end(const struct pdm_tile *tile, trace_span *span,
				 enum pumice_trace_kind kind, enum pumice_trace_phase phase,
				 u64 arg1)
{
	trace_span_end(tile->pdm->config.trace, span, pdm_event(tile, kind, phase, arg1));
}

/* The event of a pass, which has spans. */
static inline struct trace_item pdm_pass_event(const struct pdm_tile *tile,
					       enum pumice_trace_phase phase)
{
	const struct pds_stage *fixed = tile->shade.fixed;
	struct trace_item item = pdm_event(tile, PUMICE_TRACE_KIND_SPANS, phase,
					   tile->shade.spans);

	item.arg0 = PUMICE_TRACE_PASS_OBJECTS;
	if (fixed)
		item.arg0 = fixed->stage == USC_STAGE_TILE ? PUMICE_TRACE_PASS_END_OF_TILE :
							     PUMICE_TRACE_PASS_BACKGROUND;
	return item;
}

/* Trace that a pass begins, if it has spans, and that it ends. */
static inline void pdm_trace_pass(struct pdm_tile *tile)
{
	if (tile->shade.spans)
		tile->traced_pass = trace_span_begin(tile->pdm->config.trace,
			pdm_pass_event(tile, PUMICE_TRACE_PHASE_BEGIN));
}

static inline void pdm_trace_pass_end(struct pdm_tile *tile, enum pumice_trace_phase phase)
{
	trace_span_end(tile->pdm->config.trace, &tile->traced_pass, pdm_pass_event(tile, phase));
}

/* Result of a step of a tile. */
enum pdm_step { PDM_STEP_ON, PDM_STEP_WAIT, PDM_STEP_DONE };

#define PDM_COST_PIECE	1024u	/* of a piece of loading or filling, in units of about 50 ns */

/* pdm.c: stop the job with a fault; the first one is reported. No lock held. */
void pdm_fault(struct pdm *pdm, const struct gpu_fault *fault);
/* The same for a fault that the given unit detects. */
void pdm_fault_at(struct pdm *pdm, enum pumice_fault reason, enum pumice_unit unit, u64 addr);

/* Words of the outputs of a tile of the job. */
static inline u32 pdm_output_words(const struct pdm *pdm)
{
	return pdm->scene.tile_w * pdm->scene.tile_h * pdm->scene.samples * pdm->render.outputs;
}

/* list.c */
/*
 * Find the render record of the job: set *record, and the commands to execute from. Returns
 * false with all of *fault filled in. The scene is known.
 */
bool pdm_list_open(struct pdm *pdm, u64 *record, struct gpu_fault *fault);
/* Begin the walk. Device lock held. */
void pdm_list_begin(struct pdm *pdm);
/* Return whether the caller must walk the list now, by pdm_list_walk(). Device lock held. */
bool pdm_list_claim_walk(struct pdm *pdm);
/* Execute some commands. */
void pdm_list_walk(struct pdm *pdm);
/* Claim the next tile for one of a core. Returns false when there is none now. Device lock held. */
bool pdm_list_claim_tile(struct pdm_tile *tile);
/*
 * Return whether a core has claimed all of its tiles, of those before a flush if that waits; or
 * each core, of the list. Device lock held.
 */
bool pdm_list_core_done(const struct pdm *pdm, u32 core);
bool pdm_list_done(const struct pdm *pdm);
/* Drop all tiles; no core walks. */
void pdm_list_reset(struct pdm *pdm);

/* tile.c: begin a tile; do a piece of it; *cost becomes its share of the budget. */
void pdm_tile_begin(struct pdm_tile *tile);
enum pdm_step pdm_tile_step(struct pdm_tile *tile, u32 *cost);
/* The job stops: return true when the tile has no running task. */
bool pdm_tile_cancel(struct pdm_tile *tile);

/*
 * walk.c: draw the next primitive. WAIT: a running task decides on pixels that it needs; DONE:
 * there are no more.
 */
enum pdm_step pdm_walk(struct pdm_tile *tile, u32 *cost);

/* shade.c: make spans of the pending pixels; the tile enters SHADE, and then phase after. */
void pdm_shade_pending(struct pdm_tile *tile, enum pdm_phase after);
/* Shade all pixels with one program, or run one task without pixels for the tile. */
void pdm_shade_all(struct pdm_tile *tile, const struct pds_stage *stage, enum pdm_phase after);
void pdm_shade_end(struct pdm_tile *tile, const struct pds_stage *stage, enum pdm_phase after);
/* Drop records of primitives that no tag refers to. Returns the number of the others. */
u32 pdm_compact(struct pdm_tile *tile);

/* task.c: start one more task of the current pass. DONE: all are started. */
enum pdm_step pdm_task_next(struct pdm_tile *tile, u32 *cost);
/* Complete tasks that have ended: late tests, counts, locks. */
void pdm_tasks_reap(struct pdm_tile *tile);
/*
 * The same, while a condition holds that tasks end by being reaped. Returns whether it still does;
 * the core is woken when another task ends.
 */
bool pdm_tasks_await(struct pdm_tile *tile, bool (*waits)(const struct pdm_tile *tile));
/* Claim room for a task that is to be filled, unless it has room. DONE: it has. */
enum pdm_step pdm_claim(struct pdm_tile *tile, const struct pds_stage *stage, u32 instances,
			u32 prims);
extern const struct pds_task_ops pdm_task_ops;

/*
 * object.c: number of the object with these states, whose ISP state is read. WAIT: no room, drop
 * all first. DONE: *out is set. ON: the job was stopped.
 */
enum pdm_step pdm_object_get(struct pdm_tile *tile, u64 isp_addr, u64 tsp_addr, u16 *out);
/*
 * Do a piece of loading the TSP state and the program of an object that has visible spans; no task
 * is built. DONE: they are loaded. Adds to *cost, as the next one does.
 */
enum pdm_step pdm_object_load(struct pdm_tile *tile, struct pdm_object *o, u32 *cost);
/*
 * Do a piece of loading a program of the tile: as pds_stage_load(). Each piece has a cost, the last
 * one in proportion to its instructions: short programs have no other.
 */
enum pds_load_result pdm_load_stage(struct pdm_tile *tile, const struct pumice_stage *state,
				    const struct pds_stage_limits *limits, struct pds_stage *out,
				    u32 *cost, struct gpu_fault *fault);
/* Record whether the tile waits for memory for programs. Others drop programs if one does. */
void pdm_wait_memory(struct pdm_tile *tile, bool waits);
/*
 * Drop the programs of all objects, that of deferred vertices and the tile's own store program; no
 * task runs.
 */
void pdm_programs_drop(struct pdm_tile *tile);
/* The same, and drop all objects and vertices. */
void pdm_objects_drop(struct pdm_tile *tile);
/* Return whether there is a program to drop: it occupies memory. */
static inline bool pdm_programs_held(const struct pdm_tile *tile)
{
	return tile->programs || tile->own_state != PDM_STORE_NONE || tile->vertices.state;
}
/* Drop and free all objects. */
void pdm_objects_destroy(struct pdm_tile *tile);

/*
 * vertices.c: do a step of shading the vertices that the primitives of a built task lack. DONE:
 * their varyings can be read, by their index in the task: value[vertex * varyings + n].
 */
enum pdm_step pdm_vertices_shade(struct pdm_tile *tile, const struct pdm_task *task, u32 *cost);
bool pdm_vertices_varyings(struct pdm_tile *tile, u32 in_task, const struct pdm_prim *prim,
			   float *value, struct gpu_fault *fault);
/* Return the cost of the work of the functions above since the last call. */
u32 pdm_vertices_cost(struct pdm_tile *tile);
/* Release the program; no vertex task runs. Vertices that are shaded are kept. */
void pdm_vertices_release(struct pdm_tile *tile);
/* The job stops, and no task runs: free the outputs of a vertex task. */
void pdm_vertices_cancel(struct pdm_tile *tile);
/* Release the program, and drop all vertices. */
void pdm_vertices_drop(struct pdm_tile *tile);
/* Return whether a block has deferred vertices. */
static inline bool pdm_is_deferred(const struct pumice_prim_block *header)
{
	return header->vertex_data != PUMICE_VERTEX_DATA_VARYINGS;
}

/* direct.c */
/* Set all outputs to 0, and write outputs that are constant to the store, before it is used. */
void pdm_outputs_clear(struct pdm_tile *tile);
void pdm_outputs_fill(struct pdm_tile *tile);
/* Execute the background program; false: its tasks must be run. */
bool pdm_background_direct(struct pdm_tile *tile);
/* Execute an end-of-tile program, the same; adds to *cost. No task runs. */
bool pdm_store_direct(struct pdm_tile *tile, const struct pds_stage *stage, u32 *cost);

/* spill.c */
u64 pdm_spill_bytes(const struct pdm *pdm);
bool pdm_spill_load(struct pdm_tile *tile, struct gpu_fault *fault);
bool pdm_spill_store(struct pdm_tile *tile, struct gpu_fault *fault);
/* counters.c: visibility counters and tile_stats in memory. */
bool pdm_visibility_add(struct pdm_tile *tile, struct gpu_fault *fault);
bool pdm_stats_store(struct pdm_tile *tile, struct gpu_fault *fault);

#endif
