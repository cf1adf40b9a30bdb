// SPDX-License-Identifier: MIT
/* Halves of cores. See half.h. */
#include "half.h"

#include <stdlib.h>

#include "perf.h"

_Static_assert(PUMICE_MAX_USCS_PER_CORE <= SPU_TCUS, "a core has one SPU");

struct halves {
	unsigned int cores, uscs_per_core;
	unsigned int each;	/* halves of a core */
	struct half half[];	/* those of a core follow each other */
};

static unsigned int count(const struct halves *halves)
{
	return halves->cores * halves->each;
}

static bool create_half(struct half *half, struct mmu *mmu, unsigned int number,
			unsigned int first_usc)
{
	const struct tag_config tag = { .number = (u8)number, .mmu = mmu, .tf = &half->tf,
					.tcu = half->tcu, .first_usc = first_usc };

	tf_init(&half->tf);
	half->tag = tag_create(&tag);
	half->titr.tag = half->tag;
	return half->tag;
}

struct halves *halves_create(struct mmu *mmu, unsigned int cores, unsigned int uscs_per_core)
{
	const unsigned int each = half_of_usc(uscs_per_core - 1, uscs_per_core) + 1;
	struct halves *halves = calloc(1, sizeof(*halves) + sizeof(halves->half[0]) * cores * each);
	unsigned int i;

	if (!halves)
		return NULL;
	halves->cores = cores;
	halves->uscs_per_core = uscs_per_core;
	halves->each = each;
	for (i = 0; i < count(halves); i++) {
		const unsigned int first = i / each * uscs_per_core +
					   i % each * ((uscs_per_core + 1) / 2);

		if (!create_half(&halves->half[i], mmu, i, first)) {
			halves_destroy(halves);
			return NULL;
		}
	}
	return halves;
}

void halves_destroy(struct halves *halves)
{
	unsigned int i;

	for (i = 0; halves && i < count(halves); i++)
		tag_destroy(halves->half[i].tag);
	free(halves);
}

void halves_reset(struct halves *halves)
{
	unsigned int i, n;

	for (i = 0; i < count(halves); i++) {
		struct half *half = &halves->half[i];

		tag_reset(half->tag);
		activity_reset(&half->tf.activity);
		activity_reset(&half->uitr.activity);
		activity_reset(&half->titr.activity);
		atomic_store_explicit(&half->titr.reads, 0, memory_order_relaxed);
		for (n = 0; n < SPU_TCUS / HALVES_PER_CORE; n++)
			tcu_reset(&half->tcu[n]);
	}
}

struct half *halves_of(struct halves *halves, unsigned int usc)
{
	const unsigned int each = halves->uscs_per_core;

	return &halves->half[usc / each * halves->each + half_of_usc(usc % each, each)];
}

struct tcu *halves_tcu_of(struct halves *halves, unsigned int usc)
{
	const unsigned int each = halves->uscs_per_core;

	return &halves_of(halves, usc)->tcu[half_tcu_of_usc(usc % each, each)];
}

u64 halves_reads_ahead(const struct halves *halves, unsigned int core)
{
	const struct half *half = &halves->half[core * halves->each];
	u64 reads = 0;
	unsigned int i;

	for (i = 0; i < halves->each; i++)
		reads += atomic_load_explicit(&half[i].titr.reads, memory_order_relaxed);
	return reads;
}

void halves_set_detail(struct halves *halves, bool detail)
{
	unsigned int i;

	for (i = 0; i < count(halves); i++) {
		struct half *half = &halves->half[i];

		tag_set_detail(half->tag, detail);
		activity_set_detail(&half->tf.activity, detail);
		activity_set_detail(&half->uitr.activity, detail);
		activity_set_detail(&half->titr.activity, detail);
	}
}

/* Add the requests of each interface of an SPU over all SPUs. */
static void count_tcus(struct halves *halves, u64 *value)
{
	static const enum pumice_perf_counter counter[SPU_TCUS] = {
		PUMICE_PERF_TAG_TCU0_REQUESTS, PUMICE_PERF_TAG_TCU1_REQUESTS,
		PUMICE_PERF_TAG_TCU2_REQUESTS, PUMICE_PERF_TAG_TCU3_REQUESTS,
	};
	const unsigned int each = halves->uscs_per_core;
	unsigned int usc;

	for (usc = 0; usc < halves->cores * each; usc++)
		value[counter[usc % each]] += tcu_requests(halves_tcu_of(halves, usc));
}

void halves_counters_add(struct halves *halves, u64 *value)
{
	unsigned int i;

	count_tcus(halves, value);
	for (i = 0; i < count(halves); i++) {
		const struct half *half = &halves->half[i];

		tag_counters_add(half->tag, value);
		value[PUMICE_PERF_TAG_TF_RESULTS] += activity_requests(&half->tf.activity);
		value[PUMICE_PERF_TAG_TF_BUSY] += activity_busy_ns(&half->tf.activity);
		value[PUMICE_PERF_PDM_UITR_REQUESTS] += activity_requests(&half->uitr.activity);
		value[PUMICE_PERF_PDM_UITR_BUSY] += activity_busy_ns(&half->uitr.activity);
		value[PUMICE_PERF_PDM_TITR_REQUESTS] += activity_requests(&half->titr.activity);
		value[PUMICE_PERF_PDM_TITR_BUSY] += activity_busy_ns(&half->titr.activity);
	}
}
