// SPDX-License-Identifier: MIT
/* Mode strict: buffers by address. See places.h. */
#include "places.h"

#include <stdlib.h>
#include <string.h>

#include "pumice_regs.h"

void places_init(struct places *places)
{
	atomic_init(&places->end_count, 0);
	places->next_removed = 0;
	places->drops = 0;
	memset(places->removed, 0, sizeof(places->removed));
	places->range = NULL;
	places->range_count = 0;
	places->range_room = 0;
	pthread_mutex_init(&places->lock, NULL);
}

void places_destroy(struct places *places)
{
	free(places->range);
	pthread_mutex_destroy(&places->lock);
}

void places_clear(struct places *places)
{
	pthread_mutex_lock(&places->lock);
	places->drops++;
	places->end_count = 0;
	free(places->range);
	places->range = NULL;
	places->range_count = 0;
	places->range_room = 0;
	memset(places->removed, 0, sizeof(places->removed));
	pthread_mutex_unlock(&places->lock);
}

/* Copy a name as it can be in a finding: bytes that JSON would escape become question marks. */
static void copy_label(char to[PLACES_LABEL_BYTES], const char *label)
{
	u32 n;

	for (n = 0; n + 1 < PLACES_LABEL_BYTES && label && label[n]; n++) {
		const char c = label[n];

		to[n] = c >= ' ' && c <= '~' && c != '"' && c != '\\' ? c : '?';
	}
	to[n] = '\0';
}

/* Return the position of the first end that is not before a page. Lock held. */
static u32 find_position(const struct places *places, u64 space, u64 page)
{
	u32 first = 0, last = places->end_count;

	while (first < last) {
		const u32 middle = first + (last - first) / 2;
		const struct places_end *e = &places->end[middle];

		if (e->space < space || (e->space == space && e->page < page))
			first = middle + 1;
		else
			last = middle;
	}
	return first;
}

/* Remove ends from position first to before last. Lock held. */
static void remove_ends(struct places *places, u32 first, u32 last)
{
	memmove(&places->end[first], &places->end[last],
		(places->end_count - last) * sizeof(places->end[0]));
	places->end_count -= last - first;
}

void places_add_end(struct places *places, u64 space, u64 end, const void *buffer,
		    const char *label)
{
	const u64 page = end & ~(PLACES_PAGE - 1);
	struct places_end *e;
	u32 at, count;

	pthread_mutex_lock(&places->lock);
	at = find_position(places, space, page);
	count = places->end_count;
	e = &places->end[at];
	if (at == count || e->space != space || e->page != page) {
		if (count == PLACES_ENDS)
			goto unlock;
		memmove(e + 1, e, (count - at) * sizeof(*e));
		places->end_count = count + 1;
	}
	*e = (struct places_end){
		.space = space, .page = page, .end = end, .buffer = buffer,
	};
	copy_label(e->label, label);
unlock:
	pthread_mutex_unlock(&places->lock);
}

/* Return the position of the first range that does not begin before an address. Lock held. */
static u32 find_range(const struct places *places, u64 space, u64 va)
{
	u32 first = 0, last = places->range_count;

	while (first < last) {
		const u32 middle = first + (last - first) / 2;
		const struct places_range *r = &places->range[middle];

		if (r->space < space || (r->space == space && r->first < va))
			first = middle + 1;
		else
			last = middle;
	}
	return first;
}

/* Make room for one more range. Returns false if there is none. Lock held. */
static bool grow_ranges(struct places *places)
{
	const u32 room = places->range_room ? 2 * places->range_room : 64;
	struct places_range *range;

	if (places->range_count < places->range_room)
		return true;
	if (places->range_count == PLACES_RANGES)
		return false;
	range = realloc(places->range, room * sizeof(*range));
	if (!range)
		return false;
	places->range = range;
	places->range_room = room;
	return true;
}

/* Insert a range before position at, if there is room. Lock held. */
static void insert_range(struct places *places, u32 at, const struct places_range *range)
{
	if (!grow_ranges(places))
		return;
	memmove(&places->range[at + 1], &places->range[at],
		(places->range_count - at) * sizeof(places->range[0]));
	places->range[at] = *range;
	places->range_count++;
}

/* Remove ranges from position first to before last. Lock held. */
static void remove_ranges(struct places *places, u32 first, u32 last)
{
	if (first == last)
		return;
	memmove(&places->range[first], &places->range[last],
		(places->range_count - last) * sizeof(places->range[0]));
	places->range_count -= last - first;
}

/* Remove addresses from ranges. Lock held. */
static void cut_ranges(struct places *places, u64 space, u64 first, u64 last)
{
	u32 at = find_range(places, space, first), end = at;
	struct places_range *r;

	if (at && places->range[at - 1].space == space &&
	    places->range[at - 1].last >= first) {
		struct places_range after = places->range[at - 1];

		places->range[at - 1].last = first - 1;
		if (after.last > last) {
			after.first = last + 1;
			insert_range(places, at, &after);
			return;
		}
	}
	while (end < places->range_count && places->range[end].space == space &&
	       places->range[end].last <= last)
		end++;
	r = &places->range[end];
	if (end < places->range_count && r->space == space && r->first <= last)
		r->first = last + 1;
	remove_ranges(places, at, end);
}

void places_add_range(struct places *places, const struct places_range *range, const char *label)
{
	struct places_range copy = *range;

	copy_label(copy.label, label);
	pthread_mutex_lock(&places->lock);
	remove_ends(places, find_position(places, copy.space, copy.first),
		    find_position(places, copy.space, copy.last));
	cut_ranges(places, copy.space, copy.first, copy.last);
	insert_range(places, find_range(places, copy.space, copy.first), &copy);
	pthread_mutex_unlock(&places->lock);
}

void places_remove(struct places *places, const struct places_removed *removed)
{
	struct places_removed *r;

	pthread_mutex_lock(&places->lock);
	remove_ends(places, find_position(places, removed->space, removed->first),
		    find_position(places, removed->space, removed->last));
	cut_ranges(places, removed->space, removed->first, removed->last);
	r = &places->removed[places->next_removed++ % PLACES_REMOVED];
	*r = *removed;
	copy_label(r->label, removed->label);
	pthread_mutex_unlock(&places->lock);
}

void places_label(struct places *places, const void *buffer, const char *label)
{
	char copy[PLACES_LABEL_BYTES] = { 0 };
	u32 n;

	copy_label(copy, label);
	pthread_mutex_lock(&places->lock);
	for (n = 0; n < places->end_count; n++)
		if (places->end[n].buffer == buffer)
			memcpy(places->end[n].label, copy, sizeof(copy));
	for (n = 0; n < places->range_count; n++)
		if (places->range[n].buffer == buffer)
			memcpy(places->range[n].label, copy, sizeof(copy));
	pthread_mutex_unlock(&places->lock);
}

void places_free(struct places *places, const void *buffer)
{
	u32 n;

	pthread_mutex_lock(&places->lock);
	for (n = 0; n < PLACES_REMOVED; n++)
		if (places->removed[n].buffer == buffer)
			places->removed[n].freed = true;
	pthread_mutex_unlock(&places->lock);
}

void places_forget(struct places *places, u64 space)
{
	u32 n;

	pthread_mutex_lock(&places->lock);
	remove_ends(places, find_position(places, space, 0),
		    find_position(places, space, UINT64_MAX));
	remove_ranges(places, find_range(places, space, 0),
		      find_range(places, space, UINT64_MAX));
	for (n = 0; n < PLACES_REMOVED; n++)
		if (places->removed[n].space == space)
			places->removed[n] = (struct places_removed){ 0 };
	pthread_mutex_unlock(&places->lock);
}

/* Return whether an address space is one of a virtual GPU. */
static bool is_of(u64 space, unsigned int os)
{
	return PUMICE_FIELD_GET(PUMICE_MMU_CTX__OS, space) == os;
}

void places_unmap_all(struct places *places, unsigned int os)
{
	u32 n, left = 0;

	pthread_mutex_lock(&places->lock);
	for (n = 0; n < places->end_count; n++)
		if (!is_of(places->end[n].space, os))
			places->end[left++] = places->end[n];
	places->end_count = left;
	for (n = left = 0; n < places->range_count; n++)
		if (!is_of(places->range[n].space, os))
			places->range[left++] = places->range[n];
	places->range_count = left;
	pthread_mutex_unlock(&places->lock);
}

u32 places_drops(struct places *places)
{
	u32 drops;

	pthread_mutex_lock(&places->lock);
	drops = places->drops;
	pthread_mutex_unlock(&places->lock);
	return drops;
}

bool places_find_end(struct places *places, u64 space, u64 va, u64 bytes,
		     struct places_end *end)
{
	const u64 page = (va + bytes - 1) & ~(PLACES_PAGE - 1);
	bool found;
	u32 at;

	pthread_mutex_lock(&places->lock);
	at = find_position(places, space, page);
	found = at < places->end_count && places->end[at].space == space &&
		places->end[at].page == page && va + bytes > places->end[at].end;
	if (found)
		*end = places->end[at];
	pthread_mutex_unlock(&places->lock);
	return found;
}

bool places_find_range(struct places *places, u64 space, u64 va, struct places_range *range)
{
	bool found;
	u32 at;

	pthread_mutex_lock(&places->lock);
	at = find_range(places, space, va + 1);
	found = at && places->range[at - 1].space == space &&
		places->range[at - 1].last >= va;
	if (found)
		*range = places->range[at - 1];
	pthread_mutex_unlock(&places->lock);
	return found;
}

bool places_find_before(struct places *places, u64 space, u64 va, struct places_end *end)
{
	const struct places_range *r;
	const struct places_end *e;
	bool found;
	u32 at;

	pthread_mutex_lock(&places->lock);
	at = find_range(places, space, va);
	r = at ? &places->range[at - 1] : NULL;
	found = r && r->space == space && r->last < va && va - r->last <= PLACES_REACH;
	if (found) {
		*end = (struct places_end){ .space = space, .end = r->last + 1 };
		memcpy(end->label, r->label, sizeof(end->label));
		at = find_position(places, space, r->last & ~(PLACES_PAGE - 1));
		e = &places->end[at];
		if (at < places->end_count && e->space == space && e->end <= r->last)
			end->end = e->end;
	}
	pthread_mutex_unlock(&places->lock);
	return found;
}

bool places_find_removed(struct places *places, u64 space, u64 va,
			 struct places_removed *removed)
{
	bool found = false;
	u32 n;

	pthread_mutex_lock(&places->lock);
	for (n = 1; n <= PLACES_REMOVED && !found; n++) {
		const struct places_removed *r =
			&places->removed[(places->next_removed - n) % PLACES_REMOVED];

		found = r->last && r->space == space && va >= r->first && va <= r->last;
		if (found)
			*removed = *r;
	}
	pthread_mutex_unlock(&places->lock);
	return found;
}
