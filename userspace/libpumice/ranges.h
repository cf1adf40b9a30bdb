/* SPDX-License-Identifier: MIT */
/*
 * Ranges of addresses that do not overlap, in order: a tree, so that each function takes as long as
 * its depth. Members of structures with the rest that their owner keeps; not locked.
 */
#ifndef PUMICE_RANGES_H
#define PUMICE_RANGES_H

#include <bsd/sys/tree.h>

#include "pumice_types.h"

struct range {
	RB_ENTRY(range) link;
	u64 va, size;	/* of one in a tree both may change as long as the order does not */
};

RB_HEAD(ranges, range);

/* Add a range that overlaps none. */
void ranges_add(struct ranges *ranges, struct range *range);
void ranges_remove(struct ranges *ranges, struct range *range);
/* Return the first range whose end is after an address, or NULL. */
struct range *ranges_find(struct ranges *ranges, u64 va);
/* Return the first range, and the one after a range; or NULL. */
struct range *ranges_first(struct ranges *ranges);
struct range *ranges_next(struct range *range);

/* Return the address of the first byte after a range. */
static inline u64 range_end(const struct range *range)
{
	return range->va + range->size;
}

#endif
