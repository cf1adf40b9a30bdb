/* SPDX-License-Identifier: MIT */
/*
 * Fixture of the MMU tests: guest memory, an MMU bound to it, one TLB, and checks
 * of one translation. Each test creates and destroys its own.
 */
#ifndef PUMICE_TEST_MMU_RIG_H
#define PUMICE_TEST_MMU_RIG_H

#include "cmocka_all.h"
#include "testmem.h"

#define CTX 3u	/* an arbitrary context */

struct rig {
	struct testmem *tm;
	struct mmu mmu;
	struct mmu_tlb tlb;
	struct gpu_fault fault;	/* of the last translation */
};

struct rig *rig_create(void);
void rig_destroy(struct rig *rig);

/* Translate; NULL with rig->fault on a fault. */
u8 *rig_translate(struct rig *rig, unsigned int ctx, u64 va, enum pumice_access access);

/* Assert that the translation returns this host pointer. */
#define assert_maps(rig, va, access, expected) \
	assert_ptr_equal(rig_translate(rig, CTX, va, access), expected)

/* Assert that the translation faults, and that the fault describes the request. */
#define assert_faults(rig, va, access, expected) \
	rig_assert_fault(rig, CTX, va, access, expected, __FILE__, __LINE__)
void rig_assert_fault(struct rig *rig, unsigned int ctx, u64 va, enum pumice_access access,
		      enum pumice_fault expected, const char *file, int line);

#endif
