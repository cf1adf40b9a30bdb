/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* DRM_IOCTL_PUMICE_DEV_QUERY */
#ifndef PUMICE_QUERY_H
#define PUMICE_QUERY_H

struct drm_device;
struct drm_file;

int pumice_ioctl_dev_query(struct drm_device *drm, void *data, struct drm_file *file);

#endif
