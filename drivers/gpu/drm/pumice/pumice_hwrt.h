/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Render-target data sets: the scenes of geometry and fragment jobs. */
#ifndef PUMICE_HWRT_H
#define PUMICE_HWRT_H

#include "pumice_device.h"
#include "pumice_formats.h"
#include "pumice_object.h"

struct dma_fence;
struct pumice_kernel_range;
struct pumice_freelist;
struct pumice_vm;

/**
 * struct pumice_hwrt - a data set
 */
struct pumice_hwrt {
	/** @base: references of the file and jobs */
	struct pumice_object base;
	/** @pdev: device; a reference to its drm_device */
	struct pumice_device *pdev;
	/** @vm: address space; a use; constant */
	struct pumice_vm *vm;
	/** @node: in pumice_device.hwrts, under scenes_lock */
	struct list_head node;
	/** @lists: free lists, a reference each; the second may be NULL */
	struct pumice_freelist *lists[PUMICE_PM_LISTS];
	/** @regions: memory of the region headers, one half for each scene */
	struct pumice_kernel_range *regions;
	/** @region_bytes: size of one scene's headers, whole pages */
	u64 region_bytes;
	/** @obj: memory shared with the GPU: scenes and their chains */
	struct pumice_fw_obj *obj;
	/** @spill: GPU virtual address of memory for partial renders, or 0 */
	u64 spill;
	/** @spill_bytes: size of that memory for one scene */
	u64 spill_bytes;
	/** @width: pixels */
	u32 width;
	/** @height: pixels */
	u32 height;
	/** @samples: 1, 2 or 4 */
	u32 samples;
	/** @tile_size: enum pumice_tile_size */
	u32 tile_size;
	/** @used: jobs were submitted with it; under the VM's reservation, finally read without */
	bool used;
	/**
	 * @last: "finished" fences of the fragment jobs submitted last for each scene, or
	 * NULL; a reference each, under the VM's reservation
	 */
	struct dma_fence *last[DRM_PUMICE_HWRT_DATA];
};

struct pumice_hwrt *pumice_hwrt_lookup(struct pumice_file *file, u32 id);
void pumice_hwrt_put(struct pumice_hwrt *hwrt);
u32 pumice_hwrt_scene(const struct pumice_hwrt *hwrt, u32 data);
struct dma_fence *pumice_hwrt_last(struct pumice_hwrt *hwrt, u32 data);
void pumice_hwrt_set_last(struct pumice_hwrt *hwrt, u32 data, struct dma_fence *fence);
void pumice_hwrt_reset_all(struct pumice_device *pdev);

int pumice_ioctl_hwrt_create(struct drm_device *drm, void *data, struct drm_file *file);
int pumice_ioctl_hwrt_destroy(struct drm_device *drm, void *data, struct drm_file *file);

#endif
