/* SPDX-License-Identifier: MIT */
/*
 * A fake USC, which executes nothing, for tests of the PDS and the CDM.
 *
 * It implements the functions of usc.h that the PDS calls, and accounts for its stores
 * independently, unit by unit: a group that starts with resources of another group, or
 * beyond the end of a store, fails the test. Stores are filled with FAKE_POISON except
 * for words that the PDS wrote.
 *
 * Limits: a group runs until the test finishes it.
 */
#ifndef PUMICE_FAKE_USC_H
#define PUMICE_FAKE_USC_H

#include "../../../qemu-device/gpu/usc/usc.h"

#define FAKE_POISON	0xdbdbdbdbu
#define FAKE_NONE	0xffffu

struct usc_program {
	u64 addr;
	u32 insns;
	u32 refs;
	struct usc_program_limits limits;
};

/* Programs are not shared: each get creates one. */
struct usc_program_cache {
	unsigned int live;	/* programs with references */
	unsigned int gets;	/* programs ever created */
	unsigned int loads;	/* that are under way */
	unsigned int pieces;	/* calls of a load before the one that ends it */
	bool waits;		/* between them it waits for memory */
	const bool *locked;	/* the device lock, which no load may hold, or NULL */
};

struct usc {
	struct usc_config config;
	u32 rows, words, local_words;
	u32 *unified, *common;
	u16 *row_owner, *word_owner, *local_owner;	/* group, or FAKE_NONE */
	u16 slot_owner[PUMICE_USC_SLOTS];
	struct usc_task task[PUMICE_USC_SLOTS];
	struct usc_group group[PUMICE_USC_TASKS];
	u8 ended[PUMICE_USC_TASKS];	/* bit n: task n of the group has ended before it */
	u64 start_order[PUMICE_USC_TASKS];	/* of running groups, over all fake USCs */
	unsigned int running;
	unsigned int started;
	u64 tag_reads[PUMICE_WAVE_MASTER_COUNT];	/* of its texture unit; set by the test */
	bool aborted;		/* usc_abort() or usc_abort_groups() was called */
	u64 aborted_groups;	/* by the latter: bit n is group n */
};

/* End one task of a running group that has others: free its resources and notify the PDS. */
void fake_usc_finish_task(struct usc *usc, unsigned int group, unsigned int task);
/* End a running group: free its resources and notify the PDS. */
void fake_usc_finish(struct usc *usc, unsigned int group);
/* End several at the same time (bit n: group n), with one notification. */
void fake_usc_finish_groups(struct usc *usc, u64 groups);
/* Report a fault of a running group to the PDS; it remains until it is finished. */
void fake_usc_fault(struct usc *usc, unsigned int group, enum pumice_fault reason);
bool fake_usc_running(const struct usc *usc, unsigned int group);
/* The running group that started first on this USC, or FAKE_NONE. */
unsigned int fake_usc_oldest(const struct usc *usc);

/* Registers of an instance of a group, by its linear number. */
u32 fake_usc_shared(struct usc *usc, unsigned int group, u32 instance, u32 reg);
u32 fake_usc_coeff(struct usc *usc, unsigned int group, u32 instance, u32 reg);
u32 fake_usc_coeff_alt(struct usc *usc, unsigned int group, u32 instance, u32 reg);
u32 fake_usc_attr(struct usc *usc, unsigned int group, u32 instance, u32 reg);
/* The same by wave and lane, for lanes without an instance too. */
u32 fake_usc_attr_lane(struct usc *usc, unsigned int group, u32 task, u32 wave, u32 lane, u32 reg);

#endif
