/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Shares of the data masters in the slots and stores of the USCs. */
#ifndef PUMICE_SHARES_H
#define PUMICE_SHARES_H

struct dentry;
struct pumice_device;

void pumice_shares_init(struct pumice_device *pdev, struct dentry *root);

#endif
