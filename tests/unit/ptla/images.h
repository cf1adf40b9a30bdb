/* SPDX-License-Identifier: MIT */
/* Random surfaces of the tests of the PTLA, and checks of texels, by the model of ../tag. */
#ifndef PUMICE_TEST_PTLA_IMAGES_H
#define PUMICE_TEST_PTLA_IMAGES_H

#include "fixture.h"

struct model_surface image_model(const struct pumice_texture *t);

/*
 * Return a texture of at most width x height texels with levels, or with a stride; of 2D, 3D or an
 * array.
 */
struct pumice_texture image_random(struct fixture *fx, u32 format, u64 addr, u32 width, u32 height);

/* Fill the first bytes of the data; they are small numbers in the format. */
void image_random_data(struct fixture *fx, u32 format, u32 bytes);

/* Return whether each component of the texel, at x, y if dithered, represents the value. */
bool image_holds(u32 format, const u8 *at, const double value[4], bool dither, u32 x, u32 y);

/* The same, except for rounding of f32 sums: 1e-6 of the range. */
bool image_about(u32 format, const u8 *at, const double value[4], bool dither, u32 x, u32 y);

/* Return whether the PTLA stores texels of the format. */
bool image_writable(u32 format);

/* Return whether the PTLA converts texels of src to dst. */
bool image_convertible(u32 src, u32 dst);

#endif
