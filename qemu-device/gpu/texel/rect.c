// SPDX-License-Identifier: MIT
/*
 * Rectangles of blocks. See rect.h.
 *
 * A row is divided into runs of blocks that are contiguous in memory, and these at the
 * borders of grains.
 */
#include "../number.h"
#include "rect.h"

#define GRAIN (1ull << MMU_GRAIN_SHIFT)

/* The last grain, so that runs in it need no look-up. */
struct window {
	u64 grain;	/* address of its first byte; GRAIN - 1 for none */
	u8 *host;
};

/* Return the host's address for an access to bytes in a grain. */
static u8 *window_at(const struct texel_memory *m, struct window *w, u64 va, u64 bytes,
		     enum pumice_access access)
{
	u8 *host;

	if ((va & ~(GRAIN - 1)) == w->grain)
		return w->host + (va & (GRAIN - 1));
	host = mmu_translate(m->mmu, m->tlb, m->ctx, va, bytes, access, m->unit, m->fault);
	if (host && !mmu_is_detailed(m->mmu)) {
		w->grain = va & ~(GRAIN - 1);
		w->host = host - (va & (GRAIN - 1));
	}
	return host;
}

/* Return how many blocks from column x are contiguous in memory. */
static u32 run_blocks(const struct pumice_level *level, u32 x, u32 max)
{
	u32 run = max;

	if (level->layout == PUMICE_LAYOUT_TILED)
		run = 8 - x % 8;
	else if (level->layout == PUMICE_LAYOUT_TWIDDLED && level->squares)
		run = 2 - x % 2;
	return min_u32(run, max);
}

static void merge(u8 *to, const u8 *from, u64 bytes, const u8 *mask, u32 block)
{
	for (u64 n = 0; n < bytes; n++) {
		u8 keep = mask[n & (block - 1)];

		to[n] = (u8)((to[n] & ~keep) | (from[n] & keep));
	}
}

enum direction { LOAD, STORE };

static bool move_run(const struct texel_memory *m, struct window *w, u64 va, u8 *buffer, u64 bytes,
		     enum direction direction, const u8 *mask, u32 block)
{
	while (bytes) {
		const u64 part = min_u64(GRAIN - (va & (GRAIN - 1)), bytes);
		u8 *host = window_at(m, w, va, part,
				     direction == LOAD ? PUMICE_ACCESS_READ : PUMICE_ACCESS_WRITE);

		if (!host)
			return false;
		if (direction == LOAD)
			texel_copy(buffer, host, part);
		else if (mask)
			merge(host, buffer, part, mask, block);
		else
			texel_copy(host, buffer, part);
		va += part;
		buffer += part;
		bytes -= part;
	}
	return true;
}

static bool move(const struct texel_memory *m, const struct texel_rect *r, u8 *buffer, u32 pitch,
		 enum direction direction, const u8 *mask)
{
	const struct pumice_level *level = r->level;
	struct window w = { .grain = GRAIN - 1 };

	for (u32 y = 0; y < r->height; y++) {
		u64 row = r->addr + pumice_level_row(level, r->y + y);
		u8 *line = buffer + (u64)y * pitch;
		u32 x = 0;

		while (x < r->width) {
			u32 run = run_blocks(level, r->x + x, r->width - x);

			if (!move_run(m, &w, row + pumice_level_column(level, r->x + x),
				      line + (u64)x * level->bytes, (u64)run * level->bytes,
				      direction, mask, level->bytes))
				return false;
			x += run;
		}
	}
	return true;
}

bool texel_rect_load(const struct texel_memory *memory, const struct texel_rect *rect, u8 *to,
		     u32 pitch)
{
	return move(memory, rect, to, pitch, LOAD, NULL);
}

bool texel_rect_store(const struct texel_memory *memory, const struct texel_rect *rect,
		      const u8 *from, u32 pitch, const u8 *mask)
{
	return move(memory, rect, (u8 *)(uintptr_t)from, pitch, STORE, mask);
}
