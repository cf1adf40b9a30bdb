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
	s->mappings = (struct ranges){ 0 };
	return tables_init(d, &s->tables);
}

/* Return the mapping of a member of the tree, or NULL. */
static struct mapping *of(struct range *at)
{
	return (struct mapping *)at;
}

struct mapping *space_find(struct space *s, u64 va)
{
	return of(ranges_find(&s->mappings, va));
}

struct mapping *space_next(struct mapping *m)
{
	return of(ranges_next(&m->at));
}

static void insert(struct space *s, struct mapping *m)
{
	ranges_add(&s->mappings, &m->at);
	if (m->memory)
		memory_get(m->memory);
}

/* Remove a mapping, whose memory is kept, and add it to @removed. */
static void remove_mapping(struct space *s, struct mapping *m, struct mapping **removed)
{
	ranges_remove(&s->mappings, &m->at);
	m->next = *removed;
	*removed = m;
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
	struct mapping *removed = NULL, *m;

	while ((m = space_find(s, 0)))
		remove_mapping(s, m, &removed);
	free_mappings(d, removed);
	tables_fini(d, &s->tables);
}

/* Remove the first bytes of a mapping. */
static void trim_front(struct mapping *m, u64 bytes)
{
	m->at.va += bytes;
	m->bus += bytes;
	m->at.size -= bytes;
}

/*
 * Remove the range from all mappings; whole ones are moved to @removed. @spare is consumed if a
 * mapping is split in the middle; removed parts need no entry in @removed, as the rest holds their
 * memory. Return: whether there was any.
 */
static bool carve(struct space *s, u64 va, u64 end, struct mapping **spare,
		  struct mapping **removed)
{
	struct mapping *m = space_find(s, va), *next;
	bool any = false;

	for (; m && m->at.va < end; m = next) {
		const u64 last = range_end(&m->at);

		any = true;
		next = space_next(m);
		if (m->at.va >= va && last > end) {
			trim_front(m, end - m->at.va);
		} else if (m->at.va >= va) {
			remove_mapping(s, m, removed);
		} else {
			m->at.size = va - m->at.va;
			if (last <= end)
				continue;
			**spare = *m;
			(*spare)->at.size = last - m->at.va;
			trim_front(*spare, end - m->at.va);
			insert(s, *spare);
			*spare = NULL;
		}
	}
	return any;
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
		change->replaced |= carve(s, va, va + size, &spare, &change->removed);
		if (new) {
			*fresh = *new;
			insert(s, fresh);
			tables_map(d, &s->tables, fresh, &change->tables);
			fresh = NULL;
		} else {
			tables_unmap(d, &s->tables, va, size, &change->tables);
		}
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
