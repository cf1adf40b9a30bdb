// SPDX-License-Identifier: MIT
/*
 * Small lines and points: culled if and only if they cover no sample of the target, by the
 * coverage rule applied to every sample; and the work of finding that out is bounded.
 */
#include <stdlib.h>
#include <string.h>

#include "geometry.h"
#include "ta_fixture.h"

#define BATCH	500u
#define BATCHES	60u

static void set(struct tafx_prim *p, u32 i, float x, float y)
{
	p->pos[i][0] = x;
	p->pos[i][1] = y;
	p->pos[i][2] = 0.5f;
	p->pos[i][3] = 1;
}

/* A size: common ones, any, tiny ones, and some beyond both ends of the supported range. */
static float make_size(struct ta_fixture *fx)
{
	static const float common[] = { 0, 0.0625f, 0.125f, 0.25f, 0.5f, 0.75f, 1, 1.5f, 3, 300 };

	switch (pbfx_random(fx->pb, 4)) {
	case 0:
		return common[pbfx_random(fx->pb, 10)];
	case 1:
		return (float)pbfx_random(fx->pb, 1000) / 100;
	default:
		return (float)pbfx_random(fx->pb, 1000) / 1000;
	}
}

/* A position around the target; often on a sixteenth of a pixel, where samples are. */
static float make_position(struct ta_fixture *fx, u32 size)
{
	const float at = tafx_pixel(fx, -2, (s32)size + 2);

	return pbfx_random(fx->pb, 2) ? at : (float)(s32)(at * 16) / 16;
}

/* A point; or a line of up to two pixels, along an axis, along a diagonal, or of any kind. */
static void make_prim(struct ta_fixture *fx, struct tafx_prim *p)
{
	const float x = make_position(fx, fx->scene.width), y = make_position(fx, fx->scene.height);
	const float length = tafx_pixel(fx, -40, 40);

	set(p, 0, x, y);
	p->size[0] = p->size[1] = make_size(fx);
	switch (pbfx_random(fx->pb, 8)) {
	case 0:
		set(p, 1, x + length, y);
		break;
	case 1:
		set(p, 1, x, y + length);
		break;
	case 2:
		set(p, 1, x + length, pbfx_random(fx->pb, 2) ? y + length : y - length);
		break;
	case 3:
		set(p, 1, make_position(fx, fx->scene.width), make_position(fx, fx->scene.height));
		break;
	default:
		set(p, 1, x + tafx_pixel(fx, -2, 2), y + tafx_pixel(fx, -2, 2));
		break;
	}
}

static double clamp(float size, double most)
{
	return size < 0.0625f ? 0.0625 : (double)size > most ? most : (double)size;
}

/* The shape of a primitive. False: it has none. */
static bool shape_of(const struct ta_fixture *fx, const struct tafx_prim *p, struct geo *g)
{
	const s64 x = (s64)(p->pos[0][0] * 256), y = (s64)(p->pos[0][1] * 256);

	if (fx->draw.kind == PUMICE_PRIM_KIND_LINE)
		return geo_line(g, x, y, (s64)(p->pos[1][0] * 256), (s64)(p->pos[1][1] * 256),
				clamp(fx->draw.state.line_width, 64));
	geo_point(g, x, y, clamp(p->size[0], 256));
	return true;
}

/* Return whether one of the two triangles of a rectangle covers the sample. */
static bool covers(const struct geo *g, s64 x, s64 y)
{
	const struct geo first = { { g->x[0], g->x[1], g->x[2] },
				   { g->y[0], g->y[1], g->y[2] }, 3 };
	const struct geo second = { { g->x[0], g->x[2], g->x[3] },
				    { g->y[0], g->y[2], g->y[3] }, 3 };

	return geo_covers(&first, x, y) || geo_covers(&second, x, y);
}

/* Return whether the shape covers a sample of the target: all of them near it are tried. */
static bool covers_any(const struct pm_scene *s, const struct geo *g)
{
	s64 x0 = g->x[0], x1 = x0, y0 = g->y[0], y1 = y0, x, y, dx, dy;
	u32 i;

	for (i = 1; i < 4; i++) {
		x0 = g->x[i] < x0 ? g->x[i] : x0;
		x1 = g->x[i] > x1 ? g->x[i] : x1;
		y0 = g->y[i] < y0 ? g->y[i] : y0;
		y1 = g->y[i] > y1 ? g->y[i] : y1;
	}
	for (y = y0 >> 8; y <= y1 >> 8; y++)
		for (x = x0 >> 8; x <= x1 >> 8; x++)
			for (i = 0; i < s->samples; i++) {
				geo_sample(s->samples, i, &dx, &dy);
				if (x >= 0 && y >= 0 && x < s->width && y < s->height &&
				    covers(g, x * 256 + dx, y * 256 + dy))
					return true;
			}
	return false;
}

static bool is_held(const struct ta_fixture *fx, u32 number)
{
	u32 t;

	for (t = 0; t < fx->scene.tiles_x * fx->scene.tiles_y; t++)
		if (tafx_holds(fx, t, number))
			return true;
	return false;
}

/* Draw primitives, and compare the kept ones with the rule. Returns the number of culled ones. */
static u32 check_batch(struct ta_fixture *fx, const struct tafx_prim *prims)
{
	const u64 before = ta_counters(fx->ta[0])->culled;
	struct gpu_fault fault;
	u32 i, culled = 0;

	tafx_clear(fx);
	tafx_begin(fx, 0);
	tafx_give_all(fx, prims, BATCH);
	tafx_finish(fx, 0);
	for (i = 0; i < BATCH; i++) {
		struct geo g;
		const bool want = shape_of(fx, &prims[i], &g) && covers_any(&fx->scene, &g);

		if (is_held(fx, i) != want)
			fail_msg("%u samples, kind %u, from %f %f to %f %f, size %f, width %f: %s",
				 fx->scene.samples, fx->draw.kind, (double)prims[i].pos[0][0],
				 (double)prims[i].pos[0][1], (double)prims[i].pos[1][0],
				 (double)prims[i].pos[1][1], (double)prims[i].size[0],
				 (double)fx->draw.state.line_width,
				 want ? "it covers a sample" : "it covers no sample");
		culled += !want;
	}
	assert_int_equal(ta_counters(fx->ta[0])->culled - before, culled);
	assert_true(pm_free_scene(fx->pb->pm, &fx->scene, &fault));
	return culled;
}

static void check_kind(struct ta_fixture *fx, u8 kind)
{
	struct tafx_prim *prims = calloc(BATCH, sizeof(*prims));
	u32 b, i, culled = 0;

	fx->draw.kind = kind;
	fx->draw.state.small_cull = true;
	for (b = 0; b < BATCHES; b++) {
		fx->draw.state.line_width = make_size(fx);
		for (i = 0; i < BATCH; i++)
			make_prim(fx, &prims[i]);
		culled += check_batch(fx, prims);
	}
	print_message("%u samples: %u of %u of kind %u were culled\n", fx->scene.samples, culled,
		      BATCH * BATCHES, kind);
	assert_true(culled > BATCH * BATCHES / 50 && culled < BATCH * BATCHES);
	free(prims);
}

static void check_samples(u32 log2)
{
	/* Wider than high, and higher than wide. */
	const struct pumice_scene scene = {
		.width = log2 == 1 ? 30 : 70, .height = log2 == 1 ? 75 : 40, .cores = 1,
		.samples_log2 = (u8)log2, .tile_size = PUMICE_TILE_SIZE_16X16,
	};
	struct ta_fixture *fx = tafx_create(1000, &scene);

	check_kind(fx, PUMICE_PRIM_KIND_LINE);
	check_kind(fx, PUMICE_PRIM_KIND_POINT);
	tafx_destroy(fx);
}

static void with_one_sample_exactly_those_without_a_sample_are_culled(void **state)
{
	(void)state;
	check_samples(0);
}

static void with_two_samples_exactly_those_without_a_sample_are_culled(void **state)
{
	(void)state;
	check_samples(1);
}

static void with_four_samples_exactly_those_without_a_sample_are_culled(void **state)
{
	(void)state;
	check_samples(2);
}

/* Without the state's bit the same primitives are kept. */
static void nothing_is_culled_unless_the_state_enables_it(void **state)
{
	const struct pumice_scene scene = { .width = 32, .height = 32, .cores = 1 };
	struct ta_fixture *fx = tafx_create(100, &scene);
	struct tafx_prim p = { .size = { 0.25f, 0.25f } };
	u32 kind, on;

	(void)state;
	set(&p, 0, 5, 5);
	set(&p, 1, 5, 20);
	fx->draw.state.line_width = 0.25f;
	for (kind = PUMICE_PRIM_KIND_LINE; kind <= PUMICE_PRIM_KIND_POINT; kind++)
		for (on = 0; on < 2; on++) {
			fx->draw.kind = (u8)kind;
			fx->draw.state.small_cull = on;
			tafx_clear(fx);
			tafx_begin(fx, 0);
			tafx_give_all(fx, &p, 1);
			tafx_finish(fx, 0);
			assert_int_equal(fx->tile[0].count, !on);
		}
	tafx_destroy(fx);
}

/* Lines between the samples of the largest target, from corner to corner. */
static void put_lines(u32 *vo, struct ta_prim *list, u32 count)
{
	u32 i;

	for (i = 0; i < 2 * count; i++) {
		const float at[4] = { i % 2 ? 8192 : 0, i % 2 ? 8191.5f : -0.5f, 0, 1 };
		u32 n;

		for (n = 0; n < 4; n++)
			vo[(i / 32 * 9 + n) * 32 + i % 32] = number_bits(at[n]);
		list[i / 2].v[i % 2] = (u16)i;
	}
}

/*
 * Searching rows is charged: after a piece the rest is left to the next call, and culling by
 * positions alone keeps the rest, as it has no next call.
 */
static void long_searches_are_divided(void **state)
{
	enum { LINES = 32, COST = 8192 / 8, PIECE = TA_PIECE / COST };
	const struct pumice_scene scene = { .width = 8192, .height = 8192, .cores = 1 };
	struct ta_fixture *fx = tafx_create_bare(100, &scene);
	static u32 vo[2 * LINES * 9];
	struct tafx_waves waves;
	const struct ta_vertices vertices = tafx_waves(&waves, vo, 9, 2 * LINES);
	struct ta_prim list[LINES];
	bool keep[LINES];
	u32 i, done = 0, calls = 0;
	enum ta_result result;
	struct gpu_fault fault;

	(void)state;
	put_lines(vo, list, LINES);
	memset(keep, true, sizeof(keep));
	fx->draw.kind = PUMICE_PRIM_KIND_LINE;
	fx->draw.state.small_cull = true;
	fx->draw.state.line_width = 0.0625f;
	ta_cull(fx->ta[0], &fx->draw, &vertices, list, 0, LINES, keep);
	for (i = 0; i < LINES; i++)
		assert_int_equal(keep[i], i >= PIECE);
	do {
		result = ta_primitives(fx->ta[0], &fx->draw, &vertices, list, LINES, &done, &fault);
		calls++;
	} while (result == TA_MORE);
	assert_int_equal(result, TA_OK);
	assert_true(calls >= LINES / PIECE);
	assert_int_equal(ta_counters(fx->ta[0])->culled, LINES + PIECE);
	assert_false(tafx_write_headers(fx, 0));
	tafx_destroy(fx);
}

/* Lines over the whole target in one direction, between samples, are done in a single piece. */
static void straight_lines_are_searched_along_their_length(void **state)
{
	enum { LINES = 32 };
	const struct pumice_scene scene = { .width = 8192, .height = 8192, .cores = 1 };
	static u32 vo[2 * LINES * 9];
	struct tafx_waves waves;
	const struct ta_vertices vertices = tafx_waves(&waves, vo, 9, 2 * LINES);
	struct ta_prim list[LINES];
	bool keep[LINES];
	u32 down, i;

	(void)state;
	for (down = 0; down < 2; down++) {
		struct ta_fixture *fx = tafx_create_bare(100, &scene);

		for (i = 0; i < 2 * LINES; i++) {
			u32 *at = &vo[i / 32 * 9 * 32 + i % 32];

			at[down * 32] = number_bits(i % 2 ? 8192 : 0);
			at[!down * 32] = number_bits((float)(i / 2 + 1));
			at[2 * 32] = 0;
			at[3 * 32] = number_bits(1);
			list[i / 2].v[i % 2] = (u16)i;
		}
		memset(keep, true, sizeof(keep));
		fx->draw.kind = PUMICE_PRIM_KIND_LINE;
		fx->draw.state.small_cull = true;
		fx->draw.state.line_width = 0.0625f;
		ta_cull(fx->ta[0], &fx->draw, &vertices, list, 0, LINES, keep);
		for (i = 0; i < LINES; i++)
			assert_false(keep[i]);
		tafx_destroy(fx);
	}
}

/* Lines of this length in both directions, between samples; the near plane clips half of each. */
static void check_clipped(float length)
{
	enum { LINES = 256 };
	const struct pumice_scene scene = { .width = 512, .height = 512, .cores = 1 };
	struct ta_fixture *fx = tafx_create_bare(100, &scene);
	static u32 vo[2 * LINES * 9];
	struct tafx_waves waves;
	const struct ta_vertices vertices = tafx_waves(&waves, vo, 9, 2 * LINES);
	struct ta_prim list[LINES];
	struct gpu_fault fault;
	enum ta_result result;
	u32 i, done = 0, calls = 0;

	for (i = 0; i < 2 * LINES; i++) {
		const float at[4] = { i % 2 ? length : 0, i % 2 ? length - 0.5f : -0.5f,
				      i % 2 ? 1 : -1, 1 };
		u32 n;

		for (n = 0; n < 4; n++)
			vo[(i / 32 * 9 + n) * 32 + i % 32] = number_bits(at[n]);
		list[i / 2].v[i % 2] = (u16)i;
	}
	fx->draw.kind = PUMICE_PRIM_KIND_LINE;
	fx->draw.state.small_cull = true;
	fx->draw.state.depth_clip = true;
	fx->draw.state.line_width = 0.0625f;
	do {
		result = ta_primitives(fx->ta[0], &fx->draw, &vertices, list, LINES, &done, &fault);
		calls++;
	} while (result == TA_MORE);
	assert_int_equal(result, TA_OK);
	assert_true(calls > 1);
	assert_int_equal(ta_counters(fx->ta[0])->culled, LINES);
	assert_false(tafx_write_headers(fx, 0));
	tafx_destroy(fx);
}

/* Of these costs some leave less budget than clipping costs to the last line of a piece. */
static void clipped_lines_are_culled_wherever_a_piece_ends(void **state)
{
	u32 length;

	(void)state;
	for (length = 32; length <= 480; length += 32)
		check_clipped((float)length);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_one_sample_exactly_those_without_a_sample_are_culled),
		cmocka_unit_test(with_two_samples_exactly_those_without_a_sample_are_culled),
		cmocka_unit_test(with_four_samples_exactly_those_without_a_sample_are_culled),
		cmocka_unit_test(nothing_is_culled_unless_the_state_enables_it),
		cmocka_unit_test(long_searches_are_divided),
		cmocka_unit_test(straight_lines_are_searched_along_their_length),
		cmocka_unit_test(clipped_lines_are_culled_wherever_a_piece_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
