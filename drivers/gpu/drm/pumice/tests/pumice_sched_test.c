// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Tests of killing the jobs of an entity. Part of pumice_sched.c. */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/workqueue.h>

#include "compat.h"

/* Longest time in which a thread that nothing holds back is expected to have run. */
#define SCHED_TEST_WAIT	msecs_to_jiffies(200)
/* Time after which a job that should be freed is not. */
#define SCHED_TEST_END	(20 * HZ)

struct sched_fixture {
	struct drm_gpu_scheduler sched;
	struct drm_sched_entity entity;
	struct drm_sched_job jobs[2];	/* the first begins, the second stays in the queue */
	struct workqueue_struct *wq;
	struct work_struct kill;
	/* The first job is in run_job(); it may return; the kill has ended; a job is freed. */
	struct completion begun, go, killed, freed;
	atomic_t runs;
};

static struct sched_fixture *sched_fixture_of(struct drm_sched_job *job)
{
	return container_of(job->sched, struct sched_fixture, sched);
}

static struct dma_fence *sched_fixture_run(struct drm_sched_job *job)
{
	struct sched_fixture *f = sched_fixture_of(job);

	if (atomic_inc_return(&f->runs) == 1) {
		complete(&f->begun);
		wait_for_completion(&f->go);
	}
	return NULL;
}

static void sched_fixture_free(struct drm_sched_job *job)
{
	struct sched_fixture *f = sched_fixture_of(job);

	drm_sched_job_cleanup(job);
	complete(&f->freed);
}

static const struct drm_sched_backend_ops sched_fixture_ops = {
	.run_job = sched_fixture_run,
	.free_job = sched_fixture_free,
};

static void sched_fixture_kill(struct work_struct *work)
{
	struct sched_fixture *f = container_of(work, struct sched_fixture, kill);

	pumice_sched_kill(&f->sched, &f->entity);
	complete(&f->killed);
}

/* Create a scheduler whose first job is in run_job(), and whose second is queued. */
static struct sched_fixture *sched_fixture(struct kunit *test)
{
	struct sched_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct drm_gpu_scheduler *sched;
	unsigned int i;
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, f);
	init_completion(&f->begun);
	init_completion(&f->go);
	init_completion(&f->killed);
	init_completion(&f->freed);
	INIT_WORK(&f->kill, sched_fixture_kill);
	f->wq = alloc_ordered_workqueue("pumice-sched-test", 0);
	KUNIT_ASSERT_NOT_NULL(test, f->wq);
	ret = pumice_sched_init(&f->sched, &sched_fixture_ops, f->wq, 1, MAX_SCHEDULE_TIMEOUT, NULL,
				"pumice-test", NULL);
	KUNIT_ASSERT_EQ(test, ret, 0);
	sched = &f->sched;
	ret = drm_sched_entity_init(&f->entity, DRM_SCHED_PRIORITY_KERNEL, &sched, 1, NULL);
	KUNIT_ASSERT_EQ(test, ret, 0);
	for (i = 0; i < ARRAY_SIZE(f->jobs); i++) {
		ret = pumice_sched_job_init(&f->jobs[i], &f->entity, 1, NULL, 0);
		KUNIT_ASSERT_EQ(test, ret, 0);
		drm_sched_job_arm(&f->jobs[i]);
		drm_sched_entity_push_job(&f->jobs[i]);
	}
	wait_for_completion(&f->begun);
	return f;
}

/* The scheduler, which runs again, frees the job that began. */
static void sched_fixture_end(struct kunit *test, struct sched_fixture *f)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(f->jobs); i++)
		KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&f->freed, SCHED_TEST_END), 0);
	pumice_sched_fini(&f->sched, true);
	destroy_workqueue(f->wq);
}

/* Otherwise the scheduler's work and the kill take jobs from one queue. */
static void jobs_are_not_killed_while_one_begins(struct kunit *test)
{
	struct sched_fixture *f = sched_fixture(test);

	queue_work(system_unbound_wq, &f->kill);
	KUNIT_EXPECT_EQ(test, wait_for_completion_timeout(&f->killed, SCHED_TEST_WAIT), 0);
	complete(&f->go);
	flush_work(&f->kill);
	sched_fixture_end(test, f);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->runs), 1);
}

static struct kunit_case sched_cases[] = {
	KUNIT_CASE(jobs_are_not_killed_while_one_begins),
	{}
};

static struct kunit_suite sched_suite = {
	.name = "pumice_sched",
	.test_cases = sched_cases,
};

kunit_test_suite(sched_suite);
