// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Memory cgroups. See cgroup.h. */
#include "cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "system.h"

#define ROOT	"/sys/fs/cgroup"

static void write_to(const char *folder, const char *name, const char *text)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	CHECK_OK(write_file(path, text));
}

/* Return: 0 or a negative errno. */
static int mount_root(void)
{
	if (!access(ROOT "/cgroup.procs", F_OK))
		return 0;
	return mount("none", ROOT, "cgroup2", 0, NULL) ? -errno : 0;
}

bool can_limit_memory(void)
{
	char text[256] = "";
	int fd;

	if (mount_root())
		return false;
	fd = open(ROOT "/cgroup.controllers", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	return strstr(text, "memory");
}

struct cgroup need_cgroup(const char *name)
{
	struct cgroup cgroup;

	CHECK_OK(mount_root());
	write_to(ROOT, "cgroup.subtree_control", "+memory");
	snprintf(cgroup.path, sizeof(cgroup.path), ROOT "/%s", name);
	if (rmdir(cgroup.path))
		CHECK_EQUAL(errno, ENOENT);
	CHECK_OK(mkdir(cgroup.path, 0755));
	return cgroup;
}

void cgroup_enter(const struct cgroup *cgroup)
{
	static int root = -1;

	/* Kept open: in a full cgroup this process is killed where it opens a file. */
	if (root < 0)
		root = open(ROOT "/cgroup.procs", O_WRONLY | O_CLOEXEC);
	CHECK(root >= 0);
	if (cgroup)
		write_to(cgroup->path, "cgroup.procs", "0");
	else
		CHECK_EQUAL(write(root, "0", 1), 1);
}

void cgroup_limit(const struct cgroup *cgroup, u64 bytes)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, bytes);
	write_to(cgroup->path, "memory.max", text);
}

u64 cgroup_charged(const struct cgroup *cgroup)
{
	char path[160], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), "%s/memory.current", cgroup->path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return strtoull(text, NULL, 10);
}

void cgroup_remove(const struct cgroup *cgroup)
{
	CHECK_OK(rmdir(cgroup->path));
}
