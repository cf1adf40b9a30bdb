// SPDX-License-Identifier: MIT
/*
 * Data masters that wait for room or slots and have no task in slots, for registers STARVED and
 * OLDEST: the firmware ends jobs that keep others from the USCs.
 *
 * A data master waits for the USCs of a core if one of its tasks, or a tile, found no room there,
 * or for one of them: for the USC of its pixel outputs, or that of a task that waits for slots.
 *
 * Limits: cores are read one after the other, so tasks that start or end meanwhile may or may not
 * be counted.
 */
#include "minmax.h"
#include "state.h"

/* Return the earlier one of two times, of which 0 is none. */
static u64 earlier(u64 a, u64 b)
{
	return a && b ? min_u64(a, b) : a | b;
}

/* Return whether a data master waits for a USC of the core. Core's lock held. */
static bool waits_for(const struct pds_core *core, enum pds_dm dm, unsigned int usc)
{
	const u32 on = usc - core->first + 1;
	u32 waiting = core->dms.waiting[dm];

	if (core->pds->unit[usc].ready[dm] || (dm == PDS_DM_PDM && core->dms.outputs))
		return true;
	for (; waiting; waiting &= waiting - 1) {
		const struct pds_need *need = &core->wanted[dm][__builtin_ctz(waiting)];

		if (!need->on || need->on == on)
			return true;
	}
	return false;
}

/* Return when the oldest group of a set became ready or got slots, or 0. Core's lock held. */
static u64 oldest_of(const struct unit *unit, u64 groups)
{
	u64 time = 0;

	for (; groups; groups &= groups - 1)
		time = earlier(time, unit->since[__builtin_ctzll(groups)]);
	return time;
}

/* Return when a data master began to wait for the core, the first of its waits, or 0. */
static u64 waits_since(const struct pds_core *core, enum pds_dm dm)
{
	u32 waiting = core->dms.waiting[dm], tiles = dm == PDS_DM_PDM ? core->dms.outputs : 0;
	unsigned int usc;
	u64 time = 0;

	for (; waiting; waiting &= waiting - 1)
		time = earlier(time, core->wanted_since[dm][__builtin_ctz(waiting)]);
	for (; tiles; tiles &= tiles - 1)
		time = earlier(time, core->outputs_since[__builtin_ctz(tiles)]);
	for (usc = core->first; usc < core->first + core->uscs; usc++)
		time = earlier(time, oldest_of(&core->pds->unit[usc],
					       core->pds->unit[usc].ready[dm]));
	return time;
}

/* Return whether a data master has groups in slots of the core. Core's lock held. */
static bool is_started(const struct pds_core *core, enum pds_dm dm)
{
	unsigned int usc;

	for (usc = core->first; usc < core->first + core->uscs; usc++)
		if (core->pds->unit[usc].started[dm])
			return true;
	return false;
}

u64 pds_starved_since(const struct pds *pds, enum pds_dm dm)
{
	u64 since = 0, ended = 0;
	unsigned int n;

	for (n = 0; n < pds->cores; n++) {
		struct pds_core *core = pds_lock_core(pds, n);
		const bool started = is_started(core, dm);

		since = earlier(since, waits_since(core, dm));
		ended = max_u64(ended, core->ended[dm]);
		pds_unlock_core(core);
		if (started)
			return 0;
	}
	return since ? max_u64(since, ended) : 0;
}

u64 pds_oldest(const struct pds *pds, enum pds_dm waiter, enum pds_dm dm)
{
	unsigned int n, usc;
	u64 time = 0;

	for (n = 0; n < pds->cores; n++) {
		struct pds_core *core = pds_lock_core(pds, n);

		for (usc = core->first; usc < core->first + core->uscs; usc++)
			if (waits_for(core, waiter, usc))
				time = earlier(time, oldest_of(&pds->unit[usc],
							       pds->unit[usc].started[dm]));
		pds_unlock_core(core);
	}
	return time;
}
