// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Synchronous VM_BIND: its effect on jobs, and refused arguments. Waiting binds are in
 * vm_bind_async.c, those without memory in vm_bind_memory.c; accesses that must fault in
 * pumice_mmu_fault.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "igt_pumice.h"
#include "pages.h"
#include "fixture.h"
#include "sync.h"
#include "vm_bind_async.h"
#include "vm_bind_memory.h"

IGT_TEST_DESCRIPTION("Mappings of buffer objects in VMs, synchronous and in the VM's queue.");

#define VA FX_FREE
#define WORDS 32u	/* words that a store or copy accesses */

static void check_store(struct fixture *fx, u64 va, const u32 *cpu)
{
	u32 value = 0x2000 + (u32)fx->used;

	igt_assert_eq(fx_run(fx, fx_store_stream(fx, va, value)), 1);
	fx_check_words(cpu, value);
}

/* ------------------------------------------------------------------ page sizes */

static void restore_memory(int signal)
{
	(void)signal;
	use_large_memory(false);
}

/*
 * A mapping of two pages of @bits bits in the heap of these, or, for @skew, at addresses of small
 * pages where no other would fit. Pages of half a block are in the upper half of one and in the
 * lower half of the next.
 */
static void map_of_page_size(u32 bits, u64 skew)
{
	struct fixture fx = fx_open();
	u64 size = 1ull << bits, va, at;
	u32 used = skew ? 12 : bits, before = gpu_blocks(used), handle, *cpu;

	va = need_heap(fx.fd, used) + 4 * GIB + size + skew;
	/* Only here: other subtests limit memory. */
	CHECK_OK(use_large_memory(true));
	handle = need_bo(fx.fd, 2 * size);
	cpu = need_cpu(fx.fd, handle, 2 * size);
	need_map(fx.fd, fx.vm, handle, 0, va, 2 * size, 0);
	CHECK_OK(use_large_memory(false));
	igt_assert_eq_u32(gpu_blocks(used) - before,
			  (u32)((va + 2 * size - 1) / (2 * MIB) - va / (2 * MIB) + 1));
	for (at = 0; at < 2 * size; at += size / 4)
		check_store(&fx, va + at, cpu + at / 4);
	check_store(&fx, va + size - 64, cpu + (size - 64) / 4);
	check_store(&fx, va + 2 * size - 128, cpu + (2 * size - 128) / 4);
}

static void page_4k(void)
{
	map_of_page_size(12, 0);
}

static void page_16k(void)
{
	map_of_page_size(14, 0);
}

static void page_64k(void)
{
	map_of_page_size(16, 0);
}

static void page_256k(void)
{
	map_of_page_size(18, 0);
}

static void page_1m(void)
{
	map_of_page_size(20, 0);
}

static void page_2m(void)
{
	map_of_page_size(21, 0);
}

static void page_sizes_skewed(void)
{
	u32 bits;

	for (bits = 14; bits <= 21; bits++)
		map_of_page_size(bits, PAGE);
}

/* ------------------------------------------------- mappings as seen by jobs */

static void same_bo_twice(void)
{
	struct fixture fx = fx_open();
	struct mem mem = need_mem(fx.fd, fx.vm, VA, PAGE);

	need_map(fx.fd, fx.vm, mem.handle, 0, VA + GIB, PAGE, 0);
	check_store(&fx, VA, mem.cpu);
	/* Data written at one address is read at the other. */
	igt_assert_eq(fx_run(&fx, fx_copy_stream(&fx, fx.data.va, VA + GIB, 5)), 1);
	fx_check_words(fx.data.cpu, mem.cpu[0] + 5);
}

static void same_bo_two_vms(void)
{
	struct fixture first = fx_open(), second = fx_on(first.fd);
	struct mem mem = need_mem(first.fd, first.vm, VA, PAGE);

	need_map(first.fd, second.vm, mem.handle, 0, 8 * GIB, PAGE, DRM_PUMICE_BIND_READONLY);
	check_store(&first, VA, mem.cpu);
	igt_assert_eq(fx_run(&second, fx_copy_stream(&second, second.data.va, 8 * GIB, 1)), 1);
	fx_check_words(second.data.cpu, mem.cpu[0] + 1);
	igt_assert_eq(fx_run(&second, fx_store_stream(&second, 8 * GIB, 0)), -EIO);
}

static void same_va_two_vms(void)
{
	struct fixture first = fx_open(), second = fx_on(first.fd);
	struct mem here = need_mem(first.fd, first.vm, VA, PAGE);
	struct mem there = need_mem(first.fd, second.vm, VA, PAGE);
	u32 i;

	for (i = 0; i < 8; i++) {
		check_store(&first, VA, here.cpu);
		check_store(&second, VA, there.cpu);
		/* A change of one does not affect the other. */
		need_unmap(first.fd, first.vm, VA, PAGE);
		check_store(&second, VA, there.cpu);
		need_map(first.fd, first.vm, here.handle, 0, VA, PAGE, 0);
	}
}

static void bo_closed(void)
{
	struct fixture fx = fx_open();
	struct mem mem = need_mem(fx.fd, fx.vm, VA, PAGE);

	CHECK_OK(gpu_bo_close(fx.fd, mem.handle));
	check_store(&fx, VA, mem.cpu);
	need_unmap(fx.fd, fx.vm, VA, PAGE);
	igt_assert_eq(fx_run(&fx, fx_store_stream(&fx, VA, 0)), -EIO);
}

static void prime_imported(void)
{
	struct fixture owner = fx_open(), user = fx_open();
	struct mem mem = need_mem(owner.fd, owner.vm, VA, MIB);
	int shared = -1;
	u32 handle;

	igt_assert_eq(drmPrimeHandleToFD(owner.fd, mem.handle, DRM_CLOEXEC, &shared), 0);
	igt_assert_eq(drmPrimeFDToHandle(user.fd, shared, &handle), 0);
	close(shared);
	need_map(user.fd, user.vm, handle, MIB / 2, VA, MIB / 2, 0);
	check_store(&user, VA, mem.cpu + MIB / 8);
	igt_assert_eq(fx_run(&owner, fx_copy_stream(&owner, owner.data.va, VA + MIB / 2, 1)), 1);
	fx_check_words(owner.data.cpu, mem.cpu[MIB / 8] + 1);
}

static void replaced_at_once(void)
{
	struct fixture fx = fx_open();
	struct mem mem = need_mem(fx.fd, fx.vm, VA, PAGE);
	u64 stream = fx_store_stream(&fx, VA, 50);
	u32 round;

	/* The same job writes to the current mapping each time. */
	for (round = 0; round < 20; round++) {
		struct mem next;

		igt_assert_eq(fx_run(&fx, stream), 1);
		fx_check_words(mem.cpu, 50);
		mem.cpu[0] = round;
		next = need_mem(fx.fd, fx.vm, VA, PAGE);
		igt_assert_eq(fx_run(&fx, stream), 1);
		fx_check_words(next.cpu, 50);
		igt_assert_eq_u32(mem.cpu[0], round);
		mem = next;
	}
}

static void swapped_in_one_call(void)
{
	struct fixture fx = fx_open();
	struct mem a = need_mem(fx.fd, fx.vm, VA, PAGE);
	struct mem b = need_mem(fx.fd, fx.vm, VA + PAGE, PAGE);
	struct drm_pumice_bind_op ops[] = {
		bind_map(b.handle, 0, VA, PAGE, 0), bind_map(a.handle, 0, VA + PAGE, PAGE, 0),
	};

	check_store(&fx, VA, a.cpu);
	check_store(&fx, VA + PAGE, b.cpu);
	CHECK_OK(gpu_bind(fx.fd, fx.vm, ops, 2, NULL));
	check_store(&fx, VA, b.cpu);
	check_store(&fx, VA + PAGE, a.cpu);
}

/* A program that stores v0 and a shared register. */
static struct shader store_shared(u32 number)
{
	struct shader shader = { .insns = 0 };

	emit(&shader, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_ADD, .dst = reg_r(1), .src0 = reg_v(0),
		.src1 = reg_sh(number),
	});
	emit_store(&shader, 1, 0);
	emit_end(&shader);
	return shader;
}

/* The program that runs is the one currently mapped, not the previous one. */
static void replaced_program(void)
{
	struct fixture fx = fx_open();
	const struct shader programs[] = { store_shared(2), store_shared(3) };
	const struct launch launch = {
		.shader = programs, .code = VA,
		.params = { (u32)fx.data.va, (u32)(fx.data.va >> 32), 60, 600 },
	};
	u64 stream = fx_stream(&fx, &launch);
	u32 handles[2], i, round;

	for (i = 0; i < 2; i++) {
		handles[i] = need_bo(fx.fd, PAGE);
		memcpy(need_cpu(fx.fd, handles[i], PAGE), programs[i].words,
		       sizeof(programs[i].words));
	}
	for (round = 0; round < 10; round++) {
		need_map(fx.fd, fx.vm, handles[round % 2], 0, VA, PAGE, 0);
		igt_assert_eq(fx_run(&fx, stream), 1);
		fx_check_words(fx.data.cpu, round % 2 ? 600 : 60);
	}
}

/* Pages of one object in a different order, read by one job. */
static void shuffled_pages(void)
{
	enum { PAGES = 256 };
	struct fixture fx = fx_open();
	u32 handle = need_bo(fx.fd, PAGES * PAGE), *cpu = need_cpu(fx.fd, handle, PAGES * PAGE);
	struct drm_pumice_bind_op *ops = calloc(PAGES, sizeof(*ops));
	u32 i;

	igt_assert(ops);
	for (i = 0; i < PAGES; i++) {
		ops[i] = bind_map(handle, (u64)(i * 37 % PAGES) * PAGE, VA + (u64)i * PAGE, PAGE,
				  0);
		cpu[i * PAGE / 4] = i;
	}
	CHECK_OK(gpu_bind(fx.fd, fx.vm, ops, PAGES, NULL));
	for (i = 0; i < PAGES; i++)
		fx_submit(&fx, fx_copy_stream(&fx, fx_data(&fx, i * WORDS),
					      VA + (u64)i * PAGE, 1000));
	igt_assert_eq(fx_wait(&fx), 1);
	for (i = 0; i < PAGES; i++)
		igt_assert_eq_u32(fx.data.cpu[i * WORDS], i * 37 % PAGES + 1000);
}

/* Single pages throughout a terabyte. */
static void sparse(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_query_gpu info = need_info(fx.fd);
	u32 handle = need_bo(fx.fd, 64 * PAGE), *cpu = need_cpu(fx.fd, handle, 64 * PAGE);
	u64 stride = (info.va_end - 2 * GIB) / 64 & ~(u64)(PAGE - 1);
	u32 i;

	for (i = 0; i < 64; i++)
		need_map(fx.fd, fx.vm, handle, (u64)i * PAGE, 2 * GIB + i * stride, PAGE, 0);
	for (i = 0; i < 64; i++)
		check_store(&fx, 2 * GIB + i * stride, cpu + i * PAGE / 4);
	need_unmap(fx.fd, fx.vm, 2 * GIB, info.va_end - 2 * GIB);
	for (i = 0; i < 64; i += 21)
		igt_assert_eq(fx_run(&fx, fx_store_stream(&fx, 2 * GIB + i * stride, 0)), -EIO);
}

static void last_page(void)
{
	struct fixture fx = fx_open();
	u64 va = need_info(fx.fd).va_end - PAGE;
	struct mem mem = need_mem(fx.fd, fx.vm, va, PAGE);

	check_store(&fx, va + PAGE - 128, mem.cpu + (PAGE - 128) / 4);
}

static void partial_unmap(void)
{
	struct fixture fx = fx_open();
	struct mem mem = need_mem(fx.fd, fx.vm, VA, 4 * MIB);
	u64 at;

	need_unmap(fx.fd, fx.vm, VA + MIB + PAGE, 2 * MIB);
	check_store(&fx, VA + MIB, mem.cpu + MIB / 4);
	check_store(&fx, VA + 3 * MIB + PAGE, mem.cpu + (3 * MIB + PAGE) / 4);
	for (at = MIB + PAGE; at < 3 * MIB + PAGE; at += MIB / 4)
		igt_assert_eq(fx_run(&fx, fx_store_stream(&fx, VA + at, 0)), -EIO);
}

static void under_a_running_job(void)
{
	struct fixture fx = fx_open(), other = fx;
	struct mem mem;
	u32 i;

	other.context = need_context(fx.fd, fx.vm);
	fx_block(&fx);
	for (i = 0; i < 16; i++) {
		mem = need_mem(fx.fd, fx.vm, VA, MIB);
		need_unmap(fx.fd, fx.vm, VA, MIB);
	}
	need_map(fx.fd, fx.vm, mem.handle, 0, VA, MIB, 0);
	igt_assert(sync_is_pending(fx.fd, fx.sync, 0));
	CHECK_OK(gpu_context_destroy(fx.fd, fx.context));
	other.used = FX_CODE_BYTES / 2;
	check_store(&other, VA, mem.cpu);
}

static void vm_destroyed(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_bind_op op = bind_unmap(VA, PAGE);

	CHECK_OK(gpu_vm_destroy(fx.fd, fx.vm));
	igt_assert_eq(gpu_bind(fx.fd, fx.vm, &op, 1, NULL), -ENOENT);
	fx_check_works(&fx);
}

/* --------------------------------------------------------------- refused binds */

static void refuse(int fd, u32 vm, struct drm_pumice_bind_op op, int error)
{
	u32 failed = 99;

	igt_assert_eq(gpu_bind(fd, vm, &op, 1, &failed), -error);
	igt_assert_eq_u32(failed, 0);
}

static void bad_alignment(void)
{
	int fd = need_gpu();
	u32 vm = need_vm(fd), handle = need_bo(fd, 4 * PAGE);

	refuse(fd, vm, bind_map(handle, 0, VA + 1, PAGE, 0), EINVAL);
	refuse(fd, vm, bind_map(handle, PAGE / 2, VA, PAGE, 0), EINVAL);
	refuse(fd, vm, bind_map(handle, 0, VA, PAGE - 1, 0), EINVAL);
	refuse(fd, vm, bind_unmap(VA + 1, PAGE), EINVAL);
	refuse(fd, vm, bind_unmap(VA, 0), EINVAL);
}

static void bad_range(void)
{
	int fd = need_gpu();
	u32 vm = need_vm(fd), handle = need_bo(fd, 4 * PAGE);
	struct drm_pumice_query_gpu info = need_info(fd);

	refuse(fd, vm, bind_map(handle, 0, info.va_end, PAGE, 0), EINVAL);
	refuse(fd, vm, bind_map(handle, 0, info.va_end - PAGE, 2 * PAGE, 0), EINVAL);
	refuse(fd, vm, bind_map(handle, 0, UINT64_MAX - PAGE + 1, 2 * PAGE, 0), EINVAL);
	refuse(fd, vm, bind_map(handle, PAGE, VA, 4 * PAGE, 0), EINVAL);
	refuse(fd, vm, bind_map(handle, UINT64_MAX - PAGE + 1, VA, 2 * PAGE, 0), EINVAL);
}

static void bad_handle(void)
{
	int fd = need_gpu(), other = need_gpu();
	u32 vm = need_vm(fd), handle = need_bo(fd, PAGE);
	struct drm_pumice_bind_op op;

	need_bo(other, PAGE);
	refuse(fd, vm, bind_map(NO_HANDLE, 0, VA, PAGE, 0), ENOENT);
	refuse(fd, vm, bind_map(need_bo(other, PAGE), 0, VA, PAGE, 0), ENOENT);
	op = bind_map(handle, 0, VA, PAGE, 0);
	igt_assert_eq(gpu_bind(fd, NO_HANDLE, &op, 1, NULL), -ENOENT);
}

static void bad_flags(void)
{
	int fd = need_gpu();
	u32 vm = need_vm(fd), handle = need_bo(fd, PAGE);
	struct drm_pumice_bind_op op = bind_map(handle, 0, VA, PAGE, 0);
	u32 bit;

	for (bit = 2; bit < 32; bit++)
		refuse(fd, vm, bind_map(handle, 0, VA, PAGE, 1u << bit), EINVAL);
	op.type = 2;
	refuse(fd, vm, op, EINVAL);
	op = bind_unmap(VA, PAGE);
	op.flags = DRM_PUMICE_BIND_READONLY;
	refuse(fd, vm, op, EINVAL);
	op = bind_unmap(VA, PAGE);
	op.handle = handle;
	refuse(fd, vm, op, EINVAL);
	op.handle = 0;
	op.pad = 1;
	refuse(fd, vm, op, EINVAL);
}

static void error_index(void)
{
	struct fixture fx = fx_open();
	struct mem mem = need_mem(fx.fd, fx.vm, VA, PAGE);
	u32 bad, failed;

	for (bad = 0; bad < 3; bad++) {
		struct drm_pumice_bind_op ops[3];
		u32 i;

		for (i = 0; i < 3; i++)
			ops[i] = bind_map(i == bad ? NO_HANDLE : mem.handle, 0,
					  VA + (1 + 3 * bad + i) * PAGE, PAGE, 0);
		igt_assert_eq(gpu_bind(fx.fd, fx.vm, ops, 3, &failed), -ENOENT);
		igt_assert_eq_u32(failed, bad);
		for (i = 0; i < 3; i++)
			igt_assert_eq(fx_run(&fx, fx_store_stream(&fx, ops[i].va, i)),
				      i < bad ? 1 : -EIO);
	}
}

static void maximum_operations(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_bind_op *ops = calloc(DRM_PUMICE_MAX_BIND_OPS + 1, sizeof(*ops));
	struct mem mem = need_mem(fx.fd, fx.vm, VA, PAGE);
	u32 i;

	igt_assert(ops);
	for (i = 0; i <= DRM_PUMICE_MAX_BIND_OPS; i++)
		ops[i] = bind_map(mem.handle, 0, VA + (u64)i * PAGE, PAGE, 0);
	igt_assert_eq(gpu_bind(fx.fd, fx.vm, ops, DRM_PUMICE_MAX_BIND_OPS + 1, NULL), -E2BIG);
	igt_assert_eq(fx_run(&fx, fx_store_stream(&fx, VA + PAGE, 0)), -EIO);
	CHECK_OK(gpu_bind(fx.fd, fx.vm, ops, DRM_PUMICE_MAX_BIND_OPS, NULL));
	check_store(&fx, VA + (DRM_PUMICE_MAX_BIND_OPS - 1) * (u64)PAGE, mem.cpu);
}

/* Loads return zero, stores are dropped; memory can be mapped into it and unmapped. */
static void null_mapping(void)
{
	struct fixture fx = fx_open();
	struct mem mem;
	u32 i;

	need_map(fx.fd, fx.vm, 0, 0, VA, 4 * MIB, DRM_PUMICE_BIND_NULL);
	mem = need_mem(fx.fd, fx.vm, VA + MIB, PAGE);
	check_store(&fx, VA + MIB, mem.cpu);
	need_map(fx.fd, fx.vm, 0, 0, VA + MIB, PAGE, DRM_PUMICE_BIND_NULL);
	igt_assert_eq(fx_run(&fx, fx_store_stream(&fx, VA + MIB, 7)), 1);
	memset(fx.data.cpu, 0xff, WORDS * 4);
	igt_assert_eq(fx_run(&fx, fx_copy_stream(&fx, fx.data.va, VA + MIB, 0)), 1);
	for (i = 0; i < WORDS; i++)
		igt_assert_eq_u32(fx.data.cpu[i], 0);
}

static void unmap_all(void)
{
	const struct drm_pumice_bind_op all = { .type = DRM_PUMICE_BIND_UNMAP_ALL };
	struct fixture fx = fx_open();

	need_mem(fx.fd, fx.vm, VA, PAGE);
	need_map(fx.fd, fx.vm, 0, 0, VA + GIB, PAGE, DRM_PUMICE_BIND_NULL);
	CHECK_OK(gpu_bind(fx.fd, fx.vm, &all, 1, NULL));
	need_map(fx.fd, fx.vm, fx.code.handle, 0, FX_CODE, FX_CODE_BYTES, 0);
	igt_assert_eq(fx_run(&fx, fx_store_stream(&fx, VA, 7)), -EIO);
	igt_assert_eq(fx_run(&fx, fx_store_stream(&fx, VA + GIB, 7)), -EIO);
}

int igt_main()
{
	igt_fixture() {
		igt_pumice_require(IGT_PUMICE_PATIENT);
		igt_install_exit_handler(restore_memory);
	}

	igt_pumice_subtest("page-4k", "4 KiB pages map the correct memory", page_4k);
	igt_pumice_subtest("page-16k", "16 KiB pages map the correct memory", page_16k);
	igt_pumice_subtest("page-64k", "64 KiB pages map the correct memory", page_64k);
	igt_pumice_subtest("page-256k", "256 KiB pages map the correct memory", page_256k);
	igt_pumice_subtest("page-1m", "1 MiB pages map the correct memory", page_1m);
	igt_pumice_subtest("page-2m", "2 MiB pages map the correct memory", page_2m);
	igt_pumice_subtest("page-sizes-skewed", "addresses where no large page fits work too",
			   page_sizes_skewed);
	igt_pumice_subtest("same-bo-twice", "an object at two addresses is one memory",
			   same_bo_twice);
	igt_pumice_subtest("same-bo-two-vms",
			   "an object in two VMs is one memory, with rights of each",
			   same_bo_two_vms);
	igt_pumice_subtest("same-va-two-vms", "an address of two VMs is two memories",
			   same_va_two_vms);
	igt_pumice_subtest("bo-closed", "a mapping keeps its object until it is removed",
			   bo_closed);
	igt_pumice_subtest("prime-imported", "an object of another file can be mapped",
			   prime_imported);
	igt_pumice_subtest("replaced-at-once", "the next job reads the new mapping",
			   replaced_at_once);
	igt_pumice_subtest("swapped-in-one-call", "two mappings can be swapped",
			   swapped_in_one_call);
	igt_pumice_subtest("replaced-program", "the next job runs the newly mapped program",
			   replaced_program);
	igt_pumice_subtest("shuffled-pages", "256 mappings of one page each", shuffled_pages);
	igt_pumice_subtest("sparse", "64 mappings over the whole space, unmapped at once", sparse);
	igt_pumice_subtest("last-page", "the last page of the space works", last_page);
	igt_pumice_subtest("null", "a NULL mapping reads as zero and drops stores", null_mapping);
	igt_pumice_subtest("unmap-all", "UNMAP_ALL leaves no mapping, NULL ones included",
			   unmap_all);
	igt_pumice_subtest("partial-unmap", "an unmap removes exactly its range",
			   partial_unmap);
	igt_pumice_subtest("under-a-running-job", "a VM can be changed while its job runs",
			   under_a_running_job);
	igt_pumice_subtest("vm-destroyed", "a context keeps its VM", vm_destroyed);
	igt_pumice_subtest("bad-alignment", "addresses, offsets and sizes are whole pages",
			   bad_alignment);
	igt_pumice_subtest("bad-range", "mappings must be within address space and object",
			   bad_range);
	igt_pumice_subtest("bad-handle", "objects and VMs are those of the file", bad_handle);
	igt_pumice_subtest("bad-flags", "types, flags and padding are checked", bad_flags);
	igt_pumice_subtest("error-index",
			   "the index of the failed operation is returned; earlier ones stay",
			   error_index);
	igt_pumice_subtest("maximum-operations",
			   "as many operations as the limit allows, and no more",
			   maximum_operations);
	vm_bind_async_subtests();
	vm_bind_memory_subtests();
}
