// SPDX-License-Identifier: MIT
/* BO_CREATE, BO_MMAP_OFFSET, PRIME: arguments, content, lifetime. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <drm_mode.h>
#include <xf86drm.h>

#include "harness.h"
#include "fixture.h"

/* Create a BO with unmodified arguments. */
static int create(int fd, struct drm_pumice_bo_create args)
{
	return gpu_ioctl(fd, DRM_IOCTL_PUMICE_BO_CREATE, &args);
}

static void bo_of_no_bytes_is_refused(void)
{
	CHECK_ERROR(create(need_gpu(), (struct drm_pumice_bo_create){ .size = 0 }), EINVAL);
}

static void bo_larger_than_memory_is_refused(void)
{
	static const u64 sizes[] = {
		1ull << 60, 1ull << 63, UINT64_MAX, UINT64_MAX - PAGE + 2, UINT64_MAX - PAGE + 1,
	};
	int fd = need_gpu();
	u32 i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int err = create(fd, (struct drm_pumice_bo_create){ .size = sizes[i] });

		if (err != -EINVAL && err != -ENOMEM && err != -E2BIG && err != -EFBIG)
			test_fail(__FILE__, __LINE__, "size 0x%llx gives %d",
				  (unsigned long long)sizes[i], err);
	}
}

static void size_is_rounded_up_to_pages(void)
{
	static const u64 sizes[][2] = {
		{ 1, PAGE }, { PAGE - 1, PAGE }, { PAGE, PAGE }, { PAGE + 1, 2 * PAGE },
	};
	int fd = need_gpu();
	u32 i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct drm_pumice_bo_create args = { .size = sizes[i][0] };

		CHECK_OK(gpu_ioctl(fd, DRM_IOCTL_PUMICE_BO_CREATE, &args));
		CHECK_EQUAL(args.size, sizes[i][1]);
	}
}

static void unknown_bo_flags_are_refused(void)
{
	int fd = need_gpu();
	u32 bit;

	for (bit = 2; bit < 32; bit++)
		CHECK_ERROR(create(fd, (struct drm_pumice_bo_create){
			.size = PAGE, .flags = 1u << bit,
		}), EINVAL);
	CHECK_ERROR(create(fd, (struct drm_pumice_bo_create){
		.size = PAGE, .flags = DRM_PUMICE_BO_COHERENT | 1u << 2,
	}), EINVAL);
}

/* A store through a write-combined mapping reaches memory at an unspecified time. */
static void contradictory_bo_flags_are_refused(void)
{
	CHECK_ERROR(create(need_gpu(), (struct drm_pumice_bo_create){
		.size = PAGE, .flags = DRM_PUMICE_BO_WRITE_COMBINED | DRM_PUMICE_BO_COHERENT,
	}), EINVAL);
}

static u32 need_bo_of(int fd, u64 size, u32 flags)
{
	u32 handle;

	CHECK_OK(gpu_bo_create_of(fd, size, 0, flags, &handle));
	return handle;
}

/* The CPU's stores are read by a job, and the other way around, of any flags and page size. */
static void bos_with_flags_work_in_jobs(void)
{
	static const u32 flags[] = { 0, DRM_PUMICE_BO_WRITE_COMBINED, DRM_PUMICE_BO_COHERENT };
	static const u64 sizes[] = { PAGE, 4ull << 20 };
	struct fixture fx = fx_open();
	u32 i, s;

	for (i = 0; i < 6; i++) {
		u32 handle, *cpu;

		s = i / 3;
		handle = need_bo_of(fx.fd, sizes[s], flags[i % 3]);
		need_map(fx.fd, fx.vm, handle, 0, FX_FREE, sizes[s], 0);
		cpu = need_cpu(fx.fd, handle, sizes[s]);
		CHECK_EQUAL(cpu[0], 0);
		cpu[64] = 5 + i;
		CHECK_EQUAL(fx_run(&fx, fx_copy_stream(&fx, fx_data(&fx, 0), FX_FREE + 256, 1)), 1);
		CHECK_EQUAL(fx.data.cpu[0], 6 + i);
		CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 70 + i)), 1);
		fx_check_words(cpu, 70 + i);
	}
}

/* A job whose buffers all are coherent has no operations on caches, and sees new mappings. */
static void jobs_of_coherent_bos_alone_work(void)
{
	struct fixture fx = fx_open_of(DRM_PUMICE_BO_COHERENT);
	u32 i;

	for (i = 0; i < 4; i++) {
		u32 handle = need_bo_of(fx.fd, PAGE, DRM_PUMICE_BO_COHERENT), *cpu;

		need_map(fx.fd, fx.vm, handle, 0, FX_FREE + i * PAGE, PAGE, 0);
		cpu = need_cpu(fx.fd, handle, PAGE);
		CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE + i * PAGE, 90 + i)), 1);
		fx_check_words(cpu, 90 + i);
	}
}

/* The importer receives the same buffer. */
static void bo_flags_survive_a_share(void)
{
	struct fixture fx = fx_open();
	int other = need_gpu(), prime;
	u32 handle = need_bo_of(other, PAGE, DRM_PUMICE_BO_COHERENT), shared, *cpu;

	CHECK_OK(drmPrimeHandleToFD(other, handle, DRM_CLOEXEC | DRM_RDWR, &prime));
	CHECK_OK(drmPrimeFDToHandle(fx.fd, prime, &shared));
	close(prime);
	need_map(fx.fd, fx.vm, shared, 0, FX_FREE, PAGE, 0);
	cpu = need_cpu(other, handle, PAGE);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 77)), 1);
	fx_check_words(cpu, 77);
}

static void bo_padding_must_be_zero(void)
{
	CHECK_ERROR(create(need_gpu(), (struct drm_pumice_bo_create){ .size = PAGE, .pad = 1 }),
		    EINVAL);
}

static void exclusive_vm_must_exist(void)
{
	CHECK_ERROR(create(need_gpu(), (struct drm_pumice_bo_create){
		.size = PAGE, .exclusive_vm = NO_HANDLE,
	}), ENOENT);
}

static void exclusive_vm_of_another_file_is_refused(void)
{
	int fd = need_gpu(), other = need_gpu();
	u32 vm;

	/* The other file has more VMs, so its last id is not an id of this file. */
	need_vm(other);
	vm = need_vm(other);
	need_vm(fd);
	CHECK_ERROR(create(fd, (struct drm_pumice_bo_create){ .size = PAGE, .exclusive_vm = vm }),
		    ENOENT);
}

static void exclusive_bo_binds_in_its_vm_only(void)
{
	int fd = need_gpu();
	u32 vm = need_vm(fd), other = need_vm(fd), handle, failed;
	struct drm_pumice_bind_op op;

	CHECK_OK(gpu_bo_create(fd, PAGE, vm, &handle));
	op = bind_map(handle, 0, FX_FREE, PAGE, 0);
	CHECK_OK(gpu_bind(fd, vm, &op, 1, NULL));
	CHECK_ERROR(gpu_bind(fd, other, &op, 1, &failed), EINVAL);
	CHECK_EQUAL(failed, 0);
}

static void exclusive_bo_is_not_exported(void)
{
	int fd = need_gpu(), prime = -1;
	u32 vm = need_vm(fd), handle;

	CHECK_OK(gpu_bo_create(fd, PAGE, vm, &handle));
	CHECK(drmPrimeHandleToFD(fd, handle, DRM_CLOEXEC | DRM_RDWR, &prime));
	CHECK_EQUAL(prime, -1);
}

static void exclusive_bo_works_in_jobs(void)
{
	struct fixture fx = fx_open();
	u32 handle, *cpu;

	CHECK_OK(gpu_bo_create(fx.fd, PAGE, fx.vm, &handle));
	need_map(fx.fd, fx.vm, handle, 0, FX_FREE, PAGE, 0);
	cpu = need_cpu(fx.fd, handle, PAGE);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 77)), 1);
	fx_check_words(cpu, 77);
}

static void mmap_offset_of_no_handle_is_refused(void)
{
	int fd = need_gpu();
	u64 offset;

	CHECK_ERROR(gpu_bo_offset(fd, 0, &offset), ENOENT);
	CHECK_ERROR(gpu_bo_offset(fd, NO_HANDLE, &offset), ENOENT);
}

static void mmap_offset_of_a_foreign_handle_is_refused(void)
{
	int fd = need_gpu(), other = need_gpu();
	u32 handle;
	u64 offset;

	need_bo(other, PAGE);
	handle = need_bo(other, PAGE);
	need_bo(fd, PAGE);
	CHECK_ERROR(gpu_bo_offset(fd, handle, &offset), ENOENT);
}

static void mmap_offset_padding_must_be_zero(void)
{
	int fd = need_gpu();
	struct drm_pumice_bo_mmap_offset args = { .handle = need_bo(fd, PAGE), .pad = 1 };

	CHECK_ERROR(gpu_ioctl(fd, DRM_IOCTL_PUMICE_BO_MMAP_OFFSET, &args), EINVAL);
}

static void mapping_another_files_offset_is_refused(void)
{
	int fd = need_gpu(), other = need_gpu();
	u64 offset;

	CHECK_OK(gpu_bo_offset(other, need_bo(other, PAGE), &offset));
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, (off_t)offset) == MAP_FAILED);
}

static void mapping_beyond_the_bo_is_refused(void)
{
	int fd = need_gpu();
	u64 offset;

	CHECK_OK(gpu_bo_offset(fd, need_bo(fd, PAGE), &offset));
	CHECK(mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, (off_t)offset) == MAP_FAILED);
}

static void new_memory_is_zero(void)
{
	int fd = need_gpu();
	u32 round, i;

	/* Dirty memory first, so that the second round would get it. */
	for (round = 0; round < 2; round++) {
		u32 handle = need_bo(fd, MIB);
		u32 *cpu = need_cpu(fd, handle, MIB);

		for (i = 0; i < MIB / sizeof(u32); i++)
			CHECK_EQUAL(cpu[i], 0);
		memset(cpu, 0xff, MIB);
		munmap(cpu, MIB);
		CHECK_OK(gpu_bo_close(fd, handle));
	}
}

static void two_mappings_show_the_same_memory(void)
{
	int fd = need_gpu();
	u32 handle = need_bo(fd, 2 * PAGE);
	u32 *a = need_cpu(fd, handle, 2 * PAGE), *b = need_cpu(fd, handle, 2 * PAGE);

	CHECK(a != b);
	a[PAGE / sizeof(u32)] = 0x1234;
	CHECK_EQUAL(b[PAGE / sizeof(u32)], 0x1234);
}

static void cpu_and_gpu_see_each_others_writes(void)
{
	struct fixture fx = fx_open();
	u32 i;

	for (i = 0; i < 32; i++)
		fx.data.cpu[i] = 1000 + i;
	CHECK_EQUAL(fx_run(&fx, fx_copy_stream(&fx, fx_data(&fx, 64), fx.data.va, 5)), 1);
	fx_check_words(fx.data.cpu + 64, 1005);
	for (i = 0; i < 32; i++)
		fx.data.cpu[i] = 2000 + i;
	CHECK_EQUAL(fx_run(&fx, fx_copy_stream(&fx, fx_data(&fx, 64), fx.data.va, 5)), 1);
	fx_check_words(fx.data.cpu + 64, 2005);
}

static void prime_round_trip_gives_the_same_handle(void)
{
	int fd = need_gpu(), prime = -1;
	u32 handle = need_bo(fd, PAGE), again = 0;

	CHECK_OK(drmPrimeHandleToFD(fd, handle, DRM_CLOEXEC | DRM_RDWR, &prime));
	CHECK_OK(drmPrimeFDToHandle(fd, prime, &again));
	CHECK_EQUAL(again, handle);
}

static void imported_memory_is_shared_with_its_jobs(void)
{
	int fd = need_gpu(), prime = -1;
	struct fixture fx = fx_open();
	u32 handle = need_bo(fd, PAGE), imported = 0;
	u32 *cpu = need_cpu(fd, handle, PAGE);

	CHECK_OK(drmPrimeHandleToFD(fd, handle, DRM_CLOEXEC | DRM_RDWR, &prime));
	CHECK_OK(drmPrimeFDToHandle(fx.fd, prime, &imported));
	close(prime);
	need_map(fx.fd, fx.vm, imported, 0, FX_FREE, PAGE, 0);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 9)), 1);
	fx_check_words(cpu, 9);
}

static void imported_memory_outlives_its_exporter(void)
{
	int fd = need_gpu(), prime = -1;
	struct fixture fx = fx_open();
	u32 handle = need_bo(fd, PAGE), imported = 0, *cpu;

	CHECK_OK(drmPrimeHandleToFD(fd, handle, DRM_CLOEXEC | DRM_RDWR, &prime));
	CHECK_OK(drmPrimeFDToHandle(fx.fd, prime, &imported));
	close(prime);
	close(fd);
	need_map(fx.fd, fx.vm, imported, 0, FX_FREE, PAGE, 0);
	cpu = need_cpu(fx.fd, imported, PAGE);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 10)), 1);
	fx_check_words(cpu, 10);
}

static void exported_file_can_be_mapped(void)
{
	int fd = need_gpu(), prime = -1;
	u32 handle = need_bo(fd, PAGE);
	u32 *cpu = need_cpu(fd, handle, PAGE), *shared;

	CHECK_OK(drmPrimeHandleToFD(fd, handle, DRM_CLOEXEC | DRM_RDWR, &prime));
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, prime, 0);
	CHECK(shared != MAP_FAILED);
	shared[3] = 333;
	CHECK_EQUAL(cpu[3], 333);
}

static void closed_handle_is_unknown(void)
{
	int fd = need_gpu();
	u32 handle = need_bo(fd, PAGE);
	u64 offset;

	CHECK_OK(gpu_bo_close(fd, handle));
	CHECK_ERROR(gpu_bo_offset(fd, handle, &offset), ENOENT);
	CHECK_ERROR(gpu_bo_close(fd, handle), EINVAL);
}

static void bound_memory_outlives_its_handle(void)
{
	struct fixture fx = fx_open();
	u32 handle = need_bo(fx.fd, PAGE);
	u32 *cpu = need_cpu(fx.fd, handle, PAGE);

	need_map(fx.fd, fx.vm, handle, 0, FX_FREE, PAGE, 0);
	CHECK_OK(gpu_bo_close(fx.fd, handle));
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 11)), 1);
	fx_check_words(cpu, 11);
}

/* The bits of a row may need more than 32 bits although its bytes do not. */
static void sizes_of_dumb_buffers_do_not_overflow(void)
{
	static const struct {
		u32 width, height, bpp;
		u64 pitch, size;
	} good[] = {
		{ 0x20000001, 1, 8, 0x20000001, 0x20001000 },
		{ 0x08000001, 1, 32, 0x20000004, 0x20001000 },
		{ 0x10000000, 3, 16, 0x20000000, 0x60000000 },
		{ 0x80000000, 1, 1, 0x10000000, 0x10000000 },
		{ 7, 5, 1, 1, 0x1000 },
	};
	static const struct {
		u32 width, height, bpp;
	} bad[] = {
		{ 0, 1, 32 }, { 1, 0, 32 }, { 1, 1, 0 }, { UINT32_MAX, 1, 16 },
		{ UINT32_MAX, UINT32_MAX, UINT32_MAX }, { 0x10000, 0x10000, 8 },
		{ UINT32_MAX, 1, 8 }, { 1, 1, UINT32_MAX },
	};
	int fd = drmOpenWithType("pumice", NULL, DRM_NODE_PRIMARY);
	struct drm_mode_create_dumb args;
	u32 i;

	CHECK(fd >= 0);
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		args = (struct drm_mode_create_dumb){
			.width = good[i].width, .height = good[i].height, .bpp = good[i].bpp,
		};
		CHECK_OK(gpu_ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &args));
		CHECK_EQUAL(args.pitch, good[i].pitch);
		CHECK_EQUAL(args.size, good[i].size);
		CHECK_OK(gpu_bo_close(fd, args.handle));
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		args = (struct drm_mode_create_dumb){
			.width = bad[i].width, .height = bad[i].height, .bpp = bad[i].bpp,
		};
		CHECK_ERROR(gpu_ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &args), EINVAL);
	}
}

static const struct test_case cases[] = {
	TEST_CASE(bo_of_no_bytes_is_refused),
	TEST_CASE(bo_larger_than_memory_is_refused),
	TEST_CASE(size_is_rounded_up_to_pages),
	TEST_CASE(unknown_bo_flags_are_refused),
	TEST_CASE(contradictory_bo_flags_are_refused),
	TEST_CASE(bos_with_flags_work_in_jobs),
	TEST_CASE(jobs_of_coherent_bos_alone_work),
	TEST_CASE(bo_flags_survive_a_share),
	TEST_CASE(bo_padding_must_be_zero),
	TEST_CASE(exclusive_vm_must_exist),
	TEST_CASE(exclusive_vm_of_another_file_is_refused),
	TEST_CASE(exclusive_bo_binds_in_its_vm_only),
	TEST_CASE(exclusive_bo_is_not_exported),
	TEST_CASE(exclusive_bo_works_in_jobs),
	TEST_CASE(mmap_offset_of_no_handle_is_refused),
	TEST_CASE(mmap_offset_of_a_foreign_handle_is_refused),
	TEST_CASE(mmap_offset_padding_must_be_zero),
	TEST_CASE(mapping_another_files_offset_is_refused),
	TEST_CASE(mapping_beyond_the_bo_is_refused),
	TEST_CASE(new_memory_is_zero),
	TEST_CASE(two_mappings_show_the_same_memory),
	TEST_CASE(cpu_and_gpu_see_each_others_writes),
	TEST_CASE(prime_round_trip_gives_the_same_handle),
	TEST_CASE(imported_memory_is_shared_with_its_jobs),
	TEST_CASE(imported_memory_outlives_its_exporter),
	TEST_CASE(exported_file_can_be_mapped),
	TEST_CASE(closed_handle_is_unknown),
	TEST_CASE(bound_memory_outlives_its_handle),
	TEST_CASE(sizes_of_dumb_buffers_do_not_overflow),
};

TEST_MAIN(cases)
