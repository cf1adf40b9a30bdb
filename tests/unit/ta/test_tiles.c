// SPDX-License-Identifier: MIT
/*
 * Tile lists against exact geometry: no tile is missing, and none is superfluous (a share
 * that is printed and must be 100 %).
 */
#include <stdlib.h>
#include <string.h>

#include "geometry.h"
#include "ta_fixture.h"

#define BATCH	400u

struct count {
	u64 prims, listed, touched;
};

static s64 fixed(float pixel)
{
	return (s64)(pixel * 256);
}

static void set(struct tafx_prim *p, u32 i, float x, float y)
{
	p->pos[i][0] = x;
	p->pos[i][1] = y;
	p->pos[i][2] = 0.5f;
	p->pos[i][3] = 1;
}

/* A border of tiles, or of the target. */
static s32 on_border(struct ta_fixture *fx, s32 size, s32 tile)
{
	const s32 n = (s32)pbfx_random(fx->pb, 16) - 2;

	return n > 10 ? size : n * tile;
}

/* Positions of several kinds: anywhere, close together, on edges of tiles, far away. */
static void make(struct ta_fixture *fx, struct tafx_prim *p)
{
	const s32 w = (s32)fx->scene.width, h = (s32)fx->scene.height;
	const u32 how = pbfx_random(fx->pb, 5);
	float x = tafx_pixel(fx, -20, w + 20), y = tafx_pixel(fx, -20, h + 20);
	u32 i;

	for (i = 0; i < 3; i++) {
		if (how == 1) {
			x += tafx_pixel(fx, -3, 3);
			y += tafx_pixel(fx, -3, 3);
		} else if (how == 2) {
			x = (float)on_border(fx, w, (s32)fx->scene.tile_w);
			y = (float)on_border(fx, h, (s32)fx->scene.tile_h);
		} else if (how == 3) {
			x = tafx_pixel(fx, -16000, 16000);
			y = tafx_pixel(fx, -16000, 16000);
		} else if (i) {
			x = tafx_pixel(fx, -20, w + 20);
			y = tafx_pixel(fx, -20, h + 20);
		}
		set(p, i, x, y);
	}
	p->size[0] = (float)(1 + pbfx_random(fx->pb, 1023)) / 16;
}

/* Shape of the primitive by the rules. False: empty. */
static bool shape_of(const struct ta_fixture *fx, const struct tafx_prim *p, struct geo *g)
{
	u32 i;

	switch (fx->draw.kind) {
	case PUMICE_PRIM_KIND_LINE:
		return geo_line(g, fixed(p->pos[0][0]), fixed(p->pos[0][1]), fixed(p->pos[1][0]),
				fixed(p->pos[1][1]), 2.5);
	case PUMICE_PRIM_KIND_POINT:
		geo_point(g, fixed(p->pos[0][0]), fixed(p->pos[0][1]), (double)p->size[0]);
		return true;
	default:
		for (i = 0; i < 3; i++) {
			g->x[i] = fixed(p->pos[i][0]);
			g->y[i] = fixed(p->pos[i][1]);
		}
		g->n = 3;
		return geo_area(g) != 0;
	}
}

static void compare(const struct ta_fixture *fx, const struct tafx_prim *p, u32 number,
		    struct count *count)
{
	const struct pm_scene *s = &fx->scene;
	struct geo g;
	const bool any = shape_of(fx, p, &g);
	u32 tx, ty;

	for (ty = 0; ty < s->tiles_y; ty++)
		for (tx = 0; tx < s->tiles_x; tx++) {
			const s64 x0 = tx * s->tile_w, x1 = x0 + s->tile_w;
			const s64 y0 = ty * s->tile_h, y1 = y0 + s->tile_h;
			const s64 right = x1 < s->width ? x1 : s->width;
			const s64 bottom = y1 < s->height ? y1 : s->height;
			const bool meets = any && geo_meets(&g, x0 * 256, y0 * 256, right * 256,
							    bottom * 256);
			const bool holds = tafx_holds(fx, ty * s->tiles_x + tx, number);

			if (meets && !holds)
				fail_msg("primitive %u is missing in tile %u, %u", number, tx, ty);
			count->listed += holds;
			count->touched += meets;
		}
	count->prims++;
}

static void run(u8 kind, const struct pumice_scene *scene, u32 batches, struct count *count)
{
	struct ta_fixture *fx = tafx_create(3000, scene);
	struct tafx_prim *prims = calloc(BATCH, sizeof(*prims));
	struct gpu_fault fault;
	u32 b, i;

	fx->draw.kind = kind;
	fx->draw.state.line_width = 2.5f;
	fx->pb->seed += (u64)kind * 1000003 + scene->width;
	for (b = 0; b < batches; b++) {
		for (i = 0; i < BATCH; i++)
			make(fx, &prims[i]);
		tafx_clear(fx);
		tafx_begin(fx, 0);
		tafx_give_all(fx, prims, BATCH);
		tafx_finish(fx, 0);
		for (i = 0; i < BATCH; i++)
			compare(fx, &prims[i], i, count);
		assert_true(pm_free_scene(fx->pb->pm, &fx->scene, &fault));
	}
	free(prims);
	tafx_destroy(fx);
}

/* Over tile sizes, and targets with partial last tiles. */
static void run_all(u8 kind)
{
	static const struct pumice_scene scenes[] = {
		{ .width = 200, .height = 150, .cores = 1, .tile_size = PUMICE_TILE_SIZE_16X16 },
		{ .width = 257, .height = 97, .cores = 1, .tile_size = PUMICE_TILE_SIZE_32X16 },
		{ .width = 320, .height = 320, .cores = 1, .tile_size = PUMICE_TILE_SIZE_32X32 },
	};
	struct count count = { 0 };
	u32 i;

	for (i = 0; i < 3; i++)
		run(kind, &scenes[i], 100, &count);
	print_message("%llu primitives in %llu tiles: %.4f %% of the entries are needed\n",
		      (unsigned long long)count.prims, (unsigned long long)count.listed,
		      100.0 * (double)count.touched / (double)count.listed);
	assert_true(count.prims >= 100000);
	assert_int_equal(count.listed, count.touched);
}

static void triangles_are_only_in_the_tiles_they_touch(void **state)
{
	(void)state;
	run_all(PUMICE_PRIM_KIND_TRIANGLE);
}

static void lines_are_only_in_the_tiles_they_touch(void **state)
{
	(void)state;
	run_all(PUMICE_PRIM_KIND_LINE);
}

static void points_are_only_in_the_tiles_they_touch(void **state)
{
	(void)state;
	run_all(PUMICE_PRIM_KIND_POINT);
}

/* Tiles keep the order of submission, and contain a primitive once. */
static void tiles_keep_the_order_of_submission(void **state)
{
	struct pumice_scene scene = { .width = 200, .height = 150, .cores = 1 };
	struct ta_fixture *fx = tafx_create(3000, &scene);
	struct tafx_prim *prims = calloc(3000, sizeof(*prims));
	u32 i, t;

	(void)state;
	for (i = 0; i < 3000; i++)
		make(fx, &prims[i]);
	tafx_give_all(fx, prims, 3000);
	tafx_finish(fx, 0);
	for (t = 0; t < fx->scene.tiles_x * fx->scene.tiles_y; t++) {
		const struct tafx_found *f = fx->tile[t].found;

		for (i = 1; i < fx->tile[t].count; i++)
			assert_true(f[i].number > f[i - 1].number);
	}
	free(prims);
	tafx_destroy(fx);
}

/*
 * Document 004, "MTE": blocks are binned by macro tile, so that the pages of one are free when its
 * tiles are done.
 */
static void blocks_are_binned_by_macro_tile(void **state)
{
	struct pumice_scene scene = { .width = 320, .height = 320, .cores = 1 };
	struct ta_fixture *fx = tafx_create(3000, &scene);
	const struct pm_scene *s = &fx->scene;
	struct gpu_fault fault;
	u32 m, before;

	(void)state;
	for (m = 0; m < PM_MACRO_TILES; m++) {
		const u32 x = m % PUMICE_MACRO_TILES_X * s->macro_w * s->tile_w;
		const u32 y = m / PUMICE_MACRO_TILES_X * s->macro_h * s->tile_h;
		struct tafx_prim prim = { .size = { 1 } };
		u32 other;

		if (!pm_macro_tile_tiles(s, m))
			continue;
		/* In the first tile of the macro tile. */
		set(&prim, 0, (float)x + 2, (float)y + 2);
		set(&prim, 1, (float)x + 12, (float)y + 2);
		set(&prim, 2, (float)x + 2, (float)y + 12);
		tafx_clear(fx);
		tafx_begin(fx, 0);
		tafx_give_all(fx, &prim, 1);
		tafx_finish(fx, 0);
		before = pbfx_read_list(fx->pb, 0).free;
		for (other = 0; other < PM_MACRO_TILES; other++)
			if (other != m)
				assert_true(pm_free_macro_tile(fx->pb->pm, 0, s, other, &fault));
		assert_int_equal(pbfx_read_list(fx->pb, 0).free, before);
		assert_true(pm_free_macro_tile(fx->pb->pm, 0, s, m, &fault));
		assert_true(pbfx_read_list(fx->pb, 0).free > before);
		assert_true(pm_free_scene(fx->pb->pm, s, &fault));
	}
	tafx_destroy(fx);
}

/* Blocks of two scenes are the same but for the instance of their draws. */
static void deferred_blocks_name_the_draw_of_their_scene(void **state)
{
	struct pumice_scene scene = { .width = 200, .height = 150, .cores = 1 };
	struct ta_fixture *fx = tafx_create(3000, &scene);
	struct tafx_prim prim = { .size = { 1 } };
	u32 n, done;

	(void)state;
	set(&prim, 0, 10, 10);
	set(&prim, 1, 90, 10);
	set(&prim, 2, 10, 90);
	fx->draw.state.deferred = true;
	fx->draw.vertex_state = PBFX_STATE;
	for (n = 1; n <= 3; n++) {
		fx->draw.draw = (struct pumice_prim_draw){
			.instance = 7 * n, .base_instance = 5 * n,
		};
		done = 0;
		assert_int_equal(tafx_give(fx, 0, &prim, 0, 1, &done), TA_OK);
		tafx_finish(fx, 0);
		assert_int_equal(fx->deferred.instance, 7 * n);
		assert_int_equal(fx->deferred.base_instance, 5 * n);
		tafx_begin(fx, 0);
	}
	tafx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(triangles_are_only_in_the_tiles_they_touch),
		cmocka_unit_test(lines_are_only_in_the_tiles_they_touch),
		cmocka_unit_test(points_are_only_in_the_tiles_they_touch),
		cmocka_unit_test(tiles_keep_the_order_of_submission),
		cmocka_unit_test(blocks_are_binned_by_macro_tile),
		cmocka_unit_test(deferred_blocks_name_the_draw_of_their_scene),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
