// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <drm/drm_drv.h>
#include <drm/drm_gem_shmem_helper.h>
#include <drm/drm_gpuvm.h>
#include <drm/gpu_scheduler.h>

int probe(struct drm_gpu_scheduler *sched, struct drm_gpuvm *gpuvm,
	  struct drm_gem_shmem_object *shmem);
int probe(struct drm_gpu_scheduler *sched, struct drm_gpuvm *gpuvm,
	  struct drm_gem_shmem_object *shmem)
{
	return sched->ready && gpuvm->drm == shmem->base.dev;
}
