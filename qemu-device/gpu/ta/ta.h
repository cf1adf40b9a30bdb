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

/* Begin, or go on with empty tile lists behind ta_finish(). False: no memory on the host. */
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
	TA_FAULT,
};
/* Take primitives from *done on; it rises with each that is done. */
enum ta_result ta_primitives(struct ta *ta, const struct ta_draw *draw,
			     const struct ta_vertices *vertices, const struct ta_prim *prims,
			     u32 count, u32 *done, struct gpu_fault *fault);

/*
 * Write the region headers: the end of the scene, or what there is for a partial
 * render. *any becomes whether the core has put anything into a tile; without, no
 * headers are written.
 */
bool ta_finish(struct ta *ta, bool *any, struct gpu_fault *fault);

/* Counters since the TA was made. */
struct ta_counters {
	u64 culled, clipped, blocks, tile_entries;
};
const struct ta_counters *ta_counters(const struct ta *ta);

#endif
