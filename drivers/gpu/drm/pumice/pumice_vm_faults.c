// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * DRM_IOCTL_PUMICE_VM_GET_FAULTS: the last faults of a VM, with the information that
 * VK_EXT_device_fault requires (Documentation/uapi.rst lists the fields).
 */
#include "faults.h"
#include "pumice_context.h"
#include "pumice_job.h"
#include "pumice_uapi.h"
#include "pumice_vm.h"
#include "pumice_vm_faults.h"

static_assert((u32)DRM_PUMICE_FAULT_INSTRUCTION == (u32)PUMICE_FAULT_ADDR_INSTRUCTION);
static_assert((u32)DRM_PUMICE_FAULT_COMMAND == (u32)PUMICE_FAULT_ADDR_COMMAND);
static_assert((u32)DRM_PUMICE_FAULT_LOCAL == (u32)PUMICE_FAULT_ADDR_LOCAL);
static_assert((u32)DRM_PUMICE_FAULT_REGISTER == (u32)PUMICE_FAULT_ADDR_REGISTER);
static_assert(sizeof(struct drm_pumice_vm_fault) == 64);

/**
 * pumice_vm_faults_init - initialize an empty list of faults
 * @faults: list of a VM that is being created
 */
void pumice_vm_faults_init(struct pumice_vm_faults *faults)
{
	spin_lock_init(&faults->lock);
}

/**
 * pumice_vm_faults_note - store a fault or a time-out of a job
 * @job: job; under its context's lock
 * @r: copy of its result
 */
void pumice_vm_faults_note(const struct pumice_job *job, const struct fwif_job_result *r)
{
	struct pumice_vm_faults *faults = &job->ctx->vm->faults;
	const enum pumice_fault_addr type = pumice_fault_addr_type(r->fault, r->unit, r->access);
	struct drm_pumice_vm_fault fault = {
		.va = r->addr,
		.precision = pumice_fault_addr_precision(type),
		.job = job->number,
		.time = r->time_end,
		.context = READ_ONCE(job->ctx->id),
		.type = type,
		.fault = r->fault,
		.unit = r->unit,
		.pc = r->pc,
		.usc = r->usc,
	};

	lockdep_assert_held(&job->ctx->lock);
	spin_lock(&faults->lock);
	fault.number = ++faults->total;
	faults->kept[fault.number % DRM_PUMICE_VM_FAULTS] = fault;
	spin_unlock(&faults->lock);
}

/* Copy the oldest faults, as many as the caller requests and has space for. */
static void vm_faults_copy_kept(struct pumice_vm_faults *faults,
				struct drm_pumice_vm_get_faults *args,
				struct drm_pumice_vm_fault *copy)
{
	u64 first;
	u32 i;

	spin_lock(&faults->lock);
	args->total = faults->total;
	first = max(args->after, faults->total - min_t(u64, faults->total, DRM_PUMICE_VM_FAULTS));
	args->lost = first - args->after;
	for (i = 0; first + i < faults->total && i < args->faults.count; i++)
		copy[i] = faults->kept[(first + i + 1) % DRM_PUMICE_VM_FAULTS];
	args->returned = i;
	spin_unlock(&faults->lock);
}

static int vm_faults_put_fault(const struct drm_pumice_array *array, u32 index,
			       const struct drm_pumice_vm_fault *fault)
{
	u64 at = array->array + (u64)index * array->stride;

	if (copy_to_user(u64_to_user_ptr(at), fault, sizeof(*fault)) ||
	    clear_user(u64_to_user_ptr(at + sizeof(*fault)), array->stride - sizeof(*fault)))
		return -EFAULT;
	return 0;
}

static int vm_faults_get_faults(struct pumice_vm *vm, struct drm_pumice_vm_get_faults *args)
{
	struct drm_pumice_vm_fault *copy;
	int ret = 0;
	u32 i;

	copy = kmalloc_array(DRM_PUMICE_VM_FAULTS, sizeof(*copy), GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	vm_faults_copy_kept(&vm->faults, args, copy);
	for (i = 0; i < args->returned && !ret; i++)
		ret = vm_faults_put_fault(&args->faults, i, &copy[i]);
	kfree(copy);
	return ret;
}

/**
 * pumice_ioctl_vm_get_faults - implement DRM_IOCTL_PUMICE_VM_GET_FAULTS
 * @drm: device
 * @data: struct drm_pumice_vm_get_faults
 * @file: file
 *
 * Context: Process context. Acquires the lock of the list of faults.
 *
 * Return: 0; -EINVAL for flags or padding; -ENOENT without such a VM; -ENOMEM; -EFAULT if the
 * faults cannot be written; or an error of pumice_array_check(), with at most
 * DRM_PUMICE_VM_FAULTS elements.
 */
int pumice_ioctl_vm_get_faults(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_vm_get_faults *args = data;
	struct pumice_vm *vm;
	int ret;

	if (args->flags || args->pad)
		return -EINVAL;
	ret = pumice_array_check(&args->faults, sizeof(struct drm_pumice_vm_fault),
				 DRM_PUMICE_VM_FAULTS);
	if (ret)
		return ret;
	vm = pumice_vm_lookup(file->driver_priv, args->vm);
	if (!vm)
		return -ENOENT;
	ret = vm_faults_get_faults(vm, args);
	pumice_vm_put(vm);
	return ret;
}
