// SPDX-License-Identifier: MIT
/*
 * Accesses of several words per lane: 64 and 128 bits, bursts. Patterns, the winning lane
 * of overlaps, alignment, page ends, faults, and refused encodings.
 */
#include "access.h"

#include <string.h>

/* A method to move words: 2 and 4 have instructions of their own. */
static struct pumice_usc_insn moves(u32 words, bool burst, bool store)
{
	if (words == 2 && !burst)
		return store ? STORE(64) : LOAD(64);
	if (words == 4 && !burst)
		return store ? STORE(128) : LOAD(128);
	return store ? BURST_STORE(words) : BURST_LOAD(words);
}

/* Expected contents of memory: lane by lane, word by word. */
static void store_expected(const struct access *a, u32 words, u32 *expected)
{
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		for (u32 w = 0; w < words; w++)
			expected[a->off[l] / 4 + w] = a->data[w][l];
	}
}

static void check_pattern(struct fixture *fx, struct access *a, u32 words, bool burst)
{
	static u32 expected[DATA_BYTES / 4];

	a->insn = moves(words, burst, false);
	access_run(fx, a);
	assert_int_equal(fx->faults, 0);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		for (u32 w = 0; w < words; w++)
			assert_int_equal(a->result[w][l], a->off[l] / 4 + w);
	}
	memcpy(expected, fx->data, DATA_BYTES);
	store_expected(a, words, expected);
	a->insn = moves(words, burst, true);
	access_run(fx, a);
	assert_int_equal(fx->faults, 0);
	assert_memory_equal(fx->data, expected, DATA_BYTES);
}

/* Every count of words in every pattern. */
static void check_patterns(struct fixture *fx)
{
	for (u32 n = 0; n < 2 * PUMICE_USC_BURST_WORDS; n++) {
		u32 words = n / 2 + 1, step = words * 4;
		const struct { u32 start, step; bool down; } patterns[] = {
			{ 0, step, false },	/* consecutive */
			{ 64, step, true },	/* from the last lane on */
			{ 4096 - 5 * step - 4, step, false },	/* a lane across the end
								 * of a page */
			{ 4096 - 5 * step, step, false },	/* between two lanes */
			{ 0, step + 4, false },	/* gaps */
			{ 100, 4, false },	/* overlapping: the highest lane wins each word */
			{ 4000, 4, true },
			{ 4096 - 8, 0, false },	/* all at one address, across the end of a page */
			{ 12, 660, false },	/* far apart, some across ends */
		};

		for (u32 p = 0; p < sizeof(patterns) / sizeof(patterns[0]); p++) {
			struct access a = { 0 };

			access_plain(fx, &a, 0);
			for (u32 l = 0; l < PUMICE_LANES; l++)
				a.off[l] = patterns[p].start + patterns[p].step *
					   (patterns[p].down ? PUMICE_LANES - 1 - l : l);
			check_pattern(fx, &a, words, n % 2);
		}
	}
}

static void usc_words_of_lanes_are_stored_at_their_addresses_in_every_pattern(void **state)
{
	(void)state;
	at_each_level(check_patterns);
}

/* The same for local memory, which begins as zero and has 64 and 128 bits. */
static void check_local(struct fixture *fx)
{
	static const u32 steps[] = { 0, 4, 8, 12, 16, 20, 64 };

	for (u32 n = 0; n < 2 * sizeof(steps) / sizeof(steps[0]); n++) {
		u32 words = n % 2 ? 4 : 2, expected[LOCAL_BYTES / 4] = { 0 };
		struct access a = { .insn = words == 2 ? LOCAL_STORE(64) : LOCAL_STORE(128) };

		access_plain(fx, &a, steps[n / 2]);
		store_expected(&a, words, expected + 1);
		a.insn.disp = 4;
		access_run(fx, &a);
		assert_int_equal(fx->faults, 0);
		assert_memory_equal(fx->usc->local, expected, LOCAL_BYTES);
	}
}

static void usc_local_words_are_stored_at_their_addresses(void **state)
{
	(void)state;
	at_each_level(check_local);
}

/* Stores, then loads back, in one program: both directions of local memory agree. */
static void check_local_back(struct fixture *fx)
{
	const struct fx_group group = {
		.tasks = 1, .instances = { 32 }, .local_bytes = LOCAL_BYTES,
		.limits = { .temps = 10, .attrs = 0, .shared = 0 },
	};

	for (u32 step = 8; step <= 24; step += 8) {
		const struct pumice_usc_insn code[] = {
			INSN(MUL, .dst = R(0), .src0 = K(SID), .src1 = IMM, .imm = step),
			INSN(ADD, .dst = R(1), .src0 = K(SID), .src1 = IMM, .imm = 100),
			INSN(ADD, .dst = R(2), .src0 = K(SID), .src1 = IMM, .imm = 200),
			INSN(LOCAL_STORE64, .mask = ALWAYS, .src0 = R(0), .src1 = R(1), .disp = 12),
			INSN(LOCAL_LOAD64, .dst = R(3), .mask = ALWAYS, .src0 = R(0), .disp = 12),
			INSN(LOCAL_LOAD128, .dst = R(5), .mask = ALWAYS, .src0 = R(0), .disp = 12),
			INSN(END),
		};
		const u32 *r = fx->usc->unified;
		struct usc_program *program;

		program = fx_program_insns(fx, code, sizeof(code) / sizeof(code[0]), &group.limits);
		assert_non_null(program);
		fx_run_group(fx, &group, program);
		assert_int_equal(fx->faults, 0);
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			assert_int_equal(r[3 * 32 + l], 100 + l);
			assert_int_equal(r[4 * 32 + l], 200 + l);
			assert_int_equal(r[5 * 32 + l], 100 + l);
			assert_int_equal(r[6 * 32 + l], 200 + l);
			/* The next lane's first word where there is no gap. */
			assert_int_equal(r[7 * 32 + l], step == 8 && l < 31 ? 101 + l : 0);
		}
		fx_put(fx, program);
	}
}

static void usc_local_words_are_read_back(void **state)
{
	(void)state;
	at_each_level(check_local_back);
}

/* 4 bytes are enough; 1, 2, 3 are not. The lowest lane decides, and nothing above it was stored. */
static void check_alignment(struct fixture *fx)
{
	for (u32 n = 0; n < 4; n++) {
		u32 words = n < 2 ? 2 : 5;
		bool store = n % 2;

		for (u32 odd = 1; odd < 4; odd++) {
			struct access a = { .insn = moves(words, words == 5, store) };

			access_plain(fx, &a, 20);
			a.off[17] += odd;
			access_run(fx, &a);
			check_fault(fx, words == 5 ? PUMICE_FAULT_USC_BURST_ALIGN :
						     PUMICE_FAULT_USC_GLOBAL_ALIGN,
				    store ? PUMICE_ACCESS_WRITE : PUMICE_ACCESS_READ,
				    FX_DATA + 17 * 20 + odd);
			for (u32 w = 17 * 5; w < 40 * 5; w++)
				assert_int_equal(data_words(fx)[w], w);
		}
	}
}

static void usc_words_and_bursts_must_be_4_byte_aligned(void **state)
{
	(void)state;
	at_each_level(check_alignment);
}

/* The last word of lane 3 is on a missing page, lane 9 begins on one. */
static void check_faults(struct fixture *fx)
{
	for (u32 n = 0; n < 6; n++) {
		static const u32 counts[] = { 2, 4, 16 };
		u32 words = counts[n / 2];
		bool store = n % 2;
		struct access a = { .insn = moves(words, words == 16, store) };

		access_plain(fx, &a, words * 4);
		a.off[3] = DATA_BYTES - (words - 1) * 4;
		a.off[9] = DATA_BYTES + 64;
		access_run(fx, &a);
		check_fault(fx, PUMICE_FAULT_MMU_PT_INVALID,
			    store ? PUMICE_ACCESS_WRITE : PUMICE_ACCESS_READ, FX_DATA + DATA_BYTES);
		/* Lanes 0 to 2 were stored before it, those above were not. */
		for (u32 w = 4 * words; w < 9 * words; w++)
			assert_int_equal(data_words(fx)[w], w);
		/* Without the crossing lane the next one faults. */
		a.off[3] = 3 * words * 4;
		access_run(fx, &a);
		check_fault(fx, PUMICE_FAULT_MMU_PT_INVALID,
			    store ? PUMICE_ACCESS_WRITE : PUMICE_ACCESS_READ,
			    FX_DATA + DATA_BYTES + 64);
		/* Lanes outside of the mask do not fault. */
		a.insn.mask = (u16)IF(MASK_K(CH2));
		a.off[9] = 0;
		a.off[2] = a.off[3] = DATA_BYTES;
		access_run(fx, &a);
		assert_int_equal(fx->faults, 0);
	}
}

static void usc_fault_is_that_of_the_first_word_of_the_lowest_lane(void **state)
{
	(void)state;
	at_each_level(check_faults);
}

static void check_local_faults(struct fixture *fx)
{
	struct access a = { .insn = LOCAL_STORE(128) };

	access_plain(fx, &a, 16);
	a.off[30] = LOCAL_BYTES - 16;	/* just within */
	access_run(fx, &a);
	assert_int_equal(fx->faults, 0);
	a.off[30] += 4;
	access_run(fx, &a);
	check_local_fault(fx, PUMICE_FAULT_USC_LOCAL_BOUNDS, LOCAL_BYTES - 12);
	for (u32 n = 0; n < LOCAL_BYTES; n++)
		assert_int_equal(fx->usc->local[n], 0);
	a.off[29] = 2;
	access_run(fx, &a);
	check_local_fault(fx, PUMICE_FAULT_USC_LOCAL_ALIGN, 2);
	a.insn = LOCAL_LOAD(64);
	access_run(fx, &a);
	check_local_fault(fx, PUMICE_FAULT_USC_LOCAL_ALIGN, 2);
}

static void usc_local_words_end_within_the_allocation(void **state)
{
	(void)state;
	at_each_level(check_local_faults);
}

/* A load to registers that include its offsets. */
static void check_own_offsets(struct fixture *fx)
{
	for (u32 n = 0; n < 3; n++) {
		struct access a = { .insn = BURST_LOAD(8) };
		struct usc_task *task = usc_task(fx->usc, 0);

		access_plain(fx, &a, n == 0 ? 32 : n == 1 ? 36 : 1004);
		a.insn.dst = V(0);
		access_run(fx, &a);
		assert_int_equal(fx->faults, 0);
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			for (u32 w = 0; w < 8; w++)
				assert_int_equal(usc_attr(fx->usc, task, 0, w)[l],
						 a.off[l] / 4 + w);
		}
	}
}

static void usc_burst_may_overwrite_its_offsets(void **state)
{
	(void)state;
	at_each_level(check_own_offsets);
}

/* Inactive lanes of all registers are not changed; partial waves. */
static void check_left_out(struct fixture *fx)
{
	struct access a = { .insn = BURST_LOAD(3), .instances = 30 };

	access_plain(fx, &a, 12);
	a.insn.mask = (u16)IF_NOT(MASK_K(LO16));
	access_run(fx, &a);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		for (u32 w = 0; w < 3; w++)
			assert_int_equal(a.result[w][l], l >= 16 && l < 30 ? l * 3 + w :
							 w ? 0 : BEFORE);
	}
}

static void usc_burst_does_not_change_inactive_lanes(void **state)
{
	(void)state;
	at_each_level(check_left_out);
}

static void refuse(struct fixture *fx, struct pumice_usc_insn insn, enum pumice_fault fault)
{
	struct access a = { .insn = insn };

	memset(&fx->fault, 0, sizeof(fx->fault));
	assert_null(access_program(fx, &a));
	assert_int_equal(fx->fault.fault, fault);
	assert_int_equal(fx->fault.pc, 1);
}

/* Temporaries are R0 to R16, attributes V0 to V16. */
static void usc_bursts_have_1_to_16_words_and_registers_for_them(void **state)
{
	struct fixture *fx = fx_create(DATA_BYTES);
	struct access last = { .insn = BURST_LOAD(16) };
	struct usc_program *program;

	(void)state;
	for (u32 words = 17; words < 32; words++) {
		refuse(fx, BURST_LOAD(words), PUMICE_FAULT_USC_BURST);
		refuse(fx, BURST_STORE(words), PUMICE_FAULT_USC_BURST);
	}
	refuse(fx, BURST_LOAD(0), PUMICE_FAULT_USC_BURST);
	refuse(fx, BURST_STORE(0), PUMICE_FAULT_USC_BURST);
	last.insn.dst = R(1);
	program = access_program(fx, &last);
	assert_non_null(program);
	fx_put(fx, program);
	last.insn.dst = R(2);
	refuse(fx, last.insn, PUMICE_FAULT_USC_REGISTER);
	last.insn = LOAD(128);
	last.insn.dst = R(14);
	refuse(fx, last.insn, PUMICE_FAULT_USC_REGISTER);
	last.insn = STORE(64);
	last.insn.src1 = V(16);
	refuse(fx, last.insn, PUMICE_FAULT_USC_REGISTER);
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usc_words_of_lanes_are_stored_at_their_addresses_in_every_pattern),
		cmocka_unit_test(usc_local_words_are_stored_at_their_addresses),
		cmocka_unit_test(usc_local_words_are_read_back),
		cmocka_unit_test(usc_words_and_bursts_must_be_4_byte_aligned),
		cmocka_unit_test(usc_fault_is_that_of_the_first_word_of_the_lowest_lane),
		cmocka_unit_test(usc_local_words_end_within_the_allocation),
		cmocka_unit_test(usc_burst_may_overwrite_its_offsets),
		cmocka_unit_test(usc_burst_does_not_change_inactive_lanes),
		cmocka_unit_test(usc_bursts_have_1_to_16_words_and_registers_for_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
