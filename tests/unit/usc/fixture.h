/* SPDX-License-Identifier: MIT */
/*
 * Fixture: one USC with memory and a program cache, in the role of the PDS.
 *
 * Work-groups are described by a struct fx_group, passed to the USC as by the PDS, and run
 * to their end. Calls of the USC to the PDS are recorded.
 */
#ifndef PUMICE_TESTS_USC_FIXTURE_H
#define PUMICE_TESTS_USC_FIXTURE_H

#include "../tag/tag.h"
#include "../tf/tf.h"
#include "enc.h"
#include "testmem.h"
#include "usc.h"

#define FX_CTX		3u
#define FX_CODE	0x10000000ull	/* GPU virtual addresses */
#define FX_CODE_BYTES	0x200000u
#define FX_DATA	0x20000000ull
#define FX_NUMBER	5u		/* the USC's number: the second of core 2 */
#define FX_CORE	2u
#define FX_IN_CORE	1u

/* A work-group to run. */
struct fx_group {
	u32 tasks;
	u32 instances[PUMICE_GROUP_TASKS];
	struct usc_program_limits limits;
	u32 local_bytes;
	u32 first_wave;
	const struct usc_gfx *gfx;	/* of a graphics data master; one task then */
	u32 prims;			/* FRAGMENT: primitives, each with the
					 * coefficients of limits */
};

struct fixture {
	struct testmem *mem;
	struct mmu mmu;
	struct mmu_tlb tlb;
	struct usc_program_cache *cache;
	struct tf tf;
	struct tag *tag;
	struct usc *usc;
	u8 *code;		/* host view of FX_CODE */
	u8 *data;		/* host view of FX_DATA */
	u64 data_bytes;
	enum usc_late_mode late;

	/* Recorded calls of the USC. */
	u32 done[PUMICE_USC_SLOTS];
	u32 reports;			/* calls for groups that are done, */
	u32 left_at_report;		/* the rest of the group's quantum in the last one, */
	u32 restarts;			/* and calls that start the groups again, set by the test */
	u64 done_at_fault;		/* bit n: group n was done before the last fault */
	u32 tasks_done;			/* calls for tasks, */
	u8 task_done[PUMICE_GROUP_TASKS];	/* and which the first ones were */
	bool overwrite;			/* all that such a task had */
	u32 faults;
	struct gpu_fault fault;	/* the last one */

	/* Allocated resources. */
	u32 next_slot, next_row, next_word, next_local;
};

/* data_bytes of data are mapped at FX_DATA with 4 KiB pages. */
struct fixture *fx_create(u64 data_bytes);
/* Create the same with data of loads that arrive late. */
struct fixture *fx_create_late(u64 data_bytes, enum usc_late_mode late);
void fx_destroy(struct fixture *fx);

/* The same for cmocka: *state is a fixture with FX_DATA_BYTES of data. */
#define FX_DATA_BYTES	8192u
int fx_setup(void **state);
int fx_teardown(void **state);
/* A case with a fixture of its own. */
#define FX_TEST(name)	cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)

/* Write a program at FX_CODE and get it; NULL with fx->fault if it is refused. */
struct usc_program *fx_program(struct fixture *fx, const u32 *code, u32 insns,
			       const struct usc_program_limits *limits);
/* Create the same from instructions. */
struct usc_program *fx_program_insns(struct fixture *fx, const struct pumice_usc_insn *insns,
				     u32 count, const struct usc_program_limits *limits);
void fx_put(struct fixture *fx, struct usc_program *program);

/* Reset slots, stores and recorded calls. */
void fx_clear(struct fixture *fx);
/*
 * Fill group number with tasks after existing ones; registers are zero.
 * Set them with usc_shared(), usc_attr(), then call usc_group_start().
 */
void fx_fill(struct fixture *fx, unsigned int number, const struct fx_group *group,
	     struct usc_program *program);
/* Set SH0 and SH1 of the task in a slot to an address. */
void fx_set_base(struct fixture *fx, u32 slot, u64 base);
/* Step until no wave runs, budget instructions at a time. */
void fx_run(struct fixture *fx, u32 budget);
/* Fill, start and run one group from a clear state. */
void fx_run_group(struct fixture *fx, const struct fx_group *group, struct usc_program *program);

#endif
