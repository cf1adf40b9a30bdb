// SPDX-License-Identifier: MIT
/*
 * Free lists of the parameter management.
 *
 * Source: hw/formats.xml, free_list. Free pages that were used before are linked, starting at
 * head; those from fresh to pages were never used, and are also free.
 *
 * A list is new if fresh is 0; then none of its pages is allocated. A list that is not new
 * but has no shadow, after a reset, is scanned by following its free pages: all others below
 * fresh are allocated.
 *
 * A list can have PM_MAX_PAGES links. They are followed in pieces of PM_PIECE, with the
 * position in the shadow, so that the lock is never held for long and a step of a unit can be
 * interrupted between two pieces.
 */
#include "internal.h"

#include "../inject/inject.h"

#include <stdlib.h>
#include <string.h>

#define NO_PAGE	PUMICE_PM_NO_PAGE

bool pm_fault(struct gpu_fault *fault, enum pumice_fault why, u64 addr)
{
	*fault = (struct gpu_fault){
		.fault = (u8)why, .unit = PUMICE_UNIT_PM, .addr = addr,
	};
	return false;
}

/* Return a host pointer to a word of context 0, or NULL with *fault. */
static u32 *word(struct pm *pm, u64 addr, enum pumice_access access, struct gpu_fault *fault)
{
	u8 *host;

	*fault = (struct gpu_fault){ .unit = PUMICE_UNIT_PM };
	host = mmu_translate(pm->config.mmu, &pm->tlb, 0, addr, access, PUMICE_UNIT_PM, fault);
	return (u32 *)(void *)host;
}

bool pm_read_words(struct pm *pm, u64 addr, u32 *words, u32 count, struct gpu_fault *fault)
{
	const u32 *host = NULL;
	u32 i;

	for (i = 0; i < count; i++, addr += 4, host++) {
		if (!host || !(addr & ((1u << MMU_GRAIN_SHIFT) - 1)))
			host = word(pm, addr, PUMICE_ACCESS_READ, fault);
		if (!host)
			return false;
		words[i] = __atomic_load_n(host, __ATOMIC_RELAXED);
	}
	return true;
}

bool pm_write_words(struct pm *pm, u64 addr, const u32 *words, u32 count, struct gpu_fault *fault)
{
	u32 *host = NULL;
	u32 i;

	for (i = 0; i < count; i++, addr += 4, host++) {
		if (!host || !(addr & ((1u << MMU_GRAIN_SHIFT) - 1)))
			host = word(pm, addr, PUMICE_ACCESS_WRITE, fault);
		if (!host)
			return false;
		__atomic_store_n(host, words[i], __ATOMIC_RELAXED);
	}
	return true;
}

static bool link_read(struct pm *pm, const struct pm_shadow *s, u32 page, u32 *next,
		      struct gpu_fault *fault)
{
	return pm_read_words(pm, (u64)s->list.links + 4ull * page, next, 1, fault);
}

bool pm_link_write(struct pm *pm, const struct pm_shadow *s, u32 page, u32 next,
		   struct gpu_fault *fault)
{
	return pm_write_words(pm, (u64)s->list.links + 4ull * page, &next, 1, fault);
}

bool pm_list_is_allocated(const struct pm_shadow *s, u32 page)
{
	return page < s->list.fresh && (s->allocated[page / 64] >> (page % 64) & 1);
}

/* Return whether a page is in the chain of free ones. */
static bool is_linked_free(const struct pm_shadow *s, u32 page)
{
	return page < s->list.fresh && !(s->allocated[page / 64] >> (page % 64) & 1);
}

static void mark(struct pm_shadow *s, u32 page, bool allocated)
{
	const u64 bit = 1ull << (page % 64);

	if (allocated)
		s->allocated[page / 64] |= bit;
	else
		s->allocated[page / 64] &= ~bit;
}

/* Return whether the words of a list are consistent. */
static bool list_consistent(const struct pumice_free_list *list)
{
	const u32 unused = list->pages - list->fresh;

	if (!list->max_pages || list->max_pages > PM_MAX_PAGES || list->pages > list->max_pages ||
	    list->fresh > list->pages || list->free > list->pages || list->free < unused)
		return false;
	if (!list->links || list->links % 4 ||
	    (u64)list->links + 4ull * list->max_pages > 1ull << 32)
		return false;
	if (!list->base || (list->base + (u64)list->max_pages * PUMICE_PM_PAGE_SIZE) >>
				   PUMICE_MMU_VA_BITS)
		return false;
	return list->free == unused ? list->head == NO_PAGE : list->head < list->fresh;
}

static bool list_is_as_left(const struct pumice_free_list *now, const struct pumice_free_list *was)
{
	return now->base == was->base && now->links == was->links &&
	       now->max_pages == was->max_pages && now->pages == was->pages &&
	       now->head == was->head && now->fresh == was->fresh && now->free == was->free;
}

static struct pm_shadow *find(struct pm *pm, u32 addr)
{
	u32 i;

	for (i = 0; i < PM_SHADOWS; i++)
		if (pm->shadow[i].addr == addr)
			return &pm->shadow[i];
	return NULL;
}

static void forget(struct pm_shadow *s)
{
	free(s->allocated);
	*s = (struct pm_shadow){ 0 };
}

void pm_list_forget_all(struct pm *pm)
{
	u32 i;

	for (i = 0; i < PM_SHADOWS; i++)
		forget(&pm->shadow[i]);
}

/* Allocate the shadow of a list, replacing the least recently used one. */
static struct pm_shadow *shadow_alloc(struct pm *pm, u32 addr, const struct pumice_free_list *list)
{
	struct pm_shadow *s = find(pm, addr);
	u32 i;

	if (!s) {
		s = &pm->shadow[0];
		for (i = 1; i < PM_SHADOWS; i++)
			if (pm->shadow[i].stamp < s->stamp)
				s = &pm->shadow[i];
	}
	forget(s);
	s->allocated = calloc((list->max_pages + 63) / 64, sizeof(u64));
	if (!s->allocated)
		return NULL;
	s->addr = addr;
	s->list = *list;
	return s;
}

/* Follow links for one piece and mark their allocated pages as free. */
static enum pm_result walk(struct pm *pm, struct pm_shadow *s, struct gpu_fault *fault)
{
	struct pm_walk *w = &s->walk;

	for (; w->left && pm->budget; w->left--, pm->budget--) {
		if (!pm_list_is_allocated(s, w->page)) {
			pm_fault(fault, PUMICE_FAULT_PM_FREE_LIST, s->addr);
			return PM_FAULT;
		}
		mark(s, w->page, false);
		w->last = w->page;
		if (!link_read(pm, s, w->page, &w->page, fault))
			return PM_FAULT;
	}
	return w->left ? PM_MORE : PM_OK;
}

/* Begin to scan a list without shadow: pages that are not linked are allocated. */
static void scan_begin(struct pm_shadow *s)
{
	const u32 fresh = s->list.fresh;

	memset(s->allocated, 0xff, fresh / 64 * sizeof(u64));
	if (fresh % 64)
		s->allocated[fresh / 64] = (1ull << (fresh % 64)) - 1;
	s->walk = (struct pm_walk){
		.page = s->list.head, .left = s->list.free - (s->list.pages - fresh),
		.last = NO_PAGE,
	};
	s->scanning = true;
}

static enum pm_result scan(struct pm *pm, struct pm_shadow *s, struct gpu_fault *fault)
{
	enum pm_result result = walk(pm, s, fault);

	if (result == PM_OK && s->walk.page != NO_PAGE) {
		pm_fault(fault, PUMICE_FAULT_PM_FREE_LIST, s->addr);
		result = PM_FAULT;
	}
	s->scanning = result == PM_MORE;
	return result;
}

/* Injected fault: invert a bit of the list that was read. */
static void inject_bit(struct pm *pm, u32 words[PUMICE_FREE_LIST_WORDS])
{
	struct inject_request request;
	u32 bit;

	if (!pm->config.inject || !inject_take(pm->config.inject, PUMICE_INJECT_KIND_FREE_LIST,
					       PUMICE_INJECT_WHERE_LIST, &request))
		return;
	bit = request.bit % (PUMICE_FREE_LIST_WORDS * 32);
	words[bit / 32] ^= 1u << bit % 32;
}

enum pm_result pm_list_open(struct pm *pm, u32 addr, struct pm_shadow **out,
			    struct gpu_fault *fault)
{
	u32 words[PUMICE_FREE_LIST_WORDS];
	enum pm_result result = PM_OK;
	struct pumice_free_list list;
	struct pm_shadow *s;

	if (!addr || addr % 4)
		goto damaged;
	if (!pm_read_words(pm, addr, words, PUMICE_FREE_LIST_WORDS, fault))
		return PM_FAULT;
	inject_bit(pm, words);
	if (pumice_free_list_unpack(words, &list) != PUMICE_UNPACK_OK || !list_consistent(&list))
		goto damaged;
	s = find(pm, addr);
	if (!s || !list.fresh) {
		s = shadow_alloc(pm, addr, &list);
		if (!s)
			goto damaged;	/* the host is out of memory for the shadow */
		scan_begin(s);
	} else if (!list_is_as_left(&list, &s->list)) {
		goto damaged;
	}
	s->list = list;
	s->stamp = ++pm->stamp;
	if (s->scanning)
		result = scan(pm, s, fault);
	if (result == PM_FAULT)
		forget(s);
	*out = s;
	return result;
damaged:
	pm_fault(fault, PUMICE_FAULT_PM_FREE_LIST, addr);
	return PM_FAULT;
}

bool pm_list_close(struct pm *pm, struct pm_shadow *s, struct gpu_fault *fault)
{
	u32 words[PUMICE_FREE_LIST_WORDS];

	if (s->list.free < s->list.min_free)
		s->list.min_free = s->list.free;
	pumice_free_list_pack(words, &s->list);
	return pm_write_words(pm, s->addr, words, PUMICE_FREE_LIST_WORDS, fault);
}

bool pm_list_alloc(struct pm *pm, struct pm_shadow *s, u32 *page, struct gpu_fault *fault)
{
	struct pumice_free_list *list = &s->list;
	const bool last = list->free - 1 == list->pages - list->fresh;
	u32 next;

	*page = list->head;
	if (*page == NO_PAGE) {
		*page = list->fresh++;
	} else {
		if (!link_read(pm, s, *page, &next, fault))
			return false;
		if (!is_linked_free(s, *page) || next == *page ||
		    (last ? next != NO_PAGE : !is_linked_free(s, next)))
			return pm_fault(fault, PUMICE_FAULT_PM_FREE_LIST, s->addr);
		list->head = next;
	}
	mark(s, *page, true);
	list->free--;
	return true;
}

void pm_list_free_begin(struct pm *pm, struct pm_shadow *s, u64 addr, u32 macro_tile,
			const struct pumice_scene_chain *chain)
{
	s->owner = pm->owner;
	s->freeing = addr;
	s->macro_tile = macro_tile;
	s->chain = *chain;
	s->walk = (struct pm_walk){ .page = chain->head, .left = chain->pages, .last = NO_PAGE };
}

/* Finish freeing, when all pages of the chain are marked free: link them, and empty the chain. */
static bool free_end(struct pm *pm, struct pm_shadow *s, struct gpu_fault *fault)
{
	const struct pumice_scene_chain none = { .head = NO_PAGE, .tail = NO_PAGE };
	u32 words[PUMICE_SCENE_CHAIN_WORDS];

	if (s->walk.last != s->chain.tail || s->walk.page != NO_PAGE)
		return pm_fault(fault, PUMICE_FAULT_PM_FREE_LIST, s->addr);
	if (!pm_link_write(pm, s, s->chain.tail, s->list.head, fault))
		return false;
	s->list.head = s->chain.head;
	s->list.free += s->chain.pages;
	pumice_scene_chain_pack(words, &none);
	if (!pm_list_close(pm, s, fault) ||
	    !pm_write_words(pm, s->freeing, words, PUMICE_SCENE_CHAIN_WORDS, fault))
		return false;
	atomic_fetch_add_explicit(&pm->freed, s->chain.pages, memory_order_relaxed);
	pm_trace(pm, PUMICE_TRACE_PM_FREE, &s->owner, s->chain.pages | (u64)s->macro_tile << 32);
	return true;
}

enum pm_result pm_list_free_piece(struct pm *pm, struct pm_shadow *s, struct gpu_fault *fault)
{
	enum pm_result result = walk(pm, s, fault);

	if (result == PM_OK && !free_end(pm, s, fault))
		result = PM_FAULT;
	if (result != PM_MORE)
		s->freeing = 0;
	return result;
}
