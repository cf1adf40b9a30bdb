// SPDX-License-Identifier: MIT
/*
 * Kernel backend: the event trace, a stream of trace_record structures in the
 * file gpu_trace of the device's debugfs directory. Opening it starts the trace,
 * closing it stops it; lost records are detected by the sequence numbers.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drm.h"
#include "pumice_formats.h"

#define RECORD_BYTES	(PUMICE_TRACE_RECORD_WORDS * 4u)

int drm_trace_open(struct pumice_device *dev, u32 entries, struct pumice_trace **out)
{
	struct drm_trace *t = calloc(1, sizeof(*t));
	u32 *words = calloc(TRACE_ROOM, RECORD_BYTES);
	int fd;

	(void)entries;
	if (!t || !words) {
		free(t);
		free(words);
		return fail(dev, ENOMEM, "trace: out of memory");
	}
	fd = drm_debugfs_open(drm_device(dev)->fd, "gpu_trace", O_RDONLY | O_NONBLOCK);
	if (fd < 0) {
		free(t);
		free(words);
		return fail(dev, -fd, "trace: gpu_trace in debugfs: %s", strerror(-fd));
	}
	*t = (struct drm_trace){ .base = { .dev = dev }, .fd = fd, .words = words };
	*out = &t->base;
	return 0;
}

/* Read the available records. Return: 0 or a negative errno. */
static int refill(struct drm_trace *t)
{
	ssize_t got;

	do
		got = read(t->fd, t->words, (size_t)TRACE_ROOM * RECORD_BYTES);
	while (got < 0 && errno == EINTR);
	t->next = 0;
	t->count = got > 0 ? (u32)((size_t)got / RECORD_BYTES) : 0;
	if (got < 0 && errno != EAGAIN)
		return fail(t->base.dev, errno, "trace: %s", strerror(errno));
	if (got > 0 && (size_t)got % RECORD_BYTES)
		return fail(t->base.dev, EIO, "trace: the kernel returned an incomplete record");
	return 0;
}

int drm_trace_next(struct pumice_trace *base, u32 *words, bool *have, u64 *lost)
{
	struct drm_trace *t = (struct drm_trace *)base;
	struct pumice_trace_record record;
	int err = t->next == t->count ? refill(t) : 0;

	*have = false;
	if (err || t->next == t->count)
		return err;
	memcpy(words, t->words + (size_t)t->next++ * PUMICE_TRACE_RECORD_WORDS, RECORD_BYTES);
	pumice_trace_record_unpack(words, &record);
	/* After a GPU reset the numbers restart at 1. */
	if (t->started && record.sequence != 1)
		*lost += (u16)(record.sequence - t->expected);
	t->started = true;
	t->expected = (u16)(record.sequence + 1);
	*have = true;
	return 0;
}

void drm_trace_close(struct pumice_trace *base)
{
	struct drm_trace *t = (struct drm_trace *)base;

	close(t->fd);
	free(t->words);
	free(t);
}
