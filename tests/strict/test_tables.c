// SPDX-License-Identifier: MIT
/* Mode strict: memory of translation tables with another use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "inject/inject.h"
#include "strict/tables.h"
#include "testmem.h"

#define CTX	3u
#define OTHER	4u
#define BLOCK	(2ull << 20)
#define VA	0x40000000ull
#define SECOND	(VA + 3 * BLOCK)	/* of another table, in the same directory */
#define PAGE	4096u

static struct testmem *tm;
static struct mmu mmu;
static struct mmu_tlb tlb;
static struct tables *tables;
static struct tables_other other;
static u32 found;

static void walked(void *opaque, const struct mmu_walked *w)
{
	(void)opaque;
	found += tables_walked(tables, w, &other);
}

static void request(void *opaque, const struct mmu_request *r)
{
	(void)opaque;
	(void)r;
}

static int set_up(void **state)
{
	(void)state;
	memset(&mmu, 0, sizeof(mmu));
	memset(&tlb, 0, sizeof(tlb));
	found = 0;
	tm = testmem_create(TESTMEM_SIZE);
	testmem_bind(tm, &mmu);
	testmem_map(tm, CTX, VA, PAGE, PUMICE_PAGE_SIZE_4K, 0);
	testmem_map(tm, CTX, SECOND, PAGE, PUMICE_PAGE_SIZE_4K, 0);
	tables = tables_create(&mmu);
	mmu_set_walked(&mmu, walked, NULL);
	mmu_set_request(&mmu, request, NULL);
	return !tables;
}

static int tear_down(void **state)
{
	(void)state;
	tables_destroy(tables);
	testmem_destroy(tm);
	return 0;
}

/* Translate an address by its tables. Return the number of findings so far. */
static u32 walk_in(unsigned int ctx, u64 va)
{
	struct gpu_fault fault;

	mmu_tlb_reset(&tlb);
	assert_non_null(mmu_translate(&mmu, &tlb, ctx, va, 4, PUMICE_ACCESS_READ,
				      PUMICE_UNIT_USC_DATA, &fault));
	return found;
}

static u32 walk(u64 va)
{
	return walk_in(CTX, va);
}

/* Return the bus address of the table that an entry leads to. */
static u64 table_of(const u64 *entry)
{
	struct pumice_mmu_pd_entry pd;

	pumice_mmu_pd_entry_unpack64(*entry, &pd);
	return pd.addr;
}

static void tables_with_one_entry_are_not_found(void **state)
{
	(void)state;
	assert_int_equal(walk(VA), 0);
	assert_int_equal(walk(SECOND), 0);
	assert_int_equal(walk(VA), 0);
}

static void table_that_two_entries_lead_to_is_found(void **state)
{
	(void)state;
	walk(VA);
	*testmem_pd_entry(tm, CTX, SECOND) = *testmem_pd_entry(tm, CTX, VA);
	assert_int_equal(walk(SECOND), 1);
	assert_false(other.directory);
	assert_int_equal(other.va, VA);
	/* Each way finds the other one. */
	assert_int_equal(walk(VA), 2);
	assert_int_equal(other.va, SECOND);
}

static void table_whose_entry_was_removed_has_another_use(void **state)
{
	u64 *entry;

	(void)state;
	entry = testmem_pd_entry(tm, CTX, VA);
	walk(VA);
	*testmem_pd_entry(tm, CTX, SECOND) = *entry;
	*entry = 0;
	assert_int_equal(walk(SECOND), 0);
}

static void table_whose_entry_leads_to_another_has_another_use(void **state)
{
	u64 *entry, *second, first;

	(void)state;
	entry = testmem_pd_entry(tm, CTX, VA);
	second = testmem_pd_entry(tm, CTX, SECOND);
	walk(VA);
	first = *entry;
	*entry = *second;
	*second = first;
	assert_int_equal(walk(SECOND), 0);
	assert_int_equal(walk(VA), 0);
}

/* Its directory is no longer part of an address space. */
static void table_whose_directory_was_removed_has_another_use(void **state)
{
	u64 *entry;

	(void)state;
	testmem_map(tm, OTHER, VA, PAGE, PUMICE_PAGE_SIZE_4K, 0);
	entry = testmem_pc_entry(tm, CTX, VA);
	walk(VA);
	*testmem_pd_entry(tm, OTHER, VA) = *testmem_pd_entry(tm, CTX, VA);
	*entry = 0;
	assert_int_equal(walk_in(OTHER, VA), 0);
}

/* Its address space has no MMU context. */
static void table_of_no_context_has_another_use(void **state)
{
	(void)state;
	testmem_map(tm, OTHER, VA, PAGE, PUMICE_PAGE_SIZE_4K, 0);
	walk(VA);
	*testmem_pd_entry(tm, OTHER, VA) = *testmem_pd_entry(tm, CTX, VA);
	atomic_store(&mmu.ctx[CTX], 0);
	assert_int_equal(walk_in(OTHER, VA), 0);
	atomic_store(&mmu.ctx[CTX], testmem_ctx_reg(tm, CTX));
	assert_int_equal(walk(VA), 1);
	assert_int_equal(other.va, VA);
}

static void directory_of_two_catalogues_is_allowed(void **state)
{
	(void)state;
	testmem_map(tm, OTHER, VA + (1ull << 30), PAGE, PUMICE_PAGE_SIZE_4K, 0);
	walk(VA);
	*testmem_pc_entry(tm, OTHER, VA) = *testmem_pc_entry(tm, CTX, VA);
	assert_int_equal(walk_in(OTHER, VA), 0);
	assert_int_equal(walk(VA), 0);
}

static void page_that_is_a_table_is_found(void **state)
{
	u64 *entry;

	(void)state;
	entry = testmem_pd_entry(tm, CTX, VA);
	walk(VA);
	testmem_map_bus(tm, CTX, SECOND + PAGE, table_of(entry), PAGE, PUMICE_PAGE_SIZE_4K, 0);
	assert_int_equal(walk(SECOND + PAGE), 1);
	assert_false(other.directory);
	assert_int_equal(other.va, VA);
	*entry = 0;
	assert_int_equal(walk(SECOND + PAGE), 1);
}

static void page_that_is_a_directory_is_found(void **state)
{
	(void)state;
	walk(SECOND);
	testmem_map_bus(tm, CTX, VA + PAGE, table_of(testmem_pc_entry(tm, CTX, VA)), PAGE,
			PUMICE_PAGE_SIZE_4K, 0);
	assert_int_equal(walk(VA + PAGE), 1);
	assert_true(other.directory);
	assert_int_equal(other.va, VA);
}

/* In a page of 64 KiB, of which one part is a table. */
static void part_of_a_page_that_is_a_table_is_found(void **state)
{
	const u64 bytes = testmem_page_bytes(PUMICE_PAGE_SIZE_64K);
	const u64 va = VA + 5 * BLOCK;
	u64 table;

	(void)state;
	walk(VA);
	table = table_of(testmem_pd_entry(tm, CTX, VA));
	testmem_map_bus(tm, CTX, va, table & ~(bytes - 1), bytes, PUMICE_PAGE_SIZE_64K, 0);
	walk(va + (table & (bytes - 1)));
	assert_int_equal(found, 1);
	assert_int_equal(other.va, VA);
}

/* Units may have read what no table has had. */
static void faults_that_are_injected_into_tables_end_the_search(void **state)
{
	struct inject_request request;
	struct inject inject;

	(void)state;
	inject_init(&inject);
	mmu.inject = &inject;
	assert_true(inject_parse("page-table,where=table,bit=2", &request));
	assert_true(inject_arm(&inject, &request));
	walk(VA);
	assert_int_equal(inject_hits(&inject, PUMICE_INJECT_KIND_PAGE_TABLE), 1);
	*testmem_pd_entry(tm, CTX, SECOND) = *testmem_pd_entry(tm, CTX, VA);
	walk(VA);
	assert_int_equal(walk(SECOND), 0);
	inject_destroy(&inject);
}

static void other_modes_have_no_tables(void **state)
{
	const struct mmu_walked none = { .ctx = CTX };

	(void)state;
	assert_false(tables_walked(NULL, &none, &other));
	tables_destroy(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(tables_with_one_entry_are_not_found),
		TEST(table_that_two_entries_lead_to_is_found),
		TEST(table_whose_entry_was_removed_has_another_use),
		TEST(table_whose_entry_leads_to_another_has_another_use),
		TEST(table_whose_directory_was_removed_has_another_use),
		TEST(table_of_no_context_has_another_use),
		TEST(directory_of_two_catalogues_is_allowed),
		TEST(page_that_is_a_table_is_found),
		TEST(page_that_is_a_directory_is_found),
		TEST(part_of_a_page_that_is_a_table_is_found),
		TEST(faults_that_are_injected_into_tables_end_the_search),
		TEST(other_modes_have_no_tables),
	};

	return cmocka_run_group_tests_name("strict_tables", tests, NULL, NULL);
}
