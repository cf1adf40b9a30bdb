// SPDX-License-Identifier: MIT
/*
 * BO_MADVISE: unneeded buffers are purged when memory is short, needed or used ones
 * stay, and uses of purged ones are refused by name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xf86drm.h>

#include "harness.h"
#include "fixture.h"
#include "system.h"

#define BYTES	(4 * MIB)
#define AT	FX_FREE

/* Return: as ioctl(); *retained is set on success. */
static int advise(int fd, u32 handle, u32 advice, u32 *retained)
{
	struct drm_pumice_bo_madvise args = {
		.handle = handle, .advice = advice, .retained = 77,
	};
	int err = gpu_ioctl(fd, DRM_IOCTL_PUMICE_BO_MADVISE, &args);

	if (!err)
		*retained = args.retained;
	return err;
}

static u32 need_advised(int fd, u32 handle, u32 advice)
{
	u32 retained = 0;

	CHECK_OK(advise(fd, handle, advice, &retained));
	return retained;
}

/* Let the kernel call every shrinker for all it can free. */
static void shrink(void)
{
	CHECK_OK(write_file("/proc/sys/vm/drop_caches", "2"));
}

/* Create a buffer as in a cache: used by a job, and no longer bound. */
static u32 need_cached(struct fixture *fx, u32 exclusive_vm)
{
	u32 handle;

	CHECK_OK(gpu_bo_create(fx->fd, BYTES, exclusive_vm, &handle));
	need_map(fx->fd, fx->vm, handle, 0, AT, BYTES, 0);
	CHECK_EQUAL(fx_run(fx, fx_store_stream(fx, AT, 1000)), 1);
	need_unmap(fx->fd, fx->vm, AT, BYTES);
	return handle;
}

static void check_content(struct fixture *fx, u32 handle)
{
	u32 *cpu = need_cpu(fx->fd, handle, BYTES);

	fx_check_words(cpu, 1000);
	CHECK_OK(munmap(cpu, BYTES));
}

static void check_purged(struct fixture *fx, u32 handle)
{
	struct drm_pumice_bind_op op = bind_map(handle, 0, AT, BYTES, 0);
	u32 failed = 77;
	u64 offset;
	int prime;

	CHECK_EQUAL(need_advised(fx->fd, handle, DRM_PUMICE_BO_WILLNEED), 0);
	CHECK_EQUAL(need_advised(fx->fd, handle, DRM_PUMICE_BO_DONTNEED), 0);
	CHECK_EQUAL(need_advised(fx->fd, handle, DRM_PUMICE_BO_WILLNEED), 0);
	CHECK_ERROR(gpu_bind(fx->fd, fx->vm, &op, 1, &failed), ENODATA);
	CHECK_EQUAL(failed, 0);
	CHECK_ERROR(gpu_bo_offset(fx->fd, handle, &offset), ENODATA);
	CHECK_ERROR(drmPrimeHandleToFD(fx->fd, handle, DRM_CLOEXEC, &prime) ? -errno : 0, ENODATA);
	CHECK_EQUAL(fx_run(fx, fx_store_stream(fx, AT, 1)), -EIO);
	CHECK_OK(gpu_bo_close(fx->fd, handle));
	fx_check_works(fx);
}

static void bad_arguments_are_refused(void)
{
	int fd = need_gpu(), other = need_gpu();
	u32 handle = need_bo(fd, PAGE), retained, advice;
	struct drm_pumice_bo_madvise args = { .handle = handle, .pad = 1 };

	CHECK_ERROR(gpu_ioctl(fd, DRM_IOCTL_PUMICE_BO_MADVISE, &args), EINVAL);
	for (advice = 2; advice; advice <<= 1)
		CHECK_ERROR(advise(fd, handle, advice, &retained), EINVAL);
	CHECK_ERROR(advise(fd, 0, 0, &retained), ENOENT);
	CHECK_ERROR(advise(fd, NO_HANDLE, 0, &retained), ENOENT);
	CHECK_ERROR(advise(other, handle, DRM_PUMICE_BO_DONTNEED, &retained), ENOENT);
	CHECK_EQUAL(need_advised(fd, handle, DRM_PUMICE_BO_DONTNEED), 1);
	CHECK_EQUAL(need_advised(fd, handle, DRM_PUMICE_BO_DONTNEED), 1);
	CHECK_EQUAL(need_advised(fd, handle, DRM_PUMICE_BO_WILLNEED), 1);
	CHECK_EQUAL(need_advised(fd, handle, DRM_PUMICE_BO_WILLNEED), 1);
}

static void unneeded_buffers_are_purged(void)
{
	struct fixture fx = fx_open();
	u32 handle = need_cached(&fx, 0);

	CHECK_EQUAL(need_advised(fx.fd, handle, DRM_PUMICE_BO_DONTNEED), 1);
	shrink();
	check_purged(&fx, handle);
}

static void exclusive_buffer_is_purged_too(void)
{
	struct fixture fx = fx_open();
	u32 handle = need_cached(&fx, fx.vm);
	struct drm_pumice_bind_op op = bind_map(handle, 0, AT, BYTES, 0);

	CHECK_EQUAL(need_advised(fx.fd, handle, DRM_PUMICE_BO_DONTNEED), 1);
	shrink();
	CHECK_EQUAL(need_advised(fx.fd, handle, DRM_PUMICE_BO_WILLNEED), 0);
	CHECK_ERROR(gpu_bind(fx.fd, fx.vm, &op, 1, NULL), ENODATA);
	fx_check_works(&fx);
}

static void needed_buffers_are_kept(void)
{
	struct fixture fx = fx_open();
	u32 never = need_cached(&fx, 0), again = need_cached(&fx, 0);

	CHECK_EQUAL(need_advised(fx.fd, again, DRM_PUMICE_BO_DONTNEED), 1);
	CHECK_EQUAL(need_advised(fx.fd, again, DRM_PUMICE_BO_WILLNEED), 1);
	shrink();
	CHECK_EQUAL(need_advised(fx.fd, never, DRM_PUMICE_BO_WILLNEED), 1);
	CHECK_EQUAL(need_advised(fx.fd, again, DRM_PUMICE_BO_WILLNEED), 1);
	check_content(&fx, never);
	check_content(&fx, again);
	need_map(fx.fd, fx.vm, again, 0, AT, BYTES, 0);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, AT, 5)), 1);
}

/* Advice about a buffer that is bound, in whole or in part, applies after its unbinding. */
static void bound_buffers_are_kept_until_unbound(void)
{
	struct fixture fx = fx_open();
	u32 handle = need_cached(&fx, 0);

	need_map(fx.fd, fx.vm, handle, 0, AT, BYTES, 0);
	CHECK_EQUAL(need_advised(fx.fd, handle, DRM_PUMICE_BO_DONTNEED), 1);
	shrink();
	CHECK_EQUAL(fx_run(&fx, fx_copy_stream(&fx, fx.data.va, AT, 1)), 1);
	fx_check_words(fx.data.cpu, 1001);
	need_unmap(fx.fd, fx.vm, AT, BYTES - PAGE);
	shrink();
	CHECK_EQUAL(need_advised(fx.fd, handle, DRM_PUMICE_BO_DONTNEED), 1);
	need_unmap(fx.fd, fx.vm, AT + BYTES - PAGE, PAGE);
	shrink();
	check_purged(&fx, handle);
}

static void buffers_bound_in_a_second_vm_are_kept(void)
{
	struct fixture fx = fx_open();
	u32 handle = need_cached(&fx, 0), second = need_vm(fx.fd);

	need_map(fx.fd, second, handle, 0, AT, BYTES, 0);
	CHECK_EQUAL(need_advised(fx.fd, handle, DRM_PUMICE_BO_DONTNEED), 1);
	shrink();
	CHECK_EQUAL(need_advised(fx.fd, handle, DRM_PUMICE_BO_DONTNEED), 1);
	CHECK_OK(gpu_vm_destroy(fx.fd, second));
	shrink();
	check_purged(&fx, handle);
}

static void mapped_or_shared_buffers_are_kept(void)
{
	struct fixture fx = fx_open();
	u32 mapped = need_cached(&fx, 0), shared = need_cached(&fx, 0);
	u32 *cpu = need_cpu(fx.fd, mapped, BYTES);
	int prime;

	CHECK_OK(drmPrimeHandleToFD(fx.fd, shared, DRM_CLOEXEC, &prime));
	CHECK_EQUAL(need_advised(fx.fd, mapped, DRM_PUMICE_BO_DONTNEED), 1);
	CHECK_EQUAL(need_advised(fx.fd, shared, DRM_PUMICE_BO_DONTNEED), 1);
	shrink();
	CHECK_EQUAL(need_advised(fx.fd, mapped, DRM_PUMICE_BO_DONTNEED), 1);
	CHECK_EQUAL(need_advised(fx.fd, shared, DRM_PUMICE_BO_DONTNEED), 1);
	fx_check_words(cpu, 1000);
	check_content(&fx, shared);
	CHECK_OK(munmap(cpu, BYTES));
	shrink();
	check_purged(&fx, mapped);
}

/* Asynchronous operations reference their buffers from the call on. */
static void buffers_of_a_queued_bind_are_kept(void)
{
	struct fixture fx = fx_open();
	u32 handle = need_cached(&fx, 0), gate = need_sync(fx.fd), done = need_sync(fx.fd);
	struct drm_pumice_bind_op op = bind_map(handle, 0, AT, BYTES, 0);
	struct drm_pumice_sync syncs[2];

	fx_block(&fx);
	gate = fx.sync;
	syncs[0] = wait_for(gate, 0);
	syncs[1] = then_signal(done, 0);
	CHECK_EQUAL(need_advised(fx.fd, handle, DRM_PUMICE_BO_DONTNEED), 1);
	CHECK_OK(gpu_bind_async(fx.fd, fx.vm, &op, 1, syncs, 2));
	shrink();
	CHECK_EQUAL(need_advised(fx.fd, handle, DRM_PUMICE_BO_WILLNEED), 1);
	CHECK_OK(gpu_context_destroy(fx.fd, fx.context));
	need_wait(fx.fd, done, 0);
	fx.context = need_context(fx.fd, fx.vm);
	CHECK_EQUAL(fx_run(&fx, fx_copy_stream(&fx, fx.data.va, AT, 2)), 1);
	fx_check_words(fx.data.cpu, 1002);
}

static u64 free_bytes(void)
{
	char line[128];
	u64 kib = 0;
	FILE *file = fopen("/proc/meminfo", "re");

	CHECK(file);
	while (fgets(line, sizeof(line), file))
		sscanf(line, "MemFree: %llu kB", (unsigned long long *)&kib);
	fclose(file);
	return kib << 10;
}

/* Access memory, page after page, until all of it was accessed. */
static void use_memory(u64 bytes)
{
	volatile char *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	u64 at;

	CHECK(page != MAP_FAILED);
	for (at = 0; at < bytes; at += PAGE)
		page[at] = 1;
}

/*
 * The intended use: processes need more than is free, and get it. The buffers hold the
 * difference; if they were not purged, the OOM killer would end the process.
 */
static void memory_pressure_purges_unneeded_buffers(void)
{
	const u32 count = 64;
	struct fixture fx = fx_open();
	u32 handles[64], purged = 0, kept, i;
	u64 wanted;
	pid_t pid;
	int status;

	kept = need_cached(&fx, 0);
	for (i = 0; i < count; i++) {
		handles[i] = need_cached(&fx, 0);
		CHECK_EQUAL(need_advised(fx.fd, handles[i], DRM_PUMICE_BO_DONTNEED), 1);
	}
	wanted = free_bytes() + count * BYTES / 2;
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		CHECK_OK(write_file("/proc/self/oom_score_adj", "1000"));
		use_memory(wanted);
		exit(0);
	}
	CHECK_EQUAL(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	for (i = 0; i < count; i++)
		purged += !need_advised(fx.fd, handles[i], DRM_PUMICE_BO_WILLNEED);
	test_note("%u of %u buffers purged", purged, count);
	CHECK(purged > 0);
	CHECK_EQUAL(need_advised(fx.fd, kept, DRM_PUMICE_BO_WILLNEED), 1);
	check_content(&fx, kept);
}

static void advice_outlives_nothing(void)
{
	int fd;
	u32 i;

	need_nothing_left();
	fd = need_gpu();
	for (i = 0; i < 16; i++)
		need_advised(fd, need_bo(fd, PAGE), DRM_PUMICE_BO_DONTNEED);
	close(fd);
	shrink();
	need_nothing_left();
}

static const struct test_case cases[] = {
	TEST_CASE(bad_arguments_are_refused),
	TEST_CASE(unneeded_buffers_are_purged),
	TEST_CASE(exclusive_buffer_is_purged_too),
	TEST_CASE(needed_buffers_are_kept),
	TEST_CASE(bound_buffers_are_kept_until_unbound),
	TEST_CASE(buffers_bound_in_a_second_vm_are_kept),
	TEST_CASE(mapped_or_shared_buffers_are_kept),
	TEST_CASE(buffers_of_a_queued_bind_are_kept),
	TEST_CASE(memory_pressure_purges_unneeded_buffers),
	TEST_CASE(advice_outlives_nothing),
};

TEST_MAIN(cases)
