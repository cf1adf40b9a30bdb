// SPDX-License-Identifier: MIT
/*
 * Filters of cubes at the edges and corners of faces: against the scalar model, which
 * computes texels of other faces by directions, and against the cube itself: the value is
 * the same from both sides of an edge.
 */
#include "fixture.h"

#include <math.h>
#include <string.h>

#include "../../../qemu-device/gpu/tag/state.h"
#include "pumice_isa_enums.h"
#include "surface.h"

#define BOUND 0x1p-14	/* as in test_reads.c */
#define MARGIN 0x1p-13

/*
 * Filters by the end of u at which they exceed their face: low (0), none (1), high (2); same for v.
 */
struct zones {
	u32 seen[6][3][3];
};

static const u32 sides[] = { 1, 2, 3, 5, 8, 13, 24 };

/* A cube or several, n texels per side, with all levels and random texels. */
static void random_cube(struct fixture *fx, u32 format, u32 layout, bool array, u32 n)
{
	struct pumice_surface s;

	fx_texture(fx, format, layout,
		   array ? PUMICE_TEXTURE_DIM_CUBE_ARRAY : PUMICE_TEXTURE_DIM_CUBE, n);
	fx->texture.width = fx->texture.height = (u16)(n - 1);
	s = pumice_surface_of_texture(&fx->texture);
	fx->texture.levels = (u8)pumice_surface_max_levels(&s);
	fx_fill(fx);
}

static void linear_sampler(struct fixture *fx)
{
	fx->sampler = (struct pumice_sampler){
		.min_linear = true, .mag_linear = true, .mip_filter = PUMICE_MIP_FILTER_LINEAR,
		.wrap_u = (u8)rand_below(&fx->seed, 5), .wrap_v = (u8)rand_below(&fx->seed, 5),
		.border = PUMICE_BORDER_OPAQUE_WHITE,
		.min_lod = -100, .max_lod = 100,
	};
}

/* A position along a face of n texels: within 0.6 texels of an end, or anywhere. */
static double random_place(u64 *seed, u32 n)
{
	double at = rand_float(seed, 0, 1);

	switch (rand_below(seed, 3)) {
	case 0:
		return fmin(at * 0.6 / n, 1);
	case 1:
		return fmax(1 - at * 0.6 / n, 0);
	default:
		return at;
	}
}

/* Directions, most of which are near edges and corners of faces of n texels; layers of any. */
static void random_directions(struct fixture *fx, u32 n)
{
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		float length = rand_float(&fx->seed, 0.5f, 2);
		double u = random_place(&fx->seed, n), v = random_place(&fx->seed, n), dir[3];

		model_direction(rand_below(&fx->seed, 6), u, v, dir);
		for (u32 a = 0; a < 3; a++)
			fx->coord[a][l] = (float)dir[a] * length;
		fx->coord[3][l] = (float)rand_below(&fx->seed, fx->texture.depth / 6 + 1u);
	}
}

/* Face and position of a lane. */
static u32 lane_place(const struct fixture *fx, u32 l, double at[3])
{
	const double dir[3] = { fx->coord[0][l], fx->coord[1][l], fx->coord[2][l] };
	u32 cube = fx->texture.dim == PUMICE_TEXTURE_DIM_CUBE ? 0 : (u32)fx->coord[3][l];

	at[2] = 0;
	return cube * 6 + model_face(dir, &at[0], &at[1]);
}

static u32 zone(double at, u32 n)
{
	return at * n < 0.5 ? 0 : at * n > n - 0.5 ? 2 : 1;
}

static void count_zone(struct zones *z, u32 layer, const double at[3], u32 n)
{
	z->seen[layer % 6][zone(at[0], n)][zone(at[1], n)]++;
}

/* Check that every edge and corner of every face was tested; 1x1 faces have corners only. */
static void assert_all_zones(const struct zones *z, bool one)
{
	for (u32 n = 0; n < 6 * 9; n++) {
		u32 u = n / 3 % 3, v = n % 3;

		if (one && (u == 1 || v == 1))
			continue;
		assert_true(z->seen[n / 9][u][v] > 20);
	}
}

static double range_of(const struct fixture *fx)
{
	char kind = 0;
	u32 low;

	model_component(fx->texture.format, 0, &kind, &low);
	return kind == 'f' ? 2 : 1;
}

static void assert_texel(const struct fixture *fx, u32 l, const struct model_texel *t, double bound)
{
	for (u32 c = 0; c < 4; c++) {
		double v = fx_result(fx, c, l);

		if (!(fabs(v - t->c[c]) <= bound))
			fail_msg("format %u, %u a side, direction %g %g %g: %c is %.9g, not %.9g",
				 fx->texture.format, fx->texture.width + 1u, fx->coord[0][l],
				 fx->coord[1][l], fx->coord[2][l], "RGBA"[c], v, t->c[c]);
	}
}

/* Combined result of two levels. */
static struct model_texel model_levels(const struct model_read *m, u32 layer,
				       const double at[3], double lod)
{
	struct model_texel low = model_sample(m, (u32)floor(lod), layer, at);
	struct model_texel high = model_sample(m, (u32)ceil(lod), layer, at);

	for (u32 c = 0; c < 4; c++)
		low.c[c] += (high.c[c] - low.c[c]) * (lod - floor(lod));
	return low;
}

static void filters_continue_on_the_next_face(void **state)
{
	struct zones zones[3] = { 0 };	/* of 1, of 2, of more texels per side */
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	for (u32 n = 0; n < 60 * PUMICE_FORMAT_COUNT; n++) {
		u32 format = n % PUMICE_FORMAT_COUNT, side = sides[n / PUMICE_FORMAT_COUNT % 7];
		struct model_read m;
		double lod;
		u32 size;

		if (!format || model_integer(format))
			continue;
		random_cube(&fx, format, n % 3, n & 8, side);
		linear_sampler(&fx);
		lod = rand_float(&fx.seed, 0, fx.texture.levels - 1.0f);
		size = model_level_size(side, (u32)floor(lod));
		random_directions(&fx, size);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			fx.extra[0][l] = (float)lod;
		assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE_LOD));
		m = fx_model(&fx);
		m.linear = true;
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			double at[3];
			u32 layer = lane_place(&fx, l, at);
			struct model_texel t = model_levels(&m, layer, at, (float)lod);

			count_zone(&zones[size < 3 ? size - 1 : 2], layer, at, size);
			assert_texel(&fx, l, &t, BOUND * range_of(&fx));
		}
	}
	for (u32 n = 0; n < 3; n++)
		assert_all_zones(&zones[n], n == 0);
	fx_teardown(&fx);
}

/* A gather's texels, exactly, of every format; and the results of comparisons. */
static void gathers_continue_on_the_next_face(void **state)
{
	struct zones zones = { 0 };
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	for (u32 n = 0; n < 60 * PUMICE_FORMAT_COUNT; n++) {
		u32 format = n % PUMICE_FORMAT_COUNT, side = sides[n / PUMICE_FORMAT_COUNT % 7];
		struct model_read m;

		if (!format)
			continue;
		random_cube(&fx, format, n % 3, n & 8, side);
		linear_sampler(&fx);
		fx.sampler.min_linear = fx.sampler.mag_linear = false;
		fx.sampler.mip_filter = PUMICE_MIP_FILTER_NONE;
		fx.sampler.compare = model_depth(format) && n & 16;
		fx.sampler.compare_func = (u8)rand_below(&fx.seed, 8);
		random_directions(&fx, side);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			fx.extra[0][l] = rand_float(&fx.seed, 0, 1);
		fx.request.comp = (u8)rand_below(&fx.seed, 4);
		assert_true(fx_read(&fx, fx.sampler.compare ? PUMICE_USC_OP_GATHER_CMP :
							      PUMICE_USC_OP_GATHER));
		m = fx_model(&fx);
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			u32 comp = fx.sampler.compare ? 0 : fx.request.comp;
			struct model_texel t[4];
			double at[3];
			u32 layer = lane_place(&fx, l, at);

			m.reference = fx.extra[0][l];
			if (fmin(at[0], at[1]) < MARGIN || fmax(at[0], at[1]) > 1 - MARGIN ||
			    model_margin(&m, 0, at, true) < MARGIN)
				continue;
			count_zone(&zones, layer, at, side);
			model_gather(&m, layer, at, t);
			for (u32 c = 0; c < 4; c++)
				assert_true(fx_result(&fx, c, l) ==
					    (model_integer(format) ? t[c].c[comp] :
								     (float)t[c].c[comp]));
		}
	}
	assert_all_zones(&zones, false);
	fx_teardown(&fx);
}

static void comparisons_continue_on_the_next_face(void **state)
{
	static const u32 formats[] = { PUMICE_FORMAT_D16_UNORM, PUMICE_FORMAT_D24_UNORM,
				       PUMICE_FORMAT_D24_S8, PUMICE_FORMAT_D32_FLOAT };
	struct zones zones = { 0 };
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	for (u32 n = 0; n < 2000; n++) {
		u32 side = sides[n / 4 % 7];
		struct model_read m;

		random_cube(&fx, formats[n % 4], n % 3, n & 8, side);
		linear_sampler(&fx);
		fx.sampler.compare = true;
		fx.sampler.compare_func = (u8)rand_below(&fx.seed, 8);
		random_directions(&fx, side);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			fx.extra[0][l] = rand_float(&fx.seed, 0, 1);
		assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE_CMP_LOD0));
		m = fx_model(&fx);
		m.linear = true;
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			struct model_texel t;
			double at[3];
			u32 layer = lane_place(&fx, l, at);

			m.reference = fx.extra[0][l];
			t = model_sample(&m, 0, layer, at);
			count_zone(&zones, layer, at, side);
			assert_texel(&fx, l, &t, BOUND);
		}
	}
	assert_all_zones(&zones, false);
	fx_teardown(&fx);
}

/*
 * Two directions barely apart, on either side of an edge: texels are random, so that only
 * a filter of the same texels has the same result.
 */
static void an_edge_is_the_same_from_both_sides(void **state)
{
	const float hair = 0x1p-19f;
	struct fixture fx;
	u32 corners = 0;

	(void)state;
	fx_setup(&fx);
	for (u32 n = 0; n < 3000; n++) {
		u32 side = sides[n % 7];

		random_cube(&fx, PUMICE_FORMAT_R32_FLOAT, n % 3, false, side);
		linear_sampler(&fx);
		memset(fx.extra, 0, sizeof(fx.extra));
		for (u32 l = 0; l < PUMICE_LANES; l += 2) {
			u32 axis = rand_below(&fx.seed, 3), other = (axis + 1) % 3;
			float at = 2 * (float)random_place(&fx.seed, side) - 1;

			corners += fabsf(at) > 1 - 1.0f / (float)side;
			for (u32 i = 0; i < 2; i++) {
				fx.coord[3 - axis - other][l + i] = at;
				fx.coord[axis][l + i] = i ? 1 : 1 - hair;
				fx.coord[other][l + i] = i ? 1 - hair : 1;
			}
			for (u32 a = 0; a < 3; a++) {
				float sign = rand_below(&fx.seed, 2) ? 1 : -1;

				fx.coord[a][l] *= sign;
				fx.coord[a][l + 1] *= sign;
			}
		}
		assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE_LOD));
		for (u32 l = 0; l < PUMICE_LANES; l += 2)
			assert_true(fabs(fx_result(&fx, 0, l) - fx_result(&fx, 0, l + 1)) <
				    2e-4);
	}
	assert_true(corners > 1000);
	fx_teardown(&fx);
}

/* The average of the samples of lane 0 along the derivative, by the model. */
static struct model_texel model_axis(const struct fixture *fx, u32 most, double *margin)
{
	double at[3], moved[2][2], length[2], steps, lod;
	const double n = fx->texture.width + 1, h = 0x1p-20;
	struct model_read m = fx_model(fx);
	struct model_texel sum = { { 0 } };
	u32 layer = lane_place(fx, 0, at), axis;

	for (u32 d = 0; d < 2; d++) {
		double dir[3], to[2];

		/* Derivatives on the plane of the lane's face, by differences. */
		model_direction(layer % 6, at[0], at[1], dir);
		for (u32 a = 0; a < 3; a++)
			dir[a] = fx->coord[a][0] + h * fx->extra[3 * d + a][0];
		*margin = model_face(dir, &to[0], &to[1]) == layer % 6 ? *margin : 0;
		for (u32 a = 0; a < 2; a++)
			moved[d][a] = (to[a] - at[a]) / h;
		length[d] = hypot(moved[d][0], moved[d][1]) * n;
	}
	axis = length[0] < length[1];
	steps = length[axis] / length[!axis];
	*margin = fmin(*margin, fmin(fabs(steps - rint(steps)), fabs(length[axis] - 1)));
	steps = length[axis] > 1 ? fmin(ceil(steps), 1 << most) : 1;
	lod = fmin(fmax(log2(length[axis] / steps), 0), fx->texture.levels - 1);
	m.linear = true;
	for (double step = 0; step < steps; step++) {
		double far = (step + 0.5) / steps - 0.5, dir[3], to[3] = { 0 };
		struct model_texel t;
		u32 face;

		model_direction(layer % 6, at[0] + far * moved[axis][0],
				at[1] + far * moved[axis][1], dir);
		face = model_face(dir, &to[0], &to[1]);
		t = model_levels(&m, layer - layer % 6 + face, to, lod);
		for (u32 c = 0; c < 4; c++)
			sum.c[c] += t.c[c] / steps;
	}
	return sum;
}

/* Samples of anisotropy are on the face that they reach, also far beyond the edge. */
static void anisotropy_continues_on_the_next_face(void **state)
{
	u32 compared = 0, n;
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	fx.request.lanes = 1;
	for (n = 0; n < 4000; n++) {
		u32 most = 1 + n % 4, side = sides[n / 4 % 7];
		struct model_texel t;
		double margin = 1;

		random_cube(&fx, n & 1 ? PUMICE_FORMAT_RGBA8_UNORM : PUMICE_FORMAT_RGBA16_SNORM,
			    n % 3, n & 8, side);
		linear_sampler(&fx);
		fx.sampler.aniso_log2 = (u8)most;
		random_directions(&fx, side);
		for (u32 a = 0; a < 6; a++)
			fx.extra[a][0] = rand_float(&fx.seed, -1, 1) * (a < 3 ? 0.8f : 0.2f);
		assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE_GRAD));
		t = model_axis(&fx, most, &margin);
		if (margin < 1e-3)
			continue;
		assert_texel(&fx, 0, &t, 1e-3);
		compared++;
	}
	assert_true(compared > n / 10 * 9);
	fx_teardown(&fx);
}

/* At every vector level, alone and among lanes whose filters do not exceed their faces. */
static void edges_do_not_depend_on_other_lanes(void **state)
{
	static const u32 formats[] = { PUMICE_FORMAT_RGBA8_UNORM, PUMICE_FORMAT_RGBA8_SRGB,
				       PUMICE_FORMAT_RGBA16_FLOAT, PUMICE_FORMAT_D24_UNORM,
				       PUMICE_FORMAT_R32_FLOAT, PUMICE_FORMAT_BC1_RGBA };
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	for (u32 n = 0; n < 600; n++) {
		u32 op = n & 1 ? PUMICE_USC_OP_SAMPLE_GRAD : PUMICE_USC_OP_GATHER;
		u32 all[4][PUMICE_LANES];

		random_cube(&fx, formats[n % 6], n / 6 % 3, n & 8, sides[n % 7]);
		for (u32 b = 0; b < 65536; b += 1 + rand_below(&fx.seed, 40))
			fx.memory[b] = 0xff;	/* infinities, too */
		linear_sampler(&fx);
		fx.sampler.min_linear = rand_below(&fx.seed, 2);
		fx.sampler.aniso_log2 = (u8)rand_below(&fx.seed, 3);
		random_directions(&fx, sides[n % 7]);
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			for (u32 a = 0; a < 6; a++)
				fx.extra[a][l] = rand_float(&fx.seed, -0.2f, 0.2f);
		}
		fx.request.lanes = ~0u;
		fx.tag->ops = fx.tf.ops = texel_level_ops(TEXEL_LEVEL_BASE);
		assert_true(fx_read(&fx, op));
		memcpy(all, fx.out, sizeof(all));
		fx.tag->ops = fx.tf.ops = texel_ops();
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			fx.request.lanes = 1u << l;
			assert_true(fx_read(&fx, op));
			for (u32 c = 0; c < 4; c++)
				assert_int_equal(fx.out[c][l], all[c][l]);
		}
	}
	fx_teardown(&fx);
}

/* Faces that the filter at a position reaches, as bits. */
static u32 faces_reached(u32 layer, const double at[3], u32 n)
{
	u32 faces = 1u << layer;

	for (u32 a = 0; a < 2; a++) {
		double to[2] = { at[0], at[1] }, dir[3], u, v;

		if (zone(at[a], n) == 1)
			continue;
		to[a] = zone(at[a], n) ? 1 + 0.5 / n : -0.5 / n;
		to[!a] = fmin(fmax(to[!a], 0.5 / n), 1 - 0.5 / n);
		model_direction(layer, to[0], to[1], dir);
		faces |= 1u << model_face(dir, &u, &v);
	}
	return faces;
}

/*
 * Read one lane at a time, from a cube whose faces have one page each and one of which is
 * missing. Return the number of faults, which must be exactly those that reach that face.
 */
static u32 refused_without(struct fixture *fx, u32 missing)
{
	u32 refused = 0;

	for (u32 n = 0; n < 4000; n++) {
		u32 lane = rand_below(&fx->seed, PUMICE_LANES), layer, faces;
		const struct model_read m = fx_model(fx);
		double at[3];

		random_directions(fx, 32);
		fx->request.lanes = 1u << lane;
		/* The other lanes' directions, derivatives and filters have no effect. */
		fx->sampler.mag_linear = n % 2;
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			for (u32 e = 0; e < 6; e++)
				fx->extra[e][l] = l == lane ? 0 : rand_float(&fx->seed, -2, 2);
		}
		layer = lane_place(fx, lane, at);
		if (fmin(at[0], at[1]) < MARGIN || fmax(at[0], at[1]) > 1 - MARGIN ||
		    model_margin(&m, 0, at, true) < MARGIN)
			continue;
		faces = n % 2 ? faces_reached(layer, at, 32) : 1u << layer;
		if (fx_read(fx, PUMICE_USC_OP_SAMPLE_GRAD)) {
			assert_false(faces >> missing & 1);
			continue;
		}
		assert_true(faces >> missing & 1);
		assert_int_equal(fx->fault.addr / 4096, FX_VA / 4096 + missing);
		refused++;
	}
	return refused;
}

static void a_filter_reads_only_the_faces_it_reaches(void **state)
{
	(void)state;
	for (u32 missing = 0; missing < 6; missing++) {
		struct fixture fx;

		fx_setup(&fx);
		random_cube(&fx, PUMICE_FORMAT_R32_FLOAT, PUMICE_LAYOUT_TWIDDLED, false, 32);
		fx.texture.levels = 1;
		linear_sampler(&fx);
		fx.sampler.aniso_log2 = 2;
		testmem_unmap(fx.tm, FX_CTX, FX_VA + (u64)missing * 4096, 4096);
		assert_true(refused_without(&fx, missing) > 500);
		fx_teardown(&fx);
	}
}

/* A NaN coordinate is 0: on the face of +z, as for x and y of -1 and 1. */
static void no_direction_is_a_corner(void **state)
{
	static const float odd[] = { 0, INFINITY };
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	for (u32 n = 0; n < 100; n++) {
		random_cube(&fx, PUMICE_FORMAT_RGBA8_UNORM, n % 3, n & 8, sides[n % 7]);
		linear_sampler(&fx);
		memset(fx.coord, 0, sizeof(fx.coord));
		memset(fx.extra, 0, sizeof(fx.extra));
		for (u32 a = 0; a < 3; a++) {
			fx.coord[a][0] = a ? 1 : -1;
			fx.coord[a][1] = odd[n % 2];
		}
		assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE_LOD));
		for (u32 c = 0; c < 4; c++)
			assert_int_equal(fx.out[c][0], fx.out[c][1]);
	}
	fx_teardown(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filters_continue_on_the_next_face),
		cmocka_unit_test(gathers_continue_on_the_next_face),
		cmocka_unit_test(comparisons_continue_on_the_next_face),
		cmocka_unit_test(an_edge_is_the_same_from_both_sides),
		cmocka_unit_test(anisotropy_continues_on_the_next_face),
		cmocka_unit_test(edges_do_not_depend_on_other_lanes),
		cmocka_unit_test(a_filter_reads_only_the_faces_it_reaches),
		cmocka_unit_test(no_direction_is_a_corner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
