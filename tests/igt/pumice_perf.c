// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Performance monitors: counters have descriptions, and count exactly the jobs that refer
 * to them.
 */
#include <errno.h>
#include <string.h>

#include "igt_pumice.h"
#include "perf.h"
#include "fixture.h"
#include "sync.h"

IGT_TEST_DESCRIPTION("Performance counters against known work.");

#define WAVE	32u	/* instances of a wave */

/* The counted job: shader_copy() over a grid. */
#define GROUPS	10u
#define SIZE	64u
#define WAVES	(GROUPS * SIZE / WAVE)
#define BYTES	(GROUPS * SIZE * 4u)

static struct drm_pumice_perf_counter_get need_counter(int fd, u32 number)
{
	struct drm_pumice_perf_counter_get counter = { .counter = number };

	do_ioctl(fd, DRM_IOCTL_PUMICE_PERF_COUNTER_GET, &counter);
	return counter;
}

static u32 need_perfmon(int fd, const u32 *counters, u32 count)
{
	u32 id = 0;

	CHECK_OK(gpu_perfmon_create(fd, counters, count, &id));
	igt_assert_neq_u32(id, 0);
	return id;
}

static int submit(struct fixture *fx, u64 stream, u32 perfmon)
{
	struct drm_pumice_sync sync = then_signal(fx->sync, 0);
	struct drm_pumice_job job = {
		.context = fx->context, .stream = stream, .perfmon = perfmon,
		.syncs = ARRAY_OF(&sync, 1),
	};

	return gpu_submit(fx->fd, &job, 1, NULL);
}

static u64 copy_stream(struct fixture *fx)
{
	const struct shader shader = shader_copy();
	u64 from = fx->data.va, to = fx->data.va + BYTES;

	return fx_stream(fx, &(struct launch){
		.shader = &shader, .groups = GROUPS, .size = SIZE,
		.params = { (u32)to, (u32)(to >> 32), (u32)from, (u32)(from >> 32), 1 },
	});
}

static void counted(struct fixture *fx, u64 stream, u32 perfmon)
{
	CHECK_OK(submit(fx, stream, perfmon));
	igt_assert_eq(fx_wait(fx), 1);
}

/* ------------------------------------------------------------------- counters */

static void counters_describe_themselves(void)
{
	static const char *const names[] = {
#define NAME(name, category, detailed, unit, description) #name,
		PUMICE_PERF_COUNTERS(NAME)
	};
	static const u32 flags[] = {
#define FLAGS(name, category, detailed, unit, description) \
		((detailed) ? DRM_PUMICE_PERF_COUNTER_DETAILED : 0) | \
		(1u << PUMICE_PERF_##category & PUMICE_PERF_SHARED ? \
		 DRM_PUMICE_PERF_COUNTER_GLOBAL : 0),
		PUMICE_PERF_COUNTERS(FLAGS)
	};
	int fd = need_gpu();
	u32 i;

	igt_assert_eq_u32(need_info(fd).perf_counters, PUMICE_PERF_NUMBER);
	for (i = 0; i < PUMICE_PERF_NUMBER; i++) {
		struct drm_pumice_perf_counter_get counter = need_counter(fd, i);

		igt_assert(memchr(counter.name, 0, sizeof(counter.name)));
		igt_assert(memchr(counter.category, 0, sizeof(counter.category)));
		igt_assert(memchr(counter.unit, 0, sizeof(counter.unit)));
		igt_assert(memchr(counter.description, 0, sizeof(counter.description)));
		igt_assert_f(!strcasecmp((const char *)counter.name, names[i]), "%s is %s\n",
			     names[i], counter.name);
		igt_assert(counter.category[0] && counter.unit[0] && counter.description[0]);
		igt_assert_eq_u32(counter.flags, flags[i]);
	}
}

static void unknown_counter(void)
{
	struct drm_pumice_perf_counter_get counter = { 0 };
	int fd = need_gpu();

	counter.counter = need_info(fd).perf_counters;
	do_ioctl_err(fd, DRM_IOCTL_PUMICE_PERF_COUNTER_GET, &counter, ENOENT);
	counter.counter = UINT32_MAX;
	do_ioctl_err(fd, DRM_IOCTL_PUMICE_PERF_COUNTER_GET, &counter, ENOENT);
}

/* ------------------------------------------------------------------- monitors */

static void create_bad_arguments(void)
{
	u32 many[DRM_PUMICE_MAX_PERF_COUNTERS + 1] = { 0 }, id;
	struct drm_pumice_perfmon_create flags = { .counters = ARRAY_OF(many, 1), .flags = 1 };
	struct drm_pumice_perfmon_create pointer = {
		.counters = { .stride = 4, .count = 1, .array = 16 },
	};
	int fd = need_gpu();

	igt_assert_eq(gpu_perfmon_create(fd, many, 0, &id), -EINVAL);
	igt_assert_eq(gpu_perfmon_create(fd, many, DRM_PUMICE_MAX_PERF_COUNTERS + 1, &id), -E2BIG);
	do_ioctl_err(fd, DRM_IOCTL_PUMICE_PERFMON_CREATE, &flags, EINVAL);
	do_ioctl_err(fd, DRM_IOCTL_PUMICE_PERFMON_CREATE, &pointer, EFAULT);
	many[0] = need_info(fd).perf_counters;
	igt_assert_lt(gpu_perfmon_create(fd, many, 1, &id), 0);
}

static void maximum_monitors(void)
{
	const u32 counter = PUMICE_PERF_CDM_GROUPS;
	int fd = need_gpu(), other = need_gpu();
	u32 ids[DRM_PUMICE_MAX_PERFMONS], id, i;

	for (i = 0; i < DRM_PUMICE_MAX_PERFMONS; i++)
		ids[i] = need_perfmon(fd, &counter, 1);
	igt_assert_eq(gpu_perfmon_create(fd, &counter, 1, &id), -ENOSPC);
	need_perfmon(other, &counter, 1);
	CHECK_OK(gpu_perfmon_destroy(fd, ids[5]));
	need_perfmon(fd, &counter, 1);
}

static void other_file(void)
{
	const u32 counter = PUMICE_PERF_CDM_GROUPS;
	struct fixture fx = fx_open();
	int other = need_gpu();
	u32 id;
	u64 value;

	need_perfmon(other, &counter, 1);
	id = need_perfmon(other, &counter, 1);
	igt_assert_eq(submit(&fx, fx_empty_stream(&fx), id), -ENOENT);
	igt_assert_eq(gpu_perfmon_values(fx.fd, id, 0, &value), -ENOENT);
	igt_assert_eq(gpu_perfmon_destroy(fx.fd, id), -ENOENT);
	igt_assert_eq(gpu_perfmon_values(other, id, 0, &value), 0);
}

/* ------------------------------------------------------------------- counting */

static void known_work(void)
{
	static const struct {
		u32 counter;
		u64 value;
	} want[] = {
		{ PUMICE_PERF_CDM_GROUPS, GROUPS }, { PUMICE_PERF_PDS_TASKS, GROUPS },
		{ PUMICE_PERF_USC_WAVES, WAVES }, { PUMICE_PERF_USC_INSN_GLOBAL, 2 * WAVES },
		{ PUMICE_PERF_USC_INSN_INTEGER, 3 * WAVES }, { PUMICE_PERF_USC_LOAD_BYTES, BYTES },
		{ PUMICE_PERF_USC_STORE_BYTES, BYTES }, { PUMICE_PERF_USC_BARRIERS, 0 },
		{ PUMICE_PERF_USC_INSN_ATOMIC, 0 }, { PUMICE_PERF_MMU_FAULTS, 0 },
	};
	enum { N = sizeof(want) / sizeof(want[0]) };
	struct fixture fx = fx_open();
	u32 counters[N], perfmon, i;
	u64 got[N];

	for (i = 0; i < N; i++)
		counters[i] = want[i].counter;
	perfmon = need_perfmon(fx.fd, counters, N);
	counted(&fx, copy_stream(&fx), perfmon);
	CHECK_OK(gpu_perfmon_values(fx.fd, perfmon, 0, got));
	for (i = 0; i < N; i++)
		igt_assert_f(got[i] == want[i].value, "%s: %llu, should be %llu\n",
			     need_counter(fx.fd, counters[i]).name, (unsigned long long)got[i],
			     (unsigned long long)want[i].value);
}

static void adds_up(void)
{
	const u32 counter = PUMICE_PERF_USC_STORE_BYTES;
	struct fixture fx = fx_open();
	u32 perfmon = need_perfmon(fx.fd, &counter, 1), i;
	u64 stream = copy_stream(&fx), value;

	for (i = 1; i <= 5; i++) {
		counted(&fx, stream, perfmon);
		CHECK_OK(gpu_perfmon_values(fx.fd, perfmon, 0, &value));
		igt_assert_eq_u64(value, i * BYTES);
		fx.context = need_context(fx.fd, fx.vm);
	}
}

static void others_do_not_count(void)
{
	const u32 counters[] = { PUMICE_PERF_CDM_GROUPS, PUMICE_PERF_USC_STORE_BYTES };
	struct fixture fx = fx_open(), other = fx_open();
	u32 perfmon = need_perfmon(fx.fd, counters, 2), i;
	u64 stream = copy_stream(&fx), others = copy_stream(&other), got[2];

	for (i = 0; i < 10; i++) {
		CHECK_OK(submit(&fx, stream, 0));
		CHECK_OK(submit(&other, others, 0));
		CHECK_OK(submit(&fx, stream, perfmon));
		CHECK_OK(submit(&other, others, 0));
	}
	igt_assert_eq(fx_wait(&fx), 1);
	igt_assert_eq(fx_wait(&other), 1);
	CHECK_OK(gpu_perfmon_values(fx.fd, perfmon, 0, got));
	igt_assert_eq_u64(got[0], 10 * GROUPS);
	igt_assert_eq_u64(got[1], 10 * BYTES);
}

static void two_monitors(void)
{
	const u32 counter = PUMICE_PERF_USC_WAVES;
	struct fixture fx = fx_open();
	u32 first = need_perfmon(fx.fd, &counter, 1), second = need_perfmon(fx.fd, &counter, 1);
	u64 stream = copy_stream(&fx), value;

	counted(&fx, stream, first);
	counted(&fx, stream, second);
	counted(&fx, stream, second);
	CHECK_OK(gpu_perfmon_values(fx.fd, first, 0, &value));
	igt_assert_eq_u64(value, WAVES);
	CHECK_OK(gpu_perfmon_values(fx.fd, second, 0, &value));
	igt_assert_eq_u64(value, 2 * WAVES);
}

static void reset_after_reading(void)
{
	const u32 counter = PUMICE_PERF_USC_WAVES;
	struct fixture fx = fx_open();
	u32 perfmon = need_perfmon(fx.fd, &counter, 1);
	u64 stream = copy_stream(&fx), value;

	counted(&fx, stream, perfmon);
	CHECK_OK(gpu_perfmon_values(fx.fd, perfmon, DRM_PUMICE_PERFMON_RESET, &value));
	igt_assert_eq_u64(value, WAVES);
	CHECK_OK(gpu_perfmon_values(fx.fd, perfmon, 0, &value));
	igt_assert_eq_u64(value, 0);
	counted(&fx, stream, perfmon);
	CHECK_OK(gpu_perfmon_values(fx.fd, perfmon, 0, &value));
	igt_assert_eq_u64(value, WAVES);
	igt_assert_eq(gpu_perfmon_values(fx.fd, perfmon, 1u << 1, &value), -EINVAL);
}

static void busy_while_it_counts(void)
{
	const u32 counter = PUMICE_PERF_CDM_GROUPS;
	struct fixture fx = fx_open(), blocker = fx_on(fx.fd);
	u32 perfmon = need_perfmon(fx.fd, &counter, 1);
	u64 value;

	fx_block(&blocker);
	CHECK_OK(submit(&fx, copy_stream(&fx), perfmon));
	igt_assert_eq(gpu_perfmon_values(fx.fd, perfmon, 0, &value), -EBUSY);
	CHECK_OK(gpu_context_destroy(fx.fd, blocker.context));
	igt_assert_eq(fx_wait(&fx), 1);
	CHECK_OK(gpu_perfmon_values(fx.fd, perfmon, 0, &value));
	igt_assert_eq_u64(value, GROUPS);
}

static void destroyed_under_a_job(void)
{
	const u32 counter = PUMICE_PERF_CDM_GROUPS;
	struct fixture fx = fx_open(), blocker = fx_on(fx.fd);
	u32 perfmon = need_perfmon(fx.fd, &counter, 1);
	u64 value;

	fx_block(&blocker);
	CHECK_OK(submit(&fx, fx_store_stream(&fx, fx.data.va, 55), perfmon));
	CHECK_OK(gpu_perfmon_destroy(fx.fd, perfmon));
	igt_assert_eq(gpu_perfmon_values(fx.fd, perfmon, 0, &value), -ENOENT);
	CHECK_OK(gpu_context_destroy(fx.fd, blocker.context));
	igt_assert_eq(fx_wait(&fx), 1);
	fx_check_words(fx.data.cpu, 55);
}

static void fault_counts(void)
{
	const u32 counter = PUMICE_PERF_MMU_FAULTS;
	struct fixture fx = fx_open();
	u32 perfmon = need_perfmon(fx.fd, &counter, 1);
	u64 value;

	CHECK_OK(submit(&fx, fx_store_stream(&fx, FX_FREE, 0), perfmon));
	igt_assert_eq(fx_wait(&fx), -EIO);
	CHECK_OK(gpu_perfmon_values(fx.fd, perfmon, 0, &value));
	igt_assert_lte_u64(1, value);
}

/*
 * A long job that others interrupt counts exactly its own work. It is twice as long after each
 * run that was not interrupted, because the machine submits slowly.
 */
static void interrupted(void)
{
	enum { LONG_GROUPS = 4096, LONG_SIZE = 128, INTERRUPTED = 3, MOST_LAUNCHES = 64 };
	const u32 counters[] = { PUMICE_PERF_CDM_GROUPS, PUMICE_PERF_USC_STORE_BYTES };
	struct fixture fx = fx_open(), other = fx_on(fx.fd);
	struct mem mem = need_mem(fx.fd, fx.vm, FX_FREE, LONG_GROUPS * LONG_SIZE * 4);
	const struct shader shader = shader_store();
	const struct launch launch = {
		.shader = &shader, .params = { (u32)mem.va, (u32)(mem.va >> 32), 1 },
		.groups = LONG_GROUPS, .size = LONG_SIZE,
	};
	u32 perfmon = need_perfmon(fx.fd, counters, 2), launches = 1, times = 0;
	struct drm_pumice_job_get_result result;
	u64 sum = 0, got[2];

	CHECK_OK(gpu_context_destroy(fx.fd, other.context));
	CHECK_OK(gpu_context_create(fx.fd, other.vm, DRM_PUMICE_PRIORITY_HIGH, &other.context));
	while (times < INTERRUPTED) {
		igt_assert_lte_u32(launches, MOST_LAUNCHES);
		CHECK_OK(submit(&fx, fx_repeat_stream(&fx, &launch, launches), perfmon));
		igt_assert_eq(fx_wait_interrupting(&fx, &other), 1);
		sum += launches;
		CHECK_OK(gpu_perfmon_values(fx.fd, perfmon, 0, got));
		igt_assert_eq_u64(got[0], sum * LONG_GROUPS);
		igt_assert_eq_u64(got[1], sum * LONG_GROUPS * LONG_SIZE * 4);
		CHECK_OK(gpu_job_result(fx.fd, fx.context, 0, &result));
		if (result.slices > 1)
			times++;
		else
			launches *= 2;
	}
}

int igt_main()
{
	igt_fixture()
		igt_pumice_require(IGT_PUMICE_PATIENT);

	igt_pumice_subtest("counters-describe-themselves",
			   "names, units and texts are those of the hardware contract",
			   counters_describe_themselves);
	igt_pumice_subtest("unknown-counter", "a counter after the last is refused",
			   unknown_counter);
	igt_pumice_subtest("create-bad-arguments", "monitors: counters, count, flags, pointer",
			   create_bad_arguments);
	igt_pumice_subtest("maximum-monitors", "a file has as many monitors as the limit allows",
			   maximum_monitors);
	igt_pumice_subtest("other-file", "a monitor belongs to its file", other_file);
	igt_pumice_subtest("known-work", "counters agree with the known work of a job",
			   known_work);
	igt_pumice_subtest("adds-up", "a monitor sums over jobs and contexts", adds_up);
	igt_pumice_subtest("others-do-not-count", "jobs without the monitor do not count",
			   others_do_not_count);
	igt_pumice_subtest("two-monitors", "two monitors count their own jobs only", two_monitors);
	igt_pumice_subtest("reset-after-reading", "values can be reset as they are read",
			   reset_after_reading);
	igt_pumice_subtest("busy-while-it-counts",
			   "values cannot be read before the job has completed",
			   busy_while_it_counts);
	igt_pumice_subtest("destroyed-under-a-job", "a job continues without its monitor",
			   destroyed_under_a_job);
	igt_pumice_subtest("fault-counts", "a job that faults counts", fault_counts);
	igt_pumice_subtest("interrupted",
			   "a preempted job counts all its work and only its own",
			   interrupted);
}
