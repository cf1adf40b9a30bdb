// SPDX-License-Identifier: MIT
/* References to USC programs, counted by launch and group. See code.h. */
#include "code.h"

#include <assert.h>
#include <stdlib.h>

bool pds_code_init(struct pds_code_table *table, struct usc_program_cache *cache, u32 count)
{
	assert(count < PDS_CODE_NONE);
	*table = (struct pds_code_table){ .cache = cache, .count = count };
	table->code = calloc(count, sizeof(*table->code));
	if (!table->code)
		return false;
	pds_code_reset(table);
	return true;
}

void pds_code_fini(struct pds_code_table *table)
{
	if (table->code)
		pds_code_reset(table);
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
		*code = (struct pds_code){
			.next = (u16)(i + 1 < table->count ? i + 1 : PDS_CODE_NONE),
		};
	}
	table->free = 0;
}

u16 pds_code_add(struct pds_code_table *table, struct usc_program *program)
{
	u16 index = table->free;
	struct pds_code *code;

	assert(index != PDS_CODE_NONE);
	code = &table->code[index];
	table->free = code->next;
	*code = (struct pds_code){ .program = program, .refs = 1, .next = PDS_CODE_NONE };
	return index;
}

struct usc_program *pds_code_program(const struct pds_code_table *table, u16 code)
{
	return table->code[code].program;
}

void pds_code_ref(struct pds_code_table *table, u16 code)
{
	table->code[code].refs++;
}

void pds_code_unref(struct pds_code_table *table, u16 index)
{
	struct pds_code *code = &table->code[index];

	if (--code->refs)
		return;
	usc_program_put(table->cache, code->program);
	*code = (struct pds_code){ .next = table->free };
	table->free = index;
}
