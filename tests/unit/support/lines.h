/* SPDX-License-Identifier: MIT */
/* Tests of caches: requests, and the next level, which records those that it gets. */
#ifndef PUMICE_TEST_LINES_H
#define PUMICE_TEST_LINES_H

#include "../../../qemu-device/gpu/cache/level.h"
#include "../../../qemu-device/gpu/mem/request.h"
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

/* Return a request of a USC's client in context 1. */
static inline struct mem_request lines_request(enum pumice_mem_client client, u64 addr, u32 bytes)
{
	return (struct mem_request){
		.client = client, .ctx = 1, .addr = addr, .bytes = bytes,
		.write = client == PUMICE_MEM_CLIENT_USC_STORE,
		.atomic = client == PUMICE_MEM_CLIENT_USC_ATOMIC,
	};
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
