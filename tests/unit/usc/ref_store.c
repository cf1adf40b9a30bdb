// SPDX-License-Identifier: MIT
/*
 * Reference model of the USC: stores of registers to memory that arrive late. See ref_model.h.
 *
 * Written from hw/isa.xml and Documentation/execution.rst. A list of elements, each a part of
 * memory that a lane stores.
 */
#include "ref_step.h"

#include <stdlib.h>
#include <string.h>

#define REF_STORES_OF_WAVE 64u

static void put(struct ref_group *g, struct ref_store *e)
{
	for (u32 n = 0; n < e->bytes && !e->stored; n++)
		g->memory[e->addr + n - g->memory_va] = (u8)(e->value >> n * 8);
	e->stored = true;
}

/* Forget the elements of the group that are marked. */
static void forget(struct ref_group *g)
{
	u32 left = 0;

	for (u32 n = 0; n < g->stores; n++) {
		if (!g->store[n].ended)
			g->store[left++] = g->store[n];
	}
	g->stores = left;
}

static bool is_of(const struct ref_step *s, const struct ref_store *e)
{
	return e->wave == s->w->number_in_group;
}

void ref_complete_stores(struct ref_step *s, u32 signals, u64 clock)
{
	struct ref_group *g = s->g;
	bool more = false;

	/* The last element with a signal that was waited for, and all before it. */
	for (u32 n = g->stores; n-- > 0;) {
		struct ref_store *e = &g->store[n];
		const bool waited = signals >> e->signal & 1;

		if (!is_of(s, e))
			continue;
		more |= waited;
		e->complete = more || e->when <= clock;
		e->ended = waited || (e->complete && g->late == REF_DATA);
	}
	for (u32 n = 0; n < g->stores; n++) {
		if (is_of(s, &g->store[n]) && g->store[n].complete)
			put(g, &g->store[n]);
	}
	forget(g);
}

void ref_complete_all_stores(struct ref_group *g)
{
	for (u32 n = 0; n < g->stores; n++) {
		put(g, &g->store[n]);
		g->store[n].ended = g->late == REF_DATA;
	}
	forget(g);
}

/* A wave has a limited number of stores: before one more the oldest ends. */
static void end_oldest(struct ref_step *s)
{
	struct ref_group *g = s->g;
	u32 count = 0, last = 0, oldest = 0;

	for (u32 n = 0; n < g->stores; n++) {
		if (!is_of(s, &g->store[n]) || g->store[n].number == last)
			continue;
		last = g->store[n].number;
		oldest = count++ ? oldest : last;
	}
	if (count < REF_STORES_OF_WAVE || last == s->w->stores)
		return;
	for (u32 n = 0; n < g->stores; n++) {
		struct ref_store *e = &g->store[n];

		if (!is_of(s, e) || e->number != oldest)
			continue;
		put(g, e);
		e->ended = true;
	}
	forget(g);
}

void ref_put(struct ref_step *s, u64 addr, u32 value, u32 bytes)
{
	struct ref_store e = {
		.wave = s->w->number_in_group, .number = s->w->stores, .signal = s->in.sig0,
		.when = s->w->clock + 1 + REF_LATENCY, .addr = addr, .value = value,
		.bytes = bytes,
	};
	struct ref_group *g = s->g;

	if (g->late == REF_EARLY) {
		put(g, &e);
		return;
	}
	ref_store_copies_of(g, addr, bytes);
	end_oldest(s);
	if (g->stores == g->store_room) {
		g->store_room = g->store_room ? 2 * g->store_room : 1024;
		g->store = realloc(g->store, g->store_room * sizeof(g->store[0]));
		if (!g->store)
			abort();
	}
	g->store[g->stores++] = e;
}

bool ref_is_stored(const struct ref_group *g, u64 addr, u32 bytes, u32 *signal)
{
	for (u32 n = 0; n < g->stores && g->late == REF_POISON; n++) {
		const struct ref_store *e = &g->store[n];

		if ((!signal || *signal == e->signal) && addr < e->addr + e->bytes &&
		    e->addr < addr + bytes)
			return true;
	}
	return false;
}
