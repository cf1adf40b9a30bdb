// SPDX-License-Identifier: MIT
/*
 * Resources of one USC: claim and release.
 *
 * Source: document 000, "Programmable Data Sequencer".
 */
#include "resource.h"

#include <assert.h>
#include <string.h>

#include "../number.h"

#define REST_PARTS 4u	/* of the rest of a store with large outputs, one part is for others */

_Static_assert(PUMICE_USC_SLOTS <= 64, "slots are bits of a u64");
_Static_assert(PUMICE_USC_TASKS <= 64, "entries and groups are bits of a u64");
_Static_assert(!(PUMICE_USC_TASKS & (PUMICE_USC_TASKS - 1)), "positions in a queue wrap");

u32 pds_task_instances(const struct pds_need *need, u32 task)
{
	return min_u32(need->instances - task * PUMICE_TASK_INSTANCES, PUMICE_TASK_INSTANCES);
}

u32 pds_task_waves(const struct pds_need *need, u32 task)
{
	return div_up(pds_task_instances(need, task), PUMICE_LANES);
}

void pds_need_of(const struct pumice_cdm_state *state, struct pds_need *need)
{
	u32 instances = (u32)state->size_x * state->size_y * state->size_z;

	*need = (struct pds_need){
		.instances = instances,
		.waves = div_up(instances, PUMICE_LANES),
		.tasks = instances ? div_up(instances, PUMICE_TASK_INSTANCES) : 1,
		.wave_rows = (u32)state->temps + state->attrs,
		.words = (u32)state->shared + state->coeffs + state->coeffs_alt,
		.local_rows = div_up((u32)state->local_bytes, PDS_LOCAL_ROW_BYTES),
	};
}

void pds_need_of_stage(const struct pumice_stage *stage, enum pds_dm dm, u32 instances, u32 prims,
		       struct pds_need *need)
{
	*need = (struct pds_need){
		.dm = (u8)dm,
		.instances = instances,
		.waves = div_up(instances, PUMICE_LANES),
		.tasks = 1,
		.wave_rows = (u32)stage->temps + stage->attrs,
		.words = (u32)stage->shared + ((u32)stage->coeffs + stage->coeffs_alt) * prims,
	};
}

bool pds_need_fits(const struct pds_need *need, const struct pds_capacity *capacity)
{
	return need->tasks <= capacity->tasks && need->waves <= capacity->waves &&
	       need->waves * need->wave_rows <= capacity->rows &&
	       need->tasks * need->words <= capacity->words &&
	       need->local_rows <= capacity->local_rows;
}

void pds_unit_init(struct pds_unit *unit, const struct pds_capacity *capacity)
{
	assert(capacity->tasks <= PUMICE_USC_SLOTS && capacity->managed <= PUMICE_USC_TASKS);
	memset(unit, 0, sizeof(*unit));
	unit->max_managed = capacity->managed;
	unit->max_tasks = capacity->tasks;
	unit->max_waves = capacity->waves;
	pds_store_init(&unit->unified, capacity->rows);
	pds_store_init(&unit->common, capacity->words);
	pds_store_init(&unit->local, capacity->local_rows);
	unit->partition = capacity->partition;
}

/* Return whether the totals suffice; the free pieces may still be too small. */
static bool totals_suffice(const struct pds_unit *unit, const struct pds_need *need)
{
	return need->tasks <= unit->max_managed - unit->managed &&
	       need->waves * need->wave_rows <= unit->unified.free &&
	       need->tasks * need->words <= unit->common.free &&
	       need->local_rows <= unit->local.free;
}

static bool claim_stores(struct pds_unit *unit, struct pds_claim *claim)
{
	const struct pds_need *need = &claim->need;
	u32 rows = 0, words = 0;	/* tasks with an allocation */

	if (!pds_store_alloc(&unit->local, need->local_rows, &claim->local_row))
		return false;
	while (rows < need->tasks &&
	       pds_store_alloc(&unit->unified, pds_task_waves(need, rows) * need->wave_rows,
			       &claim->row[rows]))
		rows++;
	while (rows == need->tasks && words < need->tasks &&
	       pds_store_alloc(&unit->common, need->words, &claim->word[words]))
		words++;
	if (words == need->tasks)
		return true;

	while (words--)
		pds_store_free(&unit->common, claim->word[words], need->words);
	while (rows--)
		pds_store_free(&unit->unified, claim->row[rows],
			       pds_task_waves(need, rows) * need->wave_rows);
	pds_store_free(&unit->local, claim->local_row, need->local_rows);
	return false;
}

/* Return the units of the largest piece of pixel outputs. */
static u32 largest_outputs(const struct pds_unit *unit)
{
	u32 most = 0, i;

	for (i = 0; i < PDS_OUTPUT_PIECES; i++)
		most = max_u32(most, unit->output[i].count);
	return most;
}

/*
 * Return whether a limit of a store permits some units more. exempt: of those used, those that do
 * not count. Others keep a part of the rest, or all that the limit leaves if that is less.
 */
static bool permits_units(const struct pds_store *store, u32 limit, u32 used, u32 exempt, u32 units)
{
	const u32 rest = store->size - exempt;

	if (exempt && limit < store->size)
		limit = min_u32(limit, rest - min_u32(store->size - limit, rest / REST_PARTS));
	return (u64)used - exempt + units <= limit;
}

bool pds_unit_permits(const struct pds_unit *unit, const struct pds_need *need,
		      const struct pds_limits *limits)
{
	const struct pds_share *share = &unit->share[need->dm];
	const u32 exempt = need->dm == PDS_DM_PDM ? largest_outputs(unit) : 0;

	if (!share->groups)
		return true;
	return (u64)share->tasks + need->tasks <= limits->tasks &&
	       permits_units(&unit->unified, limits->rows, share->rows,
			     unit->partition ? exempt : 0, need->waves * need->wave_rows) &&
	       permits_units(&unit->common, limits->words, share->words,
			     unit->partition ? 0 : exempt, need->tasks * need->words) &&
	       (u64)share->local_rows + need->local_rows <= limits->local_rows;
}

/* Add resources of some tasks of a need to its data master's share, or subtract them. */
static void count_share(struct pds_unit *unit, const struct pds_need *need, u32 tasks, u32 waves,
			bool add)
{
	struct pds_share *share = &unit->share[need->dm];
	u32 sign = add ? 1 : UINT32_MAX;	/* UINT32_MAX is -1 */

	share->tasks += sign * tasks;
	share->rows += sign * waves * need->wave_rows;
	share->words += sign * tasks * need->words;
}

/* The same for resources that the group has once. */
static void count_group(struct pds_unit *unit, const struct pds_need *need, bool add)
{
	struct pds_share *share = &unit->share[need->dm];
	u32 sign = add ? 1 : UINT32_MAX;

	share->groups += sign;
	share->local_rows += sign * need->local_rows;
}

/* Return the waves of groups of other data masters that have not ended. */
static u32 waves_of_others(const struct pds_unit *unit, u8 dm)
{
	u32 waves = 0;
	u64 live;

	for (live = unit->live; live; live &= live - 1) {
		const struct pds_claim *claim = &unit->claim[__builtin_ctzll(live)];

		if (claim->need.dm != dm && !claim->ended)
			waves += pds_claim_waves(claim);
	}
	return waves;
}

bool pds_unit_is_held_by_others(const struct pds_unit *unit, const struct pds_need *need)
{
	const u32 others = unit->managed - unit->share[need->dm].tasks;

	return others + need->tasks > unit->max_tasks ||
	       (unit->waves + need->waves > unit->max_waves &&
		waves_of_others(unit, need->dm) + need->waves > unit->max_waves);
}

bool pds_unit_is_filling(const struct pds_unit *unit)
{
	return unit->managed != unit->tasks + unit->waiting;
}

/* Return whether a group has resources. */
static inline bool is_live(const struct pds_unit *unit, unsigned int group)
{
	return unit->live >> group & 1;
}

/* Set the lowest bit that is clear, and return its number. */
static u8 take_lowest(u64 *set)
{
	const unsigned int bit = (unsigned int)__builtin_ctzll(~*set);

	*set |= 1ull << bit;
	return (u8)bit;
}

bool pds_unit_claim(struct pds_unit *unit, const struct pds_need *need,
		    const struct pds_limits *limits, unsigned int *group)
{
	struct pds_claim *claim;
	u32 task;

	if (!totals_suffice(unit, need) || !pds_unit_permits(unit, need, limits))
		return false;
	/* A free entry implies a free claim: a live claim has at least one entry. */
	*group = (unsigned int)__builtin_ctzll(~unit->live);
	claim = &unit->claim[*group];
	*claim = (struct pds_claim){ .need = *need };
	if (!claim_stores(unit, claim))
		return false;
	claim->order = unit->claims++;
	for (task = 0; task < need->tasks; task++)
		claim->entry[task] = take_lowest(&unit->entries);
	unit->live |= 1ull << *group;
	unit->managed += need->tasks;
	unit->waves += need->waves;
	count_share(unit, need, need->tasks, need->waves, true);
	count_group(unit, need, true);
	return true;
}

/* ------------------------------------------------------------ slots */

static u8 *queued(struct pds_queue *queue, u32 n)
{
	return &queue->group[n % PUMICE_USC_TASKS];
}

/* Remove a group, usually the first one. */
static void leave_queue(struct pds_queue *queue, unsigned int group)
{
	u32 n = queue->first;

	while (*queued(queue, n) != group)
		n++;
	for (; n != queue->first; n--)
		*queued(queue, n) = *queued(queue, n - 1);
	queue->first++;
}

void pds_unit_ready(struct pds_unit *unit, unsigned int group)
{
	struct pds_claim *claim = &unit->claim[group];
	struct pds_queue *queue = &unit->ready[claim->need.dm];

	assert(is_live(unit, group) && !claim->ready && !claim->in_slots);
	claim->ready = ++unit->readied;
	*queued(queue, queue->end++) = (u8)group;
	unit->waiting += claim->need.tasks;
}

bool pds_unit_first_ready(const struct pds_unit *unit, u32 set, unsigned int *group)
{
	u64 first = UINT64_MAX;
	unsigned int dm;

	for (dm = 0; dm < PDS_DM_COUNT; dm++) {
		const struct pds_queue *queue = &unit->ready[dm];
		const u8 head = queue->group[queue->first % PUMICE_USC_TASKS];

		if (!(set >> dm & 1) || queue->first == queue->end ||
		    unit->claim[head].ready > first)
			continue;
		first = unit->claim[head].ready;
		*group = head;
	}
	return first != UINT64_MAX;
}

/* The group does not wait for slots any longer. */
static void stop_waiting(struct pds_unit *unit, struct pds_claim *claim)
{
	if (!claim->ready)
		return;
	unit->waiting -= claim->need.tasks;
	leave_queue(&unit->ready[claim->need.dm], (unsigned int)(claim - unit->claim));
	claim->ready = 0;
}

bool pds_unit_run(struct pds_unit *unit, unsigned int group)
{
	struct pds_claim *claim = &unit->claim[group];
	const struct pds_need *need = &claim->need;
	u32 task;

	assert(is_live(unit, group) && claim->ready);
	if (need->tasks > unit->max_tasks - unit->tasks ||
	    need->waves > unit->max_waves - unit->in_flight)
		return false;
	for (task = 0; task < need->tasks; task++)
		claim->slot[task] = take_lowest(&unit->slots);
	stop_waiting(unit, claim);
	claim->in_slots = true;
	unit->tasks += need->tasks;
	unit->in_flight += need->waves;
	return true;
}

void pds_unit_cancel(struct pds_unit *unit, unsigned int group)
{
	assert(unit->claim[group].ready);
	stop_waiting(unit, &unit->claim[group]);
}

/* ------------------------------------------------------------ pixel outputs */

static struct pds_store *store_of_outputs(struct pds_unit *unit)
{
	return unit->partition ? &unit->unified : &unit->common;
}

bool pds_unit_could_fit(const struct pds_unit *unit, const struct pds_need *need)
{
	u32 rows = unit->unified.size, words = unit->common.size, i;
	u32 *room = unit->partition ? &rows : &words;

	for (i = 0; i < PDS_OUTPUT_PIECES; i++)
		if (unit->output[i].count)
			*room = min_u32(*room, unit->output[i].start);
	return need->waves * need->wave_rows <= rows && need->tasks * need->words <= words;
}

/* Return whether the PDM's limits permit this number of units more. */
static bool permits_outputs(const struct pds_unit *unit, u32 units,
			    const struct pds_limits *limits)
{
	const struct pds_share *share = &unit->share[PDS_DM_PDM];

	if (!unit->output_units)
		return true;
	return unit->partition ? (u64)share->rows + units <= limits->rows :
				 (u64)share->words + units <= limits->words;
}

static void count_outputs(struct pds_unit *unit, u32 units, bool add)
{
	struct pds_share *share = &unit->share[PDS_DM_PDM];
	const u32 change = add ? units : 0u - units;

	unit->output_units += change;
	*(unit->partition ? &share->rows : &share->words) += change;
}

bool pds_unit_claim_outputs(struct pds_unit *unit, u32 units, u32 reserve,
			    const struct pds_limits *limits, u32 *piece)
{
	u32 i = 0;

	while (i < PDS_OUTPUT_PIECES && unit->output[i].count)
		i++;
	/* Words are aligned to those of a row, for accesses of a whole wave. */
	if (i == PDS_OUTPUT_PIECES || !permits_outputs(unit, units, limits) ||
	    !pds_store_alloc_high(store_of_outputs(unit), units,
				  unit->partition ? 1 : PUMICE_LANES, reserve,
				  &unit->output[i].start))
		return false;
	unit->output[i].count = units;
	count_outputs(unit, units, true);
	*piece = i;
	return true;
}

bool pds_unit_could_fit_outputs(const struct pds_unit *unit, u32 units, u32 reserve,
				const struct pds_limits *limits)
{
	const u32 size = unit->partition ? unit->unified.size : unit->common.size;

	return permits_outputs(unit, units, limits) &&
	       (u64)units + reserve + unit->output_units <= size;
}

void pds_unit_free_outputs(struct pds_unit *unit, u32 piece)
{
	struct pds_extent *output = &unit->output[piece];

	assert(output->count);
	pds_store_free(store_of_outputs(unit), output->start, output->count);
	count_outputs(unit, output->count, false);
	output->count = 0;
}

/* ------------------------------------------------------------ release */

u32 pds_claim_tasks(const struct pds_claim *claim)
{
	u32 released = claim->released, tasks = claim->need.tasks;

	for (; released; released &= released - 1)
		tasks--;
	return tasks;
}

u32 pds_claim_waves(const struct pds_claim *claim)
{
	u32 waves = claim->need.waves, task;

	for (task = 0; claim->released >> task; task++)
		if (claim->released >> task & 1)
			waves -= pds_task_waves(&claim->need, task);
	return waves;
}

/* Free the entry, the slot and the stores of a task. */
static void free_task(struct pds_unit *unit, const struct pds_claim *claim, u32 task)
{
	const struct pds_need *need = &claim->need;

	unit->entries &= ~(1ull << claim->entry[task]);
	unit->managed--;
	if (claim->in_slots) {
		unit->slots &= ~(1ull << claim->slot[task]);
		unit->tasks--;
	}
	pds_store_free(&unit->unified, claim->row[task],
		       pds_task_waves(need, task) * need->wave_rows);
	pds_store_free(&unit->common, claim->word[task], need->words);
}

void pds_unit_release_task(struct pds_unit *unit, unsigned int group, u32 task)
{
	struct pds_claim *claim = &unit->claim[group];
	const u32 waves = pds_task_waves(&claim->need, task);

	assert(claim->in_slots && !claim->ended && !(claim->released >> task & 1));
	free_task(unit, claim, task);
	claim->released |= (u8)(1u << task);
	unit->waves -= waves;
	unit->in_flight -= waves;
	count_share(unit, &claim->need, 1, waves, false);
}

void pds_unit_end(struct pds_unit *unit, unsigned int group)
{
	struct pds_claim *claim = &unit->claim[group];

	assert(is_live(unit, group) && !claim->ended);
	claim->ended = true;
	stop_waiting(unit, claim);
	unit->waves -= pds_claim_waves(claim);
	if (claim->in_slots)
		unit->in_flight -= pds_claim_waves(claim);
	unit->held += pds_claim_tasks(claim);
}

bool pds_unit_next(const struct pds_unit *unit, bool in_order, unsigned int *group)
{
	const struct pds_claim *next = NULL;
	u64 live;

	if (!unit->held)
		return false;
	for (live = unit->live; live; live &= live - 1) {
		const struct pds_claim *claim = &unit->claim[__builtin_ctzll(live)];

		if (claim->need.dm == PDS_DM_CDM &&
		    ((in_order && claim->need.instances) || claim->ended) &&
		    (!next || claim->order < next->order))
			next = claim;
	}
	if (!next)
		return false;
	*group = (unsigned int)(next - unit->claim);
	return next->ended;
}

void pds_unit_release(struct pds_unit *unit, unsigned int group)
{
	struct pds_claim *claim = &unit->claim[group];
	const struct pds_need *need = &claim->need;
	const u32 tasks = pds_claim_tasks(claim);
	u32 task;

	assert(is_live(unit, group) && claim->ended);
	for (task = 0; task < need->tasks; task++)
		if (!(claim->released >> task & 1))
			free_task(unit, claim, task);
	pds_store_free(&unit->local, claim->local_row, need->local_rows);
	unit->held -= tasks;
	count_share(unit, need, tasks, pds_claim_waves(claim), false);
	count_group(unit, need, false);
	unit->live &= ~(1ull << group);
}
