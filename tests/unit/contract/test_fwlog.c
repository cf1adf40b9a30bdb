// SPDX-License-Identifier: MIT
/* Texts of the firmware's log (hw/fwlog.h). Expected texts are written out here. */
#include <string.h>

#include "cmocka_all.h"
#include "fwlog.h"

struct sample {
	u32 event;
	u32 args[3];
	const char *text;
};

static void assert_text(const struct sample *s)
{
	char text[PUMICE_LOG_TEXT];

	pumice_log_text(text, sizeof(text), s->event, s->args);
	assert_string_equal(text, s->text);
}

static void numbers_are_printed_by_name(void **state)
{
	static const struct sample samples[] = {
		{ FWIF_LOG_BOOT, { 1, 6 }, "boot: interface 1.6" },
		{ FWIF_LOG_REFUSED, { 2 }, "did not boot: another interface version" },
		{ FWIF_LOG_KCCB_INVALID, { 17, 4, 3 }, "kccb: entry 17, vm-release, refused: busy" },
		{ FWIF_LOG_CONTEXT_NEW, { 5, 2 }, "context 5: new, priority high" },
		{ FWIF_LOG_CONTEXT_BROKEN, { 5, 256, 6 },
		  "context 5: malformed client command at offset 0x100, type fragment" },
		{ FWIF_LOG_JOB_WAIT, { 5, 0x8000, 12 }, "context 5: waits for object 0x8000 to reach 12" },
		{ FWIF_LOG_JOB_FAULT, { 5, 7, PUMICE_FAULT_MMU_PT_INVALID },
		  "context 5: job 7 fault mmu-pt-invalid" },
		{ FWIF_LOG_CONTEXT_PRIORITY, { 5, 0, 1 }, "context 5: priority low, was normal" },
		{ FWIF_LOG_MMU_INVALIDATE, { 3, 0x1000, 0xfffffff },
		  "mmu context 3 invalidated, pages 0x1000000 to 0xfffffff000" },
		{ FWIF_LOG_FWCCB_FULL, { 3 }, "fwccb full: message free-list-grow dropped" },
		{ FWIF_LOG_FREE_LIST_GROW, { 0x12000, 64 },
		  "free list 0x12000: requests more than 64 pages" },
		{ FWIF_LOG_TRAP, { 5, 0x120, 0 }, "trap: load access fault at 0x120, value 0x0" },
	};
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		assert_text(&samples[i]);
}

/* Also numbers that a table skips: there is no command and no message 0. */
static void numbers_without_a_name_are_printed(void **state)
{
	static const struct sample samples[] = {
		{ FWIF_LOG_REFUSED, { 4000000000u }, "did not boot: 4000000000" },
		{ FWIF_LOG_KCCB_INVALID, { 0, 0, 99 }, "kccb: entry 0, 0, refused: 99" },
		{ FWIF_LOG_CONTEXT_NEW, { 1, 3 }, "context 1: new, priority 3" },
		{ FWIF_LOG_JOB_FAULT, { 1, 2, 255 }, "context 1: job 2 fault 255" },
		{ FWIF_LOG_FWCCB_FULL, { 0 }, "fwccb full: message 0 dropped" },
		{ FWIF_LOG_TRAP, { 0x80000007u, 4, 0x80000000u },
		  "trap: 2147483655 at 0x4, value 0x80000000" },
		{ FWIF_LOG_EVENT_COUNT + 5, { 1, 2, 3 }, NULL },
	};
	char text[PUMICE_LOG_TEXT], want[PUMICE_LOG_TEXT];
	u32 i;

	(void)state;
	for (i = 0; samples[i].text; i++)
		assert_text(&samples[i]);
	pumice_log_text(text, sizeof(text), samples[i].event, samples[i].args);
	snprintf(want, sizeof(want), "unknown event %u: 1 2 3", samples[i].event);
	assert_string_equal(text, want);
}

static void states_of_contexts_have_names(void **state)
{
	(void)state;
	assert_string_equal(pumice_fwif_context_state_name(FWIF_CONTEXT_UNKNOWN), "unknown");
	assert_string_equal(pumice_fwif_context_state_name(FWIF_CONTEXT_OK), "ok");
	assert_string_equal(pumice_fwif_context_state_name(FWIF_CONTEXT_KILLED), "killed");
	assert_string_equal(pumice_fwif_context_state_name(FWIF_CONTEXT_BROKEN), "broken");
	assert_null(pumice_fwif_context_state_name(FWIF_CONTEXT_BROKEN + 1));
}

/* Every event with the largest numbers: the longest possible texts fit. */
static void longest_texts_fit(void **state)
{
	const u32 args[3] = { UINT32_MAX, UINT32_MAX, UINT32_MAX };
	char text[4 * PUMICE_LOG_TEXT];
	u32 event;

	(void)state;
	for (event = 0; event <= FWIF_LOG_EVENT_COUNT; event++) {
		pumice_log_text(text, sizeof(text), event, args);
		assert_true(strlen(text) > 4);
		assert_true(strlen(text) < PUMICE_LOG_TEXT);
		assert_null(strchr(text, '%'));
	}
}

static void texts_end_within_a_short_buffer(void **state)
{
	const u32 args[3] = { 5, UINT32_MAX, UINT32_MAX };
	char whole[PUMICE_LOG_TEXT], text[PUMICE_LOG_TEXT + 1];
	size_t bytes;

	(void)state;
	pumice_log_text(whole, sizeof(whole), FWIF_LOG_MMU_INVALIDATE, args);
	for (bytes = 1; bytes <= sizeof(whole); bytes++) {
		memset(text, 'x', sizeof(text));
		pumice_log_text(text, bytes, FWIF_LOG_MMU_INVALIDATE, args);
		assert_true(strlen(text) < bytes);
		assert_int_equal(strncmp(text, whole, strlen(text)), 0);
		assert_int_equal(text[bytes], 'x');
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_printed_by_name),
		cmocka_unit_test(numbers_without_a_name_are_printed),
		cmocka_unit_test(states_of_contexts_have_names),
		cmocka_unit_test(longest_texts_fit),
		cmocka_unit_test(texts_end_within_a_short_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
