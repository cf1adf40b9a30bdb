/* SPDX-License-Identifier: MIT */
/*
 * The texture unit's state, shared by its files: tag.c (a read from request to result),
 * state.c (texture and sampler structures), lod.c (levels of detail), cube.c (faces of
 * cubes), read.c (texels from memory). No other file includes this.
 */
#ifndef PUMICE_GPU_TAG_STATE_H
#define PUMICE_GPU_TAG_STATE_H

#include <pthread.h>

#include "../activity.h"
#include "../tf/tf.h"
#include "tag.h"

/* Decoded texture and sampler structure. */
struct tag_state {
	u32 words[TAG_STATE_WORDS];	/* source words */
	bool used;
	bool texture_valid, sampler_valid;
	struct pumice_texture texture;
	struct pumice_sampler sampler;
	struct tf_state tf;	/* for the texture filter */
	struct pumice_surface surface;
	struct pumice_level level[PUMICE_MAX_LEVELS];
	u32 dims;		/* coordinates except layers: 1 to 3; 2 for a cube's face */
	bool cube, array;
	bool filters;		/* the sampler has any filtering */
	bool plain;		/* UNORM in one word, no curve: has the fast path to a bilinear
				 * texel */
	u8 wrap[3];		/* BORDER for cubes, to detect texels of other faces */
	float lod_bias, min_lod, max_lod;
};

#define TAG_STATES 16u
#define TAG_BLOCKS 128u		/* powers of two */

/* A decoded compressed block with its contents as key: never stale when memory is written. */
struct tag_block {
	u64 bits[2];
	u32 format;
	u32 texel[16];
};

struct tag {
	/* Configuration. */
	struct tag_config config;
	const struct texel_ops *ops;

	pthread_mutex_t lock;	/* held while a request is processed; a leaf */

	/* State. */
	struct mmu_tlb tlb;
	struct tag_state state[TAG_STATES];
	struct tag_block block[TAG_BLOCKS];

	struct activity activity;
	_Atomic u64 waits;	/* requests that found the unit busy */
};

/* Grains that a read has used, to save look-ups in the TLB. */
#define TAG_WINDOWS 16u
struct tag_windows {
	u64 grain[TAG_WINDOWS];	/* address >> 12; all ones: none */
	const u8 *host[TAG_WINDOWS];
	/*
	 * Texels at lower offsets in a grain are found from another one of it: the bytes of a
	 * grain, or 0 in detailed modes, in which each texel is a request.
	 */
	u32 near;
};

/* A request in progress. Rows of lanes. */
struct tag_wave {
	struct tag *tag;
	const struct tag_request *request;
	const struct tag_state *state;
	struct tcu *tcu;		/* of the USC that reads */
	struct gpu_fault *fault;
	struct tf_read read;		/* for the texture filter */
	struct tag_windows windows;

	float coord[3][PUMICE_LANES] __attribute__((aligned(64)));	/* of cubes: on the face */
	float dx[3][PUMICE_LANES], dy[3][PUMICE_LANES];
	u32 layer[PUMICE_LANES];
	float extra[PUMICE_LANES];	/* bias, level or reference */
	float lod_raw[PUMICE_LANES], lod[PUMICE_LANES];	/* before and after the sampler's clamp */
	u32 level[2][PUMICE_LANES];
	float level_weight[PUMICE_LANES];	/* of level[1] */
	bool two_levels;
	u32 linear;			/* lanes that filter in a level */
	float steps[PUMICE_LANES];	/* samples along the axis of anisotropy */
	float axis[2][PUMICE_LANES];	/* that axis, in coordinates */
	u32 max_steps;
} __attribute__((aligned(64)));

/* Return the address of the row of blocks that texel row y is in, and the offset for x. */
static inline u64 tag_row_address(const struct tag_state *s, u32 level, u32 layer, u32 y)
{
	const struct pumice_level *v = &s->level[level];

	return s->texture.addr + v->offset + layer * v->layer_bytes +
	       pumice_level_row(v, y / s->tf.info->block);
}

static inline u32 tag_column_bytes(const struct tag_state *s, u32 level, u32 x)
{
	return (u32)pumice_level_column(&s->level[level], x / s->tf.info->block);
}

/* state.c: return the decoded state of these words. */
const struct tag_state *tag_state_get(struct tag *tag, const u32 *words);

/* lod.c: set coordinates of the request: w->coord, w->layer, w->dx, w->dy. */
void tag_coordinates(struct tag_wave *w);
/* Compute levels, weights, filters and anisotropy of each lane. */
void tag_levels(struct tag_wave *w);

/*
 * cube.c: project directions in w->coord to positions on faces, w->layer; w->dx and w->dy,
 * too.
 */
void tag_cube_project(struct tag_wave *w, bool derivatives);
/* Move positions on the planes of w->layer's faces to the faces that they belong to. */
void tag_cube_wrap(struct tag_wave *w, float (*coord)[PUMICE_LANES]);
/* Return the lanes whose filter crosses the edge of its face. */
u32 tag_cube_lanes(const struct tag_wave *w, const struct tf_taps *t);

/* One texel of each lane's filter: arguments of tag_read_words(). */
struct tag_tap {
	u64 row[PUMICE_LANES];
	u32 column[PUMICE_LANES], x[PUMICE_LANES], y[PUMICE_LANES];
	u32 corner;	/* lanes without a texel at a cube's corner: the nearest one on the face is
			 * used */
} __attribute__((aligned(64)));

/* Read texel n (y * 2 + x) of filters that cross edges of faces in some lanes. */
void tag_cube_tap(const struct tag_wave *w, const u32 *level, const struct tf_taps *t,
		  u32 lanes, u32 n, struct tag_tap *tap);
/*
 * Compute the fourth texel at corners of a cube, which have three; corner: tag_tap's, of each
 * texel.
 */
void tag_cube_corners(struct texel_rows texel[4], const u32 corner[4]);

/*
 * read.c: read words of one texel of each lane: row[] and column[] are the address of its
 * block, x and y its position for compressed formats. Returns false with the fault filled in.
 */
bool tag_read_words(struct tag_wave *w, const u64 *row, const u32 *column, const u32 *x,
		    const u32 *y, struct texel_rows *words);
/* The same for the four texels of a bilinear filter, of formats of at most a word. */
bool tag_read_four(struct tag_wave *w, const struct tf_taps *taps, u32 (*words)[PUMICE_LANES]);

#endif
