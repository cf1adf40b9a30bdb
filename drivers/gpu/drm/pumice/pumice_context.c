// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Contexts: creation, destruction, and queries of their state by users.
 *
 * Submitting jobs to the firmware is in pumice_queue.c.
 */
#include <linux/capability.h>
#include <linux/dma-fence.h>
#include <linux/dma-resv.h>
#include <linux/module.h>
#include <linux/slab.h>

#include <drm/drm_auth.h>

#include "pumice_blame.h"
#include "pumice_ccb.h"
#include "pumice_context.h"
#include "pumice_fdinfo.h"
#include "pumice_queue.h"
#include "pumice_reset.h"
#include "pumice_sched.h"
#include "pumice_vm.h"

/* Time for queued jobs to drain from a context that is destroyed, ms; usually they take none. */
#define DRAIN_MS	100

/**
 * pumice_context_get - acquire a reference
 * @ctx: context, to which the caller has a reference
 *
 * Context: Any.
 *
 * Return: @ctx.
 */
struct pumice_context *pumice_context_get(struct pumice_context *ctx)
{
	pumice_object_get(&ctx->base);
	return ctx;
}

static void context_free(struct pumice_object *obj)
{
	struct pumice_context *ctx = container_of(obj, struct pumice_context, base);
	struct pumice_device *pdev = ctx->pdev;
	struct pumice_queue *q;

	pumice_for_each_queue(q, ctx)
		pumice_queue_fini(q);
	pumice_blame_put(ctx->blame);
	kfree(ctx);
	atomic_dec(&pdev->stats.destroyed_contexts);
	drm_dev_put(&pdev->drm);
	/* The exit of the module waits until this has returned: see pumice_drv_exit(). */
	module_put(THIS_MODULE);
}

/**
 * pumice_context_put - drop a reference
 * @ctx: context
 *
 * Context: Any, including atomic: a work item frees the context after the last reference.
 */
void pumice_context_put(struct pumice_context *ctx)
{
	pumice_object_put(&ctx->base);
}

/**
 * pumice_context_lookup - look up a context of a file by its id
 * @file: file
 * @id: id
 * @vm: out: its VM, with a use; or NULL
 *
 * Context: Does not sleep. Acquires the lock of file.contexts.
 *
 * Return: the context with a reference, or NULL.
 */
struct pumice_context *pumice_context_lookup(struct pumice_file *file, u32 id,
					     struct pumice_vm **vm)
{
	struct pumice_context *ctx;

	xa_lock(&file->contexts);
	ctx = xa_load(&file->contexts, id);
	if (ctx) {
		pumice_object_get(&ctx->base);
		/* A context holds a user count of its VM for as long as it is in the table. */
		if (vm)
			*vm = pumice_vm_get(ctx->vm);
	}
	xa_unlock(&file->contexts);
	return ctx;
}

/* List the data master of each queue of a context type. Returns their number. */
static u32 context_data_masters(u32 type, u32 *dm)
{
	switch (type) {
	case DRM_PUMICE_CONTEXT_RENDER:
		dm[PUMICE_QUEUE_GEOMETRY] = FWIF_DM_VDM;
		dm[PUMICE_QUEUE_FRAGMENT] = FWIF_DM_PDM;
		return 2;
	case DRM_PUMICE_CONTEXT_TRANSFER:
		dm[0] = FWIF_DM_TDM;
		return 1;
	case DRM_PUMICE_CONTEXT_RAYS:
		dm[0] = FWIF_DM_RDM;
		return 1;
	default:
		dm[0] = FWIF_DM_CDM;
		return 1;
	}
}

/* Create all queues, or none. */
static int context_create_queues(struct pumice_context *ctx, struct pumice_file *file)
{
	u32 dm[PUMICE_CONTEXT_QUEUES];
	u32 count = context_data_masters(ctx->type, dm);
	struct pumice_queue *q;
	int ret;

	while (ctx->queue_count < count) {
		ret = pumice_queue_init(&ctx->queues[ctx->queue_count], file, ctx,
					dm[ctx->queue_count]);
		if (ret)
			goto undo;
		ctx->queue_count++;
	}
	return 0;

undo:
	pumice_for_each_queue(q, ctx) {
		drm_sched_entity_destroy(&q->entity);
		pumice_queue_release_shared(q);
		pumice_queue_fini(q);
	}
	return ret;
}

/* Create a context; on success it owns the caller's VM use. */
static struct pumice_context *context_create(struct pumice_file *file, struct pumice_vm *vm,
					     u32 type, u32 priority)
{
	struct pumice_context *ctx = kzalloc(sizeof(*ctx), GFP_KERNEL_ACCOUNT);
	struct pumice_device *pdev = file->pdev;
	int ret;

	if (!ctx)
		return ERR_PTR(-ENOMEM);
	pumice_object_init(&ctx->base, context_free);
	ctx->pdev = pdev;
	ctx->vm = vm;
	ctx->type = type;
	ctx->priority = priority;
	ctx->timeout_ms = READ_ONCE(pumice_job_timeout_ms);
	pumice_process_note(&ctx->process);
	spin_lock_init(&ctx->lock);
	mutex_init(&ctx->priority_lock);
	init_waitqueue_head(&ctx->drained);
	INIT_WORK(&ctx->kill_work, pumice_context_kill_work);
	ret = context_create_queues(ctx, file);
	if (ret) {
		kfree(ctx);
		return ERR_PTR(ret);
	}
	ctx->blame = pumice_blame_get(file->blame);
	drm_dev_get(&pdev->drm);
	/* The caller's file holds a reference already, so this cannot fail. */
	__module_get(THIS_MODULE);
	atomic_inc(&pdev->stats.contexts);
	mutex_lock(&pdev->reset.lock);
	spin_lock(&pdev->reset.contexts_lock);
	list_add_tail(&ctx->node, &pdev->reset.contexts);
	spin_unlock(&pdev->reset.contexts_lock);
	mutex_unlock(&pdev->reset.lock);
	return ctx;
}

static int context_call_queue(struct pumice_queue *q, enum fwif_kccb_type type)
{
	const struct fwif_kccb_cmd cmd = { .type = type, .context = q->obj->addr };

	return pumice_kccb_call(q->ctx->pdev, &cmd);
}

static bool context_queue_idle(struct pumice_queue *q)
{
	bool idle;

	spin_lock(&q->ctx->lock);
	idle = list_empty(&q->in_flight);
	spin_unlock(&q->ctx->lock);
	return idle;
}

/**
 * pumice_context_idle - check whether the firmware has a job of a context
 * @ctx: context
 *
 * Context: Acquires the context's lock once for each queue; does not sleep. Unless the context
 * is stopped, a job may be submitted to the firmware meanwhile.
 *
 * Return: true if the firmware has no job of the context.
 */
bool pumice_context_idle(struct pumice_context *ctx)
{
	struct pumice_queue *q;

	pumice_for_each_queue(q, ctx)
		if (!context_queue_idle(q))
			return false;
	return true;
}

/**
 * pumice_context_stop_locked - stop a context: submit no more of its jobs to the firmware
 * @ctx: context, locked
 * @state: reason: DRM_PUMICE_CONTEXT_GUILTY or _INNOCENT; 0 for neither
 *
 * Only the first reason is stored: later ones are consequences of the context's stop.
 */
void pumice_context_stop_locked(struct pumice_context *ctx, u32 state)
{
	lockdep_assert_held(&ctx->lock);
	if (!ctx->stopped) {
		ctx->state |= state;
		pumice_blame_note(ctx->blame, state);
	}
	WRITE_ONCE(ctx->stopped, true);
}

/**
 * pumice_context_kill - end the jobs that the firmware has
 * @ctx: stopped context
 *
 * Call between drm_dev_enter() and drm_dev_exit(). Fragment jobs are killed first: the
 * completion of their geometry jobs would start them.
 *
 * Context: May sleep: waits for the firmware.
 *
 * Return: 0; or an error if the firmware did not do it, so that a reset is required: that of
 * pumice_kccb_call(), or -EPROTO if it replied although it still has a job.
 */
int pumice_context_kill(struct pumice_context *ctx)
{
	u32 i = ctx->queue_count;
	int ret = 0;

	if (pumice_context_idle(ctx))
		return 0;
	while (i-- && !ret)
		if (!context_queue_idle(&ctx->queues[i]))
			ret = context_call_queue(&ctx->queues[i], FWIF_KCCB_CONTEXT_KILL);
	if (ret)
		return ret;
	pumice_queue_process(ctx);
	return pumice_context_idle(ctx) ? 0 : -EPROTO;
}

/**
 * pumice_context_kill_work - end the jobs of a context after the firmware has killed one
 * @work: kill_work of a stopped context, with a reference to it
 *
 * A context that is being destroyed ends them by itself. It is removed from the list under
 * reset.lock before its queues lose their shared memory.
 */
void pumice_context_kill_work(struct work_struct *work)
{
	struct pumice_context *ctx = container_of(work, struct pumice_context, kill_work);
	struct pumice_device *pdev = ctx->pdev;
	int idx, ret = 0;

	if (drm_dev_enter(&pdev->drm, &idx)) {
		mutex_lock(&pdev->reset.lock);
		if (!pdev->reset.lost && !list_empty(&ctx->node))
			ret = pumice_context_kill(ctx);
		mutex_unlock(&pdev->reset.lock);
		if (ret)
			pumice_reset_and_wait(pdev, ret);
		drm_dev_exit(idx);
	}
	pumice_context_put(ctx);
}

/**
 * pumice_context_kill_later - end the jobs that the firmware has, in a work item
 * @ctx: stopped context; the caller has a reference
 *
 * Context: Any.
 */
void pumice_context_kill_later(struct pumice_context *ctx)
{
	pumice_object_get(&ctx->base);
	if (!queue_work(pumice_cleanup_wq, &ctx->kill_work))
		pumice_context_put(ctx);
}

/*
 * Remove a context that is destroyed from the firmware. A reset that began before the context
 * was stopped may resubmit its jobs to the new firmware: wait for its end first. On return no job
 * of the context is left: ended by the firmware, by a reset, or by unplugging.
 */
static void context_release_fw_state(struct pumice_context *ctx)
{
	struct pumice_device *pdev = ctx->pdev;
	struct pumice_queue *q;
	int ret, idx;

	if (drm_dev_enter(&pdev->drm, &idx)) {
		pumice_reset_wait(pdev);
		ret = pumice_context_kill(ctx);
		pumice_for_each_queue(q, ctx)
			if (!ret && q->registered)
				ret = context_call_queue(q, FWIF_KCCB_CONTEXT_RELEASE);
		if (ret)
			pumice_reset_and_wait(pdev, ret);
		drm_dev_exit(idx);
	}
	pumice_device_wait_unplugged(pdev);
}

/* Close a context: no job is armed for it afterwards. */
static void context_close(struct pumice_context *ctx)
{
	struct dma_resv *resv = pumice_vm_resv(ctx->vm);

	dma_resv_lock(resv, NULL);
	ctx->closed = true;
	dma_resv_unlock(resv);
	spin_lock(&ctx->lock);
	pumice_context_stop_locked(ctx, 0);
	spin_unlock(&ctx->lock);
}

/* Return true if no job is in the schedulers' queues. */
static bool context_drained(struct pumice_context *ctx)
{
	struct pumice_queue *q;
	int queued = 0;

	pumice_for_each_queue(q, ctx)
		queued += atomic_read(&q->queued);
	return !queued;
}

/**
 * pumice_context_destroy - destroy a context, killing its jobs
 * @ctx: context, removed from its file's table; consumes the table's reference
 *
 * Must not be called between drm_dev_enter() and drm_dev_exit().
 *
 * Jobs in the scheduler's queue pass through run_job(), which refuses them. A job
 * that waits for another driver's fence does not; killing the entity ends it.
 */
void pumice_context_destroy(struct pumice_context *ctx)
{
	struct pumice_device *pdev = ctx->pdev;
	struct pumice_queue *q;

	context_close(ctx);
	context_release_fw_state(ctx);
	wait_event_timeout(ctx->drained, context_drained(ctx), msecs_to_jiffies(DRAIN_MS));
	mutex_lock(&pdev->reset.lock);
	/* Jobs remain only on a lost GPU, whose unplugging will not find the context. */
	if (!pumice_context_idle(ctx))
		pumice_queue_cancel(ctx, -ENODEV);
	spin_lock(&pdev->reset.contexts_lock);
	list_del_init(&ctx->node); /* reset_watch_job() tests this */
	spin_unlock(&pdev->reset.contexts_lock);
	mutex_unlock(&pdev->reset.lock);
	/* A context outside of the list: resets and suspend do not stop or start its schedulers. */
	pumice_for_each_queue(q, ctx)
		pumice_sched_kill(&q->sched, &q->entity);
	mutex_lock(&ctx->priority_lock);
	pumice_for_each_queue(q, ctx)
		pumice_queue_release_shared(q);
	mutex_unlock(&ctx->priority_lock);
	pumice_vm_put(ctx->vm);
	/* In this order a reader of both finds it in one of them, until it is freed. */
	atomic_inc(&pdev->stats.destroyed_contexts);
	atomic_dec(&pdev->stats.contexts);
	pumice_context_put(ctx);
}

/**
 * pumice_priorities - return a mask of the priorities that a file may use
 * @file: file
 *
 * Context: Process context: tests the calling task.
 *
 * Return: mask; bit n corresponds to enum drm_pumice_priority n.
 */
u32 pumice_priorities(struct drm_file *file)
{
	u32 mask = BIT(DRM_PUMICE_PRIORITY_LOW) | BIT(DRM_PUMICE_PRIORITY_NORMAL);

	if (capable(CAP_SYS_NICE) || drm_is_current_master(file))
		mask |= BIT(DRM_PUMICE_PRIORITY_HIGH);
	return mask;
}

/*
 * Store the priority for the firmware, which reads it at the first kick of a queue. Returns
 * true if the queue was kicked already, in which case a command must follow.
 */
static bool context_note_priority(struct pumice_queue *q, u32 priority)
{
	bool registered;

	spin_lock(&q->ctx->lock);
	q->ctx->priority = priority;
	q->shared->context.priority = priority;
	registered = q->registered;
	spin_unlock(&q->ctx->lock);
	return registered;
}

/* Called between drm_dev_enter() and drm_dev_exit(). A reset GPU reads the priority again. */
static int context_set_priority(struct pumice_context *ctx, u32 priority)
{
	struct fwif_kccb_cmd cmd = { .type = FWIF_KCCB_CONTEXT_PRIORITY, .priority = priority };
	struct pumice_queue *q;
	int ret = 0;

	mutex_lock(&ctx->priority_lock);
	pumice_for_each_queue(q, ctx) {
		/* Another thread has destroyed the context since it was looked up. */
		if (!q->obj)
			break;
		cmd.context = q->obj->addr;
		if (context_note_priority(q, priority) && !ret)
			ret = pumice_kccb_call(ctx->pdev, &cmd);
		/* The next firmware reads it; that one may already have the next queue, too. */
		if (ret == -ECANCELED)
			ret = 0;
	}
	mutex_unlock(&ctx->priority_lock);
	if (!ret)
		return 0;
	pumice_reset_and_wait(ctx->pdev, ret);
	return -EIO;
}

/**
 * pumice_ioctl_context_set_priority - implement DRM_IOCTL_PUMICE_CONTEXT_SET_PRIORITY
 * @drm: device
 * @data: struct drm_pumice_context_set_priority
 * @file: file
 *
 * Context: Process context. Acquires the context's priority_lock; waits for the firmware, and
 * for a reset if the firmware does not execute the command.
 *
 * Return: 0; -EINVAL for an unknown priority, flags or padding; -EACCES if the caller may not
 * use the priority; -ENOENT without such a context; -EIO if the firmware did not execute the
 * command, so that the GPU was reset; -ENODEV if the device was unplugged.
 */
int pumice_ioctl_context_set_priority(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_context_set_priority *args = data;
	struct pumice_context *ctx;
	int ret = -ENODEV, idx;

	if (args->flags || args->pad || args->priority > DRM_PUMICE_PRIORITY_HIGH)
		return -EINVAL;
	if (!(pumice_priorities(file) & BIT(args->priority)))
		return -EACCES;
	ctx = pumice_context_lookup(file->driver_priv, args->id, NULL);
	if (!ctx)
		return -ENOENT;
	if (drm_dev_enter(drm, &idx)) {
		ret = context_set_priority(ctx, args->priority);
		drm_dev_exit(idx);
	}
	pumice_context_put(ctx);
	return ret;
}

static int context_check_create(const struct drm_pumice_context_create *args, struct drm_file *file)
{
	const struct pumice_file *pfile = file->driver_priv;

	if (args->type < DRM_PUMICE_CONTEXT_COMPUTE || args->type > DRM_PUMICE_CONTEXT_RAYS ||
	    args->flags || args->pad || args->priority > DRM_PUMICE_PRIORITY_HIGH)
		return -EINVAL;
	if (args->type == DRM_PUMICE_CONTEXT_RAYS &&
	    !pumice_device_supports(pfile->pdev, FWIF_RDM_SINCE_MAP, FWIF_RDM_SINCE))
		return -EOPNOTSUPP;
	if (!(pumice_priorities(file) & BIT(args->priority)))
		return -EACCES;
	return 0;
}

/* Create a context in the file's table; consumes the VM use in any case. */
static int context_add(struct pumice_file *pfile, struct pumice_vm *vm,
		       struct drm_pumice_context_create *args)
{
	struct pumice_context *ctx;
	int ret, idx;

	if (drm_dev_enter(&pfile->pdev->drm, &idx)) {
		ctx = context_create(pfile, vm, args->type, args->priority);
		drm_dev_exit(idx);
	} else {
		ctx = ERR_PTR(-ENODEV);
	}
	if (IS_ERR(ctx)) {
		pumice_vm_put(vm);
		return PTR_ERR(ctx);
	}
	/* Once it is in the table another thread may destroy it. */
	xa_lock(&pfile->contexts);
	ret = __xa_alloc(&pfile->contexts, &args->id, ctx, xa_limit_31b, GFP_KERNEL);
	if (!ret)
		WRITE_ONCE(ctx->id, args->id);
	xa_unlock(&pfile->contexts);
	if (ret)
		pumice_context_destroy(ctx);
	return ret;
}

/**
 * pumice_ioctl_context_create - implement DRM_IOCTL_PUMICE_CONTEXT_CREATE
 * @drm: device
 * @data: struct drm_pumice_context_create
 * @file: file, charged for the context ids of the firmware and its memory
 *
 * Context: Process context. Acquires reset.lock; may wait until destroyed objects are freed.
 *
 * Return: 0; -EINVAL for an unknown type or priority, flags or padding; -EACCES if the caller
 * may not use the priority; -ENOENT without such a VM; -ENOSPC if the file, its user or all
 * users have reached their limit; -ENOMEM; -EINTR if the caller is killed; -ENODEV if the
 * device was unplugged; or an error of drm_sched_init().
 */
int pumice_ioctl_context_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_context_create *args = data;
	struct pumice_vm *vm;
	int ret;

	ret = context_check_create(args, file);
	if (ret)
		return ret;
	pumice_quota_settle(file->driver_priv, PUMICE_RESOURCE_MEMORY, pumice_queue_memory());
	vm = pumice_vm_lookup(file->driver_priv, args->vm);
	if (!vm)
		return -ENOENT;
	return context_add(file->driver_priv, vm, args);
}

/**
 * pumice_ioctl_context_destroy - implement DRM_IOCTL_PUMICE_CONTEXT_DESTROY
 * @drm: device
 * @data: struct drm_pumice_context_destroy
 * @file: file
 *
 * Context: Process context. Waits until the firmware has no job of the context, and at most
 * DRAIN_MS until the scheduler has none; see pumice_context_destroy().
 *
 * Return: 0; -EINVAL for padding; or -ENOENT without such a context.
 */
int pumice_ioctl_context_destroy(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_context_destroy *args = data;
	struct pumice_file *pfile = file->driver_priv;
	struct pumice_context *ctx;

	if (args->pad)
		return -EINVAL;
	ctx = xa_erase(&pfile->contexts, args->id);
	if (!ctx)
		return -ENOENT;
	pumice_context_get(ctx);
	pumice_context_destroy(ctx);
	pumice_fdinfo_context_released(pfile, ctx);
	pumice_context_put(ctx);
	return 0;
}

/**
 * pumice_ioctl_context_get_state - implement DRM_IOCTL_PUMICE_CONTEXT_GET_STATE
 * @drm: device
 * @data: struct drm_pumice_context_get_state
 * @file: file
 *
 * Context: Process context. Acquires the context's lock.
 *
 * Return: 0, or -ENOENT without such a context.
 */
int pumice_ioctl_context_get_state(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_context_get_state *args = data;
	struct pumice_context *ctx = pumice_context_lookup(file->driver_priv, args->id,
							   NULL);
	struct pumice_context_status status;

	if (!ctx)
		return -ENOENT;
	spin_lock(&ctx->lock);
	args->state = ctx->state;
	status = ctx->status;
	spin_unlock(&ctx->lock);
	pumice_context_put(ctx);
	args->jobs_done = status.done;
	args->jobs_faulted = status.failed;
	args->fault = status.fault.fault;
	args->unit = status.fault.unit;
	args->access = status.fault.access;
	args->pc = status.fault.pc;
	args->fault_va = status.fault.addr;
	args->last_start = status.last_start;
	args->last_end = status.last_end;
	return 0;
}
