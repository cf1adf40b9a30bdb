// SPDX-License-Identifier: MIT
/* Free lists, data sets, and synchronous frames. */
#include <errno.h>

#include "internal.h"
#include "pumice_regs.h"

#define MAX_FREELIST_PAGES	262144u
#define MAX_OUTPUTS		PUMICE_USC_MAX_OUTPUTS
#define SPILL_ALIGN		256u

int pumice_freelist_create(struct pumice_vm *vm, const struct pumice_freelist_desc *desc,
			   struct pumice_freelist **list)
{
	struct pumice_device *dev = vm->dev;

	if (!dev->ops->freelist_create)
		return fail(dev, EOPNOTSUPP, "free list: the device does not support free lists");
	if (desc->max_pages > MAX_FREELIST_PAGES)
		return fail(dev, E2BIG, "free list: %u pages are more than %u", desc->max_pages,
			    MAX_FREELIST_PAGES);
	if (!desc->initial_pages || desc->max_pages < desc->initial_pages ||
	    desc->threshold > 99 ||
	    (!desc->grow_pages && desc->max_pages != desc->initial_pages))
		return fail(dev, EINVAL, "free list: %u to %u pages by %u at %u percent",
			    desc->initial_pages, desc->max_pages, desc->grow_pages,
			    desc->threshold);
	return dev->ops->freelist_create(vm, desc, list);
}

void pumice_freelist_destroy(struct pumice_freelist *list)
{
	if (list)
		list->dev->ops->freelist_destroy(list);
}

/* Size of the data of one scene's partial render: outputs, depth and stencil of every sample. */
static u64 spill_bytes(const struct pumice_hwrt_desc *d)
{
	u32 tile_w = d->tile_size == PUMICE_TILE_SIZE_16X16 ? 16 : 32;
	u32 tile_h = d->tile_size == PUMICE_TILE_SIZE_32X32 ? 32 : 16;
	u64 tiles = (u64)((d->width + tile_w - 1) / tile_w) * ((d->height + tile_h - 1) / tile_h);
	u64 tile = (u64)tile_w * tile_h * d->samples * (d->spill_outputs * 4 + 4 + 1);

	return d->spill_outputs ? tiles * round_up(tile, SPILL_ALIGN) : 0;
}

static int check_hwrt(struct pumice_vm *vm, const struct pumice_hwrt_desc *d)
{
	struct pumice_device *dev = vm->dev;

	if (!d->width || d->width > PUMICE_MAX_RENDER_SIZE || !d->height ||
	    d->height > PUMICE_MAX_RENDER_SIZE)
		return fail(dev, EINVAL, "data set: %u x %u pixels", d->width, d->height);
	if (!power_of_two(d->samples) || d->samples > PUMICE_MAX_SAMPLES ||
	    !pumice_tile_size_valid(d->tile_size) || d->spill_outputs > MAX_OUTPUTS)
		return fail(dev, EINVAL, "data set: %u samples, tiles of size %u, %u outputs",
			    d->samples, d->tile_size, d->spill_outputs);
	if (!d->local || d->local->vm != vm || (d->global && d->global->vm != vm))
		return fail(dev, EINVAL, "data set: a free list of the same vm is required");
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
		return fail(dev, EOPNOTSUPP, "data set: the device does not support data sets");
	err = check_hwrt(vm, desc);
	if (err)
		return err;
	bytes = spill_bytes(desc);
	if (bytes)
		err = pumice_bo_create(dev, 2 * bytes, vm, &spill);
	if (!err && bytes) {
		spill->scratch = true;
		err = pumice_vm_place(vm, spill, PUMICE_BIND_NOEXEC, &va);
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
	hwrt->dev->ops->hwrt_destroy(hwrt);
	if (va)
		pumice_vm_remove(vm, va);
	pumice_bo_destroy(spill);
}

int pumice_render(struct pumice_context *context, const struct pumice_frame *frame,
		  uint64_t timeout_ns, struct pumice_context_state *state)
{
	struct pumice_gfx_job jobs[2] = {
		{ .context = context, .stream = frame->geometry, .type = PUMICE_JOB_GEOMETRY,
		  .hwrt = frame->hwrt, .hwrt_data = frame->hwrt_data, .perfmon = frame->perfmon },
		{ .context = context, .stream = frame->render, .type = PUMICE_JOB_FRAGMENT,
		  .hwrt = frame->hwrt, .hwrt_data = frame->hwrt_data, .perfmon = frame->perfmon },
	};

	return queue_run(jobs, 2, timeout_ns, state);
}
