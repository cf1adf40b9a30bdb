// SPDX-License-Identifier: MIT
/*
 * Mixed cache units of a core: the L1, and its L0s.
 *
 * Source: document 000, "MCU L1".
 */
#include "mcu.h"

#include <stdlib.h>

struct mcu {
	struct mcu_config config;	/* constant, as are the next ones */
	u32 banks, line_shift;
	struct l0 *l0[MCU_MAX_USCS];
	struct level *l1[MCU_MAX_USCS];	/* banks */
};

/* Requests of an L0 and its line to the bank of the line. */
static void to_bank(void *opaque, const struct level_request *request)
{
	struct mcu *mcu = opaque;

	level_request(mcu->l1[request->addr >> mcu->line_shift & (mcu->banks - 1)], request);
}

/* Return the number of banks: at least one for each USC, unless there are fewer sets. */
static u32 banks_of(const struct mcu_config *config)
{
	u32 sets = config->l1_bytes / config->line_bytes / config->l1_ways, banks = 1;

	while (banks < config->uscs && banks < sets)
		banks *= 2;
	return banks;
}

/*
 * An L0 is a small cache, filled in order: it has one set, unless it has more lines than a store
 * has ways.
 */
static struct level_config l0_config(const struct mcu_config *config, struct mcu *mcu)
{
	u32 lines = config->l0_bytes / config->line_bytes;

	return (struct level_config){
		.cache = {
			.bytes = config->l0_bytes,
			.ways = lines < CACHE_MAX_WAYS ? lines : CACHE_MAX_WAYS,
			.line_bytes = config->line_bytes, .segment_bytes = config->segment_bytes,
			.order = CACHE_FIFO,
		},
		.next = to_bank,
		.opaque = mcu,
	};
}

static struct level_config l1_config(const struct mcu_config *config, u32 banks)
{
	return (struct level_config){
		.cache = {
			.bytes = config->l1_bytes / banks, .ways = config->l1_ways,
			.line_bytes = config->line_bytes, .segment_bytes = config->segment_bytes,
			.skip_bits = (u32)__builtin_ctz(banks), .order = CACHE_PLRU,
		},
		.write_back = true,
		.next = config->next,
		.opaque = config->opaque,
	};
}

const char *mcu_check(const struct mcu_config *config)
{
	struct level_config level;
	const char *error;

	if (!config->uscs || config->uscs > MCU_MAX_USCS)
		return "an MCU must have 1 to 4 USCs";
	if (config->line_bytes > L0_MAX_LINE)
		return "lines of an MCU must have at most 128 bytes";
	if (!config->line_bytes || !config->l1_ways)
		return "lines and ways of an MCU must not be 0";
	level = l0_config(config, NULL);
	error = cache_check(&level.cache);
	if (error)
		return error;
	level = l1_config(config, 1);
	return cache_check(&level.cache);
}

struct mcu *mcu_create(const struct mcu_config *config, const char **error)
{
	struct level_config level;
	struct mcu *mcu;
	u32 i;

	*error = mcu_check(config);
	if (*error)
		return NULL;
	mcu = calloc(1, sizeof(*mcu));
	if (!mcu) {
		*error = "no memory for an MCU";
		return NULL;
	}
	mcu->config = *config;
	mcu->banks = banks_of(config);
	mcu->line_shift = (u32)__builtin_ctz(config->line_bytes);
	level = l0_config(config, mcu);
	for (i = 0; i < config->uscs; i++) {
		mcu->l0[i] = l0_create(&level, error);
		if (!mcu->l0[i])
			goto failed;
	}
	level = l1_config(config, mcu->banks);
	for (i = 0; i < mcu->banks; i++) {
		mcu->l1[i] = level_create(&level, error);
		if (!mcu->l1[i])
			goto failed;
	}
	return mcu;
failed:
	mcu_destroy(mcu);
	return NULL;
}

void mcu_destroy(struct mcu *mcu)
{
	u32 i;

	if (!mcu)
		return;
	for (i = 0; i < MCU_MAX_USCS; i++) {
		l0_destroy(mcu->l0[i]);
		level_destroy(mcu->l1[i]);
	}
	free(mcu);
}

void mcu_reset(struct mcu *mcu)
{
	u32 i;

	for (i = 0; i < mcu->config.uscs; i++)
		l0_reset(mcu->l0[i]);
	for (i = 0; i < mcu->banks; i++)
		level_reset(mcu->l1[i]);
}

void mcu_request(struct mcu *mcu, u32 usc, const struct mem_request *request)
{
	l0_request(mcu->l0[usc], usc, request);
}

/* Return whether a USC is selected by a number or by MCU_ALL_USCS. */
static bool selected(u32 usc, u32 by)
{
	return by == MCU_ALL_USCS || by == usc;
}

void mcu_flush(struct mcu *mcu, u32 usc)
{
	u32 i;

	for (i = 0; i < mcu->config.uscs; i++) {
		if (selected(i, usc))
			l0_flush(mcu->l0[i]);
	}
}

void mcu_clean(struct mcu *mcu, const struct cache_range *range, struct level_swept *sum)
{
	u32 i;

	for (i = 0; i < mcu->banks; i++)
		level_clean(mcu->l1[i], range, sum);
}

void mcu_invalidate_l0(struct mcu *mcu, u32 usc, const struct cache_range *range,
		       struct level_swept *sum)
{
	u32 i;

	for (i = 0; i < mcu->config.uscs; i++) {
		if (selected(i, usc))
			l0_invalidate(mcu->l0[i], range, sum);
	}
}

void mcu_invalidate_l1(struct mcu *mcu, const struct cache_range *range, struct level_swept *sum)
{
	u32 i;

	for (i = 0; i < mcu->banks; i++)
		level_invalidate(mcu->l1[i], range, sum);
}

u32 mcu_banks(const struct mcu *mcu)
{
	return mcu->banks;
}

const struct level *mcu_l0(const struct mcu *mcu, u32 usc, enum l0_partition partition)
{
	return l0_level(mcu->l0[usc], partition);
}

const struct level *mcu_l1(const struct mcu *mcu, u32 bank)
{
	return mcu->l1[bank];
}
