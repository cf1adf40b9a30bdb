/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Stop and destruction of DRM schedulers without races with their own work items. */
#ifndef PUMICE_SCHED_H
#define PUMICE_SCHED_H

#include <linux/types.h>

struct drm_gpu_scheduler;
struct drm_sched_entity;

void pumice_sched_kill(struct drm_gpu_scheduler *sched, struct drm_sched_entity *entity);
void pumice_sched_fini(struct drm_gpu_scheduler *sched, bool used);

#endif
