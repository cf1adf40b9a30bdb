// SPDX-License-Identifier: MIT
/* Mode strict: buffers by address, and their place in findings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "strict/places.h"
#include "strict/strict.h"

#define SPACE	0x2000u		/* catalogues */
#define OTHER	0x4000u
#define VA	0x100000u

static struct places places;
static struct places_end end;
static struct places_removed removed;
static const char buffer, second;	/* identify buffers */

static int set_up(void **state)
{
	(void)state;
	places_init(&places);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	places_destroy(&places);
	return 0;
}

static void unmap(u64 space, u64 first, u64 bytes, u64 number, const char *label)
{
	struct places_removed r = { .space = space, .first = first,
				    .last = first + bytes - 1, .number = number,
				    .buffer = &buffer };

	strncpy(r.label, label, sizeof(r.label) - 1);
	places_remove(&places, &r);
}

static void an_access_is_past_the_end_by_its_last_byte(void **state)
{
	(void)state;
	assert_false(places_have_ends(&places));
	places_add_end(&places, SPACE, VA + 98, &buffer, "b");
	assert_true(places_have_ends(&places));
	assert_false(places_find_end(&places, SPACE, VA, 98, &end));
	assert_false(places_find_end(&places, SPACE, VA + 94, 4, &end));
	assert_true(places_find_end(&places, SPACE, VA + 95, 4, &end));
	assert_int_equal(end.end, VA + 98);
	assert_string_equal(end.label, "b");
	assert_true(places_find_end(&places, SPACE, VA + PLACES_PAGE - 1, 1, &end));
	/* Other pages and address spaces have no end. */
	assert_false(places_find_end(&places, SPACE, VA + PLACES_PAGE, 1, &end));
	assert_false(places_find_end(&places, SPACE, VA - 1, 1, &end));
	assert_false(places_find_end(&places, OTHER, VA + 200, 1, &end));
	/* From the page before it. */
	assert_true(places_find_end(&places, SPACE, VA - 1, 100, &end));
}

static void the_end_of_a_page_is_replaced(void **state)
{
	(void)state;
	places_add_end(&places, SPACE, VA + 8, &buffer, "b");
	places_add_end(&places, SPACE, VA + 16, &second, "c");
	assert_false(places_find_end(&places, SPACE, VA + 12, 4, &end));
	assert_true(places_find_end(&places, SPACE, VA + 16, 4, &end));
	assert_ptr_equal(end.buffer, &second);
	assert_int_equal(places.end_count, 1);
}

static void a_removed_mapping_has_no_end(void **state)
{
	u32 n;

	(void)state;
	for (n = 0; n < 4; n++)
		places_add_end(&places, SPACE, VA + n * PLACES_PAGE + 8, &buffer, "b");
	places_add_end(&places, OTHER, VA + 8, &buffer, "b");
	unmap(SPACE, VA + PLACES_PAGE, 2 * PLACES_PAGE, 1, "b");
	assert_true(places_find_end(&places, SPACE, VA + 8, 1, &end));
	assert_false(places_find_end(&places, SPACE, VA + PLACES_PAGE + 8, 1, &end));
	assert_false(places_find_end(&places, SPACE, VA + 2 * PLACES_PAGE + 8, 1, &end));
	assert_true(places_find_end(&places, SPACE, VA + 3 * PLACES_PAGE + 8, 1, &end));
	assert_true(places_find_end(&places, OTHER, VA + 8, 1, &end));
}

static void ends_are_found_in_any_order(void **state)
{
	u32 n;

	(void)state;
	for (n = 0; n < 64; n++)
		places_add_end(&places, n & 1 ? OTHER : SPACE,
			       VA + (n * 37 % 64) * PLACES_PAGE + 1 + n, &buffer, "b");
	for (n = 0; n < 64; n++) {
		const u64 at = VA + (n * 37 % 64) * PLACES_PAGE + 1 + n;

		assert_true(places_find_end(&places, n & 1 ? OTHER : SPACE, at, 1, &end));
		assert_int_equal(end.end, at);
		assert_false(places_find_end(&places, n & 1 ? SPACE : OTHER, at, 1, &end));
	}
}

static void ends_without_room_are_not_kept(void **state)
{
	u32 n;

	(void)state;
	for (n = 0; n < PLACES_ENDS + 2; n++)
		places_add_end(&places, SPACE, VA + n * PLACES_PAGE + 8, &buffer, "b");
	assert_int_equal(places.end_count, PLACES_ENDS);
	/* One that exists is replaced all the same. */
	places_add_end(&places, SPACE, VA + 16, &buffer, "b");
	assert_false(places_find_end(&places, SPACE, VA + 8, 1, &end));
	assert_false(places_find_end(&places, SPACE, VA + PLACES_ENDS * PLACES_PAGE + 8, 1, &end));
}

static void the_last_removal_of_an_address_is_found(void **state)
{
	(void)state;
	assert_false(places_find_removed(&places, SPACE, VA, &removed));
	unmap(SPACE, VA, 2 * PLACES_PAGE, 1, "first");
	unmap(SPACE, VA, PLACES_PAGE, 2, "last");
	assert_true(places_find_removed(&places, SPACE, VA, &removed));
	assert_int_equal(removed.number, 2);
	assert_string_equal(removed.label, "last");
	assert_true(places_find_removed(&places, SPACE, VA + 2 * PLACES_PAGE - 1, &removed));
	assert_int_equal(removed.number, 1);
	assert_false(places_find_removed(&places, SPACE, VA + 2 * PLACES_PAGE, &removed));
	assert_false(places_find_removed(&places, OTHER, VA, &removed));
}

static void removals_too_long_ago_are_dropped(void **state)
{
	u32 n;

	(void)state;
	for (n = 0; n <= PLACES_REMOVED; n++)
		unmap(SPACE, VA + n * PLACES_PAGE, PLACES_PAGE, n, "b");
	assert_false(places_find_removed(&places, SPACE, VA, &removed));
	assert_true(places_find_removed(&places, SPACE, VA + PLACES_PAGE, &removed));
	assert_int_equal(removed.number, 1);
}

static void a_buffer_is_freed_and_named_by_its_identity(void **state)
{
	(void)state;
	places_add_end(&places, SPACE, VA + 8, &buffer, NULL);
	places_add_end(&places, SPACE, VA + PLACES_PAGE + 8, &second, "c");
	places_label(&places, &buffer, "new");
	assert_true(places_find_end(&places, SPACE, VA + 8, 1, &end));
	assert_string_equal(end.label, "new");
	assert_true(places_find_end(&places, SPACE, VA + PLACES_PAGE + 8, 1, &end));
	assert_string_equal(end.label, "c");
	unmap(SPACE, VA, PLACES_PAGE, 1, "new");
	places_free(&places, &second);
	assert_true(places_find_removed(&places, SPACE, VA, &removed));
	assert_false(removed.freed);
	places_free(&places, &buffer);
	assert_true(places_find_removed(&places, SPACE, VA, &removed));
	assert_true(removed.freed);
}

static void map(u64 space, u64 first, u64 size, const void *of, const char *label)
{
	const struct places_range r = { .space = space, .first = first,
					.last = first + size - 1, .buffer = of };

	places_add_range(&places, &r, label);
}

/* Assert that the mapping of an address has a name; NULL: there is none. */
static void assert_mapped(u64 space, u64 va, const char *label)
{
	struct places_range range;

	assert_int_equal(places_find_range(&places, space, va, &range), label != NULL);
	if (label)
		assert_string_equal(range.label, label);
}

static void a_mapping_is_found_by_each_of_its_addresses(void **state)
{
	(void)state;
	assert_mapped(SPACE, VA, NULL);
	map(SPACE, VA + 2 * PLACES_PAGE, PLACES_PAGE, &second, "c");
	map(SPACE, VA, 2 * PLACES_PAGE, &buffer, "b");
	assert_mapped(SPACE, VA - 1, NULL);
	assert_mapped(SPACE, VA, "b");
	assert_mapped(SPACE, VA + 2 * PLACES_PAGE - 1, "b");
	assert_mapped(SPACE, VA + 2 * PLACES_PAGE, "c");
	assert_mapped(SPACE, VA + 3 * PLACES_PAGE, NULL);
	assert_mapped(OTHER, VA, NULL);
	places_label(&places, &buffer, "new");
	assert_mapped(SPACE, VA, "new");
	assert_mapped(SPACE, VA + 2 * PLACES_PAGE, "c");
}

static void the_parts_around_an_unmapped_range_remain(void **state)
{
	(void)state;
	map(SPACE, VA, 6 * PLACES_PAGE, &buffer, "b");
	map(OTHER, VA, 6 * PLACES_PAGE, &buffer, "o");
	unmap(SPACE, VA + PLACES_PAGE, PLACES_PAGE, 1, "b");
	assert_mapped(SPACE, VA + PLACES_PAGE - 1, "b");
	assert_mapped(SPACE, VA + PLACES_PAGE, NULL);
	assert_mapped(SPACE, VA + 2 * PLACES_PAGE - 1, NULL);
	assert_mapped(SPACE, VA + 2 * PLACES_PAGE, "b");
	/* Of both parts, and of one more mapping after them. */
	map(SPACE, VA + 6 * PLACES_PAGE, PLACES_PAGE, &second, "c");
	unmap(SPACE, VA, 7 * PLACES_PAGE, 2, "b");
	assert_mapped(SPACE, VA, NULL);
	assert_mapped(SPACE, VA + 5 * PLACES_PAGE, NULL);
	assert_mapped(SPACE, VA + 6 * PLACES_PAGE, NULL);
	assert_mapped(OTHER, VA + PLACES_PAGE, "o");
	map(SPACE, VA, 4 * PLACES_PAGE, &buffer, "b");
	unmap(SPACE, VA - PLACES_PAGE, 2 * PLACES_PAGE, 3, "b");
	assert_mapped(SPACE, VA, NULL);
	assert_mapped(SPACE, VA + PLACES_PAGE, "b");
}

static void a_mapping_replaces_those_at_its_addresses(void **state)
{
	(void)state;
	map(SPACE, VA, 4 * PLACES_PAGE, &buffer, "b");
	map(SPACE, VA + PLACES_PAGE, PLACES_PAGE, &second, "c");
	assert_mapped(SPACE, VA, "b");
	assert_mapped(SPACE, VA + PLACES_PAGE, "c");
	assert_mapped(SPACE, VA + 2 * PLACES_PAGE, "b");
	unmap(SPACE, VA + PLACES_PAGE, PLACES_PAGE, 1, "c");
	assert_mapped(SPACE, VA + PLACES_PAGE, NULL);
	map(SPACE, VA, 4 * PLACES_PAGE, &second, "d");
	assert_mapped(SPACE, VA, "d");
	assert_mapped(SPACE, VA + 3 * PLACES_PAGE, "d");
	unmap(SPACE, VA, 4 * PLACES_PAGE, 2, "d");
	assert_mapped(SPACE, VA, NULL);
	assert_mapped(SPACE, VA + 2 * PLACES_PAGE, NULL);
}

static void mappings_are_found_in_any_order(void **state)
{
	char label[8];
	u32 n;

	(void)state;
	for (n = 0; n < 257; n++) {
		snprintf(label, sizeof(label), "%u", n * 37 % 257);
		map(SPACE, VA + n * 37 % 257 * 2 * PLACES_PAGE, PLACES_PAGE, &buffer, label);
	}
	for (n = 0; n < 257; n++) {
		snprintf(label, sizeof(label), "%u", n);
		assert_mapped(SPACE, VA + n * 2 * PLACES_PAGE + 5, label);
		assert_mapped(SPACE, VA + n * 2 * PLACES_PAGE + PLACES_PAGE, NULL);
	}
}

static void mappings_without_room_are_not_kept(void **state)
{
	u32 n;

	(void)state;
	for (n = 0; n <= PLACES_RANGES; n++)
		map(SPACE, VA + n * PLACES_PAGE, PLACES_PAGE, &buffer, "b");
	assert_mapped(SPACE, VA + (PLACES_RANGES - 1) * PLACES_PAGE, "b");
	assert_mapped(SPACE, VA + PLACES_RANGES * PLACES_PAGE, NULL);
	unmap(SPACE, VA, PLACES_PAGE, 1, "b");
	map(SPACE, VA + PLACES_RANGES * PLACES_PAGE, PLACES_PAGE, &buffer, "b");
	assert_mapped(SPACE, VA + PLACES_RANGES * PLACES_PAGE, "b");
}

/* As when the GPU leaves mode strict: then it is not informed of changes. */
static void descriptions_are_dropped_together(void **state)
{
	(void)state;
	map(SPACE, VA, PLACES_PAGE, &buffer, "b");
	places_add_end(&places, SPACE, VA + 8, &buffer, "b");
	unmap(OTHER, VA, PLACES_PAGE, 1, "b");
	places_clear(&places);
	assert_mapped(SPACE, VA, NULL);
	assert_false(places_have_ends(&places));
	assert_false(places_find_end(&places, SPACE, VA + 8, 1, &end));
	assert_false(places_find_removed(&places, OTHER, VA, &removed));
}

static void a_name_needs_no_escape(void **state)
{
	char name[2 * PLACES_LABEL_BYTES];

	(void)state;
	places_add_end(&places, SPACE, VA + 8, &buffer, "a\"b\\c\nd\xc3\xa4 e~");
	assert_true(places_find_end(&places, SPACE, VA + 8, 1, &end));
	assert_string_equal(end.label, "a?b?c?d?? e~");
	map(SPACE, VA + 2 * PLACES_PAGE, PLACES_PAGE, &second, "a\"b\\");
	assert_mapped(SPACE, VA + 2 * PLACES_PAGE, "a?b?");
	unmap(SPACE, VA + PLACES_PAGE, PLACES_PAGE, 1, "a\"b");
	assert_true(places_find_removed(&places, SPACE, VA + PLACES_PAGE, &removed));
	assert_string_equal(removed.label, "a?b");
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	places_label(&places, &buffer, name);
	assert_true(places_find_end(&places, SPACE, VA + 8, 1, &end));
	assert_int_equal(strlen(end.label), PLACES_LABEL_BYTES - 1);
}

static void nearest_buffer_before_an_address_is_found(void **state)
{
	(void)state;
	map(OTHER, VA, 2 * PLACES_PAGE, &second, "other");
	assert_false(places_find_before(&places, SPACE, VA + 8 * PLACES_PAGE, &end));
	map(SPACE, VA, PLACES_PAGE, &second, "far");
	map(SPACE, VA + 2 * PLACES_PAGE, 2 * PLACES_PAGE, &buffer, "b");
	places_add_end(&places, OTHER, VA + 3 * PLACES_PAGE + 16, &second, "other");
	assert_true(places_find_before(&places, SPACE, VA + 4 * PLACES_PAGE, &end));
	assert_string_equal(end.label, "b");
	assert_int_equal(end.end, VA + 4 * PLACES_PAGE);
	places_add_end(&places, SPACE, VA + 3 * PLACES_PAGE + 8, &buffer, "b");
	assert_true(places_find_before(&places, SPACE, VA + 4 * PLACES_PAGE + PLACES_REACH - 1,
				       &end));
	assert_int_equal(end.end, VA + 3 * PLACES_PAGE + 8);
	assert_false(places_find_before(&places, SPACE, VA + 4 * PLACES_PAGE + PLACES_REACH, &end));
	/* The end of that buffer is not one of the buffer before it. */
	assert_true(places_find_before(&places, SPACE, VA + 2 * PLACES_PAGE - 1, &end));
	assert_string_equal(end.label, "far");
	assert_int_equal(end.end, VA + PLACES_PAGE);
	assert_false(places_find_before(&places, SPACE, VA, &end));
}

static void an_address_space_is_forgotten_alone(void **state)
{
	(void)state;
	unmap(SPACE, VA + PLACES_PAGE, PLACES_PAGE, 1, "b");
	unmap(OTHER, VA + PLACES_PAGE, PLACES_PAGE, 2, "b");
	map(SPACE, VA, PLACES_PAGE, &buffer, "b");
	map(OTHER, VA, PLACES_PAGE, &buffer, "b");
	places_add_end(&places, SPACE, VA + 8, &buffer, "b");
	places_add_end(&places, OTHER, VA + 8, &buffer, "b");
	places_forget(&places, SPACE);
	assert_mapped(SPACE, VA, NULL);
	assert_mapped(OTHER, VA, "b");
	assert_false(places_find_end(&places, SPACE, VA + 8, 1, &end));
	assert_false(places_find_removed(&places, SPACE, VA + PLACES_PAGE, &removed));
	assert_true(places_find_end(&places, OTHER, VA + 8, 1, &end));
	assert_true(places_find_removed(&places, OTHER, VA + PLACES_PAGE, &removed));
}

/* Return a finding with the most of each member. */
static struct strict_finding longest(u8 kind)
{
	struct strict_finding f = {
		.kind = kind, .unit = PUMICE_UNIT_USC_DATA, .access = PUMICE_ACCESS_WRITE,
		.ctx = 31, .lane_known = true, .slot = 47, .wave = 31, .lane = 31, .usc = 63,
		.pc = UINT32_MAX, .times = UINT32_MAX, .code = (1ull << 40) - 16,
		.addr = (1ull << 40) - 1,
		.other = { .known = true, .write = true, .lane_known = true, .wave = 31,
			   .lane = 31, .pc = UINT32_MAX },
		.job = { .tag = UINT64_MAX, .master = PUMICE_WAVE_MASTER_RDM },
		.buffer = { .unmapped = true, .unmapped_by = UINT64_MAX,
			    .unmapped_at = UINT64_MAX, .process = UINT32_MAX,
			    .end = (1ull << 40) - 1 },
		.invalidation = UINT64_MAX,
	};

	memset(f.buffer.label, 'x', sizeof(f.buffer.label) - 1);
	return f;
}

static void the_longest_text_of_a_finding_is_complete(void **state)
{
	char text[STRICT_TEXT_BYTES];
	u8 kind;

	(void)state;
	for (kind = 1; kind < PUMICE_FINDING_COUNT; kind++) {
		const struct strict_finding f = longest(kind);

		strict_describe(&f, text);
		assert_string_equal(text + strlen(text) - 1, "}");
		assert_true(strlen(text) + 1 < STRICT_TEXT_BYTES);
	}
}

/* Members that are not known are not in the text. */
static void a_finding_has_the_job_and_the_removal(void **state)
{
	struct strict_finding f = longest(PUMICE_FINDING_UNMAPPED);
	char text[STRICT_TEXT_BYTES];

	(void)state;
	f.job.tag = 7ull << 32 | 3;
	f.buffer.unmapped_by = 4711;
	f.buffer.unmapped_at = 123456;
	f.buffer.process = 99;
	f.buffer.end = 0;
	f.invalidation = 12;
	strcpy(f.buffer.label, "victim");
	strict_describe(&f, text);
	assert_non_null(strstr(text, ",\"master\":\"rdm\",\"job_context\":3,\"job\":7,"));
	assert_non_null(strstr(text, ",\"label\":\"victim\",\"unmapped_by\":4711,\"freed\":false,"
				     "\"invalidation\":12,\"unmapped_at\":123456,\"process\":99,"));
	assert_non_null(strstr(text, "\"omitted\":\"no wait for the job between its submission and "
				     "the unmap operation\""));
	f.buffer.freed = true;
	f.buffer.process = 0;
	strict_describe(&f, text);
	assert_non_null(strstr(text, "\"freed\":true,"));
	assert_null(strstr(text, "process"));
	f.job.tag = 0;
	f.buffer = (struct strict_buffer){ 0 };
	f.invalidation = 0;
	strict_describe(&f, text);
	assert_null(strstr(text, "job"));
	assert_null(strstr(text, "label"));
	assert_null(strstr(text, "unmapped_by"));
	assert_null(strstr(text, "invalidation"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(an_access_is_past_the_end_by_its_last_byte),
		TEST(the_end_of_a_page_is_replaced),
		TEST(a_removed_mapping_has_no_end),
		TEST(ends_are_found_in_any_order),
		TEST(ends_without_room_are_not_kept),
		TEST(the_last_removal_of_an_address_is_found),
		TEST(removals_too_long_ago_are_dropped),
		TEST(a_buffer_is_freed_and_named_by_its_identity),
		TEST(a_mapping_is_found_by_each_of_its_addresses),
		TEST(the_parts_around_an_unmapped_range_remain),
		TEST(a_mapping_replaces_those_at_its_addresses),
		TEST(mappings_are_found_in_any_order),
		TEST(mappings_without_room_are_not_kept),
		TEST(descriptions_are_dropped_together),
		TEST(a_name_needs_no_escape),
		TEST(nearest_buffer_before_an_address_is_found),
		TEST(an_address_space_is_forgotten_alone),
		TEST(the_longest_text_of_a_finding_is_complete),
		TEST(a_finding_has_the_job_and_the_removal),
#undef TEST
	};

	return cmocka_run_group_tests_name("strict places", tests, NULL, NULL);
}
