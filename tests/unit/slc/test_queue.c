// SPDX-License-Identifier: MIT
/*
 * Queues of the banks: time of requests, order of completion, bounds, sizes that are refused.
 */
#include "../support/cmocka_all.h"

#include "fixture.h"

/* Return an address of the same bank as 0 and of another line, other for each n. */
static u64 same_bank(const struct fixture *fx, u32 n)
{
	u64 addr = 0;

	while (n) {
		addr += 128;
		n -= slc_bank_of(fx->slc, 1, addr) == slc_bank_of(fx->slc, 1, 0);
	}
	return addr;
}

static void request_takes_a_step_for_each_512_bits(void **state)
{
	static const struct {
		u64 addr;
		u32 bytes;
		enum slc_kind kind;
		u32 steps;
	} cases[] = {
		{ 0, 1, SLC_READ, 1 },
		{ 0, 64, SLC_READ, 1 },
		{ 32, 64, SLC_READ, 2 },
		{ 0, 128, SLC_READ, 2 },
		{ 64, 64, SLC_WRITE, 1 },
		{ 0, 128, SLC_WRITE, 2 },
		{ 8, 8, SLC_ATOMIC, 2 },
		{ 60, 8, SLC_ATOMIC, 4 },
	};
	struct fixture fx;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fixture_create(&fx, &fixture_wide);
		fixture_perform(&fx, 0, 128, SLC_READ, false);
		assert_int_equal(fx.when[0], 1 + 2 + SLC_MISS_STEPS);
		/* A hit, whose first step is the next one. */
		fixture_perform(&fx, cases[i].addr, cases[i].bytes, cases[i].kind, false);
		assert_int_equal(fx.when[1] - fx.when[0], 1 + cases[i].steps);
		assert_int_equal(fixture_sum(&fx, &fixture_wide, steps), 2 + cases[i].steps);
		fixture_destroy(&fx);
	}
}

static void bank_performs_one_request_a_step(void **state)
{
	struct fixture fx;
	u32 i;

	(void)state;
	fixture_create(&fx, &fixture_wide);
	for (i = 0; i < 8; i++)
		fixture_perform(&fx, same_bank(&fx, i), 64, SLC_READ, false);
	for (i = 0; i < 8; i++)
		fixture_submit(&fx, same_bank(&fx, i), 64, SLC_READ, false);
	fixture_finish(&fx);
	for (i = 9; i < 16; i++)
		assert_int_equal(fx.when[i] - fx.when[i - 1], 1);
	assert_int_equal(fixture_sum(&fx, &fixture_wide, hits), 8);
	assert_int_equal(fixture_sum(&fx, &fixture_wide, waited_bank), 7);
	fixture_destroy(&fx);
}

static void banks_perform_requests_in_the_same_step(void **state)
{
	struct fixture fx;
	u32 i;

	(void)state;
	fixture_create(&fx, &fixture_wide);
	for (i = 0; i < 4; i++)
		fixture_submit(&fx, i * 128, 64, SLC_READ, false);
	fixture_finish(&fx);
	for (i = 0; i < 4; i++)
		assert_int_equal(fx.when[i], 1 + 1 + SLC_MISS_STEPS);
	assert_int_equal(fixture_sum(&fx, &fixture_wide, waited_bank), 0);
	fixture_destroy(&fx);
}

static void hits_and_misses_of_other_lines_pass_a_miss(void **state)
{
	struct fixture fx;

	(void)state;
	fixture_create(&fx, &fixture_wide);
	fixture_perform(&fx, same_bank(&fx, 1), 64, SLC_READ, false);
	fixture_submit(&fx, 0, 64, SLC_READ, false);			/* 1 */
	fixture_submit(&fx, 0, 64, SLC_READ, false);			/* 2: of the same line */
	fixture_submit(&fx, same_bank(&fx, 2), 64, SLC_READ, false);	/* 3: a miss */
	fixture_submit(&fx, same_bank(&fx, 1), 64, SLC_READ, false);	/* 4: a hit */
	fixture_finish(&fx);
	assert_int_equal(fx.token[1], 4);
	assert_int_equal(fx.token[2], 1);
	/* Both in the next step: the second miss, and the hit that waited for the first one. */
	assert_int_equal(fx.when[3] - fx.when[2], 1);
	assert_int_equal(fx.when[4] - fx.when[2], 1);
	assert_int_equal(fixture_sum(&fx, &fixture_wide, waited_line), 1);
	fixture_destroy(&fx);
}

static void requests_of_a_line_complete_in_order(void **state)
{
	struct fixture fx;
	u32 i;

	(void)state;
	fixture_create(&fx, &fixture_wide);
	/* The first one misses; reads, writes, atomics and bypasses of any size follow. */
	for (i = 0; i < SLC_QUEUE; i++)
		fixture_submit(&fx, i * 8 % 128, i % 3 ? 8 : 1, (enum slc_kind)(i % 3), i % 5 == 4);
	fixture_finish(&fx);
	for (i = 0; i < SLC_QUEUE; i++)
		assert_int_equal(fx.token[i], i);
	fixture_destroy(&fx);
}

static void the_same_address_of_other_contexts_is_not_ordered(void **state)
{
	struct slc_config config = fixture_wide;
	struct slc_request request = { .bytes = 64 };
	struct fixture fx;
	u32 ctx;

	(void)state;
	config.banks = 1;
	fixture_create(&fx, &config);
	for (ctx = 0; ctx < 4; ctx++) {
		request.ctx = ctx;
		assert_true(slc_submit(fx.slc, &request));
	}
	fixture_finish(&fx);
	assert_int_equal(slc_bank(fx.slc, 0)->waited_line, 0);
	assert_int_equal(slc_bank(fx.slc, 0)->misses, 4);
	assert_int_equal(fx.when[3] - fx.when[0], 3);
	fixture_destroy(&fx);
}

/* A set of one way: the second miss must not replace the line that the first one is filling. */
static void a_line_is_not_replaced_while_it_is_filled(void **state)
{
	const struct slc_config config = {
		.bytes = 128, .banks = 1, .ways = 1, .line_bytes = 128, .segment_bytes = 64,
		.inputs = 1, .clients = 1,
	};
	struct fixture fx;

	(void)state;
	fixture_create(&fx, &config);
	fixture_submit(&fx, 0, 64, SLC_WRITE, false);
	fixture_submit(&fx, 128, 64, SLC_READ, false);
	fixture_step(&fx);
	fixture_step(&fx);
	assert_true(slc_find(fx.slc, 1, 0, NULL));
	fixture_finish(&fx);
	assert_int_equal(fx.when[1] - fx.when[0], 1 + SLC_MISS_STEPS);
	assert_int_equal(slc_bank(fx.slc, 0)->waited_bank, 1);
	assert_int_equal(slc_bank(fx.slc, 0)->evictions, 1);
	assert_int_equal(slc_bank(fx.slc, 0)->written_lines, 1);
	fixture_destroy(&fx);
}

static void full_queue_refuses_until_a_request_is_complete(void **state)
{
	const struct slc_request more = { .addr = 0, .ctx = 1, .bytes = 8 };
	struct fixture fx;
	u32 i;

	(void)state;
	fixture_create(&fx, &fixture_wide);
	for (i = 0; i < SLC_QUEUE; i++)
		fixture_submit(&fx, same_bank(&fx, i), 128, SLC_READ, false);
	assert_false(slc_submit(fx.slc, &more));
	assert_int_equal(slc_pending(fx.slc), SLC_QUEUE);
	/* Other banks have queues of their own. */
	fixture_submit(&fx, 128, 8, SLC_READ, false);
	while (!fx.count) {
		assert_false(slc_submit(fx.slc, &more));
		fixture_step(&fx);
		assert_true(fx.step < SLC_MAX_STEPS);
	}
	/* Only the other one. */
	assert_int_equal(fx.token[0], SLC_QUEUE);
	fixture_step(&fx);
	assert_true(slc_submit(fx.slc, &more));
	fixture_finish(&fx);
	assert_int_equal(fx.count, SLC_QUEUE + 2);
	assert_int_equal(slc_client(fx.slc, 0)->requests, SLC_QUEUE + 2);
	fixture_destroy(&fx);
}

static void reset_drops_requests_lines_and_counters(void **state)
{
	struct fixture fx;

	(void)state;
	fixture_create(&fx, &fixture_wide);
	fixture_perform(&fx, 0, 64, SLC_WRITE, false);
	fixture_submit(&fx, 4096, 64, SLC_READ, false);
	slc_reset(fx.slc);
	assert_int_equal(slc_pending(fx.slc), 0);
	assert_false(slc_find(fx.slc, 1, 0, NULL));
	assert_int_equal(slc_client(fx.slc, 0)->requests, 0);
	assert_int_equal(fixture_sum(&fx, &fixture_wide, requests), 0);
	fixture_perform(&fx, 0, 64, SLC_READ, false);
	assert_int_equal(fx.count, 2);
	fixture_destroy(&fx);
}

static void sizes_that_no_slc_can_have_are_refused(void **state)
{
	static const struct {
		u32 bytes, banks, ways, line_bytes, inputs, clients;
		const char *error;
	} cases[] = {
		{ 0, 4, 16, 128, 1, 1, "bytes of the SLC must be a power of two, at most 64 MiB" },
		{ 3 << 16, 4, 16, 128, 1, 1,
		  "bytes of the SLC must be a power of two, at most 64 MiB" },
		{ 128u << 20, 64, 16, 128, 1, 1,
		  "bytes of the SLC must be a power of two, at most 64 MiB" },
		{ 1 << 16, 0, 16, 128, 1, 1, "banks of the SLC must be a power of two, at most 64" },
		{ 1 << 16, 3, 16, 128, 1, 1, "banks of the SLC must be a power of two, at most 64" },
		{ 1 << 20, 128, 16, 128, 1, 1,
		  "banks of the SLC must be a power of two, at most 64" },
		{ 4, 8, 1, 128, 1, 1, "the SLC must not have more banks than bytes" },
		{ 1 << 16, 4, 16, 128, 0, 1, "the SLC must have 1 to 256 inputs" },
		{ 1 << 16, 4, 16, 128, 257, 1, "the SLC must have 1 to 256 inputs" },
		{ 1 << 16, 4, 16, 128, 1, 0, "the SLC must have 1 to 256 clients" },
		{ 1 << 16, 4, 16, 128, 1, 257, "the SLC must have 1 to 256 clients" },
		{ 1 << 16, 4, 24, 128, 1, 1, "ways of a cache must be a power of two, at most 64" },
		{ 4096, 4, 16, 128, 1, 1, "a cache must not have more ways than lines" },
		{ 1 << 16, 4, 16, 100, 1, 1, "bytes of a line must be a power of two from 16 to 1024" },
	};
	const char *error;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct slc_config config = {
			.bytes = cases[i].bytes, .banks = cases[i].banks, .ways = cases[i].ways,
			.line_bytes = cases[i].line_bytes, .segment_bytes = 64,
			.inputs = cases[i].inputs, .clients = cases[i].clients,
		};

		assert_null(slc_create(&config, &error));
		assert_string_equal(error, cases[i].error);
		assert_string_equal(slc_check(&config), cases[i].error);
	}
	slc_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(request_takes_a_step_for_each_512_bits),
		cmocka_unit_test(bank_performs_one_request_a_step),
		cmocka_unit_test(banks_perform_requests_in_the_same_step),
		cmocka_unit_test(hits_and_misses_of_other_lines_pass_a_miss),
		cmocka_unit_test(requests_of_a_line_complete_in_order),
		cmocka_unit_test(the_same_address_of_other_contexts_is_not_ordered),
		cmocka_unit_test(a_line_is_not_replaced_while_it_is_filled),
		cmocka_unit_test(full_queue_refuses_until_a_request_is_complete),
		cmocka_unit_test(reset_drops_requests_lines_and_counters),
		cmocka_unit_test(sizes_that_no_slc_can_have_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
