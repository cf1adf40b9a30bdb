// SPDX-License-Identifier: MIT
/* A fake PDS that records the calls of the CDM. See fake_pds.h. */
#include "fake_pds.h"

#include <string.h>

#include "cmocka_all.h"

static void fill_fault(const struct pds *pds, struct gpu_fault *fault, enum pumice_fault reason)
{
	*fault = (struct gpu_fault){
		.fault = (u8)reason, .unit = PUMICE_UNIT_PDS, .ctx = (u8)pds->launch.ctx,
		.pc = 4, .addr = 0xabcd0,
	};
}

enum pds_load_result pds_launch_begin(struct pds *pds, const struct pds_launch *launch,
				      struct gpu_fault *fault)
{
	if (pds->pieces_left) {
		assert_true(pds->in_launch);
		assert_memory_equal(&pds->launch, launch, sizeof(*launch));
	} else {
		assert_false(pds->in_launch);
		pds->launch = *launch;
		pds->launches++;
		pds->pieces_left = pds->load_pieces;
	}
	pds->in_launch = true;
	if (pds->during_load)
		pds->during_load(pds);
	if (pds->pieces_left) {
		pds->pieces_left--;
		pds->loads++;
		if (pds->pieces_left)
			return pds->load_waits ? PDS_LOAD_WAIT : PDS_LOAD_MORE;
	}
	if (pds->begin_fault) {
		fill_fault(pds, fault, pds->begin_fault);
		pds->in_launch = false;
		return PDS_LOAD_FAULT;
	}
	return PDS_LOADED;
}

unsigned int pds_launch_cost(const struct pds *pds)
{
	assert_true(pds->in_launch);
	return pds->cost;
}

u32 pds_launch_waves(const struct pds *pds)
{
	(void)pds;
	return 1;
}

u32 pds_core_waves(const struct pds *pds, unsigned int core)
{
	return pds->core[core].waves;
}

/* Groups that have room: they run, or are claimed. */
static unsigned int with_room(const struct pds *pds)
{
	unsigned int groups = pds->running, i;

	for (i = 0; i < FAKE_CORES; i++)
		groups += pds->core[i].claimed;
	return groups;
}

u32 pds_groups_claim(struct pds *pds, unsigned int number, u32 most)
{
	struct fake_core *core = &pds->core[number];

	assert_true(pds->in_launch);
	assert_in_range(most, 1, UINT32_MAX);
	assert_int_equal(core->claimed, 0);
	core->filled = 0;
	while (core->claimed < most && core->claimed < pds->batch && !core->full &&
	       with_room(pds) < pds->room)
		core->claimed++;
	core->waits = !core->claimed;
	return core->claimed;
}

enum pds_result pds_group_fill(struct pds *pds, unsigned int number, const u32 id[3], u64 linear,
			       struct gpu_fault *fault)
{
	struct fake_core *core = &pds->core[number];
	struct fake_group *group = &core->group[core->filled];

	assert_true(pds->in_launch);
	assert_in_range(core->filled, 0, core->claimed - 1);
	if (pds->fills_left < pds->fill_pieces) {
		pds->fills_left++;
		if (pds->during_fill)
			pds->during_fill(pds);
		return PDS_MORE;
	}
	pds->fills_left = 0;
	if (pds->group_fault && linear == pds->fault_linear) {
		fill_fault(pds, fault, pds->group_fault);
		return PDS_FAULT;
	}
	memcpy(group->id, id, sizeof(group->id));
	group->linear = linear;
	group->core = number;
	group->launch = pds->launches;
	group->size_x = pds->launch.state.size_x;
	group->grid = pds->launch.grid;
	group->sequences = pds->launch.sequences;
	core->filled++;
	return PDS_STARTED;
}

static void start_group(struct pds *pds, struct fake_core *core, const struct fake_group *group)
{
	if (pds->started < FAKE_GROUPS)
		pds->group[pds->started] = *group;
	if (group->sequences) {
		assert_in_range(pds->pending, 0, PDS_MAX_PENDING - 1);
		pds->pending++;
	}
	core->waves++;
	pds->started++;
	pds->running++;
}

u32 pds_groups_start(struct pds *pds, unsigned int number)
{
	struct fake_core *core = &pds->core[number];
	u32 i;

	assert_true(pds->in_launch);
	for (i = 0; i < core->filled; i++)
		start_group(pds, core, &core->group[i]);
	core->claimed = core->filled = 0;
	return i;
}

void pds_groups_drop(struct pds *pds, unsigned int number)
{
	struct fake_core *core = &pds->core[number];

	assert_true(pds->in_launch);
	pds->dropped += core->claimed;
	core->claimed = core->filled = 0;
	pds->fills_left = 0;
}

void pds_groups_leave(struct pds *pds, unsigned int number)
{
	pds->core[number].waits = false;
	pds->core[number].leaves++;
}

void pds_launch_end(struct pds *pds)
{
	unsigned int i;

	assert_true(pds->in_launch);
	assert_int_equal(with_room(pds), pds->running);
	pds->in_launch = false;
	for (i = 0; i < FAKE_CORES; i++)
		pds->core[i].waits = false;
	pds->pieces_left = 0;
}

void pds_abort(struct pds *pds)
{
	pds->aborts++;
}

unsigned int pds_groups(const struct pds *pds)
{
	return pds->running;
}

unsigned int pds_pending(const struct pds *pds)
{
	return pds->pending;
}

u64 pds_done(const struct pds *pds)
{
	return pds->done;
}

/* The PDS wakes the CDM for these only. */
static void notify_ended(const struct pds *pds, bool sequences)
{
	if (sequences || !pds->running)
		pds->ops->ended(pds->opaque);
}

void fake_pds_finish(struct pds *pds)
{
	unsigned int i;

	if (pds->running == pds->pending) {
		fake_pds_finish_task(pds);
		return;
	}
	assert_true(pds->running > 0);
	pds->running--;
	for (i = 0; i < FAKE_CORES; i++)
		if (pds->core[i].waits)
			pds->ops->room(pds->opaque, i);
	pds->done++;
	notify_ended(pds, false);
}

void fake_pds_finish_task(struct pds *pds)
{
	assert_in_range(pds->pending, 1, pds->running);
	pds->pending--;
	pds->running--;
	notify_ended(pds, true);
}

void fake_pds_finish_all(struct pds *pds)
{
	while (pds->running)
		fake_pds_finish(pds);
}

void fake_pds_fault(struct pds *pds, enum pumice_fault reason)
{
	const struct gpu_fault fault = {
		.fault = (u8)reason, .unit = PUMICE_UNIT_USC_DATA, .ctx = (u8)pds->launch.ctx,
		.usc = 3, .pc = 9, .addr = 0x1234560,
	};

	assert_true(pds->running > 0);
	pds->ops->fault(pds->opaque, &fault);
}
