// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <drm/drm_gem_shmem_helper.h>

int probe(struct drm_gem_shmem_object *shmem);
int probe(struct drm_gem_shmem_object *shmem)
{
	drm_gem_shmem_purge_locked(shmem);
	return drm_gem_shmem_madvise_locked(shmem, refcount_read(&shmem->pages_use_count));
}
