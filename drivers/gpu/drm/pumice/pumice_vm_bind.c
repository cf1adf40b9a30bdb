// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * DRM_IOCTL_PUMICE_VM_BIND: operations that take effect before it returns.
 *
 * Each operation is prepared without a lock and then executed under vm.lock. TLBs are
 * invalidated once, at the end of the call. Asynchronous operations are in
 * pumice_bind_queue.c.
 */
#include <linux/sched/signal.h>

#include "pumice_bind.h"
#include "pumice_bind_queue.h"
#include "pumice_uapi.h"
#include "pumice_vm.h"

#define OP_STRIDE	sizeof(struct drm_pumice_bind_op)

/* Execute one checked operation; op is reused for each of them. */
static int vm_bind_do_op(struct pumice_bind *b, struct pumice_bind_op *op, struct drm_file *file)
{
	const struct drm_pumice_bind_op *args = &op->args;
	struct pumice_device *pdev = b->vm->pdev;
	int ret = pumice_bind_prepare_op(b, op, file);

	if (!ret && args->type == DRM_PUMICE_BIND_MAP)
		ret = pumice_mmu_pool_fill_map(pdev, &b->pool, args->va, args->size);
	else if (!ret)
		ret = pumice_mmu_pool_fill_unmap(pdev, &b->pool);
	if (!ret) {
		mutex_lock(&b->vm->lock);
		ret = pumice_vm_bindable_locked(b->vm);
		if (!ret)
			pumice_bind_execute_locked(b, op);
		mutex_unlock(&b->vm->lock);
	}
	pumice_bind_put_buffer(op);
	return ret;
}

/* Execute all operations; *done counts those that took effect. */
static int vm_bind_do_ops(struct pumice_bind *b, struct drm_file *file,
			  const struct drm_pumice_array *ops, u32 *done)
{
	struct pumice_bind_op op = { 0 };
	int ret = 0;

	for (*done = 0; *done < ops->count; (*done)++) {
		if (fatal_signal_pending(current)) {
			ret = -EINTR;
			break;
		}
		cond_resched();
		ret = pumice_array_copy(ops, *done, &op.args, sizeof(op.args));
		if (!ret)
			ret = pumice_bind_check_op(&op.args);
		if (!ret)
			ret = vm_bind_do_op(b, &op, file);
		if (ret)
			break;
	}
	pumice_bind_forget_buffer(b);
	pumice_bind_release_op(&op);
	return ret;
}

/* Invalidate the TLBs before the call returns, even after an error. */
static int vm_bind_finish(struct pumice_bind *b)
{
	int ret;

	mutex_lock(&b->vm->lock);
	ret = pumice_vm_flush_locked(b->vm);
	mutex_unlock(&b->vm->lock);
	pumice_mmu_pool_free(b->vm->pdev, &b->pool);
	return ret;
}

static int vm_bind_sync(struct pumice_vm *vm, struct drm_file *file,
			const struct drm_pumice_array *ops, u32 *done)
{
	struct pumice_bind b;
	int ret = -ENODEV, finished, idx;

	pumice_bind_init(&b, vm);
	if (drm_dev_enter(&vm->pdev->drm, &idx)) {
		ret = vm_bind_do_ops(&b, file, ops, done);
		finished = vm_bind_finish(&b);
		ret = ret ?: finished;
		drm_dev_exit(idx);
	}
	/* Until it stops, a GPU whose TLBs were not invalidated may use removed mappings. */
	pumice_device_wait_unplugged(vm->pdev);
	pumice_bind_release(&b);
	return ret;
}

static int vm_bind_async(struct pumice_vm *vm, struct drm_file *file,
			 const struct drm_pumice_vm_bind *args, u32 *failed)
{
	int ret, idx;

	if (!drm_dev_enter(&vm->pdev->drm, &idx))
		return -ENODEV;
	ret = pumice_bind_queue_push(vm, file, args, failed);
	drm_dev_exit(idx);
	return ret;
}

/**
 * pumice_ioctl_vm_bind - implement DRM_IOCTL_PUMICE_VM_BIND
 * @drm: device
 * @data: struct drm_pumice_vm_bind, whose @failed_op is written in any case
 * @file: file
 *
 * A signal may interrupt the call after some of its operations. The inputs in @data are not
 * modified, so that the call can be restarted: from its first operation, which is correct
 * because operations replace existing mappings.
 *
 * Context: Process context. Acquires the reservations of the VM and of buffers, and vm.lock.
 * Without DRM_PUMICE_VM_BIND_ASYNC it waits for the firmware, which invalidates the TLBs. In mode
 * strict it wakes the GPU.
 *
 * Return: 0; -EINVAL for flags, padding, syncs of a call that is not asynchronous, invalid
 * syncs or a wait without a fence; -ENOENT without such a VM or syncobj, or if the VM was
 * destroyed meanwhile; -EIO if the VM is or becomes unusable; -ENOSPC if its queue is full;
 * -ENOMEM; -EINTR if the caller is killed; -ENODEV if the device was unplugged; or an error of
 * pumice_array_check(), with at most DRM_PUMICE_MAX_BIND_OPS operations and
 * DRM_PUMICE_MAX_SYNCS syncs, pumice_array_copy(), pumice_bind_check_op() or
 * pumice_bind_prepare_op().
 */
int pumice_ioctl_vm_bind(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_vm_bind *args = data;
	bool later = args->flags & DRM_PUMICE_VM_BIND_ASYNC;
	struct pumice_vm *vm;
	int ret;

	args->failed_op = 0;
	if (args->flags & ~DRM_PUMICE_VM_BIND_ASYNC || (args->syncs.count && !later) || args->pad)
		return -EINVAL;
	ret = pumice_array_check(&args->ops, OP_STRIDE, DRM_PUMICE_MAX_BIND_OPS);
	if (ret)
		return ret;
	vm = pumice_vm_lookup(file->driver_priv, args->vm);
	if (!vm)
		return -ENOENT;
	ret = later ? vm_bind_async(vm, file, args, &args->failed_op) :
		      vm_bind_sync(vm, file, &args->ops, &args->failed_op);
	pumice_vm_put(vm);
	return ret;
}
