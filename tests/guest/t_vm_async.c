// SPDX-License-Identifier: MIT
/*
 * VM_BIND with DRM_PUMICE_VM_BIND_ASYNC: arguments, order, waits, signals, and the results
 * of waiting binds when their VM, file, context or device is destroyed.
 *
 * A bind is blocked by the fence of a job that does not end but shares the GPU
 * (fx_run_on()); destroying that job's context releases it.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xf86drm.h>

#include "harness.h"
#include "fixture.h"
#include "system.h"

#define VA	FX_FREE
#define MANY	64u

/** struct late - a VM with a BO to bind, and a job that blocks binds */
struct late {
	struct fixture fx;		/* its VM is bound to */
	struct fixture holder;	/* binds wait for its job; on the same file */
	struct mem mem;		/* mapped from VA on in a VM that is not used otherwise */
	u32 done;		/* binary: signaled by the bind */
};

static struct late late_open(void)
{
	struct late late = { .fx = fx_open() };

	late.holder = fx_on(late.fx.fd);
	late.mem = need_mem(late.fx.fd, need_vm(late.fx.fd), VA, MIB);
	late.done = need_sync(late.fx.fd);
	return late;
}

static void let_go(struct late *late)
{
	CHECK_OK(gpu_context_destroy(late->fx.fd, late->holder.context));
}

static int bind_async(int fd, u32 vm, const struct drm_pumice_bind_op *ops, u32 count,
		      const struct drm_pumice_sync *syncs, u32 sync_count, u32 *failed)
{
	struct drm_pumice_vm_bind args = {
		.vm = vm, .flags = DRM_PUMICE_VM_BIND_ASYNC, .ops = ARRAY_OF(ops, count),
		.syncs = ARRAY_OF(syncs, sync_count),
	};
	int err = gpu_ioctl(fd, DRM_IOCTL_PUMICE_VM_BIND, &args);

	CHECK_EQUAL(args.ops.count, count);
	if (failed)
		*failed = args.failed_op;
	return err;
}

/* One operation that waits for @wait, if not 0, and signals @signal, if not 0. */
static int bind_one(const struct late *late, struct drm_pumice_bind_op op, u32 wait, u32 signal)
{
	struct drm_pumice_sync syncs[2];
	u32 count = 0;

	if (wait)
		syncs[count++] = wait_for(wait, 0);
	if (signal)
		syncs[count++] = then_signal(signal, 0);
	return bind_async(late->fx.fd, late->fx.vm, &op, 1, syncs, count, NULL);
}

static struct drm_pumice_bind_op map_op(const struct late *late, u64 va)
{
	return bind_map(late->mem.handle, 0, va, MIB, 0);
}

static void submit_after(struct fixture *fx, u64 stream, u32 wait)
{
	const struct drm_pumice_sync syncs[] = { wait_for(wait, 0), then_signal(fx->sync, 0) };
	const struct drm_pumice_job job = {
		.context = fx->context, .stream = stream, .syncs = ARRAY_OF(syncs, 2),
	};

	CHECK_OK(gpu_submit(fx->fd, &job, 1, NULL));
}

static int wait_done(const struct late *late, u32 sync)
{
	need_wait(late->fx.fd, sync, 0);
	return sync_status(late->fx.fd, sync, 0);
}

static void bind_without_syncs_takes_effect(void)
{
	struct late late = late_open();
	struct drm_pumice_bind_op op = map_op(&late, VA);

	CHECK_OK(bind_async(late.fx.fd, late.fx.vm, &op, 1, NULL, 0, NULL));
	/* The empty bind after it signals the completion. */
	CHECK_OK(bind_async(late.fx.fd, late.fx.vm, NULL, 0,
			    &(struct drm_pumice_sync){ .flags = DRM_PUMICE_SYNC_SIGNAL,
						       .handle = late.done }, 1, NULL));
	CHECK_EQUAL(wait_done(&late, late.done), 1);
	CHECK_EQUAL(fx_run(&late.fx, fx_store_stream(&late.fx, VA, 7)), 1);
	fx_check_words(late.mem.cpu, 7);
}

static void bind_waits_for_its_waits(void)
{
	struct late late = late_open();

	fx_run_on(&late.holder);
	CHECK_OK(bind_one(&late, map_op(&late, VA), late.holder.sync, late.done));
	fx_check_held(late.fx.fd, late.done, 0);
	let_go(&late);
	CHECK_EQUAL(wait_done(&late, late.done), 1);
	CHECK_EQUAL(fx_run(&late.fx, fx_store_stream(&late.fx, VA, 9)), 1);
	fx_check_words(late.mem.cpu, 9);
}

static void binds_of_a_vm_keep_their_order(void)
{
	struct late late = late_open();
	u32 second = need_sync(late.fx.fd);

	fx_run_on(&late.holder);
	CHECK_OK(bind_one(&late, map_op(&late, VA), late.holder.sync, late.done));
	CHECK_OK(bind_one(&late, bind_unmap(VA, MIB), 0, second));
	fx_check_held(late.fx.fd, second, 0);
	let_go(&late);
	CHECK_EQUAL(wait_done(&late, second), 1);
	CHECK_EQUAL(sync_status(late.fx.fd, late.done, 0), 1);
	CHECK_EQUAL(fx_run(&late.fx, fx_store_stream(&late.fx, VA, 9)), -EIO);
}

static void binds_of_another_vm_are_not_delayed(void)
{
	struct late late = late_open();
	struct fixture other = fx_on(late.fx.fd);
	struct drm_pumice_bind_op op = map_op(&late, VA);
	struct drm_pumice_sync signal = then_signal(need_sync(other.fd), 0);

	fx_run_on(&late.holder);
	CHECK_OK(bind_one(&late, map_op(&late, VA), late.holder.sync, late.done));
	CHECK_OK(bind_async(other.fd, other.vm, &op, 1, &signal, 1, NULL));
	need_wait(other.fd, signal.handle, 0);
	fx_check_held(late.fx.fd, late.done, 0);
	let_go(&late);
	CHECK_EQUAL(wait_done(&late, late.done), 1);
}

static void call_without_the_flag_waits_for_none_with_it(void)
{
	struct late late = late_open();

	fx_run_on(&late.holder);
	CHECK_OK(bind_one(&late, bind_unmap(VA, MIB), late.holder.sync, late.done));
	need_map(late.fx.fd, late.fx.vm, late.mem.handle, 0, VA + 4 * MIB, MIB, 0);
	fx_check_held(late.fx.fd, late.done, 0);
	let_go(&late);
	CHECK_EQUAL(wait_done(&late, late.done), 1);
	CHECK_EQUAL(fx_run(&late.fx, fx_store_stream(&late.fx, VA + 4 * MIB, 5)), 1);
	fx_check_words(late.mem.cpu, 5);
}

static void later_bind_works_on_the_mappings_of_its_time(void)
{
	struct late late = late_open();

	/* Queued first, it splits a mapping that is created only after it was queued. */
	fx_run_on(&late.holder);
	CHECK_OK(bind_one(&late, bind_unmap(VA + PAGE, PAGE), late.holder.sync, late.done));
	fx_check_held(late.fx.fd, late.done, 0);
	need_map(late.fx.fd, late.fx.vm, late.mem.handle, 0, VA, MIB, 0);
	let_go(&late);
	CHECK_EQUAL(wait_done(&late, late.done), 1);
	CHECK_EQUAL(fx_run(&late.fx, fx_store_stream(&late.fx, VA, 1)), 1);
	CHECK_EQUAL(fx_run(&late.fx, fx_store_stream(&late.fx, VA + PAGE, 1)), -EIO);
	CHECK_EQUAL(fx_run(&late.fx, fx_store_stream(&late.fx, VA + 2 * PAGE, 1)), 1);
}

static void jobs_that_wait_for_a_bind_run_after_it(void)
{
	struct late late = late_open();

	fx_run_on(&late.holder);
	CHECK_OK(bind_one(&late, map_op(&late, VA), late.holder.sync, late.done));
	submit_after(&late.fx, fx_store_stream(&late.fx, VA, 21), late.done);
	fx_check_held(late.fx.fd, late.fx.sync, 0);
	let_go(&late);
	CHECK_EQUAL(fx_wait(&late.fx), 1);
	fx_check_words(late.mem.cpu, 21);
}

static void bind_waits_and_signals_points_of_a_timeline(void)
{
	struct late late = late_open();
	u32 timeline = need_sync(late.fx.fd);
	struct drm_pumice_bind_op op = map_op(&late, VA);
	const struct drm_pumice_sync first[] = { then_signal(timeline, 3), wait_for(timeline, 1) };
	const struct drm_pumice_sync second[] = { then_signal(timeline, 8), wait_for(timeline, 2) };

	fx_run_on(&late.holder);
	CHECK_OK(drmSyncobjTransfer(late.fx.fd, timeline, 1, late.holder.sync, 0, 0));
	CHECK_OK(bind_async(late.fx.fd, late.fx.vm, &op, 1, first, 2, NULL));
	CHECK_OK(bind_async(late.fx.fd, late.fx.vm, NULL, 0, second, 2, NULL));
	fx_check_held(late.fx.fd, timeline, 1);
	CHECK_EQUAL(fx_run(&late.fx, fx_store_stream(&late.fx, VA, 9)), -EIO);
	let_go(&late);
	need_wait(late.fx.fd, timeline, 8);
	CHECK_EQUAL(sync_status(late.fx.fd, timeline, 8), 1);
	CHECK_EQUAL(fx_run(&late.fx, fx_store_stream(&late.fx, VA, 9)), 1);
}

static void many_binds_are_queued_and_all_take_effect(void)
{
	struct late late = late_open();
	u32 i;

	fx_run_on(&late.holder);
	for (i = 0; i < MANY; i++)
		CHECK_OK(bind_one(&late, bind_map(late.mem.handle, i * PAGE, VA + 4ull * i * MIB,
						  PAGE, 0),
				  i ? 0 : late.holder.sync, late.done));
	fx_check_held(late.fx.fd, late.done, 0);
	let_go(&late);
	CHECK_EQUAL(wait_done(&late, late.done), 1);
	for (i = 0; i < MANY; i++)
		fx_submit(&late.fx, fx_store_stream(&late.fx, VA + 4ull * i * MIB, i * 100));
	CHECK_EQUAL(fx_wait(&late.fx), 1);
	for (i = 0; i < MANY; i++)
		fx_check_words(late.mem.cpu + i * PAGE / 4, i * 100);
}

static void as_many_operations_as_promised_are_queued(void)
{
	struct late late = late_open();
	struct drm_pumice_bind_op *ops = calloc(DRM_PUMICE_MAX_BIND_OPS, sizeof(*ops));
	struct drm_pumice_sync signal = then_signal(late.done, 0);
	u32 i;

	CHECK(ops);
	for (i = 0; i < DRM_PUMICE_MAX_BIND_OPS; i++)
		ops[i] = i % 2 ? bind_unmap(VA + i * PAGE, PAGE) :
				 bind_map(late.mem.handle, 0, VA + i * PAGE, MIB, 0);
	CHECK_OK(bind_async(late.fx.fd, late.fx.vm, ops, DRM_PUMICE_MAX_BIND_OPS, &signal, 1,
			    NULL));
	CHECK_EQUAL(wait_done(&late, late.done), 1);
}

static void mappings_of_one_call_end_as_its_last_operation_defines(void)
{
	struct late late = late_open();
	const struct drm_pumice_bind_op ops[] = {
		map_op(&late, VA), bind_unmap(VA, GIB), map_op(&late, VA + 2 * GIB),
		bind_unmap(VA + 2 * GIB, 4 * GIB), map_op(&late, VA),
		bind_map(late.mem.handle, 0, VA + PAGE, PAGE, DRM_PUMICE_BIND_READONLY),
	};
	struct drm_pumice_sync signal = then_signal(late.done, 0);

	CHECK_OK(bind_async(late.fx.fd, late.fx.vm, ops, 6, &signal, 1, NULL));
	CHECK_EQUAL(wait_done(&late, late.done), 1);
	CHECK_EQUAL(fx_run(&late.fx, fx_store_stream(&late.fx, VA, 30)), 1);
	fx_check_words(late.mem.cpu, 30);
	CHECK_EQUAL(fx_run(&late.fx, fx_store_stream(&late.fx, VA + PAGE, 1)), -EIO);
	CHECK_EQUAL(fx_run(&late.fx, fx_store_stream(&late.fx, VA + 2 * GIB, 1)), -EIO);
}

static void destroyed_vm_cancels_its_binds_at_once(void)
{
	struct late late = late_open();
	u32 second = need_sync(late.fx.fd);

	fx_run_on(&late.holder);
	CHECK_OK(bind_one(&late, map_op(&late, VA), late.holder.sync, late.done));
	CHECK_OK(bind_one(&late, bind_unmap(VA, MIB), 0, second));
	CHECK_OK(gpu_vm_destroy(late.fx.fd, late.fx.vm));
	CHECK_EQUAL(wait_done(&late, late.done), -ECANCELED);
	CHECK_EQUAL(wait_done(&late, second), -ECANCELED);
	CHECK(sync_is_pending(late.fx.fd, late.holder.sync, 0));
	let_go(&late);
	/* The context still has the VM, without the queued mappings. */
	fx_check_works(&late.fx);
	CHECK_EQUAL(fx_run(&late.fx, fx_store_stream(&late.fx, VA, 1)), -EIO);
}

static void closed_file_leaves_nothing_of_its_binds(void)
{
	struct late late = late_open();
	int file;

	fx_run_on(&late.holder);
	CHECK_OK(bind_one(&late, map_op(&late, VA), late.holder.sync, late.done));
	file = need_sync_file(late.fx.fd, late.done);
	/* Mapped memory would keep the file open. */
	munmap(late.mem.cpu, late.mem.size);
	munmap(late.holder.code.cpu, late.holder.code.size);
	munmap(late.holder.data.cpu, late.holder.data.size);
	fx_close(&late.fx);
	CHECK(sync_file_status(file));
	close(file);
	need_nothing_left();
}

static void buffer_may_be_closed_before_it_is_bound(void)
{
	struct late late = late_open();

	fx_run_on(&late.holder);
	CHECK_OK(bind_one(&late, map_op(&late, VA), late.holder.sync, late.done));
	CHECK_OK(gpu_bo_close(late.fx.fd, late.mem.handle));
	let_go(&late);
	CHECK_EQUAL(wait_done(&late, late.done), 1);
	CHECK_EQUAL(fx_run(&late.fx, fx_store_stream(&late.fx, VA, 11)), 1);
	fx_check_words(late.mem.cpu, 11);
}

static void binds_survive_a_reset_of_the_gpu(void)
{
	struct late late = late_open();

	fx_run_on(&late.holder);
	CHECK_OK(bind_one(&late, map_op(&late, VA), late.holder.sync, late.done));
	need_flr();
	CHECK_EQUAL(wait_done(&late, late.done), 1);
	CHECK_EQUAL(fx_wait(&late.holder), -ECANCELED);
	CHECK_EQUAL(fx_run(&late.fx, fx_store_stream(&late.fx, VA, 13)), 1);
	fx_check_words(late.mem.cpu, 13);
}

static void unplugging_ends_binds_that_wait(void)
{
	struct late late = late_open();
	int file;

	fx_run_on(&late.holder);
	CHECK_OK(bind_one(&late, map_op(&late, VA), late.holder.sync, late.done));
	file = need_sync_file(late.fx.fd, late.done);
	need_unbound();
	CHECK_EQUAL(sync_file_status(file), -ENODEV);
	close(late.fx.fd);
	need_bound();
	late.fx = fx_open();
	fx_check_works(&late.fx);
}

/* Nothing of a refused call is queued, and no syncobj gets a fence. */
static void refuse(const struct late *late, struct drm_pumice_vm_bind args, int error, u32 index)
{
	u32 count = args.ops.count;

	CHECK_ERROR(gpu_ioctl(late->fx.fd, DRM_IOCTL_PUMICE_VM_BIND, &args), error);
	CHECK_EQUAL(args.ops.count, count);
	CHECK_EQUAL(args.failed_op, index);
	CHECK_ERROR(sync_wait(late->fx.fd, late->done, 0, 0), EINVAL);
}

static void syncs_need_the_flag(void)
{
	struct late late = late_open();
	struct drm_pumice_bind_op op = map_op(&late, VA);
	struct drm_pumice_sync signal = then_signal(late.done, 0);

	refuse(&late, (struct drm_pumice_vm_bind){
		.vm = late.fx.vm, .ops = ARRAY_OF(&op, 1), .syncs = ARRAY_OF(&signal, 1),
	}, EINVAL, 0);
}

static void index_of_refused_operation_is_reported_and_none_is_queued(void)
{
	struct late late = late_open();
	struct drm_pumice_bind_op ops[] = {
		map_op(&late, VA), map_op(&late, VA + MIB), map_op(&late, VA + 2 * MIB),
	};
	struct drm_pumice_sync signal = then_signal(late.done, 0);
	struct drm_pumice_vm_bind args = {
		.vm = late.fx.vm, .flags = DRM_PUMICE_VM_BIND_ASYNC, .ops = ARRAY_OF(ops, 3),
		.syncs = ARRAY_OF(&signal, 1),
	};

	ops[2].pad = 1;
	refuse(&late, args, EINVAL, 2);
	ops[2].pad = 0;
	ops[1].handle = NO_HANDLE;
	refuse(&late, args, ENOENT, 1);
	ops[1] = map_op(&late, VA + MIB);
	ops[0].bo_offset = PAGE;
	refuse(&late, args, EINVAL, 0);
	CHECK_EQUAL(fx_run(&late.fx, fx_store_stream(&late.fx, VA, 1)), -EIO);
}

static void syncs_of_binds_are_checked(void)
{
	struct late late = late_open();
	struct drm_pumice_bind_op op = map_op(&late, VA);
	struct drm_pumice_sync syncs[2] = { then_signal(late.done, 0) };
	struct drm_pumice_vm_bind args = {
		.vm = late.fx.vm, .flags = DRM_PUMICE_VM_BIND_ASYNC, .ops = ARRAY_OF(&op, 1),
		.syncs = ARRAY_OF(syncs, 2),
	};

	syncs[1] = wait_for(NO_HANDLE, 0);
	CHECK_ERROR(gpu_ioctl(late.fx.fd, DRM_IOCTL_PUMICE_VM_BIND, &args), ENOENT);
	syncs[1] = wait_for(need_sync(late.fx.fd), 0);
	CHECK_ERROR(gpu_ioctl(late.fx.fd, DRM_IOCTL_PUMICE_VM_BIND, &args), EINVAL);
	syncs[1] = (struct drm_pumice_sync){ .flags = 4, .handle = late.done };
	CHECK_ERROR(gpu_ioctl(late.fx.fd, DRM_IOCTL_PUMICE_VM_BIND, &args), EINVAL);
	syncs[1] = (struct drm_pumice_sync){ .handle = late.done, .value = 1 };
	CHECK_ERROR(gpu_ioctl(late.fx.fd, DRM_IOCTL_PUMICE_VM_BIND, &args), EINVAL);
	args.syncs.count = DRM_PUMICE_MAX_SYNCS + 1;
	CHECK_ERROR(gpu_ioctl(late.fx.fd, DRM_IOCTL_PUMICE_VM_BIND, &args), E2BIG);
	args.syncs.count = 2;
	args.syncs.stride = sizeof(syncs[0]) - 1;
	CHECK_ERROR(gpu_ioctl(late.fx.fd, DRM_IOCTL_PUMICE_VM_BIND, &args), EINVAL);
	args.syncs.stride = sizeof(syncs[0]);
	args.syncs.array = 16;
	CHECK_ERROR(gpu_ioctl(late.fx.fd, DRM_IOCTL_PUMICE_VM_BIND, &args), EFAULT);
	CHECK_ERROR(sync_wait(late.fx.fd, late.done, 0, 0), EINVAL);
}

/* As VM_BIND was first published: no syncs. */
struct old_vm_bind {
	u32 vm;
	u32 flags;
	struct drm_pumice_array ops;
};

static void first_published_structure_still_binds(void)
{
	struct late late = late_open();
	struct drm_pumice_bind_op op = map_op(&late, VA);
	struct old_vm_bind args = { .vm = late.fx.vm, .ops = ARRAY_OF(&op, 1) };

	CHECK_OK(gpu_ioctl(late.fx.fd, DRM_IOWR(DRM_COMMAND_BASE + DRM_PUMICE_VM_BIND,
						struct old_vm_bind), &args));
	CHECK_EQUAL(fx_run(&late.fx, fx_store_stream(&late.fx, VA, 3)), 1);
	fx_check_words(late.mem.cpu, 3);
}

static void all_objects_are_released(void)
{
	need_nothing_left();
	need_module_unused();
}

static const struct test_case cases[] = {
	TEST_CASE(bind_without_syncs_takes_effect),
	TEST_CASE(bind_waits_for_its_waits),
	TEST_CASE(binds_of_a_vm_keep_their_order),
	TEST_CASE(binds_of_another_vm_are_not_delayed),
	TEST_CASE(call_without_the_flag_waits_for_none_with_it),
	TEST_CASE(later_bind_works_on_the_mappings_of_its_time),
	TEST_CASE(jobs_that_wait_for_a_bind_run_after_it),
	TEST_CASE(bind_waits_and_signals_points_of_a_timeline),
	TEST_CASE(many_binds_are_queued_and_all_take_effect),
	TEST_CASE(as_many_operations_as_promised_are_queued),
	TEST_CASE(mappings_of_one_call_end_as_its_last_operation_defines),
	TEST_CASE(destroyed_vm_cancels_its_binds_at_once),
	TEST_CASE(closed_file_leaves_nothing_of_its_binds),
	TEST_CASE(buffer_may_be_closed_before_it_is_bound),
	TEST_CASE(binds_survive_a_reset_of_the_gpu),
	TEST_CASE(unplugging_ends_binds_that_wait),
	TEST_CASE(syncs_need_the_flag),
	TEST_CASE(index_of_refused_operation_is_reported_and_none_is_queued),
	TEST_CASE(syncs_of_binds_are_checked),
	TEST_CASE(first_published_structure_still_binds),
	TEST_CASE(all_objects_are_released),
};

TEST_MAIN(cases)
