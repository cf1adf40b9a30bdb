// SPDX-License-Identifier: MIT
/*
 * Vertex data master: a core's pieces in flight.
 *
 * Source: document 004, "MTE": shaded vertices arrive from the USCs, indices through the IDX FIFO;
 * document 001, "Binning Pass", for the vertex pipe memory. See state.h.
 */
#include <string.h>

#include "../number.h"
#include "state.h"

/* ------------------------------------------------------------ pieces */

/* Free all rows of the VPM before a position; 0: there are none. */
static void free_rows(const struct vdm_core *core, u64 end)
{
	if (end)
		pds_vpm_free(core->vdm->config.pds, core->number, end);
}

/*
 * Drop the pieces from a number on, which is that of the back or a later one. Their rows of the VPM
 * are those allocated last.
 */
static void drop_from(struct vdm_core *core, u32 number)
{
	const struct dm_config *config = &core->vdm->config;
	u32 n, prims = 0;

	for (n = number; n < core->queued; n++)
		prims += vdm_entry(core, n)->piece.prims - vdm_entry(core, n)->binned;
	fifo_pop(&core->idx, prims, config->ops->now(config->opaque));
	core->idx.waits = false;
	if (number > core->first) {
		core->vpm = vdm_entry(core, number - 1)->vpm;
		pds_vpm_undo(config->pds, core->number, core->vpm);
	} else {
		free_rows(core, core->vpm);
	}
	core->front = core->queued = number;
	core->keep = core->reuse.valid = false;
	core->phase = VDM_CORE_IDLE;
}

void vdm_entries_drop(struct vdm_core *core)
{
	core->first = core->back;
	drop_from(core, core->back);
	core->quiet = false;
	core->prims = 0;
}

void vdm_entries_drop_after(struct vdm_core *core, u32 sequence)
{
	u32 n = core->back;

	if (core->phase != VDM_CORE_IDLE && core->chunk.sequence == sequence)
		return;
	while (n < core->queued && vdm_entry(core, n)->chunk.sequence == sequence)
		n++;
	drop_from(core, n);
	vdm_entries_release(core);
}

void vdm_entries_release(struct vdm_core *core)
{
	const u32 end = core->back - (core->keep && core->back == core->front);

	if (core->first >= end)
		return;
	core->first = end;
	free_rows(core, vdm_entry(core, end - 1)->vpm);
}

/* ------------------------------------------------------------ tasks */

/*
 * Tasks of half a wave leave the upper half of their rows empty: move the vertices of a second task
 * there, so that the TA reads whole waves.
 */
static void join_halves(struct vdm_entry *entry, u32 task)
{
	const u32 half = PUMICE_LANES / 2;
	const struct usc_gfx *gfx = &entry->gfx[task];
	u32 *to = entry->vo[(entry->piece.first + task * half) / PUMICE_LANES] + half;
	u32 n;

	for (n = 0; n < gfx->vo_words; n++)
		memcpy(to + n * PUMICE_LANES, gfx->vo + n * PUMICE_LANES, half * sizeof(u32));
}

void vdm_entry_update(struct vdm_entry *entry)
{
	const bool halves = entry->task_vertices < PUMICE_LANES;
	const struct vdm_piece *piece = &entry->piece;
	u32 shaded;

	for (; entry->ended < entry->tasks && atomic_load(&entry->done[entry->ended]);
	     entry->ended++)
		if (halves && entry->ended % 2)
			join_halves(entry, entry->ended);
	shaded = entry->ended * entry->task_vertices;
	if (!entry->copied)
		entry->ready = 0;
	else if (entry->final && shaded >= piece->shade)
		entry->ready = piece->vertices;
	else
		entry->ready = piece->first + shaded / PUMICE_LANES * PUMICE_LANES;
}
