/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Synchronisation objects for the guest's tests, on libdrm's calls.
 *
 * Waits have a limit far above the duration of any test's job; reaching it is a
 * failure of the tested code.
 */
#ifndef FX_SYNC_H
#define FX_SYNC_H

#include <stdbool.h>

#include "gpu.h"

#define WAIT_SECONDS 60

/** now_ns - CLOCK_MONOTONIC. */
u64 now_ns(void);

/** need_sync - create an empty syncobj. */
u32 need_sync(int fd);

/** need_signaled_sync - create a binary syncobj with a signaled fence. */
u32 need_signaled_sync(int fd);

/** sync_wait - wait for a point; 0 is binary. Return: 0, -ETIME, -EINVAL for one that is empty. */
int sync_wait(int fd, u32 sync, u64 point, u64 timeout_ns);

/** need_wait - as sync_wait(), with the limit of all waits. */
void need_wait(int fd, u32 sync, u64 point);

/** sync_is_pending - whether the point has not been reached yet. */
bool sync_is_pending(int fd, u32 sync, u64 point);

/**
 * sync_status - status of the fence of a point.
 *
 * Return: 1: signaled without error, 0: pending, a negative errno: the fence's error.
 */
int sync_status(int fd, u32 sync, u64 point);

/** need_sync_file - the fence of a binary syncobj as a file. */
int need_sync_file(int fd, u32 sync);

/** sync_file_status - as sync_status(). */
int sync_file_status(int file);

/** sync_signaled_at - CLOCK_MONOTONIC when the fence of a binary syncobj signaled, ns. */
u64 sync_signaled_at(int fd, u32 sync);

/* Elements of a job's array of syncs. */
struct drm_pumice_sync wait_for(u32 sync, u64 point);
struct drm_pumice_sync then_signal(u32 sync, u64 point);

#endif
