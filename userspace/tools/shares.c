// SPDX-License-Identifier: MIT
/*
 * pumice-shares: shows and sets the shares of the data masters in the slots and stores of a GPU,
 * and the policy of their selector, by the driver's file in debugfs.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <pumice/pumice.h>

#include "command.h"
#include "shares_file.h"

#define FOLDERS		"/sys/kernel/debug/dri/"
#define FILE_NAME	"pds_shares"
/* Of devices in process. */
#define KEYS		"cdm-share, vdm-share, pdm-share, rdm-share and dms-policy"
#define PATH_BYTES	96

/* Find the file of a GPU of the kernel driver. */
static bool find_file(const struct command *c, const char *device, char *path)
{
	struct pumice_device *dev = command_device_open(c->name, device);
	struct stat node;
	int fd = pumice_device_drm_fd(dev);

	if (fd < 0)
		command_refuse(c, "'%s' is not a GPU of the kernel driver; accepted: drm, "
			       "drm:/dev/dri/renderD128. In process: the keys " KEYS, device);
	if (fstat(fd, &node)) {
		fprintf(stderr, "%s: %s\n", c->name, strerror(errno));
		return false;
	}
	snprintf(path, PATH_BYTES, FOLDERS "%u/" FILE_NAME, minor(node.st_rdev));
	pumice_device_close(dev);
	return true;
}

int main(int argc, char **argv)
{
	const char *device = NULL;
	const struct command_option options[] = { COMMAND_DEVICE(&device), { 0 } };
	const struct command command = {
		.name = "pumice-shares",
		.words = "[NAME=VALUE]…",
		.max_words = -1,
		.purpose = "Shows the shares of the data masters cdm, vdm, pdm and rdm in the\n"
			   "slots and stores of each USC, and the policy by which they wait for each\n"
			   "other, and sets those that are named. Needs root.\n",
		.options = options,
		.notes = "A share is 1 to 254 of 256, none (no limit) or default. Shares apply while\n"
			 "two data masters have jobs; with three each is limited to two thirds of its\n"
			 "share, with four to half. A policy is graphics (the default: cdm and\n"
			 "rdm wait for vdm and pdm), round-robin, or an order, highest first, such as\n"
			 "cdm-vdm-pdm, in which rdm has the place of cdm. A DEVICE inproc is refused:\n"
			 "it has the keys " KEYS ".\n",
		.versions = COMMAND_VERSION_GPU,
	};
	const int first = command_line(&command, argc, argv);
	char path[PATH_BYTES];

	shares_check(&command, argv + first);
	device = command_device_name(device);
	if (!find_file(&command, device, path))
		return 1;
	if (argv[first] && !shares_set(&command, path, argv + first))
		return 1;
	return !shares_show(&command, path, stdout);
}
