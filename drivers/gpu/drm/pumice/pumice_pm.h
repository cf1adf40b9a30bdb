/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Power management: the GPU sleeps while there is no job for it. */
#ifndef PUMICE_PM_H
#define PUMICE_PM_H

#include "pumice_device.h"

extern const struct dev_pm_ops pumice_pm_ops;

void pumice_pm_init(struct pumice_device *pdev);
void pumice_pm_fini(struct pumice_device *pdev);
int pumice_pm_get(struct pumice_device *pdev);
bool pumice_pm_get_if_awake(struct pumice_device *pdev);
void pumice_pm_put(struct pumice_device *pdev);
int pumice_pm_enter(struct pumice_device *pdev, int *idx);
void pumice_pm_leave(struct pumice_device *pdev, int idx);

#endif
