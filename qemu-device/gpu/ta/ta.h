/* SPDX-License-Identifier: MIT */
/*
 * Tiling accelerator (TA) of one core: MTE and TE.
 *
 * Source: document 004, "Tiling Accelerator". The MTE takes shaded vertices and
 * indices: viewport transform, culling, clipping, primitive blocks by macro tile.
 * The TE computes the tiles that a primitive touches and appends it to their
 * control streams. Both write the parameter buffer through the MMU, as units MTE
 * and TE. Layouts: hw/formats.xml, prim_block, tile_chunk, region.
 *
 * Used by the thread of its core's unit.
 *
 * One primitive can touch every tile of the target, up to 262144 of them, so what follows
 * tiles or pages does about TA_PIECE units of work and returns TA_MORE; it is called again
 * with the same arguments until it returns something else, or ta_begin() gives the scene
 * up. The caller may look at its stop flag between two calls.
 */
#ifndef PUMICE_GPU_TA_H
#define PUMICE_GPU_TA_H

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

/* What primitives are drawn with. */
struct ta_draw {
	struct pumice_vdm_state state;
	u8 kind;		/* enum pumice_prim_kind */
	u32 sequence;		/* of the chunk; never falls on a core */
};

/*
 * Shaded vertices. Output n (VO register) of vertex v is
 * vo[(v / 32 * vo_words + n) * 32 + v % 32]: rows of waves.
 */
struct ta_vertices {
	const u32 *vo;
	u32 vo_words;
	u32 count;
};

/* A primitive: numbers of its vertices. */
struct ta_prim {
	u16 v[3];
};

/*
 * Work of a call, about; a unit is some 100 ns. One is a tile that is touched, reserved for
 * or appended to; what else takes time is counted in these.
 */
#define TA_PIECE	4096u

/*
 * Begin, or go on with empty tile lists after ta_finish(). False: no memory on the host.
 * The lists are emptied by the first calls of ta_primitives().
 */
bool ta_begin(struct ta *ta, const struct pm_scene *scene);

/*
 * Which primitives are not culled, by VO0 to VO3 alone: for a coordinate program.
 * keep[n] becomes false for those that are.
 */
void ta_cull(struct ta *ta, const struct ta_draw *draw, const struct ta_vertices *vertices,
	     const struct ta_prim *prims, u32 count, bool *keep);

enum ta_result {
	TA_OK,
	TA_MEMORY,	/* no page for primitive *done; nothing of it is in any tile */
	TA_MORE,	/* there is more to do for it; see above */
	TA_FAULT,
};
/* Take primitives from *done on; it rises with each that is done. */
enum ta_result ta_primitives(struct ta *ta, const struct ta_draw *draw,
			     const struct ta_vertices *vertices, const struct ta_prim *prims,
			     u32 count, u32 *done, struct gpu_fault *fault);

/*
 * Write the region headers: the end of the scene, or what there is for a partial
 * render. *any becomes whether the core has put anything into a tile; without, no
 * headers are written. TA_OK, TA_MORE or TA_FAULT; after TA_OK the tile lists are gone.
 */
enum ta_result ta_finish(struct ta *ta, bool *any, struct gpu_fault *fault);

/*
 * Give back the memory of tile lists on the host where it is more than TA_KEEP: between
 * scenes, ta_begin() follows.
 */
#define TA_KEEP		(1u << 20)
bool ta_is_large(const struct ta *ta);
void ta_trim(struct ta *ta);

/* Counters since the TA was made. */
struct ta_counters {
	u64 culled, clipped, blocks, tile_entries;
};
const struct ta_counters *ta_counters(const struct ta *ta);

#endif
