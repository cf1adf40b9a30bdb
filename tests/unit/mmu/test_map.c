// SPDX-License-Identifier: MIT
/*
 * Memory map: lookup of addresses, and maps that are refused.
 */
#include "cmocka_all.h"

#include <errno.h>
#include <string.h>

#include "../../../qemu-device/gpu/mem/mem.h"
#include "pumice_regs.h"

#define PAGES 6u

static u8 host[PAGES * MEM_ALIGN] __attribute__((aligned(MEM_ALIGN)));

static u8 *page(unsigned int n)
{
	return host + n * MEM_ALIGN;
}

static void regions_are_found_in_any_order(void **state)
{
	const struct pumice_mem_region regions[] = {
		{ .addr = 0x900000000, .size = MEM_ALIGN, .host = page(5) },
		{ .addr = 0x1000, .size = 2 * MEM_ALIGN, .host = page(0) },
		{ .addr = 0xfffffffffffff000, .size = MEM_ALIGN, .host = page(4) },
		{ .addr = 0x10000, .size = 2 * MEM_ALIGN, .host = page(2), .readonly = true },
	};
	struct mem_map map = { 0 };
	bool readonly;

	(void)state;
	assert_int_equal(mem_map_set(&map, regions, 4), 0);
	assert_ptr_equal(mem_map_lookup(&map, 0, 0x1000, 1, &readonly), page(0));
	assert_false(readonly);
	assert_ptr_equal(mem_map_lookup(&map, 0, 0x2fff, 1, NULL), page(1) + 4095);
	assert_ptr_equal(mem_map_lookup(&map, 0, 0x10000, 8192, &readonly), page(2));
	assert_true(readonly);
	assert_ptr_equal(mem_map_lookup(&map, 0, 0x900000000, 4096, NULL), page(5));
	assert_ptr_equal(mem_map_lookup(&map, 0, UINT64_MAX, 1, NULL), page(4) + 4095);
	assert_null(mem_map_lookup(&map, 0, 0xfff, 1, NULL));
	assert_null(mem_map_lookup(&map, 0, 0x3000, 1, NULL));
	assert_null(mem_map_lookup(&map, 0, 0x2fff, 2, NULL));
	assert_null(mem_map_lookup(&map, 0, UINT64_MAX, 2, NULL));
	assert_null(mem_map_lookup(&map, 0, 0, 1, NULL));
	mem_map_clear(&map);
	assert_null(mem_map_lookup(&map, 0, 0x1000, 1, NULL));
}

static void a_region_is_memory_of_its_virtual_gpus_only(void **state)
{
	const struct pumice_mem_region regions[] = {
		{ .addr = 0x1000, .size = MEM_ALIGN, .host = page(0), .oses = 1u << 1 | 1u << 7 },
		{ .addr = 0x2000, .size = MEM_ALIGN, .host = page(1) },
	};
	struct mem_map map = { 0 };
	unsigned int os;

	(void)state;
	assert_int_equal(mem_map_set(&map, regions, 2), 0);
	for (os = 0; os < PUMICE_OS_COUNT; os++) {
		assert_ptr_equal(mem_map_lookup(&map, os, 0x1000, 1, NULL),
				 os == 1 || os == 7 ? page(0) : NULL);
		assert_ptr_equal(mem_map_lookup(&map, os, 0x2000, 1, NULL), page(1));
	}
	mem_map_clear(&map);
}

static void virtual_gpus_may_have_different_memory_at_an_address(void **state)
{
	struct pumice_mem_region regions[] = {
		{ .addr = 0x1000, .size = MEM_ALIGN, .host = page(0), .oses = 1u << 0 },
		{ .addr = 0x1000, .size = 2 * MEM_ALIGN, .host = page(2), .oses = 1u << 1 },
		{ .addr = 0x2000, .size = MEM_ALIGN, .host = page(4), .oses = 1u << 0 },
	};
	struct mem_map map = { 0 };

	(void)state;
	assert_int_equal(mem_map_set(&map, regions, 3), 0);
	assert_ptr_equal(mem_map_lookup(&map, 0, 0x1000, 1, NULL), page(0));
	assert_ptr_equal(mem_map_lookup(&map, 1, 0x1000, 8192, NULL), page(2));
	assert_ptr_equal(mem_map_lookup(&map, 0, 0x2000, 1, NULL), page(4));
	assert_null(mem_map_lookup(&map, 0, 0x1000, 8192, NULL));
	assert_null(mem_map_lookup(&map, 2, 0x1000, 1, NULL));
	assert_null(mem_map_lookup(&map, PUMICE_OS_COUNT, 0x1000, 1, NULL));
	/* Not those of one. */
	regions[2].oses = 1u << 1;
	assert_int_equal(mem_map_set(&map, regions, 3), -EINVAL);
	assert_null(mem_map_lookup(&map, 0, 0x1000, 1, NULL));
	mem_map_clear(&map);
}

static void a_read_crosses_adjacent_regions_and_stops_at_a_gap(void **state)
{
	const struct pumice_mem_region regions[] = {
		{ .addr = 0x2000, .size = MEM_ALIGN, .host = page(0) },
		{ .addr = 0x1000, .size = MEM_ALIGN, .host = page(3) },
	};
	struct mem_map map = { 0 };
	u8 buf[16];

	(void)state;
	memset(host, 0, sizeof(host));
	memset(page(3) + 4088, 1, 8);
	memset(page(0), 2, 8);
	assert_int_equal(mem_map_set(&map, regions, 2), 0);
	assert_true(mem_map_read(&map, 0x1ff8, buf, 16));
	assert_int_equal(buf[7], 1);
	assert_int_equal(buf[8], 2);
	assert_true(mem_map_read(&map, 0x2ff0, buf, 16));
	assert_false(mem_map_read(&map, 0x2ff1, buf, 16));
	assert_false(mem_map_read(&map, 0xfff, buf, 16));
	assert_true(mem_map_read(&map, 0x5000, buf, 0));
	mem_map_clear(&map);
}

static void invalid_maps_are_refused_and_leave_an_empty_one(void **state)
{
	static const struct pumice_mem_region good = { .addr = 0x1000, .size = MEM_ALIGN,
						       .host = host };
	const struct pumice_mem_region bad[] = {
		{ .addr = 0x10000, .size = 0, .host = host },
		{ .addr = 0x10800, .size = MEM_ALIGN, .host = host },
		{ .addr = 0x10000, .size = MEM_ALIGN / 2, .host = host },
		{ .addr = 0x10000, .size = MEM_ALIGN, .host = host + 8 },
		{ .addr = 0x10000, .size = MEM_ALIGN, .host = NULL },
		{ .addr = 0xfffffffffffff000, .size = 2 * MEM_ALIGN, .host = host },
		{ .addr = 0x0, .size = 2 * MEM_ALIGN, .host = host },
		{ .addr = 0x1000, .size = MEM_ALIGN, .host = page(2) },
	};
	struct mem_map map = { 0 };
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct pumice_mem_region regions[2] = { bad[i], good };

		assert_int_equal(mem_map_set(&map, &good, 1), 0);
		assert_int_equal(mem_map_set(&map, regions, 2), -EINVAL);
		assert_null(mem_map_lookup(&map, 0, 0x1000, 1, NULL));
	}
	mem_map_clear(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regions_are_found_in_any_order),
		cmocka_unit_test(a_region_is_memory_of_its_virtual_gpus_only),
		cmocka_unit_test(virtual_gpus_may_have_different_memory_at_an_address),
		cmocka_unit_test(a_read_crosses_adjacent_regions_and_stops_at_a_gap),
		cmocka_unit_test(invalid_maps_are_refused_and_leave_an_empty_one),
	};

	return cmocka_run_group_tests_name("memory map", tests, NULL, NULL);
}
