/* SPDX-License-Identifier: MIT */
/*
 * Parameter management, internals: free lists (list.c), scenes (scene.c), pages (pm.c).
 *
 * Source: document 004, "Master DPM"; hw/formats.xml, free_list, scene, scene_chain.
 *
 * The lists' memory belongs to the host, which may write it at any time. So the PM keeps a
 * shadow of the values that it wrote to each list, and of which pages are allocated: a list
 * that differs is damaged, and no page is ever allocated twice, whatever the contents of
 * memory.
 */
#ifndef PUMICE_GPU_PM_INTERNAL_H
#define PUMICE_GPU_PM_INTERNAL_H

#include <pthread.h>

#include "pm.h"

#define PM_MAX_PAGES	262144u	/* pages of a list: the driver's maximum */
#define PM_SHADOWS	32u	/* lists with a shadow; others are scanned again */
#define PM_PIECE	1024u	/* links followed before PM_MORE is returned: about 20 us */

/* Progress of following a chain of links. */
struct pm_walk {
	u32 page;	/* next page */
	u32 left;	/* pages to follow */
	u32 last;	/* previous page */
};

/* The job that pages are allocated or freed for. */
struct pm_owner {
	enum trace_master dm;
	unsigned int ctx;	/* MMU context */
	u32 context;		/* the context's id */
};

/* State of a free list. */
struct pm_shadow {
	u32 addr;			/* address of the list in context 0; 0: not in use */
	u64 stamp;			/* time of its last use */
	struct pumice_free_list list;	/* as last written to memory by the PM */
	u64 *allocated;			/* bit n: page n belongs to a scene; max_pages bits */
	bool scanning;			/* the pages are being scanned; not usable until done */
	u64 freeing;			/* address of the chain that is being freed; 0: none */
	struct pumice_scene_chain chain;	/* that chain, as it was read */
	u32 macro_tile;			/* of that chain */
	struct pm_owner owner;		/* began to free it; perhaps another call completes it */
	struct pm_walk walk;		/* of the scan, or of freeing */
};

struct pm {
	struct pm_config config;
	pthread_mutex_t lock;		/* guards all following fields */
	struct mmu_tlb tlb;		/* context 0 */
	struct pm_shadow shadow[PM_SHADOWS];
	u64 stamp;
	u32 budget;			/* remaining links for the call */
	struct pm_owner owner;		/* of the call */
	u32 low_list;
	_Atomic u64 allocated, freed;	/* pages since reset */
};

/* Read or write words of context 0, each once; false with *fault. addr is a multiple of 4. */
bool pm_read_words(struct pm *pm, u64 addr, u32 *words, u32 count, struct gpu_fault *fault);
bool pm_write_words(struct pm *pm, u64 addr, const u32 *words, u32 count,
		    struct gpu_fault *fault);
/* Trace an operation for a job. */
void pm_trace(struct pm *pm, enum pumice_trace_pm operation, const struct pm_owner *owner,
	      u64 arg1);
/* Set *fault to a fault of the PM at an address of context 0; returns false. */
bool pm_fault(struct gpu_fault *fault, enum pumice_fault why, u64 addr);

/*
 * list.c. A list is opened, which reads and checks it, changed in its shadow and
 * links, and closed, which writes it back. PM lock held.
 */
/* Returns PM_OK, PM_FAULT, or PM_MORE while the list is being scanned. */
enum pm_result pm_list_open(struct pm *pm, u32 addr, struct pm_shadow **s,
			    struct gpu_fault *fault);
bool pm_list_close(struct pm *pm, struct pm_shadow *s, struct gpu_fault *fault);
/* Allocate one page; the list must have a free one. */
bool pm_list_alloc(struct pm *pm, struct pm_shadow *s, u32 *page, struct gpu_fault *fault);
bool pm_list_is_allocated(const struct pm_shadow *s, u32 page);
bool pm_link_write(struct pm *pm, const struct pm_shadow *s, u32 page, u32 next,
		   struct gpu_fault *fault);
/*
 * Free a chain of pages: all of them must be allocated, the last one without a link. Begin
 * here, then call pm_list_free_piece() until it returns PM_OK or PM_FAULT. The list may be
 * used meanwhile, but only one of its chains is freed at a time.
 */
void pm_list_free_begin(struct pm *pm, struct pm_shadow *s, u64 addr, u32 macro_tile,
			const struct pumice_scene_chain *chain);
enum pm_result pm_list_free_piece(struct pm *pm, struct pm_shadow *s, struct gpu_fault *fault);
void pm_list_forget_all(struct pm *pm);

/* scene.c. PM lock held. */
enum pm_result pm_scene_load_locked(struct pm *pm, u64 addr, unsigned int ctx,
				    struct pm_scene *scene, struct gpu_fault *fault);
/* Return the address of a macro tile's chain of pages of list l. */
u64 pm_chain_addr(const struct pm_scene *scene, u32 macro_tile, u32 l);
bool pm_chain_read(struct pm *pm, const struct pm_scene *scene, u32 macro_tile, u32 l,
		   struct pumice_scene_chain *chain, struct gpu_fault *fault);
bool pm_chain_write(struct pm *pm, const struct pm_scene *scene, u32 macro_tile, u32 l,
		    const struct pumice_scene_chain *chain, struct gpu_fault *fault);

#endif
