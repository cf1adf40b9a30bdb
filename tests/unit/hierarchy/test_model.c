// SPDX-License-Identifier: MIT
/*
 * The whole hierarchy against a plain model of it (path.h): random requests and operations, after
 * which all counters are compared. PUMICE_TEST_SEED selects other ones.
 *
 * Requests to the SLC are performed one after the other in the first runs, as the model does. In
 * the others its banks change the order of lines, and so what it holds: then only the counters that
 * do not depend on this are compared.
 */
#include "../support/cmocka_all.h"

#include <stdlib.h>

#include "../../../qemu-device/gpu/preset.h"
#include "../support/number.h"
#include "path.h"
#include "pumice_format_table.h"

#define STEPS		100000u
#define COMPARED	1000u	/* steps between two comparisons */
#define OPERATIONS	200u	/* steps to one operation, on average */
#define LARGEST		256u	/* bytes of a request */
#define BASE		0x7fff000000ull

struct run {
	struct hierarchy_config config;
	struct hierarchy *h;
	struct path path;
	u64 seed, random;
	u32 step;
	u64 addr;	/* of the last request */
};

static struct run run;

static u32 below(u32 limit)
{
	return number_random(&run.random, limit);
}

/* ------------------------------------------------------------ comparison */

/* Compare counters that consist of 64-bit numbers. */
static void compare(const char *what, u32 which, const void *found, const void *expected,
		    size_t bytes)
{
	const u64 *a = found, *b = expected;
	size_t i;

	for (i = 0; i < bytes / sizeof(*a); i++) {
		if (a[i] != b[i])
			fail_msg("seed %llu, step %u: %s %u, number %zu is %llu, not %llu",
				 (unsigned long long)run.seed, run.step, what, which, i,
				 (unsigned long long)a[i], (unsigned long long)b[i]);
	}
}

/* Remove what depends on the order in which the SLC performs requests of different lines. */
static void forget_order(struct slc_client *slc)
{
	*slc = (struct slc_client){ .requests = slc->requests, .bytes = slc->bytes,
				    .hits = slc->hits + slc->misses, .bypasses = slc->bypasses };
}

static void compare_clients(void)
{
	u32 i;

	for (i = 0; i < PUMICE_MEM_CLIENT_COUNT; i++) {
		struct hierarchy_client found, expected = run.path.client[i];

		hierarchy_client_counters(run.h, i, &found);
		if (!run.config.in_order) {
			forget_order(&found.slc);
			forget_order(&expected.slc);
		}
		compare("client", i, &found, &expected, sizeof(found));
	}
}

static void compare_levels(void)
{
	u32 i;

	for (i = 0; i < PUMICE_CACHE_COUNT; i++) {
		struct hierarchy_level found;

		hierarchy_level_counters(run.h, (enum pumice_cache)i, &found);
		if (i != PUMICE_CACHE_SLC || run.config.in_order)
			compare("level", i, &found, &run.path.level[i], sizeof(found));
	}
}

static void compare_banks(void)
{
	struct bif_counters bif;
	u32 i;

	for (i = 0; i < run.config.slc_banks; i++) {
		struct slc_bank found, expected = run.path.bank[i];

		hierarchy_bank_counters(run.h, i, &found);
		expected.steps = found.steps;
		expected.waited_line = found.waited_line;
		expected.waited_bank = found.waited_bank;
		compare("requests of bank", i, &found.requests, &expected.requests, sizeof(u64));
		if (run.config.in_order)
			compare("bank", i, &found, &expected, sizeof(found));
	}
	for (i = 0; i < hierarchy_bifs(run.h); i++) {
		hierarchy_bif_counters(run.h, i, &bif);
		compare("requests of BIF", i, &bif.requests, &run.path.bif[i], sizeof(u64));
		compare("returns of BIF", i, &bif.returns, &run.path.bif[i], sizeof(u64));
	}
}

static void compare_all(void)
{
	compare_clients();
	compare_levels();
	compare_banks();
}

/* ------------------------------------------------------------ steps */

/* Return an address near the last one, or in one of several areas, the largest of 16 MiB. */
static u64 random_addr(void)
{
	switch (below(8)) {
	case 0: case 1: case 2:
		return run.addr;
	case 3:
		return run.addr - run.addr % 64;
	case 4: case 5:
		return BASE + below(4096);
	case 6:
		return BASE + below(128 << 10);
	default:
		return BASE + below(16 << 20);
	}
}

/* Return a client: most have no caches, so that those that have are selected more often. */
static u32 random_client(void)
{
	u32 client = below(PUMICE_MEM_CLIENT_COUNT), kind = below(4);

	if (kind == 0)
		return PUMICE_MEM_CLIENT_TEXTURE;
	while (kind > 1 && pumice_client_table[client].path == PUMICE_MEM_PATH_DIRECT)
		client = below(PUMICE_MEM_CLIENT_COUNT);
	return client;
}

static void random_request(void)
{
	const u32 client = random_client();
	const struct pumice_client_info *info = &pumice_client_table[client];
	const bool texture = info->path == PUMICE_MEM_PATH_TEXTURE;
	struct mem_request r = {
		.client = (enum pumice_mem_client)client,
		.ctx = below(8) ? 3 : below(MEM_CTX_BUS + 1),
		.addr = random_addr(),
		.bytes = 1 + below(below(2) ? LARGEST : 8),
		.write = info->access == PUMICE_ACCESS_WRITE,
		.atomic = client == PUMICE_MEM_CLIENT_USC_ATOMIC,
		.bypass = !below(6),
	};

	if (info->path == PUMICE_MEM_PATH_DIRECT)
		r.place = below(run.config.cores + 1);
	else	/* two USCs have half of the requests */
		r.place = below(below(2) ? 2 : run.config.cores * run.config.uscs);
	if (!texture && !below(8)) {
		r.write = below(2);
		r.atomic = !below(4);
	}
	assert_true(hierarchy_request(run.h, &r));
	path_request(&run.path, &r);
	run.addr = r.addr + r.bytes;
}

static void random_operation(void)
{
	const enum hierarchy_scope scope = (enum hierarchy_scope)below(HIERARCHY_SYSTEM + 1);
	const u32 usc = below(run.config.cores * run.config.uscs);
	const struct cache_range some = {
		.ctx = below(2) ? CACHE_ANY_CTX : 3, .first = run.addr - below(4096),
		.last = run.addr + below(64 << 10),
	};
	const struct cache_range *range = below(4) ? &some : NULL;
	struct level_swept found, expected;

	switch (below(3)) {
	case 0:
		found = hierarchy_fence(run.h, usc, scope, some.ctx);
		expected = path_fence(&run.path, usc, scope, some.ctx);
		break;
	case 1:
		found = hierarchy_clean(run.h, usc, scope, range);
		expected = path_clean(&run.path, usc, scope, range);
		break;
	default:
		found = hierarchy_invalidate(run.h, usc, scope, range);
		expected = path_invalidate(&run.path, usc, scope, range);
		break;
	}
	if (run.config.in_order || scope != HIERARCHY_SYSTEM)
		compare("operation with scope", scope, &found, &expected, sizeof(found));
}

static void match(const struct hierarchy_config *config, bool in_order, u32 steps)
{
	const char *seed = getenv("PUMICE_TEST_SEED"), *error;

	run.seed = seed ? strtoull(seed, NULL, 0) : NUMBER_SEED;
	run.random = run.seed ? run.seed : NUMBER_SEED;
	run.config = *config;
	run.config.in_order = in_order;
	run.addr = BASE;
	run.h = hierarchy_create(&run.config, &error);
	assert_non_null(run.h);
	path_create(&run.path, &run.config);
	for (run.step = 1; run.step <= steps; run.step++) {
		if (below(OPERATIONS))
			random_request();
		else
			random_operation();
		if (run.step % COMPARED == 0)
			compare_all();
	}
	/* It is none without lines that are replaced and written. */
	assert_true(run.path.level[PUMICE_CACHE_DATA_L1].evictions);
	assert_true(run.path.level[PUMICE_CACHE_DATA_L2].evictions);
	assert_true(run.path.level[PUMICE_CACHE_DATA_L2].writes);
	assert_true(run.path.level[PUMICE_CACHE_TEXTURE_L2].evictions);
	assert_true(run.path.level[PUMICE_CACHE_SLC].writes);
	path_destroy(&run.path);
	hierarchy_destroy(run.h);
}

static struct hierarchy_config preset(enum pumice_preset preset)
{
	struct pumice_gpu_config gpu = { 0 };

	preset_apply(preset, &gpu);
	return preset_hierarchy(&gpu);
}

static void mcu_of_volcanic_matches_the_model(void **state)
{
	const struct hierarchy_config config = preset(PUMICE_PRESET_VOLCANIC);

	(void)state;
	match(&config, true, STEPS);
}

static void dcu_of_sgx543mp4_matches_the_model(void **state)
{
	const struct hierarchy_config config = preset(PUMICE_PRESET_SGX543MP4);

	(void)state;
	match(&config, true, STEPS);
}

static void other_presets_match_the_model(void **state)
{
	u32 n;

	(void)state;
	for (n = 0; n < PUMICE_PRESET_COUNT; n++) {
		const struct hierarchy_config config = preset((enum pumice_preset)n);

		if (n != PUMICE_PRESET_VOLCANIC && n != PUMICE_PRESET_SGX543MP4)
			match(&config, true, STEPS / 2);
	}
}

/* An SLC that replaces lines all the time, and odd numbers of USCs. */
static void small_caches_match_the_model(void **state)
{
	const enum pumice_preset presets[] = { PUMICE_PRESET_VOLCANIC, PUMICE_PRESET_SGX543MP4 };
	u32 i, uscs;

	(void)state;
	for (i = 0; i < 2; i++) {
		for (uscs = 1; uscs <= 3; uscs += 2) {
			struct hierarchy_config config = preset(presets[i]);

			config.cores = 2;
			config.uscs = uscs;
			config.slc_bytes = 16 << 10;
			config.slc_banks = 2;
			config.slc_ways = 4;
			match(&config, true, STEPS / 4);
		}
	}
}

static void requests_do_not_depend_on_the_order_of_the_slc(void **state)
{
	u32 n;

	(void)state;
	for (n = 0; n < PUMICE_PRESET_COUNT; n++) {
		const struct hierarchy_config config = preset((enum pumice_preset)n);

		match(&config, false, STEPS / 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mcu_of_volcanic_matches_the_model),
		cmocka_unit_test(dcu_of_sgx543mp4_matches_the_model),
		cmocka_unit_test(other_presets_match_the_model),
		cmocka_unit_test(small_caches_match_the_model),
		cmocka_unit_test(requests_do_not_depend_on_the_order_of_the_slc),
	};

	print_message("PUMICE_TEST_SEED=%s\n", getenv("PUMICE_TEST_SEED") ?
		      getenv("PUMICE_TEST_SEED") : "(the default)");
	return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
