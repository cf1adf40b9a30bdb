/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Uevents of the kernel: that a device was reset, or is lost. */
#ifndef RIG_UEVENT_H
#define RIG_UEVENT_H

/** need_uevents - a socket that receives all uevents from now on. */
int need_uevents(void);

/**
 * check_wedged - drm_dev_wedged_event() must have been called since need_uevents()
 * @fd: from need_uevents()
 * @text: what it announced, such as "WEDGED=none"
 *
 * On kernels without that function no such event may come.
 */
void check_wedged(int fd, const char *text);

#endif
