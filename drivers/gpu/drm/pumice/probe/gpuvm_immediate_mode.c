// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <drm/drm_gem.h>
#include <drm/drm_gpuvm.h>

bool probe(struct drm_gpuvm *gpuvm, struct drm_gem_object *obj);
bool probe(struct drm_gpuvm *gpuvm, struct drm_gem_object *obj)
{
	return gpuvm->flags & DRM_GPUVM_IMMEDIATE_MODE && mutex_is_locked(&obj->gpuva.lock);
}
