// SPDX-License-Identifier: MIT
/* Kernel backend: contexts and submission. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xf86drm.h>

#include "drm.h"
#include "pumice/pumice_present.h"
#include "pumice_regs.h"

static const u32 priorities[] = {
	[PUMICE_PRIORITY_LOW] = DRM_PUMICE_PRIORITY_LOW,
	[PUMICE_PRIORITY_NORMAL] = DRM_PUMICE_PRIORITY_NORMAL,
	[PUMICE_PRIORITY_HIGH] = DRM_PUMICE_PRIORITY_HIGH,
};

static int fail_privilege(struct pumice_device *dev)
{
	return fail(dev, EACCES,
		    "context: priority 2 (high) needs CAP_SYS_NICE; use 0 (low) or 1 (normal)");
}

int drm_context_create(struct pumice_vm *vm, enum pumice_context_type type,
		       enum pumice_priority priority, struct pumice_context **out)
{
	struct drm_pumice_context_create c = {
		.type = (u32)type,	/* same values */
		.priority = priorities[priority],
		.vm = ((struct drm_vm *)vm)->id,
	};
	struct drm_context *context = calloc(1, sizeof(*context));
	int err;

	if (!context)
		return fail(vm->dev, ENOMEM, "context: out of memory");
	err = drm_create(vm->dev, DRM_IOCTL_PUMICE_CONTEXT_CREATE, &c, "context");
	if (err == -EACCES)
		err = fail_privilege(vm->dev);
	if (err) {
		free(context);
		return err;
	}
	context->base = (struct pumice_context){ .dev = vm->dev, .vm = vm, .id = c.id };
	context->id = c.id;
	*out = &context->base;
	return 0;
}

void drm_context_destroy(struct pumice_context *base)
{
	struct drm_context *context = (struct drm_context *)base;
	struct drm_pumice_context_destroy d = { .id = context->id };

	drmIoctl(drm_device(base->dev)->fd, DRM_IOCTL_PUMICE_CONTEXT_DESTROY, &d);
	free(context);
}

int drm_context_get_state(struct pumice_context *context, struct pumice_context_state *state)
{
	struct drm_pumice_context_get_state g = { .id = ((struct drm_context *)context)->id };
	int err = drm_call(context->dev, DRM_IOCTL_PUMICE_CONTEXT_GET_STATE, &g, "context state");

	if (err)
		return err;
	*state = (struct pumice_context_state){
		.flags = (g.state & DRM_PUMICE_CONTEXT_GUILTY ? PUMICE_CONTEXT_GUILTY : 0) |
			 (g.state & DRM_PUMICE_CONTEXT_INNOCENT ? PUMICE_CONTEXT_INNOCENT : 0) |
			 (g.state & DRM_PUMICE_CONTEXT_FAULTED ? PUMICE_CONTEXT_FAULTED : 0),
		.fault = g.fault,
		.unit = g.unit,
		.access = g.access,
		.pc = g.pc,
		.fault_va = g.fault_va,
		.jobs_done = g.jobs_done,
		.jobs_faulted = g.jobs_faulted,
		.last_start = g.last_start,
		.last_end = g.last_end,
	};
	return 0;
}

int drm_context_set_priority(struct pumice_context *context, enum pumice_priority priority)
{
	struct drm_pumice_context_set_priority p = {
		.id = ((struct drm_context *)context)->id, .priority = priorities[priority],
	};
	int err = drm_call(context->dev, DRM_IOCTL_PUMICE_CONTEXT_SET_PRIORITY, &p,
			   "context priority");

	return err == -EACCES ? fail_privilege(context->dev) : err;
}

int drm_resets(struct pumice_device *dev, struct pumice_device_resets *resets)
{
	struct drm_pumice_file_get_resets r = { 0 };
	int err = drm_call(dev, DRM_IOCTL_PUMICE_FILE_GET_RESETS, &r, "resets");

	if (err)
		return err;
	*resets = (struct pumice_device_resets){
		.resets = r.resets,
		.guilty = r.guilty,
		.innocent = r.innocent,
		.flags = r.state & DRM_PUMICE_RESETS_LOST ? PUMICE_RESETS_LOST : 0,
	};
	return 0;
}

int drm_context_kill(struct pumice_context *context)
{
	return fail(context->dev, EOPNOTSUPP, "context kill: only an in-process device can; the kernel stops contexts that fault or time out");
}

int drm_context_dump(struct pumice_context *context, const char *path)
{
	(void)path;
	return fail(context->dev, EOPNOTSUPP,
		    "dump: only an in-process device can; the kernel stores one in /sys/class/devcoredump");
}

static void add_fault_place(const struct drm_pumice_job_get_result *r,
			    struct pumice_job_result *result)
{
	/* The flags have the same values. */
	result->known = r->known;
	result->code = r->code;
	result->lane = r->lane;
	result->instance = r->instance;
	result->lanes = r->lanes;
	result->slot = r->slot;
	result->wave = r->wave;
	memcpy(result->group, r->group, sizeof(result->group));
}

int drm_job_result(struct pumice_context *context, u64 job, struct pumice_job_result *result)
{
	struct drm_pumice_job_get_result r = {
		.context = ((struct drm_context *)context)->id, .job = job,
	};
	int err = drm_call(context->dev, DRM_IOCTL_PUMICE_JOB_GET_RESULT, &r, "job result");
	u32 i;

	if (err == -ENOENT || err == -EBUSY || err == -ENODATA)
		return fail_job_result(context->dev, -err, job);
	if (err)
		return err;
	*result = (struct pumice_job_result){
		.job = r.job,
		.error = r.error,
		.fault = r.fault,
		.unit = r.unit,
		.access = r.access,
		.pc = r.pc,
		.usc = r.usc,
		.fault_va = r.fault_va,
		.start = r.start,
		.end = r.end,
		.run_ticks = r.run_ticks,
		.groups = r.groups,
		.slices = r.slices,
		.partial_renders = r.partial_renders,
		.waves = r.waves,
		.waves_looked = r.waves_looked,
		.place_count = r.place_count,
	};
	for (i = 0; i < r.place_count && i < PUMICE_STUCK_PLACES; i++)
		result->places[i] = (struct pumice_stuck_place){
			.code = r.places[i].code,
			.pc = r.places[i].pc,
			.waves = r.places[i].waves,
			.barrier = r.places[i].state == PUMICE_WAVE_STATE_BARRIER,
			.lanes = r.places[i].lanes,
			.usc = r.places[i].usc,
			.slot = r.places[i].slot,
			.wave = r.places[i].wave,
		};
	add_fault_place(&r, result);
	return 0;
}

void drm_pack_syncs(const struct pumice_job_sync *syncs, u32 count, struct drm_pumice_sync *to)
{
	u32 i;

	for (i = 0; i < count; i++) {
		const struct pumice_job_sync *s = &syncs[i];

		to[i] = (struct drm_pumice_sync){
			.flags = (s->signal ? DRM_PUMICE_SYNC_SIGNAL : 0) |
				 (s->point ? DRM_PUMICE_SYNC_TIMELINE : 0),
			.handle = ((struct drm_sync *)s->sync)->handle,
			.value = s->point,
		};
	}
}

/* Return the index of a sync that the job waits for and nothing signals, or that count. */
static u32 unsignaled_sync(const struct pumice_gfx_job *jobs, u32 index)
{
	const struct pumice_gfx_job *job = &jobs[index];
	u32 i;

	for (i = 0; i < job->sync_count; i++)
		if (!job->syncs[i].signal && !drm_sync_is_submitted(&job->syncs[i]) &&
		    !sync_signaled_before(jobs, index, &job->syncs[i]))
			break;
	return i;
}

/* Replace the text of an error of SUBMIT by its reason, where that can be determined. */
static int explain(struct pumice_device *dev, int err, const struct pumice_gfx_job *jobs,
		   u32 index)
{
	const struct pumice_gfx_job *job = &jobs[index];
	struct pumice_context_state state;
	u32 flags, sync;

	switch (err) {
	case -ENOSPC:
		return fail(dev, ENOSPC, "job %u: a context has at most %u queued jobs; wait for one",
			    index, DRM_PUMICE_MAX_QUEUED_JOBS);
	case -EIO:
		if (!drm_vm_get_state(job->context->vm, &flags) && flags & PUMICE_VM_UNUSABLE)
			return fail_vm_unusable(dev, "submit");
		if (!drm_context_get_state(job->context, &state) && state.flags)
			return fail_context_stopped(dev, index);
		return fail(dev, EIO, "submit: %s", strerror(EIO));
	case -ENOENT:
		return job->perfmon ? fail_job_perfmon(dev, index, job->perfmon) : err;
	case -EINVAL:
		sync = unsignaled_sync(jobs, index);
		return sync < job->sync_count ? fail_job_unsignaled(dev, index, sync) : err;
	default:
		return err;
	}
}

/*
 * Replace the text of an error of a job with presents, where these are its reason.
 * @flips: flips that would have been announced and not returned
 *
 * Return: 0 if they are not.
 */
static int explain_present(struct pumice_device *dev, int err, u32 flips)
{
	switch (err) {
	case -ENOSPC:
		return flips > PUMICE_MAX_FLIPS ? fail_no_flip_space(dev) : 0;
	case -E2BIG:
		return fail(dev, EOPNOTSUPP,
			    "present: the kernel module has no presents; update it");
	case -EOPNOTSUPP:
		return fail(dev, EOPNOTSUPP,
			    "present: the GPU or its firmware has no presents; update it");
	default:
		return 0;
	}
}

/* SUBMIT one job with presents. If the text of an error is final, failed_job is UINT32_MAX. */
static int submit_presents(struct pumice_device *dev, struct drm_pumice_submit *submit,
			   struct drm_pumice_job *job, const struct pumice_present_job *present)
{
	_Atomic u32 *announced = &drm_device(dev)->announced;
	int err, reason;
	u32 flips;

	job->presents = present->presents;
	job->present_data = present->user_data;
	/* Before the call, because its flips may be returned before it returns. */
	flips = atomic_fetch_add(announced, present->presents) + present->presents;
	err = drm_call(dev, DRM_IOCTL_PUMICE_SUBMIT, submit, "submit");
	if (!err)
		return 0;
	atomic_fetch_sub(announced, present->presents);
	reason = explain_present(dev, err, flips);
	if (reason)
		submit->failed_job = UINT32_MAX;
	return reason ? reason : err;
}

static void pack_job(const struct pumice_gfx_job *job, struct drm_pumice_sync *syncs,
		     struct drm_pumice_job *to)
{
	drm_pack_syncs(job->syncs, job->sync_count, syncs);
	*to = (struct drm_pumice_job){
		.context = ((struct drm_context *)job->context)->id,
		.stream = job->stream,
		.perfmon = job->perfmon,
		.type = job->type,
		.hwrt = job->hwrt ? ((struct drm_hwrt *)job->hwrt)->id : 0,
		.hwrt_data = job->hwrt_data,
		.syncs = { sizeof(*syncs), job->sync_count, (uintptr_t)syncs },
	};
}

int drm_submit(struct pumice_device *dev, const struct pumice_gfx_job *jobs, u32 count,
	       const struct pumice_present_job *present, u32 *failed)
{
	struct drm_pumice_job packed[MAX_JOBS] = { 0 };
	struct drm_pumice_submit submit = {
		.jobs = { sizeof(packed[0]), count, (uintptr_t)packed },
	};
	struct drm_pumice_sync *syncs, *next;
	size_t total = 0;
	u32 i;
	int err;

	for (i = 0; i < count; i++)
		total += jobs[i].sync_count;
	syncs = calloc(total + 1, sizeof(*syncs));
	if (!syncs)
		return fail(dev, ENOMEM, "submit: out of memory");
	for (i = 0, next = syncs; i < count; next += jobs[i].sync_count, i++)
		pack_job(&jobs[i], next, &packed[i]);
	err = present ? submit_presents(dev, &submit, packed, present) :
			drm_call(dev, DRM_IOCTL_PUMICE_SUBMIT, &submit, "submit");
	free(syncs);
	if (!err || submit.failed_job >= count)
		return err;
	*failed = submit.failed_job;
	return explain(dev, err, jobs, submit.failed_job);
}
