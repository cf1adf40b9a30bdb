// SPDX-License-Identifier: MIT
/*
 * Programmable data sequencer of one core: claims on its USCs, their release, and waiting
 * data masters.
 *
 * Source: document 004, "PDS" and "DMS"; document 000, "Programmable Data Sequencer". Accounts
 * of a USC are in resource.c.
 *
 * Cores share no state that a claim, a start or an end of a task changes, except the number of
 * tasks over all cores: so they do not wait for each other. Starts are in slots.c.
 *
 * Choice of a USC: that with the fewest waves which has room and which other data masters do not
 * hold, so that a task does not wait for slots of tasks that never end. A data master with groups
 * on such a USC waits for room there: the end of each of them notifies it. One without claims room
 * on a USC that is held, and gets slots there in order.
 *
 * DMS (dms.c): a data master that found no room on a core is recorded there, and others may have
 * to wait for it. Those that wait are notified when resources of the core are released, and when
 * a data master no longer waits.
 */
#include <stdlib.h>
#include <string.h>

#include "../lock.h"
#include "../number.h"
#include "perf.h"
#include "state.h"

bool pds_cores_create(struct pds *pds)
{
	const unsigned int each = pds->config.uscs_per_core;
	unsigned int i;

	pds->unit = calloc(pds->config.uscs, sizeof(*pds->unit));
	pds->core = calloc(div_up(pds->config.uscs, each), sizeof(*pds->core));
	if (!pds->unit || !pds->core)
		return false;
	pds->cores = div_up(pds->config.uscs, each);
	for (i = 0; i < pds->cores; i++) {
		struct pds_core *core = &pds->core[i];

		core->pds = pds;
		core->number = i;
		core->first = i * each;
		core->uscs = min_u32(pds->config.uscs - core->first, each);
		lock_init(&core->lock);
	}
	for (i = 0; i < pds->cores; i++)
		if (!vpm_init(&pds->core[i].vpm, pds->config.vpm_bytes))
			return false;
	return true;
}

void pds_cores_destroy(struct pds *pds)
{
	unsigned int i;

	for (i = 0; i < pds->cores; i++) {
		pthread_mutex_destroy(&pds->core[i].lock);
		vpm_fini(&pds->core[i].vpm);
	}
	free(pds->core);
	free(pds->unit);
}

static struct unit *unit_of(const struct pds_core *core, unsigned int usc)
{
	return &core->pds->unit[usc];
}

/* Publish waves and entries of a USC, which have changed; before others are notified of room. */
static void update_load(struct unit *unit)
{
	const struct pds_unit *accounts = &unit->accounts;

	atomic_store_explicit(&unit->load, accounts->waves, memory_order_relaxed);
	atomic_store_explicit(&unit->room, accounts->max_managed - accounts->managed,
			      memory_order_relaxed);
}

/* Return a register's limit in units of a store; 0: no limit. */
static u32 limit_of(u32 value, u32 unit)
{
	return value ? value / unit : UINT32_MAX;
}

static struct pds_limits limits_of(const struct pds_dm_control *control, u32 local_bytes)
{
	return (struct pds_limits){
		.tasks = limit_of(control->tasks, 1),
		.rows = limit_of(control->unified_bytes, PDS_UNIFIED_ROW_BYTES),
		.words = limit_of(control->common_bytes, sizeof(u32)),
		.local_rows = limit_of(local_bytes, PDS_LOCAL_ROW_BYTES),
	};
}

static void set_control(struct pds_core *core, const struct pds_control *control)
{
	const struct pds_dm_control cdm = {
		control->tasks, control->unified_bytes, control->common_bytes,
	};

	core->out_of_order = control->out_of_order;
	core->dms.policy = control->policy;
	core->limits[PDS_DM_CDM] = limits_of(&cdm, control->local_bytes);
	core->limits[PDS_DM_VDM] = limits_of(&control->vdm, 0);
	core->limits[PDS_DM_PDM] = limits_of(&control->pdm, 0);
	core->limits[PDS_DM_RDM] = limits_of(&control->rdm, 0);
}

void pds_core_reset(struct pds_core *core, const struct pds_control *control)
{
	unsigned int i;

	pthread_mutex_lock(&core->lock);
	for (i = core->first; i < core->first + core->uscs; i++) {
		struct unit *unit = unit_of(core, i);

		pds_unit_init(&unit->accounts, &core->pds->capacity);
		update_load(unit);
		memset(unit->ready, 0, sizeof(unit->ready));
		memset(unit->started, 0, sizeof(unit->started));
		memset(unit->span, 0, sizeof(unit->span));
		unit->stopped = 0;
	}
	core->next = 0;
	pds_compute_reset(&core->compute);
	dms_reset(&core->dms);
	pds_rows_reset(core);
	core->output_bytes = 0;
	core->output_waits = core->output_occupancy = 0;
	core->tasks = core->held = core->waves = core->waiting = core->counted = 0;
	core->started = 0;
	atomic_store(&core->direct.tasks, 0);
	atomic_store(&core->direct.waves, 0);
	atomic_store(&core->direct.issued, 0);
	memset(core->waited, 0, sizeof(core->waited));
	memset(core->ended, 0, sizeof(core->ended));
	core->occupancy = core->slot_waits = core->slot_wait_ns = 0;
	atomic_store(&core->dma_bytes, 0);
	set_control(core, control);
	pds_unlock_core(core);
}

/* ------------------------------------------------------------ waiting */

static void notify(const struct pds_core *core, unsigned int dm)
{
	const struct pds *pds = core->pds;

	if (dm != PDS_DM_CDM)
		pds->owner[dm].ops->room(pds->owner[dm].opaque, core->number);
	else if (pds->config.ops->room)
		pds->config.ops->room(pds->config.ops_opaque, core->number);
}

static void notify_all(const struct pds_core *core, u8 set)
{
	unsigned int dm;

	for (dm = 0; set >> dm; dm++) {
		if (set >> dm & 1)
			notify(core, dm);
	}
}

/* The ends of tasks of other data masters that a wait is for, in order. */
enum hope {
	HOPE_NONE,	/* none: it is excluded until tasks of its own end */
	HOPE_ROWS,	/* those with rows of the pool: rows.c */
	HOPE_ROOM,	/* any */
};

/* Return the USCs on which a need may be allocated, as bits over all cores. */
static u64 uscs_of(const struct pds_core *core, const struct pds_need *need)
{
	return need->on ? 1ull << (core->first + need->on - 1) :
			  (UINT64_MAX >> (64 - core->uscs)) << core->first;
}

/* Return whether the data master has groups on a USC, of a set, which others do not hold. */
static bool has_own_usc(const struct pds_core *core, const struct pds_need *need, u64 set)
{
	unsigned int i;

	for (i = core->first; i < core->first + core->uscs; i++) {
		const struct pds_unit *unit = &unit_of(core, i)->accounts;

		if (set >> i & 1 && unit->share[need->dm].groups && !pds_unit_is_held(unit, need))
			return true;
	}
	return false;
}

/*
 * Return what the data master of a need that waits for a task hopes for. None if it is at its
 * limits on all USCs of the core, or waits for rows of the VPM and cannot be kept from them by
 * claims of others. outputs: or on all others the pixel outputs of tiles leave too little. USCs
 * that others hold do not count while it has one that they do not: see pds_core_claim_any().
 */
static enum hope hope_of_need(const struct pds_core *core, const struct pds_need *need,
			      bool outputs)
{
	const bool rows = pds_rows_suffice(core, need);
	unsigned int i;
	bool own;

	if (!rows && !pds_rows_are_of_others(core, need))
		return HOPE_NONE;
	own = has_own_usc(core, need, uscs_of(core, need));
	for (i = core->first; i < core->first + core->uscs; i++) {
		const struct pds_unit *unit = &unit_of(core, i)->accounts;

		if (need->on && need->on != i - core->first + 1)
			continue;
		if (own && pds_unit_is_held(unit, need))
			continue;
		if (pds_unit_permits(unit, need, &core->limits[need->dm]) &&
		    (!outputs || pds_unit_could_fit(unit, need)))
			return rows ? HOPE_ROOM : HOPE_ROWS;
	}
	return HOPE_NONE;
}

/* Return the highest one of the needs of a data master that wait. */
static enum hope hope_of(const struct pds_core *core, unsigned int dm, bool outputs)
{
	const u32 waiting = core->dms.waiting[dm];
	enum hope most = HOPE_NONE, hope;
	unsigned int n;

	for (n = 0; waiting >> n; n++) {
		if (!(waiting >> n & 1))
			continue;
		hope = hope_of_need(core, &core->wanted[dm][n], outputs);
		most = hope > most ? hope : most;
	}
	return most;
}

/* Update which data masters the ends of tasks do not help; call before the DMS decides. */
static struct dms *update_dms(struct pds_core *core, bool outputs)
{
	const u32 waiting = dms_waiting(&core->dms);
	unsigned int dm;

	core->dms.limited = core->dms.pooled = 0;
	for (dm = 0; waiting >> dm; dm++) {
		enum hope hope = hope_of(core, dm, outputs);

		if (dm == PDS_DM_PDM && core->dms.outputs && !pds_outputs_excluded(core))
			hope = HOPE_ROOM;
		core->dms.limited |= (u8)((hope == HOPE_NONE) << dm);
		core->dms.pooled |= (u8)((hope == HOPE_ROWS) << dm);
	}
	return &core->dms;
}

static struct dms *dms_of(struct pds_core *core)
{
	return update_dms(core, true);
}

bool pds_core_admits_tile(struct pds_core *core)
{
	return dms_admits(update_dms(core, false), PDS_DM_PDM);
}

/* Return PDS_DM_PDM, as a set, if the DMS lets a tile that waits claim room. */
static u8 admitted_tile(struct pds_core *core)
{
	return (u8)((core->dms.outputs && pds_core_admits_tile(core)) << PDS_DM_PDM);
}

/*
 * Data masters that wait and may claim room; for outputs by itself: tiles wait for some data
 * masters for which tasks of the PDM do not, outputs.c. tasks: dms_of() was called last.
 */
struct pds_admitted pds_core_admitted(struct pds_core *core)
{
	struct pds_admitted set = { .tiles = admitted_tile(core) };

	set.tasks = dms_admitted(dms_of(core));
	return set;
}

/*
 * Notify those that may claim room now and could not before a claim or an end of waiting. A claim
 * may also reach a limit, which lets others precede: so the DMS decides anew.
 */
static void notify_newly(struct pds_core *core, const struct pds_admitted *before)
{
	const struct pds_admitted after = pds_core_admitted(core);

	notify_all(core, (after.tasks & (u8)~before->tasks) | (after.tiles & (u8)~before->tiles));
}

void pds_core_tile_claimed(struct pds_core *core, unsigned int tile,
			   const struct pds_admitted *before)
{
	dms_outputs_claimed(&core->dms, tile);
	notify_newly(core, before);
}

void pds_core_room(struct pds_core *core)
{
	const u8 waiting = dms_waiting(&core->dms);

	/* One alone is admitted, whatever the ends of tasks help. */
	notify_all(core, waiting & (waiting - 1) ? dms_admitted(dms_of(core)) : waiting);
}

bool pds_core_wait(struct pds_core *core, const struct pds_need *need)
{
	core->wanted[need->dm][need->waiter] = *need;
	return dms_wait(&core->dms, (enum pds_dm)need->dm, need->waiter);
}

void pds_core_end_wait(struct pds_core *core, enum pds_dm dm, const struct pds_admitted *before)
{
	dms_leave(&core->dms, dm);
	notify_newly(core, before);
}

void pds_core_leave(struct pds_core *core, enum pds_dm dm)
{
	const struct pds_admitted before = pds_core_admitted(core);

	pds_core_end_wait(core, dm, &before);
}

/* ------------------------------------------------------------ claims */

bool pds_lowest_load(const struct pds *pds, unsigned int first, unsigned int count,
		     const struct pds_need *need, unsigned int next, u64 tried, unsigned int *usc)
{
	u32 fewest = UINT32_MAX;
	unsigned int i, n = next % count;

	for (i = 0; i < count; i++, n = n + 1 < count ? n + 1 : 0) {
		const struct unit *unit = &pds->unit[first + n];
		u32 waves = atomic_load_explicit(&unit->load, memory_order_relaxed);

		if (tried >> (first + n) & 1 || waves >= fewest ||
		    atomic_load_explicit(&unit->room, memory_order_relaxed) < need->tasks)
			continue;
		fewest = waves;
		*usc = first + n;
	}
	return fewest != UINT32_MAX;
}

/* Data masters admitted before a claim; of none if no other one waits: the usual case. */
struct claimer {
	bool alone;
	struct pds_admitted before;
};

/*
 * Look before any part of the claim is allocated: that may change which data masters are limited.
 */
static struct claimer claimer_of(struct pds_core *core, enum pds_dm dm)
{
	struct claimer claimer = { .alone = dms_is_alone(&core->dms, dm) };

	if (!claimer.alone)
		claimer.before = pds_core_admitted(core);
	return claimer;
}

/* Inlined, as if pds_core_claim_any() had its only call. */
static inline __attribute__((always_inline)) bool
claim(struct pds_core *core, const struct claimer *claimer, unsigned int usc,
      const struct pds_need *need, unsigned int *group)
{
	const enum pds_dm dm = (enum pds_dm)need->dm;
	struct unit *unit = unit_of(core, usc);

	if ((!claimer->alone && !dms_admits(&core->dms, dm)) ||
	    !pds_unit_claim(&unit->accounts, need, &core->limits[dm], group))
		return false;
	update_load(unit);
	dms_claimed(&core->dms, dm, need->waiter);
	if (!claimer->alone)
		notify_newly(core, &claimer->before);
	return true;
}

/* Claim on one of a set of USCs that others hold. */
static bool claim_held(struct pds_core *core, const struct claimer *claimer,
		       const struct pds_need *need, unsigned int next, u64 set,
		       struct pds_place *place)
{
	for (; pds_lowest_load(core->pds, core->first, core->uscs, need, next, ~set, &place->usc);
	     set &= ~(1ull << place->usc))
		if (claim(core, claimer, place->usc, need, &place->group))
			return true;
	return false;
}

/* Return the USCs of the core with tasks that may be ready after one that is claimed now. */
static u64 filling(const struct pds_core *core)
{
	unsigned int i;
	u64 set = 0;

	for (i = core->first; i < core->first + core->uscs; i++)
		set |= (u64)pds_unit_is_filling(&unit_of(core, i)->accounts) << i;
	return set;
}

bool pds_core_claim_any(struct pds_core *core, const struct pds_need *need, unsigned int next,
			struct pds_place *place)
{
	const struct claimer claimer = claimer_of(core, (enum pds_dm)need->dm);
	u64 tried = ~uscs_of(core, need), held = 0;

	if (!pds_rows_claim(core, need, place))
		return false;
	while (pds_lowest_load(core->pds, core->first, core->uscs, need, next, tried,
			       &place->usc)) {
		const u64 bit = 1ull << place->usc;

		if (pds_unit_is_held(&unit_of(core, place->usc)->accounts, need))
			held |= bit;
		else if (claim(core, &claimer, place->usc, need, &place->group))
			return true;
		tried |= bit;
	}
	if (held && !has_own_usc(core, need, uscs_of(core, need)) &&
	    (claim_held(core, &claimer, need, next, held & ~filling(core), place) ||
	     claim_held(core, &claimer, need, next, held, place)))
		return true;
	pds_rows_drop(core, need, place);
	return false;
}

void pds_core_drop(struct pds_core *core, const struct pds_place *place)
{
	struct unit *unit = unit_of(core, place->usc);

	pds_unit_end(&unit->accounts, place->group);
	pds_unit_release(&unit->accounts, place->group);
	update_load(unit);
	pds_core_room(core);
}

/* ------------------------------------------------------------ end */

void pds_core_count_tasks(struct pds_core *core)
{
	struct pds *pds = core->pds;
	const u32 more = core->tasks - core->counted;	/* modulo 2^32: fewer too */
	const u32 total = atomic_fetch_add_explicit(&pds->tasks, more, memory_order_relaxed) + more;
	u32 peak = atomic_load_explicit(&pds->peak_tasks, memory_order_relaxed);

	core->counted = core->tasks;
	while (total > peak &&
	       !atomic_compare_exchange_weak_explicit(&pds->peak_tasks, &peak, total,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

void pds_core_tick(struct pds_core *core, u64 now)
{
	if (now <= core->time)
		return;
	core->occupancy += core->tasks * (now - core->time);
	core->slot_wait_ns += core->waiting * (now - core->time);
	core->time = now;
}

/* Tasks and waves of a claim that have slots, and have not ended before. */
static u32 tasks_in_slots(const struct pds_claim *claim)
{
	return claim->in_slots ? pds_claim_tasks(claim) : 0;
}

static u32 waves_in_flight(const struct pds_claim *claim)
{
	return claim->in_slots ? pds_claim_waves(claim) : 0;
}

static void release(struct pds_core *core, struct unit *unit, unsigned int group)
{
	const u32 tasks = tasks_in_slots(&unit->accounts.claim[group]);

	pds_unit_release(&unit->accounts, group);
	core->held -= tasks;
	core->tasks -= tasks;
}

/* Release the resources of ended groups of a USC, as far as the order allows. */
static void release_ended(struct pds_core *core, struct unit *unit)
{
	unsigned int group;

	while (pds_unit_next(&unit->accounts, !core->out_of_order, &group))
		release(core, unit, group);
}

void pds_core_end(struct pds_core *core, const struct pds_place *place, u64 now)
{
	struct unit *unit = unit_of(core, place->usc);
	const struct pds_claim *claim = &unit->accounts.claim[place->group];
	const struct pds_need *need = &claim->need;

	pds_core_tick(core, now);
	unit->started[need->dm] &= ~(1ull << place->group);
	core->ended[need->dm] = core->time;
	core->waves -= waves_in_flight(claim);
	core->held += tasks_in_slots(claim);
	pds_unit_end(&unit->accounts, place->group);
	if (need->dm != PDS_DM_CDM || core->out_of_order)
		release(core, unit, place->group);
	else
		release_ended(core, unit);
}

void pds_core_ended(struct pds_core *core, unsigned int usc, u64 now)
{
	update_load(unit_of(core, usc));
	pds_core_fill_slots(core, usc, now);
	pds_core_room(core);
}

void pds_core_end_task(struct pds_core *core, const struct pds_place *place, u32 task, u64 now)
{
	struct unit *unit = unit_of(core, place->usc);

	if (!core->out_of_order)
		return;
	pds_core_tick(core, now);
	core->waves -= pds_task_waves(&unit->accounts.claim[place->group].need, task);
	core->tasks--;
	pds_unit_release_task(&unit->accounts, place->group, task);
	pds_core_ended(core, place->usc, now);
}

/* ------------------------------------------------------------ registers */

void pds_set_control(struct pds *pds, const struct pds_control *control)
{
	const u64 now = pds->config.now(pds->config.opaque);
	unsigned int n, i;

	pds->control = *control;
	for (n = 0; n < pds->cores; n++) {
		struct pds_core *core = pds_lock_core(pds, n);

		set_control(core, control);
		pds_core_tick(core, now);
		for (i = core->first; i < core->first + core->uscs; i++) {
			release_ended(core, unit_of(core, i));
			update_load(unit_of(core, i));
			pds_core_fill_slots(core, i, now);
		}
		pds_core_room(core);
		pds_unlock_core(core);
	}
}

const struct pds_control *pds_control(const struct pds *pds)
{
	return &pds->control;
}

void pds_load(const struct pds *pds, struct pds_load *load)
{
	const u32 peak = atomic_load(&pds->peak_tasks);
	unsigned int n;

	*load = (struct pds_load){ 0 };
	for (n = 0; n < pds->cores; n++) {
		struct pds_core *core = pds_lock_core(pds, n);

		load->tasks += core->tasks;
		load->held += core->held;
		load->waves += core->waves;
		load->vpm_rows += vpm_used(&core->vpm);
		load->output_bytes += core->output_bytes;
		pds_unlock_core(core);
	}
	load->peak_tasks = max_u32(peak, load->tasks);
	load->peak_output_bytes = max_u32(atomic_load(&pds->peak_output_bytes),
					  load->output_bytes);
}

u64 pds_waits(const struct pds *pds, enum pds_dm dm)
{
	unsigned int n;
	u64 waits = 0;

	for (n = 0; n < pds->cores; n++) {
		struct pds_core *core = pds_lock_core(pds, n);

		waits += core->waited[dm];
		pds_unlock_core(core);
	}
	return waits;
}

void pds_reset_peak(struct pds *pds)
{
	atomic_store(&pds->peak_tasks, atomic_load(&pds->tasks));
}

void pds_counters_add(const struct pds *pds, u64 *value)
{
	unsigned int n, dm;

	for (n = 0; n < pds->cores; n++) {
		struct pds_core *core = pds_lock_core(pds, n);

		pds_core_tick(core, pds->config.now(pds->config.opaque));
		value[PUMICE_PERF_PDS_TASKS] += core->started + atomic_load(&core->direct.tasks);
		value[PUMICE_PERF_USC_WAVES] += atomic_load(&core->direct.waves);
		value[PUMICE_PERF_USC_ISSUED] += atomic_load(&core->direct.issued);
		for (dm = 0; dm < PDS_DM_COUNT; dm++)
			value[PUMICE_PERF_PDS_WAITS] += core->waited[dm];
		value[PUMICE_PERF_PDS_OCCUPANCY] += core->occupancy;
		value[PUMICE_PERF_PDS_SLOT_WAITS] += core->slot_waits;
		value[PUMICE_PERF_PDS_SLOT_WAIT_TIME] += core->slot_wait_ns;
		vpm_tick(&core->vpm, pds->config.now(pds->config.opaque));
		value[PUMICE_PERF_VPM_WAITS] += core->vpm.waits;
		value[PUMICE_PERF_VPM_OCCUPANCY] += core->vpm.occupancy;
		pds_outputs_tick(core, pds->config.now(pds->config.opaque));
		value[PUMICE_PERF_PDM_OUTPUT_WAITS] += core->output_waits;
		value[PUMICE_PERF_PDM_OUTPUT_OCCUPANCY] += core->output_occupancy;
		value[PUMICE_PERF_PDS_DMA_BYTES] += atomic_load(&core->dma_bytes);
		pds_unlock_core(core);
	}
}

/* ------------------------------------------------------------ trace */

void pds_trace_begin(struct pds *pds)
{
	unsigned int n, usc, dm;

	for (n = 0; n < pds->cores; n++) {
		struct pds_core *core = pds_lock_core(pds, n);

		for (usc = core->first; usc < core->first + core->uscs; usc++) {
			struct unit *unit = unit_of(core, usc);

			for (dm = 0; dm < PDS_DM_COUNT; dm++) {
				unit->tag_base[dm] = usc_tag_reads(pds->config.usc[usc],
								   (enum pumice_wave_master)dm);
				unit->tag_last[dm] = unit->tag_base[dm];
			}
		}
		pds_unlock_core(core);
	}
}

void pds_trace_tag(struct pds *pds, const struct pds_place *place)
{
	const u64 on = trace_on(pds->config.trace, PUMICE_TRACE_KIND_TAG);
	struct unit *unit = &pds->unit[place->usc];
	struct usc *usc = pds->config.usc[place->usc];
	struct trace_item item = { .kind = PUMICE_TRACE_KIND_TAG, .usc = (u8)place->usc };
	unsigned int dm;
	u64 reads;

	if (!on)
		return;
	dm = unit->accounts.claim[place->group].need.dm;
	item.dm = (u8)pds_trace_master((enum pds_dm)dm);
	item.ctx = usc_group(usc, place->group)->ctx;
	reads = usc_tag_reads(usc, (enum pumice_wave_master)dm);
	item.arg0 = reads - unit->tag_base[dm];
	if (reads != unit->tag_last[dm])
		trace_write(pds->config.trace, on, &item);
	unit->tag_last[dm] = reads;
}
