// SPDX-License-Identifier: MIT
/*
 * PTLA: copies and fills, the stream, faults in the middle, aborts, and two units at
 * once.
 */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#include "perf.h"

static void random_data(struct fixture *fx)
{
	u32 *words = (u32 *)(void *)fx->data;

	for (u32 n = 0; n < BYTES / 4; n++)
		words[n] = rand_u32(&fx->seed);
}

/* Places and sizes of every alignment, ranges that overlap in both directions. */
static void copies_are_memmove(void **state)
{
	u8 *expected = malloc(BYTES);
	struct fixture fx;

	(void)state;
	assert_non_null(expected);
	fx_setup(&fx);
	random_data(&fx);
	memcpy(expected, fx.data, BYTES);
	for (u32 n = 0; n < 600; n++) {
		u32 most = n % 8 ? 20000 : 700000, bytes = rand_below(&fx.seed, most);
		u32 src = rand_below(&fx.seed, BYTES - most), dst;

		dst = n % 2 ? rand_below(&fx.seed, BYTES - most) :
			      src + rand_below(&fx.seed, 2 * bytes + 1) - bytes;
		if (dst > BYTES - most)
			dst = src;
		fx_copy(&fx, DATA + dst, DATA + src, bytes);
		fx_halt(&fx);
		fx_expect_done(&fx);
		memmove(expected + dst, expected + src, bytes);
		assert_int_equal(ptla_status(fx.ptla)->done, 2);
	}
	assert_memory_equal(fx.data, expected, BYTES);
	fx_teardown(&fx);
	free(expected);
}

/* The second copy finds all its pages in the TLB. */
static void copies_cross_pages_that_are_not_contiguous(void **state)
{
	enum { PAGES = 16 };
	const u64 apart = 0x4000000;
	u8 *page[PAGES];
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	for (u32 n = PAGES; n--;)
		page[n] = testmem_map(fx.tm, CTX, apart + n * 4096, 4096, PUMICE_PAGE_SIZE_4K, 0);
	for (u32 round = 0; round < 2; round++) {
		random_data(&fx);
		fx_copy(&fx, apart, DATA, PAGES * 4096);
		fx_halt(&fx);
		fx_expect_done(&fx);
		for (u32 n = 0; n < PAGES; n++)
			assert_memory_equal(page[n], fx.data + n * 4096, 4096);
	}
	fx_teardown(&fx);
}

/* Map a page that may be written and after it, in the host's memory too, one that may not. */
static u8 *map_two(struct fixture *fx, u64 va, enum pumice_page_size size)
{
	const u64 page = testmem_page_bytes(size), bus = testmem_alloc(fx->tm, 2 * page, page);

	testmem_map_bus(fx->tm, CTX, va, bus, page, size, 0);
	testmem_map_bus(fx->tm, CTX, va + page, bus + page, page, size, TESTMEM_RO);
	return testmem_host(fx->tm, bus);
}

/*
 * The TLB has both pages of each side after the first copy, which reads from those that the second
 * writes to: it does not run on into the one that may not be written.
 */
static void copies_end_at_a_page_that_may_not_be_written(void **state)
{
	static const enum pumice_page_size sizes[] = {
		PUMICE_PAGE_SIZE_4K, PUMICE_PAGE_SIZE_64K, PUMICE_PAGE_SIZE_2M,
	};
	static const u8 zeroes[4096];

	(void)state;
	for (u32 n = 0; n < sizeof(sizes) / sizeof(*sizes); n++) {
		const u64 va = 0x40000000, page = testmem_page_bytes(sizes[n]);
		struct fixture fx;
		u8 *host;

		fx_setup(&fx);
		host = map_two(&fx, va, sizes[n]);
		memset(host, 0, 2 * page);
		atomic_store(&fx.mmu.range_start[0],
			     va | PUMICE_FIELD_PREP(PUMICE_MMU_RANGE_START__SIZE, sizes[n]));
		atomic_store(&fx.mmu.range_end[0], (va + 2 * page - 1) |
						   PUMICE_MMU_RANGE_END__ENABLE__MASK);
		atomic_store(&fx.mmu.page_sizes,
			     PUMICE_FIELD_PREP(PUMICE_MMU_PAGE_SIZES__MODE,
					       PUMICE_MMU_PAGE_SIZES_RANGE));
		fx_copy(&fx, DATA, va + page - 4096, 8192);
		fx_halt(&fx);
		fx_expect_done(&fx);
		random_data(&fx);
		fx_copy(&fx, va + page - 4096, DATA, 8192);
		fx_halt(&fx);
		fx_expect(&fx, PUMICE_FAULT_MMU_READ_ONLY, va + page, "second page");
		assert_memory_equal(host + page - 4096, fx.data, 4096);
		assert_memory_equal(host + page, zeroes, 4096);
		fx_teardown(&fx);
	}
}

static void fills_write_words(void **state)
{
	u32 *expected = malloc(BYTES);
	struct fixture fx;

	(void)state;
	assert_non_null(expected);
	fx_setup(&fx);
	random_data(&fx);
	memcpy(expected, fx.data, BYTES);
	for (u32 n = 0; n < 300; n++) {
		struct pumice_tdm_fill fill = {
			.words = rand_below(&fx.seed, n % 8 ? 5000 : 100000),
			.value = rand_u32(&fx.seed),
		};
		u32 first = rand_below(&fx.seed, BYTES / 4 - 100000);

		fill.dst = DATA + first * 4;
		pumice_tdm_fill_pack(fx_command(&fx, PUMICE_TDM_FILL_WORDS), &fill);
		fx_halt(&fx);
		fx_expect_done(&fx);
		for (u32 w = 0; w < fill.words; w++)
			expected[first + w] = fill.value;
	}
	assert_memory_equal(fx.data, expected, BYTES);
	fx_teardown(&fx);
	free(expected);
}

/* Each command reads the results of earlier ones; links; counters. */
static void commands_run_in_sequence(void **state)
{
	struct pumice_tdm_fill fill = { .dst = DATA, .words = 100000, .value = 0x11111111 };
	const struct pumice_tdm_link link = { .addr = STREAM + 256 * 4 };
	u64 value[PUMICE_PERF_NUMBER] = { 0 };
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	pumice_tdm_fill_pack(fx_command(&fx, PUMICE_TDM_FILL_WORDS), &fill);
	fx_copy(&fx, DATA + 1000000, DATA, 400000);
	pumice_tdm_link_pack(fx_command(&fx, PUMICE_TDM_LINK_WORDS), &link);
	fx.words = 256;
	fill.value = 0x22222222;
	pumice_tdm_fill_pack(fx_command(&fx, PUMICE_TDM_FILL_WORDS), &fill);
	fx_copy(&fx, DATA + 2000000, DATA, 400000);
	fx_halt(&fx);
	fx_expect_done(&fx);
	assert_int_equal(ptla_status(fx.ptla)->done, 6);
	for (u32 n = 0; n < 400000; n++) {
		assert_int_equal(fx.data[1000000 + n], 0x11);
		assert_int_equal(fx.data[2000000 + n], 0x22);
	}
	fx.locked = true;
	ptla_counters_add(fx.ptla, value);
	fx.locked = false;
	assert_int_equal(value[PUMICE_PERF_TDM_BYTES], 4 * 400000);
	assert_int_equal(value[PUMICE_PERF_TDM_BUSY], ptla_status(fx.ptla)->time_end -
						      ptla_status(fx.ptla)->time_start);
	assert_true(fx.wakes[0] && fx.wakes[1]);
	fx_teardown(&fx);
}

static void bad_commands_fault(void **state)
{
	struct fixture fx;
	u32 words[8];

	(void)state;
	fx_setup(&fx);
	fx.stream[0] = 0;
	fx_expect(&fx, PUMICE_FAULT_TDM_COMMAND, STREAM, "type 0");
	fx.stream[0] = 11u << 28;
	fx_expect(&fx, PUMICE_FAULT_TDM_COMMAND, STREAM, "type 11");
	for (u32 bit = 0; bit < 28; bit++) {
		fx_halt(&fx);
		fx.stream[0] |= 1u << bit;
		fx_expect(&fx, PUMICE_FAULT_TDM_RESERVED, STREAM, "HALT");
	}
	fx_copy(&fx, DATA, DATA, 0);
	memcpy(words, fx.stream, sizeof(words));
	for (u32 n = 0; n < 2; n++) {
		memcpy(fx.stream, words, sizeof(words));
		fx.stream[n ? 2 : 4] |= 1u << 8;
		fx_expect(&fx, PUMICE_FAULT_TDM_RESERVED, STREAM, "address of COPY");
	}
	memset(fx.stream, 0, 64);
	fx.stream[0] = (u32)PUMICE_TDM_TYPE_FILL << 28;
	fx.stream[1] = 2;
	fx_expect(&fx, PUMICE_FAULT_TDM_RESERVED, STREAM, "address of FILL");
	fx.stream[0] = (u32)PUMICE_TDM_TYPE_LINK << 28;
	fx_expect(&fx, PUMICE_FAULT_TDM_ALIGN, STREAM, "address of LINK");
	fx.stream[1] = 0;
	fx.stream[2] = 1u << 31;
	fx_expect(&fx, PUMICE_FAULT_TDM_RESERVED, STREAM, "address of LINK");
	fx.stream[2] = 0;
	fx_expect(&fx, PUMICE_FAULT_MMU_PT_INVALID, 0, "LINK to an unmapped address");
	assert_int_equal(fx_fault(&fx)->access, PUMICE_ACCESS_READ);
	/* A command truncated by the end of memory. */
	fx.words = 1023;
	fx.stream[1023] = (u32)PUMICE_TDM_TYPE_COPY << 28;
	{
		const struct pumice_tdm_link link = { .addr = STREAM + 1023 * 4 };

		fx.words = 0;
		pumice_tdm_link_pack(fx.stream, &link);
		testmem_unmap(fx.tm, CTX, STATE, 4096);
		fx_expect(&fx, PUMICE_FAULT_MMU_PT_INVALID, STATE, "half a command");
	}
	fx_teardown(&fx);
}

static void streams_begin_at_words(void **state)
{
	const struct dm_job job = { .ctx = CTX, .stream = STREAM + 2 };
	const struct dm_job no_context = { .ctx = PUMICE_MMU_CONTEXTS, .stream = STREAM };
	static const _Atomic bool stop;
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	fx.locked = true;
	assert_false(ptla_start(fx.ptla, &no_context));
	assert_true(ptla_start(fx.ptla, &job));
	fx.locked = false;
	while (!fx.ends)
		ptla_step(fx.ptla, 0, &stop);
	assert_int_equal(fx.end, DM_FAULT);
	assert_int_equal(fx_fault(&fx)->fault, PUMICE_FAULT_TDM_ALIGN);
	fx_teardown(&fx);
}

/* The first of several faults is reported, and the bytes before it have been written. */
static void faults_within_copies_report_the_address(void **state)
{
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	random_data(&fx);
	/* Pages 100 and 300 of the destination are missing. */
	testmem_unmap(fx.tm, CTX, DATA + 100 * 4096, 4096);
	testmem_unmap(fx.tm, CTX, DATA + 300 * 4096, 4096);
	fx_copy(&fx, DATA, DATA + 512 * 4096, 400 * 4096);
	fx_halt(&fx);
	fx_expect(&fx, PUMICE_FAULT_MMU_PT_INVALID, DATA + 100 * 4096, "destination");
	assert_int_equal(fx_fault(&fx)->access, PUMICE_ACCESS_WRITE);
	assert_memory_equal(fx.data, fx.data + 512 * 4096, 100 * 4096);
	assert_int_equal(ptla_status(fx.ptla)->done, 0);
	fx_copy(&fx, DATA + 512 * 4096, DATA + 90 * 4096 + 5, 100 * 4096);
	fx_halt(&fx);
	fx_expect(&fx, PUMICE_FAULT_MMU_PT_INVALID, DATA + 100 * 4096, "source");
	assert_int_equal(fx_fault(&fx)->access, PUMICE_ACCESS_READ);
	/* Overlapping upwards: from the end on. */
	fx_copy(&fx, DATA + 4096, DATA, 400 * 4096);
	fx_halt(&fx);
	fx_expect(&fx, PUMICE_FAULT_MMU_PT_INVALID, DATA + 300 * 4096, "from the end");
	{
		const struct pumice_tdm_fill fill = { .dst = DATA + 299 * 4096, .words = 9999999 };

		pumice_tdm_fill_pack(fx_command(&fx, PUMICE_TDM_FILL_WORDS), &fill);
		fx_expect(&fx, PUMICE_FAULT_MMU_PT_INVALID, DATA + 300 * 4096, "fill");
	}
	fx_copy(&fx, (1ull << 40) - 4096, DATA, 8192);
	fx_run(&fx);
	assert_int_equal(fx.end, DM_FAULT);
	fx_teardown(&fx);
}

/* A stream that never ends is stopped by an abort; every step returns. */
static void aborts_stop_endless_streams(void **state)
{
	const struct pumice_tdm_link link = { .addr = STREAM };
	static const _Atomic bool stop;
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	fx_copy(&fx, DATA, DATA + 3000000, 1000000);
	pumice_tdm_link_pack(fx_command(&fx, PUMICE_TDM_LINK_WORDS), &link);
	fx_start(&fx);
	for (u32 n = 0; n < 1000; n++)
		ptla_step(fx.ptla, n % 2, &stop);
	assert_int_equal(fx.ends, 0);
	fx.locked = true;
	ptla_abort(fx.ptla);
	ptla_abort(fx.ptla);
	fx.locked = false;
	while (ptla_step(fx.ptla, 0, &stop))
		;
	assert_int_equal(fx.ends, 1);
	assert_int_equal(fx.end, DM_ABORTED);
	assert_false(ptla_status(fx.ptla)->busy);
	/* An abort while idle has no effect; the next job runs. */
	fx.locked = true;
	ptla_abort(fx.ptla);
	fx.locked = false;
	fx.words = 0;
	fx_halt(&fx);
	fx_expect_done(&fx);
	/* A reset during a job leaves no state. */
	fx_copy(&fx, DATA, DATA + 3000000, 1000000);
	pumice_tdm_link_pack(fx_command(&fx, PUMICE_TDM_LINK_WORDS), &link);
	fx_start(&fx);
	ptla_step(fx.ptla, 0, &stop);
	ptla_reset(fx.ptla);
	assert_false(ptla_status(fx.ptla)->busy);
	assert_false(ptla_step(fx.ptla, 0, &stop));
	assert_int_equal(fx.ends, 0);
	fx_teardown(&fx);
}

/* A page that was read and is unmapped faults after a reset, also without an invalidation. */
static void a_reset_drops_both_levels_of_the_tlbs(void **state)
{
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	for (u32 n = 0; n < 3; n++) {
		fx_copy(&fx, DATA, DATA + BYTES / 2, 4096);
		fx_halt(&fx);
		if (n < 2) {
			fx_expect_done(&fx);
			testmem_unmap(fx.tm, CTX, DATA + BYTES / 2, 4096);
		} else {
			ptla_reset(fx.ptla);
			fx_expect(&fx, PUMICE_FAULT_MMU_PT_INVALID, DATA + BYTES / 2, "reset");
		}
	}
	fx_teardown(&fx);
}

/* A step that is requested to stop does one piece. */
static void steps_are_bounded(void **state)
{
	static const _Atomic bool stop = true;
	struct fixture fx;
	u32 steps = 0;

	(void)state;
	fx_setup(&fx);
	fx_copy(&fx, DATA, DATA + 3000000, 1000000);
	fx_halt(&fx);
	fx_start(&fx);
	while (!fx.ends) {
		ptla_step(fx.ptla, 0, &stop);
		steps++;
	}
	/* The command, 16 pieces of 64 KiB, HALT, the end. */
	assert_int_equal(steps, 1 + 16 + 1 + 1);
	fx_teardown(&fx);
}

static void random_structures(struct fixture *fx)
{
	u64 *seed = &fx->seed;

	for (u32 t = 0; t < 8; t++) {
		const struct pumice_texture texture = {
			.addr = DATA + rand_below(seed, 1u << 20) / 16 * 16,
			.format = (u8)rand_below(seed, PUMICE_FORMAT_COUNT),
			.layout = (u8)rand_below(seed, 3), .dim = (u8)rand_below(seed, 7),
			.levels = (u8)(1 + rand_below(seed, 4)),
			.width = (u16)rand_below(seed, 200), .height = (u16)rand_below(seed, 200),
			.depth = (u16)(rand_below(seed, 3) * 5), .swizzle_g = 1,
		};

		fx_texture(fx, t, &texture);
	}
}

/* A command of a type, with mapped addresses and small numbers. */
static u32 random_command(struct fixture *fx, u32 type, u32 *at)
{
	static const u8 words[] = {
		1, PUMICE_TDM_COPY_WORDS, PUMICE_TDM_FILL_WORDS, PUMICE_TDM_BLIT_WORDS,
		PUMICE_TDM_CLEAR_WORDS, PUMICE_TDM_DOWNSCALE_WORDS, PUMICE_TDM_LINK_WORDS,
		PUMICE_TDM_HALT_WORDS, PUMICE_TDM_SCALE_WORDS, PUMICE_TDM_PRESENT_WORDS, 1,
	};
	u64 *seed = &fx->seed;

	at[0] = type << 28;
	at[1] = (u32)(STATE + 32 * rand_below(seed, 8));
	at[2] = at[4] = 0;
	at[3] = (u32)(STATE + 32 * rand_below(seed, 8));
	for (u32 w = 5; w < PUMICE_TDM_BLIT_WORDS; w++)
		at[w] = rand_u32(seed) & (w == 8 ? 0x00010001 : w < 8 ? 0x001f001f : 0);
	if (type == PUMICE_TDM_TYPE_SCALE || type == PUMICE_TDM_TYPE_PRESENT) {
		at[0] |= rand_below(seed, 16) << 9;
		at[8] = rand_u32(seed) & 0x001f001f;
		at[9] = rand_u32(seed) & 0x00010001;
	}
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

static void count_bytes(void *opaque, const struct mmu_request *request)
{
	if (request->unit != PUMICE_UNIT_NONE)	/* else a walk of the MMU */
		*(u64 *)opaque += request->bytes;
}

/* In detailed modes the requests for a piece take longer than the copy: one piece is a step. */
static void steps_are_a_piece_in_detailed_modes(void **state)
{
	static const _Atomic bool stop;
	u64 before, bytes = 0, most = 0;
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	mmu_set_request(&fx.mmu, count_bytes, &bytes);
	fx_copy(&fx, DATA, DATA + 3000000, 1000000);
	fx_halt(&fx);
	fx_start(&fx);
	while (!fx.ends) {
		before = bytes;
		ptla_step(fx.ptla, 0, &stop);
		most = bytes - before > most ? bytes - before : most;
	}
	assert_int_equal(fx.end, DM_DONE);
	assert_true(bytes >= 2 * 1000000);
	/* Both sides of 64 KiB. */
	assert_in_range(most, 65536, 2 * 65536);
	fx_teardown(&fx);
}

/* Random streams and structures: they end, fault or are aborted. */
static void random_streams_do_no_harm(void **state)
{
	static const _Atomic bool stop;
	u32 ends[3] = { 0 };
	struct fixture fx;

	(void)state;
	fx_setup(&fx);
	fx.presents = 255;
	for (u32 n = 0; n < 3000; n++) {
		random_structures(&fx);
		for (u32 w = 0; w < 256; w++)
			fx.stream[w] = rand_u32(&fx.seed) & rand_u32(&fx.seed);
		for (u32 words = 0; words < 100;)
			words += random_command(&fx, 1 + rand_below(&fx.seed, n % 2 ? 10 : 9),
						fx.stream + words);
		for (u32 bits = rand_below(&fx.seed, 3); bits; bits--)
			fx.stream[rand_below(&fx.seed, 100)] ^= 1u << rand_below(&fx.seed, 32);
		fx_start(&fx);
		for (u32 steps = 0; !fx.ends && steps < 200; steps++)
			ptla_step(fx.ptla, steps % 2, &stop);
		fx.locked = true;
		ptla_abort(fx.ptla);
		fx.locked = false;
		while (!fx.ends)
			ptla_step(fx.ptla, 0, &stop);
		ends[fx.end]++;
	}
	assert_true(ends[DM_FAULT] > 100 && ends[DM_DONE] > 100);
	fx_teardown(&fx);
}

/* ------------------------------------------------------------ flushes */

struct flushed {
	struct fixture *fx;
	u32 count;
	struct mmu_cache_op op;		/* the last one */
};

/* The copy before the flush is complete, and the one after it has not begun. */
static void flushed(void *opaque, const struct mmu_cache_op *op)
{
	struct flushed *f = opaque;

	assert_int_equal(f->fx->data[0x10000], 1);
	assert_int_equal(f->fx->data[0x20000], 0);
	f->op = *op;
	f->count++;
}

static void put_flush(struct fixture *fx, u32 word)
{
	*fx_command(fx, PUMICE_TDM_FLUSH_WORDS) = word;
}

static u32 flush_word(u8 scope, bool clean, bool invalidate)
{
	u32 word;

	pumice_tdm_flush_pack(&word, &(struct pumice_tdm_flush){
		.scope = scope, .clean = clean, .invalidate = invalidate });
	return word;
}

static void flushes_run_between_the_copies_around_them(void **state)
{
	u8 scope;

	(void)state;
	for (scope = 0; scope < PUMICE_MEM_SCOPE_COUNT; scope++) {
		struct fixture fx;
		struct flushed f = { .fx = &fx };

		fx_setup(&fx);
		mmu_set_cache_op(&fx.mmu, flushed, &f);
		fx.data[0] = 1;
		fx_copy(&fx, DATA + 0x10000, DATA, 0x8000);
		put_flush(&fx, flush_word(scope, true, scope & 1));
		fx_copy(&fx, DATA + 0x20000, DATA, 0x8000);
		fx_halt(&fx);
		fx_expect_done(&fx);
		assert_int_equal(f.count, 1);
		assert_int_equal(f.op.kind, scope & 1 ? MMU_CACHE_INVALIDATE : MMU_CACHE_CLEAN);
		assert_int_equal(f.op.scope, scope);
		assert_int_equal(f.op.usc, MMU_ALL_USCS);
		assert_int_equal(f.op.ctx, CTX);
		assert_int_equal(fx.data[0x20000], 1);
		fx_teardown(&fx);
	}
}

static void count_flush(void *opaque, const struct mmu_cache_op *op)
{
	(void)op;
	++*(u32 *)opaque;
}

/* The step has the device lock, and an operation may take as long as all lines of the caches. */
static void a_flush_ends_the_step_in_detailed_modes(void **state)
{
	const _Atomic bool stop = false;
	struct fixture fx;
	u32 count = 0, n;

	(void)state;
	fx_setup(&fx);
	mmu_set_cache_op(&fx.mmu, count_flush, &count);
	for (n = 0; n < 8; n++)
		put_flush(&fx, flush_word(0, true, false));
	fx_halt(&fx);
	fx_start(&fx);
	for (n = 1; n <= 8; n++) {
		assert_true(ptla_step(fx.ptla, 0, &stop));
		assert_int_equal(count, n);
	}
	while (!fx.ends)
		ptla_step(fx.ptla, 0, &stop);
	fx_teardown(&fx);
}

/* Scopes beyond the last one, and reserved bits; the next job runs. */
static void bad_flushes_fault(void **state)
{
	struct fixture fx;
	u32 bit;

	(void)state;
	fx_setup(&fx);
	for (bit = 4; bit < 28; bit = bit == 4 ? 7 : bit + 1) {
		put_flush(&fx, flush_word(0, true, false) | 1u << bit);
		fx_expect(&fx, PUMICE_FAULT_TDM_RESERVED, STREAM, "flush");
		put_flush(&fx, flush_word(0, true, false));
		fx_halt(&fx);
		fx_expect_done(&fx);
	}
	fx_teardown(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_are_memmove),
		cmocka_unit_test(copies_cross_pages_that_are_not_contiguous),
		cmocka_unit_test(copies_end_at_a_page_that_may_not_be_written),
		cmocka_unit_test(fills_write_words),
		cmocka_unit_test(commands_run_in_sequence),
		cmocka_unit_test(bad_commands_fault),
		cmocka_unit_test(flushes_run_between_the_copies_around_them),
		cmocka_unit_test(a_flush_ends_the_step_in_detailed_modes),
		cmocka_unit_test(bad_flushes_fault),
		cmocka_unit_test(streams_begin_at_words),
		cmocka_unit_test(faults_within_copies_report_the_address),
		cmocka_unit_test(aborts_stop_endless_streams),
		cmocka_unit_test(a_reset_drops_both_levels_of_the_tlbs),
		cmocka_unit_test(steps_are_bounded),
		cmocka_unit_test(steps_are_a_piece_in_detailed_modes),
		cmocka_unit_test(random_streams_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
