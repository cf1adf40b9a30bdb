// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Waits and signals of the jobs of one SUBMIT, on binary and timeline syncobjs.
 *
 * Signals are collected first and attached to their syncobjs when all jobs are
 * armed. A job that waits for a syncobj takes the signals of the preceding jobs into
 * account, so that the result is the same as if those had been submitted by separate
 * calls.
 */
#include <linux/dma-fence-chain.h>
#include <linux/slab.h>

#include <drm/drm_syncobj.h>

#include "pumice_context.h"
#include "pumice_job.h"
#include "pumice_sync.h"
#include "pumice_uapi.h"

#define SYNC_STRIDE	sizeof(struct drm_pumice_sync)

/* A pending signal. */
struct sync_signal {
	struct list_head node;
	struct drm_syncobj *syncobj;
	struct dma_fence_chain *chain;	/* for a timeline; NULL: binary */
	u64 point;
	u32 job;			/* index of the job */
};

/* Validate one element. */
static int sync_check(const struct drm_pumice_sync *sync)
{
	if (sync->flags & ~(DRM_PUMICE_SYNC_SIGNAL | DRM_PUMICE_SYNC_TIMELINE))
		return -EINVAL;
	return !!(sync->flags & DRM_PUMICE_SYNC_TIMELINE) == !!sync->value ? 0 : -EINVAL;
}

/**
 * pumice_sync_copy - copy and validate the syncs of one job or bind
 * @array: array of struct drm_pumice_sync
 *
 * Context: May sleep.
 *
 * Return: a checked copy, which the caller frees; NULL for none; or an error pointer: -EINVAL
 * for unknown flags, or a point that is 0 for a timeline or not 0 for a binary syncobj;
 * -ENOMEM; or an error of pumice_array_check(), with at most DRM_PUMICE_MAX_SYNCS elements, or
 * pumice_array_copy().
 */
struct drm_pumice_sync *pumice_sync_copy(const struct drm_pumice_array *array)
{
	struct drm_pumice_sync *syncs;
	int ret;
	u32 i;

	ret = pumice_array_check(array, SYNC_STRIDE, DRM_PUMICE_MAX_SYNCS);
	if (ret || !array->count)
		return ERR_PTR(ret);
	syncs = kcalloc(array->count, sizeof(*syncs), GFP_KERNEL_ACCOUNT);
	if (!syncs)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < array->count; i++) {
		ret = pumice_array_copy(array, i, &syncs[i], sizeof(*syncs));
		if (!ret)
			ret = sync_check(&syncs[i]);
		if (ret) {
			kfree(syncs);
			return ERR_PTR(ret);
		}
	}
	return syncs;
}

/* State of a syncobj after the signals of earlier jobs of the call. */
struct sync_view {
	u64 jobs;	/* mask of jobs whose fences it holds */
	bool replaced;	/* its current fence will have been replaced */
	bool reached;	/* the requested point will exist */
};

static struct sync_view sync_view_syncobj(const struct list_head *signals,
					  const struct drm_syncobj *syncobj, u64 point)
{
	const struct sync_signal *signal;
	struct sync_view view = { 0 };

	list_for_each_entry(signal, signals, node) {
		if (signal->syncobj != syncobj)
			continue;
		if (!signal->chain) {
			view.jobs = 0;
			view.replaced = true;
		}
		view.jobs |= BIT_ULL(signal->job);
		view.reached = point ? signal->point >= point : true;
		if (point && view.reached)
			break;
	}
	return view;
}

/* Add a dependency on the fence that a syncobj holds before the call. */
static int sync_wait_for_present(struct pumice_job *job, struct drm_syncobj *syncobj)
{
	struct dma_fence *fence = drm_syncobj_fence_get(syncobj);
	int ret = 0;

	if (fence)
		ret = pumice_job_add_fence(job, fence);
	dma_fence_put(fence);
	return ret;
}

static int sync_wait_for_handle(struct drm_file *file, struct pumice_job *job, u32 handle,
				u64 point)
{
	struct dma_fence *fence;
	int ret;

	ret = drm_syncobj_find_fence(file, handle, point, 0, &fence);
	if (ret)
		return ret;
	ret = pumice_job_add_fence(job, fence);
	dma_fence_put(fence);
	return ret;
}

/**
 * pumice_sync_add_wait - let a job wait for a syncobj
 * @file: file of @sync's handle
 * @job: job, not armed
 * @sync: checked element
 * @signals: signals of the preceding jobs of the call
 *
 * Return: 0; -ENOENT if there is no such syncobj; -EINVAL if it has no fence, or none
 * for that point; -ENOMEM.
 */
int pumice_sync_add_wait(struct drm_file *file, struct pumice_job *job,
			 const struct drm_pumice_sync *sync, const struct list_head *signals)
{
	struct drm_syncobj *syncobj = drm_syncobj_find(file, sync->handle);
	struct sync_view view;
	int ret = 0;

	if (!syncobj)
		return -ENOENT;
	view = sync_view_syncobj(signals, syncobj, sync->value);
	if (!view.reached) {
		ret = sync_wait_for_handle(file, job, sync->handle, sync->value);
	} else {
		job->sibling_deps |= view.jobs;
		if (!view.replaced)
			ret = sync_wait_for_present(job, syncobj);
	}
	drm_syncobj_put(syncobj);
	return ret;
}

/**
 * pumice_sync_add_signal - let a job signal a syncobj
 * @file: file of @sync's handle
 * @job_index: index of the job
 * @sync: checked element
 * @signals: list to append to
 *
 * Context: May sleep.
 *
 * Return: 0, -ENOENT or -ENOMEM.
 */
int pumice_sync_add_signal(struct drm_file *file, u32 job_index,
			   const struct drm_pumice_sync *sync, struct list_head *signals)
{
	struct sync_signal *signal = kzalloc(sizeof(*signal), GFP_KERNEL_ACCOUNT);

	if (!signal)
		return -ENOMEM;
	signal->job = job_index;
	signal->point = sync->value;
	list_add_tail(&signal->node, signals);
	signal->syncobj = drm_syncobj_find(file, sync->handle);
	if (!signal->syncobj)
		return -ENOENT;
	if (sync->flags & DRM_PUMICE_SYNC_TIMELINE) {
		signal->chain = dma_fence_chain_alloc();
		if (!signal->chain)
			return -ENOMEM;
	}
	return 0;
}

/* Attach a fence to a syncobj. Cannot fail. */
static void sync_attach_fence(struct sync_signal *signal, struct dma_fence *fence)
{
	if (signal->chain)
		drm_syncobj_add_point(signal->syncobj, signal->chain, fence, signal->point);
	else
		drm_syncobj_replace_fence(signal->syncobj, fence);
	signal->chain = NULL;
}

/**
 * pumice_sync_commit_fence - attach one fence to all syncobjs
 * @signals: collected signals
 * @fence: fence
 *
 * Cannot fail.
 */
void pumice_sync_commit_fence(struct list_head *signals, struct dma_fence *fence)
{
	struct sync_signal *signal;

	list_for_each_entry(signal, signals, node)
		sync_attach_fence(signal, fence);
}

/**
 * pumice_sync_commit - attach each job's fence to the syncobjs that it signals
 * @signals: collected signals
 * @jobs: jobs of the call, armed
 *
 * Cannot fail.
 */
void pumice_sync_commit(struct list_head *signals, struct pumice_job * const *jobs)
{
	struct sync_signal *signal;

	list_for_each_entry(signal, signals, node)
		sync_attach_fence(signal, &jobs[signal->job]->base.s_fence->finished);
}

/**
 * pumice_sync_release - free collected signals, attached or not
 * @signals: collected signals
 */
void pumice_sync_release(struct list_head *signals)
{
	struct sync_signal *signal, *next;

	list_for_each_entry_safe(signal, next, signals, node) {
		if (signal->syncobj)
			drm_syncobj_put(signal->syncobj);
		dma_fence_chain_free(signal->chain);
		kfree(signal);
	}
}
