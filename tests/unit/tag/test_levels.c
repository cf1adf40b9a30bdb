// SPDX-License-Identifier: MIT
/*
 * Levels of detail and anisotropy, tested with a texture that has distinct colours per
 * level and position.
 */
#include "fixture.h"

#include <math.h>
#include <string.h>

#include "pumice_isa_enums.h"
#include "surface.h"

#define BOUND 1e-4

/* Every texel of level n is n. */
static void fill_levels(struct fixture *fx)
{
	const struct pumice_surface s = pumice_surface_of_texture(&fx->texture);

	for (u32 n = 0; n < s.levels; n++) {
		struct pumice_level l = pumice_surface_level(&s, n);

		for (u64 at = 0; at < l.layer_bytes * l.layers; at += 4) {
			float f = (float)n;

			memcpy(fx->memory + l.offset + at, &f, sizeof(f));
		}
	}
}

/* R32_FLOAT, 64 x 32 with all levels. */
static void setup(struct fixture *fx)
{
	fx_setup(fx);
	fx->texture = (struct pumice_texture){
		.addr = FX_VA, .format = PUMICE_FORMAT_R32_FLOAT, .dim = PUMICE_TEXTURE_DIM_2D,
		.levels = 7, .width = 63, .height = 31, .swizzle_g = 1, .swizzle_b = 2,
		.swizzle_a = 3,
	};
	fill_levels(fx);
	fx->sampler = (struct pumice_sampler){
		.min_linear = true, .mag_linear = true, .mip_filter = PUMICE_MIP_FILTER_LINEAR,
		.min_lod = -100, .max_lod = 100,
	};
	fx->request.spans = true;
}

/* Coordinates of spans whose differences are given; each span elsewhere. */
static void set_spans(struct fixture *fx, float ux, float vx, float uy, float vy)
{
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		float x = (float)(l & 1), y = (float)(l >> 1 & 1), base = (float)(l / 4) / 8;

		fx->coord[0][l] = base + x * ux + y * uy;
		fx->coord[1][l] = base + x * vx + y * vy;
	}
}

/* log2 of the longer derivative, in texels. */
static double model_lod(double ux, double vx, double uy, double vy)
{
	return log2(fmax(hypot(ux * 64, vx * 32), hypot(uy * 64, vy * 32)));
}

static void spans_determine_the_level_of_detail(void **state)
{
	struct fixture fx;

	(void)state;
	setup(&fx);
	for (u32 n = 0; n < 3000; n++) {
		float scale = ldexpf(1, -(int)rand_below(&fx.seed, 9));
		float d[4], bias = n % 2 ? rand_float(&fx.seed, -2, 2) : 0;
		double lod;

		for (u32 i = 0; i < 4; i++)
			d[i] = rand_float(&fx.seed, -scale, scale);
		set_spans(&fx, d[0], d[1], d[2], d[3]);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			fx.extra[0][l] = bias;
		/* Compare the lanes with the result after rounding to f32. */
		lod = model_lod(fx.coord[0][29] - fx.coord[0][28],
				fx.coord[1][29] - fx.coord[1][28],
				fx.coord[0][30] - fx.coord[0][28],
				fx.coord[1][30] - fx.coord[1][28]);
		assert_true(fx_read(&fx, PUMICE_USC_OP_QUERY_LOD));
		for (u32 l = 28; l < PUMICE_LANES; l++) {
			assert_true(fabs(fx_result(&fx, 0, l) - lod) < BOUND);
			assert_true(fabs(fx_result(&fx, 1, l) - lod) < BOUND);
			assert_true(fx.out[2][l] == 0 && fx.out[3][l] == 0);
		}
		assert_true(fx_read(&fx, n % 2 ? PUMICE_USC_OP_SAMPLE_BIAS : PUMICE_USC_OP_SAMPLE));
		for (u32 l = 28; l < PUMICE_LANES; l++)
			assert_true(fabs(fx_result(&fx, 0, l) - fmin(fmax(lod + bias, 0), 6)) <
				    BOUND);
	}
	fx_teardown(&fx);
}

static void given_derivatives_count_lane_by_lane(void **state)
{
	struct fixture fx;

	(void)state;
	setup(&fx);
	fx.request.spans = false;
	for (u32 n = 0; n < 1000; n++) {
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			for (u32 i = 0; i < 4; i++)
				fx.extra[i][l] = rand_float(&fx.seed, -1, 1) *
						 ldexpf(1, -(int)rand_below(&fx.seed, 9));
		}
		assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE_GRAD));
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			double lod = model_lod(fx.extra[0][l], fx.extra[1][l], fx.extra[2][l],
					       fx.extra[3][l]);

			assert_true(fabs(fx_result(&fx, 0, l) - fmin(fmax(lod, 0), 6)) < BOUND);
		}
	}
	fx_teardown(&fx);
}

/* Their registers' contents have no effect, and no host memory is disclosed. */
static void lanes_that_do_not_read_have_the_result_of_the_first_that_does(void **state)
{
	const u32 first = 2;
	struct fixture fx;

	(void)state;
	setup(&fx);
	fx.request.spans = false;
	fx.request.lanes = 0x55555554;
	for (u32 l = 0; l < PUMICE_LANES; l++)
		fx.extra[0][l] = fx.request.lanes >> l & 1 ? 2.25f : 4.75f;
	assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE_LOD));
	assert_true(fabs(fx_result(&fx, 0, first) - 2.25) < BOUND);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(fx.out[0][l], fx.out[0][first]);
	fx_teardown(&fx);
}

static void the_sampler_biases_and_clamps(void **state)
{
	struct fixture fx;

	(void)state;
	setup(&fx);
	set_spans(&fx, 4 / 64.0f, 0, 0, 1 / 32.0f);	/* 2 */
	fx.sampler.lod_bias = 1.5f;
	assert_true(fx_read(&fx, PUMICE_USC_OP_QUERY_LOD));
	assert_true(fabs(fx_result(&fx, 0, 0) - 3.5) < BOUND);
	fx.sampler.max_lod = 2.25f;
	assert_true(fx_read(&fx, PUMICE_USC_OP_QUERY_LOD));
	assert_true(fx_result(&fx, 0, 0) == 2.25);
	assert_true(fabs(fx_result(&fx, 1, 0) - 3.5) < BOUND);
	assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE));
	assert_true(fabs(fx_result(&fx, 0, 0) - 2.25) < BOUND);
	fx.sampler.max_lod = 9;
	fx.sampler.min_lod = 5.5f;
	assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE));
	assert_true(fabs(fx_result(&fx, 0, 0) - 5.5) < BOUND);
	fx.sampler.mip_filter = PUMICE_MIP_FILTER_NEAREST;
	fx.sampler.min_lod = 5.25f;
	assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE));
	assert_true(fx_result(&fx, 0, 0) == 5);
	fx.sampler.mip_filter = PUMICE_MIP_FILTER_NONE;
	assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE));
	assert_true(fx_result(&fx, 0, 0) == 0);
	/* Without spans the level of detail is 0 before bias. */
	fx.sampler.mip_filter = PUMICE_MIP_FILTER_LINEAR;
	fx.sampler.min_lod = -100;
	fx.request.spans = false;
	assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE));
	assert_true(fx_result(&fx, 0, 0) == 1.5);
	fx_teardown(&fx);
}

/* The span of a cube texture: derivatives of u and v on the lane's face. */
static void cubes_take_derivatives_on_the_face(void **state)
{
	struct fixture fx;
	u32 n, compared = 0;

	(void)state;
	setup(&fx);
	fx.texture.dim = PUMICE_TEXTURE_DIM_CUBE;
	fx.texture.width = fx.texture.height = 31;
	fx.texture.depth = 5;
	fx.texture.levels = 6;
	fill_levels(&fx);
	fx.request.spans = false;
	for (n = 0; n < 2000; n++) {
		double dir[3], dx[3], dy[3], at[3][2], lod;
		const double h = 1e-5;
		float size = ldexpf(1, -(int)rand_below(&fx.seed, 6));
		bool inside = true;
		u32 face;

		for (u32 a = 0; a < 3; a++) {
			dir[a] = fx.coord[a][0] = rand_float(&fx.seed, -2, 2);
			dx[a] = fx.extra[a][0] = rand_float(&fx.seed, -size, size);
			dy[a] = fx.extra[3 + a][0] = rand_float(&fx.seed, -size, size);
		}
		face = model_face(dir, &at[0][0], &at[0][1]);
		for (u32 side = 1; side < 3; side++) {
			const double *d = side == 1 ? dx : dy;
			const double moved[3] = { dir[0] + d[0] * h, dir[1] + d[1] * h,
						  dir[2] + d[2] * h };

			inside &= model_face(moved, &at[side][0], &at[side][1]) == face;
		}
		if (!inside)
			continue;
		lod = log2(fmax(hypot(at[1][0] - at[0][0], at[1][1] - at[0][1]),
				hypot(at[2][0] - at[0][0], at[2][1] - at[0][1])) / h * 32);
		fx.request.lanes = 1;
		assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE_GRAD));
		assert_true(fabs(fx_result(&fx, 0, 0) - fmin(fmax(lod, 0), 5)) < 1e-3);
		compared++;
	}
	assert_true(compared > n / 2);
	fx_teardown(&fx);
}

/* A sample of level 0 by the model: bilinear. */
static double plane_at(const struct fixture *fx, u32 level, double u, double v)
{
	struct model_read m = fx_model(fx);
	const double coord[3] = { u, v, 0 };

	m.linear = true;
	return model_sample(&m, level, 0, coord).c[0];
}

/*
 * Anisotropy: the number of samples along the longer derivative is its ratio to the shorter
 * one; the level is selected for that number.
 */
static void anisotropy_averages_along_the_longer_derivative(void **state)
{
	struct fixture fx;
	u32 compared = 0, n;

	(void)state;
	setup(&fx);
	fx_fill(&fx);
	fx.request.spans = false;
	for (n = 0; n < 4000; n++) {
		double x2 = 0, y2 = 0, ratio, steps, lod, sum = 0;
		const float *major;
		u32 most = 1 + n % 4;

		fx.sampler.aniso_log2 = (u8)most;
		for (u32 a = 0; a < 2; a++) {
			fx.coord[a][0] = rand_float(&fx.seed, -1, 2);
			fx.extra[a][0] = rand_float(&fx.seed, -0.3f, 0.3f);
			fx.extra[2 + a][0] = rand_float(&fx.seed, -0.1f, 0.1f);
			x2 += pow(fx.extra[a][0] * (a ? 32 : 64), 2);
			y2 += pow(fx.extra[2 + a][0] * (a ? 32 : 64), 2);
		}
		major = x2 >= y2 ? fx.extra[0] : fx.extra[2];
		ratio = fmax(x2, y2) > 1 ? sqrt(fmax(x2, y2) / fmin(x2, y2)) : 1;
		steps = fmin(ceil(ratio), 1 << most);
		lod = fmin(fmax(0.5 * log2(fmax(x2, y2)) - log2(steps), 0), 6);
		if (fabs(ratio - rint(ratio)) < 1e-3)
			continue;
		fx.request.lanes = 1;
		assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE_GRAD));
		for (double step = 0; step < steps; step++) {
			double at = (step + 0.5) / steps - 0.5;
			double u = fx.coord[0][0] + at * major[0];
			double v = fx.coord[1][0] + at * major[PUMICE_LANES];
			double finer = plane_at(&fx, (u32)floor(lod), u, v);

			sum += finer + (plane_at(&fx, (u32)ceil(lod), u, v) - finer) *
				       (lod - floor(lod));
		}
		assert_true(fabs(fx_result(&fx, 0, 0) - sum / steps) < 5e-4);
		compared++;
	}
	assert_true(compared > n / 10 * 9);
	fx_teardown(&fx);
}

/* Each lane has samples of its own number: the result is that of the lane alone. */
static void anisotropy_of_lanes_is_independent(void **state)
{
	static float coord[2][PUMICE_LANES], extra[4][PUMICE_LANES], together[PUMICE_LANES];
	struct fixture fx;
	u32 n, l, row;

	(void)state;
	setup(&fx);
	fx_fill(&fx);
	fx.request.spans = false;
	fx.sampler.aniso_log2 = 4;
	for (n = 0; n < 20; n++) {
		for (l = 0; l < PUMICE_LANES; l++) {
			for (row = 0; row < 2; row++) {
				fx.coord[row][l] = coord[row][l] = rand_float(&fx.seed, -1, 2);
				fx.extra[row][l] = extra[row][l] =
					rand_float(&fx.seed, -0.3f, 0.3f);
				fx.extra[2 + row][l] = extra[2 + row][l] =
					rand_float(&fx.seed, -0.1f, 0.1f);
			}
		}
		fx.request.lanes = UINT32_MAX;
		assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE_GRAD));
		for (l = 0; l < PUMICE_LANES; l++)
			together[l] = (float)fx_result(&fx, 0, l);
		fx.request.lanes = 1;
		for (l = 0; l < PUMICE_LANES; l++) {
			for (row = 0; row < 4; row++)
				fx.extra[row][0] = extra[row][l];
			fx.coord[0][0] = coord[0][l];
			fx.coord[1][0] = coord[1][l];
			assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE_GRAD));
			assert_true((float)fx_result(&fx, 0, 0) == together[l]);
		}
	}
	fx_teardown(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_determine_the_level_of_detail),
		cmocka_unit_test(given_derivatives_count_lane_by_lane),
		cmocka_unit_test(lanes_that_do_not_read_have_the_result_of_the_first_that_does),
		cmocka_unit_test(the_sampler_biases_and_clamps),
		cmocka_unit_test(cubes_take_derivatives_on_the_face),
		cmocka_unit_test(anisotropy_averages_along_the_longer_derivative),
		cmocka_unit_test(anisotropy_of_lanes_is_independent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
