// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <drm/drm_gem.h>

int probe(struct drm_device *drm);
int probe(struct drm_device *drm)
{
	return drm_gem_huge_mnt_create(drm, "within_size");
}
