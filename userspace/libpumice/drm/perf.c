// SPDX-License-Identifier: MIT
/* Kernel backend: performance counters and monitors. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "drm.h"

/* Copy a text that the kernel should have NUL terminated. */
static void copy_text(char *to, size_t room, const u8 *from, size_t bytes)
{
	size_t n = strnlen((const char *)from, bytes);

	if (n >= room)
		n = room - 1;
	memcpy(to, from, n);
	to[n] = '\0';
}

int drm_perf_counter(struct pumice_device *dev, u32 counter, struct pumice_perf_info *info)
{
	struct drm_pumice_perf_counter_get g = { .counter = counter };
	int err = drm_call(dev, DRM_IOCTL_PUMICE_PERF_COUNTER_GET, &g, "perf counter");

	if (err)
		return err;
	info->flags = (g.flags & DRM_PUMICE_PERF_COUNTER_DETAILED ? PUMICE_PERF_DETAILED : 0) |
		      (g.flags & DRM_PUMICE_PERF_COUNTER_GLOBAL ? PUMICE_PERF_GLOBAL : 0);
	copy_text(info->name, sizeof(info->name), g.name, sizeof(g.name));
	copy_text(info->category, sizeof(info->category), g.category, sizeof(g.category));
	copy_text(info->unit, sizeof(info->unit), g.unit, sizeof(g.unit));
	copy_text(info->description, sizeof(info->description), g.description,
		  sizeof(g.description));
	return 0;
}

int drm_perfmon_create(struct pumice_device *dev, const u32 *counters, u32 count,
		       struct pumice_perfmon **out)
{
	struct drm_pumice_perfmon_create c = {
		.counters = { sizeof(*counters), count, (uintptr_t)counters },
	};
	struct pumice_perfmon *pm = calloc(1, sizeof(*pm));
	int err;

	if (!pm)
		return fail(dev, ENOMEM, "perfmon: out of memory");
	err = drm_create(dev, DRM_IOCTL_PUMICE_PERFMON_CREATE, &c, "perfmon");
	if (err == -EACCES)
		err = fail(dev, EACCES,
			   "perfmon: global counters need CAP_PERFMON or dev.pumice.perf_paranoid=0");
	if (err) {
		free(pm);
		return err;
	}
	*pm = (struct pumice_perfmon){ .dev = dev, .id = c.id, .count = count };
	*out = pm;
	return 0;
}

void drm_perfmon_destroy(struct pumice_perfmon *pm)
{
	struct drm_pumice_perfmon_destroy d = { .id = pm->id };

	drm_call(pm->dev, DRM_IOCTL_PUMICE_PERFMON_DESTROY, &d, "perfmon");
	free(pm);
}

int drm_perfmon_read(struct pumice_perfmon *pm, u32 flags, u64 *values)
{
	struct drm_pumice_perfmon_get_values g = {
		.id = pm->id,
		.flags = flags & PUMICE_PERFMON_RESET ? DRM_PUMICE_PERFMON_RESET : 0,
		.values = (uintptr_t)values,
	};
	int err = drm_call(pm->dev, DRM_IOCTL_PUMICE_PERFMON_GET_VALUES, &g, "perfmon");

	return err == -EBUSY ? fail_perfmon_busy(pm->dev) : err;
}

int drm_hierarchy_row(struct pumice_device *dev, u32 row, u64 *value)
{
	(void)row;
	(void)value;
	return fail(dev, EOPNOTSUPP, "hierarchy: read the file hierarchy of the driver in debugfs, as root");
}
