// SPDX-License-Identifier: MIT
/*
 * Master IPF: merge of the cores' lists of a tile. See stream.h.
 *
 * Each list keeps its next entry; the one with the lowest sequence number is first. Those of one
 * core never decrease.
 *
 * An endless list is detected when a chunk equals the recorded one: number 1, 2, 4, 8 and so on of
 * the list (Brent's algorithm), so after at most three rounds.
 */
#include "stream.h"

#include <string.h>

#include "internal.h"

/* A read of the parameter buffer: of a job, by a TLB of the master IPF. */
struct read {
	const struct ipf_job *job;
	struct ipf_source source;
	struct gpu_fault *fault;
};

#define CHUNK_BYTES	(PUMICE_TILE_CHUNK_WORDS * 4u)
#define CHUNKS_PAGE	(PUMICE_PM_PAGE_SIZE / CHUNK_BYTES)
#define ENTRIES		7u
#define NEXT_WORD	14u
#define AHEAD		2u	/* entries read ahead */

/* Return the address of a chunk, or 0 if it is invalid. */
static u64 chunk_address(const struct pm_scene *scene, u32 ref)
{
	const u64 va = pm_address(scene, ref);

	return va % CHUNK_BYTES ? 0 : va;
}

static bool bad_list(const struct read *r, const struct ipf_list *l)
{
	return ipf_fault(&r->source, r->fault, PUMICE_FAULT_IPF_STREAM,
			 pm_address(r->source.scene, l->chunk));
}

/* Enter another chunk. */
static bool enter_chunk(const struct read *r, struct ipf_list *l, u32 chunk)
{
	const struct pm_scene *scene = r->source.scene;
	const u64 max = ((u64)scene->list_pages[0] + scene->list_pages[1]) * CHUNKS_PAGE;

	if (!chunk_address(scene, chunk) || chunk == l->mark || l->chunks >= max)
		return bad_list(r, l);
	l->chunk = chunk;
	l->entry = 0;
	l->chunks++;
	if (!(l->chunks & (l->chunks - 1)))
		l->mark = chunk;
	return true;
}

/* Enter the next chunk after the last entry; set *ended if there is none. */
static bool next_chunk(const struct read *r, struct ipf_list *l, bool *ended)
{
	u32 words[2];

	if (!ipf_read(&r->source, chunk_address(r->source.scene, l->chunk) + NEXT_WORD * 4, words,
		      2, r->fault))
		return false;
	if (words[1])
		return bad_list(r, l);
	*ended = !words[0];
	return *ended || enter_chunk(r, l, words[0]);
}

/*
 * Prefetch the chunk after the one at this host address, which its last entries look into. Returns
 * its host address, or NULL.
 */
static const u32 *hint_chunk(const struct ipf_source *source, const u32 *chunk)
{
	const u64 va = chunk_address(source->scene,
				     __atomic_load_n(&chunk[NEXT_WORD], __ATOMIC_RELAXED));

	return va ? ipf_hint(source, va) : NULL;
}

/*
 * Small primitives are in different blocks, which this tile has not accessed: so read the
 * entry AHEAD entries after this one, at the first one of a list also those before it. They are
 * read again, and checked, when they are processed.
 */
static void look_ahead(const struct ipf_source *source, const struct ipf_list *l,
		       const u32 *entry)
{
	const u32 *chunk = entry - (l->entry - 1) * PUMICE_TILE_ENTRY_WORDS, *from;
	const bool first = l->entry == 1;
	u32 words[PUMICE_TILE_ENTRY_WORDS], ahead, at;
	struct pumice_tile_entry next;

	if (first)
		__builtin_prefetch(hint_chunk(source, chunk));
	for (ahead = first && l->chunks == 1 ? 1 : AHEAD; ahead <= AHEAD; ahead++) {
		at = l->entry - 1 + ahead;
		from = at < ENTRIES ? chunk : hint_chunk(source, chunk);
		if (!from)
			return;
		ipf_copy(words, from + at % ENTRIES * PUMICE_TILE_ENTRY_WORDS,
			 PUMICE_TILE_ENTRY_WORDS);
		pumice_tile_entry_unpack(words, &next);
		ipf_hint_prim(source, next.block, &l->next.header, next.mask);
	}
}

/* Read and check the next entry and its block's header; set *ended if there is none. */
static bool advance(const struct read *r, struct ipf_list *l, bool first, bool *ended)
{
	const u32 sequence = l->next.header.sequence;
	struct ipf_prims *next = &l->next;
	struct pumice_tile_entry entry;
	u32 words[PUMICE_TILE_ENTRY_WORDS];
	const u32 *host;

	*ended = false;
	if (l->entry == ENTRIES && (!next_chunk(r, l, ended) || *ended))
		return *ended;
	host = ipf_host(&r->source,
			chunk_address(r->source.scene, l->chunk) + l->entry * sizeof(words),
			sizeof(words), r->fault);
	if (!host)
		return false;
	ipf_copy(words, host, PUMICE_TILE_ENTRY_WORDS);
	pumice_tile_entry_unpack(words, &entry);
	if (!entry.block) {
		/* A list, and each chunk of it, has at least one entry; the end marker is all 0. */
		*ended = true;
		return l->entry && !entry.mask ? true : bad_list(r, l);
	}
	l->entry++;
	next->block = entry.block;
	next->mask = entry.mask;
	if (!ipf_read_block(&r->source, next->block, &next->header, r->fault))
		return false;
	if (!next->mask || (u64)next->mask >> next->header.prims ||
	    (!first && next->header.sequence < sequence))
		return bad_list(r, l);
	/* Later entries have no lower sequence. */
	*ended = r->job->limit && next->header.sequence >= r->job->limit;
	look_ahead(&r->source, l, host);
	return true;
}

/* Open the list of one core, if it has one for the tile. */
static bool open_list(struct ipf_stream *stream, const struct read *r, u32 core)
{
	const struct pm_scene *scene = r->source.scene;
	const u64 tiles = (u64)scene->tiles_x * scene->tiles_y;
	const u64 va = scene->regions + (core * tiles + stream->tile) * PUMICE_REGION_WORDS * 4;
	struct ipf_list *l = &stream->list[stream->lists];
	u32 words[PUMICE_REGION_WORDS];
	struct pumice_region region;
	bool ended;

	if (!ipf_read(&r->source, va, words, PUMICE_REGION_WORDS, r->fault))
		return false;
	if (pumice_region_unpack(words, &region) != PUMICE_UNPACK_OK ||
	    (region.present ? !chunk_address(scene, region.stream) : region.stream != 0))
		return ipf_fault(&r->source, r->fault, PUMICE_FAULT_IPF_REGION, va);
	if (!region.present)
		return true;
	*l = (struct ipf_list){ 0 };
	if (!enter_chunk(r, l, region.stream) || !advance(r, l, true, &ended))
		return false;
	stream->lists += !ended;
	return true;
}

/* Open the lists of all cores. */
static bool open_lists(struct ipf_stream *stream, const struct read *r)
{
	u32 core;

	stream->opened = true;
	for (core = 0; core < r->source.scene->cores && core < PUMICE_MAX_CORES; core++)
		if ((r->job->used >> core & 1) && !open_list(stream, r, core))
			return false;
	return true;
}

void ipf_stream_begin(struct ipf_stream *stream, u32 tile, bool branch)
{
	stream->tile = tile;
	stream->opened = !branch;
	stream->lists = 0;
}

enum ipf_result ipf_stream_next(struct ipf_stream *stream, const struct ipf_job *job,
				struct mmu_tlb *tlb, struct ipf_prims *prims,
				struct gpu_fault *fault)
{
	const struct read r = { job, { job->scene, job->mmu, tlb, PUMICE_UNIT_IPF }, fault };
	struct ipf_list *l = &stream->list[0];
	bool ended;
	u32 i;

	if (!stream->opened && !open_lists(stream, &r))
		return IPF_FAULT;
	if (!stream->lists)
		return IPF_END;
	for (i = 1; i < stream->lists; i++)
		if (stream->list[i].next.header.sequence < l->next.header.sequence)
			l = &stream->list[i];
	*prims = l->next;
	if (!advance(&r, l, false, &ended))
		return IPF_FAULT;
	if (ended) {
		/* The others keep their order, so that among equals the lowest core is first. */
		stream->lists--;
		memmove(l, l + 1, (size_t)(&stream->list[stream->lists] - l) * sizeof(*l));
	}
	return IPF_PRIMS;
}
