/* SPDX-License-Identifier: MIT */
/* Memory of the host for large stores: only pages that are used take memory and time. */
#ifndef PUMICE_GPU_HOST_ALLOC_H
#define PUMICE_GPU_HOST_ALLOC_H

#include <stddef.h>

/*
 * Allocate bytes of zeros at a multiple of align, a power of two and at least that of a pointer.
 * Unlike aligned_alloc() and memset(), this touches the first page only: memory that is large is
 * new, and zero. NULL: out of memory. The owner calls host_free().
 */
void *host_zalloc(size_t align, size_t bytes);
/* Free memory of host_zalloc(), or nothing if it is NULL. */
void host_free(void *memory);

#endif
