// SPDX-License-Identifier: MIT
/* HWRT_CREATE and _DESTROY: arguments, limits, lifetime. */
#include <errno.h>

#include "harness.h"
#include "render.h"
#include "system.h"

#define FILE_HWRTS	256u	/* data sets that a file may have */

/** struct hwrt_fixture - a VM with a free list, and the arguments of a data set */
struct hwrt_fixture {
	int fd;
	u32 vm;
	struct drm_pumice_hwrt_create args;
};

static struct hwrt_fixture hwrt_fixture(void)
{
	struct hwrt_fixture g = { 0 };

	need_nothing_left();
	g.fd = need_gpu();
	g.vm = need_vm(g.fd);
	g.args = render_hwrt_args(g.vm, need_free_list(g.fd, render_list_args(g.vm)));
	return g;
}

static void refuse(const struct hwrt_fixture *g, struct drm_pumice_hwrt_create args, int error)
{
	struct counts before = need_counts();

	CHECK_ERROR(gpu_hwrt_create(g->fd, &args), error);
	need_left(before);
}

static void set_is_made_and_destroyed(void)
{
	struct hwrt_fixture g = hwrt_fixture();
	u32 id = need_hwrt(g.fd, g.args);

	CHECK_EQUAL(need_counts().hwrts, 1);
	CHECK_OK(gpu_hwrt_destroy(g.fd, id));
	CHECK_ERROR(gpu_hwrt_destroy(g.fd, id), ENOENT);
	need_left((struct counts){ .vms = 1, .free_lists = 1 });
}

static void flags_and_padding_must_be_zero(void)
{
	struct drm_pumice_hwrt_create args;
	struct hwrt_fixture g = hwrt_fixture();
	u32 bit;

	for (bit = 0; bit < 32; bit++) {
		args = g.args;
		args.flags = 1u << bit;
		refuse(&g, args, EINVAL);
	}
	args = g.args;
	args.pad = 1;
	refuse(&g, args, EINVAL);
}

static void shape_must_exist(void)
{
	static const struct {
		u32 width, height, samples, tile_size;
	} bad[] = {
		{ 0, 64, 1, 0 }, { 64, 0, 1, 0 }, { UINT32_MAX, 64, 1, 0 },
		{ DRM_PUMICE_MAX_RENDER_SIZE + 1, 64, 1, 0 },
		{ 64, DRM_PUMICE_MAX_RENDER_SIZE + 1, 1, 0 },
		{ 64, 64, 0, 0 }, { 64, 64, 3, 0 }, { 64, 64, 8, 0 }, { 64, 64, UINT32_MAX, 0 },
		{ 64, 64, 1, 3 }, { 64, 64, 1, UINT32_MAX },
	};
	struct hwrt_fixture g = hwrt_fixture();
	u32 i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct drm_pumice_hwrt_create args = g.args;

		args.width = bad[i].width;
		args.height = bad[i].height;
		args.samples = bad[i].samples;
		args.tile_size = bad[i].tile_size;
		refuse(&g, args, EINVAL);
	}
}

static void every_shape_is_accepted(void)
{
	static const u32 sizes[] = { 1, 31, 33, 1000, DRM_PUMICE_MAX_RENDER_SIZE };
	struct hwrt_fixture g = hwrt_fixture();
	u32 i, samples, tile;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (samples = 1; samples <= 4; samples *= 2) {
			for (tile = 0; tile < 3; tile++) {
				struct drm_pumice_hwrt_create args = g.args;

				args.width = sizes[i];
				args.height = sizes[(i + tile) % 5];
				args.samples = samples;
				args.tile_size = tile;
				CHECK_OK(gpu_hwrt_destroy(g.fd, need_hwrt(g.fd, args)));
			}
		}
	}
}

static void spill_must_be_in_the_users_part(void)
{
	struct hwrt_fixture g = hwrt_fixture();
	u64 end = need_kernel_va(g.fd), start = need_info(g.fd).va_start;
	const struct {
		u64 va, bytes;
	} bad[] = {
		{ 0, 256 }, { start, 0 }, { start + 128, 256 }, { start, 128 }, { start, 257 },
		{ start - 256, 256 }, { end, 256 }, { end - 256, 256 }, { start, end },
		{ start, 1ull << 40 }, { start, UINT64_MAX - 255 }, { UINT64_MAX - 255, 256 },
		{ 1ull << 40, 256 }, { start, (end - start) / 2 + 256 },
	};
	struct drm_pumice_hwrt_create args;
	u32 i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		args = g.args;
		args.spill = bad[i].va;
		args.spill_bytes = bad[i].bytes;
		refuse(&g, args, EINVAL);
	}
	args = g.args;
	args.spill = end - 512;
	args.spill_bytes = 256;
	need_hwrt(g.fd, args);
}

static void lists_must_exist_in_the_same_vm(void)
{
	struct drm_pumice_hwrt_create args;
	struct hwrt_fixture g = hwrt_fixture();
	u32 other_vm = need_vm(g.fd), other = need_free_list(g.fd, render_list_args(other_vm));

	args = g.args;
	args.free_lists[0] = 0;
	refuse(&g, args, EINVAL);
	args.free_lists[1] = g.args.free_lists[0];
	refuse(&g, args, ENOENT);
	args.free_lists[0] = NO_HANDLE;
	refuse(&g, args, ENOENT);
	args = g.args;
	args.free_lists[1] = args.free_lists[0];
	refuse(&g, args, EINVAL);
	args.free_lists[1] = NO_HANDLE;
	refuse(&g, args, ENOENT);
	args.free_lists[1] = other;
	refuse(&g, args, EINVAL);
	args.free_lists[1] = 0;
	args.free_lists[0] = other;
	refuse(&g, args, EINVAL);
	args.vm = NO_HANDLE;
	refuse(&g, args, ENOENT);
	args = g.args;
	args.free_lists[1] = need_free_list(g.fd, render_list_args(g.vm));
	need_hwrt(g.fd, args);
}

static void ids_are_the_files(void)
{
	struct hwrt_fixture g = hwrt_fixture(), other = { .fd = need_gpu() };
	struct drm_pumice_hwrt_destroy destroy;
	struct drm_pumice_hwrt_create args;
	u32 id = need_hwrt(g.fd, g.args);

	/* An id that only the other file has. */
	need_vm(other.fd);
	args = g.args;
	args.vm = need_vm(other.fd);
	CHECK_ERROR(gpu_hwrt_create(g.fd, &args), ENOENT);
	CHECK_ERROR(gpu_hwrt_destroy(other.fd, id), ENOENT);
	CHECK_ERROR(gpu_hwrt_destroy(g.fd, NO_HANDLE), ENOENT);
	destroy = (struct drm_pumice_hwrt_destroy){ .id = id, .pad = 1 };
	CHECK_ERROR(gpu_ioctl(g.fd, DRM_IOCTL_PUMICE_HWRT_DESTROY, &destroy), EINVAL);
	CHECK_OK(gpu_hwrt_destroy(g.fd, id));
}

static void sets_of_a_file_are_limited(void)
{
	struct hwrt_fixture g = hwrt_fixture();
	u32 i;

	for (i = 0; i < FILE_HWRTS; i++)
		need_hwrt(g.fd, g.args);
	CHECK_ERROR(gpu_hwrt_create(g.fd, &g.args), ENOSPC);
	CHECK_OK(gpu_hwrt_destroy(g.fd, 7));
	need_hwrt(g.fd, g.args);
}

static void set_keeps_vm_and_lists(void)
{
	struct hwrt_fixture g = hwrt_fixture();
	u32 id = need_hwrt(g.fd, g.args);

	CHECK_OK(gpu_free_list_destroy(g.fd, g.args.free_lists[0]));
	CHECK_OK(gpu_vm_destroy(g.fd, g.vm));
	CHECK_EQUAL(need_counts().free_lists, 1);
	CHECK_EQUAL(need_counts().vms, 1);
	CHECK_OK(gpu_hwrt_destroy(g.fd, id));
	need_nothing_left();
}

static const struct test_case cases[] = {
	TEST_CASE(set_is_made_and_destroyed),
	TEST_CASE(flags_and_padding_must_be_zero),
	TEST_CASE(shape_must_exist),
	TEST_CASE(every_shape_is_accepted),
	TEST_CASE(spill_must_be_in_the_users_part),
	TEST_CASE(lists_must_exist_in_the_same_vm),
	TEST_CASE(ids_are_the_files),
	TEST_CASE(sets_of_a_file_are_limited),
	TEST_CASE(set_keeps_vm_and_lists),
};

TEST_MAIN(cases)
