/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Counts of the memory hierarchy. */
#ifndef PUMICE_HIERARCHY_H
#define PUMICE_HIERARCHY_H

#include <linux/kconfig.h>

struct dentry;
struct pumice_device;

#if IS_ENABLED(CONFIG_DEBUG_FS)
void pumice_hierarchy_keep(struct pumice_device *pdev);
void pumice_hierarchy_init(struct pumice_device *pdev, struct dentry *root);
#else
static inline void pumice_hierarchy_keep(struct pumice_device *pdev)
{
}
#endif

#endif
