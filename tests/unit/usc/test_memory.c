// SPDX-License-Identifier: MIT
/*
 * Local and global memory of the USC: addresses, faults and what they report,
 * the order of lanes.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "exec.h"
#include "rig.h"

#define DATA_BYTES 0x8000u
#define LOCAL_BYTES 256u

/* Registers: V0 offsets, V1 data; shared 0 and 1 the base address; R0 result. */
static const struct rig_group one_wave = {
	.tasks = 1,
	.instances = { PUMICE_LANES },
	.limits = { .temps = 4, .attrs = 2, .shared = 2 },
	.local_bytes = LOCAL_BYTES,
};

/* One access and what there was before; offsets and data per lane. */
struct access {
	struct pumice_usc_insn insn;
	u64 base;
	u32 off[PUMICE_LANES], data[PUMICE_LANES];
	u32 result[PUMICE_LANES];	/* R0 behind it */
};

/* Run access behind a mov of 0x5eed to R0; results in a->result, rig->faults, rig->fault. */
static void run_access(struct rig *rig, struct access *a)
{
	u32 code[4 * PUMICE_USC_WORDS];
	struct usc_program *program;
	struct usc_task *task;
	u32 *shared;

	usc_put(code, 0, INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = IMM, .imm = 0x5eed));
	usc_put(code, 1, a->insn);
	usc_put(code, 2, INSN(SIG_WAIT, .dst = R_ELEM(1)));
	usc_put(code, 3, INSN(END));
	program = rig_program(rig, code, 4, &one_wave.limits);
	assert_non_null(program);
	rig_clear(rig);
	rig_fill(rig, 0, &one_wave, program);
	task = usc_task(rig->usc, 0);
	shared = usc_shared(rig->usc, task);
	shared[0] = (u32)a->base;
	shared[1] = (u32)(a->base >> 32);
	memcpy(usc_attr(rig->usc, task, 0, 0), a->off, sizeof(a->off));
	memcpy(usc_attr(rig->usc, task, 0, 1), a->data, sizeof(a->data));
	usc_group_start(rig->usc, 0);
	rig_run(rig, 1000);
	assert_int_equal(rig->done[0], 1);
	memcpy(a->result, rig->usc->unified + usc_wave_regs(task, 0), sizeof(a->result));
	rig_put(rig, program);
}

#define LOAD INSN(GLOBAL_LOAD32, .dst = R(0), .mask = ALWAYS, .src2 = SH(0), .src0 = V(0))
#define STORE INSN(GLOBAL_STORE32, .mask = ALWAYS, .src2 = SH(0), .src0 = V(0), .src1 = V(1))
#define LOCAL_LOAD INSN(LOCAL_LOAD32, .dst = R(0), .mask = ALWAYS, .src0 = V(0))
#define LOCAL_STORE INSN(LOCAL_STORE32, .mask = ALWAYS, .src0 = V(0), .src1 = V(1))

static u32 *data_words(struct rig *rig)
{
	return (u32 *)(void *)rig->data;
}

/* Word n of the data holds n; lane l's offset is 4 l. */
static void plain(struct rig *rig, struct access *a)
{
	for (u32 n = 0; n < DATA_BYTES / 4; n++)
		data_words(rig)[n] = n;
	a->base = RIG_DATA;
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		a->off[l] = l * 4;
		a->data[l] = 1000 + l;
	}
}

/* A test for each vector level of this host. */
static void at_each_level(void (*test)(struct rig *rig))
{
	for (enum usc_level level = USC_LEVEL_BASE; level < USC_LEVELS; level++) {
		struct rig *rig;

		if (!usc_level_usable(level))
			continue;
		usc_level_choose(level);
		rig = rig_create(DATA_BYTES);
		test(rig);
		rig_destroy(rig);
	}
}

/* The fault of an access: nothing but this group's, told once, wholly. */
static void check_fault(const struct rig *rig, enum pumice_fault fault, enum pumice_access access,
			u64 addr)
{
	assert_int_equal(rig->faults, 1);
	assert_int_equal(rig->fault.fault, fault);
	assert_int_equal(rig->fault.unit, PUMICE_UNIT_USC_DATA);
	assert_int_equal(rig->fault.access, access);
	assert_int_equal(rig->fault.ctx, RIG_CTX);
	assert_int_equal(rig->fault.usc, RIG_NUMBER);
	assert_int_equal(rig->fault.pc, 1);
	assert_true(rig->fault.addr == addr);
}

static void check_patterns(struct rig *rig)
{
	static const struct { u32 stride, group, jump, start; } patterns[] = {
		{ 4, 32, 0, 0 },	/* side by side */
		{ 4, 32, 0, 4060 },	/* over the end of a page */
		{ 0, 32, 0, 64 },	/* all the same word */
		{ 4, 8, 2048, 40 },	/* rows of 8 */
		{ 8, 32, 0, 4 },	/* every other word */
		{ 4, 31, 8192, 12 },	/* the last lane alone */
		{ 4, 1, 516, 4 },	/* none beside another */
	};

	for (u32 p = 0; p < sizeof(patterns) / sizeof(patterns[0]); p++) {
		struct access a = { .insn = LOAD };

		plain(rig, &a);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			a.off[l] = patterns[p].start + l % patterns[p].group * patterns[p].stride +
				   l / patterns[p].group * patterns[p].jump;
		run_access(rig, &a);
		assert_int_equal(rig->faults, 0);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			assert_int_equal(a.result[l], a.off[l] / 4);
		a.insn = STORE;
		run_access(rig, &a);
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			u32 last = patterns[p].stride ? l : PUMICE_LANES - 1;

			assert_int_equal(data_words(rig)[a.off[l] / 4], 1000 + last);
		}
	}
}

static void usc_global_memory_takes_every_pattern_of_lanes(void **state)
{
	(void)state;
	at_each_level(check_patterns);
}

/* base + offset wraps at 2^64: offset 0xfffff000 and base RIG_DATA - 0xfffff000. */
static void check_wrap(struct rig *rig)
{
	struct access a = { .insn = LOAD };

	plain(rig, &a);
	a.base = RIG_DATA - 0xfffff000ull;
	for (u32 l = 0; l < PUMICE_LANES; l++)
		a.off[l] += 0xfffff000u;
	run_access(rig, &a);
	assert_int_equal(rig->faults, 0);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(a.result[l], l);
	/*
	 * Lane 31's offset is that of lane 0 less 4, modulo 2^32; its address is
	 * 2^32 higher, not in lane 0's page.
	 */
	a.base = RIG_DATA + 8;
	for (u32 l = 0; l < PUMICE_LANES; l++)
		a.off[l] = l * 4;
	a.off[31] = 0xfffffffcu;
	run_access(rig, &a);
	check_fault(rig, PUMICE_FAULT_MMU_PC_INVALID, PUMICE_ACCESS_READ,
		    RIG_DATA + 8 + 0xfffffffcull);
	/* The other way round: lane 1's address is 2^32 lower than lane 0's page seems to say. */
	plain(rig, &a);
	a.base = RIG_DATA + 64 - 0xfffffffcull;
	a.off[0] = 0xfffffffcu;
	run_access(rig, &a);
	check_fault(rig, PUMICE_FAULT_MMU_ADDRESS, PUMICE_ACCESS_READ, a.base + 4);
	/* Beyond 1 TiB. */
	plain(rig, &a);
	a.base = (1ull << 40) - 64;
	for (u32 l = 0; l < 16; l++)
		a.off[l] = 64;
	run_access(rig, &a);
	check_fault(rig, PUMICE_FAULT_MMU_ADDRESS, PUMICE_ACCESS_READ, 1ull << 40);
}

static void usc_global_address_is_the_64_bit_sum_and_below_1_tib(void **state)
{
	(void)state;
	at_each_level(check_wrap);
}

static void check_lowest_lane(struct rig *rig)
{
	struct access a = { .insn = STORE };

	/* Lane 20 is misaligned, lane 9 unmapped, lane 25 unmapped elsewhere. */
	plain(rig, &a);
	a.off[20] = 2;
	a.off[9] = DATA_BYTES + 36;
	a.off[25] = DATA_BYTES + 0x3000;
	run_access(rig, &a);
	check_fault(rig, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_ACCESS_WRITE, RIG_DATA + a.off[9]);
	/* Of the lanes above nothing was stored but what shares a page with those below. */
	a.off[9] = 36;
	run_access(rig, &a);
	check_fault(rig, PUMICE_FAULT_USC_GLOBAL_ALIGN, PUMICE_ACCESS_READ, RIG_CODE + 16);
	for (u32 l = 21; l < PUMICE_LANES; l++)
		assert_int_equal(data_words(rig)[l], l);
}

static void usc_global_fault_is_that_of_the_lowest_lane(void **state)
{
	(void)state;
	at_each_level(check_lowest_lane);
}

static void check_masked_lanes(struct rig *rig)
{
	struct access a = { .insn = LOAD };

	plain(rig, &a);
	for (u32 l = 16; l < PUMICE_LANES; l++)
		a.off[l] = 0x7fffff01;
	a.insn.mask = (u16)IF(MASK_K(LO16));
	run_access(rig, &a);
	assert_int_equal(rig->faults, 0);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(a.result[l], l < 16 ? l : 0x5eed);
}

static void usc_lanes_outside_the_mask_neither_access_nor_fault(void **state)
{
	(void)state;
	at_each_level(check_masked_lanes);
}

/* Load, then store: the translation is in the TLB, and not good for the store. */
static void usc_store_to_a_read_only_page_faults_as_a_write(void **state)
{
	const u64 va = RIG_DATA + 0x100000;
	struct rig *rig = rig_create(DATA_BYTES);
	u32 *page = testmem_map(rig->mem, RIG_CTX, va, 4096, PUMICE_PAGE_SIZE_4K, TESTMEM_RO);
	struct usc_program *program;
	u32 code[3 * PUMICE_USC_WORDS], *shared;

	(void)state;
	page[0] = 77;
	usc_put(code, 0, LOAD);
	usc_put(code, 1, STORE);
	usc_put(code, 2, INSN(END));
	program = rig_program(rig, code, 3, &one_wave.limits);
	rig_fill(rig, 0, &one_wave, program);
	shared = usc_shared(rig->usc, usc_task(rig->usc, 0));
	shared[0] = (u32)va;
	shared[1] = (u32)(va >> 32);
	usc_group_start(rig->usc, 0);
	rig_run(rig, 100);
	check_fault(rig, PUMICE_FAULT_MMU_READ_ONLY, PUMICE_ACCESS_WRITE, va);
	assert_int_equal(rig->usc->unified[0], 77);
	assert_int_equal(page[0], 77);
	rig_put(rig, program);
	rig_destroy(rig);
}

/* A load whose destination is its own row of offsets. */
static void check_own_offsets(struct rig *rig)
{
	for (u32 n = 0; n < 2; n++) {
		struct access a = { .insn = n ? LOCAL_LOAD : LOAD };
		struct usc_task *task = usc_task(rig->usc, 0);

		plain(rig, &a);
		a.insn.dst = V(0);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			a.off[l] = (31 - l) % 13 * 16;
		run_access(rig, &a);
		assert_int_equal(rig->faults, 0);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			assert_int_equal(usc_attr(rig->usc, task, 0, 0)[l], n ? 0 : a.off[l] / 4);
	}
}

static void usc_load_may_overwrite_its_offsets(void **state)
{
	(void)state;
	at_each_level(check_own_offsets);
}

static void check_local_bounds(struct rig *rig)
{
	struct access a = { .insn = LOCAL_LOAD };

	/* The very last word. */
	for (u32 l = 0; l < PUMICE_LANES; l++)
		a.off[l] = LOCAL_BYTES - 4 - 4 * (l % 2);
	run_access(rig, &a);
	assert_int_equal(rig->faults, 0);
	assert_int_equal(a.result[0], 0);
	/* Side by side, the last one beyond. */
	for (u32 l = 0; l < PUMICE_LANES; l++)
		a.off[l] = LOCAL_BYTES - 31 * 4 + l * 4;
	run_access(rig, &a);
	check_fault(rig, PUMICE_FAULT_USC_LOCAL_BOUNDS, PUMICE_ACCESS_READ, RIG_CODE + 16);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		a.off[l] = LOCAL_BYTES - 4 - 4 * (l % 2);
	/* One lane beyond, with a displacement. */
	a.off[7] = LOCAL_BYTES - 8;
	a.insn.disp = 4;
	for (u32 l = 0; l < PUMICE_LANES; l++)
		a.off[l] -= 4;
	a.off[7] += 8;
	run_access(rig, &a);
	check_fault(rig, PUMICE_FAULT_USC_LOCAL_BOUNDS, PUMICE_ACCESS_READ, RIG_CODE + 16);
	/* Offset and displacement do not wrap. */
	a.off[7] = 0xfffffffcu;
	run_access(rig, &a);
	check_fault(rig, PUMICE_FAULT_USC_LOCAL_BOUNDS, PUMICE_ACCESS_READ, RIG_CODE + 16);
	/* The lower of two faults. */
	a.off[3] = 2;
	run_access(rig, &a);
	check_fault(rig, PUMICE_FAULT_USC_LOCAL_ALIGN, PUMICE_ACCESS_READ, RIG_CODE + 16);
	a.insn = LOCAL_STORE;
	run_access(rig, &a);
	check_fault(rig, PUMICE_FAULT_USC_LOCAL_ALIGN, PUMICE_ACCESS_READ, RIG_CODE + 16);
	a.off[3] = LOCAL_BYTES;
	run_access(rig, &a);
	check_fault(rig, PUMICE_FAULT_USC_LOCAL_BOUNDS, PUMICE_ACCESS_READ, RIG_CODE + 16);
	/* A displacement larger than the memory. */
	a.insn.disp = LOCAL_BYTES;
	memset(a.off, 0, sizeof(a.off));
	run_access(rig, &a);
	check_fault(rig, PUMICE_FAULT_USC_LOCAL_BOUNDS, PUMICE_ACCESS_READ, RIG_CODE + 16);
}

static void usc_local_memory_ends_where_the_allocation_ends(void **state)
{
	(void)state;
	at_each_level(check_local_bounds);
}

static void check_local_order(struct rig *rig)
{
	struct access a = { .insn = LOCAL_STORE };
	const u32 *local = (const u32 *)(const void *)rig->usc->local;

	for (u32 l = 0; l < PUMICE_LANES; l++) {
		a.off[l] = l / 8 * 4;
		a.data[l] = 500 + l;
	}
	run_access(rig, &a);
	for (u32 n = 0; n < 4; n++)
		assert_int_equal(local[n], 500 + n * 8 + 7);
	/* Two runs that overlap: lanes 16 and up to the same words as lanes 0 to 15. */
	for (u32 l = 0; l < PUMICE_LANES; l++)
		a.off[l] = l % 16 * 4;
	run_access(rig, &a);
	for (u32 n = 0; n < 16; n++)
		assert_int_equal(local[n], 500 + 16 + n);
}

static void usc_highest_lane_wins_where_lanes_store_to_one_word(void **state)
{
	(void)state;
	at_each_level(check_local_order);
}

/* Two groups one after the other in the same local memory and registers. */
static void usc_group_starts_with_zero_in_temporaries_and_local_memory(void **state)
{
	struct rig *rig = rig_create(DATA_BYTES);
	u32 code[2 * PUMICE_USC_WORDS];
	struct usc_program *program;

	(void)state;
	memset(rig->usc->local, 0xaa, 4096);
	memset(rig->usc->unified, 0xaa, 64 * 128);
	usc_put(code, 0, INSN(LOCAL_LOAD32, .dst = R(1), .mask = ALWAYS, .src0 = R(0)));
	usc_put(code, 1, INSN(END));
	program = rig_program(rig, code, 2, &one_wave.limits);
	rig_fill(rig, 0, &one_wave, program);
	usc_group_start(rig->usc, 0);
	rig_run(rig, 100);
	assert_int_equal(rig->faults, 0);
	for (u32 n = 0; n < 4 * PUMICE_LANES; n++)
		assert_int_equal(rig->usc->unified[n], 0);
	for (u32 n = 0; n < LOCAL_BYTES; n++)
		assert_int_equal(rig->usc->local[n], 0);
	assert_int_equal(rig->usc->local[LOCAL_BYTES], 0xaa);
	rig_put(rig, program);
	rig_destroy(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usc_global_memory_takes_every_pattern_of_lanes),
		cmocka_unit_test(usc_global_address_is_the_64_bit_sum_and_below_1_tib),
		cmocka_unit_test(usc_global_fault_is_that_of_the_lowest_lane),
		cmocka_unit_test(usc_lanes_outside_the_mask_neither_access_nor_fault),
		cmocka_unit_test(usc_store_to_a_read_only_page_faults_as_a_write),
		cmocka_unit_test(usc_load_may_overwrite_its_offsets),
		cmocka_unit_test(usc_local_memory_ends_where_the_allocation_ends),
		cmocka_unit_test(usc_highest_lane_wins_where_lanes_store_to_one_word),
		cmocka_unit_test(usc_group_starts_with_zero_in_temporaries_and_local_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
