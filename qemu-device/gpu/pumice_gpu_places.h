/* SPDX-License-Identifier: MIT */
/*
 * The GPU core: description of buffers by the owner of the translation tables, for findings of mode
 * strict. Optional: without it findings have no name of a buffer, and accesses past its end are not
 * detected. Any thread; not from ops.
 *
 * space: an address space, see pumice_gpu_space(). buffer: identifies a buffer;
 * compared only. label: its name, or NULL; at most 63 bytes are kept.
 */
#ifndef PUMICE_GPU_PLACES_H
#define PUMICE_GPU_PLACES_H

#include "pumice_gpu.h"

/* Return the number of an address space, by its virtual GPU and the bus address of its tables. */
uint64_t pumice_gpu_space(uint32_t os, uint64_t catalogue);

/*
 * A buffer was mapped whose last page has bytes after it. end: address of the first of these, not a
 * multiple of 4 KiB.
 */
void pumice_gpu_add_end(struct pumice_gpu *gpu, uint64_t space, uint64_t end,
			const void *buffer, const char *label);

/* A mapping that was made: size bytes, not 0, at va. */
void pumice_gpu_note_map(struct pumice_gpu *gpu, uint64_t space, uint64_t va, uint64_t size,
			 const void *buffer, const char *label);

/* A mapping that is removed. */
struct pumice_gpu_unmap {
	uint64_t space;
	uint64_t va, size;	/* bytes, not 0 */
	uint64_t number;	/* of the operation, of those of its address space */
	uint32_t process;	/* that removes it, as the host numbers them; 0: not known */
	const void *buffer;
	const char *label;
	bool freed;	/* the buffer no longer exists */
};

/* Before the tables change. */
void pumice_gpu_note_unmap(struct pumice_gpu *gpu, const struct pumice_gpu_unmap *unmap);
/* The buffer has a new name. */
void pumice_gpu_note_label(struct pumice_gpu *gpu, const void *buffer, const char *label);
/* The buffer no longer exists, though it may still be mapped. */
void pumice_gpu_note_free(struct pumice_gpu *gpu, const void *buffer);
/* The address space no longer exists. */
void pumice_gpu_forget_space(struct pumice_gpu *gpu, uint64_t space);

#endif
