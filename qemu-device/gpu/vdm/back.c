// SPDX-License-Identifier: MIT
/*
 * Vertex data master, back of a core: passes primitives of the IDX FIFO to the TA.
 *
 * Source: document 004, "USSE" and "MTE": tasks emit shaded vertices to the TA, which bins a
 * primitive as soon as it has all vertices, in order.
 */
#include "../number.h"
#include "state.h"

/* Return whether the next primitive of a piece has all its vertices. */
static bool next_is_ready(struct vdm_entry *entry)
{
	const u16 *v = entry->piece.prim[entry->binned].v;
	const u32 last = max_u32(v[0], max_u32(v[1], v[2]));

	if (last >= entry->ready)
		vdm_entry_update(entry);
	return last < entry->ready;
}

static enum vdm_step bin(struct vdm_core *core, struct vdm_entry *entry)
{
	const struct dm_config *config = &core->vdm->config;
	const struct vdm_piece *piece = &entry->piece;
	const struct vdm_shared *shared = entry->chunk.shared;
	const struct ta_vertices vertices = {
		.wave = (const u32 *const *)entry->vo,
		.vo_words = vdm_binned_stage(shared)->vo_words,
		.count = entry->most, .ready = entry->ready, .more = !entry->final,
		.number = shared->record.state.deferred ? piece->number : NULL,
	};
	const struct ta_draw draw = vdm_ta_draw(&entry->chunk);
	const u32 before = entry->binned;
	struct gpu_fault fault = { 0 };
	enum ta_result result;
	trace_span span;

	if (!vdm_core_begin_ta(core))
		return VDM_STEP_ON;
	span = vdm_trace_ta(core, PUMICE_TRACE_TA_BIN, piece->prims);
	result = ta_primitives(core->ta, &draw, &vertices, piece->prim, piece->prims,
			       &entry->binned, &fault);
	vdm_trace_ta_end(core, span, PUMICE_TRACE_TA_BIN, result != TA_FAULT, entry->binned);
	fifo_pop(&core->idx, entry->binned - before, config->ops->now(config->opaque));
	core->progressed |= entry->binned != before;
	if (result == TA_FAULT)
		return vdm_core_fault(core->vdm, &fault);
	core->quiet = result == TA_MEMORY;
	entry->open = result == TA_VERTICES;
	return VDM_STEP_ON;
}

/* All primitives of the piece are binned. */
static enum vdm_step end_piece(struct vdm_core *core, struct vdm_entry *entry)
{
	struct vdm *vdm = core->vdm;

	core->prims += entry->assembled;
	core->progressed = true;
	core->back++;
	vdm_entries_release(core);
	if (!entry->last)
		return VDM_STEP_ON;
	vdm->config.ops->lock(vdm->config.opaque);
	vdm_dispatch_done(vdm, core, entry->chunk.sequence);
	vdm->config.ops->unlock(vdm->config.opaque);
	return VDM_STEP_ON;
}

enum vdm_step vdm_back(struct vdm_core *core)
{
	struct vdm_entry *entry = vdm_entry(core, core->back);

	if (core->back == core->queued)
		return VDM_STEP_WAIT;
	if (entry->binned < entry->piece.prims)
		return next_is_ready(entry) ? bin(core, entry) : VDM_STEP_WAIT;
	if (core->back == core->front)
		return VDM_STEP_WAIT;
	return entry->open ? bin(core, entry) : end_piece(core, entry);
}
