/* SPDX-License-Identifier: MIT */
/*
 * Free ranges of a space of addresses: first fit, lowest address first, merged
 * when they come back. Not locked.
 */
#ifndef PUMICE_EXTENTS_H
#define PUMICE_EXTENTS_H

#include "pumice_types.h"

struct extent;

struct extents {
	struct extent *first;	/* by rising address */
};

/* All of @start to @start + @size is free. Return: 0 or -ENOMEM. */
int extents_init(struct extents *e, u64 start, u64 size);
void extents_fini(struct extents *e);

/* Take @size bytes at a multiple of @align, a power of two. Return: 0, -ENOSPC, -ENOMEM. */
int extents_take(struct extents *e, u64 size, u64 align, u64 *start);

/*
 * Give back what was taken, whole. When memory for the book-keeping lacks, the
 * range is lost to the space, and nothing else happens.
 */
void extents_give(struct extents *e, u64 start, u64 size);

#endif
