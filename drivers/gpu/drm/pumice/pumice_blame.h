/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Effects of resets and time-outs on the contexts of a file. */
#ifndef PUMICE_BLAME_H
#define PUMICE_BLAME_H

#include <linux/types.h>

struct drm_device;
struct drm_file;
struct pumice_blame;

struct pumice_blame *pumice_blame_create(void);
struct pumice_blame *pumice_blame_get(struct pumice_blame *blame);
void pumice_blame_put(struct pumice_blame *blame);
void pumice_blame_note(struct pumice_blame *blame, u32 state);

int pumice_ioctl_file_get_resets(struct drm_device *drm, void *data, struct drm_file *file);

#endif
