// SPDX-License-Identifier: MIT
/*
 * Reads of textures against the scalar model: random state, random coordinates.
 *
 * The bound: textures have up to 24 texels per side and coordinates up to 3, so that a
 * position is accurate to 2^-17 texels; a filtered value is accurate to 2^-14 of the format's
 * range. If the nearest texel or the level changes within 2^-13, the model is ambiguous, and
 * the lane is not compared.
 */
#include "rig.h"

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

static float as_float(u32 bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static u32 as_bits(float f)
{
	u32 bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

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
static void random_texture(struct rig *rig, u32 format)
{
	u64 *seed = &rig->seed;

	rig_texture(rig, format, rand_below(seed, 3), all_dims[rand_below(seed, 7)], SIDE);
	if (rand_below(seed, 2)) {
		rig->texture.swizzle_r = (u8)rand_below(seed, 6);
		rig->texture.swizzle_g = (u8)rand_below(seed, 6);
		rig->texture.swizzle_b = (u8)rand_below(seed, 6);
		rig->texture.swizzle_a = (u8)rand_below(seed, 6);
	}
	if (rand_below(seed, 4) == 0)
		rig->texture.levels = (u8)(1 + rand_below(seed, rig->texture.levels));
	if (rig->texture.layout == PUMICE_LAYOUT_LINEAR && rig->texture.levels == 1 &&
	    rand_below(seed, 2))
		rig->texture.stride = model_bytes(format) * (rig->texture.width + 1u + 7u);
	rig_fill(rig);
}

static void random_sampler(struct rig *rig)
{
	u64 *seed = &rig->seed;
	bool integer = model_integer(rig->texture.format);

	rig->sampler = (struct pumice_sampler){
		.min_linear = !integer && rand_below(seed, 4), .mag_linear = !integer && rand_below(seed, 4),
		.mip_filter = (u8)rand_below(seed, integer ? 2 : 3),
		.wrap_u = (u8)rand_below(seed, 5), .wrap_v = (u8)rand_below(seed, 5),
		.wrap_w = (u8)rand_below(seed, 5), .border = (u8)rand_below(seed, 3),
		.lod_bias = as_bits(rand_float(seed, -1, 1)),
		.min_lod = as_bits(rand_float(seed, -2, 1)),
		.max_lod = as_bits(rand_float(seed, 1, 9)),
	};
	if (rand_below(seed, 8) || is_cube(rig->texture.dim))
		return;
	rig->sampler.texels = true;
	rig->sampler.mip_filter = PUMICE_MIP_FILTER_NONE;
	rig->sampler.wrap_u = PUMICE_WRAP_CLAMP;
	rig->sampler.wrap_v = PUMICE_WRAP_BORDER;
	rig->sampler.wrap_w = PUMICE_WRAP_CLAMP;
}

static void random_coordinates(struct rig *rig)
{
	float far = rig->sampler.texels ? 2 * SIDE : 3;

	for (u32 l = 0; l < PUMICE_LANES; l++) {
		for (u32 a = 0; a < 4; a++)
			rig->coord[a][l] = rand_float(&rig->seed, -far, far);
		/* Layers follow the coordinates. */
		if (rig->texture.dim >= PUMICE_TEXTURE_DIM_1D_ARRAY)
			rig->coord[is_cube(rig->texture.dim) ? 3 : dims_of(rig->texture.dim)][l] =
				rand_float(&rig->seed, -1, (float)rig->texture.depth + 1);
	}
}

/*
 * The position of a lane in f64: coordinates, layer. False if two faces of a cube are
 * equally near.
 */
static bool lane_place(const struct rig *rig, u32 l, double coord[3], u32 *layer)
{
	u32 dim = rig->texture.dim, depth = rig->texture.depth + 1u;
	double dir[3], a[3];

	for (u32 n = 0; n < 3; n++)
		coord[n] = dir[n] = rig->coord[n][l];
	*layer = 0;
	if (dim >= PUMICE_TEXTURE_DIM_1D_ARRAY) {
		double last = (is_cube(dim) ? depth / 6 : depth) - 1;
		double f = rig->coord[is_cube(dim) ? 3 : dims_of(dim)][l];

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

static bool choose(const struct rig *rig, double lod, struct choice *out)
{
	const struct pumice_sampler *p = &rig->sampler;
	double last = rig->texture.levels - 1;

	lod += as_float(p->lod_bias);
	lod = fmin(fmax(lod, as_float(p->min_lod)), as_float(p->max_lod));
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

static double range_of(const struct rig *rig)
{
	char kind = 0;
	u32 low;

	model_component(rig->texture.format, 0, &kind, &low);
	return kind == 'f' ? 2 : 1;
}

/* Compare a lane with the model; false if the model is ambiguous. */
static bool check_lane(const struct rig *rig, struct model_read *m, u32 l, double lod)
{
	struct model_texel sum = { { 0 } };
	struct choice choice;
	double coord[3];
	u32 layer;

	if (!lane_place(rig, l, coord, &layer) || !choose(rig, lod, &choice))
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
		double v = rig_result(rig, c, l), expected = rig_swizzled(rig, &sum, c);
		double bound = model_integer(rig->texture.format) ? 0 : BOUND * range_of(rig);

		if (!(fabs(v - expected) <= bound))
			fail_msg("format %u layout %u dim %u lane %u component %u: %.9g, not %.9g",
				 rig->texture.format, rig->texture.layout, rig->texture.dim, l, c, v,
				 expected);
	}
	return true;
}

static void random_reads_equal_the_model(void **state)
{
	struct rig rig;
	u32 compared = 0, lanes = 0;

	(void)state;
	rig_setup(&rig);
	for (u32 n = 0; n < 100 * PUMICE_FORMAT_COUNT; n++) {
		u32 format = n % PUMICE_FORMAT_COUNT;
		struct model_read m;

		if (!format)
			continue;
		random_texture(&rig, format);
		random_sampler(&rig);
		random_coordinates(&rig);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			rig.extra[0][l] = n % 3 ? rand_float(&rig.seed, -2, 7) : rig.extra[0][0];
		rig.request.lanes = n % 4 ? ~0u : rand_u32(&rig.seed) | 1;
		if (!rig_read(&rig, PUMICE_USC_OP_SAMPLE_LOD))
			fail_msg("format %u: fault %u", format, rig.fault.fault);
		m = rig_model(&rig);
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			if (!(rig.request.lanes >> l & 1))
				continue;
			lanes++;
			compared += check_lane(&rig, &m, l, rig.extra[0][l]);
		}
	}
	assert_true(compared > lanes / 100 * 95);
	rig_teardown(&rig);
}

static void comparisons_filter_ones_and_zeros(void **state)
{
	static const u32 formats[] = { PUMICE_FORMAT_D16_UNORM, PUMICE_FORMAT_D24_UNORM,
				       PUMICE_FORMAT_D24_S8, PUMICE_FORMAT_D32_FLOAT };
	struct rig rig;

	(void)state;
	rig_setup(&rig);
	for (u32 n = 0; n < 4000; n++) {
		struct model_read m;
		bool gather;

		random_texture(&rig, formats[n % 4]);
		random_sampler(&rig);
		rig.sampler.compare = true;
		rig.sampler.compare_func = (u8)(n / 4 % 8);
		random_coordinates(&rig);
		gather = n % 3 == 0 && dims_of(rig.texture.dim) == 2;
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			struct model_surface s = rig_surface(&rig);

			/* Often a depth of the texture, to test equality. */
			rig.extra[0][l] = l % 2 ? rand_float(&rig.seed, -0.5f, 1.5f) :
				(float)model_texel_at(&s, rig.memory, 0, 0,
						      rand_below(&rig.seed, s.width), 0).c[0];
		}
		assert_true(rig_read(&rig, gather ? PUMICE_USC_OP_GATHER_CMP :
						    PUMICE_USC_OP_SAMPLE_CMP_LOD0));
		m = rig_model(&rig);
		m.linear = rig.sampler.mag_linear;
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			struct model_texel t[4];
			double coord[3];
			u32 layer;

			m.reference = rig.extra[0][l];
			if (!lane_place(&rig, l, coord, &layer) ||
			    model_margin(&m, 0, coord, gather || m.linear) < MARGIN)
				continue;
			if (gather)
				model_gather(&m, layer, coord, t);
			else
				t[0] = t[1] = t[2] = t[3] = model_sample(&m, 0, layer, coord);
			for (u32 c = 0; c < 4; c++)
				assert_true(fabs(rig_result(&rig, c, l) - t[c].c[0]) <= BOUND);
		}
	}
	rig_teardown(&rig);
}

static void gathers_return_the_four_texels_in_order(void **state)
{
	struct rig rig;

	(void)state;
	rig_setup(&rig);
	for (u32 n = 0; n < 20 * PUMICE_FORMAT_COUNT; n++) {
		u32 format = n % PUMICE_FORMAT_COUNT;
		struct model_read m;

		if (!format)
			continue;
		do {
			random_texture(&rig, format);
		} while (dims_of(rig.texture.dim) != 2);
		random_sampler(&rig);
		random_coordinates(&rig);
		rig.request.comp = (u8)(n / 7 % 4);
		assert_true(rig_read(&rig, PUMICE_USC_OP_GATHER));
		m = rig_model(&rig);
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			struct model_texel t[4];
			double coord[3];
			u32 layer;

			if (!lane_place(&rig, l, coord, &layer) ||
			    model_margin(&m, 0, coord, true) < MARGIN)
				continue;
			model_gather(&m, layer, coord, t);
			for (u32 c = 0; c < 4; c++) {
				double expected = rig_swizzled(&rig, &t[c], rig.request.comp);

				if (!model_integer(format))
					expected = (float)expected;
				assert_true(rig_result(&rig, c, l) == expected);
			}
		}
	}
	rig_teardown(&rig);
}

static void fetches_use_integer_coordinates(void **state)
{
	struct rig rig;

	(void)state;
	rig_setup(&rig);
	for (u32 n = 0; n < 20 * PUMICE_FORMAT_COUNT; n++) {
		u32 format = n % PUMICE_FORMAT_COUNT, at[4][PUMICE_LANES], level[PUMICE_LANES];
		struct model_surface s;
		u32 dims;

		if (!format)
			continue;
		do {
			random_texture(&rig, format);
		} while (is_cube(rig.texture.dim));
		s = rig_surface(&rig);
		dims = dims_of(s.dim);
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			for (u32 a = 0; a < 4; a++)
				at[a][l] = rand_below(&rig.seed, a < dims ? SIDE / 2 : 8);
			level[l] = rand_below(&rig.seed, 3);
			if (rand_below(&rig.seed, 10) == 0)
				at[rand_below(&rig.seed, 2)][l] = rand_u32(&rig.seed);
			if (rand_below(&rig.seed, 20) == 0)
				level[l] = rand_u32(&rig.seed);
		}
		memcpy(rig.coord, at, sizeof(at));
		memcpy(rig.extra, level, sizeof(level));
		/* Not used: */
		rig.sampler.mip_filter = 3;
		rig.sampler.wrap_u = 7;
		rig.request.lanes = n % 3 ? ~0u : rand_u32(&rig.seed);
		assert_true(rig_read(&rig, PUMICE_USC_OP_FETCH));
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			u32 x = at[0][l], y = dims > 1 ? at[1][l] : 0, layer = 0;
			struct model_texel t;
			bool inside;

			if (!(rig.request.lanes >> l & 1))
				continue;
			if (dims == 3 || s.dim >= PUMICE_TEXTURE_DIM_1D_ARRAY)
				layer = at[dims == 3 ? 2 : dims][l];
			inside = level[l] < s.levels && x < model_level_size(s.width, level[l]) &&
				 y < model_level_size(s.height, level[l]) &&
				 layer < model_layers(&s, level[l]);
			for (u32 c = 0; c < 4 && !inside; c++)
				assert_int_equal(rig.out[c][l], 0);
			if (!inside)
				continue;
			t = model_texel_at(&s, rig.memory, level[l], layer, x, y);
			for (u32 c = 0; c < 4; c++) {
				double expected = rig_swizzled(&rig, &t, c);

				if (!model_integer(format))
					expected = (float)expected;
				assert_true(rig_result(&rig, c, l) == expected);
			}
		}
	}
	rig_teardown(&rig);
}

/* Coordinates outside of any texture: texels inside are read, without a fault. */
static void odd_coordinates_stay_inside(void **state)
{
	static const float odd[] = { INFINITY, -INFINITY, NAN, 1e30f, -1e30f, 1e9f, 2147483648.0f,
				     -2147483648.0f, -0.0f, 1e-40f, -1e-40f, 0.99999994f, 1,
				     -5.9604645e-8f, 16777216.0f };
	struct rig rig;

	(void)state;
	rig_setup(&rig);
	for (u32 n = 0; n < 4000; n++) {
		random_texture(&rig, 1 + n % (PUMICE_FORMAT_COUNT - 1));
		random_sampler(&rig);
		random_coordinates(&rig);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			rig.coord[rand_below(&rig.seed, 4)][l] =
				odd[rand_below(&rig.seed, sizeof(odd) / sizeof(odd[0]))];
		/* The texture ends where memory does: beyond it there is no page. */
		{
			struct model_surface s = rig_surface(&rig);
			u64 bytes = (model_bytes_of_all(&s) + 15) / 16 * 16;

			memmove(rig.memory + RIG_BYTES - bytes, rig.memory, bytes);
			rig.texture.addr = RIG_VA + RIG_BYTES - bytes;
		}
		for (u32 l = 0; l < PUMICE_LANES; l++)
			rig.extra[0][l] = l % 3 ? rand_float(&rig.seed, -2, 7) :
				odd[rand_below(&rig.seed, sizeof(odd) / sizeof(odd[0]))];
		if (!rig_read(&rig, PUMICE_USC_OP_SAMPLE_LOD))
			fail_msg("fault %u at %llx", rig.fault.fault,
				 (unsigned long long)rig.fault.addr);
	}
	rig_teardown(&rig);
}

/* Every vector level has the same bits, of every operation's kinds of work. */
static void all_vector_levels_read_the_same_bits(void **state)
{
	struct rig rig;
	u32 compared = 0;

	(void)state;
	rig_setup(&rig);
	for (u32 n = 0; n < 40 * PUMICE_FORMAT_COUNT; n++) {
		u32 first[4][PUMICE_LANES];

		if (n % PUMICE_FORMAT_COUNT == 0)
			continue;
		random_texture(&rig, n % PUMICE_FORMAT_COUNT);
		random_sampler(&rig);
		random_coordinates(&rig);
		if (!rig.sampler.texels)
			rig.sampler.aniso_log2 = (u8)rand_below(&rig.seed, 5);
		rig.request.spans = n % 2;
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			for (u32 e = 0; e < 6; e++)
				rig.extra[e][l] = rand_float(&rig.seed, -0.1f, 0.1f);
		}
		for (u32 level = 0; level < TEXEL_LEVELS; level++) {
			if (!texel_level_ops(level))
				continue;
			rig.tag->ops = texel_level_ops(level);
			assert_true(rig_read(&rig, n % 3 ? PUMICE_USC_OP_SAMPLE :
							   PUMICE_USC_OP_SAMPLE_GRAD));
			if (level) {
				assert_memory_equal(rig.out, first, sizeof(first));
				compared++;
			}
			memcpy(first, rig.out, sizeof(first));
		}
	}
	assert_true(compared || !texel_level_ops(TEXEL_LEVEL_AVX2));
	rig_teardown(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_reads_equal_the_model),
		cmocka_unit_test(comparisons_filter_ones_and_zeros),
		cmocka_unit_test(gathers_return_the_four_texels_in_order),
		cmocka_unit_test(fetches_use_integer_coordinates),
		cmocka_unit_test(odd_coordinates_stay_inside),
		cmocka_unit_test(all_vector_levels_read_the_same_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
