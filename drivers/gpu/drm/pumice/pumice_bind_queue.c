// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Asynchronous VM_BIND: a queue of binds for each VM.
 *
 * The call itself does all that may fail, allocates or takes reservations: it
 * prepares every operation, reserves the page tables that they may take, and
 * changes the VM's books, which therefore are always ahead of the page tables by
 * what is queued. The queue, a scheduler's, waits for fences and then only writes
 * page tables and has the TLBs forget: no fence of ours waits for memory or for a
 * reservation. What an operation removed is let go of after that, elsewhere.
 *
 * A bind that is never carried out, because its VM is closed or failed, leaves its
 * part to the end of the VM: the page tables may still name what it removed.
 *
 * Limits: the binds of all VMs run one after the other.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include <drm/drm_exec.h>
#include <drm/drm_syncobj.h>

#include "pumice_mmu.h"
#include "pumice_sync.h"
#include "pumice_uapi.h"
#include "pumice_vm_bind.h"

#define CREDITS		64

/**
 * struct bind_fence - end of a bind, behind the scheduler's fences
 *
 * These name their scheduler, which lies in the device: the fence keeps it.
 */
struct bind_fence {
	/** @base: base */
	struct dma_fence base;
	/** @lock: lock of @base */
	spinlock_t lock;
	/** @pdev: device; a reference to its drm_device */
	struct pumice_device *pdev;
	/** @free_work: the last reference may go where one cannot sleep */
	struct work_struct free_work;
};

/**
 * struct bind_job - one call
 */
struct bind_job {
	/** @base: scheduler's part */
	struct drm_sched_job base;
	/** @vm: address space; a use */
	struct pumice_vm *vm;
	/** @fence: a reference once @fenced */
	struct bind_fence *fence;
	/** @binds: operations */
	struct pumice_bind *binds;
	/** @count: of @binds */
	u32 count;
	/** @prepared: of these, have reserved their tables */
	u32 prepared;
	/** @armed: the scheduler's fences are initialised, and the books are changed */
	bool armed;
	/** @fenced: @fence is initialised */
	bool fenced;
	/** @carried_out: the page tables are changed, and the TLBs know */
	bool carried_out;
	/** @free_work: what is left is let go of where one may sleep */
	struct work_struct free_work;
};

static const char *driver_name(struct dma_fence *fence)
{
	return "pumice";
}

static const char *timeline_name(struct dma_fence *fence)
{
	return "pumice-bind";
}

static void fence_free_work(struct work_struct *work)
{
	struct bind_fence *fence = container_of(work, struct bind_fence, free_work);
	struct drm_device *drm = &fence->pdev->drm;

	atomic_dec(&fence->pdev->stats.fences);
	dma_fence_free(&fence->base);
	drm_dev_put(drm);
	module_put(THIS_MODULE);
}

static void fence_release(struct dma_fence *base)
{
	queue_work(pumice_cleanup_wq, &container_of(base, struct bind_fence, base)->free_work);
}

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = driver_name,
	.get_timeline_name = timeline_name,
	.release = fence_release,
};

static struct bind_fence *fence_alloc(struct pumice_device *pdev)
{
	struct bind_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL);

	if (!fence)
		return NULL;
	spin_lock_init(&fence->lock);
	INIT_WORK(&fence->free_work, fence_free_work);
	drm_dev_get(&pdev->drm);
	__module_get(THIS_MODULE);
	fence->pdev = pdev;
	atomic_inc(&pdev->stats.fences);
	return fence;
}

static struct bind_job *to_bind_job(struct drm_sched_job *base)
{
	return container_of(base, struct bind_job, base);
}

/* The fence as the scheduler's parent; signals at once. */
static void end_fence(struct bind_job *job, int error)
{
	dma_fence_init(&job->fence->base, &fence_ops, &job->fence->lock,
		       job->vm->pdev->bind_fences, 1);
	job->fenced = true;
	if (error)
		dma_fence_set_error(&job->fence->base, error);
	dma_fence_signal(&job->fence->base);
}

/* Change the page tables; what may fail is only to tell the GPU. */
static int carry_out(struct bind_job *job)
{
	struct pumice_vm *vm = job->vm;
	u32 i;
	int ret;

	if (READ_ONCE(vm->closed) || !pumice_vm_usable(vm))
		return -ECANCELED;
	for (i = 0; i < job->count; i++) {
		pumice_mmu_unreserve(vm->mmu, job->binds[i].tables);
		job->binds[i].tables = 0;
		pumice_bind_tables(&job->binds[i]);
	}
	ret = pumice_vm_flush(vm);
	/* -ENODEV: the GPU may use what was removed until it stops. */
	job->carried_out = ret != -ENODEV;
	if (ret)
		WRITE_ONCE(vm->unusable, true);
	return ret;
}

static struct dma_fence *run_job(struct drm_sched_job *base)
{
	struct bind_job *job = to_bind_job(base);
	int ret = -ENODEV, idx;

	if (drm_dev_enter(&job->vm->pdev->drm, &idx)) {
		ret = carry_out(job);
		drm_dev_exit(idx);
	}
	end_fence(job, ret);
	return dma_fence_get(&job->fence->base);
}

static void free_binds(struct bind_job *job)
{
	struct pumice_vm *vm = job->vm;
	u32 i;

	for (i = 0; i < job->prepared; i++)
		pumice_mmu_unreserve(vm->mmu, job->binds[i].tables);
	if (job->armed && !job->carried_out)
		pumice_device_wait_gone(vm->pdev);
	mutex_lock(&vm->lock);
	for (i = 0; job->armed && !job->carried_out && i < job->count; i++)
		pumice_bind_orphan(&job->binds[i]);
	mutex_unlock(&vm->lock);
	for (i = 0; (!job->armed || job->carried_out) && i < job->count; i++)
		pumice_bind_finish(&job->binds[i]);
	kvfree(job->binds);
}

static void job_free_work(struct work_struct *work)
{
	struct bind_job *job = container_of(work, struct bind_job, free_work);
	struct pumice_vm *vm = job->vm;

	free_binds(job);
	if (job->fenced) {
		dma_fence_put(&job->fence->base);
	} else if (job->fence) {
		drm_dev_put(&job->fence->pdev->drm);
		atomic_dec(&vm->pdev->stats.fences);
		kfree(job->fence);
		module_put(THIS_MODULE);
	}
	kfree(job);
	pumice_vm_put(vm);
}

/* The scheduler's fences of a job that never ran get a parent as well, for what it keeps. */
static void free_job(struct drm_sched_job *base)
{
	struct bind_job *job = to_bind_job(base);
	struct drm_sched_fence *s_fence = base->s_fence;

	if (!job->fenced)
		end_fence(job, -ECANCELED);
	if (!s_fence->parent)
		s_fence->parent = dma_fence_get(&job->fence->base);
	drm_sched_job_cleanup(base);
	queue_work(pumice_cleanup_wq, &job->free_work);
}

static const struct drm_sched_backend_ops sched_ops = {
	.run_job = run_job,
	.free_job = free_job,
};

/**
 * pumice_bind_queue_init - scheduler of all VMs' binds
 * @pdev: device
 *
 * Returns 0 or an error.
 */
int pumice_bind_queue_init(struct pumice_device *pdev)
{
	pdev->bind_fences = dma_fence_context_alloc(1);
	return pumice_sched_init(&pdev->bind_sched, &sched_ops, pdev->sched_wq, CREDITS,
				 MAX_SCHEDULE_TIMEOUT, pdev->reset.wq, "pumice-bind",
				 pdev->drm.dev);
}

/**
 * pumice_bind_queue_fini - end of pumice_bind_queue_init(); no VM is left
 * @pdev: device
 */
void pumice_bind_queue_fini(struct pumice_device *pdev)
{
	drm_sched_fini(&pdev->bind_sched);
}

/**
 * pumice_bind_queue_open - queue of a new VM
 * @vm: address space
 *
 * Returns 0 or an error.
 */
int pumice_bind_queue_open(struct pumice_vm *vm)
{
	struct drm_gpu_scheduler *sched = &vm->pdev->bind_sched;
	int ret = drm_sched_entity_init(&vm->queue, DRM_SCHED_PRIORITY_KERNEL, &sched, 1, NULL);

	vm->queue_open = !ret;
	return ret;
}

/**
 * pumice_bind_queue_close - binds that are queued are not carried out any more
 * @vm: address space
 *
 * May sleep. Only the first call counts.
 */
void pumice_bind_queue_close(struct pumice_vm *vm)
{
	bool open;

	mutex_lock(&vm->lock);
	open = vm->queue_open;
	vm->queue_open = false;
	dma_fence_put(vm->last_bind);
	vm->last_bind = NULL;
	mutex_unlock(&vm->lock);
	if (open)
		drm_sched_entity_fini(&vm->queue);
}

/* A call that is checked, or an error pointer; *failed is the operation at fault. */
static struct bind_job *job_create(struct pumice_vm *vm, const struct drm_pumice_array *ops,
				   u32 *failed)
{
	struct bind_job *job = kzalloc(sizeof(*job), GFP_KERNEL);
	int ret = 0;

	if (!job)
		return ERR_PTR(-ENOMEM);
	job->vm = pumice_vm_get(vm);
	INIT_WORK(&job->free_work, job_free_work);
	job->fence = fence_alloc(vm->pdev);
	job->binds = kvcalloc(max(ops->count, 1u), sizeof(*job->binds), GFP_KERNEL);
	if (!job->fence || !job->binds)
		ret = -ENOMEM;
	for (*failed = 0; !ret && *failed < ops->count; (*failed)++) {
		struct pumice_bind *b = &job->binds[*failed];

		pumice_bind_init(b, vm);
		job->count++;
		ret = pumice_array_copy(ops, *failed, &b->op, sizeof(b->op));
		if (!ret)
			ret = pumice_bind_check(&b->op);
		if (ret)
			break;
	}
	if (!ret)
		return job;
	queue_work(pumice_cleanup_wq, &job->free_work);
	return ERR_PTR(ret);
}

/* Waits of the call; its signals are collected. */
static int add_syncs(struct bind_job *job, struct drm_file *file,
		     const struct drm_pumice_sync *syncs, u32 count, struct list_head *signals)
{
	struct dma_fence *fence;
	int ret = 0;
	u32 i;

	for (i = 0; i < count && !ret; i++) {
		if (syncs[i].flags & DRM_PUMICE_SYNC_SIGNAL) {
			ret = pumice_sync_add_signal(file, 0, &syncs[i], signals);
			continue;
		}
		ret = drm_syncobj_find_fence(file, syncs[i].handle, syncs[i].value, 0, &fence);
		if (!ret)
			ret = drm_sched_job_add_dependency(&job->base, fence);
	}
	return ret;
}

/* All that may fail but locks, with tables reserved. */
static int prepare(struct bind_job *job, struct drm_file *file, u32 *failed)
{
	struct pumice_vm *vm = job->vm;
	int ret;

	lockdep_assert_held(&vm->lock);
	if (vm->closed)
		return -ENOENT;
	if (vm->released)
		return -ENODEV;
	if (vm->unusable)
		return -EIO;
	for (*failed = 0; *failed < job->count; (*failed)++) {
		struct pumice_bind *b = &job->binds[*failed];

		ret = pumice_bind_prepare(b, file);
		if (ret)
			return ret;
		b->tables = pumice_mmu_tables(b->op.va, b->op.size,
					      b->op.type == DRM_PUMICE_BIND_MAP);
		pumice_mmu_reserve(vm->mmu, b->tables);
		job->prepared++;
	}
	return 0;
}

/* Nothing fails from here on. The job is the queue's after it. */
static void commit(struct bind_job *job, struct list_head *signals)
{
	struct pumice_vm *vm = job->vm;
	struct dma_fence *finished;
	u32 i;

	lockdep_assert_held(&vm->lock);
	drm_sched_job_arm(&job->base);
	job->armed = true;
	for (i = 0; i < job->count; i++) {
		WARN_ON(pumice_bind_books(&job->binds[i]));
		pumice_bind_release_buffer(&job->binds[i]);
	}
	finished = &job->base.s_fence->finished;
	pumice_sync_commit_fence(signals, finished);
	dma_fence_put(vm->last_bind);
	vm->last_bind = dma_fence_get(finished);
	drm_sched_entity_push_job(&job->base);
}

static int queue_locked(struct bind_job *job, struct drm_file *file, struct list_head *signals,
			u32 *failed)
{
	struct drm_exec exec;
	int ret;
	u32 i;

	ret = prepare(job, file, failed);
	if (ret)
		return ret;
	drm_exec_init(&exec, DRM_EXEC_INTERRUPTIBLE_WAIT | DRM_EXEC_IGNORE_DUPLICATES, 0);
	ret = job->count ? pumice_bind_lock(job->binds, job->count, &exec) : 0;
	for (i = 0; i < job->count && !ret; i++)
		ret = pumice_bind_obtain(&job->binds[i]);
	if (!ret)
		commit(job, signals);
	for (i = 0; ret && i < job->count; i++)
		pumice_bind_unobtain(&job->binds[i]);
	drm_exec_fini(&exec);
	return ret;
}

/* A job with its waits; the scheduler's part is initialised. */
static int queue(struct bind_job *job, struct drm_file *file,
		 const struct drm_pumice_sync *syncs, u32 sync_count, u32 *failed)
{
	struct pumice_vm *vm = job->vm;
	LIST_HEAD(signals);
	int ret, idx;

	ret = add_syncs(job, file, syncs, sync_count, &signals);
	if (!ret) {
		ret = -ENODEV;
		mutex_lock(&vm->lock);
		if (drm_dev_enter(&vm->pdev->drm, &idx)) {
			ret = queue_locked(job, file, &signals, failed);
			drm_dev_exit(idx);
		}
		mutex_unlock(&vm->lock);
	}
	pumice_sync_release(&signals);
	return ret;
}

/**
 * pumice_bind_async - queue a call's operations
 * @vm: address space; a use of the caller's
 * @file: file of all handles
 * @ops: array of operations, its form checked
 * @syncs: array of syncs
 * @failed: out, on an error: operation at fault
 *
 * Returns 0, or an error: nothing was queued then.
 */
int pumice_bind_async(struct pumice_vm *vm, struct drm_file *file,
		      const struct drm_pumice_array *ops, const struct drm_pumice_array *syncs,
		      u32 *failed)
{
	struct drm_pumice_sync *copy = pumice_sync_copy(syncs);
	struct bind_job *job;
	int ret;

	if (IS_ERR(copy))
		return PTR_ERR(copy);
	job = job_create(vm, ops, failed);
	ret = PTR_ERR_OR_ZERO(job);
	if (!ret) {
		ret = pumice_sched_job_init(&job->base, &vm->queue, 1, vm, file->client_id);
		if (!ret) {
			ret = queue(job, file, copy, syncs->count, failed);
			if (ret)
				drm_sched_job_cleanup(&job->base);
		}
		if (ret)
			queue_work(pumice_cleanup_wq, &job->free_work);
	}
	kfree(copy);
	return ret;
}
