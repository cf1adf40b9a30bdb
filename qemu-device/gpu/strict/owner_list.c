// SPDX-License-Identifier: MIT
/* Records of the pages of free lists. See owner.h. */
#include "owner.h"

#include <stdlib.h>

struct owner_list *owner_list_find(struct owner *o, u32 addr)
{
	u32 i;

	for (i = 0; i < OWNER_LISTS; i++)
		if (o->list[i] && o->list[i]->addr == addr)
			return o->list[i];
	return NULL;
}

struct owner_page *owner_page_find(struct owner *o, u32 addr, u32 page)
{
	struct owner_list *l = owner_list_find(o, addr);

	return l && page < l->pages ? &l->page[page] : NULL;
}

static void drop(struct owner *o, u32 i)
{
	if (o->list[i])
		free(o->list[i]->bucket);
	free(o->list[i]);
	o->list[i] = NULL;
}

void owner_list_drop_all(struct owner *o)
{
	u32 i;

	for (i = 0; i < OWNER_LISTS; i++)
		drop(o, i);
}

/* Return the number for a list: its own one, a free one, or that of the list of the oldest use. */
static u32 number_for(const struct owner *o, u32 addr)
{
	u32 best = 0, i;

	for (i = 0; i < OWNER_LISTS; i++)
		if (o->list[i] && o->list[i]->addr == addr)
			return i;
	for (i = 0; i < OWNER_LISTS; i++) {
		if (!o->list[i])
			return i;
		if (o->list[i]->stamp < o->list[best]->stamp)
			best = i;
	}
	return best;
}

struct owner_list *owner_list_create(struct owner *o, u32 addr, u64 base, u32 pages)
{
	const u32 n = number_for(o, addr);
	struct owner_list *l;

	drop(o, n);
	/* Zero is a free page; memory of the host is used for pages that are written only. */
	l = calloc(1, sizeof(*l) + pages * sizeof(l->page[0]));
	if (!l)
		return NULL;
	l->buckets = 1;
	while (l->buckets < pages)
		l->buckets *= 2;
	l->bucket = calloc(l->buckets, sizeof(*l->bucket));
	if (!l->bucket) {
		free(l);
		return NULL;
	}
	l->addr = addr;
	l->base = base;
	l->pages = pages;
	o->list[n] = l;
	return l;
}
