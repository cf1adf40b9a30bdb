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

#define OP_STRIDE	sizeof(struct drm_pumice_bind_op)
/* A map makes a mapping and may cut one in two, or two. */
#define MAX_NEW		3

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

/**
 * struct bind - one VM_BIND call, or the end of a VM
 */
struct bind {
	/** @vm: address space, under its lock */
	struct pumice_vm *vm;
	/** @op: operation under way; its size is 0 at the end of a VM */
	struct drm_pumice_bind_op op;
	/** @bo: of a map */
	struct pumice_bo *bo;
	/** @sgt: pages of @bo */
	struct sg_table *sgt;
	/** @vm_bo: of a map; a reference */
	struct drm_gpuvm_bo *vm_bo;
	/** @fresh: mappings to use */
	struct pumice_va *fresh[MAX_NEW];
	/** @retired: removed mappings, struct pumice_va.retired */
	struct list_head retired;
	/** @exec: reservations of all buffers concerned */
	struct drm_exec exec;
};

static struct pumice_va *to_pumice_va(struct drm_gpuva *base)
{
	return container_of(base, struct pumice_va, base);
}

static int fresh_fill(struct bind *b)
{
	u32 i;

	for (i = 0; i < MAX_NEW; i++) {
		if (!b->fresh[i])
			b->fresh[i] = kzalloc(sizeof(*b->fresh[i]), GFP_KERNEL);
		if (!b->fresh[i])
			return -ENOMEM;
	}
	return 0;
}

static struct pumice_va *fresh_take(struct bind *b, u32 flags)
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

static void retire(struct bind *b, struct drm_gpuva *va)
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
	struct bind *b = priv;
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
	struct bind *b = priv;

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

/* Let go of what was removed; TLBs have forgotten it. */
static void bind_finish(struct bind *b)
{
	struct pumice_va *va, *next;
	u32 i;

	list_for_each_entry_safe(va, next, &b->retired, retired)
		unlink_va(va);
	for (i = 0; i < MAX_NEW; i++)
		kfree(b->fresh[i]);
}

/**
 * pumice_vm_unbind_all - remove all mappings of an address space that has no page tables
 * @vm: address space, under its lock
 */
void pumice_vm_unbind_all(struct pumice_vm *vm)
{
	struct bind b = { .vm = vm };
	struct drm_gpuva *va, *next;

	lockdep_assert_held(&vm->lock);
	INIT_LIST_HEAD(&b.retired);
	drm_gpuvm_for_each_va_safe(va, next, &vm->base) {
		drm_gpuva_remove(va);
		retire(&b, va);
	}
	bind_finish(&b);
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

static int check_op(const struct drm_pumice_bind_op *op)
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
static int get_buffer(struct bind *b, struct drm_file *file)
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

static void put_buffer(struct bind *b)
{
	if (b->bo)
		drm_gem_object_put(&b->bo->base.base);
	b->bo = NULL;
}

/* Reservations of the VM, of the buffer, and of all that is mapped in the range. */
static int lock_buffers(struct bind *b)
{
	int ret;

	drm_exec_until_all_locked(&b->exec) {
		ret = drm_gpuvm_prepare_vm(&b->vm->base, &b->exec, 0);
		if (!ret && b->bo)
			ret = drm_exec_lock_obj(&b->exec, &b->bo->base.base);
		if (!ret)
			ret = drm_gpuvm_prepare_range(&b->vm->base, &b->exec, b->op.va,
						      b->op.size, 0);
		drm_exec_retry_on_contention(&b->exec);
	}
	return ret;
}

static int map_locked(struct bind *b)
{
	struct drm_gem_object *obj = &b->bo->base.base;
	int ret;

	ret = pumice_mmu_prepare_map(b->vm->mmu, b->op.va, b->op.size);
	if (ret)
		return ret;
	b->vm_bo = pumice_gpuvm_bo_obtain(&b->vm->base, obj);
	if (IS_ERR(b->vm_bo))
		return PTR_ERR(b->vm_bo);
	drm_gpuvm_bo_extobj_add(b->vm_bo);
	pumice_mmu_map_sgt(b->vm->mmu, b->op.va, b->op.size, b->sgt, b->op.bo_offset,
			   b->op.flags);
	ret = pumice_gpuvm_sm_map(&b->vm->base, b, b->op.va, b->op.size, obj, b->op.bo_offset);
	drm_gpuvm_bo_put(b->vm_bo);
	return ret;
}

static int unmap_locked(struct bind *b)
{
	int ret = pumice_mmu_prepare_unmap(b->vm->mmu);

	if (ret)
		return ret;
	pumice_mmu_unmap(b->vm->mmu, b->op.va, b->op.size);
	return drm_gpuvm_sm_unmap(&b->vm->base, b, b->op.va, b->op.size);
}

/* One operation, checked. */
static int do_op(struct bind *b, struct drm_file *file)
{
	int ret = fresh_fill(b);

	if (!ret && b->op.type == DRM_PUMICE_BIND_MAP)
		ret = get_buffer(b, file);
	if (!ret) {
		drm_exec_init(&b->exec,
			      DRM_EXEC_INTERRUPTIBLE_WAIT | DRM_EXEC_IGNORE_DUPLICATES, 0);
		ret = lock_buffers(b);
		if (!ret)
			ret = b->bo ? map_locked(b) : unmap_locked(b);
		drm_exec_fini(&b->exec);
	}
	put_buffer(b);
	return ret;
}

/* All operations; *done counts those that took effect. */
static int do_ops(struct bind *b, struct drm_file *file, const struct drm_pumice_array *ops,
		  u32 *done)
{
	int ret;

	for (*done = 0; *done < ops->count; (*done)++) {
		ret = pumice_array_copy(ops, *done, &b->op, sizeof(b->op));
		if (!ret)
			ret = check_op(&b->op);
		if (!ret)
			ret = do_op(b, file);
		if (ret)
			return ret;
	}
	return 0;
}

/* *done counts the operations that took effect. */
static int bind_locked(struct bind *b, struct drm_file *file,
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
	flushed = pumice_vm_flush_locked(vm);
	return ret ?: flushed;
}

/* One call, arguments checked. */
static int bind(struct pumice_vm *vm, struct drm_file *file, const struct drm_pumice_array *ops,
		u32 *done)
{
	struct bind b = { .vm = vm };
	int ret = -ENODEV, idx;

	INIT_LIST_HEAD(&b.retired);
	if (drm_dev_enter(&vm->pdev->drm, &idx)) {
		mutex_lock(&vm->lock);
		ret = bind_locked(&b, file, ops, done);
		mutex_unlock(&vm->lock);
		drm_dev_exit(idx);
	}
	/* A GPU that was not told of the change may use what was removed until it stops. */
	pumice_device_wait_gone(vm->pdev);
	bind_finish(&b);
	return ret;
}

/* DRM_IOCTL_PUMICE_VM_BIND */
int pumice_ioctl_vm_bind(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_vm_bind *args = data;
	struct pumice_vm *vm;
	u32 done = 0;
	int ret;

	if (args->flags)
		return -EINVAL;
	ret = pumice_array_check(&args->ops, OP_STRIDE, DRM_PUMICE_MAX_BIND_OPS);
	if (ret)
		return ret;
	vm = pumice_vm_lookup(file->driver_priv, args->vm);
	if (!vm)
		return -ENOENT;
	ret = bind(vm, file, &args->ops, &done);
	if (ret)
		args->ops.count = done;
	pumice_vm_put(vm);
	return ret;
}
