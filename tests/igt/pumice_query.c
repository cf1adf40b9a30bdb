// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* DEV_QUERY: properties of the GPU that the driver reports. */
#include <errno.h>
#include <string.h>

#include "igt_pumice.h"
#include "pumice_regs.h"
#include "fixture.h"
#include "sync.h"

IGT_TEST_DESCRIPTION("Queries of the GPU, its firmware and its clock.");

#define FILL 0xa5

static void size_probe(void)
{
	static const struct {
		u32 type, size;
	} types[] = {
		{ DRM_PUMICE_QUERY_GPU, sizeof(struct drm_pumice_query_gpu) },
		{ DRM_PUMICE_QUERY_FW, sizeof(struct drm_pumice_query_fw) },
		{ DRM_PUMICE_QUERY_TIMESTAMP, sizeof(struct drm_pumice_query_timestamp) },
		{ DRM_PUMICE_QUERY_STATS, sizeof(struct drm_pumice_query_stats) },
		{ DRM_PUMICE_QUERY_HEAPS, sizeof(struct drm_pumice_query_heaps) },
	};
	int fd = need_gpu();
	u32 i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct drm_pumice_dev_query query = { .type = types[i].type, .size = UINT32_MAX };

		do_ioctl(fd, DRM_IOCTL_PUMICE_DEV_QUERY, &query);
		igt_assert_eq_u32(query.size, types[i].size);
	}
}

static void short_buffer(void)
{
	struct drm_pumice_query_gpu whole;
	u8 buffer[sizeof(whole)];
	struct drm_pumice_dev_query query = {
		.type = DRM_PUMICE_QUERY_GPU, .size = 12, .pointer = (uintptr_t)buffer,
	};
	int fd = need_gpu();
	u32 i;

	whole = need_info(fd);
	memset(buffer, FILL, sizeof(buffer));
	do_ioctl(fd, DRM_IOCTL_PUMICE_DEV_QUERY, &query);
	igt_assert_eq_u32(query.size, 12);
	igt_assert(!memcmp(buffer, &whole, 12));
	for (i = 12; i < sizeof(buffer); i++)
		igt_assert_eq(buffer[i], FILL);
}

static void unknown_type(void)
{
	struct drm_pumice_dev_query query = { .type = 0x7fff };
	int fd = need_gpu();

	do_ioctl_err(fd, DRM_IOCTL_PUMICE_DEV_QUERY, &query, EINVAL);
}

static void bad_pointer(void)
{
	struct drm_pumice_dev_query query = {
		.type = DRM_PUMICE_QUERY_GPU, .pointer = 16,
		.size = sizeof(struct drm_pumice_query_gpu),
	};
	int fd = need_gpu();

	do_ioctl_err(fd, DRM_IOCTL_PUMICE_DEV_QUERY, &query, EFAULT);
}

static void same_for_all_files(void)
{
	struct drm_pumice_query_gpu first = need_info(need_gpu()), second = need_info(need_gpu());

	igt_assert(!memcmp(&first, &second, sizeof(first)));
}

static void contract(void)
{
	struct drm_pumice_query_gpu info = need_info(need_gpu());

	igt_assert_eq_u32(info.version, PUMICE_SYS_VERSION__RESET);
	igt_assert(info.cores >= 1 && info.cores <= PUMICE_MAX_CORES);
	igt_assert(info.uscs_per_core >= 1 && info.uscs_per_core <= PUMICE_MAX_USCS_PER_CORE);
	igt_assert(info.slots_per_usc >= 1 && info.slots_per_usc <= PUMICE_USC_SLOTS);
	igt_assert(info.tasks_per_usc >= info.slots_per_usc &&
		   info.tasks_per_usc <= PUMICE_USC_TASKS);
	igt_assert(info.batch >= 16 && info.batch <= PUMICE_TASK_INSTANCES);
	igt_assert_lte_u32(info.batch, info.waves_per_usc * PUMICE_LANES);
	igt_assert(info.max_group_instances >= 1 &&
		   info.max_group_instances <= PUMICE_GROUP_INSTANCES);
	igt_assert_lte_u32(info.max_group_instances, info.waves_per_usc * PUMICE_LANES);
	for (u32 n = 0; n < PUMICE_CACHE_COUNT; n++)
		igt_assert(info.cache_bytes[n] &&
			   !(info.cache_bytes[n] & (info.cache_bytes[n] - 1)));
	igt_assert(info.vpm_bytes && info.idx_fifo && info.chunk_fifo && info.tile_fifo);
	igt_assert(info.tsp_vertices && !(info.tsp_vertices & (info.tsp_vertices - 1)));
	igt_assert_lt_u64(info.va_start, info.va_end);
	igt_assert_lte_u64(info.va_end, 1ull << PUMICE_MMU_VA_BITS);
	igt_assert_eq_u64(info.page_sizes & (PAGE | 2 * MIB), PAGE | 2 * MIB);
}

static void firmware(void)
{
	struct drm_pumice_query_fw fw;
	u32 size = sizeof(fw);

	CHECK_OK(gpu_query(need_gpu(), DRM_PUMICE_QUERY_FW, &fw, &size));
	igt_assert_neq_u32(fw.version >> 16, 0);
	igt_assert(memchr(fw.build_id, 0, sizeof(fw.build_id)));
	igt_assert_neq(fw.build_id[0], 0);
}

/* The times of a job are between two readings of the clock that it is measured with. */
static void timestamp_brackets_job(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_query_timestamp before, after;
	struct drm_pumice_context_get_state state;
	u32 size = sizeof(before);

	CHECK_OK(gpu_query(fx.fd, DRM_PUMICE_QUERY_TIMESTAMP, &before, &size));
	igt_assert_eq(fx_run(&fx, fx_empty_stream(&fx)), 1);
	CHECK_OK(gpu_query(fx.fd, DRM_PUMICE_QUERY_TIMESTAMP, &after, &size));
	state = need_state(fx.fd, fx.context);
	igt_assert_lte_u64(before.gpu_ticks, state.last_start);
	igt_assert_lte_u64(state.last_start, state.last_end);
	igt_assert_lte_u64(state.last_end, after.gpu_ticks);
	igt_assert_lte_u64(before.cpu_ns, after.cpu_ns);
	igt_assert_lte_u64(after.cpu_ns, now_ns());
}

/* The interval between two readings is the same by both clocks, except for their duration. */
static void timestamp_rate(void)
{
	struct drm_pumice_query_timestamp first, last;
	u32 size = sizeof(first), tries = 0;
	int fd = need_gpu();
	u64 hz = need_info(fd).clock_hz, ns, ticks_ns;

	CHECK_OK(gpu_query(fd, DRM_PUMICE_QUERY_TIMESTAMP, &first, &size));
	do {
		CHECK_OK(gpu_query(fd, DRM_PUMICE_QUERY_TIMESTAMP, &last, &size));
		igt_assert_lt_u32(tries++, 10000000);
	} while (last.cpu_ns - first.cpu_ns < 1000000000ull);
	ns = last.cpu_ns - first.cpu_ns;
	ticks_ns = (u64)((double)(last.gpu_ticks - first.gpu_ticks) * 1e9 / (double)hz);
	igt_assert_f(ticks_ns > ns - ns / 5 && ticks_ns < ns + ns / 5,
		     "%llu ns of the CPU, %llu ns of the GPU\n", (unsigned long long)ns,
		     (unsigned long long)ticks_ns);
}

static void stats_count_jobs(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_query_stats before = need_stats(fx.fd), after;
	u32 i;

	for (i = 0; i < 7; i++)
		igt_assert_eq(fx_run(&fx, fx_store_stream(&fx, fx.data.va, i)), 1);
	after = need_stats(fx.fd);
	igt_assert_eq_u64(after.jobs_submitted, before.jobs_submitted + 7);
	igt_assert_eq_u64(after.jobs_done, before.jobs_done + 7);
	igt_assert_eq_u64(after.jobs_faulted, before.jobs_faulted);
	igt_assert_lt_u64(before.compute_busy, after.compute_busy);
	igt_assert_eq_u64(after.geometry_busy, before.geometry_busy);
	igt_assert_eq_u64(after.fragment_busy, before.fragment_busy);
	igt_assert_eq_u64(after.transfer_busy, before.transfer_busy);
	igt_assert_lt_u64(before.time, after.time);
}

static void stats_count_faults(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_query_stats before = need_stats(fx.fd), after;

	igt_assert_eq(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 0)), -EIO);
	after = need_stats(fx.fd);
	igt_assert_eq_u64(after.jobs_faulted, before.jobs_faulted + 1);
	igt_assert_lt_u64(before.mmu_faults, after.mmu_faults);
}

static void stats_current_state(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_query_stats idle = need_stats(fx.fd), busy;

	fx_block(&fx);
	busy = need_stats(fx.fd);
	igt_assert_eq_u32(busy.jobs_firmware, idle.jobs_firmware + 1);
	igt_assert_eq_u32(busy.contexts_busy, idle.contexts_busy + 1);
	igt_assert_lte_u32(1, busy.tasks);
	igt_assert_lte_u32(1, busy.waves);
	CHECK_OK(gpu_context_destroy(fx.fd, fx.context));
	igt_assert_eq(fx_wait(&fx), -ECANCELED);
	igt_assert_eq_u32(need_stats(fx.fd).jobs_firmware, idle.jobs_firmware);
}

int igt_main()
{
	igt_fixture()
		igt_pumice_require(IGT_PUMICE_PATIENT);

	igt_pumice_subtest("size-probe", "a query without a buffer returns the size", size_probe);
	igt_pumice_subtest("short-buffer", "a short buffer is filled up to its size",
			   short_buffer);
	igt_pumice_subtest("unknown-type", "an unknown query is refused", unknown_type);
	igt_pumice_subtest("bad-pointer", "a buffer at an invalid address returns EFAULT",
			   bad_pointer);
	igt_pumice_subtest("same-for-all-files", "two files see the same GPU", same_for_all_files);
	igt_pumice_subtest("contract", "values are those of the hardware contract", contract);
	igt_pumice_subtest("firmware", "the firmware has a version and a build id", firmware);
	igt_pumice_subtest("timestamp-brackets-job",
			   "a job starts and ends between two readings of its clock",
			   timestamp_brackets_job);
	igt_pumice_subtest("timestamp-rate", "the GPU's clock runs at the reported rate",
			   timestamp_rate);
	igt_pumice_subtest("stats-count-jobs", "statistics count jobs and busy time",
			   stats_count_jobs);
	igt_pumice_subtest("stats-count-faults", "statistics count faults", stats_count_faults);
	igt_pumice_subtest("stats-current-state", "statistics report the jobs that are running",
			   stats_current_state);
}
