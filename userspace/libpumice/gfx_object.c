// SPDX-License-Identifier: MIT
/* Free lists, data sets, and synchronous frames. */
#include <errno.h>

#include "internal.h"
#include "pumice_regs.h"

#define MAX_FREELIST_PAGES	262144u
#define MIN_TABLES_PAGES	3u	/* of a list with page tables */
#define MAX_OUTPUTS		PUMICE_USC_MAX_OUTPUTS
#define SPILL_ALIGN		256u

static int check_freelist(struct pumice_device *dev, const struct pumice_freelist_desc *d)
{
	if (!d->initial_pages)
		return fail(dev, EINVAL, "free list: initial_pages is 0; set it to 1 or more");
	if (d->max_pages < d->initial_pages)
		return fail(dev, EINVAL, "free list: max_pages %u is less than initial_pages %u",
			    d->max_pages, d->initial_pages);
	if (d->threshold > 99)
		return fail(dev, EINVAL, "free list: threshold %u is not 0 to 99 percent",
			    d->threshold);
	if (!d->grow_pages && d->max_pages != d->initial_pages)
		return fail(dev, EINVAL,
			    "free list: grow_pages is 0, but max_pages %u is more than initial_pages %u; set grow_pages to 1 or more",
			    d->max_pages, d->initial_pages);
	return 0;
}

static int create_freelist(struct pumice_vm *vm, const struct pumice_freelist_desc *desc,
			   bool gpu_tables, struct pumice_freelist **list)
{
	struct pumice_device *dev = vm->dev;
	int err;

	if (!dev->ops->freelist_create)
		return fail(dev, EOPNOTSUPP, "free list: this device does not render; open drm or inproc");
	if (!desc)
		return fail_null(dev, "free list", "desc");
	if (desc->max_pages > MAX_FREELIST_PAGES)
		return fail(dev, E2BIG, "free list: max_pages %u is more than %u", desc->max_pages,
			    MAX_FREELIST_PAGES);
	err = check_freelist(dev, desc);
	if (err)
		return err;
	if (gpu_tables && desc->initial_pages < MIN_TABLES_PAGES)
		return fail(dev, EINVAL,
			    "free list: initial_pages %u is less than %u; two pages are page tables",
			    desc->initial_pages, MIN_TABLES_PAGES);
	return dev->ops->freelist_create(vm, desc, gpu_tables, list);
}

int pumice_freelist_create(struct pumice_vm *vm, const struct pumice_freelist_desc *desc,
			   struct pumice_freelist **list)
{
	return create_freelist(vm, desc, false, list);
}

int pumice_freelist_create_gpu_tables(struct pumice_vm *vm,
				      const struct pumice_freelist_desc *desc,
				      struct pumice_freelist **list)
{
	return create_freelist(vm, desc, true, list);
}

void pumice_freelist_destroy(struct pumice_freelist *list)
{
	if (list)
		list->dev->ops->freelist_destroy(list);
}

/*
 * Size of the data of one scene's partial render: outputs, depth, stencil and mask of every sample.
 * The render record, which may have a mask plane, is not known yet.
 */
static u64 spill_bytes(const struct pumice_hwrt_desc *d)
{
	u32 tile_w = d->tile_size == PUMICE_TILE_SIZE_16X16 ? 16 : 32;
	u32 tile_h = d->tile_size == PUMICE_TILE_SIZE_32X32 ? 32 : 16;
	u64 tiles = (u64)((d->width + tile_w - 1) / tile_w) * ((d->height + tile_h - 1) / tile_h);
	u64 samples = (u64)tile_w * tile_h * d->samples;
	u64 tile = samples * (d->spill_outputs * 4 + 4 + 1) + samples / 8;

	return d->spill_outputs ? tiles * round_up(tile, SPILL_ALIGN) : 0;
}

static int check_hwrt(struct pumice_vm *vm, const struct pumice_hwrt_desc *d)
{
	struct pumice_device *dev = vm->dev;

	if (!d->width || d->width > PUMICE_MAX_RENDER_SIZE)
		return fail(dev, EINVAL, "data set: width %u is not 1 to %u", d->width,
			    PUMICE_MAX_RENDER_SIZE);
	if (!d->height || d->height > PUMICE_MAX_RENDER_SIZE)
		return fail(dev, EINVAL, "data set: height %u is not 1 to %u", d->height,
			    PUMICE_MAX_RENDER_SIZE);
	if (!power_of_two(d->samples) || d->samples > PUMICE_MAX_SAMPLES)
		return fail(dev, EINVAL, "data set: samples %u is not 1, 2 or 4", d->samples);
	if (!pumice_tile_size_valid(d->tile_size))
		return fail(dev, EINVAL,
			    "data set: tile_size %u is not a PUMICE_TILE_SIZE_*, 0 to %u",
			    d->tile_size, PUMICE_TILE_SIZE_COUNT - 1);
	if (d->spill_outputs > MAX_OUTPUTS)
		return fail(dev, EINVAL, "data set: spill_outputs %u is not 0 to %u",
			    d->spill_outputs, MAX_OUTPUTS);
	if (!d->local)
		return fail(dev, EINVAL, "data set: local is NULL; set it to a free list");
	if (d->local->vm != vm || (d->global && d->global->vm != vm))
		return fail(dev, EINVAL,
			    "data set: a free list belongs to another vm; create one in this vm");
	return 0;
}

int pumice_hwrt_create(struct pumice_vm *vm, const struct pumice_hwrt_desc *desc,
		       struct pumice_hwrt **hwrt)
{
	struct pumice_device *dev = vm->dev;
	struct pumice_bo *spill = NULL;
	u64 va = 0, bytes;
	int err;

	if (!dev->ops->hwrt_create)
		return fail(dev, EOPNOTSUPP, "data set: this device does not render; open drm or inproc");
	err = desc ? check_hwrt(vm, desc) : fail_null(dev, "data set", "desc");
	if (err)
		return err;
	bytes = spill_bytes(desc);
	if (bytes)
		err = pumice_bo_create(dev, 2 * bytes, vm, &spill);
	if (!err && bytes) {
		spill->scratch = true;
		bo_name_internal(spill, "a data set");
		err = vm_place_object(vm, spill, PUMICE_BIND_NOEXEC, &va);
	}
	if (!err)
		err = dev->ops->hwrt_create(vm, desc, va, bytes, hwrt);
	if (err) {
		if (va)
			pumice_vm_remove(vm, va);
		pumice_bo_destroy(spill);
		return err;
	}
	(*hwrt)->spill = spill;
	(*hwrt)->spill_va = va;
	(*hwrt)->width = desc->width;
	(*hwrt)->height = desc->height;
	(*hwrt)->tile_size = desc->tile_size;
	(*hwrt)->list = (struct hwrt_list){ .bo = NULL };
	pthread_mutex_init(&(*hwrt)->list_lock, NULL);
	return 0;
}

void pumice_hwrt_destroy(struct pumice_hwrt *hwrt)
{
	struct pumice_bo *spill;
	struct pumice_vm *vm;
	u64 va;

	if (!hwrt)
		return;
	spill = hwrt->spill;
	vm = hwrt->vm;
	va = hwrt->spill_va;
	hwrt_list_destroy(hwrt);
	pthread_mutex_destroy(&hwrt->list_lock);
	hwrt->dev->ops->hwrt_destroy(hwrt);
	if (va)
		pumice_vm_remove(vm, va);
	pumice_bo_destroy(spill);
}

int pumice_render(struct pumice_context *context, const struct pumice_frame *frame,
		  uint64_t timeout_ns, struct pumice_context_state *state)
{
	struct pumice_gfx_job jobs[2];

	if (!frame)
		return fail_null(context->dev, "render", "frame");
	jobs[0] = (struct pumice_gfx_job){
		.context = context, .stream = frame->geometry, .type = PUMICE_JOB_GEOMETRY,
		.hwrt = frame->hwrt, .hwrt_data = frame->hwrt_data, .perfmon = frame->perfmon,
	};
	jobs[1] = jobs[0];
	jobs[1].type = PUMICE_JOB_FRAGMENT;
	jobs[1].stream = frame->render;
	return queue_run(jobs, 2, timeout_ns, state);
}
