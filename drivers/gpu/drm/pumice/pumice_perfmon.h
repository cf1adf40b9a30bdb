/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Performance monitors: counters of selected jobs. */
#ifndef PUMICE_PERFMON_H
#define PUMICE_PERFMON_H

#include "pumice_device.h"
#include "pumice_object.h"

/**
 * struct pumice_perfmon - sums of counters over the jobs that refer to it
 */
struct pumice_perfmon {
	/** @base: references of the file and jobs */
	struct pumice_object base;
	/** @pdev: device; a reference to its drm_device */
	struct pumice_device *pdev;
	/** @obj: struct fwif_perf, to which the firmware adds */
	struct pumice_fw_obj *obj;
	/** @busy: jobs that refer to it and have not completed */
	atomic_t busy;
	/** @lock: guards @zero */
	struct mutex lock;
	/** @zero: values subtracted from the firmware's counts, by counter */
	u64 zero[PUMICE_PERF_COUNTER_COUNT];
	/** @count: number of @counters */
	u32 count;
	/** @counters: counter numbers; constant */
	u8 counters[DRM_PUMICE_MAX_PERF_COUNTERS];
};

struct pumice_perfmon *pumice_perfmon_lookup(struct pumice_file *file, u32 id);
void pumice_perfmon_put(struct pumice_perfmon *perfmon);
void pumice_perfmon_register_sysctl(void);
void pumice_perfmon_unregister_sysctl(void);

int pumice_ioctl_perf_counter_get(struct drm_device *drm, void *data, struct drm_file *file);
int pumice_ioctl_perfmon_create(struct drm_device *drm, void *data, struct drm_file *file);
int pumice_ioctl_perfmon_destroy(struct drm_device *drm, void *data, struct drm_file *file);
int pumice_ioctl_perfmon_get_values(struct drm_device *drm, void *data, struct drm_file *file);

#endif
