// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <drm/gpu_scheduler.h>

int probe(void);
int probe(void)
{
	return DRM_GPU_SCHED_STAT_RESET + DRM_GPU_SCHED_STAT_NO_HANG;
}
