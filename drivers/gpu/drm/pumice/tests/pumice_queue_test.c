// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Tests of jobs that the firmware does not accept, or that end without a result. Part of
 * pumice_queue.c.
 */
#include <kunit/test.h>

#include "pumice_blame.h"
#include "tests/pumice_test_fw.h"

struct queue_fixture {
	struct pumice_device pdev;
	struct pumice_context ctx;
	struct pumice_vm vm;
	struct pumice_queue_shared shared;
	struct pumice_fw_obj ufo;
	struct pumice_fence fence;
	struct pumice_job job;
};

/* Create a job of a compute context on a device whose firmware is down. */
static struct queue_fixture *queue_fixture(struct kunit *test)
{
	struct queue_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct pumice_queue *q;

	KUNIT_ASSERT_NOT_NULL(test, f);
	pumice_kccb_init(&f->pdev);
	pumice_fault_log_init(&f->pdev.fault_log);
	/* As if another job were in flight already: no timer is started for this one. */
	atomic_set(&f->pdev.in_flight, 1);
	spin_lock_init(&f->ctx.lock);
	f->ctx.pdev = &f->pdev;
	f->ctx.vm = &f->vm;
	pumice_object_init(&f->ctx.base, NULL);
	INIT_LIST_HEAD(&f->ctx.node);
	INIT_WORK(&f->ctx.kill_work, pumice_context_kill_work);
	mutex_init(&f->pdev.reset.lock);
	f->vm.cached = true;
	f->ctx.queue_count = 1;
	q = &f->ctx.queues[0];
	q->ctx = &f->ctx;
	q->dm = FWIF_DM_CDM;
	q->shared = &f->shared;
	q->obj = &f->ufo;
	q->ufo = &f->ufo;
	q->fence_context = dma_fence_context_alloc(1);
	INIT_LIST_HEAD(&q->in_flight);
	spin_lock_init(&f->fence.lock);
	f->fence.queue = q;
	f->job.ctx = &f->ctx;
	f->job.queue = q;
	f->job.fence = &f->fence;
	INIT_LIST_HEAD(&f->job.node);
	return f;
}

/* The reset that is under way resubmits it to the next firmware, or cancels it. */
static void job_that_comes_during_a_reset_is_kept_for_it(struct kunit *test)
{
	struct queue_fixture *f = queue_fixture(test);

	KUNIT_EXPECT_EQ(test, pumice_queue_submit(&f->job), 0);
	KUNIT_EXPECT_FALSE(test, list_empty(&f->ctx.queues[0].in_flight));
	KUNIT_EXPECT_EQ(test, atomic_read(&f->pdev.in_flight), 2);
}

static void firmware_is_notified_of_a_job(struct kunit *test)
{
	struct queue_fixture *f = queue_fixture(test);

	pumice_test_boot(test, &f->pdev);
	KUNIT_EXPECT_EQ(test, pumice_queue_submit(&f->job), 0);
	KUNIT_EXPECT_EQ(test, f->pdev.fw.shared->kccb[0].type, FWIF_KCCB_KICK);
	KUNIT_EXPECT_EQ(test, pumice_read(&f->pdev, PUMICE_OS_SCHEDULE),
			PUMICE_OS_SCHEDULE__KICK__MASK);
}

/* No reset follows that would end it. */
static void job_for_a_gpu_that_is_lost_is_refused(struct kunit *test)
{
	struct queue_fixture *f = queue_fixture(test);

	f->pdev.reset.lost = true;
	KUNIT_EXPECT_EQ(test, pumice_queue_submit(&f->job), -ENODEV);
	KUNIT_EXPECT_TRUE(test, list_empty(&f->ctx.queues[0].in_flight));
	KUNIT_EXPECT_EQ(test, atomic_read(&f->pdev.in_flight), 1);
}

/* Type of the command of a job that is the first one of its queue, without dependencies. */
static u32 queue_test_type_of(struct kunit *test, struct queue_fixture *f, u32 dm, u32 flips,
			      u32 fw_minor)
{
	f->pdev.fw.header.version = FWIF_VERSION_MAJOR << 16 | fw_minor;
	f->ctx.queues[0].dm = dm;
	f->job.flip_count = flips;
	KUNIT_EXPECT_EQ(test, pumice_queue_submit(&f->job), 0);
	return ((const struct fwif_cccb_header *)f->shared.cccb)->type;
}

static u32 queue_test_type(struct kunit *test, u32 dm, u32 flips, u32 fw_minor)
{
	return queue_test_type_of(test, queue_fixture(test), dm, flips, fw_minor);
}

/* Each job reads memory anew, and is seen there when it has ended. */
static void jobs_request_operations_on_caches(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, queue_test_type(test, FWIF_DM_CDM, 0, FWIF_CACHES_SINCE),
			FWIF_CCCB_COMPUTE | FWIF_CACHES_ALL);
	KUNIT_EXPECT_EQ(test, queue_test_type(test, FWIF_DM_TDM, 0, FWIF_CACHES_SINCE),
			FWIF_CCCB_TRANSFER | FWIF_CACHES_ALL);
	KUNIT_EXPECT_EQ(test, queue_test_type(test, FWIF_DM_TDM, 1, FWIF_CACHES_SINCE),
			FWIF_CCCB_PRESENT | FWIF_CACHES_ALL);
	KUNIT_EXPECT_EQ(test, queue_test_type(test, FWIF_DM_RDM, 0, FWIF_CACHES_SINCE),
			FWIF_CCCB_RAYS | FWIF_CACHES_ALL);
	KUNIT_EXPECT_EQ(test, queue_test_type(test, FWIF_DM_CDM, 0, FWIF_CACHES_SINCE - 1),
			FWIF_CCCB_COMPUTE);
}

/* Its caches have no lines; from the first mapping of another kind on, they may. */
static void jobs_of_coherent_buffers_request_no_operations(struct kunit *test)
{
	struct queue_fixture *f = queue_fixture(test);

	f->vm.cached = false;
	KUNIT_EXPECT_EQ(test, queue_test_type_of(test, f, FWIF_DM_CDM, 0, FWIF_CACHES_SINCE),
			FWIF_CCCB_COMPUTE);
	f = queue_fixture(test);
	f->vm.cached = false;
	pumice_vm_note_cached(&f->vm);
	KUNIT_EXPECT_EQ(test, queue_test_type_of(test, f, FWIF_DM_CDM, 0, FWIF_CACHES_SINCE),
			FWIF_CCCB_COMPUTE | FWIF_CACHES_ALL);
}

/* Those may wait for a mapping that is made when the address space is cached. */
static void mappings_invalidate_for_jobs_without_operations(struct kunit *test)
{
	struct queue_fixture *f = queue_fixture(test);

	f->vm.cached = false;
	KUNIT_EXPECT_TRUE(test, pumice_vm_map_invalidates(&f->vm));
	pumice_vm_note_cached(&f->vm);
	KUNIT_EXPECT_FALSE(test, pumice_vm_map_invalidates(&f->vm));
	f = queue_fixture(test);
	f->vm.cached = false;
	KUNIT_EXPECT_EQ(test, pumice_queue_submit(&f->job), 0);
	pumice_vm_note_cached(&f->vm);
	KUNIT_EXPECT_TRUE(test, pumice_vm_map_invalidates(&f->vm));
}

/* The entry of the results has that of an earlier job: it is not reported as this job's. */
static void job_without_a_result_is_kept_as_failed(struct kunit *test)
{
	struct queue_fixture *f = queue_fixture(test);
	struct fwif_job_result *stale;

	KUNIT_ASSERT_EQ(test, pumice_queue_submit(&f->job), 0);
	stale = &f->shared.results[f->job.seqno & RESULT_MASK];
	stale->seqno = f->job.seqno + 1;
	stale->fault = PUMICE_FAULT_MMU_PT_INVALID;
	spin_lock(&f->ctx.lock);
	pumice_queue_finish_job_locked(&f->ctx.queues[0], &f->job);
	spin_unlock(&f->ctx.lock);
	KUNIT_EXPECT_EQ(test, f->fence.base.error, -EIO);
	KUNIT_EXPECT_EQ(test, f->ctx.status.failed, 1);
	KUNIT_EXPECT_EQ(test, f->ctx.status.fault.fault, PUMICE_FAULT_NONE);
	KUNIT_EXPECT_EQ(test, f->pdev.fault_log.failed.total, 1);
	KUNIT_EXPECT_EQ(test, f->pdev.fault_log.failed.kept[0].fault, PUMICE_FAULT_NONE);
}

/* The second job has its own tick when the first has ended, and does not change that before. */
static void tick_is_of_the_oldest_job(struct kunit *test)
{
	struct queue_fixture *f = queue_fixture(test), *second = queue_fixture(test);
	struct pumice_queue *q = &f->ctx.queues[0];
	unsigned long begin = jiffies;

	q->sched.timeout = HZ;
	KUNIT_ASSERT_EQ(test, pumice_queue_submit(&f->job), 0);
	KUNIT_EXPECT_TRUE(test, time_after_eq(q->tick_end, begin + HZ));
	KUNIT_EXPECT_TRUE(test, time_before_eq(q->tick_end, jiffies + HZ));
	q->tick_end = begin - 1;
	second->job.ctx = &f->ctx;
	second->job.queue = q;
	KUNIT_ASSERT_EQ(test, pumice_queue_submit(&second->job), 0);
	KUNIT_EXPECT_EQ(test, q->tick_end, begin - 1);
	spin_lock(&f->ctx.lock);
	pumice_queue_finish_job_locked(q, &f->job);
	spin_unlock(&f->ctx.lock);
	KUNIT_EXPECT_TRUE(test, time_after_eq(q->tick_end, begin + HZ));
	KUNIT_EXPECT_TRUE(test, time_before_eq(q->tick_end, jiffies + HZ));
}

static void no_time_out(struct work_struct *work)
{
}

/* A job that is refused while none is in flight leaves the scheduler's timer as it is. */
static void tick_is_restored_for_jobs_in_flight_only(struct kunit *test)
{
	struct queue_fixture *f = queue_fixture(test);
	struct pumice_queue *q = &f->ctx.queues[0];
	struct drm_gpu_scheduler *sched = &q->sched;
	const unsigned long far = jiffies + 1000 * HZ;
	LIST_HEAD(entry);

	/* As drm_sched_job_begin() starts it for a job. */
	spin_lock_init(&sched->job_list_lock);
	INIT_LIST_HEAD(&sched->pending_list);
	list_add(&entry, &sched->pending_list);
	INIT_DELAYED_WORK(&sched->work_tdr, no_time_out);
	sched->timeout_wq = system_wq;
	queue_delayed_work(sched->timeout_wq, &sched->work_tdr, 1000 * HZ);
	q->tick_end = jiffies - 1;
	pumice_queue_restore_tick(q);
	KUNIT_EXPECT_TRUE(test, timer_pending(&sched->work_tdr.timer));
	KUNIT_EXPECT_TRUE(test, time_after_eq(sched->work_tdr.timer.expires, far));
	list_add(&f->job.node, &q->in_flight);
	q->tick_end = jiffies + 500 * HZ;
	pumice_queue_restore_tick(q);
	KUNIT_EXPECT_TRUE(test, timer_pending(&sched->work_tdr.timer));
	KUNIT_EXPECT_TRUE(test, time_before(sched->work_tdr.timer.expires, far));
	cancel_delayed_work_sync(&sched->work_tdr);
}

/*
 * Let the firmware report that the job ended with a fault, of a context that is stopped or not.
 * Returns the error of its fence.
 */
static int queue_test_fault(struct kunit *test, struct queue_fixture *f, u8 fault, bool stopped)
{
	struct fwif_job_result *r;

	pumice_vm_faults_init(&f->vm.faults);
	KUNIT_EXPECT_EQ(test, pumice_queue_submit(&f->job), 0);
	r = &f->shared.results[f->job.seqno & RESULT_MASK];
	r->seqno = f->job.seqno;
	r->fault = fault;
	f->ctx.stopped = stopped;
	spin_lock(&f->ctx.lock);
	pumice_queue_finish_job_locked(&f->ctx.queues[0], &f->job);
	spin_unlock(&f->ctx.lock);
	return f->fence.base.error;
}

/* It held a data master for too long while another virtual GPU waited. */
static void context_that_the_firmware_kills_is_guilty(struct kunit *test)
{
	struct queue_fixture *f = queue_fixture(test);

	f->ctx.blame = pumice_blame_create();
	KUNIT_ASSERT_NOT_NULL(test, f->ctx.blame);
	KUNIT_EXPECT_EQ(test, queue_test_fault(test, f, PUMICE_FAULT_KILLED, false), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, f->ctx.state, DRM_PUMICE_CONTEXT_GUILTY);
	KUNIT_EXPECT_TRUE(test, f->ctx.stopped);
	KUNIT_EXPECT_NULL(test, f->ctx.guilty);
	flush_workqueue(pumice_cleanup_wq);
	KUNIT_EXPECT_EQ(test, kref_read(&f->ctx.base.ref), 1);
	pumice_blame_put(f->ctx.blame);
}

/* Its geometry job was killed, which started it. */
static void fragment_job_of_a_stopped_context_is_cancelled(struct kunit *test)
{
	struct queue_fixture *f = queue_fixture(test);

	KUNIT_EXPECT_EQ(test, queue_test_fault(test, f, PUMICE_FAULT_PM_NO_SCENE, true),
			-ECANCELED);
	KUNIT_EXPECT_EQ(test, f->ctx.state, 0);
}

/* The context is stopped before: as when it is destroyed, or another of its jobs timed out. */
static void context_that_the_driver_kills_is_not_guilty_again(struct kunit *test)
{
	struct queue_fixture *f = queue_fixture(test);

	KUNIT_EXPECT_EQ(test, queue_test_fault(test, f, PUMICE_FAULT_KILLED, true), -ECANCELED);
	KUNIT_EXPECT_EQ(test, f->ctx.state, 0);
}

static struct kunit_case queue_cases[] = {
	KUNIT_CASE(context_that_the_firmware_kills_is_guilty),
	KUNIT_CASE(context_that_the_driver_kills_is_not_guilty_again),
	KUNIT_CASE(fragment_job_of_a_stopped_context_is_cancelled),
	KUNIT_CASE(job_without_a_result_is_kept_as_failed),
	KUNIT_CASE(firmware_is_notified_of_a_job),
	KUNIT_CASE(job_that_comes_during_a_reset_is_kept_for_it),
	KUNIT_CASE(jobs_request_operations_on_caches),
	KUNIT_CASE(jobs_of_coherent_buffers_request_no_operations),
	KUNIT_CASE(mappings_invalidate_for_jobs_without_operations),
	KUNIT_CASE(tick_is_of_the_oldest_job),
	KUNIT_CASE(tick_is_restored_for_jobs_in_flight_only),
	KUNIT_CASE(job_for_a_gpu_that_is_lost_is_refused),
	{}
};

static struct kunit_suite queue_suite = {
	.name = "pumice_queue",
	.test_cases = queue_cases,
};

kunit_test_suite(queue_suite);
