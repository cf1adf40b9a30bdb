/* SPDX-License-Identifier: MIT */
/*
 * The texture unit's state, shared by its files: tag.c (a read from request to
 * result), state.c (texture and sampler structures), lod.c (levels of detail),
 * cube.c (faces of cubes), read.c (texels out of memory). Nobody else includes this.
 */
#ifndef PUMICE_GPU_TAG_STATE_H
#define PUMICE_GPU_TAG_STATE_H

#include "../tf/tf.h"
#include "tag.h"

/* A texture and a sampler structure, decoded. */
struct tag_state {
	u32 words[TAG_STATE_WORDS];	/* what they were decoded from */
	bool used;
	bool texture_valid, sampler_valid;
	struct pumice_texture texture;
	struct pumice_sampler sampler;
	const struct pumice_pixel_info *info;
	struct pumice_surface surface;
	struct pumice_level level[PUMICE_MAX_LEVELS];
	u32 dims;		/* coordinates but layers: 1 to 3; 2 of a cube's face */
	bool cube, array;
	bool filters;		/* the sampler asks for filtering of some kind */
	bool plain;		/* UNORM in one word, no curve: the short way to a bilinear texel */
	bool same;		/* the swizzle is R, G, B, A */
	u8 swizzle[4];
	u8 wrap[3];
	bool border;		/* some axis of these has one */
	float scale[4];
	float lod_bias, min_lod, max_lod;
	u32 border_colour[4];	/* f32 before scaling, or integers */
};

#define TAG_STATES 16u
#define TAG_BLOCKS 128u		/* powers of two */

/* A decoded compressed block, found by what it holds: always right, whoever writes memory. */
struct tag_block {
	u64 bits[2];
	u32 format;
	u32 texel[16];
};

struct tag {
	/* Configuration. */
	struct mmu *mmu;
	const struct texel_ops *ops;

	/* Running state. */
	struct mmu_tlb tlb;
	struct tag_state state[TAG_STATES];
	struct tag_block block[TAG_BLOCKS];

	_Atomic u64 reads;	/* written by the owner's thread */
};

/* Grains that a read has used: found again without a look-up in the TLB. */
#define TAG_WINDOWS 16u
struct tag_windows {
	u64 grain[TAG_WINDOWS];	/* address >> 12; all ones: none */
	const u8 *host[TAG_WINDOWS];
};

/* One request on its way. Rows of lanes. */
struct tag_wave {
	struct tag *tag;
	const struct tag_request *request;
	const struct tag_state *state;
	struct gpu_fault *fault;
	struct tag_windows windows;

	float coord[3][PUMICE_LANES];	/* of cubes: on the face */
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
	u32 most_steps;
} __attribute__((aligned(64)));

/* state.c: the decoded state of these words. */
const struct tag_state *tag_state_get(struct tag *tag, const u32 *words);

/* lod.c: coordinates of the request to w->coord, w->layer, w->dx, w->dy. */
void tag_coordinates(struct tag_wave *w);
/* Levels, weights, filters and anisotropy of each lane. */
void tag_levels(struct tag_wave *w);

/* cube.c: directions in w->coord to places on faces, which w->layer gets; w->dx and w->dy, too. */
void tag_cube_project(struct tag_wave *w, bool derivatives);

/*
 * read.c: words of one texel of each lane: row[] and column[] give the address of its
 * block, x and y its place for compressed formats. False with the fault filled in.
 */
bool tag_read_words(struct tag_wave *w, const u64 *row, const u32 *column, const u32 *x,
		    const u32 *y, struct texel_rows *words);
/* The same for the four texels of a bilinear filter, of formats of at most a word. */
bool tag_read_four(struct tag_wave *w, const struct tf_taps *taps, u32 (*words)[PUMICE_LANES]);

#endif
