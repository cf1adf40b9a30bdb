// SPDX-License-Identifier: MIT
/*
 * Depth and stencil buffers in memory: load and store of a tile.
 *
 * Source: hw/formats.xml, depth_format and pdm_render; Documentation/precision.rst, "Depth".
 * Samples of a pixel are adjacent. Pixels beyond the target are neither read nor written.
 */
#include <math.h>
#include <string.h>

#include "../number.h"
#include "isp.h"

/* Maximum number of samples in a row of a tile. */
#define ROW_SAMPLES	(32u * PUMICE_MAX_SAMPLES)
#define D16_MAX		65535.0
#define D24_MASK	0xffffffu
#define STENCIL_SHIFT	24	/* of D24_S8 */
#define DEPTH		MMU_SECOND(PUMICE_UNIT_ISP)

u32 isp_depth_bytes(u32 format)
{
	return format == PUMICE_DEPTH_FORMAT_D16 ? 2 : 4;
}

static u32 pack_depth(u32 format, float z)
{
	switch (format) {
	case PUMICE_DEPTH_FORMAT_D16:
		return (u32)rint((double)z * D16_MAX);
	case PUMICE_DEPTH_FORMAT_D32F:
		return f32_as_u32(z);
	default:
		return (u32)rint((double)z * D24_MASK);
	}
}

/* Memory may contain any f32; in the tile depth is between 0 and 1, never NaN. */
static float unpack_depth(u32 format, u32 bits)
{
	switch (format) {
	case PUMICE_DEPTH_FORMAT_D16:
		return (float)(bits / D16_MAX);
	case PUMICE_DEPTH_FORMAT_D32F:
		return clamp01_f32(u32_as_f32(bits));
	default:
		return (float)((double)(bits & D24_MASK) / D24_MASK);
	}
}

void isp_clamp_depth(float *z, u32 count)
{
	u32 n;

	for (n = 0; n < count; n++)
		if (!(z[n] >= 0 && z[n] <= 1))
			z[n] = unpack_depth(PUMICE_DEPTH_FORMAT_D32F, f32_as_u32(z[n]));
}

static u32 get(const u8 *at, u32 bytes)
{
	u32 v = 0;

	memcpy(&v, at, bytes);
	return v;
}

/* Description of a row of the tile in memory, for transfers. */
struct row {
	u64 depth, stencil;
	u32 depth_bytes, count;	/* samples */
};

static struct row row_of(const struct isp_tile *tile, const struct isp_zs *zs, u32 y)
{
	const u32 bytes = isp_depth_bytes(zs->format), first = tile->x0 * tile->samples;

	return (struct row){
		.depth = zs->depth + (u64)(tile->y0 + y) * zs->depth_stride + first * bytes,
		.stencil = zs->stencil + (u64)(tile->y0 + y) * zs->stencil_stride + first,
		.depth_bytes = bytes,
		.count = tile->clip_x * tile->samples,
	};
}

static bool packed_stencil(const struct isp_zs *zs)
{
	return zs->format == PUMICE_DEPTH_FORMAT_D24_S8;
}

static void put_row(struct isp_tile *tile, const struct isp_zs *zs, const struct row *r, u32 y,
		    const u8 *data, bool depth, bool stencil)
{
	u32 n;

	for (n = 0; n < r->count; n++) {
		const u32 p = isp_pixel_at(tile, n / tile->samples, y), s = n % tile->samples;
		const u32 bits = get(data + n * r->depth_bytes, r->depth_bytes);

		if (depth)
			tile->depth[s][p] = unpack_depth(zs->format, bits);
		if (stencil)
			tile->stencil[s][p] = (u8)(bits >> STENCIL_SHIFT);
	}
}

bool isp_load(struct isp_tile *tile, const struct isp_zs *zs, bool depth, bool stencil,
	      struct mmu *mmu, struct mmu_tlb *tlb, struct gpu_fault *fault)
{
	const bool packed = packed_stencil(zs);
	u8 data[ROW_SAMPLES * sizeof(u32)];
	u32 y, n;

	*fault = (struct gpu_fault){ .ctx = (u8)zs->ctx };
	for (y = 0; y < tile->clip_y; y++) {
		const struct row r = row_of(tile, zs, y);

		if (depth || (stencil && packed)) {
			if (!mmu_read(mmu, tlb, zs->ctx, r.depth, data, r.count * r.depth_bytes,
				      PUMICE_ACCESS_READ, DEPTH, fault))
				return false;
			put_row(tile, zs, &r, y, data, depth, stencil && packed);
		}
		if (!stencil || packed)
			continue;
		if (!mmu_read(mmu, tlb, zs->ctx, r.stencil, data, r.count, PUMICE_ACCESS_READ,
			      DEPTH, fault))
			return false;
		for (n = 0; n < r.count; n++)
			tile->stencil[n % tile->samples][isp_pixel_at(tile, n / tile->samples, y)] =
				data[n];
	}
	return true;
}

static void get_row(const struct isp_tile *tile, const struct isp_zs *zs, const struct row *r,
		    u32 y, u8 *data, bool depth, bool stencil)
{
	u32 n;

	for (n = 0; n < r->count; n++) {
		const u32 p = isp_pixel_at(tile, n / tile->samples, y), s = n % tile->samples;
		u32 bits = get(data + n * r->depth_bytes, r->depth_bytes);

		if (depth && packed_stencil(zs))
			bits = (bits & ~D24_MASK) | pack_depth(zs->format, tile->depth[s][p]);
		else if (depth)
			bits = pack_depth(zs->format, tile->depth[s][p]);
		if (stencil)
			bits = (bits & D24_MASK) | (u32)tile->stencil[s][p] << STENCIL_SHIFT;
		memcpy(data + n * r->depth_bytes, &bits, r->depth_bytes);
	}
}

bool isp_store(const struct isp_tile *tile, const struct isp_zs *zs, bool depth, bool stencil,
	       struct mmu *mmu, struct mmu_tlb *tlb, struct gpu_fault *fault)
{
	const bool packed = packed_stencil(zs);
	u8 data[ROW_SAMPLES * sizeof(u32)] = { 0 };
	u32 y, n;

	*fault = (struct gpu_fault){ .ctx = (u8)zs->ctx };
	for (y = 0; y < tile->clip_y; y++) {
		const struct row r = row_of(tile, zs, y);

		if (depth || (stencil && packed)) {
			/* The part of a word that is not stored keeps its value in memory. */
			if (packed && depth != stencil &&
			    !mmu_read(mmu, tlb, zs->ctx, r.depth, data, r.count * r.depth_bytes,
				      PUMICE_ACCESS_READ, DEPTH, fault))
				return false;
			get_row(tile, zs, &r, y, data, depth, stencil && packed);
			if (!mmu_write(mmu, tlb, zs->ctx, r.depth, data, r.count * r.depth_bytes,
				       DEPTH, fault))
				return false;
		}
		if (!stencil || packed)
			continue;
		for (n = 0; n < r.count; n++)
			data[n] = tile->stencil[n % tile->samples]
					       [isp_pixel_at(tile, n / tile->samples, y)];
		if (!mmu_write(mmu, tlb, zs->ctx, r.stencil, data, r.count, DEPTH, fault))
			return false;
	}
	return true;
}
