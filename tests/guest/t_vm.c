// SPDX-License-Identifier: MIT
/* VM_CREATE, VM_DESTROY, VM_GET_STATE, VM_BIND: arguments. The effect of binding: t_vm_gpu.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "fixture.h"

#define VA FX_FREE

/** struct vm_fixture - a VM and a BO for operations that are refused */
struct vm_fixture {
	int fd;
	u32 vm;
	u32 handle;	/* size: FIXTURE_BYTES */
	struct drm_pumice_query_gpu info;
};

#define FIXTURE_BYTES (8 * PAGE)

static struct vm_fixture vm_fixture(void)
{
	struct vm_fixture g = { .fd = need_gpu() };

	g.vm = need_vm(g.fd);
	g.handle = need_bo(g.fd, FIXTURE_BYTES);
	g.info = need_info(g.fd);
	return g;
}

/* One operation must be refused, and reported as operation 0. */
static void refuse(const struct vm_fixture *g, struct drm_pumice_bind_op op, int error)
{
	u32 failed = 99;
	int err = gpu_bind(g->fd, g->vm, &op, 1, &failed);

	if (err != -error || failed)
		test_fail(__FILE__, __LINE__,
			  "type %u flags 0x%x handle %u offset 0x%llx va 0x%llx size 0x%llx: "
			  "error %d, should be %d; index %u", op.type, op.flags, op.handle,
			  (unsigned long long)op.bo_offset, (unsigned long long)op.va,
			  (unsigned long long)op.size, -err, error, failed);
}

static void vm_flags_are_refused(void)
{
	int fd = need_gpu();
	u32 bit;

	for (bit = 0; bit < 32; bit++) {
		struct drm_pumice_vm_create args = { .flags = 1u << bit };

		CHECK_ERROR(gpu_ioctl(fd, DRM_IOCTL_PUMICE_VM_CREATE, &args), EINVAL);
	}
}

static void new_vm_is_usable(void)
{
	struct vm_fixture g = vm_fixture();
	u32 state = 99;

	CHECK_OK(gpu_vm_state(g.fd, g.vm, &state));
	CHECK_EQUAL(state, DRM_PUMICE_VM_USABLE);
}

static void vm_ids_differ(void)
{
	int fd = need_gpu();
	u32 a = need_vm(fd), b = need_vm(fd);

	CHECK(a != b);
}

static void vm_that_does_not_exist_is_refused(void)
{
	struct vm_fixture g = vm_fixture();
	struct drm_pumice_bind_op op = bind_map(g.handle, 0, VA, PAGE, 0);
	static const u32 ids[] = { 0, 12345, NO_HANDLE, UINT32_MAX };
	u32 state, i;

	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		CHECK_ERROR(gpu_vm_state(g.fd, ids[i], &state), ENOENT);
		CHECK_ERROR(gpu_vm_destroy(g.fd, ids[i]), ENOENT);
		CHECK_ERROR(gpu_bind(g.fd, ids[i], &op, 1, NULL), ENOENT);
	}
}

static void vm_of_another_file_is_refused(void)
{
	struct vm_fixture g = vm_fixture();
	int other = need_gpu();
	struct drm_pumice_bind_op op = bind_map(g.handle, 0, VA, PAGE, 0);
	u32 vm, state;

	need_vm(other);
	vm = need_vm(other);
	CHECK_ERROR(gpu_vm_state(g.fd, vm, &state), ENOENT);
	CHECK_ERROR(gpu_vm_destroy(g.fd, vm), ENOENT);
	CHECK_ERROR(gpu_bind(g.fd, vm, &op, 1, NULL), ENOENT);
	CHECK_OK(gpu_vm_state(other, vm, &state));
}

static void destroyed_vm_is_unknown(void)
{
	struct vm_fixture g = vm_fixture();
	u32 state;

	CHECK_OK(gpu_vm_destroy(g.fd, g.vm));
	CHECK_ERROR(gpu_vm_destroy(g.fd, g.vm), ENOENT);
	CHECK_ERROR(gpu_vm_state(g.fd, g.vm, &state), ENOENT);
}

static void vm_destroy_padding_must_be_zero(void)
{
	struct vm_fixture g = vm_fixture();
	struct drm_pumice_vm_destroy args = { .id = g.vm, .pad = 1 };
	u32 state;

	CHECK_ERROR(gpu_ioctl(g.fd, DRM_IOCTL_PUMICE_VM_DESTROY, &args), EINVAL);
	CHECK_OK(gpu_vm_state(g.fd, g.vm, &state));
}

static void vms_of_one_file_are_capped(void)
{
	int fd = need_gpu();
	u32 vm, made;
	int err = 0;

	for (made = 0; made < 100000 && !err; made++)
		err = gpu_vm_create(fd, &vm);
	CHECK_EQUAL(err, -ENOSPC);
	CHECK(made > 40);
}

static void bind_flags_are_refused(void)
{
	struct vm_fixture g = vm_fixture();
	struct drm_pumice_bind_op op = bind_map(g.handle, 0, VA, PAGE, 0);
	u32 bit;

	for (bit = 1; bit < 32; bit++) {
		struct drm_pumice_vm_bind args = {
			.vm = g.vm, .flags = 1u << bit, .ops = ARRAY_OF(&op, 1),
		};

		CHECK_ERROR(gpu_ioctl(g.fd, DRM_IOCTL_PUMICE_VM_BIND, &args), EINVAL);
	}
}

static void op_type_must_be_known(void)
{
	struct vm_fixture g = vm_fixture();
	struct drm_pumice_bind_op op = bind_map(g.handle, 0, VA, PAGE, 0);

	op.type = 2;
	refuse(&g, op, EINVAL);
	op.type = UINT32_MAX;
	refuse(&g, op, EINVAL);
}

static void map_flags_must_be_known(void)
{
	struct vm_fixture g = vm_fixture();
	u32 bit;

	for (bit = 2; bit < 32; bit++)
		refuse(&g, bind_map(g.handle, 0, VA, PAGE, 1u << bit), EINVAL);
}

static void op_padding_must_be_zero(void)
{
	struct vm_fixture g = vm_fixture();
	struct drm_pumice_bind_op map = bind_map(g.handle, 0, VA, PAGE, 0);
	struct drm_pumice_bind_op unmap = bind_unmap(VA, PAGE);

	map.pad = 1;
	refuse(&g, map, EINVAL);
	unmap.pad = 1;
	refuse(&g, unmap, EINVAL);
}

static void misaligned_addresses_are_refused(void)
{
	struct vm_fixture g = vm_fixture();
	static const u64 off[] = { 1, 8, 2048, PAGE - 1 };
	u32 i;

	for (i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		refuse(&g, bind_map(g.handle, 0, VA + off[i], PAGE, 0), EINVAL);
		refuse(&g, bind_map(g.handle, off[i], VA, PAGE, 0), EINVAL);
		refuse(&g, bind_map(g.handle, 0, VA, PAGE + off[i], 0), EINVAL);
		refuse(&g, bind_map(g.handle, 0, VA, off[i], 0), EINVAL);
		refuse(&g, bind_unmap(VA + off[i], PAGE), EINVAL);
		refuse(&g, bind_unmap(VA, PAGE + off[i]), EINVAL);
	}
}

static void size_zero_is_refused(void)
{
	struct vm_fixture g = vm_fixture();

	refuse(&g, bind_map(g.handle, 0, VA, 0, 0), EINVAL);
	refuse(&g, bind_unmap(VA, 0), EINVAL);
}

static void addresses_outside_of_the_space_are_refused(void)
{
	struct vm_fixture g = vm_fixture();
	u64 end = g.info.va_end;

	refuse(&g, bind_map(g.handle, 0, end, PAGE, 0), EINVAL);
	refuse(&g, bind_map(g.handle, 0, end - PAGE, 2 * PAGE, 0), EINVAL);
	refuse(&g, bind_map(g.handle, 0, 1ull << 63, PAGE, 0), EINVAL);
	refuse(&g, bind_unmap(end, PAGE), EINVAL);
	refuse(&g, bind_unmap(end - PAGE, 2 * PAGE), EINVAL);
	if (g.info.va_start) {
		refuse(&g, bind_map(g.handle, 0, g.info.va_start - PAGE, PAGE, 0), EINVAL);
		refuse(&g, bind_map(g.handle, 0, 0, PAGE, 0), EINVAL);
		refuse(&g, bind_unmap(0, PAGE), EINVAL);
	}
}

static void address_and_size_must_not_overflow(void)
{
	struct vm_fixture g = vm_fixture();
	u64 top = UINT64_MAX - PAGE + 1;

	refuse(&g, bind_map(g.handle, 0, top, PAGE, 0), EINVAL);
	refuse(&g, bind_map(g.handle, 0, VA, top, 0), EINVAL);
	refuse(&g, bind_map(g.handle, 0, top, 2 * PAGE, 0), EINVAL);
	refuse(&g, bind_map(g.handle, 0, VA, 0 - VA, 0), EINVAL);
	refuse(&g, bind_map(g.handle, 0, VA, 0 - VA + PAGE, 0), EINVAL);
	refuse(&g, bind_unmap(top, PAGE), EINVAL);
	refuse(&g, bind_unmap(top, 2 * PAGE), EINVAL);
	refuse(&g, bind_unmap(VA, 0 - VA), EINVAL);
	refuse(&g, bind_unmap(VA, top), EINVAL);
}

static void map_must_be_in_the_bo(void)
{
	struct vm_fixture g = vm_fixture();

	refuse(&g, bind_map(g.handle, 0, VA, FIXTURE_BYTES + PAGE, 0), EINVAL);
	refuse(&g, bind_map(g.handle, FIXTURE_BYTES, VA, PAGE, 0), EINVAL);
	refuse(&g, bind_map(g.handle, FIXTURE_BYTES - PAGE, VA, 2 * PAGE, 0), EINVAL);
	refuse(&g, bind_map(g.handle, UINT64_MAX - PAGE + 1, VA, PAGE, 0), EINVAL);
	refuse(&g, bind_map(g.handle, UINT64_MAX - PAGE + 1, VA, 2 * PAGE, 0), EINVAL);
	refuse(&g, bind_map(g.handle, 1ull << 52, VA, PAGE, 0), EINVAL);
}

static void each_map_of_a_call_must_be_in_the_bo(void)
{
	struct vm_fixture g = vm_fixture();
	const struct drm_pumice_bind_op ops[] = {
		bind_map(g.handle, 0, VA, PAGE, 0),
		bind_map(g.handle, FIXTURE_BYTES, VA + PAGE, PAGE, 0),
	};
	u32 failed;

	CHECK_ERROR(gpu_bind(g.fd, g.vm, ops, 2, &failed), EINVAL);
	CHECK_EQUAL(failed, 1);
}

static void map_needs_a_handle(void)
{
	struct vm_fixture g = vm_fixture();

	refuse(&g, bind_map(0, 0, VA, PAGE, 0), ENOENT);
	refuse(&g, bind_map(NO_HANDLE, 0, VA, PAGE, 0), ENOENT);
}

static void map_of_a_foreign_handle_is_refused(void)
{
	struct vm_fixture g = vm_fixture();
	int other = need_gpu();

	need_bo(other, PAGE);
	refuse(&g, bind_map(need_bo(other, PAGE), 0, VA, PAGE, 0), ENOENT);
}

static void unmap_takes_no_flags_handle_or_offset(void)
{
	struct vm_fixture g = vm_fixture();
	struct drm_pumice_bind_op op = bind_unmap(VA, PAGE);

	op.handle = g.handle;
	refuse(&g, op, EINVAL);
	op = bind_unmap(VA, PAGE);
	op.bo_offset = PAGE;
	refuse(&g, op, EINVAL);
	op = bind_unmap(VA, PAGE);
	op.flags = DRM_PUMICE_BIND_READONLY;
	refuse(&g, op, EINVAL);
}

static void unmap_of_a_hole_succeeds(void)
{
	struct vm_fixture g = vm_fixture();

	need_unmap(g.fd, g.vm, VA, 64 * MIB);
}

static void first_and_last_page_of_the_space_can_be_bound(void)
{
	struct vm_fixture g = vm_fixture();

	need_map(g.fd, g.vm, g.handle, 0, g.info.va_start, PAGE, 0);
	need_map(g.fd, g.vm, g.handle, 0, g.info.va_end - PAGE, PAGE, 0);
	need_unmap(g.fd, g.vm, g.info.va_start, g.info.va_end - g.info.va_start);
}

static void an_empty_array_of_operations_is_accepted(void)
{
	struct vm_fixture g = vm_fixture();
	struct drm_pumice_vm_bind args = {
		.vm = g.vm,
		.ops = { .stride = sizeof(struct drm_pumice_bind_op), .array = 16 },
	};

	CHECK_OK(gpu_ioctl(g.fd, DRM_IOCTL_PUMICE_VM_BIND, &args));
}

static void too_many_operations_are_refused(void)
{
	struct vm_fixture g = vm_fixture();
	struct drm_pumice_bind_op op = bind_unmap(VA, PAGE);
	static const u32 counts[] = { DRM_PUMICE_MAX_BIND_OPS + 1, 1u << 31, UINT32_MAX };
	u32 i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		CHECK_ERROR(gpu_bind(g.fd, g.vm, &op, counts[i], NULL), E2BIG);
}

static void documented_number_of_operations_is_accepted(void)
{
	struct vm_fixture g = vm_fixture();
	struct drm_pumice_bind_op *ops = calloc(DRM_PUMICE_MAX_BIND_OPS, sizeof(*ops));
	u32 i;

	CHECK(ops);
	for (i = 0; i < DRM_PUMICE_MAX_BIND_OPS; i++)
		ops[i] = bind_map(g.handle, 0, VA + (u64)i * PAGE, PAGE, 0);
	CHECK_OK(gpu_bind(g.fd, g.vm, ops, DRM_PUMICE_MAX_BIND_OPS, NULL));
}

static int bind_strided(const struct vm_fixture *g, const void *array, u32 stride, u32 count)
{
	struct drm_pumice_vm_bind args = {
		.vm = g->vm,
		.ops = { .stride = stride, .count = count, .array = (uintptr_t)array },
	};

	return gpu_ioctl(g->fd, DRM_IOCTL_PUMICE_VM_BIND, &args);
}

static void too_small_a_stride_is_refused(void)
{
	struct vm_fixture g = vm_fixture();
	struct drm_pumice_bind_op op = bind_map(g.handle, 0, VA, PAGE, 0);

	CHECK_ERROR(bind_strided(&g, &op, 0, 1), EINVAL);
	CHECK_ERROR(bind_strided(&g, &op, 8, 1), EINVAL);
	CHECK_ERROR(bind_strided(&g, &op, sizeof(op) - 1, 1), EINVAL);
}

static void elements_may_grow_by_zeroes_only(void)
{
	struct vm_fixture g = vm_fixture();
	struct {
		struct drm_pumice_bind_op op;
		u64 more[2];
	} grown[2] = {
		{ .op = bind_map(g.handle, 0, VA, PAGE, 0) },
		{ .op = bind_map(g.handle, 0, VA + PAGE, PAGE, 0) },
	};

	CHECK_OK(bind_strided(&g, grown, sizeof(grown[0]), 2));
	grown[1].more[1] = 1;
	CHECK_ERROR(bind_strided(&g, grown, sizeof(grown[0]), 2), E2BIG);
}

static void huge_stride_is_refused(void)
{
	struct vm_fixture g = vm_fixture();
	struct drm_pumice_bind_op op = bind_map(g.handle, 0, VA, PAGE, 0);
	int err = bind_strided(&g, &op, UINT32_MAX, DRM_PUMICE_MAX_BIND_OPS);

	CHECK(err == -E2BIG || err == -EINVAL || err == -EFAULT);
}

static void array_must_be_readable(void)
{
	struct vm_fixture g = vm_fixture();

	CHECK_ERROR(bind_strided(&g, (void *)16, sizeof(struct drm_pumice_bind_op), 1), EFAULT);
	CHECK_ERROR(bind_strided(&g, NULL, sizeof(struct drm_pumice_bind_op), 1), EFAULT);
	CHECK_ERROR(bind_strided(&g, (void *)0xffffffff81000000ull,
				 sizeof(struct drm_pumice_bind_op), 1), EFAULT);
}

static void index_of_failing_operation_is_reported(void)
{
	struct vm_fixture g = vm_fixture();
	struct drm_pumice_bind_op ops[] = {
		bind_map(g.handle, 0, VA, PAGE, 0),
		bind_map(g.handle, 0, VA + PAGE, PAGE, 0),
		bind_map(g.handle, 0, VA + 1, PAGE, 0),
		bind_map(g.handle, 0, VA + 3 * PAGE, PAGE, 0),
	};
	u32 failed = 99;

	CHECK_ERROR(gpu_bind(g.fd, g.vm, ops, 4, &failed), EINVAL);
	CHECK_EQUAL(failed, 2);
}

static struct drm_pumice_bind_op bind_null(u64 va, u64 size, u32 flags)
{
	return bind_map(0, 0, va, size, DRM_PUMICE_BIND_NULL | flags);
}

static void null_map_has_no_bo(void)
{
	struct vm_fixture g = vm_fixture();
	struct drm_pumice_bind_op op = bind_null(VA, PAGE, DRM_PUMICE_BIND_READONLY);

	CHECK_OK(gpu_bind(g.fd, g.vm, &op, 1, NULL));
	op.handle = g.handle;
	refuse(&g, op, EINVAL);
	op = bind_null(VA, PAGE, 0);
	op.bo_offset = PAGE;
	refuse(&g, op, EINVAL);
	op = bind_unmap(VA, PAGE);
	op.flags = DRM_PUMICE_BIND_NULL;
	refuse(&g, op, EINVAL);
	refuse(&g, bind_null(VA, DRM_PUMICE_MAX_BO_SIZE + PAGE, 0), E2BIG);
	refuse(&g, bind_null(VA + 1, PAGE, 0), EINVAL);
	refuse(&g, bind_null(VA, 0, 0), EINVAL);
	refuse(&g, bind_null(need_info(g.fd).va_end, PAGE, 0), EINVAL);
}

static void unmap_all_has_no_arguments(void)
{
	struct vm_fixture g = vm_fixture();
	const struct drm_pumice_bind_op all = { .type = DRM_PUMICE_BIND_UNMAP_ALL };
	struct drm_pumice_bind_op ops[6];
	u32 i;

	CHECK_OK(gpu_bind(g.fd, g.vm, &all, 1, NULL));
	for (i = 0; i < 6; i++)
		ops[i] = all;
	ops[0].flags = DRM_PUMICE_BIND_READONLY;
	ops[1].handle = g.handle;
	ops[2].pad = 1;
	ops[3].bo_offset = PAGE;
	ops[4].va = VA;
	ops[5].size = PAGE;
	for (i = 0; i < 6; i++)
		refuse(&g, ops[i], EINVAL);
}

static void bind_padding_must_be_zero(void)
{
	struct vm_fixture g = vm_fixture();
	struct drm_pumice_bind_op op = bind_map(g.handle, 0, VA, PAGE, 0);
	struct drm_pumice_vm_bind args = { .vm = g.vm, .ops = ARRAY_OF(&op, 1), .pad = 1 };

	CHECK_ERROR(gpu_ioctl(g.fd, DRM_IOCTL_PUMICE_VM_BIND, &args), EINVAL);
}

/* It is output only, so the value from a previous call is not an argument. */
static void index_of_the_failing_operation_is_not_read(void)
{
	struct vm_fixture g = vm_fixture();
	struct drm_pumice_bind_op op = bind_map(g.handle, 0, VA, PAGE, 0);
	struct drm_pumice_vm_bind args = {
		.vm = g.vm, .ops = ARRAY_OF(&op, 1), .failed_op = 1000,
	};

	CHECK_OK(gpu_ioctl(g.fd, DRM_IOCTL_PUMICE_VM_BIND, &args));
}

/* A program that was built before the structure grew. */
static void bind_as_first_published_is_accepted(void)
{
	struct vm_fixture g = vm_fixture();
	struct drm_pumice_bind_op op = bind_map(g.handle, 0, VA, PAGE, 0);
	struct {
		struct {
			u32 vm;
			u32 flags;
			struct drm_pumice_array ops;
			struct drm_pumice_array syncs;
		} args;
		u32 canary;
	} first = { .args = { .vm = g.vm, .ops = ARRAY_OF(&op, 1) }, .canary = 0x12345678 };
	unsigned long request = DRM_IOWR(DRM_COMMAND_BASE + DRM_PUMICE_VM_BIND, first.args);

	CHECK_OK(gpu_ioctl(g.fd, request, &first));
	op.va++;
	CHECK_ERROR(gpu_ioctl(g.fd, request, &first), EINVAL);
	CHECK_EQUAL(first.args.ops.count, 1);
	CHECK_EQUAL(first.canary, 0x12345678);
}

static const struct test_case cases[] = {
	TEST_CASE(vm_flags_are_refused),
	TEST_CASE(new_vm_is_usable),
	TEST_CASE(vm_ids_differ),
	TEST_CASE(vm_that_does_not_exist_is_refused),
	TEST_CASE(vm_of_another_file_is_refused),
	TEST_CASE(destroyed_vm_is_unknown),
	TEST_CASE(vm_destroy_padding_must_be_zero),
	TEST_CASE(vms_of_one_file_are_capped),
	TEST_CASE(bind_flags_are_refused),
	TEST_CASE(null_map_has_no_bo),
	TEST_CASE(unmap_all_has_no_arguments),
	TEST_CASE(bind_padding_must_be_zero),
	TEST_CASE(index_of_the_failing_operation_is_not_read),
	TEST_CASE(bind_as_first_published_is_accepted),
	TEST_CASE(op_type_must_be_known),
	TEST_CASE(map_flags_must_be_known),
	TEST_CASE(op_padding_must_be_zero),
	TEST_CASE(misaligned_addresses_are_refused),
	TEST_CASE(size_zero_is_refused),
	TEST_CASE(addresses_outside_of_the_space_are_refused),
	TEST_CASE(address_and_size_must_not_overflow),
	TEST_CASE(map_must_be_in_the_bo),
	TEST_CASE(each_map_of_a_call_must_be_in_the_bo),
	TEST_CASE(map_needs_a_handle),
	TEST_CASE(map_of_a_foreign_handle_is_refused),
	TEST_CASE(unmap_takes_no_flags_handle_or_offset),
	TEST_CASE(unmap_of_a_hole_succeeds),
	TEST_CASE(first_and_last_page_of_the_space_can_be_bound),
	TEST_CASE(an_empty_array_of_operations_is_accepted),
	TEST_CASE(too_many_operations_are_refused),
	TEST_CASE(documented_number_of_operations_is_accepted),
	TEST_CASE(too_small_a_stride_is_refused),
	TEST_CASE(elements_may_grow_by_zeroes_only),
	TEST_CASE(huge_stride_is_refused),
	TEST_CASE(array_must_be_readable),
	TEST_CASE(index_of_failing_operation_is_reported),
};

TEST_MAIN(cases)
