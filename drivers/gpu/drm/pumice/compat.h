/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * One face for the DRM interfaces that differ between kernels.
 *
 * What a kernel has is found by compiling the files in probe/, which gives
 * pumice_config.h: distributions move interfaces between versions, so a
 * kernel's version says little. Written against 6.12.94.
 */
#ifndef PUMICE_COMPAT_H
#define PUMICE_COMPAT_H

#include <drm/drm_gem_shmem_helper.h>
#include <drm/drm_gpuvm.h>
#include <drm/gpu_scheduler.h>

#include "generated/pumice_config.h"

#ifdef PUMICE_HAVE_DRIVER_GEM_GPUVA
#define PUMICE_DRIVER_GEM_GPUVA DRIVER_GEM_GPUVA
#else
#define PUMICE_DRIVER_GEM_GPUVA 0
#endif

#ifdef PUMICE_HAVE_DRIVER_DATE
#define PUMICE_DRIVER_DATE(text) .date = (text),
#else
#define PUMICE_DRIVER_DATE(text)
#endif

/*
 * Before timedout_job() the scheduler takes the job off its list. We neither
 * stop nor restart the scheduler, so the job always goes back: by us, or by a
 * scheduler that knows NO_HANG. The workqueue is woken for a job that ended
 * meanwhile: nobody else would free it.
 */
static inline enum drm_gpu_sched_stat pumice_sched_keep_job(struct drm_sched_job *job)
{
#ifdef PUMICE_HAVE_SCHED_STAT_NO_HANG
	return DRM_GPU_SCHED_STAT_NO_HANG;
#else
	struct drm_gpu_scheduler *sched = job->sched;

	spin_lock(&sched->job_list_lock);
	list_add(&job->list, &sched->pending_list);
	spin_unlock(&sched->job_list_lock);
	drm_sched_wqueue_start(sched);
	return DRM_GPU_SCHED_STAT_NOMINAL;
#endif
}

/* A scheduler of one run queue; timeout in jiffies. */
static inline int pumice_sched_init(struct drm_gpu_scheduler *sched,
				    const struct drm_sched_backend_ops *ops,
				    struct workqueue_struct *submit_wq, u32 credits, long timeout,
				    struct workqueue_struct *timeout_wq, const char *name,
				    struct device *dev)
{
#ifdef PUMICE_HAVE_SCHED_INIT_ARGS
	const struct drm_sched_init_args args = {
		.ops = ops,
		.submit_wq = submit_wq,
		.num_rqs = 1,
		.credit_limit = credits,
		.timeout = timeout,
		.timeout_wq = timeout_wq,
		.name = name,
		.dev = dev,
	};

	return drm_sched_init(sched, &args);
#else
	return drm_sched_init(sched, ops, submit_wq, 1, credits, 0, timeout, timeout_wq, NULL,
			      name, dev);
#endif
}

static inline int pumice_sched_job_init(struct drm_sched_job *job, struct drm_sched_entity *entity,
					u32 credits, void *owner, u64 client_id)
{
#ifdef PUMICE_HAVE_SCHED_JOB_CLIENT_ID
	return drm_sched_job_init(job, entity, credits, owner, client_id);
#else
	return drm_sched_job_init(job, entity, credits, owner);
#endif
}

static inline int pumice_gpuvm_sm_map(struct drm_gpuvm *gpuvm, void *priv, u64 addr, u64 range,
				      struct drm_gem_object *obj, u64 offset)
{
#ifdef PUMICE_HAVE_GPUVM_MAP_REQ
	const struct drm_gpuvm_map_req req = {
		.map.va.addr = addr,
		.map.va.range = range,
		.map.gem.obj = obj,
		.map.gem.offset = offset,
	};

	return drm_gpuvm_sm_map(gpuvm, priv, &req);
#else
	return drm_gpuvm_sm_map(gpuvm, priv, addr, range, obj, offset);
#endif
}

/* With the object's reservation held. */
static inline struct drm_gpuvm_bo *pumice_gpuvm_bo_obtain(struct drm_gpuvm *gpuvm,
							  struct drm_gem_object *obj)
{
#ifdef PUMICE_HAVE_GPUVM_BO_OBTAIN_LOCKED
	return drm_gpuvm_bo_obtain_locked(gpuvm, obj);
#else
	return drm_gpuvm_bo_obtain(gpuvm, obj);
#endif
}

/* With the object's reservation held. */
static inline void pumice_gem_shmem_put_pages(struct drm_gem_shmem_object *shmem)
{
#ifdef PUMICE_HAVE_SHMEM_PUT_PAGES_LOCKED
	drm_gem_shmem_put_pages_locked(shmem);
#else
	drm_gem_shmem_put_pages(shmem);
#endif
}

#endif
