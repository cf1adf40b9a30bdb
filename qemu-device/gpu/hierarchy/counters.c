// SPDX-License-Identifier: MIT
/*
 * Counters of the memory hierarchy: sums over the caches of a level.
 *
 * Source: document 000, "Memory Hierarchy".
 */
#include <string.h>

#include "internal.h"
#include "pumice_format_table.h"

typedef void visit_level(void *opaque, const struct level *level);

/* Call visit for each cache of a level of a core; not for the SLC. */
static void each_of_core(const struct hierarchy_core *core, enum pumice_cache cache,
			 visit_level *visit, void *opaque)
{
	u32 i, part;

	switch (cache) {
	case PUMICE_CACHE_DATA_L1:
		for (i = 0; core->mcu && i < core->h->config.uscs; i++) {
			for (part = 0; part < L0_PARTITIONS; part++)
				visit(opaque, mcu_l0(core->mcu, i, (enum l0_partition)part));
		}
		for (i = 0; core->dcu && i < dcu_halves(core->dcu); i++)
			visit(opaque, dcu_l1(core->dcu, i));
		break;
	case PUMICE_CACHE_DATA_L2:
		for (i = 0; core->mcu && i < mcu_banks(core->mcu); i++)
			visit(opaque, mcu_l1(core->mcu, i));
		if (core->dcu)
			visit(opaque, dcu_l2(core->dcu));
		break;
	case PUMICE_CACHE_TEXTURE_L1:
		for (i = 0; i < tcu_caches_count(core->tcu); i++)
			visit(opaque, tcu_caches_first(core->tcu, i));
		break;
	case PUMICE_CACHE_TEXTURE_L2:
		visit(opaque, tcu_caches_second(core->tcu));
		break;
	default:
		break;
	}
}

static void each_level(const struct hierarchy *h, enum pumice_cache cache, visit_level *visit,
		       void *opaque)
{
	u32 i;

	for (i = 0; i < h->config.cores; i++)
		each_of_core(&h->core[i], cache, visit, opaque);
}

struct client_sum {
	u32 client;
	struct level_client *sum;
};

static void add_client(void *opaque, const struct level *level)
{
	const struct client_sum *sum = opaque;

	level_client_add(level, sum->client, sum->sum);
}

void hierarchy_client_counters(struct hierarchy *h, u32 client, struct hierarchy_client *out)
{
	struct client_sum first = { client, &out->first }, second = { client, &out->second };

	memset(out, 0, sizeof(*out));
	if (client >= PUMICE_MEM_CLIENT_COUNT)
		return;
	pthread_mutex_lock(&h->lock);
	hierarchy_drain_locked(h);
	out->requests = h->made[client].requests;
	out->bytes = h->made[client].bytes;
	/* A client has one path; the caches of the others have none of its requests. */
	if (pumice_client_table[client].path == PUMICE_MEM_PATH_DATA) {
		each_level(h, PUMICE_CACHE_DATA_L1, add_client, &first);
		each_level(h, PUMICE_CACHE_DATA_L2, add_client, &second);
	} else if (pumice_client_table[client].path == PUMICE_MEM_PATH_TEXTURE) {
		each_level(h, PUMICE_CACHE_TEXTURE_L1, add_client, &first);
		each_level(h, PUMICE_CACHE_TEXTURE_L2, add_client, &second);
	}
	out->slc = *slc_client(h->slc, client);
	pthread_mutex_unlock(&h->lock);
}

static void add_level(void *opaque, const struct level *level)
{
	level_counters_add(level, opaque);
}

static void add_slc(const struct hierarchy *h, struct hierarchy_level *out)
{
	u32 i;

	for (i = 0; i < PUMICE_MEM_CLIENT_COUNT; i++)
		out->requests.bytes += slc_client(h->slc, i)->bytes;
	for (i = 0; i < h->config.slc_banks; i++) {
		const struct slc_bank *bank = slc_bank(h->slc, i);

		out->requests.requests += bank->requests;
		out->requests.hits += bank->hits;
		out->requests.misses += bank->misses;
		out->bypasses += bank->bypasses;
		out->evictions += bank->evictions;
		out->dropped += bank->dropped;
		out->fills += bank->fills;
		out->read_bytes += bank->read_bytes;
		out->written_bytes += bank->written_bytes;
		out->writes += bank->written_lines;
	}
}

void hierarchy_level_counters(struct hierarchy *h, enum pumice_cache cache,
			      struct hierarchy_level *out)
{
	struct level_counters sum = { 0 };

	memset(out, 0, sizeof(*out));
	pthread_mutex_lock(&h->lock);
	hierarchy_drain_locked(h);
	each_level(h, cache, add_level, &sum);
	out->requests = sum.all;
	out->evictions = sum.evictions;
	out->dropped = sum.dropped;
	out->fills = sum.fills;
	out->read_bytes = sum.read_bytes;
	out->writes = sum.writes;
	out->written_bytes = sum.written_bytes;
	if (cache == PUMICE_CACHE_SLC)
		add_slc(h, out);
	pthread_mutex_unlock(&h->lock);
}

void hierarchy_bus_counters(struct hierarchy *h, u32 client, struct bif_client *out)
{
	u32 i;

	memset(out, 0, sizeof(*out));
	if (client >= PUMICE_MEM_CLIENT_COUNT)
		return;
	pthread_mutex_lock(&h->lock);
	hierarchy_drain_locked(h);
	for (i = 0; i < h->bifs; i++) {
		const struct bif_client *bif = bif_client(h->bif[i], client);

		out->requests += bif->requests;
		out->read_bytes += bif->read_bytes;
		out->written_bytes += bif->written_bytes;
	}
	pthread_mutex_unlock(&h->lock);
}

void hierarchy_bank_counters(struct hierarchy *h, u32 bank, struct slc_bank *out)
{
	memset(out, 0, sizeof(*out));
	if (bank >= h->config.slc_banks)
		return;
	pthread_mutex_lock(&h->lock);
	hierarchy_drain_locked(h);
	*out = *slc_bank(h->slc, bank);
	pthread_mutex_unlock(&h->lock);
}

void hierarchy_bif_counters(struct hierarchy *h, u32 bif, struct bif_counters *out)
{
	memset(out, 0, sizeof(*out));
	if (bif >= h->bifs)
		return;
	pthread_mutex_lock(&h->lock);
	hierarchy_drain_locked(h);
	*out = *bif_counters(h->bif[bif]);
	pthread_mutex_unlock(&h->lock);
}

u64 hierarchy_invalid(struct hierarchy *h)
{
	u64 count;

	pthread_mutex_lock(&h->lock);
	count = h->invalid;
	pthread_mutex_unlock(&h->lock);
	return count;
}

u32 hierarchy_bifs(const struct hierarchy *h)
{
	return h->bifs;
}

/* Return the cache of a level of a core that serves one of its USCs, and a line. */
static const struct level *level_of(const struct hierarchy_core *core, enum pumice_cache cache,
				    u32 usc, u32 client, u64 addr)
{
	const struct hierarchy_config *config = &core->h->config;

	switch (cache) {
	case PUMICE_CACHE_DATA_L1:
		return core->mcu ? mcu_l0(core->mcu, usc, l0_partition_of(client)) :
				   dcu_l1(core->dcu, half_of_usc(usc, config->uscs));
	case PUMICE_CACHE_DATA_L2:
		return core->mcu ? mcu_l1(core->mcu, (u32)(addr / config->line_bytes) &
					  (mcu_banks(core->mcu) - 1)) : dcu_l2(core->dcu);
	case PUMICE_CACHE_TEXTURE_L1:
		return tcu_caches_first(core->tcu, tcu_caches_of_usc(core->tcu, usc));
	default:
		return tcu_caches_second(core->tcu);
	}
}

bool hierarchy_holds(struct hierarchy *h, enum pumice_cache cache, u32 usc, u32 client, u32 ctx,
		     u64 addr)
{
	const struct hierarchy_core *core = &h->core[usc / h->config.uscs];
	bool held;

	pthread_mutex_lock(&h->lock);
	hierarchy_drain_locked(h);
	if (cache == PUMICE_CACHE_SLC)
		held = slc_find(h->slc, ctx, addr, NULL);
	else
		held = cache_find(level_cache(level_of(core, cache, usc % h->config.uscs, client,
						       addr)), ctx, addr, NULL);
	pthread_mutex_unlock(&h->lock);
	return held;
}
