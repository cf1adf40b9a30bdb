// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Use of DRM's scheduler beyond its own functions.
 */
#include <drm/gpu_scheduler.h>
#include <linux/rcupdate.h>

#include "pumice_sched.h"

/*
 * Stop a scheduler for certain. Another thread may find it running and queue its work after the
 * first stop has cancelled that. Such a thread is one of the works, for which the stop waits, or
 * holds a spinlock, and has released it after a grace period.
 */
static void sched_stop(struct drm_gpu_scheduler *sched)
{
	drm_sched_wqueue_stop(sched);
	synchronize_rcu();
	drm_sched_wqueue_stop(sched);
}

/**
 * pumice_sched_kill - kill the jobs in an entity's queue, and destroy the entity
 * @sched: its scheduler, which has no other entity
 * @entity: entity, to which no more jobs are pushed
 * @paused: the caller has stopped the scheduler; it remains stopped
 *
 * The scheduler is stopped meanwhile. drm_sched_entity_fini() removes the entity from the run
 * queue, but drm_sched_entity_pop_job() in another thread puts it back (Linux 6.12 to 7.3). Then
 * both take jobs from the same queue, and run jobs that are being freed.
 *
 * Context: May sleep: waits for run_job() and free_job(), and for a grace period if jobs are
 * queued. The caller prevents other stops and starts of the scheduler.
 */
void pumice_sched_kill(struct drm_gpu_scheduler *sched, struct drm_sched_entity *entity,
		       bool paused)
{
	bool queued = spsc_queue_count(&entity->job_queue);

	if (queued)
		sched_stop(sched);
	drm_sched_entity_fini(entity);
	if (queued && !paused)
		drm_sched_wqueue_start(sched);
}
