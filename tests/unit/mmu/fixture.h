/* SPDX-License-Identifier: MIT */
/*
 * Fixture of the MMU tests: guest memory, an MMU bound to it, one TLB, and checks
 * of one translation. Each test creates and destroys its own.
 */
#ifndef PUMICE_TEST_MMU_FIXTURE_H
#define PUMICE_TEST_MMU_FIXTURE_H

#include "cmocka_all.h"
#include "testmem.h"

#define CTX 3u	/* an arbitrary context */

struct fixture {
	struct testmem *tm;
	struct mmu mmu;
	struct mmu_tlb tlb;
	struct gpu_fault fault;	/* of the last translation */
};

struct fixture *fx_create(void);
void fx_destroy(struct fixture *fx);

/* Translate; NULL with fx->fault on a fault. */
u8 *fx_translate(struct fixture *fx, unsigned int ctx, u64 va, enum pumice_access access);

/* Assert that the translation returns this host pointer. */
#define assert_maps(fx, va, access, expected) \
	assert_ptr_equal(fx_translate(fx, CTX, va, access), expected)

/* Assert that the translation faults, and that the fault describes the request. */
#define assert_faults(fx, va, access, expected) \
	fx_assert_fault(fx, CTX, va, access, expected, __FILE__, __LINE__)
void fx_assert_fault(struct fixture *fx, unsigned int ctx, u64 va, enum pumice_access access,
		     enum pumice_fault expected, const char *file, int line);

#endif
