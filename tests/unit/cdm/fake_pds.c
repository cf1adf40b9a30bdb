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

void pds_launch_pause(struct pds *pds)
{
	pds->paused = true;
}

enum pds_result pds_group(struct pds *pds, const u32 id[3], u64 linear, struct gpu_fault *fault)
{
	assert_true(pds->in_launch);
	pds->paused = false;
	pds->waits = pds->running == pds->room;
	if (pds->waits)
		return PDS_WAIT;
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
	if (pds->started < FAKE_GROUPS) {
		struct fake_group *group = &pds->group[pds->started];

		memcpy(group->id, id, sizeof(group->id));
		group->linear = linear;
		group->launch = pds->launches;
		group->size_x = pds->launch.state.size_x;
		group->grid = pds->launch.grid;
		group->sequences = pds->launch.sequences;
	}
	if (pds->launch.sequences) {
		assert_in_range(pds->pending, 0, PDS_MAX_PENDING - 1);
		pds->pending++;
	}
	pds->started++;
	pds->running++;
	return PDS_STARTED;
}

void pds_tick(struct pds *pds)
{
	(void)pds;
}

void pds_launch_end(struct pds *pds)
{
	assert_true(pds->in_launch);
	pds->in_launch = false;
	pds->waits = false;
	pds->pieces_left = 0;
	pds->fills_left = 0;
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
	if (pds->running == pds->pending) {
		fake_pds_finish_task(pds);
		return;
	}
	assert_true(pds->running > 0);
	pds->running--;
	if (pds->waits)
		pds->ops->room(pds->opaque);
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
