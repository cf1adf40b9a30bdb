/* SPDX-License-Identifier: MIT */
/*
 * Free ranges of a space of addresses: first fit, lowest
 * address first, merged when they are freed. Not locked.
 */
#ifndef PUMICE_EXTENTS_H
#define PUMICE_EXTENTS_H

#include "pumice_types.h"

struct extent;

struct extents {
	struct extent *first;	/* in order of address */
};

/* Initialise with @start to @start + @size free. Return: 0 or -ENOMEM. */
int extents_init(struct extents *e, u64 start, u64 size);
void extents_fini(struct extents *e);

/* Allocate @size bytes at a multiple of @align, a power of two. Return: 0, -ENOSPC, -ENOMEM. */
int extents_alloc(struct extents *e, u64 size, u64 align, u64 *start);

/*
 * Free a whole allocated range. If memory for the book-keeping cannot be
 * allocated, the range is leaked from the space, without other effects.
 */
void extents_free(struct extents *e, u64 start, u64 size);

#endif
