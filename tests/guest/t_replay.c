// SPDX-License-Identifier: MIT
/*
 * Jobs that a reset of the GPU finds in the firmware: those that had not begun run after it,
 * once; a context that had begun one loses all.
 */
#include <errno.h>
#include <pthread.h>

#include "harness.h"
#include "render.h"
#include "rig.h"
#include "system.h"

#define WORDS		32u	/* that rig_store_stream() and rig_copy_stream() write */
/* More than a queue's ring has room for. */
#define JOBS		600
#define CHAIN		20
#define PICTURE		(RENDER_SIZE * RENDER_SIZE)
#define VERTEX_WORD	(2 * PICTURE)

/* Whose endless jobs may run for longer than a slow kernel takes for the others' submission. */
static struct rig blocker_open(void)
{
	return rig_with(need_gpu(), DRM_PUMICE_PRIORITY_NORMAL, 60000);
}

static void check_lost(struct rig *rig)
{
	CHECK_EQUAL(rig_wait(rig), -ECANCELED);
	CHECK_EQUAL(need_state(rig->fd, rig->context).state, DRM_PUMICE_CONTEXT_INNOCENT);
}

/* Each adds 1 to the same words: one that is left out or runs twice shows. */
static void jobs_that_had_not_begun_run_once(void)
{
	struct rig blocker = blocker_open(), rig = rig_open();
	const u64 add = rig_copy_stream(&rig, rig.data.va, rig.data.va, 1);
	u32 i, syncs[JOBS];

	for (i = 0; i < WORDS; i++)
		rig.data.cpu[i] = 1000 + i;
	rig_block(&blocker);
	for (i = 0; i < JOBS; i++) {
		rig.sync = syncs[i] = need_sync(rig.fd);
		rig_submit(&rig, add);
	}
	CHECK_EQUAL(rig.data.cpu[0], 1000);
	need_flr();
	check_lost(&blocker);
	for (i = 0; i < JOBS; i++) {
		need_wait(rig.fd, syncs[i], 0);
		CHECK_EQUAL(sync_status(rig.fd, syncs[i], 0), 1);
	}
	rig_check_words(rig.data.cpu, 1000 + JOBS);
	CHECK_EQUAL(need_state(rig.fd, rig.context).state, 0);
	CHECK_EQUAL(need_state(rig.fd, rig.context).jobs_done, JOBS);
	rig_check_works(&rig);
}

/*
 * Two contexts in turns, each job after the one before it, the first after the job that is
 * lost. Each copies what the one before it wrote. The second context has the first job, so
 * that contexts which take turns without waits have the wrong order.
 */
static void jobs_wait_for_each_other_after_a_reset(void)
{
	struct rig blocker = blocker_open(), rig = rig_on(blocker.fd);
	u32 contexts[2] = { rig.context, need_context(rig.fd, rig.vm) }, i;
	struct drm_pumice_sync syncs[2] = { wait_for(blocker.sync, 0) };
	struct drm_pumice_job job = { .syncs = ARRAY_OF(syncs, 2) };

	for (i = 0; i < WORDS; i++)
		rig.data.cpu[i] = 7 + i;
	rig_block(&blocker);
	for (i = 0; i < CHAIN; i++) {
		syncs[1] = then_signal(need_sync(rig.fd), 0);
		job.context = contexts[(i + 1) % 2];
		job.stream = rig_copy_stream(&rig, rig_data(&rig, (i + 1) * WORDS),
					     rig_data(&rig, i * WORDS), 1);
		CHECK_OK(gpu_submit(rig.fd, &job, 1, NULL));
		syncs[0] = wait_for(syncs[1].handle, 0);
	}
	need_in_flight(1 + CHAIN);
	need_flr();
	rig.sync = syncs[1].handle;
	CHECK_EQUAL(rig_wait(&rig), 1);
	check_lost(&blocker);
	for (i = 0; i <= CHAIN; i++)
		rig_check_words(rig.data.cpu + i * WORDS, 7 + i);
}

/* What the first has stored so far is not known, so the second must not use it. */
static void job_that_had_begun_takes_those_after_it_with_it(void)
{
	struct rig rig = rig_open();
	const u32 first = rig.sync;

	rig_block(&rig);
	rig.sync = need_sync(rig.fd);
	rig_submit(&rig, rig_store_stream(&rig, rig.data.va, 1));
	need_in_flight(2);
	need_flr();
	check_lost(&rig);
	CHECK_EQUAL(sync_status(rig.fd, first, 0), -ECANCELED);
	CHECK_EQUAL(rig.data.cpu[0], 0);
	rig.context = need_context(rig.fd, rig.vm);
	rig_check_works(&rig);
}

/* Jobs that ended before the reset have had their effect, and count as ended. */
static void jobs_that_had_ended_do_not_run_again(void)
{
	struct rig blocker = blocker_open(), rig = rig_open();
	const u64 add = rig_copy_stream(&rig, rig.data.va, rig.data.va, 1);
	u32 i;

	for (i = 0; i < WORDS; i++)
		rig.data.cpu[i] = i;
	for (i = 0; i < 5; i++)
		CHECK_EQUAL(rig_run(&rig, add), 1);
	rig_block(&blocker);
	rig_submit(&rig, add);
	need_flr();
	CHECK_EQUAL(rig_wait(&rig), 1);
	rig_check_words(rig.data.cpu, 6);
	check_lost(&blocker);
}

/* A context that lost nothing is as good at the next reset. */
static void jobs_outlast_one_reset_after_another(void)
{
	struct rig blocker = blocker_open(), rig = rig_open();
	const u64 add = rig_copy_stream(&rig, rig.data.va, rig.data.va, 1);
	u32 i;

	for (i = 0; i < 5; i++) {
		rig_block(&blocker);
		rig_submit(&rig, add);
		need_flr();
		check_lost(&blocker);
		blocker.context = need_context(blocker.fd, blocker.vm);
		CHECK_EQUAL(rig_wait(&rig), 1);
		CHECK_EQUAL(rig.data.cpu[0], i + 1);
	}
}

/* A square that covers the target, of one colour. */
static u64 square_stream(struct render *r)
{
	static const float corner[6][2] = {
		{ -1, -1 }, { 1, -1 }, { -1, 1 }, { 1, -1 }, { 1, 1 }, { -1, 1 },
	};
	struct vertex *v = (struct vertex *)(r->rig.data.cpu + VERTEX_WORD);
	u32 i;

	for (i = 0; i < 6; i++)
		v[i] = (struct vertex){
			.x = corner[i][0], .y = corner[i][1], .z = 0.5f, .w = 1,
			.colour = { 0, 1, 0, 1 },
		};
	return render_draw_stream(r, rig_data(&r->rig, VERTEX_WORD), 6);
}

static void check_picture(const u32 *pixels)
{
	u32 i;

	for (i = 0; i < PICTURE; i++)
		CHECK_EQUAL(pixels[i], 0xff00ff00);
}

/* Free lists and scenes are made anew by the reset; both jobs of a pair find them so. */
static void pairs_that_had_not_begun_are_drawn(void)
{
	struct render blocker = render_open(), r = render_open();
	const u64 geometry = square_stream(&r);
	u64 records[2];
	u32 i;

	render_block(&blocker);
	for (i = 0; i < 2; i++)
		records[i] = render_store_record(&r, rig_data(&r.rig, i * PICTURE));
	for (i = 0; i < 20; i++)
		render_submit(&r, i % 2, geometry, records[i % 2]);
	need_in_flight(2 + 2 * 20);
	need_flr();
	CHECK_EQUAL(rig_wait(&r.rig), 1);
	CHECK_EQUAL(rig_wait(&blocker.rig), -ECANCELED);
	check_picture(r.rig.data.cpu);
	check_picture(r.rig.data.cpu + PICTURE);
	CHECK_EQUAL(need_state(r.rig.fd, r.context).state, 0);
	CHECK_EQUAL(need_state(r.rig.fd, r.context).jobs_done, 40);
	render_check_works(&r);
}

/* The reset takes the pages that the geometry job has filled. */
static void pair_whose_geometry_job_has_ended_is_lost(void)
{
	struct render blocker = render_open(), r = render_open();
	const u64 geometry = square_stream(&r), record = render_store_record(&r, r.rig.data.va);

	render_hang_in_fragment(&blocker);
	render_submit_past_geometry(&r, geometry, record);
	need_in_flight(2);
	need_flr();
	CHECK_EQUAL(rig_wait(&blocker.rig), -ECANCELED);
	CHECK_EQUAL(rig_wait(&r.rig), -ECANCELED);
	CHECK_EQUAL(need_state(r.rig.fd, r.context).state, DRM_PUMICE_CONTEXT_INNOCENT);
	CHECK_EQUAL(r.rig.data.cpu[0], 0);
	r.context = need_context_of(r.rig.fd, r.rig.vm, DRM_PUMICE_CONTEXT_RENDER);
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

/* Destroying a context whose jobs are about to run again costs no reset of its own. */
static void contexts_are_destroyed_in_the_middle_of_a_reset(void)
{
	struct resetter resetter = { .count = 20 };
	struct rig rig = rig_open();
	const int resets = need_counts().resets;
	const u64 empty = rig_empty_stream(&rig);
	pthread_t thread;
	u32 i;

	CHECK_OK(-pthread_create(&thread, NULL, reset_again_and_again, &resetter));
	while (!__atomic_load_n(&resetter.over, __ATOMIC_ACQUIRE)) {
		struct drm_pumice_job job = {
			.context = need_context(rig.fd, rig.vm), .stream = empty,
		};

		for (i = 0; i < 8; i++)
			if (gpu_submit(rig.fd, &job, 1, NULL))
				break;
		CHECK_OK(gpu_context_destroy(rig.fd, job.context));
	}
	CHECK_OK(-pthread_join(thread, NULL));
	CHECK_EQUAL(need_counts().resets, resets + resetter.count);
	rig.context = need_context(rig.fd, rig.vm);
	rig_check_works(&rig);
}

static const struct test_case cases[] = {
	TEST_CASE(jobs_that_had_not_begun_run_once),
	TEST_CASE(jobs_wait_for_each_other_after_a_reset),
	TEST_CASE(job_that_had_begun_takes_those_after_it_with_it),
	TEST_CASE(jobs_that_had_ended_do_not_run_again),
	TEST_CASE(jobs_outlast_one_reset_after_another),
	TEST_CASE(pairs_that_had_not_begun_are_drawn),
	TEST_CASE(pair_whose_geometry_job_has_ended_is_lost),
	TEST_CASE(contexts_are_destroyed_in_the_middle_of_a_reset),
};

TEST_MAIN(cases)
