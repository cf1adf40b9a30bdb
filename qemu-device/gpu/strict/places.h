/* SPDX-License-Identifier: MIT */
/*
 * Mode strict: buffers by GPU virtual address, as far as the host describes them: where they are
 * mapped, the end of a buffer in its last page, and mappings that were removed.
 *
 * Source: the project's decision; no document describes it. The MMU has pages only, so the owner of
 * the tables must describe the buffers: the library does for a GPU in its process
 * (pumice_gpu_places.h), the kernel driver by the PLACE registers. Without a description findings
 * have no buffer, and past-end is not detected.
 *
 * Address spaces are identified by the bus address of their catalogue and the virtual GPU
 * (mmu_space()), since the firmware assigns MMU contexts for jobs only.
 *
 * Limits: PLACES_ENDS ends are kept, buffers after those are not checked; PLACES_RANGES mappings,
 * and fewer when out of memory, those after them have no name; of removed mappings the last
 * PLACES_REMOVED.
 */
#ifndef PUMICE_GPU_STRICT_PLACES_H
#define PUMICE_GPU_STRICT_PLACES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "pumice_types.h"

#define PLACES_ENDS	4096u
#define PLACES_RANGES	16384u
#define PLACES_REMOVED	1024u
#define PLACES_PAGE	4096ull
/* Bytes: buffers further away are considered unrelated; the next one may be the host's own. */
#define PLACES_REACH	PLACES_PAGE
#define PLACES_LABEL_BYTES 64u	/* of a buffer's name, its end included */

/* The last page of a buffer that does not fill it. */
struct places_end {
	u64 space;
	u64 page;	/* address */
	u64 end;	/* of the first byte after the buffer, in the page */
	const void *buffer;
	char label[PLACES_LABEL_BYTES];
};

/* A mapping, or the part of one that is left. */
struct places_range {
	u64 space;
	u64 first, last;	/* addresses */
	const void *buffer;
	char label[PLACES_LABEL_BYTES];
};

/* A mapping that was removed. */
struct places_removed {
	u64 space;
	u64 first, last;	/* addresses; 0, 0: none */
	u64 number;	/* of the operation of its address space that removed it */
	u64 clock;	/* of the GPU, when it was removed */
	u32 process;	/* that removed it, as the host numbers them; 0: not known */
	const void *buffer;
	bool freed;	/* the buffer no longer exists */
	char label[PLACES_LABEL_BYTES];
};

struct places {
	_Atomic u32 end_count;	/* written with the lock held */
	/* Guards the rest; a leaf. */
	pthread_mutex_t lock;
	struct places_end end[PLACES_ENDS];	/* sorted by space and page */
	struct places_removed removed[PLACES_REMOVED];	/* a ring */
	u64 next_removed;
	u32 drops;	/* times that all was dropped */
	struct places_range *range;	/* disjoint, sorted by space and address */
	u32 range_count, range_room;
};

void places_init(struct places *places);
void places_destroy(struct places *places);
/* Drop all: the host describes its buffers only while the GPU is in mode strict. Any thread. */
void places_clear(struct places *places);

/* The functions are for any thread. */

/*
 * A page was mapped whose first bytes, up to end, are the last ones of a buffer. buffer: identifies
 * it; compared only.
 */
void places_add_end(struct places *places, u64 space, u64 end, const void *buffer,
		    const char *label);
/* A buffer is mapped at a range, in place of former mappings. The label is copied and shortened. */
void places_add_range(struct places *places, const struct places_range *range, const char *label);
/* A mapping is removed; the members of removed are copied, the label is shortened. */
void places_remove(struct places *places, const struct places_removed *removed);
/* A buffer has a new name. */
void places_label(struct places *places, const void *buffer, const char *label);
/* A buffer no longer exists, and its removed mappings are of one that was freed. */
void places_free(struct places *places, const void *buffer);
/* An address space no longer exists. */
void places_forget(struct places *places, u64 space);
/* All mappings of a virtual GPU are described again; removed ones are kept. */
void places_unmap_all(struct places *places, unsigned int os);
/* Return how often all was dropped. */
u32 places_drops(struct places *places);

/* Return whether there is an end in any address space: without one, none has to be found. */
static inline bool places_have_ends(const struct places *places)
{
	return atomic_load_explicit(&places->end_count, memory_order_relaxed) != 0;
}

/* Find the end of a buffer that an access is beyond, at least in part; false: there is none. */
bool places_find_end(struct places *places, u64 space, u64 va, u64 bytes,
		     struct places_end *end);
/* Find the mapping of an address; false: none is known. */
bool places_find_range(struct places *places, u64 space, u64 va, struct places_range *range);
/* Find the buffer whose last page ends before an address, in PLACES_REACH; false: none does. */
bool places_find_before(struct places *places, u64 space, u64 va, struct places_end *end);
/* Find the last mapping of an address that was removed; false: none, or it is too long ago. */
bool places_find_removed(struct places *places, u64 space, u64 va,
			 struct places_removed *removed);

#endif
