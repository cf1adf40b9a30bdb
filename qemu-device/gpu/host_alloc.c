// SPDX-License-Identifier: MIT
/* Large stores. See host_alloc.h. */
#include "host_alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Bytes in front of the memory: the address that calloc() has returned. */
#define HEAD sizeof(void *)

/* The address sanitizer of GCC, or of clang, which the fuzzers use. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif

#ifdef SANITIZED

/* A block of its own, so that the sanitizer finds accesses in front of it and after its end. */
static void *allocate(size_t align, size_t bytes)
{
	void *memory;

	if (posix_memalign(&memory, align, bytes))
		return NULL;
	memset(memory, 0, bytes);
	return memory;
}

void host_free(void *memory)
{
	free(memory);
}

#else

static void *allocate(size_t align, size_t bytes)
{
	void *base = calloc(1, HEAD + align + bytes), **memory;

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

#endif

void *host_zalloc(size_t align, size_t bytes)
{
	return bytes > SIZE_MAX - HEAD - align ? NULL : allocate(align, bytes);
}
