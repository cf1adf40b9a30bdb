// SPDX-License-Identifier: MIT
/* Kernel backend: files of the device in debugfs, for root. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "drm.h"

#define RENDER_MINORS	128u	/* first number of render nodes */

static int open_of(unsigned int number, const char *name, int flags)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%u/%s", number, name);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The directory is named after the number of the render node or of the primary node. */
int drm_debugfs_open(int drm_fd, const char *name, int flags)
{
	struct stat st;
	int fd;

	if (fstat(drm_fd, &st))
		return -errno;
	fd = open_of(minor(st.st_rdev), name, flags);
	if (fd == -ENOENT && minor(st.st_rdev) >= RENDER_MINORS)
		fd = open_of(minor(st.st_rdev) - RENDER_MINORS, name, flags);
	return fd;
}
