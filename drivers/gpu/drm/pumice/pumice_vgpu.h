/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Connection of a virtual GPU other than number 0 to the firmware. */
#ifndef PUMICE_VGPU_H
#define PUMICE_VGPU_H

#include "pumice_device.h"

void pumice_vgpu_init(struct pumice_device *pdev);
int pumice_vgpu_identify(struct pumice_device *pdev);
int pumice_vgpu_connect(struct pumice_device *pdev);
int pumice_vgpu_disconnect(struct pumice_device *pdev);
void pumice_vgpu_invalidate(struct pumice_device *pdev);
bool pumice_vgpu_is_lost(struct pumice_device *pdev);
void pumice_vgpu_link(struct pumice_device *pdev, bool add);

#endif
