// SPDX-License-Identifier: MIT
/*
 * VM_BIND and SUBMIT interrupted by signals: repeated with unmodified arguments, they have
 * had their complete effect, once.
 *
 * A call waits for a reservation, and so can be interrupted, while another thread
 * binds a fresh BO of the same VM: that thread holds the reservation while it
 * allocates the BO's pages.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "harness.h"
#include "interrupt.h"
#include "fixture.h"

#define INTERVAL_US	200
#define BIG		(32 * MIB)	/* takes some ms to pin; many fit into the guest's memory */
#define BIG_VA		(FX_FREE + 64 * GIB)
#define PAGES		1024u	/* maximum number of bound pages */
#define INTERRUPTED	24u	/* interrupted calls that a case requires */
#define WORDS		(PAGE / sizeof(u32))

/** struct scene - one VM, two threads */
struct scene {
	struct fixture fx;
	u32 target;		/* BO whose pages are bound one by one */
	u32 *cpu;		/* its memory */
	u32 bound;		/* number of its bound pages */
	u32 interrupted;	/* number of interrupted calls */
	pthread_t holder;
	bool stop;		/* atomic */
};

/* Keep the VM's reservation locked while the pages of a large BO are allocated. */
static void *hold_reservation(void *arg)
{
	struct scene *scene = arg;
	struct fixture *fx = &scene->fx;
	u32 big;

	while (!__atomic_load_n(&scene->stop, __ATOMIC_RELAXED)) {
		CHECK_OK(gpu_bo_create(fx->fd, BIG, fx->vm, &big));
		need_map(fx->fd, fx->vm, big, 0, BIG_VA, BIG, 0);
		need_unmap(fx->fd, fx->vm, BIG_VA, BIG);
		CHECK_OK(gpu_bo_close(fx->fd, big));
	}
	return NULL;
}

static struct scene *scene_open(void)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	CHECK(scene);
	scene->fx = fx_open();
	CHECK_OK(gpu_bo_create(scene->fx.fd, (u64)PAGES * PAGE, scene->fx.vm, &scene->target));
	scene->cpu = need_cpu(scene->fx.fd, scene->target, (u64)PAGES * PAGE);
	CHECK_OK(-pthread_create(&scene->holder, NULL, hold_reservation, scene));
	return scene;
}

static u64 page_va(u32 page)
{
	return FX_FREE + (u64)page * PAGE;
}

/* Like drmIoctl(): repeat the call with the same structure while signals interrupt it. */
static void call_with_signals(struct scene *scene, unsigned long request, void *args)
{
	bool interrupted = false;
	int err;

	while ((err = ioctl(scene->fx.fd, request, args)) && errno == EINTR)
		interrupted = true;
	CHECK_OK(err ? -errno : 0);
	scene->interrupted += interrupted;
}

static void bind_with_signals(struct scene *scene, const struct drm_pumice_bind_op *ops,
			      u32 count, u32 flags)
{
	struct drm_pumice_vm_bind bind = {
		.vm = scene->fx.vm, .flags = flags, .ops = ARRAY_OF(ops, count),
	};

	call_with_signals(scene, DRM_IOCTL_PUMICE_VM_BIND, &bind);
}

/* Bind page after page, until enough calls were interrupted. */
static void bind_pages(struct scene *scene, u32 flags)
{
	timer_t timer = interrupt_me(INTERVAL_US);
	u32 i;

	for (i = 0; i < PAGES && scene->interrupted < INTERRUPTED; i++) {
		struct drm_pumice_bind_op op =
			bind_map(scene->target, i * PAGE, page_va(i), PAGE, 0);

		bind_with_signals(scene, &op, 1, flags);
	}
	timer_delete(timer);
	scene->bound = i;
	CHECK(scene->interrupted);
}

static void stop_holder(struct scene *scene)
{
	__atomic_store_n(&scene->stop, true, __ATOMIC_RELAXED);
	CHECK_OK(-pthread_join(scene->holder, NULL));
	test_note("%u of %u calls were interrupted", scene->interrupted, scene->bound);
}

/* An empty asynchronous bind completes after all earlier ones. */
static void drain_binds(struct scene *scene)
{
	struct drm_pumice_sync done = then_signal(need_sync(scene->fx.fd), 0);

	CHECK_OK(gpu_bind_async(scene->fx.fd, scene->fx.vm, NULL, 0, &done, 1));
	need_wait(scene->fx.fd, done.handle, 0);
	CHECK_EQUAL(sync_status(scene->fx.fd, done.handle, 0), 1);
}

/* Check that a job's store to the page is visible to the CPU. */
static void check_mapped(struct scene *scene, u64 va, u32 page)
{
	u32 value = (page + 1) << 8;

	CHECK_EQUAL(fx_run(&scene->fx, fx_store_stream(&scene->fx, va, value)), 1);
	fx_check_words(scene->cpu + page * WORDS, value);
}

static void check_all_mapped(struct scene *scene)
{
	u32 i;

	for (i = 0; i < scene->bound; i++)
		check_mapped(scene, page_va(i), i);
}

static void interrupted_bind_maps_every_page(void)
{
	struct scene *scene = scene_open();

	bind_pages(scene, 0);
	stop_holder(scene);
	check_all_mapped(scene);
}

static void interrupted_async_bind_maps_every_page(void)
{
	struct scene *scene = scene_open();

	bind_pages(scene, DRM_PUMICE_VM_BIND_ASYNC);
	stop_holder(scene);
	drain_binds(scene);
	check_all_mapped(scene);
}

/*
 * Repeating a call from its start has the same result as executing it once, although it
 * unmaps what it maps later, and maps two pages to one address alternately.
 */
static void interrupted_sequence_is_repeatable(void)
{
	struct scene *scene = scene_open();
	timer_t timer = interrupt_me(INTERVAL_US);
	u32 i;

	for (i = 0; i + 1 < PAGES && scene->interrupted < INTERRUPTED; i += 2) {
		const struct drm_pumice_bind_op ops[] = {
			bind_unmap(page_va(i), 2 * PAGE),
			bind_map(scene->target, i * PAGE, page_va(i), PAGE, 0),
			bind_map(scene->target, i * PAGE, page_va(i + 1), PAGE, 0),
			bind_unmap(page_va(i), PAGE),
			bind_map(scene->target, (i + 1) * PAGE, page_va(i), PAGE, 0),
		};

		bind_with_signals(scene, ops, 5, 0);
	}
	timer_delete(timer);
	scene->bound = i;
	stop_holder(scene);
	CHECK(scene->interrupted);
	for (i = 0; i < scene->bound; i += 2) {
		check_mapped(scene, page_va(i), i + 1);
		check_mapped(scene, page_va(i + 1), i);
	}
}

/* The fences and the context's count of jobs show which jobs ran. */
static void interrupted_submit_runs_each_job_once(void)
{
	struct scene *scene = scene_open();
	struct fixture *fx = &scene->fx;
	const u64 stream = fx_empty_stream(fx);
	const struct drm_pumice_sync done = then_signal(fx->sync, 0);
	const struct drm_pumice_job jobs[] = {
		{ .context = fx->context, .stream = stream },
		{ .context = fx->context, .stream = stream, .syncs = ARRAY_OF(&done, 1) },
	};
	timer_t timer = interrupt_me(INTERVAL_US);
	u32 i;

	for (i = 0; i < PAGES && scene->interrupted < INTERRUPTED; i++) {
		struct drm_pumice_submit submit = { .jobs = ARRAY_OF(jobs, 2) };

		call_with_signals(scene, DRM_IOCTL_PUMICE_SUBMIT, &submit);
		CHECK_EQUAL(fx_wait(fx), 1);
	}
	timer_delete(timer);
	scene->bound = i;
	stop_holder(scene);
	CHECK(scene->interrupted);
	CHECK_EQUAL(need_state(fx->fd, fx->context).jobs_done, 2 * i);
}

static const struct test_case cases[] = {
	TEST_CASE(interrupted_bind_maps_every_page),
	TEST_CASE(interrupted_async_bind_maps_every_page),
	TEST_CASE(interrupted_sequence_is_repeatable),
	TEST_CASE(interrupted_submit_runs_each_job_once),
};

TEST_MAIN(cases)
