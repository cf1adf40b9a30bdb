// SPDX-License-Identifier: MIT
/*
 * Planes against 128-bit floats: each coefficient is within half a unit in the last
 * place of f32, plus the rounding of f64, of the exact one.
 */
#include <math.h>
#include <string.h>

#include "../support/cmocka_all.h"

#include "../../../qemu-device/gpu/tsp/tsp.h"
#include "../support/number.h"

#define ROUNDS	20000
#define VARYINGS 6u

typedef __float128 exact;

static u64 seed = NUMBER_SEED;

static u32 below(u32 n)
{
	return number_random(&seed, n);
}

static float value(void)
{
	return ((float)below(2000001) - 1000000) / (float)(1 + below(1000));
}

/* A case: a triangle near a tile, its values, results. */
static struct isp_triangle triangle;
static struct isp_setup setup;
static struct ipf_prim prim;
static struct isp_state isp;
static float values[3 * VARYINGS];
static const float *const corners[3] = { values, values + VARYINGS, values + 2 * VARYINGS };
static struct tsp_plane planes[VARYINGS + 2];
static struct tsp_input in;

static bool make_case(void)
{
	const s32 range = 1 << (4 + below(18));
	u32 i;

	in = (struct tsp_input){ .triangle = &triangle, .depth = &setup, .prim = &prim,
				 .value = corners, .needed = (1u << VARYINGS) - 1,
				 .x0 = below(256) * 32, .y0 = below(256) * 32 };
	for (i = 0; i < 3; i++) {
		triangle.x[i] = (s32)(in.x0 * 256 + below(8192)) +
			(s32)below((u32)range) - range / 2;
		triangle.y[i] = (s32)(in.y0 * 256 + below(8192)) +
			(s32)below((u32)range) - range / 2;
		triangle.z[i] = (float)below(1000) / 1000;
		/* Any vertex may be used for any corner, as in lines and points. */
		triangle.vertex[i] = (u8)below(3);
		prim.vertex[i].rw = (float)(1 + below(1000)) / (float)(1 + below(1000));
	}
	for (i = 0; i < 3 * VARYINGS; i++)
		values[i] = value();
	prim.index.provoking = (u8)below(3);
	isp.depth_bias = below(2);
	isp.bias_constant = value();
	return isp_set_up(&triangle, &isp, &setup);
}

static exact rw(u32 corner)
{
	return (exact)prim.vertex[triangle.vertex[corner]].rw;
}

static void near(float got, exact want, exact terms)
{
	const exact slack = (exact)(nextafterf(fabsf((float)want), INFINITY) -
				    fabsf((float)want)) / 2 + terms * 1e-13Q + 1e-40Q;
	exact off = (exact)got - want;

	off = off < 0 ? -off : off;
	assert_true(off <= slack);
}

static exact absolute(exact v)
{
	return v < 0 ? -v : v;
}

static void check_plane(const struct tsp_plane *got, const exact v[3], exact offset)
{
	const exact x0 = (exact)triangle.x[0] / 256, y0 = (exact)triangle.y[0] / 256;
	const exact x10 = (exact)triangle.x[1] / 256 - x0, y10 = (exact)triangle.y[1] / 256 - y0;
	const exact x20 = (exact)triangle.x[2] / 256 - x0, y20 = (exact)triangle.y[2] / 256 - y0;
	const exact area = x10 * y20 - x20 * y10;
	const exact a = ((v[1] - v[0]) * y20 - (v[2] - v[0]) * y10) / area;
	const exact b = ((v[2] - v[0]) * x10 - (v[1] - v[0]) * x20) / area;
	const exact ax = a * (x0 - in.x0), by = b * (y0 - in.y0);
	const exact most_a = (absolute((v[1] - v[0]) * y20) + absolute((v[2] - v[0]) * y10)) /
			     absolute(area);
	const exact most_b = (absolute((v[2] - v[0]) * x10) + absolute((v[1] - v[0]) * x20)) /
			     absolute(area);

	near(got->a, a, most_a);
	near(got->b, b, most_b);
	near(got->c, v[0] - ax - by + offset,
	     absolute(v[0]) + most_a * absolute(x0 - in.x0) + most_b * absolute(y0 - in.y0));
}

static void planes_are_exact(void **state)
{
	struct tsp_state tsp = { .varyings = VARYINGS, .flat = 1 | 8, .linear = 2 | 16 };
	u32 round, n, i;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		exact v[3];

		if (!make_case())
			continue;
		tsp_set_up(&tsp, &in, planes);
		for (n = 0; n < VARYINGS; n++) {
			if (tsp.flat >> n & 1) {
				assert_true(planes[n].a == 0 && planes[n].b == 0);
				assert_true(planes[n].c ==
					    values[prim.index.provoking * VARYINGS + n]);
				continue;
			}
			for (i = 0; i < 3; i++) {
				v[i] = (exact)values[triangle.vertex[i] * VARYINGS + n];
				if (!(tsp.linear >> n & 1))
					v[i] *= rw(i);
			}
			check_plane(&planes[n], v, 0);
		}
		for (i = 0; i < 3; i++)
			v[i] = rw(i);
		check_plane(&planes[VARYINGS], v, 0);
		for (i = 0; i < 3; i++)
			v[i] = (exact)triangle.z[i];
		check_plane(&planes[VARYINGS + 1], v, (exact)setup.bias);
	}
}

/* Without varyings there are only the planes of 1/w and of depth. */
static void no_varyings(void **state)
{
	static const float *const none[3];
	struct tsp_state tsp = { 0 };

	(void)state;
	while (!make_case())
		;
	in.value = none;
	in.needed = 0;
	memset(planes, 0x55, sizeof(planes));
	tsp_set_up(&tsp, &in, planes);
	assert_int_equal(number_bits(planes[2].a), 0x55555555);
	assert_int_not_equal(number_bits(planes[1].c), 0x55555555);
}

/* Without a program that reads depth, its plane is not written. */
static void the_plane_of_depth_is_written_if_it_is_read(void **state)
{
	const struct tsp_state tsp = { .varyings = VARYINGS };
	struct tsp_plane all[VARYINGS + 2];

	(void)state;
	while (!make_case())
		;
	tsp_set_up(&tsp, &in, all);
	in.depth = NULL;
	memset(planes, 0x55, sizeof(planes));
	tsp_set_up(&tsp, &in, planes);
	assert_memory_equal(planes, all, (VARYINGS + 1) * sizeof(*all));
	assert_int_equal(number_bits(planes[VARYINGS + 1].c), 0x55555555);
	assert_int_not_equal(number_bits(all[VARYINGS + 1].c), 0x55555555);
}

/* Planes that are not needed are not written, and needed ones are as with all of them. */
static void only_needed_planes_are_written(void **state)
{
	const struct tsp_state tsp = { .varyings = VARYINGS, .flat = 1, .linear = 2 };
	struct tsp_plane all[VARYINGS + 2], unset;
	u32 n;

	(void)state;
	memset(&unset, 0x55, sizeof(unset));
	do {
		while (!make_case())
			;
		tsp_set_up(&tsp, &in, all);
		in.needed = below(1u << VARYINGS);
		memset(planes, 0x55, sizeof(planes));
		tsp_set_up(&tsp, &in, planes);
		for (n = 0; n < VARYINGS; n++)
			assert_memory_equal(&planes[n], in.needed >> n & 1 ? &all[n] : &unset,
					    sizeof(unset));
		assert_memory_equal(&planes[VARYINGS], &all[VARYINGS], 2 * sizeof(unset));
	} while (in.needed);
}

/* A half of a point of any size near a tile: values of its corners in v[0] and v[1]. */
static void make_point(bool second_half, bool lower_left, exact v[2][3])
{
	static const u8 corner[2][3] = { { 0, 1, 2 }, { 0, 2, 3 } };
	const s32 h = 8 + (s32)below(32760);
	s32 x, y;
	u32 i;

	make_case();
	x = triangle.x[0];
	y = triangle.y[0];
	for (i = 0; i < 3; i++) {
		const u8 c = corner[second_half][i];
		const bool right = c == 1 || c == 2, below_centre = c >= 2;

		triangle.x[i] = right ? x + h : x - h;
		triangle.y[i] = below_centre ? y + h : y - h;
		triangle.vertex[i] = 0;
		v[0][i] = right;
		v[1][i] = below_centre != lower_left;
	}
	assert_true(isp_set_up(&triangle, &isp, &setup));
	in.point = true;
}

static void planes_of_a_points_coordinate_are_exact(void **state)
{
	u32 round, i, n;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		struct tsp_state tsp = {
			.varyings = VARYINGS, .point_coord = true, .point_lower_left = below(2),
			.point_varying = (u8)below(VARYINGS - 1), .flat = below(1u << VARYINGS),
			.linear = below(1u << VARYINGS),
		};
		exact v[2][3];

		make_point(below(2), tsp.point_lower_left, v);
		tsp_set_up(&tsp, &in, planes);
		for (n = 0; n < 2; n++) {
			const u32 varying = tsp.point_varying + n;

			for (i = 0; i < 3 && !((tsp.flat | tsp.linear) >> varying & 1); i++)
				v[n][i] *= rw(i);
			check_plane(&planes[varying], v[n], 0);
		}
		/* The next one has the vertex's value. */
		if (tsp.point_varying + 2u < VARYINGS)
			assert_true(planes[tsp.point_varying + 2].a == 0);
		in.point = false;
		tsp_set_up(&tsp, &in, planes);
		assert_true(planes[tsp.point_varying].a == 0 && planes[tsp.point_varying].b == 0);
	}
}

/* NaNs remain in their own planes. */
static void special_values_do_not_spread(void **state)
{
	struct tsp_state tsp = { .varyings = VARYINGS };
	u32 n;

	(void)state;
	while (!make_case())
		;
	for (n = 0; n < 3; n++)
		values[n * VARYINGS + 2] = n ? INFINITY : NAN;
	tsp_set_up(&tsp, &in, planes);
	for (n = 0; n < VARYINGS; n++)
		assert_int_equal(n == 2, isnan(planes[n].c));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(planes_are_exact),
		cmocka_unit_test(no_varyings),
		cmocka_unit_test(the_plane_of_depth_is_written_if_it_is_read),
		cmocka_unit_test(only_needed_planes_are_written),
		cmocka_unit_test(planes_of_a_points_coordinate_are_exact),
		cmocka_unit_test(special_values_do_not_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
