// SPDX-License-Identifier: MIT
/* Contexts, synchronisation objects, submission: checks, and synchronous jobs. */
#include <errno.h>
#include <string.h>

#include "internal.h"

#define MAX_RUN_JOBS	2u	/* of queue_run(): a frame */

static int check_priority(struct pumice_device *dev, enum pumice_priority priority)
{
	if ((u32)priority > PUMICE_PRIORITY_HIGH)
		return fail(dev, EINVAL,
			    "context: unknown priority %u; accepted: 0 (low), 1 (normal), 2 (high)",
			    (u32)priority);
	return 0;
}

int pumice_context_create_type(struct pumice_vm *vm, enum pumice_context_type type,
			       enum pumice_priority priority, struct pumice_context **context)
{
	struct pumice_device *dev = vm->dev;
	int err;

	err = check_priority(dev, priority);
	if (err)
		return err;
	if (type < PUMICE_CONTEXT_COMPUTE || type > PUMICE_CONTEXT_RAYS)
		return fail(dev, EINVAL,
			    "context: unknown type %u; accepted: 1 (compute), 2 (render), 3 (transfer), 4 (rays)",
			    (u32)type);
	err = dev->ops->context_create(vm, type, priority, context);
	if (!err)
		(*context)->type = type;
	return err;
}

int pumice_context_create(struct pumice_vm *vm, enum pumice_priority priority,
			  struct pumice_context **context)
{
	return pumice_context_create_type(vm, PUMICE_CONTEXT_COMPUTE, priority, context);
}

void pumice_context_destroy(struct pumice_context *context)
{
	if (context)
		context->dev->ops->context_destroy(context);
}

int pumice_context_get_state(struct pumice_context *context, struct pumice_context_state *state)
{
	return context->dev->ops->context_get_state(context, state);
}

int pumice_context_set_priority(struct pumice_context *context, enum pumice_priority priority)
{
	int err = check_priority(context->dev, priority);

	return err ? err : context->dev->ops->context_set_priority(context, priority);
}

int pumice_device_get_resets(struct pumice_device *dev, struct pumice_device_resets *resets,
			     size_t bytes)
{
	struct pumice_device_resets all = { 0 };
	int err = dev->ops->resets(dev, &all);

	if (!err)
		put_sized(resets, bytes, &all, sizeof(all));
	return err;
}

int pumice_context_kill(struct pumice_context *context)
{
	return context->dev->ops->context_kill(context);
}

uint64_t pumice_context_jobs(const struct pumice_context *context)
{
	return __atomic_load_n(&context->jobs, __ATOMIC_RELAXED);
}

int pumice_context_get_job_result(struct pumice_context *context, uint64_t job,
				  struct pumice_job_result *result, size_t bytes)
{
	struct pumice_job_result all = { 0 };
	int err = context->dev->ops->job_result(context, job, &all);

	if (!err)
		put_sized(result, bytes, &all, sizeof(all));
	return err;
}

int pumice_sync_create(struct pumice_device *dev, uint32_t flags, struct pumice_sync **sync)
{
	if (flags & ~PUMICE_SYNC_SIGNALED)
		return fail(dev, EINVAL, "sync: unknown flags %#x; accepted: 0x1 (SIGNALED)",
			    flags & ~PUMICE_SYNC_SIGNALED);
	return dev->ops->sync_create(dev, flags, sync);
}

void pumice_sync_destroy(struct pumice_sync *sync)
{
	if (sync)
		sync->dev->ops->sync_destroy(sync);
}

int pumice_sync_signal(struct pumice_sync *sync, uint64_t point)
{
	return sync->dev->ops->sync_signal(sync, point);
}

int pumice_sync_reset(struct pumice_sync *sync)
{
	return sync->dev->ops->sync_reset(sync);
}

int pumice_sync_query(struct pumice_sync *sync, uint64_t *point)
{
	return sync->dev->ops->sync_query(sync, point);
}

/* Find the device of the first sync that is set; NULL if there is none. */
static struct pumice_device *waits_device(const struct pumice_wait *waits, u32 count)
{
	u32 i;

	for (i = 0; waits && i < count; i++)
		if (waits[i].sync)
			return waits[i].sync->dev;
	return NULL;
}

int pumice_sync_wait(const struct pumice_wait *waits, uint32_t count, uint32_t flags,
		     uint64_t timeout_ns)
{
	struct pumice_device *dev = waits_device(waits, count);
	int err;
	u32 i;

	if (!dev)
		return -EINVAL;
	if (count > MAX_SYNCS)
		return fail(dev, E2BIG, "wait: %u syncs are more than %u; wait for them in parts",
			    count, MAX_SYNCS);
	if (flags & ~(PUMICE_WAIT_ANY | PUMICE_WAIT_SUBMIT))
		return fail(dev, EINVAL,
			    "wait: unknown flags %#x; accepted: 0x1 (ANY), 0x2 (SUBMIT)",
			    flags & ~(PUMICE_WAIT_ANY | PUMICE_WAIT_SUBMIT));
	for (i = 0; i < count; i++) {
		if (!waits[i].sync)
			return fail(dev, EINVAL, "wait %u: sync is NULL; set it", i);
		if (waits[i].sync->dev != dev)
			return fail(dev, EINVAL, "wait %u: the sync belongs to another device; create it in this one", i);
	}
	err = dev->ops->sync_wait(dev, waits, count, flags, timeout_ns);
	findings_write(dev);	/* the process may end without closing the device */
	return err;
}

static int check_job(struct pumice_device *dev, u32 index, const struct pumice_gfx_job *job)
{
	u32 i;

	if (!job->context)
		return fail(dev, EINVAL, "job %u: context is NULL; set it", index);
	if (job->context->dev != dev)
		return fail(dev, EINVAL,
			    "job %u: the context belongs to another device; create it in this one",
			    index);
	if (job->stream % 4)
		return fail(dev, EINVAL, "job %u: stream %#llx is not aligned to 4 bytes", index,
			    (unsigned long long)job->stream);
	if (job->sync_count > MAX_SYNCS)
		return fail(dev, E2BIG,
			    "job %u: %u syncs are more than %u; split them between jobs", index,
			    job->sync_count, MAX_SYNCS);
	if (job->sync_count && !job->syncs)
		return fail(dev, EINVAL, "job %u: syncs is NULL; set it, or sync_count to 0",
			    index);
	for (i = 0; i < job->sync_count; i++) {
		if (!job->syncs[i].sync)
			return fail(dev, EINVAL, "job %u: sync %u is NULL; set it", index, i);
		if (job->syncs[i].sync->dev != dev)
			return fail(dev, EINVAL,
				    "job %u: sync %u belongs to another device; create it in this one",
				    index, i);
	}
	return 0;
}

static const char *name_of(const char * const names[], u32 count, u32 n)
{
	return n < count && names[n] ? names[n] : "unknown";
}

/* Report that the type of a job does not fit its context. */
static int fail_type(struct pumice_device *dev, u32 index, const struct pumice_gfx_job *job)
{
	static const char * const contexts[] = {
		[PUMICE_CONTEXT_COMPUTE] = "compute", [PUMICE_CONTEXT_RENDER] = "render",
		[PUMICE_CONTEXT_TRANSFER] = "transfer", [PUMICE_CONTEXT_RAYS] = "rays",
	};
	static const char * const jobs[] = { "default", "geometry", "fragment" };
	const u32 type = job->context->type;

	return fail(dev, EINVAL,
		    "job %u: type %u (%s) is not a job of a %s context; accepted: %s", index,
		    job->type, name_of(jobs, 3, job->type), name_of(contexts, 5, type),
		    type == PUMICE_CONTEXT_RENDER ? "1 (geometry), 2 (fragment)" : "0 (default)");
}

/* A geometry job must be followed by its fragment job; no other job has a scene. */
static int check_kind(struct pumice_device *dev, const struct pumice_gfx_job *jobs, u32 count,
		      u32 index)
{
	const struct pumice_gfx_job *job = &jobs[index], *next = job + 1;
	bool render = job->context->type == PUMICE_CONTEXT_RENDER;

	if (render != (job->type != PUMICE_JOB_DEFAULT) || job->type > PUMICE_JOB_FRAGMENT)
		return fail_type(dev, index, job);
	if (!render)
		return job->hwrt ? fail(dev, EINVAL,
					"job %u: only geometry and fragment jobs have a data set; set hwrt to NULL",
					index) : 0;
	if (!job->hwrt)
		return fail(dev, EINVAL, "job %u: hwrt is NULL; set it to a data set", index);
	if (job->hwrt->vm != job->context->vm)
		return fail(dev, EINVAL,
			    "job %u: the data set belongs to another vm than the context", index);
	if (job->hwrt_data > 1)
		return fail(dev, EINVAL, "job %u: hwrt_data %u is not 0 or 1", index,
			    job->hwrt_data);
	if (job->type == PUMICE_JOB_GEOMETRY &&
	    (index + 1 == count || next->type != PUMICE_JOB_FRAGMENT ||
	     next->context != job->context || next->hwrt != job->hwrt ||
	     next->hwrt_data != job->hwrt_data))
		return fail(dev, EINVAL,
			    "job %u: a geometry job is followed by the fragment job of its scene, in the same call",
			    index);
	if (job->type != PUMICE_JOB_FRAGMENT)
		return 0;
	if (!index || jobs[index - 1].type != PUMICE_JOB_GEOMETRY)
		return fail(dev, EINVAL,
			    "job %u: a fragment job follows the geometry job of its scene, in the same call",
			    index);
	if (job->stream % 16)
		return fail(dev, EINVAL, "job %u: stream %#llx is not aligned to 16 bytes", index,
			    (unsigned long long)job->stream);
	return 0;
}

/* A job without a stream would fault at address 0, in a unit that is unrelated to the caller. */
static int check_streams(struct pumice_device *dev, const struct pumice_gfx_job *jobs, u32 count,
			 u32 *failed)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (jobs[i].stream)
			continue;
		*failed = i;
		return fail(dev, EINVAL, "job %u: stream is 0; set it to the address of %s", i,
			    jobs[i].type == PUMICE_JOB_FRAGMENT ? "pumice_stream_render()" :
			    jobs[i].type == PUMICE_JOB_GEOMETRY ? "pumice_stream_vdm_end()" :
			    jobs[i].context->type == PUMICE_CONTEXT_TRANSFER ?
			    "pumice_stream_tdm_end()" : "pumice_stream_end()");
	}
	return 0;
}

bool sync_signaled_before(const struct pumice_gfx_job *jobs, u32 index,
			  const struct pumice_job_sync *wait)
{
	u32 j, i;

	for (j = 0; j < index; j++) {
		for (i = 0; i < jobs[j].sync_count; i++) {
			const struct pumice_job_sync *s = &jobs[j].syncs[i];

			if (s->signal && s->sync == wait->sync &&
			    !s->point == !wait->point && s->point >= wait->point)
				return true;
		}
	}
	return false;
}

int queue_submit(struct pumice_device *dev, const struct pumice_gfx_job *jobs, u32 count,
		 const struct pumice_present_job *present, u32 *failed)
{
	u32 i;
	int err;

	*failed = 0;
	if (count > MAX_JOBS)
		return fail(dev, E2BIG, "submit: %u jobs are more than %u; submit them in parts",
			    count, MAX_JOBS);
	if (count && !jobs)
		return fail(dev, EINVAL, "submit: jobs is NULL; set it, or count to 0");
	for (i = 0; i < count; i++) {
		err = check_job(dev, i, &jobs[i]);
		if (!err)
			err = check_kind(dev, jobs, count, i);
		if (err) {
			*failed = i;
			return err;
		}
	}
	err = check_streams(dev, jobs, count, failed);
	if (!err && count)
		err = dev->ops->submit(dev, jobs, count, present, failed);
	for (i = 0; i < count && !err; i++)
		__atomic_fetch_add(&jobs[i].context->jobs, 1, __ATOMIC_RELAXED);
	return err;
}

int pumice_submit_gfx(struct pumice_device *dev, const struct pumice_gfx_job *jobs,
		      uint32_t count, uint32_t *failed)
{
	u32 unused;

	return queue_submit(dev, jobs, count, NULL, failed ? failed : &unused);
}

int pumice_submit(struct pumice_device *dev, const struct pumice_job *jobs, uint32_t count,
		  uint32_t *failed)
{
	struct pumice_gfx_job all[MAX_JOBS];
	u32 i;

	if (count && !jobs)
		return pumice_submit_gfx(dev, NULL, count, failed);
	for (i = 0; i < count && i < MAX_JOBS; i++)
		all[i] = (struct pumice_gfx_job){
			.context = jobs[i].context, .stream = jobs[i].stream,
			.syncs = jobs[i].syncs, .sync_count = jobs[i].sync_count,
			.perfmon = jobs[i].perfmon,
		};
	return pumice_submit_gfx(dev, all, count, failed);
}

/*
 * Submit jobs and wait for all. Of several, each signals a point of @sync: when a context is
 * killed, jobs of its two queues can end in any order.
 */
static int run_with_sync(struct pumice_device *dev, struct pumice_gfx_job *jobs, u32 count,
			 struct pumice_sync *sync, u64 timeout_ns)
{
	struct pumice_job_sync signal[MAX_RUN_JOBS];
	const struct pumice_wait wait = { .sync = sync, .point = count > 1 ? count : 0 };
	u32 i;
	int err;

	for (i = 0; i < count; i++) {
		signal[i] = (struct pumice_job_sync){ .sync = sync, .signal = true };
		if (count > 1)
			signal[i].point = i + 1;
		jobs[i].syncs = &signal[i];
		jobs[i].sync_count = 1;
	}
	err = pumice_submit_gfx(dev, jobs, count, NULL);
	return err ? err : pumice_sync_wait(&wait, 1, 0, timeout_ns);
}

/* Find the first of @count jobs that failed. Return: its number; 0 if no stored result failed. */
static u64 first_failed(struct pumice_context *context, u64 first, u32 count)
{
	struct pumice_job_result r;
	u64 job;

	for (job = first; job < first + count; job++)
		if (!pumice_context_get_job_result(context, job, &r, sizeof(r)) && r.error)
			return job;
	return 0;
}

/* Set the error text to the description of a job, or to @state without one. */
static int fail_job(struct pumice_context *context, u64 job,
		    const struct pumice_context_state *state)
{
	char text[PUMICE_ERROR_BYTES];

	if (!describe_failure(context, job, text, sizeof(text)) && *text)
		return fail(context->dev, EIO, "%s", text);
	return fail(context->dev, EIO, "job faulted: %s at %#llx in %s, pc %u",
		    pumice_fault_name(state->fault), (unsigned long long)state->fault_va,
		    pumice_unit_name(state->unit), state->pc);
}

static int fail_late(struct pumice_context *context, u64 timeout_ns)
{
	char text[PUMICE_ERROR_BYTES];

	describe_late(context, timeout_ns, text, sizeof(text));
	return fail(context->dev, ETIME, "%s", text);
}

int queue_run(struct pumice_gfx_job *jobs, u32 count, u64 timeout_ns,
	      struct pumice_context_state *state)
{
	struct pumice_context *context = jobs[0].context;
	const u64 first = pumice_context_jobs(context) + 1;
	struct pumice_device *dev = context->dev;
	struct pumice_context_state before, after;
	struct pumice_sync *sync;
	int err;

	err = pumice_context_get_state(context, &before);
	if (err)
		return err;
	err = pumice_sync_create(dev, 0, &sync);
	if (err)
		return err;
	err = run_with_sync(dev, jobs, count, sync, timeout_ns);
	pumice_sync_destroy(sync);
	if (pumice_context_get_state(context, &after))
		return err ? err : -EIO;
	if (state)
		*state = after;
	if (err == -ETIME)
		return fail_late(context, timeout_ns);
	if (err || after.jobs_faulted == before.jobs_faulted)
		return err;
	/* A job that depends on one that failed usually fails too: the first is the reason. */
	return fail_job(context, first_failed(context, first, count), &after);
}

int pumice_context_run(struct pumice_context *context, uint64_t stream, uint64_t timeout_ns,
		       struct pumice_context_state *state)
{
	struct pumice_gfx_job job = { .context = context, .stream = stream };

	return queue_run(&job, 1, timeout_ns, state);
}

uint32_t pumice_context_id(const struct pumice_context *context)
{
	return context->id;
}

int pumice_context_dump(struct pumice_context *context, const char *path)
{
	if (!path)
		return fail_null(context->dev, "dump", "path");
	return context->dev->ops->context_dump(context, path);
}
