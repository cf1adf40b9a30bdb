// SPDX-License-Identifier: MIT
/* Devices: selection of a backend, and queries about the device. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"

u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

/* Return whether @name is @backend, alone or with ":"; *rest is then the part after it. */
static bool names_backend(const char *name, const char *backend, const char **rest)
{
	size_t n = strlen(backend);

	if (strncmp(name, backend, n) || (name[n] && name[n] != ':'))
		return false;
	*rest = name[n] ? name + n + 1 : NULL;
	return true;
}

int pumice_device_open(const char *name, struct pumice_device **dev, char *error,
		       size_t error_bytes)
{
	const char *rest;
	int err;

	if (!name)
		name = getenv("PUMICE_DEVICE");
	if (!name || !*name)
		name = "drm";
	if (names_backend(name, "pid", &rest))	/* a GPU of another process */
		return attach_open(rest, dev, error, error_bytes);
	if (names_backend(name, "drm", &rest)) {
		err = drm_open(rest, dev, error, error_bytes);
		if (!err)
			findings_skip(*dev);
	} else if (names_backend(name, "inproc", &rest)) {
		err = inproc_open(rest, dev, error, error_bytes);
	} else {
		return fail_text(error, error_bytes, EINVAL,
				 "no device is named '%.100s'; accepted: drm, drm:NODE, inproc, inproc:KEY=VALUE,…, pid:PID (pumice-top, pumice-trace)",
				 name);
	}
	if (!err)
		findings_open(*dev);
	return err;
}

int pumice_device_open_virtual(struct pumice_device *dev, uint32_t number,
			       struct pumice_device **out)
{
	if (!dev->ops->open_virtual)
		return fail(dev, EOPNOTSUPP, "virtual GPU %u: only those of a GPU in this process "
			    "are opened by number; open inproc:virtual-gpus=N", number);
	return dev->ops->open_virtual(dev, number, out);
}

void pumice_device_close(struct pumice_device *dev)
{
	if (!dev)
		return;
	findings_write(dev);
	dev->ops->close(dev);
}

int pumice_device_info(struct pumice_device *dev, struct pumice_device_info *info)
{
	*info = dev->info;
	return 0;
}

int pumice_device_timestamp(struct pumice_device *dev, uint64_t *gpu_ticks, uint64_t *cpu_ns)
{
	uint64_t unused;

	return dev->ops->timestamp(dev, gpu_ticks ? gpu_ticks : &unused,
				   cpu_ns ? cpu_ns : &unused);
}

int pumice_device_fw_counters(struct pumice_device *dev, struct pumice_fw_counters *counters)
{
	return dev->ops->fw_counters(dev, counters);
}

int pumice_device_drm_fd(struct pumice_device *dev)
{
	return dev->ops->drm_fd(dev);
}

void put_sized(void *to, size_t bytes, const void *from, size_t available)
{
	memset(to, 0, bytes);
	memcpy(to, from, bytes < available ? bytes : available);
}

int pumice_device_limits(struct pumice_device *dev, struct pumice_device_limits *limits,
			 size_t bytes)
{
	put_sized(limits, bytes, &dev->limits, sizeof(dev->limits));
	return 0;
}

int pumice_device_stats(struct pumice_device *dev, struct pumice_device_stats *stats,
			size_t bytes)
{
	struct pumice_device_stats all = { 0 };
	int err = dev->ops->stats(dev, &all);

	if (!err)
		put_sized(stats, bytes, &all, sizeof(all));
	return err;
}

void pumice_device_set_warnings(struct pumice_device *dev,
				void (*report)(void *data, const char *text), void *data)
{
	pthread_mutex_lock(&dev->warnings_lock);
	dev->warnings = (struct warnings){ report, data };
	pthread_mutex_unlock(&dev->warnings_lock);
}

struct warnings device_warnings(struct pumice_device *dev)
{
	struct warnings warnings;

	pthread_mutex_lock(&dev->warnings_lock);
	warnings = dev->warnings;
	pthread_mutex_unlock(&dev->warnings_lock);
	return warnings;
}
