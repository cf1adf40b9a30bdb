// SPDX-License-Identifier: MIT
/*
 * Commands that read or write memory, or branch: indirect launches, chained
 * streams, flushes, time stamps, markers. Malformed commands are tested in
 * test_stop.c.
 */
#include "cdm_fixture.h"

#include "perf.h"
#include "pumice_names.h"

#define WORD(addr) (((addr) - CDMFX_DATA) / 4)

/* A fault of an access of the CDM in the job's context. */
static void expect_access_fault(const struct cdm_fixture *fx, enum pumice_fault fault,
				enum pumice_access access, u64 addr)
{
	const struct gpu_fault *got = &cdm_status(fx->cdm)->fault;

	assert_int_equal(fx->end, DM_FAULT);
	assert_string_equal(pumice_fault_str(got->fault), pumice_fault_str(fault));
	assert_int_equal(got->unit, PUMICE_UNIT_CDM);
	assert_int_equal(got->access, access);
	assert_int_equal(got->ctx, CDMFX_CTX);
	assert_int_equal(got->addr, addr);
}

static void an_indirect_launch_reads_its_counts_from_memory(void **state)
{
	const u64 counts = CDMFX_DATA + 0x1000 - 8;	/* across pages */
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	fx->data[WORD(counts)] = 2;
	fx->data[WORD(counts) + 1] = 3;
	fx->data[WORD(counts) + 2] = 4;
	put_state(fx, 5, 1, 1);
	put_indirect(fx, counts, 10, 20, 30);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_DONE);
	assert_int_equal(fx->pds.started, 24);
	assert_int_equal(fx->pds.launch.grid.groups_z, 4);
	assert_int_equal(fx->pds.group[23].id[0], 11);
	assert_int_equal(fx->pds.group[23].id[1], 22);
	assert_int_equal(fx->pds.group[23].id[2], 33);
	cdmfx_destroy(fx);
}

/* An earlier launch may write the counts. */
static void counts_are_read_after_all_earlier_launches_have_finished(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	fx->data[0] = fx->data[1] = fx->data[2] = 1;
	put_state(fx, 1, 1, 1);
	put_launch(fx, 2, 1, 1);
	put_indirect(fx, CDMFX_DATA, 0, 0, 0);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_walk(fx);
	fake_pds_finish(&fx->pds);
	cdmfx_walk(fx);
	assert_int_equal(fx->pds.launches, 1);
	fx->data[0] = 7;
	fake_pds_finish(&fx->pds);
	cdmfx_walk(fx);
	assert_int_equal(fx->pds.started, 2 + 7);
	cdmfx_finish(fx);
	cdmfx_destroy(fx);
}

static void zero_counts_in_memory_launch_none(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	fx->data[0] = fx->data[1] = 5;
	put_state(fx, 1, 1, 1);
	put_indirect(fx, CDMFX_DATA, 0, 0, 0);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_DONE);
	assert_int_equal(fx->pds.launches, 0);
	cdmfx_destroy(fx);
}

static void counts_in_memory_are_checked_as_those_of_a_launch(void **state)
{
	static const struct {
		u32 counts[3], base_x;
	} cases[] = {
		{ { 2, 1, 1 }, 0xffffffff },
		{ { 0x80000000, 0x80000000, 4 }, 0 },
	};
	u32 i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct cdm_fixture *fx = cdmfx_create();
		u64 at;

		fx->data[0] = cases[i].counts[0];
		fx->data[1] = cases[i].counts[1];
		fx->data[2] = cases[i].counts[2];
		put_state(fx, 1, 1, 1);
		at = fx->at;
		put_indirect(fx, CDMFX_DATA, cases[i].base_x, 0, 0);
		cdmfx_start(fx);
		cdmfx_walk(fx);
		cdmfx_expect_fault(fx, PUMICE_FAULT_CDM_GRID, at);
		cdmfx_destroy(fx);
	}
}

static void an_indirect_launch_needs_state(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	put_indirect(fx, CDMFX_DATA, 0, 0, 0);
	cdmfx_start(fx);
	cdmfx_walk(fx);
	cdmfx_expect_fault(fx, PUMICE_FAULT_CDM_STATE, CDMFX_STREAM);
	cdmfx_destroy(fx);
}

static void counts_that_cannot_be_read_are_a_fault(void **state)
{
	const u64 end = CDMFX_DATA + CDMFX_DATA_BYTES;
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	put_state(fx, 1, 1, 1);
	put_indirect(fx, end - 8, 0, 0, 0);
	cdmfx_start(fx);
	cdmfx_walk(fx);
	expect_access_fault(fx, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_ACCESS_READ, end);
	cdmfx_destroy(fx);
}

/* A chain does not return, and does not change the nesting. */
static void a_link_continues_in_another_stream(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	put_state(fx, 3, 1, 1);
	put_call(fx, CDMFX_STREAM + 0x400);
	put_launch(fx, 4, 1, 1);
	put_halt(fx);
	fx->at = CDMFX_STREAM + 0x400;
	put_link(fx, CDMFX_STREAM + 0x800);
	put_launch(fx, 100, 1, 1);	/* never reached */
	fx->at = CDMFX_STREAM + 0x800;
	put_launch(fx, 2, 1, 1);
	put_return(fx);
	cdmfx_start(fx);
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_DONE);
	assert_int_equal(fx->pds.started, 6);
	cdmfx_destroy(fx);
}

static void a_link_to_an_unmapped_address_faults_there(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	put_link(fx, CDMFX_END);
	cdmfx_start(fx);
	cdmfx_walk(fx);
	cdmfx_expect_fault(fx, PUMICE_FAULT_MMU_PT_INVALID, CDMFX_END);
	cdmfx_destroy(fx);
}

/* A stream that branches to itself uses no more than its budget, and can be aborted. */
static void an_endless_chain_respects_its_budget_and_can_be_aborted(void **state)
{
	u32 how;

	(void)state;
	for (how = 0; how < 2; how++) {
		struct cdm_fixture *fx = cdmfx_create();
		u64 value[PUMICE_PERF_COUNTER_COUNT] = { 0 };
		u32 i;

		put_marker(fx, CDMFX_DATA, 9, false);
		put_link(fx, CDMFX_STREAM);
		cdmfx_start(fx);
		for (i = 0; i < 10; i++)
			assert_true(cdm_step(fx->cdm, 100));
		cdm_counters_add(fx->cdm, value);
		assert_int_equal(value[PUMICE_PERF_CDM_COMMANDS], 1000);
		if (how)
			cdm_switch_out(fx->cdm);
		else
			cdm_abort(fx->cdm);
		cdmfx_walk(fx);
		assert_int_equal(fx->ended, 1);
		assert_int_equal(fx->end, how ? DM_SWITCHED : DM_ABORTED);
		cdmfx_destroy(fx);
	}
}

static void a_flush_waits_as_a_fence_does(void **state)
{
	u32 bits;

	(void)state;
	for (bits = 0; bits < 4; bits++) {
		struct cdm_fixture *fx = cdmfx_create();

		put_state(fx, 1, 1, 1);
		put_launch(fx, 2, 1, 1);
		put_flush(fx, bits & 1, bits & 2);
		put_launch(fx, 1, 1, 1);
		put_halt(fx);
		cdmfx_start(fx);
		cdmfx_walk(fx);
		fake_pds_finish(&fx->pds);
		cdmfx_walk(fx);
		assert_int_equal(fx->pds.started, 2);
		fake_pds_finish(&fx->pds);
		cdmfx_walk(fx);
		assert_int_equal(fx->pds.started, 3);
		cdmfx_finish(fx);
		assert_int_equal(fx->end, DM_DONE);
		cdmfx_destroy(fx);
	}
}

static u32 cache_ops;

static void count_cache_op(void *opaque, const struct mmu_cache_op *op)
{
	(void)opaque;
	(void)op;
	cache_ops++;
}

/* The step has the device lock, and an operation may take as long as all lines of the caches. */
static void a_flush_ends_the_step_in_detailed_modes(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();
	u32 n;

	(void)state;
	mmu_set_cache_op(&fx->mmu, count_cache_op, NULL);
	for (n = 0; n < 8; n++)
		put_flush(fx, true, false);
	put_halt(fx);
	cdmfx_start(fx);
	for (n = 0; n < 8; n++) {
		cache_ops = 0;
		assert_true(cdm_step(fx->cdm, 8));
		assert_int_equal(cache_ops, 1);
	}
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_DONE);
	cdmfx_destroy(fx);
}

/* Also launches that wait for stores and have no groups: others fill a step by themselves. */
static void a_fence_of_an_empty_launch_ends_the_step_in_detailed_modes(void **state)
{
	u32 indirect, n;

	(void)state;
	for (indirect = 0; indirect < 2; indirect++) {
		struct cdm_fixture *fx = cdmfx_create();

		mmu_set_cache_op(&fx->mmu, count_cache_op, NULL);
		put_state(fx, 1, 1, 1);
		for (n = 0; n < 8; n++) {
			if (indirect)
				put_indirect(fx, CDMFX_DATA, 0, 0, 0);
			else
				put_launch_at(fx, &(struct pumice_cdm_launch){ .after = true });
		}
		put_halt(fx);
		cdmfx_start(fx);
		for (n = 0; n < 8; n++) {
			cache_ops = 0;
			assert_true(cdm_step(fx->cdm, 8));
			assert_int_equal(cache_ops, 1);
		}
		cdmfx_finish(fx);
		assert_int_equal(fx->end, DM_DONE);
		cdmfx_destroy(fx);
	}
}

static struct mmu_cache_op last_op;

/* The operation precedes the effect of the command: a store, or a read, of the other counts. */
static void record_cache_op(void *opaque, const struct mmu_cache_op *op)
{
	const struct cdm_fixture *fx = opaque;

	assert_int_equal(fx->data[0], 1);
	fx->data[1] = 3;
	assert_int_equal(pds_groups(&fx->pds), 0);
	assert_int_equal(op->usc, MMU_ALL_USCS);
	assert_int_equal(op->ctx, CDMFX_CTX);
	last_op = *op;
	cache_ops++;
}

/*
 * hw/formats.xml: commands for which stores of work before them are visible. A FLUSH of no cache
 * has waited for the work only.
 */
static void commands_that_wait_for_stores_operate_on_caches(void **state)
{
	static const struct {
		enum pumice_cdm_type type;
		bool wait;
		u32 ops;
		enum mmu_cache_kind kind;
		enum pumice_mem_scope scope;
	} rows[] = {
		{ PUMICE_CDM_TYPE_FENCE, true, 1, MMU_CACHE_INVALIDATE, PUMICE_MEM_SCOPE_GPU },
		{ PUMICE_CDM_TYPE_FLUSH, true, 1, MMU_CACHE_NONE, PUMICE_MEM_SCOPE_SYSTEM },
		{ PUMICE_CDM_TYPE_LAUNCH_INDIRECT, true, 1, MMU_CACHE_INVALIDATE,
		  PUMICE_MEM_SCOPE_GPU },
		{ PUMICE_CDM_TYPE_LAUNCH, true, 1, MMU_CACHE_INVALIDATE, PUMICE_MEM_SCOPE_GPU },
		{ PUMICE_CDM_TYPE_LAUNCH, false, 0, MMU_CACHE_CLEAN, PUMICE_MEM_SCOPE_GPU },
		{ PUMICE_CDM_TYPE_MARKER, true, 1, MMU_CACHE_CLEAN, PUMICE_MEM_SCOPE_SYSTEM },
		{ PUMICE_CDM_TYPE_MARKER, false, 0, MMU_CACHE_CLEAN, PUMICE_MEM_SCOPE_GPU },
		{ PUMICE_CDM_TYPE_TIMESTAMP, true, 1, MMU_CACHE_CLEAN, PUMICE_MEM_SCOPE_SYSTEM },
		{ PUMICE_CDM_TYPE_TIMESTAMP, false, 0, MMU_CACHE_CLEAN, PUMICE_MEM_SCOPE_GPU },
	};
	u32 n;

	(void)state;
	for (n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		struct cdm_fixture *fx = cdmfx_create();

		fx->data[0] = fx->data[1] = fx->data[2] = 1;
		fx->clock = 9;
		cache_ops = 0;
		put_state(fx, 1, 1, 1);
		put_launch(fx, 2, 1, 1);
		if (rows[n].type == PUMICE_CDM_TYPE_LAUNCH)
			put_task(fx);
		switch (rows[n].type) {
		case PUMICE_CDM_TYPE_FENCE:
			put_fence(fx);
			break;
		case PUMICE_CDM_TYPE_FLUSH:
			put_flush(fx, false, false);
			break;
		case PUMICE_CDM_TYPE_LAUNCH_INDIRECT:
			put_indirect(fx, CDMFX_DATA, 0, 0, 0);
			break;
		case PUMICE_CDM_TYPE_LAUNCH:
			put_launch_at(fx, &(struct pumice_cdm_launch){ .groups_x = 1, .groups_y = 1,
				.groups_z = 1, .after = rows[n].wait });
			break;
		case PUMICE_CDM_TYPE_MARKER:
			put_marker(fx, CDMFX_DATA, 7, rows[n].wait);
			break;
		default:
			put_timestamp(fx, CDMFX_DATA, rows[n].wait);
			break;
		}
		put_halt(fx);
		mmu_set_cache_op(&fx->mmu, record_cache_op, fx);
		cdmfx_start(fx);
		cdmfx_finish(fx);
		assert_int_equal(fx->end, DM_DONE);
		assert_int_equal(cache_ops, rows[n].ops);
		if (rows[n].ops) {
			assert_int_equal(last_op.kind, rows[n].kind);
			assert_int_equal(last_op.scope, rows[n].scope);
		}
		if (rows[n].type == PUMICE_CDM_TYPE_LAUNCH_INDIRECT)
			assert_int_equal(fx->pds.started, 2 + 3);
		if (rows[n].type == PUMICE_CDM_TYPE_MARKER)
			assert_int_equal(fx->data[0], 7);
		if (rows[n].type == PUMICE_CDM_TYPE_TIMESTAMP)
			assert_int_equal(fx->data[0], 9);
		cdmfx_destroy(fx);
	}
}

static void time_stamps_and_markers_wait_if_requested(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();
	u64 *stamp = (u64 *)(void *)(fx->data + 2);

	(void)state;
	put_state(fx, 1, 1, 1);
	put_launch(fx, 2, 1, 1);
	put_timestamp(fx, CDMFX_DATA + 8, false);
	put_marker(fx, CDMFX_DATA + 4, 0xdeadbeef, false);
	put_marker(fx, CDMFX_DATA + 0x1ffc, 0xcafe, true);
	put_timestamp(fx, CDMFX_DATA + 16, true);
	put_halt(fx);
	fx->clock = 0x123456789a;
	cdmfx_start(fx);
	cdmfx_walk(fx);
	assert_int_equal(fx->pds.running, 2);
	assert_int_equal(stamp[0], 0x123456789a);
	assert_int_equal(fx->data[1], 0xdeadbeef);
	assert_int_equal(fx->data[WORD(CDMFX_DATA + 0x1ffc)], 0);
	fake_pds_finish(&fx->pds);
	cdmfx_walk(fx);
	assert_int_equal(fx->data[WORD(CDMFX_DATA + 0x1ffc)], 0);
	fx->clock = 0x200000000000;
	fake_pds_finish(&fx->pds);
	cdmfx_walk(fx);
	assert_int_equal(fx->data[WORD(CDMFX_DATA + 0x1ffc)], 0xcafe);
	assert_int_equal(stamp[1], 0x200000000000);
	/* Adjacent words are not changed. */
	assert_int_equal(fx->data[0], 0);
	assert_int_equal(fx->data[6], 0);
	assert_int_equal(fx->end, DM_DONE);
	cdmfx_destroy(fx);
}

static void unwritable_pages_are_a_write_fault(void **state)
{
	static const struct {
		u64 addr;
		enum pumice_fault fault;
	} cases[] = {
		{ CDMFX_STREAM + 0x3000, PUMICE_FAULT_MMU_READ_ONLY },
		{ CDMFX_DATA + CDMFX_DATA_BYTES, PUMICE_FAULT_MMU_PT_INVALID },
		{ (1ull << PUMICE_MMU_VA_BITS) - 8, PUMICE_FAULT_MMU_PC_INVALID },
	};
	u32 i, wait, marker;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]) * 4; i++) {
		struct cdm_fixture *fx = cdmfx_create();

		wait = i & 1;
		marker = i & 2;
		if (marker)
			put_marker(fx, cases[i / 4].addr, 1, wait);
		else
			put_timestamp(fx, cases[i / 4].addr, wait);
		put_halt(fx);
		cdmfx_start(fx);
		cdmfx_walk(fx);
		expect_access_fault(fx, cases[i / 4].fault, PUMICE_ACCESS_WRITE, cases[i / 4].addr);
		cdmfx_destroy(fx);
	}
}

static void counters_count_commands_groups_and_time(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();
	u64 value[PUMICE_PERF_COUNTER_COUNT] = { 0 };

	(void)state;
	put_state(fx, 1, 1, 1);
	put_launch(fx, 3, 1, 1);
	put_fence(fx);
	put_halt(fx);
	fx->clock = 1000;
	cdmfx_start(fx);
	cdmfx_walk(fx);
	fx->clock = 1500;
	cdm_counters_add(fx->cdm, value);
	assert_int_equal(value[PUMICE_PERF_CDM_BUSY], 500);
	assert_int_equal(value[PUMICE_PERF_CDM_GROUPS], 3);
	fx->clock = 2000;
	cdmfx_finish(fx);
	fx->clock = 9000;
	value[PUMICE_PERF_CDM_BUSY] = 7;
	value[PUMICE_PERF_CDM_COMMANDS] = value[PUMICE_PERF_CDM_GROUPS] = 0;
	cdm_counters_add(fx->cdm, value);
	assert_int_equal(value[PUMICE_PERF_CDM_BUSY], 1007);	/* added */
	assert_int_equal(value[PUMICE_PERF_CDM_COMMANDS], 4);
	assert_int_equal(value[PUMICE_PERF_CDM_GROUPS], 3);
	cdmfx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_indirect_launch_reads_its_counts_from_memory),
		cmocka_unit_test(counts_are_read_after_all_earlier_launches_have_finished),
		cmocka_unit_test(zero_counts_in_memory_launch_none),
		cmocka_unit_test(counts_in_memory_are_checked_as_those_of_a_launch),
		cmocka_unit_test(an_indirect_launch_needs_state),
		cmocka_unit_test(counts_that_cannot_be_read_are_a_fault),
		cmocka_unit_test(a_link_continues_in_another_stream),
		cmocka_unit_test(a_link_to_an_unmapped_address_faults_there),
		cmocka_unit_test(an_endless_chain_respects_its_budget_and_can_be_aborted),
		cmocka_unit_test(a_flush_waits_as_a_fence_does),
		cmocka_unit_test(a_flush_ends_the_step_in_detailed_modes),
		cmocka_unit_test(a_fence_of_an_empty_launch_ends_the_step_in_detailed_modes),
		cmocka_unit_test(commands_that_wait_for_stores_operate_on_caches),
		cmocka_unit_test(time_stamps_and_markers_wait_if_requested),
		cmocka_unit_test(unwritable_pages_are_a_write_fault),
		cmocka_unit_test(counters_count_commands_groups_and_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
