// SPDX-License-Identifier: MIT
/* Large stores. See host_alloc.h. */
#include "host_alloc.h"

#include <stdint.h>
#include <stdlib.h>

/* Bytes in front of the memory: the address that calloc() has returned. */
#define HEAD sizeof(void *)

void *host_zalloc(size_t align, size_t bytes)
{
	void *base, **memory;

	if (bytes > SIZE_MAX - HEAD - align)
		return NULL;
	base = calloc(1, HEAD + align + bytes);
	if (!base)
		return NULL;
	memory = (void **)(((uintptr_t)base + HEAD + align - 1) & ~(uintptr_t)(align - 1));
	memory[-1] = base;
	return memory;
}

void host_free(void *memory)
{
	if (memory)
		free(((void **)memory)[-1]);
}
