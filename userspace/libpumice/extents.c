// SPDX-License-Identifier: MIT
/* Free ranges: see extents.h. A linked list, as these spaces have few holes. */
#include <errno.h>
#include <stdlib.h>

#include "extents.h"

struct extent {
	struct extent *next;
	u64 start, size;
};

static struct extent *make(u64 start, u64 size, struct extent *next)
{
	struct extent *x = malloc(sizeof(*x));

	if (x)
		*x = (struct extent){ .next = next, .start = start, .size = size };
	return x;
}

int extents_init(struct extents *e, u64 start, u64 size)
{
	e->first = make(start, size, NULL);
	return e->first ? 0 : -ENOMEM;
}

void extents_fini(struct extents *e)
{
	while (e->first) {
		struct extent *next = e->first->next;

		free(e->first);
		e->first = next;
	}
}

/* Cut @skip bytes and then @size bytes from the front of *link; @skip stays free. */
static int cut(struct extent **link, u64 skip, u64 size)
{
	struct extent *x = *link;
	u64 tail = x->size - skip - size;

	if (skip && tail) {
		struct extent *rest = make(x->start + skip + size, tail, x->next);

		if (!rest)
			return -ENOMEM;
		x->next = rest;
		x->size = skip;
	} else if (skip) {
		x->size = skip;
	} else if (tail) {
		x->start += size;
		x->size = tail;
	} else {
		*link = x->next;
		free(x);
	}
	return 0;
}

int extents_alloc(struct extents *e, u64 size, u64 align, u64 *start)
{
	struct extent **link;

	for (link = &e->first; *link; link = &(*link)->next) {
		const struct extent *x = *link;
		u64 skip = -x->start & (align - 1);

		if (skip < x->size && x->size - skip >= size) {
			*start = x->start + skip;
			return cut(link, skip, size);
		}
	}
	return -ENOSPC;
}

void extents_free(struct extents *e, u64 start, u64 size)
{
	struct extent **link = &e->first, *before = NULL, *x;

	while (*link && (*link)->start < start) {
		before = *link;
		link = &before->next;
	}
	x = *link;
	if (before && before->start + before->size == start) {
		before->size += size;
		if (x && before->start + before->size == x->start) {
			before->size += x->size;
			before->next = x->next;
			free(x);
		}
	} else if (x && start + size == x->start) {
		x->start = start;
		x->size += size;
	} else {
		x = make(start, size, *link);
		if (x)
			*link = x;
	}
}
