// SPDX-License-Identifier: MIT
/*
 * Injected silence of one ring: the device requests it from the firmware by an event at the
 * host's kick, once, and a reset of the GPU clears it. tests/firmware/test_silence.c proves
 * the firmware's behaviour.
 */
#include "job.h"

#define KCCB	PUMICE_IC_PENDING__KCCB_SILENT__MASK
#define FWCCB	PUMICE_IC_PENDING__FWCCB_SILENT__MASK

static const struct job number = { .program = JOB_NUMBER, .group = 64, .groups = 8 };

static u32 silent(struct fixture *fx)
{
	return fx_fw_read(fx, PUMICE_IC_PENDING) & (KCCB | FWCCB);
}

/* @text: with skip=1 */
static void check_event(const char *text, u32 event)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .fault_injection = true });

	job_map(fx);
	fx_boot_proxy(fx);
	assert_int_equal(silent(fx), 0);
	assert_int_equal(pumice_gpu_inject(fx->gpu, text), 0);
	fx_write(fx, PUMICE_OS_SCHEDULE, PUMICE_OS_SCHEDULE__KICK__MASK);
	assert_int_equal(fx_read(fx, PUMICE_INJ_LEFT(PUMICE_INJECT_KIND_FW_SILENCE)), 1);
	assert_int_equal(fx_read(fx, PUMICE_INJ_HITS(PUMICE_INJECT_KIND_FW_SILENCE)), 0);
	fx_write(fx, PUMICE_OS_SCHEDULE, PUMICE_OS_SCHEDULE__KICK__MASK);
	assert_int_equal(fx_read(fx, PUMICE_INJ_LEFT(PUMICE_INJECT_KIND_FW_SILENCE)), 0);
	assert_int_equal(fx_read(fx, PUMICE_INJ_HITS(PUMICE_INJECT_KIND_FW_SILENCE)), 1);
	/* The processor continues. */
	assert_int_equal(silent(fx), event);
	assert_int_equal(job_run(fx, &number), PUMICE_IC_PENDING__CDM_DONE__MASK);
	fx_write(fx, PUMICE_SYS_RESET, PUMICE_SYS_RESET_KEY);
	fx_setup_mmu(fx);
	fx_boot_proxy(fx);
	assert_int_equal(silent(fx), 0);
	assert_int_equal(job_run(fx, &number), PUMICE_IC_PENDING__CDM_DONE__MASK);
	fx_destroy(fx);
}

static void kernel_ccb_falls_silent_by_an_event_at_the_kick(void **state)
{
	(void)state;
	check_event("fw-silence,where=kccb,skip=1", KCCB);
}

static void firmware_ccb_falls_silent_by_an_event_at_the_kick(void **state)
{
	(void)state;
	check_event("fw-silence,where=fwccb,skip=1", FWCCB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_ccb_falls_silent_by_an_event_at_the_kick),
		cmocka_unit_test(firmware_ccb_falls_silent_by_an_event_at_the_kick),
	};

	return cmocka_run_group_tests_name("silence of a ring", tests, NULL, NULL);
}
