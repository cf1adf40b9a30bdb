// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Waits and signals of the jobs of one SUBMIT, on binary and timeline syncobjs.
 *
 * Signals are collected first and given to their syncobjs when all jobs are
 * armed. A job that waits for a syncobj looks at the signals of the jobs before
 * it, so it sees what it would see had those been submitted by calls of their
 * own.
 */
#include <linux/dma-fence-chain.h>
#include <linux/slab.h>

#include <drm/drm_syncobj.h>

#include "pumice_context.h"
#include "pumice_job.h"
#include "pumice_sync.h"
#include "pumice_uapi.h"

#define SYNC_STRIDE	sizeof(struct drm_pumice_sync)

/* A signal to be given. */
struct sync_signal {
	struct list_head node;
	struct drm_syncobj *syncobj;
	struct dma_fence_chain *chain;	/* of a timeline; NULL: binary */
	u64 point;
	u32 job;			/* index */
};

/* The rules of one element. */
static int check(const struct drm_pumice_sync *sync)
{
	if (sync->flags & ~(DRM_PUMICE_SYNC_SIGNAL | DRM_PUMICE_SYNC_TIMELINE))
		return -EINVAL;
	return !!(sync->flags & DRM_PUMICE_SYNC_TIMELINE) == !!sync->value ? 0 : -EINVAL;
}

/**
 * pumice_sync_copy - the syncs of one job or bind
 * @array: array of struct drm_pumice_sync
 *
 * Returns a checked copy, to be freed; NULL for none; or an error pointer.
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
			ret = check(&syncs[i]);
		if (ret) {
			kfree(syncs);
			return ERR_PTR(ret);
		}
	}
	return syncs;
}

/* What earlier jobs of the call will have done to a syncobj. */
struct sync_view {
	u64 jobs;	/* those whose fences it holds, by index */
	bool replaced;	/* the fence it holds now is gone then */
	bool reached;	/* the point that is asked for exists then */
};

static struct sync_view view_syncobj(const struct list_head *signals,
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

/* Wait for what a syncobj holds before the call. */
static int wait_for_present(struct pumice_job *job, struct drm_syncobj *syncobj)
{
	struct dma_fence *fence = drm_syncobj_fence_get(syncobj);
	int ret = 0;

	if (fence)
		ret = pumice_job_add_fence(job, fence);
	dma_fence_put(fence);
	return ret;
}

static int wait_for_handle(struct drm_file *file, struct pumice_job *job, u32 handle, u64 point)
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
 * @signals: signals of the jobs before it in the call
 *
 * Returns 0; -ENOENT if there is no such syncobj; -EINVAL if it holds no fence,
 * or not for that point; -ENOMEM.
 */
int pumice_sync_add_wait(struct drm_file *file, struct pumice_job *job,
			 const struct drm_pumice_sync *sync, const struct list_head *signals)
{
	struct drm_syncobj *syncobj = drm_syncobj_find(file, sync->handle);
	struct sync_view view;
	int ret = 0;

	if (!syncobj)
		return -ENOENT;
	view = view_syncobj(signals, syncobj, sync->value);
	if (!view.reached) {
		ret = wait_for_handle(file, job, sync->handle, sync->value);
	} else {
		job->after |= view.jobs;
		if (!view.replaced)
			ret = wait_for_present(job, syncobj);
	}
	drm_syncobj_put(syncobj);
	return ret;
}

/**
 * pumice_sync_add_signal - let a job signal a syncobj
 * @file: file of @sync's handle
 * @job_index: job
 * @sync: checked element
 * @signals: where to collect it
 *
 * Returns 0, -ENOENT or -ENOMEM.
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

/* Cannot fail. */
static void give(struct sync_signal *signal, struct dma_fence *fence)
{
	if (signal->chain)
		drm_syncobj_add_point(signal->syncobj, signal->chain, fence, signal->point);
	else
		drm_syncobj_replace_fence(signal->syncobj, fence);
	signal->chain = NULL;
}

/**
 * pumice_sync_commit_fence - give one fence to all syncobjs
 * @signals: what was collected
 * @fence: fence
 *
 * Cannot fail.
 */
void pumice_sync_commit_fence(struct list_head *signals, struct dma_fence *fence)
{
	struct sync_signal *signal;

	list_for_each_entry(signal, signals, node)
		give(signal, fence);
}

/**
 * pumice_sync_commit - give all signals to their syncobjs
 * @signals: what was collected
 * @jobs: jobs of the call, armed
 *
 * Cannot fail.
 */
void pumice_sync_commit(struct list_head *signals, struct pumice_job * const *jobs)
{
	struct sync_signal *signal;

	list_for_each_entry(signal, signals, node)
		give(signal, &jobs[signal->job]->base.s_fence->finished);
}

/**
 * pumice_sync_release - free what was collected, given or not
 * @signals: what was collected
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
