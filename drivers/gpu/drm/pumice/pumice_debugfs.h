/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Files in debugfs. */
#ifndef PUMICE_DEBUGFS_H
#define PUMICE_DEBUGFS_H

struct drm_minor;

void pumice_debugfs_init(struct drm_minor *minor);

#endif
