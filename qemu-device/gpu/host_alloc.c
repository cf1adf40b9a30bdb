// SPDX-License-Identifier: MIT
/* Large stores. See host_alloc.h. */
#include "host_alloc.h"

#include <stdint.h>
#include <stdlib.h>

/* In front of the memory is the address that calloc() has returned. */
void *host_zalloc(size_t align, size_t bytes)
{
	void *base, **memory;

	if (bytes > SIZE_MAX - sizeof(base) - align)
		return NULL;
	base = calloc(1, sizeof(base) + align + bytes);
	if (!base)
		return NULL;
	memory = (void **)(((uintptr_t)base + sizeof(base) + align - 1) & ~(uintptr_t)(align - 1));
	memory[-1] = base;
	return memory;
}

void host_free(void *memory)
{
	if (memory)
		free(((void **)memory)[-1]);
}
