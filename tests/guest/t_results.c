// SPDX-License-Identifier: MIT
/*
 * Data about jobs: results, performance monitors, statistics; and labels of
 * buffers. Valid and invalid arguments of each.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "perf.h"
#include "pumice_regs.h"
#include "fixture.h"
#include "system.h"

static int result_of(const struct fixture *fx, u64 job, struct drm_pumice_job_get_result *result)
{
	*result = (struct drm_pumice_job_get_result){ .context = fx->context, .job = job };
	return gpu_ioctl(fx->fd, DRM_IOCTL_PUMICE_JOB_GET_RESULT, result);
}

static void each_job_has_its_result(void)
{
	struct drm_pumice_job_get_result result;
	struct fixture fx = fx_open();
	u32 i;

	CHECK_ERROR(result_of(&fx, 0, &result), ENODATA);
	CHECK_ERROR(result_of(&fx, 1, &result), ENOENT);
	for (i = 1; i <= 5; i++) {
		int want = i == 3 ? -EIO : 1;

		CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, i == 3 ? FX_FREE : fx.data.va,
							i)), want);
	}
	for (i = 1; i <= 5; i++) {
		CHECK_OK(result_of(&fx, i, &result));
		CHECK_EQUAL(result.job, i);
		CHECK_EQUAL(result.error, i == 3 ? -EIO : 0);
		CHECK(result.start && result.end >= result.start);
		CHECK_EQUAL(result.run_ticks, result.end - result.start);
		CHECK_EQUAL(result.slices, 1);
		CHECK_EQUAL(result.groups, i == 3 ? 0 : 1);
		CHECK_EQUAL(result.fault_va, i == 3 ? FX_FREE : 0);
		CHECK_EQUAL(result.unit, i == 3 ? PUMICE_UNIT_USC_DATA : PUMICE_UNIT_NONE);
	}
	CHECK_OK(result_of(&fx, 0, &result));
	CHECK_EQUAL(result.job, 5);
	CHECK_ERROR(result_of(&fx, 6, &result), ENOENT);
	CHECK_ERROR(result_of(&fx, UINT64_MAX, &result), ENOENT);
}

/* Like user space built before there were partial renders: the call's number has the size. */
static void shorter_result_of_an_older_user_is_filled(void)
{
	const u32 old = offsetof(struct drm_pumice_job_get_result, partial_renders);
	struct drm_pumice_job_get_result result, shorter;
	struct fixture fx = fx_open();

	CHECK_EQUAL(old, 80);
	CHECK_EQUAL(fx_run(&fx, fx_empty_stream(&fx)), 1);
	CHECK_OK(result_of(&fx, 1, &result));
	memset(&shorter, 0xa5, sizeof(shorter));
	shorter.context = fx.context;
	shorter.job = 1;
	CHECK_OK(gpu_ioctl(fx.fd, _IOC(_IOC_READ | _IOC_WRITE, DRM_IOCTL_BASE, DRM_COMMAND_BASE +
				       DRM_PUMICE_JOB_GET_RESULT, old), &shorter));
	CHECK(!memcmp(&shorter, &result, old));
	CHECK_EQUAL(shorter.partial_renders, 0xa5a5a5a5);
	CHECK_EQUAL(result.partial_renders, 0);
}

static void old_results_are_overwritten(void)
{
	struct drm_pumice_job_get_result result;
	struct fixture fx = fx_open();
	u64 stream = fx_empty_stream(&fx);
	u32 i;

	for (i = 0; i < DRM_PUMICE_JOB_RESULTS + 2; i++)
		CHECK_EQUAL(fx_run(&fx, stream), 1);
	CHECK_ERROR(result_of(&fx, 1, &result), ENODATA);
	CHECK_ERROR(result_of(&fx, 2, &result), ENODATA);
	CHECK_OK(result_of(&fx, 3, &result));
}

static void job_that_runs_has_no_result_yet(void)
{
	struct drm_pumice_job_get_result result;
	struct fixture fx = fx_open();

	fx_block(&fx);
	need_in_flight(1);
	CHECK_ERROR(result_of(&fx, 1, &result), EBUSY);
	CHECK_ERROR(result_of(&fx, 0, &result), ENODATA);
}

static void result_of_an_unknown_context_is_refused(void)
{
	struct drm_pumice_job_get_result result;
	struct fixture fx = fx_open(), other = fx_open();

	CHECK_EQUAL(fx_run(&fx, fx_empty_stream(&fx)), 1);
	other.context = 999;
	CHECK_ERROR(result_of(&other, 1, &result), ENOENT);
}

static const u32 some[] = { PUMICE_PERF_CDM_GROUPS, PUMICE_PERF_PDS_TASKS,
			    PUMICE_PERF_CDM_GROUPS };

static void perfmon_counts_the_jobs_that_name_it(void)
{
	struct fixture fx = fx_open();
	u64 stream = fx_store_stream(&fx, fx.data.va, 1), values[3];
	u32 id;

	CHECK_OK(gpu_perfmon_create(fx.fd, some, 3, &id));
	CHECK_OK(gpu_perfmon_values(fx.fd, id, 0, values));
	CHECK_EQUAL(values[0] | values[1] | values[2], 0);
	fx_run_counted(&fx, stream, id);
	fx_run_counted(&fx, stream, 0);
	fx_run_counted(&fx, stream, id);
	CHECK_OK(gpu_perfmon_values(fx.fd, id, DRM_PUMICE_PERFMON_RESET, values));
	CHECK_EQUAL(values[0], 2);
	CHECK_EQUAL(values[1], 2);
	CHECK_EQUAL(values[2], 2);
	fx_run_counted(&fx, stream, id);
	CHECK_OK(gpu_perfmon_values(fx.fd, id, 0, values));
	CHECK_EQUAL(values[0], 1);
	CHECK_OK(gpu_perfmon_destroy(fx.fd, id));
	CHECK_ERROR(gpu_perfmon_destroy(fx.fd, id), ENOENT);
}

static void perfmon_of_a_job_that_runs_is_busy(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_job job = { .context = fx.context };
	u64 values[3];
	u32 id;

	CHECK_OK(gpu_perfmon_create(fx.fd, some, 3, &id));
	job.stream = fx_loop_stream(&fx);
	job.perfmon = id;
	CHECK_OK(gpu_submit(fx.fd, &job, 1, NULL));
	CHECK_ERROR(gpu_perfmon_values(fx.fd, id, 0, values), EBUSY);
	CHECK_OK(gpu_context_destroy(fx.fd, fx.context));
	CHECK_OK(gpu_perfmon_values(fx.fd, id, 0, values));
}

static void perfmon_refuses_bad_arguments(void)
{
	static const u32 unknown[] = { PUMICE_PERF_NUMBER };
	struct drm_pumice_perfmon_create create = {
		.counters = { .stride = 4, .count = 1, .array = (uintptr_t)some }, .flags = 1,
	};
	struct drm_pumice_perfmon_destroy destroy = { .pad = 1 };
	struct fixture fx = fx_open();
	struct drm_pumice_job job = { .context = fx.context };
	u32 id, many[DRM_PUMICE_MAX_PERF_COUNTERS + 1] = { 0 };
	u64 values[3];

	CHECK_ERROR(gpu_ioctl(fx.fd, DRM_IOCTL_PUMICE_PERFMON_CREATE, &create), EINVAL);
	CHECK_ERROR(gpu_ioctl(fx.fd, DRM_IOCTL_PUMICE_PERFMON_DESTROY, &destroy), EINVAL);
	CHECK_ERROR(gpu_perfmon_create(fx.fd, some, 0, &id), EINVAL);
	CHECK_ERROR(gpu_perfmon_create(fx.fd, unknown, 1, &id), EINVAL);
	CHECK_ERROR(gpu_perfmon_create(fx.fd, many, DRM_PUMICE_MAX_PERF_COUNTERS + 1, &id), E2BIG);
	CHECK_ERROR(gpu_perfmon_create(fx.fd, (void *)8, 1, &id), EFAULT);
	CHECK_ERROR(gpu_perfmon_values(fx.fd, 1, 0, values), ENOENT);
	CHECK_OK(gpu_perfmon_create(fx.fd, some, 3, &id));
	CHECK_ERROR(gpu_perfmon_values(fx.fd, id, 2, values), EINVAL);
	CHECK_ERROR(gpu_perfmon_values(fx.fd, id, 0, (void *)8), EFAULT);
	job.stream = fx_empty_stream(&fx);
	job.perfmon = id + 1;
	CHECK_ERROR(gpu_submit(fx.fd, &job, 1, NULL), ENOENT);
	job.perfmon = 0;
	job.hwrt = 1;
	CHECK_ERROR(gpu_submit(fx.fd, &job, 1, NULL), EINVAL);
	fx_check_works(&fx);
}

static void perfmons_of_a_file_are_limited(void)
{
	int fd = need_gpu();
	u32 id, none, i;

	for (i = 0; i < DRM_PUMICE_MAX_PERFMONS; i++)
		CHECK_OK(gpu_perfmon_create(fd, some, 3, &id));
	CHECK_ERROR(gpu_perfmon_create(fd, some, 3, &none), ENOSPC);
	CHECK_OK(gpu_perfmon_destroy(fd, id));
	CHECK_OK(gpu_perfmon_create(fd, some, 3, &id));
}

static void every_counter_describes_itself(void)
{
	struct drm_pumice_perf_counter_get counter = { 0 };
	int fd = need_gpu();
	u32 i, count = need_info(fd).perf_counters;

	CHECK_EQUAL(count, PUMICE_PERF_NUMBER);
	for (i = 0; i < count; i++) {
		counter.counter = i;
		CHECK_OK(gpu_ioctl(fd, DRM_IOCTL_PUMICE_PERF_COUNTER_GET, &counter));
		CHECK(counter.name[0] && counter.category[0] && counter.unit[0] &&
		      counter.description[0]);
		CHECK(!counter.name[31] && !counter.description[127]);
	}
	counter.counter = count;
	CHECK_ERROR(gpu_ioctl(fd, DRM_IOCTL_PUMICE_PERF_COUNTER_GET, &counter), ENOENT);
}

#define UNPRIVILEGED	65534
#define CAP_PERFMON_BIT	38	/* CAP_PERFMON, which older headers do not have */
#define PARANOID	"/proc/sys/dev/pumice/perf_paranoid"

/* Run on an open file as an unprivileged user, or with one capability. */
static void as_unprivileged(int fd, int capability, void (*run)(int fd))
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (!pid) {
		CHECK_OK(prctl(PR_SET_KEEPCAPS, capability >= 0));
		CHECK_OK(setgid(UNPRIVILEGED));
		CHECK_OK(setuid(UNPRIVILEGED));
		if (capability >= 0) {
			data[capability / 32].effective = 1u << capability % 32;
			data[capability / 32].permitted = 1u << capability % 32;
			CHECK_OK(syscall(SYS_capset, &head, data));
		}
		run(fd);
		exit(0);
	}
	CHECK_EQUAL(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}

static bool is_global(int fd, u32 number)
{
	struct drm_pumice_perf_counter_get counter = { .counter = number };

	CHECK_OK(gpu_ioctl(fd, DRM_IOCTL_PUMICE_PERF_COUNTER_GET, &counter));
	return counter.flags & DRM_PUMICE_PERF_COUNTER_GLOBAL;
}

static void find_every_counter(int fd)
{
	u32 i, id;

	for (i = 0; i < PUMICE_PERF_NUMBER; i++) {
		CHECK_OK(gpu_perfmon_create(fd, &i, 1, &id));
		CHECK_OK(gpu_perfmon_destroy(fd, id));
	}
}

static void find_own_counters_only(int fd)
{
	const u32 mixed[2] = { PUMICE_PERF_CDM_GROUPS, PUMICE_PERF_USC_WAVES };
	u32 i, id, global = 0;

	for (i = 0; i < PUMICE_PERF_NUMBER; i++) {
		int err = gpu_perfmon_create(fd, &i, 1, &id);

		CHECK_EQUAL(err, is_global(fd, i) ? -EACCES : 0);
		global += !!err;
		if (!err)
			CHECK_OK(gpu_perfmon_destroy(fd, id));
	}
	CHECK(global > 0 && global < PUMICE_PERF_NUMBER);
	CHECK_ERROR(gpu_perfmon_create(fd, mixed, 2, &id), EACCES);
}

/* Counters of blocks shared by data masters show the activity of others. */
static void global_counters_need_rights(void)
{
	int fd = need_gpu();

	find_every_counter(fd);
	as_unprivileged(fd, -1, find_own_counters_only);
	as_unprivileged(fd, CAP_SYS_NICE, find_own_counters_only);
	as_unprivileged(fd, CAP_PERFMON_BIT, find_every_counter);
	as_unprivileged(fd, CAP_SYS_ADMIN, find_every_counter);
}

static void administrator_may_give_global_counters_away(void)
{
	int fd = need_gpu();

	CHECK_OK(write_file(PARANOID, "0"));
	as_unprivileged(fd, -1, find_every_counter);
	CHECK_OK(write_file(PARANOID, "1"));
	as_unprivileged(fd, -1, find_own_counters_only);
	CHECK_EQUAL(write_file(PARANOID, "2"), -EINVAL);
	CHECK_EQUAL(write_file(PARANOID, "-1"), -EINVAL);
	as_unprivileged(fd, -1, find_own_counters_only);
}

/* Jobs of another context before, between and after do not count. */
static void own_counters_count_the_context_alone(void)
{
	static const u32 own[2] = { PUMICE_PERF_CDM_GROUPS, PUMICE_PERF_CDM_COMMANDS };
	struct fixture fx = fx_open(), other = fx_open();
	struct drm_pumice_sync done = then_signal(fx.sync, 0);
	struct drm_pumice_job job = { .context = fx.context, .syncs = ARRAY_OF(&done, 1) };
	u64 values[2];
	u32 i;

	CHECK_OK(gpu_perfmon_create(fx.fd, own, 2, &job.perfmon));
	fx_run_on(&other);
	for (i = 0; i < 4; i++) {
		job.stream = fx_store_stream(&fx, fx.data.va, i);
		CHECK_OK(gpu_submit(fx.fd, &job, 1, NULL));
		CHECK_EQUAL(fx_wait(&fx), 1);
	}
	CHECK_OK(gpu_perfmon_values(fx.fd, job.perfmon, 0, values));
	CHECK_EQUAL(values[0], 4);
}

/* A job as submitted by user space built before performance monitors. */
static void shorter_job_of_an_older_user_runs(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_sync sync = then_signal(fx.sync, 0);
	struct drm_pumice_job job = {
		.context = fx.context, .stream = fx_store_stream(&fx, fx.data.va, 3),
		.syncs = ARRAY_OF(&sync, 1),
	};
	struct drm_pumice_submit submit = {
		.jobs = { .stride = offsetof(struct drm_pumice_job, perfmon), .count = 1,
			  .array = (uintptr_t)&job },
	};

	CHECK_OK(gpu_ioctl(fx.fd, DRM_IOCTL_PUMICE_SUBMIT, &submit));
	CHECK_EQUAL(fx_wait(&fx), 1);
	CHECK_EQUAL(fx.data.cpu[0], 3);
	submit.jobs.stride -= 4;
	CHECK_ERROR(gpu_ioctl(fx.fd, DRM_IOCTL_PUMICE_SUBMIT, &submit), EINVAL);
}

static void statistics_count_and_survive_a_reset(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_query_stats before = need_stats(fx.fd), after;

	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, fx.data.va, 1)), 1);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 1)), -EIO);
	after = need_stats(fx.fd);
	CHECK_EQUAL(after.jobs_submitted, before.jobs_submitted + 2);
	CHECK_EQUAL(after.jobs_done, before.jobs_done + 2);
	CHECK_EQUAL(after.jobs_faulted, before.jobs_faulted + 1);
	CHECK(after.compute_busy > before.compute_busy);
	CHECK_EQUAL(after.geometry_busy, before.geometry_busy);
	CHECK_EQUAL(after.fragment_busy, before.fragment_busy);
	CHECK_EQUAL(after.transfer_busy, before.transfer_busy);
	CHECK(after.mmu_faults > before.mmu_faults);
	CHECK_EQUAL(after.contexts, before.contexts);
	CHECK_EQUAL(after.tasks + after.waves + after.jobs_firmware, 0);
	need_flr();
	before = after;
	after = need_stats(fx.fd);
	CHECK(after.compute_busy >= before.compute_busy);
	CHECK(after.mmu_faults >= before.mmu_faults);
	CHECK_EQUAL(after.resets, before.resets + 1);
}

static void statistics_show_the_present(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_query_stats stats;

	fx_block(&fx);
	need_in_flight(1);
	stats = need_stats(fx.fd);
	CHECK_EQUAL(stats.contexts_busy, 1);
	CHECK_EQUAL(stats.jobs_firmware, 1);
	CHECK(stats.tasks && stats.waves);
}

static int set_label(int fd, u32 handle, const char *text)
{
	struct drm_pumice_bo_set_label args = { .handle = handle, .label = (uintptr_t)text };

	return gpu_ioctl(fd, DRM_IOCTL_PUMICE_BO_SET_LABEL, &args);
}

static void label_of_a_buffer_is_checked(void)
{
	struct drm_pumice_bo_set_label args = { .pad = 1 };
	char text[DRM_PUMICE_MAX_LABEL + 1];
	int fd = need_gpu();
	u32 handle = need_bo(fd, PAGE);

	memset(text, 'x', sizeof(text));
	text[DRM_PUMICE_MAX_LABEL] = '\0';
	CHECK_ERROR(set_label(fd, handle, text), E2BIG);
	text[DRM_PUMICE_MAX_LABEL - 1] = '\0';
	CHECK_OK(set_label(fd, handle, text));
	CHECK_OK(set_label(fd, handle, "vertices"));
	CHECK_OK(set_label(fd, handle, NULL));
	CHECK_ERROR(set_label(fd, handle, (void *)8), EFAULT);
	CHECK_ERROR(set_label(fd, NO_HANDLE, "x"), ENOENT);
	CHECK_ERROR(gpu_ioctl(fd, DRM_IOCTL_PUMICE_BO_SET_LABEL, &args), EINVAL);
}

static void label_is_shown_in_debugfs(void)
{
	char name[64], path[128], text[65536];
	int fd = need_gpu(), file;
	ssize_t got;

	CHECK_OK(set_label(fd, need_bo(fd, 3 * PAGE), "a label to find"));
	CHECK_OK(gpu_pci_name(name, sizeof(name)));
	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%s/bos", name);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		file = open("/sys/kernel/debug/dri/0/bos", O_RDONLY | O_CLOEXEC);
	CHECK(file >= 0);
	got = read(file, text, sizeof(text) - 1);
	CHECK(got > 0);
	text[got] = '\0';
	CHECK(strstr(text, "12288 bytes"));
	CHECK(strstr(text, ": a label to find\n"));
	close(file);
}

static const struct test_case cases[] = {
	TEST_CASE(each_job_has_its_result),
	TEST_CASE(shorter_result_of_an_older_user_is_filled),
	TEST_CASE(old_results_are_overwritten),
	TEST_CASE(job_that_runs_has_no_result_yet),
	TEST_CASE(result_of_an_unknown_context_is_refused),
	TEST_CASE(perfmon_counts_the_jobs_that_name_it),
	TEST_CASE(perfmon_of_a_job_that_runs_is_busy),
	TEST_CASE(perfmon_refuses_bad_arguments),
	TEST_CASE(perfmons_of_a_file_are_limited),
	TEST_CASE(every_counter_describes_itself),
	TEST_CASE(global_counters_need_rights),
	TEST_CASE(administrator_may_give_global_counters_away),
	TEST_CASE(own_counters_count_the_context_alone),
	TEST_CASE(shorter_job_of_an_older_user_runs),
	TEST_CASE(statistics_count_and_survive_a_reset),
	TEST_CASE(statistics_show_the_present),
	TEST_CASE(label_of_a_buffer_is_checked),
	TEST_CASE(label_is_shown_in_debugfs),
};

TEST_MAIN(cases)
