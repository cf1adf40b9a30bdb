// SPDX-License-Identifier: MIT
/* FREE_LIST_CREATE and _DESTROY: arguments, limits, lifetime. */
#include <errno.h>

#include "harness.h"
#include "render.h"
#include "system.h"

#define FILE_LISTS	64u	/* free lists that a file may have */

/* Creating a list must be refused and leave no object. */
static void refuse(int fd, struct drm_pumice_free_list_create args, int error)
{
	int before = need_counts().free_lists;

	CHECK_ERROR(gpu_free_list_create(fd, &args), error);
	CHECK_EQUAL(need_counts().free_lists, before);
}

/* Open a file after all objects of the previous case were freed. */
static int fresh_gpu(void)
{
	need_nothing_left();
	return need_gpu();
}

static void list_is_made_and_destroyed(void)
{
	int fd = fresh_gpu();
	u32 id = need_free_list(fd, render_list_args(need_vm(fd)));

	CHECK_EQUAL(need_counts().free_lists, 1);
	CHECK_OK(gpu_free_list_destroy(fd, id));
	CHECK_ERROR(gpu_free_list_destroy(fd, id), ENOENT);
	need_left((struct counts){ .vms = 1 });
}

static void unknown_flags_and_padding_are_refused(void)
{
	struct drm_pumice_free_list_create args;
	int fd = fresh_gpu();
	u32 vm = need_vm(fd), bit;

	for (bit = 1; bit < 32; bit++) {
		args = render_list_args(vm);
		args.flags = 1u << bit;
		refuse(fd, args, EINVAL);
	}
	args = render_list_args(vm);
	args.pad = 1;
	refuse(fd, args, EINVAL);
}

static void pages_must_be_valid(void)
{
	static const struct {
		u32 initial, max, grow, threshold;
		int error;
	} bad[] = {
		{ 0, 64, 64, 0, EINVAL },
		{ 0, 0, 0, 0, EINVAL },
		{ 65, 64, 1, 0, EINVAL },
		{ 64, 128, 0, 0, EINVAL },
		{ 64, 128, 64, 100, EINVAL },
		{ 64, 128, 64, UINT32_MAX, EINVAL },
		{ 64, DRM_PUMICE_MAX_FREE_LIST_PAGES + 1, 64, 0, E2BIG },
		{ UINT32_MAX, UINT32_MAX, 1, 0, E2BIG },
		{ UINT32_MAX, 1, 1, 0, EINVAL },
	};
	int fd = fresh_gpu();
	u32 vm = need_vm(fd), i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refuse(fd, (struct drm_pumice_free_list_create){
			.vm = vm, .initial_pages = bad[i].initial, .max_pages = bad[i].max,
			.grow_pages = bad[i].grow, .threshold = bad[i].threshold,
		}, bad[i].error);
}

static void odd_sizes_are_accepted(void)
{
	static const struct {
		u32 initial, max, grow, threshold;
	} good[] = {
		{ 1, 1, 0, 0 }, { 1, 1, 0, 99 }, { 1, 1, UINT32_MAX, 0 }, { 1, 7, 3, 50 },
		{ 511, 1025, 2, 1 }, { 513, 1u << 16, 1u << 31, 99 },
		{ 16, DRM_PUMICE_MAX_FREE_LIST_PAGES, 16, 10 },
	};
	int fd = need_gpu();
	u32 vm = need_vm(fd), i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECK_OK(gpu_free_list_destroy(fd, need_free_list(fd,
			(struct drm_pumice_free_list_create){
				.vm = vm, .initial_pages = good[i].initial,
				.max_pages = good[i].max, .grow_pages = good[i].grow,
				.threshold = good[i].threshold,
			})));
}

/* Two pages of the first 2 MiB have page tables. */
static void list_with_page_tables_has_a_page_for_data(void)
{
	static const u32 good[][3] = {
		{ 3, 3, 0 }, { 3, 4, 1 }, { 512, 513, 1 },
		{ 16, DRM_PUMICE_MAX_FREE_LIST_PAGES, 16 },
	};
	struct drm_pumice_free_list_create args;
	int fd = fresh_gpu();
	u32 vm = need_vm(fd), i;

	for (i = 0; i < 3; i++) {
		args = (struct drm_pumice_free_list_create){
			.vm = vm, .initial_pages = i, .max_pages = 64, .grow_pages = 64,
			.flags = DRM_PUMICE_FREE_LIST_GPU_TABLES,
		};
		refuse(fd, args, EINVAL);
	}
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		args = (struct drm_pumice_free_list_create){
			.vm = vm, .initial_pages = good[i][0], .max_pages = good[i][1],
			.grow_pages = good[i][2], .flags = DRM_PUMICE_FREE_LIST_GPU_TABLES,
		};
		CHECK_OK(gpu_free_list_destroy(fd, need_free_list(fd, args)));
	}
	need_left((struct counts){ .vms = 1 });
}

static void vm_must_be_of_the_file(void)
{
	int fd = fresh_gpu(), other = need_gpu();

	need_vm(other);
	refuse(fd, render_list_args(need_vm(other)), ENOENT);
	refuse(fd, render_list_args(0), ENOENT);
	refuse(fd, render_list_args(NO_HANDLE), ENOENT);
}

static void list_of_another_file_cannot_be_destroyed(void)
{
	int fd = need_gpu(), other = need_gpu();
	u32 id = need_free_list(fd, render_list_args(need_vm(fd)));
	struct drm_pumice_free_list_destroy args = { .id = id, .pad = 1 };

	CHECK_ERROR(gpu_free_list_destroy(other, id), ENOENT);
	CHECK_ERROR(gpu_free_list_destroy(fd, NO_HANDLE), ENOENT);
	CHECK_ERROR(gpu_ioctl(fd, DRM_IOCTL_PUMICE_FREE_LIST_DESTROY, &args), EINVAL);
	CHECK_OK(gpu_free_list_destroy(fd, id));
}

static void lists_of_a_file_are_limited(void)
{
	struct drm_pumice_free_list_create args = {
		.initial_pages = 1, .max_pages = 1,
	};
	int fd = need_gpu();
	u32 i;

	args.vm = need_vm(fd);
	for (i = 0; i < FILE_LISTS; i++)
		need_free_list(fd, args);
	CHECK_ERROR(gpu_free_list_create(fd, &args), ENOSPC);
	CHECK_OK(gpu_free_list_destroy(fd, 1));
	need_free_list(fd, args);
}

/* Pages are located where users cannot bind, and a shader cannot access them. */
static void check_out_of_reach(u32 flags)
{
	struct fixture fx = fx_open();
	u64 end = need_kernel_va(fx.fd), at;
	struct drm_pumice_free_list_create args = render_list_args(fx.vm);

	CHECK(end < 1ull << 40);
	args.flags = flags;
	need_free_list(fx.fd, args);
	for (at = end; at < end + 3 * 2 * MIB; at += MIB) {
		struct drm_pumice_bind_op op = bind_map(fx.data.handle, 0, at, PAGE, 0);

		CHECK_ERROR(gpu_bind(fx.fd, fx.vm, &op, 1, NULL), EINVAL);
		CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, at, 1)), -EIO);
		CHECK_EQUAL(fx_run(&fx, fx_copy_stream(&fx, fx.data.va, at, 0)), -EIO);
	}
	fx_check_works(&fx);
}

static void pages_are_out_of_reach(void)
{
	check_out_of_reach(0);
}

static void pages_that_the_gpu_maps_are_out_of_reach(void)
{
	check_out_of_reach(DRM_PUMICE_FREE_LIST_GPU_TABLES);
}

static void list_outlives_its_vm_and_id(void)
{
	int fd = fresh_gpu();
	u32 vm = need_vm(fd), id = need_free_list(fd, render_list_args(vm));
	u32 hwrt = need_hwrt(fd, render_hwrt_args(vm, id));

	CHECK_OK(gpu_vm_destroy(fd, vm));
	CHECK_OK(gpu_free_list_destroy(fd, id));
	CHECK_EQUAL(need_counts().free_lists, 1);
	CHECK_OK(gpu_hwrt_destroy(fd, hwrt));
	need_nothing_left();
}

/* Unmapping an area leaves no page table that prevents the reuse of its addresses. */
static void addresses_are_used_again(void)
{
	int fd = fresh_gpu();
	u32 vm = need_vm(fd), round, i;

	for (round = 0; round < 8; round++) {
		u32 ids[8];

		for (i = 0; i < 8; i++)
			ids[i] = need_free_list(fd, (struct drm_pumice_free_list_create){
				.vm = vm, .initial_pages = 1 + i * 100 + round,
				.max_pages = 2000, .grow_pages = 1 + i,
				.flags = i % 3 == 2 ? DRM_PUMICE_FREE_LIST_GPU_TABLES : 0,
			});
		for (i = 0; i < 8; i++)
			CHECK_OK(gpu_free_list_destroy(fd, ids[(i * 3 + round) % 8]));
	}
	need_left((struct counts){ .vms = 1 });
}

static const struct test_case cases[] = {
	TEST_CASE(list_is_made_and_destroyed),
	TEST_CASE(unknown_flags_and_padding_are_refused),
	TEST_CASE(pages_must_be_valid),
	TEST_CASE(odd_sizes_are_accepted),
	TEST_CASE(list_with_page_tables_has_a_page_for_data),
	TEST_CASE(vm_must_be_of_the_file),
	TEST_CASE(list_of_another_file_cannot_be_destroyed),
	TEST_CASE(lists_of_a_file_are_limited),
	TEST_CASE(pages_are_out_of_reach),
	TEST_CASE(pages_that_the_gpu_maps_are_out_of_reach),
	TEST_CASE(list_outlives_its_vm_and_id),
	TEST_CASE(addresses_are_used_again),
};

TEST_MAIN(cases)
