/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Fault injection on GPUs for tests. */
#ifndef PUMICE_INJECT_H
#define PUMICE_INJECT_H

struct dentry;
struct pumice_device;

void pumice_inject_init(struct pumice_device *pdev, struct dentry *root);

#endif
