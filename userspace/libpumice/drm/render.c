// SPDX-License-Identifier: MIT
/* Kernel backend: free lists and render-target data sets. */
#include <errno.h>
#include <stdlib.h>
#include <xf86drm.h>

#include "drm.h"

int drm_freelist_create(struct pumice_vm *vm, const struct pumice_freelist_desc *desc,
			bool gpu_tables, struct pumice_freelist **out)
{
	struct drm_pumice_free_list_create c = {
		.vm = ((struct drm_vm *)vm)->id,
		.initial_pages = desc->initial_pages,
		.max_pages = desc->max_pages,
		.grow_pages = desc->grow_pages,
		.threshold = desc->threshold,
		.flags = gpu_tables ? DRM_PUMICE_FREE_LIST_GPU_TABLES : 0,
	};
	struct drm_freelist *list = calloc(1, sizeof(*list));
	int err;

	if (!list)
		return fail(vm->dev, ENOMEM, "free list: out of memory");
	err = drm_create(vm->dev, DRM_IOCTL_PUMICE_FREE_LIST_CREATE, &c, "free list");
	if (err) {
		free(list);
		return err;
	}
	list->base = (struct pumice_freelist){ .dev = vm->dev, .vm = vm };
	list->id = c.id;
	*out = &list->base;
	return 0;
}

void drm_freelist_destroy(struct pumice_freelist *base)
{
	struct drm_freelist *list = (struct drm_freelist *)base;
	struct drm_pumice_free_list_destroy d = { .id = list->id };

	drmIoctl(drm_device(base->dev)->fd, DRM_IOCTL_PUMICE_FREE_LIST_DESTROY, &d);
	free(list);
}

static u32 list_id(const struct pumice_freelist *list)
{
	return list ? ((const struct drm_freelist *)list)->id : 0;
}

int drm_hwrt_create(struct pumice_vm *vm, const struct pumice_hwrt_desc *desc, u64 spill,
		    u64 spill_bytes, struct pumice_hwrt **out)
{
	struct drm_pumice_hwrt_create c = {
		.vm = ((struct drm_vm *)vm)->id,
		.width = desc->width,
		.height = desc->height,
		.samples = desc->samples,
		.tile_size = desc->tile_size,	/* same values */
		.free_lists = { list_id(desc->local), list_id(desc->global) },
		.spill = spill,
		.spill_bytes = spill_bytes,
	};
	struct drm_hwrt *hwrt = calloc(1, sizeof(*hwrt));
	int err;

	if (!hwrt)
		return fail(vm->dev, ENOMEM, "data set: out of memory");
	err = drm_create(vm->dev, DRM_IOCTL_PUMICE_HWRT_CREATE, &c, "data set");
	if (err) {
		free(hwrt);
		return err;
	}
	hwrt->base = (struct pumice_hwrt){ .dev = vm->dev, .vm = vm };
	hwrt->id = c.id;
	*out = &hwrt->base;
	return 0;
}

void drm_hwrt_destroy(struct pumice_hwrt *base)
{
	struct drm_hwrt *hwrt = (struct drm_hwrt *)base;
	struct drm_pumice_hwrt_destroy d = { .id = hwrt->id };

	drmIoctl(drm_device(base->dev)->fd, DRM_IOCTL_PUMICE_HWRT_DESTROY, &d);
	free(hwrt);
}
