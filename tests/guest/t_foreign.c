// SPDX-License-Identifier: MIT
/*
 * Jobs that wait for fences of another driver: SW_SYNC, the kernel's own test
 * interface, which only our own kernels have.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <xf86drm.h>

#include "harness.h"
#include "fixture.h"
#include "system.h"

#define WORDS 6u	/* words that a job stores */

/* For objects destroyed while their calls begin: rounds, calls of each, and fences of each call. */
#define ROUNDS	20
#define CALLS	100
#define FENCES	24

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
	close(fence.fence);
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

/** struct crowd - calls that wait for all of several fences, the scheduler first for the first */
struct crowd {
	struct fixture fx;
	struct foreign fences[FENCES];
};

static struct crowd crowd_open(void)
{
	struct crowd crowd = { .fx = fx_open() };
	int i;

	for (i = 0; i < FENCES; i++)
		crowd.fences[i] = foreign_fence(crowd.fx.fd);
	return crowd;
}

static void crowd_close(struct crowd *crowd)
{
	int i;

	for (i = 0; i < FENCES; i++)
		close(crowd->fences[i].timeline);
	fx_close(&crowd->fx);
}

/* Wait for all fences, and signal the fixture's syncobj. */
static void crowd_syncs(const struct crowd *crowd, struct drm_pumice_sync syncs[FENCES + 1])
{
	int i;

	for (i = 0; i < FENCES; i++)
		syncs[i] = wait_for(crowd->fences[i].sync, 0);
	syncs[FENCES] = then_signal(crowd->fx.sync, 0);
}

/* Let the calls begin. The scheduler takes time for each of them, because of its many fences. */
static void crowd_begin(const struct crowd *crowd)
{
	int i;

	for (i = FENCES - 1; i >= 0; i--)
		foreign_signal(&crowd->fences[i]);
}

/* The last call has ended: before the object that it used was destroyed, or with it. */
static void crowd_check(const struct crowd *crowd)
{
	int status;

	need_wait(crowd->fx.fd, crowd->fx.sync, 0);
	status = sync_status(crowd->fx.fd, crowd->fx.sync, 0);
	CHECK(status == 1 || status == -ECANCELED || status == -ESRCH);
}

static void *destroy_context(void *arg)
{
	struct fixture *fx = arg;

	CHECK_OK(gpu_context_destroy(fx->fd, fx->context));
	return NULL;
}

/*
 * Destroy a context with queued jobs, which begin @us microseconds later. The time only makes it
 * likely that both coincide; every order is right.
 */
static void context_with_jobs(unsigned int us)
{
	struct crowd crowd = crowd_open();
	struct drm_pumice_sync syncs[FENCES + 1];
	const struct drm_pumice_job job = {
		.context = crowd.fx.context,
		.stream = fx_store_stream(&crowd.fx, crowd.fx.data.va, WORDS),
		.syncs = ARRAY_OF(syncs, FENCES + 1),
	};
	pthread_t thread;
	int i;

	crowd_syncs(&crowd, syncs);
	for (i = 0; i < CALLS; i++)
		CHECK_OK(gpu_submit(crowd.fx.fd, &job, 1, NULL));
	CHECK_OK(-pthread_create(&thread, NULL, destroy_context, &crowd.fx));
	usleep(us);
	crowd_begin(&crowd);
	CHECK_OK(-pthread_join(thread, NULL));
	crowd_check(&crowd);
	crowd_close(&crowd);
}

/*
 * The driver waits 100 ms for queued jobs, and then kills those that remain. The scheduler
 * must not take jobs from the queue meanwhile; the moments are spread over the kill.
 */
static void context_may_be_destroyed_while_its_jobs_begin(void)
{
	const struct counts before = need_counts();
	struct fixture fx;
	unsigned int i;

	for (i = 0; i < ROUNDS; i++)
		context_with_jobs(96000 + i * 300);
	need_left(before);
	fx = fx_open();
	fx_check_works(&fx);
}

/* Let binds begin, and destroy their VM @us microseconds later. */
static void vm_with_binds(unsigned int us)
{
	const struct drm_pumice_bind_op op = bind_map(0, 0, FX_FREE, MIB, DRM_PUMICE_BIND_NULL);
	struct crowd crowd = crowd_open();
	struct drm_pumice_sync syncs[FENCES + 1];
	int i;

	crowd_syncs(&crowd, syncs);
	CHECK_OK(gpu_context_destroy(crowd.fx.fd, crowd.fx.context));
	for (i = 0; i < CALLS; i++)
		CHECK_OK(gpu_bind_async(crowd.fx.fd, crowd.fx.vm, &op, 1, syncs,
					FENCES + 1));
	crowd_begin(&crowd);
	usleep(us);
	CHECK_OK(gpu_vm_destroy(crowd.fx.fd, crowd.fx.vm));
	crowd_check(&crowd);
	crowd_close(&crowd);
}

/* The binds are cancelled with the VM, and the scheduler's jobs that remain are killed. */
static void vm_may_be_destroyed_while_its_binds_begin(void)
{
	const struct counts before = need_counts();
	struct fixture fx;
	unsigned int i;

	for (i = 0; i < ROUNDS; i++)
		vm_with_binds(i * 150);
	need_left(before);
	fx = fx_open();
	fx_check_works(&fx);
}

/* Return the events of a file that poll() reports, after at most @ms. */
static short file_events(int fd, int ms)
{
	struct pollfd file = { .fd = fd, .events = POLLIN };

	return poll(&file, 1, ms) > 0 ? file.revents : 0;
}

/* Its job is still in the kernel, and sends the events of its presents when it ends. */
static void a_file_of_a_removed_device_ends_after_its_last_event(void)
{
	struct fixture fx = fx_open();
	struct foreign foreign = foreign_fence(fx.fd);
	const struct drm_pumice_sync wait = wait_for(foreign.sync, 0);
	const struct drm_pumice_job job = {
		.context = need_context_of(fx.fd, fx.vm, DRM_PUMICE_CONTEXT_TRANSFER),
		.stream = FX_FREE, .syncs = ARRAY_OF(&wait, 1), .presents = 2,
	};
	struct drm_pumice_event_flip event;
	u32 i;

	CHECK_OK(gpu_submit(fx.fd, &job, 1, NULL));
	CHECK_EQUAL(file_events(fx.fd, 0), 0);
	need_unbound();
	CHECK_EQUAL(file_events(fx.fd, 0), 0);
	foreign_signal(&foreign);
	for (i = 0; i < 2; i++) {
		CHECK(file_events(fx.fd, WAIT_SECONDS * 1000) & POLLIN);
		CHECK_EQUAL(read(fx.fd, &event, sizeof(event)), sizeof(event));
		CHECK(event.error < 0);
	}
	CHECK_EQUAL(file_events(fx.fd, 0), POLLHUP);
	need_bound();
}

static const struct test_case cases[] = {
	TEST_CASE(job_waits_for_a_fence_of_another_driver),
	TEST_CASE(context_that_waits_for_another_driver_can_be_destroyed),
	TEST_CASE(context_may_be_destroyed_while_its_jobs_begin),
	TEST_CASE(vm_may_be_destroyed_while_its_binds_begin),
	TEST_CASE(a_file_of_a_removed_device_ends_after_its_last_event),
};

TEST_MAIN(cases)
