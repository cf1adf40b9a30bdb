// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Tests of which contexts keep their jobs in a reset. Part of pumice_replay.c.
 *
 * The test acts as the firmware: it writes the number of the job that began last.
 */
#include <kunit/test.h>

#include "tests/pumice_test_fw.h"
#include "pumice_vm.h"

#define REPLAY_JOBS	4

struct replay_fixture {
	struct pumice_device pdev;
	struct pumice_context ctx;
	struct pumice_vm vm;
	struct pumice_queue_shared shared[PUMICE_CONTEXT_QUEUES];
	struct pumice_fw_obj obj[PUMICE_CONTEXT_QUEUES];
	struct pumice_job jobs[PUMICE_CONTEXT_QUEUES][REPLAY_JOBS];
};

/* Create a context with @queues queues that have had no job. */
static struct replay_fixture *replay_fixture(struct kunit *test, u32 queues)
{
	struct replay_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->ctx.pdev = &f->pdev;
	f->ctx.vm = &f->vm;
	f->ctx.queue_count = queues;
	mutex_init(&f->pdev.reset.lock);
	pumice_kccb_init(&f->pdev);
	spin_lock_init(&f->ctx.lock);
	for (i = 0; i < queues; i++) {
		f->ctx.queues[i].ctx = &f->ctx;
		f->ctx.queues[i].shared = &f->shared[i];
		f->obj[i].addr = (i + 1) * SZ_4K;
		f->ctx.queues[i].obj = &f->obj[i];
		f->ctx.queues[i].ufo = &f->obj[i];
		INIT_LIST_HEAD(&f->ctx.queues[i].in_flight);
	}
	return f;
}

/* Set the firmware's jobs of a queue: @count jobs, numbered from @first on. */
static void has_jobs(struct replay_fixture *f, u32 queue, u32 count, u32 first)
{
	u32 i;

	INIT_LIST_HEAD(&f->ctx.queues[queue].in_flight);
	for (i = 0; i < count; i++) {
		f->jobs[queue][i].seqno = first + i;
		list_add_tail(&f->jobs[queue][i].node, &f->ctx.queues[queue].in_flight);
	}
}

static bool continues(struct replay_fixture *f)
{
	bool ret;

	spin_lock(&f->ctx.lock);
	ret = replay_possible_locked(&f->ctx);
	spin_unlock(&f->ctx.lock);
	return ret;
}

static void context_continues_unless_it_had_begun_a_job(struct kunit *test)
{
	static const struct {
		u32 begun, first;
		bool continues;
	} rows[] = {
		{ 0, 1, true }, { 1, 1, false }, { 6, 7, true }, { 7, 7, false },
		{ 9, 7, false }, { U32_MAX, 0, true }, { 0, 0, false }, { U32_MAX - 1, 1, true },
		{ 1, U32_MAX, false },
	};
	struct replay_fixture *f = replay_fixture(test, 1);
	u32 i;

	KUNIT_EXPECT_TRUE(test, continues(f));
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		f->shared[0].context.job_seqno = rows[i].begun;
		has_jobs(f, 0, 3, rows[i].first);
		KUNIT_EXPECT_EQ_MSG(test, continues(f), rows[i].continues, "row %u", i);
	}
}

static void stopped_context_does_not_continue(struct kunit *test)
{
	struct replay_fixture *f = replay_fixture(test, 1);

	has_jobs(f, 0, 1, 1);
	f->ctx.stopped = true;
	KUNIT_EXPECT_FALSE(test, continues(f));
}

/* The queue is suspect at both resets, with the same oldest job. */
static void job_that_is_suspect_twice_is_not_resubmitted(struct kunit *test)
{
	struct replay_fixture *f = replay_fixture(test, 1);

	has_jobs(f, 0, 2, 1);
	f->pdev.kccb.suspect = f->obj[0].addr;
	KUNIT_EXPECT_TRUE(test, continues(f));
	f->jobs[0][1].suspect = true;
	KUNIT_EXPECT_TRUE(test, continues(f));
	f->jobs[0][0].suspect = true;
	KUNIT_EXPECT_FALSE(test, continues(f));
	f->pdev.kccb.suspect = f->obj[0].addr + SZ_4K;
	KUNIT_EXPECT_TRUE(test, continues(f));
	f->pdev.kccb.suspect = 0;
	KUNIT_EXPECT_TRUE(test, continues(f));
}

/* In either queue; and a fragment job needs its geometry job, submitted or to be submitted. */
static void render_context_continues_with_all_its_geometry(struct kunit *test)
{
	static const struct {
		u32 geometry, fragment, awaited;
		bool continues;
	} rows[] = {
		{ 0, 0, 0, true }, { 1, 1, 0, true }, { 1, 0, 1, true }, { 3, 2, 1, true },
		{ 0, 1, 0, false }, { 0, 0, 1, false }, { 2, 3, 0, false }, { 2, 2, 1, false },
	};
	struct replay_fixture *f = replay_fixture(test, 2);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		has_jobs(f, PUMICE_QUEUE_GEOMETRY, rows[i].geometry, 5);
		has_jobs(f, PUMICE_QUEUE_FRAGMENT, rows[i].fragment, 5);
		f->ctx.queues[PUMICE_QUEUE_FRAGMENT].awaited = rows[i].awaited;
		KUNIT_EXPECT_EQ_MSG(test, continues(f), rows[i].continues, "row %u", i);
	}
	has_jobs(f, PUMICE_QUEUE_GEOMETRY, 1, 5);
	has_jobs(f, PUMICE_QUEUE_FRAGMENT, 1, 5);
	f->ctx.queues[PUMICE_QUEUE_FRAGMENT].awaited = 0;
	f->shared[PUMICE_QUEUE_FRAGMENT].context.job_seqno = 5;
	KUNIT_EXPECT_FALSE(test, continues(f));
}

static int replay_test_run(struct replay_fixture *f, bool kick)
{
	int ret;

	mutex_lock(&f->pdev.reset.lock);
	ret = pumice_replay_run(&f->ctx, kick);
	mutex_unlock(&f->pdev.reset.lock);
	return ret;
}

static void firmware_is_notified_of_jobs_with_a_kick_only(struct kunit *test)
{
	struct replay_fixture *f = replay_fixture(test, 1);

	pumice_test_boot(test, &f->pdev);
	has_jobs(f, 0, 1, 1);
	f->jobs[0][0].queue = &f->ctx.queues[0];
	KUNIT_EXPECT_EQ(test, replay_test_run(f, false), 0);
	KUNIT_EXPECT_EQ(test, pumice_read(&f->pdev, PUMICE_OS_SCHEDULE), 0);
	KUNIT_EXPECT_EQ(test, replay_test_run(f, true), 0);
	KUNIT_EXPECT_EQ(test, f->pdev.fw.shared->kccb[0].type, FWIF_KCCB_KICK);
	KUNIT_EXPECT_EQ(test, pumice_read(&f->pdev, PUMICE_OS_SCHEDULE),
			PUMICE_OS_SCHEDULE__KICK__MASK);
}

static struct kunit_case replay_cases[] = {
	KUNIT_CASE(context_continues_unless_it_had_begun_a_job),
	KUNIT_CASE(stopped_context_does_not_continue),
	KUNIT_CASE(job_that_is_suspect_twice_is_not_resubmitted),
	KUNIT_CASE(render_context_continues_with_all_its_geometry),
	KUNIT_CASE(firmware_is_notified_of_jobs_with_a_kick_only),
	{}
};

static struct kunit_suite replay_suite = {
	.name = "pumice_replay",
	.test_cases = replay_cases,
};

kunit_test_suite(replay_suite);
