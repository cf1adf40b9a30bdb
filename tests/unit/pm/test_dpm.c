// SPDX-License-Identifier: MIT
/*
 * The DPM of a core: spare pages, their return, and chains that DPMs free. Every page is counted:
 * it is free, in a chain, or a spare page, and in one of these only.
 */
#include <string.h>

#include "../../../qemu-device/gpu/pm/internal.h"
#include "pb_fixture.h"

#define PAGES	600u
#define CORES	PUMICE_MAX_CORES

static const struct pumice_scene small = { .width = 256, .height = 256, .cores = CORES };

static enum pm_result alloc(struct pb_fixture *fx, u32 core, const struct pm_scene *scene,
			    u32 macro)
{
	struct gpu_fault fault;
	u32 ref;

	return pm_alloc(fx->pm, core, scene, macro, &ref, &fault);
}

/* Allocate pages that must exist. */
static void take(struct pb_fixture *fx, u32 core, const struct pm_scene *scene, u32 macro,
		 u32 pages)
{
	while (pages--)
		assert_int_equal(alloc(fx, core, scene, macro), PM_OK);
}

static void give_back(struct pb_fixture *fx, u32 core)
{
	struct gpu_fault fault;

	assert_true(pm_return(fx->pm, core, &fault));
}

/* Count the pages of a macro tile in memory, and check that its chain ends where it says. */
static u32 chain_pages(const struct pb_fixture *fx, u32 scene, u32 macro)
{
	const struct pumice_scene_chain chain = pbfx_read_chain(fx, scene, macro, 0);
	u32 page = chain.head, last = PUMICE_PM_NO_PAGE, n;

	for (n = 0; n < chain.pages; n++) {
		last = page;
		page = fx->links[0][page];
	}
	assert_int_equal(page, PUMICE_PM_NO_PAGE);
	assert_int_equal(last, chain.tail);
	return chain.pages;
}

/* The lock of the master is held meanwhile: a request for it would wait until the timeout. */
static void spare_pages_are_allocated_without_the_master(void **state)
{
	struct pb_fixture *fx = pbfx_create(PAGES, 0);
	const struct pm_scene scene = pbfx_load(fx, 0, &small);
	u32 i;

	(void)state;
	take(fx, 3, &scene, 5, 1);
	assert_int_equal(pbfx_read_list(fx, 0).free, PAGES - 1 - DPM_SPARES);
	pm_lock(fx->pm);
	for (i = 0; i < DPM_SPARES; i++)
		take(fx, 3, &scene, i % 2 ? 5 : 9, 1);
	pm_unlock(fx->pm);
	assert_int_equal(pm_from_spares(fx->pm), DPM_SPARES);
	assert_int_equal(pm_allocated(fx->pm), 1 + DPM_SPARES);
	assert_int_equal(chain_pages(fx, 0, 5), 1);
	give_back(fx, 3);
	assert_int_equal(chain_pages(fx, 0, 5), 1 + DPM_SPARES / 2);
	assert_int_equal(chain_pages(fx, 0, 9), DPM_SPARES / 2);
	pbfx_destroy(fx);
}

/* A request fails only if no page is free anywhere. */
static void the_last_pages_are_spare_ones_of_other_cores(void **state)
{
	struct pb_fixture *fx = pbfx_create(PAGES, 0);
	const struct pm_scene scene = pbfx_load(fx, 0, &small);
	u32 i;

	(void)state;
	for (i = 0; i < CORES; i++)
		take(fx, i, &scene, i, 1);
	take(fx, 7, &scene, 7, PAGES - CORES);
	assert_int_equal(alloc(fx, 7, &scene, 0), PM_EMPTY);
	assert_int_equal(alloc(fx, 2, &scene, 0), PM_EMPTY);
	for (i = 0; i < CORES; i++)
		give_back(fx, i);
	assert_int_equal(pbfx_read_list(fx, 0).free, 0);
	assert_int_equal(chain_pages(fx, 0, 7), PAGES - CORES + 1);
	pbfx_destroy(fx);
}

static void spare_pages_are_free_again_in_each_way_that_a_scene_ends(void **state)
{
	struct pb_fixture *fx = pbfx_create(PAGES, 0);
	const struct pm_scene first = pbfx_load(fx, 0, &small), second = pbfx_load(fx, 1, &small);
	struct gpu_fault fault;
	u32 way, i;

	(void)state;
	for (way = 0; way < 5; way++) {
		for (i = 0; i < CORES; i++)
			take(fx, i, &first, i, 3);
		assert_int_equal(pbfx_read_list(fx, 0).free, PAGES - CORES * (1 + DPM_SPARES));
		if (way == 0) {		/* the cores are done, and the scene is rendered */
			for (i = 0; i < CORES; i++)
				give_back(fx, i);
			for (i = 0; i < CORES; i++)
				assert_true(pm_free_macro_tile(fx->pm, i, &first, i, &fault));
		} else if (way == 1) {	/* the job is stopped */
			assert_true(pm_free_scene(fx->pm, &first, &fault));
		} else if (way == 2) {	/* it begins again */
			assert_true(pm_scene_begin(fx->pm, &first, &fault));
		} else if (way == 3) {	/* the data set is destroyed */
			assert_true(pm_release(fx->pm, PBFX_SCENE(0)));
		} else {		/* another scene begins */
			for (i = 0; i < CORES; i++)
				take(fx, i, &second, i, 1);
			for (i = 0; i < CORES; i++)
				assert_int_equal(chain_pages(fx, 0, i), 3);
			assert_true(pm_free_scene(fx->pm, &second, &fault));
			assert_true(pm_free_scene(fx->pm, &first, &fault));
		}
		assert_int_equal(pbfx_read_list(fx, 0).free, PAGES);
		assert_int_equal(pm_allocated(fx->pm), pm_freed(fx->pm));
	}
	pbfx_destroy(fx);
}

static void a_list_that_is_short_has_no_spare_pages(void **state)
{
	struct pb_fixture *fx = pbfx_create(PAGES, 0);
	const struct pm_scene scene = pbfx_load(fx, 0, &small);

	(void)state;
	/* All but DPM_SHARE pages are below the threshold, and one is allocated. */
	pbfx_list(fx, 0, PAGES, PAGES - DPM_SHARE);
	take(fx, 0, &scene, 0, 10);
	assert_int_equal(pm_from_spares(fx->pm), 0);
	assert_int_equal(pbfx_read_list(fx, 0).free, PAGES - 10);
	pbfx_destroy(fx);
}

/* Chains of two macro tiles are followed in turn, without the master; pages are allocated. */
static void cores_free_chains_in_parallel(void **state)
{
	struct pb_fixture *fx = pbfx_create(8 * PM_PIECE, 0);
	const struct pm_scene scene = pbfx_load(fx, 0, &small), next = pbfx_load(fx, 1, &small);
	enum pm_result result = PM_MORE;
	struct gpu_fault fault;
	u32 i;

	(void)state;
	take(fx, 0, &scene, 0, 3 * PM_PIECE);
	take(fx, 0, &scene, 1, 3 * PM_PIECE);
	give_back(fx, 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(pm_free_macro_tile_piece(fx->pm, i, &scene, i, &fault), PM_MORE);
	take(fx, 4, &next, 0, PM_PIECE);
	pm_lock(fx->pm);
	for (i = 0; i < 2; i++)
		assert_int_equal(pm_free_macro_tile_piece(fx->pm, i, &scene, i, &fault), PM_MORE);
	pm_unlock(fx->pm);
	assert_int_equal(pm_freed(fx->pm), 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(pm_free_macro_tile_piece(fx->pm, i, &scene, i, &fault), PM_OK);
	assert_int_equal(pm_freed(fx->pm), 6 * PM_PIECE);
	give_back(fx, 4);
	assert_int_equal(pbfx_read_list(fx, 0).free, 7 * PM_PIECE);
	while (result == PM_MORE)
		result = pm_free_scene_piece(fx->pm, &next, TRACE_VDM, &fault);
	take(fx, 4, &next, 0, 8 * PM_PIECE);
	assert_int_equal(alloc(fx, 4, &next, 0), PM_EMPTY);
	pbfx_destroy(fx);
}

/* A core began to free a chain and is stopped: the end of the scene completes it. */
static void a_chain_that_a_stopped_core_frees_is_not_lost(void **state)
{
	struct pb_fixture *fx = pbfx_create(4 * PM_PIECE, 0);
	const struct pm_scene scene = pbfx_load(fx, 0, &small);
	struct gpu_fault fault;

	(void)state;
	take(fx, 0, &scene, 6, 3 * PM_PIECE);
	give_back(fx, 0);
	assert_int_equal(pm_free_macro_tile_piece(fx->pm, 9, &scene, 6, &fault), PM_MORE);
	assert_true(pm_free_scene(fx->pm, &scene, &fault));
	assert_int_equal(pbfx_read_list(fx, 0).free, 4 * PM_PIECE);
	assert_int_equal(pm_freed(fx->pm), 3 * PM_PIECE);
	pbfx_destroy(fx);
}

/* The host changes the list, or a chain, between two pieces of work of a DPM. */
static void damage_while_a_dpm_has_pages_faults(void **state)
{
	u32 way;

	(void)state;
	for (way = 0; way < 4; way++) {
		struct pb_fixture *fx = pbfx_create(4 * PM_PIECE, 0);
		const struct pm_scene scene = pbfx_load(fx, 0, &small);
		struct gpu_fault fault = { 0 };
		struct pm_scene other;

		take(fx, 0, &scene, 0, 3 * PM_PIECE);
		if (way == 0) {		/* another head of the chain when pages return */
			fx->scene[0][PUMICE_SCENE_WORDS] = 4 * PM_PIECE;
			assert_false(pm_return(fx->pm, 0, &fault));
			assert_int_equal(fault.fault, PUMICE_FAULT_PM_SCENE);
		} else if (way == 1) {	/* a list with other words */
			fx->list[0][5] ^= 1;
			assert_false(pm_return(fx->pm, 0, &fault));
			assert_int_equal(fault.fault, PUMICE_FAULT_PM_FREE_LIST);
		} else {
			give_back(fx, 0);
			assert_int_equal(pm_free_macro_tile_piece(fx->pm, 0, &scene, 0, &fault),
					 PM_MORE);
		}
		if (way == 2) {		/* a chain with a loop */
			memset(fx->links[0], 0, 4 * PM_PIECE * sizeof(u32));
			assert_false(pm_free_macro_tile(fx->pm, 0, &scene, 0, &fault));
			assert_int_equal(fault.fault, PUMICE_FAULT_PM_FREE_LIST);
			/* It is the scene's again, and is refused again. */
			assert_int_equal(pbfx_read_chain(fx, 0, 0, 0).pages, 3 * PM_PIECE);
			assert_false(pm_free_scene(fx->pm, &scene, &fault));
		} else if (way == 3) {	/* a new list in its place */
			pbfx_list(fx, 0, 4 * PM_PIECE, 0);
			assert_false(pm_scene_load(fx->pm, PBFX_SCENE(0), PBFX_CTX,
						   &other, &fault));
			assert_int_equal(fault.fault, PUMICE_FAULT_PM_FREE_LIST);
		}
		assert_int_equal(fault.unit, PUMICE_UNIT_PM);
		/* After a reset the DPMs have no page. */
		pm_reset(fx->pm);
		pbfx_list(fx, 0, 4 * PM_PIECE, 0);
		pbfx_scene(fx, 0, &small);
		give_back(fx, 0);
		take(fx, 0, &scene, 2, 4 * PM_PIECE);
		assert_int_equal(alloc(fx, 0, &scene, 2), PM_EMPTY);
		pbfx_destroy(fx);
	}
}

/*
 * A core still has pages of a scene whose chain the host damaged, and works on another one, of the
 * same list or of another: the job of that scene has no fault of it unless it is of that list.
 */
static void damage_of_another_scene_is_a_fault_of_its_list(void **state)
{
	u32 same;

	(void)state;
	for (same = 0; same < 2; same++) {
		struct pb_fixture *fx = pbfx_create(PAGES, PAGES);
		const struct pm_scene first = pbfx_load(fx, 0, &small);
		struct pm_scene second = pbfx_load(fx, 1, &small);
		struct gpu_fault fault = { 0 };
		u32 ref;

		if (!same)
			second.list[0] = second.list[1];
		second.list[1] = 0;
		take(fx, 0, &first, 0, 1 + DPM_SPARES);
		fx->scene[0][PUMICE_SCENE_WORDS] = PAGES;	/* head of the chain */
		if (!same) {
			assert_int_equal(alloc(fx, 0, &second, 0), PM_OK);
			give_back(fx, 0);
			pbfx_scene(fx, 0, &small);
		}
		/* The next use of the list has the fault, once. */
		assert_int_equal(pm_alloc(fx->pm, 0, same ? &second : &first, 0, &ref, &fault),
				 PM_FAULT);
		assert_int_equal(fault.fault, PUMICE_FAULT_PM_SCENE);
		assert_int_equal(fault.unit, PUMICE_UNIT_PM);
		assert_int_equal(alloc(fx, 0, same ? &second : &first, 0), PM_OK);
		pbfx_destroy(fx);
	}
}

/* Spare pages of one core cannot be returned; chains that take several calls are freed. */
static void a_fault_is_reported_when_the_scene_is_free(void **state)
{
	struct pb_fixture *fx = pbfx_create(8 * PM_PIECE, 0);
	const struct pm_scene scene = pbfx_load(fx, 0, &small);
	struct gpu_fault fault = { 0 };
	enum pm_result result = PM_MORE;
	u32 calls = 0;

	(void)state;
	take(fx, 0, &scene, 0, 5 * PM_PIECE);
	give_back(fx, 0);
	take(fx, 1, &scene, 1, 1 + DPM_SPARES);
	/* The chain of macro tile 1, to which the core's pages are to be added. */
	fx->scene[0][PUMICE_SCENE_WORDS + PUMICE_PM_LISTS * PUMICE_SCENE_CHAIN_WORDS] =
		8 * PM_PIECE;
	for (; result == PM_MORE; calls++) {
		result = pm_free_scene_piece(fx->pm, &scene, TRACE_VDM, &fault);
		/* After the fault the host repairs the chain. */
		memset(&fx->scene[0][PUMICE_SCENE_WORDS +
				     PUMICE_PM_LISTS * PUMICE_SCENE_CHAIN_WORDS], 0xff, 8);
		fx->scene[0][PUMICE_SCENE_WORDS + PUMICE_PM_LISTS * PUMICE_SCENE_CHAIN_WORDS + 2] =
			0;
	}
	assert_true(calls > 2);
	assert_int_equal(result, PM_FAULT);
	assert_int_equal(fault.fault, PUMICE_FAULT_PM_SCENE);
	/* The next scene has none. */
	assert_true(pm_free_scene(fx->pm, &scene, &fault));
	pbfx_destroy(fx);
}

/* The host replaces the list by a smaller one, whose table of links ends earlier. */
static void pages_of_a_list_that_was_replaced_are_refused(void **state)
{
	struct pb_fixture *fx = pbfx_create(PAGES, 0);
	const struct pm_scene scene = pbfx_load(fx, 0, &small);
	struct pumice_free_list list = pbfx_read_list(fx, 0);
	struct gpu_fault fault = { 0 };

	(void)state;
	take(fx, 0, &scene, 0, 1 + DPM_SPARES);
	pbfx_scene(fx, 0, &small);
	list.pages = list.max_pages = list.free = DPM_SPARES / 2;
	pumice_free_list_pack(fx->list[0], &list);
	memset(fx->links[0], 0xee, PAGES * sizeof(u32));
	assert_false(pm_return(fx->pm, 0, &fault));
	assert_int_equal(fault.fault, PUMICE_FAULT_PM_FREE_LIST);
	assert_int_equal(fault.unit, PUMICE_UNIT_PM);
	assert_int_equal(fx->links[0][DPM_SPARES], 0xeeeeeeee);
	assert_int_equal(chain_pages(fx, 0, 0), 0);
	/* The DPM has no page, and the list has all. */
	give_back(fx, 0);
	take(fx, 0, &scene, 0, DPM_SPARES / 2);
	assert_int_equal(alloc(fx, 0, &scene, 0), PM_EMPTY);
	pbfx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spare_pages_are_allocated_without_the_master),
		cmocka_unit_test(the_last_pages_are_spare_ones_of_other_cores),
		cmocka_unit_test(spare_pages_are_free_again_in_each_way_that_a_scene_ends),
		cmocka_unit_test(a_list_that_is_short_has_no_spare_pages),
		cmocka_unit_test(cores_free_chains_in_parallel),
		cmocka_unit_test(a_chain_that_a_stopped_core_frees_is_not_lost),
		cmocka_unit_test(damage_while_a_dpm_has_pages_faults),
		cmocka_unit_test(damage_of_another_scene_is_a_fault_of_its_list),
		cmocka_unit_test(a_fault_is_reported_when_the_scene_is_free),
		cmocka_unit_test(pages_of_a_list_that_was_replaced_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
