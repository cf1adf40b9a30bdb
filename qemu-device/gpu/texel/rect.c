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

/*
 * Return the side of the squares of blocks that are contiguous in memory, in any order, and that
 * the rectangle consists of; 1 if there are none.
 */
static u32 square_side(const struct texel_rect *r)
{
	const u32 sides = r->x | r->y | r->width | r->height;

	switch (r->level->layout) {
	case PUMICE_LAYOUT_TILED:
		return sides % 8 ? 1 : 8;
	case PUMICE_LAYOUT_TWIDDLED:
		return 1u << min_u32((u32)__builtin_ctz(sides), r->level->squares);
	default:
		return 1;
	}
}

static bool fill_run(const struct texel_memory *m, u64 va, u64 bytes, const u8 *pattern)
{
	while (bytes) {
		const u64 part = min_u64(GRAIN - (va & (GRAIN - 1)), bytes);
		u8 *host = mmu_reach(m->mmu, m->tlb, m->ctx, va, part, PUMICE_ACCESS_WRITE,
				     m->unit);

		if (!host)
			return false;
		texel_copy(host, pattern, part);
		va += part;
		bytes -= part;
	}
	return true;
}

bool texel_rect_fill(const struct texel_memory *memory, const struct texel_rect *rect,
		     const u8 *block)
{
	const struct pumice_level *level = rect->level;
	const u32 side = square_side(rect);
	u8 pattern[GRAIN];
	u32 x, y, run;

	/* Blocks are powers of two, and do not cross grains: so the pattern begins with one. */
	for (run = 0; run < min_u64(GRAIN, (u64)rect->width * rect->height * level->bytes);
	     run += level->bytes)
		texel_copy(pattern + run, block, level->bytes);
	for (y = 0; y < rect->height; y += side) {
		const u64 row = rect->addr + pumice_level_row(level, rect->y + y);

		for (x = 0; x < rect->width; x += run) {
			run = side > 1 ? side : run_blocks(level, rect->x + x, rect->width - x);
			if (!fill_run(memory, row + pumice_level_column(level, rect->x + x),
				      (u64)run * side * level->bytes, pattern))
				return false;
		}
	}
	return true;
}
