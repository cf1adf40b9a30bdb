// SPDX-License-Identifier: MIT
/*
 * Work in pieces. The work of a call is counted, not timed: tiles that get an entry, pages,
 * region headers, and the number of further calls. Exhausted pages, and cancelled scenes,
 * between any two pieces of primitives that touch all tiles.
 */
#include <stdlib.h>
#include <string.h>

#include "ta_fixture.h"

#define LARGE		24u	/* primitives that need several pieces */
#define SIZE		1024u	/* of their target; a piece is as many units as it has tiles */
#define WORDS		8u	/* of a vertex */
#define MANY		16384u	/* primitives of a call */

static const struct pumice_scene largest = {
	.width = PUMICE_MAX_RENDER_SIZE, .height = PUMICE_MAX_RENDER_SIZE, .cores = 1,
	.tile_size = PUMICE_TILE_SIZE_16X16,
};
static const struct pumice_scene middle = {
	.width = SIZE, .height = SIZE, .cores = 1, .tile_size = PUMICE_TILE_SIZE_16X16,
};
static const struct pumice_scene small = {
	.width = 300, .height = 200, .cores = 1, .tile_size = PUMICE_TILE_SIZE_32X16,
};
/* Eight by eight tiles, in macro tiles of two by two: a primitive costs one macro tile. */
static const struct pumice_scene square = {
	.width = 256, .height = 256, .cores = 1, .tile_size = PUMICE_TILE_SIZE_32X32,
};

/* A triangle, as outputs of its vertices. */
static void store(u32 *vo, const float corner[3][2])
{
	u32 v;

	memset(vo, 0, WORDS * PUMICE_LANES * sizeof(*vo));
	for (v = 0; v < 3; v++) {
		vo[v] = number_bits(corner[v][0]);
		vo[PUMICE_LANES + v] = number_bits(corner[v][1]);
		vo[3 * PUMICE_LANES + v] = number_bits(1);
	}
}

/* One triangle over a target of any size. */
static void cover(u32 *vo, float size)
{
	const float corner[3][2] = { { 0, 0 }, { 2 * size, 0 }, { 0, 2 * size } };

	store(vo, corner);
}

/* Work of the calls, maximum of one and total. */
struct tally {
	u64 entries, pages;	/* at most */
	u32 calls;
	u32 before;		/* calls before the first entry */
};

static void tally_prims(struct ta_fixture *fx, const u32 *vo, u32 count, struct tally *tally)
{
	static struct ta_prim prims[MANY];
	struct tafx_waves waves;
	const struct ta_vertices vertices = tafx_waves(&waves, vo, WORDS, 3);
	const struct ta_counters *counters = ta_counters(fx->ta[0]);
	enum ta_result result;
	struct gpu_fault fault;
	u32 done = 0, i;

	assert_in_range(count, 1, MANY);
	for (i = 0; i < count; i++)
		prims[i] = (struct ta_prim){ { 0, 1, 2 } };
	do {
		const u64 entries = counters->tile_entries, pages = pm_allocated(fx->pb->pm);

		result = ta_primitives(fx->ta[0], &fx->draw, &vertices, prims, count, &done,
				       &fault);
		if (counters->tile_entries - entries > tally->entries)
			tally->entries = counters->tile_entries - entries;
		if (pm_allocated(fx->pb->pm) - pages > tally->pages)
			tally->pages = pm_allocated(fx->pb->pm) - pages;
		tally->calls++;
		tally->before += !counters->tile_entries;
	} while (result == TA_MORE);
	assert_int_equal(result, TA_OK);
	assert_int_equal(done, count);
}

/* The largest scene there is, and a primitive on each of its tiles: no call does all work. */
static void a_call_does_a_piece_of_the_largest_scene(void **state)
{
	const u32 tiles = (PUMICE_MAX_RENDER_SIZE / 16) * (PUMICE_MAX_RENDER_SIZE / 16);
	struct ta_fixture *fx = tafx_create_bare(5000, &largest);
	u32 vo[WORDS * PUMICE_LANES], headers = 0, most = 0, calls = 0;
	struct tally tally = { 0 };
	enum ta_result result;
	struct gpu_fault fault;
	bool any;

	(void)state;
	cover(vo, (float)PUMICE_MAX_RENDER_SIZE);
	tally_prims(fx, vo, 1, &tally);
	assert_int_equal(ta_counters(fx->ta[0])->tile_entries, tiles);
	assert_in_range(tally.entries, 1, TA_PIECE);
	assert_in_range(tally.pages, 1, TA_PIECE / 8 + PM_MACRO_TILES);
	/* Lists are emptied two a unit; tiles are found, then counted: a unit each. */
	assert_true(tally.before >= (tiles / 2 + tiles + tiles) / TA_PIECE);
	/* The second one has entries already. */
	tally_prims(fx, vo, 2, &tally);
	memset(fx->pb->regions, 0xff, tiles * PUMICE_REGION_WORDS * 4);
	do {
		const u32 before = headers;

		result = ta_finish(fx->ta[0], &any, &fault);
		while (headers < tiles &&
		       fx->pb->regions[headers * PUMICE_REGION_WORDS] != 0xffffffff)
			headers++;
		most = headers - before > most ? headers - before : most;
		calls++;
	} while (result == TA_MORE);
	assert_int_equal(result, TA_OK);
	assert_true(any);
	assert_int_equal(headers, tiles);
	assert_in_range(most, 1, TA_PIECE);
	print_message("%u tiles: %u calls for 3 primitives with up to %u entries and %u pages each, "
		      "%u for headers with up to %u each\n", tiles, tally.calls,
		      (u32)tally.entries, (u32)tally.pages, calls, most);
	tafx_destroy(fx);
}

/* Many small primitives are split into pieces as well. */
static void a_call_does_some_of_many_primitives(void **state)
{
	struct ta_fixture *fx = tafx_create(100, &small);
	struct ta_prim prims[4096] = { { { 0, 0, 0 } } };	/* no area: culled */
	const u32 count = sizeof(prims) / sizeof(*prims);
	u32 vo[WORDS * PUMICE_LANES], done = 0, before, most = 0;
	struct tafx_waves waves;
	const struct ta_vertices vertices = tafx_waves(&waves, vo, WORDS, 3);
	enum ta_result result;
	struct gpu_fault fault;

	(void)state;
	cover(vo, 300);
	do {
		before = done;
		result = ta_primitives(fx->ta[0], &fx->draw, &vertices, prims, count, &done,
				       &fault);
		most = done - before > most ? done - before : most;
	} while (result == TA_MORE);
	assert_int_equal(result, TA_OK);
	assert_int_equal(ta_counters(fx->ta[0])->culled, count);
	assert_in_range(most, 1, TA_PIECE / 4);
	tafx_destroy(fx);
}

/* Return the calls that many triangles of the same corners need, in a number of tiles. */
static u32 calls_in_tiles(u32 tiles, const float corner[3][2])
{
	struct ta_fixture *fx = tafx_create(4000, &square);
	u32 vo[WORDS * PUMICE_LANES], i, touched = 0;
	struct tally tally = { 0 };

	store(vo, corner);
	tally_prims(fx, vo, MANY, &tally);
	tafx_finish(fx, 0);
	for (i = 0; i < 8 * 8; i++) {
		assert_true(!fx->tile[i].count || fx->tile[i].count == MANY);
		touched += fx->tile[i].count != 0;
	}
	assert_int_equal(touched, tiles);
	tafx_destroy(fx);
	return tally.calls;
}

/*
 * In one row or one column of tiles a triangle on the target is not followed from row to row: it
 * costs its tiles alone, a unit each, in either direction. One that extends beyond the target costs
 * its rows.
 */
static void a_row_or_a_column_of_tiles_costs_its_tiles_alone(void **state)
{
	static const float in_one[3][2] = { { 0, 0 }, { 32, 0 }, { 0, 32 } };
	static const float in_row[3][2] = { { 0, 0 }, { 64, 0 }, { 0, 32 } };
	static const float in_column[3][2] = { { 0, 0 }, { 0, 64 }, { 32, 0 } };
	static const float beyond[3][2] = { { -8, 0 }, { 64, 0 }, { -8, 32 } };
	const u32 one = calls_in_tiles(1, in_one), calls = calls_in_tiles(2, in_row);
	const u32 more = calls_in_tiles(2, beyond), unit = MANY / TA_PIECE;

	(void)state;
	print_message("%u calls in a tile, %u in two, %u with rows\n", one, calls, more);
	assert_int_equal(calls_in_tiles(2, in_column), calls);
	/* A call ends with a whole primitive. */
	assert_in_range(calls - one, unit - 1, unit + 1);
	assert_true(more > calls);
}

static struct tafx_prim *make(struct ta_fixture *fx, u32 count, float size)
{
	struct tafx_prim *prims = calloc(count, sizeof(*prims));
	u32 p, i;

	for (p = 0; p < count; p++) {
		for (i = 0; i < 3; i++) {
			prims[p].pos[i][0] = tafx_pixel(fx, -64, (s32)size + 64);
			prims[p].pos[i][1] = tafx_pixel(fx, -64, (s32)size + 64);
			prims[p].pos[i][2] = 0.5f;
			prims[p].pos[i][3] = 1;
			prims[p].size[i] = 1;
		}
		/* Every third covers nearly all; some are clipped into several parts. */
		if (p % 3 == 0) {
			prims[p].pos[0][0] = prims[p].pos[0][1] = -1;
			prims[p].pos[1][0] = prims[p].pos[2][1] = 2 * size;
			prims[p].pos[1][1] = prims[p].pos[2][0] = 0;
		}
		if (p % 5 == 0)
			prims[p].pos[1][3] = 0.01f;
	}
	return prims;
}

/*
 * Draw all in pieces with a limited number of pages; grow: one more at a stop, as long as
 * there are some, else the scene so far is rendered. Returns stops; ~0: one primitive never fits.
 */
static u32 draw(struct ta_fixture *fx, const struct tafx_prim *prims, bool grow)
{
	u32 done = 0, before = ~0u, stops = 0;
	struct gpu_fault fault;

	while (tafx_give(fx, 0, prims, 0, LARGE, &done) == TA_MEMORY) {
		const struct pumice_free_list list = pbfx_read_list(fx->pb, 0);

		stops++;
		if (grow && list.pages < list.max_pages) {
			pm_grow(fx->pb->pm, PBFX_LIST(0), list.pages + 1);
			continue;
		}
		if (done == before)
			return ~0u;
		before = done;
		tafx_finish(fx, 0);
		assert_true(pm_free_scene(fx->pb->pm, &fx->scene, &fault));
		tafx_begin(fx, 0);
	}
	assert_int_equal(done, LARGE);
	tafx_finish(fx, 0);
	return stops;
}

static void a_stop_at_any_page_loses_nothing_of_large_primitives(void **state)
{
	struct ta_fixture *whole = tafx_create(2000, &middle);
	struct tafx_prim *prims = make(whole, LARGE, SIZE);
	u32 pages, all, grow, most = 0, possible = 0;

	(void)state;
	assert_int_equal(draw(whole, prims, false), 0);
	all = (u32)pm_allocated(whole->pb->pm);
	for (grow = 0; grow < 2; grow++)
		for (pages = 1; pages <= all; pages++) {
			struct ta_fixture *fx = tafx_create(all, &middle);
			u32 stops;

			pbfx_list(fx->pb, 0, pages, 0);
			stops = draw(fx, prims, grow);
			if (stops != ~0u) {
				assert_true(tafx_same(fx, whole));
				possible++;
				most = stops > most ? stops : most;
			} else {
				/* A chunk for each tile, a page for blocks and one half full. */
				assert_true(pages < SIZE / 16 * SIZE / 16 / 63 +
					    2 * PM_MACRO_TILES);
			}
			tafx_destroy(fx);
		}
	print_message("%u pages in all; %u numbers of pages drawn with up to %u stops\n", all,
		      possible, most);
	assert_true(possible > all && most > 20);
	free(prims);
	tafx_destroy(whole);
}

/*
 * Vertices become ready wave by wave, with a call for each, also while pages are exhausted: the
 * same lists, in as many blocks.
 */
static void vertices_that_become_ready_later_change_nothing(void **state)
{
	struct ta_fixture *whole = tafx_create(2000, &middle);
	struct tafx_prim *prims = make(whole, LARGE, SIZE);
	u32 pages, all, done = 0;

	(void)state;
	assert_int_equal(draw(whole, prims, false), 0);
	all = (u32)pm_allocated(whole->pb->pm);
	for (pages = all; pages > all / 2; pages -= 3) {
		struct ta_fixture *fx = tafx_create(all, &middle);

		pbfx_list(fx->pb, 0, pages, 0);
		fx->late = true;
		if (draw(fx, prims, true) != ~0u) {
			assert_true(tafx_same(fx, whole));
			assert_int_equal(ta_counters(fx->ta[0])->blocks,
					 ta_counters(whole->ta[0])->blocks);
			done++;
		}
		tafx_destroy(fx);
	}
	assert_true(done > 5);
	free(prims);
	tafx_destroy(whole);
}

/* The scene is cancelled after any number of pieces; the next one is not affected. */
static void a_scene_cancelled_between_pieces_leaves_no_state(void **state)
{
	static const struct ta_prim prims[2] = { { { 0, 1, 2 } }, { { 0, 1, 2 } } };
	struct ta_fixture *fresh = tafx_create(500, &small);
	struct tafx_prim *next = make(fresh, LARGE, 200);
	u32 vo[WORDS * PUMICE_LANES], cut = 0;
	struct tafx_waves waves;
	const struct ta_vertices vertices = tafx_waves(&waves, vo, WORDS, 3);
	enum ta_result result;

	(void)state;
	cover(vo, SIZE);
	draw(fresh, next, false);
	do {
		struct ta_fixture *fx = tafx_create(500, &middle);
		struct gpu_fault fault;
		u32 n, done = 0;
		bool any;

		cut++;
		result = TA_MORE;
		for (n = 0; n < cut && result == TA_MORE; n++)
			result = ta_primitives(fx->ta[0], &fx->draw, &vertices, prims, 2, &done,
					       &fault);
		/* And between two pieces of headers. */
		if (result == TA_OK && cut % 2)
			assert_int_equal(ta_finish(fx->ta[0], &any, &fault), TA_MORE);
		assert_true(pm_free_scene(fx->pb->pm, &fx->scene, &fault));
		fx->scene = pbfx_load(fx->pb, 0, &small);
		tafx_begin(fx, 0);
		assert_int_equal(draw(fx, next, false), 0);
		assert_true(tafx_same(fx, fresh));
		tafx_destroy(fx);
	} while (result == TA_MORE || cut % 2 == 0);
	print_message("abandoned after each of %u pieces\n", cut);
	assert_true(cut > 6);
	free(next);
	tafx_destroy(fresh);
}

/* Host memory of a scene of many tiles is freed at its end; that of a small one is kept. */
static void memory_of_large_scenes_is_freed(void **state)
{
	struct ta_fixture *fx = tafx_create_bare(100, &largest);
	u32 vo[WORDS * PUMICE_LANES];
	struct tally tally = { 0 };

	(void)state;
	assert_true(ta_is_large(fx->ta[0]));
	assert_false(tafx_write_headers(fx, 0));	/* nothing was drawn */
	assert_false(ta_is_large(fx->ta[0]));
	tafx_begin(fx, 0);
	assert_true(ta_is_large(fx->ta[0]));
	ta_trim(fx->ta[0]);				/* it was cancelled */
	assert_false(ta_is_large(fx->ta[0]));
	fx->scene = pbfx_load(fx->pb, 0, &small);
	tafx_begin(fx, 0);
	assert_false(ta_is_large(fx->ta[0]));
	cover(vo, 300);
	tally_prims(fx, vo, 1, &tally);
	tafx_finish(fx, 0);
	tafx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_does_a_piece_of_the_largest_scene),
		cmocka_unit_test(a_call_does_some_of_many_primitives),
		cmocka_unit_test(a_row_or_a_column_of_tiles_costs_its_tiles_alone),
		cmocka_unit_test(a_stop_at_any_page_loses_nothing_of_large_primitives),
		cmocka_unit_test(vertices_that_become_ready_later_change_nothing),
		cmocka_unit_test(a_scene_cancelled_between_pieces_leaves_no_state),
		cmocka_unit_test(memory_of_large_scenes_is_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
