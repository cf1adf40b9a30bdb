/* SPDX-License-Identifier: MIT */
/*
 * What is bound in an address space, as its users asked for: for captures.
 *
 * Asynchronous binds count from the call on. A bo that is destroyed while it is
 * bound is forgotten: nobody could read it any more.
 */
#ifndef PUMICE_BOUND_H
#define PUMICE_BOUND_H

#include <stdbool.h>

#include "pumice_types.h"

struct pumice_bind;
struct pumice_bo;

/* A range and what lies there. */
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
	bool incomplete;	/* memory lacked: a capture would lie */
};

void bound_fini(struct bound *bound);
/* An operation took effect. */
void bound_change(struct bound *bound, const struct pumice_bind *op);
/* A bo goes. */
void bound_forget(struct bound *bound, const struct pumice_bo *bo);

#endif
