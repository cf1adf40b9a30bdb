// SPDX-License-Identifier: MIT
/*
 * Pages of the parameter buffer: against a model that stores the owner of each page, over
 * long random sequences, and by the resulting contents of memory.
 */
#include <stdlib.h>
#include <string.h>

#include "../../../qemu-device/gpu/pm/internal.h"
#include "pb_fixture.h"

#define NO_OWNER	(-1)

static const struct pumice_scene small = { .width = 256, .height = 256, .cores = 1 };

#define CORES	8u

struct model {
	struct pb_fixture *fx;
	struct pm_scene scene[PBFX_SCENES];
	int *owner[PUMICE_PM_LISTS];	/* scene * 16 + macro tile */
	u32 pages[PUMICE_PM_LISTS], free[PUMICE_PM_LISTS];
	u64 empty, allocated, freed, from_spares;
};

static struct model *model_create(u32 max0, u32 max1)
{
	struct model *m = calloc(1, sizeof(*m));
	u32 l, i;

	m->fx = pbfx_create(max0, max1);
	for (l = 0; l < PUMICE_PM_LISTS; l++) {
		m->owner[l] = calloc(m->fx->max_pages[l] + 1, sizeof(int));
		for (i = 0; i < m->fx->max_pages[l]; i++)
			m->owner[l][i] = NO_OWNER;
		m->pages[l] = m->free[l] = m->fx->max_pages[l];
	}
	for (i = 0; i < PBFX_SCENES; i++)
		m->scene[i] = pbfx_load(m->fx, i, &small);
	return m;
}

static void model_destroy(struct model *m)
{
	pbfx_destroy(m->fx);
	free(m->owner[0]);
	free(m->owner[1]);
	free(m);
}

static void model_alloc(struct model *m, u32 scene, u32 macro)
{
	struct pumice_pb_ref at;
	struct gpu_fault fault;
	u32 ref, page;
	/* A core allocates for one scene most of the time, so that it can have spare pages. */
	const u32 core = pbfx_random(m->fx, 50) ? scene + pbfx_random(m->fx, 2) * PBFX_SCENES :
						  pbfx_random(m->fx, CORES);
	enum pm_result result = pm_alloc(m->fx->pm, core, &m->scene[scene], macro, &ref, &fault);

	if (!m->free[0] && !m->free[1]) {
		assert_int_equal(result, PM_EMPTY);
		m->empty++;
		return;
	}
	assert_int_equal(result, PM_OK);
	pumice_pb_ref_unpack(&ref, &at);
	assert_int_equal(at.list, m->free[0] ? 0 : 1);
	assert_int_equal(at.offset % (PUMICE_PM_PAGE_SIZE / 16), 0);
	page = at.offset / (PUMICE_PM_PAGE_SIZE / 16);
	assert_true(page < m->pages[at.list]);
	assert_int_equal(m->owner[at.list][page], NO_OWNER);
	m->owner[at.list][page] = (int)(scene * PM_MACRO_TILES + macro);
	m->free[at.list]--;
	m->allocated++;
}

/* Pages of macro tiles from to to no longer have an owner. */
static void model_freed(struct model *m, u32 scene, u32 from, u32 to)
{
	u32 l, i;

	for (l = 0; l < PUMICE_PM_LISTS; l++)
		for (i = 0; i < m->pages[l]; i++)
			if (m->owner[l][i] >= (int)(scene * PM_MACRO_TILES + from) &&
			    m->owner[l][i] <= (int)(scene * PM_MACRO_TILES + to)) {
				m->owner[l][i] = NO_OWNER;
				m->free[l]++;
				m->freed++;
			}
}

/* All cores return their pages, so that memory has all of the state. */
static void model_return(const struct model *m)
{
	struct gpu_fault fault;
	u32 i;

	for (i = 0; i < CORES; i++)
		assert_true(pm_return(m->fx->pm, i, &fault));
}

static void take(u8 *seen, u32 page, u32 pages)
{
	assert_true(page < pages);
	assert_int_equal(seen[page], 0);
	seen[page] = 1;
}

/* Walk all lists and chains in memory: every page is in exactly one, the right one. */
static void model_check(const struct model *m)
{
	u32 l, n, t, i, page;

	model_return(m);
	for (l = 0; l < PUMICE_PM_LISTS; l++) {
		u8 *seen = calloc(m->pages[l] + 1, 1);
		struct pumice_free_list list;
		u32 found = 0;

		if (!m->fx->max_pages[l]) {
			free(seen);
			continue;
		}
		list = pbfx_read_list(m->fx, l);
		assert_int_equal(list.free, m->free[l]);
		assert_int_equal(list.pages, m->pages[l]);
		for (page = list.head; page != PUMICE_PM_NO_PAGE; page = m->fx->links[l][page]) {
			take(seen, page, list.pages);
			assert_int_equal(m->owner[l][page], NO_OWNER);
			found++;
		}
		for (page = list.fresh; page < list.pages; page++, found++)
			take(seen, page, list.pages);
		assert_int_equal(found, list.free);
		for (n = 0; n < PBFX_SCENES; n++)
			for (t = 0; t < PM_MACRO_TILES; t++) {
				const struct pumice_scene_chain chain =
					pbfx_read_chain(m->fx, n, t, l);

				page = chain.head;
				for (i = 0; i < chain.pages; i++) {
					take(seen, page, list.pages);
					assert_int_equal(m->owner[l][page],
							 (int)(n * PM_MACRO_TILES + t));
					page = m->fx->links[l][page];
				}
				assert_int_equal(page, PUMICE_PM_NO_PAGE);
			}
		for (i = 0; i < list.pages; i++)
			assert_int_equal(seen[i], 1);
		free(seen);
	}
	assert_int_equal(pm_allocated(m->fx->pm), m->allocated);
	assert_int_equal(pm_freed(m->fx->pm), m->freed);
}

static void model_step(struct model *m, u32 busy)
{
	struct pb_fixture *fx = m->fx;
	const u32 scene = pbfx_random(fx, PBFX_SCENES), macro = pbfx_random(fx, 16);
	const u32 l = pbfx_random(fx, 2);
	struct gpu_fault fault;
	u32 pages;

	switch (pbfx_random(fx, busy)) {
	case 0:
		assert_true(pm_free_scene(fx->pm, &m->scene[scene], &fault));
		model_freed(m, scene, 0, 15);
		break;
	case 1:
		assert_true(pm_scene_begin(fx->pm, &m->scene[scene], &fault));
		model_freed(m, scene, 0, 15);
		break;
	case 2:
		pm_release(fx->pm, PBFX_SCENE(scene));
		model_freed(m, scene, 0, 15);
		break;
	case 3: case 4: case 5: case 6: case 7: case 8:
		/* The fragment phase follows the geometry phase of all cores. */
		model_return(m);
		assert_true(pm_free_macro_tile(fx->pm, pbfx_random(fx, CORES), &m->scene[scene],
					       macro, &fault));
		model_freed(m, scene, macro, macro);
		break;
	case 9:
		pages = m->pages[l] + pbfx_random(fx, 3);
		pm_grow(fx->pm, PBFX_LIST(l), pages);
		if (pages <= fx->max_pages[l]) {
			m->free[l] += pages - m->pages[l];
			m->pages[l] = pages;
		}
		break;
	default:
		model_alloc(m, scene, macro);
	}
}

/* 10^5 operations at each of several sizes, most of the time near exhaustion. */
static void no_page_is_lost_or_allocated_twice(void **state)
{
	static const u32 sizes[][2] = { { 1, 0 }, { 7, 0 }, { 100, 40 }, { 2500, 1 } };
	u32 s, i;

	(void)state;
	for (s = 0; s < 4; s++) {
		struct model *m = model_create(sizes[s][0], sizes[s][1]);
		const u32 busy = 20 + sizes[s][0] * 2;

		if (sizes[s][0] > 10) {
			pbfx_list(m->fx, 0, sizes[s][0] / 2, 0);
			m->pages[0] = m->free[0] = sizes[s][0] / 2;
		}
		for (i = 0; i < 100000; i++) {
			model_step(m, busy);
			if (i % 997 == 0)
				model_check(m);
			if (i % 4999 == 4998) {
				/* All cached state is in memory too. */
				model_return(m);
				m->from_spares += pm_from_spares(m->fx->pm);
				pm_reset(m->fx->pm);
				m->allocated = m->freed = 0;
			}
		}
		model_check(m);
		print_message("%u + %u pages: %llu times empty, %llu from spare ones\n",
			      sizes[s][0], sizes[s][1], (unsigned long long)m->empty,
			      (unsigned long long)m->from_spares);
		assert_true(m->empty);
		assert_int_equal(m->from_spares > 0, sizes[s][0] > DPM_SHARE);
		model_destroy(m);
	}
}

/* Exhaustion at every point: for any number of pages, all of them and no more are allocated. */
static void every_page_is_allocated_before_a_list_is_empty(void **state)
{
	u32 pages;

	(void)state;
	for (pages = 1; pages < 70; pages++) {
		struct model *m = model_create(pages, pages % 3);
		u32 i;

		for (i = 0; i < pages + pages % 3; i++)
			model_alloc(m, i % PBFX_SCENES, i % 16);
		assert_int_equal(m->empty, 0);
		model_alloc(m, 0, 0);
		assert_int_equal(m->empty, 1);
		model_check(m);
		model_destroy(m);
	}
}

static void low_is_raised_once_until_pages_are_added(void **state)
{
	struct model *m = model_create(20, 0);
	struct pb_fixture *fx = m->fx;
	u32 i;

	(void)state;
	pbfx_list(fx, 0, 10, 4);
	m->pages[0] = m->free[0] = 10;
	for (i = 0; i < 6; i++)
		model_alloc(m, 0, i);
	assert_int_equal(fx->lows, 0);
	assert_int_equal(pm_low_list(fx->pm), 0);
	model_alloc(m, 0, 6);
	assert_int_equal(fx->lows, 1);
	assert_int_equal(pm_low_list(fx->pm), PBFX_LIST(0));
	assert_true(pbfx_read_list(fx, 0).low);
	model_alloc(m, 0, 7);
	assert_int_equal(fx->lows, 1);
	pm_grow(fx->pm, PBFX_LIST(0), 14);
	m->pages[0] = 14;
	m->free[0] += 4;
	assert_false(pbfx_read_list(fx, 0).low);
	for (i = 0; i < 6; i++)
		model_alloc(m, 1, 0);
	assert_int_equal(fx->lows, 2);
	assert_int_equal(pbfx_read_list(fx, 0).min_free, 0);
	model_check(m);
	model_destroy(m);
}

static void growth_below_the_present_size_or_beyond_the_table_is_ignored(void **state)
{
	struct model *m = model_create(20, 0);
	static const u32 refused[] = { 0, 9, 10, 21, 0x80000000, 0xffffffff };
	u32 i;

	(void)state;
	pbfx_list(m->fx, 0, 10, 0);
	m->pages[0] = m->free[0] = 10;
	for (i = 0; i < 6; i++)
		pm_grow(m->fx->pm, PBFX_LIST(0), refused[i]);
	pm_grow(m->fx->pm, PBFX_LIST(0) + 2, 15);
	pm_grow(m->fx->pm, PBFX_LIST(0) + (1ull << 32), 15);
	model_check(m);
	pm_grow(m->fx->pm, PBFX_LIST(0), 20);
	m->pages[0] = m->free[0] = 20;
	model_check(m);
	model_destroy(m);
}

static void the_list_that_can_grow_is_reported_when_all_are_empty(void **state)
{
	struct model *m = model_create(4, 8);

	(void)state;
	pbfx_list(m->fx, 1, 2, 0);
	m->pages[1] = m->free[1] = 2;
	while (!m->empty)
		model_alloc(m, 0, 3);
	assert_int_equal(pm_low_list(m->fx->pm), PBFX_LIST(1));
	model_destroy(m);
}

/* More lists than are cached: allocated pages are read again. */
/* For any number of pages in use: their state is cached in words of bits. */
static void an_evicted_list_is_read_completely_at_every_size(void **state)
{
	static const u32 counts[] = { 1, 31, 32, 33, 50, 63, 64, 65, 100, 128 };
	const struct pumice_scene small = { .width = 256, .height = 256, .cores = 1 };
	u32 i, n, ref;

	(void)state;
	for (i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		struct pb_fixture *fx = pbfx_create(128, 0);
		struct pm_scene scene = pbfx_load(fx, 0, &small);
		struct gpu_fault fault;
		bool taken[128] = { false };

		for (n = 0; n < counts[i]; n++)
			assert_int_equal(pm_alloc(fx->pm, 0, &scene, n % 2, &ref, &fault), PM_OK);
		assert_true(pm_return(fx->pm, 0, &fault));
		pm_reset(fx->pm);
		assert_true(pm_free_macro_tile(fx->pm, 0, &scene, 0, &fault));
		pm_reset(fx->pm);
		assert_true(pm_free_macro_tile(fx->pm, 0, &scene, 1, &fault));
		assert_int_equal(pbfx_read_list(fx, 0).free, 128);
		for (n = 0; n < 128; n++) {
			struct pumice_pb_ref at;

			assert_int_equal(pm_alloc(fx->pm, 0, &scene, 0, &ref, &fault), PM_OK);
			pumice_pb_ref_unpack(&ref, &at);
			at.offset /= PUMICE_PM_PAGE_SIZE / 16;
			assert_in_range(at.offset, 0, 127);
			assert_false(taken[at.offset]);
			taken[at.offset] = true;
		}
		pbfx_destroy(fx);
	}
}

static void evicted_lists_are_read_again(void **state)
{
	struct model *m = model_create(60, 0);
	u32 i;

	(void)state;
	for (i = 0; i < 2000; i++) {
		model_step(m, 40);
		model_return(m);
		pm_reset(m->fx->pm);
		m->allocated = m->freed = 0;
	}
	model_check(m);
	model_destroy(m);
}

/* A list of pieces * PM_PIECE pages that are all free, linked, and not cached by the PM. */
static void unknown_list(struct pb_fixture *fx, u32 pieces)
{
	const u32 pages = pieces * PM_PIECE;
	const struct pumice_free_list list = {
		.base = PBFX_BASE(0), .pages = pages, .fresh = pages, .free = pages,
		.max_pages = pages, .links = PBFX_LINKS(0), .min_free = pages,
	};
	u32 i;

	for (i = 0; i < pages; i++)
		fx->links[0][i] = i + 1 < pages ? i + 1 : PUMICE_PM_NO_PAGE;
	pumice_free_list_pack(fx->list[0], &list);
}

/* Register accesses wait with QEMU's big lock held. */
static void a_register_write_follows_a_piece_of_links(void **state)
{
	const u32 pieces = 10;
	struct pb_fixture *fx = pbfx_create(pieces * PM_PIECE, 0);
	u32 writes = 1;

	(void)state;
	unknown_list(fx, pieces);
	while (!pm_grow(fx->pm, PBFX_LIST(0), 0))
		writes++;
	assert_int_equal(writes, pieces);
	assert_true(pm_grow(fx->pm, PBFX_LIST(0), 0));	/* now it is cached */
	pm_reset(fx->pm);
	pbfx_scene(fx, 0, &(struct pumice_scene){ .width = 64, .height = 64, .cores = 1 });
	for (writes = 1; !pm_release(fx->pm, PBFX_SCENE(0)); writes++)
		;
	assert_int_equal(writes, pieces);
	pbfx_destroy(fx);
}

/* Allocate a number of pages for a macro tile. */
static void take_pages(struct pb_fixture *fx, const struct pm_scene *scene, u32 macro, u32 pages)
{
	struct gpu_fault fault;
	u32 ref;

	while (pages--)
		assert_int_equal(pm_alloc(fx->pm, 0, scene, macro, &ref, &fault), PM_OK);
	assert_true(pm_return(fx->pm, 0, &fault));
}

static u32 calls_to_free(struct pb_fixture *fx, const struct pm_scene *scene, u32 macro)
{
	enum pm_result result;
	struct gpu_fault fault;
	u32 calls = 0;

	do {
		result = pm_free_macro_tile_piece(fx->pm, 0, scene, macro, &fault);
		calls++;
	} while (result == PM_MORE);
	assert_int_equal(result, PM_OK);
	return calls;
}

static void pages_are_freed_in_pieces(void **state)
{
	struct pb_fixture *fx = pbfx_create(10 * PM_PIECE, 0);
	struct pm_scene scene = pbfx_load(fx, 0, &(struct pumice_scene){
		.width = 64, .height = 64, .cores = 1 });
	struct gpu_fault fault;
	u32 i;

	(void)state;
	take_pages(fx, &scene, 1, 6 * PM_PIECE);
	take_pages(fx, &scene, 2, 4 * PM_PIECE);
	assert_int_equal(calls_to_free(fx, &scene, 1), 6);
	take_pages(fx, &scene, 1, 6 * PM_PIECE);

	/* Started and not continued: freeing the next chain completes it. */
	for (i = 0; i < 2; i++)
		assert_int_equal(pm_free_macro_tile_piece(fx->pm, 0, &scene, 1, &fault), PM_MORE);
	assert_int_equal(pbfx_read_list(fx, 0).free, 0);
	assert_int_equal(calls_to_free(fx, &scene, 2), 4 + 4);
	assert_int_equal(calls_to_free(fx, &scene, 1), 1);
	assert_int_equal(pbfx_read_list(fx, 0).free, 10 * PM_PIECE);
	assert_int_equal(pm_freed(fx->pm), 16 * PM_PIECE);

	/* Nothing is lost: each page can be allocated again. */
	take_pages(fx, &scene, 3, 10 * PM_PIECE);
	assert_int_equal(pm_alloc(fx->pm, 0, &scene, 3, &i, &fault), PM_EMPTY);
	pbfx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_page_is_lost_or_allocated_twice),
		cmocka_unit_test(every_page_is_allocated_before_a_list_is_empty),
		cmocka_unit_test(low_is_raised_once_until_pages_are_added),
		cmocka_unit_test(growth_below_the_present_size_or_beyond_the_table_is_ignored),
		cmocka_unit_test(the_list_that_can_grow_is_reported_when_all_are_empty),
		cmocka_unit_test(evicted_lists_are_read_again),
		cmocka_unit_test(an_evicted_list_is_read_completely_at_every_size),
		cmocka_unit_test(a_register_write_follows_a_piece_of_links),
		cmocka_unit_test(pages_are_freed_in_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
