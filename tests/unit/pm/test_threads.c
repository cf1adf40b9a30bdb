// SPDX-License-Identifier: MIT
/*
 * Cores allocate pages while others free theirs: threads with a scene each, two shared
 * lists, a third thread that grows them. At the end every page is in exactly one list or chain.
 * One list is mostly short of pages; of the other one the DPMs have spare pages.
 */
#include <pthread.h>
#include <stdlib.h>

#include "number.h"
#include "pb_fixture.h"

#define THREADS	PBFX_SCENES
#define STEPS	20000u
#define PAGES	4300u
#define GROWN	300u	/* pages that are added */

struct core {
	struct pb_fixture *fx;
	u32 number;
	struct pm_scene scene;
	u64 seed;
	u64 allocated;
	bool failed;
};

static void *run(void *opaque)
{
	struct core *core = opaque;
	struct gpu_fault fault;
	u32 i, ref;

	for (i = 0; i < STEPS && !core->failed; i++) {
		const u32 macro = number_random(&core->seed, PM_MACRO_TILES);

		if (number_random(&core->seed, 40)) {
			const enum pm_result result = pm_alloc(core->fx->pm, core->number,
							       &core->scene, macro, &ref, &fault);

			core->failed = result == PM_FAULT;
			core->allocated += result == PM_OK;
		} else {
			core->failed = !pm_return(core->fx->pm, core->number, &fault) ||
				       !pm_free_macro_tile(core->fx->pm, core->number,
							   &core->scene, macro, &fault);
		}
	}
	return NULL;
}

/* Count the pages for data from the first one that was never used on. */
static u32 count_fresh(const struct pb_fixture *fx, const struct pumice_free_list *list)
{
	u32 page, count = 0;

	for (page = list->fresh; page < list->pages; page++)
		count += !fx->tables || (page > 1 && page % 512);
	return count;
}

/* Count the pages in the chains of all scenes and in a list's free pages: each once. */
static u32 count_all(const struct pb_fixture *fx, u32 l)
{
	const struct pumice_free_list list = pbfx_read_list(fx, l);
	u8 seen[PAGES] = { 0 };
	u32 n, m, i, page, count = count_fresh(fx, &list);

	for (page = list.head; page != PUMICE_PM_NO_PAGE; page = fx->links[l][page], count++)
		assert_int_equal(seen[page]++, 0);
	assert_int_equal(count, list.free);
	for (n = 0; n < THREADS; n++)
		for (m = 0; m < PM_MACRO_TILES; m++) {
			const struct pumice_scene_chain chain = pbfx_read_chain(fx, n, m, l);

			for (page = chain.head, i = 0; i < chain.pages; i++, count++) {
				assert_int_equal(seen[page]++, 0);
				page = fx->links[l][page];
			}
		}
	return count;
}

/* The threads begin with lists of these pages. Returns how many came from spare ones. */
static u64 share_lists(u32 pages0, u32 pages1, bool tables)
{
	const struct pumice_scene small = { .width = 64, .height = 64, .cores = 1 };
	struct pb_fixture *fx = tables ? pbfx_create_tables(PAGES, PAGES) :
					 pbfx_create(PAGES, PAGES);
	u32 reserved[PUMICE_PM_LISTS] = { 0 };
	struct core core[THREADS];
	pthread_t thread[THREADS];
	u64 allocated = 0, spares;
	struct gpu_fault fault;
	u32 i, pages;

	pbfx_list(fx, 0, pages0, 4);
	pbfx_list(fx, 1, pages1, 0);
	for (i = 0; i < THREADS; i++)
		core[i] = (struct core){
			.fx = fx, .number = i, .scene = pbfx_load(fx, i, &small),
			.seed = NUMBER_SEED + i,
		};
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, run, &core[i]), 0);
	for (pages = 1; pages <= GROWN; pages++) {
		pm_grow(fx->pm, PBFX_LIST(pages & 1), (pages & 1 ? pages1 : pages0) + pages);
		(void)pm_low_list(fx->pm);
	}
	for (i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(thread[i], NULL), 0);
		assert_false(core[i].failed);
		allocated += core[i].allocated;
		assert_true(pm_return(fx->pm, i, &fault));
	}
	for (i = 0; tables && i < PUMICE_PM_LISTS; i++)	/* 0, 1, and each 512th page */
		reserved[i] = 2 + (pbfx_read_list(fx, i).pages - 1) / 512;
	assert_int_equal(count_all(fx, 0) + reserved[0], pbfx_read_list(fx, 0).pages);
	assert_int_equal(count_all(fx, 1) + reserved[1], pbfx_read_list(fx, 1).pages);
	assert_int_equal(pm_allocated(fx->pm), allocated);
	spares = pm_from_spares(fx->pm);
	pbfx_destroy(fx);
	return spares;
}

static void threads_share_lists(void **state)
{
	(void)state;
	share_lists(20, 10, false);
	assert_true(share_lists(4000, 10, false) > 1000);
	assert_true(share_lists(4000, 10, true) > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_share_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
