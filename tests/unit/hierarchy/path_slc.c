// SPDX-License-Identifier: MIT
/* Model of the memory hierarchy: SLC and memory. */
#include "path.h"

#include "pumice_format_table.h"

static u64 count_segments(const struct path *p, u32 mask)
{
	u64 count = 0;
	u32 i;

	for (i = 0; i < p->config.line_bytes / p->config.segment_bytes; i++)
		count += mask >> i & 1;
	return count;
}

u64 path_dirty_bytes(const struct path *p, const struct cache_line *line)
{
	return count_segments(p, line->dirty) * p->config.segment_bytes;
}

static void read_memory(struct path *p, u32 bank, u32 client, u64 bytes)
{
	p->bank[bank].read_bytes += bytes;
	p->level[PUMICE_CACHE_SLC].read_bytes += bytes;
	p->client[client].slc.read_bytes += bytes;
}

static void write_memory(struct path *p, u32 bank, u32 client, u64 bytes)
{
	p->bank[bank].written_bytes += bytes;
	p->level[PUMICE_CACHE_SLC].written_bytes += bytes;
	p->client[client].slc.written_bytes += bytes;
}

u64 path_slc_write_back(struct path *p, u32 bank, const struct cache_line *line)
{
	u64 bytes = path_dirty_bytes(p, line);

	write_memory(p, bank, p->slc[bank].writer[line->entry].client, bytes);
	p->bank[bank].written_lines += bytes != 0;
	p->level[PUMICE_CACHE_SLC].writes += bytes != 0;
	return bytes;
}

/* No line is filled; dirty segments are those of the line that is held, if any. */
static void bypass(struct path *p, u32 bank, const struct path_piece *piece)
{
	const u32 bytes = p->config.segment_bytes;
	struct model_way *held = model_find(&p->slc[bank].tags, piece->ctx,
					    piece->number * p->config.line_bytes);
	u32 segment;

	p->bank[bank].bypasses++;
	p->level[PUMICE_CACHE_SLC].bypasses++;
	p->client[piece->client].slc.bypasses++;
	for (segment = piece->from / bytes; segment <= (piece->to - 1) / bytes; segment++) {
		if (piece->kind != SLC_READ)
			write_memory(p, bank, piece->client, bytes);
		if (piece->kind != SLC_WRITE && (!held || !held->dirty[segment]))
			read_memory(p, bank, piece->client, bytes);
	}
}

static void cached(struct path *p, u32 bank, const struct path_piece *piece)
{
	struct hierarchy_level *level = &p->level[PUMICE_CACHE_SLC];
	struct slc_client *client = &p->client[piece->client].slc;
	struct cache_result result;
	bool filled = false;
	u32 segment;

	path_access(p, &p->slc[bank], piece, piece->kind == SLC_READ ? CACHE_READ : CACHE_WRITE,
		    true, &result);
	if (result.evicted) {
		p->bank[bank].evictions++;
		level->evictions++;
		path_slc_write_back(p, bank, &result.victim);
	}
	if (piece->kind != SLC_READ)
		p->slc[bank].writer[result.entry].client = piece->client;
	p->bank[bank].hits += result.hit;
	level->requests.hits += result.hit;
	client->hits += result.hit;
	if (result.hit)
		return;
	p->bank[bank].misses++;
	level->requests.misses++;
	client->misses++;
	for (segment = 0; segment < p->config.line_bytes / p->config.segment_bytes; segment++) {
		/* An atomic operation needs the bytes that it changes. */
		if (piece->kind != SLC_WRITE || !path_covers(p, piece, segment)) {
			read_memory(p, bank, piece->client, p->config.segment_bytes);
			filled = true;
		}
	}
	p->bank[bank].fills += filled;
	level->fills += filled;
}

void path_slc(struct path *p, u32 bif, const struct path_piece *piece)
{
	u32 bank = slc_hash_bank(&p->hash, piece->ctx, piece->number * p->config.line_bytes);
	u64 bytes = piece->to - piece->from;

	p->bif[bif]++;
	p->bank[bank].requests++;
	p->level[PUMICE_CACHE_SLC].requests.requests++;
	p->level[PUMICE_CACHE_SLC].requests.bytes += bytes;
	p->client[piece->client].slc.requests++;
	p->client[piece->client].slc.bytes += bytes;
	if (piece->bypass || pumice_client_table[piece->client].slc == PUMICE_MEM_SLC_BYPASS)
		bypass(p, bank, piece);
	else
		cached(p, bank, piece);
}
