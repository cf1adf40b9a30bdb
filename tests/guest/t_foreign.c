// SPDX-License-Identifier: MIT
/*
 * Jobs that wait for fences of another driver: SW_SYNC, the kernel's own test
 * interface, which only our small kernel has.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>

#include <xf86drm.h>

#include "harness.h"
#include "fixture.h"

#define WORDS 6u	/* words that a job stores */

/* A timeline of SW_SYNC, and the syncobj that holds its fence of point 1. */
struct foreign {
	int timeline;
	u32 sync;
};

struct sw_sync_create_fence_data {
	__u32 value;
	char name[32];
	__s32 fence;
};

#define SW_SYNC_IOC_CREATE_FENCE _IOWR('W', 0, struct sw_sync_create_fence_data)
#define SW_SYNC_IOC_INC _IOW('W', 1, __u32)

static struct foreign foreign_fence(int fd)
{
	struct sw_sync_create_fence_data fence = { .value = 1, .name = "test" };
	struct foreign foreign = {
		.timeline = open("/sys/kernel/debug/sync/sw_sync", O_RDWR | O_CLOEXEC),
		.sync = need_sync(fd),
	};

	CHECK(foreign.timeline >= 0);
	CHECK_OK(ioctl(foreign.timeline, SW_SYNC_IOC_CREATE_FENCE, &fence) ? -errno : 0);
	CHECK_OK(drmSyncobjImportSyncFile(fd, foreign.sync, fence.fence));
	return foreign;
}

static void foreign_signal(const struct foreign *foreign)
{
	u32 step = 1;

	CHECK_OK(ioctl(foreign->timeline, SW_SYNC_IOC_INC, &step) ? -errno : 0);
}

/* Submit a job that stores words once the foreign fence has signaled. */
static void submit_after(struct fixture *fx, const struct foreign *foreign)
{
	struct drm_pumice_sync syncs[] = { wait_for(foreign->sync, 0), then_signal(fx->sync, 0) };
	struct drm_pumice_job job = {
		.context = fx->context,
		.stream = fx_store_stream(fx, fx->data.va, WORDS),
		.syncs = ARRAY_OF(syncs, 2),
	};

	CHECK_OK(gpu_submit(fx->fd, &job, 1, NULL));
}

static void job_waits_for_a_fence_of_another_driver(void)
{
	struct fixture fx = fx_open();
	struct foreign foreign = foreign_fence(fx.fd);

	submit_after(&fx, &foreign);
	CHECK(sync_is_pending(fx.fd, fx.sync, 0));
	CHECK_EQUAL(fx.data.cpu[0], 0);
	foreign_signal(&foreign);
	CHECK_EQUAL(fx_wait(&fx), 1);
	fx_check_words(fx.data.cpu, WORDS);
}

/* DRM's scheduler releases a job only when all its dependencies have signaled. */
static void context_that_waits_for_another_driver_can_be_destroyed(void)
{
	struct fixture fx = fx_open();
	struct foreign foreign = foreign_fence(fx.fd);

	submit_after(&fx, &foreign);
	CHECK_OK(gpu_context_destroy(fx.fd, fx.context));
	foreign_signal(&foreign);
	need_wait(fx.fd, fx.sync, 0);
	CHECK(sync_status(fx.fd, fx.sync, 0) < 0);
	CHECK_EQUAL(fx.data.cpu[0], 0);
}

static const struct test_case cases[] = {
	TEST_CASE(job_waits_for_a_fence_of_another_driver),
	TEST_CASE(context_that_waits_for_another_driver_can_be_destroyed),
};

TEST_MAIN(cases)
