/* SPDX-License-Identifier: MIT */
/*
 * References to USC programs: one for the launch being dispatched, one for each running
 * group.
 *
 * All groups of a launch run one program. It is fetched once, and released to the cache when
 * the launch is over and its last group is done.
 *
 * Locking: the CDM begins and ends launches, with the device lock; USCs end groups, with no lock
 * or with any. References are atomic. One lock inside, a leaf, guards the list of free entries: it
 * is acquired when a launch begins, and by the last one that drops a reference.
 */
#ifndef PUMICE_GPU_PDS_CODE_H
#define PUMICE_GPU_PDS_CODE_H

#include <pthread.h>

#include "../usc/usc.h"

#define PDS_CODE_NONE 0xffffu

struct pds_code {
	struct usc_program *program;	/* NULL when free */
	/*
	 * Groups that have not ended. Before the end of the launch the groups that it has started
	 * are not added: then the value is 0 minus those that have ended. So a start writes
	 * nothing that other threads write, and no end brings it to 0 before that of the launch.
	 */
	_Atomic u64 refs;
	u16 next;		/* next free one, or PDS_CODE_NONE */
};

struct pds_code_table {
	struct usc_program_cache *cache;
	struct pds_code *code;
	u32 count;
	pthread_mutex_t lock;	/* guards free and next */
	u16 free;		/* first free one, or PDS_CODE_NONE */
};

/* Allocate room for count programs, the maximum. Returns false when out of memory. */
bool pds_code_init(struct pds_code_table *table, struct usc_program_cache *cache, u32 count);
void pds_code_fini(struct pds_code_table *table);
/* Release every program to the cache. No group runs. */
void pds_code_reset(struct pds_code_table *table);

/*
 * A launch begins: store its program, with the caller's reference. The table is never full: see
 * pds_code_init().
 */
u16 pds_code_add(struct pds_code_table *table, struct usc_program *program);
/* The launch ends, which has started this number of groups. */
void pds_code_end_launch(struct pds_code_table *table, u16 code, u64 groups);
/*
 * Groups of the launch end. Their room is released after this, so that the table has an entry for
 * every group that has room.
 */
void pds_code_unref(struct pds_code_table *table, u16 code, u32 groups);

#endif
