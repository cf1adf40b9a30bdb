// SPDX-License-Identifier: MIT
/*
 * A flush of the render control list that waits for the tiles before it: commands that are counted,
 * cores that are woken, and jobs that end meanwhile.
 */
#include <string.h>

#include "../../../qemu-device/gpu/pdm/state.h"
#include "fixture.h"

#define SIDE	64u	/* four tiles */
#define STEPS	10000u
#define LINK_BYTES	(PUMICE_PDM_LINK_WORDS * 4u)

static struct fixture fx;

static int open_fixture(void **state)
{
	(void)state;
	fx_open(&fx, 2);
	return 0;
}

static int close_fixture(void **state)
{
	(void)state;
	fx_close(&fx);
	return 0;
}

static void begin_list(void)
{
	const struct pumice_isp_state isp = scene_usual_isp();
	const struct scene_prim prim = {
		.triangle = { .x = { 0, 200 << 8, 0 }, .y = { 0, 0, 200 << 8 } },
		.value = { 3 },
	};

	scene_begin_square(&fx, SIDE);
	scene_set_object(&fx, 0, &isp, FX_PLAIN, false);
	scene_draw(&fx, 0, &prim, 1);
	scene_end(&fx, true);
	control_begin(&fx, FX_CONTROL);
}

static void put_tile(u32 x, bool end)
{
	control_tile(&fx, x, 0);
	control_branch(&fx);
	control_store(&fx, end);
}

/* Commands that do nothing: each links to the next one. */
static void put_links(u32 count)
{
	for (; count; count--)
		control_link(&fx, fx.control_at + LINK_BYTES);
}

static void put_flush_of(bool invalidate)
{
	u32 word;

	pumice_pdm_flush_pack(&word, &(struct pumice_pdm_flush){
		.scope = PUMICE_MEM_SCOPE_CORE, .invalidate = invalidate });
	control_word(&fx, word);
}

static void put_flush(void)
{
	put_flush_of(true);
}

/* With as many commands between two stores as a list may have. */
static void a_flush_that_waits_is_one_command(void **state)
{
	(void)state;
	begin_list();
	put_tile(0, false);
	put_flush();
	/* The flush, and a tile's three, are the others. */
	put_links(PUMICE_PDM_MAX_IDLE - 4);
	put_tile(1, true);
	fx_start(&fx, false);
	fx_run(&fx);
	assert_int_equal(fx.end, DM_DONE);
}

/* struct mmu: the step ends after the part of the list that reads memory. */
static void stop_after_walk(void *opaque, const struct mmu_request *r)
{
	_Atomic bool *stop = opaque;

	*stop |= r->unit == PUMICE_UNIT_PDM;
}

/* Step the cores, but no USC, until the flush waits. Returns whether that step woke all cores. */
static bool run_until_held(void)
{
	_Atomic bool stop;
	u32 i;

	mmu_set_request(&fx.mmu, stop_after_walk, &stop);
	for (i = 0; i < STEPS && !fx.pdm->list.held; i++) {
		memset(fx.awake_core, 0, sizeof(fx.awake_core));
		stop = false;
		pdm_core_step(fx.pdm, i % fx.cores, &stop);
	}
	mmu_set_request(&fx.mmu, NULL, NULL);
	assert_true(fx.pdm->list.held);
	return fx.awake_core[0] && fx.awake_core[1];
}

/* Their objects are not used again, and tiles of other cores may wait for their memory. */
static void a_flush_that_waits_wakes_all_cores(void **state)
{
	(void)state;
	begin_list();
	put_tile(0, false);
	/* So that the part of the list with the flush has no tile, which would wake them, too. */
	put_links(PDM_LIST_PIECE);
	put_flush();
	put_tile(1, true);
	fx_start(&fx, false);
	assert_true(run_until_held());
	memset(fx.awake_core, true, fx.cores * sizeof(*fx.awake_core));
	fx_run(&fx);
	assert_int_equal(fx.end, DM_DONE);
}

static void keep(void *opaque, const struct mmu_cache_op *op)
{
	*(struct mmu_cache_op *)opaque = *op;
}

/* Run a job with a flush between two tiles: return the operation. */
static struct mmu_cache_op run_with_flush(bool invalidate)
{
	struct mmu_cache_op op = { .master = PUMICE_UNIT_NONE };

	begin_list();
	put_tile(0, false);
	put_flush_of(invalidate);
	put_tile(1, true);
	mmu_set_cache_op(&fx.mmu, keep, &op);
	fx_start(&fx, false);
	fx_run(&fx);
	mmu_set_cache_op(&fx.mmu, NULL, NULL);
	assert_int_equal(fx.end, DM_DONE);
	return op;
}

/* It orders tiles of its own job, and no work of others. */
static void a_flush_is_of_the_render_control_list(void **state)
{
	(void)state;
	assert_int_equal(run_with_flush(true).master, PUMICE_UNIT_PDM);
}

/* Tiles before it are stored, which mode strict records. */
static void a_flush_of_no_cache_is_passed_on(void **state)
{
	const struct mmu_cache_op op = run_with_flush(false);

	(void)state;
	assert_int_equal(op.master, PUMICE_UNIT_PDM);
	assert_int_equal(op.kind, MMU_CACHE_NONE);
	assert_int_equal(op.ctx, FX_CTX);
}

/* The next job on the PDM has no such flush. */
static void a_flush_does_not_wait_after_its_job(void **state)
{
	const _Atomic bool stop = false;
	u32 i;

	(void)state;
	begin_list();
	put_tile(0, false);
	put_flush();
	put_tile(1, true);
	fx_start(&fx, false);
	run_until_held();
	fx.locked = true;
	pdm_abort(fx.pdm);
	fx.locked = false;
	memset(fx.awake_core, true, fx.cores * sizeof(*fx.awake_core));
	fx_run(&fx);
	assert_int_equal(fx.end, DM_ABORTED);
	begin_list();
	put_tile(0, true);
	fx_start(&fx, false);
	for (i = 0; i < STEPS && atomic_load(&fx.pdm->phase) != PDM_RUN; i++)
		pdm_core_step(fx.pdm, 0, &stop);
	assert_false(fx.pdm->list.ended);
	assert_false(fx.pdm->list.held);
	assert_false(pdm_list_core_done(fx.pdm, 0));
	assert_false(pdm_list_core_done(fx.pdm, 1));
	memset(fx.awake_core, true, fx.cores * sizeof(*fx.awake_core));
	fx_run(&fx);
	assert_int_equal(fx.end, DM_DONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_flush_that_waits_is_one_command, open_fixture,
						close_fixture),
		cmocka_unit_test_setup_teardown(a_flush_that_waits_wakes_all_cores, open_fixture,
						close_fixture),
		cmocka_unit_test_setup_teardown(a_flush_is_of_the_render_control_list, open_fixture,
						close_fixture),
		cmocka_unit_test_setup_teardown(a_flush_of_no_cache_is_passed_on, open_fixture,
						close_fixture),
		cmocka_unit_test_setup_teardown(a_flush_does_not_wait_after_its_job, open_fixture,
						close_fixture),
	};

	return cmocka_run_group_tests_name("pdm flush", tests, NULL, NULL);
}
