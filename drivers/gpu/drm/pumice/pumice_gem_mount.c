// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Memory of large buffers in huge pages.
 *
 * Pages of a heap of large pages are contiguous in memory (pumice_heap.c), those of a shmem
 * file on the kernel's own mount usually not. As i915 and v3d do, the driver has a tmpfs of its
 * own with huge=within_size: a buffer has huge pages of 2 MiB up to its last whole ones, as far
 * as such memory is free. It is an optimisation: without it buffers have small pages.
 *
 * Newer kernels mount it in drm_gem_huge_mnt_create() and have all shmem buffers use it; with
 * older ones the driver does that itself.
 */
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/pagemap.h>
#include <linux/shmem_fs.h>
#include <linux/sizes.h>

#include "compat.h"
#include "pumice_device.h"
#include "pumice_gem_mount.h"

#define GEM_MOUNT_HUGE	"within_size"

/**
 * pumice_gem_mount_init - mount the file system of large buffers
 * @pdev: device
 */
void pumice_gem_mount_init(struct pumice_device *pdev)
{
#ifdef PUMICE_HAVE_GEM_HUGE_MNT
	int ret = drm_gem_huge_mnt_create(&pdev->drm, GEM_MOUNT_HUGE);

	if (ret)
		drm_dbg(&pdev->drm, "no file system of huge pages for buffers: %d\n", ret);
#else
	char options[] = "huge=" GEM_MOUNT_HUGE;
	struct file_system_type *type = get_fs_type("tmpfs");
	struct vfsmount *mount;

	if (!type || !IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE))
		return;
	mount = vfs_kern_mount(type, SB_KERNMOUNT, type->name, options);
	if (IS_ERR(mount))
		drm_dbg(&pdev->drm, "no file system of huge pages for buffers: %pe\n", mount);
	else
		pdev->gem_mount = mount;
#endif
}

/**
 * pumice_gem_mount_fini - unmount the file system, unless DRM does
 * @pdev: device without buffers
 */
void pumice_gem_mount_fini(struct pumice_device *pdev)
{
	if (pdev->gem_mount)
		kern_unmount(pdev->gem_mount);
	pdev->gem_mount = NULL;
}

/**
 * pumice_gem_mount_use - use huge pages for a buffer, if it is large enough
 * @pdev: device
 * @shmem: buffer without pages that only the caller has
 *
 * Context: May sleep.
 */
void pumice_gem_mount_use(struct pumice_device *pdev, struct drm_gem_shmem_object *shmem)
{
#if !defined(PUMICE_HAVE_GEM_HUGE_MNT) && defined(PUMICE_HAVE_SHMEM_WITH_MNT)
	struct drm_gem_object *obj = &shmem->base;
	struct file *file;

	if (!pdev->gem_mount || obj->size < SZ_2M)
		return;
	file = shmem_file_setup_with_mnt(pdev->gem_mount, "pumice", obj->size, VM_NORESERVE);
	if (IS_ERR(file))
		return;
	mapping_set_gfp_mask(file->f_mapping, mapping_gfp_mask(obj->filp->f_mapping));
	fput(obj->filp);
	obj->filp = file;
#endif
}
