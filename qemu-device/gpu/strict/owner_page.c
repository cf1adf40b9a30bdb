// SPDX-License-Identifier: MIT
/* Owners of the pages of free lists: detection. See owner.h. */
#include "owner.h"

#include <string.h>

#include "pumice_formats.h"

void owner_init(struct owner *o,
		void (*report)(void *opaque, const struct strict_finding *finding), void *opaque)
{
	memset(o, 0, sizeof(*o));
	o->report = report;
	o->opaque = opaque;
	pthread_mutex_init(&o->lock, NULL);
}

void owner_destroy(struct owner *o)
{
	owner_list_drop_all(o);
	pthread_mutex_destroy(&o->lock);
}

void owner_forget(struct owner *o)
{
	pthread_mutex_lock(&o->lock);
	owner_list_drop_all(o);
	pthread_mutex_unlock(&o->lock);
}

void owner_set(struct owner *o, bool on)
{
	owner_forget(o);
	o->on = on;
}

void owner_open(struct owner *o, u32 list, u64 base, u32 pages, bool is_new)
{
	struct owner_list *l;
	u32 i;

	pthread_mutex_lock(&o->lock);
	l = owner_list_find(o, list);
	/* If the PM has replaced its own state of the list, the records are still valid. */
	if (!l || is_new || l->base != base || l->pages != pages) {
		l = owner_list_create(o, list, base, pages);
		for (i = 0; l && !is_new && i < pages; i++)
			l->page[i].state = STRICT_PAGE_UNKNOWN;
	}
	if (l)
		l->stamp = ++o->stamp;
	pthread_mutex_unlock(&o->lock);
}

void owner_map(struct owner *o, u32 list, u32 page, u64 frame)
{
	struct owner_list *l;

	pthread_mutex_lock(&o->lock);
	l = owner_list_find(o, list);
	if (l && page < l->pages)
		owner_frame_add(l, page, frame);
	pthread_mutex_unlock(&o->lock);
}

/* Return a finding of a page; lock held. */
static struct strict_finding finding_of(struct owner *o, enum pumice_finding kind,
					u32 list, u32 page, const struct owner_user *user)
{
	const struct owner_list *l = owner_list_find(o, list);

	return (struct strict_finding){
		.kind = (u8)kind, .unit = PUMICE_UNIT_PM, .access = PUMICE_ACCESS_WRITE,
		.ctx = user->ctx,
		.addr = l ? l->base + (u64)page * PUMICE_PM_PAGE_SIZE : 0,
		.page = { .known = true, .list = list, .page = page, .scene = user->scene,
			  .macro_tile = user->macro_tile },
	};
}

/* Add the record of the page, or of another one that has its memory, as the other side. */
static void set_other(struct strict_finding *f, u32 list, u32 page, const struct owner_page *p)
{
	f->page.other = (struct strict_page_other){
		.state = p->state, .macro_tile = p->macro_tile, .list = list, .page = page,
		.scene = p->scene,
	};
}

static void report(const struct owner *o, const struct strict_finding *f)
{
	if (f->kind)
		o->report(o->opaque, f);
}

/* Return whether a page has an owner that is known. */
static bool has_owner(const struct owner_page *p)
{
	return p->state == STRICT_PAGE_SPARE || p->state == STRICT_PAGE_OWNED;
}

/* Return whether a page has the owner. */
static bool is_owner(const struct owner_page *p, const struct owner_user *user)
{
	return p->scene == user->scene && p->macro_tile == user->macro_tile;
}

static void set_owner(struct owner_page *p, const struct owner_user *user)
{
	p->state = user->macro_tile == STRICT_SPARE ? STRICT_PAGE_SPARE : STRICT_PAGE_OWNED;
	p->scene = user->scene;
	p->macro_tile = user->macro_tile;
}

void owner_give(struct owner *o, u32 list, u32 page, const struct owner_user *to, bool is_free)
{
	struct strict_finding f = { 0 };
	const struct owner_list *l, *in;
	struct owner_page *p;
	u32 other;

	pthread_mutex_lock(&o->lock);
	l = owner_list_find(o, list);
	p = owner_page_find(o, list, page);
	if (p && has_owner(p)) {
		f = finding_of(o, PUMICE_FINDING_PAGE_TWICE, list, page, to);
		set_other(&f, list, page, p);
	} else if (p && owner_frame_other(o, l, page, &in, &other)) {
		f = finding_of(o, PUMICE_FINDING_PAGE_TWICE, list, page, to);
		set_other(&f, in->addr, other, &in->page[other]);
	}
	if (p && is_free)
		set_owner(p, to);
	pthread_mutex_unlock(&o->lock);
	report(o, &f);
}

void owner_use_spare(struct owner *o, u32 list, u32 page, const struct owner_user *by)
{
	struct owner_page *p;

	pthread_mutex_lock(&o->lock);
	p = owner_page_find(o, list, page);
	if (p)
		set_owner(p, by);
	pthread_mutex_unlock(&o->lock);
}

void owner_free(struct owner *o, u32 list, u32 page, const struct owner_user *by, bool was_free)
{
	struct strict_finding f = { 0 };
	struct owner_page *p;

	pthread_mutex_lock(&o->lock);
	p = owner_page_find(o, list, page);
	if (p && was_free && !has_owner(p))
		f = finding_of(o, PUMICE_FINDING_PAGE_FREED_TWICE, list, page, by);
	else if (p && has_owner(p) && !is_owner(p, by))
		f = finding_of(o, PUMICE_FINDING_PAGE_FREED_BY_OTHER, list, page, by);
	if (f.kind)
		set_other(&f, list, page, p);
	if (p && !was_free) {
		owner_frame_remove(owner_list_find(o, list), page);
		set_owner(p, by);
		p->state = STRICT_PAGE_FREE;
	}
	pthread_mutex_unlock(&o->lock);
	report(o, &f);
}

/* Return the page that an address is in, of a list of the scene; NULL if none has it. */
static const struct owner_page *page_at(struct owner *o, const struct owner_access *a, u32 *list,
					u32 *page)
{
	u32 n;

	for (n = 0; n < PUMICE_PM_LISTS; n++) {
		const struct owner_list *l = a->list[n] ? owner_list_find(o, a->list[n]) : NULL;
		const u64 at = l && a->va >= l->base ? (a->va - l->base) / PUMICE_PM_PAGE_SIZE : 0;

		if (!l || a->va < l->base || at >= l->pages)
			continue;
		*list = a->list[n];
		*page = (u32)at;
		return &l->page[at];
	}
	return NULL;
}

void owner_access(struct owner *o, const struct owner_access *access)
{
	struct strict_finding f = { 0 };
	const struct owner_page *p;
	u32 list, page;

	pthread_mutex_lock(&o->lock);
	p = page_at(o, access, &list, &page);
	if (p && p->state != STRICT_PAGE_UNKNOWN &&
	    (p->state != STRICT_PAGE_OWNED || p->scene != access->scene)) {
		f = finding_of(o, PUMICE_FINDING_PAGE_AFTER_FREE, list, page,
			       &(struct owner_user){ .scene = access->scene, .ctx = access->ctx,
						     .macro_tile = STRICT_NO_MACRO_TILE });
		f.unit = access->unit;
		f.access = access->access;
		f.addr = access->va;
		set_other(&f, list, page, p);
	}
	pthread_mutex_unlock(&o->lock);
	report(o, &f);
}
