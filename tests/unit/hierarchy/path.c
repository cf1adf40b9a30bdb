// SPDX-License-Identifier: MIT
/* Model of the memory hierarchy: routes, caches above the SLC, operations. */
#include "path.h"

#include <stdlib.h>
#include <string.h>

#include "../support/cmocka_all.h"
#include "pumice_format_table.h"

enum { PDS, CODE, DATA, PARTITIONS };

static bool is_mcu(const struct path *p)
{
	return p->config.style == PUMICE_CACHE_STYLE_MCU;
}

static u32 min(u32 a, u32 b)
{
	return a < b ? a : b;
}

/* ------------------------------------------------------------ creation */

static void create_store(const struct path *p, struct path_store *store, u32 bytes, u32 ways,
			 u32 banks, enum cache_order order)
{
	struct cache_config config = {
		.bytes = bytes / banks, .ways = ways, .line_bytes = p->config.line_bytes,
		.segment_bytes = p->config.segment_bytes, .order = order,
	};

	while (1u << config.skip_bits < banks)
		config.skip_bits++;
	model_create(&store->tags, &config);
	store->writer = calloc(config.bytes / config.line_bytes, sizeof(*store->writer));
	assert_non_null(store->writer);
}

static void create_core(struct path *p, u32 core)
{
	const struct hierarchy_config *c = &p->config;
	u32 firsts = is_mcu(p) ? c->uscs : 2, i, part;

	for (i = core * firsts; i < (core + 1) * firsts; i++) {
		create_store(p, &p->texture_l1[i], c->texture_l1_bytes, c->texture_ways, 1,
			     CACHE_PLRU);
		for (part = 0; part < PARTITIONS; part++) {
			if (is_mcu(p))
				create_store(p, &p->data_l1[i][part], c->data_l1_bytes,
					     min(c->data_l1_bytes / c->line_bytes, CACHE_MAX_WAYS),
					     1, CACHE_FIFO);
			else
				create_store(p, &p->data_l1[i][part], c->data_l1_bytes,
					     c->data_ways, 1, CACHE_PLRU);
		}
	}
	create_store(p, &p->texture_l2[core], c->texture_l2_bytes, c->texture_ways, 1, CACHE_PLRU);
	for (i = 0; i < p->mcu_banks; i++)
		create_store(p, &p->data_l2[core][i], c->data_l2_bytes, c->data_ways, p->mcu_banks,
			     CACHE_PLRU);
}

void path_create(struct path *p, const struct hierarchy_config *config)
{
	u32 sets = config->data_l2_bytes / config->line_bytes / config->data_ways, i, bits = 0;
	u32 shift = 0;

	memset(p, 0, sizeof(*p));
	p->config = *config;
	p->mcu_banks = 1;
	p->bifs_per_core = 1;
	if (is_mcu(p)) {
		p->bifs_per_core = (config->uscs + 1) / 2;
		while (p->mcu_banks < min(config->uscs, sets))
			p->mcu_banks *= 2;
	}
	while (1u << bits < config->slc_banks)
		bits++;
	while (1u << shift < config->line_bytes)
		shift++;
	slc_hash_init(&p->hash, bits, shift);
	for (i = 0; i < config->cores; i++)
		create_core(p, i);
	for (i = 0; i < config->slc_banks; i++)
		create_store(p, &p->slc[i], config->slc_bytes, config->slc_ways, config->slc_banks,
			     CACHE_PLRU);
}

static void destroy_store(struct path_store *store)
{
	model_destroy(&store->tags);
	free(store->writer);
}

void path_destroy(struct path *p)
{
	u32 i, j;

	for (i = 0; i < PATH_USCS; i++) {
		for (j = 0; j < PARTITIONS; j++)
			destroy_store(&p->data_l1[i][j]);
		destroy_store(&p->texture_l1[i]);
	}
	for (i = 0; i < PATH_CORES; i++) {
		for (j = 0; j < 4; j++)
			destroy_store(&p->data_l2[i][j]);
		destroy_store(&p->texture_l2[i]);
	}
	for (i = 0; i < SLC_MAX_BANKS; i++)
		destroy_store(&p->slc[i]);
}

/* ------------------------------------------------------------ a level */

void path_access(const struct path *p, struct path_store *store, const struct path_piece *piece,
		 enum cache_kind kind, bool allocate, struct cache_result *result)
{
	const struct cache_access access = {
		.addr = piece->number * p->config.line_bytes + piece->from, .ctx = piece->ctx,
		.bytes = piece->to - piece->from, .kind = kind, .allocate = allocate,
	};

	model_access(&store->tags, &access, result);
}

bool path_covers(const struct path *p, const struct path_piece *piece, u32 segment)
{
	u32 byte;

	for (byte = 0; byte < p->config.segment_bytes; byte++) {
		if (!piece->written[segment * p->config.segment_bytes + byte])
			return false;
	}
	return true;
}

/* Return the number of the first cache that a USC has, or shares with those of its half. */
static u32 first_of(const struct path *p, u32 usc)
{
	u32 uscs = p->config.uscs;

	if (is_mcu(p))
		return usc;
	/* Document 004: two halves; a core of one USC has one. */
	return usc / uscs * 2 + (usc % uscs * 2 >= uscs + uscs % 2);
}

static u32 partition_of(const struct path *p, u32 client)
{
	if (!is_mcu(p))
		return 0;
	if (pumice_client_table[client].unit == PUMICE_UNIT_PDS)
		return PDS;
	return pumice_client_table[client].access == PUMICE_ACCESS_EXEC ? CODE : DATA;
}

static struct path_store *store_of(struct path *p, enum pumice_cache cache,
				   const struct path_piece *piece)
{
	u32 core = piece->usc / p->config.uscs;

	switch (cache) {
	case PUMICE_CACHE_DATA_L1:
		return &p->data_l1[first_of(p, piece->usc)][partition_of(p, piece->client)];
	case PUMICE_CACHE_DATA_L2:
		return &p->data_l2[core][piece->number % p->mcu_banks];
	case PUMICE_CACHE_TEXTURE_L1:
		return &p->texture_l1[first_of(p, piece->usc)];
	default:
		return &p->texture_l2[core];
	}
}

static struct level_client *client_of(struct path *p, enum pumice_cache cache, u32 client)
{
	if (cache == PUMICE_CACHE_DATA_L1 || cache == PUMICE_CACHE_TEXTURE_L1)
		return &p->client[client].first;
	return &p->client[client].second;
}

/* Return the bytes that a request reads or writes: a combined write may have gaps. */
static u32 bytes_of(const struct path_piece *piece)
{
	u32 count = 0, byte;

	if (piece->kind != SLC_WRITE)
		return piece->to - piece->from;
	for (byte = piece->from; byte < piece->to; byte++)
		count += piece->written[byte];
	return count;
}

static void count(struct path *p, enum pumice_cache cache, const struct path_piece *piece)
{
	struct level_client *client = client_of(p, cache, piece->client);

	p->level[cache].requests.requests++;
	p->level[cache].requests.bytes += bytes_of(piece);
	client->requests++;
	client->bytes += bytes_of(piece);
}

static void level_perform(struct path *p, enum pumice_cache cache, const struct path_piece *piece);

/* Return the BIF of a USC. */
static u32 bif_of(const struct path *p, u32 usc)
{
	u32 core = usc / p->config.uscs, in_core = usc % p->config.uscs;

	return core * p->bifs_per_core + (is_mcu(p) ? in_core / 2 : 0);
}

/* A request of a cache to the next level. */
static void pass_on(struct path *p, enum pumice_cache cache, const struct path_piece *piece)
{
	struct hierarchy_level *level = &p->level[cache];

	if (piece->kind == SLC_READ) {
		level->fills++;
		level->read_bytes += bytes_of(piece);
	} else if (piece->kind == SLC_WRITE) {
		level->writes++;
		level->written_bytes += bytes_of(piece);
	}
	if (cache == PUMICE_CACHE_DATA_L1)
		level_perform(p, PUMICE_CACHE_DATA_L2, piece);
	else if (cache == PUMICE_CACHE_TEXTURE_L1)
		level_perform(p, PUMICE_CACHE_TEXTURE_L2, piece);
	else
		path_slc(p, bif_of(p, piece->usc), piece);
}

/* Pass on requests for segments of a line: one for those that follow each other. */
static void pass_segments(struct path *p, enum pumice_cache cache, const struct path_piece *like,
			  u32 mask)
{
	const u32 bytes = p->config.segment_bytes, segments = p->config.line_bytes / bytes;
	u32 first = 0, end, byte;

	while (first < segments) {
		struct path_piece piece = *like;

		if (!(mask >> first & 1)) {
			first++;
			continue;
		}
		for (end = first; end < segments && mask >> end & 1;)
			end++;
		piece.from = first * bytes;
		piece.to = end * bytes;
		for (byte = 0; byte < PATH_MAX_LINE; byte++)
			piece.written[byte] = byte >= piece.from && byte < piece.to;
		pass_on(p, cache, &piece);
		first = end;
	}
}

/* Write the dirty segments of a line, for the last one that wrote to it. */
static u64 write_back(struct path *p, enum pumice_cache cache, const struct path_store *store,
		      const struct cache_line *line)
{
	const struct path_piece like = {
		.number = line->addr / p->config.line_bytes, .ctx = line->ctx,
		.client = store->writer[line->entry].client,
		.usc = store->writer[line->entry].usc, .kind = SLC_WRITE,
	};

	pass_segments(p, cache, &like, line->dirty);
	return path_dirty_bytes(p, line);
}

static void drop(struct path *p, enum pumice_cache cache, struct path_store *store,
		 const struct path_piece *piece)
{
	struct model_way *way = model_find(&store->tags, piece->ctx,
					   piece->number * p->config.line_bytes);
	struct cache_line line;

	if (!way)
		return;
	line = model_line(&store->tags, way);
	write_back(p, cache, store, &line);
	model_drop(&store->tags, way);
	p->level[cache].dropped++;
}

/* Access the cache of a level. Returns whether it is a hit. */
static bool access_level(struct path *p, enum pumice_cache cache, const struct path_piece *piece,
			 enum cache_kind kind)
{
	struct path_store *store = store_of(p, cache, piece);
	struct level_client *client = client_of(p, cache, piece->client);
	struct cache_result result;

	count(p, cache, piece);
	path_access(p, store, piece, kind, kind != CACHE_UPDATE, &result);
	if (result.evicted) {
		p->level[cache].evictions++;
		write_back(p, cache, store, &result.victim);
	}
	if (kind == CACHE_WRITE)
		store->writer[result.entry] = (struct path_writer){ piece->client, piece->usc };
	p->level[cache].requests.hits += result.hit;
	p->level[cache].requests.misses += !result.hit;
	client->hits += result.hit;
	client->misses += !result.hit;
	return result.hit;
}

static void level_atomic(struct path *p, enum pumice_cache cache, const struct path_piece *piece)
{
	count(p, cache, piece);
	drop(p, cache, store_of(p, cache, piece), piece);
	p->level[cache].requests.atomics++;
	client_of(p, cache, piece->client)->atomics++;
	pass_on(p, cache, piece);
}

/* L1s of data are write-through, L2s are write-back. */
static void level_perform(struct path *p, enum pumice_cache cache, const struct path_piece *piece)
{
	const u32 segments = p->config.line_bytes / p->config.segment_bytes;
	struct path_piece fill = *piece;
	u32 needed = 0, i;

	if (piece->kind == SLC_ATOMIC) {
		level_atomic(p, cache, piece);
		return;
	}
	if (piece->kind == SLC_WRITE && cache == PUMICE_CACHE_DATA_L1) {
		access_level(p, cache, piece, CACHE_UPDATE);
		pass_on(p, cache, piece);
		return;
	}
	if (access_level(p, cache, piece, piece->kind == SLC_READ ? CACHE_READ : CACHE_WRITE))
		return;
	for (i = 0; i < segments; i++) {
		if (piece->kind == SLC_READ || !path_covers(p, piece, i))
			needed |= 1u << i;
	}
	fill.kind = SLC_READ;
	pass_segments(p, cache, &fill, needed);
}

/* ------------------------------------------------------------ MCU L0 */

/* Pass on an open line: a write for segments that follow each other and have written bytes. */
static void pass_open(struct path *p, u32 usc, u32 part)
{
	const u32 bytes = p->config.segment_bytes;
	struct path_open *open = &p->open[usc][part];
	struct path_piece piece = {
		.number = open->number, .ctx = open->ctx, .client = open->client, .usc = usc,
		.kind = SLC_WRITE,
	};
	u32 segment, byte;

	if (!open->open)
		return;
	open->open = false;
	for (segment = 0; segment <= p->config.line_bytes / bytes; segment++) {
		bool any = false;

		for (byte = segment * bytes;
		     byte < min((segment + 1) * bytes, p->config.line_bytes); byte++) {
			if (!open->written[byte])
				continue;
			any = true;
			if (!piece.to)
				piece.from = byte;
			piece.to = byte + 1;
			piece.written[byte] = true;
		}
		if (any || !piece.to)
			continue;
		pass_on(p, PUMICE_CACHE_DATA_L1, &piece);
		piece.to = 0;
		memset(piece.written, 0, sizeof(piece.written));
	}
}

static bool is_open(const struct path *p, u32 part, const struct path_piece *piece)
{
	const struct path_open *open = &p->open[piece->usc][part];

	return open->open && open->number == piece->number && open->ctx == piece->ctx;
}

static void l0_write(struct path *p, const struct path_piece *piece)
{
	u32 part = partition_of(p, piece->client), byte;
	struct path_open *open = &p->open[piece->usc][part];

	if (is_open(p, part, piece) && open->client == piece->client) {
		count(p, PUMICE_CACHE_DATA_L1, piece);
		p->level[PUMICE_CACHE_DATA_L1].requests.combined++;
		p->client[piece->client].first.combined++;
	} else {
		pass_open(p, piece->usc, part);
		access_level(p, PUMICE_CACHE_DATA_L1, piece, CACHE_UPDATE);
		*open = (struct path_open){ true, piece->number, piece->ctx, piece->client, { 0 } };
	}
	for (byte = piece->from; byte < piece->to; byte++)
		open->written[byte] = true;
}

static void l0_perform(struct path *p, const struct path_piece *piece)
{
	u32 part, own = partition_of(p, piece->client);

	if (piece->kind == SLC_WRITE) {
		l0_write(p, piece);
		return;
	}
	for (part = 0; part < PARTITIONS; part++) {
		if (part != own && piece->kind != SLC_ATOMIC)
			continue;
		if (is_open(p, part, piece))
			pass_open(p, piece->usc, part);
		if (piece->kind == SLC_ATOMIC)
			drop(p, PUMICE_CACHE_DATA_L1, &p->data_l1[piece->usc][part], piece);
	}
	level_perform(p, PUMICE_CACHE_DATA_L1, piece);
}

/* Pass on all open lines of USCs. */
static void flush(struct path *p, u32 first, u32 count)
{
	u32 usc, part;

	for (usc = first; is_mcu(p) && usc < first + count; usc++) {
		for (part = 0; part < PARTITIONS; part++)
			pass_open(p, usc, part);
	}
}

/* ------------------------------------------------------------ requests */

static void perform(struct path *p, const struct mem_request *request,
		    const struct path_piece *piece)
{
	if (piece->bypass && pumice_client_table[request->client].path != PUMICE_MEM_PATH_DIRECT) {
		path_slc(p, bif_of(p, piece->usc), piece);
		return;
	}
	switch (pumice_client_table[request->client].path) {
	case PUMICE_MEM_PATH_TEXTURE:
		level_perform(p, PUMICE_CACHE_TEXTURE_L1, piece);
		break;
	case PUMICE_MEM_PATH_DATA:
		if (is_mcu(p))
			l0_perform(p, piece);
		else
			level_perform(p, PUMICE_CACHE_DATA_L1, piece);
		break;
	default:
		path_slc(p, request->place ? (request->place - 1) * p->bifs_per_core :
					     p->config.cores * p->bifs_per_core, piece);
		break;
	}
}

void path_request(struct path *p, const struct mem_request *request)
{
	const u32 line = p->config.line_bytes;
	u64 at = request->addr, end = request->addr + request->bytes;

	p->client[request->client].requests++;
	p->client[request->client].bytes += request->bytes;
	while (at < end) {
		struct path_piece piece = {
			.number = at / line, .from = (u32)(at % line), .ctx = request->ctx,
			.client = request->client, .usc = request->place,
			.kind = request->atomic ? SLC_ATOMIC :
				request->write	? SLC_WRITE : SLC_READ,
			.bypass = request->bypass,
		};

		for (piece.to = piece.from; piece.to < line && at < end; at++)
			piece.written[piece.to++] = true;
		perform(p, request, &piece);
	}
}

/* ------------------------------------------------------------ operations */

static bool overlaps(const struct path *p, const struct cache_line *line,
		     const struct cache_range *range)
{
	u64 last = line->addr + p->config.line_bytes - 1;

	return !range || ((range->ctx == CACHE_ANY_CTX || range->ctx == line->ctx) &&
			  range->first <= last && line->addr <= range->last);
}

/* Write dirty lines, or drop all, of a cache in the order of their numbers. */
static void sweep(struct path *p, enum pumice_cache cache, struct path_store *store, u32 bank,
		  const struct cache_range *range, bool drops, struct level_swept *sum)
{
	u32 count = store->tags.sets * store->tags.config.ways, i;

	for (i = 0; i < count; i++) {
		struct model_way *way = &store->tags.way[i];
		const struct cache_line line = model_line(&store->tags, way);

		if (!way->valid || !overlaps(p, &line, range) || (!drops && !line.dirty))
			continue;
		sum->lines++;
		if (drops) {
			sum->lost_bytes += path_dirty_bytes(p, &line);
			p->level[cache].dropped++;
			if (cache == PUMICE_CACHE_SLC)
				p->bank[bank].dropped++;
			model_drop(&store->tags, way);
			continue;
		}
		model_clean(&store->tags, way);
		sum->written_bytes += cache == PUMICE_CACHE_SLC ?
			path_slc_write_back(p, bank, &line) : write_back(p, cache, store, &line);
	}
}

static void sweep_l2(struct path *p, u32 core, const struct cache_range *range, bool drops,
		     struct level_swept *sum)
{
	u32 i;

	for (i = 0; i < p->mcu_banks; i++)
		sweep(p, PUMICE_CACHE_DATA_L2, &p->data_l2[core][i], 0, range, drops, sum);
}

static void sweep_slc(struct path *p, const struct cache_range *range, bool drops,
		      struct level_swept *sum)
{
	u32 i;

	for (i = 0; i < p->config.slc_banks; i++)
		sweep(p, PUMICE_CACHE_SLC, &p->slc[i], i, range, drops, sum);
}

struct level_swept path_fence(struct path *p, u32 usc, enum hierarchy_scope scope, u32 ctx)
{
	const struct cache_range range = { .ctx = ctx, .first = 0, .last = ~0ull };
	struct level_swept sum = { 0 };

	flush(p, usc, 1);
	if (scope >= HIERARCHY_GPU)
		sweep_l2(p, usc / p->config.uscs, &range, false, &sum);
	if (scope == HIERARCHY_SYSTEM)
		sweep_slc(p, &range, false, &sum);
	return sum;
}

struct level_swept path_clean(struct path *p, u32 usc, enum hierarchy_scope scope,
			      const struct cache_range *range)
{
	const u32 uscs = p->config.uscs;
	struct level_swept sum = { 0 };
	u32 core;

	for (core = 0; core < p->config.cores; core++) {
		if (scope < HIERARCHY_GPU && core != usc / uscs)
			continue;
		if (scope == HIERARCHY_GROUP) {
			flush(p, usc, 1);
			continue;
		}
		flush(p, core * uscs, uscs);
		sweep_l2(p, core, range, false, &sum);
	}
	if (scope == HIERARCHY_SYSTEM)
		sweep_slc(p, range, false, &sum);
	return sum;
}

static void drop_first(struct path *p, u32 first, const struct cache_range *range,
		       struct level_swept *sum)
{
	u32 part;

	for (part = 0; part < (is_mcu(p) ? PARTITIONS : 1); part++)
		sweep(p, PUMICE_CACHE_DATA_L1, &p->data_l1[first][part], 0, range, true, sum);
	sweep(p, PUMICE_CACHE_TEXTURE_L1, &p->texture_l1[first], 0, range, true, sum);
}

static void drop_core(struct path *p, u32 core, const struct cache_range *range,
		      struct level_swept *sum)
{
	u32 firsts = is_mcu(p) ? p->config.uscs : 2, i;

	flush(p, core * p->config.uscs, p->config.uscs);
	for (i = core * firsts; i < (core + 1) * firsts; i++)
		drop_first(p, i, range, sum);
	sweep_l2(p, core, range, true, sum);
	sweep(p, PUMICE_CACHE_TEXTURE_L2, &p->texture_l2[core], 0, range, true, sum);
}

struct level_swept path_invalidate(struct path *p, u32 usc, enum hierarchy_scope scope,
				   const struct cache_range *range)
{
	struct level_swept sum = { 0 };
	u32 core;

	if (scope == HIERARCHY_GROUP) {
		flush(p, usc, 1);
		drop_first(p, first_of(p, usc), range, &sum);
		return sum;
	}
	for (core = 0; core < p->config.cores; core++) {
		if (scope >= HIERARCHY_GPU || core == usc / p->config.uscs)
			drop_core(p, core, range, &sum);
	}
	if (scope == HIERARCHY_SYSTEM)
		sweep_slc(p, range, true, &sum);
	return sum;
}
