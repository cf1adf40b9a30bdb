// SPDX-License-Identifier: MIT
/*
 * Reads of textures against the scalar model: random state, random coordinates.
 *
 * The bound: textures have up to 24 texels per side and coordinates up to 3, so that a
 * position is accurate to 2^-17 texels; a filtered value is accurate to 2^-14 of the format's
 * range. If the nearest texel or the level changes within 2^-13, the model is ambiguous, and
 * the lane is not compared.
 */
#include "fixture.h"

#include <math.h>
#include <string.h>

#include "../../../qemu-device/gpu/tag/state.h"
#include "pumice_isa_enums.h"

#define BOUND 0x1p-14
#define MARGIN 0x1p-13
#define SIDE 24u

static const u32 all_dims[] = {
	PUMICE_TEXTURE_DIM_1D, PUMICE_TEXTURE_DIM_2D, PUMICE_TEXTURE_DIM_3D,
	PUMICE_TEXTURE_DIM_CUBE, PUMICE_TEXTURE_DIM_1D_ARRAY, PUMICE_TEXTURE_DIM_2D_ARRAY,
	PUMICE_TEXTURE_DIM_CUBE_ARRAY,
};

static bool is_cube(u32 dim)
{
	return dim == PUMICE_TEXTURE_DIM_CUBE || dim == PUMICE_TEXTURE_DIM_CUBE_ARRAY;
}

static u32 dims_of(u32 dim)
{
	return dim == PUMICE_TEXTURE_DIM_1D || dim == PUMICE_TEXTURE_DIM_1D_ARRAY ? 1 :
	       dim == PUMICE_TEXTURE_DIM_3D ? 3 : 2;
}

/* A texture of the format with everything else at random. */
static void random_texture(struct fixture *fx, u32 format)
{
	u64 *seed = &fx->seed;

	fx_texture(fx, format, rand_below(seed, 3), all_dims[rand_below(seed, 7)], SIDE);
	if (rand_below(seed, 2)) {
		fx->texture.swizzle_r = (u8)rand_below(seed, 6);
		fx->texture.swizzle_g = (u8)rand_below(seed, 6);
		fx->texture.swizzle_b = (u8)rand_below(seed, 6);
		fx->texture.swizzle_a = (u8)rand_below(seed, 6);
	}
	if (rand_below(seed, 4) == 0)
		fx->texture.levels = (u8)(1 + rand_below(seed, fx->texture.levels));
	if (fx->texture.layout == PUMICE_LAYOUT_LINEAR && fx->texture.levels == 1 &&
	    rand_below(seed, 2))
		fx->texture.stride = model_bytes(format) * (fx->texture.width + 1u + 7u);
	fx_fill(fx);
}

static void random_sampler(struct fixture *fx)
{
	u64 *seed = &fx->seed;
	bool integer = model_integer(fx->texture.format);

	fx->sampler = (struct pumice_sampler){
		.min_linear = !integer && rand_below(seed, 4),
		.mag_linear = !integer && rand_below(seed, 4),
		.mip_filter = (u8)rand_below(seed, integer ? 2 : 3),
		.wrap_u = (u8)rand_below(seed, 5), .wrap_v = (u8)rand_below(seed, 5),
		.wrap_w = (u8)rand_below(seed, 5), .border = (u8)rand_below(seed, 3),
		.lod_bias = rand_float(seed, -1, 1),
		.min_lod = rand_float(seed, -2, 1),
		.max_lod = rand_float(seed, 1, 9),
	};
	if (rand_below(seed, 8) || is_cube(fx->texture.dim))
		return;
	fx->sampler.texels = true;
	fx->sampler.mip_filter = PUMICE_MIP_FILTER_NONE;
	fx->sampler.wrap_u = PUMICE_WRAP_CLAMP;
	fx->sampler.wrap_v = PUMICE_WRAP_BORDER;
	fx->sampler.wrap_w = PUMICE_WRAP_CLAMP;
}

static void random_coordinates(struct fixture *fx)
{
	float far = fx->sampler.texels ? 2 * SIDE : 3;

	for (u32 l = 0; l < PUMICE_LANES; l++) {
		for (u32 a = 0; a < 4; a++)
			fx->coord[a][l] = rand_float(&fx->seed, -far, far);
		/* Layers follow the coordinates. */
		if (fx->texture.dim >= PUMICE_TEXTURE_DIM_1D_ARRAY)
			fx->coord[is_cube(fx->texture.dim) ? 3 : dims_of(fx->texture.dim)][l] =
				rand_float(&fx->seed, -1, (float)fx->texture.depth + 1);
	}
}

/*
 * The position of a lane in f64: coordinates, layer. False if two faces of a cube are
 * equally near.
 */
static bool lane_place(const struct fixture *fx, u32 l, double coord[3], u32 *layer)
{
	u32 dim = fx->texture.dim, depth = fx->texture.depth + 1u;
	double dir[3], a[3];

	for (u32 n = 0; n < 3; n++)
		coord[n] = dir[n] = fx->coord[n][l];
	*layer = 0;
	if (dim >= PUMICE_TEXTURE_DIM_1D_ARRAY) {
		double last = (is_cube(dim) ? depth / 6 : depth) - 1;
		double f = fx->coord[is_cube(dim) ? 3 : dims_of(dim)][l];

		*layer = (u32)fmin(fmax(rint(f), 0), last);
	}
	if (!is_cube(dim))
		return true;
	for (u32 n = 0; n < 3; n++)
		a[n] = fabs(dir[n]);
	*layer = *layer * 6 + model_face(dir, &coord[0], &coord[1]);
	return fabs(a[0] - a[1]) > MARGIN && fabs(a[1] - a[2]) > MARGIN &&
	       fabs(a[0] - a[2]) > MARGIN;
}

/* Levels selected by a level of detail. False close to a change. */
struct choice {
	u32 level[2];
	double weight;
	bool linear;
};

static bool choose(const struct fixture *fx, double lod, struct choice *out)
{
	const struct pumice_sampler *p = &fx->sampler;
	double last = fx->texture.levels - 1;

	lod += p->lod_bias;
	lod = fmin(fmax(lod, p->min_lod), p->max_lod);
	out->linear = lod > 0 ? p->min_linear : p->mag_linear;
	out->weight = 0;
	out->level[0] = out->level[1] = 0;
	if (fabs(lod) < MARGIN && p->min_linear != p->mag_linear)
		return false;
	lod = fmin(fmax(lod, 0), last);
	if (p->mip_filter == PUMICE_MIP_FILTER_NEAREST) {
		out->level[0] = out->level[1] = (u32)floor(lod + 0.5);
		return fabs(lod - floor(lod) - 0.5) > MARGIN;
	}
	if (p->mip_filter == PUMICE_MIP_FILTER_LINEAR) {
		out->level[0] = (u32)floor(lod);
		out->level[1] = (u32)ceil(lod);
		out->weight = lod - floor(lod);
	}
	return true;
}

static double range_of(const struct fixture *fx)
{
	char kind = 0;
	u32 low;

	model_component(fx->texture.format, 0, &kind, &low);
	return kind == 'f' ? 2 : 1;
}

/* Compare a lane with the model; false if the model is ambiguous. */
static bool check_lane(const struct fixture *fx, struct model_read *m, u32 l, double lod)
{
	struct model_texel sum = { { 0 } };
	struct choice choice;
	double coord[3];
	u32 layer;

	if (!lane_place(fx, l, coord, &layer) || !choose(fx, lod, &choice))
		return false;
	m->linear = choice.linear;
	for (u32 n = 0; n < 2; n++) {
		double weight = n ? choice.weight : 1 - choice.weight;
		struct model_texel t = model_sample(m, choice.level[n], layer, coord);

		if (weight > 0 && !m->linear &&
		    model_margin(m, choice.level[n], coord, false) < MARGIN)
			return false;
		for (u32 c = 0; c < 4; c++)
			sum.c[c] += weight > 0 ? weight * t.c[c] : 0;
	}
	for (u32 c = 0; c < 4; c++) {
		double v = fx_result(fx, c, l), expected = fx_swizzled(fx, &sum, c);
		double bound = model_integer(fx->texture.format) ? 0 : BOUND * range_of(fx);

		if (!(fabs(v - expected) <= bound))
			fail_msg("format %u layout %u dim %u lane %u component %u: %.9g, not %.9g",
				 fx->texture.format, fx->texture.layout, fx->texture.dim, l, c, v,
				 expected);
	}
	return true;
}

static void random_reads_equal_the_model(void **state)
{
	struct fixture fx;
	u32 compared = 0, lanes = 0;

	(void)state;
	fx_setup(&fx);
	for (u32 n = 0; n < 100 * PUMICE_FORMAT_COUNT; n++) {
		u32 format = n % PUMICE_FORMAT_COUNT;
		struct model_read m;

		if (!format)
			continue;
		random_texture(&fx, format);
		random_sampler(&fx);
		random_coordinates(&fx);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			fx.extra[0][l] = n % 3 ? rand_float(&fx.seed, -2, 7) : fx.extra[0][0];
		fx.request.lanes = n % 4 ? ~0u : rand_u32(&fx.seed) | 1;
		if (!fx_read(&fx, PUMICE_USC_OP_SAMPLE_LOD))
			fail_msg("format %u: fault %u", format, fx.fault.fault);
		m = fx_model(&fx);
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			if (!(fx.request.lanes >> l & 1))
				continue;
			lanes++;
			compared += check_lane(&fx, &m, l, fx.extra[0][l]);
		}
	}
	assert_true(compared > lanes / 100 * 95);
	fx_teardown(&fx);
}

static void comparisons_filter_ones_and_zeros(void **state)
{
	static const u32 formats[] = { PUMICE_FORMAT_D16_UNORM, PUMICE_FORMAT_D24_UNORM,
				       PUMICE_FORMAT_D24_S8, PUMICE_FORMAT_D32_FLOAT };
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	for (u32 n = 0; n < 4000; n++) {
		struct model_read m;
		bool gather;

		random_texture(&fx, formats[n % 4]);
		random_sampler(&fx);
		fx.sampler.compare = true;
		fx.sampler.compare_func = (u8)(n / 4 % 8);
		random_coordinates(&fx);
		gather = n % 3 == 0 && dims_of(fx.texture.dim) == 2;
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			struct model_surface s = fx_surface(&fx);

			/* Often a depth of the texture, to test equality. */
			fx.extra[0][l] = l % 2 ? rand_float(&fx.seed, -0.5f, 1.5f) :
				(float)model_texel_at(&s, fx.memory, 0, 0,
						      rand_below(&fx.seed, s.width), 0).c[0];
		}
		assert_true(fx_read(&fx, gather ? PUMICE_USC_OP_GATHER_CMP :
						  PUMICE_USC_OP_SAMPLE_CMP_LOD0));
		m = fx_model(&fx);
		m.linear = fx.sampler.mag_linear;
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			struct model_texel t[4];
			double coord[3];
			u32 layer;

			m.reference = fx.extra[0][l];
			if (!lane_place(&fx, l, coord, &layer) ||
			    model_margin(&m, 0, coord, gather || m.linear) < MARGIN)
				continue;
			if (gather)
				model_gather(&m, layer, coord, t);
			else
				t[0] = t[1] = t[2] = t[3] = model_sample(&m, 0, layer, coord);
			for (u32 c = 0; c < 4; c++)
				assert_true(fabs(fx_result(&fx, c, l) - t[c].c[0]) <= BOUND);
		}
	}
	fx_teardown(&fx);
}

static void gathers_return_the_four_texels_in_order(void **state)
{
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	for (u32 n = 0; n < 20 * PUMICE_FORMAT_COUNT; n++) {
		u32 format = n % PUMICE_FORMAT_COUNT;
		struct model_read m;

		if (!format)
			continue;
		do {
			random_texture(&fx, format);
		} while (dims_of(fx.texture.dim) != 2);
		random_sampler(&fx);
		random_coordinates(&fx);
		fx.request.comp = (u8)(n / 7 % 4);
		assert_true(fx_read(&fx, PUMICE_USC_OP_GATHER));
		m = fx_model(&fx);
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			struct model_texel t[4];
			double coord[3];
			u32 layer;

			if (!lane_place(&fx, l, coord, &layer) ||
			    model_margin(&m, 0, coord, true) < MARGIN)
				continue;
			model_gather(&m, layer, coord, t);
			for (u32 c = 0; c < 4; c++) {
				double expected = fx_swizzled(&fx, &t[c], fx.request.comp);

				if (!model_integer(format))
					expected = (float)expected;
				assert_true(fx_result(&fx, c, l) == expected);
			}
		}
	}
	fx_teardown(&fx);
}

static void fetches_use_integer_coordinates(void **state)
{
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	for (u32 n = 0; n < 20 * PUMICE_FORMAT_COUNT; n++) {
		u32 format = n % PUMICE_FORMAT_COUNT, at[4][PUMICE_LANES], level[PUMICE_LANES];
		struct model_surface s;
		u32 dims;

		if (!format)
			continue;
		do {
			random_texture(&fx, format);
		} while (is_cube(fx.texture.dim));
		s = fx_surface(&fx);
		dims = dims_of(s.dim);
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			for (u32 a = 0; a < 4; a++)
				at[a][l] = rand_below(&fx.seed, a < dims ? SIDE / 2 : 8);
			level[l] = rand_below(&fx.seed, 3);
			if (rand_below(&fx.seed, 10) == 0)
				at[rand_below(&fx.seed, 2)][l] = rand_u32(&fx.seed);
			if (rand_below(&fx.seed, 20) == 0)
				level[l] = rand_u32(&fx.seed);
		}
		memcpy(fx.coord, at, sizeof(at));
		memcpy(fx.extra, level, sizeof(level));
		/* Not used, invalid or not: */
		fx.sampler.mip_filter = n % 2 ? 3 : PUMICE_MIP_FILTER_NONE;
		fx.sampler.wrap_u = n % 2 ? 7 : PUMICE_WRAP_BORDER;
		fx.request.lanes = n % 3 ? ~0u : rand_u32(&fx.seed);
		assert_true(fx_read(&fx, PUMICE_USC_OP_FETCH));
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			u32 x = at[0][l], y = dims > 1 ? at[1][l] : 0, layer = 0;
			struct model_texel t;
			bool inside;

			if (!(fx.request.lanes >> l & 1))
				continue;
			if (dims == 3 || s.dim >= PUMICE_TEXTURE_DIM_1D_ARRAY)
				layer = at[dims == 3 ? 2 : dims][l];
			inside = level[l] < s.levels && x < model_level_size(s.width, level[l]) &&
				 y < model_level_size(s.height, level[l]) &&
				 layer < model_layers(&s, level[l]);
			for (u32 c = 0; c < 4 && !inside; c++)
				assert_int_equal(fx.out[c][l], 0);
			if (!inside)
				continue;
			t = model_texel_at(&s, fx.memory, level[l], layer, x, y);
			for (u32 c = 0; c < 4; c++) {
				double expected = fx_swizzled(&fx, &t, c);

				if (!model_integer(format))
					expected = (float)expected;
				assert_true(fx_result(&fx, c, l) == expected);
			}
		}
	}
	fx_teardown(&fx);
}

/* Coordinates outside of any texture: texels inside are read, without a fault. */
static void odd_coordinates_stay_inside(void **state)
{
	static const float odd[] = { INFINITY, -INFINITY, NAN, 1e30f, -1e30f, 1e9f, 2147483648.0f,
				     -2147483648.0f, -0.0f, 1e-40f, -1e-40f, 0.99999994f, 1,
				     -5.9604645e-8f, 16777216.0f };
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	for (u32 n = 0; n < 4000; n++) {
		random_texture(&fx, 1 + n % (PUMICE_FORMAT_COUNT - 1));
		random_sampler(&fx);
		random_coordinates(&fx);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			fx.coord[rand_below(&fx.seed, 4)][l] =
				odd[rand_below(&fx.seed, sizeof(odd) / sizeof(odd[0]))];
		/* The texture ends where memory does: beyond it there is no page. */
		{
			struct model_surface s = fx_surface(&fx);
			u64 bytes = (model_bytes_of_all(&s) + 15) / 16 * 16;

			memmove(fx.memory + FX_BYTES - bytes, fx.memory, bytes);
			fx.texture.addr = FX_VA + FX_BYTES - bytes;
		}
		for (u32 l = 0; l < PUMICE_LANES; l++)
			fx.extra[0][l] = l % 3 ? rand_float(&fx.seed, -2, 7) :
				odd[rand_below(&fx.seed, sizeof(odd) / sizeof(odd[0]))];
		if (!fx_read(&fx, PUMICE_USC_OP_SAMPLE_LOD))
			fail_msg("fault %u at %llx", fx.fault.fault,
				 (unsigned long long)fx.fault.addr);
	}
	fx_teardown(&fx);
}

/* A texture of R32_FLOAT with 16 texels along each of its axes, and its samples between levels. */
static void float_texture(struct fixture *fx, u32 dim)
{
	const u16 last = 15;

	fx_texture(fx, PUMICE_FORMAT_R32_FLOAT, PUMICE_LAYOUT_LINEAR, dim, 1);
	fx->texture.width = last;
	fx->texture.height = dims_of(dim) > 1 ? last : 0;
	fx->texture.depth = dims_of(dim) > 2 ? last : 0;
	fx->texture.levels = 5;
	fx->sampler = (struct pumice_sampler){
		.min_linear = true, .mag_linear = true, .mip_filter = PUMICE_MIP_FILTER_LINEAR,
		.max_lod = 8,
	};
}

/*
 * Write infinity or NaN to a level's texels that have an odd coordinate, or to all, and infinity to
 * every second one of the others.
 */
static void put_special(struct fixture *fx, u32 level, bool all)
{
	static const float special[] = { INFINITY, -INFINITY, NAN };
	const struct model_surface s = fx_surface(fx);
	u32 x, y, z;

	for (z = 0; z < model_layers(&s, level); z++) {
		for (y = 0; y < model_level_size(s.height, level); y++) {
			for (x = 0; x < model_level_size(s.width, level); x++) {
				const bool odd = all || (x | y | z) & 1;

				if (odd || (x + y + z) / 2 % 2)
					memcpy(fx->memory + model_offset(&s, level, z, x, y),
					       &special[odd ? (x + y + z) % 3 : 0],
					       sizeof(special[0]));
			}
		}
	}
}

/* Compare lanes that are at centres of texels of a level. */
static void check_centres(const struct fixture *fx, const u32 (*at)[3], u32 level)
{
	const struct model_surface s = fx_surface(fx);
	u32 l;

	for (l = 0; l < PUMICE_LANES; l += 2) {
		const struct model_texel t = model_texel_at(&s, fx->memory, level, at[l][2],
							    at[l][0], at[l][1]);

		assert_false(isnan(t.c[0]));
		assert_true(fx_result(fx, 0, l) == t.c[0]);
	}
}

/*
 * Read at centres of texels, where the other texels of the filter have weight 0, and, in every
 * other lane, elsewhere. Between levels these are at level 1.25, and level 2 is special.
 */
static void read_centres(struct fixture *fx, u32 dim, bool between_levels)
{
	const u32 level = between_levels ? 1 : 0, side = 16u >> level, dims = dims_of(dim);
	u32 at[PUMICE_LANES][3] = { { 0 } }, l, a;

	float_texture(fx, dim);
	fx_fill(fx);
	put_special(fx, level, false);
	put_special(fx, 2, true);
	for (l = 0; l < PUMICE_LANES; l++) {
		const float off = l % 2 ? 0.25f : 0;

		for (a = 0; a < dims; a++) {
			at[l][a] = rand_below(&fx->seed, side / 2) * 2;
			fx->coord[a][l] = ((float)at[l][a] + 0.5f + off) / (float)side;
		}
		fx->extra[0][l] = between_levels ? 1 + off : -1;
	}
	assert_true(fx_read(fx, PUMICE_USC_OP_SAMPLE_LOD));
	check_centres(fx, (const u32 (*)[3])at, level);
	for (l = 1; l < PUMICE_LANES; l += 2)
		assert_false(isfinite(fx_result(fx, 0, l)));
}

/* The product of 0 and an infinite texel, or its difference to another one, would be NaN. */
static void texels_of_weight_0_may_be_infinite(void **state)
{
	static const u32 dims[] = { PUMICE_TEXTURE_DIM_1D, PUMICE_TEXTURE_DIM_2D,
				    PUMICE_TEXTURE_DIM_3D };
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	for (u32 level = 0; level < TEXEL_LEVELS; level++) {
		if (!texel_level_ops(level))
			continue;
		fx.tag->ops = fx.tf.ops = texel_level_ops(level);
		for (u32 n = 0; n < 6; n++)
			read_centres(&fx, dims[n % 3], n / 3);
	}
	fx_teardown(&fx);
}

/* Every vector level has the same bits, of every operation's kinds of work. */
static void all_vector_levels_read_the_same_bits(void **state)
{
	struct fixture fx;
	u32 compared = 0;

	(void)state;
	fx_setup(&fx);
	for (u32 n = 0; n < 40 * PUMICE_FORMAT_COUNT; n++) {
		u32 first[4][PUMICE_LANES];

		if (n % PUMICE_FORMAT_COUNT == 0)
			continue;
		random_texture(&fx, n % PUMICE_FORMAT_COUNT);
		random_sampler(&fx);
		random_coordinates(&fx);
		if (!fx.sampler.texels)
			fx.sampler.aniso_log2 = (u8)rand_below(&fx.seed, 5);
		fx.request.spans = n % 2;
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			for (u32 e = 0; e < 6; e++)
				fx.extra[e][l] = rand_float(&fx.seed, -0.1f, 0.1f);
		}
		for (u32 level = 0; level < TEXEL_LEVELS; level++) {
			if (!texel_level_ops(level))
				continue;
			fx.tag->ops = fx.tf.ops = texel_level_ops(level);
			assert_true(fx_read(&fx, n % 3 ? PUMICE_USC_OP_SAMPLE :
							 PUMICE_USC_OP_SAMPLE_GRAD));
			if (level) {
				assert_memory_equal(fx.out, first, sizeof(first));
				compared++;
			}
			memcpy(first, fx.out, sizeof(first));
		}
	}
	assert_true(compared || !texel_level_ops(TEXEL_LEVEL_AVX2));
	fx_teardown(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_reads_equal_the_model),
		cmocka_unit_test(comparisons_filter_ones_and_zeros),
		cmocka_unit_test(gathers_return_the_four_texels_in_order),
		cmocka_unit_test(fetches_use_integer_coordinates),
		cmocka_unit_test(odd_coordinates_stay_inside),
		cmocka_unit_test(texels_of_weight_0_may_be_infinite),
		cmocka_unit_test(all_vector_levels_read_the_same_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
