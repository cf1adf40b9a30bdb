// SPDX-License-Identifier: MIT
/*
 * Culling: never of primitives that cover a sample, always of those that the rules name.
 * Tiles contain every primitive that covers one of their samples.
 */
#include <stdlib.h>
#include <string.h>

#include "geometry.h"
#include "ta_fixture.h"

#define BATCH	1000u

static void set(struct tafx_prim *p, u32 i, float x, float y)
{
	p->pos[i][0] = x;
	p->pos[i][1] = y;
	p->pos[i][2] = 0.5f;
	p->pos[i][3] = 1;
	p->size[i] = 1;
}

/* Up to two pixels, or slivers; some over the target's edges, many with corners on samples. */
static void make_small(struct ta_fixture *fx, struct tafx_prim *p)
{
	const float x = tafx_pixel(fx, -2, (s32)fx->scene.width + 1);
	const float y = tafx_pixel(fx, -2, (s32)fx->scene.height + 1);
	const u32 how = pbfx_random(fx->pb, 4);
	u32 i;

	for (i = 0; i < 3; i++) {
		float dx = tafx_pixel(fx, 0, how < 2 ? 1 : 2), dy = tafx_pixel(fx, 0, 1);

		if (how == 3) {
			dx = (float)pbfx_random(fx->pb, 32) / 16;
			dy = (float)pbfx_random(fx->pb, 32) / 16;
			set(p, i, (float)(s32)x + dx, (float)(s32)y + dy);
			continue;
		}
		set(p, i, x + dx, y + (how == 1 ? dy / 64 : dy));
		/* Back to the grid. */
		p->pos[i][1] = (float)(s32)(p->pos[i][1] * 256) / 256;
	}
}

static struct geo shape_of(const struct tafx_prim *p)
{
	struct geo g = { .n = 3 };
	u32 i;

	for (i = 0; i < 3; i++) {
		g.x[i] = (s64)(p->pos[i][0] * 256);
		g.y[i] = (s64)(p->pos[i][1] * 256);
	}
	return g;
}

/* Assert that each tile with a sample that the primitive covers contains it. */
static u32 check_samples(const struct ta_fixture *fx, const struct tafx_prim *p, u32 number)
{
	const struct pm_scene *s = &fx->scene;
	const struct geo g = shape_of(p);
	s64 x0 = g.x[0], y0 = g.y[0], px, py;
	u32 i, covered = 0;

	for (i = 1; i < 3; i++) {
		x0 = g.x[i] < x0 ? g.x[i] : x0;
		y0 = g.y[i] < y0 ? g.y[i] : y0;
	}
	for (py = (y0 >> 8); py <= (y0 >> 8) + 3; py++)
		for (px = (x0 >> 8); px <= (x0 >> 8) + 3; px++)
			for (i = 0; i < s->samples; i++) {
				s64 dx, dy;

				if (px < 0 || py < 0 || px >= s->width || py >= s->height)
					continue;
				geo_sample(s->samples, i, &dx, &dy);
				if (!geo_covers(&g, px * 256 + dx, py * 256 + dy))
					continue;
				covered++;
				if (!tafx_holds(fx, (u32)py / s->tile_h * s->tiles_x +
							      (u32)px / s->tile_w, number))
					fail_msg("primitive %u: a tile with a sample lacks it",
						 number);
			}
	return covered;
}

static void small_culling_drops_nothing_that_covers_a_sample(void **state)
{
	u32 log2, b, i, t;

	(void)state;
	for (log2 = 0; log2 < 3; log2++) {
		const struct pumice_scene scene = {
			.width = 70, .height = 50, .cores = 1, .samples_log2 = (u8)log2,
			.tile_size = PUMICE_TILE_SIZE_16X16,
		};
		struct ta_fixture *fx = tafx_create(1000, &scene);
		struct tafx_prim *prims = calloc(BATCH, sizeof(*prims));
		struct gpu_fault fault;
		const u32 tiles = fx->scene.tiles_x * fx->scene.tiles_y;
		u32 covering = 0, kept = 0;

		fx->draw.state.small_cull = true;
		for (b = 0; b < 40; b++) {
			for (i = 0; i < BATCH; i++)
				make_small(fx, &prims[i]);
			tafx_clear(fx);
			tafx_begin(fx, 0);
			tafx_give_all(fx, prims, BATCH);
			tafx_finish(fx, 0);
			for (i = 0; i < BATCH; i++) {
				bool held = false;

				covering += check_samples(fx, &prims[i], i) != 0;
				for (t = 0; t < tiles && !held; t++)
					held = tafx_holds(fx, t, i);
				kept += held;
			}
			assert_true(pm_free_scene(fx->pb->pm, &fx->scene, &fault));
		}
		print_message("%u samples: of %u triangles %u cover one, %u were kept\n",
			      1u << log2, 40 * BATCH, covering, kept);
		assert_true(kept >= covering && kept < 40 * BATCH);
		free(prims);
		tafx_destroy(fx);
	}
}

/*
 * Primitives that touch the target at most with an edge are culled, on each side of it: after the
 * coordinate program, so that their vertices are not shaded.
 */
static void primitives_outside_of_the_target_are_culled(void **state)
{
	const struct pumice_scene scene = { .width = 32, .height = 32, .cores = 1 };
	static const struct {
		float x, y;
		bool outside;
	} moves[] = {
		{ 0, 0, false }, { -19, 0, false }, { -20, 0, true }, { 0, -19, false },
		{ 0, -20, true }, { 31, 0, false }, { 32, 0, true }, { 0, 31, false },
		{ 0, 32, true },
	};
	const struct ta_prim list[] = { { .v = { 0, 1, 2 } } };
	struct ta_fixture *fx = tafx_create(100, &scene);
	static u32 vo[4 * 32];
	struct tafx_waves waves;
	const struct ta_vertices vertices = tafx_waves(&waves, vo, 4, 3);
	struct tafx_prim p = { 0 };
	u32 i, k, n;

	(void)state;
	for (i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		bool keep = true;

		set(&p, 0, moves[i].x, moves[i].y);
		set(&p, 1, moves[i].x + 20, moves[i].y);
		set(&p, 2, moves[i].x, moves[i].y + 20);
		for (k = 0; k < 3; k++)
			for (n = 0; n < 4; n++)
				vo[n * 32 + k] = number_bits(p.pos[k][n]);
		ta_cull(fx->ta[0], &fx->draw, &vertices, list, 0, 1, &keep);
		assert_int_equal(keep, !moves[i].outside);
		tafx_clear(fx);
		tafx_begin(fx, 0);
		tafx_give_all(fx, &p, 1);
		tafx_finish(fx, 0);
		assert_int_equal(fx->tile[0].count, !moves[i].outside);
	}
	tafx_destroy(fx);
}

/* Faces: kept primitives and their facing, for all states and both orientations. */
static void faces_are_culled_according_to_the_state(void **state)
{
	const struct pumice_scene scene = { .width = 32, .height = 32, .cores = 1 };
	struct ta_fixture *fx = tafx_create(100, &scene);
	struct tafx_prim p = { 0 };
	u32 mode;

	(void)state;
	for (mode = 0; mode < 16; mode++) {
		const bool clockwise = mode & 1, ccw = mode & 2, front = clockwise != ccw;
		const bool culled = front ? mode & 4 : mode & 8;

		set(&p, 0, 1, 1);
		set(&p, 1, clockwise ? 20 : 1, clockwise ? 1 : 20);
		set(&p, 2, clockwise ? 1 : 20, clockwise ? 20 : 1);
		fx->draw.state.front_ccw = ccw;
		fx->draw.state.cull_front = mode & 4;
		fx->draw.state.cull_back = mode & 8;
		tafx_clear(fx);
		tafx_begin(fx, 0);
		tafx_give_all(fx, &p, 1);
		tafx_finish(fx, 0);
		assert_int_equal(fx->tile[0].count, !culled);
		if (!culled)
			assert_int_equal(fx->tile[0].found[0].index.back, !front);
	}
	tafx_destroy(fx);
}

/* Area 0, no length, barely off the target, and the last step that is still on it. */
static void edges_of_culling(void **state)
{
	static const struct {
		u8 kind;
		float x[3], y[3], size;
		bool kept;
	} cases[] = {
		{ 0, { 1, 5, 9 }, { 1, 5, 9 }, 1, false },
		{ 0, { 3, 3, 3 }, { 3, 3, 3 }, 1, false },
		{ 0, { -9, 0, -9 }, { 1, 5, 9 }, 1, false },
		{ 0, { -9, 0.00390625f, -9 }, { 1, 5, 9 }, 1, true },
		{ 0, { 32, 40, 32 }, { 1, 5, 9 }, 1, false },
		{ 0, { 31.99609375f, 40, 32 }, { 1, 5, 9 }, 1, true },
		{ 0, { 1, 5, 9 }, { 32, 40, 32 }, 1, false },
		/* Only the rectangle around it intersects the target. */
		{ 0, { -40, 30, -40 }, { 20, -40, -40 }, 1, false },
		{ 1, { 5, 5 }, { 5, 5 }, 1, false },
		{ 1, { 5, 6 }, { 5, 5 }, 1, true },
		{ 1, { 5, 9 }, { -1, -1 }, 2, false },
		{ 2, { -0.5f }, { 5 }, 1, false },
		{ 2, { -0.49609375f }, { 5 }, 1, true },
		{ 2, { 32 }, { 5 }, 1, true },
		{ 2, { 32 }, { 5 }, 0.0001f, true },	/* size 1/16 */
		{ 2, { 200 }, { 5 }, 1e9f, false },	/* size 256 */
		{ 2, { 159 }, { 5 }, 1e9f, true },
	};
	const struct pumice_scene scene = { .width = 32, .height = 32, .cores = 1 };
	struct ta_fixture *fx = tafx_create(100, &scene);
	u32 c, i;

	(void)state;
	for (c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		struct tafx_prim p = { 0 };

		fx->draw.kind = cases[c].kind;
		fx->draw.state.line_width = cases[c].size;
		for (i = 0; i < 3; i++)
			set(&p, i, cases[c].x[i], cases[c].y[i]);
		p.size[0] = cases[c].size;
		tafx_clear(fx);
		tafx_begin(fx, 0);
		tafx_give_all(fx, &p, 1);
		tafx_finish(fx, 0);
		if (fx->tile[0].count != cases[c].kept)
			fail_msg("case %u", c);
	}
	tafx_destroy(fx);
}

/* The result for the coordinate program equals that for the complete vertices. */
static void culling_by_positions_alone_agrees(void **state)
{
	const struct pumice_scene scene = { .width = 64, .height = 64, .cores = 1 };
	struct ta_fixture *fx = tafx_create(1000, &scene);
	static u32 vo[96 * 4 * 32];
	struct tafx_waves waves;
	const struct ta_vertices vertices = tafx_waves(&waves, vo, 4, 96);
	struct ta_prim list[32];
	struct tafx_prim prims[32];
	bool keep[32];
	u32 b, i, k, n, dropped = 0;
	u64 before, culled;

	(void)state;
	for (b = 0; b < 1000; b++) {
		struct gpu_fault fault;
		u32 t;

		fx->draw.state.small_cull = b & 1;
		fx->draw.state.cull_back = b & 2;
		fx->draw.state.discard = b % 100 == 99;
		for (i = 0; i < 32; i++) {
			make_small(fx, &prims[i]);
			if (i % 8 == 0)
				prims[i].pos[1][3] = -0.5f;	/* clipped */
			keep[i] = i != 5;
			for (k = 0; k < 3; k++) {
				list[i].v[k] = (u16)(3 * i + k);
				for (n = 0; n < 4; n++)
					vo[((3 * i + k) / 32 * 4 + n) * 32 + (3 * i + k) % 32] =
						number_bits(prims[i].pos[k][n]);
			}
		}
		before = ta_counters(fx->ta[0])->culled;
		ta_cull(fx->ta[0], &fx->draw, &vertices, list, 0, 32, keep);
		assert_false(keep[5]);
		/* Number 5 was dropped before. */
		culled = 0;
		for (i = 0; i < 32; i++)
			culled += i != 5 && !keep[i];
		assert_int_equal(ta_counters(fx->ta[0])->culled - before, culled);
		tafx_clear(fx);
		tafx_begin(fx, 0);
		tafx_give_all(fx, prims, 32);
		tafx_finish(fx, 0);
		for (i = 0; i < 32; i++) {
			bool held = false;

			for (t = 0; t < 4; t++)
				held = held || tafx_holds(fx, t, i);
			assert_true(!held || keep[i] || i == 5);
			dropped += !keep[i];
		}
		assert_true(pm_free_scene(fx->pb->pm, &fx->scene, &fault));
	}
	print_message("%u of 32000 dropped\n", dropped);
	assert_true(dropped > 5000 && dropped < 31000);
	tafx_destroy(fx);
}

/*
 * Vertices that triangles share are written once a block, and the triangles are complete, also if
 * vertices become ready one wave after the other.
 */
static void shared_vertices_are_written_once(void **state)
{
	const struct pumice_scene scene = { .width = 32, .height = 32, .cores = 1 };
	struct ta_fixture *fx = tafx_create(1000, &scene);
	static u32 vo[3 * 8 * 32];
	struct tafx_waves waves;
	struct ta_vertices vertices = tafx_waves(&waves, vo, 8, 81);
	struct ta_prim list[96];
	struct gpu_fault fault;
	enum ta_result result;
	u32 v, i, done = 0, written = 0, last = ~0u;

	(void)state;
	for (v = 0; v < 81; v++) {
		const float at[8] = { (float)(v % 9) * 3, (float)(v / 9) * 3, 0, 1, 1, (float)v };

		for (i = 0; i < 8; i++)
			vo[(v / 32 * 8 + i) * 32 + v % 32] = number_bits(at[i]);
	}
	for (i = 0; i < 48; i++) {
		const u16 a = (u16)(i / 8 * 9 + i % 8);

		list[2 * i] = (struct ta_prim){ { a, (u16)(a + 1), (u16)(a + 9) } };
		list[2 * i + 1] = (struct ta_prim){ { (u16)(a + 9), (u16)(a + 1), (u16)(a + 10) } };
	}
	fx->draw.state.point_size = true;
	vertices.ready = 32;
	while ((result = ta_primitives(fx->ta[0], &fx->draw, &vertices, list, 96, &done, &fault)) ==
	       TA_VERTICES)
		vertices.ready = vertices.ready == 64 ? 81 : 64;
	assert_int_equal(result, TA_OK);
	tafx_finish(fx, 0);
	assert_int_equal(fx->tile[0].count, 96);
	for (i = 0; i < 96; i++) {
		const struct tafx_found *f = &fx->tile[0].found[i];

		for (v = 0; v < 3; v++) {
			assert_int_equal((u32)f->v[v][0], list[i].v[v]);
			assert_int_equal(f->vertex[v].x, list[i].v[v] % 9 * 3 * 256);
			assert_int_equal(f->vertex[v].y, list[i].v[v] / 9 * 3 * 256);
		}
		/* The highest number in the block, at its last primitive. */
		if (i % 32 == 0)
			last = 0;
		for (v = 0; v < 3; v++) {
			const u8 slot[3] = { f->index.v0, f->index.v1, f->index.v2 };

			last = slot[v] > last ? slot[v] : last;
		}
		if (i % 32 == 31)
			written += last + 1;
	}
	assert_int_equal(written, 3 * 27);	/* rows per block: 2 of squares, 3 of vertices */
	tafx_destroy(fx);
}

/* Calls with the same numbers of vertices, but not the same vertices. */
static void vertices_of_two_calls_are_not_confused(void **state)
{
	const struct pumice_scene scene = { .width = 32, .height = 32, .cores = 1 };
	struct ta_fixture *fx = tafx_create(100, &scene);
	struct tafx_prim p[2] = { 0 };
	u32 i, k, done;

	(void)state;
	for (i = 0; i < 2; i++) {
		for (k = 0; k < 3; k++)
			set(&p[i], k, (float)(i * 9 + (k == 1) * 5), (float)(3 + (k == 2) * 5));
		done = 0;
		assert_int_equal(tafx_give(fx, 0, p, i, 1, &done), TA_OK);
	}
	tafx_finish(fx, 0);
	assert_int_equal(fx->tile[0].count, 2);
	for (i = 0; i < 2; i++)
		assert_int_equal(fx->tile[0].found[i].vertex[0].x, (s32)i * 9 * 256);
	assert_int_equal(ta_counters(fx->ta[0])->blocks, 1);
	tafx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_culling_drops_nothing_that_covers_a_sample),
		cmocka_unit_test(faces_are_culled_according_to_the_state),
		cmocka_unit_test(primitives_outside_of_the_target_are_culled),
		cmocka_unit_test(edges_of_culling),
		cmocka_unit_test(culling_by_positions_alone_agrees),
		cmocka_unit_test(shared_vertices_are_written_once),
		cmocka_unit_test(vertices_of_two_calls_are_not_confused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
