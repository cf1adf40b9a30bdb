/* SPDX-License-Identifier: MIT */
/*
 * Fixture: one USC with memory and a program cache, in the role of the PDS.
 *
 * Work-groups are described by a struct rig_group, passed to the USC as by the PDS, and run
 * to their end. Calls of the USC to the PDS are recorded.
 */
#ifndef PUMICE_TESTS_USC_RIG_H
#define PUMICE_TESTS_USC_RIG_H

#include "enc.h"
#include "testmem.h"
#include "usc.h"

#define RIG_CTX		3u
#define RIG_CODE	0x10000000ull	/* GPU virtual addresses */
#define RIG_CODE_BYTES	0x200000u
#define RIG_DATA	0x20000000ull
#define RIG_NUMBER	5u		/* the USC's number: the second of core 2 */
#define RIG_CORE	2u

/* A work-group to run. */
struct rig_group {
	u32 tasks;
	u32 instances[PUMICE_GROUP_TASKS];
	struct usc_program_limits limits;
	u32 local_bytes;
	u32 first_wave;
	const struct usc_gfx *gfx;	/* of a graphics data master; one task then */
	u32 prims;			/* FRAGMENT: primitives, each with the coefficients of limits */
};

struct rig {
	struct testmem *mem;
	struct mmu mmu;
	struct mmu_tlb tlb;
	struct usc_program_cache *cache;
	struct usc *usc;
	u8 *code;		/* host view of RIG_CODE */
	u8 *data;		/* host view of RIG_DATA */
	u64 data_bytes;

	/* Recorded calls of the USC. */
	u32 done[PUMICE_USC_SLOTS];
	u32 faults;
	struct gpu_fault fault;	/* the last one */

	/* Allocated resources. */
	u32 next_slot, next_row, next_word, next_local;
};

/* data_bytes of data are mapped at RIG_DATA with 4 KiB pages. */
struct rig *rig_create(u64 data_bytes);
void rig_destroy(struct rig *rig);

/* The same for cmocka: *state is a rig with RIG_DATA_BYTES of data. */
#define RIG_DATA_BYTES	8192u
int rig_setup(void **state);
int rig_teardown(void **state);
/* A case with a fixture of its own. */
#define RIG_TEST(name)	cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

/* Write a program at RIG_CODE and get it; NULL with rig->fault if it is refused. */
struct usc_program *rig_program(struct rig *rig, const u32 *code, u32 insns,
				const struct usc_program_limits *limits);
void rig_put(struct rig *rig, struct usc_program *program);

/* Reset slots, stores and recorded calls. */
void rig_clear(struct rig *rig);
/*
 * Fill group number with tasks after existing ones; registers are zero.
 * Set them with usc_shared(), usc_attr(), then call usc_group_start().
 */
void rig_fill(struct rig *rig, unsigned int number, const struct rig_group *group,
	      struct usc_program *program);
/* Step until no wave runs, budget instructions at a time. */
void rig_run(struct rig *rig, u32 budget);
/* Fill, start and run one group from a clear state. */
void rig_run_group(struct rig *rig, const struct rig_group *group, struct usc_program *program);

#endif
