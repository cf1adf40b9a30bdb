// SPDX-License-Identifier: MIT
/* The device of a program's option -d. */
#include <stdio.h>
#include <stdlib.h>

#include <pumice/pumice.h>

#include "command.h"

struct pumice_device *command_device_open(const char *program, const char *device)
{
	char error[PUMICE_ERROR_BYTES];
	struct pumice_device *dev;

	if (!pumice_device_open(device, &dev, error, sizeof(error)))
		return dev;
	fflush(stdout);
	fprintf(stderr, "%s: %s\n", program, error);
	exit(1);
}
