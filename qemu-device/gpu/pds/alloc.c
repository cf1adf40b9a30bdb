// SPDX-License-Identifier: MIT
/*
 * Allocator of one store of one USC: a sorted list of free extents.
 *
 * Source: document 000, "Programmable Data Sequencer". A few dozen extents at most, so a
 * linear search is fast.
 */
#include "alloc.h"

#include <assert.h>
#include <string.h>

void pds_store_init(struct pds_store *store, u32 size)
{
	memset(store, 0, sizeof(*store));
	store->size = size;
	store->free = size;
	if (size) {
		store->extent[0] = (struct pds_extent){ .start = 0, .count = size };
		store->extents = 1;
	}
}

static void remove_extent(struct pds_store *store, u32 index)
{
	store->extents--;
	memmove(&store->extent[index], &store->extent[index + 1],
		(store->extents - index) * sizeof(store->extent[0]));
}

static void insert_extent(struct pds_store *store, u32 index, struct pds_extent extent)
{
	assert(store->extents < PDS_STORE_EXTENTS);
	memmove(&store->extent[index + 1], &store->extent[index],
		(store->extents - index) * sizeof(store->extent[0]));
	store->extent[index] = extent;
	store->extents++;
}

bool pds_store_alloc(struct pds_store *store, u32 count, u32 *start)
{
	u32 i;

	*start = 0;
	if (!count)
		return true;
	for (i = 0; i < store->extents; i++) {
		struct pds_extent *e = &store->extent[i];

		if (e->count < count)
			continue;
		*start = e->start;
		e->start += count;
		e->count -= count;
		store->free -= count;
		if (!e->count)
			remove_extent(store, i);
		return true;
	}
	return false;
}

bool pds_store_has_room(const struct pds_store *store, u32 count)
{
	u32 i;

	for (i = 0; i < store->extents; i++)
		if (store->extent[i].count >= count)
			return true;
	return !count;
}

bool pds_store_alloc_high(struct pds_store *store, u32 count, u32 align, u32 lowest, u32 *start)
{
	u32 i, end;

	for (i = store->extents; i--;) {
		struct pds_extent *e = &store->extent[i];

		end = e->start + e->count;
		if (e->count < count)
			continue;
		*start = (end - count) / align * align;
		if (*start < e->start || *start < lowest)
			continue;
		store->free -= count;
		e->count = *start - e->start;
		end -= *start + count;
		if (end)
			insert_extent(store, i + 1, (struct pds_extent){
				.start = *start + count, .count = end });
		if (!store->extent[i].count)
			remove_extent(store, i);
		return true;
	}
	return false;
}

void pds_store_free(struct pds_store *store, u32 start, u32 count)
{
	struct pds_extent *next;
	bool joins_before, joins_next;
	u32 i = 0;

	if (!count)
		return;
	while (i < store->extents && store->extent[i].start < start)
		i++;
	next = &store->extent[i];
	joins_before = i > 0 && next[-1].start + next[-1].count == start;
	joins_next = i < store->extents && start + count == next->start;
	assert(i == 0 || next[-1].start + next[-1].count <= start);
	assert(i == store->extents || start + count <= next->start);

	store->free += count;
	if (joins_before && joins_next) {
		next[-1].count += count + next->count;
		remove_extent(store, i);
	} else if (joins_before) {
		next[-1].count += count;
	} else if (joins_next) {
		next->start = start;
		next->count += count;
	} else {
		insert_extent(store, i, (struct pds_extent){ .start = start, .count = count });
	}
}
