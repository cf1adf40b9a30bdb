/* SPDX-License-Identifier: MIT */
/*
 * References to USC programs: one for the launch being dispatched, one for each running
 * group.
 *
 * All groups of a launch run one program. It is fetched once, and released to the cache when
 * the launch is over and its last group is done.
 */
#ifndef PUMICE_GPU_PDS_CODE_H
#define PUMICE_GPU_PDS_CODE_H

#include "../usc/usc.h"

#define PDS_CODE_NONE 0xffffu

struct pds_code {
	struct usc_program *program;	/* NULL when free */
	u32 refs;
	u16 next;		/* next free one, or PDS_CODE_NONE */
};

struct pds_code_table {
	struct usc_program_cache *cache;
	struct pds_code *code;
	u32 count;
	u16 free;		/* first free one, or PDS_CODE_NONE */
};

/* Allocate room for count programs, the maximum. Returns false when out of memory. */
bool pds_code_init(struct pds_code_table *table, struct usc_program_cache *cache, u32 count);
void pds_code_fini(struct pds_code_table *table);
/* Release every program to the cache. */
void pds_code_reset(struct pds_code_table *table);

/* Store a program with the caller's reference. The table is never full: see pds_code_init(). */
u16 pds_code_add(struct pds_code_table *table, struct usc_program *program);
struct usc_program *pds_code_program(const struct pds_code_table *table, u16 code);
void pds_code_ref(struct pds_code_table *table, u16 code);
void pds_code_unref(struct pds_code_table *table, u16 code);

#endif
