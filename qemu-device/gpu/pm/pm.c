// SPDX-License-Identifier: MIT
/*
 * Parameter management: allocation and release of pages for macro tiles.
 *
 * Source: document 004, "Master DPM" and "DPM". A page is allocated from the local list, or
 * from the global one when that is empty, and becomes the head of its macro tile's chain of
 * that list. A chain is freed as a whole: it is followed once, to check that all of it is
 * allocated, and two links change.
 *
 * Functions that follow links are bounded: they return PM_MORE and are called again. They
 * keep no state of their own between two calls. Finished work is visible in memory, and the
 * progress in a chain is in the list's shadow; so a caller that never calls again leaves no
 * lock held, and the next caller that frees a chain of the list continues the one that was
 * begun.
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
	if (pthread_mutex_init(&pm->lock, NULL)) {
		free(pm);
		return NULL;
	}
	return pm;
}

void pm_destroy(struct pm *pm)
{
	if (!pm)
		return;
	pm_list_forget_all(pm);
	pthread_mutex_destroy(&pm->lock);
	free(pm);
}

void pm_reset(struct pm *pm)
{
	pthread_mutex_lock(&pm->lock);
	pm_list_forget_all(pm);
	__atomic_store_n(&pm->low_list, 0, __ATOMIC_RELAXED);
	atomic_store(&pm->allocated, 0);
	atomic_store(&pm->freed, 0);
	pthread_mutex_unlock(&pm->lock);
}

void pm_trace(struct pm *pm, enum pumice_trace_pm operation, const struct pm_owner *owner,
	      u64 arg1)
{
	trace_item(pm->config.trace, (struct trace_item){
		.kind = PUMICE_TRACE_KIND_PM, .dm = (u8)owner->dm, .ctx = owner->ctx,
		.context = &owner->context, .arg0 = operation, .arg1 = arg1,
	});
}

/* Begin a call that follows links, for the job of a data master or for none; PM lock held. */
static void begin_call(struct pm *pm, enum trace_master dm, unsigned int ctx)
{
	pm->budget = PM_PIECE;
	pm->owner = (struct pm_owner){
		.dm = dm, .ctx = ctx, .context = trace_context(pm->config.trace, dm),
	};
}

/* Free a macro tile's pages of list l. */
static enum pm_result free_chain(struct pm *pm, const struct pm_scene *scene, u32 macro_tile,
				 u32 l, struct gpu_fault *fault)
{
	const u64 addr = pm_chain_addr(scene, macro_tile, l);
	struct pumice_scene_chain chain;
	struct gpu_fault ignored = { 0 };
	enum pm_result result;
	struct pm_shadow *s;

	if (!pm_chain_read(pm, scene, macro_tile, l, &chain, fault))
		return PM_FAULT;
	if (!chain.pages)
		return PM_OK;
	if (!scene->list[l])
		goto damaged;
	result = pm_list_open(pm, scene->list[l], &s, fault);
	if (result != PM_OK)
		return result;
	/* Another chain was begun: its owner reads the result from the chain in memory. */
	while (s->freeing && s->freeing != addr)
		if (pm_list_free_piece(pm, s, &ignored) == PM_MORE)
			return PM_MORE;
	if (!s->freeing) {
		if (chain.pages > s->list.pages - s->list.free)
			goto damaged;
		pm_list_free_begin(pm, s, addr, macro_tile, &chain);
	}
	return pm_list_free_piece(pm, s, fault);
damaged:
	pm_fault(fault, PUMICE_FAULT_PM_SCENE, addr);
	return PM_FAULT;
}

static enum pm_result free_macro_tile_locked(struct pm *pm, const struct pm_scene *scene,
					     u32 macro_tile, struct gpu_fault *fault)
{
	enum pm_result result = PM_OK;
	u32 l;

	for (l = 0; result == PM_OK && l < PUMICE_PM_LISTS; l++)
		result = free_chain(pm, scene, macro_tile, l, fault);
	return result;
}

/* Free all chains of a scene. A damaged chain does not prevent freeing the others. */
static enum pm_result free_scene_locked(struct pm *pm, const struct pm_scene *scene,
					struct gpu_fault *fault)
{
	enum pm_result result = PM_OK;
	struct gpu_fault other = { 0 };
	u32 m;

	for (m = 0; m < PM_MACRO_TILES; m++) {
		switch (free_macro_tile_locked(pm, scene, m, result == PM_OK ? fault : &other)) {
		case PM_MORE:
			return PM_MORE;
		case PM_FAULT:
			result = PM_FAULT;
			break;
		default:
			break;
		}
	}
	return result;
}

enum pm_result pm_free_macro_tile_piece(struct pm *pm, const struct pm_scene *scene,
					u32 macro_tile, struct gpu_fault *fault)
{
	enum pm_result result;

	pthread_mutex_lock(&pm->lock);
	begin_call(pm, TRACE_PDM, scene->ctx);
	result = free_macro_tile_locked(pm, scene, macro_tile, fault);
	pthread_mutex_unlock(&pm->lock);
	return result;
}

enum pm_result pm_free_scene_piece(struct pm *pm, const struct pm_scene *scene,
				   enum trace_master dm, struct gpu_fault *fault)
{
	enum pm_result result;

	pthread_mutex_lock(&pm->lock);
	begin_call(pm, dm, scene->ctx);
	result = free_scene_locked(pm, scene, fault);
	pthread_mutex_unlock(&pm->lock);
	return result;
}

enum pm_result pm_scene_begin_piece(struct pm *pm, const struct pm_scene *scene,
				    struct gpu_fault *fault)
{
	return pm_free_scene_piece(pm, scene, TRACE_VDM, fault);
}

bool pm_free_macro_tile(struct pm *pm, const struct pm_scene *scene, u32 macro_tile,
			struct gpu_fault *fault)
{
	enum pm_result result;

	do
		result = pm_free_macro_tile_piece(pm, scene, macro_tile, fault);
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

/* Add a new page of an open list to the macro tile's chain. */
static bool alloc_page(struct pm *pm, const struct pm_scene *scene, u32 macro_tile, u32 l,
		       struct pm_shadow *s, u32 *ref, struct gpu_fault *fault)
{
	struct pumice_scene_chain chain;
	struct pumice_pb_ref at;
	u32 page;

	if (!pm_chain_read(pm, scene, macro_tile, l, &chain, fault))
		return false;
	if (chain.pages > s->list.pages - s->list.free ||
	    (chain.pages && (!pm_list_is_allocated(s, chain.head) ||
			     !pm_list_is_allocated(s, chain.tail))))
		return pm_fault(fault, PUMICE_FAULT_PM_SCENE,
				pm_chain_addr(scene, macro_tile, l));
	if (!pm_list_alloc(pm, s, &page, fault) ||
	    !pm_link_write(pm, s, page, chain.head, fault))
		return false;
	if (!chain.pages)
		chain.tail = page;
	chain.head = page;
	chain.pages++;
	at = (struct pumice_pb_ref){ .offset = page * (PUMICE_PM_PAGE_SIZE / 16), .list = (u8)l };
	pumice_pb_ref_pack(ref, &at);
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

static enum pm_result alloc_locked(struct pm *pm, const struct pm_scene *scene, u32 macro_tile,
				   u32 *ref, struct gpu_fault *fault)
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
		if (!s->list.free) {
			if (!grows && s->list.pages < s->list.max_pages)
				grows = s->addr;
			continue;
		}
		if (!alloc_page(pm, scene, macro_tile, l, s, ref, fault))
			return PM_FAULT;
		check_low(pm, s);
		if (!pm_list_close(pm, s, fault))
			return PM_FAULT;
		atomic_fetch_add_explicit(&pm->allocated, 1, memory_order_relaxed);
		return PM_OK;
	}
	__atomic_store_n(&pm->low_list, grows ? grows : scene->list[0], __ATOMIC_RELAXED);
	return PM_EMPTY;
}

enum pm_result pm_alloc(struct pm *pm, const struct pm_scene *scene, u32 macro_tile, u32 *ref,
			struct gpu_fault *fault)
{
	enum pm_result result;

	pthread_mutex_lock(&pm->lock);
	begin_call(pm, TRACE_VDM, scene->ctx);
	result = alloc_locked(pm, scene, macro_tile, ref, fault);
	if (result == PM_OK || result == PM_EMPTY)
		pm_trace(pm, result == PM_OK ? PUMICE_TRACE_PM_ALLOC : PUMICE_TRACE_PM_EMPTY,
			 &pm->owner, macro_tile);
	pthread_mutex_unlock(&pm->lock);
	return result;
}

bool pm_grow(struct pm *pm, u64 list, u32 pages)
{
	enum pm_result result;
	struct gpu_fault fault = { 0 };
	struct pm_shadow *s;

	if (list >> 32)
		return true;
	pthread_mutex_lock(&pm->lock);
	begin_call(pm, TRACE_NO_JOB, 0);
	result = pm_list_open(pm, (u32)list, &s, &fault);
	if (result == PM_OK && pages > s->list.pages && pages <= s->list.max_pages) {
		s->list.free += pages - s->list.pages;
		s->list.pages = pages;
		s->list.low = false;
		pm_list_close(pm, s, &fault);
		pm_trace(pm, PUMICE_TRACE_PM_GROW, &pm->owner, pages);
	}
	pthread_mutex_unlock(&pm->lock);
	return result != PM_MORE;
}

bool pm_release(struct pm *pm, u64 addr)
{
	const struct pm_scene_state none = { 0 };
	enum pm_result loaded, freed = PM_OK;
	struct gpu_fault fault = { 0 };
	struct pm_scene scene;

	pthread_mutex_lock(&pm->lock);
	begin_call(pm, TRACE_NO_JOB, 0);
	loaded = pm_scene_load_locked(pm, addr, 0, &scene, &fault);
	if (loaded == PM_OK)
		freed = free_scene_locked(pm, &scene, &fault);
	pthread_mutex_unlock(&pm->lock);
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
