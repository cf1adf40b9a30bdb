// SPDX-License-Identifier: MIT
/*
 * PDS: rows of a core's vertex pipe memory, as a resource of tasks.
 *
 * Source: document 000, "Programmable Data Sequencer"; ../vpm/vpm.h. Tasks of the VDM have rows of
 * the ring, those of others rows of the pool.
 *
 * Rows of the pool become free without a claim of their owner: the task ends, and its outputs are
 * copied. So one that waits for them waits for a finite time if programs end, also with rows of
 * another data master, and the DMS may hold that one back meanwhile: or small tasks would keep a
 * large one from ever having its rows.
 */
#include "../number.h"
#include "state.h"

static u64 now(const struct pds_core *core)
{
	return core->pds->config.now(core->pds->config.opaque);
}

bool pds_rows_could_fit(const struct pds_core *core, const struct pds_need *need)
{
	const struct vpm *vpm = &core->vpm;

	return need->vpm_rows <= (need->dm == PDS_DM_VDM ? vpm->rows : vpm->pool_rows);
}

bool pds_rows_suffice(const struct pds_core *core, const struct pds_need *need)
{
	return need->dm == PDS_DM_VDM ? vpm_has_room(&core->vpm, need->vpm_rows) :
					pds_store_has_room(&core->pool, need->vpm_rows);
}

bool pds_rows_are_of_others(const struct pds_core *core, const struct pds_need *need)
{
	return need->dm != PDS_DM_VDM && core->vpm.pool_used != core->pooled[need->dm];
}

/* Count rows of the pool that a data master got, or with add false that are free again. */
static void count(struct pds_core *core, u32 dm, u32 rows, bool add)
{
	core->pooled[dm] += add ? rows : 0u - rows;
	vpm_pool_count(&core->vpm, rows, add, now(core));
}

bool pds_rows_claim(struct pds_core *core, const struct pds_need *need, struct pds_place *place)
{
	const u32 rows = need->vpm_rows;
	u32 first;

	place->vpm_rows = rows;
	if (need->dm == PDS_DM_VDM)
		return vpm_alloc(&core->vpm, rows, rows ? now(core) : 0, &place->vpm);
	if (!pds_store_alloc(&core->pool, rows, &first))
		return false;
	place->vpm = first;
	if (rows)
		count(core, need->dm, rows, true);
	return true;
}

/* Free rows of the pool. */
static void free_rows(struct pds_core *core, u32 dm, u64 first, u32 rows)
{
	pds_store_free(&core->pool, (u32)first, rows);
	count(core, dm, rows, false);
}

void pds_rows_drop(struct pds_core *core, const struct pds_need *need,
		   const struct pds_place *place)
{
	if (!need->vpm_rows)
		return;
	if (need->dm == PDS_DM_VDM)
		vpm_undo(&core->vpm, place->vpm, now(core));
	else
		free_rows(core, need->dm, place->vpm, need->vpm_rows);
}

void pds_rows_reset(struct pds_core *core)
{
	unsigned int dm;

	vpm_reset(&core->vpm);
	pds_store_init(&core->pool, core->vpm.pool_rows);
	for (dm = 0; dm < PDS_DM_COUNT; dm++)
		core->pooled[dm] = 0;
}

/* ------------------------------------------------------------ owners of outputs in the pool */

u32 pds_pool_instances(const struct pds *pds, u32 vo_words)
{
	const u32 rows = pds->core[0].vpm.pool_rows;
	const u32 waves = rows / 2 / max_u32(vo_words, 1);

	if (vo_words > rows)
		return 0;
	return min_u32(pds->config.batch, max_u32(waves, 1) * PUMICE_LANES);
}

u32 *pds_pool_row(const struct pds *pds, const struct pds_place *place)
{
	return vpm_pool_row(&pds->core[pds_core_of(pds, place->usc)].vpm, (u32)place->vpm);
}

void pds_pool_free(struct pds *pds, enum pds_dm dm, struct pds_place *place)
{
	struct pds_core *core;

	if (!place->vpm_rows)
		return;
	core = pds_lock_core(pds, pds_core_of(pds, place->usc));
	free_rows(core, dm, place->vpm, place->vpm_rows);
	pds_core_room(core);
	pds_unlock_core(core);
	place->vpm_rows = 0;
}
