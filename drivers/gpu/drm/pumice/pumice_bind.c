// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * One change of an address space: what is mapped where.
 *
 * An operation is first prepared: buffer, pages, structures for mappings. Then,
 * under vm.lock, page tables change and drm_gpuvm keeps the books; that allocates
 * nothing, takes no reservation and cannot fail, so that it may be done where a
 * fence waits for it. What it removed is kept until the TLBs have forgotten it:
 * only then may its pages go.
 *
 * Mappings are not in the lists of their buffers (drm_gpuva_link()), which would
 * need the buffers' reservations: nobody looks for a buffer's mappings, for
 * buffers do not move. A mapping holds its buffer by a reference of its own.
 */
#include <linux/slab.h>

#include <drm/drm_gem.h>

#include "pumice_bind.h"
#include "pumice_gem.h"
#include "pumice_vm.h"

/**
 * struct pumice_va - one mapping
 */
struct pumice_va {
	/** @base: base */
	struct drm_gpuva base;
	/** @vm_bo: the buffer in the VM; a reference */
	struct drm_gpuvm_bo *vm_bo;
	/** @retired: in bind.retired, once removed */
	struct list_head retired;
	/** @flags: PUMICE_MMU_* */
	u32 flags;
};

static struct pumice_va *to_pumice_va(struct drm_gpuva *base)
{
	return container_of(base, struct pumice_va, base);
}

static int fresh_fill(struct pumice_bind_op *op)
{
	u32 i;

	for (i = 0; i < PUMICE_BIND_NEW; i++) {
		if (!op->fresh[i])
			op->fresh[i] = kzalloc(sizeof(*op->fresh[i]), GFP_KERNEL_ACCOUNT);
		if (!op->fresh[i])
			return -ENOMEM;
	}
	return 0;
}

static struct pumice_va *fresh_take(struct pumice_bind *b, struct drm_gpuvm_bo *vm_bo, u32 flags)
{
	struct pumice_va *va;
	u32 i = 0;

	while (!b->op->fresh[i])
		i++;
	va = b->op->fresh[i];
	b->op->fresh[i] = NULL;
	va->vm_bo = drm_gpuvm_bo_get(vm_bo);
	va->flags = flags;
	return va;
}

static void retire(struct pumice_bind *b, struct drm_gpuva *va)
{
	list_add_tail(&to_pumice_va(va)->retired, &b->retired);
}

/*
 * The steps keep the books only. Page tables change for an operation's range as
 * a whole, by pumice_bind_execute_locked(): mapping by mapping a block might
 * change its page size, and so need a table, more often than was prepared for.
 */

static int step_map(struct drm_gpuva_op *op, void *priv)
{
	struct pumice_bind *b = priv;
	struct pumice_va *va = fresh_take(b, b->op->vm_bo, b->op->args.flags);

	drm_gpuva_map(&b->vm->base, &va->base, &op->map);
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
	struct drm_gpuva *base = op->remap.unmap->va;
	struct pumice_va *old = to_pumice_va(base), *prev = NULL, *next = NULL;
	struct pumice_bind *b = priv;

	if (op->remap.prev)
		prev = fresh_take(b, old->vm_bo, old->flags);
	if (op->remap.next)
		next = fresh_take(b, old->vm_bo, old->flags);
	drm_gpuva_remap(prev ? &prev->base : NULL, next ? &next->base : NULL, &op->remap);
	retire(b, base);
	return 0;
}

const struct drm_gpuvm_ops pumice_vm_ops = {
	.vm_free = pumice_vm_free,
	.sm_step_map = step_map,
	.sm_step_remap = step_remap,
	.sm_step_unmap = step_unmap,
};

static int check_range(const struct drm_pumice_bind_op *args)
{
	u64 end;

	if (!args->size || !PAGE_ALIGNED(args->size) || !PAGE_ALIGNED(args->va) ||
	    check_add_overflow(args->va, args->size, &end) ||
	    args->va < PUMICE_VA_START || end > PUMICE_VA_END)
		return -EINVAL;
	return 0;
}

/**
 * pumice_bind_check_op - the rules of one operation, but for its buffer
 * @args: copy of it
 *
 * Returns 0 or -EINVAL.
 */
int pumice_bind_check_op(const struct drm_pumice_bind_op *args)
{
	if (args->pad || check_range(args))
		return -EINVAL;
	switch (args->type) {
	case DRM_PUMICE_BIND_MAP:
		if (args->flags & ~(DRM_PUMICE_BIND_READONLY | DRM_PUMICE_BIND_NOEXEC) ||
		    !PAGE_ALIGNED(args->bo_offset))
			return -EINVAL;
		return 0;
	case DRM_PUMICE_BIND_UNMAP:
		return args->flags || args->handle || args->bo_offset ? -EINVAL : 0;
	default:
		return -EINVAL;
	}
}

/**
 * pumice_bind_init - no operations yet
 * @b: operations
 * @vm: address space, which the caller keeps
 */
void pumice_bind_init(struct pumice_bind *b, struct pumice_vm *vm)
{
	*b = (struct pumice_bind) { .vm = vm };
	pumice_mmu_pool_init(&b->pool);
	INIT_LIST_HEAD(&b->retired);
}

/* Place a buffer in the VM, with a reference in op->vm_bo. */
static int obtain(struct pumice_bind *b, struct pumice_bind_op *op, struct drm_gem_object *obj)
{
	struct drm_gpuvm_bo *vm_bo;

	dma_resv_lock(obj->resv, NULL);
	vm_bo = pumice_gpuvm_bo_obtain(&b->vm->base, obj);
	if (!IS_ERR(vm_bo)) {
		drm_gpuvm_bo_extobj_add(vm_bo);
		op->vm_bo = vm_bo;
	}
	dma_resv_unlock(obj->resv);
	return PTR_ERR_OR_ZERO(vm_bo);
}

/* The buffer of a map, with its pages in place. */
static int use_buffer(struct pumice_bind *b, struct pumice_bind_op *op,
		      struct drm_gem_object *obj)
{
	struct pumice_bo *bo = to_pumice_bo(obj);
	u64 end;

	if (check_add_overflow(op->args.bo_offset, op->args.size, &end) || end > obj->size)
		return -EINVAL;
	if (bo->root && bo->root != drm_gpuvm_resv_obj(&b->vm->base))
		return -EINVAL;
	op->sgt = drm_gem_shmem_get_pages_sgt(&bo->base);
	if (IS_ERR(op->sgt))
		return PTR_ERR(op->sgt);
	return obtain(b, op, obj);
}

/**
 * pumice_bind_prepare_op - get all that an operation may need, but for page tables
 * @b: operations it belongs to
 * @op: operation, whose @op.args are checked; the rest is zero, or left by the last use
 * @file: file of its handle
 *
 * Returns 0 or an error. pumice_bind_release_op() has to follow in any case.
 */
int pumice_bind_prepare_op(struct pumice_bind *b, struct pumice_bind_op *op,
			   struct drm_file *file)
{
	struct drm_gem_object *obj;
	int ret = fresh_fill(op);

	if (ret || op->args.type != DRM_PUMICE_BIND_MAP)
		return ret;
	obj = drm_gem_object_lookup(file, op->args.handle);
	if (!obj)
		return -ENOENT;
	ret = use_buffer(b, op, obj);
	drm_gem_object_put(obj);
	return ret;
}

/**
 * pumice_bind_execute_locked - change the address space
 * @b: operations, whose pool has what this one needs; under vm.lock
 * @op: operation, prepared
 *
 * Cannot fail, and allocates nothing.
 */
void pumice_bind_execute_locked(struct pumice_bind *b, struct pumice_bind_op *op)
{
	const struct drm_pumice_bind_op *args = &op->args;
	struct pumice_vm *vm = b->vm;

	lockdep_assert_held(&vm->lock);
	b->op = op;
	if (args->type == DRM_PUMICE_BIND_MAP) {
		pumice_mmu_map_sgt(vm->mmu, &b->pool, args->va, args->size, op->sgt,
				   args->bo_offset, args->flags);
		pumice_gpuvm_sm_map(&vm->base, b, args->va, args->size, op->vm_bo->obj,
				    args->bo_offset);
	} else {
		pumice_mmu_unmap(vm->mmu, &b->pool, args->va, args->size);
		drm_gpuvm_sm_unmap(&vm->base, b, args->va, args->size);
	}
}

/* The last reference to the buffer may go here, so hold one while its lock is held. */
static void put_vm_bo(struct drm_gpuvm_bo *vm_bo)
{
	struct drm_gem_object *obj = vm_bo->obj;

	drm_gem_object_get(obj);
	dma_resv_lock(obj->resv, NULL);
	drm_gpuvm_bo_put(vm_bo);
	dma_resv_unlock(obj->resv);
	drm_gem_object_put(obj);
}

/**
 * pumice_bind_put_buffer - end of an operation's use of its buffer
 * @op: operation, which may be prepared again
 */
void pumice_bind_put_buffer(struct pumice_bind_op *op)
{
	if (op->vm_bo)
		put_vm_bo(op->vm_bo);
	op->vm_bo = NULL;
}

/**
 * pumice_bind_release_op - end of an operation, executed or not
 * @op: operation
 */
void pumice_bind_release_op(struct pumice_bind_op *op)
{
	u32 i;

	pumice_bind_put_buffer(op);
	for (i = 0; i < PUMICE_BIND_NEW; i++)
		kfree(op->fresh[i]);
}

/**
 * pumice_bind_remove_all_locked - remove all mappings of an address space without page tables
 * @b: where to keep them; under vm.lock
 */
void pumice_bind_remove_all_locked(struct pumice_bind *b)
{
	struct drm_gpuva *va, *next;

	lockdep_assert_held(&b->vm->lock);
	drm_gpuvm_for_each_va_safe(va, next, &b->vm->base) {
		drm_gpuva_remove(va);
		retire(b, va);
	}
}

/**
 * pumice_bind_release - let go of what was removed; TLBs have forgotten it
 * @b: operations, whose pool was freed
 */
void pumice_bind_release(struct pumice_bind *b)
{
	struct pumice_va *va, *next;

	list_for_each_entry_safe(va, next, &b->retired, retired) {
		put_vm_bo(va->vm_bo);
		kfree(va);
	}
	INIT_LIST_HEAD(&b->retired);
}
