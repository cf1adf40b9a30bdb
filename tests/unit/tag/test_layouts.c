// SPDX-License-Identifier: MIT
/*
 * Layouts: addresses of texels. No two share a byte, all are within the surface, and each
 * equals the scalar model's; invalid surfaces are refused.
 */
#include "cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "rand.h"
#include "surface.h"

static struct model_surface model_of(const struct pumice_surface *s)
{
	return (struct model_surface){
		.format = s->format, .layout = s->layout, .dim = s->dim, .width = s->width,
		.height = s->height, .depth = s->depth, .levels = s->levels, .stride = s->stride,
	};
}

/* Mark the bytes of every block of every level and layer: each once, all inside. */
static void check_bijection(const struct pumice_surface *s)
{
	const struct model_surface m = model_of(s);
	u64 total = pumice_surface_bytes(s);
	u8 *used = calloc(1, total);

	assert_non_null(used);
	assert_true(pumice_surface_valid(s));
	assert_int_equal(total, model_bytes_of_all(&m));
	for (u32 n = 0; n < s->levels; n++) {
		struct pumice_level l = pumice_surface_level(s, n);

		assert_int_equal(l.width, model_level_size(s->width, n));
		assert_int_equal(l.layers, model_layers(&m, n));
		for (u32 layer = 0; layer < l.layers; layer++) {
			for (u32 y = 0; y < l.blocks_y; y++) {
				for (u32 x = 0; x < l.blocks_x; x++) {
					u64 at = pumice_level_offset(&l, layer, x, y);

					assert_int_equal(at, model_offset(&m, n, layer, x, y));
					assert_true(at % l.bytes == 0 && at + l.bytes <= total);
					assert_int_equal(used[at], 0);
					memset(used + at, 1, l.bytes);
				}
			}
			assert_int_equal(pumice_level_offset(&l, layer, 0, 0) % 16, 0);
		}
	}
	free(used);
}

static void texels_share_no_bytes(void **state)
{
	static const u32 formats[] = {
		PUMICE_FORMAT_R8_UNORM, PUMICE_FORMAT_RG8_UNORM, PUMICE_FORMAT_RGBA8_UNORM,
		PUMICE_FORMAT_RGBA16_FLOAT, PUMICE_FORMAT_RGBA32_FLOAT, PUMICE_FORMAT_ETC2_RGB8,
		PUMICE_FORMAT_BC3_RGBA,
	};
	u64 seed = 1;

	(void)state;
	for (u32 n = 0; n < 3000; n++) {
		u32 side = n % 10 ? 40 : 300;
		struct pumice_surface s = {
			.format = formats[rand_below(&seed, 7)], .layout = rand_below(&seed, 3),
			.dim = rand_below(&seed, 7), .width = 1 + rand_below(&seed, side),
			.height = 1 + rand_below(&seed, side), .depth = 1, .levels = 1,
		};

		if (s.dim == PUMICE_TEXTURE_DIM_1D || s.dim == PUMICE_TEXTURE_DIM_1D_ARRAY)
			s.height = 1;
		if (s.dim == PUMICE_TEXTURE_DIM_CUBE || s.dim == PUMICE_TEXTURE_DIM_CUBE_ARRAY)
			s.height = s.width;
		if (s.dim == PUMICE_TEXTURE_DIM_3D || s.dim >= PUMICE_TEXTURE_DIM_1D_ARRAY)
			s.depth = 1 + rand_below(&seed, 5);
		if (s.dim == PUMICE_TEXTURE_DIM_CUBE)
			s.depth = 6;
		if (s.dim == PUMICE_TEXTURE_DIM_CUBE_ARRAY)
			s.depth *= 6;
		if (rand_below(&seed, 2))
			s.levels = pumice_surface_max_levels(&s);
		else if (s.layout == PUMICE_LAYOUT_LINEAR && rand_below(&seed, 2))
			s.stride = (s.width + rand_below(&seed, 20)) *
				   pumice_pixel_info(s.format)->bytes;
		check_bijection(&s);
	}
}

static void the_largest_surfaces_fit_their_numbers(void **state)
{
	(void)state;
	for (u32 layout = 0; layout < 3; layout++) {
		const struct pumice_surface s = {
			.format = PUMICE_FORMAT_RGBA32_FLOAT, .layout = layout,
			.dim = PUMICE_TEXTURE_DIM_2D_ARRAY, .width = 8192, .height = 8192,
			.depth = 2048, .levels = 14,
		};
		struct pumice_level l = pumice_surface_level(&s, 0);

		assert_true(pumice_surface_valid(&s));
		assert_int_equal(pumice_level_offset(&l, 2047, 8191, 8191),
				 (1ull << 41) - 16);
		assert_true(pumice_surface_bytes(&s) > 1ull << 41);
		assert_true(pumice_surface_bytes(&s) < 1ull << 42);
	}
	{
		const struct pumice_surface s = {
			.format = PUMICE_FORMAT_RGBA32_FLOAT, .dim = PUMICE_TEXTURE_DIM_2D_ARRAY,
			.width = 8, .height = 8192, .depth = 2048, .levels = 1,
			.stride = (1u << 24) - 16,
		};

		assert_true(pumice_surface_valid(&s));
		assert_int_equal(pumice_surface_bytes(&s), (u64)((1 << 24) - 16) << 24);
	}
}

static void invalid_surfaces_are_refused(void **state)
{
	const struct pumice_surface good = {
		.format = PUMICE_FORMAT_RGBA8_UNORM, .dim = PUMICE_TEXTURE_DIM_2D, .width = 20,
		.height = 30, .depth = 1, .levels = 5,
	};
	struct pumice_surface s;

	(void)state;
	assert_true(pumice_surface_valid(&good));
#define REFUSED(field, value) \
	do { \
		s = good; \
		s.field = value; \
		assert_false(pumice_surface_valid(&s)); \
	} while (0)
	REFUSED(format, PUMICE_FORMAT_NONE);
	REFUSED(format, PUMICE_FORMAT_COUNT);
	REFUSED(format, 255);
	REFUSED(layout, 3);
	REFUSED(dim, 7);
	REFUSED(dim, PUMICE_TEXTURE_DIM_1D);
	REFUSED(dim, PUMICE_TEXTURE_DIM_1D_ARRAY);
	REFUSED(dim, PUMICE_TEXTURE_DIM_CUBE);
	REFUSED(dim, PUMICE_TEXTURE_DIM_CUBE_ARRAY);
	REFUSED(width, 0);
	REFUSED(width, 8193);
	REFUSED(height, 0);
	REFUSED(height, 8193);
	REFUSED(depth, 0);
	REFUSED(depth, 2);
	REFUSED(levels, 0);
	REFUSED(levels, 6);
	REFUSED(stride, 80);	/* with levels */
#undef REFUSED
	s = good;
	s.levels = 1;
	s.stride = 80;
	assert_true(pumice_surface_valid(&s));
	s.stride = 76;
	assert_false(pumice_surface_valid(&s));
	s.stride = 82;
	assert_false(pumice_surface_valid(&s));
	s.stride = 80;
	s.layout = PUMICE_LAYOUT_TILED;
	assert_false(pumice_surface_valid(&s));
	s = good;
	s.dim = PUMICE_TEXTURE_DIM_2D_ARRAY;
	s.depth = 2049;
	assert_false(pumice_surface_valid(&s));
	s.dim = PUMICE_TEXTURE_DIM_CUBE_ARRAY;
	s.height = s.width;
	s.depth = 7;
	assert_false(pumice_surface_valid(&s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texels_share_no_bytes),
		cmocka_unit_test(the_largest_surfaces_fit_their_numbers),
		cmocka_unit_test(invalid_surfaces_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
