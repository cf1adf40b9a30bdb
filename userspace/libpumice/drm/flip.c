// SPDX-License-Identifier: MIT
/*
 * Kernel backend: flips, which are events of the DRM file.
 *
 * One event is read at a time, so that no thread holds events that another one waits for. It has
 * the size of a flip: the kernel sends no other events that were not requested.
 *
 * Since uapi 1.6 poll() reports a device that was removed. For an older kernel, whose poll() waits
 * for ever then, waits are divided, and the kernel is called in between.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include <xf86drm.h>

#include "drm.h"
#include "pumice/pumice_present.h"

#define NS_PER_MS	1000000u
/* Version 1.x whose poll() reports a removal; the longest time without a check before, ms. */
#define HANG_UP_SINCE	6
#define CHECK_MS	250

/* Return the time left until @end (0: none) for poll(), rounded up and limited to @max, ms. */
static int left_ms(u64 end, int max)
{
	u64 now = now_ns(), ms;

	if (now >= end)
		return 0;
	ms = (end - now + NS_PER_MS - 1) / NS_PER_MS;
	return ms > (u64)max ? max : (int)ms;
}

/*
 * Return whether the device was removed and no flip follows, for a kernel whose poll() does not
 * report it. Announced flips are still sent after a removal. The DRM core answers the call, and
 * refuses all of a device that was removed: the GPU is not woken.
 */
static bool none_follow(struct drm_device *d)
{
	struct drm_version version = { 0 };

	return d->minor < HANG_UP_SINCE && !atomic_load(&d->announced) &&
	       drmIoctl(d->fd, DRM_IOCTL_VERSION, &version) && errno == ENODEV;
}

/*
 * Wait for at most @ms. Return: POLLIN if the file has an
 * event, else POLLHUP if none follows, or 0.
 */
static short wait_event(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (poll(&p, 1, ms) != 1)
		return 0;
	return p.revents & POLLIN ? POLLIN : POLLHUP;
}

/*
 * Read an event, if there is one. An error other than of the call, such as EPROTO, would remain.
 *
 * Return: its bytes, 0 if there is none, -ENODEV if none follows, -EPROTO if it is too large to be
 * read, or another negative errno.
 */
static ssize_t read_event(struct drm_device *d, struct drm_pumice_event_flip *event)
{
	short events;
	ssize_t bytes = 0;

	pthread_mutex_lock(&d->read_lock);
	events = wait_event(d->fd, 0);
	if (events == POLLIN) {
		bytes = read(d->fd, event, sizeof(*event));
		if (bytes < 0)
			bytes = errno == EINTR || errno == EAGAIN ? 0 : -errno;
		else if (!bytes)
			bytes = -EPROTO;
	} else if (events) {
		bytes = -ENODEV;
	}
	pthread_mutex_unlock(&d->read_lock);
	return bytes;
}

static int fail_read(struct pumice_device *dev, int err)
{
	switch (err) {
	case ENODEV:
		return fail(dev, err, "wait for a flip: the GPU was removed, and no flip is left");
	case EPROTO:
		return fail(dev, err,
			    "wait for a flip: the next event is larger than a flip; request no other events of pumice_device_drm_fd()");
	default:
		return fail(dev, err, "wait for a flip: %s", strerror(err));
	}
}

/* Note that one of the announced flips was returned; those of other programs are not counted. */
static void note_returned(struct drm_device *d)
{
	u32 announced = atomic_load(&d->announced);

	while (announced && !atomic_compare_exchange_weak(&d->announced, &announced, announced - 1))
		;
}

int drm_wait_flip(struct pumice_device *dev, u64 timeout_ns, struct pumice_flip *flip)
{
	struct drm_device *d = drm_device(dev);
	const int max_ms = d->minor < HANG_UP_SINCE ? CHECK_MS : 1000000;
	u64 now = timeout_ns ? now_ns() : 0;
	u64 end = timeout_ns > PUMICE_FOREVER - now ? PUMICE_FOREVER : now + timeout_ns;
	struct drm_pumice_event_flip e;
	ssize_t bytes;

	do {
		bytes = read_event(d, &e);
		if (!bytes && none_follow(d))
			bytes = -ENODEV;
		if (bytes < 0)
			return fail_read(dev, (int)-bytes);
	} while ((bytes != sizeof(e) || e.base.type != DRM_PUMICE_EVENT_FLIP) &&
		 (wait_event(d->fd, left_ms(end, max_ms)) || now_ns() < end));
	if (bytes != sizeof(e) || e.base.type != DRM_PUMICE_EVENT_FLIP)
		return -ETIME;
	note_returned(d);
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
