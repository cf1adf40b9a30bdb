// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <drm/drm_gem_shmem_helper.h>

void probe(struct drm_gem_shmem_object *shmem);
void probe(struct drm_gem_shmem_object *shmem)
{
	drm_gem_shmem_put_pages_locked(shmem);
}
