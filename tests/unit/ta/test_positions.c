// SPDX-License-Identifier: MIT
/* Culling after coordinate programs, of which only positions exist: sizes, refusals, discard. */
#include "ta_fixture.h"

#define WORDS	4u	/* of a vertex */

static u32 vo[2 * WORDS * PUMICE_LANES];
static struct tafx_waves waves;

/* Write the position of a vertex of the first wave; the memory after that wave is 0. */
static void put(u32 v, float x, float y)
{
	const float at[WORDS] = { x, y, 0.5f, 1 };
	u32 n;

	for (n = 0; n < WORDS; n++)
		vo[n * PUMICE_LANES + v] = number_bits(at[n]);
}

static struct ta_fixture *create(void)
{
	const struct pumice_scene scene = { .width = 32, .height = 32, .cores = 1 };

	return tafx_create(100, &scene);
}

/* Word 4 is the size of a complete vertex. Each point may have the largest size. */
static void points_of_unknown_size_are_culled_by_the_largest(void **state)
{
	static const float x[] = { 5, -100, -127, -129, 100, 159, 161 };
	static const bool kept[] = { true, true, true, false, true, true, false };
	struct ta_fixture *fx = create();
	struct ta_prim prims[7];
	struct ta_vertices vertices = tafx_waves(&waves, vo, WORDS, 7);
	bool keep[7];
	u32 i;

	(void)state;
	fx->draw.kind = PUMICE_PRIM_KIND_POINT;
	fx->draw.state.point_size = true;
	for (i = 0; i < 7; i++) {
		put(i, x[i], 5);
		prims[i] = (struct ta_prim){ .v = { (u16)i } };
		keep[i] = true;
	}
	ta_cull(fx->ta[0], &fx->draw, &vertices, prims, 0, 7, keep);
	for (i = 0; i < 7; i++)
		assert_int_equal(keep[i], kept[i]);
	tafx_destroy(fx);
}

/* Two triangles: the first is on the target, the second is not. */
static const struct ta_prim two[] = { { .v = { 0, 1, 2 } }, { .v = { 3, 4, 5 } } };

static struct ta_vertices put_two(void)
{
	static const float x[] = { 1, 9, 1, -9, -1, -9 }, y[] = { 1, 1, 9, 1, 1, 9 };
	u32 i;

	for (i = 0; i < 6; i++)
		put(i, x[i], y[i]);
	return tafx_waves(&waves, vo, WORDS, 6);
}

/* Not with the vertices of the list before it. */
static void a_list_that_cannot_be_culled_is_kept(void **state)
{
	struct ta_vertices vertices = put_two();
	struct ta_fixture *fx = create();
	bool keep[2] = { true, true };

	(void)state;
	ta_cull(fx->ta[0], &fx->draw, &vertices, two, 0, 2, keep);
	assert_true(keep[0] && !keep[1]);
	keep[1] = true;
	fx->draw.kind = PUMICE_PRIM_KIND_TRIANGLE + 7;
	assert_false(pumice_prim_kind_valid(fx->draw.kind));
	ta_cull(fx->ta[0], &fx->draw, &vertices, two, 0, 1, keep);
	ta_cull(fx->ta[0], &fx->draw, &vertices, two, 1, 2, keep);
	assert_true(keep[0] && keep[1]);
	tafx_destroy(fx);
}

/* No vertex of them needs the complete program. */
static void discarded_draws_keep_nothing(void **state)
{
	struct ta_vertices vertices = put_two();
	struct ta_fixture *fx = create();
	bool keep[2] = { true, true };

	(void)state;
	fx->draw.state.discard = true;
	ta_cull(fx->ta[0], &fx->draw, &vertices, two, 0, 2, keep);
	assert_true(!keep[0] && !keep[1]);
	assert_int_equal(ta_counters(fx->ta[0])->culled, 2);
	tafx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_of_unknown_size_are_culled_by_the_largest),
		cmocka_unit_test(a_list_that_cannot_be_culled_is_kept),
		cmocka_unit_test(discarded_draws_keep_nothing),
	};

	return cmocka_run_group_tests_name("ta positions", tests, NULL, NULL);
}
