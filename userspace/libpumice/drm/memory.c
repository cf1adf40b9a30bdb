// SPDX-License-Identifier: MIT
/* Kernel backend: memory and address spaces. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xf86drm.h>

#include "drm.h"

_Static_assert(MAX_BINDS == DRM_PUMICE_MAX_BIND_OPS, "operations of a bind");
_Static_assert(MAX_NULL_BYTES == DRM_PUMICE_MAX_BO_SIZE, "bytes of a NULL mapping");

int drm_bo_create(struct pumice_device *dev, u64 size, struct pumice_vm *exclusive, u32 flags,
		  struct pumice_bo **out)
{
	struct drm_pumice_bo_create c = {
		.size = size, .exclusive_vm = exclusive ? ((struct drm_vm *)exclusive)->id : 0,
		.flags = (flags & PUMICE_BO_WRITE_COMBINED ? DRM_PUMICE_BO_WRITE_COMBINED : 0) |
			 (flags & PUMICE_BO_COHERENT ? DRM_PUMICE_BO_COHERENT : 0),
	};
	struct drm_bo *bo = calloc(1, sizeof(*bo));
	int err;

	if (!bo)
		return fail(dev, ENOMEM, "bo: out of memory");
	err = drm_call(dev, DRM_IOCTL_PUMICE_BO_CREATE, &c, "bo");
	if (err) {
		free(bo);
		return err;
	}
	bo_init(&bo->base, dev, c.size);
	bo->handle = c.handle;
	*out = &bo->base;
	return 0;
}

void drm_bo_destroy(struct pumice_bo *base)
{
	struct drm_bo *bo = (struct drm_bo *)base;
	struct drm_gem_close c = { .handle = bo->handle };

	drmIoctl(drm_device(base->dev)->fd, DRM_IOCTL_GEM_CLOSE, &c);
	bo_fini(base);
	free(bo);
}

int drm_bo_map(struct pumice_bo *bo, void **cpu)
{
	struct drm_pumice_bo_mmap_offset o = { .handle = ((struct drm_bo *)bo)->handle };
	int err = drm_call(bo->dev, DRM_IOCTL_PUMICE_BO_MMAP_OFFSET, &o, "bo map");
	void *p;

	if (err)
		return err;
	p = mmap(NULL, bo->size, PROT_READ | PROT_WRITE, MAP_SHARED, drm_device(bo->dev)->fd,
		 (off_t)o.offset);
	if (p == MAP_FAILED)
		return fail(bo->dev, errno, "bo map: %s", strerror(errno));
	*cpu = p;
	return 0;
}

void drm_bo_unmap(struct pumice_bo *bo, void *cpu)
{
	munmap(cpu, bo->size);
}

int drm_bo_set_label(struct pumice_bo *bo, const char *label)
{
	struct drm_pumice_bo_set_label l = {
		.handle = ((struct drm_bo *)bo)->handle, .label = (uintptr_t)label,
	};

	return drm_call(bo->dev, DRM_IOCTL_PUMICE_BO_SET_LABEL, &l, "label");
}

int drm_bo_madvise(struct pumice_bo *bo, u32 advice, bool *retained)
{
	struct drm_pumice_bo_madvise m = {
		.handle = ((struct drm_bo *)bo)->handle, .advice = advice,
	};
	int err = drm_call(bo->dev, DRM_IOCTL_PUMICE_BO_MADVISE, &m, "madvise");

	if (!err)
		*retained = m.retained;
	return err;
}

int drm_vm_create(struct pumice_device *dev, struct pumice_vm **out)
{
	struct drm_pumice_vm_create c = { 0 };
	struct drm_vm *vm = calloc(1, sizeof(*vm));
	int err;

	if (!vm)
		return fail(dev, ENOMEM, "vm: out of memory");
	err = vm_init(&vm->base, dev);
	if (err)
		fail(dev, ENOMEM, "vm: out of memory");
	else
		err = drm_create(dev, DRM_IOCTL_PUMICE_VM_CREATE, &c, "vm");
	if (err) {
		vm_fini(&vm->base);
		free(vm);
		return err;
	}
	vm->id = c.id;
	*out = &vm->base;
	return 0;
}

void drm_vm_destroy(struct pumice_vm *base)
{
	struct drm_vm *vm = (struct drm_vm *)base;
	struct drm_pumice_vm_destroy d = { .id = vm->id };

	drmIoctl(drm_device(base->dev)->fd, DRM_IOCTL_PUMICE_VM_DESTROY, &d);
	vm_fini(base);
	free(vm);
}

static u32 bind_type(const struct pumice_bind *op)
{
	if (op->bo || op->flags & PUMICE_BIND_NULL)
		return DRM_PUMICE_BIND_MAP;
	return op->flags & PUMICE_BIND_UNMAP_ALL ? DRM_PUMICE_BIND_UNMAP_ALL :
						   DRM_PUMICE_BIND_UNMAP;
}

static void pack_bind(const struct pumice_bind *from, struct drm_pumice_bind_op *to)
{
	*to = (struct drm_pumice_bind_op){
		.type = bind_type(from),
		.flags = (from->flags & PUMICE_BIND_READONLY ? DRM_PUMICE_BIND_READONLY : 0) |
			 (from->flags & PUMICE_BIND_NOEXEC ? DRM_PUMICE_BIND_NOEXEC : 0) |
			 (from->flags & PUMICE_BIND_NULL ? DRM_PUMICE_BIND_NULL : 0),
		.handle = from->bo ? ((struct drm_bo *)from->bo)->handle : 0,
		.bo_offset = from->bo_offset,
		.va = from->va,
		.size = from->size,
	};
}

/* Convert operations to the kernel's structures, to be freed; NULL: out of memory. */
static struct drm_pumice_bind_op *pack_binds(const struct pumice_bind *ops, u32 count)
{
	struct drm_pumice_bind_op *packed = calloc(count + 1, sizeof(*packed));
	u32 i;

	for (i = 0; packed && i < count; i++)
		pack_bind(&ops[i], &packed[i]);
	return packed;
}

int drm_vm_bind(struct pumice_vm *vm, const struct pumice_bind *ops, u32 count, u32 *done)
{
	struct drm_pumice_bind_op *packed = pack_binds(ops, count);
	struct drm_pumice_vm_bind b = {
		.vm = ((struct drm_vm *)vm)->id,
		.ops = { sizeof(*packed), count, (uintptr_t)packed },
	};
	int err;

	if (!packed)
		return fail(vm->dev, ENOMEM, "bind: out of memory");
	err = drm_call(vm->dev, DRM_IOCTL_PUMICE_VM_BIND, &b, "bind");
	*done = err ? b.failed_op : count;
	free(packed);
	return err == -EIO ? fail_vm_unusable(vm->dev, "bind") : err;
}

int drm_vm_bind_async(struct pumice_vm *vm, const struct pumice_bind *ops, u32 count,
		      const struct pumice_job_sync *syncs, u32 sync_count)
{
	struct drm_pumice_bind_op *packed = pack_binds(ops, count);
	struct drm_pumice_sync packed_syncs[MAX_SYNCS];
	struct drm_pumice_vm_bind b = {
		.vm = ((struct drm_vm *)vm)->id,
		.flags = DRM_PUMICE_VM_BIND_ASYNC,
		.ops = { sizeof(*packed), count, (uintptr_t)packed },
		.syncs = { sizeof(packed_syncs[0]), sync_count, (uintptr_t)packed_syncs },
	};
	int err;
	u32 i;

	if (!packed)
		return fail(vm->dev, ENOMEM, "bind: out of memory");
	drm_pack_syncs(syncs, sync_count, packed_syncs);
	err = drm_call(vm->dev, DRM_IOCTL_PUMICE_VM_BIND, &b, "bind");
	free(packed);
	for (i = 0; err == -EINVAL && i < sync_count; i++)
		if (!syncs[i].signal && !drm_sync_is_submitted(&syncs[i]))
			return fail_bind_unsignaled(vm->dev, i);
	if (err == -EIO)
		return fail_vm_unusable(vm->dev, "bind");
	if (err == -ENOSPC)
		return fail(vm->dev, ENOSPC,
			    "bind: %u asynchronous calls of a VM may be queued, for %u translation tables; "
			    "wait for one", DRM_PUMICE_MAX_QUEUED_BINDS,
			    DRM_PUMICE_MAX_QUEUED_TABLES);
	return err;
}

int drm_vm_get_state(struct pumice_vm *vm, u32 *flags)
{
	struct drm_pumice_vm_get_state g = { .id = ((struct drm_vm *)vm)->id };
	int err = drm_call(vm->dev, DRM_IOCTL_PUMICE_VM_GET_STATE, &g, "vm state");

	if (!err)
		*flags = g.state == DRM_PUMICE_VM_UNUSABLE ? PUMICE_VM_UNUSABLE : 0;
	return err;
}

int drm_vm_get_faults(struct pumice_vm *vm, u64 after, struct pumice_vm_fault *faults, u32 *count,
		      u64 *lost)
{
	struct drm_pumice_vm_fault kept[DRM_PUMICE_VM_FAULTS];
	struct drm_pumice_vm_get_faults g = {
		.vm = ((struct drm_vm *)vm)->id,
		.after = after,
		.faults = { sizeof(kept[0]), *count, (uintptr_t)kept },
	};
	int err = drm_call(vm->dev, DRM_IOCTL_PUMICE_VM_GET_FAULTS, &g, "vm faults");
	u32 i;

	if (err)
		return err;
	for (i = 0; i < g.returned; i++)
		faults[i] = (struct pumice_vm_fault){
			.number = kept[i].number,
			.va = kept[i].va,
			.precision = kept[i].precision,
			.job = kept[i].job,
			.time = kept[i].time,
			.context = kept[i].context,
			.type = kept[i].type,
			.fault = kept[i].fault,
			.unit = kept[i].unit,
			.pc = kept[i].pc,
			.usc = kept[i].usc,
		};
	*count = g.returned;
	*lost = g.lost;
	return 0;
}
