/* SPDX-License-Identifier: MIT */
/*
 * Records the requests that units make in detailed modes, with their places.
 *
 *	static struct requests made;
 *
 *	requests_record(&made, &fx.mmu);
 *	... run ...
 *	assert_int_equal(requests_of(&made, PUMICE_MEM_CLIENT_INDEX).bytes, indices * 4);
 *
 * Limits: units run in one thread; places and USCs below 64.
 */
#ifndef PUMICE_TEST_REQUESTS_H
#define PUMICE_TEST_REQUESTS_H

#include "../../../qemu-device/gpu/mmu/mmu.h"
#include "cmocka_all.h"
#include "pumice_format_table.h"

#define REQUESTS_MAX	65536u

struct requests {
	u32 count;
	struct mmu_request request[REQUESTS_MAX];
	void (*at_request)(const struct mmu_request *r);	/* of each, or NULL */
};

/* Requests of a client; bit n of a mask is place or USC n of one of them. */
struct requests_sum {
	u32 requests;
	u64 bytes, places, uscs;
};

static inline u32 requests_client(const struct mmu_request *r)
{
	return r->unit == PUMICE_UNIT_NONE ? PUMICE_MEM_CLIENT_MMU_TABLE :
					     pumice_client_find(r->unit, r->access, r->kind);
}

/* struct mmu: append one. A request without a client fails the test. */
static inline void requests_add(void *opaque, const struct mmu_request *r)
{
	struct requests *made = opaque;

	assert_true(made->count < REQUESTS_MAX);
	assert_true(requests_client(r) < PUMICE_MEM_CLIENT_COUNT);
	assert_true(r->bytes && r->place < 64 && r->usc < 64);
	made->request[made->count++] = *r;
	if (made->at_request)
		made->at_request(r);
}

/* Begin to record, from no requests on. Call requests_end() before the MMU is destroyed. */
static inline void requests_record(struct requests *made, struct mmu *mmu)
{
	made->count = 0;
	made->at_request = NULL;
	mmu_set_request(mmu, requests_add, made);
}

static inline void requests_end(struct mmu *mmu)
{
	mmu_set_request(mmu, NULL, NULL);
}

static inline struct requests_sum requests_of(const struct requests *made,
					      enum pumice_mem_client client)
{
	struct requests_sum sum = { 0 };
	u32 i;

	for (i = 0; i < made->count; i++) {
		const struct mmu_request *r = &made->request[i];

		if (requests_client(r) != client)
			continue;
		sum.requests++;
		sum.bytes += r->bytes;
		sum.places |= 1ull << r->place;
		sum.uscs |= 1ull << r->usc;
	}
	return sum;
}

/*
 * Return how many bytes of memory from va on requests of a client cover; those that two of them
 * cover count once.
 */
static inline u64 requests_cover(const struct requests *made, enum pumice_mem_client client, u64 va,
				 u64 bytes)
{
	u64 at, covered = 0;
	u32 i;

	for (at = va; at < va + bytes; at++) {
		for (i = 0; i < made->count; i++) {
			const struct mmu_request *r = &made->request[i];

			if (at >= r->addr && at - r->addr < r->bytes &&
			    requests_client(r) == client)
				break;
		}
		covered += i < made->count;
	}
	return covered;
}

#endif
