// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Uevents of the kernel. See uevent.h. */
#include "uevent.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <linux/netlink.h>
#include <sys/socket.h>

#include "check.h"

#define WAIT_MS 30000

/* Whether the kernel has the function that sends it, built in or in a module. */
static bool kernel_announces(void)
{
	FILE *symbols = fopen("/proc/kallsyms", "re");
	bool found = false;
	char line[512], name[256];

	CHECK(symbols);
	while (!found && fgets(line, sizeof(line), symbols))
		found = sscanf(line, "%*s %*s %255s", name) == 1 &&
			!strcmp(name, "drm_dev_wedged_event");
	fclose(symbols);
	return found;
}

int need_uevents(void)
{
	const struct sockaddr_nl all = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);

	CHECK(fd >= 0);
	CHECK(!bind(fd, (const struct sockaddr *)&all, sizeof(all)));
	return fd;
}

/* Whether one with this text is received within @ms. */
static bool uevent_comes(int fd, const char *text, int ms)
{
	struct pollfd readable = { .fd = fd, .events = POLLIN };
	char event[4096];
	ssize_t bytes;

	while (poll(&readable, 1, ms) > 0) {
		bytes = recv(fd, event, sizeof(event), 0);
		if (bytes > 0 && memmem(event, (size_t)bytes, text, strlen(text) + 1))
			return true;
	}
	return false;
}

void check_wedged(int fd, const char *text)
{
	const bool announces = kernel_announces();

	CHECK_EQUAL(uevent_comes(fd, text, announces ? WAIT_MS : 0), announces);
}
