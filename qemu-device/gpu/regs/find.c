// SPDX-License-Identifier: MIT
/* Registers of unit FIND: findings of mode strict. */
#include <string.h>

#include "units.h"

_Static_assert(sizeof(((struct pumice_gpu *)NULL)->find_text) ==
	       PUMICE_FIND_TEXT_COUNT * sizeof(u64), "words of FIND_TEXT");

REG_READ(reg_find_count)
{
	(void)at;
	return strict_count(&gpu->strict);
}

REG_WRITE(reg_find_clear)
{
	(void)at, (void)value;
	strict_clear(&gpu->strict);
	return REG_DONE;
}

REG_READ(reg_find_select)
{
	(void)at;
	return gpu->find_select;
}

/* The text is copied, so that its words belong together while the GPU detects more errors. */
REG_WRITE(reg_find_select_write)
{
	struct strict_finding finding;

	(void)at;
	gpu->find_select = (u32)value;
	memset(gpu->find_text, 0, sizeof(gpu->find_text));
	if (strict_get(&gpu->strict, gpu->find_select, &finding))
		strict_describe(&finding, (char *)gpu->find_text);
	return REG_DONE;
}

REG_READ(reg_find_lost)
{
	(void)at;
	return strict_lost(&gpu->strict);
}

REG_READ(reg_find_text)
{
	const u8 *bytes = (const u8 *)&gpu->find_text[at->index];
	u64 word = 0;

	for (u32 n = 0; n < sizeof(word); n++)
		word |= (u64)bytes[n] << (8 * n);
	return word;
}
