// SPDX-License-Identifier: MIT
/*
 * Tile control streams and region headers of the tiling engine.
 *
 * Source: hw/formats.xml, tile_chunk, tile_entry, region. The last chunk of a stream is kept
 * on the host, and written when the next one begins or the scene ends: so memory is written
 * once per chunk, and most primitives only add a bit to a mask.
 */
#include "internal.h"

#include <string.h>

#define CHUNK_BYTES	(PUMICE_TILE_CHUNK_WORDS * 4)
#define NEXT_WORD	14u	/* tile_chunk.next */

static bool needs_chunk(const struct ta_tile *tile)
{
	return !tile->chunk || tile->entries == TA_CHUNK_ENTRIES;
}

/* Return the last entry of a tile if it is for this block, else NULL. */
static struct pumice_tile_entry *entry_of(struct ta_tile *tile, u32 block)
{
	struct pumice_tile_entry *last;

	if (!tile->entries)
		return NULL;
	last = &tile->entry[tile->entries - 1];
	return last->block == block ? last : NULL;
}

u32 stream_chunks_needed(const struct ta *ta, u32 touch)
{
	const struct ta_touch *t = &ta->touch[touch];
	struct ta_tile *tile = &ta->tile[t->tile];

	return needs_chunk(tile) && !entry_of(tile, ta->macro[t->macro].block);
}

/* Write the last chunk of a tile, followed by chunk next, or by none if next is 0. */
static bool flush(struct ta *ta, const struct ta_tile *tile, u32 next, struct gpu_fault *fault)
{
	u32 *words, i;

	if (!tile->chunk)
		return true;
	words = (u32 *)(void *)ta_host(ta, &ta->te, PUMICE_UNIT_TE, tile->chunk, CHUNK_BYTES,
				       fault);
	if (!words)
		return false;
	memset(words, 0, CHUNK_BYTES);
	for (i = 0; i < tile->entries; i++)
		pumice_tile_entry_pack(words + i * PUMICE_TILE_ENTRY_WORDS, &tile->entry[i]);
	words[NEXT_WORD] = next;
	return true;
}

/*
 * Allocate a chunk, for which block_reserve() has reserved pages, from the top of a page: the
 * chunks' own, the blocks', or a new one.
 */
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
			macro->page[macro->chunk_page] = block_use_spare(macro);
		} else {
			macro->chunk_page = macro->block_page;
		}
	}
}

/* Add an entry for the open block of its macro tile to a tile. */
static bool add_entry(struct ta *ta, struct ta_tile *tile, struct ta_macro *macro, u32 mask,
		      struct gpu_fault *fault)
{
	if (needs_chunk(tile)) {
		const u32 chunk = place_chunk(macro);

		if (!flush(ta, tile, chunk, fault))
			return false;
		if (!tile->first)
			tile->first = chunk;
		tile->chunk = chunk;
		tile->entries = 0;
	}
	tile->entry[tile->entries++] = (struct pumice_tile_entry){
		.block = macro->block, .mask = mask,
	};
	count_add(&ta->counters.tile_entries, 1);
	return true;
}

enum ta_result stream_put(struct ta *ta, struct gpu_fault *fault)
{
	const u32 end = ta_spend(ta);
	u32 i;

	for (i = ta->at; i < end; i++) {
		const struct ta_touch *t = &ta->touch[i];
		struct ta_macro *macro = &ta->macro[t->macro];
		struct ta_tile *tile = &ta->tile[t->tile];
		struct pumice_tile_entry *entry = entry_of(tile, macro->block);
		const u32 mask = (u32)t->mask << ta->first[t->macro];

		if (entry)
			entry->mask |= mask;
		else if (!add_entry(ta, tile, macro, mask, fault))
			return TA_FAULT;
	}
	ta->at = end;
	ta->any = true;
	return end < ta->touches ? TA_MORE : TA_OK;
}

enum ta_result stream_finish(struct ta *ta, struct gpu_fault *fault)
{
	const u32 tiles = ta->scene.tiles_x * ta->scene.tiles_y, from = ta->headers;
	const u32 end = min_u32(tiles, from + TA_PIECE / TA_COST_HEADER);
	const u64 bytes = PUMICE_REGION_WORDS * 4;
	u64 va = ta->scene.regions + (ta->config.core * tiles + from) * bytes;
	u32 *host = NULL;
	u32 i;

	for (i = from; i < end; i++, va += bytes, host += PUMICE_REGION_WORDS) {
		const struct ta_tile *tile = &ta->tile[i];
		const struct pumice_region region = {
			.present = tile->first != 0, .stream = tile->first,
		};

		if (!flush(ta, tile, 0, fault))
			return TA_FAULT;
		/* 8 bytes at a multiple of 8: a header never crosses a page. */
		if (i == from || !(va & ((1u << MMU_GRAIN_SHIFT) - 1)) ||
		    mmu_is_detailed(ta->config.mmu)) {
			*fault = (struct gpu_fault){ .unit = PUMICE_UNIT_TE };
			host = (u32 *)(void *)mmu_translate(ta->config.mmu, &ta->te,
							    ta->scene.ctx, va, bytes,
							    PUMICE_ACCESS_WRITE, PUMICE_UNIT_TE,
							    fault);
		}
		if (!host)
			return TA_FAULT;
		pumice_region_pack(host, &region);
	}
	ta->headers = end;
	return end < tiles ? TA_MORE : TA_OK;
}
