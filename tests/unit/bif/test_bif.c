// SPDX-License-Identifier: MIT
/*
 * Bus interface: arbitration, order of returns, bounds, counters.
 */
#include "../support/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "../support/number.h"
#include "bif/bif.h"

#define BIFS		3u
#define REQUESTERS	70u	/* more than fit one word of bits */
#define CLIENTS		4u
#define MAX_RETURNS	1024u

static const struct slc_config slc_config = {
	.bytes = 64 << 10, .banks = 4, .ways = 16, .line_bytes = 128, .segment_bytes = 64,
	.inputs = BIFS, .clients = CLIENTS,
};

struct fixture {
	struct slc *slc;
	struct bif *bif[BIFS];
	u32 bifs;
	/* Returns of all BIFs in order; only the first MAX_RETURNS are recorded. */
	u32 returns;
	u32 requester[MAX_RETURNS];
	u64 token[MAX_RETURNS];
	/* Of each BIF and requester: the number of the next return. */
	u64 next[BIFS][REQUESTERS];
};

/* A BIF with its number; tokens of a requester are consecutive. */
struct port {
	struct fixture *fx;
	u32 number;
};

static struct port ports[BIFS];

static void returned(void *opaque, u32 requester, const struct bif_request *request)
{
	const struct port *port = opaque;
	struct fixture *fx = port->fx;

	if (fx->returns < MAX_RETURNS) {
		fx->requester[fx->returns] = requester;
		fx->token[fx->returns] = request->token;
	}
	fx->returns++;
	assert_int_equal(request->token, fx->next[port->number][requester]);
	fx->next[port->number][requester]++;
}

static void fixture_create(struct fixture *fx, u32 bifs, u32 requesters)
{
	const char *error;
	u32 i;

	memset(fx, 0, sizeof(*fx));
	fx->slc = slc_create(&slc_config, &error);
	assert_non_null(fx->slc);
	fx->bifs = bifs;
	for (i = 0; i < bifs; i++) {
		const struct bif_config config = {
			.requesters = requesters, .clients = CLIENTS, .input = i,
		};

		ports[i] = (struct port){ fx, i };
		fx->bif[i] = bif_create(&config, fx->slc, returned, &ports[i], &error);
		assert_non_null(fx->bif[i]);
		assert_null(error);
	}
}

static void fixture_destroy(struct fixture *fx)
{
	u32 i;

	for (i = 0; i < fx->bifs; i++)
		bif_destroy(fx->bif[i]);
	slc_destroy(fx->slc);
}

/* Request 64 bytes; token: the number of the requester's request. */
static bool read_line(struct fixture *fx, u32 requester, u64 addr, u64 token)
{
	const struct bif_request request = {
		.addr = addr, .ctx = 1, .bytes = 64, .kind = SLC_READ, .token = token,
	};

	return bif_request(fx->bif[0], requester, &request);
}

static void drain(struct fixture *fx)
{
	u64 limit = bif_drain_limit(fx->bif, fx->bifs);
	u32 i;

	assert_true(bif_drain(fx->bif, fx->bifs) <= limit);
	for (i = 0; i < fx->bifs; i++)
		assert_int_equal(bif_pending(fx->bif[i]), 0);
}

/* Load a line, so that the next request of it is a hit. */
static void load(struct fixture *fx, u64 addr)
{
	const struct slc_request request = {
		.addr = addr, .ctx = 1, .bytes = 64, .input = BIFS - 1,
	};

	assert_true(slc_submit(fx->slc, &request));
	while (slc_pending(fx->slc))
		slc_step(fx->slc);
}

static void requesters_are_selected_round_robin(void **state)
{
	static const u32 who[] = { 0, 3, 63, 64, 69 };
	struct fixture fx;
	u32 n, i;

	(void)state;
	fixture_create(&fx, 1, REQUESTERS);
	/* The first one has the most, and entered them first. Lines of one bank, all hits. */
	load(&fx, 0);
	for (n = 0; n < 8; n++)
		assert_true(read_line(&fx, who[0], 0, n));
	for (i = 1; i < 5; i++)
		for (n = 0; n < 4; n++)
			assert_true(read_line(&fx, who[i], 0, n));
	drain(&fx);
	for (n = 0; n < 4; n++) {
		for (i = 0; i < 5; i++) {
			assert_int_equal(fx.requester[5 * n + i], who[i]);
			assert_int_equal(fx.token[5 * n + i], n);
		}
	}
	for (n = 20; n < 24; n++)
		assert_int_equal(fx.requester[n], who[0]);
	fixture_destroy(&fx);
}

/* The arbitration continues after the requester that was selected last. */
static void arbitration_does_not_begin_anew(void **state)
{
	struct fixture fx;
	u32 n;

	(void)state;
	fixture_create(&fx, 1, 3);
	load(&fx, 0);
	for (n = 0; n < 9; n++) {
		/* All three always have requests. */
		while (read_line(&fx, 0, 0, fx.next[0][0] + bif_pending_of(fx.bif[0], 0)))
			;
		while (read_line(&fx, 1, 0, fx.next[0][1] + bif_pending_of(fx.bif[0], 1)))
			;
		while (read_line(&fx, 2, 0, fx.next[0][2] + bif_pending_of(fx.bif[0], 2)))
			;
		bif_step(fx.bif[0]);
		assert_int_equal(slc_pending(fx.slc), 1);
		while (slc_pending(fx.slc))
			slc_step(fx.slc);
		assert_int_equal(fx.requester[n], n % 3);
	}
	fixture_destroy(&fx);
}

static void returns_are_in_order_although_hits_pass_misses(void **state)
{
	struct fixture fx;
	u32 n;

	(void)state;
	fixture_create(&fx, 1, 2);
	load(&fx, 0);
	/* Requester 0: a miss before five hits. Requester 1: a hit, which need not wait. */
	assert_true(read_line(&fx, 0, 4096, 0));
	for (n = 1; n < 6; n++)
		assert_true(read_line(&fx, 0, 0, n));
	assert_true(read_line(&fx, 1, 0, 0));
	drain(&fx);
	assert_int_equal(fx.requester[0], 1);
	for (n = 0; n < 6; n++)
		assert_int_equal(fx.token[n + 1], n);
	assert_int_equal(bif_counters(fx.bif[0])->held, 5);
	assert_int_equal(bif_counters(fx.bif[0])->returns, 7);
	fixture_destroy(&fx);
}

static void full_fifo_refuses_until_the_oldest_returns(void **state)
{
	struct fixture fx;
	u32 n;

	(void)state;
	fixture_create(&fx, 1, 2);
	for (n = 0; n < BIF_FIFO; n++)
		assert_true(read_line(&fx, 1, n * 128, n));
	assert_false(read_line(&fx, 1, 0, n));
	assert_true(read_line(&fx, 0, 0, 0));
	assert_int_equal(bif_pending_of(fx.bif[0], 1), BIF_FIFO);
	assert_int_equal(bif_pending_of(fx.bif[0], 0), 1);
	assert_int_equal(bif_pending(fx.bif[0]), BIF_FIFO + 1);
	for (n = 0; !fx.next[0][1]; n++) {
		assert_true(n < 2 + SLC_MAX_STEPS);
		assert_false(read_line(&fx, 1, 0, BIF_FIFO));
		bif_step(fx.bif[0]);
		slc_step(fx.slc);
	}
	assert_true(read_line(&fx, 1, 0, BIF_FIFO));
	drain(&fx);
	assert_int_equal(bif_counters(fx.bif[0])->refused, 1 + n);
	assert_int_equal(bif_counters(fx.bif[0])->most, BIF_FIFO + 1);
	assert_int_equal(bif_counters(fx.bif[0])->requests, BIF_FIFO + 2);
	fixture_destroy(&fx);
}

/* A requester whose bank has no room does not delay one of another bank. */
static void full_bank_delays_its_requests_only(void **state)
{
	struct slc_request request = { .ctx = 1, .bytes = 128, .input = BIFS - 1 };
	struct fixture fx;
	u32 n;

	(void)state;
	fixture_create(&fx, 1, 2);
	for (n = 0; n < SLC_QUEUE; request.addr += 128) {
		if (slc_bank_of(fx.slc, 1, request.addr) != slc_bank_of(fx.slc, 1, 0))
			continue;
		assert_true(slc_submit(fx.slc, &request));
		n++;
	}
	assert_true(read_line(&fx, 0, 0, 0));
	assert_true(read_line(&fx, 1, 128, 0));
	assert_int_not_equal(slc_bank_of(fx.slc, 1, 0), slc_bank_of(fx.slc, 1, 128));
	bif_step(fx.bif[0]);
	assert_int_equal(slc_pending(fx.slc), SLC_QUEUE + 1);
	assert_int_equal(bif_counters(fx.bif[0])->blocked, 1);
	drain(&fx);
	assert_int_equal(fx.requester[0], 1);
	assert_int_equal(fx.requester[1], 0);
	fixture_destroy(&fx);
}

static void bytes_count_by_client_and_direction(void **state)
{
	static const struct bif_request requests[] = {
		{ .addr = 0, .ctx = 1, .bytes = 64, .client = 0, .kind = SLC_READ },
		{ .addr = 4, .ctx = 1, .bytes = 8, .client = 1, .kind = SLC_WRITE, .token = 1 },
		{ .addr = 4, .ctx = 1, .bytes = 4, .client = 2, .kind = SLC_ATOMIC, .token = 2 },
		{ .addr = 4, .ctx = 1, .bytes = 16, .client = 2, .kind = SLC_WRITE, .bypass = true,
		  .token = 3 },
	};
	static const struct bif_client expected[CLIENTS] = {
		{ 1, 64, 0 }, { 1, 0, 8 }, { 2, 4, 20 }, { 0, 0, 0 },
	};
	struct fixture fx;
	u32 i;

	(void)state;
	fixture_create(&fx, 1, 1);
	for (i = 0; i < 4; i++)
		assert_true(bif_request(fx.bif[0], 0, &requests[i]));
	drain(&fx);
	for (i = 0; i < CLIENTS; i++) {
		assert_memory_equal(bif_client(fx.bif[0], i), &expected[i], sizeof(expected[i]));
		assert_int_equal(slc_client(fx.slc, i)->requests, expected[i].requests);
	}
	assert_int_equal(slc_client(fx.slc, 2)->bypasses, 1);
	assert_int_equal(slc_client(fx.slc, 2)->written_bytes, 64);
	fixture_destroy(&fx);
}

/* The first of the BIFs in a step is another one each time, so that their shares are equal. */
static void bifs_share_a_bank_equally(void **state)
{
	struct fixture fx;
	u32 i, n, step;

	(void)state;
	fixture_create(&fx, BIFS, 4);
	for (i = 0; i < BIFS; i++) {
		for (n = 0; n < 4 * BIF_FIFO; n++) {
			const struct bif_request request = {
				.addr = 0, .ctx = 1, .bytes = 64, .token = n / 4,
			};

			assert_true(bif_request(fx.bif[i], n % 4, &request));
		}
	}
	drain(&fx);
	assert_int_equal(fx.returns, BIFS * 4 * BIF_FIFO);
	/* In the queue of the bank the BIFs alternate, the first one rotates. */
	for (step = 0; step < SLC_QUEUE / BIFS; step++)
		for (i = 0; i < BIFS; i++)
			assert_int_equal(fx.requester[step * BIFS + i], step % 4);
	for (i = 0; i < BIFS; i++) {
		u64 blocked = bif_counters(fx.bif[i])->blocked;

		assert_true(blocked > 0);
		assert_in_range(blocked, bif_counters(fx.bif[0])->blocked * 9 / 10,
				bif_counters(fx.bif[0])->blocked * 11 / 10);
	}
	fixture_destroy(&fx);
}

static void drain_without_requests_takes_no_step(void **state)
{
	struct fixture fx;

	(void)state;
	fixture_create(&fx, 1, 1);
	assert_int_equal(bif_drain_limit(fx.bif, 1), 0);
	assert_int_equal(bif_drain(fx.bif, 1), 0);
	assert_int_equal(bif_drain(fx.bif, 0), 0);
	fixture_destroy(&fx);
}

static void drain_of_one_bif_works_with_requests_of_others(void **state)
{
	const struct bif_request request = { .addr = 0, .ctx = 1, .bytes = 128 };
	struct fixture fx;

	(void)state;
	fixture_create(&fx, 2, 1);
	/* The other BIF's is in the SLC, and its next one in a FIFO. */
	assert_true(bif_request(fx.bif[1], 0, &request));
	bif_step(fx.bif[1]);
	assert_true(bif_request(fx.bif[0], 0, &request));
	assert_true(bif_drain(fx.bif, 1) <= 2 * (1 + SLC_MAX_STEPS));
	assert_int_equal(bif_pending(fx.bif[0]), 0);
	assert_int_equal(bif_pending(fx.bif[1]), 0);
	assert_int_equal(fx.returns, 2);
	fixture_destroy(&fx);
}

/* Slowest requests: atomics of whole lines of one bank, all of them misses. */
static void drain_ends_within_its_limit(void **state)
{
	struct bif_request request = { .ctx = 1, .bytes = 128, .kind = SLC_ATOMIC };
	struct fixture fx;
	u32 i, n, entered = 0;

	(void)state;
	fixture_create(&fx, BIFS, REQUESTERS);
	for (i = 0; i < BIFS; i++) {
		for (n = 0; n < REQUESTERS * BIF_FIFO; request.addr += 128) {
			if (slc_bank_of(fx.slc, 1, request.addr))
				continue;
			request.token = n++ / REQUESTERS;
			assert_true(bif_request(fx.bif[i], entered++ % REQUESTERS, &request));
		}
	}
	drain(&fx);
	assert_int_equal(fx.returns, entered);
	fixture_destroy(&fx);
}

/* Every request returns once and in order, which returned() checks; the counters add up. */
static void random_requests_return_once_and_in_order(void **state)
{
	static u64 entered[BIFS][REQUESTERS];
	u64 random = NUMBER_SEED, requests = 0, bytes = 0, held = 0;
	struct fixture fx;
	u32 i;

	(void)state;
	fixture_create(&fx, BIFS, REQUESTERS);
	while (requests < 200000) {
		u32 bif = number_random(&random, BIFS);
		u32 requester = number_random(&random, number_random(&random, 2) ? REQUESTERS : 3);
		u32 first = number_random(&random, 128);
		struct bif_request request = {
			.addr = number_random(&random, 1500) * 128ull + first,
			.ctx = number_random(&random, 2),
			.bytes = 1 + number_random(&random, 128 - first),
			.client = number_random(&random, CLIENTS),
			.kind = (enum slc_kind)number_random(&random, 3),
			.bypass = !number_random(&random, 5),
			.token = entered[bif][requester],
		};

		if (bif_request(fx.bif[bif], requester, &request)) {
			entered[bif][requester]++;
			bytes += request.bytes * (request.kind == SLC_ATOMIC ? 2u : 1u);
			requests++;
		} else if (number_random(&random, 4)) {
			for (i = 0; i < BIFS; i++)
				bif_step(fx.bif[i]);
			slc_step(fx.slc);
		} else {
			drain(&fx);
		}
	}
	drain(&fx);
	assert_int_equal(fx.returns, requests);
	assert_memory_equal(fx.next, entered, sizeof(entered));
	for (i = 0; i < CLIENTS * BIFS; i++) {
		const struct bif_client *client = bif_client(fx.bif[i / CLIENTS], i % CLIENTS);

		requests -= client->requests;
		bytes -= client->read_bytes + client->written_bytes;
	}
	assert_int_equal(requests, 0);
	assert_int_equal(bytes, 0);
	for (i = 0; i < BIFS; i++) {
		const struct bif_counters *counters = bif_counters(fx.bif[i]);

		assert_int_equal(counters->requests, counters->returns);
		held += counters->held;
	}
	assert_true(held > 1000);
	fixture_destroy(&fx);
}

static void reset_drops_requests_and_counters(void **state)
{
	struct fixture fx;

	(void)state;
	fixture_create(&fx, 1, 2);
	assert_true(read_line(&fx, 0, 0, 0));
	assert_true(read_line(&fx, 1, 0, 0));
	bif_step(fx.bif[0]);
	bif_reset(fx.bif[0]);
	slc_reset(fx.slc);
	assert_int_equal(bif_pending(fx.bif[0]), 0);
	assert_int_equal(bif_counters(fx.bif[0])->requests, 0);
	assert_int_equal(bif_client(fx.bif[0], 0)->requests, 0);
	assert_int_equal(bif_drain(fx.bif, 1), 0);
	assert_true(read_line(&fx, 1, 0, 0));
	drain(&fx);
	assert_int_equal(fx.returns, 1);
	fixture_destroy(&fx);
}

static void sizes_that_no_bif_can_have_are_refused(void **state)
{
	static const struct {
		struct bif_config config;
		const char *error;
	} cases[] = {
		{ { .requesters = 0, .clients = 1 }, "a BIF must have 1 to 1024 requesters" },
		{ { .requesters = 1025, .clients = 1 }, "a BIF must have 1 to 1024 requesters" },
		{ { .requesters = 1, .clients = 0 },
		  "a BIF must have clients, at most those of its SLC" },
		{ { .requesters = 1, .clients = CLIENTS + 1 },
		  "a BIF must have clients, at most those of its SLC" },
		{ { .requesters = 1, .clients = 1, .input = BIFS },
		  "the input of a BIF must be one of its SLC" },
	};
	struct fixture fx;
	const char *error;
	u32 i;

	(void)state;
	fixture_create(&fx, 1, 1);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_null(bif_create(&cases[i].config, fx.slc, NULL, NULL, &error));
		assert_string_equal(error, cases[i].error);
		assert_string_equal(bif_check(&cases[i].config, fx.slc), cases[i].error);
	}
	bif_destroy(NULL);
	fixture_destroy(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requesters_are_selected_round_robin),
		cmocka_unit_test(arbitration_does_not_begin_anew),
		cmocka_unit_test(returns_are_in_order_although_hits_pass_misses),
		cmocka_unit_test(full_fifo_refuses_until_the_oldest_returns),
		cmocka_unit_test(full_bank_delays_its_requests_only),
		cmocka_unit_test(bytes_count_by_client_and_direction),
		cmocka_unit_test(bifs_share_a_bank_equally),
		cmocka_unit_test(drain_without_requests_takes_no_step),
		cmocka_unit_test(drain_of_one_bif_works_with_requests_of_others),
		cmocka_unit_test(drain_ends_within_its_limit),
		cmocka_unit_test(random_requests_return_once_and_in_order),
		cmocka_unit_test(reset_drops_requests_and_counters),
		cmocka_unit_test(sizes_that_no_bif_can_have_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
