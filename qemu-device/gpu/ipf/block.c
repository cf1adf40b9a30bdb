// SPDX-License-Identifier: MIT
/*
 * Fetch of primitive blocks.
 *
 * Source: hw/formats.xml, prim_block, prim_index, prim_vertex. A block is within one page.
 * The header is checked against the block's position when it is read; later fetches have that
 * header, and are checked against it.
 */
#include "internal.h"

#include <string.h>

#include "../pm/block.h"

#define INDEX_AT	BLOCK_INDEX_AT

bool ipf_fault(const struct ipf_source *source, struct gpu_fault *fault, enum pumice_fault why,
	       u64 addr)
{
	*fault = (struct gpu_fault){
		.fault = (u8)why, .unit = (u8)(source->unit & ~MMU_KIND_1),
		.ctx = (u8)source->scene->ctx, .addr = addr,
	};
	return false;
}

const u32 *ipf_hint(const struct ipf_source *source, u64 va)
{
	if (va >> PUMICE_MMU_VA_BITS)
		return NULL;
	return (const u32 *)(const void *)mmu_tlb_find(source->mmu, source->tlb,
						       source->scene->ctx, va,
						       MMU_TLB_READ | MMU_TLB_PM_READ);
}

const u32 *ipf_host(const struct ipf_source *source, u64 va, u64 bytes, struct gpu_fault *fault)
{
	const u32 *host = ipf_hint(source, va);

	if (host) {
		source->tlb->hits++;
		return host;
	}
	*fault = (struct gpu_fault){ 0 };
	/* In mode strict no access is a hit. */
	if (source->scene->owner)
		pm_check_owner(source->scene, va, source->unit, PUMICE_ACCESS_READ);
	return (const u32 *)(const void *)mmu_translate(source->mmu, source->tlb,
							source->scene->ctx, va, bytes,
							PUMICE_ACCESS_READ, source->unit, fault);
}

/* Request a part of the block at va, which was translated without bytes. */
static void request_part(const struct ipf_source *source, u64 va, u64 at, u64 bytes)
{
	mmu_request(source->mmu, source->tlb, source->scene->ctx, va + at, bytes,
		    PUMICE_ACCESS_READ, source->unit);
}

static u32 vertex_words(const struct pumice_prim_block *header)
{
	return block_vertex_words(header->vertex_data, header->varyings);
}

/* Return the offset of a vertex in its block. */
static u32 vertex_offset(const struct pumice_prim_block *header, u32 v)
{
	return block_vertex_at(header->vertex_data) + v * vertex_words(header) * 4;
}

/* Return the first word of a vertex of the block at host. */
static const u32 *vertex_at(const struct pumice_prim_block *header, const u32 *host, u32 v)
{
	return host + vertex_offset(header, v) / 4;
}

/* Return whether the header is valid and the block fits into the page that it begins in. */
static bool header_valid(u64 va, const struct pumice_prim_block *header)
{
	const u32 room = PUMICE_PM_PAGE_SIZE - (u32)(va % PUMICE_PM_PAGE_SIZE);

	return header->prims && header->prims <= PUMICE_BLOCK_PRIMS && header->vertices &&
	       header->vertices <= PUMICE_BLOCK_VERTICES &&
	       header->varyings <= PUMICE_MAX_VARYINGS && pumice_prim_kind_valid(header->kind) &&
	       pumice_vertex_data_valid(header->vertex_data) &&
	       (header->vertex_data == PUMICE_VERTEX_DATA_VARYINGS) == !header->vertex_state &&
	       block_vertex_at(header->vertex_data) +
	       header->vertices * vertex_words(header) * 4 <= room;
}

bool ipf_read_block(const struct ipf_source *source, u32 block, struct pumice_prim_block *header,
		    struct gpu_fault *fault)
{
	const u64 va = pm_address(source->scene, block);
	u32 words[PUMICE_PRIM_BLOCK_WORDS];

	if (!va || PUMICE_PM_PAGE_SIZE - va % PUMICE_PM_PAGE_SIZE < BLOCK_DRAW_AT)
		return ipf_fault(source, fault, PUMICE_FAULT_IPF_BLOCK, va);
	if (!ipf_read(source, va, words, PUMICE_PRIM_BLOCK_WORDS, fault))
		return false;
	if (pumice_prim_block_unpack(words, header) != PUMICE_UNPACK_OK ||
	    !header_valid(va, header))
		return ipf_fault(source, fault, PUMICE_FAULT_IPF_BLOCK, va);
	return true;
}

/* Return whether vertices that the primitive uses exist, and unused indices are 0. */
static bool index_valid(const struct pumice_prim_block *header,
			const struct pumice_prim_index *index)
{
	const u32 count = ipf_vertices(header->kind);
	const u8 v[3] = { index->v0, index->v1, index->v2 };
	u32 i;

	for (i = 0; i < 3; i++)
		if (i < count ? v[i] >= header->vertices : v[i])
			return false;
	return index->provoking < count;
}

bool ipf_fetch(const struct pm_scene *scene, struct mmu *mmu, struct mmu_tlb *tlb, u32 block,
	       const struct pumice_prim_block *header, u32 prim, struct ipf_prim *out,
	       struct gpu_fault *fault)
{
	const struct ipf_source source = { scene, mmu, tlb, MMU_SECOND(PUMICE_UNIT_IPF) };
	const u64 va = pm_address(scene, block);
	const u32 count = ipf_vertices(header->kind);
	u32 words[PUMICE_PRIM_VERTEX_WORDS], i;
	const u32 *host;

	if (!va || prim >= header->prims)
		return ipf_fault(&source, fault, PUMICE_FAULT_IPF_BLOCK, va);
	host = ipf_host(&source, va, 0, fault);
	if (!host)
		return false;
	request_part(&source, va, INDEX_AT + prim * 4, 4);
	ipf_copy(words, host + INDEX_AT / 4 + prim, 1);
	if (pumice_prim_index_unpack(words, &out->index) != PUMICE_UNPACK_OK ||
	    !index_valid(header, &out->index))
		return ipf_fault(&source, fault, PUMICE_FAULT_IPF_BLOCK, va);
	memset(out->vertex, 0, sizeof(out->vertex));
	for (i = 0; i < count; i++) {
		const u32 v = i == 0 ? out->index.v0 : i == 1 ? out->index.v1 : out->index.v2;

		request_part(&source, va, vertex_offset(header, v), sizeof(words));
		ipf_copy(words, vertex_at(header, host, v), PUMICE_PRIM_VERTEX_WORDS);
		pumice_prim_vertex_unpack(words, &out->vertex[i]);
	}
	return true;
}

bool ipf_fetch_varyings(const struct pm_scene *scene, struct mmu *mmu, struct mmu_tlb *tlb,
			const struct ipf_varyings *v, struct gpu_fault *fault)
{
	const struct ipf_source source = { scene, mmu, tlb, PUMICE_UNIT_PB };
	const u64 va = pm_address(scene, v->block);
	const u32 *host;
	u32 i;

	if (!va || v->header->vertex_data != PUMICE_VERTEX_DATA_VARYINGS)
		return ipf_fault(&source, fault, PUMICE_FAULT_IPF_BLOCK, va);
	for (i = 0; i < v->count; i++)
		if (v->vertex[i] >= v->header->vertices)
			return ipf_fault(&source, fault, PUMICE_FAULT_IPF_BLOCK, va);
	if (!v->header->varyings)
		return true;
	host = ipf_host(&source, va, 0, fault);
	if (!host)
		return false;
	/* All words are valid varyings. They are not checked, so they may be read repeatedly. */
	for (i = 0; i < v->count; i++) {
		request_part(&source, va,
			     vertex_offset(v->header, v->vertex[i]) + PUMICE_PRIM_VERTEX_WORDS * 4,
			     v->header->varyings * sizeof(float));
		memcpy(v->out[i],
		       vertex_at(v->header, host, v->vertex[i]) + PUMICE_PRIM_VERTEX_WORDS,
		       v->header->varyings * sizeof(float));
	}
	return true;
}

/* Read the words after the position of a vertex. Returns false if they are invalid. */
static bool read_deferred(const struct pumice_prim_block *header, const u32 *from, u32 number[3],
			  u8 *corner)
{
	u32 words[PUMICE_PRIM_CLIP_WORDS] = { 0 };
	struct pumice_prim_clip clip;

	ipf_copy(words, from, vertex_words(header) - PUMICE_PRIM_VERTEX_WORDS);
	if (header->vertex_data == PUMICE_VERTEX_DATA_NUMBER) {
		number[0] = words[0];
		return true;
	}
	number[0] = words[0];
	number[1] = words[1];
	number[2] = words[2];
	if (pumice_prim_clip_unpack(words, &clip) != PUMICE_UNPACK_OK ||
	    clip.corner >= PUMICE_CLIP_CORNERS)
		return false;
	*corner = clip.corner;
	return true;
}

bool ipf_fetch_deferred(const struct pm_scene *scene, struct mmu *mmu, struct mmu_tlb *tlb,
			u32 block, const struct pumice_prim_block *header,
			const struct pumice_prim_index *index, struct ipf_deferred *out,
			struct gpu_fault *fault)
{
	const struct ipf_source source = { scene, mmu, tlb, PUMICE_UNIT_PB };
	const bool clipped = header->vertex_data == PUMICE_VERTEX_DATA_CLIPPED;
	const u8 v[3] = { index->v0, index->v1, index->v2 };
	const u64 va = pm_address(scene, block);
	u32 words[PUMICE_PRIM_DRAW_WORDS], number[3], i;
	const u32 *host;

	if (!va || !index_valid(header, index) ||
	    header->vertex_data == PUMICE_VERTEX_DATA_VARYINGS)
		return ipf_fault(&source, fault, PUMICE_FAULT_IPF_BLOCK, va);
	host = ipf_host(&source, va, 0, fault);
	if (!host)
		return false;
	request_part(&source, va, BLOCK_DRAW_AT, sizeof(words));
	ipf_copy(words, host + BLOCK_DRAW_AT / 4, PUMICE_PRIM_DRAW_WORDS);
	pumice_prim_draw_unpack(words, &out->draw);
	out->vertices = ipf_vertices(header->kind);
	for (i = 0; i < out->vertices; i++) {
		request_part(&source, va,
			     vertex_offset(header, v[i]) + PUMICE_PRIM_VERTEX_WORDS * 4,
			     (vertex_words(header) - PUMICE_PRIM_VERTEX_WORDS) * 4);
		if (!read_deferred(header, vertex_at(header, host, v[i]) + PUMICE_PRIM_VERTEX_WORDS,
				   number, &out->corner[i]))
			return ipf_fault(&source, fault, PUMICE_FAULT_IPF_BLOCK, va);
		if (!clipped)
			out->number[i] = number[0];
		else if (!i)
			memcpy(out->number, number, sizeof(number));
	}
	return true;
}

void ipf_hint_prim(const struct ipf_source *source, u32 block,
		   const struct pumice_prim_block *like, u32 mask)
{
	const u64 va = pm_address(source->scene, block);
	const u32 words = vertex_words(like), count = ipf_vertices(like->kind), line = 16;
	const u32 *host = va ? ipf_hint(source, va) : NULL;
	u32 prim, at;

	if (!host || !mask)
		return;
	prim = (u32)__builtin_ctz(mask);
	__builtin_prefetch(host);
	__builtin_prefetch(host + INDEX_AT / 4 + prim);
	for (at = 0; at < count * words; at += line)
		__builtin_prefetch(vertex_at(like, host, prim * count) + at);
	__builtin_prefetch(vertex_at(like, host, (prim + 1) * count) - 1);
}
