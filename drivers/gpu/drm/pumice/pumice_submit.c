// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * DRM_IOCTL_PUMICE_SUBMIT: submits several jobs, all or none:
 *
 *   copy and check all arguments
 *   look up contexts and syncobjs, create the jobs
 *   lock the reservations of all VMs, and check that contexts still accept jobs
 *   arm, signal syncobjs, push: cannot fail
 */
#include <linux/dma-resv.h>

#include <drm/drm_exec.h>

#include "pumice_context.h"
#include "pumice_flip.h"
#include "pumice_hwrt.h"
#include "pumice_job.h"
#include "pumice_pair.h"
#include "pumice_perfmon.h"
#include "pumice_submit.h"
#include "pumice_sync.h"
#include "pumice_uapi.h"
#include "pumice_vm.h"

/* Size of the element as first published: without the performance monitor. */
#define JOB_STRIDE	offsetof(struct drm_pumice_job, perfmon)
/* Most calls lock no more reservations; drm_exec allocates for others. Its default is a page. */
#define COMMON_OBJECTS	16

/* State of one call. */
struct submit {
	struct drm_file *file;
	struct pumice_job **jobs;
	struct pumice_vm **vms;		/* VM of each job; a use each */
	struct pumice_job *geometry;	/* previous job, whose fragment job must follow */
	u32 count;
	u32 failed;			/* index of the job being processed */
	struct list_head signals;
	struct drm_exec exec;
	struct drm_gem_object **contended;	/* @exec backed off from these; a reference each */
	u32 contended_count;
};

/* Add waits, then signals: a job does not wait for its own signals. */
static int submit_add_syncs(struct submit *s, struct pumice_job *job,
			    const struct drm_pumice_sync *syncs, u32 count)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < count && !ret; i++)
		if (!(syncs[i].flags & DRM_PUMICE_SYNC_SIGNAL))
			ret = pumice_sync_add_wait(s->file, job, &syncs[i], &s->signals);
	for (i = 0; i < count && !ret; i++)
		if (syncs[i].flags & DRM_PUMICE_SYNC_SIGNAL)
			ret = pumice_sync_add_signal(s->file, s->failed, &syncs[i], &s->signals);
	return ret;
}

static int submit_add_perfmon(struct submit *s, struct pumice_job *job, u32 id)
{
	if (!id)
		return 0;
	job->perfmon = pumice_perfmon_lookup(s->file->driver_priv, id);
	return job->perfmon ? 0 : -ENOENT;
}

static int submit_add_hwrt(struct submit *s, struct pumice_job *job,
			   const struct drm_pumice_job *args)
{
	if (args->hwrt_data >= DRM_PUMICE_HWRT_DATA)
		return -EINVAL;
	job->hwrt_data = args->hwrt_data;
	job->hwrt = pumice_hwrt_lookup(s->file->driver_priv, args->hwrt);
	if (!job->hwrt)
		return -ENOENT;
	return job->hwrt->vm == s->vms[s->failed] ? 0 : -EINVAL;
}

static int submit_add_geometry(struct submit *s, struct pumice_job *job)
{
	job->pair = pumice_pair_create(job->ctx);
	s->geometry = job;
	return job->pair ? 0 : -ENOMEM;
}

/* Add a fragment job, whose geometry job is the previous one. */
static int submit_add_fragment(struct submit *s, struct pumice_job *job)
{
	struct pumice_job *geometry = s->geometry;

	if (!geometry || geometry->ctx != job->ctx || geometry->hwrt != job->hwrt ||
	    geometry->hwrt_data != job->hwrt_data)
		return -EINVAL;
	geometry->render = job->stream;
	job->geometry = geometry;
	job->pair = pumice_pair_get(geometry->pair);
	job->sibling_deps = BIT_ULL(s->failed - 1);
	s->geometry = NULL;
	return 0;
}

static int submit_add_scene(struct submit *s, struct pumice_job *job,
			    const struct drm_pumice_job *args)
{
	int ret;

	if (args->type == DRM_PUMICE_JOB_DEFAULT)
		return 0;
	ret = submit_add_hwrt(s, job, args);
	if (ret)
		return ret;
	if (args->type == DRM_PUMICE_JOB_GEOMETRY)
		return submit_add_geometry(s, job);
	return submit_add_fragment(s, job);
}

/* Return the queue of a context for jobs of a type, or NULL. */
static struct pumice_queue *submit_queue_for(struct pumice_context *ctx, u32 type)
{
	if (ctx->type != DRM_PUMICE_CONTEXT_RENDER)
		return type == DRM_PUMICE_JOB_DEFAULT ? &ctx->queues[0] : NULL;
	switch (type) {
	case DRM_PUMICE_JOB_GEOMETRY:
		return &ctx->queues[PUMICE_QUEUE_GEOMETRY];
	case DRM_PUMICE_JOB_FRAGMENT:
		return &ctx->queues[PUMICE_QUEUE_FRAGMENT];
	default:
		return NULL;
	}
}

/* Create a job without dependencies. Returns an error pointer on failure. */
static struct pumice_job *submit_create_job(struct submit *s, const struct drm_pumice_job *args)
{
	struct pumice_context *ctx = pumice_context_lookup(s->file->driver_priv, args->context,
							   &s->vms[s->failed]);
	struct pumice_queue *q;
	struct pumice_job *job;

	if (!ctx)
		return ERR_PTR(-ENOENT);
	q = submit_queue_for(ctx, args->type);
	job = q ? pumice_job_create(q, args->stream, s->file->client_id) : ERR_PTR(-EINVAL);
	pumice_context_put(ctx);
	return job;
}

static int submit_check_job(const struct drm_pumice_job *args)
{
	u32 align = args->type == DRM_PUMICE_JOB_FRAGMENT ? 16 : 4;

	if (args->flags || args->type > DRM_PUMICE_JOB_FRAGMENT || args->stream % align)
		return -EINVAL;
	if (args->type == DRM_PUMICE_JOB_DEFAULT && (args->hwrt || args->hwrt_data))
		return -EINVAL;
	return 0;
}

static int submit_prepare_job(struct submit *s, const struct drm_pumice_job *args)
{
	struct drm_pumice_sync *syncs;
	struct pumice_job *job;
	int ret = submit_check_job(args);

	if (ret)
		return ret;
	syncs = pumice_sync_copy(&args->syncs);
	if (IS_ERR(syncs))
		return PTR_ERR(syncs);
	job = submit_create_job(s, args);
	if (IS_ERR(job)) {
		ret = PTR_ERR(job);
	} else {
		s->jobs[s->failed] = job;
		ret = submit_add_scene(s, job, args);
		if (!ret)
			ret = submit_add_perfmon(s, job, args->perfmon);
		if (!ret)
			ret = submit_add_syncs(s, job, syncs, args->syncs.count);
		if (!ret)
			ret = pumice_job_make_room(job);
		if (!ret)
			ret = pumice_flip_reserve(job, s->file, args);
	}
	kfree(syncs);
	return ret;
}

static int submit_prepare_jobs(struct submit *s, const struct drm_pumice_array *array)
{
	struct drm_pumice_job args;
	int ret;

	for (s->failed = 0; s->failed < s->count; s->failed++) {
		ret = pumice_array_copy(array, s->failed, &args, sizeof(args));
		if (ret)
			return ret;
		if (s->geometry && args.type != DRM_PUMICE_JOB_FRAGMENT)
			break;
		ret = submit_prepare_job(s, &args);
		if (ret)
			return ret;
	}
	if (!s->geometry)
		return 0;
	/* The last job is a geometry job without a fragment job. */
	s->failed--;
	return -EINVAL;
}

/*
 * Reserve slots for the fences of all jobs in every locked reservation.
 *
 * These may be more than those of the VMs now: after contention drm_exec locks the
 * contended object first, and by then an unmap may have removed it from its VM, so
 * that the last round does not visit it. Fences are added to all locked objects.
 */
static int submit_reserve_fences(struct submit *s)
{
	struct drm_gem_object *obj;
	unsigned long index;
	int ret = 0;

	for (index = 0; !ret && (obj = drm_exec_obj(&s->exec, index)); index++)
		ret = dma_resv_reserve_fences(obj->resv, s->count);
	return ret;
}

/*
 * drm_exec references the object that it backed off from, without holding the VM's reservation.
 * An unmap may have removed that object from its VM meanwhile, and its handle may be closed. Then
 * drm_exec must not put the last reference: freeing a buffer locks its reservation without the
 * acquire context that the task is in. So such objects are referenced until that context ends. All
 * others are kept by their VM, whose reservation drm_exec unlocks after theirs.
 */
static int submit_make_room_for_contended(struct submit *s)
{
	struct drm_gem_object **contended = krealloc_array(s->contended, s->contended_count + 1,
							   sizeof(*contended), GFP_KERNEL_ACCOUNT);

	if (!contended)
		return -ENOMEM;
	s->contended = contended;
	return 0;
}

static void submit_keep_contended(struct submit *s)
{
	drm_gem_object_get(s->exec.contended);
	s->contended[s->contended_count++] = s->exec.contended;
}

static void submit_put_contended(struct submit *s)
{
	u32 i;

	for (i = 0; i < s->contended_count; i++)
		drm_gem_object_put(s->contended[i]);
	kfree(s->contended);
}

/* Lock the reservations of all VMs and their external objects. */
static int submit_lock_vms(struct submit *s)
{
	int ret;
	u32 i;

	drm_exec_until_all_locked(&s->exec) {
		ret = submit_make_room_for_contended(s);
		if (ret)
			break;
		for (i = 0; i < s->count && !ret; i++) {
			ret = pumice_vm_lock_objects(s->vms[i], &s->exec);
			if (drm_exec_is_contended(&s->exec))
				submit_keep_contended(s);
			drm_exec_retry_on_contention(&s->exec);
		}
	}
	return ret ?: submit_reserve_fences(s);
}

/* Count the unfinished jobs of a context, including those of this call up to the current one. */
static u64 submit_unfinished(const struct submit *s, struct pumice_context *ctx)
{
	u64 jobs = ctx->submitted;
	u32 i;

	for (i = 0; i <= s->failed; i++)
		jobs += s->jobs[i]->ctx == ctx;
	spin_lock(&ctx->lock);
	jobs -= ctx->status.done;
	spin_unlock(&ctx->lock);
	return jobs;
}

/* Check that no context was destroyed, stopped or filled up before its VM was locked. */
static int submit_check_contexts(struct submit *s)
{
	struct pumice_context *ctx;

	for (s->failed = 0; s->failed < s->count; s->failed++) {
		ctx = s->jobs[s->failed]->ctx;
		if (ctx->closed)
			return -ENOENT;
		/* Removal of the device stops them, too. */
		if (READ_ONCE(ctx->stopped) || !pumice_vm_usable(s->vms[s->failed]))
			return drm_dev_is_unplugged(&ctx->pdev->drm) ? -ENODEV : -EIO;
		if (submit_unfinished(s, ctx) > DRM_PUMICE_MAX_QUEUED_JOBS)
			return -ENOSPC;
	}
	return 0;
}

/* Arm, signal and push all jobs, which transfers their ownership. Cannot fail. */
static void submit_commit(struct submit *s)
{
	bool cookie = dma_fence_begin_signalling();
	struct pumice_job *job;
	u32 i;

	for (i = 0; i < s->count; i++) {
		job = s->jobs[i];
		drm_sched_job_arm(&job->base);
		job->armed = true;
		job->number = job->ctx->submitted + 1;
		WRITE_ONCE(job->ctx->submitted, job->number);
		atomic64_inc(&job->ctx->pdev->stats.jobs_submitted);
		if (job->perfmon)
			atomic_inc(&job->perfmon->busy);
		pumice_job_add_siblings(job, s->jobs);
		pumice_job_arm_scene(job);
		pumice_vm_add_fence(s->vms[i], &s->exec, &job->base.s_fence->finished);
	}
	pumice_sync_commit(&s->signals, s->jobs);
	for (i = 0; i < s->count; i++) {
		pumice_job_push(s->jobs[i]);
		s->jobs[i] = NULL;
	}
	dma_fence_end_signalling(cookie);
}

static int submit_run(struct submit *s, const struct drm_pumice_array *array)
{
	int ret = submit_prepare_jobs(s, array);

	if (ret)
		return ret;
	drm_exec_init(&s->exec, DRM_EXEC_INTERRUPTIBLE_WAIT | DRM_EXEC_IGNORE_DUPLICATES,
		      COMMON_OBJECTS);
	ret = submit_lock_vms(s);
	if (!ret)
		ret = submit_check_contexts(s);
	if (!ret)
		submit_commit(s);
	drm_exec_fini(&s->exec);
	submit_put_contended(s);
	return ret;
}

/* Free the state of a call: after an error all of it, otherwise the part that no job owns. */
static void submit_release(struct submit *s)
{
	u32 i;

	pumice_sync_release(&s->signals);
	for (i = 0; i < s->count; i++) {
		pumice_job_destroy(s->jobs[i]);
		if (s->vms[i])
			pumice_vm_put(s->vms[i]);
	}
}

/**
 * pumice_ioctl_submit - implement DRM_IOCTL_PUMICE_SUBMIT
 * @drm: device
 * @data: struct drm_pumice_submit, whose @failed_job is written in any case
 * @file: file
 *
 * Context: Process context. Wakes the GPU, and acquires the reservations of all VMs of the
 * jobs and of the buffers bound in them, except exclusive ones, which share their VM's.
 *
 * Return: 0 if all jobs were submitted, else an error and none was: -EINVAL for flags,
 * padding, an unaligned stream, a type or a pair of jobs that the context does not accept, a
 * data set of another VM, invalid syncs or a wait without a fence; -ENOENT without such a
 * context, data set, monitor or syncobj, or if the context was destroyed meanwhile; -EIO if
 * the context was stopped, its VM is unusable or the GPU does not wake up; -ENOSPC if a
 * context would have more than DRM_PUMICE_MAX_QUEUED_JOBS jobs, or the file no space for events;
 * -E2BIG for more than DRM_PUMICE_MAX_PRESENTS presents of a job; -EOPNOTSUPP for presents on a
 * GPU without them; -ENOMEM; -EINTR if a signal interrupts the wait for a reservation; -ENODEV
 * if the device was unplugged; or an error of pumice_array_check(), with at most
 * DRM_PUMICE_MAX_JOBS jobs and DRM_PUMICE_MAX_SYNCS syncs of each, or of pumice_array_copy().
 */
int pumice_ioctl_submit(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_submit *args = data;
	struct submit s = {
		.file = file, .count = args->jobs.count, .failed = args->jobs.count,
	};
	int ret, idx;

	args->failed_job = 0;
	if (args->flags || args->pad || args->pad2)
		return -EINVAL;
	ret = pumice_array_check(&args->jobs, JOB_STRIDE, DRM_PUMICE_MAX_JOBS);
	if (ret || !s.count)
		return ret;
	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	INIT_LIST_HEAD(&s.signals);
	s.jobs = kcalloc(s.count, sizeof(*s.jobs), GFP_KERNEL_ACCOUNT);
	s.vms = kcalloc(s.count, sizeof(*s.vms), GFP_KERNEL_ACCOUNT);
	ret = s.jobs && s.vms ? submit_run(&s, &args->jobs) : -ENOMEM;
	drm_dev_exit(idx);
	if (s.jobs && s.vms)
		submit_release(&s);
	args->failed_job = s.failed;
	kfree(s.vms);
	kfree(s.jobs);
	return ret;
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_submit_test.c"
#endif
