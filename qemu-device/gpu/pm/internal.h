/* SPDX-License-Identifier: MIT */
/*
 * Parameter management, inside: free lists (list.c), scenes (scene.c), pages (pm.c).
 *
 * Source: document 004, "Master DPM"; hw/formats.xml, free_list, scene, scene_chain.
 *
 * The lists' memory belongs to the host, which may write it at any time. So the
 * PM keeps beside each list what it has written there itself, and which pages
 * are allocated: a list that says anything else is damaged, and no page is ever
 * handed out twice, whatever memory holds.
 */
#ifndef PUMICE_GPU_PM_INTERNAL_H
#define PUMICE_GPU_PM_INTERNAL_H

#include <pthread.h>

#include "pm.h"

#define PM_MAX_PAGES	262144u	/* of a list: what the driver offers at most */
#define PM_SHADOWS	32u	/* lists that are remembered; others are learnt anew */
#define PM_PIECE	1024u	/* links that are followed before PM_MORE is returned: about 20 us */

/* How far a chain of links has been followed. */
struct pm_walk {
	u32 page;	/* next page */
	u32 left;	/* pages that are left */
	u32 last;	/* page before it */
};

/* What the PM knows of a free list. */
struct pm_shadow {
	u32 addr;			/* of the list in context 0; 0: not in use */
	u64 stamp;			/* of its last use */
	struct pumice_free_list list;	/* as the PM left it in memory */
	u64 *allocated;			/* bit n: page n belongs to a scene; max_pages bits */
	bool learning;			/* pages are still being learnt; not usable before */
	u64 freeing;			/* address of the chain that is being freed; 0: none */
	struct pumice_scene_chain chain;	/* that chain, as it was read */
	struct pm_walk walk;		/* of learning, or of freeing */
};

struct pm {
	struct pm_config config;
	pthread_mutex_t lock;		/* guards all that follows */
	struct mmu_tlb tlb;		/* context 0 */
	struct pm_shadow shadow[PM_SHADOWS];
	u64 stamp;
	u32 budget;			/* links that the call may still follow */
	u32 low_list;
	_Atomic u64 allocated, freed;	/* pages since reset */
};

/* Words of context 0, each read or written once; false with *fault. addr is a multiple of 4. */
bool pm_read_words(struct pm *pm, u64 addr, u32 *words, u32 count, struct gpu_fault *fault);
bool pm_write_words(struct pm *pm, u64 addr, const u32 *words, u32 count,
		    struct gpu_fault *fault);
/* *fault becomes a fault of the PM at an address of context 0; returns false. */
bool pm_fault(struct gpu_fault *fault, enum pumice_fault why, u64 addr);

/*
 * list.c. A list is opened, which reads and checks it, changed in its shadow and
 * links, and closed, which writes it back. PM lock held.
 */
/* PM_OK, PM_FAULT, or PM_MORE while the list is being learnt. */
enum pm_result pm_list_open(struct pm *pm, u32 addr, struct pm_shadow **s,
			    struct gpu_fault *fault);
bool pm_list_close(struct pm *pm, struct pm_shadow *s, struct gpu_fault *fault);
/* Take one page; the list has a free one. */
bool pm_list_take(struct pm *pm, struct pm_shadow *s, u32 *page, struct gpu_fault *fault);
bool pm_list_is_allocated(const struct pm_shadow *s, u32 page);
bool pm_link_write(struct pm *pm, const struct pm_shadow *s, u32 page, u32 next,
		   struct gpu_fault *fault);
/*
 * Free a chain of pages: all of them allocated, the last one without a link. Begin it,
 * then call pm_list_free_piece() until it returns PM_OK or PM_FAULT. The list may be
 * used meanwhile, but only one of its chains is freed at a time.
 */
void pm_list_free_begin(struct pm_shadow *s, u64 addr, const struct pumice_scene_chain *chain);
enum pm_result pm_list_free_piece(struct pm *pm, struct pm_shadow *s, struct gpu_fault *fault);
void pm_list_forget_all(struct pm *pm);

/* scene.c. PM lock held. */
enum pm_result pm_scene_load_locked(struct pm *pm, u64 addr, unsigned int ctx,
				    struct pm_scene *scene, struct gpu_fault *fault);
/* Address of a macro tile's chain of pages of list l. */
u64 pm_chain_addr(const struct pm_scene *scene, u32 macro_tile, u32 l);
bool pm_chain_read(struct pm *pm, const struct pm_scene *scene, u32 macro_tile, u32 l,
		   struct pumice_scene_chain *chain, struct gpu_fault *fault);
bool pm_chain_write(struct pm *pm, const struct pm_scene *scene, u32 macro_tile, u32 l,
		    const struct pumice_scene_chain *chain, struct gpu_fault *fault);

#endif
