// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Contexts: making them, ending them, and what users ask of them.
 *
 * Giving jobs to the firmware is in pumice_queue.c.
 */
#include <linux/capability.h>
#include <linux/dma-fence.h>
#include <linux/dma-resv.h>
#include <linux/slab.h>

#include <drm/drm_auth.h>

#include "pumice_ccb.h"
#include "pumice_context.h"
#include "pumice_fdinfo.h"
#include "pumice_queue.h"
#include "pumice_reset.h"
#include "pumice_vm.h"

/* Time for queued jobs to pass through a context that ends; usually they take none. */
#define DRAIN_MS	100

struct pumice_context *pumice_context_get(struct pumice_context *ctx)
{
	kref_get(&ctx->ref);
	return ctx;
}

static void free_work(struct work_struct *work)
{
	struct pumice_context *ctx = container_of(work, struct pumice_context, free_work);
	struct drm_device *drm = &ctx->pdev->drm;

	drm_sched_fini(&ctx->sched);
	pumice_fw_obj_destroy(ctx->pdev, ctx->ufo);
	kfree(ctx);
	drm_dev_put(drm);
}

static void last_put(struct kref *ref)
{
	struct pumice_context *ctx = container_of(ref, struct pumice_context, ref);

	queue_work(pumice_cleanup_wq, &ctx->free_work);
}

/* May be called where one cannot sleep. */
void pumice_context_put(struct pumice_context *ctx)
{
	kref_put(&ctx->ref, last_put);
}

/**
 * pumice_context_lookup - context of a file by its id
 * @file: file
 * @id: id
 * @vm: where to put its VM, with a use; or NULL
 *
 * Returns it with a reference, or NULL.
 */
struct pumice_context *pumice_context_lookup(struct pumice_file *file, u32 id,
					     struct pumice_vm **vm)
{
	struct pumice_context *ctx;

	xa_lock(&file->contexts);
	ctx = xa_load(&file->contexts, id);
	if (ctx) {
		kref_get(&ctx->ref);
		/* As long as the context is in the table, it has a use itself. */
		if (vm)
			*vm = pumice_vm_get(ctx->vm);
	}
	xa_unlock(&file->contexts);
	return ctx;
}

static void fill_shared(struct pumice_context *ctx)
{
	u32 addr = ctx->obj->addr;

	ctx->shared->context = (struct fwif_context) {
		.magic = FWIF_CONTEXT_MAGIC,
		.id = ctx->id,
		.dm = FWIF_DM_CDM,
		.priority = ctx->priority,
		.catalogue = pumice_vm_catalogue(ctx->vm),
		.cccb = addr + offsetof(struct pumice_context_shared, cccb),
		.cccb_bytes = PUMICE_CCCB_BYTES,
		.results = addr + offsetof(struct pumice_context_shared, results),
		.result_count = PUMICE_RESULT_COUNT,
		.save = addr + offsetof(struct pumice_context_shared, save),
	};
}

/* Memory shared with the firmware. What was made is freed by release_shared(). */
static int make_shared(struct pumice_context *ctx)
{
	struct pumice_device *pdev = ctx->pdev;
	struct pumice_fw_obj *obj;

	obj = pumice_fw_obj_create(pdev, sizeof(u32));
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	ctx->ufo = obj;
	obj = pumice_fw_obj_create(pdev, sizeof(*ctx->shared));
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	ctx->obj = obj;
	ctx->shared = obj->cpu;
	fill_shared(ctx);
	return 0;
}

/* What a context shares with the firmware beside its update object, and its id. */
static void release_shared(struct pumice_context *ctx)
{
	pumice_fw_obj_destroy(ctx->pdev, ctx->obj);
	ctx->obj = NULL;
	ida_free(&ctx->pdev->context_ids, ctx->id);
}

/* A structure with an id, or an error pointer. */
static struct pumice_context *context_alloc(struct pumice_device *pdev, struct pumice_vm *vm,
					    u32 priority)
{
	struct pumice_context *ctx = kzalloc(sizeof(*ctx), GFP_KERNEL);
	int id;

	if (!ctx)
		return ERR_PTR(-ENOMEM);
	id = ida_alloc_max(&pdev->context_ids, FWIF_MAX_CONTEXTS - 1, GFP_KERNEL);
	if (id < 0) {
		kfree(ctx);
		return ERR_PTR(id);
	}
	kref_init(&ctx->ref);
	ctx->pdev = pdev;
	ctx->vm = vm;
	ctx->id = id;
	ctx->priority = priority;
	ctx->fence_context = dma_fence_context_alloc(1);
	spin_lock_init(&ctx->lock);
	INIT_LIST_HEAD(&ctx->in_flight);
	init_waitqueue_head(&ctx->drained);
	INIT_WORK(&ctx->free_work, free_work);
	return ctx;
}

/* The caller's VM use is taken if it succeeds. */
static struct pumice_context *context_create(struct pumice_device *pdev, struct pumice_vm *vm,
					     u32 priority)
{
	struct pumice_context *ctx = context_alloc(pdev, vm, priority);
	int ret;

	if (IS_ERR(ctx))
		return ctx;
	ret = make_shared(ctx);
	if (!ret)
		ret = pumice_queue_init(ctx);
	if (ret) {
		release_shared(ctx);
		pumice_fw_obj_destroy(pdev, ctx->ufo);
		kfree(ctx);
		return ERR_PTR(ret);
	}
	drm_dev_get(&pdev->drm);
	atomic_inc(&pdev->stats.contexts);
	mutex_lock(&pdev->reset.lock);
	spin_lock(&pdev->reset.contexts_lock);
	list_add_tail(&ctx->node, &pdev->reset.contexts);
	spin_unlock(&pdev->reset.contexts_lock);
	mutex_unlock(&pdev->reset.lock);
	return ctx;
}

static int call_context(struct pumice_context *ctx, enum fwif_kccb_type type)
{
	const struct fwif_kccb_cmd cmd = { .type = type, .context = ctx->obj->addr };

	return pumice_kccb_call(ctx->pdev, &cmd);
}

/**
 * pumice_context_kill - end the jobs that the firmware has
 * @ctx: context, which is stopped
 *
 * Between drm_dev_enter() and drm_dev_exit(). Returns 0, or an error if the
 * firmware did not do it: only a reset helps then.
 */
int pumice_context_kill(struct pumice_context *ctx)
{
	bool idle;
	int ret;

	spin_lock(&ctx->lock);
	idle = list_empty(&ctx->in_flight);
	spin_unlock(&ctx->lock);
	if (idle)
		return 0;
	ret = call_context(ctx, FWIF_KCCB_CONTEXT_KILL);
	if (ret)
		return ret;
	pumice_queue_process(ctx);
	spin_lock(&ctx->lock);
	idle = list_empty(&ctx->in_flight);
	spin_unlock(&ctx->lock);
	return idle ? 0 : -EPROTO;
}

/*
 * Make the firmware forget a context that ends. When it returns, no job of the
 * context is left: the firmware ended them, or a reset, or unplugging.
 */
static void leave_firmware(struct pumice_context *ctx)
{
	struct pumice_device *pdev = ctx->pdev;
	int ret, idx;

	if (drm_dev_enter(&pdev->drm, &idx)) {
		ret = pumice_context_kill(ctx);
		if (!ret && ctx->known)
			ret = call_context(ctx, FWIF_KCCB_CONTEXT_RELEASE);
		if (ret)
			pumice_reset_and_wait(pdev, ret);
		drm_dev_exit(idx);
	}
	pumice_device_wait_gone(pdev);
}

/* No job is armed for the context after this. */
static void close_to_jobs(struct pumice_context *ctx)
{
	struct dma_resv *resv = pumice_vm_resv(ctx->vm);

	dma_resv_lock(resv, NULL);
	ctx->closed = true;
	dma_resv_unlock(resv);
	spin_lock(&ctx->lock);
	ctx->stopped = true;
	spin_unlock(&ctx->lock);
}

/**
 * pumice_context_destroy - end a context: its jobs are killed
 * @ctx: context, out of its file's table; the table's reference goes
 *
 * Not to be called between drm_dev_enter() and drm_dev_exit().
 *
 * Jobs that the scheduler has pass through run_job(), which refuses them. One
 * that waits for another driver's fence does not; killing the entity ends it.
 */
void pumice_context_destroy(struct pumice_context *ctx)
{
	struct pumice_device *pdev = ctx->pdev;

	close_to_jobs(ctx);
	leave_firmware(ctx);
	wait_event_timeout(ctx->drained, !atomic_read(&ctx->queued), msecs_to_jiffies(DRAIN_MS));
	drm_sched_entity_fini(&ctx->entity);
	mutex_lock(&pdev->reset.lock);
	spin_lock(&pdev->reset.contexts_lock);
	list_del(&ctx->node);
	spin_unlock(&pdev->reset.contexts_lock);
	mutex_unlock(&pdev->reset.lock);
	release_shared(ctx);
	pumice_vm_put(ctx->vm);
	atomic_dec(&pdev->stats.contexts);
	pumice_context_put(ctx);
}

/**
 * pumice_priorities - priorities a file may use
 * @file: file
 *
 * Bit n is enum drm_pumice_priority n.
 */
u32 pumice_priorities(struct drm_file *file)
{
	u32 mask = BIT(DRM_PUMICE_PRIORITY_LOW) | BIT(DRM_PUMICE_PRIORITY_NORMAL);

	if (capable(CAP_SYS_NICE) || drm_is_current_master(file))
		mask |= BIT(DRM_PUMICE_PRIORITY_HIGH);
	return mask;
}

static int check_create(const struct drm_pumice_context_create *args, struct drm_file *file)
{
	if (args->type != DRM_PUMICE_CONTEXT_COMPUTE || args->flags || args->pad ||
	    args->priority > DRM_PUMICE_PRIORITY_HIGH)
		return -EINVAL;
	if (!(pumice_priorities(file) & BIT(args->priority)))
		return -EACCES;
	return 0;
}

/* A context in the file's table; takes the VM use in any case. */
static int add_context(struct pumice_file *pfile, struct pumice_vm *vm, u32 priority, u32 *id)
{
	struct pumice_context *ctx;
	int ret, idx;

	if (drm_dev_enter(&pfile->pdev->drm, &idx)) {
		ctx = context_create(pfile->pdev, vm, priority);
		drm_dev_exit(idx);
	} else {
		ctx = ERR_PTR(-ENODEV);
	}
	if (IS_ERR(ctx)) {
		pumice_vm_put(vm);
		return PTR_ERR(ctx);
	}
	ret = xa_alloc(&pfile->contexts, id, ctx, xa_limit_31b, GFP_KERNEL);
	if (ret)
		pumice_context_destroy(ctx);
	return ret;
}

/* DRM_IOCTL_PUMICE_CONTEXT_CREATE */
int pumice_ioctl_context_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_context_create *args = data;
	struct pumice_vm *vm;
	int ret;

	ret = check_create(args, file);
	if (ret)
		return ret;
	vm = pumice_vm_lookup(file->driver_priv, args->vm);
	if (!vm)
		return -ENOENT;
	return add_context(file->driver_priv, vm, args->priority, &args->id);
}

/* DRM_IOCTL_PUMICE_CONTEXT_DESTROY */
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
	pumice_fdinfo_context_gone(pfile, ctx);
	pumice_context_put(ctx);
	return 0;
}

/* DRM_IOCTL_PUMICE_CONTEXT_GET_STATE */
int pumice_ioctl_context_get_state(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_context_get_state *args = data;
	struct pumice_context *ctx = pumice_context_lookup(file->driver_priv, args->id,
							   NULL);
	struct pumice_context_news news;

	if (!ctx)
		return -ENOENT;
	spin_lock(&ctx->lock);
	args->state = ctx->state;
	news = ctx->news;
	spin_unlock(&ctx->lock);
	pumice_context_put(ctx);
	args->jobs_done = news.done;
	args->jobs_faulted = news.failed;
	args->fault = news.fault.fault;
	args->unit = news.fault.unit;
	args->access = news.fault.access;
	args->pc = news.fault.pc;
	args->fault_va = news.fault.addr;
	args->last_start = news.last_start;
	args->last_end = news.last_end;
	return 0;
}
