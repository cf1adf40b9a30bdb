// SPDX-License-Identifier: MIT
/* Mode strict: uses of the memory of translation tables. See tables.h. */
#include "tables.h"

#include <pthread.h>
#include <stdlib.h>

#define WAYS	4u	/* records with the same hash */
#define SETS	(TABLES_RECORDS / WAYS)

/* Bytes of the address space that one table translates. */
#define TABLE_REACH	(1ull << MMU_BLOCK_SHIFT)
#define DIRECTORY_REACH	(TABLE_REACH << 9)

/* A table, as the last walk through it has found it. */
struct record {
	u64 addr;	/* bus address of the table; not used if the path has no catalogue entry */
	struct mmu_path path;	/* to it: that of a directory has no pd_entry */
	u64 va;		/* the first one that it translates */
	u64 used;	/* by tables.time */
};

struct tables {
	const struct mmu *mmu;
	pthread_mutex_t lock;	/* guards the rest; a leaf */
	u64 time;
	struct record record[SETS][WAYS];
};

struct tables *tables_create(const struct mmu *mmu)
{
	struct tables *tables = calloc(1, sizeof(*tables));

	if (!tables)
		return NULL;
	tables->mmu = mmu;
	pthread_mutex_init(&tables->lock, NULL);
	return tables;
}

void tables_destroy(struct tables *tables)
{
	if (!tables)
		return;
	pthread_mutex_destroy(&tables->lock);
	free(tables);
}

/* Return the record of a table's memory; otherwise NULL, and in *free the one to use for it. */
static struct record *find(struct tables *tables, unsigned int os, u64 addr, struct record **free)
{
	const u64 page = addr >> MMU_GRAIN_SHIFT;
	struct record *set = tables->record[(page ^ page / SETS) % SETS], *r;

	*free = set;
	for (r = set; r < set + WAYS; r++) {
		if (r->path.pc_entry && r->addr == addr && r->path.os == os)
			return r;
		if (r->used < (*free)->used)
			*free = r;
	}
	return NULL;
}

/* Describe the table of a record, if entries still lead to it. */
static bool describe(const struct tables *tables, const struct record *r,
		     struct tables_other *other)
{
	if (!mmu_path_exists(tables->mmu, &r->path))
		return false;
	*other = (struct tables_other){ .directory = !r->path.pd_entry, .va = r->va };
	return true;
}

/* Record a table of a walk. Returns whether its memory is that of another table. */
static bool record(struct tables *tables, const struct record *now, struct tables_other *other)
{
	struct record *free, *r = find(tables, now->path.os, now->addr, &free);
	bool used = false;

	if (r && r->path.pd_entry != now->path.pd_entry)
		used = mmu_path_exists(tables->mmu, &now->path) && describe(tables, r, other);
	if (!r)
		r = free;
	*r = *now;
	r->used = ++tables->time;
	return used;
}

bool tables_walked(struct tables *tables, const struct mmu_walked *walked,
		   struct tables_other *other)
{
	const struct record table = {
		.addr = walked->path.table, .path = walked->path,
		.va = walked->addr & ~(TABLE_REACH - 1),
	};
	struct record directory = {
		.addr = walked->path.directory, .path = walked->path,
		.va = walked->addr & ~(DIRECTORY_REACH - 1),
	};
	struct record *r, *free;
	bool used;

	if (!tables)
		return false;
	directory.path.pd_entry = 0;
	pthread_mutex_lock(&tables->lock);
	used = record(tables, &directory, other);
	used |= record(tables, &table, other);
	r = walked->path.page ? find(tables, walked->path.os, walked->path.page, &free) : NULL;
	if (r && !used)
		used = describe(tables, r, other);
	pthread_mutex_unlock(&tables->lock);
	return used;
}
