// SPDX-License-Identifier: MIT
/*
 * Jobs that the firmware has at a reset of the GPU: those that had not begun run after it,
 * once; a context that had begun one loses all of them.
 */
#include <errno.h>
#include <pthread.h>

#include "harness.h"
#include "render.h"
#include "fixture.h"
#include "system.h"

#define WORDS		32u	/* that fx_store_stream() and fx_copy_stream() write */
/* More than fit into a queue's ring. */
#define JOBS		600
#define CHAIN		20
#define PICTURE		(RENDER_SIZE * RENDER_SIZE)
#define VERTEX_WORD	(2 * PICTURE)

/* Its endless jobs may run for longer than a slow kernel needs to submit the other jobs. */
static struct fixture blocker_open(void)
{
	return fx_with(need_gpu(), DRM_PUMICE_PRIORITY_NORMAL, 60000);
}

static void check_lost(struct fixture *fx)
{
	CHECK_EQUAL(fx_wait(fx), -ECANCELED);
	CHECK_EQUAL(need_state(fx->fd, fx->context).state, DRM_PUMICE_CONTEXT_INNOCENT);
}

/* Each adds 1 to the same words, which shows jobs that are skipped or run twice. */
static void jobs_that_had_not_begun_run_once(void)
{
	struct fixture blocker = blocker_open(), fx = fx_open();
	const u64 add = fx_copy_stream(&fx, fx.data.va, fx.data.va, 1);
	u32 i, syncs[JOBS];

	for (i = 0; i < WORDS; i++)
		fx.data.cpu[i] = 1000 + i;
	fx_block(&blocker);
	for (i = 0; i < JOBS; i++) {
		fx.sync = syncs[i] = need_sync(fx.fd);
		fx_submit(&fx, add);
	}
	CHECK_EQUAL(fx.data.cpu[0], 1000);
	need_flr();
	check_lost(&blocker);
	for (i = 0; i < JOBS; i++) {
		need_wait(fx.fd, syncs[i], 0);
		CHECK_EQUAL(sync_status(fx.fd, syncs[i], 0), 1);
	}
	fx_check_words(fx.data.cpu, 1000 + JOBS);
	CHECK_EQUAL(need_state(fx.fd, fx.context).state, 0);
	CHECK_EQUAL(need_state(fx.fd, fx.context).jobs_done, JOBS);
	fx_check_works(&fx);
}

/*
 * Two contexts alternately, each job waits for the previous one, the first for the job that
 * is lost. Each copies the output of the previous one. The second context has the first job,
 * so that contexts which alternate without waits have the wrong order.
 */
static void jobs_wait_for_each_other_after_a_reset(void)
{
	struct fixture blocker = blocker_open(), fx = fx_on(blocker.fd);
	u32 contexts[2] = { fx.context, need_context(fx.fd, fx.vm) }, i;
	struct drm_pumice_sync syncs[2] = { wait_for(blocker.sync, 0) };
	struct drm_pumice_job job = { .syncs = ARRAY_OF(syncs, 2) };

	for (i = 0; i < WORDS; i++)
		fx.data.cpu[i] = 7 + i;
	fx_block(&blocker);
	for (i = 0; i < CHAIN; i++) {
		syncs[1] = then_signal(need_sync(fx.fd), 0);
		job.context = contexts[(i + 1) % 2];
		job.stream = fx_copy_stream(&fx, fx_data(&fx, (i + 1) * WORDS),
					    fx_data(&fx, i * WORDS), 1);
		CHECK_OK(gpu_submit(fx.fd, &job, 1, NULL));
		syncs[0] = wait_for(syncs[1].handle, 0);
	}
	need_in_flight(1 + CHAIN);
	need_flr();
	fx.sync = syncs[1].handle;
	CHECK_EQUAL(fx_wait(&fx), 1);
	check_lost(&blocker);
	for (i = 0; i <= CHAIN; i++)
		fx_check_words(fx.data.cpu + i * WORDS, 7 + i);
}

/* The output of the first job is undefined, so the second must not use it. */
static void job_that_had_begun_cancels_the_following_ones(void)
{
	struct fixture fx = fx_open();
	const u32 first = fx.sync;

	fx_block(&fx);
	fx.sync = need_sync(fx.fd);
	fx_submit(&fx, fx_store_stream(&fx, fx.data.va, 1));
	need_in_flight(2);
	need_flr();
	check_lost(&fx);
	CHECK_EQUAL(sync_status(fx.fd, first, 0), -ECANCELED);
	CHECK_EQUAL(fx.data.cpu[0], 0);
	fx.context = need_context(fx.fd, fx.vm);
	fx_check_works(&fx);
}

/* Jobs that completed before the reset have had their effect, and count as completed. */
static void jobs_that_had_ended_do_not_run_again(void)
{
	struct fixture blocker = blocker_open(), fx = fx_open();
	const u64 add = fx_copy_stream(&fx, fx.data.va, fx.data.va, 1);
	u32 i;

	for (i = 0; i < WORDS; i++)
		fx.data.cpu[i] = i;
	for (i = 0; i < 5; i++)
		CHECK_EQUAL(fx_run(&fx, add), 1);
	fx_block(&blocker);
	fx_submit(&fx, add);
	need_flr();
	CHECK_EQUAL(fx_wait(&fx), 1);
	fx_check_words(fx.data.cpu, 6);
	check_lost(&blocker);
}

/* A context that lost no job keeps its jobs at the next reset, too. */
static void jobs_outlast_one_reset_after_another(void)
{
	struct fixture blocker = blocker_open(), fx = fx_open();
	const u64 add = fx_copy_stream(&fx, fx.data.va, fx.data.va, 1);
	u32 i;

	for (i = 0; i < 5; i++) {
		fx_block(&blocker);
		fx_submit(&fx, add);
		need_flr();
		check_lost(&blocker);
		blocker.context = need_context(blocker.fd, blocker.vm);
		CHECK_EQUAL(fx_wait(&fx), 1);
		CHECK_EQUAL(fx.data.cpu[0], i + 1);
	}
}

/* A square of one colour that covers the target. */
static u64 square_stream(struct render *r)
{
	static const float corner[6][2] = {
		{ -1, -1 }, { 1, -1 }, { -1, 1 }, { 1, -1 }, { 1, 1 }, { -1, 1 },
	};
	struct vertex *v = (struct vertex *)(r->fx.data.cpu + VERTEX_WORD);
	u32 i;

	for (i = 0; i < 6; i++)
		v[i] = (struct vertex){
			.x = corner[i][0], .y = corner[i][1], .z = 0.5f, .w = 1,
			.colour = { 0, 1, 0, 1 },
		};
	return render_draw_stream(r, fx_data(&r->fx, VERTEX_WORD), 6);
}

static void check_picture(const u32 *pixels)
{
	u32 i;

	for (i = 0; i < PICTURE; i++)
		CHECK_EQUAL(pixels[i], 0xff00ff00);
}

/* The reset initializes free lists and scenes again; both jobs of a pair use these. */
static void pairs_that_had_not_begun_are_drawn(void)
{
	struct render blocker = render_open(), r = render_open();
	const u64 geometry = square_stream(&r);
	u64 records[2];
	u32 i;

	render_block(&blocker);
	for (i = 0; i < 2; i++)
		records[i] = render_store_record(&r, fx_data(&r.fx, i * PICTURE));
	for (i = 0; i < 20; i++)
		render_submit(&r, i % 2, geometry, records[i % 2]);
	need_in_flight(2 + 2 * 20);
	need_flr();
	CHECK_EQUAL(fx_wait(&r.fx), 1);
	CHECK_EQUAL(fx_wait(&blocker.fx), -ECANCELED);
	check_picture(r.fx.data.cpu);
	check_picture(r.fx.data.cpu + PICTURE);
	CHECK_EQUAL(need_state(r.fx.fd, r.context).state, 0);
	CHECK_EQUAL(need_state(r.fx.fd, r.context).jobs_done, 40);
	render_check_works(&r);
}

/* The reset discards the pages that the geometry job has filled. */
static void pair_whose_geometry_job_has_ended_is_lost(void)
{
	struct render blocker = render_open(), r = render_open();
	const u64 geometry = square_stream(&r), record = render_store_record(&r, r.fx.data.va);

	render_hang_in_fragment(&blocker);
	render_submit_past_geometry(&r, geometry, record);
	need_in_flight(2);
	need_flr();
	CHECK_EQUAL(fx_wait(&blocker.fx), -ECANCELED);
	CHECK_EQUAL(fx_wait(&r.fx), -ECANCELED);
	CHECK_EQUAL(need_state(r.fx.fd, r.context).state, DRM_PUMICE_CONTEXT_INNOCENT);
	CHECK_EQUAL(r.fx.data.cpu[0], 0);
	r.context = need_context_of(r.fx.fd, r.fx.vm, DRM_PUMICE_CONTEXT_RENDER);
	render_check_works(&r);
}

/** struct resetter - a thread that resets the function */
struct resetter {
	int count;
	bool over;	/* atomic */
};

static void *reset_again_and_again(void *arg)
{
	struct resetter *resetter = arg;
	int i;

	for (i = 0; i < resetter->count; i++)
		need_flr();
	__atomic_store_n(&resetter->over, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Destroying a context whose jobs are about to be replayed causes no further reset. */
static void contexts_are_destroyed_in_the_middle_of_a_reset(void)
{
	struct resetter resetter = { .count = 20 };
	struct fixture fx = fx_open();
	const int resets = need_counts().resets;
	const u64 empty = fx_empty_stream(&fx);
	pthread_t thread;
	u32 i;

	CHECK_OK(-pthread_create(&thread, NULL, reset_again_and_again, &resetter));
	while (!__atomic_load_n(&resetter.over, __ATOMIC_ACQUIRE)) {
		struct drm_pumice_job job = {
			.context = need_context(fx.fd, fx.vm), .stream = empty,
		};

		for (i = 0; i < 8; i++)
			if (gpu_submit(fx.fd, &job, 1, NULL))
				break;
		CHECK_OK(gpu_context_destroy(fx.fd, job.context));
	}
	CHECK_OK(-pthread_join(thread, NULL));
	CHECK_EQUAL(need_counts().resets, resets + resetter.count);
	fx.context = need_context(fx.fd, fx.vm);
	fx_check_works(&fx);
}

static const struct test_case cases[] = {
	TEST_CASE(jobs_that_had_not_begun_run_once),
	TEST_CASE(jobs_wait_for_each_other_after_a_reset),
	TEST_CASE(job_that_had_begun_cancels_the_following_ones),
	TEST_CASE(jobs_that_had_ended_do_not_run_again),
	TEST_CASE(jobs_outlast_one_reset_after_another),
	TEST_CASE(pairs_that_had_not_begun_are_drawn),
	TEST_CASE(pair_whose_geometry_job_has_ended_is_lost),
	TEST_CASE(contexts_are_destroyed_in_the_middle_of_a_reset),
};

TEST_MAIN(cases)
