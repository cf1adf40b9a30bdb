/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Uevents of the kernel: that a device was reset, or is lost. */
#ifndef FX_UEVENT_H
#define FX_UEVENT_H

/** need_uevents - open a socket that receives all uevents from now on. */
int need_uevents(void);

/**
 * check_wedged - check that drm_dev_wedged_event() was called since need_uevents()
 * @fd: from need_uevents()
 * @text: its contents, such as "WEDGED=none"
 *
 * On kernels without that function no such event may occur.
 */
void check_wedged(int fd, const char *text);

#endif
