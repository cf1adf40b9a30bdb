// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * GPU address spaces: lifetime and TLB invalidation.
 *
 * Changes of mappings are in pumice_bind.c.
 */
#include <drm/drm_exec.h>

#include "pumice_bind.h"
#include "pumice_bind_queue.h"
#include "pumice_ccb.h"
#include "pumice_mmu.h"
#include "pumice_places.h"
#include "pumice_reset.h"
#include "pumice_vm.h"

/**
 * pumice_vm_free - free the structure, to which nothing refers
 * @base: drm_gpuvm of the address space
 *
 * Called by drm_gpuvm_put() with the last reference, after the last use was released.
 *
 * Context: May sleep.
 */
void pumice_vm_free(struct drm_gpuvm *base)
{
	struct pumice_vm *vm = to_pumice_vm(base);

	mutex_destroy(&vm->lock);
	kfree(vm);
}

/* Allocate a structure with one use. Returns an error pointer on failure. */
static struct pumice_vm *pumice_vm_alloc(struct pumice_device *pdev)
{
	struct pumice_vm *vm = kzalloc(sizeof(*vm), GFP_KERNEL_ACCOUNT);
	struct drm_gem_object *root;
	int ret;

	if (!vm)
		return ERR_PTR(-ENOMEM);
	vm->mmu = pumice_mmu_create(pdev);
	if (IS_ERR(vm->mmu)) {
		struct pumice_mmu *error = vm->mmu;

		kfree(vm);
		return ERR_CAST(error);
	}
	vm->binds = pumice_bind_queue_create(pdev);
	if (IS_ERR(vm->binds)) {
		ret = PTR_ERR(vm->binds);
		goto destroy_mmu;
	}
	root = drm_gpuvm_resv_object_alloc(&pdev->drm);
	if (!root) {
		ret = -ENOMEM;
		goto destroy_queue;
	}
	kref_init(&vm->users);
	mutex_init(&vm->lock);
	pumice_vm_faults_init(&vm->faults);
	vm->pdev = pdev;
	drm_gpuvm_init(&vm->base, "pumice", PUMICE_GPUVM_FLAGS, &pdev->drm, root, PUMICE_VA_START,
		       PUMICE_VA_END - PUMICE_VA_START, 0, 0, &pumice_vm_ops);
	drm_gem_object_put(root);
	drm_mm_init(&vm->kernel_mm, PUMICE_VA_END, PUMICE_VA_KERNEL_END - PUMICE_VA_END);
	return vm;

destroy_queue:
	pumice_bind_queue_destroy(vm->binds);
destroy_mmu:
	pumice_mmu_destroy(vm->mmu);
	kfree(vm);
	return ERR_PTR(ret);
}

static struct pumice_vm *pumice_vm_create(struct pumice_device *pdev, u64 client)
{
	struct pumice_vm *vm = pumice_vm_alloc(pdev);

	if (IS_ERR(vm))
		return vm;
	vm->client = client;
	pumice_process_note(&vm->process);
	mutex_lock(&pdev->vms_lock);
	list_add_tail(&vm->node, &pdev->vms);
	mutex_unlock(&pdev->vms_lock);
	atomic_inc(&pdev->stats.vms);
	return vm;
}

/*
 * Remove an address space that is destroyed from the firmware. On return the GPU does not
 * read its page tables: ensured by the firmware, by a reset, or by
 * unplugging.
 */
static void pumice_vm_release_fw_state(struct pumice_vm *vm)
{
	const struct fwif_kccb_cmd cmd = {
		.type = FWIF_KCCB_VM_RELEASE,
		.catalogue = pumice_vm_catalogue(vm),
	};
	int ret, idx;

	if (!READ_ONCE(vm->used))
		return;
	if (drm_dev_enter(&vm->pdev->drm, &idx)) {
		ret = pumice_kccb_call(vm->pdev, &cmd);
		if (ret)
			pumice_reset_and_wait(vm->pdev, ret);
		drm_dev_exit(idx);
	}
	pumice_device_wait_unplugged(vm->pdev);
}

/* Destroy the bind queue. Unplugging, which closes the queue, may or may not find it. */
static void pumice_vm_destroy_binds(struct pumice_vm *vm)
{
	struct pumice_bind_queue *binds;

	mutex_lock(&vm->pdev->vms_lock);
	binds = vm->binds;
	vm->binds = NULL;
	mutex_unlock(&vm->pdev->vms_lock);
	pumice_bind_queue_destroy(binds);
}

/*
 * The last use was released: the contexts were destroyed, so no job can run in it. It stays in
 * the list until its page tables are freed: unplugging frees them if it comes first, so
 * that none are left when the driver is removed.
 */
static void pumice_vm_last_put(struct kref *users)
{
	struct pumice_vm *vm = container_of(users, struct pumice_vm, users);
	struct pumice_device *pdev = vm->pdev;
	struct pumice_bind all;

	pumice_vm_release_fw_state(vm);
	pumice_vm_destroy_binds(vm);
	pumice_bind_init(&all, vm);
	mutex_lock(&vm->lock);
	pumice_places_end_vm_locked(vm);
	pumice_mmu_destroy(vm->mmu);
	vm->mmu = NULL;
	drm_mm_takedown(&vm->kernel_mm);
	vm->released = true;
	pumice_bind_remove_all_locked(&all);
	mutex_unlock(&vm->lock);
	mutex_lock(&pdev->vms_lock);
	list_del(&vm->node);
	mutex_unlock(&pdev->vms_lock);
	pumice_bind_release(&all);
	atomic_dec(&pdev->stats.vms);
	drm_gpuvm_put(&vm->base);
}

/**
 * pumice_vm_table_bytes - return the size of the page tables of a file's address spaces
 * @pdev: device
 * @client: DRM client
 *
 * Includes address spaces still in use whose id was destroyed.
 *
 * Context: May sleep. Acquires vms_lock.
 *
 * Return: bytes.
 */
u64 pumice_vm_table_bytes(struct pumice_device *pdev, u64 client)
{
	struct pumice_vm *vm;
	u64 tables = 0;

	mutex_lock(&pdev->vms_lock);
	list_for_each_entry(vm, &pdev->vms, node)
		if (vm->client == client)
			tables += atomic_read(&vm->tables);
	mutex_unlock(&pdev->vms_lock);
	return tables * PUMICE_MMU_TABLE_BYTES;
}

/**
 * pumice_vm_get - acquire a use
 * @vm: address space, of which the caller has a use, or a context that has one
 *
 * Context: Any.
 *
 * Return: @vm.
 */
struct pumice_vm *pumice_vm_get(struct pumice_vm *vm)
{
	kref_get(&vm->users);
	return vm;
}

/**
 * pumice_vm_put - release a use
 * @vm: address space
 *
 * May sleep and wait for the firmware. Must not be called between
 * drm_dev_enter() and drm_dev_exit().
 */
void pumice_vm_put(struct pumice_vm *vm)
{
	kref_put(&vm->users, pumice_vm_last_put);
}

/**
 * pumice_vm_lookup - look up an address space of a file by its id
 * @file: file
 * @id: id
 *
 * Context: Does not sleep. Acquires the lock of file.vms.
 *
 * Return: the address space with a use, or NULL.
 */
struct pumice_vm *pumice_vm_lookup(struct pumice_file *file, u32 id)
{
	struct pumice_vm *vm;

	xa_lock(&file->vms);
	vm = xa_load(&file->vms, id);
	if (vm)
		kref_get(&vm->users);
	xa_unlock(&file->vms);
	return vm;
}

/**
 * pumice_vm_close - close an address space whose id was removed
 * @vm: address space; consumes the id's use
 *
 * Must not be called between drm_dev_enter() and drm_dev_exit().
 */
void pumice_vm_close(struct pumice_vm *vm)
{
	int idx;

	mutex_lock(&vm->lock);
	vm->closed = true;
	mutex_unlock(&vm->lock);
	if (drm_dev_enter(&vm->pdev->drm, &idx)) {
		pumice_bind_queue_close(vm->binds, -ECANCELED);
		drm_dev_exit(idx);
	}
	/* Unplugging closes the queue too, and needs the VM in the list for it. */
	pumice_device_wait_unplugged(vm->pdev);
	pumice_vm_put(vm);
}

/**
 * pumice_vm_release_all - free all page tables when the device is removed
 * @pdev: stopped device
 *
 * Context: May sleep. Acquires vms_lock and the lock of each VM.
 */
void pumice_vm_release_all(struct pumice_device *pdev)
{
	struct pumice_vm *vm;

	mutex_lock(&pdev->vms_lock);
	list_for_each_entry(vm, &pdev->vms, node) {
		if (vm->binds)
			pumice_bind_queue_close(vm->binds, -ENODEV);
		mutex_lock(&vm->lock);
		if (vm->mmu)
			pumice_mmu_release_memory(vm->mmu);
		vm->released = true;
		mutex_unlock(&vm->lock);
	}
	mutex_unlock(&pdev->vms_lock);
}

/**
 * pumice_vm_catalogue - return the address of the page catalogue
 * @vm: address space, with a use
 *
 * Context: Any; the address is constant.
 *
 * Return: the bus address, by which the firmware identifies the address space.
 */
dma_addr_t pumice_vm_catalogue(const struct pumice_vm *vm)
{
	return pumice_mmu_catalogue(vm->mmu);
}

/**
 * pumice_vm_resv - return the reservation of an address space
 * @vm: address space
 *
 * It is shared by the buffers that only this address space may bind.
 *
 * Context: Any.
 *
 * Return: the reservation, which lives as long as @vm.
 */
struct dma_resv *pumice_vm_resv(struct pumice_vm *vm)
{
	return drm_gpuvm_resv(&vm->base);
}

/**
 * pumice_vm_usable - check whether an address space accepts jobs and binds
 * @vm: address space
 *
 * Context: Any; without a lock, so that a bind that fails meanwhile may be missed. An unusable
 * address space stays so.
 *
 * Return: false after an asynchronous bind failed, or the firmware failed to invalidate the
 * TLBs.
 */
bool pumice_vm_usable(const struct pumice_vm *vm)
{
	return !READ_ONCE(vm->unusable);
}

/**
 * pumice_vm_bindable_locked - check whether the address space may be changed
 * @vm: address space, under its lock; between drm_dev_enter() and drm_dev_exit()
 *
 * Return: 0; -ENOENT if its id was removed; -ENODEV if the device was; -EIO if it is
 * unusable.
 */
int pumice_vm_bindable_locked(struct pumice_vm *vm)
{
	lockdep_assert_held(&vm->lock);
	if (vm->closed)
		return -ENOENT;
	if (vm->released)
		return -ENODEV;
	return vm->unusable ? -EIO : 0;
}

/**
 * pumice_vm_note_use - note that TLBs may hold entries of an address space
 * @vm: address space
 *
 * Must be called before a job is submitted to the firmware: pumice_vm_flush_locked() omits the
 * invalidation for an address space without jobs. The barrier pairs with the one there.
 *
 * Context: Any.
 */
void pumice_vm_note_use(struct pumice_vm *vm)
{
	WRITE_ONCE(vm->used, true);
	smp_mb(); /* pairs with the barrier in pumice_vm_flush_locked() */
}

/**
 * pumice_vm_note_cached - note that pages are mapped that caches of the GPU may keep
 * @vm: address space
 *
 * Must be called before the page tables are changed, in the call of the user that requests it. So
 * every job that may use the pages, one that is submitted after that call or waits for its fence,
 * is emitted afterwards.
 *
 * Context: Any.
 */
void pumice_vm_note_cached(struct pumice_vm *vm)
{
	WRITE_ONCE(vm->cached, true);
}

/* Return whether caches of the GPU may hold lines of an address space. */
static bool pumice_vm_is_cached(const struct pumice_vm *vm)
{
	return READ_ONCE(vm->cached);
}

/**
 * pumice_vm_note_job - decide whether a job has operations on caches
 * @vm: its address space
 *
 * Must be called for each job, before the firmware can run it. It needs none until the address
 * space is cached, and in return each change of the page tables invalidates them: see
 * pumice_vm_map_invalidates().
 *
 * Context: Any; without a lock.
 *
 * Return: false if all its mappings always were of coherent buffers.
 */
bool pumice_vm_note_job(struct pumice_vm *vm)
{
	if (pumice_vm_is_cached(vm))
		return true;
	WRITE_ONCE(vm->cacheless_job, true);
	smp_mb(); /* pairs with the barrier in pumice_vm_map_invalidates() */
	return pumice_vm_is_cached(vm);
}

/**
 * pumice_vm_map_invalidates - check whether a new mapping has to be followed by an invalidation
 * @vm: address space
 *
 * That is so until the VM is cached, and afterwards if it had jobs without operations on caches:
 * such a job may not have run yet, and may depend on the mapping of a coherent buffer.
 *
 * Context: Any; without a lock.
 *
 * Return: true if jobs may not drop lines of the page tables.
 */
bool pumice_vm_map_invalidates(const struct pumice_vm *vm)
{
	if (!pumice_vm_is_cached(vm))
		return true;
	smp_mb(); /* pairs with the barrier in pumice_vm_note_job() */
	return READ_ONCE(vm->cacheless_job);
}

/*
 * Invalidate the TLBs for changed ranges. If the firmware fails to do it, a reset does;
 * then the address space is marked unusable, unless the reset had another cause.
 * Returns -ENODEV if neither did.
 */
static int pumice_vm_invalidate(struct pumice_vm *vm, const struct pumice_mmu_dirty *dirty)
{
	const struct fwif_kccb_cmd cmd = {
		.type = FWIF_KCCB_MMU_INVALIDATE,
		.catalogue = pumice_vm_catalogue(vm),
		.start = dirty->start,
		.end = dirty->end,
	};
	int error = pumice_kccb_call(vm->pdev, &cmd);

	if (!error)
		return 0;
	if (error != -ECANCELED)
		WRITE_ONCE(vm->unusable, true);
	return pumice_reset_and_wait(vm->pdev, error);
}

/**
 * pumice_vm_flush_locked - make changes of the page tables visible to the GPU
 * @vm: address space, under its lock; between drm_dev_enter() and drm_dev_exit()
 *
 * Return: 0 if unmapped memory may be freed; -EIO if it may, but the address space
 * became unusable; -ENODEV if the device is being unplugged: nothing may be freed
 * before pumice_device_wait_unplugged().
 */
int pumice_vm_flush_locked(struct pumice_vm *vm)
{
	struct pumice_mmu_dirty dirty;
	int ret = 0;

	lockdep_assert_held(&vm->lock);
	smp_mb(); /* page tables before the load of @used: pairs with pumice_vm_note_use() */
	if (pumice_mmu_dirty(vm->mmu, &dirty) && READ_ONCE(vm->used))
		ret = pumice_vm_invalidate(vm, &dirty);
	if (ret)
		return ret;
	pumice_mmu_flushed(vm->mmu);
	return vm->unusable ? -EIO : 0;
}

/**
 * pumice_vm_lock_objects - lock the objects that jobs of an address space access
 * @vm: address space
 * @exec: locking context, which ignores duplicates
 *
 * The reservation of the VM comes first: it protects the list of external objects
 * until @exec ends. The caller reserves slots for fences in all objects locked by @exec,
 * after its last round.
 *
 * Return: 0; -EDEADLK if another task has a lock and drm_exec must retry; -EINTR if a signal
 * interrupts the wait; -ENOMEM.
 */
int pumice_vm_lock_objects(struct pumice_vm *vm, struct drm_exec *exec)
{
	int ret = drm_gpuvm_prepare_vm(&vm->base, exec, 0);

	return ret ?: drm_gpuvm_prepare_objects(&vm->base, exec, 0);
}

/**
 * pumice_vm_add_fence - add a job's fence to all locked reservations
 * @vm: address space of the job
 * @exec: locking context, after pumice_vm_lock_objects(); each reservation has a slot
 * @fence: fence
 *
 * All synchronization is explicit: the fence only keeps memory from moving. So it
 * is harmless in reservations of other address spaces of the same call.
 */
void pumice_vm_add_fence(struct pumice_vm *vm, struct drm_exec *exec, struct dma_fence *fence)
{
	drm_gpuvm_resv_add_fence(&vm->base, exec, fence, DMA_RESV_USAGE_BOOKKEEP,
				 DMA_RESV_USAGE_BOOKKEEP);
}

/**
 * pumice_ioctl_vm_create - implement DRM_IOCTL_PUMICE_VM_CREATE
 * @drm: device
 * @data: struct drm_pumice_vm_create
 * @file: file
 *
 * Context: Process context. Acquires vms_lock. In mode strict it wakes the GPU.
 *
 * Return: 0; -EINVAL for flags; -ENOSPC if the file has DRM_PUMICE_MAX_VMS; -ENOMEM; -ENODEV
 * if the device was unplugged; or an error of drm_sched_init().
 */
int pumice_ioctl_vm_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_vm_create *args = data;
	struct pumice_file *pfile = file->driver_priv;
	struct pumice_vm *vm;
	int ret, idx;

	if (args->flags)
		return -EINVAL;
	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	vm = pumice_vm_create(pfile->pdev, file->client_id);
	if (!IS_ERR(vm))
		pumice_places_begin_vm(vm);
	drm_dev_exit(idx);
	if (IS_ERR(vm))
		return PTR_ERR(vm);
	ret = xa_alloc(&pfile->vms, &args->id, vm, XA_LIMIT(1, DRM_PUMICE_MAX_VMS), GFP_KERNEL);
	if (ret)
		pumice_vm_put(vm);
	return ret == -EBUSY ? -ENOSPC : ret;
}

/**
 * pumice_ioctl_vm_destroy - implement DRM_IOCTL_PUMICE_VM_DESTROY
 * @drm: device
 * @data: struct drm_pumice_vm_destroy
 * @file: file
 *
 * Context: Process context. Cancels waiting binds, and waits for the firmware if this releases
 * the last use; see pumice_vm_close().
 *
 * Return: 0; -EINVAL for padding; or -ENOENT without such a VM.
 */
int pumice_ioctl_vm_destroy(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_vm_destroy *args = data;
	struct pumice_file *pfile = file->driver_priv;
	struct pumice_vm *vm;

	if (args->pad)
		return -EINVAL;
	vm = xa_erase(&pfile->vms, args->id);
	if (!vm)
		return -ENOENT;
	pumice_vm_close(vm);
	return 0;
}

/**
 * pumice_ioctl_vm_get_state - implement DRM_IOCTL_PUMICE_VM_GET_STATE
 * @drm: device
 * @data: struct drm_pumice_vm_get_state
 * @file: file
 *
 * Context: Process context. May wait for the firmware, if the VM is destroyed meanwhile.
 *
 * Return: 0, or -ENOENT without such a VM.
 */
int pumice_ioctl_vm_get_state(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_vm_get_state *args = data;
	struct pumice_vm *vm = pumice_vm_lookup(file->driver_priv, args->id);

	if (!vm)
		return -ENOENT;
	args->state = pumice_vm_usable(vm) ? DRM_PUMICE_VM_USABLE : DRM_PUMICE_VM_UNUSABLE;
	pumice_vm_put(vm);
	return 0;
}
