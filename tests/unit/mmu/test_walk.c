// SPDX-License-Identifier: MIT
/*
 * The walk through the tables: valid entries of each level, and the resulting translation.
 * Tables are built by tests/unit/support, from formats.xml alone.
 */
#include <string.h>

#include "fixture.h"

#define READ	PUMICE_ACCESS_READ
#define WRITE	PUMICE_ACCESS_WRITE
#define EXEC	PUMICE_ACCESS_EXEC
#define LAST_VA	((1ull << PUMICE_MMU_VA_BITS) - 1)
#define NO_MEMORY	0x10000000ull	/* a bus address without memory */

static void every_page_size_maps_every_byte_of_its_pages(void **state)
{
	unsigned int size;

	(void)state;
	for (size = 0; size < PUMICE_PAGE_SIZE_COUNT; size++) {
		struct fixture *fx = fx_create();
		u64 bytes = 2 * testmem_page_bytes(size), at;
		u64 va = 0x123ull << 30 | (4ull << 20);
		u8 *host = testmem_map(fx->tm, CTX, va, bytes, size, 0);

		for (at = 0; at < bytes; at += 4096) {
			assert_maps(fx, va + at, READ, host + at);
			assert_maps(fx, va + at + 4095, WRITE, host + at + 4095);
			assert_maps(fx, va + at + 8, EXEC, host + at + 8);
		}
		assert_null(fx_translate(fx, CTX, va - 1, READ));
		assert_null(fx_translate(fx, CTX, va + bytes, READ));
		fx_destroy(fx);
	}
}

static void pages_are_adjacent_at_every_boundary_of_the_tables(void **state)
{
	static const u64 boundary[] = { 2ull << 20, 1ull << 30, 512ull << 30 };
	struct fixture *fx = fx_create();
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		u8 *below = testmem_map(fx->tm, CTX, boundary[i] - 4096, 4096,
					PUMICE_PAGE_SIZE_4K, 0);
		u8 *above = testmem_map(fx->tm, CTX, boundary[i], 4096, PUMICE_PAGE_SIZE_4K, 0);

		assert_maps(fx, boundary[i] - 1, READ, below + 4095);
		assert_maps(fx, boundary[i], READ, above);
	}
	fx_destroy(fx);
}

static void addresses_end_at_one_tebibyte(void **state)
{
	struct fixture *fx = fx_create();
	u8 *first = testmem_map(fx->tm, CTX, 0, 4096, PUMICE_PAGE_SIZE_4K, 0);
	u8 *last = testmem_map(fx->tm, CTX, LAST_VA - 4095, 4096, PUMICE_PAGE_SIZE_4K, 0);

	(void)state;
	assert_maps(fx, 0, READ, first);
	assert_maps(fx, LAST_VA, READ, last + 4095);
	assert_faults(fx, LAST_VA + 1, READ, PUMICE_FAULT_MMU_ADDRESS);
	assert_faults(fx, UINT64_MAX, WRITE, PUMICE_FAULT_MMU_ADDRESS);
	fx_destroy(fx);
}

static void permissions_hold_for_every_page_size(void **state)
{
	static const struct {
		unsigned int flags;
		enum pumice_fault fault[PUMICE_ACCESS_COUNT];	/* read, write, exec */
	} cases[] = {
		{ 0, { 0, 0, 0 } },
		{ TESTMEM_RO, { 0, PUMICE_FAULT_MMU_READ_ONLY, 0 } },
		{ TESTMEM_NX, { 0, 0, PUMICE_FAULT_MMU_NO_EXEC } },
		{ TESTMEM_RO | TESTMEM_NX,
		  { 0, PUMICE_FAULT_MMU_READ_ONLY, PUMICE_FAULT_MMU_NO_EXEC } },
		{ TESTMEM_PM,
		  { PUMICE_FAULT_MMU_PM_OWNED, PUMICE_FAULT_MMU_PM_OWNED,
		    PUMICE_FAULT_MMU_PM_OWNED } },
		{ TESTMEM_PM | TESTMEM_RO | TESTMEM_NX,
		  { PUMICE_FAULT_MMU_PM_OWNED, PUMICE_FAULT_MMU_PM_OWNED,
		    PUMICE_FAULT_MMU_PM_OWNED } },
	};
	unsigned int size, i, access;

	(void)state;
	for (size = 0; size < PUMICE_PAGE_SIZE_COUNT; size++) {
		struct fixture *fx = fx_create();
		u64 va = 6ull << 30, bytes = testmem_page_bytes(size);
		u64 bus = testmem_alloc(fx->tm, bytes, bytes);

		for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
			u64 at = va + i * (2ull << 20), probe = at + bytes - 4;

			testmem_map_bus(fx->tm, CTX, at, bus, bytes, size, cases[i].flags);
			for (access = 0; access < PUMICE_ACCESS_COUNT; access++) {
				if (cases[i].fault[access])
					assert_faults(fx, probe, access, cases[i].fault[access]);
				else
					assert_maps(fx, probe, access,
						    (u8 *)testmem_host(fx->tm, bus) + bytes - 4);
			}
		}
		fx_destroy(fx);
	}
}

/* Each unit's permissions, with one TLB for all: an entry of one unit must not permit another. */
static void pages_of_the_parameter_manager_are_for_the_tiling_pipeline(void **state)
{
	static const struct {
		enum pumice_unit unit;
		bool tiling;
	} units[] = {
		{ PUMICE_UNIT_FW, false }, { PUMICE_UNIT_CDM, false }, { PUMICE_UNIT_PDS, false },
		{ PUMICE_UNIT_USC_CODE, false }, { PUMICE_UNIT_USC_DATA, false },
		{ PUMICE_UNIT_VDM, false }, { PUMICE_UNIT_MTE, false }, { PUMICE_UNIT_TE, true },
		{ PUMICE_UNIT_PM, true }, { PUMICE_UNIT_IPF, true }, { PUMICE_UNIT_ISP, false },
		{ PUMICE_UNIT_TSP, false }, { PUMICE_UNIT_TAG, false }, { PUMICE_UNIT_PBE, false },
		{ PUMICE_UNIT_RTU, false },
		{ PUMICE_UNIT_PTLA, false }, { PUMICE_UNIT_PB, true }, { PUMICE_UNIT_PDM, false },
		{ PUMICE_UNIT_NONE, false },
	};
	struct fixture *fx = fx_create();
	struct mmu_tlb tlb = { 0 };
	unsigned int i, access;

	(void)state;
	testmem_map(fx->tm, CTX, 0, 4096, PUMICE_PAGE_SIZE_4K, TESTMEM_PM);
	testmem_map(fx->tm, CTX, 4096, 4096, PUMICE_PAGE_SIZE_4K, TESTMEM_PM | TESTMEM_RO);
	for (i = 0; i < sizeof(units) / sizeof(*units); i++) {
		for (access = 0; access < PUMICE_ACCESS_COUNT; access++) {
			struct gpu_fault fault = { 0 };
			bool data = access != PUMICE_ACCESS_EXEC;
			u8 *host = mmu_translate(&fx->mmu, &tlb, CTX, 8, 1, access, units[i].unit,
						 &fault);

			assert_int_equal(host != NULL, units[i].tiling && data);
			assert_int_equal(fault.fault, host ? 0 : PUMICE_FAULT_MMU_PM_OWNED);
			host = mmu_translate(&fx->mmu, &tlb, CTX, 4096, 1, access, units[i].unit,
					     &fault);
			assert_int_equal(host != NULL,
					 units[i].tiling && access == PUMICE_ACCESS_READ);
		}
	}
	fx_destroy(fx);
}

static void each_missing_level_has_its_own_fault(void **state)
{
	struct fixture *fx = fx_create();
	u64 va = 5ull << 30;

	(void)state;
	testmem_map(fx->tm, CTX, va, 8192, PUMICE_PAGE_SIZE_4K, 0);
	assert_faults(fx, va + 8192, READ, PUMICE_FAULT_MMU_PT_INVALID);
	assert_faults(fx, va + (2ull << 20), WRITE, PUMICE_FAULT_MMU_PD_INVALID);
	assert_faults(fx, va + (1ull << 30), EXEC, PUMICE_FAULT_MMU_PC_INVALID);
	atomic_store(&fx->mmu.ctx[CTX], testmem_catalogue(fx->tm, CTX));
	assert_faults(fx, va, READ, PUMICE_FAULT_MMU_CONTEXT_OFF);
	fx_destroy(fx);
}

static void other_bits_of_an_invalid_entry_are_ignored(void **state)
{
	static const enum pumice_fault fault[] = { PUMICE_FAULT_MMU_PC_INVALID,
						   PUMICE_FAULT_MMU_PD_INVALID,
						   PUMICE_FAULT_MMU_PT_INVALID };
	unsigned int level;

	(void)state;
	for (level = 0; level < 3; level++) {
		struct fixture *fx = fx_create();
		u64 *entry[3];

		testmem_map(fx->tm, CTX, 0, 4096, PUMICE_PAGE_SIZE_4K, 0);
		entry[0] = testmem_pc_entry(fx->tm, CTX, 0);
		entry[1] = testmem_pd_entry(fx->tm, CTX, 0);
		entry[2] = testmem_pt_entry(fx->tm, CTX, 0);
		*entry[level] = ~1ull;
		assert_faults(fx, 0, READ, fault[level]);
		fx_destroy(fx);
	}
}

/* formats.xml defines the reserved bits. */
static bool reserved(unsigned int level, u64 raw)
{
	struct pumice_mmu_pc_entry pc;
	struct pumice_mmu_pd_entry pd;
	struct pumice_mmu_pt_entry pt;

	switch (level) {
	case 0:
		return pumice_mmu_pc_entry_unpack64(raw, &pc) == PUMICE_UNPACK_RESERVED;
	case 1:
		return pumice_mmu_pd_entry_unpack64(raw, &pd) == PUMICE_UNPACK_RESERVED;
	default:
		return pumice_mmu_pt_entry_unpack64(raw, &pt) == PUMICE_UNPACK_RESERVED;
	}
}

static void every_reserved_bit_of_a_valid_entry_faults(void **state)
{
	struct fixture *fx = fx_create();
	unsigned int level, bit, tried = 0;
	u64 *entry[3];

	(void)state;
	testmem_map(fx->tm, CTX, 0, 4096, PUMICE_PAGE_SIZE_4K, 0);
	entry[0] = testmem_pc_entry(fx->tm, CTX, 0);
	entry[1] = testmem_pd_entry(fx->tm, CTX, 0);
	entry[2] = testmem_pt_entry(fx->tm, CTX, 0);
	for (level = 0; level < 3; level++) {
		for (bit = 0; bit < 64; bit++) {
			u64 good = *entry[level];

			if (!reserved(level, 1ull << bit))
				continue;
			*entry[level] = good | 1ull << bit;
			assert_faults(fx, 0, READ, PUMICE_FAULT_MMU_BUS);
			*entry[level] = good;
			tried++;
		}
	}
	/* 16 bits above the address in each, and the bits between the flags and the address. */
	assert_int_equal(tried, 3 * 16 + 11 + 8 + 6);
	fx_destroy(fx);
}

static void a_page_is_aligned_to_its_size(void **state)
{
	unsigned int size;

	(void)state;
	for (size = PUMICE_PAGE_SIZE_16K; size < PUMICE_PAGE_SIZE_COUNT; size++) {
		struct fixture *fx = fx_create();
		u64 bytes = testmem_page_bytes(size);
		u64 bus = testmem_alloc(fx->tm, 2 * bytes, bytes);

		testmem_map_bus(fx->tm, CTX, 0, bus + 4096, bytes, size, 0);
		assert_faults(fx, 0, READ, PUMICE_FAULT_MMU_BUS);
		testmem_map_bus(fx->tm, CTX, 0, bus + bytes / 2, bytes, size, 0);
		assert_faults(fx, 0, READ, PUMICE_FAULT_MMU_BUS);
		fx_destroy(fx);
	}
}

static void tables_that_are_not_in_memory_fault(void **state)
{
	struct fixture *fx = fx_create();
	const struct pumice_mmu_pc_entry pc = { .valid = true, .addr = NO_MEMORY };
	const struct pumice_mmu_pd_entry pd = { .valid = true, .addr = NO_MEMORY };
	const struct pumice_mmu_pc_entry top = { .valid = true, .addr = 0xfffffffff000 };

	(void)state;
	testmem_map(fx->tm, CTX, 0, 4096, PUMICE_PAGE_SIZE_4K, 0);
	*testmem_pd_entry(fx->tm, CTX, 0) = pumice_mmu_pd_entry_pack64(&pd);
	assert_faults(fx, 0, READ, PUMICE_FAULT_MMU_TABLE_BUS);
	*testmem_pc_entry(fx->tm, CTX, 0) = pumice_mmu_pc_entry_pack64(&pc);
	assert_faults(fx, 0, READ, PUMICE_FAULT_MMU_TABLE_BUS);
	*testmem_pc_entry(fx->tm, CTX, 0) = pumice_mmu_pc_entry_pack64(&top);
	assert_faults(fx, 0, READ, PUMICE_FAULT_MMU_TABLE_BUS);
	atomic_store(&fx->mmu.ctx[CTX], PUMICE_MMU_CTX__ENABLE__MASK | NO_MEMORY);
	assert_faults(fx, 0, READ, PUMICE_FAULT_MMU_TABLE_BUS);
	fx_destroy(fx);
}

static void a_page_works_for_its_part_within_memory(void **state)
{
	struct fixture *fx = fx_create();
	const struct pumice_mem_region *region = testmem_region(fx->tm);
	u64 page = testmem_page_bytes(PUMICE_PAGE_SIZE_2M);
	u64 end = region->addr + region->size, bus = end & ~(page - 1);

	(void)state;
	assert_int_not_equal(bus, end);
	testmem_map_bus(fx->tm, CTX, 0, bus, page, PUMICE_PAGE_SIZE_2M, 0);
	assert_maps(fx, end - bus - 1, READ, region->host + region->size - 1);
	assert_faults(fx, end - bus, READ, PUMICE_FAULT_MMU_BUS);
	testmem_map_bus(fx->tm, CTX, 0, NO_MEMORY, page, PUMICE_PAGE_SIZE_2M, 0);
	assert_faults(fx, 4096 * 300, WRITE, PUMICE_FAULT_MMU_BUS);
	fx_destroy(fx);
}

static void read_only_memory_refuses_writes_for_any_page_permissions(void **state)
{
	struct fixture *fx = fx_create();
	struct pumice_mem_region region = *testmem_region(fx->tm);
	struct mem_map map = { 0 };
	u8 *host = testmem_map(fx->tm, CTX, 0, 4096, PUMICE_PAGE_SIZE_4K, 0);

	(void)state;
	region.readonly = true;
	assert_int_equal(mem_map_set(&map, &region, 1), 0);
	fx->mmu.map = &map;
	assert_maps(fx, 0, READ, host);
	assert_faults(fx, 0, WRITE, PUMICE_FAULT_MMU_READ_ONLY);
	assert_maps(fx, 0, EXEC, host);
	mem_map_clear(&map);
	fx_destroy(fx);
}

/* For any address of the entry, there is no memory. */
static void null_page_reads_as_zero_and_drops_writes(void **state)
{
	static const u8 zero[4096];
	unsigned int size;
	u8 words[4096];

	(void)state;
	for (size = 0; size < PUMICE_PAGE_SIZE_COUNT; size++) {
		struct fixture *fx = fx_create();
		u64 bytes = testmem_page_bytes(size), va = 5ull << 30, at;

		testmem_map_bus(fx->tm, CTX, va, NO_MEMORY * 2, bytes, size, TESTMEM_NULL);
		for (at = 0; at < bytes; at += 4096) {
			memset(words, 0xa5, sizeof(words));
			assert_true(mmu_write(&fx->mmu, &fx->tlb, CTX, va + at, words, 4096,
					      PUMICE_UNIT_USC_DATA, &fx->fault));
			assert_true(mmu_read(&fx->mmu, &fx->tlb, CTX, va + at, words, 4096, READ,
					     PUMICE_UNIT_USC_DATA, &fx->fault));
			assert_memory_equal(words, zero, 4096);
		}
		assert_faults(fx, va, EXEC, PUMICE_FAULT_MMU_NO_EXEC);
		fx_destroy(fx);
	}
}

static void null_page_keeps_its_permissions(void **state)
{
	struct fixture *fx = fx_create();

	(void)state;
	testmem_map_bus(fx->tm, CTX, 0, 0, 4096, PUMICE_PAGE_SIZE_4K, TESTMEM_NULL | TESTMEM_RO);
	assert_non_null(fx_translate(fx, CTX, 0, READ));
	assert_faults(fx, 0, WRITE, PUMICE_FAULT_MMU_READ_ONLY);
	testmem_map_bus(fx->tm, CTX, 4096, 0, 4096, PUMICE_PAGE_SIZE_4K,
			TESTMEM_NULL | TESTMEM_PM);
	assert_faults(fx, 4096, READ, PUMICE_FAULT_MMU_PM_OWNED);
	assert_faults(fx, 4096, WRITE, PUMICE_FAULT_MMU_PM_OWNED);
	fx_destroy(fx);
}

/* Pages translated for writing are marked as written; those for reading never are. */
static void sink_of_a_null_page_is_known(void **state)
{
	struct fixture *fx = fx_create();
	u8 *page = testmem_map(fx->tm, CTX, 4096, 4096, PUMICE_PAGE_SIZE_4K, 0);
	u32 i;

	(void)state;
	testmem_map_bus(fx->tm, CTX, 0, 0, 4096, PUMICE_PAGE_SIZE_4K, TESTMEM_NULL);
	for (i = 0; i < 3; i++) {
		assert_true(mmu_in_sink(&fx->tlb, fx_translate(fx, CTX, 4092, WRITE)));
		assert_false(mmu_in_sink(&fx->tlb, fx_translate(fx, CTX, 4092, READ)));
		assert_false(mmu_in_sink(&fx->tlb, fx_translate(fx, CTX, 4096, WRITE)));
	}
	assert_maps(fx, 4096, READ, page);
	assert_null(mmu_probe(&fx->mmu, CTX, 0, WRITE));
	assert_int_equal(*mmu_probe(&fx->mmu, CTX, 0, READ), 0);
	fx_destroy(fx);
}

static void contexts_do_not_share_pages(void **state)
{
	struct fixture *fx = fx_create();
	unsigned int ctx;

	(void)state;
	for (ctx = 0; ctx < PUMICE_MMU_CONTEXTS; ctx++) {
		u8 *host = testmem_map(fx->tm, ctx, 0x7000, 4096, PUMICE_PAGE_SIZE_4K, 0);

		assert_ptr_equal(fx_translate(fx, ctx, 0x7000, READ), host);
		fx_assert_fault(fx, ctx, 0x8000, READ, PUMICE_FAULT_MMU_PT_INVALID, __FILE__,
				__LINE__);
	}
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_page_size_maps_every_byte_of_its_pages),
		cmocka_unit_test(pages_are_adjacent_at_every_boundary_of_the_tables),
		cmocka_unit_test(addresses_end_at_one_tebibyte),
		cmocka_unit_test(permissions_hold_for_every_page_size),
		cmocka_unit_test(pages_of_the_parameter_manager_are_for_the_tiling_pipeline),
		cmocka_unit_test(each_missing_level_has_its_own_fault),
		cmocka_unit_test(other_bits_of_an_invalid_entry_are_ignored),
		cmocka_unit_test(every_reserved_bit_of_a_valid_entry_faults),
		cmocka_unit_test(a_page_is_aligned_to_its_size),
		cmocka_unit_test(tables_that_are_not_in_memory_fault),
		cmocka_unit_test(a_page_works_for_its_part_within_memory),
		cmocka_unit_test(read_only_memory_refuses_writes_for_any_page_permissions),
		cmocka_unit_test(null_page_reads_as_zero_and_drops_writes),
		cmocka_unit_test(null_page_keeps_its_permissions),
		cmocka_unit_test(sink_of_a_null_page_is_known),
		cmocka_unit_test(contexts_do_not_share_pages),
	};

	return cmocka_run_group_tests_name("mmu walk", tests, NULL, NULL);
}
