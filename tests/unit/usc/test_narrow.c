// SPDX-License-Identifier: MIT
/*
 * Loads and stores of 8 and 16 bits: extension, every byte of a word, the ends
 * of pages and of local memory, unchanged adjacent bytes, alignment.
 */
#include "access.h"

#include <string.h>

/* Byte n of the data: both signs, and no two adjacent ones equal. */
static u8 byte_at(u32 n)
{
	return (u8)(n * 151 + n / 256 + 100);
}

static void fill(struct fixture *fx, struct access *a, u32 step)
{
	access_plain(fx, a, step);
	for (u32 n = 0; n < DATA_BYTES; n++)
		fx->data[n] = byte_at(n);
}

static u32 extended(u32 at, u32 bytes, bool sign)
{
	u32 value = byte_at(at) | (bytes == 2 ? (u32)byte_at(at + 1) << 8 : 0);

	if (sign)
		return bytes == 1 ? (u32)(s32)(s8)value : (u32)(s32)(s16)value;
	return value;
}

static void load_pattern(struct fixture *fx, struct access *a, u32 bytes)
{
	for (u32 sign = 0; sign < 2; sign++) {
		a->insn = bytes == 1 ? LOAD(8) : LOAD(16);
		a->insn.type = sign ? I32 : U32;
		access_run(fx, a);
		assert_int_equal(fx->faults, 0);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			assert_int_equal(a->result[0][l], extended(a->off[l], bytes, sign));
	}
}

static void store_pattern(struct fixture *fx, struct access *a, u32 bytes)
{
	static u8 expected[DATA_BYTES];

	memcpy(expected, fx->data, DATA_BYTES);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		a->data[0][l] = 0xdead0000 + l * 0x315;
		for (u32 n = 0; n < bytes; n++)
			expected[a->off[l] + n] = (u8)(a->data[0][l] >> n * 8);
	}
	a->insn = bytes == 1 ? STORE(8) : STORE(16);
	access_run(fx, a);
	assert_int_equal(fx->faults, 0);
	assert_memory_equal(fx->data, expected, DATA_BYTES);
}

static void check_patterns(struct fixture *fx)
{
	for (u32 bytes = 1; bytes <= 2; bytes++) {
		const struct { u32 start, step; } patterns[] = {
			{ 0, bytes }, { bytes, bytes }, { 3 * bytes, bytes },	/* consecutive */
			{ 4096 - 7 * bytes, bytes },		/* across the end of a page */
			{ DATA_BYTES - 32 * bytes, bytes },	/* up to the last byte there is */
			{ 6, 0 },		/* all at one address */
			{ 10, 3 * bytes * 2 },
			{ 4094, 514 },
			{ DATA_BYTES - bytes, (u32)-(int)bytes },	/* backwards */
			{ 8, 4 },
		};

		for (u32 p = 0; p < sizeof(patterns) / sizeof(patterns[0]); p++) {
			struct access a = { 0 };

			fill(fx, &a, 0);
			for (u32 l = 0; l < PUMICE_LANES; l++)
				a.off[l] = patterns[p].start + l * patterns[p].step;
			load_pattern(fx, &a, bytes);
			store_pattern(fx, &a, bytes);
		}
	}
}

static void usc_bytes_and_halves_are_stored_at_their_addresses_only(void **state)
{
	(void)state;
	at_each_level(check_patterns);
}

/* A base that is not a multiple of 4, which is valid for bytes. */
static void check_odd_base(struct fixture *fx)
{
	for (u32 odd = 1; odd < 4; odd++) {
		struct access a = { .insn = LOAD(8) };

		fill(fx, &a, 5);
		a.base += odd;
		access_run(fx, &a);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			assert_int_equal(a.result[0][l], byte_at(odd + l * 5));
		a.insn = LOAD(8, .disp = 3);
		access_run(fx, &a);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			assert_int_equal(a.result[0][l], byte_at(odd + 3 + l * 5));
	}
}

static void usc_bytes_may_be_at_any_address(void **state)
{
	(void)state;
	at_each_level(check_odd_base);
}

static void check_faults(struct fixture *fx)
{
	struct access a = { .insn = STORE(16) };

	fill(fx, &a, 2);
	a.off[11] = 23;
	access_run(fx, &a);
	check_fault(fx, PUMICE_FAULT_USC_GLOBAL_ALIGN, PUMICE_ACCESS_WRITE, FX_DATA + 23);
	for (u32 n = 22; n < 64; n++)
		assert_int_equal(fx->data[n], byte_at(n));
	a.off[11] = DATA_BYTES;
	access_run(fx, &a);
	check_fault(fx, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_ACCESS_WRITE, FX_DATA + DATA_BYTES);
	a.insn = LOAD(8);
	a.off[11] = DATA_BYTES + 1;
	access_run(fx, &a);
	check_fault(fx, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_ACCESS_READ, FX_DATA + DATA_BYTES + 1);
}

static void usc_halves_must_be_2_byte_aligned_and_mapped(void **state)
{
	(void)state;
	at_each_level(check_faults);
}

/* An allocation of 62 bytes: its last half and its last byte, and one beyond each. */
static void check_local_end(struct fixture *fx)
{
	struct access a = { .local_bytes = 62 };

	access_plain(fx, &a, 2);
	a.off[31] = 61;
	a.insn = LOCAL_STORE(8);
	access_run(fx, &a);
	assert_int_equal(fx->faults, 0);
	for (u32 l = 0; l < 31; l++)
		assert_int_equal(fx->usc->local[l * 2], l + 1);
	assert_int_equal(fx->usc->local[61], 32);
	a.insn = LOCAL_STORE(16);
	a.off[31] = 60;
	access_run(fx, &a);
	assert_int_equal(fx->faults, 0);
	a.off[31] = 61;
	access_run(fx, &a);
	check_local_fault(fx, PUMICE_FAULT_USC_LOCAL_ALIGN, 61);
	a.off[31] = 62;
	access_run(fx, &a);
	check_local_fault(fx, PUMICE_FAULT_USC_LOCAL_BOUNDS, 62);
	a.insn = LOCAL_LOAD(8);
	access_run(fx, &a);
	check_local_fault(fx, PUMICE_FAULT_USC_LOCAL_BOUNDS, 62);
}

static void usc_local_bytes_end_where_the_allocation_ends(void **state)
{
	(void)state;
	at_each_level(check_local_end);
}

/* Stored as halves, read as bytes of either sign, scattered and consecutive. */
static void check_local_back(struct fixture *fx)
{
	const struct fx_group group = {
		.tasks = 1, .instances = { 32 }, .local_bytes = 256,
		.limits = { .temps = 8, .attrs = 0, .shared = 0 },
	};
	const struct pumice_usc_insn code[] = {
		INSN(SHL, .dst = R(0), .src0 = K(SID), .src1 = IMM, .imm = 1),
		INSN(MUL, .dst = R(1), .src0 = K(SID), .src1 = IMM, .imm = 0x8311),
		INSN(LOCAL_STORE16, .mask = ALWAYS, .src0 = R(0), .src1 = R(1), .disp = 6),
		INSN(LOCAL_LOAD16, .type = I32, .dst = R(2), .mask = ALWAYS,
		     .src0 = R(0), .disp = 6),
		INSN(LOCAL_LOAD16, .dst = R(3), .mask = ALWAYS, .src0 = R(0), .disp = 6),
		INSN(LOCAL_LOAD8, .type = I32, .dst = R(4), .mask = ALWAYS,
		     .src0 = R(0), .disp = 7),
		INSN(LOCAL_LOAD8, .dst = R(5), .mask = IF(MASK_K(LO16)), .src0 = R(0), .disp = 6),
		INSN(END),
	};
	const u32 *r = fx->usc->unified;
	struct usc_program *program;

	program = fx_program_insns(fx, code, sizeof(code) / sizeof(code[0]), &group.limits);
	assert_non_null(program);
	fx_run_group(fx, &group, program);
	assert_int_equal(fx->faults, 0);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		u32 half = l * 0x8311 & 0xffff;

		assert_int_equal(r[2 * 32 + l], (u32)(s32)(s16)half);
		assert_int_equal(r[3 * 32 + l], half);
		assert_int_equal(r[4 * 32 + l], (u32)(s32)(s8)(half >> 8));
		assert_int_equal(r[5 * 32 + l], l < 16 ? half & 0xff : 0);
	}
	fx_put(fx, program);
}

static void usc_local_halves_are_read_back_as_bytes(void **state)
{
	(void)state;
	at_each_level(check_local_back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usc_bytes_and_halves_are_stored_at_their_addresses_only),
		cmocka_unit_test(usc_bytes_may_be_at_any_address),
		cmocka_unit_test(usc_halves_must_be_2_byte_aligned_and_mapped),
		cmocka_unit_test(usc_local_bytes_end_where_the_allocation_ends),
		cmocka_unit_test(usc_local_halves_are_read_back_as_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
