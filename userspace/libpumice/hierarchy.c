// SPDX-License-Identifier: MIT
/* Modes, and counts of the memory hierarchy: columns of hw/hier.h as the fields of structures. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "hier.h"
#include "internal.h"
#include "pumice_names.h"

int pumice_device_set_mode(struct pumice_device *dev, const char *mode)
{
	int err;

	if (!dev->ops->set_mode)
		return fail(dev, EOPNOTSUPP, "mode: not of a GPU of another process");
	findings_write(dev);	/* those of the former mode: strict drops them */
	err = dev->ops->set_mode(dev, mode);
	switch (err) {
	case 0:
		findings_open(dev);
		return 0;
	case -EBUSY:
		return fail(dev, EBUSY, "mode: it does not change while a job runs");
	case -EINVAL:
		return fail(dev, EINVAL, "mode: %s is not fast, counted or strict", mode);
	case -ENOMEM:
		return fail(dev, ENOMEM, "mode: out of memory for %s", mode);
	default:
		return fail(dev, -err, "mode: the driver's file mode in debugfs: %s",
			    strerror(-err));
	}
}

static int check_client(struct pumice_device *dev, uint32_t client)
{
	if (client >= PUMICE_MEM_CLIENT_COUNT)
		return fail(dev, ENOENT, "hierarchy: unknown client %u: the last one is %u", client,
			    PUMICE_MEM_CLIENT_COUNT - 1);
	return 0;
}

int pumice_hierarchy_client_get(struct pumice_device *dev, uint32_t client,
				struct pumice_hierarchy_client *counts, size_t bytes)
{
	struct pumice_hierarchy_client all = { 0 };
	u64 v[PUMICE_HIER_VALUE_COUNT];
	int err = check_client(dev, client);

	if (!err)
		err = dev->ops->hierarchy_row(dev, client, v);
	if (err)
		return err;
	snprintf(all.name, sizeof(all.name), "%s", pumice_mem_client_str(client));
	all.requests = v[PUMICE_HIER_CLIENT_REQUESTS];
	all.bytes = v[PUMICE_HIER_CLIENT_BYTES];
	all.first_requests = v[PUMICE_HIER_CLIENT_FIRST_REQUESTS];
	all.first_hits = v[PUMICE_HIER_CLIENT_FIRST_HITS];
	all.first_misses = v[PUMICE_HIER_CLIENT_FIRST_MISSES];
	all.first_combined = v[PUMICE_HIER_CLIENT_FIRST_COMBINED];
	all.second_requests = v[PUMICE_HIER_CLIENT_SECOND_REQUESTS];
	all.second_hits = v[PUMICE_HIER_CLIENT_SECOND_HITS];
	all.second_misses = v[PUMICE_HIER_CLIENT_SECOND_MISSES];
	all.second_combined = v[PUMICE_HIER_CLIENT_SECOND_COMBINED];
	all.slc_hits = v[PUMICE_HIER_CLIENT_SLC_HITS];
	all.slc_misses = v[PUMICE_HIER_CLIENT_SLC_MISSES];
	all.slc_bypasses = v[PUMICE_HIER_CLIENT_SLC_BYPASSES];
	all.read_bytes = v[PUMICE_HIER_CLIENT_READ_BYTES];
	all.written_bytes = v[PUMICE_HIER_CLIENT_WRITTEN_BYTES];
	put_sized(counts, bytes, &all, sizeof(all));
	return 0;
}

int pumice_hierarchy_level_get(struct pumice_device *dev, uint32_t level,
			       struct pumice_hierarchy_level *counts, size_t bytes)
{
	struct pumice_hierarchy_level all = { 0 };
	u64 v[PUMICE_HIER_VALUE_COUNT];
	int err;

	if (level >= PUMICE_CACHE_COUNT)
		return fail(dev, ENOENT, "hierarchy: unknown level %u: the last one is %u", level,
			    PUMICE_CACHE_COUNT - 1);
	err = dev->ops->hierarchy_row(dev, PUMICE_HIER_FIRST_LEVEL + level, v);
	if (err)
		return err;
	snprintf(all.name, sizeof(all.name), "%s", pumice_cache_str(level));
	all.requests = v[PUMICE_HIER_LEVEL_REQUESTS];
	all.bytes = v[PUMICE_HIER_LEVEL_BYTES];
	all.hits = v[PUMICE_HIER_LEVEL_HITS];
	all.misses = v[PUMICE_HIER_LEVEL_MISSES];
	all.atomics = v[PUMICE_HIER_LEVEL_ATOMICS];
	all.combined = v[PUMICE_HIER_LEVEL_COMBINED];
	all.bypasses = v[PUMICE_HIER_LEVEL_BYPASSES];
	all.evictions = v[PUMICE_HIER_LEVEL_EVICTIONS];
	all.dropped = v[PUMICE_HIER_LEVEL_DROPPED];
	all.fills = v[PUMICE_HIER_LEVEL_FILLS];
	all.read_bytes = v[PUMICE_HIER_LEVEL_READ_BYTES];
	all.writes = v[PUMICE_HIER_LEVEL_WRITES];
	all.written_bytes = v[PUMICE_HIER_LEVEL_WRITTEN_BYTES];
	put_sized(counts, bytes, &all, sizeof(all));
	return 0;
}

int pumice_hierarchy_bus_get(struct pumice_device *dev, uint32_t client,
			     struct pumice_hierarchy_bus *counts, size_t bytes)
{
	struct pumice_hierarchy_bus all = { 0 };
	const int err = check_client(dev, client);

	if (err)
		return err;
	if (!dev->ops->hierarchy_bus)
		return fail(dev, EOPNOTSUPP, "hierarchy: requests on buses are counted for a GPU in "
					     "this process only");
	dev->ops->hierarchy_bus(dev, client, &all);
	snprintf(all.name, sizeof(all.name), "%s", pumice_mem_client_str(client));
	put_sized(counts, bytes, &all, sizeof(all));
	return 0;
}
