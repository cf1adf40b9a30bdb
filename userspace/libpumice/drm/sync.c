// SPDX-License-Identifier: MIT
/* Kernel backend: synchronisation objects are DRM syncobjs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xf86drm.h>

#include "drm.h"

static int fd_of(struct pumice_sync *sync)
{
	return drm_device(sync->dev)->fd;
}

/* libdrm's functions return 0, or -errno, or -1 with errno set. */
static int result(struct pumice_device *dev, int ret, const char *what)
{
	int err = ret == -1 ? errno : -ret;

	return ret ? fail(dev, err, "%s: %s", what, drm_error_text(err)) : 0;
}

int drm_sync_create(struct pumice_device *dev, u32 flags, struct pumice_sync **out)
{
	struct drm_sync *sync = calloc(1, sizeof(*sync));
	int err;

	if (!sync)
		return fail(dev, ENOMEM, "sync: out of memory");
	sync->base.dev = dev;
	err = result(dev, drmSyncobjCreate(drm_device(dev)->fd, flags & PUMICE_SYNC_SIGNALED ?
					   DRM_SYNCOBJ_CREATE_SIGNALED : 0, &sync->handle),
		     "sync");
	if (err)
		free(sync);
	else
		*out = &sync->base;
	return err;
}

void drm_sync_destroy(struct pumice_sync *sync)
{
	drmSyncobjDestroy(fd_of(sync), ((struct drm_sync *)sync)->handle);
	free(sync);
}

int drm_sync_signal(struct pumice_sync *sync, u64 point)
{
	u32 handle = ((struct drm_sync *)sync)->handle;

	return result(sync->dev,
		      point ? drmSyncobjTimelineSignal(fd_of(sync), &handle, &point, 1) :
			      drmSyncobjSignal(fd_of(sync), &handle, 1), "sync signal");
}

int drm_sync_reset(struct pumice_sync *sync)
{
	u32 handle = ((struct drm_sync *)sync)->handle;

	return result(sync->dev, drmSyncobjReset(fd_of(sync), &handle, 1), "sync reset");
}

int drm_sync_query(struct pumice_sync *sync, u64 *point)
{
	u32 handle = ((struct drm_sync *)sync)->handle;
	uint64_t reached = 0;
	int err = result(sync->dev, drmSyncobjQuery(fd_of(sync), &handle, &reached, 1),
			 "sync query");

	if (!err)
		*point = reached;
	return err;
}

/* The kernel expects a signed time on CLOCK_MONOTONIC. */
static s64 deadline(u64 timeout_ns)
{
	u64 now;

	if (!timeout_ns)
		return 0;
	now = now_ns();
	return timeout_ns > (u64)INT64_MAX - now ? INT64_MAX : (s64)(now + timeout_ns);
}

/* Return whether a job or bind signals the point, or has. The kernel refuses to wait if not. */
static bool is_submitted(struct pumice_device *dev, u32 handle, u64 point)
{
	uint64_t at = point;
	int ret = drmSyncobjTimelineWait(drm_device(dev)->fd, &handle, &at, 1, 0, 0, NULL);

	return !(ret == -EINVAL || (ret == -1 && errno == EINVAL));
}

bool drm_sync_is_submitted(const struct pumice_job_sync *s)
{
	return is_submitted(s->sync->dev, ((struct drm_sync *)s->sync)->handle, s->point);
}

int drm_sync_wait(struct pumice_device *dev, const struct pumice_wait *waits, u32 count,
		  u32 flags, u64 timeout_ns)
{
	u32 handles[MAX_SYNCS];
	uint64_t points[MAX_SYNCS];
	int err;
	u32 i;

	for (i = 0; i < count; i++) {
		handles[i] = ((struct drm_sync *)waits[i].sync)->handle;
		points[i] = waits[i].point;
	}
	err = result(dev, drmSyncobjTimelineWait(drm_device(dev)->fd, handles, points, count,
						 deadline(timeout_ns),
						 (flags & PUMICE_WAIT_ANY ? 0 :
						  DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL) |
						 (flags & PUMICE_WAIT_SUBMIT ?
						  DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT : 0),
						 NULL), "wait");
	if (err == -ETIME)
		return fail_wait_timeout(dev, timeout_ns);
	for (i = 0; err == -EINVAL && i < count; i++)
		if (!is_submitted(dev, handles[i], points[i]))
			return fail_wait_unsignaled(dev, i);
	return err;
}
