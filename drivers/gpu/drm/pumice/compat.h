/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Uniform wrappers for the DRM interfaces that differ between kernels.
 *
 * The interfaces of a kernel are detected by compiling the files in probe/, which
 * generates pumice_config.h: distributions backport interfaces, so the kernel's
 * version is not a reliable indication. Written against 6.12.94.
 */
#ifndef PUMICE_COMPAT_H
#define PUMICE_COMPAT_H

#include <drm/drm_drv.h>
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

/* Send the uevent for a reset or the loss of the device. Allocates memory. */
static inline void pumice_wedged_event(struct drm_device *drm, bool lost)
{
#ifdef PUMICE_HAVE_DEV_WEDGED_EVENT
	drm_dev_wedged_event(drm, lost ? DRM_WEDGE_RECOVERY_REBIND | DRM_WEDGE_RECOVERY_BUS_RESET :
					 DRM_WEDGE_RECOVERY_NONE, NULL);
#endif
}

/*
 * Before timedout_job() the scheduler removes the job from its list. The driver neither
 * stops nor restarts the scheduler, so the job is always requeued: by the driver, or by a
 * scheduler that supports NO_HANG. A job that completed meanwhile is freed by the scheduler's
 * own work item, which is queued for it here; drm_sched_wqueue_start() would also start a
 * stopped scheduler. It is queued under the lock because the job, and with the last job the
 * scheduler, may be freed as soon as the lock is released.
 */
static inline enum drm_gpu_sched_stat pumice_sched_keep_job(struct drm_sched_job *job)
{
#ifdef PUMICE_HAVE_SCHED_STAT_NO_HANG
	return DRM_GPU_SCHED_STAT_NO_HANG;
#else
	struct drm_gpu_scheduler *sched = job->sched;

	spin_lock(&sched->job_list_lock);
	list_add(&job->list, &sched->pending_list);
	queue_work(sched->submit_wq, &sched->work_free_job);
	spin_unlock(&sched->job_list_lock);
	return DRM_GPU_SCHED_STAT_NOMINAL;
#endif
}

/* Initialize a scheduler with one run queue; the timeout is in jiffies. */
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

/* Import a symbol namespace; newer kernels require its name to be a string. */
#ifdef PUMICE_HAVE_IMPORT_NS_BARE
#define PUMICE_IMPORT_NS(name) MODULE_IMPORT_NS(name)
#else
#define PUMICE_IMPORT_NS(name) MODULE_IMPORT_NS(#name)
#endif

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

/*
 * The VM's reservation protects its list of external objects; a mutex in each
 * buffer protects the buffer's list of VMs. Kernels with immediate mode provide that
 * mutex in the GEM object, older ones accept one of the driver: see
 * pumice_bo_gpuva_lock().
 */
#ifdef PUMICE_HAVE_GPUVM_IMMEDIATE_MODE
#define PUMICE_GPUVM_FLAGS	(DRM_GPUVM_RESV_PROTECTED | DRM_GPUVM_IMMEDIATE_MODE)
#else
#define PUMICE_GPUVM_FLAGS	DRM_GPUVM_RESV_PROTECTED
#endif

/*
 * Called with the VM's reservation held; @lock is the buffer's. Consumes the reference to
 * @fresh, the result of drm_gpuvm_bo_create(). Newer kernels acquire the lock themselves.
 */
static inline struct drm_gpuvm_bo *pumice_gpuvm_bo_obtain(struct drm_gpuvm_bo *fresh,
							  struct mutex *lock)
{
#ifdef PUMICE_HAVE_GPUVM_BO_OBTAIN_LOCKED
	return drm_gpuvm_bo_obtain_prealloc(fresh);
#else
	struct drm_gpuvm_bo *vm_bo;

	mutex_lock(lock);
	vm_bo = drm_gpuvm_bo_obtain_prealloc(fresh);
	mutex_unlock(lock);
	return vm_bo;
#endif
}

/* Called with the object's reservation held. */
static inline void pumice_gem_shmem_put_pages(struct drm_gem_shmem_object *shmem)
{
#ifdef PUMICE_HAVE_SHMEM_PUT_PAGES_LOCKED
	drm_gem_shmem_put_pages_locked(shmem);
#else
	drm_gem_shmem_put_pages(shmem);
#endif
}

/* The next three functions are called with the object's reservation held. */
static inline int pumice_gem_shmem_madvise(struct drm_gem_shmem_object *shmem, int madv)
{
#ifdef PUMICE_HAVE_SHMEM_PURGE_LOCKED
	return drm_gem_shmem_madvise_locked(shmem, madv);
#else
	return drm_gem_shmem_madvise(shmem, madv);
#endif
}

static inline void pumice_gem_shmem_purge(struct drm_gem_shmem_object *shmem)
{
#ifdef PUMICE_HAVE_SHMEM_PURGE_LOCKED
	drm_gem_shmem_purge_locked(shmem);
#else
	drm_gem_shmem_purge(shmem);
#endif
}

/* Count the users of the pages: scatter list, CPU mappings, pins. */
static inline unsigned int pumice_gem_shmem_users(const struct drm_gem_shmem_object *shmem)
{
#ifdef PUMICE_HAVE_SHMEM_PURGE_LOCKED
	return refcount_read(&shmem->pages_use_count);
#else
	return READ_ONCE(shmem->pages_use_count);
#endif
}

#endif
