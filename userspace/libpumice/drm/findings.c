// SPDX-License-Identifier: MIT
/*
 * Kernel backend: the mode and the findings of mode strict, by the driver's files mode and findings
 * in debugfs, for root.
 *
 * Limits: findings are those of the GPU, of all processes. All of them are read when one is
 * requested that is not known yet, and once for each time that they are written to a file
 * (../findings.c). That they were dropped is noticed if there are fewer then.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drm.h"

#define LOST	"{\"lost\": "

/* Read a file from its beginning to its end, as a text; returns it, or NULL and *err. */
static char *read_all(int fd, int *err)
{
	size_t room = 4096, used = 0;
	char *text = malloc(room), *more;
	ssize_t got = 1;

	while (text && got > 0) {
		if (used + 1 == room) {
			room *= 2;
			more = realloc(text, room);
			if (!more)
				free(text);
			text = more;
			continue;
		}
		got = read(fd, text + used, room - used - 1);
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got > 0)
			used += (size_t)got;
	}
	*err = !text ? -ENOMEM : got < 0 ? -errno : 0;
	if (*err) {
		free(text);
		return NULL;
	}
	text[used] = '\0';
	return text;
}

/* Read a file of the driver; returns its text, or NULL and *err. */
static char *read_file(struct drm_device *d, const char *name, int *err)
{
	const int fd = drm_debugfs_open(d->fd, name, O_RDONLY);
	char *text;

	if (fd < 0) {
		*err = fd;
		return NULL;
	}
	text = read_all(fd, err);
	close(fd);
	return text;
}

/* Return the line of a finding, or NULL past the last. */
static const char *line_of(const char *text, u32 number)
{
	for (; number && *text; number--) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return *text == '{' && strncmp(text, LOST, strlen(LOST)) ? text : NULL;
}

static u32 count_lines(const char *text)
{
	u32 count = 0;

	while (line_of(text, count))
		count++;
	return count;
}

/* Read all findings again. Lock held. */
static int refresh(struct drm_device *d)
{
	const u32 former = d->findings ? count_lines(d->findings) : 0;
	char *text;
	int err;

	text = read_file(d, "findings", &err);
	if (!text)
		return err == -ENOENT ? -ENODEV : err;	/* that is past the last finding */
	free(d->findings);
	d->findings = text;
	if (count_lines(text) < former)
		d->findings_clears++;
	return 0;
}

int drm_finding(struct pumice_device *dev, u32 number, char *text, size_t bytes)
{
	struct drm_device *d = drm_device(dev);
	const char *line;
	int err = 0;

	pthread_mutex_lock(&d->findings_lock);
	line = d->findings ? line_of(d->findings, number) : NULL;
	if (!line && !d->findings_fresh) {
		err = refresh(d);
		line = err ? NULL : line_of(d->findings, number);
	}
	if (!line)
		err = err ? err : -ENOENT;
	else if ((size_t)snprintf(text, bytes, "%.*s", (int)strcspn(line, "\n"), line) >= bytes)
		err = -ENOSPC;
	if (err)
		d->findings_fresh = false;
	pthread_mutex_unlock(&d->findings_lock);
	return err;
}

u32 drm_findings_clears(struct pumice_device *dev)
{
	struct drm_device *d = drm_device(dev);
	u32 clears;

	pthread_mutex_lock(&d->findings_lock);
	d->findings_fresh = !refresh(d);
	clears = d->findings_clears;
	pthread_mutex_unlock(&d->findings_lock);
	return clears;
}

u64 drm_findings_lost(struct pumice_device *dev)
{
	struct drm_device *d = drm_device(dev);
	const char *at;
	u64 lost;

	pthread_mutex_lock(&d->findings_lock);
	at = d->findings ? strstr(d->findings, LOST) : NULL;
	lost = at ? strtoull(at + strlen(LOST), NULL, 10) : 0;
	pthread_mutex_unlock(&d->findings_lock);
	return lost;
}

const char *drm_mode(struct pumice_device *dev)
{
	static const char *const names[] = { "fast", "counted", "strict" };
	const char *mode = "unknown";
	u32 n;
	int err;
	char *text = read_file(drm_device(dev), "mode", &err);

	if (!text)
		return mode;
	text[strcspn(text, "\n")] = '\0';
	for (n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		if (!strcmp(text, names[n]))
			mode = names[n];
	free(text);
	return mode;
}

int drm_set_mode(struct pumice_device *dev, const char *mode)
{
	const int fd = drm_debugfs_open(drm_device(dev)->fd, "mode", O_WRONLY);
	int err = 0;

	if (fd < 0)
		return fd;
	if (write(fd, mode, strlen(mode)) < 0)
		err = -errno;
	close(fd);
	return err;
}
