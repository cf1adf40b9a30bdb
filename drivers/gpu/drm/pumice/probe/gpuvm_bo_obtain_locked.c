// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <drm/drm_gpuvm.h>

struct drm_gpuvm_bo *probe(struct drm_gpuvm *gpuvm, struct drm_gem_object *obj);
struct drm_gpuvm_bo *probe(struct drm_gpuvm *gpuvm, struct drm_gem_object *obj)
{
	return drm_gpuvm_bo_obtain_locked(gpuvm, obj);
}
