// SPDX-License-Identifier: MIT
/*
 * Dynamic parameter management (DPM) of a core: spare pages, and the chains made of them.
 *
 * Source: document 004, "DPM" and "Master DPM". MTE and TE of a core request pages of its
 * DPM. While the scene's list has plenty of free pages, the master DPM allocates a few more
 * than requested. They are the spare pages of the DPM, which allocates them without the
 * master. The chains of these pages stay in the DPM until its core has finished its part of
 * the scene, or the scene is freed: then the master receives the chains and the remaining
 * spare pages.
 *
 * When the master has no free page, it takes back the spare pages of all DPMs. Therefore a
 * request fails only if no page is free anywhere.
 *
 * Limits: spare pages are of list 0 of one scene at a time. Pages that a DPM has when the GPU
 * is reset are lost: the driver initializes the lists then.
 */
#include <string.h>

#include "../number.h"
#include "internal.h"

bool dpm_create_all(struct pm *pm)
{
	u32 i;

	for (i = 0; i < DPM_COUNT; i++) {
		pm->dpm[i].tlb.place = i == DPM_MASTER ? 0 : i + 1;
		if (pthread_mutex_init(&pm->dpm[i].lock, NULL)) {
			while (i--)
				pthread_mutex_destroy(&pm->dpm[i].lock);
			return false;
		}
	}
	return true;
}

void dpm_destroy_all(struct pm *pm)
{
	u32 i;

	for (i = 0; i < DPM_COUNT; i++)
		pthread_mutex_destroy(&pm->dpm[i].lock);
}

void dpm_forget_all(struct pm *pm)
{
	u32 i;

	for (i = 0; i < DPM_COUNT; i++) {
		struct dpm *d = &pm->dpm[i];

		dpm_lock(d);
		d->open = false;
		d->spares = 0;
		d->release = (struct dpm_release){ 0 };
		dpm_unlock(d);
	}
}

/* Return whether the pages of a DPM are of this scene and list. Its lock is held. */
static bool has_scene(const struct dpm *d, const struct pm_scene *scene)
{
	return d->open && d->scene.addr == scene->addr && d->scene.list[0] == scene->list[0];
}

/* Add a chain of a DPM to the scene's one. */
static bool join_chain(struct pm *pm, struct dpm *d, const struct pm_shadow *s, u32 macro_tile,
		       struct gpu_fault *fault)
{
	const struct dpm_chain *own = &d->chain[macro_tile];
	struct pumice_scene_chain chain;

	/* The host may have replaced the list by a new one meanwhile, with fewer pages. */
	if (!pm_list_is_allocated(s, own->head) || !pm_list_is_allocated(s, own->tail))
		return pm_fault(fault, PUMICE_FAULT_PM_FREE_LIST, s->addr);
	if (!pm_chain_read(pm, &d->scene, macro_tile, 0, &chain, fault) ||
	    !pm_chain_check(&d->scene, macro_tile, 0, s, &chain, fault) ||
	    !pm_link_write(pm, &pm->tlb, s->links, own->tail, chain.head, fault))
		return false;
	if (!chain.pages)
		chain.tail = own->tail;
	chain.head = own->head;
	chain.pages += own->pages;
	return pm_chain_write(pm, &d->scene, macro_tile, 0, &chain, fault);
}

/* Free the spare pages of a DPM; the list is open. */
static bool free_spares(struct pm *pm, struct dpm *d, struct pm_shadow *s, struct gpu_fault *fault)
{
	const struct owner_user user = pm_user(&d->scene, STRICT_SPARE);
	u32 low = PUMICE_PM_NO_PAGE, high = 0, page;
	bool ok = true;

	while (d->spares && ok) {
		page = d->spare[--d->spares];
		ok = pm_list_free(pm, s, &user, page, fault);
		low = min_u32(low, page);
		high = max_u32(high, page);
	}
	pm_tables_flush(pm, s, d->scene.ctx, low, high);
	return ok;
}

static bool return_pages(struct pm *pm, struct dpm *d, struct pm_shadow *s, struct gpu_fault *fault)
{
	u32 m;

	for (m = 0; m < PM_MACRO_TILES; m++)
		if (d->chain[m].pages && !join_chain(pm, d, s, m, fault))
			return false;
	return free_spares(pm, d, s, fault) && pm_list_close(pm, s, fault);
}

/* Return all pages of a DPM to the master. After a fault they are lost. Both locks are held. */
static enum pm_result return_locked(struct pm *pm, struct dpm *d, struct gpu_fault *fault)
{
	enum pm_result result;
	struct pm_shadow *s;

	if (!d->open)
		return PM_OK;
	result = pm_list_open(pm, d->scene.list[0], &s, fault);
	if (result == PM_MORE)
		return result;
	if (result == PM_OK && !return_pages(pm, d, s, fault))
		result = PM_FAULT;
	d->open = false;
	d->spares = 0;
	return result;
}

enum pm_result pm_return_piece(struct pm *pm, u32 core, struct gpu_fault *fault)
{
	struct dpm *d = &pm->dpm[core];
	enum pm_result result;

	pm_lock(pm);
	dpm_lock(d);
	pm_begin_call(pm, TRACE_VDM, d->scene.ctx);
	result = return_locked(pm, d, fault);
	dpm_unlock(d);
	pm_unlock(pm);
	return result;
}

bool pm_return(struct pm *pm, u32 core, struct gpu_fault *fault)
{
	enum pm_result result;

	do
		result = pm_return_piece(pm, core, fault);
	while (result == PM_MORE);
	return result == PM_OK;
}

enum pm_result dpm_change_scene_locked(struct pm *pm, struct dpm *d, const struct pm_scene *scene,
				       struct gpu_fault *fault)
{
	enum pm_result result = PM_OK;

	dpm_lock(d);
	if (!has_scene(d, scene))
		result = return_locked(pm, d, fault);
	/* Damaged memory of another scene does not concern this job. */
	if (result == PM_FAULT) {
		pm_list_postpone(pm, d->scene.list[0], fault);
		result = PM_OK;
	}
	dpm_unlock(d);
	return result;
}

enum pm_result dpm_return_all(struct pm *pm, const struct pm_scene *scene, enum trace_master dm,
			      struct gpu_fault *fault)
{
	enum pm_result result = PM_OK, one;
	struct gpu_fault other = { 0 };
	u32 i;

	pm_lock(pm);
	pm_begin_call(pm, dm, scene->ctx);
	for (i = 0; i < PUMICE_MAX_CORES && result != PM_MORE; i++) {
		struct dpm *d = &pm->dpm[i];

		dpm_lock(d);
		one = d->open && d->scene.addr == scene->addr ?
			      return_locked(pm, d, result == PM_OK ? fault : &other) : PM_OK;
		dpm_unlock(d);
		if (one != PM_OK)
			result = one;
	}
	pm_unlock(pm);
	return result;
}

/* Return the number of spare pages for a DPM: few when the list is short. */
static u32 share_of(const struct pumice_free_list *list)
{
	const u32 share = list->free > list->threshold ?
				  (list->free - list->threshold) / DPM_SHARE : 0;

	return share < DPM_SPARES ? share : DPM_SPARES;
}

bool dpm_refill_locked(struct pm *pm, struct dpm *d, const struct pm_scene *scene,
		       struct pm_shadow *s, struct gpu_fault *fault)
{
	const struct owner_user user = pm_user(scene, STRICT_SPARE);
	const u32 count = share_of(&s->list);
	bool ok = true;

	if (!count)
		return true;
	dpm_lock(d);
	if (!d->open) {
		d->open = true;
		d->scene = *scene;
		d->links = s->links;
		d->spares = 0;
		memset(d->chain, 0, sizeof(d->chain));
	}
	while (ok && d->spares < count) {
		ok = pm_list_alloc(pm, s, &user, &d->spare[d->spares], fault);
		d->spares += ok;
	}
	dpm_unlock(d);
	return ok;
}

bool dpm_reclaim_locked(struct pm *pm, struct pm_shadow *s, struct gpu_fault *fault)
{
	bool ok = true;
	u32 i;

	for (i = 0; i < PUMICE_MAX_CORES && ok; i++) {
		struct dpm *d = &pm->dpm[i];

		dpm_lock(d);
		if (d->open && d->scene.list[0] == s->addr)
			ok = free_spares(pm, d, s, fault);
		dpm_unlock(d);
	}
	return ok;
}

/* Add a spare page to the macro tile's chain. The lock is held. */
static bool use_spare(struct pm *pm, struct dpm *d, u32 macro_tile, u32 *ref,
		      struct gpu_fault *fault)
{
	const struct owner_user user = pm_user(&d->scene, macro_tile);
	struct dpm_chain *chain = &d->chain[macro_tile];
	const u32 page = d->spare[d->spares - 1];

	if (!pm_link_write(pm, &d->tlb, d->links, page, chain->pages ? chain->head :
								       PUMICE_PM_NO_PAGE, fault))
		return false;
	d->spares--;
	if (owner_is_on(pm->config.owner))
		owner_use_spare(pm->config.owner, d->scene.list[0], page, &user);
	if (!chain->pages)
		chain->tail = page;
	chain->head = page;
	chain->pages++;
	*ref = pm_page_ref(page, 0);
	return true;
}

/* Allocate from the spare pages. PM_EMPTY: there is none for this scene. */
static enum pm_result alloc_spare(struct pm *pm, struct dpm *d, const struct pm_scene *scene,
				  u32 macro_tile, u32 *ref, struct gpu_fault *fault)
{
	enum pm_result result = PM_EMPTY;

	dpm_lock(d);
	if (has_scene(d, scene) && d->spares)
		result = use_spare(pm, d, macro_tile, ref, fault) ? PM_OK : PM_FAULT;
	dpm_unlock(d);
	if (result == PM_OK) {
		atomic_fetch_add_explicit(&pm->allocated, 1, memory_order_relaxed);
		atomic_fetch_add_explicit(&pm->from_spares, 1, memory_order_relaxed);
	}
	return result;
}

enum pm_result pm_alloc(struct pm *pm, u32 core, const struct pm_scene *scene, u32 macro_tile,
			u32 *ref, struct gpu_fault *fault)
{
	const struct pm_owner owner = pm_owner_of(pm, TRACE_VDM, scene->ctx);
	struct dpm *d = &pm->dpm[core];
	enum pm_result result = alloc_spare(pm, d, scene, macro_tile, ref, fault);

	if (result == PM_EMPTY)
		result = pm_master_alloc(pm, d, scene, macro_tile, ref, fault);
	if (result == PM_OK || result == PM_EMPTY)
		pm_trace(pm, result == PM_OK ? PUMICE_TRACE_PM_ALLOC : PUMICE_TRACE_PM_EMPTY,
			 &owner, macro_tile);
	return result;
}

u64 pm_from_spares(const struct pm *pm)
{
	return atomic_load_explicit(&pm->from_spares, memory_order_relaxed);
}
