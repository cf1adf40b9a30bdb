/* SPDX-License-Identifier: MIT */
/*
 * Tiling accelerator (TA) of one core: MTE and TE.
 *
 * Source: document 004, "Tiling Accelerator". The MTE processes shaded vertices and indices:
 * viewport transform, culling, clipping, primitive blocks by macro tile. The TE computes the
 * tiles that a primitive touches and appends it to their control streams. Both write the
 * parameter buffer through the MMU, as units MTE and TE. Layouts: hw/formats.xml, prim_block,
 * tile_chunk, region.
 *
 * Used by the thread of its core's unit.
 *
 * One primitive can touch every tile of the target, up to 262144 of them, so functions that
 * loop over tiles or pages do about TA_PIECE units of work and return TA_MORE; call them
 * again with the same arguments until they return another result, or drop the scene with
 * ta_begin(). The caller may check its stop flag between two calls.
 */
#ifndef PUMICE_GPU_TA_H
#define PUMICE_GPU_TA_H

#include <stdatomic.h>
#include <stdbool.h>

#include "../fault.h"
#include "../mmu/mmu.h"
#include "../pm/pm.h"

struct ta;

struct ta_config {
	unsigned int core;
	struct mmu *mmu;
	struct pm *pm;
};

struct ta *ta_create(const struct ta_config *config);
void ta_destroy(struct ta *ta);

/* State of a draw. */
struct ta_draw {
	struct pumice_vdm_state state;
	u8 kind;		/* enum pumice_prim_kind */
	u32 sequence;		/* of the chunk; never decreases on a core */
	/* If state.deferred is set: its record, and the inputs of its vertices. */
	u64 vertex_state;
	struct pumice_prim_draw draw;
};

/*
 * Vertices. Output n (VO register) of vertex v is wave[v / 32][n * 32 + v % 32]: rows of waves,
 * each in a place of its own. Vertices are emitted by tasks that end one after the other. Deferred
 * ones have only positions and sizes, of the coordinate program.
 */
struct ta_vertices {
	const u32 *const *wave;
	u32 vo_words;
	u32 count;
	const u32 *number;	/* of each deferred vertex */
	/* Those below this number are shaded: whole waves, or all that there will be. */
	u32 ready;
	bool more;	/* the primitives are not all: a further call has more of them */
};

/* A primitive: numbers of its vertices. */
struct ta_prim {
	u16 v[3];
};

/*
 * Approximate work of a call; a unit is some 100 ns. Touching a tile, reserving for it or
 * appending to it is one unit each; other slow work is charged in these units.
 */
#define TA_PIECE	4096u

/*
 * Begin a scene, or continue with empty tile lists after ta_finish(). False: the host is out
 * of memory. The first calls of ta_primitives() clear the lists.
 */
bool ta_begin(struct ta *ta, const struct pm_scene *scene);

/*
 * Cull primitives first to end - 1 by VO0 to VO3 only, for a coordinate program. keep[n] becomes
 * false for culled ones. Their vertices are ready. A call with first 0 begins a list; for its
 * further primitives, call again with the same arguments, except that more vertices may be ready.
 * Calls of ta_primitives() in between change nothing.
 */
void ta_cull(struct ta *ta, const struct ta_draw *draw, const struct ta_vertices *vertices,
	     const struct ta_prim *prims, u32 first, u32 end, bool *keep);

enum ta_result {
	TA_OK,
	TA_MEMORY,	/* no page for primitive *done; it is not in any tile */
	TA_MORE,	/* call again; see above */
	/* Primitive *done has a vertex that is not shaded yet, or is of a further call. */
	TA_VERTICES,
	TA_FAULT,
};
/*
 * Process primitives from *done, which is incremented for each finished one. After all results but
 * TA_OK and TA_FAULT, call again with the same arguments, except that more vertices may be ready,
 * and that there may be more primitives if vertices->more was set.
 */
enum ta_result ta_primitives(struct ta *ta, const struct ta_draw *draw,
			     const struct ta_vertices *vertices, const struct ta_prim *prims,
			     u32 count, u32 *done, struct gpu_fault *fault);

/*
 * Write the region headers: at the end of the scene, or so far for a partial render. *any
 * becomes whether any tile has an entry of the core; if not, no headers are written. The
 * core's pages become those of the scene, and its spare pages are free. TA_OK, TA_MORE or
 * TA_FAULT; after TA_OK the tile lists are invalid.
 */
enum ta_result ta_finish(struct ta *ta, bool *any, struct gpu_fault *fault);

/*
 * Free the host memory of tile lists if it is more than TA_KEEP. Call between scenes, before
 * ta_begin().
 */
#define TA_KEEP		(1u << 20)
bool ta_is_large(const struct ta *ta);
void ta_trim(struct ta *ta);

/* A vertex of a primitive that is clipped again: words of its position and varyings. */
struct ta_source {
	const u32 *position, *varyings;
};

/*
 * Compute the varyings of corners of a clipped primitive with deferred vertices, which binning
 * could not: vertices is 2 or 3, flat has bit n for a flat varying n. out[i * state->varyings + n]
 * is varying n of corner[i], below PUMICE_CLIP_CORNERS; of a corner that these positions do not
 * have, those of a vertex.
 */
void ta_clip_again(const struct pumice_vdm_state *state, u8 kind, u64 flat,
		   const struct ta_source *source, u32 vertices, const u8 *corner, float *out);

/* Counters since the TA was created or they were reset; any thread may read them. */
struct ta_counters {
	_Atomic u64 culled, clipped, blocks, tile_entries;
};
const struct ta_counters *ta_counters(const struct ta *ta);
void ta_reset_counters(struct ta *ta);

#endif
