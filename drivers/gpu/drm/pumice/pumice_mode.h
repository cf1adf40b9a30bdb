/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The mode of the GPU. */
#ifndef PUMICE_MODE_H
#define PUMICE_MODE_H

struct dentry;
struct pumice_device;

void pumice_mode_init(struct pumice_device *pdev, struct dentry *root);

#endif
