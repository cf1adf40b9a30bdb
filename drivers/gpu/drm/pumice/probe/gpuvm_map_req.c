// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <drm/drm_gpuvm.h>

int probe(struct drm_gpuvm *gpuvm, const struct drm_gpuvm_map_req *req);
int probe(struct drm_gpuvm *gpuvm, const struct drm_gpuvm_map_req *req)
{
	return drm_gpuvm_sm_map(gpuvm, NULL, req);
}
