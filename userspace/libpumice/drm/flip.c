// SPDX-License-Identifier: MIT
/*
 * Kernel backend: flips, which are events of the DRM file.
 *
 * One event is read at a time, so that no thread holds events that another one waits for.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "drm.h"
#include "pumice/pumice_present.h"

#define NS_PER_MS	1000000u

/* Return the time left until @end (0: none) for poll(), rounded up. */
static int left_ms(u64 end)
{
	u64 now = now_ns(), ms;

	if (end == PUMICE_FOREVER)
		return -1;
	if (now >= end)
		return 0;
	ms = (end - now + NS_PER_MS - 1) / NS_PER_MS;
	return ms > 1000000 ? 1000000 : (int)ms;
}

/* Return whether the file has an event; waits for at most @ms. */
static bool has_event(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1;
}

/* Read an event, if there is one. Return: its bytes, 0 if there is none, or a negative errno. */
static ssize_t read_event(struct drm_device *d, struct drm_pumice_event_flip *event)
{
	ssize_t bytes = 0;

	pthread_mutex_lock(&d->read_lock);
	if (has_event(d->fd, 0)) {
		bytes = read(d->fd, event, sizeof(*event));
		if (bytes < 0)
			bytes = errno == EINTR || errno == EAGAIN ? 0 : -errno;
	}
	pthread_mutex_unlock(&d->read_lock);
	return bytes;
}

int drm_wait_flip(struct pumice_device *dev, u64 timeout_ns, struct pumice_flip *flip)
{
	struct drm_device *d = drm_device(dev);
	u64 now = timeout_ns ? now_ns() : 0;
	u64 end = timeout_ns > PUMICE_FOREVER - now ? PUMICE_FOREVER : now + timeout_ns;
	struct drm_pumice_event_flip e;
	ssize_t bytes;

	do {
		bytes = read_event(d, &e);
		if (bytes < 0)
			return fail(dev, (int)-bytes, "wait for a flip: %s", strerror((int)-bytes));
	} while ((bytes != sizeof(e) || e.base.type != DRM_PUMICE_EVENT_FLIP) &&
		 (has_event(d->fd, left_ms(end)) || end == PUMICE_FOREVER || now_ns() < end));
	if (bytes != sizeof(e) || e.base.type != DRM_PUMICE_EVENT_FLIP)
		return -ETIME;
	*flip = (struct pumice_flip){
		.user_data = e.user_data,
		.time_ns = e.time_ns,
		.gpu_ticks = e.gpu_ticks,
		.va = e.address,
		.job = e.job,
		.context = e.context,
		.frame = e.frame,
		.error = e.error,
	};
	return 0;
}
