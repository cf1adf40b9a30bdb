// SPDX-License-Identifier: MIT
/*
 * Vertex data master: chunks are given to cores, and taken back.
 *
 * Source: document 004, "Master VDM". See state.h for what keeps their order.
 *
 * After a flush the lowest chunk is alone until it is done: so the next one that
 * runs out of pages has got on, whatever the other cores would have taken.
 */
#include "state.h"

#define BUDGET 64u	/* commands and chunks that a call looks at, about */

static struct vdm_chunk *chunk_of(struct vdm *vdm, u32 sequence)
{
	return &vdm->ring[sequence % VDM_RING];
}

/*
 * Chunks are done from the lowest on: count and forget those. So nothing is counted
 * that is dealt once more, and the figure in the register only rises.
 */
static void advance(struct vdm *vdm)
{
	while (vdm->lowest != vdm->made && chunk_of(vdm, vdm->lowest)->done) {
		struct vdm_chunk *chunk = chunk_of(vdm, vdm->lowest++);

		vdm->before += chunk->prims;
		vdm->primitives += chunk->prims;
		vdm_shared_put(vdm, chunk->shared);
	}
	if (vdm->before > vdm->status.done)
		vdm->status.done = vdm->before;
}

/*
 * A piece of loading the programs of a STATE, by one core; the lock is dropped meanwhile,
 * and the core counts as writing, so that the job does not end.
 */
static enum vdm_deal_result load(struct vdm *vdm, struct vdm_core *core)
{
	const struct dm_ops *ops = vdm->config.ops;
	enum pds_load_result result;
	struct gpu_fault fault;

	if (vdm->walking) {
		vdm->walk_wanted = true;
		return VDM_DEAL_WAIT;
	}
	vdm->walking = core->writing = true;
	ops->unlock(vdm->config.opaque);
	result = vdm_walk_load(vdm, &fault);
	ops->lock(vdm->config.opaque);
	vdm->walking = core->writing = false;
	if (result == PDS_LOADED)
		vdm_walk_loaded(vdm);
	else if (result == PDS_LOAD_FAULT)
		vdm_stop_fault(vdm, &fault);
	if (vdm->walk_wanted && result != PDS_LOAD_MORE && result != PDS_LOAD_WAIT) {
		vdm->walk_wanted = false;
		vdm_wake_all(vdm);
	}
	return result == PDS_LOAD_WAIT && !atomic_load(&vdm->stopping) ? VDM_DEAL_WAIT :
									 VDM_DEAL_AGAIN;
}

/* Make chunks until there is one to deal. */
static enum vdm_deal_result make(struct vdm *vdm, struct vdm_core *core)
{
	u32 budget = BUDGET, cost;

	for (; budget; budget -= cost < budget ? cost : budget) {
		switch (vdm_walk(vdm, chunk_of(vdm, vdm->made), &cost)) {
		case VDM_WALK_CHUNK:
			vdm->made++;
			return VDM_DEAL_CHUNK;
		case VDM_WALK_ON:
			break;
		case VDM_WALK_LOAD:
			return load(vdm, core);
		case VDM_WALK_END:
			return VDM_DEAL_WAIT;
		case VDM_WALK_STOPPED:
			return VDM_DEAL_AGAIN;
		}
	}
	return VDM_DEAL_AGAIN;
}

/* All that the stream drew is in tile lists: cores write their headers. */
static void finish(struct vdm *vdm)
{
	unsigned int i;

	vdm->phase = VDM_FINISH;
	vdm->used = vdm->pending = 0;
	for (i = 0; i < vdm->cores; i++)
		vdm->pending += vdm->core[i].begun;
	if (!vdm->pending)
		vdm_headers_done(vdm);
	else
		vdm_wake_all(vdm);
}

enum vdm_deal_result vdm_deal(struct vdm *vdm, struct vdm_core *core)
{
	enum vdm_deal_result result = VDM_DEAL_CHUNK;

	if (vdm->short_of_pages || vdm->alone || vdm->deal - vdm->lowest >= VDM_RING)
		return VDM_DEAL_WAIT;
	if (vdm->deal == vdm->made)
		result = make(vdm, core);
	if (vdm->phase != VDM_RUN)
		return VDM_DEAL_AGAIN;
	if (result == VDM_DEAL_WAIT && vdm->lowest == vdm->made && vdm->walk.halted) {
		finish(vdm);
		return VDM_DEAL_AGAIN;
	}
	if (result != VDM_DEAL_CHUNK)
		return result;
	core->chunk = *chunk_of(vdm, vdm->deal++);
	core->place = core->chunk.from;
	core->prims = 0;
	core->busy = true;
	core->phase = VDM_CORE_ASSEMBLE;
	return VDM_DEAL_CHUNK;
}

void vdm_deal_done(struct vdm *vdm, struct vdm_core *core)
{
	struct vdm_chunk *chunk = chunk_of(vdm, core->chunk.sequence);
	const bool full = vdm->deal - vdm->lowest >= VDM_RING;

	chunk->done = true;
	chunk->prims = core->prims;
	core->phase = VDM_CORE_IDLE;
	core->busy = false;
	vdm->progress = true;
	advance(vdm);
	if (vdm->alone && vdm->lowest > vdm->alone_at) {
		vdm->alone = false;
		vdm_wake_all(vdm);
	} else if (full) {
		vdm_wake_all(vdm);
	}
	vdm_deal_memory(vdm);
}

void vdm_deal_memory(struct vdm *vdm)
{
	bool stands = false;
	unsigned int i;

	if (vdm->phase != VDM_RUN || !vdm->short_of_pages)
		return;
	for (i = 0; i < vdm->cores; i++) {
		struct vdm_core *core = &vdm->core[i];

		if (core->busy && !atomic_load(&core->stands))
			return;
		stands |= core->busy;
		if (core->busy && core->chunk.sequence == vdm->lowest)
			vdm->status.done = vdm->before + core->prims - core->piece.prims +
					   core->binned;
		vdm->progress |= core->moved;
		core->moved = false;
	}
	if (!stands) {	/* they got what they needed after all */
		vdm->short_of_pages = false;
		vdm_wake_all(vdm);
		return;
	}
	if (vdm->flushed && !vdm->progress) {
		vdm_stop_at(vdm, PUMICE_FAULT_PM_MEMORY, 0, vdm->scene.addr);
		return;
	}
	vdm->phase = VDM_MEMORY;
	vdm->config.ops->ended(vdm->config.opaque, DM_MEMORY);
}

void vdm_deal_rewind(struct vdm *vdm)
{
	unsigned int i;
	u32 n;

	for (n = vdm->lowest + 1; n != vdm->deal; n++)
		chunk_of(vdm, n)->done = false;
	for (i = 0; i < vdm->cores; i++) {
		struct vdm_core *core = &vdm->core[i];

		if (!core->busy || core->chunk.sequence == vdm->lowest)
			continue;
		core->phase = VDM_CORE_IDLE;
		core->busy = false;
		atomic_store(&core->stands, false);
	}
	vdm->deal = vdm->lowest + 1;
	vdm->alone = true;
	vdm->alone_at = vdm->lowest;
}

void vdm_deal_forget(struct vdm *vdm)
{
	for (; vdm->lowest != vdm->made; vdm->lowest++)
		vdm_shared_put(vdm, chunk_of(vdm, vdm->lowest)->shared);
	vdm->lowest = vdm->deal = vdm->made = 0;
	vdm_shared_put(vdm, vdm->walk.shared);
	vdm_shared_put(vdm, vdm->walk.loading);
	vdm->walk.shared = vdm->walk.loading = NULL;
}
