// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Buffer objects: size, content, CPU mappings, sharing, labels. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "igt_pumice.h"
#include "fixture.h"

IGT_TEST_DESCRIPTION("Buffer objects, as the CPU, the GPU and other files see them.");

static void create_rounds_up(void)
{
	static const struct {
		u64 requested, created;
	} sizes[] = {
		{ 1, PAGE }, { PAGE - 1, PAGE }, { PAGE, PAGE }, { PAGE + 1, 2 * PAGE },
		{ MIB + 1, MIB + PAGE },
	};
	int fd = need_gpu();
	u32 i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct drm_pumice_bo_create create = { .size = sizes[i].requested };

		do_ioctl(fd, DRM_IOCTL_PUMICE_BO_CREATE, &create);
		igt_assert_eq_u64(create.size, sizes[i].created);
		igt_assert_neq_u32(create.handle, 0);
	}
}

static void create_bad_size(void)
{
	struct drm_pumice_bo_create none = { .size = 0 };
	struct drm_pumice_bo_create huge = { .size = DRM_PUMICE_MAX_BO_SIZE + 1 };
	struct drm_pumice_bo_create wrap = { .size = UINT64_MAX };
	int fd = need_gpu();

	do_ioctl_err(fd, DRM_IOCTL_PUMICE_BO_CREATE, &none, EINVAL);
	do_ioctl_err(fd, DRM_IOCTL_PUMICE_BO_CREATE, &huge, E2BIG);
	do_ioctl_err(fd, DRM_IOCTL_PUMICE_BO_CREATE, &wrap, E2BIG);
}

static void create_bad_flags(void)
{
	const u32 known = DRM_PUMICE_BO_WRITE_COMBINED | DRM_PUMICE_BO_COHERENT;
	struct drm_pumice_bo_create both = { .size = PAGE, .flags = known };
	int fd = need_gpu();
	u32 bit;

	do_ioctl_err(fd, DRM_IOCTL_PUMICE_BO_CREATE, &both, EINVAL);
	for (bit = 0; bit < 32; bit++) {
		struct drm_pumice_bo_create create = { .size = PAGE, .flags = 1u << bit };

		if (create.flags & known)
			continue;
		do_ioctl_err(fd, DRM_IOCTL_PUMICE_BO_CREATE, &create, EINVAL);
	}
}

/* Memory that others have just written and released. */
static void create_zeroed(void)
{
	int fd = need_gpu();
	u32 round, i;

	for (round = 0; round < 8; round++) {
		u32 handle = need_bo(fd, MIB), *cpu = need_cpu(fd, handle, MIB);

		for (i = 0; i < MIB / 4; i++)
			igt_assert_eq_u32(cpu[i], 0);
		memset(cpu, 0xff, MIB);
		munmap(cpu, MIB);
		CHECK_OK(gpu_bo_close(fd, handle));
	}
}

static void mmap_bad_handle(void)
{
	struct drm_pumice_bo_mmap_offset map = { .handle = NO_HANDLE };
	int fd = need_gpu();

	do_ioctl_err(fd, DRM_IOCTL_PUMICE_BO_MMAP_OFFSET, &map, ENOENT);
}

static void mmap_other_file(void)
{
	int fd = need_gpu(), other = need_gpu();
	u32 handle = need_bo(fd, PAGE);
	u64 offset;
	void *cpu;

	CHECK_OK(gpu_bo_offset(fd, handle, &offset));
	cpu = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, other, (off_t)offset);
	igt_assert(cpu == MAP_FAILED);
	igt_assert_eq(errno, EACCES);
}

static void mmap_beyond(void)
{
	int fd = need_gpu();
	u32 handle = need_bo(fd, PAGE);
	u64 offset;

	CHECK_OK(gpu_bo_offset(fd, handle, &offset));
	igt_assert(mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, (off_t)offset) == MAP_FAILED);
	igt_assert_eq(errno, EINVAL);
}

static void mmap_outlives_handle(void)
{
	int fd = need_gpu();
	u32 handle = need_bo(fd, PAGE), *cpu = need_cpu(fd, handle, PAGE);

	cpu[3] = 33;
	CHECK_OK(gpu_bo_close(fd, handle));
	igt_assert_eq_u32(cpu[3], 33);
	cpu[4] = 44;
	igt_assert_eq_u32(cpu[4], 44);
}

static void two_mmaps_agree(void)
{
	int fd = need_gpu();
	u32 handle = need_bo(fd, PAGE);
	u32 *first = need_cpu(fd, handle, PAGE), *second = need_cpu(fd, handle, PAGE);

	first[7] = 77;
	igt_assert_eq_u32(second[7], 77);
}

/* Data written by either side is read by the other, without flushes. */
static void coherent(void)
{
	struct fixture fx = fx_open();
	u32 round, i;

	for (round = 0; round < 16; round++) {
		for (i = 0; i < 32; i++)
			fx.data.cpu[i] = round * 1000 + i;
		igt_assert_eq(fx_run(&fx, fx_copy_stream(&fx, fx_data(&fx, 64), fx.data.va,
							 1)), 1);
		fx_check_words(fx.data.cpu + 64, round * 1000 + 1);
	}
}

static void closed_handle(void)
{
	int fd = need_gpu();
	u32 handle = need_bo(fd, PAGE);
	struct drm_pumice_bo_mmap_offset map = { .handle = handle };

	CHECK_OK(gpu_bo_close(fd, handle));
	do_ioctl_err(fd, DRM_IOCTL_PUMICE_BO_MMAP_OFFSET, &map, ENOENT);
}

static int need_export(int fd, u32 handle)
{
	int shared = -1;

	igt_assert_eq(drmPrimeHandleToFD(fd, handle, DRM_CLOEXEC | DRM_RDWR, &shared), 0);
	return shared;
}

static void prime_same_file(void)
{
	int fd = need_gpu(), shared;
	u32 handle = need_bo(fd, PAGE), again;

	shared = need_export(fd, handle);
	igt_assert_eq(drmPrimeFDToHandle(fd, shared, &again), 0);
	igt_assert_eq_u32(again, handle);
	close(shared);
}

static void prime_other_file(void)
{
	int fd = need_gpu(), other = need_gpu(), shared;
	u32 handle = need_bo(fd, PAGE), imported;
	u32 *here = need_cpu(fd, handle, PAGE), *there;

	shared = need_export(fd, handle);
	igt_assert_eq(drmPrimeFDToHandle(other, shared, &imported), 0);
	close(shared);
	there = need_cpu(other, imported, PAGE);
	here[1] = 11;
	igt_assert_eq_u32(there[1], 11);
	close(fd);
	there[2] = 22;
	igt_assert_eq_u32(here[2], 22);
}

static void prime_exclusive(void)
{
	int fd = need_gpu(), shared = -1;
	u32 handle;

	CHECK_OK(gpu_bo_create(fd, PAGE, need_vm(fd), &handle));
	igt_assert_neq(drmPrimeHandleToFD(fd, handle, DRM_CLOEXEC, &shared), 0);
	igt_assert_eq(shared, -1);
}

static void exclusive_other_vm(void)
{
	int fd = need_gpu();
	u32 vm = need_vm(fd), other = need_vm(fd), handle;
	struct drm_pumice_bind_op op;

	CHECK_OK(gpu_bo_create(fd, PAGE, vm, &handle));
	op = bind_map(handle, 0, FX_FREE, PAGE, 0);
	CHECK_OK(gpu_bind(fd, vm, &op, 1, NULL));
	igt_assert_neq(gpu_bind(fd, other, &op, 1, NULL), 0);
}

static int set_label(int fd, u32 handle, const char *label)
{
	struct drm_pumice_bo_set_label set = { .handle = handle, .label = (uintptr_t)label };

	return gpu_ioctl(fd, DRM_IOCTL_PUMICE_BO_SET_LABEL, &set);
}

static void label_bad_arguments(void)
{
	static char most[DRM_PUMICE_MAX_LABEL + 1];
	int fd = need_gpu();
	u32 handle = need_bo(fd, PAGE);
	struct drm_pumice_bo_set_label padded = { .handle = handle, .pad = 1 };

	memset(most, 'x', sizeof(most) - 1);
	igt_assert_eq(set_label(fd, NO_HANDLE, "a"), -ENOENT);
	igt_assert_eq(set_label(fd, handle, most), -E2BIG);
	igt_assert_eq(set_label(fd, handle, (const char *)(uintptr_t)16), -EFAULT);
	do_ioctl_err(fd, DRM_IOCTL_PUMICE_BO_SET_LABEL, &padded, EINVAL);
	most[DRM_PUMICE_MAX_LABEL - 1] = 0;
	igt_assert_eq(set_label(fd, handle, most), 0);
	igt_assert_eq(set_label(fd, handle, NULL), 0);
}

int igt_main()
{
	igt_fixture()
		igt_pumice_require(IGT_PUMICE_PATIENT);

	igt_pumice_subtest("create-rounds-up", "a size is rounded up to pages and returned",
			   create_rounds_up);
	igt_pumice_subtest("create-bad-size", "sizes of zero and above the limit are refused",
			   create_bad_size);
	igt_pumice_subtest("create-bad-flags", "unknown flags, and both of a pair, are refused",
			   create_bad_flags);
	igt_pumice_subtest("create-zeroed", "new memory has no data of its previous owner",
			   create_zeroed);
	igt_pumice_subtest("mmap-bad-handle", "an unknown handle cannot be mapped",
			   mmap_bad_handle);
	igt_pumice_subtest("mmap-other-file", "an offset is not valid on another file",
			   mmap_other_file);
	igt_pumice_subtest("mmap-beyond", "a mapping cannot be longer than the object",
			   mmap_beyond);
	igt_pumice_subtest("mmap-outlives-handle", "a mapping keeps its memory",
			   mmap_outlives_handle);
	igt_pumice_subtest("two-mmaps-agree", "two mappings show the same memory", two_mmaps_agree);
	igt_pumice_subtest("coherent", "CPU and GPU see each other's writes", coherent);
	igt_pumice_subtest("closed-handle", "a closed handle is invalid", closed_handle);
	igt_pumice_subtest("prime-same-file", "an object that is imported back has its old handle",
			   prime_same_file);
	igt_pumice_subtest("prime-other-file", "a shared object outlives the file that exported it",
			   prime_other_file);
	igt_pumice_subtest("prime-exclusive", "an object of one VM cannot be exported",
			   prime_exclusive);
	igt_pumice_subtest("exclusive-other-vm", "an object of one VM cannot be bound by another",
			   exclusive_other_vm);
	igt_pumice_subtest("label-bad-arguments",
			   "labels: length, handle, pointer and padding are checked",
			   label_bad_arguments);
}
