// SPDX-License-Identifier: MIT
/* The bound ranges of an address space: a tree, split and merged by operations. */
#include "bound.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Return the range of a member of the tree, or NULL. */
static struct bound_range *of(struct range *at)
{
	return (struct bound_range *)at;
}

struct bound_range *bound_first(struct bound *bound)
{
	return of(ranges_first(&bound->ranges));
}

struct bound_range *bound_next(struct bound_range *range)
{
	return of(ranges_next(&range->at));
}

/* Count a range of a bo, or one fewer. */
static void count_bo(const struct bound_range *range, bool more)
{
	struct pumice_bo *bo = (struct pumice_bo *)range->bo;

	if (bo && more)
		atomic_fetch_add(&bo->bound, 1);
	else if (bo)
		atomic_fetch_sub(&bo->bound, 1);
}

static void add(struct bound *bound, const struct bound_range *values)
{
	struct bound_range *range = malloc(sizeof(*range));

	if (!range) {
		bound->incomplete = true;
		return;
	}
	*range = *values;
	ranges_add(&bound->ranges, &range->at);
	count_bo(range, true);
	bound->count++;
}

static void remove_range(struct bound *bound, struct bound_range *range)
{
	ranges_remove(&bound->ranges, &range->at);
	count_bo(range, false);
	free(range);
	bound->count--;
}

void bound_fini(struct bound *bound)
{
	struct bound_range *range;

	while ((range = bound_first(bound)))
		remove_range(bound, range);
	*bound = (struct bound){ 0 };
}

void bound_used(const struct bound_range *range, u64 *start, u64 *end)
{
	const struct pumice_bo *bo = range->bo;

	*start = range->at.va;
	*end = range_end(&range->at);
	if (bo && !range->bo_offset && range->at.size == bo->size && bo->extent_bytes) {
		*start += bo->extent_offset;
		*end = *start + bo->extent_bytes;
	}
}

u64 bound_distance(u64 start, u64 end, u64 va)
{
	return va < start ? start - va : va >= end ? va - end + 1 : 0;
}

/* Remember a part of a range of a bo that is being unbound. */
static void note_former(struct bound *bound, const struct bound_range *range, u64 start, u64 end)
{
	struct bound_former *former = &bound->former[bound->next_former % BOUND_FORMER];
	struct bound_range part = *range;
	struct pumice_bo *bo = (struct pumice_bo *)range->bo;
	u64 last = range_end(&range->at);

	if (!bo)
		return;
	bound->next_former++;
	part.at.va = start > range->at.va ? start : range->at.va;
	part.at.size = (end < last ? end : last) - part.at.va;
	bound_used(&part, &former->va, &last);
	former->size = last - former->va;
	former->internal = bo->internal;
	pthread_mutex_lock(&bo->lock);
	memcpy(former->label, bo->label, sizeof(former->label));
	pthread_mutex_unlock(&bo->lock);
}

/* Remove the memory of unbound ranges in which something is being bound. */
static void drop_former(struct bound *bound, u64 start, u64 end)
{
	struct bound_former *f;

	for (f = bound->former; f < bound->former + BOUND_FORMER; f++)
		if (f->va < end && f->va + f->size > start)
			*f = (struct bound_former){ 0 };
}

const struct bound_former *bound_find_former(const struct bound *bound, u64 va)
{
	const struct bound_former *best = NULL;
	u64 nearest = PAGE_BYTES, distance;
	u32 i;

	for (i = 1; i <= BOUND_FORMER; i++) {
		const struct bound_former *f =
			&bound->former[(bound->next_former - i) % BOUND_FORMER];

		distance = bound_distance(f->va, f->va + f->size, va);
		if (!f->size || distance > nearest || (best && distance == nearest))
			continue;
		best = f;
		nearest = distance;
	}
	return best;
}

/* Remove the first bytes of a range. */
static void trim_front(struct bound_range *r, u64 bytes)
{
	r->at.va += bytes;
	r->bo_offset += bytes;
	r->at.size -= bytes;
}

/* Remove the bytes from @start to @end of a range, which has some of them. */
static void cut_range(struct bound *bound, struct bound_range *r, u64 start, u64 end)
{
	const bool more = range_end(&r->at) > end;
	struct bound_range rest = *r;

	note_former(bound, r, start, end);
	if (r->at.va >= start && more) {
		trim_front(r, end - r->at.va);
	} else if (r->at.va >= start) {
		remove_range(bound, r);
	} else {
		r->at.size = start - r->at.va;
		if (!more)
			return;
		trim_front(&rest, end - rest.at.va);
		add(bound, &rest);
	}
}

/* Remove everything bound from @start to @end. */
static void cut(struct bound *bound, u64 start, u64 end)
{
	struct range *at = ranges_find(&bound->ranges, start), *next;

	for (; at && at->va < end; at = next) {
		next = ranges_next(at);
		cut_range(bound, of(at), start, end);
	}
}

void bound_change(struct bound *bound, const struct pumice_bind *op)
{
	const u64 end = op->flags & PUMICE_BIND_UNMAP_ALL ? UINT64_MAX : op->va + op->size;

	cut(bound, op->va, end);
	if (!(op->bo || op->flags & PUMICE_BIND_NULL))
		return;
	drop_former(bound, op->va, end);
	add(bound, &(struct bound_range){
		.at = { .va = op->va, .size = op->size }, .bo = op->bo,
		.bo_offset = op->bo_offset, .flags = op->flags,
	});
}

void bound_forget(struct bound *bound, const struct pumice_bo *bo)
{
	struct bound_range *r, *next;

	for (r = atomic_load(&bo->bound) ? bound_first(bound) : NULL; r; r = next) {
		next = bound_next(r);
		if (r->bo != bo)
			continue;
		note_former(bound, r, 0, UINT64_MAX);
		remove_range(bound, r);
	}
}
