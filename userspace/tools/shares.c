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

#define FOLDERS		"/sys/kernel/debug/dri/"
#define FILE_NAME	"pds_shares"
#define ACCEPTED	"cdm=, vdm=, pdm= and rdm=, each with 1 to 254, none or default; " \
			"policy= with graphics, round-robin or an order such as cdm-vdm-pdm"
/* Of devices in process. */
#define KEYS		"cdm-share, vdm-share, pdm-share, rdm-share and dms-policy"
#define PATH_BYTES	96
#define TEXT_BYTES	128	/* of the driver */

/* Refuse a word that is not a NAME=VALUE; the driver checks the value. */
static void check_words(const struct command *c, char **words)
{
	static const char *const names[] = { "cdm=", "vdm=", "pdm=", "rdm=", "policy=" };
	const size_t count = sizeof(names) / sizeof(names[0]);
	size_t n;

	for (; *words; words++) {
		for (n = 0; n < count && strncmp(*words, names[n], strlen(names[n])); n++)
			;
		if (n == count)
			command_refuse(c, "unexpected word '%s'; accepted: " ACCEPTED, *words);
	}
}

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

/* Report that the file cannot be accessed. */
static void report(const struct command *c, const char *path)
{
	fprintf(stderr, "%s: %s: %s; mount debugfs there, and run %s as root\n", c->name, path,
		strerror(errno), c->name);
}

/* Write all words at once: the driver applies all or none. */
static bool set(const struct command *c, const char *path, char **words)
{
	char text[TEXT_BYTES] = "";
	size_t length = 0;
	FILE *file;
	bool ok;

	for (; *words; words++) {
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
					   length ? " " : "", *words);
		if (length >= sizeof(text))
			command_refuse(c, "the words are longer than %u bytes", TEXT_BYTES - 1);
	}
	file = fopen(path, "w");
	ok = file && fputs(text, file) >= 0;
	if (file)
		ok = !fclose(file) && ok;
	if (!ok && errno == EINVAL)
		command_refuse(c, "'%s' is not accepted; accepted: " ACCEPTED, text);
	if (!ok)
		report(c, path);
	return ok;
}

static bool show(const struct command *c, const char *path)
{
	FILE *file = fopen(path, "r");
	char line[256];

	if (!file) {
		report(c, path);
		return false;
	}
	while (fgets(line, sizeof(line), file))
		fputs(line, stdout);
	fclose(file);
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
			 "several data masters have jobs. A policy is graphics (the default: cdm and\n"
			 "rdm wait for vdm and pdm), round-robin, or an order, highest first, such as\n"
			 "cdm-vdm-pdm, in which rdm has the place of cdm. A DEVICE inproc is refused:\n"
			 "it has the keys " KEYS ".\n",
		.versions = COMMAND_VERSION_GPU,
	};
	const int first = command_line(&command, argc, argv);
	char path[PATH_BYTES];

	check_words(&command, argv + first);
	device = command_device_name(device);
	if (!find_file(&command, device, path))
		return 1;
	if (argv[first] && !set(&command, path, argv + first))
		return 1;
	return !show(&command, path);
}
