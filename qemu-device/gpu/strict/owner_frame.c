// SPDX-License-Identifier: MIT
/*
 * Memory of the pages of free lists that the MMU maps: two pages that are in use at the same time
 * have different memory. See owner.h.
 */
#include "owner.h"

#define FRAME_SHIFT 12

/* Return the bucket of a frame: its number, multiplied by 2^64 divided by the golden ratio. */
static u32 *bucket_of(const struct owner_list *l, u64 frame)
{
	const u64 hash = (frame >> FRAME_SHIFT) * 0x9e3779b97f4a7c15ull;

	return &l->bucket[(hash >> 32) & (l->buckets - 1)];
}

void owner_frame_add(struct owner_list *l, u32 page, u64 frame)
{
	u32 *bucket = bucket_of(l, frame);

	owner_frame_remove(l, page);
	l->page[page].frame = frame;
	l->page[page].next = *bucket;
	*bucket = page + 1;
}

void owner_frame_remove(struct owner_list *l, u32 page)
{
	struct owner_page *p = &l->page[page];
	u32 *at;

	if (!p->frame)
		return;
	for (at = bucket_of(l, p->frame); *at != page + 1; at = &l->page[*at - 1].next)
		;
	*at = p->next;
	p->frame = 0;
	p->next = 0;
}

bool owner_frame_other(const struct owner *o, const struct owner_list *l, u32 page,
		       const struct owner_list **other_list, u32 *other)
{
	const u64 frame = l->page[page].frame;
	u32 i, at;

	for (i = 0; frame && i < OWNER_LISTS; i++) {
		const struct owner_list *in = o->list[i];

		for (at = in ? *bucket_of(in, frame) : 0; at; at = in->page[at - 1].next) {
			if (in->page[at - 1].frame != frame || (in == l && at - 1 == page))
				continue;
			*other_list = in;
			*other = at - 1;
			return true;
		}
	}
	return false;
}
