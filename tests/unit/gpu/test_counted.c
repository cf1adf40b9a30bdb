// SPDX-License-Identifier: MIT
/* Counted mode: the counts of the memory hierarchy for a job agree with each other. */
#include <string.h>

#include "../../../qemu-device/gpu/gpu.h"
#include "../../../qemu-device/gpu/preset.h"
#include "job.h"
#include "pumice_format_table.h"

#define BIFS	65u
#define BANKS	64u

/* Loads, stores and atomic operations. */
static const struct job jobs[] = {
	{ .program = JOB_NUMBER, .group = 64, .groups = 157 },
	{ .program = JOB_COUNT, .group = 60, .groups = 160 },
	{ .program = JOB_ADD, .group = 40, .groups = 150 },
};
static const char *const presets[] = { "volcanic", "sgx543mp4", "waves", "videocore4" };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct counts {
	struct hierarchy_config config;
	u32 bifs;
	struct hierarchy_client client[PUMICE_MEM_CLIENT_COUNT];
	struct hierarchy_level level[PUMICE_CACHE_COUNT];
	struct slc_bank bank[BANKS];
	struct bif_counters bif[BIFS];
};

/*
 * Run all jobs in a process without threads, each on the lines that the one before has left.
 * cores: or 0, those of the preset
 */
static void run_on(const char *preset, unsigned int cores, struct counts *c)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .preset = preset, .cores = cores });
	struct hierarchy *h;
	u32 i;

	memset(c, 0, sizeof(*c));
	job_map(fx);
	fx_boot_proxy(fx);
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "counted"), 0);
	for (i = 0; i < COUNT(jobs); i++)
		assert_int_equal(job_run(fx, &jobs[i]), PUMICE_IC_PENDING__CDM_DONE__MASK);
	h = fx->gpu->hierarchy;
	c->config = preset_hierarchy(&fx->gpu->config);
	c->bifs = hierarchy_bifs(h);
	for (i = 0; i < PUMICE_MEM_CLIENT_COUNT; i++)
		hierarchy_client_counters(h, i, &c->client[i]);
	for (i = 0; i < PUMICE_CACHE_COUNT; i++)
		hierarchy_level_counters(h, (enum pumice_cache)i, &c->level[i]);
	for (i = 0; i < c->config.slc_banks; i++)
		hierarchy_bank_counters(h, i, &c->bank[i]);
	for (i = 0; i < c->bifs; i++)
		hierarchy_bif_counters(h, i, &c->bif[i]);
	fx_destroy(fx);
}

static void run(const char *preset, struct counts *c)
{
	run_on(preset, 0, c);
}

static void assert_sum(const struct level_client *c)
{
	assert_int_equal(c->requests, c->hits + c->misses + c->atomics + c->combined);
}

/* No byte is lost between a unit and the first level, or the SLC if it is that. */
static void requests_of_clients_add_up(void **state)
{
	static struct counts c;
	u32 p, i, used = 0;

	(void)state;
	for (p = 0; p < COUNT(presets); p++) {
		run(presets[p], &c);
		for (i = 0; i < PUMICE_MEM_CLIENT_COUNT; i++) {
			const struct hierarchy_client *client = &c.client[i];
			const struct pumice_client_info *info = &pumice_client_table[i];
			const struct slc_client *slc = &client->slc;

			used += client->requests != 0;
			assert_sum(&client->first);
			assert_sum(&client->second);
			assert_int_equal(slc->requests, slc->hits + slc->misses + slc->bypasses);
			if (info->path == PUMICE_MEM_PATH_DIRECT) {
				assert_int_equal(slc->bytes, client->bytes);
				assert_int_equal(client->first.requests, 0);
			} else {
				assert_int_equal(client->first.bytes, client->bytes);
			}
			/* A line that is filled or held delivers no more than its bytes. */
			if (info->path != PUMICE_MEM_PATH_DIRECT)
				assert_true(client->bytes <= client->first.requests *
					    c.config.line_bytes);
			/*
			 * Only misses of a client that never writes read memory: whole lines; of
			 * the tables of context 0, a segment.
			 */
			if (info->access != PUMICE_ACCESS_WRITE &&
			    info->slc == PUMICE_MEM_SLC_CACHED && i != PUMICE_MEM_CLIENT_USC_LOAD)
				assert_int_equal(slc->read_bytes,
						 slc->misses * c.config.line_bytes +
						 slc->bypasses * c.config.segment_bytes);
		}
		assert_true(used >= (p + 1) * 6);
	}
}

/* The requests of a level are those that the level above it makes. */
static void requests_of_levels_add_up(void **state)
{
	static struct counts c;
	u32 p, i;

	(void)state;
	for (p = 0; p < COUNT(presets); p++) {
		const struct hierarchy_level *l1 = &c.level[PUMICE_CACHE_DATA_L1];
		const struct hierarchy_level *l2 = &c.level[PUMICE_CACHE_DATA_L2];
		const struct hierarchy_level *slc = &c.level[PUMICE_CACHE_SLC];
		u64 direct = 0, direct_bytes = 0;

		run(presets[p], &c);
		for (i = 0; i < PUMICE_MEM_CLIENT_COUNT; i++) {
			if (pumice_client_table[i].path != PUMICE_MEM_PATH_DIRECT)
				continue;
			direct += c.client[i].slc.requests;
			direct_bytes += c.client[i].slc.bytes;
		}
		assert_true(l1->fills && l1->writes && l1->requests.atomics && l2->fills);
		assert_int_equal(l1->read_bytes, l1->fills * c.config.line_bytes);
		assert_int_equal(l2->requests.requests,
				 l1->fills + l1->writes + l1->requests.atomics);
		assert_int_equal(slc->requests.requests,
				 direct + l2->fills + l2->writes + l2->requests.atomics);
		assert_int_equal(slc->requests.bytes, direct_bytes + l2->read_bytes +
				 l2->written_bytes +
				 c.client[PUMICE_MEM_CLIENT_USC_ATOMIC].slc.bytes);
		assert_int_equal(slc->read_bytes % c.config.segment_bytes, 0);
		assert_true(slc->read_bytes && slc->read_bytes <= slc->requests.requests *
			    c.config.line_bytes);
	}
}

static void clients_banks_and_bifs_have_the_same_sums(void **state)
{
	static struct counts c;
	u32 p, i;

	(void)state;
	for (p = 0; p < COUNT(presets); p++) {
		const struct hierarchy_level *slc = &c.level[PUMICE_CACHE_SLC];
		u64 requests = 0, read = 0, written = 0, banks = 0, bifs = 0, bank_read = 0;

		run(presets[p], &c);
		for (i = 0; i < PUMICE_MEM_CLIENT_COUNT; i++) {
			requests += c.client[i].slc.requests;
			read += c.client[i].slc.read_bytes;
			written += c.client[i].slc.written_bytes;
		}
		for (i = 0; i < c.config.slc_banks; i++) {
			banks += c.bank[i].requests;
			bank_read += c.bank[i].read_bytes;
		}
		for (i = 0; i < c.bifs; i++) {
			assert_int_equal(c.bif[i].requests, c.bif[i].returns);
			bifs += c.bif[i].requests;
		}
		assert_int_equal(slc->requests.requests, requests);
		assert_int_equal(banks, requests);
		assert_int_equal(bifs, requests);
		assert_int_equal(slc->read_bytes, read);
		assert_int_equal(bank_read, read);
		assert_int_equal(slc->written_bytes, written);
	}
}

static void a_run_without_threads_has_the_same_counts_again(void **state)
{
	static struct counts first, again;
	u32 p;

	(void)state;
	for (p = 0; p < COUNT(presets); p++) {
		run(presets[p], &first);
		run(presets[p], &again);
		assert_memory_equal(&first, &again, sizeof(first));
	}
}

/*
 * Units request many times the bytes that memory delivers: caches reduce them at each level. On one
 * core, loads are of lines that stores have left in its caches. Groups of the next job may be on
 * other cores: their loads do not find lines that are dirty in the L2 of the former core, and read
 * them from memory. The 16 cores of WAVES read more than half of the bytes so, others a tenth.
 */
static void caches_reduce_bytes_from_memory(void **state)
{
	static struct counts c;
	u32 p;

	(void)state;
	for (p = 0; p < COUNT(presets); p++) {
		const struct hierarchy_client *load = &c.client[PUMICE_MEM_CLIENT_USC_LOAD];
		const struct hierarchy_client *code = &c.client[PUMICE_MEM_CLIENT_USC_CODE];
		const struct hierarchy_client *table = &c.client[PUMICE_MEM_CLIENT_MMU_TABLE];

		run_on(presets[p], 1, &c);
		assert_true(load->slc.read_bytes < load->bytes / 64);
		run(presets[p], &c);
		assert_true(load->slc.read_bytes < (strcmp(presets[p], "waves") ? load->bytes / 10 :
						    load->bytes * 2 / 3));
		assert_true(load->second.requests < load->first.requests / 4);
		assert_true(code->slc.read_bytes <= code->bytes);
		assert_true(table->slc.hits > table->slc.misses);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_of_clients_add_up),
		cmocka_unit_test(requests_of_levels_add_up),
		cmocka_unit_test(clients_banks_and_bifs_have_the_same_sums),
		cmocka_unit_test(a_run_without_threads_has_the_same_counts_again),
		cmocka_unit_test(caches_reduce_bytes_from_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
