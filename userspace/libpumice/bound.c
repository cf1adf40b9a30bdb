// SPDX-License-Identifier: MIT
/* The bound ranges of an address space: a sorted array, split and merged by operations. */
#include "bound.h"

#include <stdlib.h>
#include <string.h>

#include "internal.h"

void bound_fini(struct bound *bound)
{
	free(bound->range);
	*bound = (struct bound){ 0 };
}

/* Make room for one more range at @at. */
static bool open_gap(struct bound *bound, u32 at)
{
	if (bound->count == bound->room) {
		const u32 room = bound->room ? bound->room * 2 : 16;
		struct bound_range *range = realloc(bound->range, room * sizeof(*range));

		if (!range) {
			bound->incomplete = true;
			return false;
		}
		bound->range = range;
		bound->room = room;
	}
	memmove(&bound->range[at + 1], &bound->range[at],
		(bound->count - at) * sizeof(*bound->range));
	bound->count++;
	return true;
}

static void remove_range(struct bound *bound, u32 at)
{
	bound->count--;
	memmove(&bound->range[at], &bound->range[at + 1],
		(bound->count - at) * sizeof(*bound->range));
}

void bound_used(const struct bound_range *range, u64 *start, u64 *end)
{
	const struct pumice_bo *bo = range->bo;

	*start = range->va;
	*end = range->va + range->size;
	if (bo && !range->bo_offset && range->size == bo->size && bo->extent_bytes) {
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
	u64 last = range->va + range->size;

	if (!bo)
		return;
	bound->next_former++;
	part.va = start > range->va ? start : range->va;
	part.size = (end < last ? end : last) - part.va;
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
	r->va += bytes;
	r->bo_offset += bytes;
	r->size -= bytes;
}

/* Remove everything bound from @start to @end. Return: the index for a range there. */
static u32 cut(struct bound *bound, u64 start, u64 end)
{
	u32 i = 0;

	while (i < bound->count && bound->range[i].va < end) {
		struct bound_range *r = &bound->range[i];
		const u64 last = r->va + r->size;

		if (last <= start) {
			i++;
			continue;
		}
		note_former(bound, r, start, end);
		if (r->va < start && last > end) {
			if (!open_gap(bound, i + 1))
				return i + 1;
			r = &bound->range[i];
			r[1] = r[0];
			trim_front(&r[1], end - r->va);
			r->size = start - r->va;
			return i + 1;
		} else if (r->va < start) {
			r->size = start - r->va;
			i++;
		} else if (last > end) {
			trim_front(r, end - r->va);
			return i;
		} else {
			remove_range(bound, i);
		}
	}
	return i;
}

void bound_change(struct bound *bound, const struct pumice_bind *op)
{
	const u64 end = op->flags & PUMICE_BIND_UNMAP_ALL ? UINT64_MAX : op->va + op->size;
	const u32 at = cut(bound, op->va, end);

	if (!(op->bo || op->flags & PUMICE_BIND_NULL))
		return;
	drop_former(bound, op->va, end);
	if (!open_gap(bound, at))
		return;
	bound->range[at] = (struct bound_range){
		.va = op->va, .size = op->size, .bo = op->bo, .bo_offset = op->bo_offset,
		.flags = op->flags,
	};
}

void bound_forget(struct bound *bound, const struct pumice_bo *bo)
{
	u32 i = 0;

	while (i < bound->count) {
		if (bound->range[i].bo != bo) {
			i++;
			continue;
		}
		note_former(bound, &bound->range[i], 0, UINT64_MAX);
		remove_range(bound, i);
	}
}
