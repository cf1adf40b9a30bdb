// SPDX-License-Identifier: MIT
/*
 * PTLA: copies and fills, the stream, faults in the middle, aborts, and two units at
 * once.
 */
#include "rig.h"

#include <stdlib.h>
#include <string.h>

#include "perf.h"

static void random_data(struct rig *rig)
{
	u32 *words = (u32 *)(void *)rig->data;

	for (u32 n = 0; n < BYTES / 4; n++)
		words[n] = rand_u32(&rig->seed);
}

/* Places and sizes of every alignment, ranges that overlap in both directions. */
static void copies_are_memmove(void **state)
{
	u8 *expected = malloc(BYTES);
	struct rig rig;

	(void)state;
	assert_non_null(expected);
	rig_setup(&rig);
	random_data(&rig);
	memcpy(expected, rig.data, BYTES);
	for (u32 n = 0; n < 600; n++) {
		u32 most = n % 8 ? 20000 : 700000, bytes = rand_below(&rig.seed, most);
		u32 src = rand_below(&rig.seed, BYTES - most), dst;

		dst = n % 2 ? rand_below(&rig.seed, BYTES - most) :
			      src + rand_below(&rig.seed, 2 * bytes + 1) - bytes;
		if (dst > BYTES - most)
			dst = src;
		rig_copy(&rig, DATA + dst, DATA + src, bytes);
		rig_halt(&rig);
		rig_expect_done(&rig);
		memmove(expected + dst, expected + src, bytes);
		assert_int_equal(ptla_status(rig.ptla)->done, 2);
	}
	assert_memory_equal(rig.data, expected, BYTES);
	rig_teardown(&rig);
	free(expected);
}

/* The second copy finds all its pages in the TLB. */
static void copies_cross_pages_that_are_not_contiguous(void **state)
{
	enum { PAGES = 16 };
	const u64 apart = 0x4000000;
	u8 *page[PAGES];
	struct rig rig;

	(void)state;
	rig_setup(&rig);
	for (u32 n = PAGES; n--;)
		page[n] = testmem_map(rig.tm, CTX, apart + n * 4096, 4096, PUMICE_PAGE_SIZE_4K, 0);
	for (u32 round = 0; round < 2; round++) {
		random_data(&rig);
		rig_copy(&rig, apart, DATA, PAGES * 4096);
		rig_halt(&rig);
		rig_expect_done(&rig);
		for (u32 n = 0; n < PAGES; n++)
			assert_memory_equal(page[n], rig.data + n * 4096, 4096);
	}
	rig_teardown(&rig);
}

static void fills_write_words(void **state)
{
	u32 *expected = malloc(BYTES);
	struct rig rig;

	(void)state;
	assert_non_null(expected);
	rig_setup(&rig);
	random_data(&rig);
	memcpy(expected, rig.data, BYTES);
	for (u32 n = 0; n < 300; n++) {
		struct pumice_tdm_fill fill = {
			.words = rand_below(&rig.seed, n % 8 ? 5000 : 100000),
			.value = rand_u32(&rig.seed),
		};
		u32 first = rand_below(&rig.seed, BYTES / 4 - 100000);

		fill.dst = DATA + first * 4;
		pumice_tdm_fill_pack(rig_command(&rig, PUMICE_TDM_FILL_WORDS), &fill);
		rig_halt(&rig);
		rig_expect_done(&rig);
		for (u32 w = 0; w < fill.words; w++)
			expected[first + w] = fill.value;
	}
	assert_memory_equal(rig.data, expected, BYTES);
	rig_teardown(&rig);
	free(expected);
}

/* Each command reads the results of earlier ones; links; counters. */
static void commands_run_in_sequence(void **state)
{
	struct pumice_tdm_fill fill = { .dst = DATA, .words = 100000, .value = 0x11111111 };
	const struct pumice_tdm_link link = { .addr = STREAM + 256 * 4 };
	u64 value[PUMICE_PERF_NUMBER] = { 0 };
	struct rig rig;

	(void)state;
	rig_setup(&rig);
	pumice_tdm_fill_pack(rig_command(&rig, PUMICE_TDM_FILL_WORDS), &fill);
	rig_copy(&rig, DATA + 1000000, DATA, 400000);
	pumice_tdm_link_pack(rig_command(&rig, PUMICE_TDM_LINK_WORDS), &link);
	rig.words = 256;
	fill.value = 0x22222222;
	pumice_tdm_fill_pack(rig_command(&rig, PUMICE_TDM_FILL_WORDS), &fill);
	rig_copy(&rig, DATA + 2000000, DATA, 400000);
	rig_halt(&rig);
	rig_expect_done(&rig);
	assert_int_equal(ptla_status(rig.ptla)->done, 6);
	for (u32 n = 0; n < 400000; n++) {
		assert_int_equal(rig.data[1000000 + n], 0x11);
		assert_int_equal(rig.data[2000000 + n], 0x22);
	}
	rig.locked = true;
	ptla_counters_add(rig.ptla, value);
	rig.locked = false;
	assert_int_equal(value[PUMICE_PERF_TDM_BYTES], 4 * 400000);
	assert_int_equal(value[PUMICE_PERF_TDM_BUSY], ptla_status(rig.ptla)->time_end -
						      ptla_status(rig.ptla)->time_start);
	assert_true(rig.wakes[0] && rig.wakes[1]);
	rig_teardown(&rig);
}

static void bad_commands_fault(void **state)
{
	struct rig rig;
	u32 words[8];

	(void)state;
	rig_setup(&rig);
	rig.stream[0] = 0;
	rig_expect(&rig, PUMICE_FAULT_TDM_COMMAND, STREAM, "type 0");
	rig.stream[0] = 8u << 28;
	rig_expect(&rig, PUMICE_FAULT_TDM_COMMAND, STREAM, "type 8");
	for (u32 bit = 0; bit < 28; bit++) {
		rig_halt(&rig);
		rig.stream[0] |= 1u << bit;
		rig_expect(&rig, PUMICE_FAULT_TDM_RESERVED, STREAM, "HALT");
	}
	rig_copy(&rig, DATA, DATA, 0);
	memcpy(words, rig.stream, sizeof(words));
	for (u32 n = 0; n < 2; n++) {
		memcpy(rig.stream, words, sizeof(words));
		rig.stream[n ? 2 : 4] |= 1u << 8;
		rig_expect(&rig, PUMICE_FAULT_TDM_RESERVED, STREAM, "address of COPY");
	}
	memset(rig.stream, 0, 64);
	rig.stream[0] = (u32)PUMICE_TDM_TYPE_FILL << 28;
	rig.stream[1] = 2;
	rig_expect(&rig, PUMICE_FAULT_TDM_RESERVED, STREAM, "address of FILL");
	rig.stream[0] = (u32)PUMICE_TDM_TYPE_LINK << 28;
	rig_expect(&rig, PUMICE_FAULT_TDM_ALIGN, STREAM, "address of LINK");
	rig.stream[1] = 0;
	rig.stream[2] = 1u << 31;
	rig_expect(&rig, PUMICE_FAULT_TDM_RESERVED, STREAM, "address of LINK");
	rig.stream[2] = 0;
	rig_expect(&rig, PUMICE_FAULT_MMU_PT_INVALID, 0, "LINK to an unmapped address");
	assert_int_equal(rig_fault(&rig)->access, PUMICE_ACCESS_READ);
	/* A command truncated by the end of memory. */
	rig.words = 1023;
	rig.stream[1023] = (u32)PUMICE_TDM_TYPE_COPY << 28;
	{
		const struct pumice_tdm_link link = { .addr = STREAM + 1023 * 4 };

		rig.words = 0;
		pumice_tdm_link_pack(rig.stream, &link);
		testmem_unmap(rig.tm, CTX, STATE, 4096);
		rig_expect(&rig, PUMICE_FAULT_MMU_PT_INVALID, STATE, "half a command");
	}
	rig_teardown(&rig);
}

static void streams_begin_at_words(void **state)
{
	const struct dm_job job = { .ctx = CTX, .stream = STREAM + 2 };
	const struct dm_job nowhere = { .ctx = PUMICE_MMU_CONTEXTS, .stream = STREAM };
	static const _Atomic bool stop;
	struct rig rig;

	(void)state;
	rig_setup(&rig);
	rig.locked = true;
	assert_false(ptla_start(rig.ptla, &nowhere));
	assert_true(ptla_start(rig.ptla, &job));
	rig.locked = false;
	while (!rig.ends)
		ptla_step(rig.ptla, 0, &stop);
	assert_int_equal(rig.end, DM_FAULT);
	assert_int_equal(rig_fault(&rig)->fault, PUMICE_FAULT_TDM_ALIGN);
	rig_teardown(&rig);
}

/* The first of several faults is reported, and the bytes before it have been written. */
static void faults_within_copies_report_the_address(void **state)
{
	struct rig rig;

	(void)state;
	rig_setup(&rig);
	random_data(&rig);
	/* Pages 100 and 300 of the destination are missing. */
	testmem_unmap(rig.tm, CTX, DATA + 100 * 4096, 4096);
	testmem_unmap(rig.tm, CTX, DATA + 300 * 4096, 4096);
	rig_copy(&rig, DATA, DATA + 512 * 4096, 400 * 4096);
	rig_halt(&rig);
	rig_expect(&rig, PUMICE_FAULT_MMU_PT_INVALID, DATA + 100 * 4096, "destination");
	assert_int_equal(rig_fault(&rig)->access, PUMICE_ACCESS_WRITE);
	assert_memory_equal(rig.data, rig.data + 512 * 4096, 100 * 4096);
	assert_int_equal(ptla_status(rig.ptla)->done, 0);
	rig_copy(&rig, DATA + 512 * 4096, DATA + 90 * 4096 + 5, 100 * 4096);
	rig_halt(&rig);
	rig_expect(&rig, PUMICE_FAULT_MMU_PT_INVALID, DATA + 100 * 4096, "source");
	assert_int_equal(rig_fault(&rig)->access, PUMICE_ACCESS_READ);
	/* Overlapping upwards: from the end on. */
	rig_copy(&rig, DATA + 4096, DATA, 400 * 4096);
	rig_halt(&rig);
	rig_expect(&rig, PUMICE_FAULT_MMU_PT_INVALID, DATA + 300 * 4096, "from the end");
	{
		const struct pumice_tdm_fill fill = { .dst = DATA + 299 * 4096, .words = 9999999 };

		pumice_tdm_fill_pack(rig_command(&rig, PUMICE_TDM_FILL_WORDS), &fill);
		rig_expect(&rig, PUMICE_FAULT_MMU_PT_INVALID, DATA + 300 * 4096, "fill");
	}
	rig_copy(&rig, (1ull << 40) - 4096, DATA, 8192);
	rig_run(&rig);
	assert_int_equal(rig.end, DM_FAULT);
	rig_teardown(&rig);
}

/* A stream that never ends is stopped by an abort; every step returns. */
static void aborts_stop_endless_streams(void **state)
{
	const struct pumice_tdm_link link = { .addr = STREAM };
	static const _Atomic bool stop;
	struct rig rig;

	(void)state;
	rig_setup(&rig);
	rig_copy(&rig, DATA, DATA + 3000000, 1000000);
	pumice_tdm_link_pack(rig_command(&rig, PUMICE_TDM_LINK_WORDS), &link);
	rig_start(&rig);
	for (u32 n = 0; n < 1000; n++)
		ptla_step(rig.ptla, n % 2, &stop);
	assert_int_equal(rig.ends, 0);
	rig.locked = true;
	ptla_abort(rig.ptla);
	ptla_abort(rig.ptla);
	rig.locked = false;
	while (ptla_step(rig.ptla, 0, &stop))
		;
	assert_int_equal(rig.ends, 1);
	assert_int_equal(rig.end, DM_ABORTED);
	assert_false(ptla_status(rig.ptla)->busy);
	/* An abort while idle has no effect; the next job runs. */
	rig.locked = true;
	ptla_abort(rig.ptla);
	rig.locked = false;
	rig.words = 0;
	rig_halt(&rig);
	rig_expect_done(&rig);
	/* A reset during a job leaves no state. */
	rig_copy(&rig, DATA, DATA + 3000000, 1000000);
	pumice_tdm_link_pack(rig_command(&rig, PUMICE_TDM_LINK_WORDS), &link);
	rig_start(&rig);
	ptla_step(rig.ptla, 0, &stop);
	ptla_reset(rig.ptla);
	assert_false(ptla_status(rig.ptla)->busy);
	assert_false(ptla_step(rig.ptla, 0, &stop));
	assert_int_equal(rig.ends, 0);
	rig_teardown(&rig);
}

/* A step that is requested to stop does one piece. */
static void steps_are_bounded(void **state)
{
	static const _Atomic bool stop = true;
	struct rig rig;
	u32 steps = 0;

	(void)state;
	rig_setup(&rig);
	rig_copy(&rig, DATA, DATA + 3000000, 1000000);
	rig_halt(&rig);
	rig_start(&rig);
	while (!rig.ends) {
		ptla_step(rig.ptla, 0, &stop);
		steps++;
	}
	/* The command, 16 pieces of 64 KiB, HALT, the end. */
	assert_int_equal(steps, 1 + 16 + 1 + 1);
	rig_teardown(&rig);
}

static void random_structures(struct rig *rig)
{
	u64 *seed = &rig->seed;

	for (u32 t = 0; t < 8; t++) {
		const struct pumice_texture texture = {
			.addr = DATA + rand_below(seed, 1u << 20) / 16 * 16,
			.format = (u8)rand_below(seed, PUMICE_FORMAT_COUNT),
			.layout = (u8)rand_below(seed, 3), .dim = (u8)rand_below(seed, 7),
			.levels = (u8)(1 + rand_below(seed, 4)),
			.width = (u16)rand_below(seed, 200), .height = (u16)rand_below(seed, 200),
			.depth = (u16)(rand_below(seed, 3) * 5), .swizzle_g = 1,
		};

		rig_texture(rig, t, &texture);
	}
}

/* A command of a type, with mapped addresses and small numbers. */
static u32 random_command(struct rig *rig, u32 type, u32 *at)
{
	static const u8 words[] = {
		1, PUMICE_TDM_COPY_WORDS, PUMICE_TDM_FILL_WORDS, PUMICE_TDM_BLIT_WORDS,
		PUMICE_TDM_CLEAR_WORDS, PUMICE_TDM_DOWNSCALE_WORDS, PUMICE_TDM_LINK_WORDS,
		PUMICE_TDM_HALT_WORDS, 1,
	};
	u64 *seed = &rig->seed;

	at[0] = type << 28;
	at[1] = (u32)(STATE + 32 * rand_below(seed, 8));
	at[2] = at[4] = 0;
	at[3] = (u32)(STATE + 32 * rand_below(seed, 8));
	for (u32 w = 5; w < PUMICE_TDM_BLIT_WORDS; w++)
		at[w] = rand_u32(seed) & (w == 8 ? 0x00010001 : w < 8 ? 0x001f001f : 0);
	if (type <= PUMICE_TDM_TYPE_FILL)
		at[1] = (u32)(DATA + rand_below(seed, BYTES) / 4 * 4);
	if (type == PUMICE_TDM_TYPE_COPY)
		at[3] = (u32)(DATA + rand_below(seed, BYTES));
	if (type == PUMICE_TDM_TYPE_CLEAR || type == PUMICE_TDM_TYPE_FILL)
		at[3] = rand_u32(seed) & 0x001f001f;
	if (type == PUMICE_TDM_TYPE_CLEAR) {
		at[4] = 0x00080008;
		at[5] = rand_below(seed, 2);
	}
	if (type == PUMICE_TDM_TYPE_LINK)
		at[1] = (u32)(STREAM + 4 * rand_below(seed, 256));
	return words[type];
}

/* Random streams and structures: they end, fault or are aborted. */
static void random_streams_do_no_harm(void **state)
{
	static const _Atomic bool stop;
	u32 ends[3] = { 0 };
	struct rig rig;

	(void)state;
	rig_setup(&rig);
	for (u32 n = 0; n < 3000; n++) {
		random_structures(&rig);
		for (u32 w = 0; w < 256; w++)
			rig.stream[w] = rand_u32(&rig.seed) & rand_u32(&rig.seed);
		for (u32 words = 0; words < 100;)
			words += random_command(&rig, 1 + rand_below(&rig.seed, n % 2 ? 8 : 7),
						rig.stream + words);
		for (u32 bits = rand_below(&rig.seed, 3); bits; bits--)
			rig.stream[rand_below(&rig.seed, 100)] ^= 1u << rand_below(&rig.seed, 32);
		rig_start(&rig);
		for (u32 steps = 0; !rig.ends && steps < 200; steps++)
			ptla_step(rig.ptla, steps % 2, &stop);
		rig.locked = true;
		ptla_abort(rig.ptla);
		rig.locked = false;
		while (!rig.ends)
			ptla_step(rig.ptla, 0, &stop);
		ends[rig.end]++;
	}
	assert_true(ends[DM_FAULT] > 100 && ends[DM_DONE] > 100);
	rig_teardown(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_are_memmove),
		cmocka_unit_test(copies_cross_pages_that_are_not_contiguous),
		cmocka_unit_test(fills_write_words),
		cmocka_unit_test(commands_run_in_sequence),
		cmocka_unit_test(bad_commands_fault),
		cmocka_unit_test(streams_begin_at_words),
		cmocka_unit_test(faults_within_copies_report_the_address),
		cmocka_unit_test(aborts_stop_endless_streams),
		cmocka_unit_test(steps_are_bounded),
		cmocka_unit_test(random_streams_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
