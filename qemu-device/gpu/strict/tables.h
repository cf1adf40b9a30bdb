/* SPDX-License-Identifier: MIT */
/*
 * Mode strict: memory of translation tables that is used for something else while entries lead to
 * it, as after a page table was freed early.
 *
 * Source: the project's decision; document 000, "Memory Hierarchy", has the tables. Each page table
 * belongs to one entry of a directory. A directory may belong to several catalogues, since a part
 * of an address space can be lent to another one.
 *
 * Limits: the last TABLES_RECORDS tables of which units have used entries are known, and fewer if
 * many have the same hash. A page that became a table after its translation was used is not found,
 * nor a use by one other than the GPU.
 */
#ifndef PUMICE_GPU_STRICT_TABLES_H
#define PUMICE_GPU_STRICT_TABLES_H

#include <stdbool.h>

#include "../mmu/mmu.h"

#define TABLES_RECORDS	4096u

struct tables;

/* A table whose memory has another use. */
struct tables_other {
	bool directory;	/* or a page table */
	u64 va;		/* address from which on it translates, 1 GiB or 2 MiB */
};

/* Create the state of a GPU; NULL when out of memory. Functions accept NULL, for other modes. */
struct tables *tables_create(const struct mmu *mmu);
void tables_destroy(struct tables *tables);
/*
 * A unit has translated an address. Returns whether memory of its tables or its page is that of
 * another table, *other, to which entries lead. Takes a lock, a leaf. Any thread.
 */
bool tables_walked(struct tables *tables, const struct mmu_walked *walked,
		   struct tables_other *other);

#endif
