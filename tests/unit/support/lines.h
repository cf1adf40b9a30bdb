/* SPDX-License-Identifier: MIT */
/* Tests of caches: the next level, which records its requests. */
#ifndef PUMICE_TEST_LINES_H
#define PUMICE_TEST_LINES_H

#include "../../../qemu-device/gpu/cache/level.h"
#include "cmocka_all.h"

#define LINES_MAX 4096u

struct lines {
	struct level_request request[LINES_MAX];
	u32 count;
};

static inline void lines_take(void *opaque, const struct level_request *request)
{
	struct lines *lines = opaque;

	assert_true(lines->count < LINES_MAX);
	lines->request[lines->count++] = *request;
}

/* Check a recorded request. */
static inline void lines_check(const struct lines *lines, u32 n, enum level_kind kind, u64 addr,
			       u32 bytes)
{
	assert_true(n < lines->count);
	assert_int_equal(lines->request[n].kind, kind);
	assert_int_equal(lines->request[n].addr, addr);
	assert_int_equal(lines->request[n].bytes, bytes);
}

static inline struct level_client lines_of(const struct level *level)
{
	struct level_counters sum = { 0 };

	level_counters_add(level, &sum);
	return sum.all;
}

#endif
