// SPDX-License-Identifier: MIT
/* Memory objects. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

#define COHERENT_VERSION 0x2000b	/* register map with coherent pages */

void bo_init(struct pumice_bo *bo, struct pumice_device *dev, u64 size)
{
	bo->dev = dev;
	bo->size = size;
	bo->bytes = 0;
	bo->cpu = NULL;
	bo->internal = false;
	bo->scratch = false;
	bo->label[0] = '\0';
	pthread_mutex_init(&bo->lock, NULL);
}

void bo_fini(struct pumice_bo *bo)
{
	pthread_mutex_destroy(&bo->lock);
}

void bo_name_internal(struct pumice_bo *bo, const char *format, ...)
{
	va_list args;

	pthread_mutex_lock(&bo->lock);
	bo->internal = true;
	va_start(args, format);
	vsnprintf(bo->label, sizeof(bo->label), format, args);
	va_end(args);
	pthread_mutex_unlock(&bo->lock);
}

int pumice_bo_create(struct pumice_device *dev, uint64_t size, struct pumice_vm *exclusive,
		     struct pumice_bo **bo)
{
	return pumice_bo_create_flags(dev, size, exclusive, 0, bo);
}

static int check_flags(struct pumice_device *dev, u32 flags)
{
	if (flags & ~(PUMICE_BO_WRITE_COMBINED | PUMICE_BO_COHERENT))
		return fail(dev, EINVAL,
			    "bo: unknown flags %#x; accepted: 1 (WRITE_COMBINED), 2 (COHERENT)",
			    flags);
	if (flags == (PUMICE_BO_WRITE_COMBINED | PUMICE_BO_COHERENT))
		return fail(dev, EINVAL,
			    "bo: WRITE_COMBINED and COHERENT exclude each other; set one of them");
	if (flags & PUMICE_BO_COHERENT && dev->info.version < COHERENT_VERSION)
		return fail(dev, EOPNOTSUPP,
			    "bo: COHERENT needs register map 2.11; the device has %u.%u",
			    dev->info.version >> 16, dev->info.version & 0xffff);
	return 0;
}

int pumice_bo_create_flags(struct pumice_device *dev, uint64_t size, struct pumice_vm *exclusive,
			   uint32_t flags, struct pumice_bo **bo)
{
	int err = check_flags(dev, flags);

	if (err)
		return err;
	if (!size)
		return fail(dev, EINVAL, "bo: size is 0; set it to 1 or more");
	if (size > UINT64_MAX - PAGE_BYTES)
		return fail(dev, ENOMEM, "bo: size %#llx is more than %#llx",
			    (unsigned long long)size, UINT64_MAX - PAGE_BYTES);
	if (exclusive && exclusive->dev != dev)
		return fail(dev, EINVAL,
			    "bo: the exclusive vm belongs to another device; create the bo in that one");
	err = dev->ops->bo_create(dev, size, exclusive, flags, bo);
	if (err)
		return err;
	(*bo)->bytes = size;
	(*bo)->extent_bytes = size;
	(*bo)->exclusive = exclusive;
	return 0;
}

void pumice_bo_destroy(struct pumice_bo *bo)
{
	if (!bo)
		return;
	pumice_bo_unmap(bo);
	vm_forget(bo);
	bo->dev->ops->bo_destroy(bo);
}

uint64_t pumice_bo_size(const struct pumice_bo *bo)
{
	return bo->size;
}

int pumice_bo_map(struct pumice_bo *bo, void **cpu)
{
	int err = 0;

	if (!cpu)
		return fail_null(bo->dev, "bo", "cpu");
	pthread_mutex_lock(&bo->lock);
	if (!bo->cpu)
		err = bo->dev->ops->bo_map(bo, &bo->cpu);
	if (!err)
		*cpu = bo->cpu;
	pthread_mutex_unlock(&bo->lock);
	return err;
}

void pumice_bo_unmap(struct pumice_bo *bo)
{
	pthread_mutex_lock(&bo->lock);
	if (bo->cpu)
		bo->dev->ops->bo_unmap(bo, bo->cpu);
	bo->cpu = NULL;
	pthread_mutex_unlock(&bo->lock);
}

int pumice_bo_madvise(struct pumice_bo *bo, uint32_t advice, bool *retained)
{
	bool kept = true;
	int err;

	if (advice > PUMICE_BO_DONTNEED)
		return fail(bo->dev, EINVAL,
			    "bo: unknown advice %u; accepted: 0 (WILLNEED), 1 (DONTNEED)", advice);
	err = bo->dev->ops->bo_madvise(bo, advice, &kept);
	if (!err && retained)
		*retained = kept;
	return err;
}

int pumice_bo_set_label(struct pumice_bo *bo, const char *label)
{
	size_t bytes = label ? strlen(label) + 1 : 0;
	int err;

	if (bytes > PUMICE_LABEL_BYTES)
		return fail(bo->dev, E2BIG, "label: %zu bytes are more than %u; shorten it", bytes,
			    PUMICE_LABEL_BYTES);
	err = bo->dev->ops->bo_set_label(bo, label);
	if (err)
		return err;
	pthread_mutex_lock(&bo->lock);
	memset(bo->label, 0, sizeof(bo->label));
	if (label)
		memcpy(bo->label, label, bytes);
	pthread_mutex_unlock(&bo->lock);
	return 0;
}

const char *pumice_bo_label(const struct pumice_bo *bo)
{
	return bo->label;
}

int pumice_bo_set_extent(struct pumice_bo *bo, uint64_t offset, uint64_t bytes)
{
	if (offset > bo->size || bytes > bo->size - offset)
		return fail(bo->dev, EINVAL,
			    "bo: extent of %#llx bytes at offset %#llx is not within the bo's %#llx bytes",
			    (unsigned long long)bytes, (unsigned long long)offset,
			    (unsigned long long)bo->size);
	pthread_mutex_lock(&bo->lock);
	bo->extent_offset = offset;
	bo->extent_bytes = bytes;
	pthread_mutex_unlock(&bo->lock);
	return 0;
}

int pumice_buffer_create(struct pumice_vm *vm, uint64_t bytes, struct pumice_buffer *buffer)
{
	struct pumice_buffer b = { .vm = vm };
	int err = pumice_bo_create(vm->dev, bytes, vm, &b.bo);

	if (err)
		return err;
	err = pumice_bo_map(b.bo, &b.cpu);
	if (!err)
		err = vm_place_object(vm, b.bo, PUMICE_BIND_NOEXEC, &b.va);
	if (err)
		pumice_bo_destroy(b.bo);
	else
		*buffer = b;
	return err;
}

void pumice_buffer_destroy(struct pumice_buffer *buffer)
{
	if (!buffer || !buffer->bo)
		return;
	pumice_vm_remove(buffer->vm, buffer->va);
	pumice_bo_destroy(buffer->bo);
	memset(buffer, 0, sizeof(*buffer));
}
