// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Description of buffers to the GPU, for findings of mode strict: registers PLACE of unit FIND.
 *
 * The MMU has pages only. In mode strict the driver describes where buffers are mapped, their names
 * and ends, and which operation of which process removed a mapping, so that findings have these,
 * and accesses after the end of a buffer are detected.
 *
 * The GPU drops all descriptions when its mode changes, which the host can do at any time. So the
 * mode is read whenever the GPU wakes, a VM is created or the file mode is written; if the GPU has
 * dropped them since, all VMs are described anew. In other modes nothing else is done.
 *
 * While the mode is strict, a call that changes a VM keeps the GPU awake until its operations have
 * been executed (pumice_places_wake()): registers are accessible then, also where nothing may wait
 * for the GPU to wake. If the GPU sleeps when a buffer is named, all VMs are described when it
 * wakes. That a buffer was freed is omitted then.
 *
 * Limits: virtual GPU 0 only, whose page has the registers. Not the kernel's part of a VM.
 */
#include <linux/string.h>
#include <linux/workqueue.h>

#include <drm/drm_drv.h>

#include "pumice_gem.h"
#include "pumice_places.h"
#include "pumice_pm.h"
#include "pumice_vm.h"

#define SINCE_MINOR	17	/* minimum minor number of SYS_VERSION */
/*
 * Limits of the time for which vm.lock is held, and fences wait: those of the GPU, which keeps no
 * more (qemu-device/gpu/strict/places.h). The removals after those of an operation have no name.
 */
#define MAX_REMOVALS	1024u
#define MAX_MAPPINGS	16384u

/**
 * struct pumice_place - values of the PLACE registers for one operation
 */
struct pumice_place {
	/** @vm: address space, or NULL */
	struct pumice_vm *vm;
	/** @va: GPU virtual address of the mapping */
	u64 va;
	/** @size: bytes of it */
	u64 size;
	/** @end: address after the last byte of the buffer, if that is in the mapping; or 0 */
	u64 end;
	/** @bo: buffer, or NULL */
	struct pumice_bo *bo;
	/** @number: of a removal: number of the operation of @vm */
	u64 number;
	/** @process: of a removal: the process that has requested it */
	pid_t process;
};

static bool places_enabled(const struct pumice_device *pdev)
{
	return READ_ONCE(pdev->places.enabled);
}

/* Begin an access to the registers; false if the GPU sleeps or was removed. Does not sleep. */
static bool places_enter(struct pumice_device *pdev, int *idx)
{
	if (!places_enabled(pdev) || !drm_dev_enter(&pdev->drm, idx))
		return false;
	if (pumice_pm_get_if_awake(pdev))
		return true;
	atomic_set(&pdev->places.missed, 1);
	drm_dev_exit(*idx);
	return false;
}

static void places_write_label(struct pumice_device *pdev, const struct pumice_bo *bo)
{
	__le64 words[PUMICE_FIND_PLACE_LABEL_COUNT] = { 0 };
	u32 n;

	spin_lock(&pdev->bos_lock);
	if (bo && bo->label)
		strscpy((char *)words, bo->label, sizeof(words));
	spin_unlock(&pdev->bos_lock);
	for (n = 0; n < PUMICE_FIND_PLACE_LABEL_COUNT; n++)
		pumice_write64(pdev, PUMICE_FIND_PLACE_LABEL(n), le64_to_cpu(words[n]));
}

/* Perform an operation, between places_enter() and pumice_pm_leave(). */
static void places_write(struct pumice_device *pdev, const struct pumice_place *place, u32 op)
{
	mutex_lock(&pdev->places.lock);
	if (place->vm)
		pumice_write64(pdev, PUMICE_FIND_PLACE_CATALOGUE, pumice_vm_catalogue(place->vm));
	if (place->size) {
		pumice_write64(pdev, PUMICE_FIND_PLACE_ADDR, place->va);
		pumice_write64(pdev, PUMICE_FIND_PLACE_SIZE, place->size);
		pumice_write64(pdev, PUMICE_FIND_PLACE_END, place->end);
		pumice_write64(pdev, PUMICE_FIND_PLACE_NUMBER, place->number);
		pumice_write(pdev, PUMICE_FIND_PLACE_PROCESS, place->process);
	}
	pumice_write64(pdev, PUMICE_FIND_PLACE_BUFFER, place->bo ? place->bo->id : 0);
	places_write_label(pdev, place->bo);
	pumice_write(pdev, PUMICE_FIND_PLACE_OP, op);
	mutex_unlock(&pdev->places.lock);
}

/* The same, if the GPU is awake. */
static void places_try_write(struct pumice_device *pdev, const struct pumice_place *place, u32 op)
{
	int idx;

	if (!places_enter(pdev, &idx))
		return;
	places_write(pdev, place, op);
	pumice_pm_leave(pdev, idx);
}

static void places_write_map(struct pumice_vm *vm, u64 va, u64 size, struct drm_gem_object *obj,
			     u64 offset)
{
	struct pumice_place place = {
		.vm = vm, .va = va, .size = size, .bo = to_pumice_bo(obj),
	};

	if (place.bo->bytes > offset)
		place.end = va + (place.bo->bytes - offset);
	places_write(vm->pdev, &place, PUMICE_PLACE_OP_MAP);
}

/**
 * pumice_places_map_locked - describe a new mapping
 * @vm: address space, under its lock, whose tables were changed
 * @args: the operation that has made it
 * @obj: its buffer
 *
 * Context: Does not wait for the GPU.
 */
void pumice_places_map_locked(struct pumice_vm *vm, const struct drm_pumice_bind_op *args,
			      struct drm_gem_object *obj)
{
	int idx;

	lockdep_assert_held(&vm->lock);
	if (!places_enter(vm->pdev, &idx))
		return;
	places_write_map(vm, args->va, args->size, obj, args->bo_offset);
	pumice_pm_leave(vm->pdev, idx);
}

/**
 * pumice_places_unmap_locked - describe the end of mappings
 * @vm: address space, under its lock, whose tables are about to be changed
 * @va: first address
 * @size: bytes; other parts of the mappings there remain
 * @process: the process that has requested it
 *
 * Context: Does not wait for the GPU.
 */
void pumice_places_unmap_locked(struct pumice_vm *vm, u64 va, u64 size, pid_t process)
{
	struct pumice_place place = {
		.vm = vm, .number = vm->operations, .process = process,
	};
	struct drm_gpuva *old;
	u32 count = 0;
	int idx;

	lockdep_assert_held(&vm->lock);
	if (!places_enter(vm->pdev, &idx))
		return;
	drm_gpuvm_for_each_va_range(old, &vm->base, va, va + size) {
		const u64 end = min(old->va.addr + old->va.range, va + size);

		if (!old->gem.obj)
			continue;
		place.va = max(old->va.addr, va);
		place.size = end - place.va;
		place.bo = to_pumice_bo(old->gem.obj);
		if (++count == MAX_REMOVALS) {
			place.size = va + size - place.va;
			place.bo = NULL;
		}
		places_write(vm->pdev, &place, PUMICE_PLACE_OP_UNMAP);
		if (!place.bo)
			break;
	}
	pumice_pm_leave(vm->pdev, idx);
}

/**
 * pumice_places_label - describe a buffer that has a new name
 * @bo: buffer
 *
 * Context: Process context; does not wait for the GPU.
 */
void pumice_places_label(struct pumice_bo *bo)
{
	places_try_write(to_pumice_device(bo->base.base.dev), &(struct pumice_place) { .bo = bo },
			 PUMICE_PLACE_OP_LABEL);
}

/**
 * pumice_places_free - describe that a buffer no longer exists
 * @bo: buffer, which is not mapped
 *
 * Context: Process context; does not wait for the GPU.
 */
void pumice_places_free(struct pumice_bo *bo)
{
	places_try_write(to_pumice_device(bo->base.base.dev), &(struct pumice_place) { .bo = bo },
			 PUMICE_PLACE_OP_FREE);
}

/* Describe, if the GPU is awake, that nothing is mapped, nor was. */
static void places_forget(struct pumice_vm *vm)
{
	places_try_write(vm->pdev, &(struct pumice_place) { .vm = vm }, PUMICE_PLACE_OP_FORGET);
}

/**
 * pumice_places_wake - keep the GPU awake for an operation to describe
 * @pdev: device, between drm_dev_enter() and drm_dev_exit()
 *
 * Context: May sleep and boot the firmware. Without locks.
 *
 * Return: true if it is awake, and pumice_pm_put() must follow; false in other modes.
 */
bool pumice_places_wake(struct pumice_device *pdev)
{
	return places_enabled(pdev) && !pumice_pm_get(pdev);
}

/**
 * pumice_places_begin_vm - prepare the GPU for the descriptions of a new address space
 * @vm: address space; its catalogue may have been that of another one
 *
 * Context: May sleep and boot the firmware. Between drm_dev_enter() and drm_dev_exit().
 */
void pumice_places_begin_vm(struct pumice_vm *vm)
{
	struct pumice_device *pdev = vm->pdev;

	if (pumice_pm_get_if_awake(pdev)) {
		pumice_places_update(pdev);
		pumice_pm_put(pdev);
	}
	if (!pumice_places_wake(pdev))
		return;
	places_forget(vm);
	pumice_pm_put(pdev);
}

/**
 * pumice_places_end_vm_locked - describe that an address space no longer exists
 * @vm: address space, under its lock, whose tables are about to be destroyed
 *
 * Context: Process context; does not wait for the GPU.
 */
void pumice_places_end_vm_locked(struct pumice_vm *vm)
{
	lockdep_assert_held(&vm->lock);
	places_forget(vm);
}

/* Describe an address space; *count: mappings, of all. */
static void places_describe_vm_locked(struct pumice_vm *vm, u32 *count)
{
	struct drm_gpuva *va;

	lockdep_assert_held(&vm->lock);
	drm_gpuvm_for_each_va(va, &vm->base) {
		if (*count == MAX_MAPPINGS)
			return;
		if (!va->gem.obj)
			continue;
		places_write_map(vm, va->va.addr, va->va.range, va->gem.obj, va->gem.offset);
		(*count)++;
		cond_resched();
	}
}

/* Describe all address spaces. */
static void places_work(struct work_struct *work)
{
	struct pumice_device *pdev = container_of(work, struct pumice_device, places.work);
	struct pumice_vm *vm;
	u32 count = 0;
	int idx;

	if (pumice_pm_enter(pdev, &idx)) {
		/* As during system suspend: when the GPU wakes. */
		atomic_set(&pdev->places.missed, 1);
		return;
	}
	mutex_lock(&pdev->vms_lock);
	places_write(pdev, &(struct pumice_place) { 0 }, PUMICE_PLACE_OP_BEGIN);
	list_for_each_entry(vm, &pdev->vms, node) {
		mutex_lock(&vm->lock);
		if (vm->mmu && !vm->released)
			places_describe_vm_locked(vm, &count);
		mutex_unlock(&vm->lock);
	}
	mutex_unlock(&pdev->vms_lock);
	pumice_pm_leave(pdev, idx);
}

/**
 * pumice_places_update - read the mode, and describe all address spaces if the GPU lacks some
 * @pdev: device, awake, between drm_dev_enter() and drm_dev_exit()
 *
 * Context: May sleep. The description is later: see pumice_places_flush().
 */
void pumice_places_update(struct pumice_device *pdev)
{
	struct pumice_places *places = &pdev->places;
	u32 mode, drops;

	if (pdev->os || PUMICE_FIELD_GET(PUMICE_SYS_VERSION__MINOR, pdev->version) < SINCE_MINOR)
		return;
	mutex_lock(&places->lock);
	mode = PUMICE_FIELD_GET(PUMICE_SYS_MODE__MODE, pumice_read(pdev, PUMICE_SYS_MODE));
	if (mode != PUMICE_MODE_STRICT) {
		WRITE_ONCE(places->enabled, false);
	} else {
		drops = pumice_read(pdev, PUMICE_FIND_PLACE_DROPS);
		if (!places->enabled || drops != places->described ||
		    atomic_read(&places->missed)) {
			atomic_set(&places->missed, 0);
			places->described = drops;
			WRITE_ONCE(places->enabled, true);
			queue_work(system_unbound_wq, &places->work);
		}
	}
	mutex_unlock(&places->lock);
}

/**
 * pumice_places_reset - describe all address spaces after a reset of the GPU
 * @pdev: device, awake, between drm_dev_enter() and drm_dev_exit()
 *
 * A reset clears the PLACE registers, perhaps between two writes of an operation.
 *
 * Context: May sleep. Acquires places.lock.
 */
void pumice_places_reset(struct pumice_device *pdev)
{
	atomic_set(&pdev->places.missed, 1);
	pumice_places_update(pdev);
}

/**
 * pumice_places_flush - wait until all address spaces are described
 * @pdev: device, after pumice_places_update()
 *
 * Context: May sleep. Without locks of the driver.
 */
void pumice_places_flush(struct pumice_device *pdev)
{
	flush_work(&pdev->places.work);
}

/**
 * pumice_places_init - initialize
 * @pdev: device
 */
void pumice_places_init(struct pumice_device *pdev)
{
	mutex_init(&pdev->places.lock);
	INIT_WORK(&pdev->places.work, places_work);
}

/**
 * pumice_places_fini - wait for the last description
 * @pdev: device, unplugged
 *
 * Context: May sleep.
 */
void pumice_places_fini(struct pumice_device *pdev)
{
	cancel_work_sync(&pdev->places.work);
}
