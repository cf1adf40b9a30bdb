/* SPDX-License-Identifier: MIT */
/*
 * Fixture of the tests of the TA: tiling accelerators over a parameter buffer, primitives for
 * them, and their output, read back tile by tile without the IPF.
 *
 * The provoking vertex of a primitive has its number in its first varying, which is flat,
 * so that the primitive is identified even after clipping.
 */
#ifndef PUMICE_TA_FIXTURE_H
#define PUMICE_TA_FIXTURE_H

#include "../../../qemu-device/gpu/ta/ta.h"
#include "number.h"
#include "pb_fixture.h"

#define TAFX_TILES	4096u
#define TAFX_CHUNK	256u	/* primitives of a call, as in a chunk of the VDM */

/* A primitive with vertices of its own. */
struct tafx_prim {
	float pos[3][4];
	float size[3];
	float v[3][2];		/* varyings 1 and 2 */
};

/* A primitive in a tile. */
struct tafx_found {
	u32 number;		/* by the provoking vertex's first varying */
	u32 sequence;
	struct pumice_prim_index index;
	struct pumice_prim_vertex vertex[3];
	float v[3][3];
};

struct tafx_tile {
	struct tafx_found *found;
	u32 count, room;
};

struct ta_fixture {
	struct pb_fixture *pb;
	struct pm_scene scene;
	struct ta *ta[PUMICE_MAX_CORES];
	u32 cores;
	struct ta_draw draw;		/* set up for screen positions: x, y in pixels, w 1 */
	bool late;	/* vertices become ready wave by wave; others are culled in between */
	struct tafx_tile tile[TAFX_TILES];
	struct pumice_prim_draw deferred;	/* of the last block with deferred vertices */
};

struct ta_fixture *tafx_create(u32 pages, const struct pumice_scene *scene);
/* For a scene of any number of tiles, which tafx_finish() does not read. */
struct ta_fixture *tafx_create_bare(u32 pages, const struct pumice_scene *scene);
void tafx_destroy(struct ta_fixture *fx);

#define TAFX_WAVES	2048u

/* Places of the waves of vertices. */
struct tafx_waves {
	const u32 *wave[TAFX_WAVES];
};
/* Describe vertices that are ready, whose waves follow each other at vo. */
struct ta_vertices tafx_waves(struct tafx_waves *waves, const u32 *vo, u32 words, u32 count);

/* Vertices of the draw's kind. */
u32 tafx_vertices(const struct ta_fixture *fx);
/*
 * Pass primitives first to first + count - 1 of prims to a core. Returns the reason of a
 * stop, with *done of them processed; a fault fails the test.
 */
enum ta_result tafx_give(struct ta_fixture *fx, u32 core, const struct tafx_prim *prims, u32 first,
			 u32 count, u32 *done);
/* All of them, in chunks with rising sequences, to core 0; memory must be enough. */
void tafx_give_all(struct ta_fixture *fx, const struct tafx_prim *prims, u32 count);
/* Finish the scene of one core: return whether any tile is not empty. */
bool tafx_write_headers(struct ta_fixture *fx, u32 core);
/* Finish the scene of one core, and append its output to fx->tile. */
void tafx_finish(struct ta_fixture *fx, u32 core);
void tafx_begin(struct ta_fixture *fx, u32 core);
/* Clear the results. */
void tafx_clear(struct ta_fixture *fx);
/* Assert that the same parts of primitives are in the same order: numbers and positions. */
bool tafx_same(const struct ta_fixture *a, const struct ta_fixture *b);
/* Return whether a tile contains the primitive. */
bool tafx_holds(const struct ta_fixture *fx, u32 tile, u32 number);

/* Return a number in pixels, a multiple of 1/256, from low to high - 1/256. */
float tafx_pixel(struct ta_fixture *fx, s32 low, s32 high);

#endif
