// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * VM_BIND in the VM's queue: waits, signals, order.
 *
 * What binds and jobs have to wait for is a job that never ends but shares the GPU, as in
 * pumice_fence.c.
 */
#include "vm_bind_async.h"

#include <errno.h>

#include "igt_pumice.h"
#include "rig.h"
#include "sync.h"

#define VA RIG_FREE

static void release(struct rig *holder)
{
	CHECK_OK(gpu_context_destroy(holder->fd, holder->context));
}

/* Queue one operation with a wait and a signal; 0 leaves either out. */
static void queue(struct rig *rig, struct drm_pumice_bind_op op, u32 wait, u32 signal)
{
	struct drm_pumice_sync syncs[2];
	u32 count = 0;

	if (wait)
		syncs[count++] = wait_for(wait, 0);
	if (signal)
		syncs[count++] = then_signal(signal, 0);
	CHECK_OK(gpu_bind_async(rig->fd, rig->vm, &op, 1, syncs, count));
}

/* Submit a job that stores to @va when @wait is signaled; its fence is rig->sync. */
static void store_after(struct rig *rig, u64 va, u32 value, u32 wait)
{
	struct drm_pumice_sync syncs[] = { wait_for(wait, 0), then_signal(rig->sync, 0) };
	struct drm_pumice_job job = {
		.context = rig->context, .stream = rig_store_stream(rig, va, value),
		.syncs = ARRAY_OF(syncs, 2),
	};

	CHECK_OK(gpu_submit(rig->fd, &job, 1, NULL));
}

static bool is_mapped(struct rig *rig, u64 va)
{
	return rig_run(rig, rig_store_stream(rig, va, 1)) == 1;
}

static void async_job_waits_for_map(void)
{
	struct rig rig = rig_open(), holder = rig_on(rig.fd);
	u32 handle = need_bo(rig.fd, PAGE), *cpu = need_cpu(rig.fd, handle, PAGE);
	u32 mapped = need_sync(rig.fd);

	rig_run_on(&holder);
	queue(&rig, bind_map(handle, 0, VA, PAGE, 0), holder.sync, mapped);
	store_after(&rig, VA, 70, mapped);
	rig_check_held(rig.fd, rig.sync, 0);
	release(&holder);
	igt_assert_eq(rig_wait(&rig), 1);
	rig_check_words(cpu, 70);
	igt_assert_eq(sync_status(rig.fd, mapped, 0), 1);
}

static void async_map_waits_for_job(void)
{
	struct rig rig = rig_open(), holder = rig_on(rig.fd);
	u32 handle = need_bo(rig.fd, PAGE), mapped = need_sync(rig.fd);

	rig_run_on(&holder);
	queue(&rig, bind_map(handle, 0, VA, PAGE, 0), holder.sync, mapped);
	rig_check_held(rig.fd, mapped, 0);
	release(&holder);
	need_wait(rig.fd, mapped, 0);
	igt_assert(is_mapped(&rig, VA));
}

/* A job whose memory is unmapped right after it, and one after that, which faults. */
static void async_unmap_waits_for_job(void)
{
	struct rig rig = rig_open(), holder = rig_on(rig.fd);
	struct mem mem = need_mem(rig.fd, rig.vm, VA, PAGE);
	u32 unmapped = need_sync(rig.fd), stored = rig.sync;

	rig_run_on(&holder);
	store_after(&rig, VA, 90, holder.sync);
	queue(&rig, bind_unmap(VA, PAGE), stored, unmapped);
	rig.sync = need_sync(rig.fd);
	store_after(&rig, VA, 0, unmapped);
	rig_check_held(rig.fd, unmapped, 0);
	release(&holder);
	igt_assert_eq(rig_wait(&rig), -EIO);
	igt_assert_eq(sync_status(rig.fd, stored, 0), 1);
	rig_check_words(mem.cpu, 90);
}

/* The second has no waits, but follows the first, which has one. */
static void async_in_order(void)
{
	struct rig rig = rig_open(), holder = rig_on(rig.fd);
	struct mem first = need_mem(rig.fd, rig.vm, VA + GIB, PAGE);
	struct mem second = need_mem(rig.fd, rig.vm, VA + 2 * GIB, PAGE);
	u32 done = need_sync(rig.fd), last = need_sync(rig.fd);

	rig_run_on(&holder);
	queue(&rig, bind_map(first.handle, 0, VA, PAGE, 0), holder.sync, done);
	queue(&rig, bind_map(second.handle, 0, VA, PAGE, 0), 0, last);
	rig_check_held(rig.fd, done, 0);
	igt_assert(sync_is_pending(rig.fd, last, 0));
	release(&holder);
	need_wait(rig.fd, last, 0);
	igt_assert(!sync_is_pending(rig.fd, done, 0));
	store_after(&rig, VA, 33, last);
	igt_assert_eq(rig_wait(&rig), 1);
	rig_check_words(second.cpu, 33);
	igt_assert_eq_u32(first.cpu[0], 0);
}

static void async_other_vm_goes_on(void)
{
	struct rig rig = rig_open(), other = rig_on(rig.fd), holder = rig_on(rig.fd);
	u32 handle = need_bo(rig.fd, PAGE);
	u32 held = need_sync(rig.fd), free = need_sync(rig.fd);

	rig_run_on(&holder);
	queue(&rig, bind_map(handle, 0, VA, PAGE, 0), holder.sync, held);
	queue(&other, bind_map(handle, 0, VA, PAGE, 0), 0, free);
	need_wait(rig.fd, free, 0);
	rig_check_held(rig.fd, held, 0);
	release(&holder);
	need_wait(rig.fd, held, 0);
}

static void async_holds_up_no_bind_at_once(void)
{
	struct rig rig = rig_open(), holder = rig_on(rig.fd);
	u32 handle = need_bo(rig.fd, 2 * PAGE), held = need_sync(rig.fd);
	u32 *cpu = need_cpu(rig.fd, handle, 2 * PAGE);

	rig_run_on(&holder);
	queue(&rig, bind_map(handle, 0, VA, PAGE, 0), holder.sync, held);
	need_map(rig.fd, rig.vm, handle, PAGE, VA + PAGE, PAGE, 0);
	rig_check_held(rig.fd, held, 0);
	release(&holder);
	need_wait(rig.fd, held, 0);
	igt_assert_eq(rig_run(&rig, rig_store_stream(&rig, VA + PAGE, 12)), 1);
	rig_check_words(cpu + PAGE / 4, 12);
}

static void async_without_operations(void)
{
	struct rig rig = rig_open(), holder = rig_on(rig.fd);
	u32 done = need_sync(rig.fd);
	struct drm_pumice_sync syncs[] = { wait_for(holder.sync, 0), then_signal(done, 0) };

	rig_run_on(&holder);
	CHECK_OK(gpu_bind_async(rig.fd, rig.vm, NULL, 0, syncs, 2));
	rig_check_held(rig.fd, done, 0);
	release(&holder);
	need_wait(rig.fd, done, 0);
	igt_assert_eq(sync_status(rig.fd, done, 0), 1);
}

static void async_timeline(void)
{
	struct rig rig = rig_open(), holder = rig_on(rig.fd);
	struct mem mem = need_mem(rig.fd, rig.vm, VA + GIB, 32 * PAGE);
	u32 timeline = need_sync(rig.fd), i;

	rig_run_on(&holder);
	for (i = 0; i < 32; i++) {
		struct drm_pumice_sync syncs[] = {
			then_signal(timeline, i + 1),
			i ? wait_for(timeline, i) : wait_for(holder.sync, 0),
		};
		struct drm_pumice_bind_op op = bind_map(mem.handle, (u64)i * PAGE,
							VA + (u64)i * PAGE, PAGE, 0);

		CHECK_OK(gpu_bind_async(rig.fd, rig.vm, &op, 1, syncs, 2));
	}
	rig_check_held(rig.fd, timeline, 1);
	release(&holder);
	need_wait(rig.fd, timeline, 32);
	for (i = 0; i < 32; i++) {
		igt_assert_eq(rig_run(&rig, rig_store_stream(&rig, VA + (u64)i * PAGE, i)), 1);
		rig_check_words(mem.cpu + i * PAGE / 4, i);
	}
}

static void async_waits_for_a_faulted_job(void)
{
	struct rig rig = rig_open(), bad = rig_on(rig.fd), holder = rig_on(rig.fd);
	u32 handle = need_bo(rig.fd, PAGE), mapped = need_sync(rig.fd);

	rig_run_on(&holder);
	store_after(&bad, VA, 0, holder.sync);
	queue(&rig, bind_map(handle, 0, VA, PAGE, 0), bad.sync, mapped);
	rig_check_held(rig.fd, mapped, 0);
	release(&holder);
	need_wait(rig.fd, mapped, 0);
	igt_assert_eq(sync_status(rig.fd, mapped, 0), 1);
	igt_assert(is_mapped(&rig, VA));
}

static void async_vm_destroyed(void)
{
	struct rig rig = rig_open(), holder = rig_on(rig.fd);
	u32 handle = need_bo(rig.fd, PAGE), first = need_sync(rig.fd), second = need_sync(rig.fd);
	u32 vm = need_vm(rig.fd);

	rig_run_on(&holder);
	rig.vm = vm;
	queue(&rig, bind_map(handle, 0, VA, PAGE, 0), holder.sync, first);
	queue(&rig, bind_unmap(VA, PAGE), 0, second);
	CHECK_OK(gpu_vm_destroy(rig.fd, vm));
	need_wait(rig.fd, first, 0);
	need_wait(rig.fd, second, 0);
	igt_assert_eq(sync_status(rig.fd, first, 0), -ECANCELED);
	igt_assert_eq(sync_status(rig.fd, second, 0), -ECANCELED);
	igt_assert(sync_is_pending(rig.fd, holder.sync, 0));
	release(&holder);
}

/* Errors are returned by the call, and nothing of it is queued. */
static void async_bad_operation(void)
{
	struct rig rig = rig_open();
	u32 handle = need_bo(rig.fd, PAGE), signal = need_sync(rig.fd);
	struct drm_pumice_sync sync = then_signal(signal, 0);
	struct drm_pumice_bind_op ops[] = {
		bind_map(handle, 0, VA, PAGE, 0), bind_map(NO_HANDLE, 0, VA, PAGE, 0),
	};

	igt_assert_eq(gpu_bind_async(rig.fd, rig.vm, ops, 2, &sync, 1), -ENOENT);
	ops[1] = bind_map(handle, 0, VA + 1, PAGE, 0);
	igt_assert_eq(gpu_bind_async(rig.fd, rig.vm, ops, 2, &sync, 1), -EINVAL);
	igt_assert_eq(sync_wait(rig.fd, signal, 0, 0), -EINVAL);
	igt_assert(!is_mapped(&rig, VA));
}

static void async_bad_syncs(void)
{
	struct rig rig = rig_open();
	u32 handle = need_bo(rig.fd, PAGE), empty = need_sync(rig.fd);
	struct drm_pumice_sync sync = then_signal(empty, 0);
	struct drm_pumice_bind_op op = bind_map(handle, 0, VA, PAGE, 0);
	struct drm_pumice_vm_bind at_once = {
		.vm = rig.vm, .ops = ARRAY_OF(&op, 1), .syncs = ARRAY_OF(&sync, 1),
	};

	do_ioctl_err(rig.fd, DRM_IOCTL_PUMICE_VM_BIND, &at_once, EINVAL);
	sync.handle = NO_HANDLE;
	igt_assert_eq(gpu_bind_async(rig.fd, rig.vm, &op, 1, &sync, 1), -ENOENT);
	sync = then_signal(empty, 0);
	sync.flags |= 1u << 31;
	igt_assert_eq(gpu_bind_async(rig.fd, rig.vm, &op, 1, &sync, 1), -EINVAL);
	sync = wait_for(empty, 0);
	igt_assert_eq(gpu_bind_async(rig.fd, rig.vm, &op, 1, &sync, 1), -EINVAL);
	igt_assert(!is_mapped(&rig, VA));
}

/* Mapped and unmapped over and over, with a job between each pair, all queued at once. */
static void async_pipeline(void)
{
	struct rig rig = rig_open(), holder = rig_on(rig.fd);
	u32 handle = need_bo(rig.fd, 16 * PAGE), *cpu = need_cpu(rig.fd, handle, 16 * PAGE);
	u32 free = holder.sync, i;

	rig_run_on(&holder);
	for (i = 0; i < 16; i++) {
		u32 mapped = need_sync(rig.fd);

		queue(&rig, bind_map(handle, (u64)i * PAGE, VA, PAGE, 0), free, mapped);
		rig.sync = need_sync(rig.fd);
		store_after(&rig, VA, 100 * i, mapped);
		free = need_sync(rig.fd);
		queue(&rig, bind_unmap(VA, PAGE), rig.sync, free);
	}
	rig_check_held(rig.fd, free, 0);
	igt_assert_eq_u64(need_state(rig.fd, rig.context).jobs_done, 0);
	release(&holder);
	need_wait(rig.fd, free, 0);
	for (i = 0; i < 16; i++)
		rig_check_words(cpu + i * PAGE / 4, 100 * i);
	igt_assert_eq_u64(need_state(rig.fd, rig.context).jobs_faulted, 0);
	igt_assert(!is_mapped(&rig, VA));
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
	igt_pumice_subtest("async-other-vm-goes-on", "a VM's queue delays no other VM's",
			   async_other_vm_goes_on);
	igt_pumice_subtest("async-holds-up-no-bind-at-once",
			   "a VM's queue delays no synchronous bind",
			   async_holds_up_no_bind_at_once);
	igt_pumice_subtest("async-without-operations", "a queue can be waited for",
			   async_without_operations);
	igt_pumice_subtest("async-timeline", "binds along a timeline", async_timeline);
	igt_pumice_subtest("async-waits-for-a-faulted-job",
			   "a bind waits for a job however it ends", async_waits_for_a_faulted_job);
	igt_pumice_subtest("async-vm-destroyed", "binds of a destroyed VM are canceled",
			   async_vm_destroyed);
	igt_pumice_subtest("async-bad-operation", "a bad operation refuses the call",
			   async_bad_operation);
	igt_pumice_subtest("async-bad-syncs",
			   "syncs: handle, flags, nothing to wait for, and at once none",
			   async_bad_syncs);
	igt_pumice_subtest("async-pipeline", "sixteen mappings of one address, a job each",
			   async_pipeline);
}
