// SPDX-License-Identifier: MIT
/* Performance counters of jobs: summed over jobs and slices, without those of other jobs. */
#include "perf.h"
#include "fixture.h"

#define GROUPS	3000u
#define LOOPS	40u

static struct fwif_perf *perf_block(struct fixture *r, u32 *addr)
{
	return fx_fw_alloc(r, sizeof(struct fwif_perf), addr);
}

static void counters_of_jobs_with_one_block_are_summed(void **state)
{
	struct fixture *r = fx_booted();
	struct fx_context c;
	struct fwif_perf *perf;
	struct fx_vm vm;
	u32 addr;

	(void)state;
	fx_vm(r, &vm);
	fx_vm_groups(&vm, 10, LOOPS, false);
	fx_context(r, &vm, 1, &c);
	perf = perf_block(r, &addr);
	fx_compute_perf(&c, FX_STREAM_VA, 1, addr);
	fx_submit(r, &c);
	assert_int_equal(perf->value[PUMICE_PERF_CDM_GROUPS], 10);
	assert_int_equal(perf->value[PUMICE_PERF_PDS_TASKS], 10);
	assert_int_equal(perf->value[PUMICE_PERF_CDM_COMMANDS], 3);
	fx_compute(&c, FX_STREAM_VA, 2);
	fx_compute_perf(&c, FX_STREAM_VA, 3, addr);
	fx_submit(r, &c);
	assert_int_equal(perf->value[PUMICE_PERF_CDM_GROUPS], 20);
	assert_true(perf->value[PUMICE_PERF_CDM_BUSY] >= fx_result(&c, 1)->run_ticks);
	fx_destroy(r);
}

static void slices_of_other_contexts_are_not_counted(void **state)
{
	struct fixture *r = fx_booted();
	struct fx_context a, b;
	struct fwif_perf *perf;
	struct fx_vm vm;
	u32 addr;

	(void)state;
	r->boot->slice_us = FWIF_SLICE_MIN_US;
	fx_vm(r, &vm);
	fx_vm_groups(&vm, GROUPS, LOOPS, false);
	fx_context(r, &vm, 1, &a);
	fx_context(r, &vm, 1, &b);
	perf = perf_block(r, &addr);
	fx_compute_perf(&a, FX_STREAM_VA, 1, addr);
	fx_compute(&b, FX_STREAM_VA, 1);
	fx_put_kick(r, &a);
	fx_put_kick(r, &b);
	fx_kick(r);
	fx_finish(r);
	assert_true(fx_result(&a, 1)->slices > 1);
	assert_int_equal(fx_result(&b, 1)->groups, GROUPS);
	assert_int_equal(perf->value[PUMICE_PERF_CDM_GROUPS], GROUPS);
	assert_int_equal(perf->value[PUMICE_PERF_USC_WAVES], GROUPS);
	/* add, lt and brnz in each iteration, and end. */
	assert_int_equal(perf->value[PUMICE_PERF_USC_ISSUED], GROUPS * (3 * LOOPS + 1));
	assert_int_equal(perf->value[PUMICE_PERF_USC_INSN_SCALAR], GROUPS * 2 * LOOPS);
	assert_int_equal(perf->value[PUMICE_PERF_USC_INSN_FLOW], GROUPS * (LOOPS + 1));
	fx_destroy(r);
}

static void details_are_counted_only_during_jobs_with_counters(void **state)
{
	struct fixture *r = fx_booted();
	struct fx_context c;
	struct fx_vm vm;
	u32 addr;

	(void)state;
	fx_vm(r, &vm);
	fx_vm_groups(&vm, 10, LOOPS, false);
	fx_context(r, &vm, 1, &c);
	perf_block(r, &addr);
	fx_compute_perf(&c, FX_STREAM_VA, 1, addr);
	fx_submit(r, &c);
	assert_int_equal(fx_reg(r, PUMICE_PERF_CTRL) & PUMICE_PERF_CTRL__DETAIL__MASK, 0);
	fx_destroy(r);
}

static void invalid_counter_address_breaks_its_context_only(void **state)
{
	static const u32 bad[] = { 4, FX_FW_HOLE, 0x80000000, PUMICE_FW_WINDOW_SIZE - 64 };
	struct fx_context c, good;
	struct fx_vm vm;
	struct fixture *r = fx_with_context(&vm, &good);
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		fx_context(r, &vm, 1, &c);
		fx_compute_perf(&c, FX_STREAM_VA, 1, bad[i]);
		fx_submit(r, &c);
		assert_int_equal(c.f->state, FWIF_CONTEXT_BROKEN);
	}
	fx_compute(&good, FX_STREAM_VA, 1);
	fx_update(&good, good.object_addr, 1);
	fx_submit(r, &good);
	assert_int_equal(*good.object, 1);
	fx_destroy(r);
}

static void driver_before_1_8_has_room_for_64_counters(void **state)
{
	struct fixture *r = fx_create();
	struct fwif_perf *perf;
	struct fx_context c;
	struct fx_vm vm;
	u32 addr;

	(void)state;
	r->boot->version = FWIF_VERSION_MAJOR << 16 | 7;
	assert_int_equal(fx_boot(r), FWIF_STATE_READY);
	fx_vm(r, &vm);
	fx_vm_groups(&vm, 10, LOOPS, false);
	fx_context(r, &vm, 1, &c);
	perf = fx_fw_alloc_last(r, FWIF_PERF_BYTES_1_7, &addr);
	fx_compute_perf(&c, FX_STREAM_VA, 1, addr);
	fx_submit(r, &c);
	assert_int_equal(perf->value[PUMICE_PERF_CDM_GROUPS], 10);
	fx_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_of_jobs_with_one_block_are_summed),
		cmocka_unit_test(slices_of_other_contexts_are_not_counted),
		cmocka_unit_test(details_are_counted_only_during_jobs_with_counters),
		cmocka_unit_test(invalid_counter_address_breaks_its_context_only),
		cmocka_unit_test(driver_before_1_8_has_room_for_64_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
