/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Memory of large buffers in huge pages. */
#ifndef PUMICE_GEM_MOUNT_H
#define PUMICE_GEM_MOUNT_H

struct drm_gem_shmem_object;
struct pumice_device;

void pumice_gem_mount_init(struct pumice_device *pdev);
void pumice_gem_mount_fini(struct pumice_device *pdev);
void pumice_gem_mount_use(struct pumice_device *pdev, struct drm_gem_shmem_object *shmem);

#endif
