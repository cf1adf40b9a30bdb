// SPDX-License-Identifier: MIT
/*
 * Unit HIER: the counts of the memory hierarchy as the host reads them, in each mode, after resets,
 * and while the mode changes; and those that are performance counters.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../qemu-device/gpu/gpu.h"
#include "hier.h"
#include "job.h"
#include "perf.h"
#include "pumice_format_table.h"
#include "pumice_names.h"

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

/* Return the number of a performance counter by its name, or PUMICE_PERF_NUMBER. */
static u32 counter_named(const char *name)
{
#define NAME(counter, category, detailed, unit, description) #counter,
	static const char *const names[] = { PUMICE_PERF_COUNTERS(NAME) };
#undef NAME
	u32 n;

	for (n = 0; n < PUMICE_PERF_NUMBER && strcmp(names[n], name); n++)
		;
	return n;
}

/* Return the number of the performance counter of a row and a column, or PUMICE_PERF_NUMBER. */
static u32 counter_of(u32 row, u32 column)
{
#define NAME(column, description) #column,
	static const char *const of_client[] = { PUMICE_HIER_CLIENT_COLUMNS(NAME) };
	static const char *const of_level[] = { PUMICE_HIER_LEVEL_COLUMNS(NAME) };
#undef NAME
	const bool client = row < PUMICE_HIER_FIRST_LEVEL;
	char name[64];
	size_t i;

	snprintf(name, sizeof(name), "hier_%s_%s",
		 client ? pumice_mem_client_str(row) :
			  pumice_cache_str(row - PUMICE_HIER_FIRST_LEVEL),
		 client ? of_client[column] : of_level[column]);
	for (i = 0; name[i]; i++)
		name[i] = name[i] == '-' ? '_' : (char)toupper(name[i]);
	return counter_named(name);
}

struct counter_place {
	u32 counter, row, column;
};

/* List the performance counters that have the name of a row and a column; returns their number. */
static u32 counters_of_hierarchy(struct counter_place place[PUMICE_PERF_NUMBER])
{
	u32 count = 0, row, n, columns;

	for (row = 0; row < PUMICE_HIER_FIRST_LEVEL + PUMICE_CACHE_COUNT; row++) {
		if (row == PUMICE_MEM_CLIENT_COUNT)
			row = PUMICE_HIER_FIRST_LEVEL;
		columns = row < PUMICE_HIER_FIRST_LEVEL ? (u32)PUMICE_HIER_CLIENT_NUMBER :
							  (u32)PUMICE_HIER_LEVEL_NUMBER;
		for (n = 0; n < columns; n++) {
			const u32 counter = counter_of(row, n);

			if (counter < PUMICE_PERF_NUMBER)
				place[count++] = (struct counter_place){ counter, row, n };
		}
	}
	return count;
}

/* Return whether a count is a performance counter, by the policy of its client. */
static bool is_performance_counter(u32 row, u32 column)
{
	const u32 level = row - PUMICE_HIER_FIRST_LEVEL;

	if (row >= PUMICE_HIER_FIRST_LEVEL)
		return column == PUMICE_HIER_LEVEL_READ_BYTES ||
		       (column == PUMICE_HIER_LEVEL_WRITTEN_BYTES &&
			level != PUMICE_CACHE_TEXTURE_L1 && level != PUMICE_CACHE_TEXTURE_L2);
	switch (column) {
	case PUMICE_HIER_CLIENT_REQUESTS:
		return true;
	case PUMICE_HIER_CLIENT_FIRST_HITS:
	case PUMICE_HIER_CLIENT_FIRST_MISSES:
		return pumice_client_table[row].path != PUMICE_MEM_PATH_DIRECT &&
		       row != PUMICE_MEM_CLIENT_USC_ATOMIC;
	case PUMICE_HIER_CLIENT_SLC_HITS:
	case PUMICE_HIER_CLIENT_SLC_MISSES:
		return pumice_client_table[row].slc == PUMICE_MEM_SLC_CACHED;
	default:
		return false;
	}
}

/* So that hit rates of each client and bytes of each level can be computed, and no more. */
static void clients_and_levels_have_the_performance_counters_of_their_policy(void **state)
{
	u32 row, column;

	(void)state;
	for (row = 0; row < PUMICE_MEM_CLIENT_COUNT; row++)
		for (column = 0; column < PUMICE_HIER_CLIENT_NUMBER; column++)
			assert_int_equal(counter_of(row, column) < PUMICE_PERF_NUMBER,
					 is_performance_counter(row, column));
	for (row = PUMICE_HIER_FIRST_LEVEL; row < PUMICE_HIER_FIRST_LEVEL + PUMICE_CACHE_COUNT;
	     row++)
		for (column = 0; column < PUMICE_HIER_LEVEL_NUMBER; column++)
			assert_int_equal(counter_of(row, column) < PUMICE_PERF_NUMBER,
					 is_performance_counter(row, column));
}

static u64 perf_counter(struct fixture *fx, u32 number)
{
	return fx_read(fx, PUMICE_PERF_COUNTER(number));
}

/* Every one of them is counted but the hits of stores, which an MCU combines. */
static void assert_counters_are_their_rows(struct fixture *fx, bool counted)
{
	struct counter_place place[PUMICE_PERF_NUMBER];
	const u32 count = counters_of_hierarchy(place);
	u64 value[COLUMNS];
	u32 i;

	assert_int_equal(count, PUMICE_PERF_NUMBER - PUMICE_PERF_HIER_SLC_READ_BYTES);
	for (i = 0; i < count; i++) {
		read_row(fx, place[i].row, value);
		assert_int_equal(perf_counter(fx, place[i].counter), value[place[i].column]);
		if (place[i].counter != PUMICE_PERF_HIER_USC_STORE_FIRST_HITS)
			assert_int_equal(value[place[i].column] != 0, counted);
	}
}

/* Also on the firmware's bus, which has a selection of its own that they do not change. */
static void performance_counters_are_counts_of_their_rows(void **state)
{
	const u32 row = PUMICE_MEM_CLIENT_TEXTURE, number = PUMICE_PERF_HIER_TEXTURE_FIRST_HITS;
	struct fixture *fx = create(0);

	(void)state;
	assert_counters_are_their_rows(fx, false);
	load(fx);
	assert_counters_are_their_rows(fx, true);
	fx_fw_write(fx, PUMICE_HIER_SELECT, row);
	assert_int_equal(fx_fw_read64(fx, PUMICE_PERF_COUNTER(number)), perf_counter(fx, number));
	assert_int_equal(fx_fw_read64(fx, PUMICE_HIER_VALUE(PUMICE_HIER_CLIENT_FIRST_HITS)),
			 perf_counter(fx, number));
	assert_int_equal(perf_counter(fx, PUMICE_PERF_NUMBER), 0);
	fx_destroy(fx);
}

/* As unit HIER: the values of the mode before, until counting begins again, and after a reset 0. */
static void performance_counters_keep_their_values_in_mode_fast(void **state)
{
	const u32 number = PUMICE_PERF_HIER_TEXTURE_REQUESTS;
	struct fixture *fx = create(0);
	u64 counted;

	(void)state;
	load(fx);
	counted = perf_counter(fx, number);
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "fast"), 0);
	assert_counters_are_their_rows(fx, true);
	assert_int_equal(perf_counter(fx, number), counted);
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "strict"), 0);
	assert_counters_are_their_rows(fx, false);
	load(fx);
	assert_int_equal(perf_counter(fx, number), counted);
	pumice_gpu_reset(fx->gpu);
	assert_counters_are_their_rows(fx, false);
	load(fx);
	assert_int_equal(perf_counter(fx, number), counted);
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
		cmocka_unit_test(clients_and_levels_have_the_performance_counters_of_their_policy),
		cmocka_unit_test(performance_counters_are_counts_of_their_rows),
		cmocka_unit_test(performance_counters_keep_their_values_in_mode_fast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
