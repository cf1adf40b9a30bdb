/* SPDX-License-Identifier: MIT */
/*
 * Mistakes in calls of the library, and the errors and texts that they must give on every device:
 * test_mistakes.c makes them in process, tests/guest/t_mistakes.c with the kernel driver.
 *
 * Limits: mistakes that reach the backends in the same way. Those of one backend only (options
 * of an in-process device, limits of the kernel) are tested with it.
 */
#ifndef MISTAKES_H
#define MISTAKES_H

#include <stddef.h>

#include "pumice/pumice.h"

struct mistake {
	const char *name;
	/* Makes it; returns the result of the call. */
	int (*make)(struct pumice_device *dev, struct pumice_vm *vm);
	int error;		/* positive errno */
	const char *text;	/* all of pumice_device_error() */
};

extern const struct mistake mistakes[];
extern const size_t mistake_count;

#endif
