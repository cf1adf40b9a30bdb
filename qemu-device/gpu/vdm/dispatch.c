// SPDX-License-Identifier: MIT
/*
 * Vertex data master: dispatch of chunks to cores, and their withdrawal.
 *
 * Source: document 004, "Master VDM". See state.h for how their order is kept.
 *
 * After a flush the lowest chunk runs exclusively until it is done. This guarantees progress
 * before pages run out again: other cores cannot take the pages it needs.
 */
#include "../number.h"
#include "state.h"

#define BUDGET 64u	/* approximate number of commands and chunks per call */

static struct vdm_chunk *chunk_of(struct vdm *vdm, u32 sequence)
{
	return &vdm->ring[sequence % VDM_RING];
}

/*
 * Retire done chunks in order from the lowest. So no chunk that is dispatched again is
 * counted twice, and the figure in the register never decreases.
 */
static void advance(struct vdm *vdm)
{
	while (vdm->lowest != vdm->made && chunk_of(vdm, vdm->lowest)->done) {
		struct vdm_chunk *chunk = chunk_of(vdm, vdm->lowest++);

		vdm->before += chunk->prims;
		vdm->primitives += chunk->prims;
		vdm_shared_put(vdm, chunk->shared);
	}
	if (vdm->before > vdm->run.status.done)
		vdm->run.status.done = vdm->before;
}

/*
 * Load a piece of the programs of a STATE on one core. The lock is dropped meanwhile, and the
 * core counts as writing, so that the job does not end.
 */
static enum vdm_dispatch_result load(struct vdm *vdm, struct vdm_core *core)
{
	const struct dm_ops *ops = vdm->config.ops;
	enum pds_load_result result;
	struct gpu_fault fault = { 0 };

	if (vdm->walking) {
		vdm->walk_wanted = true;
		return VDM_DISPATCH_WAIT;
	}
	vdm->walking = core->writing = true;
	ops->unlock(vdm->config.opaque);
	result = vdm_walk_load(vdm, &fault);
	ops->lock(vdm->config.opaque);
	vdm->walking = core->writing = false;
	if (result == PDS_LOADED)
		vdm_walk_loaded(vdm);
	else if (result == PDS_LOAD_FAULT)
		dm_stop_fault(&vdm->run, &fault);
	if (vdm->walk_wanted && result != PDS_LOAD_MORE && result != PDS_LOAD_WAIT) {
		vdm->walk_wanted = false;
		vdm_wake_all(vdm);
	}
	return result == PDS_LOAD_WAIT && !atomic_load(&vdm->stopping) ? VDM_DISPATCH_WAIT :
									 VDM_DISPATCH_AGAIN;
}

/* Make chunks until there is one to dispatch. */
static enum vdm_dispatch_result make(struct vdm *vdm, struct vdm_core *core)
{
	u32 budget = BUDGET, cost;

	for (; budget; budget -= min_u32(cost, budget)) {
		switch (vdm_walk(vdm, chunk_of(vdm, vdm->made), &cost)) {
		case VDM_WALK_CHUNK:
			vdm->made++;
			return VDM_DISPATCH_CHUNK;
		case VDM_WALK_ON:
			break;
		case VDM_WALK_LOAD:
			return load(vdm, core);
		case VDM_WALK_END:
			return VDM_DISPATCH_WAIT;
		case VDM_WALK_STOPPED:
			return VDM_DISPATCH_AGAIN;
		}
	}
	return VDM_DISPATCH_AGAIN;
}

/* Return whether another core has no chunk. */
static bool another_is_idle(const struct vdm *vdm, const struct vdm_core *core)
{
	unsigned int i;

	for (i = 0; i < vdm->cores; i++)
		if (&vdm->core[i] != core && !vdm->core[i].busy)
			return true;
	return false;
}

/* All primitives of the stream are in tile lists: cores write their headers. */
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

enum vdm_dispatch_result vdm_dispatch(struct vdm *vdm, struct vdm_core *core)
{
	enum vdm_dispatch_result result = VDM_DISPATCH_CHUNK;

	if (vdm->short_of_pages || vdm->exclusive || vdm->next_dispatch - vdm->lowest >= VDM_RING)
		return VDM_DISPATCH_WAIT;
	/* A core that bins a chunk assembles another one only if no core is without. */
	if (core->busy && another_is_idle(vdm, core))
		return VDM_DISPATCH_WAIT;
	if (vdm->next_dispatch == vdm->made)
		result = make(vdm, core);
	if (vdm->phase != VDM_RUN)
		return VDM_DISPATCH_AGAIN;
	if (result == VDM_DISPATCH_WAIT && vdm->lowest == vdm->made && vdm->walk.halted) {
		vdm_entries_drop(core);	/* kept for a further piece */
		finish(vdm);
		return VDM_DISPATCH_AGAIN;
	}
	if (result != VDM_DISPATCH_CHUNK)
		return result;
	core->chunk = *chunk_of(vdm, vdm->next_dispatch++);
	core->place = core->chunk.from;
	core->skipped = 0;
	core->phase = VDM_CORE_ASSEMBLE;
	if (!core->busy)
		vdm_trace_chunk(core, core->chunk.sequence);
	core->busy = true;
	return VDM_DISPATCH_CHUNK;
}

void vdm_dispatch_done(struct vdm *vdm, struct vdm_core *core, u32 sequence)
{
	struct vdm_chunk *chunk = chunk_of(vdm, sequence);
	const bool full = vdm->next_dispatch - vdm->lowest >= VDM_RING;

	vdm_trace_chunk_end(core, PUMICE_TRACE_PHASE_END);
	chunk->done = true;
	chunk->prims = core->prims;
	core->prims = 0;
	core->no_chunk = false;
	core->busy = core->phase != VDM_CORE_IDLE || core->back != core->queued;
	if (core->busy)
		vdm_trace_chunk(core, core->back != core->queued ?
			vdm_entry(core, core->back)->chunk.sequence : core->chunk.sequence);
	vdm->progress = true;
	advance(vdm);
	if (vdm->exclusive && vdm->lowest > vdm->exclusive_at) {
		vdm->exclusive = false;
		vdm_wake_all(vdm);
	} else if (full) {
		vdm_wake_all(vdm);
	}
	vdm_dispatch_memory(vdm);
}

void vdm_dispatch_memory(struct vdm *vdm)
{
	bool stalled = false;
	unsigned int i;

	if (vdm->phase != VDM_RUN || !vdm->short_of_pages)
		return;
	for (i = 0; i < vdm->cores; i++) {
		struct vdm_core *core = &vdm->core[i];

		if (core->busy && !atomic_load(&core->stalled))
			return;
		stalled |= core->busy;
		if (core->busy && vdm_entry(core, core->back)->chunk.sequence == vdm->lowest)
			vdm->run.status.done = vdm->before + vdm_core_binned(core);
		vdm->progress |= core->progressed;
		core->progressed = false;
	}
	if (!stalled) {	/* all of them have pages now */
		vdm->short_of_pages = false;
		vdm_wake_all(vdm);
		return;
	}
	if (vdm->flushed && !vdm->progress) {
		dm_stop_at(&vdm->run, PUMICE_FAULT_PM_MEMORY, 0, vdm->scene.addr);
		return;
	}
	vdm->phase = VDM_MEMORY;
	vdm->config.ops->ended(vdm->config.opaque, DM_MEMORY);
}

void vdm_dispatch_rewind(struct vdm *vdm)
{
	unsigned int i;
	u32 n;

	for (n = vdm->lowest + 1; n != vdm->next_dispatch; n++)
		chunk_of(vdm, n)->done = false;
	for (i = 0; i < vdm->cores; i++) {
		struct vdm_core *core = &vdm->core[i];

		if (!core->busy)
			continue;
		if (vdm_entry(core, core->back)->chunk.sequence == vdm->lowest) {
			vdm_entries_drop_after(core, vdm->lowest);
			continue;
		}
		vdm_trace_chunk_end(core, PUMICE_TRACE_PHASE_CANCEL);
		vdm_entries_drop(core);
		core->busy = false;
		atomic_store(&core->stalled, false);
	}
	vdm->next_dispatch = vdm->lowest + 1;
	vdm->exclusive = true;
	vdm->exclusive_at = vdm->lowest;
}

void vdm_dispatch_clear(struct vdm *vdm)
{
	for (; vdm->lowest != vdm->made; vdm->lowest++)
		vdm_shared_put(vdm, chunk_of(vdm, vdm->lowest)->shared);
	vdm->lowest = vdm->next_dispatch = vdm->made = 0;
	vdm_shared_put(vdm, vdm->walk.shared);
	vdm_shared_put(vdm, vdm->walk.loading);
	vdm->walk.shared = vdm->walk.loading = NULL;
}
