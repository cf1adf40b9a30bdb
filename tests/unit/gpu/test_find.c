// SPDX-License-Identifier: MIT
/* Unit FIND: the findings of mode strict as the host reads them. */
#include <string.h>

#include "../../../qemu-device/gpu/gpu.h"
#include "job.h"

#define TEXT_WORDS	PUMICE_FIND_TEXT_COUNT

static struct fixture *create(void)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 1 });

	fx_boot_proxy(fx);
	return fx;
}

/* Report an error of an instruction. */
static void report(struct fixture *fx, u32 pc)
{
	strict_report(&fx->gpu->strict,
		      &(struct strict_finding){ .kind = PUMICE_FINDING_UNMAPPED, .pc = pc,
						.unit = PUMICE_UNIT_USC_DATA, .addr = 0x1234 });
}

/* Read the text of the selected finding, by the order of bytes that the register map says. */
static void read_text(struct fixture *fx, char *text)
{
	u32 n;

	for (n = 0; n < TEXT_WORDS * 8; n++)
		text[n] = (char)(fx_read(fx, PUMICE_FIND_TEXT(n / 8)) >> (8 * (n % 8)));
}

static void the_selected_finding_is_read(void **state)
{
	char text[TEXT_WORDS * 8], expected[PUMICE_FINDING_BYTES];
	struct fixture *fx = create();
	u32 n;

	(void)state;
	assert_int_equal(fx_read(fx, PUMICE_FIND_COUNT), 0);
	report(fx, 7);
	report(fx, 8);
	assert_int_equal(fx_read(fx, PUMICE_FIND_COUNT), 2);
	for (n = 0; n < 2; n++) {
		fx_write(fx, PUMICE_FIND_SELECT, n);
		assert_int_equal(fx_read(fx, PUMICE_FIND_SELECT), n);
		read_text(fx, text);
		assert_true(pumice_gpu_finding(fx->gpu, n, expected));
		assert_string_equal(text, expected);
		assert_int_equal(text[sizeof(text) - 1], 0);
	}
	fx_write(fx, PUMICE_FIND_SELECT, 2);
	assert_int_equal(fx_read(fx, PUMICE_FIND_TEXT(0)), 0);
	fx_destroy(fx);
}

/* A finding that is detected again while its text is read. */
static void a_text_does_not_change_until_it_is_selected(void **state)
{
	char before[TEXT_WORDS * 8], after[TEXT_WORDS * 8];
	struct fixture *fx = create();

	(void)state;
	report(fx, 7);
	fx_write(fx, PUMICE_FIND_SELECT, 0);
	read_text(fx, before);
	report(fx, 7);
	read_text(fx, after);
	assert_string_equal(before, after);
	fx_write(fx, PUMICE_FIND_SELECT, 0);
	read_text(fx, after);
	assert_non_null(strstr(after, "\"times\":2}"));
	fx_destroy(fx);
}

static void findings_without_room_are_counted(void **state)
{
	struct fixture *fx = create();
	u32 n;

	(void)state;
	for (n = 0; n < STRICT_FINDINGS + 5; n++)
		report(fx, n);
	assert_int_equal(fx_read(fx, PUMICE_FIND_COUNT), STRICT_FINDINGS);
	assert_int_equal(fx_read(fx, PUMICE_FIND_LOST), 5);
	fx_destroy(fx);
}

/* The driver resets a GPU that goes to sleep, and then sets the mode again. */
static void a_reset_and_the_mode_keep_findings(void **state)
{
	struct fixture *fx = create();

	(void)state;
	report(fx, 7);
	fx_write(fx, PUMICE_SYS_MODE, PUMICE_MODE_STRICT);
	assert_int_equal(fx_read(fx, PUMICE_FIND_COUNT), 1);
	pumice_gpu_reset(fx->gpu);
	fx_write(fx, PUMICE_SYS_MODE, PUMICE_MODE_STRICT);
	assert_int_equal(fx_read(fx, PUMICE_FIND_COUNT), 1);
	assert_int_equal(fx_read(fx, PUMICE_FIND_TEXT(0)), 0);
	fx_destroy(fx);
}

static void they_are_dropped_by_a_write_and_by_the_host(void **state)
{
	struct fixture *fx = create();

	(void)state;
	report(fx, 7);
	fx_write(fx, PUMICE_FIND_COUNT, 0);
	assert_int_equal(fx_read(fx, PUMICE_FIND_COUNT), 0);
	report(fx, 7);
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "strict"), 0);
	assert_int_equal(fx_read(fx, PUMICE_FIND_COUNT), 0);
	fx_destroy(fx);
}

/* Store a finding as the firmware does. */
static void report_as_firmware(struct fixture *fx, u32 kind)
{
	fx_fw_write(fx, PUMICE_FIND_FW_ARG(0), 0x1230);
	fx_fw_write(fx, PUMICE_FIND_FW_ARG(1), 3);
	fx_fw_write(fx, PUMICE_FIND_FW_ARG(2), 7);
	fx_fw_write(fx, PUMICE_FIND_FW_REPORT, kind);
}

static void the_firmware_reports_errors_of_drivers(void **state)
{
	struct fixture *fx = create();
	char text[PUMICE_FINDING_BYTES];

	(void)state;
	report_as_firmware(fx, PUMICE_FINDING_CCB_OVERRUN);
	assert_int_equal(fx_read(fx, PUMICE_FIND_COUNT), 0);
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "strict"), 0);
	report_as_firmware(fx, PUMICE_FINDING_CCB_OVERRUN);
	report_as_firmware(fx, PUMICE_FINDING_UPDATE_REUSED);
	report_as_firmware(fx, PUMICE_FINDING_LOCAL_RACE);
	report_as_firmware(fx, 0);
	report_as_firmware(fx, 0xff);
	assert_int_equal(fx_read(fx, PUMICE_FIND_COUNT), 2);
	assert_true(pumice_gpu_finding(fx->gpu, 0, text));
	assert_non_null(strstr(text, "\"object\":\"0x1230\",\"slot\":3,\"command\":7,"));
	assert_true(pumice_gpu_finding(fx->gpu, 1, text));
	assert_non_null(strstr(text, "\"object\":\"0x1230\",\"value\":3,\"reached\":7,"));
	fx_destroy(fx);
}

/* The host does not report, and the firmware does not drop findings. */
static void host_and_firmware_write_only_their_registers(void **state)
{
	struct fixture *fx = create();

	(void)state;
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "strict"), 0);
	report(fx, 7);
	fx_write(fx, PUMICE_FIND_FW_REPORT, PUMICE_FINDING_CCB_OVERRUN);
	fx_fw_write(fx, PUMICE_FIND_COUNT, 0);
	assert_int_equal(fx_read(fx, PUMICE_FIND_COUNT), 1);
	fx_destroy(fx);
}

/* A job that begins without one has been ready for an unknown time. */
static void the_clock_of_a_ready_job_is_of_the_next_job(void **state)
{
	struct fixture *fx = create();

	(void)state;
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "strict"), 0);
	fx_fw_write64(fx, PUMICE_FIND_FW_READY, 0x500000007);
	fx_write(fx, PUMICE_FIND_FW_READY, 3);
	assert_int_equal(fx_fw_read64(fx, PUMICE_FIND_FW_READY), 0x500000007);
	fx_fw_write(fx, PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__START__MASK);
	assert_int_equal(fx_fw_read64(fx, PUMICE_FIND_FW_READY), 0);
	fx_fw_write64(fx, PUMICE_FIND_FW_READY, 7);
	fx_fw_write(fx, PUMICE_TDM_CTRL, PUMICE_TDM_CTRL__START__MASK);
	assert_int_equal(fx_fw_read64(fx, PUMICE_FIND_FW_READY), 0);
	fx_fw_write64(fx, PUMICE_FIND_FW_READY, 7);
	fx_fw_write(fx, PUMICE_RDM_CTRL, PUMICE_RDM_CTRL__START__MASK);
	assert_int_equal(fx_fw_read64(fx, PUMICE_FIND_FW_READY), 0);
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_selected_finding_is_read),
		cmocka_unit_test(a_text_does_not_change_until_it_is_selected),
		cmocka_unit_test(findings_without_room_are_counted),
		cmocka_unit_test(a_reset_and_the_mode_keep_findings),
		cmocka_unit_test(they_are_dropped_by_a_write_and_by_the_host),
		cmocka_unit_test(the_firmware_reports_errors_of_drivers),
		cmocka_unit_test(host_and_firmware_write_only_their_registers),
		cmocka_unit_test(the_clock_of_a_ready_job_is_of_the_next_job),
	};

	return cmocka_run_group_tests_name("findings in registers", tests, NULL, NULL);
}
