/* SPDX-License-Identifier: MIT */
/* Ioctls that must work, or must be refused with a certain error. */
#ifndef DRMTEST_H
#define DRMTEST_H

#include <errno.h>
#include <xf86drm.h>

#include "igt_core.h"

/* An ioctl that must work; it is called again when a signal breaks it off. */
#define do_ioctl(fd, request, argument) \
	do { \
		igt_assert_eq(drmIoctl((fd), (request), (argument)), 0); \
		errno = 0; \
	} while (0)

/* An ioctl that must be refused with this errno. */
#define do_ioctl_err(fd, request, argument, error) \
	do { \
		igt_assert_eq(drmIoctl((fd), (request), (argument)), -1); \
		igt_assert_eq(errno, (error)); \
		errno = 0; \
	} while (0)

#endif
