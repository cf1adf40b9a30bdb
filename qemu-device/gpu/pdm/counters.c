// SPDX-License-Identifier: MIT
/*
 * PDM: counters in memory that a tile adds to.
 *
 * Source: hw/formats.xml, pdm_render.visibility_addr, tile_stats. Visibility counters are
 * shared by tiles, and so by cores: 64-bit atomic additions.
 */
#include "state.h"

bool pdm_visibility_add(struct pdm_tile *tile, struct gpu_fault *fault)
{
	struct pdm *pdm = tile->pdm;
	u32 i;

	*fault = (struct gpu_fault){ .ctx = (u8)pdm->job.ctx };
	if (!pdm->render.visibility_count)
		return true;
	for (i = 0; i < PDM_MAX_OBJECTS; i++) {
		struct pdm_object *o = tile->objects[i];
		u64 addr, *host;

		if (!o || !o->used || !o->visible)
			continue;
		addr = pdm->render.visibility_addr + (u64)o->isp.visibility_id * sizeof(u64);
		host = (u64 *)(void *)mmu_translate(pdm->config.mmu, &tile->core->tlb,
						    pdm->job.ctx, addr, sizeof(u64),
						    PUMICE_ACCESS_WRITE, PUMICE_UNIT_ISP, fault);
		if (!host)
			return false;
		/* Aligned to 16 bytes, so it is within one grain. */
		__atomic_fetch_add(host, o->visible, __ATOMIC_RELAXED);
		o->visible = 0;
	}
	return true;
}

bool pdm_stats_store(struct pdm_tile *tile, struct gpu_fault *fault)
{
	struct pdm *pdm = tile->pdm;
	const u32 number = tile->number_y * pdm->scene.tiles_x + tile->number_x;
	const u64 addr = pdm->render.stats_addr + (u64)number * PUMICE_TILE_STATS_WORDS * 4;
	struct pumice_tile_stats stats = tile->stats, before;
	u32 words[PUMICE_TILE_STATS_WORDS];

	*fault = (struct gpu_fault){ .ctx = (u8)pdm->job.ctx };
	if (!pdm->render.stats_addr)
		return true;
	if (pdm->scene_state.spilled) {
		if (!mmu_read(pdm->config.mmu, &tile->core->tlb, pdm->job.ctx, addr, words,
			      sizeof(words), PUMICE_ACCESS_READ, PUMICE_UNIT_ISP, fault))
			return false;
		pumice_tile_stats_unpack(words, &before);
		stats.primitives += before.primitives;
		stats.covered += before.covered;
		stats.shaded += before.shaded;
		stats.passes += before.passes;
	}
	pumice_tile_stats_pack(words, &stats);
	return mmu_write(pdm->config.mmu, &tile->core->tlb, pdm->job.ctx, addr, words,
			 sizeof(words), PUMICE_UNIT_ISP, fault);
}
