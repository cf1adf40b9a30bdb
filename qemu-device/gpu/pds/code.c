// SPDX-License-Identifier: MIT
/* References to USC programs, counted by launch and group. See code.h. */
#include "code.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

bool pds_code_init(struct pds_code_table *table, struct usc_program_cache *cache, u32 count)
{
	assert(count < PDS_CODE_NONE);
	table->cache = cache;
	table->count = count;
	table->code = calloc(count, sizeof(*table->code));
	if (!table->code)
		return false;
	pthread_mutex_init(&table->lock, NULL);
	pds_code_reset(table);
	return true;
}

void pds_code_fini(struct pds_code_table *table)
{
	if (!table->code)
		return;
	pds_code_reset(table);
	pthread_mutex_destroy(&table->lock);
	free(table->code);
	table->code = NULL;
}

void pds_code_reset(struct pds_code_table *table)
{
	u32 i;

	for (i = 0; i < table->count; i++) {
		struct pds_code *code = &table->code[i];

		if (code->program)
			usc_program_put(table->cache, code->program);
		code->program = NULL;
		code->next = (u16)(i + 1 < table->count ? i + 1 : PDS_CODE_NONE);
	}
	table->free = 0;
}

u16 pds_code_add(struct pds_code_table *table, struct usc_program *program)
{
	struct pds_code *code;
	u16 index;

	pthread_mutex_lock(&table->lock);
	index = table->free;
	assert(index != PDS_CODE_NONE);
	code = &table->code[index];
	table->free = code->next;
	pthread_mutex_unlock(&table->lock);
	code->program = program;
	atomic_store_explicit(&code->refs, 0, memory_order_relaxed);
	return index;
}

/* The last reference was dropped. */
static void release(struct pds_code_table *table, u16 index)
{
	struct pds_code *code = &table->code[index];
	struct usc_program *program = code->program;

	code->program = NULL;
	pthread_mutex_lock(&table->lock);
	code->next = table->free;
	table->free = index;
	pthread_mutex_unlock(&table->lock);
	usc_program_put(table->cache, program);
}

void pds_code_end_launch(struct pds_code_table *table, u16 code, u64 groups)
{
	if (!(atomic_fetch_add(&table->code[code].refs, groups) + groups))
		release(table, code);
}

void pds_code_unref(struct pds_code_table *table, u16 code, u32 groups)
{
	if (atomic_fetch_sub(&table->code[code].refs, groups) == groups)
		release(table, code);
}
