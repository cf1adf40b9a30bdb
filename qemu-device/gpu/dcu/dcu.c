// SPDX-License-Identifier: MIT
/*
 * Data cache unit of a core.
 *
 * Source: document 004, "DCU".
 */
#include "dcu.h"

#include <stdlib.h>

struct dcu {
	struct dcu_config config;	/* constant */
	u32 halves;
	struct level *l1[HALVES_PER_CORE];
	struct level *l2;
};

static void to_l2(void *opaque, const struct level_request *request)
{
	struct dcu *dcu = opaque;

	level_request(dcu->l2, request);
}

static struct level_config config_of(const struct dcu_config *config, u32 bytes)
{
	return (struct level_config){
		.cache = {
			.bytes = bytes, .ways = config->ways, .line_bytes = config->line_bytes,
			.segment_bytes = config->segment_bytes, .order = CACHE_PLRU,
		},
	};
}

const char *dcu_check(const struct dcu_config *config)
{
	const struct level_config l1 = config_of(config, config->l1_bytes);
	const struct level_config l2 = config_of(config, config->l2_bytes);
	const char *error = cache_check(&l1.cache);

	if (!config->uscs)
		return "a DCU must have a USC";
	return error ? error : cache_check(&l2.cache);
}

struct dcu *dcu_create(const struct dcu_config *config, const char **error)
{
	struct level_config l1 = config_of(config, config->l1_bytes);
	struct level_config l2 = config_of(config, config->l2_bytes);
	struct dcu *dcu;
	u32 i;

	*error = dcu_check(config);
	if (*error)
		return NULL;
	dcu = calloc(1, sizeof(*dcu));
	if (!dcu) {
		*error = "no memory for a DCU";
		return NULL;
	}
	dcu->config = *config;
	dcu->halves = half_of_usc(config->uscs - 1, config->uscs) + 1;
	l2.write_back = true;
	l2.next = config->next;
	l2.opaque = config->opaque;
	dcu->l2 = level_create(&l2, error);
	if (!dcu->l2)
		goto failed;
	l1.next = to_l2;
	l1.opaque = dcu;
	for (i = 0; i < dcu->halves; i++) {
		dcu->l1[i] = level_create(&l1, error);
		if (!dcu->l1[i])
			goto failed;
	}
	return dcu;
failed:
	dcu_destroy(dcu);
	return NULL;
}

void dcu_destroy(struct dcu *dcu)
{
	u32 i;

	if (!dcu)
		return;
	for (i = 0; i < HALVES_PER_CORE; i++)
		level_destroy(dcu->l1[i]);
	level_destroy(dcu->l2);
	free(dcu);
}

void dcu_reset(struct dcu *dcu)
{
	u32 i;

	for (i = 0; i < dcu->halves; i++)
		level_reset(dcu->l1[i]);
	level_reset(dcu->l2);
}

void dcu_request(struct dcu *dcu, u32 usc, const struct mem_request *request)
{
	struct level *l1 = dcu->l1[half_of_usc(usc, dcu->config.uscs)];
	struct mem_request rest = *request;
	struct level_request part;

	while (level_split(l1, &rest, usc, &part))
		level_request(l1, &part);
}

void dcu_clean(struct dcu *dcu, const struct cache_range *range, struct level_swept *sum)
{
	level_clean(dcu->l2, range, sum);
}

void dcu_invalidate_l1(struct dcu *dcu, u32 half, const struct cache_range *range,
		       struct level_swept *sum)
{
	u32 i;

	for (i = 0; i < dcu->halves; i++) {
		if (half == DCU_ALL_HALVES || half == i)
			level_invalidate(dcu->l1[i], range, sum);
	}
}

void dcu_invalidate_l2(struct dcu *dcu, const struct cache_range *range, struct level_swept *sum)
{
	level_invalidate(dcu->l2, range, sum);
}

u32 dcu_halves(const struct dcu *dcu)
{
	return dcu->halves;
}

const struct level *dcu_l1(const struct dcu *dcu, u32 half)
{
	return dcu->l1[half];
}

const struct level *dcu_l2(const struct dcu *dcu)
{
	return dcu->l2;
}
