// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Stop and destruction of DRM schedulers without races with their own work items.
 */
#include <drm/gpu_scheduler.h>
#include <linux/rcupdate.h>

#include "pumice_sched.h"

/*
 * A thread may find the scheduler running, and queue its work after a first stop has canceled
 * that; the works of Linux 7.3 do not look again, those of 6.12 do. Such a thread is one of the
 * works, for which the stop waits, or a fence callback, or holds a spinlock: a grace period ends
 * these. The time-out queues only the work that frees jobs.
 */
static void pumice_sched_stop(struct drm_gpu_scheduler *sched)
{
	drm_sched_wqueue_stop(sched);
	synchronize_rcu();
	drm_sched_wqueue_stop(sched);
}

/**
 * pumice_sched_kill - kill the jobs in an entity's queue, and destroy the entity
 * @sched: its scheduler, which has no other entity; stopped or not, it runs afterwards
 * @entity: entity, to which no more jobs are pushed
 *
 * If jobs are queued the scheduler is stopped meanwhile. drm_sched_entity_fini() removes the
 * entity from the run queue, but drm_sched_entity_pop_job() in another thread puts it back
 * (Linux 6.12 with the FIFO policy, to 7.3 with all). Then both take jobs from the same queue,
 * and run jobs that are being freed.
 *
 * The scheduler has to run afterwards because it frees the jobs that were not killed.
 *
 * Context: May sleep: waits for run_job() and free_job(), and for a grace period if jobs are
 * queued. The caller prevents other stops and starts of the scheduler.
 */
void pumice_sched_kill(struct drm_gpu_scheduler *sched, struct drm_sched_entity *entity)
{
	if (spsc_queue_count(&entity->job_queue))
		pumice_sched_stop(sched);
	drm_sched_entity_fini(entity);
	drm_sched_wqueue_start(sched);
}

/**
 * pumice_sched_fini - release a scheduler whose entities are destroyed and whose jobs are freed
 * @sched: scheduler
 * @used: it had jobs
 *
 * Also waits for callbacks of fences that the entities waited for: they refer to the scheduler.
 * drm_sched_fini() stops the scheduler for the second time. That is required although it had no
 * jobs: pumice_sched_kill() starts its works, and the one that frees jobs queues the other one.
 *
 * Context: May sleep: waits for a grace period if it was used.
 */
void pumice_sched_fini(struct drm_gpu_scheduler *sched, bool used)
{
	drm_sched_wqueue_stop(sched);
	if (used)
		synchronize_rcu();
	drm_sched_fini(sched);
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_sched_test.c"
#endif
