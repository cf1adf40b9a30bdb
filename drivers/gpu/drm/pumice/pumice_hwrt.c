// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Render-target data sets: two scenes, so that one frame is binned while another
 * is rendered.
 *
 * Source: formats.xml, scene.
 *
 * A scene is written by the GPU from the start of a geometry job to the end of its
 * fragment job. The next geometry job waits for that end. Pages that a scene still
 * holds when its data set is destroyed, because its fragment job was killed, are
 * returned to the free lists by the firmware.
 */
#include <linux/dma-fence.h>
#include <linux/slab.h>

#include "pumice_ccb.h"
#include "pumice_free_list.h"
#include "pumice_fw_mem.h"
#include "pumice_hwrt.h"
#include "pumice_kernel_range.h"
#include "pumice_reset.h"
#include "pumice_vm.h"

#define SPILL_ALIGN	256u
#define MACRO_TILES	(PUMICE_MACRO_TILES_X * PUMICE_MACRO_TILES_Y)
#define CHAINS		(MACRO_TILES * PUMICE_PM_LISTS)
/* Size of a scene with its chains, in words; stride of scenes, in bytes. */
#define SCENE_WORDS	(PUMICE_SCENE_WORDS + CHAINS * PUMICE_SCENE_CHAIN_WORDS)
#define SCENE_STRIDE	ALIGN(SCENE_WORDS * sizeof(u32), 64)
#define OBJ_BYTES	PAGE_ALIGN(DRM_PUMICE_HWRT_DATA * SCENE_STRIDE)

static_assert((int)DRM_PUMICE_TILE_32X32 == (int)PUMICE_TILE_SIZE_32X32);
static_assert((int)DRM_PUMICE_TILE_16X16 == (int)PUMICE_TILE_SIZE_16X16);
static_assert((int)DRM_PUMICE_TILE_32X16 == (int)PUMICE_TILE_SIZE_32X16);

static u32 hwrt_gpu_cores(struct pumice_device *pdev)
{
	return PUMICE_FIELD_GET(PUMICE_SYS_CONFIG__CORES, pdev->config);
}

/* Initialize an empty scene. The GPU must not be using it. */
static void hwrt_fill_scene(struct pumice_hwrt *hwrt, u32 data)
{
	const struct pumice_scene_chain empty = {
		.head = PUMICE_PM_NO_PAGE, .tail = PUMICE_PM_NO_PAGE,
	};
	const struct pumice_scene scene = {
		.width = hwrt->width,
		.height = hwrt->height,
		.samples_log2 = ilog2(hwrt->samples),
		.tile_size = hwrt->tile_size,
		.regions = pumice_kernel_range_addr(hwrt->regions) + data * hwrt->region_bytes,
		.cores = hwrt_gpu_cores(hwrt->pdev),
		.free_list0 = hwrt->lists[0]->obj->addr,
		.free_list1 = hwrt->lists[1] ? hwrt->lists[1]->obj->addr : 0,
		.spill = hwrt->spill ? hwrt->spill + data * hwrt->spill_bytes : 0,
		.spill_bytes = hwrt->spill_bytes / SPILL_ALIGN,
	};
	u32 *words = hwrt->obj->cpu + data * SCENE_STRIDE;
	u32 i;

	pumice_scene_pack(words, &scene);
	words += PUMICE_SCENE_WORDS;
	for (i = 0; i < CHAINS; i++)
		pumice_scene_chain_pack(words + i * PUMICE_SCENE_CHAIN_WORDS, &empty);
}

static void hwrt_fill_all(struct pumice_hwrt *hwrt)
{
	u32 i;

	for (i = 0; i < DRM_PUMICE_HWRT_DATA; i++)
		hwrt_fill_scene(hwrt, i);
}

/**
 * pumice_hwrt_reset_all - mark all scenes empty after a GPU reset, which frees all pages
 * @pdev: device, between drm_dev_enter() and drm_dev_exit()
 *
 * Context: Does not sleep. Acquires scenes_lock.
 */
void pumice_hwrt_reset_all(struct pumice_device *pdev)
{
	struct pumice_hwrt *hwrt;

	spin_lock(&pdev->scenes_lock);
	list_for_each_entry(hwrt, &pdev->hwrts, node)
		hwrt_fill_all(hwrt);
	spin_unlock(&pdev->scenes_lock);
}

/**
 * pumice_hwrt_scene - return the address of a scene for the firmware
 * @hwrt: data set
 * @data: scene, below DRM_PUMICE_HWRT_DATA
 *
 * Context: Any.
 *
 * Return: the address in the memory shared with the firmware.
 */
u32 pumice_hwrt_scene(const struct pumice_hwrt *hwrt, u32 data)
{
	return hwrt->obj->addr + data * SCENE_STRIDE;
}

/**
 * pumice_hwrt_last - return the fence of the fragment job submitted last for a scene
 * @hwrt: data set, under its VM's reservation
 * @data: scene, below DRM_PUMICE_HWRT_DATA
 *
 * Context: Any. The reservation of the VM is held.
 *
 * Return: the "finished" fence without a reference, valid under the reservation; NULL without
 * such a job.
 */
struct dma_fence *pumice_hwrt_last(struct pumice_hwrt *hwrt, u32 data)
{
	dma_resv_assert_held(pumice_vm_resv(hwrt->vm));
	return hwrt->last[data];
}

/**
 * pumice_hwrt_set_last - note the fragment job submitted last for a scene
 * @hwrt: data set, under its VM's reservation
 * @data: scene
 * @fence: "finished" fence of the job; the data set acquires a reference of its own
 *
 * Context: Any. The reservation of the VM is held.
 */
void pumice_hwrt_set_last(struct pumice_hwrt *hwrt, u32 data, struct dma_fence *fence)
{
	dma_resv_assert_held(pumice_vm_resv(hwrt->vm));
	dma_fence_put(hwrt->last[data]);
	hwrt->last[data] = dma_fence_get(fence);
	hwrt->used = true;
}

/* Return pages to the free lists that killed jobs left in the scenes. */
static void hwrt_release_fw_state(struct pumice_hwrt *hwrt)
{
	struct fwif_kccb_cmd cmd = { .type = FWIF_KCCB_SCENE_RELEASE };
	struct pumice_device *pdev = hwrt->pdev;
	int ret = 0, idx;
	u32 i;

	if (!hwrt->used)
		return;
	if (drm_dev_enter(&pdev->drm, &idx)) {
		for (i = 0; i < DRM_PUMICE_HWRT_DATA && !ret; i++) {
			cmd.object = pumice_hwrt_scene(hwrt, i);
			ret = pumice_kccb_call(pdev, &cmd);
		}
		if (ret)
			pumice_reset_and_wait(pdev, ret);
		drm_dev_exit(idx);
	}
	pumice_device_wait_unplugged(pdev);
}

/* Free everything except the structure; also for partially created data sets. */
static void hwrt_release(struct pumice_hwrt *hwrt)
{
	u32 i;

	for (i = 0; i < DRM_PUMICE_HWRT_DATA; i++)
		dma_fence_put(hwrt->last[i]);
	pumice_fw_obj_destroy(hwrt->pdev, hwrt->obj);
	pumice_kernel_range_destroy(hwrt->regions);
	for (i = 0; i < PUMICE_PM_LISTS; i++)
		pumice_free_list_put(hwrt->lists[i]);
	pumice_vm_put(hwrt->vm);
	kfree(hwrt);
}

static void hwrt_free_object(struct pumice_object *obj)
{
	struct pumice_hwrt *hwrt = container_of(obj, struct pumice_hwrt, base);
	struct pumice_device *pdev = hwrt->pdev;

	hwrt_release_fw_state(hwrt);
	spin_lock(&pdev->scenes_lock);
	list_del(&hwrt->node);
	spin_unlock(&pdev->scenes_lock);
	hwrt_release(hwrt);
	atomic_dec(&pdev->stats.hwrts);
	drm_dev_put(&pdev->drm);
}

/**
 * pumice_hwrt_put - drop a reference
 * @hwrt: data set, or NULL
 *
 * Context: Any, including atomic: a work item frees the data set after the last reference.
 */
void pumice_hwrt_put(struct pumice_hwrt *hwrt)
{
	pumice_object_put(hwrt ? &hwrt->base : NULL);
}

/**
 * pumice_hwrt_lookup - look up a data set of a file by its id
 * @file: file
 * @id: id
 *
 * Context: Does not sleep. Acquires the lock of the table.
 *
 * Return: the data set with a reference, or NULL.
 */
struct pumice_hwrt *pumice_hwrt_lookup(struct pumice_file *file, u32 id)
{
	static_assert(!offsetof(struct pumice_hwrt, base));
	return pumice_object_lookup(&file->hwrts, id);
}

/* Check the memory for partial renders: for both scenes, or none. */
static int hwrt_check_spill(u64 va, u64 bytes)
{
	if (!va)
		return bytes ? -EINVAL : 0;
	if (!bytes || va % SPILL_ALIGN || bytes % SPILL_ALIGN || bytes >= BIT_ULL(40) ||
	    va < PUMICE_VA_START || va >= PUMICE_VA_END)
		return -EINVAL;
	return bytes > (PUMICE_VA_END - va) / DRM_PUMICE_HWRT_DATA ? -EINVAL : 0;
}

static int hwrt_check_create(const struct drm_pumice_hwrt_create *args)
{
	if (args->flags || args->pad || !args->width || !args->height ||
	    args->width > DRM_PUMICE_MAX_RENDER_SIZE ||
	    args->height > DRM_PUMICE_MAX_RENDER_SIZE ||
	    (args->samples != 1 && args->samples != 2 && args->samples != 4) ||
	    args->tile_size > DRM_PUMICE_TILE_32X16 ||
	    args->free_lists[0] == args->free_lists[1])
		return -EINVAL;
	return hwrt_check_spill(args->spill, args->spill_bytes);
}

/* Return the size of a scene's region headers in bytes: one header per tile and core. */
static u64 hwrt_region_bytes(struct pumice_device *pdev, const struct drm_pumice_hwrt_create *args)
{
	u32 w = args->tile_size == DRM_PUMICE_TILE_16X16 ? 16 : 32;
	u32 h = args->tile_size == DRM_PUMICE_TILE_32X32 ? 32 : 16;
	u64 tiles = (u64)DIV_ROUND_UP(args->width, w) * DIV_ROUND_UP(args->height, h);

	return PAGE_ALIGN(tiles * hwrt_gpu_cores(pdev) * PUMICE_REGION_WORDS * sizeof(u32));
}

/* Acquire references to the free lists. On an error, hwrt_release() puts those acquired. */
static int hwrt_get_lists(struct pumice_hwrt *hwrt, struct pumice_file *file, const u32 *ids)
{
	u32 i;

	for (i = 0; i < PUMICE_PM_LISTS; i++) {
		if (i && !ids[i])
			continue;
		hwrt->lists[i] = pumice_free_list_lookup(file, ids[i]);
		if (!hwrt->lists[i])
			return -ENOENT;
		if (hwrt->lists[i]->vm != hwrt->vm)
			return -EINVAL;
	}
	return 0;
}

static int hwrt_create_regions(struct pumice_hwrt *hwrt)
{
	u32 pages = DRM_PUMICE_HWRT_DATA * hwrt->region_bytes >> PAGE_SHIFT;

	hwrt->regions = pumice_kernel_range_create(hwrt->vm, pages, pages, false);
	return PTR_ERR_OR_ZERO(hwrt->regions);
}

/* Allocate a structure without memory and lists. Consumes the VM use unless it returns NULL. */
static struct pumice_hwrt *hwrt_alloc(struct pumice_vm *vm,
				      const struct drm_pumice_hwrt_create *args)
{
	struct pumice_hwrt *hwrt = kzalloc(sizeof(*hwrt), GFP_KERNEL_ACCOUNT);

	if (!hwrt)
		return NULL;
	pumice_object_init(&hwrt->base, hwrt_free_object);
	hwrt->pdev = vm->pdev;
	hwrt->vm = vm;
	hwrt->width = args->width;
	hwrt->height = args->height;
	hwrt->samples = args->samples;
	hwrt->tile_size = args->tile_size;
	hwrt->spill = args->spill;
	hwrt->spill_bytes = args->spill_bytes;
	hwrt->region_bytes = hwrt_region_bytes(vm->pdev, args);
	return hwrt;
}

/* Add a complete data set to the device; the GPU may use it afterwards. */
static void hwrt_publish(struct pumice_hwrt *hwrt)
{
	struct pumice_device *pdev = hwrt->pdev;

	drm_dev_get(&pdev->drm);
	atomic_inc(&pdev->stats.hwrts);
	spin_lock(&pdev->scenes_lock);
	hwrt_fill_all(hwrt);
	list_add_tail(&hwrt->node, &pdev->hwrts);
	spin_unlock(&pdev->scenes_lock);
}

/* Create a data set. Consumes the VM use in any case. Returns an error pointer on failure. */
static struct pumice_hwrt *hwrt_create(struct pumice_file *file, struct pumice_vm *vm,
				       const struct drm_pumice_hwrt_create *args)
{
	struct pumice_hwrt *hwrt = hwrt_alloc(vm, args);
	int ret, idx;

	if (!hwrt) {
		pumice_vm_put(vm);
		return ERR_PTR(-ENOMEM);
	}
	ret = hwrt_get_lists(hwrt, file, args->free_lists);
	if (!ret)
		ret = hwrt_create_regions(hwrt);
	if (!ret && !drm_dev_enter(&vm->pdev->drm, &idx))
		ret = -ENODEV;
	if (!ret) {
		hwrt->obj = pumice_fw_obj_create(hwrt->pdev, file, OBJ_BYTES);
		ret = PTR_ERR_OR_ZERO(hwrt->obj);
		if (!ret)
			hwrt_publish(hwrt);
		drm_dev_exit(idx);
	}
	if (!ret)
		return hwrt;
	hwrt_release(hwrt);
	return ERR_PTR(ret);
}

/**
 * pumice_ioctl_hwrt_create - implement DRM_IOCTL_PUMICE_HWRT_CREATE
 * @drm: device
 * @data: struct drm_pumice_hwrt_create
 * @file: file, charged for the memory shared with the firmware
 *
 * Context: Process context. Acquires vm.lock, waits for the firmware, and may wait until
 * destroyed objects are freed.
 *
 * Return: 0; -EINVAL for sizes, samples, tile size or spill memory out of range, flags,
 * padding, or a free list that is named twice or belongs to another VM; -ENOENT without such a
 * VM or free list; -ENOSPC if the file has DRM_PUMICE_MAX_HWRTS, the kernel part of the VM is
 * full, or a limit of the memory shared with the firmware is reached; -EIO if the VM is or
 * becomes unusable; -ENOMEM; -EINTR if the caller is killed; -ENODEV if the device was
 * unplugged; or an error of dma_map_sgtable().
 */
int pumice_ioctl_hwrt_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_hwrt_create *args = data;
	struct pumice_file *pfile = file->driver_priv;
	struct pumice_hwrt *hwrt;
	struct pumice_vm *vm;
	int ret;

	ret = hwrt_check_create(args);
	if (ret)
		return ret;
	pumice_quota_settle(pfile, PUMICE_RESOURCE_MEMORY, OBJ_BYTES);
	vm = pumice_vm_lookup(pfile, args->vm);
	if (!vm)
		return -ENOENT;
	hwrt = hwrt_create(pfile, vm, args);
	if (IS_ERR(hwrt))
		return PTR_ERR(hwrt);
	ret = xa_alloc(&pfile->hwrts, &args->id, hwrt, XA_LIMIT(1, DRM_PUMICE_MAX_HWRTS),
		       GFP_KERNEL);
	if (ret)
		pumice_hwrt_put(hwrt);
	return ret == -EBUSY ? -ENOSPC : ret;
}

/**
 * pumice_ioctl_hwrt_destroy - implement DRM_IOCTL_PUMICE_HWRT_DESTROY
 * @drm: device
 * @data: struct drm_pumice_hwrt_destroy
 * @file: file
 *
 * Context: Process context. Does not wait: jobs keep their reference.
 *
 * Return: 0; -EINVAL for padding; or -ENOENT without such a data set.
 */
int pumice_ioctl_hwrt_destroy(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_hwrt_destroy *args = data;
	struct pumice_file *pfile = file->driver_priv;

	return args->pad ? -EINVAL : pumice_object_destroy(&pfile->hwrts, args->id);
}
