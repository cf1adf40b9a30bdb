/* SPDX-License-Identifier: MIT */
/*
 * The ranges bound in an address space, as its users requested them, for captures.
 *
 * Asynchronous binds are included from the call on. A bo that is destroyed
 * while it is bound is removed, since its memory can no longer be read.
 */
#ifndef PUMICE_BOUND_H
#define PUMICE_BOUND_H

#include <stdbool.h>

#include "pumice/pumice.h"
#include "pumice_types.h"
#include "ranges.h"

#define BOUND_FORMER	16u	/* ranges remembered after they were unbound */

/* A range and the memory bound there. */
struct bound_range {
	struct range at;	/* the first member */
	const struct pumice_bo *bo;	/* NULL with PUMICE_BIND_NULL */
	u64 bo_offset;
	u32 flags;
};

/* A range that was unbound, for texts about later accesses. */
struct bound_former {
	u64 va, size;	/* 0, 0: none */
	char label[PUMICE_LABEL_BYTES];
	bool internal;	/* the buffer was the library's */
};

/* Not locked. */
struct bound {
	struct ranges ranges;
	struct bound_former former[BOUND_FORMER];	/* where nothing was bound since */
	u32 next_former;
	u32 count;
	bool incomplete;	/* out of memory: a capture would be incomplete */
};

void bound_fini(struct bound *bound);
/* Record an operation that took effect. */
void bound_change(struct bound *bound, const struct pumice_bind *op);
/* Remove the ranges of a bo that is being destroyed. */
void bound_forget(struct bound *bound, const struct pumice_bo *bo);
/* Get the first range, and the one after a range; or NULL. */
struct bound_range *bound_first(struct bound *bound);
struct bound_range *bound_next(struct bound_range *range);
/* Get the used part of a range: the extent of a bo that is bound whole, else the range. */
void bound_used(const struct bound_range *range, u64 *start, u64 *end);
/* Get the distance of an address from start to end: 0 in it, 1 at its end. */
u64 bound_distance(u64 start, u64 end, u64 va);
/* Find the unbound range nearest to an address, up to a page away; the last of several; or NULL. */
const struct bound_former *bound_find_former(const struct bound *bound, u64 va);

#endif
