// SPDX-License-Identifier: MIT
/*
 * PDS: rows of a core's vertex pipe memory, as a resource of tasks.
 *
 * Source: document 000, "Programmable Data Sequencer"; ../vpm/vpm.h. Tasks of the VDM have rows of
 * the ring, those of others rows of the pool.
 *
 * The pool has two halves: the PDM allocates in the first one, the RDM in the second. So a data
 * master whose programs do not end does not keep the other one waiting: neither for free rows, nor
 * for contiguous ones. A task that needs more rows than a half is large: it claims the whole pool
 * when all rows are free, whatever it needs of them.
 *
 * Rows of the pool become free without a claim of their owner: the task ends, and its outputs are
 * copied. So one that waits for them waits for a finite time if programs end. A large task that
 * waits for rows of the other data master takes part in the decisions of the DMS, which may hold
 * that one back meanwhile: or its small tasks would keep the large one from ever having its rows.
 * It holds back neither the VDM nor the CDM until these rows are free.
 * A small task waits for rows of its own data master, or for one large task, all of whose rows
 * become free together when it ends. Meanwhile it does not hold back other data masters.
 *
 * Limit: a large task that does not end, or that waits for rows of one that does not end, keeps the
 * other data master waiting until that job times out. No task is large if the VPM has 256 KiB or
 * more: a wave has at most 256 outputs, and pds_pool_instances() limits the waves of a task.
 */
#include "../number.h"
#include "state.h"

static u64 now(const struct pds_core *core)
{
	return core->pds->config.now(core->pds->config.opaque);
}

/* Return the rows of a half of the pool. An odd row is for large tasks alone. */
static u32 rows_of_half(const struct pds_core *core)
{
	return core->vpm.pool_rows / PDS_POOL_HALVES;
}

static bool is_large(const struct pds_core *core, u32 rows)
{
	return rows > rows_of_half(core);
}

/* Return which half of the pool a data master allocates in. */
static u32 half_of(u32 dm)
{
	return dm == PDS_DM_RDM;
}

bool pds_rows_could_fit(const struct pds_core *core, const struct pds_need *need)
{
	const struct vpm *vpm = &core->vpm;

	return need->vpm_rows <= (need->dm == PDS_DM_VDM ? vpm->rows : vpm->pool_rows);
}

bool pds_rows_suffice(const struct pds_core *core, const struct pds_need *need)
{
	if (need->dm == PDS_DM_VDM)
		return vpm_has_room(&core->vpm, need->vpm_rows);
	if (is_large(core, need->vpm_rows))
		return !core->vpm.pool_used;
	return pds_store_has_room(&core->pool[half_of(need->dm)], need->vpm_rows);
}

bool pds_rows_are_of_others(const struct pds_core *core, const struct pds_need *need)
{
	return need->dm != PDS_DM_VDM && is_large(core, need->vpm_rows) &&
	       core->vpm.pool_used != core->pooled[need->dm];
}

/* Count rows of the pool that a data master got, or with add false that are free again. */
static void count(struct pds_core *core, u32 dm, u32 rows, bool add)
{
	core->pooled[dm] += add ? rows : 0u - rows;
	vpm_pool_count(&core->vpm, rows, add, now(core));
}

/* Allocate both halves, if they are free. */
static bool alloc_pool(struct pds_core *core)
{
	u32 half, first;

	if (core->vpm.pool_used)
		return false;
	for (half = 0; half < PDS_POOL_HALVES; half++)
		pds_store_alloc(&core->pool[half], rows_of_half(core), &first);
	return true;
}

/* Allocate rows of the pool; *first becomes the number of the first one. */
static bool alloc_rows(struct pds_core *core, u32 dm, u32 rows, u64 *first)
{
	const u32 half = half_of(dm);
	u32 at = 0;

	*first = 0;
	if (is_large(core, rows))
		return alloc_pool(core);
	if (!pds_store_alloc(&core->pool[half], rows, &at))
		return false;
	*first = half * rows_of_half(core) + at;
	return true;
}

bool pds_rows_claim(struct pds_core *core, const struct pds_need *need, struct pds_place *place)
{
	const u32 rows = need->vpm_rows;

	place->vpm_rows = rows;
	if (need->dm == PDS_DM_VDM)
		return vpm_alloc(&core->vpm, rows, rows ? now(core) : 0, &place->vpm);
	if (!alloc_rows(core, need->dm, rows, &place->vpm))
		return false;
	if (rows)
		count(core, need->dm, rows, true);
	return true;
}

/* Free rows of the pool. */
static void free_rows(struct pds_core *core, u32 dm, u64 first, u32 rows)
{
	const u32 all = rows_of_half(core);
	u32 half = half_of(dm);

	if (!is_large(core, rows))
		pds_store_free(&core->pool[half], (u32)first - half * all, rows);
	else
		for (half = 0; half < PDS_POOL_HALVES; half++)
			pds_store_free(&core->pool[half], 0, all);
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
	unsigned int dm, half;

	vpm_reset(&core->vpm);
	for (half = 0; half < PDS_POOL_HALVES; half++)
		pds_store_init(&core->pool[half], rows_of_half(core));
	for (dm = 0; dm < PDS_DM_COUNT; dm++)
		core->pooled[dm] = 0;
}

/* ------------------------------------------------------------ owners of outputs in the pool */

u32 pds_pool_instances(const struct pds *pds, u32 vo_words)
{
	const u32 rows = pds->core[0].vpm.pool_rows;
	const u32 waves = rows / PDS_POOL_HALVES / max_u32(vo_words, 1);

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
