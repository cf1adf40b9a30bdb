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

#include "pumice_types.h"

struct pumice_bind;
struct pumice_bo;

/* A range and the memory bound there. */
struct bound_range {
	u64 va, size;
	const struct pumice_bo *bo;	/* NULL with PUMICE_BIND_NULL */
	u64 bo_offset;
	u32 flags;
};

/* Sorted by address, not overlapping. Not locked. */
struct bound {
	struct bound_range *range;
	u32 count, room;
	bool incomplete;	/* out of memory: a capture would be incomplete */
};

void bound_fini(struct bound *bound);
/* Record an operation that took effect. */
void bound_change(struct bound *bound, const struct pumice_bind *op);
/* Remove the ranges of a bo that is being destroyed. */
void bound_forget(struct bound *bound, const struct pumice_bo *bo);

#endif
