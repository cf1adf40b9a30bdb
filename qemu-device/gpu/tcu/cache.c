// SPDX-License-Identifier: MIT
/*
 * Caches of the texture cache units of a core.
 *
 * Source: document 000, "Texture Pipeline Unit"; document 004, "TCU".
 */
#include "cache.h"

#include <stdlib.h>

struct tcu_caches {
	struct tcu_config config;	/* constant */
	u32 count;			/* of first caches */
	struct level *first[TCU_MAX_FIRST];
	struct level *second;
};

static void to_second(void *opaque, const struct level_request *request)
{
	struct tcu_caches *tcu = opaque;

	level_request(tcu->second, request);
}

static struct level_config config_of(const struct tcu_config *config, u32 bytes)
{
	return (struct level_config){
		.cache = {
			.bytes = bytes, .ways = config->ways, .line_bytes = config->line_bytes,
			.segment_bytes = config->segment_bytes, .order = CACHE_PLRU,
		},
	};
}

const char *tcu_caches_check(const struct tcu_config *config)
{
	const struct level_config first = config_of(config, config->first_bytes);
	const struct level_config second = config_of(config, config->second_bytes);
	const char *error = cache_check(&first.cache);

	if (!config->uscs || config->uscs > TCU_MAX_FIRST)
		return "texture caches must have 1 to 4 USCs";
	return error ? error : cache_check(&second.cache);
}

u32 tcu_caches_of_usc(const struct tcu_caches *tcu, u32 usc)
{
	return tcu->config.halves ? half_of_usc(usc, tcu->config.uscs) : usc;
}

struct tcu_caches *tcu_caches_create(const struct tcu_config *config, const char **error)
{
	struct level_config first = config_of(config, config->first_bytes);
	struct level_config second = config_of(config, config->second_bytes);
	struct tcu_caches *tcu;
	u32 i;

	*error = tcu_caches_check(config);
	if (*error)
		return NULL;
	tcu = calloc(1, sizeof(*tcu));
	if (!tcu) {
		*error = "no memory for texture caches";
		return NULL;
	}
	tcu->config = *config;
	tcu->count = tcu_caches_of_usc(tcu, config->uscs - 1) + 1;
	second.next = config->next;
	second.opaque = config->opaque;
	tcu->second = level_create(&second, error);
	if (!tcu->second)
		goto failed;
	first.next = to_second;
	first.opaque = tcu;
	for (i = 0; i < tcu->count; i++) {
		tcu->first[i] = level_create(&first, error);
		if (!tcu->first[i])
			goto failed;
	}
	return tcu;
failed:
	tcu_caches_destroy(tcu);
	return NULL;
}

void tcu_caches_destroy(struct tcu_caches *tcu)
{
	u32 i;

	if (!tcu)
		return;
	for (i = 0; i < TCU_MAX_FIRST; i++)
		level_destroy(tcu->first[i]);
	level_destroy(tcu->second);
	free(tcu);
}

void tcu_caches_reset(struct tcu_caches *tcu)
{
	u32 i;

	for (i = 0; i < tcu->count; i++)
		level_reset(tcu->first[i]);
	level_reset(tcu->second);
}

void tcu_caches_read(struct tcu_caches *tcu, u32 usc, const struct mem_request *request)
{
	struct level *first = tcu->first[tcu_caches_of_usc(tcu, usc)];
	struct mem_request rest = *request;
	struct level_request part;

	while (level_split(first, &rest, usc, &part))
		level_request(first, &part);
}

void tcu_caches_invalidate_first(struct tcu_caches *tcu, u32 number,
				 const struct cache_range *range, struct level_swept *sum)
{
	u32 i;

	for (i = 0; i < tcu->count; i++) {
		if (number == TCU_ALL_FIRST || number == i)
			level_invalidate(tcu->first[i], range, sum);
	}
}

void tcu_caches_invalidate_second(struct tcu_caches *tcu, const struct cache_range *range,
				  struct level_swept *sum)
{
	level_invalidate(tcu->second, range, sum);
}

u32 tcu_caches_count(const struct tcu_caches *tcu)
{
	return tcu->count;
}

const struct level *tcu_caches_first(const struct tcu_caches *tcu, u32 number)
{
	return tcu->first[number];
}

const struct level *tcu_caches_second(const struct tcu_caches *tcu)
{
	return tcu->second;
}
