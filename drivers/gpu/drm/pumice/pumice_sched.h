/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Use of DRM's scheduler beyond its own functions. */
#ifndef PUMICE_SCHED_H
#define PUMICE_SCHED_H

#include <linux/types.h>

struct drm_gpu_scheduler;
struct drm_sched_entity;

void pumice_sched_kill(struct drm_gpu_scheduler *sched, struct drm_sched_entity *entity,
		       bool paused);

#endif
