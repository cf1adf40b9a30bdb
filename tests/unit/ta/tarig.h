/* SPDX-License-Identifier: MIT */
/*
 * Fixture of the tests of the TA: tiling accelerators over a parameter buffer, primitives for
 * them, and their output, read back tile by tile without the IPF.
 *
 * The provoking vertex of a primitive has its number in its first varying, which is flat,
 * so that the primitive is identified even after clipping.
 */
#ifndef PUMICE_TARIG_H
#define PUMICE_TARIG_H

#include "../../../qemu-device/gpu/ta/ta.h"
#include "number.h"
#include "pbrig.h"

#define TARIG_TILES	4096u
#define TARIG_CHUNK	256u	/* primitives of a call, as in a chunk of the VDM */

/* A primitive with vertices of its own. */
struct tarig_prim {
	float pos[3][4];
	float size[3];
	float v[3][2];		/* varyings 1 and 2 */
};

/* A primitive in a tile. */
struct tarig_found {
	u32 number;		/* by the provoking vertex's first varying */
	u32 sequence;
	struct pumice_prim_index index;
	struct pumice_prim_vertex vertex[3];
	float v[3][3];
};

struct tarig_tile {
	struct tarig_found *found;
	u32 count, room;
};

struct tarig {
	struct pbrig *pb;
	struct pm_scene scene;
	struct ta *ta[PUMICE_MAX_CORES];
	u32 cores;
	struct ta_draw draw;		/* set up for screen positions: x, y in pixels, w 1 */
	struct tarig_tile tile[TARIG_TILES];
};

struct tarig *tarig_create(u32 pages, const struct pumice_scene *scene);
/* For a scene of any number of tiles, which tarig_finish() does not read. */
struct tarig *tarig_create_bare(u32 pages, const struct pumice_scene *scene);
void tarig_destroy(struct tarig *rig);

/* Vertices of the draw's kind. */
u32 tarig_vertices(const struct tarig *rig);
/*
 * Pass primitives first to first + count - 1 of prims to a core. Returns the reason of a
 * stop, with *done of them processed; a fault fails the test.
 */
enum ta_result tarig_give(struct tarig *rig, u32 core, const struct tarig_prim *prims, u32 first,
			  u32 count, u32 *done);
/* All of them, in chunks with rising sequences, to core 0; memory must be enough. */
void tarig_give_all(struct tarig *rig, const struct tarig_prim *prims, u32 count);
/* Finish the scene of one core: return whether any tile is not empty. */
bool tarig_write_headers(struct tarig *rig, u32 core);
/* Finish the scene of one core, and append its output to rig->tile. */
void tarig_finish(struct tarig *rig, u32 core);
void tarig_begin(struct tarig *rig, u32 core);
/* Clear the results. */
void tarig_clear(struct tarig *rig);
/* Assert that the same parts of primitives are in the same order: numbers and positions. */
bool tarig_same(const struct tarig *a, const struct tarig *b);
/* Whether a tile contains the primitive. */
bool tarig_holds(const struct tarig *rig, u32 tile, u32 number);

/* A number in pixels, a multiple of 1/256, from low to high - 1/256. */
float tarig_pixel(struct tarig *rig, s32 low, s32 high);

#endif
