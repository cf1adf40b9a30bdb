// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Tests of the accounting of pairs. Part of pumice_pair.c.
 */
#include <kunit/test.h>

#define PAIRS	3u

struct pair_fixture {
	struct pumice_context ctx;
	struct pumice_pair pairs[PAIRS];
	struct pumice_job geometry[PAIRS], fragment[PAIRS];
};

/* Create pairs of a render context, none of which was submitted to the firmware. */
static struct pair_fixture *pair_fixture(struct kunit *test)
{
	struct pair_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, f);
	spin_lock_init(&f->ctx.lock);
	f->ctx.queue_count = 2;
	for (i = 0; i < f->ctx.queue_count; i++) {
		f->ctx.queues[i].ctx = &f->ctx;
		INIT_LIST_HEAD(&f->ctx.queues[i].pairs);
	}
	for (i = 0; i < PAIRS; i++) {
		f->pairs[i].fragment = &f->ctx.queues[PUMICE_QUEUE_FRAGMENT];
		INIT_LIST_HEAD(&f->pairs[i].node);
		f->geometry[i].ctx = &f->ctx;
		f->geometry[i].queue = &f->ctx.queues[PUMICE_QUEUE_GEOMETRY];
		f->geometry[i].pair = &f->pairs[i];
		f->fragment[i].ctx = &f->ctx;
		f->fragment[i].queue = &f->ctx.queues[PUMICE_QUEUE_FRAGMENT];
		f->fragment[i].pair = &f->pairs[i];
	}
	return f;
}

/* Submit a job to the firmware; returns the number of the job that it must wait for. */
static u32 give(struct pumice_job *job)
{
	u32 before;

	spin_lock(&job->ctx->lock);
	before = pumice_pair_note_submitted_locked(job);
	job->queue->seqno++;
	spin_unlock(&job->ctx->lock);
	return before;
}

static u32 awaited(struct pair_fixture *f)
{
	return f->ctx.queues[PUMICE_QUEUE_FRAGMENT].awaited;
}

/* Regardless of how many geometry jobs are submitted before the first fragment job. */
static void geometry_job_waits_for_the_fragment_job_before_its_own(struct kunit *test)
{
	struct pair_fixture *f = pair_fixture(test);

	KUNIT_EXPECT_EQ(test, give(&f->geometry[0]), 0);
	KUNIT_EXPECT_EQ(test, give(&f->geometry[1]), 1);
	KUNIT_EXPECT_EQ(test, give(&f->fragment[0]), 0);
	KUNIT_EXPECT_EQ(test, give(&f->geometry[2]), 2);
}

static void fragment_job_is_awaited_from_its_geometry_job_on(struct kunit *test)
{
	struct pair_fixture *f = pair_fixture(test);

	give(&f->geometry[0]);
	give(&f->geometry[1]);
	KUNIT_EXPECT_EQ(test, awaited(f), 2);
	give(&f->fragment[0]);
	KUNIT_EXPECT_EQ(test, awaited(f), 1);
	/* It completes without having been submitted. */
	pumice_pair_end(&f->fragment[1]);
	KUNIT_EXPECT_EQ(test, awaited(f), 0);
	/* Its geometry job was submitted too late. */
	give(&f->geometry[1]);
	KUNIT_EXPECT_EQ(test, awaited(f), 0);
}

static void fragment_job_is_refused_with_its_geometry_job(struct kunit *test)
{
	struct pair_fixture *f = pair_fixture(test);

	KUNIT_EXPECT_FALSE(test, pumice_pair_geometry_refused(&f->fragment[0]));
	pumice_pair_refuse(&f->fragment[0]);
	KUNIT_EXPECT_FALSE(test, pumice_pair_geometry_refused(&f->fragment[0]));
	pumice_pair_refuse(&f->geometry[1]);
	KUNIT_EXPECT_TRUE(test, pumice_pair_geometry_refused(&f->fragment[1]));
	KUNIT_EXPECT_FALSE(test, pumice_pair_geometry_refused(&f->geometry[1]));
}

static struct kunit_case pair_cases[] = {
	KUNIT_CASE(geometry_job_waits_for_the_fragment_job_before_its_own),
	KUNIT_CASE(fragment_job_is_awaited_from_its_geometry_job_on),
	KUNIT_CASE(fragment_job_is_refused_with_its_geometry_job),
	{}
};

static struct kunit_suite pair_suite = {
	.name = "pumice_pair",
	.test_cases = pair_cases,
};

kunit_test_suite(pair_suite);
