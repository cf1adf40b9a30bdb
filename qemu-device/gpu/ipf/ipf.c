// SPDX-License-Identifier: MIT
/*
 * ISP parameter fetch: merge of the cores' tile streams.
 *
 * Source: document 004, "Master IPF" and "ISP Parameter Fetch"; hw/formats.xml, region,
 * tile_chunk, tile_entry. Each stream keeps its next entry; the one with the lowest sequence
 * number is first. Those of one core never decrease.
 *
 * An endless stream is detected when a chunk equals the recorded one: number 1, 2, 4, 8 and
 * so on of the stream (Brent's algorithm), so after at most three rounds.
 */
#include "internal.h"

#include <string.h>

#define CHUNK_BYTES	(PUMICE_TILE_CHUNK_WORDS * 4u)
#define CHUNKS_PAGE	(PUMICE_PM_PAGE_SIZE / CHUNK_BYTES)
#define ENTRIES		7u
#define NEXT_WORD	14u
#define AHEAD		2u	/* entries read ahead */

static struct ipf_source source_of(const struct ipf_tile *tile)
{
	return (struct ipf_source){ tile->scene, tile->mmu, tile->tlb, PUMICE_UNIT_IPF };
}

/* Return the address of a chunk, or 0 if it is invalid. */
static u64 chunk_address(const struct pm_scene *scene, u32 ref)
{
	const u64 va = pm_address(scene, ref);

	return va % CHUNK_BYTES ? 0 : va;
}

static bool bad_stream(const struct ipf_tile *tile, const struct ipf_stream *s,
		       struct gpu_fault *fault)
{
	const struct ipf_source source = source_of(tile);

	return ipf_fault(&source, fault, PUMICE_FAULT_IPF_STREAM,
			 pm_address(tile->scene, s->chunk));
}

/* Enter another chunk. */
static bool enter_chunk(struct ipf_tile *tile, struct ipf_stream *s, u32 chunk,
			struct gpu_fault *fault)
{
	const u64 max = ((u64)tile->scene->list_pages[0] + tile->scene->list_pages[1]) *
			 CHUNKS_PAGE;

	if (!chunk_address(tile->scene, chunk) || chunk == s->mark || s->chunks >= max)
		return bad_stream(tile, s, fault);
	s->chunk = chunk;
	s->entry = 0;
	s->chunks++;
	if (!(s->chunks & (s->chunks - 1)))
		s->mark = chunk;
	return true;
}

/* Enter the next chunk after the last entry; set *ended if there is none. */
static bool next_chunk(struct ipf_tile *tile, struct ipf_stream *s, bool *ended,
		       struct gpu_fault *fault)
{
	const struct ipf_source source = source_of(tile);
	u32 words[2];

	if (!ipf_read(&source, chunk_address(tile->scene, s->chunk) + NEXT_WORD * 4, words, 2,
		      fault))
		return false;
	if (words[1])
		return bad_stream(tile, s, fault);
	*ended = !words[0];
	return *ended || enter_chunk(tile, s, words[0], fault);
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
 * entry AHEAD entries after this one, at the first one of a stream also those before it. They are
 * read again, and checked, when they are processed.
 */
static void look_ahead(const struct ipf_source *source, const struct ipf_stream *s,
		       const u32 *entry)
{
	const u32 *chunk = entry - (s->entry - 1) * PUMICE_TILE_ENTRY_WORDS, *from;
	const bool first = s->entry == 1;
	u32 words[PUMICE_TILE_ENTRY_WORDS], ahead, at;
	struct pumice_tile_entry next;

	if (first)
		__builtin_prefetch(hint_chunk(source, chunk));
	for (ahead = first && s->chunks == 1 ? 1 : AHEAD; ahead <= AHEAD; ahead++) {
		at = s->entry - 1 + ahead;
		from = at < ENTRIES ? chunk : hint_chunk(source, chunk);
		if (!from)
			return;
		ipf_copy(words, from + at % ENTRIES * PUMICE_TILE_ENTRY_WORDS,
			 PUMICE_TILE_ENTRY_WORDS);
		pumice_tile_entry_unpack(words, &next);
		ipf_hint_prim(source, next.block, &s->header, next.mask);
	}
}

/* Read and check the next entry and its block's header; set *ended if there is none. */
static bool advance(struct ipf_tile *tile, struct ipf_stream *s, bool first, bool *ended,
		    struct gpu_fault *fault)
{
	const struct ipf_source source = source_of(tile);
	const u32 sequence = s->header.sequence;
	struct pumice_tile_entry entry;
	u32 words[PUMICE_TILE_ENTRY_WORDS];
	const u32 *host;

	*ended = false;
	if (s->entry == ENTRIES && (!next_chunk(tile, s, ended, fault) || *ended))
		return *ended;
	host = ipf_host(&source, chunk_address(tile->scene, s->chunk) + s->entry * sizeof(words),
			sizeof(words), fault);
	if (!host)
		return false;
	ipf_copy(words, host, PUMICE_TILE_ENTRY_WORDS);
	pumice_tile_entry_unpack(words, &entry);
	if (!entry.block) {
		/*
		 * A stream, and each chunk of it, has at least one entry; the end marker is
		 * all 0.
		 */
		*ended = true;
		return s->entry && !entry.mask ? true : bad_stream(tile, s, fault);
	}
	s->entry++;
	s->block = entry.block;
	s->mask = entry.mask;
	if (!ipf_read_block(&source, s->block, &s->header, fault))
		return false;
	if (!s->mask || (u64)s->mask >> s->header.prims ||
	    (!first && s->header.sequence < sequence))
		return bad_stream(tile, s, fault);
	/* Later entries have no lower sequence. */
	*ended = tile->limit && s->header.sequence >= tile->limit;
	look_ahead(&source, s, host);
	return true;
}

/* Open the stream of one core, if it has one for the tile. */
static bool open_stream(struct ipf_tile *tile, u32 core, u32 number, struct gpu_fault *fault)
{
	const struct pm_scene *scene = tile->scene;
	const struct ipf_source source = source_of(tile);
	const u64 tiles = (u64)scene->tiles_x * scene->tiles_y;
	const u64 va = scene->regions + (core * tiles + number) * PUMICE_REGION_WORDS * 4;
	struct ipf_stream *s = &tile->stream[tile->cores];
	u32 words[PUMICE_REGION_WORDS];
	struct pumice_region region;
	bool ended;

	if (!ipf_read(&source, va, words, PUMICE_REGION_WORDS, fault))
		return false;
	if (pumice_region_unpack(words, &region) != PUMICE_UNPACK_OK ||
	    (region.present ? !chunk_address(scene, region.stream) : region.stream != 0))
		return ipf_fault(&source, fault, PUMICE_FAULT_IPF_REGION, va);
	if (!region.present)
		return true;
	*s = (struct ipf_stream){ .core = (u8)core };
	if (!enter_chunk(tile, s, region.stream, fault) || !advance(tile, s, true, &ended, fault))
		return false;
	tile->cores += !ended;
	return true;
}

bool ipf_tile_open(struct ipf_tile *tile, const struct pm_scene *scene, struct mmu *mmu,
		   struct mmu_tlb *tlb, u32 used, u32 limit, u32 tile_x, u32 tile_y,
		   struct gpu_fault *fault)
{
	u32 core;

	tile->scene = scene;
	tile->mmu = mmu;
	tile->tlb = tlb;
	tile->limit = limit;
	tile->cores = 0;
	for (core = 0; core < scene->cores && core < PUMICE_MAX_CORES; core++)
		if ((used >> core & 1) &&
		    !open_stream(tile, core, tile_y * scene->tiles_x + tile_x, fault))
			return false;
	return true;
}

enum ipf_result ipf_next(struct ipf_tile *tile, struct ipf_prims *prims, struct gpu_fault *fault)
{
	struct ipf_stream *s = &tile->stream[0];
	bool ended;
	u32 i;

	if (!tile->cores)
		return IPF_END;
	for (i = 1; i < tile->cores; i++)
		if (tile->stream[i].header.sequence < s->header.sequence)
			s = &tile->stream[i];
	*prims = (struct ipf_prims){ .block = s->block, .mask = s->mask, .header = s->header };
	if (!advance(tile, s, false, &ended, fault))
		return IPF_FAULT;
	if (ended) {
		/* The others keep their order, so that among equals the lowest core is first. */
		tile->cores--;
		memmove(s, s + 1, (size_t)(&tile->stream[tile->cores] - s) * sizeof(*s));
	}
	return IPF_PRIMS;
}
