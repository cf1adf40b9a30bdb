// SPDX-License-Identifier: MIT
/*
 * Counts of the memory hierarchy: fields of the public structures against columns of the registers,
 * those of a job, also as performance counters, and rows and devices that have none. Internal
 * functions.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "drm/drm.h"
#include "hier.h"
#include "inproc/inproc.h"
#include "perf.h"

#include <cmocka.h>

#define COUNTED	"inproc:cores=1,threads=0,ram=64,mode=counted"
#define FAST	"inproc:cores=1,threads=0,ram=64,mode=fast"
#define GROUPS	8u
#define LANES	(GROUPS * 64u)

static const char store[] =
	".group 64\n"
	".uniforms sh0, 2\n"
	".input v0, global_x\n"
	"shl.u32 r1, v0, 2\n"
	"global_store32 sig0, [one], sh0 + r1, v0\n"
	"end\n";

static struct pumice_device *open_device(const char *name)
{
	struct pumice_device *dev;

	assert_int_equal(pumice_device_open(name, &dev, NULL, 0), 0);
	return dev;
}

/* A backend whose columns are different in each row. */
static int numbered_row(struct pumice_device *dev, u32 row, u64 *value)
{
	u32 n;

	(void)dev;
	for (n = 0; n < PUMICE_HIER_VALUE_COUNT; n++)
		value[n] = (u64)row << 40 | (n + 1);
	return 0;
}

static void structures_have_the_columns_of_their_rows(void **state)
{
	struct pumice_device *dev = open_device(FAST);
	const struct backend_ops *own = dev->ops;
	struct backend_ops ops = *own;
	struct pumice_hierarchy_client client;
	struct pumice_hierarchy_level level;
	u64 value[PUMICE_HIER_VALUE_COUNT];
	u32 i;

	(void)state;
	ops.hierarchy_row = numbered_row;
	dev->ops = &ops;
	for (i = 0; i < PUMICE_MEM_CLIENT_COUNT; i++) {
		assert_int_equal(pumice_hierarchy_client_get(dev, i, &client, sizeof(client)), 0);
		numbered_row(dev, i, value);
		assert_int_equal(sizeof(client) - sizeof(client.name),
				 PUMICE_HIER_CLIENT_NUMBER * sizeof(u64));
		assert_memory_equal((char *)&client + sizeof(client.name), value,
				    sizeof(client) - sizeof(client.name));
	}
	for (i = 0; i < PUMICE_CACHE_COUNT; i++) {
		assert_int_equal(pumice_hierarchy_level_get(dev, i, &level, sizeof(level)), 0);
		numbered_row(dev, PUMICE_HIER_FIRST_LEVEL + i, value);
		assert_int_equal(sizeof(level) - sizeof(level.name),
				 PUMICE_HIER_LEVEL_NUMBER * sizeof(u64));
		assert_memory_equal((char *)&level + sizeof(level.name), value,
				    sizeof(level) - sizeof(level.name));
	}
	dev->ops = own;
	pumice_device_close(dev);
}

/* Programs of later versions have larger structures, those of earlier ones smaller. */
static void structures_are_filled_up_to_their_size(void **state)
{
	struct pumice_device *dev = open_device(FAST);
	struct {
		struct pumice_hierarchy_level level;
		u64 later;
	} larger;
	struct pumice_hierarchy_client smaller;

	(void)state;
	memset(&larger, 0xff, sizeof(larger));
	assert_int_equal(pumice_hierarchy_level_get(dev, 0, &larger.level, sizeof(larger)), 0);
	assert_int_equal(larger.later, 0);
	memset(&smaller, 0xff, sizeof(smaller));
	assert_int_equal(pumice_hierarchy_client_get(dev, 0, &smaller, sizeof(smaller.name)), 0);
	assert_string_equal(smaller.name, "mmu-table");
	assert_int_equal(smaller.requests, UINT64_MAX);
	pumice_device_close(dev);
}

/* Store a word in each lane, in a job with the monitor, or without if it is NULL. */
static void run_monitored(struct pumice_device *dev, const struct pumice_perfmon *monitor)
{
	struct pumice_job_sync done = { .signal = true };
	struct pumice_wait wait;
	struct pumice_job job;
	struct pumice_context *context;
	struct pumice_dispatch dispatch;
	struct pumice_kernel *kernel;
	struct pumice_stream *stream;
	struct pumice_bo *bo;
	struct pumice_vm *vm;
	u32 uniforms[2];
	u64 va, start;

	assert_int_equal(pumice_vm_create(dev, &vm), 0);
	assert_int_equal(pumice_context_create(vm, PUMICE_PRIORITY_NORMAL, &context), 0);
	assert_int_equal(pumice_stream_create(vm, 65536, &stream), 0);
	assert_int_equal(pumice_kernel_assemble(vm, "store", store, &kernel), 0);
	assert_int_equal(pumice_bo_create(dev, LANES * sizeof(u32), vm, &bo), 0);
	assert_int_equal(pumice_vm_place(vm, bo, 0, &va), 0);
	uniforms[0] = (u32)va;
	uniforms[1] = (u32)(va >> 32);
	pumice_dispatch_init(&dispatch, kernel);
	dispatch.groups[0] = GROUPS;
	dispatch.uniforms = uniforms;
	dispatch.uniform_words = 2;
	assert_int_equal(pumice_stream_dispatch(stream, &dispatch), 0);
	assert_int_equal(pumice_stream_end(stream, &start), 0);
	assert_int_equal(pumice_sync_create(dev, 0, &done.sync), 0);
	pumice_job_init(&job, context, start);
	job.syncs = &done;
	job.sync_count = 1;
	job.perfmon = monitor ? pumice_perfmon_id(monitor) : 0;
	assert_int_equal(pumice_submit(dev, &job, 1, NULL), 0);
	pumice_wait_init(&wait, done.sync, 0);
	assert_int_equal(pumice_sync_wait(&wait, 1, 0, PUMICE_FOREVER), 0);
	pumice_sync_destroy(done.sync);
	pumice_context_destroy(context);
	pumice_stream_destroy(stream);
	pumice_kernel_destroy(kernel);
	pumice_vm_destroy(vm);
	pumice_bo_destroy(bo);
}

static void run(struct pumice_device *dev)
{
	run_monitored(dev, NULL);
}

static struct pumice_hierarchy_client stores(struct pumice_device *dev)
{
	struct pumice_hierarchy_client c;

	assert_int_equal(pumice_hierarchy_client_get(dev, PUMICE_MEM_CLIENT_USC_STORE, &c,
						     sizeof(c)), 0);
	assert_string_equal(c.name, "usc-store");
	return c;
}

static void requests_of_a_job_are_counted_in_mode_counted_only(void **state)
{
	struct pumice_device *counted = open_device(COUNTED), *fast = open_device(FAST);
	struct pumice_hierarchy_level l;
	u32 i;

	(void)state;
	run(counted);
	run(fast);
	assert_int_equal(stores(counted).requests, LANES);
	assert_int_equal(stores(counted).bytes, LANES * sizeof(u32));
	assert_int_equal(stores(fast).requests, 0);
	for (i = 0; i < PUMICE_CACHE_COUNT; i++) {
		assert_int_equal(pumice_hierarchy_level_get(counted, i, &l, sizeof(l)), 0);
		assert_int_equal(l.requests, l.hits + l.misses + l.atomics + l.combined +
						     l.bypasses);
		assert_int_equal(!l.requests, strncmp(l.name, "texture", 7) == 0);
	}
	pumice_device_close(counted);
	pumice_device_close(fast);
}

static void the_mode_changes_while_the_device_is_open(void **state)
{
	struct pumice_device *dev = open_device(FAST);

	(void)state;
	run(dev);
	assert_int_equal(stores(dev).requests, 0);
	assert_int_equal(pumice_device_set_mode(dev, "counted"), 0);
	run(dev);
	assert_int_equal(stores(dev).requests, LANES);
	assert_int_equal(pumice_device_set_mode(dev, "fast"), 0);
	run(dev);
	assert_int_equal(stores(dev).requests, LANES);
	assert_int_equal(pumice_device_set_mode(dev, "exact"), -EINVAL);
	assert_string_equal(pumice_device_error(dev), "mode: exact is not fast, counted or strict");
	assert_int_equal(pumice_device_set_mode(dev, ""), -EINVAL);
	assert_string_equal(inproc_mode(dev), "fast");
	pumice_device_close(dev);
}

static void the_mode_does_not_change_while_a_job_runs(void **state)
{
	static const char loop[] = ".group 1\nagain:\nmov r0, [one], 1\njump again\nend\n";
	struct pumice_device *dev = open_device(FAST);
	struct pumice_context *context;
	struct pumice_dispatch dispatch;
	struct pumice_kernel *kernel;
	struct pumice_stream *stream;
	struct pumice_vm *vm;
	u64 start;

	(void)state;
	assert_int_equal(pumice_vm_create(dev, &vm), 0);
	assert_int_equal(pumice_context_create(vm, PUMICE_PRIORITY_NORMAL, &context), 0);
	assert_int_equal(pumice_stream_create(vm, 65536, &stream), 0);
	assert_int_equal(pumice_kernel_assemble(vm, "loop", loop, &kernel), 0);
	pumice_dispatch_init(&dispatch, kernel);
	assert_int_equal(pumice_stream_dispatch(stream, &dispatch), 0);
	assert_int_equal(pumice_stream_end(stream, &start), 0);
	assert_int_equal(pumice_context_run(context, start, 300000000, NULL), -ETIME);
	assert_int_equal(pumice_device_set_mode(dev, "strict"), -EBUSY);
	assert_string_equal(pumice_device_error(dev),
			    "mode: it does not change while a job runs");
	assert_string_equal(inproc_mode(dev), "fast");
	pumice_context_destroy(context);
	assert_int_equal(pumice_device_set_mode(dev, "strict"), 0);
	assert_string_equal(inproc_mode(dev), "strict");
	pumice_stream_destroy(stream);
	pumice_kernel_destroy(kernel);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
}

/* Counters of a monitor, in the order of its values. */
static const char *const monitored[] = {
	"HIER_USC_STORE_REQUESTS", "HIER_USC_STORE_SLC_HITS", "HIER_USC_STORE_SLC_MISSES",
	"HIER_USC_STORE_FIRST_MISSES", "HIER_DATA_L1_WRITTEN_BYTES", "HIER_TEXTURE_REQUESTS",
};
#define MONITORED	(sizeof(monitored) / sizeof(monitored[0]))

static struct pumice_perfmon *create_monitor(struct pumice_device *dev)
{
	struct pumice_perfmon *monitor;
	uint32_t number[MONITORED];
	size_t i;

	for (i = 0; i < MONITORED; i++)
		assert_int_equal(pumice_perf_counter_find(dev, monitored[i], &number[i]), 0);
	assert_int_equal(pumice_perfmon_create(dev, number, MONITORED, &monitor), 0);
	return monitor;
}

/* Read what the rows have of the counters of a monitor. */
static void read_rows(struct pumice_device *dev, uint64_t value[MONITORED])
{
	struct pumice_hierarchy_client store = stores(dev), texture;
	struct pumice_hierarchy_level data;

	assert_int_equal(pumice_hierarchy_client_get(dev, PUMICE_MEM_CLIENT_TEXTURE, &texture,
						     sizeof(texture)), 0);
	assert_int_equal(pumice_hierarchy_level_get(dev, PUMICE_CACHE_DATA_L1, &data,
						    sizeof(data)), 0);
	memcpy(value, (const uint64_t[MONITORED]){
		store.requests, store.slc_hits, store.slc_misses, store.first_misses,
		data.written_bytes, texture.requests }, MONITORED * sizeof(*value));
}

/*
 * Jobs before and after it have requests of the same client. The SLC has none of its stores before
 * the lines are cleaned, at its end.
 */
static void a_monitor_has_the_counts_of_its_job(void **state)
{
	uint64_t before[MONITORED], after[MONITORED], value[MONITORED];
	struct pumice_device *dev = open_device(COUNTED);
	struct pumice_perfmon *monitor = create_monitor(dev);
	size_t i;

	(void)state;
	run(dev);
	read_rows(dev, before);
	run_monitored(dev, monitor);
	read_rows(dev, after);
	run(dev);
	assert_int_equal(pumice_perfmon_read(monitor, PUMICE_PERFMON_RESET, value), 0);
	assert_int_equal(value[0], LANES);
	assert_true(value[1] + value[2] > 0);
	for (i = 0; i < MONITORED; i++)
		assert_int_equal(value[i], after[i] - before[i]);
	assert_int_equal(pumice_perfmon_read(monitor, 0, value), 0);
	for (i = 0; i < MONITORED; i++)
		assert_int_equal(value[i], 0);
	pumice_perfmon_destroy(monitor);
	pumice_device_close(dev);
}

static void a_monitor_counts_no_requests_in_mode_fast(void **state)
{
	struct pumice_device *dev = open_device(FAST);
	struct pumice_perfmon *monitor = create_monitor(dev);
	uint64_t value[MONITORED];
	size_t i;

	(void)state;
	run_monitored(dev, monitor);
	assert_int_equal(pumice_perfmon_read(monitor, 0, value), 0);
	for (i = 0; i < MONITORED; i++)
		assert_int_equal(value[i], 0);
	pumice_perfmon_destroy(monitor);
	pumice_device_close(dev);
}

/* Their numbers and names are bounded as those of all counters. */
static void counters_that_do_not_exist_are_refused(void **state)
{
	const uint32_t unknown = PUMICE_PERF_HIER_RDM_WRITE_REQUESTS + 1;
	struct pumice_device *dev = open_device(COUNTED);
	struct pumice_perfmon *monitor;
	struct pumice_perf_info info;
	uint32_t number;

	(void)state;
	assert_int_equal(pumice_perf_counter_get(dev, unknown - 1, &info), 0);
	assert_string_equal(info.name, "HIER_RDM_WRITE_REQUESTS");
	assert_string_equal(info.category, "HIER");
	assert_int_equal(info.flags, PUMICE_PERF_GLOBAL);
	assert_int_equal(pumice_perf_counter_get(dev, unknown, &info), -ENOENT);
	assert_int_equal(pumice_perfmon_create(dev, &unknown, 1, &monitor), -EINVAL);
	/* No cache keeps lines of this client, and texture caches do not write. */
	assert_int_equal(pumice_perf_counter_find(dev, "HIER_RDM_WRITE_SLC_HITS", &number),
			 -ENOENT);
	assert_int_equal(pumice_perf_counter_find(dev, "HIER_TEXTURE_L1_WRITTEN_BYTES", &number),
			 -ENOENT);
	pumice_device_close(dev);
}

/* Of all BIFs, each of which passes some. They are kept in mode fast. */
static void buses_have_the_bytes_of_the_slc_by_client(void **state)
{
	struct pumice_device *dev = open_device("inproc:cores=2,threads=0,ram=64,mode=counted");
	struct pumice_hierarchy_client client;
	struct pumice_hierarchy_level slc;
	struct pumice_hierarchy_bus bus;
	u64 requests = 0, bytes = 0;
	u32 i;

	(void)state;
	run(dev);
	assert_int_equal(pumice_device_set_mode(dev, "fast"), 0);
	for (i = 0; i < PUMICE_MEM_CLIENT_COUNT; i++) {
		assert_int_equal(pumice_hierarchy_client_get(dev, i, &client, sizeof(client)), 0);
		assert_int_equal(pumice_hierarchy_bus_get(dev, i, &bus, sizeof(bus)), 0);
		assert_string_equal(bus.name, client.name);
		assert_int_equal(bus.requests,
				 client.slc_hits + client.slc_misses + client.slc_bypasses);
		requests += bus.requests;
		bytes += bus.read_bytes + bus.written_bytes;
		if (i == PUMICE_MEM_CLIENT_USC_STORE)
			assert_int_equal(bus.written_bytes, LANES * sizeof(u32));
	}
	assert_int_equal(pumice_hierarchy_bus_get(dev, i, &bus, sizeof(bus)), -ENOENT);
	assert_int_equal(pumice_hierarchy_level_get(dev, PUMICE_CACHE_SLC, &slc, sizeof(slc)), 0);
	assert_int_equal(requests, slc.requests);
	assert_int_equal(bytes, slc.bytes);
	pumice_device_close(dev);
}

static void rows_that_do_not_exist_are_refused(void **state)
{
	struct pumice_device *dev = open_device(FAST);
	struct pumice_hierarchy_client client;
	struct pumice_hierarchy_level level;
	char expected[80];

	(void)state;
	snprintf(expected, sizeof(expected), "hierarchy: unknown client %u: the last one is %u",
		 PUMICE_MEM_CLIENT_COUNT, PUMICE_MEM_CLIENT_COUNT - 1);
	assert_int_equal(pumice_hierarchy_client_get(dev, PUMICE_MEM_CLIENT_COUNT, &client,
						     sizeof(client)), -ENOENT);
	assert_string_equal(pumice_device_error(dev), expected);
	assert_int_equal(pumice_hierarchy_level_get(dev, PUMICE_CACHE_COUNT, &level,
						    sizeof(level)), -ENOENT);
	assert_string_equal(pumice_device_error(dev),
			    "hierarchy: unknown level 5: the last one is 4");
	assert_int_equal(pumice_hierarchy_level_get(dev, UINT32_MAX, &level, sizeof(level)),
			 -ENOENT);
	pumice_device_close(dev);
}

/* Their counts are those of all users, and need root. */
static void the_kernel_driver_has_no_counts_for_programs(void **state)
{
	struct pumice_device *dev = open_device(FAST);
	const struct backend_ops *own = dev->ops;
	u64 value[PUMICE_HIER_VALUE_COUNT];
	struct backend_ops ops = *own;
	struct pumice_hierarchy_bus bus;

	(void)state;
	assert_int_equal(drm_hierarchy_row(dev, 0, value), -EOPNOTSUPP);
	assert_non_null(strstr(pumice_device_error(dev), "file hierarchy of the driver in debugfs"));
	ops.hierarchy_bus = NULL;
	dev->ops = &ops;
	assert_int_equal(pumice_hierarchy_bus_get(dev, 0, &bus, sizeof(bus)), -EOPNOTSUPP);
	assert_non_null(strstr(pumice_device_error(dev), "for a GPU in this process only"));
	dev->ops = own;
	pumice_device_close(dev);
}

static int set_mode_without_permission(struct pumice_device *dev, const char *mode)
{
	(void)dev;
	(void)mode;
	return -EACCES;
}

/* A GPU of another process has no such function; the file of the kernel driver is for root. */
static void a_mode_that_cannot_be_set_has_its_reason(void **state)
{
	struct pumice_device *dev = open_device(FAST);
	const struct backend_ops *own = dev->ops;
	struct backend_ops ops = *own;

	(void)state;
	ops.set_mode = NULL;
	dev->ops = &ops;
	assert_int_equal(pumice_device_set_mode(dev, "counted"), -EOPNOTSUPP);
	assert_non_null(strstr(pumice_device_error(dev), "not of a GPU of another process"));
	ops.set_mode = set_mode_without_permission;
	assert_int_equal(pumice_device_set_mode(dev, "counted"), -EACCES);
	assert_non_null(strstr(pumice_device_error(dev),
			       "the driver's file mode in debugfs: Permission denied"));
	dev->ops = own;
	pumice_device_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(structures_have_the_columns_of_their_rows),
		cmocka_unit_test(structures_are_filled_up_to_their_size),
		cmocka_unit_test(requests_of_a_job_are_counted_in_mode_counted_only),
		cmocka_unit_test(the_mode_changes_while_the_device_is_open),
		cmocka_unit_test(the_mode_does_not_change_while_a_job_runs),
		cmocka_unit_test(a_monitor_has_the_counts_of_its_job),
		cmocka_unit_test(a_monitor_counts_no_requests_in_mode_fast),
		cmocka_unit_test(counters_that_do_not_exist_are_refused),
		cmocka_unit_test(buses_have_the_bytes_of_the_slc_by_client),
		cmocka_unit_test(rows_that_do_not_exist_are_refused),
		cmocka_unit_test(the_kernel_driver_has_no_counts_for_programs),
		cmocka_unit_test(a_mode_that_cannot_be_set_has_its_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
