// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * One change of an address space's mappings.
 *
 * An operation is first prepared: buffer, pages, mapping structures. Then, under
 * vm.lock, page tables are changed and drm_gpuvm is updated; that allocates nothing,
 * acquires no reservation and cannot fail, so it is permitted where a fence waits for
 * it. Removed mappings are kept until the TLBs are invalidated: only then may their
 * pages be released.
 *
 * Mappings are not in the lists of their buffers (drm_gpuva_link()), which would
 * require the buffers' reservations: no code searches for a buffer's mappings, because
 * buffers do not move. A mapping holds its buffer by a reference of its own.
 */
#include <linux/sched.h>
#include <linux/slab.h>

#include <drm/drm_gem.h>

#include "pumice_bind.h"
#include "pumice_gem.h"
#include "pumice_heap.h"
#include "pumice_places.h"
#include "pumice_pm.h"
#include "pumice_vm.h"

/**
 * struct pumice_va - one mapping
 */
struct pumice_va {
	/** @base: base */
	struct drm_gpuva base;
	/** @vm_bo: the buffer in the VM; a reference; NULL: a NULL mapping */
	struct drm_gpuvm_bo *vm_bo;
	/** @retired: in pumice_bind.retired, once removed */
	struct list_head retired;
	/** @flags: PUMICE_MMU_* */
	u32 flags;
};

static struct pumice_va *to_pumice_va(struct drm_gpuva *base)
{
	return container_of(base, struct pumice_va, base);
}

static int bind_alloc_mappings(struct pumice_bind_op *op)
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

static struct pumice_va *bind_use_mapping(struct pumice_bind *b, struct drm_gpuvm_bo *vm_bo,
					  u32 flags)
{
	struct pumice_va *va;
	u32 i = 0;

	while (!b->op->fresh[i])
		i++;
	va = b->op->fresh[i];
	b->op->fresh[i] = NULL;
	va->vm_bo = vm_bo ? drm_gpuvm_bo_get(vm_bo) : NULL;
	va->flags = flags;
	return va;
}

static void bind_retire(struct pumice_bind *b, struct drm_gpuva *va)
{
	list_add_tail(&to_pumice_va(va)->retired, &b->retired);
}

/*
 * The steps only update drm_gpuvm. Page tables are changed for an operation's range as
 * a whole, by pumice_bind_execute_locked(): changing a block mapping by mapping might
 * change its page size, and so need a table, more often than was prepared for.
 */

static int bind_step_map(struct drm_gpuva_op *op, void *priv)
{
	struct pumice_bind *b = priv;
	struct pumice_va *va = bind_use_mapping(b, b->op->vm_bo, b->op->args.flags);

	drm_gpuva_map(&b->vm->base, &va->base, &op->map);
	return 0;
}

static int bind_step_unmap(struct drm_gpuva_op *op, void *priv)
{
	struct drm_gpuva *va = op->unmap.va;

	drm_gpuva_unmap(&op->unmap);
	bind_retire(priv, va);
	return 0;
}

static int bind_step_remap(struct drm_gpuva_op *op, void *priv)
{
	struct drm_gpuva *base = op->remap.unmap->va;
	struct pumice_va *old = to_pumice_va(base), *prev = NULL, *next = NULL;
	struct pumice_bind *b = priv;

	if (op->remap.prev)
		prev = bind_use_mapping(b, old->vm_bo, old->flags);
	if (op->remap.next)
		next = bind_use_mapping(b, old->vm_bo, old->flags);
	drm_gpuva_remap(prev ? &prev->base : NULL, next ? &next->base : NULL, &op->remap);
	bind_retire(b, base);
	return 0;
}

/* Like the core's default, but charged to the caller. The core's kfree() frees it. */
static struct drm_gpuvm_bo *bind_vm_bo_alloc(void)
{
	return kzalloc(sizeof(struct drm_gpuvm_bo), GFP_KERNEL_ACCOUNT);
}

const struct drm_gpuvm_ops pumice_vm_ops = {
	.vm_free = pumice_vm_free,
	.vm_bo_alloc = bind_vm_bo_alloc,
	.sm_step_map = bind_step_map,
	.sm_step_remap = bind_step_remap,
	.sm_step_unmap = bind_step_unmap,
};

static int bind_check_range(const struct drm_pumice_bind_op *args)
{
	u64 end;

	if (!args->size || !PAGE_ALIGNED(args->size) || !PAGE_ALIGNED(args->va) ||
	    check_add_overflow(args->va, args->size, &end) ||
	    args->va < PUMICE_VA_START || end > PUMICE_VA_END)
		return -EINVAL;
	return 0;
}

static int bind_check_map(const struct drm_pumice_bind_op *args)
{
	const u32 known = DRM_PUMICE_BIND_READONLY | DRM_PUMICE_BIND_NOEXEC |
			  DRM_PUMICE_BIND_NULL;

	if (args->flags & ~known || !PAGE_ALIGNED(args->bo_offset))
		return -EINVAL;
	if (args->flags & DRM_PUMICE_BIND_NULL && (args->handle || args->bo_offset))
		return -EINVAL;
	/* The limit of a BO, so that an operation changes no more page tables than a BO needs. */
	if (args->flags & DRM_PUMICE_BIND_NULL && args->size > DRM_PUMICE_MAX_BO_SIZE)
		return -E2BIG;
	return bind_check_range(args);
}

/**
 * pumice_bind_check_op - validate one operation, except its buffer
 * @args: copy of it; UNMAP_ALL is replaced by the equivalent UNMAP
 *
 * Context: Any.
 *
 * Return: 0; -EINVAL; or -E2BIG for a NULL mapping that is too large.
 */
int pumice_bind_check_op(struct drm_pumice_bind_op *args)
{
	if (args->pad)
		return -EINVAL;
	if (args->type == DRM_PUMICE_BIND_MAP)
		return bind_check_map(args);
	if (args->flags || args->handle || args->bo_offset)
		return -EINVAL;
	switch (args->type) {
	case DRM_PUMICE_BIND_UNMAP:
		return bind_check_range(args);
	case DRM_PUMICE_BIND_UNMAP_ALL:
		if (args->va || args->size)
			return -EINVAL;
		args->type = DRM_PUMICE_BIND_UNMAP;
		args->va = PUMICE_VA_START;
		args->size = PUMICE_VA_END - PUMICE_VA_START;
		return 0;
	default:
		return -EINVAL;
	}
}

/* Return true if the operation maps a buffer, and so has one. */
static bool bind_maps_buffer(const struct drm_pumice_bind_op *args)
{
	return args->type == DRM_PUMICE_BIND_MAP && !(args->flags & DRM_PUMICE_BIND_NULL);
}

/**
 * pumice_bind_init - initialize an empty set of operations
 * @b: operations
 * @vm: address space, which the caller keeps alive
 */
void pumice_bind_init(struct pumice_bind *b, struct pumice_vm *vm)
{
	*b = (struct pumice_bind) { .vm = vm, .process = task_tgid_nr(current) };
	pumice_mmu_pool_init(&b->pool, &vm->tables);
	INIT_LIST_HEAD(&b->retired);
}

/*
 * Add a buffer to the VM, with a reference in op->vm_bo.
 *
 * SUBMIT walks the VM's external objects under the VM's reservation, so finding or
 * creating the vm_bo and listing it is one step under that reservation, as is its removal
 * in bind_put_vm_bo(): a submission sees either the complete buffer or none of it.
 */
static int bind_obtain_vm_bo(struct pumice_bind *b, struct pumice_bind_op *op,
			     struct drm_gem_object *obj)
{
	struct drm_gpuvm_bo *fresh;
	int ret;

	/* Another thread may hold it while it allocates the pages of a large buffer. */
	ret = dma_resv_lock_interruptible(pumice_vm_resv(b->vm), NULL);
	if (ret)
		return ret;
	fresh = drm_gpuvm_bo_create(&b->vm->base, obj);
	if (fresh) {
		op->vm_bo = pumice_gpuvm_bo_obtain(fresh, pumice_bo_gpuva_lock(obj));
		drm_gpuvm_bo_extobj_add(op->vm_bo);
	} else {
		ret = -ENOMEM;
	}
	dma_resv_unlock(pumice_vm_resv(b->vm));
	return ret;
}

/* Acquire the buffer of a map operation, with its pages allocated. */
static int bind_use_buffer(struct pumice_bind *b, struct pumice_bind_op *op,
			   struct drm_gem_object *obj)
{
	struct pumice_bo *bo = to_pumice_bo(obj);
	int ret;

	if (bo->root && bo->root != drm_gpuvm_resv_obj(&b->vm->base))
		return -EINVAL;
	if (pumice_bo_purged(bo))
		return -ENODATA;
	/* First: the shrinker skips the buffer afterwards, and a purge in progress is over. */
	ret = bind_obtain_vm_bo(b, op, obj);
	if (ret)
		return ret;
	op->sgt = drm_gem_shmem_get_pages_sgt(&bo->base);
	if (IS_ERR(op->sgt))
		return PTR_ERR(op->sgt);
	/* Before the check of its memory, which a purge replaced by other pages. */
	return pumice_bo_purged(bo) ? -ENODATA : 0;
}

static bool bind_range_in_buffer(const struct drm_pumice_bind_op *args,
				 const struct drm_gem_object *obj)
{
	u64 end;

	return !check_add_overflow(args->bo_offset, args->size, &end) && end <= obj->size;
}

/* Look up the buffer of a map operation, and keep it for the next operation. */
static int bind_lookup_buffer(struct pumice_bind *b, struct pumice_bind_op *op,
			      struct drm_file *file)
{
	struct drm_gem_object *obj = drm_gem_object_lookup(file, op->args.handle);
	int ret = -EINVAL;

	if (!obj)
		return -ENOENT;
	if (!to_pumice_bo(obj)->coherent)
		pumice_vm_note_cached(b->vm);
	if (bind_range_in_buffer(&op->args, obj))
		ret = bind_use_buffer(b, op, obj);
	drm_gem_object_put(obj);
	if (ret)
		return ret;
	pumice_bind_forget_buffer(b);
	b->handle = op->args.handle;
	b->vm_bo = drm_gpuvm_bo_get(op->vm_bo);
	b->sgt = op->sgt;
	return 0;
}

/*
 * Acquire the buffer of a map operation. Operations of a call often map the same one as the
 * operation before. That one is in the VM already, so it is not purged, and its pages stay. Its
 * handle may have been closed meanwhile: that is the same as if it were closed after the call.
 */
static int bind_acquire_buffer(struct pumice_bind *b, struct pumice_bind_op *op,
			       struct drm_file *file)
{
	if (!b->vm_bo || b->handle != op->args.handle)
		return bind_lookup_buffer(b, op, file);
	if (!bind_range_in_buffer(&op->args, b->vm_bo->obj))
		return -EINVAL;
	op->vm_bo = drm_gpuvm_bo_get(b->vm_bo);
	op->sgt = b->sgt;
	return 0;
}

/**
 * pumice_bind_prepare_op - acquire everything an operation may need, except page tables
 * @b: operations it belongs to
 * @op: operation whose @op.args are checked; the rest is zero, or from the previous use
 * @file: file of its handle, the same for all operations of @b
 *
 * Context: May sleep. Acquires the reservations of the VM and of the buffer. In mode strict it
 * wakes the GPU.
 *
 * Return: 0; -ENOENT without such a buffer; -EINVAL if the operation is not aligned to the pages
 * of its heap, the range is not in the buffer, only another VM may bind it, or its memory is not
 * contiguous for the heap's page size; -ENODATA if it was purged; -ENOMEM; -EINTR if a signal
 * interrupts the wait for the VM's reservation; or an error of drm_gem_shmem_get_pages_sgt().
 * pumice_bind_release_op() must follow in any case, and pumice_bind_forget_buffer() when all
 * operations are prepared.
 */
int pumice_bind_prepare_op(struct pumice_bind *b, struct pumice_bind_op *op,
			   struct drm_file *file)
{
	const struct drm_pumice_bind_op *args = &op->args;
	int ret = pumice_heap_check(b->vm->pdev, args) ?: bind_alloc_mappings(op);

	if (ret)
		return ret;
	b->awake = b->awake || pumice_places_wake(b->vm->pdev);
	if (!bind_maps_buffer(args)) {
		if (args->type == DRM_PUMICE_BIND_MAP)
			pumice_vm_note_cached(b->vm);
		return 0;
	}
	ret = bind_acquire_buffer(b, op, file);
	if (ret)
		return ret;
	return pumice_heap_fits(b->vm->pdev, args->va, args->size, op->sgt,
				args->bo_offset) ? 0 : -EINVAL;
}

/* Return the PUMICE_MMU_* of the buffer of a map operation. */
static u32 bind_buffer_flags(const struct pumice_bind_op *op)
{
	return to_pumice_bo(op->vm_bo->obj)->coherent ? PUMICE_MMU_COHERENT : 0;
}

/**
 * pumice_bind_execute_locked - change the address space
 * @b: operations, whose pool has the tables that this one needs; under vm.lock
 * @op: prepared operation
 *
 * Cannot fail, and allocates nothing.
 */
void pumice_bind_execute_locked(struct pumice_bind *b, struct pumice_bind_op *op)
{
	const struct drm_pumice_bind_op *args = &op->args;
	struct pumice_vm *vm = b->vm;

	lockdep_assert_held(&vm->lock);
	b->op = op;
	vm->operations++;
	pumice_places_unmap_locked(vm, args->va, args->size, b->process);
	if (bind_maps_buffer(args)) {
		if (b->pages.sgt != op->sgt)
			b->pages = (struct pumice_mmu_pages) { .sgt = op->sgt };
		pumice_mmu_map_pages(vm->mmu, &b->pool, args->va, args->size, &b->pages,
				     args->bo_offset, args->flags | bind_buffer_flags(op));
		if (pumice_vm_map_invalidates(vm))
			pumice_mmu_mark_mapped(vm->mmu, args->va, args->size);
		pumice_gpuvm_sm_map(&vm->base, b, args->va, args->size, op->vm_bo->obj,
				    args->bo_offset);
		pumice_places_map_locked(vm, args, op->vm_bo->obj);
	} else if (args->type == DRM_PUMICE_BIND_MAP) {
		/* Bus addresses that rise with the GPU's permit the same page sizes as others. */
		pumice_mmu_map_contiguous(vm->mmu, &b->pool, args->va, args->size, args->va,
					  args->flags);
		pumice_gpuvm_sm_map(&vm->base, b, args->va, args->size, NULL, 0);
	} else {
		pumice_mmu_unmap(vm->mmu, &b->pool, args->va, args->size);
		drm_gpuvm_sm_unmap(&vm->base, b, args->va, args->size);
	}
}

/*
 * Only the last reference needs locks: most are of one of many mappings of a buffer. Releasing the
 * last one removes the vm_bo from the lists of the VM and of the buffer, so both locks are held. It
 * may also hold the last reference to either of them, so extra references keep these until their
 * locks are released.
 */
static void bind_put_vm_bo(struct drm_gpuvm_bo *vm_bo)
{
	struct drm_gem_object *obj;
	struct drm_gpuvm *gpuvm;

	if (refcount_dec_not_one(&vm_bo->kref.refcount))
		return;
	obj = vm_bo->obj;
	gpuvm = vm_bo->vm;
	drm_gem_object_get(obj);
	drm_gpuvm_get(gpuvm);
	dma_resv_lock(drm_gpuvm_resv(gpuvm), NULL);
	mutex_lock(pumice_bo_gpuva_lock(obj));
	drm_gpuvm_bo_put(vm_bo);
	mutex_unlock(pumice_bo_gpuva_lock(obj));
	dma_resv_unlock(drm_gpuvm_resv(gpuvm));
	drm_gpuvm_put(gpuvm);
	drm_gem_object_put(obj);
}

/**
 * pumice_bind_forget_buffer - release the buffer that is kept for the next operation
 * @b: operations
 *
 * Context: May sleep. Acquires the reservation of the VM.
 */
void pumice_bind_forget_buffer(struct pumice_bind *b)
{
	if (b->vm_bo)
		bind_put_vm_bo(b->vm_bo);
	b->vm_bo = NULL;
	/* Another buffer may get a table at the same address. */
	b->pages = (struct pumice_mmu_pages) { 0 };
}

/**
 * pumice_bind_put_buffer - release an operation's buffer
 * @op: operation, which may be prepared again
 */
void pumice_bind_put_buffer(struct pumice_bind_op *op)
{
	if (op->vm_bo)
		bind_put_vm_bo(op->vm_bo);
	op->vm_bo = NULL;
}

/**
 * pumice_bind_release_op - release an operation, executed or not
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
 * pumice_bind_remove_all_locked - remove all mappings, without changing page tables
 * @b: collects the removed mappings; under vm.lock
 */
void pumice_bind_remove_all_locked(struct pumice_bind *b)
{
	struct drm_gpuva *va, *next;

	lockdep_assert_held(&b->vm->lock);
	drm_gpuvm_for_each_va_safe(va, next, &b->vm->base) {
		drm_gpuva_remove(va);
		bind_retire(b, va);
	}
}

/**
 * pumice_bind_release - free removed mappings; the TLBs were invalidated
 * @b: operations, whose pool was freed
 */
void pumice_bind_release(struct pumice_bind *b)
{
	struct pumice_va *va, *next;

	list_for_each_entry_safe(va, next, &b->retired, retired) {
		if (va->vm_bo)
			bind_put_vm_bo(va->vm_bo);
		kfree(va);
	}
	INIT_LIST_HEAD(&b->retired);
	if (b->awake)
		pumice_pm_put(b->vm->pdev);
	b->awake = false;
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_bind_test.c"
#endif
