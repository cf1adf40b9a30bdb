// SPDX-License-Identifier: MIT
/*
 * Triangles that share edges: every sample is covered exactly once, over more than
 * a million edges of random meshes.
 *
 * A mesh is a grid whose vertices are moved by less than a quarter of its spacing,
 * so that no triangle changes its orientation; each cell has one of its two
 * diagonals. If it is drawn as a translucent object, a sample that is covered twice
 * requires a flush.
 */
#include "../support/cmocka_all.h"

#include "model.h"

#define CELLS	12u
#define EDGES	1000000u

static struct isp_tile tile;
static s32 vx[CELLS + 1][CELLS + 1], vy[CELLS + 1][CELLS + 1];

static const struct isp_state translucent = {
	.pass_type = PUMICE_PASS_TYPE_TRANSLUCENT, .depth_func = PUMICE_COMPARE_ALWAYS,
	.x1 = 8192, .y1 = 8192, .sample_mask = 15,
};

static void make_mesh(u32 spacing)
{
	/* The mesh begins before the tile, wherever it ends. */
	const s32 x0 = (s32)tile.x0 * 256 - (s32)model_below(spacing * 2);
	const s32 y0 = (s32)tile.y0 * 256 - (s32)model_below(spacing * 2);
	const s32 most = (s32)(spacing - 1) / 4;
	const bool aligned = model_below(2);
	u32 i, j;

	for (j = 0; j <= CELLS; j++) {
		for (i = 0; i <= CELLS; i++) {
			vx[j][i] = x0 + (s32)(i * spacing);
			vy[j][i] = y0 + (s32)(j * spacing);
			if (most > 0) {
				vx[j][i] += (s32)model_below(2 * (u32)most + 1) - most;
				vy[j][i] += (s32)model_below(2 * (u32)most + 1) - most;
			}
			/* On sample positions, where the fill rule applies. */
			if (aligned && spacing >= 256 && most > 64) {
				vx[j][i] = (vx[j][i] + 32) & ~31;
				vy[j][i] = (vy[j][i] + 32) & ~31;
			}
		}
	}
}

static u32 draw(u32 j0, u32 i0, u32 j1, u32 i1, u32 j2, u32 i2)
{
	struct isp_triangle t = {
		.x = { vx[j0][i0], vx[j1][i1], vx[j2][i2] },
		.y = { vy[j0][i0], vy[j1][i1], vy[j2][i2] },
	};
	struct isp_setup setup;
	struct isp_result result;

	if (!isp_set_up(&t, &translucent, &setup))
		return 0;
	assert_false(isp_must_flush(&tile, &setup, &translucent, false));
	isp_draw(&tile, &setup, &translucent, false, 1, &result);
	return 1;
}

static u32 draw_mesh(void)
{
	u32 i, j, triangles = 0;

	for (j = 0; j < CELLS; j++) {
		for (i = 0; i < CELLS; i++) {
			if (model_below(2)) {
				triangles += draw(j, i, j, i + 1, j + 1, i + 1);
				triangles += draw(j + 1, i + 1, j + 1, i, j, i);
			} else {
				/* Both directions: the fill rule must not depend on it. */
				triangles += draw(j, i, j + 1, i, j, i + 1);
				triangles += draw(j, i + 1, j + 1, i, j + 1, i + 1);
			}
		}
	}
	return triangles;
}

/* All samples well inside the mesh are covered. */
static void check_inside(u32 spacing)
{
	const s32 x1 = vx[0][CELLS] < vx[CELLS][CELLS] ? vx[0][CELLS] : vx[CELLS][CELLS];
	const s32 y1 = vy[CELLS][0] < vy[CELLS][CELLS] ? vy[CELLS][0] : vy[CELLS][CELLS];
	u32 x, y, s;

	for (y = 0; y < tile.clip_y; y++) {
		for (x = 0; x < tile.clip_x; x++) {
			const s32 left = (s32)(tile.x0 + x) * 256, top = (s32)(tile.y0 + y) * 256;

			if (left < vx[0][0] + (s32)spacing || left + 256 > x1 - (s32)spacing ||
			    top < vy[0][0] + (s32)spacing || top + 256 > y1 - (s32)spacing)
				continue;
			for (s = 0; s < tile.samples; s++)
				assert_int_equal(tile.tag[s][model_pixel(&tile, x, y)] & ~ISP_LATE,
						 1);
		}
	}
}

static void shared_edges_cover_every_sample_once(void **state)
{
	static const u32 spacings[] = { 60, 100, 256, 300, 700, 1024, 2048, 5000 };
	u32 edges = 0, n = 0;

	(void)state;
	while (edges < EDGES) {
		const u32 spacing = spacings[n++ % 8] + model_below(8);

		model_random_tile(&tile);
		make_mesh(spacing);
		edges += draw_mesh() * 3 / 2;
		check_inside(spacing);
	}
}

/* Two halves of lines and points are triangles that share an edge, too. */
static void halves_of_lines_and_points_do_not_overlap(void **state)
{
	struct isp_triangle half[2];
	struct isp_result result;
	struct isp_setup setup;
	u32 n, i, count;

	(void)state;
	for (n = 0; n < 20000; n++) {
		const float size = (float)model_below(40 * 256) / 256 + 0.0625f;
		struct ipf_prim prim = { 0 };

		model_random_tile(&tile);
		for (i = 0; i < 2; i++) {
			prim.vertex[i].x = (s32)(tile.x0 * 256 + model_below(40 * 256)) - 1024;
			prim.vertex[i].y = (s32)(tile.y0 * 256 + model_below(40 * 256)) - 1024;
			prim.vertex[i].size = size;
		}
		assert_true(isp_expand(n % 2 ? PUMICE_PRIM_KIND_LINE : PUMICE_PRIM_KIND_POINT,
				       &prim, half, &count));
		for (i = 0; i < count; i++) {
			if (!isp_set_up(&half[i], &translucent, &setup))
				continue;
			assert_false(isp_must_flush(&tile, &setup, &translucent, false));
			isp_draw(&tile, &setup, &translucent, false, 1, &result);
		}
	}
}

/* A point of whole pixels covers exactly its square. */
static void a_point_covers_its_square(void **state)
{
	struct ipf_prim prim = { .vertex[0] = { .x = 10 * 256, .y = 12 * 256, .size = 6 } };
	struct isp_triangle half[2];
	struct isp_result result;
	struct isp_setup setup;
	u32 i, x, y, count;

	(void)state;
	tile = (struct isp_tile){ .width = 32, .height = 32, .clip_x = 32, .clip_y = 32,
				  .samples = 1 };
	isp_tile_clear(&tile, 1, 0);
	assert_true(isp_expand(PUMICE_PRIM_KIND_POINT, &prim, half, &count));
	for (i = 0; i < count; i++) {
		assert_true(isp_set_up(&half[i], &translucent, &setup));
		isp_draw(&tile, &setup, &translucent, false, 1, &result);
	}
	for (y = 0; y < 32; y++)
		for (x = 0; x < 32; x++)
			assert_int_equal(tile.tag[0][model_pixel(&tile, x, y)],
					 x >= 7 && x < 13 && y >= 9 && y < 15);
}

static void positions_that_no_mte_writes_are_refused(void **state)
{
	struct ipf_prim prim = { 0 };
	struct isp_triangle out[2];
	u32 kind, v, count;

	(void)state;
	for (kind = 0; kind < 3; kind++) {
		for (v = 0; v < 3 - kind; v++) {
			prim = (struct ipf_prim){ 0 };
			prim.vertex[v].x = ISP_MAX_POSITION + 1;
			assert_false(isp_expand(kind, &prim, out, &count));
			prim.vertex[v].x = 0;
			prim.vertex[v].y = INT32_MIN;
			assert_false(isp_expand(kind, &prim, out, &count));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared_edges_cover_every_sample_once),
		cmocka_unit_test(halves_of_lines_and_points_do_not_overlap),
		cmocka_unit_test(a_point_covers_its_square),
		cmocka_unit_test(positions_that_no_mte_writes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
