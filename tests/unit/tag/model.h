/* SPDX-License-Identifier: MIT */
/*
 * A scalar model of surfaces and texture reads in f64, independent of the GPU's code: its
 * own table of formats, its own layouts, one texel at a time. Written from
 * Documentation/formats.rst. Not optimised.
 */
#ifndef PUMICE_TEST_TAG_MODEL_H
#define PUMICE_TEST_TAG_MODEL_H

#include <stdbool.h>

#include "pumice_formats.h"

struct model_texel {
	double c[4];	/* R, G, B, A; integers exactly */
};

/* A format's bytes per block, width of a block, and whether it has integers, floats, depth. */
u32 model_bytes(u32 format);
u32 model_block(u32 format);
bool model_integer(u32 format);
bool model_depth(u32 format);
u32 model_components(u32 format);
/* Bits of a component, its kind: u s U S f c (UNORM, SNORM, UINT, SINT, float, sRGB). */
u32 model_component(u32 format, u32 component, char *kind, u32 *low);

/* A texel of a format that is not compressed; missing components are 0, 0, 0, 1. */
struct model_texel model_decode(u32 format, const u8 *bytes);
/* The number that a pattern of one component represents. */
double model_pattern(u32 format, u32 component, u32 pattern);
/*
 * Return whether a pattern is a valid conversion of a value: none is nearer. UNORM and SNORM may
 * be off by 0.005 of a step, sRGB by half a step and 1e-6.
 */
bool model_stores(u32 format, u32 component, double value, u32 pattern);
/* The same with a dither at pixel x, y. */
bool model_stores_dithered(u32 format, u32 component, double value, u32 pattern, u32 x, u32 y);
/* Return a texel of a compressed block. */
struct model_texel model_block_texel(u32 format, const u8 *block, u32 x, u32 y);
double model_from_srgb(double c);
double model_to_srgb(double c);

/* A surface; sizes are texels, not less 1. */
struct model_surface {
	u32 format, layout, dim, width, height, depth, levels, stride;
};

u32 model_level_size(u32 size, u32 level);
u32 model_layers(const struct model_surface *s, u32 level);
u64 model_offset(const struct model_surface *s, u32 level, u32 layer, u32 bx, u32 by);
u64 model_bytes_of_all(const struct model_surface *s);
struct model_texel model_texel_at(const struct model_surface *s, const u8 *memory, u32 level,
				  u32 layer, u32 x, u32 y);

/* A read. */
struct model_read {
	struct model_surface surface;
	const u8 *memory;
	u32 wrap[3], border;
	bool linear;		/* in a level */
	bool texels;
	bool compare;
	u32 func;
	double reference;
};

/* Read one sample of one level at u, v, w (of cubes: on the face); layer: face or layer. */
struct model_texel model_sample(const struct model_read *r, u32 level, u32 layer,
				const double coord[3]);
/* Read the texels of a linear filter, in the order of gather; 2D. */
void model_gather(const struct model_read *r, u32 layer, const double coord[3],
		  struct model_texel out[4]);
/* Return the distance of a position to where the texels of a sample change, in texels: 0 to 0.5. */
double model_margin(const struct model_read *r, u32 level, const double coord[3], bool linear);

/* Get the face of a direction and the position on it. */
u32 model_face(const double dir[3], double *u, double *v);
/* A direction through a point on the plane of a face, which may be beyond its edges. */
void model_direction(u32 face, double u, double v, double dir[3]);

#endif
