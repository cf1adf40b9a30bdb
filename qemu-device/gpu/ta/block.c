// SPDX-License-Identifier: MIT
/*
 * Primitive blocks of the macro tiling engine.
 *
 * Source: hw/formats.xml, prim_block. Each macro tile has an open block, to which primitives
 * that touch it are added until it is full, or the draw changes in state that is common to a
 * block. A block is within one page; the next one begins after it. Vertices that primitives
 * of a call share are found in a small cache.
 */
#include "../number.h"
#include "../pm/block.h"
#include "internal.h"

#include <string.h>

#define PAGE		PUMICE_PM_PAGE_SIZE
#define INDEX_AT	BLOCK_INDEX_AT
#define CHUNK_BYTES	(PUMICE_TILE_CHUNK_WORDS * 4)
#define CHUNKS_PAGE	((PAGE - TA_PAGE_LOW) / CHUNK_BYTES)
#define MIN_VERTICES	12u	/* do not begin a block at a page's end for fewer vertices */

/* Return the kind of data that follow the positions of ta.poly's vertices. */
static u32 vertex_data(const struct ta *ta)
{
	if (!ta->view.deferred)
		return PUMICE_VERTEX_DATA_VARYINGS;
	return ta->poly.clipped ? PUMICE_VERTEX_DATA_CLIPPED : PUMICE_VERTEX_DATA_NUMBER;
}

static u32 vertex_bytes(const struct ta *ta)
{
	return 4 * block_vertex_words(vertex_data(ta), ta->view.varyings);
}

/* Return the size of a block of the kind of ta.poly. */
static u32 block_bytes(const struct ta *ta, u32 vertices)
{
	return block_vertex_at(vertex_data(ta)) + vertices * vertex_bytes(ta);
}

/* Return whether the open block has vertices of the kind of ta.poly's. */
static bool same_vertices(const struct ta *ta, const struct ta_macro *macro)
{
	return !ta->view.deferred || macro->clipped == ta->poly.clipped;
}

static u32 align16(u32 bytes)
{
	return (bytes + 15) & ~15u;
}

u8 *ta_host(struct ta *ta, struct mmu_tlb *tlb, enum pumice_unit unit, u32 ref, u32 bytes,
	    struct gpu_fault *fault)
{
	const u64 va = pm_address(&ta->scene, ref);
	u8 *host = va >> PUMICE_MMU_VA_BITS ? NULL :
		   mmu_tlb_lookup(ta->config.mmu, tlb, ta->scene.ctx, va,
				  MMU_TLB_WRITE | MMU_TLB_PM_WRITE);

	if (host) {
		tlb->hits++;
		return host;
	}
	*fault = (struct gpu_fault){ .unit = (u8)unit };
	/* In mode strict no access is a hit. */
	if (ta->scene.owner)
		pm_check_owner(&ta->scene, va, unit, PUMICE_ACCESS_WRITE);
	return mmu_translate(ta->config.mmu, tlb, ta->scene.ctx, va, bytes, PUMICE_ACCESS_WRITE,
			     unit, fault);
}

struct ta_page block_use_spare(struct ta_macro *macro)
{
	return (struct ta_page){
		.ref = macro->spare[--macro->spares], .low = TA_PAGE_LOW, .high = PAGE,
	};
}

/* Allocate pages until count are spare. */
static enum ta_result alloc_spares(struct ta *ta, u32 m, u32 count, struct gpu_fault *fault)
{
	struct ta_macro *macro = &ta->macro[m];

	while (macro->spares < count) {
		u32 ref;

		if (ta->budget <= 0)
			return TA_MORE;
		ta->budget -= TA_COST_PAGE;
		switch (pm_alloc(ta->config.pm, ta->config.core, &ta->scene, m, &ref, fault)) {
		case PM_OK:
			macro->spare[macro->spares++] = ref;
			break;
		case PM_EMPTY:
			return TA_MEMORY;
		case PM_MORE:
			return TA_MORE;
		default:
			return TA_FAULT;
		}
	}
	return TA_OK;
}

/* Return whether the open block has space for ta.poly, without sharing vertices. */
static bool has_room(const struct ta *ta, const struct ta_macro *macro)
{
	const struct ta_page *page = &macro->page[macro->block_page];
	const u32 vertices = macro->vertices + ta->poly.corners;

	return macro->block && macro->serial == ta->serial && same_vertices(ta, macro) &&
	       macro->prims + ta->poly.subs <= PUMICE_BLOCK_PRIMS &&
	       vertices <= PUMICE_BLOCK_VERTICES &&
	       page->low + block_bytes(ta, vertices) <= page->high;
}

static void close_block(struct ta_macro *macro)
{
	if (macro->block)
		macro->page[macro->block_page].low += align16(macro->open_bytes);
	macro->block = 0;
}

/*
 * Find a page for a block of bytes bytes: the current one, the one of the chunks, or a new
 * one.
 */
static enum ta_result find_page(struct ta *ta, u32 m, u32 bytes, struct gpu_fault *fault)
{
	struct ta_macro *macro = &ta->macro[m];
	const struct ta_page *own = &macro->page[macro->block_page];
	const struct ta_page *other = &macro->page[macro->chunk_page];
	enum ta_result result;

	if (own->low + bytes <= own->high)
		return TA_OK;
	if (other->low + bytes <= other->high) {
		macro->block_page = macro->chunk_page;
		return TA_OK;
	}
	result = alloc_spares(ta, m, 1, fault);
	if (result != TA_OK)
		return result;
	macro->block_page = !macro->chunk_page;
	macro->page[macro->block_page] = block_use_spare(macro);
	return TA_OK;
}

/* Open a block with room for ta.poly. */
static enum ta_result open_block(struct ta *ta, u32 m, struct gpu_fault *fault)
{
	const u32 min = max_u32(ta->poly.corners, MIN_VERTICES);
	const enum ta_result result = find_page(ta, m, block_bytes(ta, min), fault);
	struct ta_macro *macro = &ta->macro[m];
	const struct ta_page *page = &macro->page[macro->block_page];

	if (result != TA_OK)
		return result;
	macro->block = page->ref + page->low / 16;
	macro->serial = ta->serial;
	macro->clipped = ta->poly.clipped;
	macro->prims = 0;
	macro->vertices = 0;
	macro->open_bytes = 0;
	memset(macro->tag, 0, sizeof(macro->tag));
	return TA_OK;
}

/*
 * Return the number of chunks that the pages of a macro tile have room for after adding
 * ta.poly to its block.
 */
static u32 chunk_room(const struct ta *ta, const struct ta_macro *macro)
{
	const struct ta_page *page = &macro->page[macro->block_page];
	const struct ta_page *other = &macro->page[macro->chunk_page];
	u32 room = (page->high - page->low -
		    block_bytes(ta, macro->vertices + ta->poly.corners)) / CHUNK_BYTES;

	if (other != page)
		room += (other->high - other->low) / CHUNK_BYTES;
	return room;
}

/* Open a block with room for ta.poly in each macro tile that has none. */
static enum ta_result reserve_blocks(struct ta *ta, struct gpu_fault *fault)
{
	u32 left;

	for (left = ta->touched; left; left &= left - 1) {
		const u32 m = (u32)__builtin_ctz(left);
		struct ta_macro *macro = &ta->macro[m];
		enum ta_result result;

		if (has_room(ta, macro))
			continue;
		close_block(macro);
		result = open_block(ta, m, fault);
		if (result != TA_OK)
			return result;
	}
	return TA_OK;
}

/* Allocate pages for the counted chunks. */
static enum ta_result reserve_chunks(struct ta *ta, struct gpu_fault *fault)
{
	u32 left;

	for (left = ta->touched; left; left &= left - 1) {
		const u32 m = (u32)__builtin_ctz(left);
		const u32 room = chunk_room(ta, &ta->macro[m]), chunks = ta->chunks[m];
		enum ta_result result = TA_OK;

		if (chunks > room)
			result = alloc_spares(ta, m, (chunks - room + CHUNKS_PAGE - 1) /
					      CHUNKS_PAGE,
					      fault);
		if (result != TA_OK)
			return result;
	}
	return TA_OK;
}

enum ta_result block_reserve(struct ta *ta, struct gpu_fault *fault)
{
	const enum ta_result result = reserve_blocks(ta, fault);
	u32 end, i;

	if (result != TA_OK)
		return result;
	/* The needs of a tile depend on the open block, which does not change from here. */
	end = ta_spend(ta);
	for (i = ta->at; i < end; i++)
		ta->chunks[ta->touch[i].macro] += stream_chunks_needed(ta, i);
	ta->at = end;
	return end < ta->touches ? TA_MORE : reserve_chunks(ta, fault);
}

/* Write the numbers by which the PDM shades a corner of ta.poly when a tile is rendered. */
static void write_deferred(const struct ta *ta, u32 *words, u32 corner)
{
	const u32 *number = ta->in->number;
	const u16 *source = ta->poly.source;
	struct pumice_prim_clip clip;

	if (!ta->poly.clipped) {
		words[0] = number[ta->poly.corner[corner].source];
		return;
	}
	clip = (struct pumice_prim_clip){
		.v0 = number[source[0]], .v1 = number[source[1]], .corner = (u8)corner,
	};
	if (ta->view.kind == PUMICE_PRIM_KIND_TRIANGLE)
		clip.v2 = number[source[2]];
	pumice_prim_clip_pack(words, &clip);
}

/* Write a corner of ta.poly as vertex slot of a block. */
static void write_vertex(const struct ta *ta, u8 *block, u32 slot, u32 corner)
{
	const struct ta_corner *c = &ta->poly.corner[corner];
	u32 *words = (u32 *)(void *)(block + block_vertex_at(vertex_data(ta)) +
				     slot * vertex_bytes(ta));
	struct pumice_prim_vertex v = { .x = c->v.x, .y = c->v.y, .z = c->v.z, .rw = c->v.rw,
					.size = c->v.size };
	const u32 *row;
	u32 n;

	pumice_prim_vertex_pack(words, &v);
	words += PUMICE_PRIM_VERTEX_WORDS;
	if (ta->view.deferred) {
		write_deferred(ta, words, corner);
		return;
	}
	if (c->source == TA_NEW) {
		memcpy(words, ta->poly.varyings[corner], ta->view.varyings * sizeof(float));
		return;
	}
	row = &ta->in->wave[c->source / PUMICE_LANES][ta->view.first * PUMICE_LANES +
						      c->source % PUMICE_LANES];
	for (n = 0; n < ta->view.varyings; n++, row += PUMICE_LANES)
		words[n] = *row;
}

/*
 * Return the slot of a corner in a macro tile's open block; write the corner if it is not in
 * the block yet.
 */
static u8 place_corner(const struct ta *ta, struct ta_macro *macro, u8 *block, u32 corner)
{
	/* A vertex of a block of clipped primitives names its primitive. */
	const u32 source = ta->view.deferred && ta->poly.clipped ? TA_NEW :
			   ta->poly.corner[corner].source;
	const u32 line = source % BLOCK_CACHE;
	const u64 tag = ta->batch << 16 | source;
	u8 slot;

	if (source != TA_NEW && macro->tag[line] == tag)
		return macro->slot[line];
	slot = (u8)macro->vertices++;
	write_vertex(ta, block, slot, corner);
	if (source != TA_NEW) {
		macro->tag[line] = tag;
		macro->slot[line] = slot;
	}
	return slot;
}

/* Add ta.poly to a macro tile's open block. */
static void put(struct ta *ta, struct ta_macro *macro, u8 *block)
{
	const struct ta_poly *poly = &ta->poly;
	struct pumice_prim_block header = ta->header;
	u8 slot[TA_POLYGON];
	u32 i;

	for (i = 0; i < poly->corners; i++)
		slot[i] = place_corner(ta, macro, block, i);
	if (!macro->prims)
		count_add(&ta->counters.blocks, 1);
	for (i = 0; i < poly->subs; i++, macro->prims++) {
		const struct ta_sub *sub = &poly->sub[i];
		struct pumice_prim_index index = {
			.v0 = slot[sub->v[0]], .provoking = sub->provoking, .back = sub->back,
		};

		if (ta->view.kind != PUMICE_PRIM_KIND_POINT)
			index.v1 = slot[sub->v[1]];
		if (ta->view.kind == PUMICE_PRIM_KIND_TRIANGLE)
			index.v2 = slot[sub->v[2]];
		pumice_prim_index_pack((u32 *)(void *)(block + INDEX_AT) + macro->prims, &index);
	}
	header.prims = (u8)macro->prims;
	header.vertices = (u8)macro->vertices;
	header.vertex_data = (u8)vertex_data(ta);
	if (ta->view.deferred)
		pumice_prim_draw_pack((u32 *)(void *)(block + BLOCK_DRAW_AT), &ta->draw);
	pumice_prim_block_pack((u32 *)(void *)block, &header);
	macro->open_bytes = block_bytes(ta, macro->vertices);
}

/* Request the parts that put() wrote of a block with these counts before. */
static void request_block(const struct ta *ta, const struct ta_macro *macro, u32 prims,
			  u32 vertices)
{
	const u64 va = pm_address(&ta->scene, macro->block);
	const struct {
		u32 at, bytes;
	} part[] = {
		{ 0, PUMICE_PRIM_BLOCK_WORDS * 4 },
		{ BLOCK_DRAW_AT, ta->view.deferred ? PUMICE_PRIM_DRAW_WORDS * 4 : 0 },
		{ INDEX_AT + prims * 4, (macro->prims - prims) * 4 },
		{ block_vertex_at(vertex_data(ta)) + vertices * vertex_bytes(ta),
		  (macro->vertices - vertices) * vertex_bytes(ta) },
	};
	u32 i;

	for (i = 0; i < sizeof(part) / sizeof(part[0]); i++)
		if (part[i].bytes)
			mmu_request(ta->config.mmu, &ta->mte, ta->scene.ctx, va + part[i].at,
				    part[i].bytes, PUMICE_ACCESS_WRITE, PUMICE_UNIT_PB);
}

bool block_put(struct ta *ta, struct gpu_fault *fault)
{
	const s32 cost = TA_COST_MACRO +
			 (s32)(ta->poly.corners * vertex_bytes(ta) / 4 / TA_UNIT_WORDS);
	u32 left, vertices;
	s32 spent = 0;

	for (left = ta->touched; left; left &= left - 1) {
		const u32 m = (u32)__builtin_ctz(left);
		struct ta_macro *macro = &ta->macro[m];
		u8 *block = ta_host(ta, &ta->mte, PUMICE_UNIT_PB, macro->block, 0, fault);

		if (!block)
			return false;
		ta->first[m] = (u8)macro->prims;
		vertices = macro->vertices;
		put(ta, macro, block);
		if (mmu_is_detailed(ta->config.mmu))
			request_block(ta, macro, ta->first[m], vertices);
		spent += cost;
	}
	ta->budget -= spent;
	ta->at = 0;
	return true;
}
