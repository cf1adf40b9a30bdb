// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * DRM_IOCTL_PUMICE_JOB_GET_RESULT: the result of one job.
 *
 * A context keeps a ring of results, by the number of the job. Jobs of a stopped
 * context may complete in a different order than they were submitted, so a result
 * never replaces that of a later job.
 */
#include "pumice_context.h"
#include "pumice_flip.h"
#include "pumice_job.h"
#include "pumice_perfmon.h"
#include "pumice_result.h"
#include "pumice_stuck.h"

/**
 * pumice_result_note_locked - store the result of a completed job
 * @job: job, armed; under its context's lock
 * @error: error of its fence
 * @r: copy of the firmware's report, or NULL
 *
 * Only the first call for a job has an effect.
 */
void pumice_result_note_locked(struct pumice_job *job, int error, const struct fwif_job_result *r)
{
	struct pumice_context *ctx = job->ctx;
	struct pumice_result *result = &ctx->results[job->number % DRM_PUMICE_JOB_RESULTS];

	lockdep_assert_held(&ctx->lock);
	if (job->ended)
		return;
	job->ended = true;
	pumice_flip_end_locked(job, error);
	ctx->ended = max(ctx->ended, job->number);
	atomic64_inc(&ctx->pdev->stats.jobs_done);
	if (error)
		atomic64_inc(&ctx->pdev->stats.jobs_failed);
	if (job->perfmon)
		atomic_dec_return_release(&job->perfmon->busy);
	if (result->number >= job->number)
		return;
	*result = (struct pumice_result) { .number = job->number, .error = error };
	if (r)
		result->r = *r;
	if (error == -EIO && r)
		pumice_stuck_fault_place_locked(job, &job->queue->shared->stuck, &result->place);
}

/**
 * pumice_result_note - store the result of a job that completed without the firmware
 * @job: job, armed
 * @error: error of its fence
 *
 * Context: Does not sleep. Acquires the context's lock.
 */
void pumice_result_note(struct pumice_job *job, int error)
{
	spin_lock(&job->ctx->lock);
	pumice_result_note_locked(job, error, NULL);
	spin_unlock(&job->ctx->lock);
}

/* Copy the result of a job; 0 means the last completed job. */
static int result_find(struct pumice_context *ctx, u64 number, struct pumice_result *result,
		       struct pumice_stuck *stuck)
{
	int ret = 0;

	spin_lock(&ctx->lock);
	if (!number)
		number = ctx->ended;
	*result = ctx->results[number % DRM_PUMICE_JOB_RESULTS];
	*stuck = ctx->stuck;
	if (!number || result->number > number)
		ret = -ENODATA;
	else if (number > READ_ONCE(ctx->submitted))
		ret = -ENOENT;
	else if (result->number < number)
		ret = -EBUSY;
	spin_unlock(&ctx->lock);
	return ret;
}

static void result_show_place(const struct pumice_fault_place *place,
			      struct drm_pumice_job_get_result *args)
{
	args->code = place->code;
	args->known = place->known;
	args->lane = place->lane;
	args->instance = place->instance;
	args->lanes = place->lanes;
	args->slot = place->slot;
	args->wave = place->wave;
	memcpy(args->group, place->group, sizeof(args->group));
}

/**
 * pumice_ioctl_job_get_result - implement DRM_IOCTL_PUMICE_JOB_GET_RESULT
 * @drm: device
 * @data: struct drm_pumice_job_get_result
 * @file: file
 *
 * Context: Process context. Acquires the context's lock.
 *
 * Return: 0; -ENOENT without such a context, or if the job was not submitted; -EBUSY if it has
 * not completed; or -ENODATA if its result is no longer stored, or no job has completed yet.
 */
int pumice_ioctl_job_get_result(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_job_get_result *args = data;
	struct pumice_context *ctx = pumice_context_lookup(file->driver_priv, args->context, NULL);
	struct pumice_result result;
	struct pumice_stuck stuck;
	int ret;

	if (!ctx)
		return -ENOENT;
	ret = result_find(ctx, args->job, &result, &stuck);
	pumice_context_put(ctx);
	if (ret)
		return ret;
	*args = (struct drm_pumice_job_get_result) {
		.context = args->context,
		.error = result.error,
		.job = result.number,
		.fault = result.r.fault,
		.unit = result.r.unit,
		.access = result.r.access,
		.pc = result.r.pc,
		.fault_va = result.r.addr,
		.start = result.r.time_start,
		.end = result.r.time_end,
		.run_ticks = result.r.run_ticks,
		.groups = result.r.groups,
		.slices = result.r.slices,
		.usc = result.r.usc,
		.partial_renders = result.r.partials,
	};
	pumice_stuck_show(&stuck, args);
	result_show_place(&result.place, args);
	return 0;
}
