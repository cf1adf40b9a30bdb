// SPDX-License-Identifier: MIT
/*
 * Tile control streams and region headers of the tiling engine.
 *
 * Source: hw/formats.xml, tile_chunk, tile_entry, region. What is last in a stream
 * is kept on the host and written when the next entry comes, or at the end of the
 * scene: most primitives only add a bit to the mask of their tile's last entry.
 */
#include "internal.h"

#include <string.h>

#define CHUNK_BYTES	(PUMICE_TILE_CHUNK_WORDS * 4)
#define ENTRIES		7u
#define NEXT_WORD	14u	/* tile_chunk.next */

/* Entries of a chunk, and what it takes to write the last one. */
static bool needs_chunk(const struct ta_tile *tile)
{
	return !tile->chunk || tile->entries == ENTRIES;
}

u32 stream_chunks_needed(const struct ta *ta, u32 touch)
{
	const struct ta_touch *t = &ta->touch[touch];
	const struct ta_tile *tile = &ta->tile[t->tile];

	return tile->block != ta->macro[t->macro].block && needs_chunk(tile);
}

/* Write the last entry of a tile to its chunk, and next, if that is not 0. */
static bool flush(struct ta *ta, const struct ta_tile *tile, u32 next, struct gpu_fault *fault)
{
	const struct pumice_tile_entry entry = { .block = tile->block, .mask = tile->mask };
	u32 *words;

	if (!tile->chunk)
		return true;
	words = (u32 *)(void *)ta_host(ta, &ta->te, PUMICE_UNIT_TE, tile->chunk, fault);
	if (!words)
		return false;
	pumice_tile_entry_pack(words + (tile->entries - 1) * PUMICE_TILE_ENTRY_WORDS, &entry);
	if (next)
		words[NEXT_WORD] = next;
	return true;
}

/* Take a chunk's place from the top of a page: the chunks' own, the blocks', or a new one. */
static u32 place_chunk(struct ta_macro *macro)
{
	for (;;) {
		const bool shared = macro->chunk_page == macro->block_page;
		struct ta_page *page = &macro->page[macro->chunk_page];
		const u32 low = page->low + (shared ? macro->open_bytes : 0);

		if (low + CHUNK_BYTES <= page->high) {
			page->high -= CHUNK_BYTES;
			return page->ref + page->high / 16;
		}
		if (shared) {
			macro->chunk_page = !macro->block_page;
			macro->page[macro->chunk_page] = block_take_spare(macro);
		} else {
			macro->chunk_page = macro->block_page;
		}
	}
}

/* A new chunk, for which block_reserve() has seen to a place; it is empty. */
static u32 new_chunk(struct ta *ta, struct ta_macro *macro, struct gpu_fault *fault)
{
	const u32 ref = place_chunk(macro);
	u8 *host = ta_host(ta, &ta->te, PUMICE_UNIT_TE, ref, fault);

	if (!host)
		return 0;
	memset(host, 0, CHUNK_BYTES);
	return ref;
}

/* Add an entry for the open block of its macro tile to a tile. */
static bool add_entry(struct ta *ta, struct ta_tile *tile, struct ta_macro *macro, u32 mask,
		      struct gpu_fault *fault)
{
	u32 chunk = 0;

	if (needs_chunk(tile)) {
		chunk = new_chunk(ta, macro, fault);
		if (!chunk)
			return false;
	}
	if (!flush(ta, tile, chunk, fault))
		return false;
	if (chunk) {
		if (!tile->first)
			tile->first = chunk;
		tile->chunk = chunk;
		tile->entries = 0;
	}
	tile->entries++;
	tile->block = macro->block;
	tile->mask = mask;
	ta->counters.tile_entries++;
	return true;
}

bool stream_put(struct ta *ta, const u8 first[PM_MACRO_TILES], struct gpu_fault *fault)
{
	u32 i;

	for (i = 0; i < ta->touches; i++) {
		const struct ta_touch *t = &ta->touch[i];
		struct ta_macro *macro = &ta->macro[t->macro];
		struct ta_tile *tile = &ta->tile[t->tile];
		const u32 mask = (u32)t->mask << first[t->macro];

		if (tile->block == macro->block)
			tile->mask |= mask;
		else if (!add_entry(ta, tile, macro, mask, fault))
			return false;
	}
	ta->any = true;
	return true;
}

bool stream_finish(struct ta *ta, struct gpu_fault *fault)
{
	const u32 tiles = ta->scene.tiles_x * ta->scene.tiles_y;
	const u64 bytes = PUMICE_REGION_WORDS * 4;
	u64 va = ta->scene.regions + ta->config.core * tiles * bytes;
	u32 *host = NULL;
	u32 i;

	for (i = 0; i < tiles; i++, va += bytes, host += PUMICE_REGION_WORDS) {
		const struct ta_tile *tile = &ta->tile[i];
		const struct pumice_region region = {
			.present = tile->first != 0, .stream = tile->first,
		};

		if (!flush(ta, tile, 0, fault))
			return false;
		/* 8 bytes at a multiple of 8: a header never crosses a page. */
		if (!i || !(va & ((1u << MMU_GRAIN_SHIFT) - 1))) {
			*fault = (struct gpu_fault){ .unit = PUMICE_UNIT_TE };
			host = (u32 *)(void *)mmu_translate(ta->config.mmu, &ta->te,
							    ta->scene.ctx, va,
							    PUMICE_ACCESS_WRITE, PUMICE_UNIT_TE,
							    fault);
		}
		if (!host)
			return false;
		pumice_region_pack(host, &region);
	}
	return true;
}
