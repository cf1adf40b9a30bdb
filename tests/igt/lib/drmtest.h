/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Devices, and ioctls that must work or must be refused with a certain error. */
#ifndef DRMTEST_H
#define DRMTEST_H

#include <errno.h>
#include <xf86drm.h>

#include "igt_core.h"

/* Drivers that tests can request. */
#define DRIVER_VGEM	(1 << 2)
#define DRIVER_V3D	(1 << 4)
#define DRIVER_PUMICE	(1 << 5)

/**
 * drm_open_driver_render - open the render node of a device
 * @chipset: accepted drivers
 *
 * Opens the node that --device or IGT_DEVICE names, which must be of such a driver, or the first
 * of one. Loads the module where there is none. Skips when there is none then. As in IGT, the
 * first call opens the device once more, for as long as the program runs.
 */
int drm_open_driver_render(int chipset);

/** __drm_open_driver_render - the same, but returns -1 for a skip, and keeps nothing open. */
int __drm_open_driver_render(int chipset);

/** drm_open_driver - open the primary node, which no --device names, likewise. */
int drm_open_driver(int chipset);

/** drm_close_driver - close a file of these functions. */
int drm_close_driver(int fd);

/* An ioctl that must succeed; it is repeated when a signal interrupts it. */
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
