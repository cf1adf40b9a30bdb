// SPDX-License-Identifier: MIT
/* The device of a program's option -d. */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <sys/pidfd.h>
#include <unistd.h>

#include <pumice/pumice.h>

#include "command.h"

#define START_SECONDS	5	/* until a process that has just been started has opened its GPU */
#define RETRY_MS	20

const char *command_device_name(const char *device)
{
	return device ? device : getenv("PUMICE_DEVICE");
}

/* Open the process that pid:PID or pid:PID/N names. Return: a pidfd, or -1 for another device. */
static int open_process(const char *device)
{
	int pid;

	device = command_device_name(device);
	if (!device || sscanf(device, "pid:%d", &pid) != 1 || pid <= 0)
		return -1;
	return pidfd_open(pid, 0);
}

/* Wait for the next attempt to open the GPU of a process. Return: false if there is none. */
static bool wait_for_retry(int err, int process, time_t end)
{
	struct pollfd fd = { .fd = process, .events = POLLIN };
	struct timespec now;

	if (process < 0 || (err != -ENOENT && err != -ECONNREFUSED))
		return false;
	clock_gettime(CLOCK_MONOTONIC, &now);
	/* It is readable when the process has ended. */
	return now.tv_sec <= end && !poll(&fd, 1, RETRY_MS);
}

struct pumice_device *command_device_open(const char *program, const char *device)
{
	char error[PUMICE_ERROR_BYTES];
	const int process = open_process(device);
	struct pumice_device *dev;
	struct timespec start;
	int err;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do
		err = pumice_device_open(device, &dev, error, sizeof(error));
	while (err && wait_for_retry(err, process, start.tv_sec + START_SECONDS));
	if (process >= 0)
		close(process);
	if (!err)
		return dev;
	fflush(stdout);
	fprintf(stderr, "%s: %s\n", program, error);
	exit(1);
}

bool command_device_is_own(struct pumice_device *dev)
{
	struct pumice_process process;

	return pumice_device_process(dev, &process) && pumice_device_drm_fd(dev) < 0;
}
