// SPDX-License-Identifier: MIT
/* Data of lines against memory: stores, from their announcement to the clean. */
#include "lines_fixture.h"

/* Store a word of a job that ends, in memory that had "old!". last: no other job runs. */
static void store(u64 va, bool last)
{
	put(va - 1, "<old!>");
	lines_write(lines, CTX, va, 4, &writer);
	put(va, "new!");
	lines_job_end(lines, CTX, PUMICE_UNIT_CDM, PUMICE_WAVE_MASTER_CDM, 17, last);
}

static void stores_are_in_memory_when_they_are_cleaned(void **state)
{
	(void)state;
	store(VA + 62, true);
	assert_memory(VA + 61, "<old!>");
	/* The CPU writes the bytes next to them, and one of them. */
	put(VA + 61, "(oLd!)");
	lines_clean(lines, OTHER, 0, ALL);
	lines_clean(lines, CTX, VA + 64, VA + 64);
	assert_memory(VA + 61, "(oLw!)");
	lines_clean(lines, CTX, 0, ALL);
	assert_memory(VA + 61, "(new!)");
	/* They are no longer dirty, and the end of the next job hides nothing. */
	end_of_a_job_handled();
	assert_memory(VA + 61, "(new!)");
}

/* Some of the bytes of a line, and all that it has. */
static void bytes_that_bypass_the_caches_are_in_memory(void **state)
{
	struct lines_dirty dirty;

	(void)state;
	store(VA + 62, false);
	store(VA + 256, false);
	put(VA + 63, "BYP");
	lines_bypass(lines, CTX, VA + 63, 3);
	lines_bypass(lines, OTHER, VA + 62, 1);
	put(VA + 256, "BYP!");
	lines_bypass(lines, CTX, VA + 256, 4);
	end_of_a_job_handled();
	assert_memory(VA + 61, "<oBYP>");
	assert_memory(VA + 255, "<BYP!>");
	assert_true(lines_take_dirty(lines, 0, &dirty));
	assert_int_equal(dirty.va, VA + 62);
	lines_clean(lines, CTX, 0, ALL);
	assert_memory(VA + 61, "<nBYP>");
	assert_memory(VA + 255, "<BYP!>");
	/* Lines that have none do not count. */
	store(VA + 256, false);
	lines_bypass(lines, CTX, VA + 256, 4);
	end_of_a_job_handled();
	assert_false(lines_take_dirty(lines, 0, &dirty));
	lines_bypass(lines, MMU_TABLES, VA, 4);
	lines_bypass(NULL, CTX, VA, 4);
}

/* Of more bytes than lines are kept: they would replace that with the store. */
static void accesses_that_keep_nothing_create_no_line(void **state)
{
	struct lines_dirty dirty;

	(void)state;
	store(VA + 62, false);
	lines_bypass(lines, CTX, VA + LINES_GRAIN, BYTES - LINES_GRAIN);
	lines_write(lines, CTX, VA + LINES_GRAIN, BYTES - LINES_GRAIN, NULL);
	lines_expect(lines, CTX, VA + LINES_GRAIN, BYTES - LINES_GRAIN, false);
	end_of_a_job_handled();
	assert_true(lines_take_dirty(lines, 0, &dirty));
	assert_int_equal(dirty.va, VA + 62);
}

static void bytes_that_are_held_are_hidden_once(void **state)
{
	(void)state;
	store(VA + 8, false);
	store(VA + 72, true);
	end_of_a_job_handled();
	assert_memory(VA + 7, "<old!>");
	assert_memory(VA + 71, "<old!>");
	lines_clean(lines, CTX, 0, ALL);
	assert_memory(VA + 7, "<new!>");
	assert_memory(VA + 71, "<new!>");
}

/* Accesses that bypass the caches, and request nothing, see them. */
static void stores_are_in_memory_from_the_begin_of_a_job_to_its_end(void **state)
{
	u32 n;

	(void)state;
	store(VA + 8, false);
	store(VA + 72, true);
	for (n = 0; n < 2; n++) {
		lines_job_begin(lines, OTHER);
		assert_memory(VA + 8, "old!");
		assert_memory(VA + 72, "old!");
		lines_job_begin(lines, CTX);
		assert_memory(VA + 8, "new!");
		assert_memory(VA + 72, "new!");
		end_of_a_job_handled();
	}
	lines_clean(lines, CTX, 0, ALL);
	assert_memory(VA + 8, "new!");
	assert_memory(VA + 72, "new!");
}

/* The limit is of each context; the other lines are in memory. */
static void lines_beyond_the_limit_are_not_held(void **state)
{
	const u64 bytes = (LINES_HELD + 100) * LINES_BYTES;
	u32 n, hidden, held = 0;
	u64 va;

	(void)state;
	for (n = 0; n < 2; n++) {
		for (va = VA; va < VA + bytes; va += LINES_BYTES)
			store(va, false);
		end_of_a_job_handled();
		for (va = VA, hidden = 0; va < VA + bytes; va += LINES_BYTES)
			hidden += memory[va - VA] == 'o';
		assert_int_equal(hidden, LINES_HELD);
		/* A second end hides no others. */
		end_of_a_job_handled();
		for (va = VA, held = 0; va < VA + bytes; va += LINES_BYTES)
			held += memory[va - VA] == 'o';
		assert_int_equal(held, LINES_HELD);
		lines_clean(lines, CTX, 0, ALL);
	}
	for (va = VA; va < VA + bytes; va += LINES_BYTES)
		assert_memory(va, "new!");
}

static void stores_are_in_memory_while_another_job_of_the_context_runs(void **state)
{
	(void)state;
	store(VA + 8, false);
	assert_memory(VA + 7, "<new!>");
	end_of_a_job_handled();
	assert_memory(VA + 7, "<old!>");
	/* The same for accesses of a job that begins later. */
	lines_job_begin(lines, CTX);
	assert_false(reads(VA, 1));
	assert_memory(VA + 7, "<new!>");
	end_of_a_job_handled();
	assert_memory(VA + 7, "<old!>");
	lines_write(lines, CTX, VA + 9, 2, &writer);
	assert_memory(VA + 7, "<new!>");
	put(VA + 9, "12");
	end_of_a_job_handled();
	assert_memory(VA + 7, "<old!>");
	lines_expect(lines, CTX, VA + 60, 4, true);
	assert_memory(VA + 7, "<n12!>");
	lines_clean(lines, CTX, 0, ALL);
	assert_memory(VA + 7, "<n12!>");
}

/* A job in context 0 has ended: the firmware of the project has none. */
static void stores_to_context_0_are_in_memory_for_accesses_of_all_jobs(void **state)
{
	u8 *shared = testmem_map(tm, 0, VA, LINES_GRAIN, PUMICE_PAGE_SIZE_4K, 0);

	(void)state;
	memcpy(shared, "old!", 4);
	lines_write(lines, 0, VA, 4, &writer);
	memcpy(shared, "new!", 4);
	lines_job_end(lines, 0, PUMICE_UNIT_CDM, PUMICE_WAVE_MASTER_CDM, 17, true);
	lines_job_begin(lines, CTX);
	assert_memory_equal(shared, "old!", 4);
	assert_false(lines_read(lines, 0, VA, 4, &at));
	assert_memory_equal(shared, "new!", 4);
}

/* Lanes announce their stores, and request them when they have been done. */
static void value_before_an_announced_store_is_kept(void **state)
{
	u32 n;

	(void)state;
	for (n = 0; n < 2; n++) {
		put(VA + 61, n ? "<two!>" : "<old!>");
		lines_expect(lines, CTX, VA + 62, 4, true);
		put(VA + 62, "new!");
		lines_write(lines, CTX, VA + 62, 4, &writer);
		end_of_a_job_handled();
		assert_memory(VA + 61, n ? "<two!>" : "<old!>");
		lines_clean(lines, CTX, 0, ALL);
		assert_memory(VA + 61, "<new!>");
	}
	/* One without announcement, in the same job. */
	store(VA + 62, true);
	assert_memory(VA + 61, "<old!>");
	/* An instruction that faulted has no request; the value is not that of a later job. */
	put(VA + 8, "yore");
	lines_expect(lines, CTX, VA + 8, 4, true);
	lines_job_begin(lines, CTX);
	store(VA + 8, true);
	assert_memory(VA + 7, "<old!>");
}

/* Two USCs add to a counter: the second one announces it before the request of the first one. */
static void value_before_the_first_of_several_stores_is_kept(void **state)
{
	u32 n;

	(void)state;
	put(VA + 8, "0");
	for (n = 0; n < 2; n++) {
		announce_atomic(VA + 8);
		memory[8]++;
	}
	for (n = 0; n < 2; n++)
		lines_write(lines, CTX, VA + 8, 4, &writer);
	end_of_a_job_handled();
	assert_memory(VA + 8, "0");
	lines_clean(lines, CTX, 0, ALL);
	assert_memory(VA + 8, "2");
}

/* Ranges that begin at 0, end at the last address, or are between them. */
static void operations_on_a_range_write_held_stores_to_its_lines_only(void **state)
{
	u32 n;

	(void)state;
	for (n = 0; n < 2; n++) {
		void (*const operate)(struct lines *, unsigned int, u64, u64) =
			n ? lines_drop : lines_clean;

		store(VA + 8, false);
		store(VA + 72, false);
		store(VA + 136, true);
		operate(lines, CTX, 0, VA + 63);
		assert_memory(VA + 8, "new!");
		assert_memory(VA + 72, "old!");
		assert_memory(VA + 136, "old!");
		operate(lines, CTX, VA + 128, ALL);
		assert_memory(VA + 72, "old!");
		assert_memory(VA + 136, "new!");
		operate(lines, CTX, VA + 64, VA + 64);
		assert_memory(VA + 72, "new!");
	}
}

/* Each store is to the line that the one before it had. */
static void lines_are_used_again_after_an_operation_that_drops_held_stores(void **state)
{
	u32 n;

	(void)state;
	for (n = 0; n < 3; n++) {
		store(VA + 8, true);
		assert_memory(VA + 7, "<old!>");
		lines_drop(lines, CTX, VA, VA + 63);
		assert_memory(VA + 7, "<new!>");
	}
}

static void held_stores_are_written_or_lost_with_their_lines(void **state)
{
	u64 va;

	(void)state;
	store(VA + 8, true);
	lines_drop(lines, CTX, 0, ALL);
	assert_memory(VA + 8, "new!");
	store(VA + 8, true);
	lines_show(lines, OTHER);
	assert_memory(VA + 8, "old!");
	lines_show(lines, CTX);
	assert_memory(VA + 8, "new!");
	end_of_a_job_handled();
	assert_memory(VA + 8, "old!");
	lines_discard(lines, CTX, VA + 64, ALL);
	lines_discard(lines, CTX, 0, ALL);
	lines_clean(lines, CTX, 0, ALL);
	assert_memory(VA + 8, "old!");
	store(VA + 8, true);
	lines_reset(lines);
	assert_memory(VA + 8, "old!");
	/* Replaced by other lines. */
	store(VA + 8, true);
	lines_job_begin(lines, CTX);
	for (va = VA + 64; va < VA + BYTES; va += LINES_BYTES)
		assert_false(reads(va, 8));
	assert_memory(VA + 8, "new!");
}

/* Map the first page at the address of the second one, too. */
static void map_twice(unsigned int ctx)
{
	*testmem_pt_entry(tm, ctx, VA + LINES_GRAIN) = *testmem_pt_entry(tm, ctx, VA);
}

/* Store to both addresses of a word. */
static void store_twice(unsigned int ctx, u8 *word, u64 first, u64 second)
{
	memcpy(word, "old!", 4);
	lines_expect(lines, ctx, first, 4, true);
	memcpy(word, "one!", 4);
	lines_write(lines, ctx, first, 4, &writer);
	lines_expect(lines, ctx, second, 4, true);
	memcpy(word, "two!", 4);
	lines_write(lines, ctx, second, 4, &writer);
	lines_job_end(lines, ctx, PUMICE_UNIT_CDM, PUMICE_WAVE_MASTER_CDM, 17, true);
	assert_memory_equal(word, "old!", 4);
}

/* Each store is by another address; cleaned as a whole, and invalidated. */
static void last_store_to_memory_of_two_addresses_remains(void **state)
{
	u32 n;

	(void)state;
	map_twice(CTX);
	for (n = 0; n < 2; n++) {
		store_twice(CTX, memory + 8, VA + 8, VA + LINES_GRAIN + 8);
		(n ? lines_drop : lines_clean)(lines, CTX, 0, ALL);
		assert_memory(VA + 8, "two!");
	}
}

/* Lines of another context replace those of the stores, in either order. */
static void last_store_remains_if_lines_are_replaced(void **state)
{
	u64 va;
	u32 n;

	(void)state;
	map_twice(CTX);
	for (n = 0; n < 2; n++) {
		store_twice(CTX, memory + 8, VA + 8 + n * LINES_GRAIN,
			    VA + 8 + !n * LINES_GRAIN);
		lines_job_begin(lines, OTHER);
		for (va = VA; va < VA + BYTES / 2; va += LINES_BYTES)
			assert_false(lines_read(lines, OTHER, va, 8, &at));
		lines_clean(lines, CTX, 0, ALL);
		assert_memory(VA + 8, "two!");
	}
}

/*
 * Jobs of another context access one of the lines of context 0, which held both. Their other
 * accesses to it, and their ends, write nothing.
 */
static void last_store_to_context_0_remains_for_accesses(void **state)
{
	u8 *shared = testmem_map(tm, 0, VA, 2 * LINES_GRAIN, PUMICE_PAGE_SIZE_4K, 0);
	u32 n;

	(void)state;
	map_twice(0);
	for (n = 0; n < 2; n++) {
		store_twice(0, shared + 8, VA + 8, VA + LINES_GRAIN + 8);
		lines_job_begin(lines, CTX);
		assert_false(lines_read(lines, 0, VA + 64, 4, &at));
		assert_memory_equal(shared + 8, "old!", 4);
		end_of_a_job_handled();
		assert_memory_equal(shared + 8, "old!", 4);
		lines_job_begin(lines, CTX);
		lines_read(lines, 0, VA + 8 + n * LINES_GRAIN, 4, &at);
		assert_memory_equal(shared + 8, "two!", 4);
		lines_drop(lines, 0, 0, ALL);
		assert_memory_equal(shared + 8, "two!", 4);
	}
}

static void stores_to_pages_that_are_unmapped_are_lost(void **state)
{
	(void)state;
	store(VA + 8, true);
	testmem_unmap(tm, CTX, VA, LINES_GRAIN);
	lines_clean(lines, CTX, 0, ALL);
	assert_memory(VA + 8, "old!");
	lines_write(lines, CTX, VA + 8, 4, &writer);
	end_of_a_job_handled();
	assert_memory(VA + 8, "old!");
}

/* Make the page of a store read-only, as an operation of the MMU does. */
static void stores_to_pages_that_are_read_only_now_are_lost(void **state)
{
	u64 *entry = testmem_pt_entry(tm, CTX, VA);
	struct pumice_mmu_pt_entry page;

	(void)state;
	store(VA + 8, true);
	pumice_mmu_pt_entry_unpack64(*entry, &page);
	page.read_only = true;
	*entry = pumice_mmu_pt_entry_pack64(&page);
	lines_clean(lines, CTX, 0, ALL);
	assert_memory(VA + 8, "old!");
}

/* Map another page at VA, and return it; the tables change before the MMU is invalidated. */
static u8 *replace_page(const char *bytes)
{
	u8 *page = testmem_map(tm, CTX, VA, LINES_GRAIN, PUMICE_PAGE_SIZE_4K, 0);

	assert_ptr_not_equal(page, memory);
	memcpy(page + 8, bytes, strlen(bytes));
	return page;
}

static void stores_are_not_taken_from_a_page_that_replaces_theirs(void **state)
{
	u8 *page;

	(void)state;
	put(VA + 8, "old!");
	lines_expect(lines, CTX, VA + 8, 4, true);
	lines_write(lines, CTX, VA + 8, 4, &writer);
	put(VA + 8, "new!");
	page = replace_page("page");
	end_of_a_job_handled();
	assert_memory_equal(page + 8, "page", 4);
	assert_memory(VA + 8, "new!");
	memcpy(page + 8, "CPU!", 4);
	lines_drop(lines, CTX, VA, VA + LINES_GRAIN - 1);
	assert_memory_equal(page + 8, "CPU!", 4);
	assert_memory(VA + 8, "new!");
}

/* The former page returns, with the stores, which are held from the next one to the line on. */
static void stores_to_a_page_that_was_replaced_for_a_time_remain(void **state)
{
	u64 *entry = testmem_pt_entry(tm, CTX, VA);
	const u64 former = *entry;

	(void)state;
	store(VA + 8, false);
	replace_page("page");
	end_of_a_job_handled();
	*entry = former;
	store(VA + 16, true);
	assert_memory(VA + 8, "old!");
	assert_memory(VA + 16, "old!");
	lines_clean(lines, CTX, 0, ALL);
	assert_memory(VA + 8, "new!");
	assert_memory(VA + 16, "new!");
}

static void held_stores_are_not_written_to_a_page_that_replaces_theirs(void **state)
{
	u8 *page;

	(void)state;
	store(VA + 8, true);
	page = replace_page("page");
	lines_job_begin(lines, CTX);
	assert_memory_equal(page + 8, "page", 4);
	/* They are lost, and no longer exchanged. */
	end_of_a_job_handled();
	lines_clean(lines, CTX, 0, ALL);
	assert_memory_equal(page + 8, "page", 4);
	assert_memory(VA + 8, "old!");
}

/* The former page returns after that: the next store to the line is the only one. */
static void lost_stores_do_not_return_with_their_page(void **state)
{
	u64 *entry = testmem_pt_entry(tm, CTX, VA);
	const u64 former = *entry;

	(void)state;
	store(VA + 8, true);
	replace_page("page");
	lines_job_begin(lines, CTX);
	*entry = former;
	store(VA + 16, true);
	assert_memory(VA + 8, "old!");
	assert_memory(VA + 16, "old!");
	lines_clean(lines, CTX, 0, ALL);
	assert_memory(VA + 8, "old!");
	assert_memory(VA + 16, "new!");
}

/* The page is replaced after the announcement, and returns after the request. */
static void announced_stores_are_to_the_page_of_their_announcement(void **state)
{
	u64 *entry = testmem_pt_entry(tm, CTX, VA);
	const u64 former = *entry;
	u8 *page;

	(void)state;
	store(VA + 8, false);
	put(VA + 16, "old!");
	lines_expect(lines, CTX, VA + 16, 4, true);
	page = replace_page("page");
	put(VA + 16, "new!");
	lines_write(lines, CTX, VA + 16, 4, &writer);
	*entry = former;
	end_of_a_job_handled();
	assert_memory(VA + 8, "old!");
	assert_memory(VA + 16, "old!");
	lines_clean(lines, CTX, 0, ALL);
	assert_memory(VA + 8, "new!");
	assert_memory(VA + 16, "new!");
	assert_memory_equal(page + 8, "page", 4);
}

/* A store to one byte of the line in each page; an announced one that faults, before. */
static void stores_to_a_page_and_to_its_replacement_are_separate(void **state)
{
	u8 *page;

	(void)state;
	store(VA + 8, false);
	put(VA + 16, "yore");
	lines_expect(lines, CTX, VA + 16, 4, true);
	page = replace_page("page____past");
	lines_expect(lines, CTX, VA + 12, 2, true);
	memcpy(page + 12, "12", 2);
	lines_write(lines, CTX, VA + 12, 2, &writer);
	lines_write(lines, CTX, VA + 16, 4, &writer);
	memcpy(page + 16, "3456", 4);
	end_of_a_job_handled();
	assert_memory_equal(page + 8, "page____past", 12);
	assert_memory(VA + 8, "new!");
	lines_clean(lines, CTX, 0, ALL);
	assert_memory_equal(page + 8, "page12__3456", 12);
	assert_memory(VA + 8, "new!");
	assert_memory(VA + 16, "yore");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(stores_are_in_memory_when_they_are_cleaned),
		TEST(bytes_that_bypass_the_caches_are_in_memory),
		TEST(accesses_that_keep_nothing_create_no_line),
		TEST(bytes_that_are_held_are_hidden_once),
		TEST(stores_are_in_memory_from_the_begin_of_a_job_to_its_end),
		TEST(lines_beyond_the_limit_are_not_held),
		TEST(stores_are_in_memory_while_another_job_of_the_context_runs),
		TEST(stores_to_context_0_are_in_memory_for_accesses_of_all_jobs),
		TEST(value_before_an_announced_store_is_kept),
		TEST(value_before_the_first_of_several_stores_is_kept),
		TEST(operations_on_a_range_write_held_stores_to_its_lines_only),
		TEST(lines_are_used_again_after_an_operation_that_drops_held_stores),
		TEST(held_stores_are_written_or_lost_with_their_lines),
		TEST(last_store_to_memory_of_two_addresses_remains),
		TEST(last_store_remains_if_lines_are_replaced),
		TEST(last_store_to_context_0_remains_for_accesses),
		TEST(stores_to_pages_that_are_unmapped_are_lost),
		TEST(stores_to_pages_that_are_read_only_now_are_lost),
		TEST(stores_are_not_taken_from_a_page_that_replaces_theirs),
		TEST(stores_to_a_page_that_was_replaced_for_a_time_remain),
		TEST(held_stores_are_not_written_to_a_page_that_replaces_theirs),
		TEST(lost_stores_do_not_return_with_their_page),
		TEST(announced_stores_are_to_the_page_of_their_announcement),
		TEST(stores_to_a_page_and_to_its_replacement_are_separate),
#undef TEST
	};

	return cmocka_run_group_tests_name("stores", tests, NULL, NULL);
}
