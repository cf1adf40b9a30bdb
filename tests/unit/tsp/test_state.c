// SPDX-License-Identifier: MIT
/* TSP state records: every bit of them. */
#include <string.h>

#include "../support/cmocka_all.h"

#include "../../../qemu-device/gpu/tsp/tsp.h"
#include "../support/testmem.h"

#define CTX	2u
#define VA	0x40000ull

static struct testmem *tm;
static struct mmu mmu;
static struct mmu_tlb tlb;
static u32 *mem;

static const struct pumice_stage stage = {
	.pds_addr = 0x123450, .pds_insns = 5, .shared = 9, .attrs = 7, .temps = 6, .coeffs = 11,
	.coeffs_alt = 12,
};

static int set_up(void **state)
{
	(void)state;
	tm = testmem_create(TESTMEM_SIZE);
	testmem_bind(tm, &mmu);
	mem = testmem_map(tm, CTX, VA, 0x1000, PUMICE_PAGE_SIZE_4K, 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	testmem_destroy(tm);
	return 0;
}

static void write_good(void)
{
	struct pumice_tsp_state raw = { .varyings = 64, .sample_rate = true,
					.flat = 0x8000000000000001ull, .linear = 0x10,
					.uniforms = 0x123456700ull, .uniform_words = 8192 };

	pumice_stage_pack(raw.fragment, &stage);
	pumice_tsp_state_pack(mem, &raw);
}

static void a_valid_record_is_unpacked(void **state)
{
	struct gpu_fault fault;
	struct tsp_state out;

	(void)state;
	write_good();
	assert_true(tsp_state_load(&mmu, &tlb, CTX, VA, &out, &fault));
	assert_int_equal(out.varyings, 64);
	assert_true(out.sample_rate);
	assert_true(out.flat == 0x8000000000000001ull);
	assert_true(out.linear == 0x10);
	assert_true(out.uniforms == 0x123456700ull);
	assert_int_equal(out.uniform_words, 8192);
	assert_true(out.fragment.pds_addr == stage.pds_addr);
	assert_int_equal(out.fragment.pds_insns, stage.pds_insns);
	assert_int_equal(out.fragment.shared, stage.shared);
	assert_int_equal(out.fragment.attrs, stage.attrs);
	assert_int_equal(out.fragment.temps, stage.temps);
	assert_int_equal(out.fragment.coeffs, stage.coeffs);
	assert_int_equal(out.fragment.coeffs_alt, stage.coeffs_alt);
}

static void every_bit_is_accepted_or_refused(void **state)
{
	u32 bit;

	(void)state;
	for (bit = 0; bit < PUMICE_TSP_STATE_WORDS * 32; bit++) {
		struct pumice_tsp_state raw;
		struct pumice_stage s;
		struct gpu_fault fault;
		struct tsp_state out;
		bool good;

		write_good();
		mem[bit / 32] ^= 1u << bit % 32;
		good = pumice_tsp_state_unpack(mem, &raw) == PUMICE_UNPACK_OK &&
		       pumice_stage_unpack(raw.fragment, &s) == PUMICE_UNPACK_OK &&
		       s.pds_insns && raw.varyings <= 64 && raw.uniform_words <= 16384 &&
		       !(raw.point_coord && raw.point_varying + 1 >= raw.varyings);
		assert_int_equal(tsp_state_load(&mmu, &tlb, CTX, VA, &out, &fault), good);
		if (good)
			continue;
		assert_int_equal(fault.fault, PUMICE_FAULT_TSP_STATE);
		assert_int_equal(fault.unit, PUMICE_UNIT_TSP);
		assert_int_equal(fault.ctx, CTX);
		assert_int_equal(fault.addr, VA);
	}
}

static void an_object_needs_a_program(void **state)
{
	struct gpu_fault fault;
	struct tsp_state out;

	(void)state;
	write_good();
	memset(mem, 0, 16);
	assert_false(tsp_state_load(&mmu, &tlb, CTX, VA, &out, &fault));
	assert_int_equal(fault.fault, PUMICE_FAULT_TSP_STATE);
}

/* All numbers of varyings and of the first one of a point's coordinate. */
static void the_coordinate_of_points_needs_two_varyings(void **state)
{
	struct pumice_tsp_state raw = { 0 };
	struct gpu_fault fault;
	struct tsp_state out;
	u32 first, origin;

	(void)state;
	pumice_stage_pack(raw.fragment, &stage);
	for (raw.varyings = 0; raw.varyings <= 64; raw.varyings++)
		for (first = 0; first < 64; first++)
			for (origin = 0; origin < 2; origin++) {
				raw.point_varying = (u8)first;
				raw.point_origin = (u8)origin;
				raw.point_coord = false;
				pumice_tsp_state_pack(mem, &raw);
				assert_true(tsp_state_load(&mmu, &tlb, CTX, VA, &out, &fault));
				assert_false(out.point_coord);
				raw.point_coord = true;
				pumice_tsp_state_pack(mem, &raw);
				if (first + 2 > raw.varyings) {
					assert_false(tsp_state_load(&mmu, &tlb, CTX, VA, &out,
								    &fault));
					assert_int_equal(fault.fault, PUMICE_FAULT_TSP_STATE);
					continue;
				}
				assert_true(tsp_state_load(&mmu, &tlb, CTX, VA, &out, &fault));
				assert_true(out.point_coord);
				assert_int_equal(out.point_varying, first);
				assert_int_equal(out.point_lower_left, origin);
			}
}

static void a_record_outside_of_memory_faults(void **state)
{
	struct gpu_fault fault;
	struct tsp_state out;

	(void)state;
	/* The second half of it is not mapped. */
	assert_false(tsp_state_load(&mmu, &tlb, CTX, VA + 0x1000 - 16, &out, &fault));
	assert_int_equal(fault.fault, PUMICE_FAULT_MMU_PT_INVALID);
	assert_int_equal(fault.unit, PUMICE_UNIT_TSP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_valid_record_is_unpacked),
		cmocka_unit_test(every_bit_is_accepted_or_refused),
		cmocka_unit_test(an_object_needs_a_program),
		cmocka_unit_test(the_coordinate_of_points_needs_two_varyings),
		cmocka_unit_test(a_record_outside_of_memory_faults),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
