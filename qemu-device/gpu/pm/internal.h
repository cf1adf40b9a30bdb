/* SPDX-License-Identifier: MIT */
/*
 * Parameter management, internals: free lists (list.c), their page tables (tables.c), scenes
 * (scene.c), pages (pm.c), and the DPM of each core (dpm.c, release.c).
 *
 * Source: document 004, "Master DPM" and "DPM"; document 000, "Memory Hierarchy";
 * hw/formats.xml, free_list, scene, scene_chain.
 *
 * The lists' memory belongs to the host, which may write it at any time. So the PM keeps a
 * shadow of the values that it wrote to each list, and of which pages are allocated: a list
 * that differs is damaged, and no page is ever allocated twice, whatever the contents of
 * memory.
 *
 * Locking: pm.lock guards the master DPM; each DPM has a lock of its own, which is acquired
 * after pm.lock where both are needed. A DPM that has spare pages allocates with its own lock
 * only, and the DPMs follow the chains that they free with their own locks only.
 */
#ifndef PUMICE_GPU_PM_INTERNAL_H
#define PUMICE_GPU_PM_INTERNAL_H

#include <pthread.h>

#include "../strict/owner.h"
#include "pm.h"

#define PM_MAX_PAGES	262144u	/* pages of a list: the driver's maximum */
#define PM_SHADOWS	32u	/* lists with a shadow; others are scanned again */
#define PM_PIECE	1024u	/* links followed before PM_MORE is returned: about 20 us */
#define PM_DETAILED_PIECE 64u	/* the same in detailed modes, in which each is a request */
#define DPM_SPARES	8u	/* most spare pages of a DPM */
#define DPM_SHARE	32u	/* a DPM's part of the free pages above the threshold */
#define DPM_MASTER	PUMICE_MAX_CORES	/* number of the master's own DPM,
						 * which only frees */
#define DPM_COUNT	(PUMICE_MAX_CORES + 1u)

/* Progress of following a chain of links. */
struct pm_walk {
	u32 page;	/* next page */
	u32 left;	/* pages to follow */
	u32 last;	/* previous page */
	bool unmap;	/* the pages are freed: unmap them */
	u32 low, high;	/* first and last page so far that was unmapped */
	struct owner_user by;	/* they are freed by it; of a scan: none */
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
	/*
	 * Bit n: page n belongs to a scene, or is a spare page of a DPM; max_pages bits.
	 * Accessed atomically: DPMs clear bits of the pages that they free without pm.lock.
	 */
	_Atomic u64 *allocated;
	bool scanning;			/* the pages are being scanned; not usable until done */
	struct pm_walk walk;		/* of the scan */
	struct gpu_fault pending;	/* of a job that had ended: reported
					 * to the list's next user */
	u32 users;			/* chains of the list that DPMs free; it stays cached */
	/* Constant, and so readable by these DPMs. */
	u32 links, max_pages;
	u64 base;
	struct pm_tables *tables;	/* if the MMU maps its pages; or NULL */
};

/* A chain of pages that a DPM frees. The chain in memory is empty meanwhile. */
struct dpm_release {
	struct pm_shadow *shadow;	/* of its list; NULL: none is being freed */
	u64 scene, addr;		/* of the scene and of the chain in context 0 */
	struct pumice_scene_chain chain;	/* as it was read */
	u32 macro_tile;
	struct pm_owner owner;		/* began to free it; perhaps another call completes it */
	struct pm_walk walk;
	bool failed;			/* the walk met this fault */
	struct gpu_fault fault;
};

/* Pages that a DPM has allocated for a macro tile from its spare ones. */
struct dpm_chain {
	u32 head, tail;
	u32 pages;
};

/* The DPM of a core, or the master's own one. */
struct dpm {
	pthread_mutex_t lock;		/* guards all following fields */
	struct mmu_tlb tlb;		/* context 0 */

	/* Pages of list 0 of one scene. */
	bool open;			/* the fields below are valid */
	struct pm_scene scene;
	u32 links;			/* the list's table */
	u32 spare[DPM_SPARES];		/* allocated, and in no chain */
	u32 spares;
	struct dpm_chain chain[PM_MACRO_TILES];

	/* shadow, scene, addr and owner: changed with pm.lock held, too. */
	struct dpm_release release;
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
	struct dpm dpm[DPM_COUNT];	/* each has its own lock */
	_Atomic u64 allocated, freed;	/* pages since reset */
	_Atomic u64 from_spares;	/* pages of allocated that came from a DPM's spare ones */
	_Atomic u64 mapped;		/* pages that the MMU has mapped */
	/* Of each data master, and of pm_release(): fault so far of a scene that is being freed. */
	struct {
		u64 scene;	/* address in context 0; 0: none */
		struct gpu_fault fault;
	} freeing[TRACE_NO_JOB + 1];
};

static inline void pm_lock(struct pm *pm)
{
	pthread_mutex_lock(&pm->lock);
}

static inline void pm_unlock(struct pm *pm)
{
	pthread_mutex_unlock(&pm->lock);
}

static inline void dpm_lock(struct dpm *d)
{
	pthread_mutex_lock(&d->lock);
}

static inline void dpm_unlock(struct dpm *d)
{
	pthread_mutex_unlock(&d->lock);
}

/* Read or write words of context 0, each once; false with *fault. addr is a multiple of 4. */
bool pm_read_words(struct pm *pm, u64 addr, u32 *words, u32 count, struct gpu_fault *fault);
bool pm_write_words(struct pm *pm, u64 addr, const u32 *words, u32 count,
		    struct gpu_fault *fault);
/* Return the job of a call. */
struct pm_owner pm_owner_of(const struct pm *pm, enum trace_master dm, unsigned int ctx);
/* Begin a call that follows links, for the job of a data master or for none; PM lock held. */
void pm_begin_call(struct pm *pm, enum trace_master dm, unsigned int ctx);
/* Return a user of pages of a scene. macro_tile: or STRICT_SPARE. */
static inline struct owner_user pm_user(const struct pm_scene *scene, u32 macro_tile)
{
	return (struct owner_user){
		.scene = scene->addr, .macro_tile = (u8)macro_tile, .ctx = (u8)scene->ctx,
	};
}
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
/* Allocate one page for a user; the list must have a free one. */
bool pm_list_alloc(struct pm *pm, struct pm_shadow *s, const struct owner_user *to, u32 *page,
		   struct gpu_fault *fault);
/* Free one page that is allocated and in no chain, by a user; then call pm_tables_flush(). */
bool pm_list_free(struct pm *pm, struct pm_shadow *s, const struct owner_user *by, u32 page,
		  struct gpu_fault *fault);
/* Let the next call that opens the list fail with this fault, if the PM has its shadow. */
void pm_list_postpone(struct pm *pm, u32 addr, const struct gpu_fault *fault);
bool pm_list_is_allocated(const struct pm_shadow *s, u32 page);
void pm_list_forget_all(struct pm *pm);

/*
 * list.c, links. Write the link of a page in a table of links. The lock of the TLB's owner is
 * held.
 */
bool pm_link_write(struct pm *pm, struct mmu_tlb *tlb, u32 links, u32 page, u32 next,
		   struct gpu_fault *fault);
/*
 * Follow links, at most *budget, and mark their allocated pages as free; unmap them, if they
 * are to be freed. PM_MORE: there are more. The lock of the TLB's owner is held, and the shadow
 * has a user.
 */
enum pm_result pm_walk_links(struct pm *pm, struct mmu_tlb *tlb, struct pm_shadow *s,
			     struct pm_walk *w, u32 *budget, struct gpu_fault *fault);

/*
 * tables.c: pages of lists that the MMU maps; for other lists these do nothing. PM lock held.
 * Prepare a list that is cached now; a new one has an empty directory afterwards.
 */
bool pm_tables_open(struct pm *pm, struct pm_shadow *s, struct gpu_fault *fault);
/* Count the mapped pages of a list that has been scanned. */
bool pm_tables_count(struct pm *pm, struct pm_shadow *s, struct gpu_fault *fault);
/* Return the number of pages below one that have tables, and the page of the n-th of them. */
u32 pm_tables_below(const struct pumice_free_list *list, u32 page);
u32 pm_tables_page(u32 n);
/* Return whether a page has a table, and so never data. */
bool pm_tables_has(const struct pumice_free_list *list, u32 page);
bool pm_tables_map(struct pm *pm, struct pm_shadow *s, u32 page, struct gpu_fault *fault);
/* The PM lock is not necessary, if the shadow has a user. */
void pm_tables_unmap(struct pm *pm, struct pm_shadow *s, u32 page);
/*
 * After pages first to last were unmapped: remove page tables without a page, and invalidate
 * TLBs; ctx: the context of the addresses, or 0 if that is not known.
 */
void pm_tables_flush(struct pm *pm, struct pm_shadow *s, unsigned int ctx, u32 first, u32 last);

/* Pack the reference to a page of list l. */
u32 pm_page_ref(u32 page, u32 l);

/* dpm.c. PM lock held, and no lock of a DPM, unless noted otherwise. */
bool dpm_create_all(struct pm *pm);
void dpm_destroy_all(struct pm *pm);
/* Forget all pages, at a reset. */
void dpm_forget_all(struct pm *pm);
/* Return pages that a DPM has of another scene. */
enum pm_result dpm_change_scene_locked(struct pm *pm, struct dpm *d, const struct pm_scene *scene,
				       struct gpu_fault *fault);
/* Allocate spare pages from the scene's open list 0, if that has plenty. */
bool dpm_refill_locked(struct pm *pm, struct dpm *d, const struct pm_scene *scene,
		       struct pm_shadow *s, struct gpu_fault *fault);
/* Free the spare pages of an open list that any DPM has. */
bool dpm_reclaim_locked(struct pm *pm, struct pm_shadow *s, struct gpu_fault *fault);
/* Return all pages of a scene that DPMs of cores have. No lock held. */
enum pm_result dpm_return_all(struct pm *pm, const struct pm_scene *scene, enum trace_master dm,
			      struct gpu_fault *fault);

/*
 * release.c. No lock held. Free a macro tile's pages of list l, at most *budget of them;
 * complete the frees of a scene that any DPM began.
 */
enum pm_result dpm_free_chain(struct pm *pm, struct dpm *d, const struct pm_scene *scene,
			      u32 macro_tile, u32 l, const struct pm_owner *owner, u32 *budget,
			      struct gpu_fault *fault);
enum pm_result dpm_free_begun(struct pm *pm, const struct pm_scene *scene, u32 *budget,
			      struct gpu_fault *fault);

/* pm.c: allocate a page from the lists, and spare pages for the DPM. No lock held. */
enum pm_result pm_master_alloc(struct pm *pm, struct dpm *d, const struct pm_scene *scene,
			       u32 macro_tile, u32 *ref, struct gpu_fault *fault);

/* scene.c. PM lock held. */
/* Return the address of a macro tile's chain of pages of list l. */
u64 pm_chain_addr(const struct pm_scene *scene, u32 macro_tile, u32 l);
bool pm_chain_read(struct pm *pm, const struct pm_scene *scene, u32 macro_tile, u32 l,
		   struct pumice_scene_chain *chain, struct gpu_fault *fault);
/* Check a chain of an open list: its ends are allocated. */
bool pm_chain_check(const struct pm_scene *scene, u32 macro_tile, u32 l, const struct pm_shadow *s,
		    const struct pumice_scene_chain *chain, struct gpu_fault *fault);
bool pm_chain_write(struct pm *pm, const struct pm_scene *scene, u32 macro_tile, u32 l,
		    const struct pumice_scene_chain *chain, struct gpu_fault *fault);

/* Return the number of links that a call may follow. */
static inline u32 pm_piece(const struct pm *pm)
{
	return mmu_is_detailed(pm->config.mmu) ? PM_DETAILED_PIECE : PM_PIECE;
}

#endif
