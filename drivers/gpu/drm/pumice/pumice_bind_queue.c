// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Asynchronous VM_BIND: the queue of a VM.
 *
 * A call becomes a job of the VM's own scheduler, which waits for its fences and
 * preserves the order. Everything that can fail or that allocates is done before the
 * job is armed; run_job() only acquires vm.lock, under which nothing is allocated, and
 * waits for the firmware, which has a time-out.
 *
 * Users wait for a fence of the driver, not for the scheduler's: it can signal
 * -ECANCELED at once when the VM is destroyed, whatever the job still waits for.
 *
 * A job belongs to the scheduler and, until it is executed or cancelled, to the
 * list of waiting jobs; the thread that removes it from that list completes it. So its
 * page tables, which are DMA memory of the PCI device, are released before the device
 * is removed.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include <drm/drm_syncobj.h>
#include <drm/gpu_scheduler.h>

#include "pumice_bind.h"
#include "pumice_bind_queue.h"
#include "pumice_object.h"
#include "pumice_sched.h"
#include "pumice_sync.h"
#include "pumice_uapi.h"
#include "pumice_vm.h"

/**
 * struct pumice_bind_queue - asynchronous binds of one VM
 */
struct pumice_bind_queue {
	/** @base: references of the VM, jobs, fences */
	struct pumice_object base;
	/** @pdev: device; a reference to its drm_device */
	struct pumice_device *pdev;
	/** @sched: runs jobs one at a time */
	struct drm_gpu_scheduler sched;
	/** @entity: jobs in order, until the last use of the VM is released */
	struct drm_sched_entity entity;
	/** @push_lock: held while a job is armed and pushed; guards the next three */
	struct mutex push_lock;
	/** @fence_context: fence context of struct bind_fence; constant */
	u64 fence_context;
	/** @seqno: sequence number of the last fence */
	u64 seqno;
	/** @closed: no more jobs are accepted */
	bool closed;
	/** @lock: guards the following fields */
	spinlock_t lock;
	/** @calls: calls being prepared or waiting, at most DRM_PUMICE_MAX_QUEUED_BINDS */
	u32 calls;
	/** @tables: their operations may need, at most DRM_PUMICE_MAX_QUEUED_TABLES */
	u64 tables;
	/** @waiting: jobs not yet executed, struct bind_job.node, oldest first */
	struct list_head waiting;
};

/**
 * struct bind_fence - signals when a call took effect or was cancelled
 */
struct bind_fence {
	/** @base: base; must be first, because it is freed through this address */
	struct dma_fence base;
	/** @lock: lock of @base */
	spinlock_t lock;
	/** @queue: queue; a reference */
	struct pumice_bind_queue *queue;
};

/**
 * struct bind_job - one call
 */
struct bind_job {
	/** @base: scheduler's part */
	struct drm_sched_job base;
	/**
	 * @object: references of the scheduler and the list of waiting jobs; freed by a work
	 * item because the scheduler must not acquire the locks of the resources
	 */
	struct pumice_object object;
	/** @queue: queue; a reference */
	struct pumice_bind_queue *queue;
	/** @fence: fence; a reference once @armed */
	struct bind_fence *fence;
	/** @armed: fences are initialised */
	bool armed;
	/** @node: in pumice_bind_queue.waiting, under its lock */
	struct list_head node;
	/** @bind: tables and removed mappings; a reference keeps its VM's structure */
	struct pumice_bind bind;
	/** @ops: operations, prepared */
	struct pumice_bind_op *ops;
	/** @count: number of @ops */
	u32 count;
	/** @tables: its share of pumice_bind_queue.tables */
	u64 tables;
};

static void bind_queue_free(struct pumice_object *obj)
{
	struct pumice_bind_queue *queue = container_of(obj, struct pumice_bind_queue, base);
	struct drm_device *drm = &queue->pdev->drm;

	pumice_sched_fini(&queue->sched, queue->seqno);
	mutex_destroy(&queue->push_lock);
	kfree(queue);
	drm_dev_put(drm);
}

/* Drop a reference. May be called in atomic context. */
static void bind_queue_put(struct pumice_bind_queue *queue)
{
	pumice_object_put(&queue->base);
}

static const char *bind_queue_fence_driver_name(struct dma_fence *fence)
{
	return "pumice";
}

static const char *bind_queue_fence_timeline_name(struct dma_fence *fence)
{
	return "pumice-bind";
}

/* Drop the references that the fence holds. May be called with interrupts off. */
static void bind_queue_fence_drop(struct bind_fence *fence)
{
	atomic_dec(&fence->queue->pdev->stats.fences);
	bind_queue_put(fence->queue);
	module_put(THIS_MODULE);
}

static void bind_queue_fence_release(struct dma_fence *base)
{
	bind_queue_fence_drop(container_of(base, struct bind_fence, base));
	dma_fence_free(base);
}

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = bind_queue_fence_driver_name,
	.get_timeline_name = bind_queue_fence_timeline_name,
	.release = bind_queue_fence_release,
};

/* Allocate the memory of a fence; it is initialized when its job is armed. */
static struct bind_fence *bind_queue_fence_alloc(struct pumice_bind_queue *queue)
{
	struct bind_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL_ACCOUNT);

	if (!fence)
		return NULL;
	spin_lock_init(&fence->lock);
	pumice_object_get(&queue->base);
	fence->queue = queue;
	__module_get(THIS_MODULE);
	atomic_inc(&queue->pdev->stats.fences);
	return fence;
}

static void bind_queue_fence_free(struct bind_fence *fence, bool armed)
{
	if (armed) {
		dma_fence_put(&fence->base);
	} else {
		bind_queue_fence_drop(fence);
		kfree(fence);
	}
}

/* Free a job, except the scheduler's part and the tables, which were freed before. */
static void bind_queue_job_free(struct bind_job *job)
{
	struct pumice_bind_queue *queue = job->queue;
	u32 i;

	/* Until it stops, a GPU whose TLBs were not invalidated may use removed mappings. */
	pumice_device_wait_unplugged(queue->pdev);
	for (i = 0; i < job->count; i++)
		pumice_bind_release_op(&job->ops[i]);
	kvfree(job->ops);
	pumice_bind_release(&job->bind);
	if (job->fence)
		bind_queue_fence_free(job->fence, job->armed);
	drm_gpuvm_put(&job->bind.vm->base);
	kfree(job);
	atomic_dec(&queue->pdev->stats.jobs);
	bind_queue_put(queue);
}

static void bind_queue_job_free_object(struct pumice_object *obj)
{
	bind_queue_job_free(container_of(obj, struct bind_job, object));
}

static void bind_queue_job_put(struct bind_job *job)
{
	pumice_object_put(&job->object);
}

static struct bind_job *to_bind_job(struct drm_sched_job *base)
{
	return container_of(base, struct bind_job, base);
}

/* Transfer the list's reference to the caller; false if the job was already removed. */
static bool bind_queue_remove(struct bind_job *job)
{
	struct pumice_bind_queue *queue = job->queue;
	bool taken;

	spin_lock(&queue->lock);
	taken = !list_empty(&job->node);
	list_del_init(&job->node);
	spin_unlock(&queue->lock);
	return taken;
}

/* Reserve part of the queue's limits: a job, or the tables of one more operation. */
static int bind_queue_reserve(struct pumice_bind_queue *queue, u32 calls, u64 tables)
{
	int ret = -ENOSPC;

	spin_lock(&queue->lock);
	if (queue->calls + calls <= DRM_PUMICE_MAX_QUEUED_BINDS &&
	    queue->tables + tables <= DRM_PUMICE_MAX_QUEUED_TABLES) {
		queue->calls += calls;
		queue->tables += tables;
		ret = 0;
	}
	spin_unlock(&queue->lock);
	return ret;
}

static void bind_queue_unreserve(struct pumice_bind_queue *queue, u32 calls, u64 tables)
{
	spin_lock(&queue->lock);
	queue->calls -= calls;
	queue->tables -= tables;
	spin_unlock(&queue->lock);
}

/* Complete a job that the caller removed from the list; the device is still present. */
static void bind_queue_end_job(struct bind_job *job, int error)
{
	if (error)
		dma_fence_set_error(&job->fence->base, error);
	/* First: a waiter that the fence wakes must be able to queue another call. */
	bind_queue_unreserve(job->queue, 1, job->tables);
	dma_fence_signal(&job->fence->base);
	pumice_mmu_pool_free(job->queue->pdev, &job->bind.pool);
	bind_queue_job_put(job);
}

/* Called between drm_dev_enter() and drm_dev_exit(). Returns the error of the fence. */
static int bind_queue_execute(struct bind_job *job)
{
	struct pumice_vm *vm = job->bind.vm;
	int ret;
	u32 i;

	mutex_lock(&vm->lock);
	ret = pumice_vm_bindable_locked(vm);
	if (ret) {
		/* Earlier failure already logged; this bind is cancelled as a consequence. */
		mutex_unlock(&vm->lock);
		return ret == -ENODEV ? ret : -ECANCELED;
	}
	for (i = 0; i < job->count; i++)
		pumice_bind_execute_locked(&job->bind, &job->ops[i]);
	if (job->count)
		ret = pumice_vm_flush_locked(vm);
	if (ret)
		WRITE_ONCE(vm->unusable, true);
	mutex_unlock(&vm->lock);
	return ret;
}

static struct dma_fence *bind_queue_run_job(struct drm_sched_job *base)
{
	struct bind_job *job = to_bind_job(base);
	bool cookie;
	int idx;

	/* Unplugging completes all waiting jobs. */
	if (!drm_dev_enter(&job->queue->pdev->drm, &idx))
		return NULL;
	cookie = dma_fence_begin_signalling();
	if (bind_queue_remove(job))
		bind_queue_end_job(job, bind_queue_execute(job));
	dma_fence_end_signalling(cookie);
	drm_dev_exit(idx);
	return NULL;
}

static void bind_queue_sched_free_job(struct drm_sched_job *base)
{
	drm_sched_job_cleanup(base);
	bind_queue_job_put(to_bind_job(base));
}

static const struct drm_sched_backend_ops sched_ops = {
	.run_job = bind_queue_run_job,
	.free_job = bind_queue_sched_free_job,
};

static int bind_queue_start_scheduler(struct pumice_bind_queue *queue)
{
	struct drm_gpu_scheduler *sched = &queue->sched;
	struct pumice_device *pdev = queue->pdev;
	int ret;

	ret = pumice_sched_init(sched, &sched_ops, pdev->bind_wq, 1, MAX_SCHEDULE_TIMEOUT, NULL,
				"pumice-bind", pdev->drm.dev);
	if (ret)
		return ret;
	ret = drm_sched_entity_init(&queue->entity, DRM_SCHED_PRIORITY_KERNEL, &sched, 1, NULL);
	if (ret)
		drm_sched_fini(sched);
	return ret;
}

/**
 * pumice_bind_queue_create - create an empty queue
 * @pdev: device
 *
 * Context: May sleep.
 *
 * Return: the queue, or an error pointer: -ENOMEM, or an error of drm_sched_init().
 */
struct pumice_bind_queue *pumice_bind_queue_create(struct pumice_device *pdev)
{
	struct pumice_bind_queue *queue = kzalloc(sizeof(*queue), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!queue)
		return ERR_PTR(-ENOMEM);
	queue->pdev = pdev;
	ret = bind_queue_start_scheduler(queue);
	if (ret) {
		kfree(queue);
		return ERR_PTR(ret);
	}
	pumice_object_init(&queue->base, bind_queue_free);
	mutex_init(&queue->push_lock);
	queue->fence_context = dma_fence_context_alloc(1);
	spin_lock_init(&queue->lock);
	INIT_LIST_HEAD(&queue->waiting);
	drm_dev_get(&pdev->drm);
	return queue;
}

/**
 * pumice_bind_queue_destroy - destroy a queue that is closed or was never used
 * @queue: queue
 *
 * The structure is freed with the last fence.
 *
 * Context: May sleep: waits until the scheduler has left the entity.
 */
void pumice_bind_queue_destroy(struct pumice_bind_queue *queue)
{
	pumice_sched_kill(&queue->sched, &queue->entity);
	bind_queue_put(queue);
}

static struct bind_job *bind_queue_remove_first(struct pumice_bind_queue *queue)
{
	struct bind_job *job;

	spin_lock(&queue->lock);
	job = list_first_entry_or_null(&queue->waiting, struct bind_job, node);
	if (job)
		list_del_init(&job->node);
	spin_unlock(&queue->lock);
	return job;
}

/**
 * pumice_bind_queue_close - cancel all waiting jobs, and accept no more
 * @queue: queue
 * @error: error of their fences
 *
 * Call between drm_dev_enter() and drm_dev_exit(), or while the device is being
 * unplugged. May be called more than once.
 */
void pumice_bind_queue_close(struct pumice_bind_queue *queue, int error)
{
	struct bind_job *job;
	bool cookie;

	mutex_lock(&queue->push_lock);
	queue->closed = true;
	mutex_unlock(&queue->push_lock);
	cookie = dma_fence_begin_signalling();
	while ((job = bind_queue_remove_first(queue)))
		bind_queue_end_job(job, error);
	dma_fence_end_signalling(cookie);
}

/* Create a job without operations. Returns an error pointer on failure. */
static struct bind_job *bind_queue_job_create(struct pumice_vm *vm, u64 client)
{
	struct pumice_bind_queue *queue = vm->binds;
	struct bind_job *job;
	int ret = bind_queue_reserve(queue, 1, 0);

	if (ret)
		return ERR_PTR(ret);
	ret = -ENOMEM;
	job = kzalloc(sizeof(*job), GFP_KERNEL_ACCOUNT);
	if (!job)
		goto free_room;
	ret = pumice_sched_job_init(&job->base, &queue->entity, 1, queue, client);
	if (ret)
		goto free_job;
	pumice_object_init(&job->object, bind_queue_job_free_object);
	pumice_object_get(&queue->base);
	job->queue = queue;
	INIT_LIST_HEAD(&job->node);
	drm_gpuvm_get(&vm->base);
	pumice_bind_init(&job->bind, vm);
	atomic_inc(&queue->pdev->stats.jobs);
	return job;

free_job:
	kfree(job);
free_room:
	bind_queue_unreserve(queue, 1, 0);
	return ERR_PTR(ret);
}

/* Allocate page tables for the worst case of mappings at the time of execution. */
static int bind_queue_fill_pool(struct bind_job *job, const struct drm_pumice_bind_op *args)
{
	struct pumice_device *pdev = job->queue->pdev;
	struct pumice_mmu_pool *pool = &job->bind.pool;
	bool map = args->type == DRM_PUMICE_BIND_MAP;
	u64 tables = pumice_mmu_worst_tables(args->va, args->size, map);
	int ret = bind_queue_reserve(job->queue, 0, tables);

	if (ret)
		return ret;
	job->tables += tables;
	if (map)
		return pumice_mmu_pool_add_map(pdev, pool, args->va, args->size);
	return pumice_mmu_pool_add_unmap(pdev, pool);
}

/* Copy, check and prepare one operation. On an error, all of it is undone. */
static int bind_queue_add_op(struct bind_job *job, struct drm_file *file,
			     const struct drm_pumice_array *ops)
{
	struct pumice_bind_op *op = &job->ops[job->count];
	int ret;

	ret = pumice_array_copy(ops, job->count, &op->args, sizeof(op->args));
	if (!ret)
		ret = pumice_bind_check_op(&op->args);
	if (ret)
		return ret;
	ret = pumice_bind_prepare_op(&job->bind, op, file);
	if (!ret)
		ret = bind_queue_fill_pool(job, &op->args);
	if (ret)
		pumice_bind_release_op(op);
	return ret;
}

static int bind_queue_add_ops(struct bind_job *job, struct drm_file *file,
			      const struct drm_pumice_array *ops, u32 *failed)
{
	int ret;

	if (!ops->count)
		return 0;
	job->ops = kvcalloc(ops->count, sizeof(*job->ops), GFP_KERNEL_ACCOUNT);
	if (!job->ops)
		return -ENOMEM;
	for (*failed = 0; *failed < ops->count; (*failed)++) {
		ret = bind_queue_add_op(job, file, ops);
		if (ret)
			return ret;
		job->count++;
	}
	return 0;
}

/* Add waits as dependencies of the job, and collect its signals. */
static int bind_queue_add_syncs(struct bind_job *job, struct drm_file *file,
				const struct drm_pumice_array *array, struct list_head *signals)
{
	struct drm_pumice_sync *syncs = pumice_sync_copy(array);
	struct dma_fence *fence;
	int ret = 0;
	u32 i;

	if (IS_ERR(syncs))
		return PTR_ERR(syncs);
	for (i = 0; i < array->count && !ret; i++) {
		if (syncs[i].flags & DRM_PUMICE_SYNC_SIGNAL) {
			ret = pumice_sync_add_signal(file, 0, &syncs[i], signals);
			continue;
		}
		ret = drm_syncobj_find_fence(file, syncs[i].handle, syncs[i].value, 0, &fence);
		if (!ret)
			ret = drm_sched_job_add_dependency(&job->base, fence);
	}
	kfree(syncs);
	return ret;
}

/* Arm and push the job, and commit its signals. Cannot fail. */
static void bind_queue_commit_locked(struct bind_job *job, struct list_head *signals)
{
	struct pumice_bind_queue *queue = job->queue;
	bool cookie = dma_fence_begin_signalling();

	lockdep_assert_held(&queue->push_lock);
	drm_sched_job_arm(&job->base);
	dma_fence_init(&job->fence->base, &fence_ops, &job->fence->lock, queue->fence_context,
		       ++queue->seqno);
	job->armed = true;
	pumice_object_get(&job->object);
	spin_lock(&queue->lock);
	list_add_tail(&job->node, &queue->waiting);
	spin_unlock(&queue->lock);
	pumice_sync_commit_fence(signals, &job->fence->base);
	drm_sched_entity_push_job(&job->base);
	dma_fence_end_signalling(cookie);
}

/* Push a job; on success the queue owns it. */
static int bind_queue_push(struct bind_job *job, struct list_head *signals)
{
	struct pumice_bind_queue *queue = job->queue;
	int ret = 0;

	mutex_lock(&queue->push_lock);
	if (queue->closed)
		ret = -ENOENT;
	else if (!pumice_vm_usable(job->bind.vm))
		ret = -EIO;
	else
		bind_queue_commit_locked(job, signals);
	mutex_unlock(&queue->push_lock);
	return ret;
}

static int bind_queue_prepare(struct bind_job *job, struct drm_file *file,
			      const struct drm_pumice_vm_bind *args, struct list_head *signals,
			      u32 *failed)
{
	int ret = bind_queue_add_ops(job, file, &args->ops, failed);

	pumice_bind_forget_buffer(&job->bind);
	if (!ret)
		ret = bind_queue_add_syncs(job, file, &args->syncs, signals);
	if (ret)
		return ret;
	job->fence = bind_queue_fence_alloc(job->queue);
	return job->fence ? 0 : -ENOMEM;
}

/**
 * pumice_bind_queue_push - queue a VM_BIND call
 * @vm: address space, with a use; call between drm_dev_enter() and drm_dev_exit()
 * @file: file of its handles
 * @args: arguments, whose array of operations was checked
 * @failed: out, on an error: index of the operation that was being processed
 *
 * Context: May sleep. Acquires the queue's push_lock.
 *
 * Return: 0; or an error, in which case nothing was queued: -EIO if the VM is unusable;
 * -ENOENT if the queue is closed, or without such a syncobj; -ENOSPC if the queue is full;
 * -EINVAL for a wait without a fence; -ENOMEM; -EINTR if the caller is killed; or an error of
 * pumice_array_copy(), pumice_bind_check_op(), pumice_bind_prepare_op(), pumice_sync_copy() or
 * drm_sched_job_init().
 */
int pumice_bind_queue_push(struct pumice_vm *vm, struct drm_file *file,
			   const struct drm_pumice_vm_bind *args, u32 *failed)
{
	struct bind_job *job;
	LIST_HEAD(signals);
	int ret;

	if (!pumice_vm_usable(vm))
		return -EIO;
	job = bind_queue_job_create(vm, file->client_id);
	if (IS_ERR(job))
		return PTR_ERR(job);
	ret = bind_queue_prepare(job, file, args, &signals, failed);
	if (!ret)
		ret = bind_queue_push(job, &signals);
	if (ret) {
		drm_sched_job_cleanup(&job->base);
		pumice_mmu_pool_free(vm->pdev, &job->bind.pool);
		bind_queue_unreserve(vm->binds, 1, job->tables);
		bind_queue_job_put(job);
	}
	pumice_sync_release(&signals);
	return ret;
}
