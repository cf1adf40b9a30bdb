// SPDX-License-Identifier: MIT
/*
 * Tests done after a program has run, against the scalar model: punch-through objects,
 * objects that write their own depth, and the samples that a span's primitive covers.
 */
#include "../support/cmocka_all.h"

#include "model.h"

#define ROUNDS	3000

static struct isp_tile tile;
static struct model model;

/* Position of pixel p of a quad. */
static u32 column(u32 quad, u32 place)
{
	return quad % (tile.width / 2) * 2 + place % 2;
}

static u32 row(u32 quad, u32 place)
{
	return quad / (tile.width / 2) * 2 + place / 2;
}

static struct usc_span random_span(void)
{
	const u32 samples = 0x1111u * ((1u << tile.samples) - 1);
	struct usc_span span = { .quad = (u8)model_below(tile.width * tile.height / 4) };

	span.samples = (u16)(model_random() & samples);
	span.live = (u16)(model_random() & samples);
	return span;
}

/* Create tile, n-th triangle and state; the model gets a copy of the tile. False: no area. */
static bool random_case(u32 n, struct isp_triangle *t, struct isp_state *s,
			struct isp_setup *setup)
{
	model_random_tile(&tile);
	model_random_triangle(&tile, t, n);
	model_random_state(&tile, s);
	model_copy(&model, &tile);
	return isp_set_up(t, s, setup);
}

static void punch_through_writes_the_remaining_samples(void **state)
{
	u32 n, bit;

	(void)state;
	for (n = 0; n < ROUNDS; n++) {
		struct isp_triangle t;
		struct isp_state s;
		struct isp_setup setup;
		struct usc_span span;
		const bool back = model_below(2);
		u32 count, want = 0;

		if (!random_case(n, &t, &s, &setup))
			continue;
		span = random_span();
		s.depth_func = PUMICE_COMPARE_ALWAYS;
		s.face[back].func = PUMICE_COMPARE_ALWAYS;
		for (bit = 0; bit < 16; bit++) {
			const u32 x = column(span.quad, bit / 4), y = row(span.quad, bit / 4);

			if (!(span.samples & span.live & 1u << bit))
				continue;
			want++;
			model_test(&model, &s, back, bit % 4, y * 32 + x,
				   model_depth(&tile, &t, &s, x, y, bit % 4), true);
		}
		count = isp_late_write(&tile, &setup, &s, back, &span);
		assert_int_equal(count, want);
		assert_int_equal(model_differs(&model, &tile), 0);
	}
}

/* Failing samples are only detected; they change the stencil unless they were dropped. */
static void failing_punch_through_changes_the_stencil(void **state)
{
	static struct model copy;
	u32 n, bit, failed = 0;

	(void)state;
	for (n = 0; n < ROUNDS; n++) {
		struct isp_triangle t;
		struct isp_state s;
		struct isp_setup setup;
		struct usc_span span;
		const bool back = model_below(2);
		u32 want = 0, failing;

		if (!random_case(n, &t, &s, &setup))
			continue;
		s.pass_type = PUMICE_PASS_TYPE_PUNCH_THROUGH;
		if (!isp_tests_late(&s))
			continue;
		span = random_span();
		failing = isp_late_failing(&tile, &setup, &s, back, span.quad, span.samples);
		assert_int_equal(model_differs(&model, &tile), 0);
		span.failed = (u16)(failing & model_random());
		span.live &= (u16)~failing;
		for (bit = 0; bit < 16; bit++) {
			const u32 x = column(span.quad, bit / 4), y = row(span.quad, bit / 4);
			const u32 dropped = ~(u32)(span.live | span.failed) & span.samples;
			struct model *m = dropped >> bit & 1 ? &copy : &model;

			if (!(span.samples & 1u << bit))
				continue;
			model_copy(&copy, &tile);
			if (model_test(m, &s, back, bit % 4, y * 32 + x,
				       model_depth(&tile, &t, &s, x, y, bit % 4), true))
				want += m == &model;
			else
				assert_true(failing >> bit & 1);
			failed += failing >> bit & 1;
		}
		assert_int_equal(isp_late_write(&tile, &setup, &s, back, &span), want);
		assert_int_equal(model_differs(&model, &tile), 0);
	}
	assert_true(failed > ROUNDS);
}

static void depth_of_the_program_is_tested_and_written(void **state)
{
	u32 n, bit;

	(void)state;
	for (n = 0; n < ROUNDS; n++) {
		struct isp_state s;
		struct usc_span span;
		float depth[4];
		const bool back = model_below(2);
		u32 count, want = 0, live;

		model_random_tile(&tile);
		model_random_state(&tile, &s);
		span = random_span();
		live = span.live & span.samples;
		for (bit = 0; bit < 4; bit++)
			depth[bit] = (float)model_below(1000) / 800 - 0.1f;
		if (!model_below(4))
			depth[model_below(4)] = __builtin_nanf("");
		model_copy(&model, &tile);
		for (bit = 0; bit < 16; bit++) {
			const u32 at = row(span.quad, bit / 4) * 32 + column(span.quad, bit / 4);
			const float z = depth[bit / 4];

			if (!(live >> bit & 1))
				continue;
			if (model_test(&model, &s, back, bit % 4, at,
				       z > 0 ? z < 1 ? z : 1 : 0, true))
				want++;
			else
				live &= ~(1u << bit);
		}
		count = isp_late_depth(&tile, &s, back, &span, depth);
		assert_int_equal(count, want);
		assert_int_equal(span.live & span.samples, live);
		assert_int_equal(model_differs(&model, &tile), 0);
	}
}

static void coverage_of_a_span_is_the_primitive_s(void **state)
{
	u32 n, bit;

	(void)state;
	for (n = 0; n < ROUNDS; n++) {
		const u32 quad = n % 64;
		struct isp_triangle t;
		struct isp_state s;
		struct isp_setup setup;
		u32 want = 0;

		if (!random_case(n, &t, &s, &setup))
			continue;
		for (bit = 0; bit < 16; bit++)
			if (bit % 4 < tile.samples)
				want |= (u32)model_covers(&tile, &t, &s, column(quad, bit / 4),
							  row(quad, bit / 4), bit % 4) << bit;
		assert_int_equal(isp_coverage(&tile, &setup, &s, quad), want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(punch_through_writes_the_remaining_samples),
		cmocka_unit_test(failing_punch_through_changes_the_stencil),
		cmocka_unit_test(depth_of_the_program_is_tested_and_written),
		cmocka_unit_test(coverage_of_a_span_is_the_primitive_s),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
