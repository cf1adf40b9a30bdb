// SPDX-License-Identifier: MIT
/*
 * Unit HIER: the counts of the memory hierarchy as the host reads them, in each mode, after resets,
 * and while the mode changes.
 */
#include <stdlib.h>

#include "../../../qemu-device/gpu/gpu.h"
#include "hier.h"
#include "job.h"
#include "pumice_format_table.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define COLUMNS		PUMICE_HIER_VALUE_COUNT
#define REQUESTS	20000u	/* enough for evictions at all levels of one core */
#define CHANGES		200u

static struct fixture *create(unsigned int threads)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 1, .threads = threads });

	fx_boot_proxy(fx);
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "counted"), 0);
	return fx;
}

/* Make random requests of all clients, so that every column of some row is not 0. */
static void load(struct fixture *fx)
{
	unsigned int seed = 1, i;
	u64 loaded = 0;

	for (i = 0; i < REQUESTS; i++) {
		const u32 client = (u32)rand_r(&seed) % PUMICE_MEM_CLIENT_COUNT;
		const bool atomic = client == PUMICE_MEM_CLIENT_USC_ATOMIC;
		struct mem_request request = {
			.client = (enum pumice_mem_client)client,
			.ctx = JOB_CTX,
			.addr = (u64)rand_r(&seed) % (4u << 20) & ~3ull,
			.bytes = 4,
			.write = pumice_client_table[client].access == PUMICE_ACCESS_WRITE,
			.atomic = atomic,
		};

		/* The line of an atomic operation is dropped above the SLC. */
		if (client == PUMICE_MEM_CLIENT_USC_LOAD)
			loaded = request.addr;
		if (atomic)
			request.addr = loaded;
		/* Twice: the second of two loads is a hit, of two stores is combined. */
		assert_true(hierarchy_request(fx->gpu->hierarchy, &request));
		assert_true(hierarchy_request(fx->gpu->hierarchy, &request));
	}
}

/* Read a row from the host. */
static void read_row(struct fixture *fx, u32 row, u64 value[COLUMNS])
{
	u32 n;

	fx_write(fx, PUMICE_HIER_SELECT, row);
	for (n = 0; n < COLUMNS; n++)
		value[n] = fx_read(fx, PUMICE_HIER_VALUE(n));
}

static void assert_no_counts(struct fixture *fx, u32 row)
{
	static const u64 none[COLUMNS];
	u64 value[COLUMNS];

	read_row(fx, row, value);
	assert_memory_equal(value, none, sizeof(none));
}

/* Mark the columns that are not 0. */
static void mark(const u64 value[COLUMNS], bool seen[COLUMNS])
{
	u32 n;

	for (n = 0; n < COLUMNS; n++)
		seen[n] |= value[n] != 0;
}

static void rows_of_clients_have_their_columns(void **state)
{
	struct fixture *fx = create(0);
	bool seen[COLUMNS] = { false };
	u64 value[COLUMNS];
	u32 i;

	(void)state;
	load(fx);
	for (i = 0; i < PUMICE_MEM_CLIENT_COUNT; i++) {
		struct hierarchy_client c;

		hierarchy_client_counters(fx->gpu->hierarchy, i, &c);
		read_row(fx, i, value);
		assert_memory_equal(value, ((const u64[COLUMNS]){
			c.requests, c.bytes,
			c.first.requests, c.first.hits, c.first.misses, c.first.combined,
			c.second.requests, c.second.hits, c.second.misses, c.second.combined,
			c.slc.hits, c.slc.misses, c.slc.bypasses,
			c.slc.read_bytes, c.slc.written_bytes }), sizeof(value));
		mark(value, seen);
	}
	for (i = 0; i < COLUMNS; i++)
		assert_int_equal(seen[i], i < PUMICE_HIER_CLIENT_NUMBER &&
				 i != PUMICE_HIER_CLIENT_SECOND_COMBINED);
	fx_destroy(fx);
}

static void rows_of_levels_have_their_columns(void **state)
{
	struct fixture *fx = create(0);
	bool seen[COLUMNS] = { false };
	u64 value[COLUMNS];
	u32 i;

	(void)state;
	load(fx);
	for (i = 0; i < PUMICE_CACHE_COUNT; i++) {
		struct hierarchy_level l;

		hierarchy_level_counters(fx->gpu->hierarchy, (enum pumice_cache)i, &l);
		read_row(fx, PUMICE_HIER_FIRST_LEVEL + i, value);
		assert_memory_equal(value, ((const u64[COLUMNS]){
			l.requests.requests, l.requests.bytes, l.requests.hits, l.requests.misses,
			l.requests.atomics, l.requests.combined, l.bypasses, l.evictions,
			l.dropped, l.fills, l.read_bytes, l.writes, l.written_bytes }),
			sizeof(value));
		mark(value, seen);
	}
	for (i = 0; i < COLUMNS; i++)
		assert_int_equal(seen[i], i < PUMICE_HIER_LEVEL_NUMBER);
	fx_destroy(fx);
}

static void rows_that_do_not_exist_are_zero(void **state)
{
	static const u32 rows[] = {
		PUMICE_MEM_CLIENT_COUNT, PUMICE_HIER_FIRST_LEVEL - 1,
		PUMICE_HIER_FIRST_LEVEL + PUMICE_CACHE_COUNT, 2 * PUMICE_HIER_FIRST_LEVEL,
		1u << 31, (1u << 31) + PUMICE_HIER_FIRST_LEVEL, UINT32_MAX,
	};
	struct fixture *fx = create(0);
	unsigned int mode;
	size_t i;

	(void)state;
	load(fx);
	for (mode = 0; mode < 2; mode++) {
		for (i = 0; i < COUNT(rows); i++) {
			assert_no_counts(fx, rows[i]);
			assert_int_equal(fx_read(fx, PUMICE_HIER_SELECT), rows[i]);
		}
		assert_int_equal(pumice_gpu_set_mode(fx->gpu, "fast"), 0);
	}
	fx_destroy(fx);
}

/* The copy is set: no request has more than 32 bits of bytes. */
static void halves_of_a_count_are_read_separately(void **state)
{
	const u32 row = PUMICE_MEM_CLIENT_TEXTURE, bytes = PUMICE_HIER_CLIENT_BYTES;
	struct fixture *fx = create(0);

	(void)state;
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "fast"), 0);
	fx->gpu->counts.client[row].bytes = 0x123456789abcdefull;
	fx_write(fx, PUMICE_HIER_SELECT, row);
	assert_int_equal(fx_read(fx, PUMICE_HIER_VALUE(bytes)), 0x123456789abcdefull);
	assert_int_equal(pumice_gpu_mmio_read(fx->gpu, 0, PUMICE_HIER_VALUE(bytes), 4),
			 0x89abcdef);
	assert_int_equal(pumice_gpu_mmio_read(fx->gpu, 0, PUMICE_HIER_VALUE(bytes) + 4, 4),
			 0x1234567);
	assert_int_equal(pumice_gpu_mmio_read(fx->gpu, 0, PUMICE_HIER_VALUE(bytes), 2), 0);
	fx_destroy(fx);
}

/* Of every client and level. The copy ends when counting begins again. */
static void fast_mode_has_the_counts_of_the_mode_before(void **state)
{
	u64 counted[PUMICE_MEM_CLIENT_COUNT + PUMICE_CACHE_COUNT][COLUMNS], fast[COLUMNS];
	u32 row[COUNT(counted)], i;
	struct fixture *fx = create(0);

	(void)state;
	load(fx);
	for (i = 0; i < COUNT(row); i++) {
		row[i] = i < PUMICE_MEM_CLIENT_COUNT ? i :
			 PUMICE_HIER_FIRST_LEVEL + i - PUMICE_MEM_CLIENT_COUNT;
		read_row(fx, row[i], counted[i]);
	}
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "fast"), 0);
	for (i = 0; i < COUNT(row); i++) {
		read_row(fx, row[i], fast);
		assert_true(fast[0] || i >= PUMICE_MEM_CLIENT_COUNT);
		assert_memory_equal(fast, counted[i], sizeof(fast));
	}
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "counted"), 0);
	for (i = 0; i < COUNT(row); i++) {
		read_row(fx, row[i], fast);
		assert_true(fast[0] < counted[i][0] || !counted[i][0]);
	}
	fx_destroy(fx);
}

/* The counts would be those of the jobs of another user. */
static void a_reset_clears_the_counts_of_each_mode(void **state)
{
	const u32 row = PUMICE_MEM_CLIENT_TEXTURE;
	struct fixture *fx = create(0);

	(void)state;
	load(fx);
	pumice_gpu_reset(fx->gpu);
	assert_no_counts(fx, row);
	load(fx);
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "fast"), 0);
	pumice_gpu_reset(fx->gpu);
	assert_int_equal(fx_read(fx, PUMICE_HIER_SELECT), 0);
	assert_no_counts(fx, row);
	fx_destroy(fx);
}

/* So that firmware that reads counts does not change the row of the driver. */
static void each_bus_selects_its_row(void **state)
{
	struct fixture *fx = create(0);
	struct hierarchy_client texture, store;

	(void)state;
	load(fx);
	hierarchy_client_counters(fx->gpu->hierarchy, PUMICE_MEM_CLIENT_TEXTURE, &texture);
	hierarchy_client_counters(fx->gpu->hierarchy, PUMICE_MEM_CLIENT_USC_STORE, &store);
	assert_true(texture.requests != store.requests);
	fx_write(fx, PUMICE_HIER_SELECT, PUMICE_MEM_CLIENT_TEXTURE);
	fx_fw_write(fx, PUMICE_HIER_SELECT, PUMICE_MEM_CLIENT_USC_STORE);
	assert_int_equal(fx_read(fx, PUMICE_HIER_VALUE(0)), texture.requests);
	assert_int_equal(fx_fw_read64(fx, PUMICE_HIER_VALUE(0)), store.requests);
	fx_destroy(fx);
}

static const struct mem_request texel = {
	.client = PUMICE_MEM_CLIENT_TEXTURE, .ctx = JOB_CTX, .bytes = 4 };

/* Make one request each time that the mode has become counted. */
static void *change_modes(void *arg)
{
	struct fixture *fx = arg;
	unsigned int i;

	for (i = 0; i < CHANGES; i++) {
		if (pumice_gpu_set_mode(fx->gpu, "fast") ||
		    pumice_gpu_set_mode(fx->gpu, "counted") ||
		    !hierarchy_request(fx->gpu->hierarchy, &texel))
			return arg;
	}
	return NULL;
}

static void counts_are_read_while_the_mode_changes(void **state)
{
	struct fixture *fx = create(2);
	pthread_t thread;
	void *failed;
	u32 i;

	(void)state;
	fx_write(fx, PUMICE_HIER_SELECT, PUMICE_MEM_CLIENT_TEXTURE);
	assert_int_equal(pthread_create(&thread, NULL, change_modes, fx), 0);
	for (i = 0; i < 50 * CHANGES; i++)
		assert_true(fx_read(fx, PUMICE_HIER_VALUE(PUMICE_HIER_CLIENT_REQUESTS)) <= 1);
	pthread_join(thread, &failed);
	assert_null(failed);
	assert_true(hierarchy_request(fx->gpu->hierarchy, &texel));
	assert_int_equal(fx_read(fx, PUMICE_HIER_VALUE(PUMICE_HIER_CLIENT_REQUESTS)), 2);
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_clients_have_their_columns),
		cmocka_unit_test(rows_of_levels_have_their_columns),
		cmocka_unit_test(rows_that_do_not_exist_are_zero),
		cmocka_unit_test(halves_of_a_count_are_read_separately),
		cmocka_unit_test(fast_mode_has_the_counts_of_the_mode_before),
		cmocka_unit_test(a_reset_clears_the_counts_of_each_mode),
		cmocka_unit_test(each_bus_selects_its_row),
		cmocka_unit_test(counts_are_read_while_the_mode_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
