// SPDX-License-Identifier: MIT
/* A reset leaves nothing: no line, no open line, no queued request, no count. */
#include "../support/cmocka_all.h"

#include "../../../qemu-device/gpu/hierarchy/hierarchy.h"
#include "../../../qemu-device/gpu/preset.h"
#include "pumice_format_table.h"

#define CTX	3u
#define BASE	0x100000ull

static struct hierarchy *h;
static struct hierarchy_config config;

static void create(enum pumice_preset preset)
{
	struct pumice_gpu_config gpu = { 0 };
	const char *error;

	preset_apply(preset, &gpu);
	config = preset_hierarchy(&gpu);
	h = hierarchy_create(&config, &error);
	assert_non_null(h);
}

static void request(enum pumice_mem_client client, u32 place, u64 addr, u32 bytes)
{
	const struct mem_request r = {
		.client = client, .place = place, .ctx = CTX, .addr = addr, .bytes = bytes,
		.write = pumice_client_table[client].access == PUMICE_ACCESS_WRITE,
	};

	assert_true(hierarchy_request(h, &r));
}

static void assert_no_counts(void)
{
	static const struct hierarchy_client no_client;
	static const struct hierarchy_level no_level;
	static const struct bif_counters no_bif;
	static const struct slc_bank no_bank;
	struct hierarchy_client client;
	struct hierarchy_level level;
	struct bif_counters bif;
	struct slc_bank bank;
	u32 i;

	for (i = 0; i < PUMICE_MEM_CLIENT_COUNT; i++) {
		hierarchy_client_counters(h, i, &client);
		assert_memory_equal(&client, &no_client, sizeof(client));
	}
	for (i = 0; i < PUMICE_CACHE_COUNT; i++) {
		hierarchy_level_counters(h, (enum pumice_cache)i, &level);
		assert_memory_equal(&level, &no_level, sizeof(level));
	}
	for (i = 0; i < hierarchy_bifs(h); i++) {
		hierarchy_bif_counters(h, i, &bif);
		assert_memory_equal(&bif, &no_bif, sizeof(bif));
	}
	for (i = 0; i < config.slc_banks; i++) {
		hierarchy_bank_counters(h, i, &bank);
		assert_memory_equal(&bank, &no_bank, sizeof(bank));
	}
}

/* An open line of the first level, and requests in the FIFOs of BIFs. */
static void work_before_a_reset_is_not_done_after_it(void **state)
{
	static const enum pumice_preset presets[] = {
		PUMICE_PRESET_VOLCANIC, PUMICE_PRESET_SGX543MP4,
	};
	u32 p, i;

	(void)state;
	for (p = 0; p < sizeof(presets) / sizeof(presets[0]); p++) {
		create(presets[p]);
		assert_no_counts();
		request(PUMICE_MEM_CLIENT_USC_STORE, 0, BASE, 4);
		for (i = 0; i < 3; i++)
			request(PUMICE_MEM_CLIENT_INDEX, 1, BASE + (i + 1) * 4096, 4);
		hierarchy_reset(h);
		assert_no_counts();
		hierarchy_fence(h, 0, HIERARCHY_SYSTEM, CACHE_ANY_CTX);
		hierarchy_drain(h);
		assert_no_counts();
		hierarchy_destroy(h);
	}
}

/* The next requests have the counts of a new hierarchy. */
static void requests_after_a_reset_are_those_of_a_new_hierarchy(void **state)
{
	struct bif_counters first, again;
	u32 round, i;

	(void)state;
	create(PUMICE_PRESET_VOLCANIC);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < 1000; i++)
			request(PUMICE_MEM_CLIENT_INDEX, 1, BASE + i * 4096, 4);
		hierarchy_drain(h);
		hierarchy_bif_counters(h, 0, round ? &again : &first);
		hierarchy_reset(h);
	}
	assert_true(first.requests);
	assert_memory_equal(&again, &first, sizeof(first));
	hierarchy_destroy(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_before_a_reset_is_not_done_after_it),
		cmocka_unit_test(requests_after_a_reset_are_those_of_a_new_hierarchy),
	};

	return cmocka_run_group_tests_name("hierarchy reset", tests, NULL, NULL);
}
