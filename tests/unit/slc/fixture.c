// SPDX-License-Identifier: MIT
/* An SLC with one input that records completions. */
#include "fixture.h"

#include <string.h>

#include "../support/cmocka_all.h"

const struct slc_config fixture_wide = {
	.bytes = 256 << 10, .banks = 4, .ways = 16, .line_bytes = 128, .segment_bytes = 64,
	.inputs = 1, .clients = FIXTURE_CLIENTS,
};

const struct slc_config fixture_narrow = {
	.bytes = 256 << 10, .banks = 4, .ways = 16, .line_bytes = 32, .segment_bytes = 32,
	.inputs = 1, .clients = FIXTURE_CLIENTS,
};

static void done(void *opaque, const struct slc_request *request)
{
	struct fixture *fx = opaque;

	if (fx->count < FIXTURE_MAX) {
		fx->token[fx->count] = request->token;
		fx->when[fx->count] = fx->step;
	}
	fx->count++;
}

void fixture_create(struct fixture *fx, const struct slc_config *config)
{
	const char *error;

	memset(fx, 0, sizeof(*fx));
	fx->slc = slc_create(config, &error);
	assert_non_null(fx->slc);
	assert_null(error);
	slc_connect(fx->slc, 0, done, fx);
}

void fixture_destroy(struct fixture *fx)
{
	slc_destroy(fx->slc);
}

void fixture_submit_of(struct fixture *fx, u32 client, u64 addr, u32 bytes, enum slc_kind kind,
		       bool bypass)
{
	const struct slc_request request = {
		.addr = addr, .ctx = 1, .bytes = bytes, .client = client, .kind = kind,
		.token = fx->count + slc_pending(fx->slc), .bypass = bypass,
	};

	assert_true(slc_submit(fx->slc, &request));
}

void fixture_submit(struct fixture *fx, u64 addr, u32 bytes, enum slc_kind kind, bool bypass)
{
	fixture_submit_of(fx, 0, addr, bytes, kind, bypass);
}

void fixture_step(struct fixture *fx)
{
	fx->step++;
	slc_step(fx->slc);
}

void fixture_finish(struct fixture *fx)
{
	u64 limit = fx->step + (u64)slc_pending(fx->slc) * SLC_MAX_STEPS;

	while (slc_pending(fx->slc)) {
		assert_true(fx->step < limit);
		fixture_step(fx);
	}
}

void fixture_perform(struct fixture *fx, u64 addr, u32 bytes, enum slc_kind kind, bool bypass)
{
	fixture_submit(fx, addr, bytes, kind, bypass);
	fixture_finish(fx);
}
