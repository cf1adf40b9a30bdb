/* SPDX-License-Identifier: MIT */
/*
 * Owners of the pages of free lists, in mode strict.
 *
 * Source: the project's decision; no document describes it. The PM records here to which scene and
 * macro tile it gives each page, and which one frees it; the IPF and the TA report their accesses
 * to the parameter buffer. A page that is used by one who does not own it is a finding:
 *
 *	page-twice		a page is given that has an owner, or whose memory another page has
 *	page-freed-twice	a page is freed that is free
 *	page-freed-by-other	a page is freed by one who does not own it
 *	page-after-free		the parameter buffer is accessed in a page that is not the scene's
 *
 * Lists and pages that the PM has not seen in this mode have no owner that is known: of these there
 * is no finding. The records are those of the device: no memory of the host is read.
 *
 * Limits: OWNER_LISTS lists, of which the one with the oldest use is replaced; 28 bytes of host
 * memory or a little more for each page that was used, at most 7 MiB a list. Of pages whose
 * memory has the same hash the last OWNER_CHAIN are compared.
 *
 * Locking: owner.lock, below the locks of the PM and of the DPMs, guards the records. Findings are
 * reported without it, but with those of the caller.
 */
#ifndef PUMICE_GPU_OWNER_H
#define PUMICE_GPU_OWNER_H

#include <pthread.h>
#include <stdbool.h>

#include "strict.h"

#define OWNER_LISTS 32u
#define OWNER_CHAIN 32u	/* pages of a hash that are compared */

/* A user of pages: a scene, and a macro tile, or the DPM of a core that has not used the page. */
struct owner_user {
	u64 scene;		/* address in context 0; 0: none, or unknown */
	u8 macro_tile;		/* or STRICT_SPARE */
	u8 ctx;			/* MMU context of the job */
};

struct owner_list;

struct owner {
	bool on;		/* mode strict; changed while nothing runs */
	void (*report)(void *opaque, const struct strict_finding *finding);
	void *opaque;
	pthread_mutex_t lock;	/* guards the rest */
	u64 stamp;
	u64 compared;		/* records of memory of other pages, so far */
	struct owner_list *list[OWNER_LISTS];	/* or NULL */
};

/* report: receives findings; any thread. */
void owner_init(struct owner *o,
		void (*report)(void *opaque, const struct strict_finding *finding), void *opaque);
void owner_destroy(struct owner *o);
/* Begin without records, or end; no unit runs. */
void owner_set(struct owner *o, bool on);
/* Drop the records of all lists: after a reset. */
void owner_forget(struct owner *o);

/* Return whether owners are recorded. o may be NULL. */
static inline bool owner_is_on(const struct owner *o)
{
	return o && o->on;
}

/*
 * The following functions are for owners that are recorded. list: address of the free list in
 * context 0.
 */
/*
 * The PM begins to use a list. base: GPU virtual address of page 0; is_new: all of its pages are
 * free, else those that have no record have an unknown owner.
 */
void owner_open(struct owner *o, u32 list, u64 base, u32 pages, bool is_new);
/* A page, which was free, has this memory, by its bus address, while it is not free. */
void owner_map(struct owner *o, u32 list, u32 page, u64 frame);
/* A page was free and is given to a user; or is_free: it should have been, and is not given. */
void owner_give(struct owner *o, u32 list, u32 page, const struct owner_user *to, bool is_free);
/* A spare page of a DPM is used for a macro tile. */
void owner_use_spare(struct owner *o, u32 list, u32 page, const struct owner_user *by);
/* A page is freed by a user; was_free: the PM has it as a free one. */
void owner_free(struct owner *o, u32 list, u32 page, const struct owner_user *by, bool was_free);
/* A unit accesses the parameter buffer of a scene. list: those of the scene. */
struct owner_access {
	u64 scene;
	const u32 *list;	/* PUMICE_PM_LISTS; 0: none */
	u64 va;
	u8 ctx;
	u8 unit;		/* enum pumice_unit */
	u8 access;		/* enum pumice_access */
};
void owner_access(struct owner *o, const struct owner_access *access);

/* owner_list.c: records of a list; owner.lock is held. */
struct owner_page {
	u64 scene;		/* of the owner, or of the one that freed it last */
	u32 frame;		/* its memory: number of the 4 KiB page, plus 1; 0: unknown */
	u32 next, before;	/* pages with the same hash of frames, plus 1; or 0 */
	u8 state;		/* enum strict_page_state */
	u8 macro_tile;		/* as that of owner_user */
};

struct owner_list {
	u32 addr, pages;
	u64 base, stamp;
	u32 *bucket;		/* of frames: first page of a chain, plus 1 */
	u32 buckets;		/* a power of two */
	struct owner_page page[];
};

/* Return the records of a list, or of a page of it, or NULL. */
struct owner_list *owner_list_find(struct owner *o, u32 addr);
struct owner_page *owner_page_find(struct owner *o, u32 addr, u32 page);
/* Return new records of a list, all of whose pages are free; NULL: no memory. */
struct owner_list *owner_list_create(struct owner *o, u32 addr, u64 base, u32 pages);
/* Drop all lists. */
void owner_list_drop_all(struct owner *o);

/* owner_frame.c: memory of pages; owner.lock is held. */
/* Note the memory of a page. */
void owner_frame_add(struct owner_list *l, u32 page, u64 frame);
/* The page is free: it has no memory of its own. */
void owner_frame_remove(struct owner_list *l, u32 page);
/*
 * Find another page, of any list, that has the memory of this one: of the last OWNER_CHAIN pages of
 * each list with its hash.
 */
bool owner_frame_other(struct owner *o, const struct owner_list *l, u32 page,
		       const struct owner_list **other_list, u32 *other);

#endif
