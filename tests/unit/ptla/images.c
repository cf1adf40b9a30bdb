// SPDX-License-Identifier: MIT
/* Random surfaces of the tests of the PTLA, and checks of texels. See images.h. */
#include "images.h"

#include <math.h>
#include <string.h>

#include "surface.h"

struct model_surface image_model(const struct pumice_texture *t)
{
	return (struct model_surface){
		.format = t->format, .layout = t->layout, .dim = t->dim, .width = t->width + 1u,
		.height = t->height + 1u, .depth = t->depth + 1u, .levels = t->levels,
		.stride = t->stride,
	};
}

struct pumice_texture image_random(struct fixture *fx, u32 format, u64 addr, u32 width, u32 height)
{
	u64 *seed = &fx->seed;
	struct pumice_texture t = {
		.addr = addr, .format = (u8)format, .layout = (u8)rand_below(seed, 3),
		.dim = PUMICE_TEXTURE_DIM_2D, .levels = 1, .width = (u16)rand_below(seed, width),
		.height = (u16)rand_below(seed, height), .swizzle_g = 1, .swizzle_b = 2,
		.swizzle_a = 3,
	};
	struct pumice_surface s;

	if (rand_below(seed, 3) == 0) {
		t.dim = rand_below(seed, 2) ? PUMICE_TEXTURE_DIM_3D : PUMICE_TEXTURE_DIM_2D_ARRAY;
		t.depth = (u16)rand_below(seed, 4);
	}
	s = pumice_surface_of_texture(&t);
	if (rand_below(seed, 2))
		t.levels = (u8)(1 + rand_below(seed, pumice_surface_max_levels(&s)));
	else if (t.layout == PUMICE_LAYOUT_LINEAR && rand_below(seed, 2))
		t.stride = model_bytes(format) * (s.width + rand_below(seed, 9));
	s = pumice_surface_of_texture(&t);
	return t;
}

void image_random_data(struct fixture *fx, u32 format, u32 bytes)
{
	u32 *words = (u32 *)(void *)fx->data, low;
	char kind = 0;
	u32 bits = model_component(format, 0, &kind, &low);

	for (u32 n = 0; n < bytes / 4; n++) {
		float f = rand_float(&fx->seed, 0, 1);
		u32 v = rand_u32(&fx->seed);

		if (kind == 'f' && bits == 32)
			memcpy(&v, &f, sizeof(v));
		else if (kind == 'f')
			v &= bits == 16 ? 0x3bff3bff : ~(1u << 10 | 1u << 21 | 1u << 31);
		words[n] = v;
	}
}

static u32 bits_at(const u8 *bytes, u32 low, u32 count)
{
	u32 v = 0;

	for (u32 b = 0; b < count; b++)
		v |= (u32)(bytes[(low + b) / 8] >> (low + b) % 8 & 1) << b;
	return v;
}

static bool dithers(u32 format, bool dither)
{
	return dither && format >= PUMICE_FORMAT_R5G6B5_UNORM &&
	       format <= PUMICE_FORMAT_RGB10A2_UNORM;
}

bool image_holds(u32 format, const u8 *at, const double value[4], bool dither, u32 x, u32 y)
{
	char kind;
	u32 low;

	for (u32 c = 0; c < model_components(format); c++) {
		u32 bits = model_component(format, c, &kind, &low), v = bits_at(at, low, bits);
		bool good = dithers(format, dither) ?
			model_stores_dithered(format, c, value[c], v, x, y) :
			model_stores(format, c, value[c], v);

		if (!good)
			return false;
	}
	return true;
}

bool image_about(u32 format, const u8 *at, const double value[4], bool dither, u32 x, u32 y)
{
	char kind;
	u32 low;

	if (image_holds(format, at, value, dither, x, y))
		return true;
	for (u32 c = 0; c < model_components(format); c++) {
		u32 bits = model_component(format, c, &kind, &low), v = bits_at(at, low, bits);
		bool good = false;

		for (int side = -1; side <= 1 && !good; side++) {
			double near = value[c] + side * 1e-6;

			good = dithers(format, dither) ?
				model_stores_dithered(format, c, near, v, x, y) :
				model_stores(format, c, near, v);
		}
		if (!good && (dithers(format, dither) ||
			      !(fabs(model_pattern(format, c, v) - value[c]) <= 1e-6)))
			return false;
	}
	return true;
}

bool image_writable(u32 format)
{
	return format && model_block(format) == 1;
}

bool image_convertible(u32 src, u32 dst)
{
	char a = 0, b = 0;
	u32 low;

	if (!image_writable(dst) || dst == PUMICE_FORMAT_D24_S8)
		return false;
	model_component(src, 0, &a, &low);
	model_component(dst, 0, &b, &low);
	if (model_integer(dst) || (model_block(src) == 1 && model_integer(src)))
		return a == b;
	return true;
}
