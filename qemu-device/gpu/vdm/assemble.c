// SPDX-License-Identifier: MIT
/*
 * Assembly of primitives. See assemble.h.
 *
 * The winding of odd triangles of a strip is reversed so that all of them face the same way;
 * the provoking vertex keeps its position, first or last.
 */
#include "assemble.h"

#include <string.h>

#define HASH_FACTOR	2654435761u	/* 2^32 over the golden ratio: spreads neighbours */
#define HASH_SHIFT	20u		/* keeps 12 bits */
#define PROBES_MAX	64u		/* bounds the time of a piece, whatever its indices are */
#define LEAD_MAX	2u		/* positions before the first one that a piece needs */

_Static_assert(VDM_CACHE_ENTRIES == 1u << (32 - HASH_SHIFT), "a hash is an entry");
_Static_assert(VDM_PIECE_VERTICES % PUMICE_LANES == 0, "whole waves");

u32 vdm_topology_vertices(u32 topology)
{
	switch ((enum pumice_topology)topology) {
	case PUMICE_TOPOLOGY_POINTS:
		return 1;
	case PUMICE_TOPOLOGY_LINES:
	case PUMICE_TOPOLOGY_LINE_STRIP:
		return 2;
	default:
		return 3;
	}
}

u32 vdm_topology_step(u32 topology)
{
	switch ((enum pumice_topology)topology) {
	case PUMICE_TOPOLOGY_LINES:
		return 2;
	case PUMICE_TOPOLOGY_TRIANGLES:
		return 3;
	default:
		return 1;
	}
}

enum pumice_prim_kind vdm_topology_kind(u32 topology)
{
	switch (vdm_topology_vertices(topology)) {
	case 1:
		return PUMICE_PRIM_KIND_POINT;
	case 2:
		return PUMICE_PRIM_KIND_LINE;
	default:
		return PUMICE_PRIM_KIND_TRIANGLE;
	}
}

/* Read count indices from position at; those beyond the buffer are 0. */
static bool read_indices(struct vdm_reader *reader, const struct vdm_draw *draw, u64 at, u32 count,
			 u32 *out, struct gpu_fault *fault)
{
	const u64 first = draw->first + at;
	const u64 left = first < draw->index_count ? draw->index_count - first : 0;
	const u32 there = left < count ? (u32)left : count;
	u32 n = there;
	u8 *raw = (u8 *)out;

	if (there && !mmu_read(reader->mmu, reader->tlb, reader->ctx,
			       draw->indices + (first << draw->index_shift), raw,
			       (u64)there << draw->index_shift, PUMICE_ACCESS_READ,
			       MMU_SECOND(PUMICE_UNIT_VDM), fault))
		return false;
	/* Widen in place, from the last one backwards. */
	while (draw->index_shift < 2 && n--) {
		u16 wide;

		if (draw->index_shift == 1) {
			memcpy(&wide, raw + 2 * n, sizeof(wide));
			out[n] = wide;
		} else {
			out[n] = raw[n];
		}
	}
	memset(out + there, 0, (count - there) * sizeof(*out));
	reader->read += count;
	return true;
}

/* Return the index that restarts primitives. */
static u32 restart_index(const struct vdm_draw *draw)
{
	return UINT32_MAX >> (32 - (8u << draw->index_shift));
}

bool vdm_find_run(struct vdm_reader *reader, const struct vdm_draw *draw, u64 begin, u64 end,
		  u64 *run, struct gpu_fault *fault)
{
	const u32 restart = restart_index(draw);
	u32 index[VDM_PIECE_PRIMS];

	/* Search backwards: only the last restart matters. */
	while (end > begin) {
		u32 count = end - begin < VDM_PIECE_PRIMS ? (u32)(end - begin) : VDM_PIECE_PRIMS;

		end -= count;
		if (!read_indices(reader, draw, end, count, index, fault))
			return false;
		while (count--) {
			if (index[count] == restart) {
				*run = end + count + 1;
				return true;
			}
		}
	}
	return true;
}

/* Stamps begin anew: the previous piece, which has the last one, becomes number 1. */
static void renumber_stamps(struct vdm_cache *cache)
{
	u32 n;

	for (n = 0; n < VDM_CACHE_ENTRIES; n++)
		cache->table[1][n].stamp = cache->table[1][n].stamp == UINT16_MAX;
	memset(cache->table[0], 0, sizeof(cache->table[0]));
	cache->stamp = 2;
}

/* Begin a piece: the cache is empty, except for vertices of the previous piece if it follows. */
static void cache_begin(struct vdm_cache *cache, bool follows)
{
	if (follows && cache->stamp == UINT16_MAX) {
		renumber_stamps(cache);
	} else if (!follows && cache->stamp > UINT16_MAX - 2) {
		memset(cache->table, 0, sizeof(cache->table));
		cache->stamp = 2;	/* not one above that of the entries */
	} else {
		cache->stamp += follows ? 1 : 2;
	}
}

/*
 * Return the entry of an index in the piece with a stamp, or the empty one where it belongs. Of too
 * many indices with similar hashes it is the entry of another one, which may be replaced: a vertex
 * that is not found is shaded again, with the same result.
 */
static inline struct vdm_cached *find_index(struct vdm_cache *cache, u16 stamp, u32 index)
{
	struct vdm_cached *table = cache->table[stamp % 2];
	u32 n = index * HASH_FACTOR >> HASH_SHIFT, probes = 1;

	while (table[n].stamp == stamp && table[n].index != index && probes++ < PROBES_MAX)
		n = (n + 1) % VDM_CACHE_ENTRIES;
	return &table[n];
}

/* Return whether an entry is that of an index in the piece with a stamp. */
static inline bool is_entry_of(const struct vdm_cached *entry, u16 stamp, u32 index)
{
	return entry->stamp == stamp && entry->index == index;
}

/* Find a vertex of the piece by its index; append a new one. Returns its number. */
static inline u16 cached(struct vdm_cache *cache, struct vdm_piece *piece, u32 index, u32 base)
{
	const u16 before = (u16)(cache->stamp - 1);
	struct vdm_cached *entry = find_index(cache, cache->stamp, index);
	const struct vdm_cached *old;

	if (is_entry_of(entry, cache->stamp, index))
		return entry->local;
	old = find_index(cache, before, index);
	piece->before[piece->vertices] =
		is_entry_of(old, before, index) ? old->local : VDM_NOT_CACHED;
	*entry = (struct vdm_cached){
		.index = index, .local = (u16)piece->vertices, .stamp = cache->stamp,
	};
	piece->vertex[piece->vertices] = index + base;
	return (u16)piece->vertices++;
}

/*
 * Find the vertices of the primitive that the k-th index of a run completes; false for none.
 */
static inline bool primitive_at(enum pumice_topology topology, u64 k, bool provoking_last,
				u32 back[3])
{
	back[1] = back[2] = 0;
	switch (topology) {
	case PUMICE_TOPOLOGY_POINTS:
		back[0] = 0;
		return true;
	case PUMICE_TOPOLOGY_LINES:
		back[0] = 1;
		return k % 2 == 1;
	case PUMICE_TOPOLOGY_LINE_STRIP:
		back[0] = 1;
		return k >= 1;
	case PUMICE_TOPOLOGY_TRIANGLES:
		back[0] = 2;
		back[1] = 1;
		return k % 3 == 2;
	case PUMICE_TOPOLOGY_TRIANGLE_STRIP:
		back[0] = k % 2 && provoking_last ? 1 : 2;
		back[1] = k % 2 ? provoking_last ? 2 : 0 : 1;
		back[2] = k % 2 && !provoking_last ? 1 : 0;
		return k >= 2;
	case PUMICE_TOPOLOGY_TRIANGLE_FAN:
		back[0] = UINT32_MAX;	/* the run's first */
		back[1] = 1;
		return k >= 2;
	}
	return false;
}

/* Return the first position that a piece reads. */
static u64 first_place(const struct vdm_draw *draw, const struct vdm_place *place)
{
	const bool list = vdm_topology_step(draw->topology) ==
		vdm_topology_vertices(draw->topology);
	u64 lead = vdm_topology_vertices(draw->topology) - 1;

	if (list && !draw->restart)
		return place->at;	/* pieces begin with a primitive */
	if (draw->topology == PUMICE_TOPOLOGY_TRIANGLE_FAN)
		lead = 1;
	return place->at - place->run < lead ? place->run : place->at - lead;
}

/* Vertices that a primitive does not have equal its first. */
static inline u32 place_of(const u32 back[3], u32 n, u32 vertices)
{
	return back[n < vertices ? n : 0];
}

/*
 * Find the vertices before position at in the previous piece: it ends there, and has a fan's first
 * one as number 0. The cache describes this piece then.
 */
static void find_shared(struct vdm_cache *cache, u64 low, u64 at, u32 first, bool follows,
			struct vdm_piece *piece)
{
	const u32 shared = first + (u32)(at - low);
	u32 n;

	memset(piece->before, 0xff, piece->vertices * sizeof(*piece->before));
	if (follows && first)
		piece->before[0] = 0;
	for (n = first; follows && n < shared; n++)
		piece->before[n] = (u16)(cache->first + (low + n - first - cache->low));
	cache->low = low;
	cache->first = first;
}

/* Consecutive vertices: their positions are their numbers, and no vertex occurs twice. */
static void assemble_plain(const struct vdm_draw *draw, bool provoking_last,
			   const struct vdm_place *place, u64 end, bool follows,
			   struct vdm_cache *cache, struct vdm_piece *piece)
{
	const u32 vertices = vdm_topology_vertices(draw->topology);
	const u64 low = first_place(draw, place);
	u32 back[3], extra = 0, n;
	u64 at;

	/* A fan's first vertex precedes those of the piece. */
	if (draw->topology == PUMICE_TOPOLOGY_TRIANGLE_FAN && low > place->run) {
		piece->vertex[0] = draw->first + (u32)place->run;
		extra = 1;
	}
	for (at = low; at < end; at++)
		piece->vertex[extra + (at - low)] = draw->first + (u32)at;
	piece->vertices = extra + (u32)(end - low);
	find_shared(cache, low, place->at, extra, follows, piece);
	for (at = place->at; at < end; at++) {
		if (!primitive_at((enum pumice_topology)draw->topology, at - place->run,
				  provoking_last, back))
			continue;
		for (n = 0; n < 3; n++)
			piece->prim[piece->prims].v[n] = place_of(back, n, vertices) == UINT32_MAX ?
				0 : (u16)(extra + (at - low) - place_of(back, n, vertices));
		piece->prims++;
	}
}

/*
 * Vertices by index, runs included, until the piece may have no room for another primitive's.
 * index[0] is that of position low. Returns the position after the last one.
 */
static u64 assemble_indexed(const struct vdm_draw *draw, bool provoking_last, u32 room,
			    struct vdm_place *place, u64 low, u64 end, const u32 *index, u32 first,
			    bool follows, struct vdm_cache *cache, struct vdm_piece *piece)
{
	const u32 vertices = vdm_topology_vertices(draw->topology);
	const u32 restart = restart_index(draw);
	u32 back[3], n;
	u64 at;

	cache_begin(cache, follows);
	for (at = place->at; at < end && piece->vertices + vertices <= room; at++) {
		struct ta_prim *prim = &piece->prim[piece->prims];

		if (draw->restart && index[at - low] == restart) {
			place->run = at + 1;
			continue;
		}
		if (at == place->run)
			first = index[at - low];
		if (!primitive_at((enum pumice_topology)draw->topology, at - place->run,
				  provoking_last, back))
			continue;
		for (n = 0; n < vertices; n++)
			prim->v[n] = cached(cache, piece,
					    back[n] == UINT32_MAX ? first :
					    index[at - low - back[n]], draw->base_vertex);
		for (; n < 3; n++)
			prim->v[n] = prim->v[0];
		piece->prims++;
	}
	return at;
}

/* Positions of a draw without indices whose vertices have room, also those before the first. */
static u64 plain_places(const struct vdm_draw *draw, const struct vdm_place *place, u32 vertices)
{
	const u32 step = vdm_topology_step(draw->topology);
	u64 places = vertices - (u32)(place->at - first_place(draw, place));

	if (draw->topology == PUMICE_TOPOLOGY_TRIANGLE_FAN)
		places--;
	return places - places % step;
}

bool vdm_assemble(struct vdm_reader *reader, const struct vdm_draw *draw, bool provoking_last,
		  const struct vdm_piece_limits *limits, struct vdm_place *place, u64 end,
		  bool follows, struct vdm_cache *cache, struct vdm_piece *piece,
		  struct gpu_fault *fault)
{
	const u64 low = first_place(draw, place);
	u64 room = (u64)limits->prims * vdm_topology_step(draw->topology);
	u32 index[VDM_PIECE_VERTICES + LEAD_MAX], first = 0;

	piece->prims = piece->vertices = piece->first = 0;
	if (!draw->indexed && room > plain_places(draw, place, limits->vertices))
		room = plain_places(draw, place, limits->vertices);
	if (end > place->at + room)
		end = place->at + room;
	if (!draw->indexed) {
		assemble_plain(draw, provoking_last, place, end, follows, cache, piece);
		piece->shade = piece->vertices;
		place->at = end;
		return true;
	}
	if (!read_indices(reader, draw, low, (u32)(end - low), index, fault))
		return false;
	if (draw->topology == PUMICE_TOPOLOGY_TRIANGLE_FAN && place->run < place->at &&
	    !read_indices(reader, draw, place->run, 1, &first, fault))
		return false;
	place->at = assemble_indexed(draw, provoking_last, limits->vertices, place, low, end, index,
				     first, follows, cache, piece);
	piece->shade = piece->vertices;
	return true;
}
