// SPDX-License-Identifier: MIT
/*
 * Freeing chains of pages by the DPMs.
 *
 * Source: document 004, "DPM": "Master DPM" requests that the pages of a macro tile are freed
 * once it has been rendered. The master removes the chain from the scene and passes it to a
 * DPM. That follows the chain, to check that all of it is allocated, without the master. Then
 * the master joins the chain with the free pages: two links change.
 *
 * A DPM frees one chain at a time, and keeps its position. A caller that never calls again
 * leaves no lock held: the next chain of this DPM, or the end of the scene, completes it. A
 * chain that turns out to be damaged is returned to the scene.
 */
#include "internal.h"

static const struct pumice_scene_chain none = {
	.head = PUMICE_PM_NO_PAGE, .tail = PUMICE_PM_NO_PAGE,
};

static bool write_chain(struct pm *pm, u64 addr, const struct pumice_scene_chain *chain,
			struct gpu_fault *fault)
{
	u32 words[PUMICE_SCENE_CHAIN_WORDS];

	pumice_scene_chain_pack(words, chain);
	return pm_write_words(pm, addr, words, PUMICE_SCENE_CHAIN_WORDS, fault);
}

/* Join a chain whose pages are all marked free with the free ones. */
static bool join(struct pm *pm, const struct dpm_release *r, struct gpu_fault *fault)
{
	struct pm_shadow *s = r->shadow;

	if (r->walk.last != r->chain.tail || r->walk.page != PUMICE_PM_NO_PAGE)
		return pm_fault(fault, PUMICE_FAULT_PM_FREE_LIST, s->addr);
	if (!pm_link_write(pm, &pm->tlb, s->links, r->chain.tail, s->list.head, fault))
		return false;
	s->list.head = r->chain.head;
	s->list.free += r->chain.pages;
	if (!pm_list_close(pm, s, fault))
		return false;
	atomic_fetch_add_explicit(&pm->freed, r->chain.pages, memory_order_relaxed);
	pm_trace(pm, PUMICE_TRACE_PM_FREE, &r->owner, r->chain.pages | (u64)r->macro_tile << 32);
	return true;
}

/* Complete a chain that was followed to its end, or to a fault. Both locks are held. */
static enum pm_result complete(struct pm *pm, struct dpm *d, struct gpu_fault *fault)
{
	struct dpm_release *r = &d->release;
	struct gpu_fault ignored = { 0 };
	const bool ok = !r->failed && join(pm, r, fault);

	if (r->failed)
		*fault = r->fault;
	if (!ok)
		write_chain(pm, r->addr, &r->chain, &ignored);
	pm_tables_flush(pm, r->shadow, r->owner.ctx, r->walk.low, r->walk.high);
	r->shadow->users--;
	r->shadow = NULL;
	return ok ? PM_OK : PM_FAULT;
}

/* Follow the chain of a DPM, and complete it at its end. PM_OK: it no longer has one. */
static enum pm_result advance(struct pm *pm, struct dpm *d, u32 *budget, struct gpu_fault *fault)
{
	struct dpm_release *r = &d->release;
	enum pm_result result = PM_OK;

	dpm_lock(d);
	if (r->shadow && !r->failed)
		result = pm_walk_links(pm, &d->tlb, r->shadow, &r->walk, budget, &r->fault);
	r->failed |= result == PM_FAULT;
	dpm_unlock(d);
	if (result == PM_MORE)
		return result;
	pm_lock(pm);
	dpm_lock(d);
	/* Another thread may have completed it meanwhile, or begun another one. */
	if (r->shadow && (r->failed || !r->walk.left))
		result = complete(pm, d, fault);
	dpm_unlock(d);
	pm_unlock(pm);
	return result;
}

/* Remove a chain from the scene and pass it to a DPM. Both locks are held. */
static enum pm_result claim(struct pm *pm, struct dpm *d, const struct pm_scene *scene,
			    const struct dpm_release *r, u32 l, struct gpu_fault *fault)
{
	enum pm_result result;
	struct pm_shadow *s;

	if (!scene->list[l])
		goto damaged;
	result = pm_list_open(pm, scene->list[l], &s, fault);
	if (result != PM_OK)
		return result;
	if (r->chain.pages > s->list.pages - s->list.free)
		goto damaged;
	if (!write_chain(pm, r->addr, &none, fault))
		return PM_FAULT;
	s->users++;
	d->release = *r;
	d->release.shadow = s;
	return PM_OK;
damaged:
	pm_fault(fault, PUMICE_FAULT_PM_SCENE, r->addr);
	return PM_FAULT;
}

/* Let a DPM begin to free a chain, unless that is empty or the DPM has another one. */
static enum pm_result begin(struct pm *pm, struct dpm *d, const struct pm_scene *scene,
			    struct dpm_release *r, u32 l, struct gpu_fault *fault)
{
	enum pm_result result = PM_OK;

	pm_lock(pm);
	pm_begin_call(pm, r->owner.dm, scene->ctx);
	dpm_lock(d);
	if (d->release.shadow)
		result = PM_MORE;
	else if (!pm_chain_read(pm, scene, r->macro_tile, l, &r->chain, fault))
		result = PM_FAULT;
	else if (r->chain.pages) {
		r->walk = (struct pm_walk){
			.page = r->chain.head, .left = r->chain.pages, .last = PUMICE_PM_NO_PAGE,
			.unmap = true, .low = PUMICE_PM_NO_PAGE,
			.by = pm_user(scene, r->macro_tile),
		};
		result = claim(pm, d, scene, r, l, fault);
	}
	dpm_unlock(d);
	pm_unlock(pm);
	return result;
}

/* Return the address of the chain that a DPM frees, or 0. */
static u64 begun(struct dpm *d)
{
	u64 addr;

	dpm_lock(d);
	addr = d->release.shadow ? d->release.addr : 0;
	dpm_unlock(d);
	return addr;
}

enum pm_result dpm_free_chain(struct pm *pm, struct dpm *d, const struct pm_scene *scene,
			      u32 macro_tile, u32 l, const struct pm_owner *owner, u32 *budget,
			      struct gpu_fault *fault)
{
	struct dpm_release r = {
		.scene = scene->addr, .addr = pm_chain_addr(scene, macro_tile, l),
		.macro_tile = macro_tile, .owner = *owner,
	};
	const u64 other = begun(d);
	struct gpu_fault ignored = { 0 };
	enum pm_result result = PM_OK;

	if (other)
		result = advance(pm, d, budget, other == r.addr ? fault : &ignored);
	if (result == PM_MORE || (other == r.addr && result == PM_FAULT))
		return result;
	result = begin(pm, d, scene, &r, l, fault);
	return result == PM_OK ? advance(pm, d, budget, fault) : result;
}

enum pm_result dpm_free_begun(struct pm *pm, const struct pm_scene *scene, u32 *budget,
			      struct gpu_fault *fault)
{
	enum pm_result result = PM_OK, one;
	struct gpu_fault other = { 0 };
	bool mine;
	u32 i;

	for (i = 0; i < DPM_COUNT; i++) {
		struct dpm *d = &pm->dpm[i];

		dpm_lock(d);
		mine = d->release.shadow && d->release.scene == scene->addr;
		dpm_unlock(d);
		one = mine ? advance(pm, d, budget, result == PM_OK ? fault : &other) : PM_OK;
		if (one == PM_MORE)
			return one;
		if (one == PM_FAULT)
			result = one;
	}
	return result;
}
