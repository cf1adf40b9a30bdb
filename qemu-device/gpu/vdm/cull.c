// SPDX-License-Identifier: MIT
/*
 * Vertex data master: culling of the front's piece by the coordinate program.
 *
 * Source: document 001, "Binning Pass": the coordinate program computes positions only; the whole
 * vertex program runs for vertices of primitives that are not culled.
 *
 * Tasks of the coordinate program end one after the other. As soon as a primitive has all of its
 * positions, it is culled by the TA or passed on: into the IDX FIFO, and its vertices, unless the
 * piece has them already, to the vertex program. So full vertex tasks start, and the TA bins their
 * primitives, while others of the coordinate program run.
 *
 * Limits: all coordinate tasks of a piece start before its first vertex task. Their rows of the VPM
 * are freed with those of the piece, which are freed in the order of allocation.
 */
#include <string.h>

#include "../number.h"
#include "state.h"

void vdm_cull_begin(struct vdm_core *core, struct vdm_entry *entry)
{
	struct vdm_piece *whole = &core->positions.piece;

	memcpy(core->position_vo, core->positions.vo, sizeof(core->position_vo));
	vdm_reuse_arrange(&core->position_reuse, whole);
	vdm_reuse_begin(&core->reuse, whole, &core->position_reuse, &entry->piece);
	entry->most = entry->piece.first - core->reuse.copies + core->position_reuse.copies +
		      whole->shade;
	entry->final = false;
	memset(core->kept, true, sizeof(core->kept));
	core->culled = core->passed = 0;
}

/* Return the end of the primitives whose vertices all have positions. */
static u32 find_end(struct vdm_core *core)
{
	struct vdm_entry *positions = &core->positions;
	const struct vdm_piece *whole = &positions->piece;
	u32 n;

	vdm_entry_update(positions);
	for (n = core->culled; n < whole->prims; n++) {
		const u16 *v = whole->prim[n].v;

		if (max_u32(v[0], max_u32(v[1], v[2])) >= positions->ready)
			break;
	}
	return n;
}

/* Cull the primitives up to one by their positions. */
static void cull(struct vdm_core *core, const struct vdm_entry *entry, u32 end)
{
	const struct vdm_piece *whole = &core->positions.piece;
	const struct ta_vertices vertices = {
		.wave = (const u32 *const *)core->positions.vo, .vo_words = VDM_POSITION_WORDS,
		.count = whole->vertices, .ready = core->positions.ready,
	};
	const struct ta_draw draw = vdm_ta_draw(&entry->chunk);
	u32 n, culled = 0;
	trace_span span;

	span = vdm_trace_ta(core, PUMICE_TRACE_TA_CULL, end - core->culled);
	ta_cull(core->ta, &draw, &vertices, whole->prim, core->culled, end, core->kept);
	for (n = core->culled; n < end; n++)
		culled += !core->kept[n];
	vdm_trace_ta_end(core, span, PUMICE_TRACE_TA_CULL, true, culled);
	core->culled = end;
}

/* Pass the kept ones of the culled primitives on. */
static enum vdm_step pass_on(struct vdm_core *core, struct vdm_entry *entry)
{
	const struct dm_config *config = &core->vdm->config;
	u32 n, kept = 0;

	for (n = core->passed; n < core->culled; n++)
		kept += core->kept[n];
	if (kept && !fifo_push(&core->idx, kept, config->ops->now(config->opaque)))
		return VDM_STEP_WAIT;
	entry->assembled += core->culled - core->passed;
	for (; core->passed < core->culled; core->passed++)
		if (core->kept[core->passed])
			vdm_reuse_add(&core->reuse, &core->positions.piece, core->passed,
				      &entry->piece);
	entry->final = core->passed == core->positions.piece.prims;
	return VDM_STEP_ON;
}

enum vdm_step vdm_cull(struct vdm_core *core, struct vdm_entry *entry)
{
	u32 end;

	if (core->passed < core->culled)
		return pass_on(core, entry);
	end = find_end(core);
	if (end == core->culled)
		return VDM_STEP_WAIT;
	if (vdm_core_begin_ta(core))
		cull(core, entry, end);
	return VDM_STEP_ON;
}
