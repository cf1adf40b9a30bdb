// SPDX-License-Identifier: MIT
/*
 * Parameter management: allocation and release of pages for macro tiles.
 *
 * Source: document 004, "Master DPM". A page is allocated from the local list, or from the
 * global one when that is empty, and becomes the head of its macro tile's chain of that list.
 * A chain is freed as a whole (release.c).
 *
 * Functions that follow links are bounded: they return PM_MORE and are called again. They
 * keep no state of their own between two calls, except the fault of a scene that is being freed,
 * which is reported with its end. Pages of an ended job's scene that a core's DPM still has are
 * returned for the next job: damage of them is a fault of the next user of their list.
 *
 * Limits: see internal.h. After a fault the list differs from the PM's shadow; the driver
 * creates lists again after that.
 */
#include "internal.h"

#include <stdlib.h>

struct pm *pm_create(const struct pm_config *config)
{
	struct pm *pm = calloc(1, sizeof(*pm));

	if (!pm)
		return NULL;
	pm->config = *config;
	if (pthread_mutex_init(&pm->lock, NULL))
		goto free_pm;
	if (!dpm_create_all(pm))
		goto destroy_lock;
	return pm;

destroy_lock:
	pthread_mutex_destroy(&pm->lock);
free_pm:
	free(pm);
	return NULL;
}

void pm_destroy(struct pm *pm)
{
	if (!pm)
		return;
	pm_list_forget_all(pm);
	dpm_destroy_all(pm);
	pthread_mutex_destroy(&pm->lock);
	free(pm);
}

void pm_reset(struct pm *pm)
{
	pm_lock(pm);
	dpm_forget_all(pm);
	pm_list_forget_all(pm);
	if (owner_is_on(pm->config.owner))
		owner_forget(pm->config.owner);
	__atomic_store_n(&pm->low_list, 0, __ATOMIC_RELAXED);
	atomic_store(&pm->allocated, 0);
	atomic_store(&pm->freed, 0);
	atomic_store(&pm->from_spares, 0);
	atomic_store(&pm->mapped, 0);
	pm_unlock(pm);
}

void pm_trace(struct pm *pm, enum pumice_trace_pm operation, const struct pm_owner *owner,
	      u64 arg1)
{
	trace_item(pm->config.trace, (struct trace_item){
		.kind = PUMICE_TRACE_KIND_PM, .dm = (u8)owner->dm, .ctx = owner->ctx,
		.context = &owner->context, .arg0 = operation, .arg1 = arg1,
	});
}

struct pm_owner pm_owner_of(const struct pm *pm, enum trace_master dm, unsigned int ctx)
{
	return (struct pm_owner){
		.dm = dm, .ctx = ctx, .context = trace_context(pm->config.trace, dm),
	};
}

void pm_begin_call(struct pm *pm, enum trace_master dm, unsigned int ctx)
{
	pm->budget = pm_piece(pm);
	pm->owner = pm_owner_of(pm, dm, ctx);
}

/* Free a macro tile's pages by a DPM. */
static enum pm_result free_macro_tile(struct pm *pm, struct dpm *d, const struct pm_scene *scene,
				      u32 macro_tile, const struct pm_owner *owner, u32 *budget,
				      struct gpu_fault *fault)
{
	enum pm_result result = PM_OK;
	u32 l;

	for (l = 0; result == PM_OK && l < PUMICE_PM_LISTS; l++)
		result = dpm_free_chain(pm, d, scene, macro_tile, l, owner, budget, fault);
	return result;
}

enum pm_result pm_free_macro_tile_piece(struct pm *pm, u32 core, const struct pm_scene *scene,
					u32 macro_tile, struct gpu_fault *fault)
{
	const struct pm_owner owner = pm_owner_of(pm, TRACE_PDM, scene->ctx);
	u32 budget = pm_piece(pm);

	return free_macro_tile(pm, &pm->dpm[core], scene, macro_tile, &owner, &budget, fault);
}

/*
 * Note the fault of a call that frees a scene for a data master, or return that of the previous
 * ones when the scene is free.
 */
static enum pm_result keep_fault(struct pm *pm, const struct pm_scene *scene, enum trace_master dm,
				 bool more, const struct gpu_fault *first, struct gpu_fault *fault)
{
	struct gpu_fault kept = { 0 };

	pm_lock(pm);
	if (pm->freeing[dm].scene == scene->addr)
		kept = pm->freeing[dm].fault;
	if (!kept.fault)
		kept = *first;
	pm->freeing[dm].scene = more ? scene->addr : 0;
	pm->freeing[dm].fault = kept;
	pm_unlock(pm);
	if (more)
		return PM_MORE;
	*fault = kept;
	return kept.fault ? PM_FAULT : PM_OK;
}

/* Free all chains of a scene. A damaged chain does not prevent freeing the others. */
enum pm_result pm_free_scene_piece(struct pm *pm, const struct pm_scene *scene,
				   enum trace_master dm, struct gpu_fault *fault)
{
	const struct pm_owner owner = pm_owner_of(pm, dm, scene->ctx);
	struct gpu_fault first = { 0 }, other;
	enum pm_result result = dpm_return_all(pm, scene, dm, &first);
	u32 budget = pm_piece(pm), m;

	other = first;
	if (result != PM_MORE)
		result = dpm_free_begun(pm, scene, &budget, first.fault ? &other : &first);
	for (m = 0; m < PM_MACRO_TILES && result != PM_MORE; m++)
		result = free_macro_tile(pm, &pm->dpm[DPM_MASTER], scene, m, &owner, &budget,
					 first.fault ? &other : &first);
	return keep_fault(pm, scene, dm, result == PM_MORE, &first, fault);
}

enum pm_result pm_scene_begin_piece(struct pm *pm, const struct pm_scene *scene,
				    struct gpu_fault *fault)
{
	return pm_free_scene_piece(pm, scene, TRACE_VDM, fault);
}

bool pm_free_macro_tile(struct pm *pm, u32 core, const struct pm_scene *scene, u32 macro_tile,
			struct gpu_fault *fault)
{
	enum pm_result result;

	do
		result = pm_free_macro_tile_piece(pm, core, scene, macro_tile, fault);
	while (result == PM_MORE);
	return result == PM_OK;
}

bool pm_free_scene(struct pm *pm, const struct pm_scene *scene, struct gpu_fault *fault)
{
	enum pm_result result;

	do
		result = pm_free_scene_piece(pm, scene, TRACE_VDM, fault);
	while (result == PM_MORE);
	return result == PM_OK;
}

bool pm_scene_begin(struct pm *pm, const struct pm_scene *scene, struct gpu_fault *fault)
{
	return pm_free_scene(pm, scene, fault);
}

u32 pm_page_ref(u32 page, u32 l)
{
	const struct pumice_pb_ref at = {
		.offset = page * (PUMICE_PM_PAGE_SIZE / 16), .list = (u8)l,
	};
	u32 ref;

	pumice_pb_ref_pack(&ref, &at);
	return ref;
}

/* Add a new page of an open list to the macro tile's chain. */
static bool alloc_page(struct pm *pm, const struct pm_scene *scene, u32 macro_tile, u32 l,
		       struct pm_shadow *s, u32 *ref, struct gpu_fault *fault)
{
	const struct owner_user user = pm_user(scene, macro_tile);
	struct pumice_scene_chain chain;
	u32 page;

	if (!pm_chain_read(pm, scene, macro_tile, l, &chain, fault) ||
	    !pm_chain_check(scene, macro_tile, l, s, &chain, fault))
		return false;
	if (!pm_list_alloc(pm, s, &user, &page, fault) ||
	    !pm_link_write(pm, &pm->tlb, s->links, page, chain.head, fault))
		return false;
	if (!chain.pages)
		chain.tail = page;
	chain.head = page;
	chain.pages++;
	*ref = pm_page_ref(page, l);
	return pm_chain_write(pm, scene, macro_tile, l, &chain, fault);
}

/* Raise PM_LOW, once until pages are added. */
static void check_low(struct pm *pm, struct pm_shadow *s)
{
	if (s->list.low || s->list.free >= s->list.threshold)
		return;
	s->list.low = true;
	__atomic_store_n(&pm->low_list, s->addr, __ATOMIC_RELAXED);
	pm_trace(pm, PUMICE_TRACE_PM_LOW, &pm->owner, s->addr);
	if (pm->config.low)
		pm->config.low(pm->config.opaque);
}

/* Allocate from an open list that has a free page; from list 0 also spare pages for the DPM. */
static bool alloc_from(struct pm *pm, struct dpm *d, const struct pm_scene *scene, u32 macro_tile,
		       u32 l, struct pm_shadow *s, u32 *ref, struct gpu_fault *fault)
{
	if (!alloc_page(pm, scene, macro_tile, l, s, ref, fault) ||
	    (!l && !dpm_refill_locked(pm, d, scene, s, fault)))
		return false;
	check_low(pm, s);
	return pm_list_close(pm, s, fault);
}

static enum pm_result alloc_locked(struct pm *pm, struct dpm *d, const struct pm_scene *scene,
				   u32 macro_tile, u32 *ref, struct gpu_fault *fault)
{
	u32 grows = 0;	/* the empty list that can grow */
	u32 l;

	for (l = 0; l < PUMICE_PM_LISTS; l++) {
		enum pm_result result;
		struct pm_shadow *s;

		if (!scene->list[l])
			continue;
		result = pm_list_open(pm, scene->list[l], &s, fault);
		if (result != PM_OK)
			return result;
		if (!s->list.free && !dpm_reclaim_locked(pm, s, fault))
			return PM_FAULT;
		if (!s->list.free) {
			if (!grows && s->list.pages < s->list.max_pages)
				grows = s->addr;
			continue;
		}
		return alloc_from(pm, d, scene, macro_tile, l, s, ref, fault) ? PM_OK : PM_FAULT;
	}
	__atomic_store_n(&pm->low_list, grows ? grows : scene->list[0], __ATOMIC_RELAXED);
	return PM_EMPTY;
}

enum pm_result pm_master_alloc(struct pm *pm, struct dpm *d, const struct pm_scene *scene,
			       u32 macro_tile, u32 *ref, struct gpu_fault *fault)
{
	enum pm_result result;

	pm_lock(pm);
	pm_begin_call(pm, TRACE_VDM, scene->ctx);
	result = dpm_change_scene_locked(pm, d, scene, fault);
	if (result == PM_OK)
		result = alloc_locked(pm, d, scene, macro_tile, ref, fault);
	pm_unlock(pm);
	if (result == PM_OK)
		atomic_fetch_add_explicit(&pm->allocated, 1, memory_order_relaxed);
	return result;
}

bool pm_grow(struct pm *pm, u64 list, u32 pages)
{
	enum pm_result result;
	struct gpu_fault fault = { 0 };
	struct pm_shadow *s;

	if (list >> 32)
		return true;
	pm_lock(pm);
	pm_begin_call(pm, TRACE_NO_JOB, 0);
	result = pm_list_open(pm, (u32)list, &s, &fault);
	if (result == PM_OK && pages > s->list.pages && pages <= s->list.max_pages) {
		s->list.free += pages - s->list.pages -
				(pm_tables_below(&s->list, pages) -
				 pm_tables_below(&s->list, s->list.pages));
		s->list.pages = pages;
		s->list.low = false;
		pm_list_close(pm, s, &fault);
		pm_trace(pm, PUMICE_TRACE_PM_GROW, &pm->owner, pages);
	}
	pm_unlock(pm);
	return result != PM_MORE;
}

bool pm_release(struct pm *pm, u64 addr)
{
	const struct pm_scene_state none = { 0 };
	struct gpu_fault fault = { 0 };
	enum pm_result loaded, freed = PM_OK;
	struct pm_scene scene;

	loaded = pm_scene_load_piece(pm, addr, 0, &scene, &fault);
	if (loaded == PM_OK)
		freed = pm_free_scene_piece(pm, &scene, TRACE_NO_JOB, &fault);
	if (loaded == PM_MORE || freed == PM_MORE)
		return false;
	if (loaded == PM_OK)
		pm_scene_state_write(pm, &scene, &none, &fault);
	return true;
}

u64 pm_low_list(const struct pm *pm)
{
	return __atomic_load_n(&pm->low_list, __ATOMIC_RELAXED);
}

u64 pm_allocated(const struct pm *pm)
{
	return atomic_load_explicit(&pm->allocated, memory_order_relaxed);
}

u64 pm_freed(const struct pm *pm)
{
	return atomic_load_explicit(&pm->freed, memory_order_relaxed);
}
