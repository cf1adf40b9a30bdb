// SPDX-License-Identifier: MIT
/*
 * PDS: pixel outputs of the tiles in flight. See outputs.h.
 *
 * DMS: a tile that waits precedes data masters as a task of the PDM does, and waits for those that
 * precede the PDM, even if these wait only for outputs of other tiles: or a stream of tiles would
 * keep a large work-group from ever running. Tasks of the PDM do not wait for such data masters, so
 * that tiles with outputs end.
 */
#include "outputs.h"

#include "../number.h"
#include "state.h"

/*
 * Units of the store that the outputs of all tiles leave to tasks, if a tile's own outputs leave as
 * many: not less than the largest task of one primitive needs.
 */
#define RESERVED_ROWS	2048u	/* 256 KiB */
#define RESERVED_WORDS	16384u	/* 64 KiB: primitives of a task beyond the first have room, too */

_Static_assert(RESERVED_ROWS >= USC_MAX_WAVES * (PUMICE_USC_MAX_TEMPS + PUMICE_USC_MAX_ATTRS),
	       "unified store of a task");
_Static_assert(RESERVED_WORDS >= PUMICE_USC_MAX_SHARED + PUMICE_PRIM_COEFFS +
				 PUMICE_USC_MAX_COEFFS_ALT, "common store of a task");

static u32 units_of(const struct pds *pds, u32 words)
{
	return pds->capacity.partition ? words / USC_ROW_WORDS : words;
}

static u32 unit_bytes(const struct pds *pds)
{
	return pds->capacity.partition ? PDS_UNIFIED_ROW_BYTES : (u32)sizeof(u32);
}

static u32 store_units(const struct pds *pds)
{
	return pds->capacity.partition ? pds->capacity.rows : pds->capacity.words;
}

u32 pds_output_reserve(const struct pds *pds, u32 words)
{
	const u32 most = pds->capacity.partition ? RESERVED_ROWS : RESERVED_WORDS;

	return min_u32(store_units(pds) - units_of(pds, words), most);
}

bool pds_outputs_fit(const struct pds *pds, u32 words)
{
	return units_of(pds, words) <= store_units(pds);
}

struct pds_capacity pds_capacity_for_tile(const struct pds *pds, u32 words)
{
	struct pds_capacity capacity = pds->capacity;

	if (!words)
		return capacity;
	if (capacity.partition)
		capacity.rows = pds_output_reserve(pds, words);
	else
		capacity.words = pds_output_reserve(pds, words);
	return capacity;
}

/* ------------------------------------------------------------ accounts */

static struct pds_unit *accounts(const struct pds_core *core, unsigned int usc)
{
	return &core->pds->unit[usc].accounts;
}

void pds_outputs_tick(struct pds_core *core, u64 now)
{
	if (now <= core->output_time)
		return;
	core->output_occupancy += (u64)core->output_bytes * (now - core->output_time);
	core->output_time = now;
}

/* Count bytes that were allocated on a core, over all cores, too. */
static void count(struct pds_core *core, u32 bytes)
{
	struct pds *pds = core->pds;
	u32 total, peak;

	pds_outputs_tick(core, pds->config.now(pds->config.opaque));
	core->output_bytes += bytes;
	total = atomic_fetch_add_explicit(&pds->output_bytes, bytes, memory_order_relaxed) + bytes;
	peak = atomic_load_explicit(&pds->peak_output_bytes, memory_order_relaxed);
	while (total > peak &&
	       !atomic_compare_exchange_weak_explicit(&pds->peak_output_bytes, &peak, total,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

void pds_reset_peak_outputs(struct pds *pds)
{
	atomic_store(&pds->peak_output_bytes, atomic_load(&pds->output_bytes));
}

bool pds_outputs_excluded(const struct pds_core *core)
{
	const struct pds *pds = core->pds;
	const u32 reserve = pds_output_reserve(pds, core->wanted_output_words);
	const u32 units = units_of(pds, core->wanted_output_words);
	unsigned int i;

	for (i = core->first; i < core->first + core->uscs; i++)
		if (pds_unit_could_fit_outputs(accounts(core, i), units, reserve,
					       &core->limits[PDS_DM_PDM]))
			return false;
	return true;
}

/* ------------------------------------------------------------ claim and release */

/*
 * Return the USC of the core with the fewest outputs, of those with equal ones the first from next.
 */
static bool fewest_outputs(const struct pds_core *core, unsigned int next, u64 tried,
			   unsigned int *usc)
{
	u32 fewest = UINT32_MAX;
	unsigned int i;

	for (i = 0; i < core->uscs; i++) {
		const unsigned int n = core->first + (next + i) % core->uscs;
		const u32 units = accounts(core, n)->output_units;

		if (tried >> n & 1 || units >= fewest)
			continue;
		fewest = units;
		*usc = n;
	}
	return fewest != UINT32_MAX;
}

/* Claim room on a USC of the core, if the DMS admits the PDM. */
static bool claim(struct pds_core *core, u32 words, struct pds_outputs *out)
{
	const struct pds *pds = core->pds;
	const u32 reserve = pds_output_reserve(pds, words), units = units_of(pds, words);
	u64 tried = 0;

	if (!pds_core_admits_tile(core))
		return false;
	while (fewest_outputs(core, core->next, tried, &out->usc)) {
		if (pds_unit_claim_outputs(accounts(core, out->usc), units, reserve,
					   &core->limits[PDS_DM_PDM], &out->piece))
			return true;
		tried |= 1ull << out->usc;
	}
	return false;
}

/* The address of a piece. */
static u32 *memory_of(const struct pds_core *core, const struct pds_outputs *outputs)
{
	const struct pds *pds = core->pds;
	struct usc *usc = pds->config.usc[outputs->usc];
	const u32 start = accounts(core, outputs->usc)->output[outputs->piece].start;

	return pds->capacity.partition ? usc_outputs_unified(usc, start) :
					 usc_outputs_common(usc, start);
}

static void start_waiting(struct pds_core *core, u32 words, unsigned int ctx, unsigned int tile)
{
	const struct pds *pds = core->pds;

	core->wanted_output_words = words;
	if (!dms_wait_outputs(&core->dms, tile))
		return;
	core->output_waits++;
	core->outputs_since[tile] = pds->config.now(pds->config.opaque);
	trace_event(pds->config.trace, PUMICE_TRACE_KIND_STALL, TRACE_PDM, ctx, core->first,
		    pds_core_all_tasks(core), 0);
}

enum pds_result pds_outputs_claim(struct pds *pds, unsigned int number, u32 words, unsigned int ctx,
				  struct pds_outputs *out)
{
	struct pds_core *core = pds_lock_core(pds, number);
	const struct pds_admitted before = pds_core_admitted(core);
	const bool claimed = claim(core, words, out);

	if (claimed) {
		out->word = memory_of(core, out);
		count(core, units_of(pds, words) * unit_bytes(pds));
		pds_core_tile_claimed(core, out->tile, &before);
	} else {
		start_waiting(core, words, ctx, out->tile);
	}
	pds_unlock_core(core);
	return claimed ? PDS_STARTED : PDS_WAIT;
}

void pds_outputs_free(struct pds *pds, struct pds_outputs *outputs)
{
	struct pds_core *core;
	struct pds_unit *unit;

	if (!outputs->word)
		return;
	core = pds_lock_core(pds, pds_core_of(pds, outputs->usc));
	unit = accounts(core, outputs->usc);
	count(core, 0u - unit->output[outputs->piece].count * unit_bytes(pds));
	pds_unit_free_outputs(unit, outputs->piece);
	*outputs = (struct pds_outputs){ .tile = outputs->tile };
	pds_core_room(core);
	pds_unlock_core(core);
}
