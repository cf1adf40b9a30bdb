// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Submission of jobs from the scheduler to the firmware, and their completion.
 *
 * pumice_queue_run_job() writes a job into its queue's client CCB: WAITs for jobs of other
 * queues, the command of the data master, and an UPDATE of the queue's update
 * object with the job's number. The interrupt thread reads update objects and
 * completes the jobs that they have reached.
 *
 * The scheduler's credits prevent overflow of the ring: a credit is its unit, 8 bytes, and a
 * job holds its credits until it has completed, when the firmware has read its commands.
 * The additional requirements of a geometry job are in pumice_pair.c.
 */
#include <linux/dma-fence.h>
#include <linux/ratelimit.h>

#include "cccb.h"
#include "pumice_ccb.h"
#include "pumice_context.h"
#include "pumice_events.h"
#include "pumice_fault_log.h"
#include "pumice_fdinfo.h"
#include "pumice_fence.h"
#include "pumice_flip.h"
#include "pumice_fw.h"
#include "pumice_hwrt.h"
#include "pumice_irq.h"
#include "pumice_job.h"
#include "pumice_names.h"
#include "pumice_pair.h"
#include "pumice_perfmon.h"
#include "pumice_queue.h"
#include "pumice_reset.h"
#include "pumice_result.h"
#include "pumice_sched.h"
#include "pumice_stuck.h"
#include "pumice_vm.h"
#include "times.h"

#define CREDIT_BYTES	PUMICE_CCCB_UNIT
/* Size of the longest command, and of all commands of the longest job without dependencies. */
#define COMMAND_BYTES	sizeof(struct fwif_cccb_render)
#define JOB_BYTES	(COMMAND_BYTES + sizeof(struct fwif_cccb_update))
#define PRESENT_JOB_BYTES (sizeof(struct fwif_cccb_present) + sizeof(struct fwif_cccb_update))
/* Size of all commands of the shortest job. */
#define MIN_JOB_BYTES	(sizeof(struct fwif_cccb_compute) + sizeof(struct fwif_cccb_update))
/*
 * Space that no job may use: the two fillers before the ring's end that can be in
 * flight, each shorter than the longest command, and the gap that distinguishes a full
 * ring from an empty one.
 */
#define SPARE_BYTES	(2 * COMMAND_BYTES + CREDIT_BYTES)
#define CREDIT_LIMIT	((u32)((PUMICE_CCCB_BYTES - SPARE_BYTES) / CREDIT_BYTES))
#define RESULT_MASK	(PUMICE_RESULT_COUNT - 1)

/* A geometry job also waits for the dependencies of its fragment job. */
static_assert(2 * (PUMICE_MAX_GPU_DEPS + PUMICE_MAX_SIBLINGS) * sizeof(struct fwif_cccb_wait) +
	      JOB_BYTES <= CREDIT_LIMIT * CREDIT_BYTES);
static_assert(CREDIT_LIMIT * CREDIT_BYTES / MIN_JOB_BYTES < PUMICE_RESULT_COUNT);

static bool pumice_queue_is_render(const struct pumice_queue *q)
{
	return q->dm == FWIF_DM_VDM || q->dm == FWIF_DM_PDM;
}

/**
 * pumice_queue_credits - return the credits that a job takes
 * @q: queue
 * @waits: maximum number of dependencies that the firmware waits for
 *
 * Context: Any.
 *
 * Return: credits of PUMICE_CCCB_UNIT bytes each, of the queue's ring.
 */
u32 pumice_queue_credits(const struct pumice_queue *q, u32 waits)
{
	u32 bytes = MIN_JOB_BYTES;

	if (pumice_queue_is_render(q))
		bytes = JOB_BYTES;
	else if (q->dm == FWIF_DM_TDM)
		bytes = PRESENT_JOB_BYTES;
	return (bytes + waits * sizeof(struct fwif_cccb_wait)) / CREDIT_BYTES;
}

/**
 * pumice_queue_has_room - check whether a fragment queue can reserve credits
 * @q: queue, under its context's lock
 * @credits: credits, in addition to the queue's reservations
 *
 * Return: true if the sum does not exceed the ring.
 */
bool pumice_queue_has_room(const struct pumice_queue *q, u32 credits)
{
	lockdep_assert_held(&q->ctx->lock);
	return q->promised + credits <= CREDIT_LIMIT;
}

/* Append a command, preceded by a filler if it would not fit before the ring's end. */
static void pumice_queue_emit_command(struct pumice_queue *q, const void *cmd, u32 bytes)
{
	u8 *cccb = q->shared->cccb;

	lockdep_assert_held(&q->ctx->lock);
	q->write = pumice_cccb_pad(cccb, PUMICE_CCCB_BYTES, q->write, bytes);
	q->write = pumice_cccb_write(cccb, PUMICE_CCCB_BYTES, q->write, cmd, bytes);
}

/*
 * Return the firmware fence of a scheduled job of this GPU, or NULL if there is
 * none to wait for in the firmware. The parent is set before "scheduled" signals.
 */
static struct pumice_fence *pumice_queue_fw_fence(struct dma_fence *finished)
{
	struct drm_sched_fence *s_fence = to_drm_sched_fence(finished);

	/* pairs with the release in the scheduler, which sets the parent */
	return to_pumice_fence(smp_load_acquire(&s_fence->parent));
}

static void pumice_queue_emit_waits(struct pumice_job *job)
{
	struct pumice_fence *fence;
	struct fwif_cccb_wait wait;
	u32 i;

	for (i = 0; i < job->gpu_dep_count; i++) {
		if (dma_fence_is_signaled(job->gpu_deps[i]))
			continue;
		fence = pumice_queue_fw_fence(job->gpu_deps[i]);
		if (!fence)
			continue;
		wait = (struct fwif_cccb_wait) {
			.header = { FWIF_CCCB_WAIT, sizeof(wait) },
			.object = fence->queue->ufo->addr,
			.value = (u32)fence->base.seqno,
		};
		pumice_queue_emit_command(job->queue, &wait, sizeof(wait));
	}
}

static void pumice_queue_emit_compute(struct pumice_job *job, u32 type)
{
	const struct fwif_cccb_compute compute = {
		.header = { type, sizeof(compute) },
		.stream = job->stream,
		.seqno = job->seqno,
		.perf = job->perfmon ? job->perfmon->obj->addr : 0,
	};

	pumice_queue_emit_command(job->queue, &compute, sizeof(compute));
}

static void pumice_queue_emit_present(struct pumice_job *job, u32 type)
{
	const struct fwif_cccb_present present = {
		.header = { type, sizeof(present) },
		.stream = job->stream,
		.seqno = job->seqno,
		.perf = job->perfmon ? job->perfmon->obj->addr : 0,
		.presents = job->flip_count,
	};

	pumice_queue_emit_command(job->queue, &present, sizeof(present));
}

static void pumice_queue_emit_render(struct pumice_job *job, u32 type)
{
	const struct fwif_cccb_render render = {
		.header = { type, sizeof(render) },
		.stream = job->stream,
		.seqno = job->seqno,
		.perf = job->perfmon ? job->perfmon->obj->addr : 0,
		.scene = pumice_hwrt_scene(job->hwrt, job->hwrt_data),
		.render = job->render,
		.before = job->before ? job->pair->fragment->ufo->addr : 0,
		.before_value = job->before,
	};

	pumice_queue_emit_command(job->queue, &render, sizeof(render));
}

/**
 * pumice_queue_emit_locked - write a job's commands into the ring of its queue
 * @job: job with its number, under its context's lock
 *
 * The firmware reads them after the next kick.
 */
void pumice_queue_emit_locked(struct pumice_job *job)
{
	struct pumice_queue *q = job->queue;
	const struct fwif_cccb_update update = {
		.header = { FWIF_CCCB_UPDATE, sizeof(update) },
		.object = q->ufo->addr,
		.value = job->seqno,
	};
	const u32 caches = pumice_cccb_caches(q->dm, q->ctx->pdev->fw.header.version,
					      pumice_vm_note_job(q->ctx->vm));

	pumice_queue_emit_waits(job);
	if (q->dm == FWIF_DM_VDM)
		pumice_queue_emit_render(job, FWIF_CCCB_GEOMETRY | caches);
	else if (q->dm == FWIF_DM_PDM)
		pumice_queue_emit_render(job, FWIF_CCCB_FRAGMENT | caches);
	else if (job->flip_count)
		pumice_queue_emit_present(job, FWIF_CCCB_PRESENT | caches);
	else
		pumice_queue_emit_compute(job, caches |
					       (q->dm == FWIF_DM_TDM ? FWIF_CCCB_TRANSFER :
						q->dm == FWIF_DM_RDM ? FWIF_CCCB_RAYS :
								       FWIF_CCCB_COMPUTE));
	pumice_queue_emit_command(q, &update, sizeof(update));
}

/**
 * pumice_queue_kick_locked - append a kick for new commands in a queue's ring
 * @q: queue, under its context's lock
 *
 * Consumes a reservation of the kernel CCB. If it returns 0, pumice_kccb_ring() must follow.
 *
 * Return: 0, or -ECANCELED if the firmware is down.
 */
int pumice_queue_kick_locked(struct pumice_queue *q)
{
	const struct fwif_kccb_cmd kick = {
		.type = FWIF_KCCB_KICK,
		.context = q->obj->addr,
		.write = q->write,
	};
	int ret;

	lockdep_assert_held(&q->ctx->lock);
	dma_wmb(); /* write the commands before the kick that publishes them */
	ret = pumice_kccb_append_reserved(q->ctx->pdev, &kick);
	if (!ret)
		q->registered = true;
	return ret;
}

/**
 * pumice_queue_start_tick_locked - start a tick of the time-out of a queue's oldest job
 * @q: queue, under its context's lock
 *
 * For the first job in flight, when the previous one has ended, and after each tick.
 */
void pumice_queue_start_tick_locked(struct pumice_queue *q)
{
	lockdep_assert_held(&q->ctx->lock);
	q->tick_end = jiffies + q->sched.timeout;
}

/* Append a job to its queue's ring. The firmware has it after the next kick. */
static void pumice_queue_append_locked(struct pumice_job *job)
{
	struct pumice_queue *q = job->queue;

	lockdep_assert_held(&q->ctx->lock);
	job->seqno = q->seqno + 1;
	if (job->pair)
		job->before = pumice_pair_note_submitted_locked(job);
	pumice_queue_emit_locked(job);
	pumice_fence_init(job->fence, job->seqno);
	job->fenced = true;
	q->seqno = job->seqno;
	job->submit_time = ktime_get();
	if (list_empty(&q->in_flight))
		pumice_queue_start_tick_locked(q);
	list_add_tail(&job->node, &q->in_flight);
	pumice_irq_expect(q->ctx->pdev);
	trace_pumice_job_run(q->id, job->seqno, q->dm);
}

/*
 * Submit a job to the firmware. If the firmware does not accept commands, a reset is imminent or
 * under way: it finds the job, and resubmits or cancels it. After a GPU is lost there is no reset.
 *
 * Returns 0, -ECANCELED if the context accepts no more jobs, or -ENODEV.
 */
static int pumice_queue_submit(struct pumice_job *job)
{
	struct pumice_context *ctx = job->ctx;
	bool kicked = false;
	int no_room, ret = 0;

	/* Do not wait for room for a job that is refused. */
	if (READ_ONCE(ctx->stopped))
		return -ECANCELED;
	no_room = pumice_kccb_reserve(ctx->pdev);
	if (no_room == -ETIMEDOUT)
		pumice_reset_schedule(ctx->pdev);
	spin_lock(&ctx->lock);
	if (ctx->stopped) {
		if (!no_room)
			pumice_kccb_cancel(ctx->pdev);
		ret = -ECANCELED;
	} else if (no_room && READ_ONCE(ctx->pdev->reset.lost)) {
		ret = -ENODEV;
	} else {
		pumice_vm_note_use(ctx->vm);
		pumice_queue_append_locked(job);
		kicked = !no_room && !pumice_queue_kick_locked(job->queue);
	}
	spin_unlock(&ctx->lock);
	/* The job may have ended. A reset waits for this, unless the context is being destroyed. */
	if (kicked)
		pumice_kccb_ring(ctx->pdev);
	return ret;
}

/*
 * A job that is not submitted to the firmware completes with an error, as do all that follow
 * it in its context. It must not signal before jobs that the firmware still has: a fence of
 * a fence context implies all fences before it, and replaces them in reservations. If there
 * are such jobs it gets a fence that pumice_queue_end_refused_locked() signals after theirs, and
 * which the firmware's waits can refer to by the last of their numbers.
 */
static struct dma_fence *pumice_queue_refuse(struct pumice_job *job, int error)
{
	struct pumice_context *ctx = job->ctx;
	struct pumice_queue *q = job->queue;
	struct dma_fence *fence;

	pumice_pair_refuse(job);
	spin_lock(&ctx->lock);
	pumice_context_stop_locked(ctx, error == -ENODEV ? 0 : DRM_PUMICE_CONTEXT_INNOCENT);
	if (list_empty(&q->in_flight)) {
		pumice_result_note_locked(job, error, NULL);
		fence = ERR_PTR(error);
	} else {
		job->seqno = q->seqno;
		job->error = error;
		pumice_fence_init(job->fence, job->seqno);
		job->fenced = true;
		list_add_tail(&job->node, &q->refused);
		fence = dma_fence_get(&job->fence->base);
	}
	spin_unlock(&ctx->lock);
	return fence;
}

/*
 * The scheduler restarts its tick for each job that it runs, before run_job(). Restore the rest of
 * the oldest job's tick: else a user could postpone the time-out of a job by submitting others.
 * Without jobs in flight there is none to restore: the job was refused, or has ended already.
 *
 * The scheduler's job_list_lock is acquired under the context's lock, in which the time-out handler
 * starts the next tick: so the next one is not cut to the rest of this one. The scheduler calls
 * neither the driver nor callbacks of fences under it.
 */
static void pumice_queue_restore_tick(struct pumice_queue *q)
{
	unsigned long now, left = 0;

	spin_lock(&q->ctx->lock);
	if (!list_empty(&q->in_flight)) {
		now = jiffies;
		if (time_after(q->tick_end, now))
			left = q->tick_end - now;
		drm_sched_resume_timeout(&q->sched, left);
	}
	spin_unlock(&q->ctx->lock);
}

static struct dma_fence *pumice_queue_run_job(struct drm_sched_job *base)
{
	struct pumice_job *job = to_pumice_job(base);
	bool cookie = dma_fence_begin_signalling();
	struct dma_fence *fence;
	int ret, idx;

	if (!drm_dev_enter(&job->ctx->pdev->drm, &idx)) {
		ret = -ENODEV;
	} else if (pumice_pair_geometry_refused(job)) {
		ret = -ECANCELED;
		drm_dev_exit(idx);
	} else {
		ret = pumice_queue_submit(job);
		drm_dev_exit(idx);
	}
	fence = ret ? pumice_queue_refuse(job, ret) : dma_fence_get(&job->fence->base);
	pumice_queue_restore_tick(job->queue);
	pumice_job_note_unqueued(job);
	dma_fence_end_signalling(cookie);
	return fence;
}

/*
 * Find a dependency that must be scheduled before other jobs can wait for it in the firmware,
 * so the kernel waits for that first. For one without a fence of this driver, the kernel
 * waits for its completion. Returns a reference, or NULL.
 */
static struct dma_fence *pumice_queue_find_unscheduled(struct dma_fence * const *gpu_deps,
						       u32 count)
{
	struct drm_sched_fence *s_fence;
	u32 i;

	for (i = 0; i < count; i++) {
		s_fence = to_drm_sched_fence(gpu_deps[i]);
		if (dma_fence_is_signaled(&s_fence->finished))
			continue;
		if (!dma_fence_is_signaled(&s_fence->scheduled))
			return dma_fence_get(&s_fence->scheduled);
		if (!pumice_queue_fw_fence(&s_fence->finished))
			return dma_fence_get(&s_fence->finished);
	}
	return NULL;
}

/* A geometry job also waits for space for its fragment job. */
static struct dma_fence *pumice_queue_prepare_job(struct drm_sched_job *base,
						  struct drm_sched_entity *entity)
{
	struct pumice_job *job = to_pumice_job(base);
	struct pumice_pair *pair = job->pair;
	struct dma_fence *fence;

	if (READ_ONCE(job->ctx->stopped))
		return NULL;
	fence = pumice_queue_find_unscheduled(job->gpu_deps, job->gpu_dep_count);
	if (fence || !pair || job->queue == pair->fragment)
		return fence;
	return pumice_pair_promise(pair);
}

static void pumice_queue_free_job(struct drm_sched_job *base)
{
	pumice_job_destroy(to_pumice_job(base));
}

static const struct drm_sched_backend_ops sched_ops = {
	.prepare_job = pumice_queue_prepare_job,
	.run_job = pumice_queue_run_job,
	.timedout_job = pumice_reset_job_timed_out,
	.free_job = pumice_queue_free_job,
};

/**
 * pumice_queue_name - return the name of the queue of a data master
 * @dm: enum fwif_dm, below FWIF_DM_COUNT
 *
 * Context: Any.
 *
 * Return: a constant text.
 */
const char *pumice_queue_name(u32 dm)
{
	static const char * const names[] = {
		[FWIF_DM_CDM] = "pumice-compute", [FWIF_DM_VDM] = "pumice-geometry",
		[FWIF_DM_PDM] = "pumice-fragment", [FWIF_DM_TDM] = "pumice-transfer",
		[FWIF_DM_RDM] = "pumice-rays",
	};

	return names[dm];
}

static int pumice_queue_init_scheduler(struct pumice_queue *q)
{
	long tick = msecs_to_jiffies(q->ctx->timeout_ms) / PUMICE_TIMEOUT_TICKS;
	struct pumice_device *pdev = q->ctx->pdev;
	struct drm_gpu_scheduler *sched = &q->sched;
	int ret;

	ret = pumice_sched_init(sched, &sched_ops, pdev->sched_wq, CREDIT_LIMIT, max(tick, 1L),
				pdev->reset.wq, pumice_queue_name(q->dm), pdev->drm.dev);
	if (ret)
		return ret;
	ret = drm_sched_entity_init(&q->entity, DRM_SCHED_PRIORITY_KERNEL, &sched, 1, NULL);
	if (ret)
		drm_sched_fini(sched);
	q->scheduled = !ret;
	return ret;
}

/* Initialize the shared memory for a firmware without the queue; @ended: last completed job. */
static void pumice_queue_fill_shared(struct pumice_queue *q, u32 ended)
{
	u32 addr = q->obj->addr;

	q->shared->context = (struct fwif_context) {
		.magic = FWIF_CONTEXT_MAGIC,
		.id = q->id,
		.dm = q->dm,
		.priority = q->ctx->priority,
		.catalogue = pumice_vm_catalogue(q->ctx->vm),
		.cccb = addr + offsetof(struct pumice_queue_shared, cccb),
		.cccb_bytes = PUMICE_CCCB_BYTES,
		.results = addr + offsetof(struct pumice_queue_shared, results),
		.result_count = PUMICE_RESULT_COUNT,
		.save = addr + offsetof(struct pumice_queue_shared, save),
		.stuck = addr + offsetof(struct pumice_queue_shared, stuck),
		.flips = q->dm == FWIF_DM_TDM && pumice_flip_supported(q->ctx->pdev) ?
			 addr + offsetof(struct pumice_queue_shared, flips) : 0,
		.job_seqno = ended,
	};
	WRITE_ONCE(q->shared->flips.write, 0);
	q->flip_read = 0;
}

/* Allocate the memory shared with the firmware. On an error, pumice_queue_fini() frees it. */
static int pumice_queue_alloc_shared(struct pumice_queue *q, struct pumice_file *file)
{
	struct pumice_device *pdev = q->ctx->pdev;
	struct pumice_fw_obj *obj;

	obj = pumice_fw_obj_create(pdev, file, sizeof(u32));
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	q->ufo = obj;
	obj = pumice_fw_obj_create(pdev, file, sizeof(*q->shared));
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	q->obj = obj;
	q->shared = obj->cpu;
	pumice_queue_fill_shared(q, 0);
	return 0;
}

/**
 * pumice_queue_memory - return the maximum memory that a context's queues share with the firmware
 *
 * Context: Any.
 *
 * Return: bytes, a multiple of the page size.
 */
u32 pumice_queue_memory(void)
{
	return PUMICE_CONTEXT_QUEUES *
	       (PAGE_ALIGN(sizeof(struct pumice_queue_shared)) + PAGE_ALIGN(sizeof(u32)));
}

/* Allocate a context id of the firmware, charged to the file. */
static int pumice_queue_alloc_id(struct pumice_queue *q, struct pumice_file *file)
{
	struct pumice_device *pdev = file->pdev;
	int ret;

	ret = pumice_quota_charge(file, PUMICE_RESOURCE_CONTEXTS, 1, &q->charge);
	if (ret)
		return ret;
	ret = ida_alloc_max(&pdev->context_ids,
			    pumice_quota_total(pdev, PUMICE_RESOURCE_CONTEXTS) - 1, GFP_KERNEL);
	if (ret < 0) {
		pumice_quota_uncharge(pdev, &q->charge);
		return ret;
	}
	q->id = ret;
	return 0;
}

/**
 * pumice_queue_init - initialize a queue
 * @q: queue, zeroed
 * @file: file to charge
 * @ctx: its context, with VM, priority and time-out
 * @dm: enum fwif_dm
 *
 * Call between drm_dev_enter() and drm_dev_exit().
 *
 * Context: May sleep.
 *
 * Return: 0; or an error, in which case everything has been undone: -ENOSPC if a limit of
 * context ids or of memory for the firmware is reached, -ENOMEM, -EINTR if the caller is
 * killed, -ENODEV if the device is being removed, or an error of drm_sched_init().
 */
int pumice_queue_init(struct pumice_queue *q, struct pumice_file *file, struct pumice_context *ctx,
		      u32 dm)
{
	int ret = pumice_queue_alloc_id(q, file);

	if (ret)
		return ret;
	pumice_fw_set_slice(ctx->pdev);
	q->ctx = ctx;
	q->dm = dm;
	q->fence_context = dma_fence_context_alloc(1);
	INIT_LIST_HEAD(&q->in_flight);
	INIT_LIST_HEAD(&q->refused);
	INIT_LIST_HEAD(&q->pairs);
	ret = pumice_queue_alloc_shared(q, file);
	if (!ret)
		ret = pumice_queue_init_scheduler(q);
	if (ret) {
		pumice_queue_release_shared(q);
		pumice_queue_fini(q);
	}
	return ret;
}

/**
 * pumice_queue_release_shared - free the resources that only an active queue needs
 * @q: queue, which the firmware no longer has
 *
 * The memory shared with the firmware, except its update object, and its id.
 *
 * Context: May sleep. Acquires fw_mem.lock and quota.lock.
 */
void pumice_queue_release_shared(struct pumice_queue *q)
{
	pumice_fw_obj_destroy(q->ctx->pdev, q->obj);
	q->obj = NULL;
	ida_free(&q->ctx->pdev->context_ids, q->id);
	pumice_quota_uncharge(q->ctx->pdev, &q->charge);
}

/**
 * pumice_queue_fini - free a queue that no fence refers to
 * @q: queue, after pumice_queue_release_shared()
 *
 * Context: May sleep. Acquires fw_mem.lock.
 */
void pumice_queue_fini(struct pumice_queue *q)
{
	if (q->scheduled)
		pumice_sched_fini(&q->sched, q->ctx->submitted);
	q->scheduled = false;
	pumice_fw_obj_destroy(q->ctx->pdev, q->ufo);
	q->ufo = NULL;
}

/**
 * pumice_queue_live_ticks - return the time of the running job on its data master
 * @q: queue, not released; the GPU is awake
 *
 * Return: GPU clock ticks as reported by the firmware; 0 if no job is started, or while the
 * firmware writes its times.
 */
u64 pumice_queue_live_ticks(const struct pumice_queue *q)
{
	struct pumice_times times;

	if (!pumice_times_read(&q->shared->context, &times))
		return 0;
	return pumice_times_ran(&times, pumice_read64(q->ctx->pdev, PUMICE_SYS_CLOCK));
}

/* Any user can cause faults at will, so the number of suppressed messages is not logged. */
static struct ratelimit_state fault_limit =
	RATELIMIT_STATE_INIT_FLAGS(fault_limit, DEFAULT_RATELIMIT_INTERVAL,
				   DEFAULT_RATELIMIT_BURST, RATELIMIT_MSG_ON_RELEASE);

static void pumice_queue_report_fault(struct pumice_queue *q, const struct fwif_job_result *r)
{
	if (!__ratelimit(&fault_limit))
		return;
	dev_info(q->ctx->pdev->drm.dev,
		 "context %u job %u: %s by %s, %s at 0x%llx, usc %u pc %u\n",
		 q->id, r->seqno, pumice_fault_str(r->fault), pumice_unit_str(r->unit),
		 pumice_access_str(r->access), r->addr, r->usc, r->pc);
}

/* Return the errno of a job's fence. */
static int pumice_queue_result_error(struct pumice_queue *q, const struct pumice_job *job,
				     const struct fwif_job_result *r)
{
	if (r->seqno != job->seqno) {
		drm_err_ratelimited(&q->ctx->pdev->drm,
				    "context %u job %u: firmware wrote no result\n",
				    q->id, job->seqno);
		return -EIO;
	}
	if (q->ctx->guilty == job)
		return r->fault ? -ETIMEDOUT : 0;
	switch (r->fault) {
	case PUMICE_FAULT_NONE:
		return 0;
	case PUMICE_FAULT_KILLED:
	case PUMICE_FAULT_RESET:
		return -ECANCELED;
	case PUMICE_FAULT_PM_NO_SCENE:
		/* Of a fragment job that started because its geometry job was killed. */
		return q->ctx->stopped ? -ECANCELED : -EIO;
	default:
		return -EIO;
	}
}

/* Complete a job; error 0 is success. */
static void pumice_queue_end_job_locked(struct pumice_job *job, int error,
					const struct fwif_job_result *r)
{
	struct pumice_context *ctx = job->ctx;

	lockdep_assert_held(&ctx->lock);
	pumice_result_note_locked(job, error, r);
	pumice_fault_log_note_locked(job, error, r);
	pumice_pair_end_locked(job);
	list_del_init(&job->node);
	pumice_queue_start_tick_locked(job->queue);
	pumice_irq_job_ended(ctx->pdev);
	ctx->status.done++;
	ctx->status.failed += !!error;
	if (error)
		dma_fence_set_error(&job->fence->base, error);
	dma_fence_signal(&job->fence->base);
}

/* Note and report the result of a job, which is a copy and is the job's own. */
static void pumice_queue_note_result_locked(struct pumice_job *job, int error,
					    const struct fwif_job_result *r)
{
	struct pumice_context *ctx = job->ctx;
	struct pumice_queue *q = job->queue;

	lockdep_assert_held(&ctx->lock);
	if (ctx->guilty == job && r->fault == PUMICE_FAULT_KILLED)
		pumice_stuck_note_locked(job, &q->shared->stuck);
	ctx->status.last_start = r->time_start;
	ctx->status.last_end = r->time_end;
	pumice_fdinfo_job_ended_locked(q, r);
	trace_pumice_job_start(q->id, r);
	if (r->fault) {
		trace_pumice_job_fault(q->id, r);
		ctx->status.fault = *r;
	}
	if (error == -EIO) {
		pumice_queue_report_fault(q, r);
		pumice_dump_fault_locked(job, r, &q->shared->stuck);
	}
	if (error == -EIO || error == -ETIMEDOUT)
		pumice_vm_faults_note(job, r);
	trace_pumice_job_done(q->id, r, error);
}

/*
 * Stop a context that the firmware killed by itself, because a job held a data master for too
 * long while another virtual GPU waited for it. The driver stops a context before it requests a
 * kill, and jobs complete in order: so the first killed job of a context that is not stopped held
 * it. The firmware has killed one queue only: the other one follows.
 */
static void pumice_queue_note_hold_locked(struct pumice_job *job, const struct fwif_job_result *r)
{
	struct pumice_context *ctx = job->ctx;

	lockdep_assert_held(&ctx->lock);
	if (ctx->stopped || r->seqno != job->seqno || r->fault != PUMICE_FAULT_KILLED)
		return;
	pumice_context_stop_locked(ctx, DRM_PUMICE_CONTEXT_GUILTY);
	pumice_context_kill_later(ctx);
	ctx->guilty = job;
	dev_warn_ratelimited(ctx->pdev->drm.dev,
			     "context %u job %u was killed by the firmware: it kept another virtual GPU from the GPU for too long\n",
			     job->queue->id, job->seqno);
}

/* Complete a job that the firmware reports as completed. */
static void pumice_queue_finish_job_locked(struct pumice_queue *q, struct pumice_job *job)
{
	struct pumice_context *ctx = q->ctx;
	const struct pumice_job *guilty = ctx->guilty;
	struct fwif_job_result r;
	int error;

	pumice_copy_once(&r, &q->shared->results[job->seqno & RESULT_MASK], sizeof(r));
	pumice_queue_note_hold_locked(job, &r);
	error = pumice_queue_result_error(q, job, &r);
	if (error == -EIO)
		ctx->state |= DRM_PUMICE_CONTEXT_FAULTED;
	if (r.seqno == job->seqno)
		pumice_queue_note_result_locked(job, error, &r);
	pumice_queue_end_job_locked(job, error, r.seqno == job->seqno ? &r : NULL);
	ctx->guilty = guilty;
}

/* Complete the refused jobs; the firmware has no more jobs of the queue. */
static void pumice_queue_end_refused_locked(struct pumice_queue *q)
{
	struct pumice_job *job, *next;

	lockdep_assert_held(&q->ctx->lock);
	list_for_each_entry_safe(job, next, &q->refused, node) {
		pumice_result_note_locked(job, job->error, NULL);
		list_del_init(&job->node);
		dma_fence_set_error(&job->fence->base, job->error);
		dma_fence_signal(&job->fence->base);
	}
}

/* Complete a queue's jobs up to number @reached. */
static void pumice_queue_process_locked(struct pumice_queue *q, u32 reached)
{
	struct pumice_job *job, *next;

	lockdep_assert_held(&q->ctx->lock);
	if ((s32)(reached - q->seqno) > 0) {
		drm_err_ratelimited(&q->ctx->pdev->drm,
				    "context %u: firmware reports the end of job %u, the last submitted is %u\n",
				    q->id, reached, q->seqno);
		pumice_reset_schedule(q->ctx->pdev);
		return;
	}
	list_for_each_entry_safe(job, next, &q->in_flight, node) {
		if ((s32)(reached - job->seqno) < 0)
			break;
		pumice_queue_finish_job_locked(q, job);
	}
	if (list_empty(&q->in_flight))
		pumice_queue_end_refused_locked(q);
}

/*
 * Complete the jobs that the update objects of a context have reached.
 *
 * A fragment job ends after its geometry job. So the objects are read from the last queue to
 * the first, and jobs complete from the first to the last: when the fence of a fragment job
 * signals, that of its geometry job has signalled, and both are counted.
 */
static void pumice_queue_process_context_locked(struct pumice_context *ctx)
{
	u32 reached[PUMICE_CONTEXT_QUEUES], i;

	lockdep_assert_held(&ctx->lock);
	for (i = ctx->queue_count; i--;) {
		reached[i] = READ_ONCE(*(u32 *)ctx->queues[i].ufo->cpu);
		dma_rmb(); /* read an update object before the next, and before results of jobs */
	}
	for (i = 0; i < ctx->queue_count; i++)
		pumice_flip_collect_locked(&ctx->queues[i]);
	for (i = 0; i < ctx->queue_count; i++)
		pumice_queue_process_locked(&ctx->queues[i], reached[i]);
}

static void pumice_queue_process_context(struct pumice_context *ctx)
{
	spin_lock(&ctx->lock);
	pumice_queue_process_context_locked(ctx);
	spin_unlock(&ctx->lock);
}

/**
 * pumice_queue_process - complete the jobs of a context that have ended
 * @ctx: context, in the list of contexts; between drm_dev_enter() and drm_dev_exit()
 */
void pumice_queue_process(struct pumice_context *ctx)
{
	bool cookie = dma_fence_begin_signalling();

	pumice_queue_process_context(ctx);
	dma_fence_end_signalling(cookie);
}

/**
 * pumice_queue_process_all - complete the jobs of all contexts that have ended
 * @pdev: device, between drm_dev_enter() and drm_dev_exit()
 *
 * Context: Does not sleep. Acquires reset.contexts_lock.
 */
void pumice_queue_process_all(struct pumice_device *pdev)
{
	bool cookie = dma_fence_begin_signalling();
	struct pumice_context *ctx;

	spin_lock(&pdev->reset.contexts_lock);
	list_for_each_entry(ctx, &pdev->reset.contexts, node)
		pumice_queue_process_context(ctx);
	spin_unlock(&pdev->reset.contexts_lock);
	dma_fence_end_signalling(cookie);
}

/**
 * pumice_queue_renew_locked - reset the state of a queue after the firmware was quiesced
 * @q: queue, under its context's lock
 * @ended: number of the last completed job; the commands of later jobs are discarded
 */
void pumice_queue_renew_locked(struct pumice_queue *q, u32 ended)
{
	lockdep_assert_held(&q->ctx->lock);
	WRITE_ONCE(*(u32 *)q->ufo->cpu, ended);
	pumice_queue_fill_shared(q, ended);
	q->write = 0;
	q->registered = false;
}

/* Complete with an error the jobs that the firmware had when it was quiesced. */
static void pumice_queue_cancel_locked(struct pumice_queue *q, int error)
{
	struct pumice_context *ctx = q->ctx;
	struct pumice_job *job, *next;

	lockdep_assert_held(&ctx->lock);
	list_for_each_entry_safe(job, next, &q->in_flight, node) {
		pumice_context_stop_locked(ctx, DRM_PUMICE_CONTEXT_INNOCENT);
		ctx->status.fault = (struct fwif_job_result) {
			.seqno = job->seqno,
			.fault = PUMICE_FAULT_RESET,
		};
		pumice_queue_end_job_locked(job, job == ctx->guilty ? -ETIMEDOUT : error,
					    &ctx->status.fault);
	}
	pumice_queue_end_refused_locked(q);
	pumice_queue_renew_locked(q, q->seqno);
}

/**
 * pumice_queue_cancel - complete a context's jobs after the firmware was quiesced
 * @ctx: context, in the list of contexts, under reset.lock; its memory still exists
 * @error: errno of their fences
 *
 * A context that lost a job accepts no more. Other contexts are registered again with the
 * next firmware.
 *
 * Its annotation of the fence path begins under reset.lock, as in all paths that take that
 * lock: up to Linux 6.15 lockdep treats the annotation itself as a lock, with a single order.
 */
void pumice_queue_cancel(struct pumice_context *ctx, int error)
{
	bool cookie = dma_fence_begin_signalling();
	struct pumice_queue *q;

	lockdep_assert_held(&ctx->pdev->reset.lock);
	spin_lock(&ctx->lock);
	pumice_queue_process_context_locked(ctx);
	pumice_for_each_queue(q, ctx)
		pumice_queue_cancel_locked(q, error);
	/* The scene of a fragment job that is still in the kernel was lost as well. */
	if (pumice_context_awaited_locked(ctx))
		pumice_context_stop_locked(ctx, DRM_PUMICE_CONTEXT_INNOCENT);
	spin_unlock(&ctx->lock);
	dma_fence_end_signalling(cookie);
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_queue_test.c"
#endif
