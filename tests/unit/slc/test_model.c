// SPDX-License-Identifier: MIT
/*
 * The SLC against the model of its banks, over random requests: every completion, step and counter.
 */
#include "../support/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "../support/number.h"
#include "bank_model.h"

#define REQUESTS	100000u
#define CLIENTS		5u
#define INPUTS		3u
#define CONTEXTS	3u
#define LATEST		4096u	/* lines with a recorded completion; more than are accessed */

struct record {
	u64 token;
	u32 input;
};

struct fixture {
	const struct slc_config *config;
	struct slc *slc;
	struct bank_model bank[SLC_MAX_BANKS];
	struct slc_client client[CLIENTS];
	u64 random;
	/* Completions of the current step. */
	struct record done[SLC_MAX_BANKS * SLC_QUEUE], expected[SLC_MAX_BANKS * SLC_QUEUE];
	u32 done_count, expected_count;
	u32 complete;
	bool *seen;	/* [REQUESTS] by token */
	u64 latest[CONTEXTS][LATEST];	/* token of the latest completion of a line + 1 */
};

/* Input of an SLC that checks its number. */
struct input {
	struct fixture *fx;
	u32 number;
};

static void complete(void *opaque, const struct slc_request *request)
{
	const struct input *input = opaque;
	struct fixture *fx = input->fx;
	u64 *latest = &fx->latest[request->ctx][request->addr / fx->config->line_bytes];

	assert_int_equal(request->input, input->number);
	fx->done[fx->done_count++] = (struct record){ request->token, input->number };
	/* Once, and after all earlier ones of the line. */
	assert_false(fx->seen[request->token]);
	fx->seen[request->token] = true;
	assert_true(*latest < request->token + 1);
	*latest = request->token + 1;
	fx->complete++;
}

static void expect(void *opaque, const struct slc_request *request)
{
	struct fixture *fx = opaque;

	fx->expected[fx->expected_count++] = (struct record){ request->token, request->input };
}

static void step_both(struct fixture *fx)
{
	u32 bank, pending = 0;

	fx->done_count = 0;
	fx->expected_count = 0;
	slc_step(fx->slc);
	for (bank = 0; bank < fx->config->banks; bank++) {
		bank_model_step(&fx->bank[bank], expect, fx);
		pending += fx->bank[bank].count;
	}
	assert_int_equal(fx->done_count, fx->expected_count);
	for (bank = 0; bank < fx->done_count; bank++) {
		assert_int_equal(fx->done[bank].token, fx->expected[bank].token);
		assert_int_equal(fx->done[bank].input, fx->expected[bank].input);
	}
	assert_int_equal(slc_pending(fx->slc), pending);
}

/* Submit a random request to both. Returns whether there was room. */
static bool submit_both(struct fixture *fx, const struct slc_request *request)
{
	u32 bank = slc_bank_of(fx->slc, request->ctx, request->addr);
	bool room = slc_submit(fx->slc, request);

	assert_int_equal(bank_model_submit(&fx->bank[bank], request), room);
	return room;
}

static struct slc_request random_request(struct fixture *fx, u64 token)
{
	u32 lines = 2 * fx->config->bytes / fx->config->line_bytes, line, first;

	/* Half of the accesses are to few lines. */
	line = number_random(&fx->random, number_random(&fx->random, 2) ? lines : 24);
	first = number_random(&fx->random, fx->config->line_bytes);
	return (struct slc_request){
		.addr = (u64)line * fx->config->line_bytes + first,
		.ctx = number_random(&fx->random, CONTEXTS),
		.bytes = 1 + number_random(&fx->random, fx->config->line_bytes - first),
		.client = number_random(&fx->random, CLIENTS),
		.input = number_random(&fx->random, INPUTS),
		.token = token,
		.kind = (enum slc_kind)number_random(&fx->random, 3),
		.bypass = !number_random(&fx->random, 4),
	};
}

static void assert_counters(const struct fixture *fx)
{
	struct slc_client sum = { .requests = 0 };
	u64 read = 0, written = 0;
	u32 i;

	for (i = 0; i < CLIENTS; i++) {
		const struct slc_client *client = slc_client(fx->slc, i);

		assert_memory_equal(client, &fx->client[i], sizeof(*client));
		assert_int_equal(client->requests,
				 client->hits + client->misses + client->bypasses);
		sum.requests += client->requests;
		sum.read_bytes += client->read_bytes;
		sum.written_bytes += client->written_bytes;
	}
	for (i = 0; i < fx->config->banks; i++) {
		const struct slc_bank *bank = slc_bank(fx->slc, i);

		assert_memory_equal(bank, &fx->bank[i].counters, sizeof(*bank));
		read += bank->read_bytes;
		written += bank->written_bytes;
	}
	assert_int_equal(sum.requests, REQUESTS);
	assert_int_equal(sum.read_bytes, read);
	assert_int_equal(sum.written_bytes, written);
}

static void run(const struct slc_config *config)
{
	struct fixture *fx = calloc(1, sizeof(*fx));
	struct input input[INPUTS];
	const char *error;
	u64 token = 0;
	u32 i, refused = 0;

	assert_non_null(fx);
	fx->config = config;
	fx->slc = slc_create(config, &error);
	fx->seen = calloc(REQUESTS, sizeof(*fx->seen));
	assert_true(fx->slc && fx->seen);
	fx->random = NUMBER_SEED;
	for (i = 0; i < INPUTS; i++) {
		input[i] = (struct input){ fx, i };
		slc_connect(fx->slc, i, complete, &input[i]);
	}
	for (i = 0; i < config->banks; i++)
		bank_model_create(&fx->bank[i], config, fx->client);
	while (token < REQUESTS) {
		/* Bursts, so that queues become full and empty. */
		u32 burst = number_random(&fx->random, 16) ? config->banks / 2 : 24 * config->banks;

		for (i = number_random(&fx->random, burst + 2); i && token < REQUESTS; i--) {
			struct slc_request request = random_request(fx, token);

			if (submit_both(fx, &request))
				token++;
			else
				refused++;
		}
		step_both(fx);
	}
	for (i = 0; slc_pending(fx->slc); i++) {
		assert_true(i < config->banks * SLC_QUEUE * SLC_MAX_STEPS);
		step_both(fx);
	}
	assert_int_equal(fx->complete, REQUESTS);
	assert_true(refused > 100);
	assert_counters(fx);
	for (i = 0; i < config->banks; i++)
		bank_model_destroy(&fx->bank[i]);
	slc_destroy(fx->slc);
	free(fx->seen);
	free(fx);
}

static void four_banks_of_wide_lines_match_a_model(void **state)
{
	(void)state;
	run(&(struct slc_config){ .bytes = 32768, .banks = 4, .ways = 16, .line_bytes = 128,
				  .segment_bytes = 64, .inputs = INPUTS, .clients = CLIENTS });
}

static void four_banks_of_narrow_lines_match_a_model(void **state)
{
	(void)state;
	run(&(struct slc_config){ .bytes = 16384, .banks = 4, .ways = 16, .line_bytes = 32,
				  .segment_bytes = 32, .inputs = INPUTS, .clients = CLIENTS });
}

/* Fewer ways than requests in a queue: fills have to wait for others. */
static void one_bank_of_two_ways_matches_a_model(void **state)
{
	(void)state;
	run(&(struct slc_config){ .bytes = 1024, .banks = 1, .ways = 2, .line_bytes = 128,
				  .segment_bytes = 32, .inputs = INPUTS, .clients = CLIENTS });
}

static void sixteen_banks_of_the_longest_lines_match_a_model(void **state)
{
	(void)state;
	run(&(struct slc_config){ .bytes = 1 << 18, .banks = 16, .ways = 4, .line_bytes = 1024,
				  .segment_bytes = 64, .inputs = INPUTS, .clients = CLIENTS });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(four_banks_of_wide_lines_match_a_model),
		cmocka_unit_test(four_banks_of_narrow_lines_match_a_model),
		cmocka_unit_test(one_bank_of_two_ways_matches_a_model),
		cmocka_unit_test(sixteen_banks_of_the_longest_lines_match_a_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
