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
 * A list can have PM_MAX_PAGES links. They are followed in pieces of pm_piece(), with the
 * position in the shadow, or in the DPM that frees them, so that the lock is never held for
 * long and a step of a unit can be interrupted between two pieces.
 */
#include "internal.h"

#include "../inject/inject.h"
#include "../number.h"

#include <stdlib.h>

#define NO_PAGE	PUMICE_PM_NO_PAGE
#define GIB	(1ull << 30)

bool pm_fault(struct gpu_fault *fault, enum pumice_fault why, u64 addr)
{
	*fault = (struct gpu_fault){
		.fault = (u8)why, .unit = PUMICE_UNIT_PM, .addr = addr,
	};
	return false;
}

/* Return a host pointer to a word of context 0, or NULL with *fault. */
static u32 *word(struct pm *pm, struct mmu_tlb *tlb, u64 addr, enum pumice_access access,
		 struct gpu_fault *fault)
{
	u8 *host;

	*fault = (struct gpu_fault){ .unit = PUMICE_UNIT_PM };
	host = mmu_translate(pm->config.mmu, tlb, 0, addr, sizeof(u32), access, PUMICE_UNIT_PM,
			     fault);
	return (u32 *)(void *)host;
}

/* Request a word in a grain that has been translated. */
static void request_word(const struct pm *pm, u64 addr, enum pumice_access access)
{
	mmu_request(pm->config.mmu, &pm->tlb, 0, addr, sizeof(u32), access, PUMICE_UNIT_PM);
}

bool pm_read_words(struct pm *pm, u64 addr, u32 *words, u32 count, struct gpu_fault *fault)
{
	const u32 *host = NULL;
	u32 i;

	for (i = 0; i < count; i++, addr += 4, host++) {
		if (!host || !(addr & ((1u << MMU_GRAIN_SHIFT) - 1)))
			host = word(pm, &pm->tlb, addr, PUMICE_ACCESS_READ, fault);
		else
			request_word(pm, addr, PUMICE_ACCESS_READ);
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
			host = word(pm, &pm->tlb, addr, PUMICE_ACCESS_WRITE, fault);
		else
			request_word(pm, addr, PUMICE_ACCESS_WRITE);
		if (!host)
			return false;
		__atomic_store_n(host, words[i], __ATOMIC_RELAXED);
	}
	return true;
}

static bool link_read(struct pm *pm, struct mmu_tlb *tlb, u32 links, u32 page, u32 *next,
		      struct gpu_fault *fault)
{
	const u32 *host = word(pm, tlb, links + 4ull * page, PUMICE_ACCESS_READ, fault);

	if (host)
		*next = __atomic_load_n(host, __ATOMIC_RELAXED);
	return host;
}

bool pm_link_write(struct pm *pm, struct mmu_tlb *tlb, u32 links, u32 page, u32 next,
		   struct gpu_fault *fault)
{
	u32 *host = word(pm, tlb, links + 4ull * page, PUMICE_ACCESS_WRITE, fault);

	if (host)
		__atomic_store_n(host, next, __ATOMIC_RELAXED);
	return host;
}

static bool is_marked(const struct pm_shadow *s, u32 page)
{
	return atomic_load_explicit(&s->allocated[page / 64], memory_order_relaxed) >>
		       (page % 64) & 1;
}

bool pm_list_is_allocated(const struct pm_shadow *s, u32 page)
{
	return page < s->list.fresh && is_marked(s, page);
}

/* Return whether a page is in the chain of free ones. */
static bool is_linked_free(const struct pm_shadow *s, u32 page)
{
	return page < s->list.fresh && !is_marked(s, page) && !pm_tables_has(&s->list, page);
}

static void mark(struct pm_shadow *s, u32 page)
{
	atomic_fetch_or_explicit(&s->allocated[page / 64], 1ull << (page % 64),
				 memory_order_relaxed);
}

/* Mark a page as free. Returns false if it was not allocated. */
static bool unmark(struct pm_shadow *s, u32 page)
{
	const u64 bit = 1ull << (page % 64);

	return atomic_fetch_and_explicit(&s->allocated[page / 64], ~bit, memory_order_relaxed) &
	       bit;
}

/* Return the number of pages for data that were never used. */
static u32 unused_pages(const struct pumice_free_list *list)
{
	return list->pages - list->fresh -
	       (pm_tables_below(list, list->pages) - pm_tables_below(list, list->fresh));
}

/*
 * Return whether the words for page tables are consistent: a table of bus addresses, 1 GiB of
 * addresses of its own.
 */
static bool tables_consistent(const struct pumice_free_list *list)
{
	return !(list->frames % 8) && list->frames + 8ull * list->max_pages <= 1ull << 32 &&
	       !(list->base % GIB);
}

/* Return whether memory is in the part of context 0 of the virtual GPU that a list belongs to. */
static bool in_part_of(const struct pm *pm, u32 addr, u64 table, u64 bytes)
{
	const u64 part = mmu_part(pm->config.mmu, addr);

	return mmu_part(pm->config.mmu, table) == part &&
	       mmu_part(pm->config.mmu, table + bytes - 1) == part;
}

/* Return whether the tables of a consistent list belong to its virtual GPU. */
static bool owns_tables(const struct pm *pm, u32 addr, const struct pumice_free_list *list)
{
	return in_part_of(pm, addr, list->links, 4ull * list->max_pages) &&
	       (!list->frames || in_part_of(pm, addr, list->frames, 8ull * list->max_pages));
}

/* Return whether the words of a list are consistent. */
static bool list_consistent(const struct pumice_free_list *list)
{
	u32 unused;

	if (!list->max_pages || list->max_pages > PM_MAX_PAGES || list->pages > list->max_pages ||
	    list->fresh > list->pages || list->free > list->pages)
		return false;
	unused = unused_pages(list);
	if (list->free < unused || (list->frames && !tables_consistent(list)))
		return false;
	if (!list->links || list->links % 4 ||
	    (u64)list->links + 4ull * list->max_pages > 1ull << 32)
		return false;
	if (!list->base || (list->base + (u64)list->max_pages * PUMICE_PM_PAGE_SIZE) >>
				   PUMICE_MMU_VA_BITS)
		return false;
	if (list->frames && !list->fresh)	/* new: its tables are still counted */
		unused = list->pages;
	return list->free == unused ? list->head == NO_PAGE : list->head < list->fresh;
}

static bool list_is_as_left(const struct pumice_free_list *now, const struct pumice_free_list *was)
{
	return now->base == was->base && now->links == was->links &&
	       now->max_pages == was->max_pages && now->pages == was->pages &&
	       now->head == was->head && now->fresh == was->fresh && now->free == was->free &&
	       now->frames == was->frames;
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
	free(s->tables);
	free(s->allocated);
	*s = (struct pm_shadow){ 0 };
}

void pm_list_forget_all(struct pm *pm)
{
	u32 i;

	for (i = 0; i < PM_SHADOWS; i++)
		forget(&pm->shadow[i]);
}

/* Return the shadow with the oldest use and no user: there is one, PM_SHADOWS > DPM_COUNT. */
static struct pm_shadow *shadow_to_replace(struct pm *pm)
{
	struct pm_shadow *s = NULL;
	u32 i;

	for (i = 0; i < PM_SHADOWS; i++)
		if (!pm->shadow[i].users && (!s || pm->shadow[i].stamp < s->stamp))
			s = &pm->shadow[i];
	return s;
}

/* Allocate the shadow of a list, replacing that of the oldest use. NULL: it is in use. */
static struct pm_shadow *shadow_alloc(struct pm *pm, u32 addr, const struct pumice_free_list *list)
{
	struct pm_shadow *s = find(pm, addr);

	if (!s)
		s = shadow_to_replace(pm);
	if (s->users)
		return NULL;
	forget(s);
	s->allocated = calloc((list->max_pages + 63) / 64, sizeof(*s->allocated));
	if (!s->allocated)
		return NULL;
	s->addr = addr;
	s->list = *list;
	s->links = list->links;
	s->max_pages = list->max_pages;
	s->base = list->base;
	return s;
}

/* Mode strict: a page of a list is freed; was_free: it is not allocated. */
static void record_free(const struct pm *pm, const struct pm_shadow *s, u32 page,
			const struct owner_user *by, bool was_free)
{
	if (owner_is_on(pm->config.owner))
		owner_free(pm->config.owner, s->addr, page, by, was_free);
}

enum pm_result pm_walk_links(struct pm *pm, struct mmu_tlb *tlb, struct pm_shadow *s,
			     struct pm_walk *w, u32 *budget, struct gpu_fault *fault)
{
	for (; w->left && *budget; w->left--, --*budget) {
		/* Pages from fresh on are not marked. */
		if (w->page >= s->max_pages || !unmark(s, w->page)) {
			record_free(pm, s, w->page, &w->by, true);
			pm_fault(fault, PUMICE_FAULT_PM_FREE_LIST, s->addr);
			return PM_FAULT;
		}
		if (w->unmap) {
			record_free(pm, s, w->page, &w->by, false);
			pm_tables_unmap(pm, s, w->page);
			w->low = min_u32(w->low, w->page);
			w->high = max_u32(w->high, w->page);
		}
		w->last = w->page;
		if (!link_read(pm, tlb, s->links, w->page, &w->page, fault))
			return PM_FAULT;
	}
	return w->left ? PM_MORE : PM_OK;
}

/* Begin to scan a list without shadow: pages that are not linked are allocated. */
static void scan_begin(struct pm_shadow *s)
{
	const u32 fresh = s->list.fresh;
	u32 i;

	for (i = 0; i < fresh / 64; i++)
		atomic_init(&s->allocated[i], ~0ull);
	if (fresh % 64)
		atomic_init(&s->allocated[fresh / 64], (1ull << (fresh % 64)) - 1);
	for (i = 0; i < pm_tables_below(&s->list, fresh); i++)
		unmark(s, pm_tables_page(i));
	s->walk = (struct pm_walk){
		.page = s->list.head, .left = s->list.free - unused_pages(&s->list),
		.last = NO_PAGE,
	};
	s->scanning = true;
}

static enum pm_result scan(struct pm *pm, struct pm_shadow *s, struct gpu_fault *fault)
{
	enum pm_result result = pm_walk_links(pm, &pm->tlb, s, &s->walk, &pm->budget, fault);

	if (result == PM_OK && s->walk.page != NO_PAGE) {
		pm_fault(fault, PUMICE_FAULT_PM_FREE_LIST, s->addr);
		result = PM_FAULT;
	}
	s->scanning = result == PM_MORE;
	if (result == PM_OK && !pm_tables_count(pm, s, fault))
		result = PM_FAULT;
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

/* Mode strict: a list is used. is_new: all of its pages are free. */
static void record_open(const struct pm *pm, u32 addr, const struct pumice_free_list *list,
			bool is_new)
{
	if (owner_is_on(pm->config.owner))
		owner_open(pm->config.owner, addr, list->base, list->max_pages, is_new);
}

enum pm_result pm_list_open(struct pm *pm, u32 addr, struct pm_shadow **out,
			    struct gpu_fault *fault)
{
	u32 words[PUMICE_FREE_LIST_WORDS];
	enum pm_result result = PM_OK;
	struct pumice_free_list list;
	struct pm_shadow *s;

	if (!addr || addr % 4 || !in_part_of(pm, addr, addr, sizeof(words)))
		goto damaged;
	if (!pm_read_words(pm, addr, words, PUMICE_FREE_LIST_WORDS, fault))
		return PM_FAULT;
	inject_bit(pm, words);
	if (pumice_free_list_unpack(words, &list) != PUMICE_UNPACK_OK || !list_consistent(&list) ||
	    !owns_tables(pm, addr, &list))
		goto damaged;
	s = find(pm, addr);
	if (!s || !list.fresh) {
		s = shadow_alloc(pm, addr, &list);
		if (!s)
			goto damaged;	/* no host memory, or replaced while pages are freed */
		if (!pm_tables_open(pm, s, fault)) {
			forget(s);
			return PM_FAULT;
		}
		record_open(pm, addr, &list, !list.fresh);
		list = s->list;
		scan_begin(s);
	} else if (s->pending.fault) {
		*fault = s->pending;
		s->pending = (struct gpu_fault){ 0 };
		return PM_FAULT;
	} else if (!list_is_as_left(&list, &s->list)) {
		goto damaged;
	}
	s->list = list;
	s->stamp = ++pm->stamp;
	record_open(pm, addr, &list, false);
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

void pm_list_postpone(struct pm *pm, u32 addr, const struct gpu_fault *fault)
{
	struct pm_shadow *s = find(pm, addr);

	if (s)
		s->pending = *fault;
}

bool pm_list_close(struct pm *pm, struct pm_shadow *s, struct gpu_fault *fault)
{
	u32 words[PUMICE_FREE_LIST_WORDS];

	if (s->list.free < s->list.min_free)
		s->list.min_free = s->list.free;
	pumice_free_list_pack(words, &s->list);
	return pm_write_words(pm, s->addr, words, PUMICE_FREE_LIST_WORDS, fault);
}

/* Mode strict: a page is given to a user, or is not because it is not free. */
static void record_give(const struct pm *pm, const struct pm_shadow *s, u32 page,
			const struct owner_user *to, bool is_free)
{
	if (owner_is_on(pm->config.owner))
		owner_give(pm->config.owner, s->addr, page, to, is_free);
}

bool pm_list_alloc(struct pm *pm, struct pm_shadow *s, const struct owner_user *to, u32 *page,
		   struct gpu_fault *fault)
{
	struct pumice_free_list *list = &s->list;
	const bool last = list->free - 1 == unused_pages(list);
	u32 next;

	*page = list->head;
	if (*page == NO_PAGE) {
		while (pm_tables_has(list, list->fresh))
			list->fresh++;
		*page = list->fresh++;
	} else {
		if (!link_read(pm, &pm->tlb, s->links, *page, &next, fault))
			return false;
		if (!is_linked_free(s, *page) || next == *page ||
		    (last ? next != NO_PAGE : !is_linked_free(s, next))) {
			record_give(pm, s, is_linked_free(s, *page) ? next : *page, to, false);
			return pm_fault(fault, PUMICE_FAULT_PM_FREE_LIST, s->addr);
		}
		list->head = next;
	}
	if (!pm_tables_map(pm, s, *page, fault))
		return false;
	mark(s, *page);
	record_give(pm, s, *page, to, true);
	list->free--;
	return true;
}

bool pm_list_free(struct pm *pm, struct pm_shadow *s, const struct owner_user *by, u32 page,
		  struct gpu_fault *fault)
{
	const bool is_allocated = pm_list_is_allocated(s, page);

	record_free(pm, s, page, by, !is_allocated);
	if (!is_allocated)
		return pm_fault(fault, PUMICE_FAULT_PM_FREE_LIST, s->addr);
	if (!pm_link_write(pm, &pm->tlb, s->links, page, s->list.head, fault))
		return false;
	unmark(s, page);
	pm_tables_unmap(pm, s, page);
	s->list.head = page;
	s->list.free++;
	return true;
}
