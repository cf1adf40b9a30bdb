// SPDX-License-Identifier: MIT
/*
 * In-process backend: render-target data sets (hw/formats.xml, scene),
 * each with two scenes, their chains of pages and region headers.
 */
#include <errno.h>
#include <stdlib.h>

#include "inproc.h"
#include "pumice/pumice_capture.h"

#define SPILL_UNIT	256u

static struct scene_shared *scenes(const struct inproc_hwrt *h)
{
	return h->buffer.cpu;
}

u32 hwrt_scene(const struct inproc_hwrt *h, u32 scene)
{
	return h->buffer.addr + (u32)(scene * sizeof(struct scene_shared));
}

/* Count the tiles of the whole target. */
static u64 tile_count(const struct pumice_hwrt_desc *desc)
{
	u32 w = desc->tile_size == PUMICE_TILE_SIZE_16X16 ? 16 : 32;
	u32 h = desc->tile_size == PUMICE_TILE_SIZE_32X32 ? 32 : 16;

	return (u64)((desc->width + w - 1) / w) * ((desc->height + h - 1) / h);
}

static u32 log2_of(u32 v)
{
	return (u32)__builtin_ctz(v);
}

static void fill_scene(struct inproc_hwrt *h, const struct pumice_hwrt_desc *desc, u32 number,
		       u64 spill, u64 spill_bytes)
{
	const struct pumice_scene_chain empty = {
		.head = PUMICE_PM_NO_PAGE, .tail = PUMICE_PM_NO_PAGE,
	};
	const struct pumice_scene scene = {
		.width = desc->width,
		.height = desc->height,
		.samples_log2 = log2_of(desc->samples),
		.tile_size = desc->tile_size,
		.regions = h->regions + number * h->regions_bytes,
		.cores = h->base.dev->info.cores,
		.free_list0 = h->list[0]->buffer.addr,
		.free_list1 = h->list[1] ? h->list[1]->buffer.addr : 0,
		.spill = spill ? spill + number * spill_bytes : 0,
		.spill_bytes = (u32)(spill_bytes / SPILL_UNIT),
	};
	struct scene_shared *s = &scenes(h)[number];
	u32 i;

	pumice_scene_pack(s->scene, &scene);
	for (i = 0; i < sizeof(s->chain) / sizeof(s->chain[0]); i++)
		pumice_scene_chain_pack(s->chain[i], &empty);
}

int inproc_hwrt_create(struct pumice_vm *vm, const struct pumice_hwrt_desc *desc, u64 spill,
		       u64 spill_bytes, struct pumice_hwrt **out)
{
	struct inproc_device *d = inproc_device(vm->dev);
	struct inproc_hwrt *h = calloc(1, sizeof(*h));
	u32 i;
	int err;

	if (!h)
		return fail(vm->dev, ENOMEM, "data set: out of memory");
	h->base.dev = vm->dev;
	h->base.vm = vm;
	h->list[0] = (struct inproc_freelist *)desc->local;
	h->list[1] = (struct inproc_freelist *)desc->global;
	h->regions_bytes = round_up(tile_count(desc) * d->base.info.cores *
				    PUMICE_REGION_WORDS * 4, PAGE_BYTES);
	pthread_mutex_lock(&d->lock);
	err = fw_buffer_create(d, HWRT_SCENES * sizeof(struct scene_shared), &h->buffer);
	if (!err) {
		err = pm_memory_create(d, (struct inproc_vm *)vm,
				       HWRT_SCENES * h->regions_bytes, &h->regions);
		if (err)
			fw_buffer_destroy(d, &h->buffer);
	}
	for (i = 0; i < HWRT_SCENES && !err; i++)
		fill_scene(h, desc, i, spill, spill_bytes);
	pthread_mutex_unlock(&d->lock);
	if (err) {
		free(h);
		return fail(vm->dev, ENOMEM, "data set: %u x %u pixels: " OUT_OF_GPU_MEMORY,
			    desc->width, desc->height);
	}
	*out = &h->base;
	return 0;
}

/* Have the firmware free the pages of a scene. Return: 0, or an error if the GPU uses it. */
static int release(struct inproc_device *d, const struct inproc_hwrt *h, u32 scene)
{
	const struct fwif_kccb_cmd cmd = {
		.type = FWIF_KCCB_SCENE_RELEASE, .object = hwrt_scene(h, scene),
	};

	return fw_call(d, &cmd);
}

void inproc_hwrt_destroy(struct pumice_hwrt *base)
{
	struct inproc_device *d = inproc_device(base->dev);
	struct inproc_hwrt *h = (struct inproc_hwrt *)base;
	int err = 0;
	u32 i;

	pthread_mutex_lock(&d->lock);
	for (i = 0; i < HWRT_SCENES; i++) {
		err = err ? err : release(d, h, i);
		fence_replace(&h->binned[i], NULL, 0);
		fence_replace(&h->rendered[i], NULL, 0);
	}
	/* Memory that the GPU may still use is kept until the device is destroyed. */
	if (!err || d->lost) {
		pm_memory_destroy(d, (struct inproc_vm *)base->vm, h->regions,
				  HWRT_SCENES * h->regions_bytes);
		fw_buffer_destroy(d, &h->buffer);
	}
	pthread_mutex_unlock(&d->lock);
	free(h);
}

int inproc_hwrt_layout(const struct pumice_hwrt *base, u32 scene,
		       struct pumice_hwrt_layout *layout)
{
	const struct inproc_hwrt *h = (const struct inproc_hwrt *)base;
	u32 i;

	layout->regions = h->regions + scene * h->regions_bytes;
	for (i = 0; i < PUMICE_PM_LISTS; i++)
		layout->lists[i] = h->list[i] ? h->list[i]->va : 0;
	return 0;
}

void fence_replace(struct fence *f, struct timeline *timeline, u32 seqno)
{
	timeline_get(timeline);
	timeline_put(f->timeline);
	*f = (struct fence){ timeline, seqno };
}
