// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Synchronisation objects. See sync.h. */
#include "sync.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <linux/sync_file.h>
#include <xf86drm.h>

#include "check.h"

#define NS_PER_SECOND 1000000000ull

u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * NS_PER_SECOND + (u64)now.tv_nsec;
}

static u32 create(int fd, u32 flags)
{
	u32 sync = 0;

	CHECK_OK(drmSyncobjCreate(fd, flags, &sync) ? -errno : 0);
	return sync;
}

u32 need_sync(int fd)
{
	return create(fd, 0);
}

u32 need_signaled_sync(int fd)
{
	return create(fd, DRM_SYNCOBJ_CREATE_SIGNALED);
}

int sync_wait(int fd, u32 sync, u64 point, u64 timeout_ns)
{
	s64 deadline = (s64)(now_ns() + timeout_ns);

	if (point)
		return drmSyncobjTimelineWait(fd, &sync, &point, 1, deadline, 0, NULL);
	return drmSyncobjWait(fd, &sync, 1, deadline, 0, NULL);
}

void need_wait(int fd, u32 sync, u64 point)
{
	CHECK_OK(sync_wait(fd, sync, point, WAIT_SECONDS * NS_PER_SECOND));
}

bool sync_is_pending(int fd, u32 sync, u64 point)
{
	int err = sync_wait(fd, sync, point, 0);

	CHECK(!err || err == -ETIME);
	return err == -ETIME;
}

int sync_file_status(int file)
{
	struct sync_file_info info = { 0 };

	CHECK_OK(ioctl(file, SYNC_IOC_FILE_INFO, &info) ? -errno : 0);
	return info.status;
}

int need_sync_file(int fd, u32 sync)
{
	int file = -1;

	CHECK_OK(drmSyncobjExportSyncFile(fd, sync, &file) ? -errno : 0);
	return file;
}

int sync_status(int fd, u32 sync, u64 point)
{
	u32 binary = sync;
	int file, status;

	if (point) {
		binary = need_sync(fd);
		CHECK_OK(drmSyncobjTransfer(fd, binary, 0, sync, point, 0) ? -errno : 0);
	}
	file = need_sync_file(fd, binary);
	status = sync_file_status(file);
	close(file);
	if (point)
		drmSyncobjDestroy(fd, binary);
	return status;
}

u64 sync_signaled_at(int fd, u32 sync)
{
	struct sync_fence_info fence = { 0 };
	struct sync_file_info info = { .num_fences = 1, .sync_fence_info = (uintptr_t)&fence };
	int file = need_sync_file(fd, sync);

	CHECK_OK(ioctl(file, SYNC_IOC_FILE_INFO, &info) ? -errno : 0);
	close(file);
	CHECK_EQUAL(info.num_fences, 1);
	CHECK(fence.status);
	return fence.timestamp_ns;
}

struct drm_pumice_sync wait_for(u32 sync, u64 point)
{
	return (struct drm_pumice_sync){
		.flags = point ? DRM_PUMICE_SYNC_TIMELINE : 0, .handle = sync, .value = point,
	};
}

struct drm_pumice_sync then_signal(u32 sync, u64 point)
{
	struct drm_pumice_sync op = wait_for(sync, point);

	op.flags |= DRM_PUMICE_SYNC_SIGNAL;
	return op;
}
