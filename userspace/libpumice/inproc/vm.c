// SPDX-License-Identifier: MIT
/* In-process backend: address spaces. */
#include <errno.h>
#include <stdlib.h>

#include "inproc.h"

int inproc_vm_create(struct pumice_device *dev, struct pumice_vm **out)
{
	struct inproc_device *d = inproc_device(dev);
	struct inproc_vm *vm = calloc(1, sizeof(*vm));
	int err;

	if (!vm)
		return fail(dev, ENOMEM, "vm: out of memory");
	err = vm_init(&vm->base, dev);
	if (!err) {
		pthread_mutex_lock(&d->lock);
		err = space_init(d, &vm->space);
		pthread_mutex_unlock(&d->lock);
	}
	if (err) {
		vm_fini(&vm->base);
		free(vm);
		return fail(dev, ENOMEM, "vm: out of memory");
	}
	*out = &vm->base;
	return 0;
}

void inproc_vm_destroy(struct pumice_vm *base)
{
	struct inproc_device *d = inproc_device(base->dev);
	struct inproc_vm *vm = (struct inproc_vm *)base;
	const struct fwif_kccb_cmd release = {
		.type = FWIF_KCCB_VM_RELEASE, .catalogue = vm->space.tables.catalogue,
	};
	int err;

	pthread_mutex_lock(&d->lock);
	err = fw_call(d, &release);
	/* What the GPU may still use stays until the device goes. */
	if (!err || d->lost)
		space_fini(d, &vm->space);
	pthread_mutex_unlock(&d->lock);
	vm_fini(base);
	free(vm);
}

static int bind_one(struct inproc_device *d, struct inproc_vm *vm, const struct pumice_bind *op)
{
	struct inproc_bo *bo = (struct inproc_bo *)op->bo;
	const struct fwif_kccb_cmd invalidate = {
		.type = FWIF_KCCB_MMU_INVALIDATE,
		.catalogue = vm->space.tables.catalogue,
		.start = op->va,
		.end = op->va + op->size - 1,
	};
	struct mapping m = { .va = op->va, .size = op->size, .flags = op->flags };
	struct space_change change;
	int err;

	if (bo) {
		m.memory = bo->memory;
		m.bus = bo->memory->bus + op->bo_offset;
	}
	if (space_change(d, &vm->space, op->va, op->size, bo ? &m : NULL, &change))
		return fail(&d->base, ENOMEM, "bind: no memory for translation tables");
	err = space_needs_invalidate(&change) ? fw_call(d, &invalidate) : 0;
	if (err)
		vm->unusable = true;
	space_release(d, &change);
	return err;
}

int inproc_vm_bind(struct pumice_vm *base, const struct pumice_bind *ops, u32 count, u32 *done)
{
	struct inproc_device *d = inproc_device(base->dev);
	struct inproc_vm *vm = (struct inproc_vm *)base;
	int err = 0;

	pthread_mutex_lock(&d->lock);
	while (*done < count && !err) {
		if (vm->unusable)
			err = fail(base->dev, EIO, "bind: the vm is unusable");
		else
			err = bind_one(d, vm, &ops[*done]);
		*done += !err;
	}
	pthread_mutex_unlock(&d->lock);
	return err;
}
