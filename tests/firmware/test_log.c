// SPDX-License-Identifier: MIT
/* Log ring and firmware CCB: entries, dropped messages, and their count. */
#include "fixture.h"

static void log_entries_are_numbered_with_ascending_times(void **state)
{
	struct fixture *r = fx_booted();
	u32 i;

	(void)state;
	fx_assert_alive(r);
	assert_true(r->log_ring->write > 0);
	assert_int_equal(r->log[0].event, FWIF_LOG_BOOT);
	assert_int_equal(r->log[0].args[0], FWIF_VERSION_MAJOR);
	for (i = 0; i < r->log_ring->write; i++) {
		assert_int_equal(r->log[i].sequence, i + 1);
		if (i)
			assert_true(r->log[i].time > r->log[i - 1].time);
	}
	fx_destroy(r);
}

static void log_overwrites_the_oldest_and_never_waits_for_the_host(void **state)
{
	const struct fwif_kccb_cmd bad = { .type = 99 };
	struct fixture *r = fx_booted();
	u32 i, n;

	(void)state;
	for (i = 0; i < 3 * FX_LOG; i++)
		fx_call(r, &bad);
	n = r->log_ring->write;
	assert_true(n >= 3 * FX_LOG);
	for (i = n - FX_LOG; i < n; i++) {
		assert_int_equal(r->log[i % FX_LOG].sequence, i + 1);
		assert_int_equal(r->log[i % FX_LOG].event, FWIF_LOG_KCCB_INVALID);
		assert_int_equal(r->log[i % FX_LOG].args[1], 99);
	}
	fx_destroy(r);
}

static void log_level_filters_and_may_change_at_run_time(void **state)
{
	const struct fwif_kccb_cmd bad = { .type = 99 };
	struct fixture *r = fx_create();
	struct fx_context c;
	struct fx_vm vm;

	(void)state;
	r->boot->log_level = FWIF_LOG_ERROR;
	fx_boot(r);
	fx_vm(r, &vm);
	fx_context(r, &vm, 1, &c);
	fx_compute(&c, FX_STREAM_VA, 1);
	fx_submit(r, &c);
	assert_int_equal(r->log_ring->write, 0);
	fx_call(r, &bad);
	assert_int_equal(r->log_ring->write, 1);
	r->boot->log_level = FWIF_LOG_DEBUG;
	fx_compute(&c, FX_STREAM_VA, 2);
	fx_submit(r, &c);
	assert_int_equal(r->log_ring->write, 3);
	assert_int_equal(r->log[1].event, FWIF_LOG_JOB_START);
	assert_int_equal(r->log[2].event, FWIF_LOG_JOB_DONE);
	assert_int_equal(r->log[2].args[1], 2);
	fx_destroy(r);
}

static void fwccb_counts_dropped_messages_and_continues_when_read(void **state)
{
	struct fixture *r = fx_booted();
	struct fx_context c;
	struct fx_vm vm;
	u32 i;

	(void)state;
	fx_vm(r, &vm);
	fx_vm_faulty(&vm);
	fx_context(r, &vm, 1, &c);
	for (i = 1; i <= FX_FWCCB + 2; i++) {
		fx_compute(&c, FX_STREAM_VA, i);
		fx_submit(r, &c);
	}
	/* One entry of the ring is always unused. */
	assert_int_equal(r->fwccb_ring->write, FX_FWCCB - 1);
	assert_int_equal(r->fwccb_ring->dropped, 3);
	assert_int_equal(r->boot->jobs_faulted, FX_FWCCB + 2);
	r->fwccb_ring->read = r->fwccb_ring->write;
	fx_compute(&c, FX_STREAM_VA, 50);
	fx_submit(r, &c);
	assert_int_equal(r->fwccb[FX_FWCCB - 1].seqno, 50);
	assert_int_equal(r->fwccb_ring->write, 0);
	assert_int_equal(r->fwccb_ring->dropped, 3);
	fx_destroy(r);
}

static void wild_read_index_of_the_fwccb_is_masked(void **state)
{
	struct fixture *r = fx_booted();
	struct fx_context c;
	struct fx_vm vm;
	u32 i;

	(void)state;
	fx_vm(r, &vm);
	fx_vm_faulty(&vm);
	fx_context(r, &vm, 1, &c);
	r->fwccb_ring->read = 0xdeadbeef;
	for (i = 1; i <= 3 * FX_FWCCB; i++) {
		fx_compute(&c, FX_STREAM_VA, i);
		fx_submit(r, &c);
	}
	assert_true(r->fwccb_ring->write < FX_FWCCB);
	fx_assert_alive(r);
	fx_destroy(r);
}

static void sleeping_firmware_executes_nothing(void **state)
{
	struct fixture *r = fx_booted();
	u64 before;

	(void)state;
	fx_assert_alive(r);
	before = pumice_gpu_mmio_read(r->gpu, 0, PUMICE_FW_INSTRET, 8);
	assert_true(fx_run(r));
	assert_int_equal(pumice_gpu_mmio_read(r->gpu, 0, PUMICE_FW_INSTRET, 8), before);
	fx_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(log_entries_are_numbered_with_ascending_times),
		cmocka_unit_test(log_overwrites_the_oldest_and_never_waits_for_the_host),
		cmocka_unit_test(log_level_filters_and_may_change_at_run_time),
		cmocka_unit_test(fwccb_counts_dropped_messages_and_continues_when_read),
		cmocka_unit_test(wild_read_index_of_the_fwccb_is_masked),
		cmocka_unit_test(sleeping_firmware_executes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
