/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Statistics of the GPU over all its users. */
#ifndef PUMICE_STATS_H
#define PUMICE_STATS_H

#include "pumice_device.h"

void pumice_stats_keep(struct pumice_device *pdev);
struct drm_pumice_query_stats pumice_stats_query(struct pumice_device *pdev);

#endif
