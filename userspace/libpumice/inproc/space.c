// SPDX-License-Identifier: MIT
/*
 * In-process backend: mappings and the GPU's translation
 * tables. All steps that can fail precede any change.
 */
#include <errno.h>
#include <stdlib.h>

#include "inproc.h"

int space_init(struct inproc_device *d, struct space *s)
{
	s->mappings = NULL;
	return tables_init(d, &s->tables);
}

static void free_mappings(struct inproc_device *d, struct mapping *m)
{
	while (m) {
		struct mapping *next = m->next;

		memory_put(d, m->memory);
		free(m);
		m = next;
	}
}

void space_fini(struct inproc_device *d, struct space *s)
{
	free_mappings(d, s->mappings);
	s->mappings = NULL;
	tables_fini(d, &s->tables);
}

/* Split @m at @va, with @rest for the upper part. */
static void split(struct mapping *m, u64 va, struct mapping *rest)
{
	*rest = *m;
	rest->va = va;
	rest->bus += va - m->va;
	rest->size -= va - m->va;
	m->size = va - m->va;
	m->next = rest;
	if (m->memory)
		memory_get(m->memory);
}

/*
 * Move all mappings in the range to @removed. @spare is consumed
 * if a mapping is split in the middle; removed parts need no
 * entry in @removed, as the rest holds their memory.
 */
static void carve(struct space *s, u64 va, u64 end, struct mapping **spare,
		  struct mapping **removed)
{
	struct mapping **link = &s->mappings, *m;

	while (*link && (*link)->va < end) {
		m = *link;
		if (m->va + m->size <= va) {
			link = &m->next;
		} else if (m->va < va && m->va + m->size > end) {
			split(m, end, *spare);
			*spare = NULL;
			m->size = va - m->va;
			return;
		} else if (m->va < va) {
			m->size = va - m->va;
			link = &m->next;
		} else if (m->va + m->size > end) {
			m->bus += end - m->va;
			m->size -= end - m->va;
			m->va = end;
		} else {
			*link = m->next;
			m->next = *removed;
			*removed = m;
		}
	}
}

static void insert(struct space *s, struct mapping *m)
{
	struct mapping **link = &s->mappings;

	while (*link && (*link)->va < m->va)
		link = &(*link)->next;
	m->next = *link;
	*link = m;
	if (m->memory)
		memory_get(m->memory);
}

int space_change(struct inproc_device *d, struct space *s, u64 va, u64 size,
		 const struct mapping *new, struct space_change *change)
{
	struct mapping *spare = malloc(sizeof(*spare));
	struct mapping *fresh = malloc(sizeof(*fresh));
	int err = -ENOMEM;

	if (spare && fresh)
		err = tables_reserve(d, &s->tables, va, size, new, &change->tables);
	if (!err) {
		change->removed = NULL;
		carve(s, va, va + size, &spare, &change->removed);
		if (new) {
			*fresh = *new;
			insert(s, fresh);
			fresh = NULL;
		}
		tables_update(d, &s->tables, s->mappings, va, size, &change->tables);
	}
	free(spare);
	free(fresh);
	return err;
}

void space_release(struct inproc_device *d, struct space_change *change)
{
	free_mappings(d, change->removed);
	tables_release(d, &change->tables);
}
