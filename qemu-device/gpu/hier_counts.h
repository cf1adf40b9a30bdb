/* SPDX-License-Identifier: MIT */
/*
 * Counts of the memory hierarchy as users read them: rows of columns (hw/hier.h), also after the
 * hierarchy has been destroyed.
 *
 * Source: document 000, "Memory Hierarchy".
 *
 * Locking: none; the caller has the device lock. The lock of the hierarchy is a leaf.
 */
#ifndef PUMICE_GPU_HIER_COUNTS_H
#define PUMICE_GPU_HIER_COUNTS_H

#include "hierarchy/hierarchy.h"

/* Copy of the counts of a hierarchy; all zeros: none was destroyed since the last reset. */
struct hier_counts {
	struct hierarchy_client client[PUMICE_MEM_CLIENT_COUNT];
	struct bif_client bus[PUMICE_MEM_CLIENT_COUNT];
	struct hierarchy_level level[PUMICE_CACHE_COUNT];
};

/* Copy all counts of a hierarchy, to which no unit makes requests meanwhile. */
void hier_counts_save(struct hier_counts *counts, struct hierarchy *h);

/*
 * Get the columns of a row, as numbered by HIER_SELECT; 0 for columns and rows that do not exist.
 * h: the hierarchy to read, or NULL for the copy.
 */
void hier_counts_row(const struct hier_counts *saved, struct hierarchy *h, u32 row,
		u64 value[PUMICE_HIER_VALUE_COUNT]);

/*
 * Get a performance counter of the memory hierarchy (hw/perf.h), of any number. False: the number
 * is that of another counter, or of none. h: as in hier_counts_row().
 */
bool hier_counts_perf(const struct hier_counts *saved, struct hierarchy *h, u32 counter,
		      u64 *count);

#endif
