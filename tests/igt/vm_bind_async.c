// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * VM_BIND in the VM's queue: waits, signals, order.
 *
 * Binds and jobs wait for a job that never ends but shares the GPU, as in
 * pumice_fence.c.
 */
#include "vm_bind_async.h"

#include <errno.h>

#include "igt_pumice.h"
#include "fixture.h"
#include "sync.h"

#define VA FX_FREE

static void release(struct fixture *holder)
{
	CHECK_OK(gpu_context_destroy(holder->fd, holder->context));
}

/* Queue one operation with a wait and a signal; 0 omits either. */
static void queue(struct fixture *fx, struct drm_pumice_bind_op op, u32 wait, u32 signal)
{
	struct drm_pumice_sync syncs[2];
	u32 count = 0;

	if (wait)
		syncs[count++] = wait_for(wait, 0);
	if (signal)
		syncs[count++] = then_signal(signal, 0);
	CHECK_OK(gpu_bind_async(fx->fd, fx->vm, &op, 1, syncs, count));
}

/* Submit a job that stores to @va when @wait is signaled; its fence is fx->sync. */
static void store_after(struct fixture *fx, u64 va, u32 value, u32 wait)
{
	struct drm_pumice_sync syncs[] = { wait_for(wait, 0), then_signal(fx->sync, 0) };
	struct drm_pumice_job job = {
		.context = fx->context, .stream = fx_store_stream(fx, va, value),
		.syncs = ARRAY_OF(syncs, 2),
	};

	CHECK_OK(gpu_submit(fx->fd, &job, 1, NULL));
}

static bool is_mapped(struct fixture *fx, u64 va)
{
	return fx_run(fx, fx_store_stream(fx, va, 1)) == 1;
}

static void async_job_waits_for_map(void)
{
	struct fixture fx = fx_open(), holder = fx_on(fx.fd);
	u32 handle = need_bo(fx.fd, PAGE), *cpu = need_cpu(fx.fd, handle, PAGE);
	u32 mapped = need_sync(fx.fd);

	fx_run_on(&holder);
	queue(&fx, bind_map(handle, 0, VA, PAGE, 0), holder.sync, mapped);
	store_after(&fx, VA, 70, mapped);
	fx_check_held(fx.fd, fx.sync, 0);
	release(&holder);
	igt_assert_eq(fx_wait(&fx), 1);
	fx_check_words(cpu, 70);
	igt_assert_eq(sync_status(fx.fd, mapped, 0), 1);
}

static void async_map_waits_for_job(void)
{
	struct fixture fx = fx_open(), holder = fx_on(fx.fd);
	u32 handle = need_bo(fx.fd, PAGE), mapped = need_sync(fx.fd);

	fx_run_on(&holder);
	queue(&fx, bind_map(handle, 0, VA, PAGE, 0), holder.sync, mapped);
	fx_check_held(fx.fd, mapped, 0);
	release(&holder);
	need_wait(fx.fd, mapped, 0);
	igt_assert(is_mapped(&fx, VA));
}

/* A job whose memory is unmapped right after it, and one after that, which faults. */
static void async_unmap_waits_for_job(void)
{
	struct fixture fx = fx_open(), holder = fx_on(fx.fd);
	struct mem mem = need_mem(fx.fd, fx.vm, VA, PAGE);
	u32 unmapped = need_sync(fx.fd), stored = fx.sync;

	fx_run_on(&holder);
	store_after(&fx, VA, 90, holder.sync);
	queue(&fx, bind_unmap(VA, PAGE), stored, unmapped);
	fx.sync = need_sync(fx.fd);
	store_after(&fx, VA, 0, unmapped);
	fx_check_held(fx.fd, unmapped, 0);
	release(&holder);
	igt_assert_eq(fx_wait(&fx), -EIO);
	igt_assert_eq(sync_status(fx.fd, stored, 0), 1);
	fx_check_words(mem.cpu, 90);
}

/* The second has no waits, but follows the first, which has one. */
static void async_in_order(void)
{
	struct fixture fx = fx_open(), holder = fx_on(fx.fd);
	struct mem first = need_mem(fx.fd, fx.vm, VA + GIB, PAGE);
	struct mem second = need_mem(fx.fd, fx.vm, VA + 2 * GIB, PAGE);
	u32 done = need_sync(fx.fd), last = need_sync(fx.fd);

	fx_run_on(&holder);
	queue(&fx, bind_map(first.handle, 0, VA, PAGE, 0), holder.sync, done);
	queue(&fx, bind_map(second.handle, 0, VA, PAGE, 0), 0, last);
	fx_check_held(fx.fd, done, 0);
	igt_assert(sync_is_pending(fx.fd, last, 0));
	release(&holder);
	need_wait(fx.fd, last, 0);
	igt_assert(!sync_is_pending(fx.fd, done, 0));
	store_after(&fx, VA, 33, last);
	igt_assert_eq(fx_wait(&fx), 1);
	fx_check_words(second.cpu, 33);
	igt_assert_eq_u32(first.cpu[0], 0);
}

static void async_other_vm_continues(void)
{
	struct fixture fx = fx_open(), other = fx_on(fx.fd), holder = fx_on(fx.fd);
	u32 handle = need_bo(fx.fd, PAGE);
	u32 held = need_sync(fx.fd), free = need_sync(fx.fd);

	fx_run_on(&holder);
	queue(&fx, bind_map(handle, 0, VA, PAGE, 0), holder.sync, held);
	queue(&other, bind_map(handle, 0, VA, PAGE, 0), 0, free);
	need_wait(fx.fd, free, 0);
	fx_check_held(fx.fd, held, 0);
	release(&holder);
	need_wait(fx.fd, held, 0);
}

static void async_does_not_delay_sync_bind(void)
{
	struct fixture fx = fx_open(), holder = fx_on(fx.fd);
	u32 handle = need_bo(fx.fd, 2 * PAGE), held = need_sync(fx.fd);
	u32 *cpu = need_cpu(fx.fd, handle, 2 * PAGE);

	fx_run_on(&holder);
	queue(&fx, bind_map(handle, 0, VA, PAGE, 0), holder.sync, held);
	need_map(fx.fd, fx.vm, handle, PAGE, VA + PAGE, PAGE, 0);
	fx_check_held(fx.fd, held, 0);
	release(&holder);
	need_wait(fx.fd, held, 0);
	igt_assert_eq(fx_run(&fx, fx_store_stream(&fx, VA + PAGE, 12)), 1);
	fx_check_words(cpu + PAGE / 4, 12);
}

static void async_without_operations(void)
{
	struct fixture fx = fx_open(), holder = fx_on(fx.fd);
	u32 done = need_sync(fx.fd);
	struct drm_pumice_sync syncs[] = { wait_for(holder.sync, 0), then_signal(done, 0) };

	fx_run_on(&holder);
	CHECK_OK(gpu_bind_async(fx.fd, fx.vm, NULL, 0, syncs, 2));
	fx_check_held(fx.fd, done, 0);
	release(&holder);
	need_wait(fx.fd, done, 0);
	igt_assert_eq(sync_status(fx.fd, done, 0), 1);
}

static void async_timeline(void)
{
	struct fixture fx = fx_open(), holder = fx_on(fx.fd);
	struct mem mem = need_mem(fx.fd, fx.vm, VA + GIB, 32 * PAGE);
	u32 timeline = need_sync(fx.fd), i;

	fx_run_on(&holder);
	for (i = 0; i < 32; i++) {
		struct drm_pumice_sync syncs[] = {
			then_signal(timeline, i + 1),
			i ? wait_for(timeline, i) : wait_for(holder.sync, 0),
		};
		struct drm_pumice_bind_op op = bind_map(mem.handle, (u64)i * PAGE,
							VA + (u64)i * PAGE, PAGE, 0);

		CHECK_OK(gpu_bind_async(fx.fd, fx.vm, &op, 1, syncs, 2));
	}
	fx_check_held(fx.fd, timeline, 1);
	release(&holder);
	need_wait(fx.fd, timeline, 32);
	for (i = 0; i < 32; i++) {
		igt_assert_eq(fx_run(&fx, fx_store_stream(&fx, VA + (u64)i * PAGE, i)), 1);
		fx_check_words(mem.cpu + i * PAGE / 4, i);
	}
}

static void async_waits_for_a_faulted_job(void)
{
	struct fixture fx = fx_open(), bad = fx_on(fx.fd), holder = fx_on(fx.fd);
	u32 handle = need_bo(fx.fd, PAGE), mapped = need_sync(fx.fd);

	fx_run_on(&holder);
	store_after(&bad, VA, 0, holder.sync);
	queue(&fx, bind_map(handle, 0, VA, PAGE, 0), bad.sync, mapped);
	fx_check_held(fx.fd, mapped, 0);
	release(&holder);
	need_wait(fx.fd, mapped, 0);
	igt_assert_eq(sync_status(fx.fd, mapped, 0), 1);
	igt_assert(is_mapped(&fx, VA));
}

static void async_vm_destroyed(void)
{
	struct fixture fx = fx_open(), holder = fx_on(fx.fd);
	u32 handle = need_bo(fx.fd, PAGE), first = need_sync(fx.fd), second = need_sync(fx.fd);
	u32 vm = need_vm(fx.fd);

	fx_run_on(&holder);
	fx.vm = vm;
	queue(&fx, bind_map(handle, 0, VA, PAGE, 0), holder.sync, first);
	queue(&fx, bind_unmap(VA, PAGE), 0, second);
	CHECK_OK(gpu_vm_destroy(fx.fd, vm));
	need_wait(fx.fd, first, 0);
	need_wait(fx.fd, second, 0);
	igt_assert_eq(sync_status(fx.fd, first, 0), -ECANCELED);
	igt_assert_eq(sync_status(fx.fd, second, 0), -ECANCELED);
	igt_assert(sync_is_pending(fx.fd, holder.sync, 0));
	release(&holder);
}

/* Errors are returned by the call, and none of its operations is queued. */
static void async_bad_operation(void)
{
	struct fixture fx = fx_open();
	u32 handle = need_bo(fx.fd, PAGE), signal = need_sync(fx.fd);
	struct drm_pumice_sync sync = then_signal(signal, 0);
	struct drm_pumice_bind_op ops[] = {
		bind_map(handle, 0, VA, PAGE, 0), bind_map(NO_HANDLE, 0, VA, PAGE, 0),
	};

	igt_assert_eq(gpu_bind_async(fx.fd, fx.vm, ops, 2, &sync, 1), -ENOENT);
	ops[1] = bind_map(handle, 0, VA + 1, PAGE, 0);
	igt_assert_eq(gpu_bind_async(fx.fd, fx.vm, ops, 2, &sync, 1), -EINVAL);
	igt_assert_eq(sync_wait(fx.fd, signal, 0, 0), -EINVAL);
	igt_assert(!is_mapped(&fx, VA));
}

static void async_bad_syncs(void)
{
	struct fixture fx = fx_open();
	u32 handle = need_bo(fx.fd, PAGE), empty = need_sync(fx.fd);
	struct drm_pumice_sync sync = then_signal(empty, 0);
	struct drm_pumice_bind_op op = bind_map(handle, 0, VA, PAGE, 0);
	struct drm_pumice_vm_bind at_once = {
		.vm = fx.vm, .ops = ARRAY_OF(&op, 1), .syncs = ARRAY_OF(&sync, 1),
	};

	do_ioctl_err(fx.fd, DRM_IOCTL_PUMICE_VM_BIND, &at_once, EINVAL);
	sync.handle = NO_HANDLE;
	igt_assert_eq(gpu_bind_async(fx.fd, fx.vm, &op, 1, &sync, 1), -ENOENT);
	sync = then_signal(empty, 0);
	sync.flags |= 1u << 31;
	igt_assert_eq(gpu_bind_async(fx.fd, fx.vm, &op, 1, &sync, 1), -EINVAL);
	sync = wait_for(empty, 0);
	igt_assert_eq(gpu_bind_async(fx.fd, fx.vm, &op, 1, &sync, 1), -EINVAL);
	igt_assert(!is_mapped(&fx, VA));
}

/* Mapped and unmapped repeatedly, with a job between each pair, all queued at once. */
static void async_pipeline(void)
{
	struct fixture fx = fx_open(), holder = fx_on(fx.fd);
	u32 handle = need_bo(fx.fd, 16 * PAGE), *cpu = need_cpu(fx.fd, handle, 16 * PAGE);
	u32 free = holder.sync, i;

	fx_run_on(&holder);
	for (i = 0; i < 16; i++) {
		u32 mapped = need_sync(fx.fd);

		queue(&fx, bind_map(handle, (u64)i * PAGE, VA, PAGE, 0), free, mapped);
		fx.sync = need_sync(fx.fd);
		store_after(&fx, VA, 100 * i, mapped);
		free = need_sync(fx.fd);
		queue(&fx, bind_unmap(VA, PAGE), fx.sync, free);
	}
	fx_check_held(fx.fd, free, 0);
	igt_assert_eq_u64(need_state(fx.fd, fx.context).jobs_done, 0);
	release(&holder);
	need_wait(fx.fd, free, 0);
	for (i = 0; i < 16; i++)
		fx_check_words(cpu + i * PAGE / 4, 100 * i);
	igt_assert_eq_u64(need_state(fx.fd, fx.context).jobs_faulted, 0);
	igt_assert(!is_mapped(&fx, VA));
}

void vm_bind_async_subtests(void)
{
	igt_pumice_subtest("async-job-waits-for-map", "a job waits for its mapping",
			   async_job_waits_for_map);
	igt_pumice_subtest("async-map-waits-for-job", "a mapping waits for a job",
			   async_map_waits_for_job);
	igt_pumice_subtest("async-unmap-waits-for-job", "memory is unmapped after its last job",
			   async_unmap_waits_for_job);
	igt_pumice_subtest("async-in-order", "binds of a VM take effect in order", async_in_order);
	igt_pumice_subtest("async-other-vm-continues", "a VM's queue delays no other VM's",
			   async_other_vm_continues);
	igt_pumice_subtest("async-does-not-delay-sync-bind",
			   "a VM's queue delays no synchronous bind",
			   async_does_not_delay_sync_bind);
	igt_pumice_subtest("async-without-operations",
			   "a call without operations waits for the queue",
			   async_without_operations);
	igt_pumice_subtest("async-timeline", "binds along a timeline", async_timeline);
	igt_pumice_subtest("async-waits-for-a-faulted-job",
			   "a bind waits for a job, whether it succeeds or fails",
			   async_waits_for_a_faulted_job);
	igt_pumice_subtest("async-vm-destroyed", "binds of a destroyed VM are canceled",
			   async_vm_destroyed);
	igt_pumice_subtest("async-bad-operation", "a bad operation refuses the call",
			   async_bad_operation);
	igt_pumice_subtest("async-bad-syncs",
			   "syncs: handle, flags, no fence, and none for a synchronous bind",
			   async_bad_syncs);
	igt_pumice_subtest("async-pipeline", "sixteen mappings of one address, a job each",
			   async_pipeline);
}
