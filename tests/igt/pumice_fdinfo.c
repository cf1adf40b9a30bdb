// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * fdinfo of the kernel's drm-usage-stats.rst: memory by its use, and the owner of engine time.
 * Values of single jobs are in tests/guest/t_usage.c.
 */
#include <string.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "igt_pumice.h"
#include "render.h"
#include "fixture.h"
#include "system.h"

IGT_TEST_DESCRIPTION("The memory and the GPU time that fdinfo reports of an open file.");

#define SIZE	(2 * MIB)
#define HELD	(FX_CODE_BYTES + FX_DATA_BYTES)	/* buffers of a fixture */

static u64 active(int fd)
{
	return fdinfo_bytes(fd, "drm-active-memory");
}

static void release(struct fixture *fx)
{
	CHECK_OK(gpu_context_destroy(fx->fd, fx->context));
	need_wait(fx->fd, fx->sync, 0);
}

static void keys(void)
{
	static const char * const engines[] = {
		"compute", "render-geometry", "render-fragment", "transfer",
	};
	int fd = need_gpu();
	char key[64];
	u32 i;

	igt_assert_lt_u64(0, fdinfo_number(fd, "drm-client-id"));
	igt_assert_eq_u64(fdinfo_bytes(fd, "drm-total-memory"), 0);
	igt_assert_eq_u64(fdinfo_bytes(fd, "drm-shared-memory"), 0);
	igt_assert_eq_u64(active(fd), 0);
	igt_assert_eq_u64(fdinfo_bytes(fd, "drm-resident-memory"), 0);
	igt_assert_eq_u64(fdinfo_bytes(fd, "drm-purgeable-memory"), 0);
	for (i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		snprintf(key, sizeof(key), "drm-engine-%s", engines[i]);
		igt_assert_eq_u64(fdinfo_number(fd, key), 0);
		snprintf(key, sizeof(key), "drm-maxfreq-%s", engines[i]);
		igt_assert_eq_u64(fdinfo_number(fd, key), need_info(fd).clock_hz);
	}
}

static void resident_when_used(void)
{
	int fd = need_gpu();
	u32 handle = need_bo(fd, SIZE);
	u32 *cpu;

	igt_assert_eq_u64(fdinfo_bytes(fd, "drm-total-memory"), SIZE);
	igt_assert_eq_u64(fdinfo_bytes(fd, "drm-resident-memory"), 0);
	cpu = need_cpu(fd, handle, SIZE);
	cpu[0] = 1;
	igt_assert_eq_u64(fdinfo_bytes(fd, "drm-resident-memory"), SIZE);
	munmap(cpu, SIZE);
	CHECK_OK(gpu_bo_close(fd, handle));
	igt_assert_eq_u64(fdinfo_bytes(fd, "drm-total-memory"), 0);
	igt_assert_eq_u64(fdinfo_bytes(fd, "drm-resident-memory"), 0);
}

/* Return a handle of @handle's buffer in another file. */
static u32 share(int fd, u32 handle, int other)
{
	int shared = -1;
	u32 imported;

	igt_assert_eq(drmPrimeHandleToFD(fd, handle, DRM_CLOEXEC | DRM_RDWR, &shared), 0);
	igt_assert_eq(drmPrimeFDToHandle(other, shared, &imported), 0);
	close(shared);
	return imported;
}

static void shared_in_both(void)
{
	int fd = need_gpu(), other = need_gpu();
	u32 handle = need_bo(fd, SIZE);

	need_bo(fd, PAGE);
	igt_assert_eq_u64(fdinfo_bytes(fd, "drm-shared-memory"), 0);
	share(fd, handle, other);
	igt_assert_eq_u64(fdinfo_bytes(fd, "drm-total-memory"), SIZE + PAGE);
	igt_assert_eq_u64(fdinfo_bytes(fd, "drm-shared-memory"), SIZE);
	igt_assert_eq_u64(fdinfo_bytes(other, "drm-total-memory"), SIZE);
	igt_assert_eq_u64(fdinfo_bytes(other, "drm-shared-memory"), SIZE);
}

static void active_while_a_job_runs(void)
{
	struct fixture fx = fx_open();

	igt_assert_eq_u64(active(fx.fd), 0);
	fx_run_on(&fx);
	igt_assert_eq_u64(active(fx.fd), HELD);
	release(&fx);
	igt_assert_eq_u64(active(fx.fd), 0);
}

/* A job that waits for another uses its memory, too. */
static void active_while_a_job_waits(void)
{
	struct fixture first = fx_open(), second = fx_open();
	struct drm_pumice_sync wait;
	struct drm_pumice_job job = {
		.context = second.context, .stream = fx_empty_stream(&second),
		.syncs = ARRAY_OF(&wait, 1),
	};
	int shared = -1;

	igt_assert_eq(drmSyncobjHandleToFD(first.fd, first.sync, &shared), 0);
	igt_assert_eq(drmSyncobjFDToHandle(second.fd, shared, &second.sync), 0);
	fx_run_on(&first);
	wait = wait_for(second.sync, 0);
	CHECK_OK(gpu_submit(second.fd, &job, 1, NULL));
	igt_assert_eq_u64(active(second.fd), HELD);
	release(&first);
	fx_check_works(&second);
	igt_assert_eq_u64(active(second.fd), 0);
}

static void unbound_is_not_active(void)
{
	struct fixture fx = fx_open();
	u32 bound = need_bo(fx.fd, SIZE);

	need_bo(fx.fd, 2 * SIZE);
	need_map(fx.fd, fx.vm, bound, 0, FX_FREE, SIZE, 0);
	fx_run_on(&fx);
	igt_assert_eq_u64(active(fx.fd), HELD + SIZE);
	release(&fx);
	igt_assert_eq_u64(active(fx.fd), 0);
}

/* Such memory has no reservation of its own. */
static void active_of_one_vm(void)
{
	struct fixture fx = fx_open();
	u32 own, foreign;

	CHECK_OK(gpu_bo_create(fx.fd, SIZE, fx.vm, &own));
	CHECK_OK(gpu_bo_create(fx.fd, 2 * SIZE, need_vm(fx.fd), &foreign));
	need_map(fx.fd, fx.vm, own, 0, FX_FREE, SIZE, 0);
	fx_run_on(&fx);
	igt_assert_eq_u64(active(fx.fd), HELD + SIZE);
	release(&fx);
	igt_assert_eq_u64(active(fx.fd), 0);
}

static void active_in_every_file(void)
{
	struct fixture fx = fx_open();
	int other = need_gpu();

	need_bo(other, SIZE);
	share(fx.fd, fx.data.handle, other);
	igt_assert_eq_u64(active(other), 0);
	fx_run_on(&fx);
	igt_assert_eq_u64(active(other), FX_DATA_BYTES);
	release(&fx);
	igt_assert_eq_u64(active(other), 0);
}

/* The job was submitted while the buffer was bound, and may use it until it ends. */
static void active_after_unmap(void)
{
	struct fixture fx = fx_open();
	u32 handle = need_bo(fx.fd, SIZE);

	need_map(fx.fd, fx.vm, handle, 0, FX_FREE, SIZE, 0);
	fx_run_on(&fx);
	need_unmap(fx.fd, fx.vm, FX_FREE, SIZE);
	igt_assert_eq_u64(active(fx.fd), HELD + SIZE);
	release(&fx);
	igt_assert_eq_u64(active(fx.fd), 0);
}

static void active_is_not_purgeable(void)
{
	struct fixture fx = fx_open();
	u32 handle = need_bo(fx.fd, SIZE);
	struct drm_pumice_bo_madvise advice = {
		.handle = handle, .advice = DRM_PUMICE_BO_DONTNEED,
	};

	need_map(fx.fd, fx.vm, handle, 0, FX_FREE, SIZE, 0);
	fx_run_on(&fx);
	CHECK_OK(gpu_ioctl(fx.fd, DRM_IOCTL_PUMICE_BO_MADVISE, &advice));
	igt_assert_eq_u64(fdinfo_bytes(fx.fd, "drm-purgeable-memory"), 0);
	release(&fx);
	igt_assert_eq_u64(fdinfo_bytes(fx.fd, "drm-purgeable-memory"), SIZE);
	need_unmap(fx.fd, fx.vm, FX_FREE, SIZE);
}

static void only_busy_engine_grows(void)
{
	struct fixture fx = fx_open(), other = fx_open();
	u64 first;

	fx_run_on(&fx);
	first = fdinfo_number(fx.fd, "drm-cycles-compute");
	while (fdinfo_number(fx.fd, "drm-cycles-compute") == first)
		;
	igt_assert_eq_u64(fdinfo_number(fx.fd, "drm-cycles-transfer"), 0);
	igt_assert_eq_u64(fdinfo_number(fx.fd, "drm-cycles-render-geometry"), 0);
	igt_assert_eq_u64(fdinfo_number(fx.fd, "drm-cycles-render-fragment"), 0);
	igt_assert_eq_u64(fdinfo_number(other.fd, "drm-cycles-compute"), 0);
	release(&fx);
	first = fdinfo_number(fx.fd, "drm-cycles-compute");
	fx_check_works(&other);
	igt_assert_eq_u64(fdinfo_number(fx.fd, "drm-cycles-compute"), first);
	igt_assert_lt_u64(0, fdinfo_number(other.fd, "drm-cycles-compute"));
}

int igt_main()
{
	igt_fixture()
		igt_pumice_require(IGT_PUMICE_PATIENT);

	igt_pumice_subtest("keys", "a new file shows every key, with nothing used", keys);
	igt_pumice_subtest("resident-when-used", "memory is resident from its first use",
			   resident_when_used);
	igt_pumice_subtest("shared-in-both", "a shared buffer counts in both files, as shared",
			   shared_in_both);
	igt_pumice_subtest("active-while-a-job-runs", "the memory of a running job is active",
			   active_while_a_job_runs);
	igt_pumice_subtest("active-while-a-job-waits", "the memory of a waiting job is active",
			   active_while_a_job_waits);
	igt_pumice_subtest("unbound-is-not-active", "a buffer that is not bound is idle",
			   unbound_is_not_active);
	igt_pumice_subtest("active-of-one-vm", "buffers of a single VM are active with its jobs",
			   active_of_one_vm);
	igt_pumice_subtest("active-in-every-file", "a shared buffer is active in every file",
			   active_in_every_file);
	igt_pumice_subtest("active-after-unmap", "an unmapped buffer is active until the job ends",
			   active_after_unmap);
	igt_pumice_subtest("active-is-not-purgeable", "active memory cannot be purged",
			   active_is_not_purgeable);
	igt_pumice_subtest("only-busy-engine-grows",
			   "time counts for the engine and the file that use it",
			   only_busy_engine_grows);
}
