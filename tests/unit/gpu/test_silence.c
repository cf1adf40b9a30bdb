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

static u32 silent(struct rig *rig)
{
	return rig_fw_read(rig, PUMICE_IC_PENDING) & (KCCB | FWCCB);
}

/* @text: with skip=1 */
static void check_event(const char *text, u32 event)
{
	struct rig *rig = rig_create(&(struct rig_options){ .fault_injection = true });

	job_map(rig);
	rig_boot_proxy(rig);
	assert_int_equal(silent(rig), 0);
	assert_int_equal(pumice_gpu_inject(rig->gpu, text), 0);
	rig_write(rig, PUMICE_OS_SCHEDULE, PUMICE_OS_SCHEDULE__KICK__MASK);
	assert_int_equal(rig_read(rig, PUMICE_INJ_LEFT(PUMICE_INJECT_KIND_FW_SILENCE)), 1);
	assert_int_equal(rig_read(rig, PUMICE_INJ_HITS(PUMICE_INJECT_KIND_FW_SILENCE)), 0);
	rig_write(rig, PUMICE_OS_SCHEDULE, PUMICE_OS_SCHEDULE__KICK__MASK);
	assert_int_equal(rig_read(rig, PUMICE_INJ_LEFT(PUMICE_INJECT_KIND_FW_SILENCE)), 0);
	assert_int_equal(rig_read(rig, PUMICE_INJ_HITS(PUMICE_INJECT_KIND_FW_SILENCE)), 1);
	/* The processor continues. */
	assert_int_equal(silent(rig), event);
	assert_int_equal(job_run(rig, &number), PUMICE_IC_PENDING__CDM_DONE__MASK);
	rig_write(rig, PUMICE_SYS_RESET, PUMICE_SYS_RESET_KEY);
	rig_setup_mmu(rig);
	rig_boot_proxy(rig);
	assert_int_equal(silent(rig), 0);
	assert_int_equal(job_run(rig, &number), PUMICE_IC_PENDING__CDM_DONE__MASK);
	rig_destroy(rig);
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
