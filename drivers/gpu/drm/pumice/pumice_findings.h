/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Findings of mode strict. */
#ifndef PUMICE_FINDINGS_H
#define PUMICE_FINDINGS_H

struct dentry;
struct pumice_device;

void pumice_findings_init(struct pumice_device *pdev, struct dentry *root);

#endif
