// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * DRM_IOCTL_PUMICE_VM_BIND: what is mapped where.
 *
 * An operation first prepares all that it may need (structures, page tables,
 * reservations), then drm_gpuvm walks what is there and tells what to split, to
 * remove and to map; these steps cannot fail. What was removed is kept until,
 * at the end of the call, the TLBs have forgotten it: only then may its pages
 * go.
 *
 * A mapping's list in its buffer is guarded by the buffer's reservation.
 */
#include <drm/drm_exec.h>
#include <drm/drm_gem.h>

#include "pumice_gem.h"
#include "pumice_mmu.h"
#include "pumice_uapi.h"
#include "pumice_vm.h"
#include "pumice_vm_bind.h"

#define OP_STRIDE	sizeof(struct drm_pumice_bind_op)

/**
 * struct pumice_va - one mapping
 */
struct pumice_va {
	/** @base: base */
	struct drm_gpuva base;
	/** @retired: in bind.retired, once removed */
	struct list_head retired;
	/** @flags: PUMICE_MMU_* */
	u32 flags;
};

static struct pumice_va *to_pumice_va(struct drm_gpuva *base)
{
	return container_of(base, struct pumice_va, base);
}

static int fresh_fill(struct pumice_bind *b)
{
	u32 i;

	for (i = 0; i < PUMICE_BIND_NEW; i++) {
		if (!b->fresh[i])
			b->fresh[i] = kzalloc(sizeof(*b->fresh[i]), GFP_KERNEL);
		if (!b->fresh[i])
			return -ENOMEM;
	}
	return 0;
}

static struct pumice_va *fresh_take(struct pumice_bind *b, u32 flags)
{
	struct pumice_va *va;
	u32 i = 0;

	while (!b->fresh[i])
		i++;
	va = b->fresh[i];
	b->fresh[i] = NULL;
	va->flags = flags;
	return va;
}

static void retire(struct pumice_bind *b, struct drm_gpuva *va)
{
	list_add_tail(&to_pumice_va(va)->retired, &b->retired);
}

/*
 * The steps keep the books only. Page tables change for an operation's range as
 * a whole, by map_locked() and unmap_locked(): mapping by mapping a block might
 * change its page size, and so need a table, more often than was prepared for.
 */

static int step_map(struct drm_gpuva_op *op, void *priv)
{
	struct pumice_bind *b = priv;
	struct pumice_va *va = fresh_take(b, b->op.flags);

	drm_gpuva_map(&b->vm->base, &va->base, &op->map);
	drm_gpuva_link(&va->base, b->vm_bo);
	return 0;
}

static int step_unmap(struct drm_gpuva_op *op, void *priv)
{
	struct drm_gpuva *va = op->unmap.va;

	drm_gpuva_unmap(&op->unmap);
	retire(priv, va);
	return 0;
}

static int step_remap(struct drm_gpuva_op *op, void *priv)
{
	struct drm_gpuva *old = op->remap.unmap->va;
	struct pumice_va *prev = NULL, *next = NULL;
	u32 flags = to_pumice_va(old)->flags;
	struct pumice_bind *b = priv;

	if (op->remap.prev)
		prev = fresh_take(b, flags);
	if (op->remap.next)
		next = fresh_take(b, flags);
	drm_gpuva_remap(prev ? &prev->base : NULL, next ? &next->base : NULL, &op->remap);
	if (prev)
		drm_gpuva_link(&prev->base, old->vm_bo);
	if (next)
		drm_gpuva_link(&next->base, old->vm_bo);
	retire(b, old);
	return 0;
}

const struct drm_gpuvm_ops pumice_vm_ops = {
	.vm_free = pumice_vm_free,
	.sm_step_map = step_map,
	.sm_step_remap = step_remap,
	.sm_step_unmap = step_unmap,
};

/* The last reference to the buffer may go here, so hold one while its lock is held. */
static void unlink_va(struct pumice_va *va)
{
	struct drm_gem_object *obj = va->base.gem.obj;

	drm_gem_object_get(obj);
	dma_resv_lock(obj->resv, NULL);
	drm_gpuva_unlink(&va->base);
	dma_resv_unlock(obj->resv);
	drm_gem_object_put(obj);
	kfree(va);
}

/**
 * pumice_bind_init - an operation of which nothing is known yet
 * @b: operation
 * @vm: address space
 */
void pumice_bind_init(struct pumice_bind *b, struct pumice_vm *vm)
{
	memset(b, 0, sizeof(*b));
	b->vm = vm;
	INIT_LIST_HEAD(&b->retired);
}

/**
 * pumice_bind_release_buffer - the mapping holds the buffer now, or nobody needs it
 * @b: operation
 */
void pumice_bind_release_buffer(struct pumice_bind *b)
{
	if (b->bo)
		drm_gem_object_put(&b->bo->base.base);
	b->bo = NULL;
}

static void free_fresh(struct pumice_bind *b)
{
	u32 i;

	for (i = 0; i < PUMICE_BIND_NEW; i++)
		kfree(b->fresh[i]);
}

/**
 * pumice_bind_finish - let go of what was removed; TLBs have forgotten it
 * @b: operation, done or never begun
 */
void pumice_bind_finish(struct pumice_bind *b)
{
	struct pumice_va *va, *next;

	list_for_each_entry_safe(va, next, &b->retired, retired)
		unlink_va(va);
	pumice_bind_release_buffer(b);
	free_fresh(b);
}

/**
 * pumice_bind_orphan - an operation that is in the books is never carried out
 * @b: operation; its VM, under its lock, is closed
 *
 * Page tables may go on to name what it removed, until the end of the VM.
 */
void pumice_bind_orphan(struct pumice_bind *b)
{
	lockdep_assert_held(&b->vm->lock);
	list_splice_tail_init(&b->retired, &b->vm->orphans);
	free_fresh(b);
}

/**
 * pumice_vm_unbind_all - remove all mappings of an address space that has no page tables
 * @vm: address space, under its lock
 */
void pumice_vm_unbind_all(struct pumice_vm *vm)
{
	struct drm_gpuva *va, *next;
	struct pumice_bind b;

	lockdep_assert_held(&vm->lock);
	pumice_bind_init(&b, vm);
	list_splice_init(&vm->orphans, &b.retired);
	drm_gpuvm_for_each_va_safe(va, next, &vm->base) {
		drm_gpuva_remove(va);
		retire(&b, va);
	}
	pumice_bind_finish(&b);
}

static int check_range(const struct drm_pumice_bind_op *op)
{
	u64 end;

	if (!op->size || !PAGE_ALIGNED(op->size) || !PAGE_ALIGNED(op->va) ||
	    check_add_overflow(op->va, op->size, &end) ||
	    op->va < PUMICE_VA_START || end > PUMICE_VA_END)
		return -EINVAL;
	return 0;
}

/**
 * pumice_bind_check - the rules of one operation
 * @op: copy of it
 *
 * Returns 0 or -EINVAL.
 */
int pumice_bind_check(const struct drm_pumice_bind_op *op)
{
	if (op->pad || check_range(op))
		return -EINVAL;
	switch (op->type) {
	case DRM_PUMICE_BIND_MAP:
		if (op->flags & ~(DRM_PUMICE_BIND_READONLY | DRM_PUMICE_BIND_NOEXEC) ||
		    !PAGE_ALIGNED(op->bo_offset))
			return -EINVAL;
		return 0;
	case DRM_PUMICE_BIND_UNMAP:
		return op->flags || op->handle || op->bo_offset ? -EINVAL : 0;
	default:
		return -EINVAL;
	}
}

/* The buffer of a map, with its pages in place; a reference in b->bo. */
static int get_buffer(struct pumice_bind *b, struct drm_file *file)
{
	struct drm_gem_object *obj = drm_gem_object_lookup(file, b->op.handle);
	u64 end;

	if (!obj)
		return -ENOENT;
	b->bo = to_pumice_bo(obj);
	if (check_add_overflow(b->op.bo_offset, b->op.size, &end) || end > obj->size)
		return -EINVAL;
	if (b->bo->root && b->bo->root != drm_gpuvm_resv_obj(&b->vm->base))
		return -EINVAL;
	b->sgt = drm_gem_shmem_get_pages_sgt(&b->bo->base);
	return PTR_ERR_OR_ZERO(b->sgt);
}

/**
 * pumice_bind_prepare - what may fail of an operation, but locks
 * @b: operation; its op is checked; its VM under its lock
 * @file: file of its handle
 *
 * Returns 0 or an error; pumice_bind_finish() has to follow in any case.
 */
int pumice_bind_prepare(struct pumice_bind *b, struct drm_file *file)
{
	int ret = fresh_fill(b);

	if (ret)
		return ret;
	if (b->op.type == DRM_PUMICE_BIND_UNMAP)
		return pumice_mmu_prepare_unmap(b->vm->mmu);
	ret = get_buffer(b, file);
	return ret ?: pumice_mmu_prepare_map(b->vm->mmu, b->op.va, b->op.size);
}

/**
 * pumice_bind_lock - reservations of the VM, the buffers, and all that is mapped in the ranges
 * @b: operations of one VM, prepared
 * @count: operations
 * @exec: locking context, which ignores duplicates
 *
 * Returns 0 or an error of drm_exec.
 */
int pumice_bind_lock(struct pumice_bind *b, u32 count, struct drm_exec *exec)
{
	struct drm_gpuvm *base = &b->vm->base;
	int ret;
	u32 i;

	drm_exec_until_all_locked(exec) {
		ret = drm_gpuvm_prepare_vm(base, exec, 0);
		for (i = 0; i < count && !ret; i++) {
			if (b[i].bo)
				ret = drm_exec_lock_obj(exec, &b[i].bo->base.base);
			if (!ret)
				ret = drm_gpuvm_prepare_range(base, exec, b[i].op.va,
							      b[i].op.size, 0);
		}
		drm_exec_retry_on_contention(exec);
	}
	return ret;
}

/**
 * pumice_bind_obtain - the last that may fail: the buffer's place in the VM
 * @b: operation, prepared, its reservations held
 *
 * Returns 0 or -ENOMEM.
 */
int pumice_bind_obtain(struct pumice_bind *b)
{
	struct drm_gpuvm_bo *vm_bo;

	if (!b->bo)
		return 0;
	vm_bo = pumice_gpuvm_bo_obtain(&b->vm->base, &b->bo->base.base);
	if (IS_ERR(vm_bo))
		return PTR_ERR(vm_bo);
	b->vm_bo = vm_bo;
	return 0;
}

/**
 * pumice_bind_unobtain - end of pumice_bind_obtain() without pumice_bind_books()
 * @b: operation, its reservations held
 */
void pumice_bind_unobtain(struct pumice_bind *b)
{
	if (b->vm_bo)
		drm_gpuvm_bo_put(b->vm_bo);
	b->vm_bo = NULL;
}

/**
 * pumice_bind_books - change what the VM's books say is mapped where
 * @b: operation that pumice_bind_obtain() was called for
 *
 * Fails only where the books are broken.
 */
int pumice_bind_books(struct pumice_bind *b)
{
	int ret;

	if (!b->bo)
		return drm_gpuvm_sm_unmap(&b->vm->base, b, b->op.va, b->op.size);
	drm_gpuvm_bo_extobj_add(b->vm_bo);
	ret = pumice_gpuvm_sm_map(&b->vm->base, b, b->op.va, b->op.size, &b->bo->base.base,
				  b->op.bo_offset);
	drm_gpuvm_bo_put(b->vm_bo);
	b->vm_bo = NULL;
	return ret;
}

/**
 * pumice_bind_tables - change the page tables
 * @b: operation, in the books
 *
 * Neither fails nor allocates. One at a time for a VM, in the order of the books.
 */
void pumice_bind_tables(struct pumice_bind *b)
{
	if (b->op.type == DRM_PUMICE_BIND_MAP)
		pumice_mmu_map_sgt(b->vm->mmu, b->op.va, b->op.size, b->sgt, b->op.bo_offset,
				   b->op.flags);
	else
		pumice_mmu_unmap(b->vm->mmu, b->op.va, b->op.size);
}

/* One operation, checked. */
static int do_op(struct pumice_bind *b, struct drm_file *file)
{
	struct drm_exec exec;
	int ret;

	ret = pumice_bind_prepare(b, file);
	if (ret)
		return ret;
	drm_exec_init(&exec, DRM_EXEC_INTERRUPTIBLE_WAIT | DRM_EXEC_IGNORE_DUPLICATES, 0);
	ret = pumice_bind_lock(b, 1, &exec);
	if (!ret)
		ret = pumice_bind_obtain(b);
	if (!ret) {
		pumice_bind_tables(b);
		ret = pumice_bind_books(b);
	}
	drm_exec_fini(&exec);
	return ret;
}

/* All operations; *done counts those that took effect. */
static int do_ops(struct pumice_bind *b, struct drm_file *file,
		  const struct drm_pumice_array *ops, u32 *done)
{
	int ret;

	for (*done = 0; *done < ops->count; (*done)++) {
		ret = pumice_array_copy(ops, *done, &b->op, sizeof(b->op));
		if (!ret)
			ret = pumice_bind_check(&b->op);
		if (!ret)
			ret = do_op(b, file);
		pumice_bind_release_buffer(b);
		if (ret)
			return ret;
	}
	return 0;
}

/* *done counts the operations that took effect. */
static int bind_locked(struct pumice_bind *b, struct drm_file *file,
		       const struct drm_pumice_array *ops, u32 *done)
{
	struct pumice_vm *vm = b->vm;
	int ret, flushed;

	lockdep_assert_held(&vm->lock);
	if (vm->closed)
		return -ENOENT;
	if (vm->released)
		return -ENODEV;
	if (vm->unusable)
		return -EIO;
	ret = do_ops(b, file, ops, done);
	flushed = pumice_vm_flush(vm);
	return ret ?: flushed;
}

/*
 * Wait for the binds that are queued, and lock the VM: none is queued then. A call
 * that takes effect at once must not overtake them, because they are in the books.
 */
static int lock_behind_queue(struct pumice_vm *vm)
{
	struct dma_fence *last;
	long ret;

	for (;;) {
		mutex_lock(&vm->lock);
		if (!vm->last_bind || dma_fence_is_signaled(vm->last_bind))
			return 0;
		last = dma_fence_get(vm->last_bind);
		mutex_unlock(&vm->lock);
		ret = dma_fence_wait(last, true);
		dma_fence_put(last);
		if (ret)
			return ret;
	}
}

/* One call, arguments checked. */
static int bind(struct pumice_vm *vm, struct drm_file *file, const struct drm_pumice_array *ops,
		u32 *done)
{
	struct pumice_bind b;
	int ret, idx;

	pumice_bind_init(&b, vm);
	ret = lock_behind_queue(vm);
	if (ret)
		return ret;
	ret = -ENODEV;
	if (drm_dev_enter(&vm->pdev->drm, &idx)) {
		ret = bind_locked(&b, file, ops, done);
		drm_dev_exit(idx);
	}
	mutex_unlock(&vm->lock);
	/* A GPU that was not told of the change may use what was removed until it stops. */
	pumice_device_wait_gone(vm->pdev);
	pumice_bind_finish(&b);
	return ret;
}

static int check_args(const struct drm_pumice_vm_bind *args)
{
	if (args->flags & ~DRM_PUMICE_VM_BIND_ASYNC)
		return -EINVAL;
	if (!(args->flags & DRM_PUMICE_VM_BIND_ASYNC) && args->syncs.count)
		return -EINVAL;
	return pumice_array_check(&args->ops, OP_STRIDE, DRM_PUMICE_MAX_BIND_OPS);
}

/* DRM_IOCTL_PUMICE_VM_BIND */
int pumice_ioctl_vm_bind(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_vm_bind *args = data;
	struct pumice_vm *vm;
	u32 done = 0;
	int ret;

	ret = check_args(args);
	if (ret)
		return ret;
	vm = pumice_vm_lookup(file->driver_priv, args->vm);
	if (!vm)
		return -ENOENT;
	if (args->flags & DRM_PUMICE_VM_BIND_ASYNC)
		ret = pumice_bind_async(vm, file, &args->ops, &args->syncs, &done);
	else
		ret = bind(vm, file, &args->ops, &done);
	if (ret)
		args->ops.count = done;
	pumice_vm_put(vm);
	return ret;
}
