// SPDX-License-Identifier: MIT
/*
 * Local and global memory of the USC: addresses, faults and their fields,
 * the order of lanes.
 */
#include "access.h"

#include <stdlib.h>
#include <string.h>

#define SMALL_LOCAL 256u

static const struct fx_group one_wave = {
	.tasks = 1,
	.instances = { PUMICE_LANES },
	.limits = { .temps = 4, .attrs = 2, .shared = 2 },
	.local_bytes = SMALL_LOCAL,
};

static void check_patterns(struct fixture *fx)
{
	static const struct { u32 stride, group, jump, start; } patterns[] = {
		{ 4, 32, 0, 0 },	/* consecutive */
		{ 4, 32, 0, 4060 },	/* over the end of a page */
		{ 0, 32, 0, 64 },	/* all the same word */
		{ 4, 8, 2048, 40 },	/* rows of 8 */
		{ 8, 32, 0, 4 },	/* every other word */
		{ 4, 31, 8192, 12 },	/* the last lane alone */
		{ 4, 1, 516, 4 },	/* not adjacent */
	};

	for (u32 p = 0; p < sizeof(patterns) / sizeof(patterns[0]); p++) {
		struct access a = { .insn = LOAD(32) };

		access_plain(fx, &a, 4);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			a.off[l] = patterns[p].start + l % patterns[p].group * patterns[p].stride +
				   l / patterns[p].group * patterns[p].jump;
		access_run(fx, &a);
		assert_int_equal(fx->faults, 0);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			assert_int_equal(a.result[0][l], a.off[l] / 4);
		a.insn = STORE(32);
		access_run(fx, &a);
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			u32 last = patterns[p].stride ? l : PUMICE_LANES - 1;

			assert_int_equal(data_words(fx)[a.off[l] / 4], 1 + last);
		}
	}
}

static void usc_global_memory_supports_every_pattern_of_lanes(void **state)
{
	(void)state;
	at_each_level(check_patterns);
}

/* base + offset wraps at 2^64: offset 0xfffff000 and base FX_DATA - 0xfffff000. */
static void check_wrap(struct fixture *fx)
{
	struct access a = { .insn = LOAD(32) };

	access_plain(fx, &a, 4);
	a.base = FX_DATA - 0xfffff000ull;
	for (u32 l = 0; l < PUMICE_LANES; l++)
		a.off[l] += 0xfffff000u;
	access_run(fx, &a);
	assert_int_equal(fx->faults, 0);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(a.result[0][l], l);
	/*
	 * Lane 31's offset is that of lane 0 less 4, modulo 2^32; its address is
	 * 2^32 higher, not in lane 0's page.
	 */
	a.base = FX_DATA + 8;
	for (u32 l = 0; l < PUMICE_LANES; l++)
		a.off[l] = l * 4;
	a.off[31] = 0xfffffffcu;
	access_run(fx, &a);
	check_fault(fx, PUMICE_FAULT_MMU_PC_INVALID, PUMICE_ACCESS_READ,
		    FX_DATA + 8 + 0xfffffffcull);
	/* The opposite: lane 1's address is 2^32 lower than lane 0's page suggests. */
	access_plain(fx, &a, 4);
	a.base = FX_DATA + 64 - 0xfffffffcull;
	a.off[0] = 0xfffffffcu;
	access_run(fx, &a);
	check_fault(fx, PUMICE_FAULT_MMU_ADDRESS, PUMICE_ACCESS_READ, a.base + 4);
	/* A whole row whose offsets wrap between lanes 15 and 16: those are 2^32 apart. */
	access_plain(fx, &a, 4);
	a.base = FX_DATA + 64;
	for (u32 l = 0; l < PUMICE_LANES; l++)
		a.off[l] = l * 4 - 64;
	access_run(fx, &a);
	check_fault(fx, PUMICE_FAULT_MMU_PC_INVALID, PUMICE_ACCESS_READ, FX_DATA + (1ull << 32));
	/* Beyond 1 TiB. */
	access_plain(fx, &a, 4);
	a.base = (1ull << 40) - 64;
	for (u32 l = 0; l < 16; l++)
		a.off[l] = 64;
	access_run(fx, &a);
	check_fault(fx, PUMICE_FAULT_MMU_ADDRESS, PUMICE_ACCESS_READ, 1ull << 40);
}

static void usc_global_address_is_the_64_bit_sum_and_below_1_tib(void **state)
{
	(void)state;
	at_each_level(check_wrap);
}

static void check_lowest_lane(struct fixture *fx)
{
	struct access a = { .insn = STORE(32) };

	/* Lane 20 is misaligned, lane 9 unmapped, lane 25 unmapped elsewhere. */
	access_plain(fx, &a, 4);
	a.off[20] = 2;
	a.off[9] = DATA_BYTES + 36;
	a.off[25] = DATA_BYTES + 0x3000;
	access_run(fx, &a);
	check_fault(fx, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_ACCESS_WRITE, FX_DATA + a.off[9]);
	/* Lanes above stored only words that share a page with those below. */
	a.off[9] = 36;
	access_run(fx, &a);
	check_fault(fx, PUMICE_FAULT_USC_GLOBAL_ALIGN, PUMICE_ACCESS_WRITE, FX_DATA + 2);
	for (u32 l = 21; l < PUMICE_LANES; l++)
		assert_int_equal(data_words(fx)[l], l);
}

static void usc_global_fault_is_that_of_the_lowest_lane(void **state)
{
	(void)state;
	at_each_level(check_lowest_lane);
}

static void check_masked_lanes(struct fixture *fx)
{
	struct access a = { .insn = LOAD(32) };

	access_plain(fx, &a, 4);
	for (u32 l = 16; l < PUMICE_LANES; l++)
		a.off[l] = 0x7fffff01;
	a.insn.mask = (u16)IF(MASK_K(LO16));
	access_run(fx, &a);
	assert_int_equal(fx->faults, 0);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(a.result[0][l], l < 16 ? l : BEFORE);
}

/* Their offsets follow those of the others, of which the first is apart: no row is loaded. */
static void check_masked_local_lanes(struct fixture *fx)
{
	struct access a = { .insn = LOCAL_LOAD(32) };

	access_plain(fx, &a, 4);
	for (u32 l = 1; l < PUMICE_LANES; l++)
		a.off[l] += 1024;
	a.insn.mask = (u16)IF(MASK_K(LO16));
	access_run(fx, &a);
	assert_int_equal(fx->faults, 0);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(a.result[0][l] == BEFORE, l >= 16);
}

static void usc_lanes_outside_the_mask_neither_access_nor_fault(void **state)
{
	(void)state;
	at_each_level(check_masked_lanes);
	at_each_level(check_masked_local_lanes);
}

/* Load, then store: the translation is in the TLB, without permission for the store. */
static void usc_store_to_a_read_only_page_faults_as_a_write(void **state)
{
	const u64 va = FX_DATA + 0x100000;
	struct fixture *fx = fx_create(DATA_BYTES);
	u32 *page = testmem_map(fx->mem, FX_CTX, va, 4096, PUMICE_PAGE_SIZE_4K, TESTMEM_RO);
	struct usc_program *program;
	u32 code[3 * PUMICE_USC_WORDS];

	(void)state;
	page[0] = 77;
	usc_put(code, 0, LOAD(32));
	usc_put(code, 1, STORE(32));
	usc_put(code, 2, INSN(END));
	program = fx_program(fx, code, 3, &one_wave.limits);
	fx_fill(fx, 0, &one_wave, program);
	fx_set_base(fx, 0, va);
	usc_group_start(fx->usc, 0);
	fx_run(fx, 100);
	check_fault(fx, PUMICE_FAULT_MMU_READ_ONLY, PUMICE_ACCESS_WRITE, va);
	assert_int_equal(fx->usc->unified[0], 77);
	assert_int_equal(page[0], 77);
	fx_put(fx, program);
	fx_destroy(fx);
}

/* A load whose destination is its own row of offsets. */
static void check_own_offsets(struct fixture *fx)
{
	for (u32 n = 0; n < 2; n++) {
		struct access a = { .insn = n ? LOCAL_LOAD(32) : LOAD(32) };
		struct usc_task *task = usc_task(fx->usc, 0);

		access_plain(fx, &a, 4);
		a.insn.dst = V(0);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			a.off[l] = (31 - l) % 13 * 16;
		access_run(fx, &a);
		assert_int_equal(fx->faults, 0);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			assert_int_equal(usc_attr(fx->usc, task, 0, 0)[l], n ? 0 : a.off[l] / 4);
	}
}

static void usc_load_may_overwrite_its_offsets(void **state)
{
	(void)state;
	at_each_level(check_own_offsets);
}

static void check_local_bounds(struct fixture *fx)
{
	struct access a = { .insn = LOCAL_LOAD(32), .local_bytes = SMALL_LOCAL };

	/* The very last word. */
	for (u32 l = 0; l < PUMICE_LANES; l++)
		a.off[l] = SMALL_LOCAL - 4 - 4 * (l % 2);
	access_run(fx, &a);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(a.result[0][0], 0);
	/* Consecutive, the last one beyond. */
	for (u32 l = 0; l < PUMICE_LANES; l++)
		a.off[l] = SMALL_LOCAL - 31 * 4 + l * 4;
	access_run(fx, &a);
	check_local_fault(fx, PUMICE_FAULT_USC_LOCAL_BOUNDS, SMALL_LOCAL);
	a.insn = LOCAL_STORE(32);
	access_run(fx, &a);
	check_local_fault(fx, PUMICE_FAULT_USC_LOCAL_BOUNDS, SMALL_LOCAL);
	a.insn = LOCAL_LOAD(32);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		a.off[l] = SMALL_LOCAL - 4 - 4 * (l % 2);
	/* One lane beyond, with a displacement. */
	a.off[7] = SMALL_LOCAL - 8;
	a.insn.disp = 4;
	for (u32 l = 0; l < PUMICE_LANES; l++)
		a.off[l] -= 4;
	a.off[7] += 8;
	access_run(fx, &a);
	check_local_fault(fx, PUMICE_FAULT_USC_LOCAL_BOUNDS, SMALL_LOCAL);
	/* Offset and displacement do not wrap. */
	a.off[7] = 0xfffffffcu;
	access_run(fx, &a);
	check_local_fault(fx, PUMICE_FAULT_USC_LOCAL_BOUNDS, 0x100000000ull);
	/* The lower of two faults. */
	a.off[3] = 2;
	access_run(fx, &a);
	check_local_fault(fx, PUMICE_FAULT_USC_LOCAL_ALIGN, 6);
	a.insn = LOCAL_STORE(32);
	access_run(fx, &a);
	check_local_fault(fx, PUMICE_FAULT_USC_LOCAL_ALIGN, 2);
	a.off[3] = SMALL_LOCAL;
	access_run(fx, &a);
	check_local_fault(fx, PUMICE_FAULT_USC_LOCAL_BOUNDS, SMALL_LOCAL);
	/* A displacement larger than the memory. */
	a.insn.disp = SMALL_LOCAL;
	memset(a.off, 0, sizeof(a.off));
	access_run(fx, &a);
	check_local_fault(fx, PUMICE_FAULT_USC_LOCAL_BOUNDS, SMALL_LOCAL);
}

static void usc_local_memory_ends_where_the_allocation_ends(void **state)
{
	(void)state;
	at_each_level(check_local_bounds);
}

/* Word addresses: the last word, one beyond, and addresses whose bytes exceed 32 bits. */
static void check_word_addresses(struct fixture *fx)
{
	const struct pumice_usc_insn load = INSN(LOCAL_LOAD32W, .dst = R(0), .mask = ALWAYS,
						 .src0 = V(0), .disp = 3);
	const struct pumice_usc_insn store = INSN(LOCAL_STORE32W, .mask = ALWAYS, .src0 = V(0),
						  .src1 = V(1), .disp = 3);
	struct access a = { .insn = load, .local_bytes = SMALL_LOCAL };

	for (u32 l = 0; l < PUMICE_LANES; l++)
		a.off[l] = SMALL_LOCAL / 4 - 4;
	access_run(fx, &a);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(a.result[0][0], 0);
	a.off[9]++;
	access_run(fx, &a);
	check_local_fault(fx, PUMICE_FAULT_USC_LOCAL_BOUNDS, SMALL_LOCAL);
	assert_int_equal(fx->fault.lane, 9);
	a.insn = store;
	access_run(fx, &a);
	check_local_fault(fx, PUMICE_FAULT_USC_LOCAL_BOUNDS, SMALL_LOCAL);
	/* 4 * 0x40000000 is 0 in 32 bits: it is reported as the last word below 4 GiB. */
	a.off[9] = 0x40000000u;
	access_run(fx, &a);
	check_local_fault(fx, PUMICE_FAULT_USC_LOCAL_BOUNDS, 0xfffffffcull + 3 * 4);
	a.insn = load;
	a.off[9] = UINT32_MAX;
	access_run(fx, &a);
	check_local_fault(fx, PUMICE_FAULT_USC_LOCAL_BOUNDS, 0xfffffffcull + 3 * 4);
}

static void usc_word_addresses_of_local_memory_do_not_wrap(void **state)
{
	(void)state;
	at_each_level(check_word_addresses);
}

static void check_local_order(struct fixture *fx)
{
	struct access a = { .insn = LOCAL_STORE(32) };
	const u32 *local = (const u32 *)(const void *)fx->usc->local;

	for (u32 l = 0; l < PUMICE_LANES; l++) {
		a.off[l] = l / 8 * 4;
		a.data[0][l] = 500 + l;
	}
	access_run(fx, &a);
	for (u32 n = 0; n < 4; n++)
		assert_int_equal(local[n], 500 + n * 8 + 7);
	/* Two runs that overlap: lanes 16 and up to the same words as lanes 0 to 15. */
	for (u32 l = 0; l < PUMICE_LANES; l++)
		a.off[l] = l % 16 * 4;
	access_run(fx, &a);
	for (u32 n = 0; n < 16; n++)
		assert_int_equal(local[n], 500 + 16 + n);
}

static void usc_highest_lane_wins_if_lanes_store_to_one_word(void **state)
{
	(void)state;
	at_each_level(check_local_order);
}

/* Two groups in sequence in the same local memory and registers. */
static void usc_group_starts_with_zero_in_temporaries_and_local_memory(void **state)
{
	struct fixture *fx = fx_create(DATA_BYTES);
	u32 code[2 * PUMICE_USC_WORDS];
	struct usc_program *program;

	(void)state;
	memset(fx->usc->local, 0xaa, 4096);
	memset(fx->usc->unified, 0xaa, 64 * 128);
	usc_put(code, 0, INSN(LOCAL_LOAD32, .dst = R(1), .mask = ALWAYS, .src0 = R(0)));
	usc_put(code, 1, INSN(END));
	program = fx_program(fx, code, 2, &one_wave.limits);
	fx_fill(fx, 0, &one_wave, program);
	usc_group_start(fx->usc, 0);
	fx_run(fx, 100);
	assert_int_equal(fx->faults, 0);
	for (u32 n = 0; n < 4 * PUMICE_LANES; n++)
		assert_int_equal(fx->usc->unified[n], 0);
	for (u32 n = 0; n < SMALL_LOCAL; n++)
		assert_int_equal(fx->usc->local[n], 0);
	assert_int_equal(fx->usc->local[SMALL_LOCAL], 0xaa);
	fx_put(fx, program);
	fx_destroy(fx);
}

static void check_stores(const struct usc *usc, u8 byte)
{
	const u8 *store[] = { (const u8 *)usc->unified, (const u8 *)usc->common, usc->local };
	const u32 bytes[] = { usc->config.unified_bytes, usc->config.common_bytes,
			      usc->config.local_bytes };

	for (u32 s = 0; s < 3; s++) {
		for (u32 n = 0; n < bytes[s]; n++)
			assert_int_equal(store[s][n], byte);
	}
}

static void fill_stores(struct usc *usc)
{
	memset(usc->unified, 0xaa, usc->config.unified_bytes);
	memset(usc->common, 0xaa, usc->config.common_bytes);
	memset(usc->local, 0xaa, usc->config.local_bytes);
}

/* It does after the start of a group, and if only data of a task or outputs of a tile were. */
static void usc_reset_clears_stores_that_were_written(void **state)
{
	struct fixture *fx = fx_create(DATA_BYTES);
	struct usc *usc = fx->usc;
	const struct usc_task task = { .waves = 1, .temps = 1, .attrs = 1, .instances = 1 };

	(void)state;
	check_stores(usc, 0);
	fill_stores(usc);
	usc_group_start(usc, 0);
	usc_reset(usc);
	check_stores(usc, 0);
	fill_stores(usc);
	*usc_attr(usc, &task, 0, 0) = 0xaaaaaaaa;
	usc_reset(usc);
	check_stores(usc, 0);
	fill_stores(usc);
	*usc_shared(usc, &task) = 0xaaaaaaaa;
	usc_reset(usc);
	check_stores(usc, 0);
	fill_stores(usc);
	*usc_outputs_unified(usc, 0) = 0xaaaaaaaa;
	usc_reset(usc);
	check_stores(usc, 0);
	fill_stores(usc);
	*usc_outputs_common(usc, 0) = 0xaaaaaaaa;
	usc_reset(usc);
	check_stores(usc, 0);
	fx_destroy(fx);
}

/* Before the first program, and after a reset: their pages remain untouched. */
static void usc_reset_leaves_stores_that_were_not_written(void **state)
{
	struct fixture *fx = fx_create(DATA_BYTES);
	struct usc *usc = fx->usc;

	(void)state;
	fill_stores(usc);
	usc_reset(usc);
	check_stores(usc, 0xaa);
	usc_group_start(usc, 0);
	usc_reset(usc);
	check_stores(usc, 0);
	fill_stores(usc);
	usc_reset(usc);
	check_stores(usc, 0xaa);
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usc_global_memory_supports_every_pattern_of_lanes),
		cmocka_unit_test(usc_global_address_is_the_64_bit_sum_and_below_1_tib),
		cmocka_unit_test(usc_global_fault_is_that_of_the_lowest_lane),
		cmocka_unit_test(usc_lanes_outside_the_mask_neither_access_nor_fault),
		cmocka_unit_test(usc_store_to_a_read_only_page_faults_as_a_write),
		cmocka_unit_test(usc_load_may_overwrite_its_offsets),
		cmocka_unit_test(usc_local_memory_ends_where_the_allocation_ends),
		cmocka_unit_test(usc_word_addresses_of_local_memory_do_not_wrap),
		cmocka_unit_test(usc_highest_lane_wins_if_lanes_store_to_one_word),
		cmocka_unit_test(usc_group_starts_with_zero_in_temporaries_and_local_memory),
		cmocka_unit_test(usc_reset_clears_stores_that_were_written),
		cmocka_unit_test(usc_reset_leaves_stores_that_were_not_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
