/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Helpers shared by ioctls. */
#ifndef PUMICE_UAPI_H
#define PUMICE_UAPI_H

#include <linux/types.h>

#include <drm/pumice_drm.h>

int pumice_array_check(const struct drm_pumice_array *array, u32 min_stride, u32 max_count);
int pumice_array_copy(const struct drm_pumice_array *array, u32 index, void *element,
		      size_t size);

#endif
