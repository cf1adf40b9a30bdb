// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * One job: creation, dependencies, destruction.
 *
 * A job that waits for another job of this GPU does so in the firmware: the
 * kernel only waits until the other one is scheduled, which submits it to the
 * firmware. Fences of other drivers are waited for in the kernel; those of a
 * fragment job by its geometry job, see pumice_pair.c.
 */
#include <linux/dma-fence-unwrap.h>
#include <linux/slab.h>

#include "pumice_context.h"
#include "pumice_events.h"
#include "pumice_fence.h"
#include "pumice_flip.h"
#include "pumice_hwrt.h"
#include "pumice_job.h"
#include "pumice_pair.h"
#include "pumice_perfmon.h"
#include "pumice_pm.h"
#include "pumice_queue.h"
#include "pumice_result.h"

/**
 * pumice_job_create - create a job that is not armed
 * @q: queue
 * @stream: GPU virtual address of the control stream
 * @client: DRM client, for traces
 *
 * Context: May sleep. Wakes the GPU.
 *
 * Return: the job, or an error pointer: -EIO if the GPU does not wake up, -ENOMEM, or an error
 * of drm_sched_job_init().
 */
struct pumice_job *pumice_job_create(struct pumice_queue *q, u64 stream, u64 client)
{
	struct pumice_context *ctx = q->ctx;
	struct pumice_job *job = kzalloc(sizeof(*job), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!job)
		return ERR_PTR(-ENOMEM);
	ret = pumice_pm_get(ctx->pdev);
	if (ret)
		goto free_job;
	ret = -ENOMEM;
	job->fence = pumice_fence_alloc(q);
	if (!job->fence)
		goto put_pm;
	/* The credits are determined once all dependencies are added: pumice_job_make_room(). */
	ret = pumice_sched_job_init(&job->base, &q->entity, 1, ctx->pdev, client);
	if (ret)
		goto discard_fence;
	job->ctx = pumice_context_get(ctx);
	job->queue = q;
	job->stream = stream;
	INIT_LIST_HEAD(&job->node);
	atomic_inc(&ctx->pdev->stats.jobs);
	return job;

discard_fence:
	pumice_fence_discard(job->fence);
put_pm:
	pumice_pm_put(ctx->pdev);
free_job:
	kfree(job);
	return ERR_PTR(ret);
}

/**
 * pumice_job_push - push an armed job to the scheduler, which then owns it
 * @job: job
 */
void pumice_job_push(struct pumice_job *job)
{
	trace_pumice_job_submit(job->queue->id, job->stream, job->gpu_dep_count, job->queue->dm);
	atomic_inc(&job->queue->queued);
	job->queued = true;
	drm_sched_entity_push_job(&job->base);
}

/**
 * pumice_job_note_unqueued - note that a job has left the scheduler's queue
 * @job: job; it ran, or it was killed in the queue
 *
 * Wakes pumice_context_destroy() after the last job of the queue. Repeated calls have no
 * effect.
 *
 * Context: Does not sleep; permitted where a fence waits for the call.
 */
void pumice_job_note_unqueued(struct pumice_job *job)
{
	if (job->queued && atomic_dec_and_test(&job->queue->queued))
		wake_up_all(&job->ctx->drained);
	job->queued = false;
}

/*
 * The scheduler's fences refer to the scheduler's name, which is stored in the context. A job
 * that ran has our fence as parent, which keeps the context; attach such a parent to a job
 * that did not run, for as long as its fences live.
 */
static void job_anchor_fences(struct pumice_job *job)
{
	struct drm_sched_fence *s_fence = job->base.s_fence;

	if (!job->armed || s_fence->parent)
		return;
	if (!job->fenced)
		pumice_fence_init(job->fence, 0);
	job->fenced = true;
	dma_fence_signal(&job->fence->base);
	/* Pairs with smp_load_acquire() in pumice_queue_fw_fence(). */
	smp_store_release(&s_fence->parent, dma_fence_get(&job->fence->base));
}

/**
 * pumice_job_destroy - free a job that was never armed, or has signalled
 * @job: job, or NULL
 *
 * Events of presents that were not sent are freed: those of an armed job were, with its result.
 *
 * Context: Process context. Acquires the context's lock and the device's event_lock.
 */
void pumice_job_destroy(struct pumice_job *job)
{
	struct pumice_context *ctx;
	u32 i;

	if (!job)
		return;
	ctx = job->ctx;
	pumice_job_note_unqueued(job);
	if (job->armed)
		pumice_pair_end(job);
	if (job->armed && !job->ended)
		pumice_result_note(job, job->base.s_fence->finished.error);
	pumice_flip_release(job);
	job_anchor_fences(job);
	drm_sched_job_cleanup(&job->base);
	for (i = 0; i < job->gpu_dep_count; i++)
		dma_fence_put(job->gpu_deps[i]);
	kfree(job->gpu_deps);
	if (job->fenced)
		dma_fence_put(&job->fence->base);
	else
		pumice_fence_discard(job->fence);
	pumice_perfmon_put(job->perfmon);
	pumice_hwrt_put(job->hwrt);
	pumice_pair_put(job->pair);
	kfree(job);
	atomic_dec(&ctx->pdev->stats.jobs);
	pumice_pm_put(ctx->pdev);
	pumice_context_put(ctx);
}

/* Allocate space for @more entries in job->gpu_deps. */
static int job_gpu_deps_reserve(struct pumice_job *job, u32 more)
{
	u32 room = job->gpu_dep_count + more;
	struct dma_fence **gpu_deps;

	if (room <= job->gpu_dep_room)
		return 0;
	room = max(room, 2 * job->gpu_dep_room);
	gpu_deps = krealloc_array(job->gpu_deps, room, sizeof(*gpu_deps), GFP_KERNEL_ACCOUNT);
	if (!gpu_deps)
		return -ENOMEM;
	job->gpu_deps = gpu_deps;
	job->gpu_dep_room = room;
	return 0;
}

/* Add a dependency, with a reference of its own. Only the last job of each queue counts. */
static void job_gpu_deps_add(struct pumice_job *job, struct dma_fence *fence)
{
	u32 i;

	if (fence->context == job->queue->entity.fence_context + 1)
		return; /* jobs of one queue run in order anyway */
	for (i = 0; i < job->gpu_dep_count; i++) {
		if (job->gpu_deps[i]->context != fence->context)
			continue;
		if (dma_fence_is_later(fence, job->gpu_deps[i]))
			swap(fence, job->gpu_deps[i]);
		else
			return;
		dma_fence_get(job->gpu_deps[i]);
		dma_fence_put(fence);
		return;
	}
	job->gpu_deps[job->gpu_dep_count++] = dma_fence_get(fence);
}

static int job_add_leaf(struct pumice_job *job, struct dma_fence *fence)
{
	struct drm_sched_fence *s_fence = to_drm_sched_fence(fence);
	struct pumice_job *first = job->geometry ?: job;
	int ret;

	if (dma_fence_is_signaled(fence))
		return 0;
	/* The owner is only a hint: pumice_queue.c checks again when the job is scheduled. */
	if (!s_fence || fence != &s_fence->finished || s_fence->owner != job->ctx->pdev ||
	    job->gpu_dep_count >= PUMICE_MAX_GPU_DEPS)
		return drm_sched_job_add_dependency(&first->base, dma_fence_get(fence));
	ret = job_gpu_deps_reserve(job, 1);
	if (!ret)
		job_gpu_deps_add(job, fence);
	return ret;
}

/**
 * pumice_job_add_fence - add a fence as a dependency of a job
 * @job: job, not armed
 * @fence: fence; the caller keeps its reference
 *
 * Return: 0 or -ENOMEM.
 */
int pumice_job_add_fence(struct pumice_job *job, struct dma_fence *fence)
{
	struct dma_fence_unwrap iter;
	struct dma_fence *leaf;
	int ret = 0;

	/* Leaving the loop early would keep a reference of its cursor. */
	dma_fence_unwrap_for_each(leaf, &iter, fence)
		if (!ret)
			ret = job_add_leaf(job, leaf);
	return ret;
}

/* Return the maximum number of jobs to wait for, including the last one to render its scene. */
static u32 job_max_waits(const struct pumice_job *job)
{
	return job->gpu_dep_count + hweight64(job->sibling_deps) + !!job->hwrt;
}

/* Allocate space for a job's dependencies and @more, and set the credits that they take. */
static int job_make_room(struct pumice_job *job, u32 more)
{
	u32 waits = job_max_waits(job) + more;
	int ret = job_gpu_deps_reserve(job, waits - job->gpu_dep_count);

	if (!ret)
		job->base.credits = pumice_queue_credits(job->queue, waits);
	return ret;
}

/**
 * pumice_job_make_room - allocate everything needed to arm a job; the last step that can fail
 * @job: job with all its dependencies
 *
 * Includes the dependencies that its geometry job shares.
 *
 * Context: May sleep.
 *
 * Return: 0 or -ENOMEM.
 */
int pumice_job_make_room(struct pumice_job *job)
{
	int ret = job_make_room(job, 0);

	if (!ret && job->geometry)
		ret = job_make_room(job->geometry, job_max_waits(job));
	return ret;
}

/**
 * pumice_job_add_siblings - add dependencies on jobs of the same SUBMIT
 * @job: job for which pumice_job_make_room() was called
 * @jobs: jobs of the SUBMIT; those in the mask @job->sibling_deps are armed
 *
 * Cannot fail.
 */
void pumice_job_add_siblings(struct pumice_job *job, struct pumice_job * const *jobs)
{
	u32 i;

	for (i = 0; i < DRM_PUMICE_MAX_JOBS; i++)
		if (job->sibling_deps & BIT_ULL(i))
			job_gpu_deps_add(job, &jobs[i]->base.s_fence->finished);
}

/* Add the dependencies of a fragment job to its geometry job. */
static void job_share_waits(struct pumice_job *geometry, struct pumice_job *fragment)
{
	const u64 own = geometry->queue->entity.fence_context + 1;
	u32 i;

	for (i = 0; i < fragment->gpu_dep_count; i++)
		if (fragment->gpu_deps[i]->context != own)
			job_gpu_deps_add(geometry, fragment->gpu_deps[i]);
}

/**
 * pumice_job_arm_scene - let a geometry job wait for the last job that renders its scene
 * @job: any job, armed, after pumice_job_add_siblings(); under its VM's reservation
 *
 * A fragment job is noted as the one that the next geometry job waits for. Cannot fail.
 */
void pumice_job_arm_scene(struct pumice_job *job)
{
	struct dma_fence *last;

	if (!job->hwrt)
		return;
	if (job->geometry) {
		job_share_waits(job->geometry, job);
		pumice_pair_arm(job);
		job->geometry = NULL;
		pumice_hwrt_set_last(job->hwrt, job->hwrt_data, &job->base.s_fence->finished);
		return;
	}
	last = pumice_hwrt_last(job->hwrt, job->hwrt_data);
	if (last && !dma_fence_is_signaled(last))
		job_gpu_deps_add(job, last);
}
