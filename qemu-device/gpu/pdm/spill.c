// SPDX-License-Identifier: MIT
/*
 * PDM: store and load tiles of partial renders.
 *
 * Source: document 004, "DPM" (partial render); hw/formats.xml, scene.spill. A tile is stored
 * raw, all samples: each output register's row of pixels, then depth, then stencil, sample by
 * sample, then the mask plane, if there is one. Tiles follow each other row by row, each rounded
 * up to 256 bytes.
 */
#include "state.h"

#define ALIGN 256u

static u32 pixels_of(const struct pdm *pdm)
{
	return pdm->scene.tile_w * pdm->scene.tile_h;
}

static u64 tile_bytes(const struct pdm *pdm)
{
	const u64 sample = pdm->render.outputs * sizeof(u32) + sizeof(float) + sizeof(u8);
	const u64 mask = pdm->render.mask_plane ? pixels_of(pdm) / 8 : 0;

	return ((pixels_of(pdm) * sample + mask) * pdm->scene.samples + ALIGN - 1) / ALIGN * ALIGN;
}

u64 pdm_spill_bytes(const struct pdm *pdm)
{
	return tile_bytes(pdm) * pdm->scene.tiles_x * pdm->scene.tiles_y;
}

/* Load or store one array and advance past its end. */
static bool move(struct pdm_tile *tile, bool to_memory, u64 *at, void *data, u64 bytes,
		 struct gpu_fault *fault)
{
	struct pdm *pdm = tile->pdm;
	const u64 addr = *at;

	*at += bytes;
	if (to_memory)
		return mmu_write(pdm->config.mmu, &tile->core->tlb, pdm->job.ctx, addr, data, bytes,
				 MMU_SECOND(PUMICE_UNIT_ISP), fault);
	return mmu_read(pdm->config.mmu, &tile->core->tlb, pdm->job.ctx, addr, data, bytes,
			PUMICE_ACCESS_READ, MMU_SECOND(PUMICE_UNIT_ISP), fault);
}

static bool move_tile(struct pdm_tile *tile, bool to_memory, struct gpu_fault *fault)
{
	const struct pdm *pdm = tile->pdm;
	const u32 number = tile->number_y * pdm->scene.tiles_x + tile->number_x;
	const u32 samples = pdm->scene.samples, pixels = pixels_of(pdm);
	u64 at = pdm->scene.spill + number * tile_bytes(pdm);
	u32 i;

	*fault = (struct gpu_fault){ .ctx = (u8)pdm->job.ctx };
	for (i = 0; i < samples * pdm->render.outputs; i++)
		if (!move(tile, to_memory, &at, &tile->outputs.word[i * pixels],
			  pixels * sizeof(u32), fault))
			return false;
	for (i = 0; i < samples; i++) {
		if (!move(tile, to_memory, &at, tile->isp.depth[i], pixels * sizeof(float), fault))
			return false;
		/* Memory may have been modified since the PDM stored it. */
		if (!to_memory)
			isp_clamp_depth(tile->isp.depth[i], pixels);
	}
	for (i = 0; i < samples; i++)
		if (!move(tile, to_memory, &at, tile->isp.stencil[i], pixels, fault))
			return false;
	for (i = 0; i < samples && pdm->render.mask_plane; i++)
		if (!move(tile, to_memory, &at, tile->isp.mask[i], pixels / 8, fault))
			return false;
	return true;
}

bool pdm_spill_load(struct pdm_tile *tile, struct gpu_fault *fault)
{
	return move_tile(tile, false, fault);
}

bool pdm_spill_store(struct pdm_tile *tile, struct gpu_fault *fault)
{
	return move_tile(tile, true, fault);
}
