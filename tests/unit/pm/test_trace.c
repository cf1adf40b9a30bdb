// SPDX-License-Identifier: MIT
/*
 * The event trace of the PM: each operation is one record, of the job that it is done for.
 */
#include "../../../qemu-device/gpu/pm/internal.h"
#include "pb_fixture.h"

#define GEOMETRY	0x11u	/* contexts */
#define FRAGMENTS	0x22u
#define LATER		0x33u
#define LONG_CHAIN	(PM_PIECE + 100)

static const struct pumice_scene small = { .width = 256, .height = 256, .cores = 1 };

static struct pb_fixture *create(u32 pages)
{
	struct pb_fixture *fx = pbfx_create(pages, 0);

	trace_set_tag(&fx->trace.trace, TRACE_VDM, GEOMETRY);
	trace_set_tag(&fx->trace.trace, TRACE_PDM, FRAGMENTS);
	testtrace_on(&fx->trace, TESTTRACE_ALL);
	return fx;
}

static enum pm_result alloc(struct pb_fixture *fx, const struct pm_scene *scene, u32 macro_tile)
{
	struct gpu_fault fault;
	u32 ref;

	return pm_alloc(fx->pm, 0, scene, macro_tile, &ref, &fault);
}

/* Check a record of the PM. */
static void expect(const struct pb_fixture *fx, u32 number, enum pumice_trace_pm operation,
		   enum pumice_trace_master dm, u32 context, u64 arg1)
{
	const struct pumice_trace_record r = testtrace_record(&fx->trace, number);

	assert_int_equal(r.kind, PUMICE_TRACE_KIND_PM);
	assert_int_equal(r.phase, PUMICE_TRACE_PHASE_INSTANT);
	assert_int_equal(r.arg0, operation);
	assert_int_equal(r.dm, dm);
	assert_int_equal(r.context, context);
	assert_int_equal(r.mmu_ctx, context ? PBFX_CTX : 0);
	assert_int_equal(r.arg1, arg1);
}

static void pages_are_allocated_and_missing_for_the_geometry_job(void **state)
{
	struct pb_fixture *fx = create(4);
	const struct pm_scene scene = pbfx_load(fx, 0, &small);
	u32 i;

	(void)state;
	pbfx_list(fx, 0, 4, 3);
	for (i = 0; i < 4; i++)
		assert_int_equal(alloc(fx, &scene, i + 5), PM_OK);
	assert_int_equal(alloc(fx, &scene, 9), PM_EMPTY);
	assert_int_equal(fx->lows, 1);
	assert_int_equal(testtrace_count(&fx->trace), 6);
	expect(fx, 0, PUMICE_TRACE_PM_ALLOC, PUMICE_TRACE_MASTER_VDM, GEOMETRY, 5);
	/* The second page leaves two, less than three. */
	expect(fx, 1, PUMICE_TRACE_PM_LOW, PUMICE_TRACE_MASTER_VDM, GEOMETRY, PBFX_LIST(0));
	expect(fx, 2, PUMICE_TRACE_PM_ALLOC, PUMICE_TRACE_MASTER_VDM, GEOMETRY, 6);
	expect(fx, 4, PUMICE_TRACE_PM_ALLOC, PUMICE_TRACE_MASTER_VDM, GEOMETRY, 8);
	expect(fx, 5, PUMICE_TRACE_PM_EMPTY, PUMICE_TRACE_MASTER_VDM, GEOMETRY, 9);
	pbfx_destroy(fx);
}

static void pages_are_freed_for_the_job_that_frees_them(void **state)
{
	struct pb_fixture *fx = create(16);
	const struct pm_scene scene = pbfx_load(fx, 0, &small);
	struct gpu_fault fault;
	u32 i;

	(void)state;
	for (i = 0; i < 6; i++)
		assert_int_equal(alloc(fx, &scene, i / 2), PM_OK);
	testtrace_on(&fx->trace, 0);
	testtrace_on(&fx->trace, TESTTRACE_ALL);
	/*
	 * After the last tile of a macro tile; at the end of a stopped fragment job; of geometry.
	 */
	assert_true(pm_free_macro_tile(fx->pm, 0, &scene, 1, &fault));
	expect(fx, 0, PUMICE_TRACE_PM_FREE, PUMICE_TRACE_MASTER_PDM, FRAGMENTS, 2 | 1ull << 32);
	assert_int_equal(pm_free_scene_piece(fx->pm, &scene, TRACE_PDM, &fault), PM_OK);
	expect(fx, 1, PUMICE_TRACE_PM_FREE, PUMICE_TRACE_MASTER_PDM, FRAGMENTS, 2);
	expect(fx, 2, PUMICE_TRACE_PM_FREE, PUMICE_TRACE_MASTER_PDM, FRAGMENTS, 2 | 2ull << 32);
	assert_int_equal(alloc(fx, &scene, 15), PM_OK);
	assert_true(pm_scene_begin(fx->pm, &scene, &fault));
	expect(fx, 4, PUMICE_TRACE_PM_FREE, PUMICE_TRACE_MASTER_VDM, GEOMETRY, 1 | 15ull << 32);
	assert_int_equal(testtrace_count(&fx->trace), 5);
	pbfx_destroy(fx);
}

static void the_firmware_releases_and_grows_for_no_job(void **state)
{
	struct pb_fixture *fx = create(16);
	const struct pm_scene scene = pbfx_load(fx, 0, &small);

	(void)state;
	pbfx_list(fx, 0, 8, 0);
	assert_int_equal(alloc(fx, &scene, 0), PM_OK);
	assert_true(pm_release(fx->pm, PBFX_SCENE(0)));
	assert_true(pm_grow(fx->pm, PBFX_LIST(0), 12));
	assert_true(pm_grow(fx->pm, PBFX_LIST(0), 12));	/* not larger: no event */
	assert_int_equal(testtrace_count(&fx->trace), 3);
	expect(fx, 1, PUMICE_TRACE_PM_FREE, 0, 0, 1);
	expect(fx, 2, PUMICE_TRACE_PM_GROW, 0, 0, 12);
	pbfx_destroy(fx);
}

/*
 * A long chain is freed in pieces. Its job ends before the last piece, which another job does,
 * because it begins the same scene.
 */
static void a_chain_is_freed_for_the_job_that_began(void **state)
{
	struct pb_fixture *fx = create(LONG_CHAIN + 3);
	const struct pm_scene first = pbfx_load(fx, 0, &small), second = pbfx_load(fx, 1, &small);
	struct gpu_fault fault;
	enum pm_result result;
	u32 i;

	(void)state;
	for (i = 0; i < LONG_CHAIN; i++)
		assert_int_equal(alloc(fx, &first, 4), PM_OK);
	for (i = 0; i < 3; i++)
		assert_int_equal(alloc(fx, &second, 6), PM_OK);
	assert_true(pm_return(fx->pm, 0, &fault));
	testtrace_on(&fx->trace, 0);
	testtrace_on(&fx->trace, TESTTRACE_ALL);
	assert_int_equal(pm_free_macro_tile_piece(fx->pm, 0, &first, 4, &fault), PM_MORE);
	trace_set_tag(&fx->trace.trace, TRACE_PDM, 0);
	trace_set_tag(&fx->trace.trace, TRACE_VDM, LATER);
	for (i = 0; i < 2; i++) {
		do
			result = pm_scene_begin_piece(fx->pm, i ? &second : &first, &fault);
		while (result == PM_MORE);
		assert_int_equal(result, PM_OK);
	}
	assert_int_equal(testtrace_count(&fx->trace), 2);
	expect(fx, 0, PUMICE_TRACE_PM_FREE, PUMICE_TRACE_MASTER_PDM, FRAGMENTS,
	       LONG_CHAIN | 4ull << 32);
	expect(fx, 1, PUMICE_TRACE_PM_FREE, PUMICE_TRACE_MASTER_VDM, LATER, 3 | 6ull << 32);
	pbfx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_allocated_and_missing_for_the_geometry_job),
		cmocka_unit_test(pages_are_freed_for_the_job_that_frees_them),
		cmocka_unit_test(the_firmware_releases_and_grows_for_no_job),
		cmocka_unit_test(a_chain_is_freed_for_the_job_that_began),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
