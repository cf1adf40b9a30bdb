// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Nodes of DRM devices. Limits: --device names a node and nothing else; a module is loaded by
 * modprobe, with the parameters that the system sets.
 */
#include "drmtest.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "layer.h"

#define NODES		64

/* In the order of their names, as IGT looks for them. */
static const struct module {
	unsigned int bit;
	const char *module;
} modules[] = {
	{ DRIVER_PUMICE, "pumice" },
	{ DRIVER_V3D, "v3d" },
	{ DRIVER_VGEM, "vgem" },
	{}
};

static unsigned int chipset_of(int fd)
{
	drmVersionPtr version = drmGetVersion(fd);
	const struct module *m;
	unsigned int bit = 0;

	for (m = modules; version && m->module; m++) {
		if (!strcmp(version->name, m->module))
			bit = m->bit;
	}
	drmFreeVersion(version);
	return bit;
}

static int open_node(const char *path, unsigned int chipset)
{
	int fd = open(path, O_RDWR);

	if (fd >= 0 && !(chipset_of(fd) & chipset)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Return the first node of a suitable kind, or the selected one. */
static int find_node(const char *base, int first, const char *wanted, unsigned int chipset)
{
	int i, fd = -1;
	char path[64];

	if (wanted)
		return open_node(wanted, chipset);
	for (i = 0; i < NODES && fd < 0; i++) {
		snprintf(path, sizeof(path), "%s%d", base, first + i);
		fd = open_node(path, chipset);
	}
	return fd;
}

static void load_modules(unsigned int chipset)
{
	const struct module *m;
	char command[64];

	for (m = modules; m->module; m++) {
		if (!(chipset & m->bit))
			continue;
		snprintf(command, sizeof(command), "modprobe %s", m->module);
		if (system(command))
			igt_debug("%s failed\n", command);
	}
}

static int open_or_load(const char *base, int first, const char *wanted, unsigned int chipset)
{
	int fd = find_node(base, first, wanted, chipset);

	if (fd < 0) {
		load_modules(chipset);
		fd = find_node(base, first, wanted, chipset);
	}
	return fd;
}

int __drm_open_driver_render(int chipset)
{
	return open_or_load("/dev/dri/renderD", 128, igt_layer_options.device,
			    (unsigned int)chipset);
}

static int required(int fd, int chipset)
{
	igt_require_f(fd >= 0, "no device of drivers %#x\n", (unsigned int)chipset);
	return fd;
}

/* IGT keeps a file of the first device open to the end: so does this layer. */
static void keep_open(int fd)
{
	static int kept = -1;
	char link[64];

	if (kept >= 0)
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	kept = open(link, O_RDWR);
	igt_assert_fd(kept);
}

int drm_open_driver_render(int chipset)
{
	int fd = required(__drm_open_driver_render(chipset), chipset);

	keep_open(fd);
	return fd;
}

int drm_open_driver(int chipset)
{
	return required(open_or_load("/dev/dri/card", 0, NULL, (unsigned int)chipset), chipset);
}

int drm_close_driver(int fd)
{
	return close(fd);
}
