// SPDX-License-Identifier: MIT
/*
 * Mask plane of the tile, and mask buffers in memory.
 *
 * Source: document 004, "ISP" (tile depth / stencil / mask memory); hw/formats.xml, pdm_render.
 * In memory a bit a sample, the samples of a pixel adjacent; no two tiles have bits of one byte,
 * because their widths are multiples of 8. Pixels beyond the target are not read, and their bits
 * in a row's last byte are written as 0.
 */
#include <string.h>

#include "isp.h"
#include "surface.h"

/* Bytes of a row of a tile. */
#define ROW_BYTES	(32u * PUMICE_MAX_SAMPLES / 8)

void isp_mask_clear(struct isp_tile *tile, bool set)
{
	memset(tile->mask, set ? 0xff : 0, sizeof(tile->mask));
}

/* Return the GPU virtual address of a row of the tile. */
static u64 row_address(const struct isp_tile *tile, const struct isp_mask_plane *plane, u32 y)
{
	return plane->addr + (u64)(tile->y0 + y) * plane->stride + tile->x0 * tile->samples / 8;
}

bool isp_mask_load(struct isp_tile *tile, const struct isp_mask_plane *plane, struct mmu *mmu,
		   struct mmu_tlb *tlb, struct gpu_fault *fault)
{
	const u32 count = tile->clip_x * tile->samples;
	const u32 bytes = pumice_mask_row_bytes(tile->clip_x, tile->samples);
	u8 data[ROW_BYTES];
	u32 y, n;

	*fault = (struct gpu_fault){ .ctx = (u8)plane->ctx };
	for (y = 0; y < tile->clip_y; y++) {
		if (!mmu_read(mmu, tlb, plane->ctx, row_address(tile, plane, y), data, bytes,
			      PUMICE_ACCESS_READ, MMU_SECOND(PUMICE_UNIT_ISP), fault))
			return false;
		for (n = 0; n < count; n++) {
			const u32 p = isp_pixel_at(tile, n / tile->samples, y);
			u8 *const at = &tile->mask[n % tile->samples][p / 8];
			const u32 bit = data[n / 8] >> n % 8 & 1;

			*at = (u8)((*at & ~(1u << p % 8)) | bit << p % 8);
		}
	}
	return true;
}

bool isp_mask_store(const struct isp_tile *tile, const struct isp_mask_plane *plane,
		    struct mmu *mmu, struct mmu_tlb *tlb, struct gpu_fault *fault)
{
	const u32 count = tile->clip_x * tile->samples;
	const u32 bytes = pumice_mask_row_bytes(tile->clip_x, tile->samples);
	u8 data[ROW_BYTES];
	u32 y, n;

	*fault = (struct gpu_fault){ .ctx = (u8)plane->ctx };
	for (y = 0; y < tile->clip_y; y++) {
		memset(data, 0, bytes);
		for (n = 0; n < count; n++) {
			const u32 p = isp_pixel_at(tile, n / tile->samples, y);
			const u32 bit = tile->mask[n % tile->samples][p / 8] >> p % 8 & 1;

			data[n / 8] |= (u8)(bit << n % 8);
		}
		if (!mmu_write(mmu, tlb, plane->ctx, row_address(tile, plane, y), data, bytes,
			       MMU_SECOND(PUMICE_UNIT_ISP), fault))
			return false;
	}
	return true;
}
