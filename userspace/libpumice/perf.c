// SPDX-License-Identifier: MIT
/* Performance counters and monitors: checks before the backend is called. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "internal.h"

int pumice_perf_counter_get(struct pumice_device *dev, uint32_t counter,
			    struct pumice_perf_info *info)
{
	if (counter >= dev->limits.perf_counters)
		return fail(dev, ENOENT, "perf: unknown counter %u: the last one is %u", counter,
			    dev->limits.perf_counters - 1);
	return dev->ops->perf_counter(dev, counter, info);
}

int pumice_perf_counter_find(struct pumice_device *dev, const char *name, uint32_t *counter)
{
	struct pumice_perf_info info;
	u32 i;
	int err;

	if (!name)
		return fail_null(dev, "counter", "name");
	for (i = 0; i < dev->limits.perf_counters; i++) {
		err = pumice_perf_counter_get(dev, i, &info);
		if (err)
			return err;
		if (strcasecmp(info.name, name))
			continue;
		*counter = i;
		return 0;
	}
	return fail(dev, ENOENT, "perf: unknown counter '%.40s'; pumice-run --list-perf lists them",
		    name);
}

int pumice_perfmon_create(struct pumice_device *dev, const uint32_t *counters, uint32_t count,
			  struct pumice_perfmon **perfmon)
{
	u32 i;

	if (!count)
		return fail(dev, EINVAL, "perfmon: count is 0; name 1 to %u counters",
			    PUMICE_MAX_PERF_COUNTERS);
	if (!counters)
		return fail(dev, EINVAL, "perfmon: counters is NULL; set it");
	if (count > PUMICE_MAX_PERF_COUNTERS)
		return fail(dev, E2BIG, "perfmon: %u counters are more than %u; use several monitors",
			    count, PUMICE_MAX_PERF_COUNTERS);
	for (i = 0; i < count; i++)
		if (counters[i] >= dev->limits.perf_counters)
			return fail(dev, EINVAL,
				    "perfmon: unknown counter %u: the last one is %u", counters[i],
				    dev->limits.perf_counters - 1);
	return dev->ops->perfmon_create(dev, counters, count, perfmon);
}

void pumice_perfmon_destroy(struct pumice_perfmon *perfmon)
{
	if (perfmon)
		perfmon->dev->ops->perfmon_destroy(perfmon);
}

uint32_t pumice_perfmon_id(const struct pumice_perfmon *perfmon)
{
	return perfmon->id;
}

int pumice_perfmon_read(struct pumice_perfmon *perfmon, uint32_t flags, uint64_t *values)
{
	if (flags & ~PUMICE_PERFMON_RESET)
		return fail(perfmon->dev, EINVAL,
			    "perfmon: unknown flags %#x; accepted: 0x1 (RESET)",
			    flags & ~PUMICE_PERFMON_RESET);
	return perfmon->dev->ops->perfmon_read(perfmon, flags, values);
}
