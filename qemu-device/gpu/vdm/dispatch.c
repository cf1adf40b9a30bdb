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

#define AHEAD 2u	/* chunks entered into FIFOs for each that is begun */
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
		case VDM_WALK_HELD:
			vdm->held = true;
			return VDM_DISPATCH_WAIT;
		case VDM_WALK_END:
			return VDM_DISPATCH_WAIT;
		case VDM_WALK_SWEPT:
		case VDM_WALK_STOPPED:
			return VDM_DISPATCH_AGAIN;
		}
	}
	return VDM_DISPATCH_AGAIN;
}

/* ------------------------------------------------------------ FIFOs of the cores */

static u64 now(const struct vdm *vdm)
{
	return vdm->config.ops->now(vdm->config.opaque);
}

/*
 * Return the core with the fewest chunks whose FIFO has room, or NULL. The core whose thread is the
 * master's is preferred.
 */
static struct vdm_core *find_core(struct vdm *vdm, struct vdm_core *master)
{
	struct vdm_core *best = NULL;
	unsigned int i;

	for (i = 0; i < vdm->cores; i++) {
		struct vdm_core *core = &vdm->core[(master->number + i) % vdm->cores];

		if (core->fifo.level < core->fifo.depth && (!best || core->chunks < best->chunks))
			best = core;
	}
	return best;
}

/* Enter the next chunk into the FIFO of a core; make it first if it is not dispatched again. */
static enum vdm_dispatch_result push_next(struct vdm *vdm, struct vdm_core *master)
{
	enum vdm_dispatch_result result = VDM_DISPATCH_CHUNK;
	struct vdm_core *core;

	if (vdm->next_dispatch - vdm->lowest >= VDM_RING)
		return VDM_DISPATCH_WAIT;
	if (vdm->next_dispatch == vdm->made)
		result = make(vdm, master);
	if (vdm->phase != VDM_RUN)
		return VDM_DISPATCH_AGAIN;
	core = find_core(vdm, master);	/* the lock may have been dropped */
	if (result != VDM_DISPATCH_CHUNK || !core)
		return result;
	core->fifo_chunk[(core->fifo_first + core->fifo.level) % VDM_MAX_FIFO] =
		vdm->next_dispatch++;
	fifo_push(&core->fifo, 1, now(vdm));
	core->chunks++;
	if (core != master)
		vdm->config.ops->wake(vdm->config.opaque, core->number);
	return VDM_DISPATCH_CHUNK;
}

/* Return whether the next chunk in the FIFO is the lowest one that is not done. */
static bool has_lowest(const struct vdm *vdm, const struct vdm_core *core)
{
	return core->fifo.level && core->fifo_chunk[core->fifo_first] == vdm->lowest;
}

/* Return whether the next chunk in the FIFO has to wait for others to be done. */
static bool is_held(struct vdm *vdm, const struct vdm_core *core)
{
	return chunk_of(vdm, core->fifo_chunk[core->fifo_first])->task && !has_lowest(vdm, core);
}

/*
 * Begin the next chunk in the FIFO. A task, and draws after it, see stores of draws before it. No
 * other operation on caches is in this step: a FLUSH waits until the task has ended.
 */
static void begin_chunk(struct vdm *vdm, struct vdm_core *core)
{
	core->chunk = *chunk_of(vdm, core->fifo_chunk[core->fifo_first]);
	if (core->chunk.task)
		dm_fence(vdm->config.mmu, PUMICE_UNIT_VDM, vdm->job.ctx);
	core->fifo_first = (core->fifo_first + 1) % VDM_MAX_FIFO;
	fifo_pop(&core->fifo, 1, now(vdm));
	core->place = core->chunk.from;
	core->skipped = 0;
	core->phase = VDM_CORE_ASSEMBLE;
	if (!core->busy)
		vdm_trace_chunk(core, core->chunk.sequence);
	core->busy = true;
}

/* Remove all chunks from the FIFO. */
static void clear_fifo(struct vdm_core *core)
{
	if (!core->fifo.level)
		return;
	core->chunks -= core->fifo.level;
	fifo_pop(&core->fifo, core->fifo.level, now(core->vdm));
}

void vdm_dispatch_drop(struct vdm_core *core)
{
	vdm_entries_drop(core);
	clear_fifo(core);
	core->chunks = 0;
	core->busy = false;
}

/* ------------------------------------------------------------ dispatch */

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

/* A core has begun a chunk: enter a few into FIFOs, so that they fill while cores work. */
static void run_ahead(struct vdm *vdm, struct vdm_core *master)
{
	u32 n;

	if (vdm->short_of_pages || vdm->exclusive)
		return;
	for (n = 0; n < AHEAD && find_core(vdm, master); n++)
		if (push_next(vdm, master) != VDM_DISPATCH_CHUNK)
			return;
	if (!find_core(vdm, master))
		fifo_wait(&master->fifo);
}

enum vdm_dispatch_result vdm_dispatch(struct vdm *vdm, struct vdm_core *core)
{
	enum vdm_dispatch_result result;

	/* The lowest chunk is always begun: see vdm_dispatch_memory(). */
	if ((vdm->short_of_pages || vdm->exclusive) && !has_lowest(vdm, core))
		return VDM_DISPATCH_WAIT;
	if (!core->fifo.level) {
		result = push_next(vdm, core);
		if (result == VDM_DISPATCH_WAIT && vdm->lowest == vdm->made && vdm->walk.halted) {
			vdm_entries_drop(core);	/* kept for a further piece */
			finish(vdm);
			return VDM_DISPATCH_AGAIN;
		}
		if (result != VDM_DISPATCH_CHUNK || !core->fifo.level)
			return result == VDM_DISPATCH_CHUNK ? VDM_DISPATCH_AGAIN : result;
	}
	if (is_held(vdm, core)) {
		vdm->held = true;
		return VDM_DISPATCH_WAIT;
	}
	begin_chunk(vdm, core);
	run_ahead(vdm, core);
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
	core->chunks--;
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
	} else if (full || vdm->held) {
		vdm_wake_all(vdm);
	}
	vdm->held = false;
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
		/* It may not have begun before pages ran out; a flush keeps this chunk only. */
		if (has_lowest(vdm, core)) {
			vdm->config.ops->wake(vdm->config.opaque, i);
			return;
		}
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

		clear_fifo(core);
		if (!core->busy)
			continue;
		if (vdm_entry(core, core->back)->chunk.sequence == vdm->lowest) {
			vdm_entries_drop_after(core, vdm->lowest);
			core->chunks = 1;
			continue;
		}
		vdm_trace_chunk_end(core, PUMICE_TRACE_PHASE_CANCEL);
		vdm_dispatch_drop(core);
		atomic_store(&core->stalled, false);
	}
	vdm->next_dispatch = vdm->lowest + 1;
	vdm->exclusive = true;
	vdm->exclusive_at = vdm->lowest;
}

void vdm_dispatch_clear(struct vdm *vdm)
{
	unsigned int i;

	for (i = 0; vdm->core && i < vdm->config.cores; i++)
		clear_fifo(&vdm->core[i]);
	for (; vdm->lowest != vdm->made; vdm->lowest++)
		vdm_shared_put(vdm, chunk_of(vdm, vdm->lowest)->shared);
	vdm->lowest = vdm->next_dispatch = vdm->made = 0;
	vdm_shared_put(vdm, vdm->walk.shared);
	vdm_shared_put(vdm, vdm->walk.loading);
	vdm->walk.shared = vdm->walk.loading = NULL;
}
