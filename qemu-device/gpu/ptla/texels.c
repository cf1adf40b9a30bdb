// SPDX-License-Identifier: MIT
/*
 * Texels of a piece: loads, stores, order of components. See state.h.
 *
 * Source: Documentation/formats.rst, "Transfers".
 */
#include <string.h>

#include "../texel/blocks.h"
#include "state.h"

struct texel_memory ptla_memory(struct ptla_piece *p)
{
	const struct texel_memory m = {
		.mmu = p->mmu, .tlb = &p->unit->tlb, .ctx = p->ctx, .fault = &p->fault,
		.unit = MMU_SECOND(PUMICE_UNIT_PTLA),
	};

	return m;
}

bool ptla_store(struct ptla_piece *p, const struct ptla_surface *s, const struct texel_rect *at,
		const u8 *from, u32 pitch)
{
	const struct texel_memory m = ptla_memory(p);

	if (!texel_rect_store(&m, at, from, pitch, NULL))
		return false;
	p->bytes += (u64)at->width * at->height * s->info->bytes;
	return true;
}

bool ptla_load_texels(struct ptla_piece *p, const struct ptla_surface *s, struct texel_rect *at,
		      u32 pitch)
{
	const struct texel_memory m = ptla_memory(p);
	const u32 x = at->x, y = at->y, width = at->width, height = at->height;
	u32 texel[16], columns;

	if (!(s->info->flags & PUMICE_FORMAT_BLOCKS))
		return texel_rect_load(&m, at, p->unit->buffer, pitch);
	at->x = x / 4;
	at->y = y / 4;
	at->width = columns = (x + width + 3) / 4 - at->x;
	at->height = (y + height + 3) / 4 - at->y;
	if (!texel_rect_load(&m, at, p->unit->other, columns * s->info->bytes))
		return false;
	for (u32 block = 0; block < columns * at->height; block++) {
		u32 left = (at->x + block % columns) * 4, top = (at->y + block / columns) * 4;

		texel_block_decode(s->texture.format, p->unit->other + block * s->info->bytes,
				   texel);
		for (u32 n = 0; n < 16; n++) {
			u32 column = left + n % 4 - x, line = top + n / 4 - y;

			if (column < width && line < height)
				memcpy(p->unit->buffer + line * pitch + column * 4, &texel[n], 4);
		}
	}
	return true;
}

u32 ptla_texel_bytes(const struct ptla_surface *s)
{
	return s->info->flags & PUMICE_FORMAT_BLOCKS ? 4 : s->info->bytes;
}

void ptla_swizzle(const struct ptla_surface *s, struct texel_rows *rows)
{
	const struct pumice_texture *t = &s->texture;
	const u8 order[4] = { t->swizzle_r, t->swizzle_g, t->swizzle_b, t->swizzle_a };
	const u32 one = texel_integer(s->info) ? 1 : 0x3f800000u;
	const struct texel_rows from = *rows;

	for (u32 c = 0; c < 4; c++) {
		for (u32 l = 0; l < PTLA_COLUMNS; l++)
			rows->row[c][l] = order[c] <= PUMICE_SWIZZLE_A ? from.row[order[c]][l] :
					  order[c] == PUMICE_SWIZZLE_ONE ? one : 0;
	}
}
