/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* DRM_IOCTL_PUMICE_SUBMIT */
#ifndef PUMICE_SUBMIT_H
#define PUMICE_SUBMIT_H

struct drm_device;
struct drm_file;

int pumice_ioctl_submit(struct drm_device *drm, void *data, struct drm_file *file);

#endif
