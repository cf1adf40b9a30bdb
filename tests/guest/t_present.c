// SPDX-License-Identifier: MIT
/*
 * Presents: the events of a file, after their copies, in order, one for each that a job announced
 * whatever happens to the job; space for events; files that are closed before; removal of the
 * device.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "parameters.h"
#include "pumice_regs.h"
#include "render.h"
#include "system.h"

#define IMAGE	64u	/* width and height of the image in the data */
#define COPY	(16 * 1024u)	/* offset of the copy */
#define SPACE	(4096 / sizeof(struct drm_pumice_event_flip))	/* events of a file */
#define USER	0x1122334455667788ull

/** struct presenter - a fixture with a transfer context */
struct presenter {
	struct fixture fx;
	u32 compute;	/* original context of the fixture */
};

static struct presenter presenter_on(int fd)
{
	struct presenter p = { .fx = fx_on(fd) };

	p.compute = p.fx.context;
	p.fx.context = need_context_of(p.fx.fd, p.fx.vm, DRM_PUMICE_CONTEXT_TRANSFER);
	return p;
}

static struct presenter presenter(void)
{
	return presenter_on(need_gpu());
}

static struct pumice_texture image_at(const struct presenter *p, u32 offset)
{
	return (struct pumice_texture){
		.addr = p->fx.data.va + offset, .format = PUMICE_FORMAT_RGBA8_UNORM,
		.layout = PUMICE_LAYOUT_LINEAR, .dim = PUMICE_TEXTURE_DIM_2D, .levels = 1,
		.width = IMAGE - 1, .height = IMAGE - 1, .swizzle_g = PUMICE_SWIZZLE_G,
		.swizzle_b = PUMICE_SWIZZLE_B, .swizzle_a = PUMICE_SWIZZLE_A,
	};
}

/* A stream with presents of the whole image; their frames are @first and up. */
static u64 present_stream(struct presenter *p, u32 first, u32 count)
{
	const struct pumice_texture src = image_at(p, 0), dst = image_at(p, COPY);

	return transfer_present_stream(&p->fx, &src, &dst, (struct pumice_tdm_present){
		.src_width = IMAGE, .src_height = IMAGE, .dst_width = IMAGE,
		.dst_height = IMAGE, .frame = first,
	}, count);
}

/* Submit a job that announces presents and signals fx.sync. */
static int submit(struct presenter *p, u64 stream, u32 presents, u64 user_data)
{
	const struct drm_pumice_sync signal = then_signal(p->fx.sync, 0);
	const struct drm_pumice_job job = {
		.context = p->fx.context, .stream = stream, .syncs = ARRAY_OF(&signal, 1),
		.presents = presents, .present_data = user_data,
	};

	return gpu_submit(p->fx.fd, &job, 1, NULL);
}

static bool has_event(int fd, int ms)
{
	struct pollfd file = { .fd = fd, .events = POLLIN };

	return poll(&file, 1, ms) == 1;
}

/* Wait for an event and read it. */
static struct drm_pumice_event_flip need_event(int fd)
{
	struct drm_pumice_event_flip e = { 0 };

	CHECK(has_event(fd, WAIT_SECONDS * 1000));
	CHECK_EQUAL(read(fd, &e, sizeof(e)), sizeof(e));
	CHECK_EQUAL(e.base.type, DRM_PUMICE_EVENT_FLIP);
	CHECK_EQUAL(e.base.length, sizeof(e));
	CHECK_EQUAL(e.pad, 0);
	return e;
}

static void need_error(int fd, u64 user_data, int error)
{
	struct drm_pumice_event_flip e = need_event(fd);

	CHECK_EQUAL(e.user_data, user_data);
	CHECK_EQUAL(e.error, error);
	CHECK_EQUAL(e.address, 0);
	CHECK_EQUAL(e.gpu_ticks, 0);
	CHECK_EQUAL(e.frame, 0);
}

static void an_event_follows_its_copy(void)
{
	struct presenter p = presenter();
	struct drm_pumice_event_flip e;
	u64 before = now_ns();
	u32 i;

	for (i = 0; i < IMAGE * IMAGE; i++)
		p.fx.data.cpu[i] = i * 2654435761u;
	CHECK(!has_event(p.fx.fd, 0));
	CHECK_OK(submit(&p, present_stream(&p, 77, 1), 1, USER));
	e = need_event(p.fx.fd);
	/* The event implies the copy: no wait for the job's fence. */
	for (i = 0; i < IMAGE * IMAGE; i++)
		CHECK_EQUAL(p.fx.data.cpu[COPY / 4 + i], i * 2654435761u);
	CHECK_EQUAL(e.user_data, USER);
	CHECK_EQUAL(e.frame, 77);
	CHECK_EQUAL(e.address, p.fx.data.va + COPY);
	CHECK_EQUAL(e.job, 1);
	CHECK_EQUAL(e.context, p.fx.context);
	CHECK_EQUAL(e.error, 0);
	CHECK(e.time_ns >= before && e.time_ns <= now_ns());
	CHECK(e.gpu_ticks);
	CHECK_EQUAL(fx_wait(&p.fx), 1);
	CHECK(!has_event(p.fx.fd, 0));
}

/*
 * 10,000 presents of two contexts of a file, always some in flight: none is lost or out of order.
 */
static void no_event_of_ten_thousand_is_lost(void)
{
	const u32 jobs = 5000, depth = 24;
	struct presenter p[2] = { presenter() };
	u32 submitted = 0, seen[2] = { 0 };
	u64 stream[2];
	u32 n;

	p[1] = p[0];
	p[1].fx.context = need_context_of(p[0].fx.fd, p[0].fx.vm, DRM_PUMICE_CONTEXT_TRANSFER);
	p[1].fx.sync = need_sync(p[0].fx.fd);
	for (n = 0; n < 2; n++)
		stream[n] = present_stream(&p[0], 100 * n, 2);
	while (seen[0] + seen[1] < 2 * jobs) {
		struct drm_pumice_event_flip e;

		for (; submitted < jobs && submitted - (seen[0] + seen[1]) / 2 < depth; submitted++)
			CHECK_OK(submit(&p[submitted % 2], stream[submitted % 2], 2,
					submitted % 2));
		e = need_event(p[0].fx.fd);
		n = (u32)e.user_data;
		CHECK(n < 2);
		CHECK_EQUAL(e.error, 0);
		CHECK_EQUAL(e.context, p[n].fx.context);
		CHECK_EQUAL(e.frame, 100 * n + seen[n] % 2);
		CHECK_EQUAL(e.job, seen[n] / 2 + 1);
		seen[n]++;
	}
	CHECK_EQUAL(seen[0], jobs);
	CHECK_EQUAL(seen[1], jobs);
	CHECK(!has_event(p[0].fx.fd, 0));
}

static void bad_presents_are_refused(void)
{
	struct presenter p = presenter();
	u32 render = need_context_of(p.fx.fd, p.fx.vm, DRM_PUMICE_CONTEXT_RENDER), failed, i;
	const u64 stream = present_stream(&p, 1, 1);
	const struct {
		struct drm_pumice_job job;
		int error;
	} bad[] = {
		{ { .context = p.fx.context, .presents = DRM_PUMICE_MAX_PRESENTS + 1 }, -E2BIG },
		{ { .context = p.fx.context, .presents = ~0u }, -E2BIG },
		{ { .context = p.fx.context, .presents = 1, .pad = 1 }, -EINVAL },
		{ { .context = p.fx.context, .pad = 1 }, -EINVAL },
		{ { .context = p.fx.context, .present_data = 1 }, -EINVAL },
		{ { .context = p.compute, .presents = 1 }, -EINVAL },
		{ { .context = render, .presents = 1 }, -EINVAL },
	};
	struct drm_pumice_job jobs[2];

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		jobs[0] = (struct drm_pumice_job){
			.context = p.fx.context, .stream = stream, .presents = 2,
		};
		jobs[1] = bad[i].job;
		jobs[1].stream = stream;
		CHECK_EQUAL(gpu_submit(p.fx.fd, jobs, 2, &failed), bad[i].error);
		CHECK_EQUAL(failed, 1);
	}
	CHECK(!has_event(p.fx.fd, 0));
	/* The refused calls have released the space of their events. */
	CHECK_OK(submit(&p, stream, DRM_PUMICE_MAX_PRESENTS, 1));
	CHECK_EQUAL(need_event(p.fx.fd).error, 0);
	for (i = 1; i < DRM_PUMICE_MAX_PRESENTS; i++)
		need_error(p.fx.fd, 1, -ENODATA);
}

/* A job without the fields, as programs before uapi 1.5 submit it, and one that has no presents. */
static void a_present_that_was_not_announced_faults(void)
{
	struct presenter p = presenter();
	const u64 stream = present_stream(&p, 1, 1);

	CHECK_EQUAL(fx_run(&p.fx, stream), -EIO);
	CHECK_EQUAL(need_state(p.fx.fd, p.fx.context).fault, PUMICE_FAULT_TDM_PRESENT);
	CHECK_OK(submit(&p, present_stream(&p, 5, 3), 2, 9));
	CHECK_EQUAL(need_event(p.fx.fd).frame, 5);
	CHECK_EQUAL(need_event(p.fx.fd).frame, 6);
	CHECK_EQUAL(fx_wait(&p.fx), -EIO);
	CHECK(!has_event(p.fx.fd, 0));
}

static void a_job_that_faults_has_all_of_its_events(void)
{
	struct presenter p = presenter();
	u32 i;

	CHECK_OK(submit(&p, FX_FREE, 3, 4));
	for (i = 0; i < 3; i++)
		need_error(p.fx.fd, 4, -EIO);
	CHECK_EQUAL(fx_wait(&p.fx), -EIO);
}

/* As many as fit, over and over; the space returns when events are read and when calls fail. */
static void space_for_events_is_limited_by_file(void)
{
	struct presenter p = presenter(), other = presenter();
	const u64 stream = present_stream(&p, 0, DRM_PUMICE_MAX_PRESENTS);
	struct drm_pumice_job two[2] = {
		{ .context = p.fx.context, .stream = stream, .presents = DRM_PUMICE_MAX_PRESENTS },
		{ .context = p.fx.context, .stream = 1 },
	};
	u32 round, i;

	for (i = 0; i < 100; i++)
		CHECK_EQUAL(gpu_submit(p.fx.fd, two, 2, NULL), -EINVAL);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < SPACE; i += DRM_PUMICE_MAX_PRESENTS)
			CHECK_OK(submit(&p, stream, DRM_PUMICE_MAX_PRESENTS, i));
		CHECK_EQUAL(submit(&p, stream, 1, 0), -ENOSPC);
		CHECK_OK(submit(&other, present_stream(&other, 3, 1), 1, 0));
		CHECK_EQUAL(need_event(other.fx.fd).frame, 3);
		CHECK_EQUAL(need_event(p.fx.fd).frame, 0);
		CHECK_EQUAL(submit(&p, stream, 2, 0), -ENOSPC);
		CHECK_EQUAL(fx_wait(&p.fx), 1);
		for (i = 1; i < SPACE; i++)
			CHECK_EQUAL(need_event(p.fx.fd).frame, i % DRM_PUMICE_MAX_PRESENTS);
		CHECK(!has_event(p.fx.fd, 0));
	}
}

static void reads_without_waiting_return_at_once(void)
{
	struct presenter p = presenter();
	struct drm_pumice_event_flip e;

	CHECK_EQUAL(fcntl(p.fx.fd, F_SETFL, O_RDWR | O_NONBLOCK), 0);
	CHECK_EQUAL(read(p.fx.fd, &e, sizeof(e)), -1);
	CHECK_EQUAL(errno, EAGAIN);
	/* A buffer that is too small gets none, and the event remains. */
	CHECK_OK(submit(&p, present_stream(&p, 2, 1), 1, 1));
	CHECK(has_event(p.fx.fd, WAIT_SECONDS * 1000));
	CHECK(read(p.fx.fd, &e, sizeof(e) - 1) <= 0);
	CHECK_EQUAL(need_event(p.fx.fd).frame, 2);
}

static void a_context_destroyed_with_presents_ends_them(void)
{
	struct presenter p = presenter();
	u32 i;

	CHECK_OK(submit(&p, transfer_loop_stream(&p.fx), 2, 1));
	CHECK_OK(submit(&p, present_stream(&p, 1, 1), 1, 2));
	CHECK_OK(gpu_context_destroy(p.fx.fd, p.fx.context));
	for (i = 0; i < 3; i++)
		CHECK(need_event(p.fx.fd).error < 0);
	CHECK(!has_event(p.fx.fd, 0));
}

/* Files closed with events that were not read, and with jobs that have not ended. */
static void closed_files_leave_nothing(void)
{
	u32 i, k;

	for (i = 0; i < 40; i++) {
		struct presenter p = presenter();
		const u64 stream = present_stream(&p, 1, DRM_PUMICE_MAX_PRESENTS);

		for (k = 0; k < SPACE / DRM_PUMICE_MAX_PRESENTS - 1; k++)
			CHECK_OK(submit(&p, stream, DRM_PUMICE_MAX_PRESENTS, k));
		if (i % 4 == 1)
			CHECK_EQUAL(fx_wait(&p.fx), 1);
		if (i % 4 == 2)
			CHECK_OK(submit(&p, transfer_loop_stream(&p.fx),
					DRM_PUMICE_MAX_PRESENTS, k));
		if (i % 4 == 3)
			need_event(p.fx.fd);
		fx_close(&p.fx);
	}
	an_event_follows_its_copy();
}

static void a_time_out_ends_presents_in_order(void)
{
	long usual = module_parameter("job_timeout_ms");
	struct presenter p;

	CHECK_OK(set_module_parameter("job_timeout_ms", 500));
	p = presenter();
	CHECK_OK(set_module_parameter("job_timeout_ms", usual));
	CHECK_OK(submit(&p, present_stream(&p, 8, 1), 1, 1));
	CHECK_OK(submit(&p, transfer_loop_stream(&p.fx), 1, 2));
	CHECK_OK(submit(&p, present_stream(&p, 9, 1), 2, 3));
	CHECK_EQUAL(need_event(p.fx.fd).frame, 8);
	need_error(p.fx.fd, 2, -ETIMEDOUT);
	need_error(p.fx.fd, 3, -ECANCELED);
	need_error(p.fx.fd, 3, -ECANCELED);
	CHECK(!has_event(p.fx.fd, 0));
}

/* Wait until a job of transfer_loop_stream() runs: one that has not begun runs after a reset. */
static void wait_for_loop(const struct presenter *p)
{
	const volatile u32 *word = p->fx.data.cpu;
	u64 end = now_ns() + WAIT_SECONDS * 1000000000ull;

	while (!*word)
		CHECK(now_ns() < end);
}

static void a_reset_ends_presents_of_the_running_job(void)
{
	struct presenter p = presenter(), next;

	p.fx.data.cpu[0] = 0;
	CHECK_OK(submit(&p, transfer_loop_stream(&p.fx), 2, 5));
	CHECK_OK(submit(&p, present_stream(&p, 1, 1), 1, 6));
	wait_for_loop(&p);
	need_flr();
	need_error(p.fx.fd, 5, -ECANCELED);
	need_error(p.fx.fd, 5, -ECANCELED);
	need_error(p.fx.fd, 6, -ECANCELED);
	next = presenter();
	CHECK_OK(submit(&next, present_stream(&next, 4, 1), 1, 1));
	CHECK_EQUAL(need_event(next.fx.fd).frame, 4);
}

/** struct waiter - a thread in poll() that reads the events of a file until none follows */
struct waiter {
	int fd;
	_Atomic int tid;
	u32 events;	/* of them, all with errors */
	short last;	/* revents at the end */
};

static void *wait_for_end(void *arg)
{
	struct waiter *w = arg;
	struct pollfd file = { .fd = w->fd, .events = POLLIN };

	w->tid = gettid();
	do {
		CHECK_EQUAL(poll(&file, 1, -1), 1);
		if (file.revents & POLLIN) {
			CHECK(need_event(w->fd).error < 0);
			w->events++;
		}
	} while (file.revents & POLLIN);
	w->last = file.revents;
	return NULL;
}

/* Wait until the thread sleeps. */
static void need_asleep(const struct waiter *w)
{
	u64 end = now_ns() + WAIT_SECONDS * 1000000000ull;
	char path[64], state = 0;
	FILE *file;

	while (state != 'S') {
		CHECK(now_ns() < end);
		if (!w->tid)
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%d/stat", w->tid);
		file = fopen(path, "re");
		CHECK(file);
		CHECK_EQUAL(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
		fclose(file);
	}
}

/* Files with and without presents: their waiters return, after the last event of each. */
static void waiters_return_when_the_device_is_removed(void)
{
	struct presenter p = presenter(), idle = presenter();
	struct waiter waiters[] = { { .fd = p.fx.fd }, { .fd = idle.fx.fd } };
	pthread_t threads[2];
	u32 i;

	CHECK_OK(submit(&p, transfer_loop_stream(&p.fx), 2, 1));
	CHECK_OK(submit(&p, present_stream(&p, 1, 1), 1, 2));
	for (i = 0; i < 2; i++) {
		CHECK_OK(pthread_create(&threads[i], NULL, wait_for_end, &waiters[i]));
		need_asleep(&waiters[i]);
	}
	need_unbound();
	for (i = 0; i < 2; i++) {
		CHECK_OK(pthread_join(threads[i], NULL));
		CHECK_EQUAL(waiters[i].last, POLLHUP);
	}
	CHECK_EQUAL(waiters[0].events, 3);
	CHECK_EQUAL(waiters[1].events, 0);
	need_bound();
}

/** struct refused - a thread whose calls of SUBMIT fail after they have reserved events */
struct refused {
	struct presenter *p;
	u32 context;	/* of a VM that is destroyed during the last call */
	_Atomic u32 calls;
};

/*
 * The first job uses the VM that is destroyed, the second one has presents, the last one is
 * refused. Those in between have many dependencies, which keep the call busy meanwhile.
 */
static void *submit_refused(void *arg)
{
	struct refused *r = arg;
	const u64 stream = present_stream(r->p, 1, 1);
	struct drm_pumice_sync syncs[DRM_PUMICE_MAX_SYNCS];
	struct drm_pumice_job jobs[DRM_PUMICE_MAX_JOBS];
	int ret;
	u32 i;

	for (i = 0; i < DRM_PUMICE_MAX_SYNCS; i++)
		syncs[i] = wait_for(r->p->fx.sync, 0);
	for (i = 0; i < DRM_PUMICE_MAX_JOBS; i++)
		jobs[i] = (struct drm_pumice_job){
			.context = r->p->fx.context, .stream = stream,
			.syncs = ARRAY_OF(syncs, DRM_PUMICE_MAX_SYNCS),
		};
	jobs[0] = (struct drm_pumice_job){ .context = r->context, .stream = stream };
	jobs[1] = (struct drm_pumice_job){
		.context = r->p->fx.context, .stream = stream, .presents = DRM_PUMICE_MAX_PRESENTS,
	};
	jobs[DRM_PUMICE_MAX_JOBS - 1].stream = 1;
	do {
		ret = gpu_submit(r->p->fx.fd, jobs, DRM_PUMICE_MAX_JOBS, NULL);
		r->calls++;
	} while (ret == -EINVAL);
	CHECK(ret == -ENOENT || ret == -ENODEV);
	return NULL;
}

/* Return a context without jobs, of a VM that the GPU has used, so that its release waits. */
static u32 context_of_used_vm(int fd, u32 *vm)
{
	struct fixture other = fx_on(fd);

	CHECK_EQUAL(fx_run(&other, fx_empty_stream(&other)), 1);
	*vm = other.vm;
	CHECK_OK(gpu_context_destroy(fd, other.context));
	return need_context_of(fd, other.vm, DRM_PUMICE_CONTEXT_TRANSFER);
}

/*
 * A call that fails while the device is removed frees its events when the waiter has looked: the
 * removal wakes it before, as the call waits for the end of the removal to release a VM.
 */
static void a_waiter_returns_after_a_submit_that_the_removal_delays(void)
{
	u32 round, vm;

	for (round = 0; round < 10; round++) {
		struct presenter p = presenter();
		struct refused refused = { .p = &p };
		struct waiter waiter = { .fd = p.fx.fd };
		pthread_t threads[2];

		CHECK_OK(submit(&p, present_stream(&p, 1, 1), 1, 1));
		CHECK_EQUAL(need_event(p.fx.fd).frame, 1);
		CHECK_EQUAL(fx_wait(&p.fx), 1);
		refused.context = context_of_used_vm(p.fx.fd, &vm);
		CHECK_OK(pthread_create(&threads[0], NULL, wait_for_end, &waiter));
		need_asleep(&waiter);
		CHECK_OK(pthread_create(&threads[1], NULL, submit_refused, &refused));
		while (!refused.calls)
			;
		CHECK_OK(gpu_context_destroy(p.fx.fd, refused.context));
		CHECK_OK(gpu_vm_destroy(p.fx.fd, vm));
		need_unbound();
		CHECK_OK(pthread_join(threads[1], NULL));
		CHECK_OK(pthread_join(threads[0], NULL));
		CHECK_EQUAL(waiter.last, POLLHUP);
		CHECK_EQUAL(waiter.events, 0);
		fx_close(&p.fx);
		need_bound();
	}
}

/* Look at a file without waiting, until no event follows. */
static void *look_for_end(void *arg)
{
	struct waiter *w = arg;
	struct pollfd file = { .fd = w->fd, .events = POLLIN };

	w->tid = gettid();
	do {
		CHECK(poll(&file, 1, 0) >= 0);
		if (file.revents & POLLIN) {
			CHECK(need_event(w->fd).error < 0);
			w->events++;
		}
	} while (!(file.revents & POLLHUP) || file.revents & POLLIN);
	w->last = file.revents;
	return NULL;
}

/*
 * The last event may be sent between the two looks of one poll(): it is readable all the same. A
 * file has one event, because a thread that reads an event does not look for the next one.
 */
static void no_file_ends_before_its_last_event_was_read(void)
{
	u32 round;

	for (round = 0; round < 16; round++) {
		struct presenter p[2] = { presenter(), presenter() };
		struct waiter waiters[2] = { { .fd = p[0].fx.fd }, { .fd = p[1].fx.fd } };
		pthread_t threads[2];
		u32 i;

		for (i = 0; i < 2; i++)
			CHECK_OK(submit(&p[i], transfer_loop_stream(&p[i].fx), 1, 1));
		for (i = 0; i < 2; i++)
			CHECK_OK(pthread_create(&threads[i], NULL, look_for_end, &waiters[i]));
		while (!waiters[0].tid || !waiters[1].tid)
			;
		need_unbound();
		for (i = 0; i < 2; i++) {
			CHECK_OK(pthread_join(threads[i], NULL));
			CHECK_EQUAL(waiters[i].last, POLLHUP);
			CHECK_EQUAL(waiters[i].events, 1);
			fx_close(&p[i].fx);
		}
		need_bound();
	}
}

static const struct test_case cases[] = {
	TEST_CASE(an_event_follows_its_copy),
	TEST_CASE_SECONDS(no_event_of_ten_thousand_is_lost, 200),
	TEST_CASE(bad_presents_are_refused),
	TEST_CASE(a_present_that_was_not_announced_faults),
	TEST_CASE(a_job_that_faults_has_all_of_its_events),
	TEST_CASE(space_for_events_is_limited_by_file),
	TEST_CASE(reads_without_waiting_return_at_once),
	TEST_CASE(a_context_destroyed_with_presents_ends_them),
	TEST_CASE(closed_files_leave_nothing),
	TEST_CASE(a_time_out_ends_presents_in_order),
	TEST_CASE(a_reset_ends_presents_of_the_running_job),
	TEST_CASE(waiters_return_when_the_device_is_removed),
	TEST_CASE(a_waiter_returns_after_a_submit_that_the_removal_delays),
	TEST_CASE(no_file_ends_before_its_last_event_was_read),
};

TEST_MAIN(cases)
