// SPDX-License-Identifier: MIT
/*
 * The memory hierarchy: creation, routes of requests, operations.
 *
 * Source: document 000, "Memory Hierarchy"; document 004, "SLC" to "BIF".
 */
#include "hierarchy.h"

#include <stdlib.h>
#include <string.h>

#include "../lock.h"
#include "internal.h"
#include "pumice_format_table.h"

/* Requesters of a BIF: clients of each of its USCs, and the direct ones. */
#define BIF_PLACES	(MCU_MAX_USCS + 1)
#define DIRECT		MCU_MAX_USCS	/* place of the direct ones */
_Static_assert(MAX_BIFS * BIF_PLACES * PUMICE_MEM_CLIENT_COUNT < UINT16_MAX, "a mark has 16 bits");

static bool is_mcu(const struct hierarchy_config *config)
{
	return config->style == PUMICE_CACHE_STYLE_MCU;
}

/* Return the entry of a line among the queued ones. Lines may share one: this only drains early. */
static u16 *queued_line(struct hierarchy *h, const struct bif_request *request)
{
	u64 line = request->addr / h->config.line_bytes;

	return &h->queued[(line ^ line / QUEUED_LINES ^ request->ctx) & (QUEUED_LINES - 1)];
}

/* Requests for a line are performed in the order in which units made them (document 000, SLC). */
static void send_line(struct hierarchy *h, u32 bif, u32 place, const struct bif_request *request)
{
	const u32 requester = place * PUMICE_MEM_CLIENT_COUNT + request->client;
	const u16 mark = (u16)(bif * BIF_PLACES * PUMICE_MEM_CLIENT_COUNT + requester + 1);
	u16 *queued = queued_line(h, request);

	if (*queued && *queued != mark)
		hierarchy_drain_locked(h);
	while (!bif_request(h->bif[bif], requester, request))
		hierarchy_drain_locked(h);
	*queued = mark;
	if (h->config.in_order)
		hierarchy_drain_locked(h);
}

static struct bif_request line_of(const struct level_request *request)
{
	return (struct bif_request){
		.addr = request->addr, .ctx = request->ctx, .bytes = request->bytes,
		.client = request->client,
		.kind = request->kind == LEVEL_READ  ? SLC_READ :
			request->kind == LEVEL_WRITE ? SLC_WRITE :
						       SLC_ATOMIC,
		.bypass = pumice_client_table[request->client].slc == PUMICE_MEM_SLC_BYPASS,
	};
}

/* Return the BIF of a USC of a core. */
static u32 bif_of_usc(const struct hierarchy_core *core, u32 usc)
{
	const struct hierarchy *h = core->h;

	return core->number * h->bifs_per_core + (is_mcu(&h->config) ? usc / BIF_USCS : 0);
}

/* Requests of a core's caches. */
static void from_core(void *opaque, const struct level_request *request)
{
	const struct hierarchy_core *core = opaque;
	struct hierarchy *h = core->h;
	const struct bif_request line = line_of(request);

	send_line(h, bif_of_usc(core, request->usc), request->usc, &line);
}

/* ------------------------------------------------------------ creation */

static struct mcu_config mcu_config(const struct hierarchy_config *c)
{
	return (struct mcu_config){
		.uscs = c->uscs, .l0_bytes = c->data_l1_bytes, .l1_bytes = c->data_l2_bytes,
		.l1_ways = c->data_ways, .line_bytes = c->line_bytes,
		.segment_bytes = c->segment_bytes, .next = from_core,
	};
}

static struct dcu_config dcu_config(const struct hierarchy_config *c)
{
	return (struct dcu_config){
		.uscs = c->uscs, .l1_bytes = c->data_l1_bytes, .l2_bytes = c->data_l2_bytes,
		.ways = c->data_ways, .line_bytes = c->line_bytes,
		.segment_bytes = c->segment_bytes, .next = from_core,
	};
}

static struct tcu_config tcu_config(const struct hierarchy_config *c)
{
	return (struct tcu_config){
		.uscs = c->uscs, .halves = !is_mcu(c), .first_bytes = c->texture_l1_bytes,
		.second_bytes = c->texture_l2_bytes, .ways = c->texture_ways,
		.line_bytes = c->line_bytes, .segment_bytes = c->segment_bytes, .next = from_core,
	};
}

static u32 bifs_per_core(const struct hierarchy_config *c)
{
	return is_mcu(c) ? (c->uscs + BIF_USCS - 1) / BIF_USCS : 1;
}

static struct slc_config slc_config(const struct hierarchy_config *c)
{
	return (struct slc_config){
		.bytes = c->slc_bytes, .banks = c->slc_banks, .ways = c->slc_ways,
		.line_bytes = c->line_bytes, .segment_bytes = c->segment_bytes,
		.inputs = c->cores * bifs_per_core(c) + 1, .clients = PUMICE_MEM_CLIENT_COUNT,
	};
}

const char *hierarchy_check(const struct hierarchy_config *config)
{
	const struct mcu_config mcu = mcu_config(config);
	const struct dcu_config dcu = dcu_config(config);
	const struct tcu_config tcu = tcu_config(config);
	const struct slc_config slc = slc_config(config);
	const char *error;

	if (!config->cores || config->cores > HIERARCHY_MAX_CORES)
		return "the hierarchy must have 1 to 16 cores";
	if (!config->uscs || config->uscs > MCU_MAX_USCS)
		return "a core must have 1 to 4 USCs";
	if (config->style != PUMICE_CACHE_STYLE_MCU && config->style != PUMICE_CACHE_STYLE_DCU)
		return "the data caches must be those of an MCU or of a DCU";
	error = is_mcu(config) ? mcu_check(&mcu) : dcu_check(&dcu);
	if (!error)
		error = tcu_caches_check(&tcu);
	return error ? error : slc_check(&slc);
}

static bool create_core(struct hierarchy *h, u32 number, const char **error)
{
	struct hierarchy_core *core = &h->core[number];
	struct mcu_config mcu = mcu_config(&h->config);
	struct dcu_config dcu = dcu_config(&h->config);
	struct tcu_config tcu = tcu_config(&h->config);

	core->h = h;
	core->number = number;
	mcu.opaque = core;
	dcu.opaque = core;
	tcu.opaque = core;
	if (is_mcu(&h->config))
		core->mcu = mcu_create(&mcu, error);
	else
		core->dcu = dcu_create(&dcu, error);
	core->tcu = tcu_caches_create(&tcu, error);
	return (core->mcu || core->dcu) && core->tcu;
}

static bool create_bifs(struct hierarchy *h, const char **error)
{
	struct bif_config config = {
		.requesters = BIF_PLACES * PUMICE_MEM_CLIENT_COUNT,
		.clients = PUMICE_MEM_CLIENT_COUNT,
	};

	h->bifs_per_core = bifs_per_core(&h->config);
	h->bifs = h->config.cores * h->bifs_per_core + 1;
	for (config.input = 0; config.input < h->bifs; config.input++) {
		h->bif[config.input] = bif_create(&config, h->slc, NULL, NULL, error);
		if (!h->bif[config.input])
			return false;
	}
	return true;
}

struct hierarchy *hierarchy_create(const struct hierarchy_config *config, const char **error)
{
	const struct slc_config slc = slc_config(config);
	struct hierarchy *h;
	u32 i;

	*error = hierarchy_check(config);
	if (*error)
		return NULL;
	h = calloc(1, sizeof(*h));
	if (!h) {
		*error = "no memory for the memory hierarchy";
		return NULL;
	}
	lock_init(&h->lock);
	h->config = *config;
	h->slc = slc_create(&slc, error);
	if (!h->slc || !create_bifs(h, error))
		goto failed;
	for (i = 0; i < config->cores; i++) {
		if (!create_core(h, i, error))
			goto failed;
	}
	return h;
failed:
	hierarchy_destroy(h);
	return NULL;
}

void hierarchy_destroy(struct hierarchy *h)
{
	u32 i;

	if (!h)
		return;
	for (i = 0; i < HIERARCHY_MAX_CORES; i++) {
		mcu_destroy(h->core[i].mcu);
		dcu_destroy(h->core[i].dcu);
		tcu_caches_destroy(h->core[i].tcu);
	}
	for (i = 0; i < MAX_BIFS; i++)
		bif_destroy(h->bif[i]);
	slc_destroy(h->slc);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

void hierarchy_reset(struct hierarchy *h)
{
	u32 i;

	pthread_mutex_lock(&h->lock);
	for (i = 0; i < h->config.cores; i++) {
		if (h->core[i].mcu)
			mcu_reset(h->core[i].mcu);
		else
			dcu_reset(h->core[i].dcu);
		tcu_caches_reset(h->core[i].tcu);
	}
	for (i = 0; i < h->bifs; i++)
		bif_reset(h->bif[i]);
	slc_reset(h->slc);
	memset(h->made, 0, sizeof(h->made));
	h->invalid = 0;
	memset(h->queued, 0, sizeof(h->queued));
	pthread_mutex_unlock(&h->lock);
}

/* ------------------------------------------------------------ requests */

static bool is_valid(const struct hierarchy *h, const struct mem_request *r)
{
	const struct pumice_client_info *client;

	if ((u32)r->client >= PUMICE_MEM_CLIENT_COUNT || r->ctx > MEM_CTX_BUS || !r->bytes ||
	    r->addr >> CACHE_ADDR_BITS || (r->addr + r->bytes - 1) >> CACHE_ADDR_BITS)
		return false;
	client = &pumice_client_table[r->client];
	if (client->path == PUMICE_MEM_PATH_DIRECT)
		return r->place <= h->config.cores;
	if (client->path == PUMICE_MEM_PATH_TEXTURE && (r->write || r->atomic))
		return false;
	return r->place < h->config.cores * h->config.uscs;
}

/* Send the lines of a request straight to a BIF, as requests of one of its places. */
static void send_lines(struct hierarchy *h, u32 bif, u32 place, const struct mem_request *request)
{
	const u32 line_bytes = h->config.line_bytes;
	struct bif_request line = {
		.addr = request->addr, .ctx = request->ctx, .client = request->client,
		.kind = request->atomic ? SLC_ATOMIC :
			request->write	? SLC_WRITE :
					  SLC_READ,
		.bypass = request->bypass ||
			  pumice_client_table[request->client].slc == PUMICE_MEM_SLC_BYPASS,
	};
	u32 left = request->bytes;

	while (left) {
		u32 room = line_bytes - (u32)(line.addr & (line_bytes - 1));

		line.bytes = left < room ? left : room;
		send_line(h, bif, place, &line);
		line.addr += line.bytes;
		left -= line.bytes;
	}
}

static void direct(struct hierarchy *h, const struct mem_request *request)
{
	const u32 core = request->place - 1;

	send_lines(h, request->place ? core * h->bifs_per_core : h->bifs - 1, DIRECT, request);
}

static void route(struct hierarchy *h, const struct mem_request *request)
{
	struct hierarchy_core *core;
	u32 usc;

	if (pumice_client_table[request->client].path == PUMICE_MEM_PATH_DIRECT) {
		direct(h, request);
		return;
	}
	core = &h->core[request->place / h->config.uscs];
	usc = request->place % h->config.uscs;
	/*
	 * Caches of the core have no lines of pages that always were coherent, and none of them has
	 * lines that such a request must see: jobs that used a page otherwise have been cleaned.
	 */
	if (request->bypass)
		send_lines(h, bif_of_usc(core, usc), usc, request);
	else if (pumice_client_table[request->client].path == PUMICE_MEM_PATH_TEXTURE)
		tcu_caches_read(core->tcu, usc, request);
	else if (core->mcu)
		mcu_request(core->mcu, usc, request);
	else
		dcu_request(core->dcu, usc, request);
}

bool hierarchy_request(struct hierarchy *h, const struct mem_request *request)
{
	const bool valid = is_valid(h, request);

	pthread_mutex_lock(&h->lock);
	if (valid) {
		h->made[request->client].requests++;
		h->made[request->client].bytes += request->bytes;
		route(h, request);
	} else {
		h->invalid++;
	}
	pthread_mutex_unlock(&h->lock);
	return valid;
}

void hierarchy_drain(struct hierarchy *h)
{
	pthread_mutex_lock(&h->lock);
	hierarchy_drain_locked(h);
	pthread_mutex_unlock(&h->lock);
}

/* ------------------------------------------------------------ operations */

/* Select cores: that of a USC, or all. */
struct selection {
	u32 first, end;	/* cores */
	u32 usc;	/* in the core; with GROUP */
};

static struct selection select_cores(const struct hierarchy *h, u32 usc, enum hierarchy_scope scope)
{
	u32 core = usc / h->config.uscs;

	if (scope >= HIERARCHY_GPU)
		return (struct selection){ 0, h->config.cores, 0 };
	return (struct selection){ core, core + 1, usc % h->config.uscs };
}

static void add_swept(struct level_swept *sum, const struct slc_swept *slc)
{
	sum->lines += slc->lines;
	sum->written_bytes += slc->written_bytes;
	sum->lost_bytes += slc->lost_bytes;
}

static void clean_core(struct hierarchy_core *core, const struct cache_range *range,
		       struct level_swept *sum)
{
	if (core->mcu)
		mcu_clean(core->mcu, range, sum);
	else
		dcu_clean(core->dcu, range, sum);
}

/* Clean the SLC, after the writes of the cores to it. */
static void clean_slc(struct hierarchy *h, const struct cache_range *range, struct level_swept *sum)
{
	struct slc_swept swept;

	hierarchy_drain_locked(h);
	swept = slc_clean(h->slc, range);
	add_swept(sum, &swept);
}

struct level_swept hierarchy_fence(struct hierarchy *h, u32 usc, enum hierarchy_scope scope,
				   u32 ctx)
{
	const struct cache_range all = cache_range_all(ctx);
	struct level_swept sum = { 0 };
	struct hierarchy_core *core;

	if (usc >= h->config.cores * h->config.uscs)
		return sum;
	pthread_mutex_lock(&h->lock);
	core = &h->core[usc / h->config.uscs];
	if (core->mcu)
		mcu_flush(core->mcu, usc % h->config.uscs);
	if (scope >= HIERARCHY_GPU)
		clean_core(core, &all, &sum);
	if (scope >= HIERARCHY_SYSTEM)
		clean_slc(h, &all, &sum);
	hierarchy_drain_locked(h);
	pthread_mutex_unlock(&h->lock);
	return sum;
}

static void clean_locked(struct hierarchy *h, const struct selection *cores,
			 enum hierarchy_scope scope, const struct cache_range *range,
			 struct level_swept *sum)
{
	u32 i;

	for (i = cores->first; i < cores->end; i++) {
		if (h->core[i].mcu)
			mcu_flush(h->core[i].mcu,
				  scope == HIERARCHY_GROUP ? cores->usc : MCU_ALL_USCS);
		if (scope >= HIERARCHY_CORE)
			clean_core(&h->core[i], range, sum);
	}
	if (scope >= HIERARCHY_SYSTEM)
		clean_slc(h, range, sum);
	hierarchy_drain_locked(h);
}

/* Drop lines of the first caches of one USC. */
static void invalidate_group(struct hierarchy_core *core, u32 usc, const struct cache_range *range,
			     struct level_swept *sum)
{
	if (core->mcu) {
		mcu_flush(core->mcu, usc);
		mcu_invalidate_l0(core->mcu, usc, range, sum);
	} else {
		dcu_invalidate_l1(core->dcu, half_of_usc(usc, core->h->config.uscs), range, sum);
	}
	tcu_caches_invalidate_first(core->tcu, tcu_caches_of_usc(core->tcu, usc), range, sum);
}

static void invalidate_core(struct hierarchy_core *core, const struct cache_range *range,
			    struct level_swept *sum)
{
	if (core->mcu) {
		mcu_flush(core->mcu, MCU_ALL_USCS);
		mcu_invalidate_l0(core->mcu, MCU_ALL_USCS, range, sum);
		mcu_invalidate_l1(core->mcu, range, sum);
	} else {
		dcu_invalidate_l1(core->dcu, DCU_ALL_HALVES, range, sum);
		dcu_invalidate_l2(core->dcu, range, sum);
	}
	tcu_caches_invalidate_first(core->tcu, TCU_ALL_FIRST, range, sum);
	tcu_caches_invalidate_second(core->tcu, range, sum);
}

static void invalidate_locked(struct hierarchy *h, const struct selection *cores,
			      enum hierarchy_scope scope, const struct cache_range *range,
			      struct level_swept *sum)
{
	struct slc_swept swept;
	u32 i;

	for (i = cores->first; i < cores->end; i++) {
		if (scope == HIERARCHY_GROUP)
			invalidate_group(&h->core[i], cores->usc, range, sum);
		else
			invalidate_core(&h->core[i], range, sum);
	}
	hierarchy_drain_locked(h);
	if (scope >= HIERARCHY_SYSTEM) {
		swept = slc_invalidate(h->slc, range);
		add_swept(sum, &swept);
	}
}

/* Clean, invalidate, or both. */
static struct level_swept sweep(struct hierarchy *h, u32 usc, enum hierarchy_scope scope,
				const struct cache_range *range, bool clean, bool invalidate)
{
	const struct cache_range all = cache_range_all(CACHE_ANY_CTX);
	const struct selection cores = select_cores(h, usc, scope);
	struct level_swept sum = { 0 };

	if (cores.end > h->config.cores)
		return sum;
	range = range ? range : &all;
	pthread_mutex_lock(&h->lock);
	if (clean)
		clean_locked(h, &cores, scope, range, &sum);
	if (invalidate)
		invalidate_locked(h, &cores, scope, range, &sum);
	pthread_mutex_unlock(&h->lock);
	return sum;
}

struct level_swept hierarchy_clean(struct hierarchy *h, u32 usc, enum hierarchy_scope scope,
				   const struct cache_range *range)
{
	return sweep(h, usc, scope, range, true, false);
}

struct level_swept hierarchy_invalidate(struct hierarchy *h, u32 usc, enum hierarchy_scope scope,
					const struct cache_range *range)
{
	return sweep(h, usc, scope, range, false, true);
}

struct level_swept hierarchy_flush(struct hierarchy *h, u32 usc, enum hierarchy_scope scope,
				   const struct cache_range *range)
{
	return sweep(h, usc, scope, range, true, true);
}
