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

/* Return the bus address of the memory of a page, which has some. */
static u64 frame_of(const struct owner_page *p)
{
	return (u64)(p->frame - 1) << FRAME_SHIFT;
}

void owner_frame_add(struct owner_list *l, u32 page, u64 frame)
{
	struct owner_page *p = &l->page[page];
	u32 *bucket = bucket_of(l, frame);

	owner_frame_remove(l, page);
	p->frame = (u32)(frame >> FRAME_SHIFT) + 1;
	p->next = *bucket;
	if (p->next)
		l->page[p->next - 1].before = page + 1;
	*bucket = page + 1;
}

void owner_frame_remove(struct owner_list *l, u32 page)
{
	struct owner_page *p = &l->page[page];

	if (!p->frame)
		return;
	/* A guest may give one frame to all pages, so that they are in one chain. */
	if (p->before)
		l->page[p->before - 1].next = p->next;
	else
		*bucket_of(l, frame_of(p)) = p->next;
	if (p->next)
		l->page[p->next - 1].before = p->before;
	p->frame = p->next = p->before = 0;
}

bool owner_frame_other(struct owner *o, const struct owner_list *l, u32 page,
		       const struct owner_list **other_list, u32 *other)
{
	const u32 frame = l->page[page].frame;
	u32 i, at, n;

	for (i = 0; frame && i < OWNER_LISTS; i++) {
		const struct owner_list *in = o->list[i];

		at = in ? *bucket_of(in, frame_of(&l->page[page])) : 0;
		for (n = 0; at && n < OWNER_CHAIN; at = in->page[at - 1].next, n++) {
			o->compared++;
			if (in->page[at - 1].frame != frame || (in == l && at - 1 == page))
				continue;
			*other_list = in;
			*other = at - 1;
			return true;
		}
	}
	return false;
}
