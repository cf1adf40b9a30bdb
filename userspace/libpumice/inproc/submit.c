// SPDX-License-Identifier: MIT
/*
 * In-process backend: submission.
 *
 * A job becomes WAIT commands, its own command, and UPDATE of the update
 * object of its queue, whose value is the job's number there. Its
 * dependencies are always other jobs, so the firmware does all the waiting.
 *
 * A geometry job also waits for the job that last rendered its scene,
 * and for the dependencies of its fragment job, as a partial render
 * may read their results; a fragment job waits for its geometry job.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cccb.h"
#include "inproc.h"

/*
 * Other timelines a job can wait for: one
 * per firmware context, including binders.
 */
#define MAX_WAITS	FWIF_MAX_CONTEXTS

/* Dependencies of a job, the latest of each timeline. */
struct wait_set {
	struct fence fence[MAX_WAITS];
	u32 count;
	const struct timeline *own;	/* jobs of one context run in order in any case */
};

static void add_wait(void *data, const struct fence *f)
{
	struct wait_set *set = data;
	u32 i;

	if (f->timeline == set->own || !f->timeline->object)
		return;
	for (i = 0; i < set->count; i++) {
		if (set->fence[i].timeline != f->timeline)
			continue;
		if ((s32)(f->seqno - set->fence[i].seqno) > 0)
			set->fence[i].seqno = f->seqno;
		return;
	}
	if (set->count < MAX_WAITS)
		set->fence[set->count++] = *f;
}

/* Get the queue of a job. */
static struct inproc_context *queue_of(const struct pumice_gfx_job *job)
{
	struct inproc_context *c = (struct inproc_context *)job->context;

	return job->type == PUMICE_JOB_FRAGMENT ? c->second : c;
}

static void add_syncs(const struct pumice_gfx_job *job, struct wait_set *set)
{
	u32 i;

	for (i = 0; i < job->sync_count; i++)
		if (!job->syncs[i].signal)
			sync_each_fence((struct inproc_sync *)job->syncs[i].sync,
					job->syncs[i].point, add_wait, set);
}

/* @job: a geometry job is followed by its fragment job */
static void collect_waits(const struct pumice_gfx_job *job, struct wait_set *set)
{
	const struct inproc_hwrt *h = (const struct inproc_hwrt *)job->hwrt;
	const struct fence *scene = NULL;

	set->count = 0;
	set->own = queue_of(job)->timeline;
	add_syncs(job, set);
	if (job->type == PUMICE_JOB_GEOMETRY) {
		add_syncs(job + 1, set);
		scene = &h->rendered[job->hwrt_data];
	} else if (job->type == PUMICE_JOB_FRAGMENT) {
		scene = &h->binned[job->hwrt_data];
	}
	if (scene && scene->timeline)
		add_wait(set, scene);
}

static int check(struct pumice_device *dev, const struct pumice_gfx_job *jobs, u32 index)
{
	const struct pumice_gfx_job *job = &jobs[index];
	u32 i;

	if (((struct inproc_context *)job->context)->dead)
		return fail_context_stopped(dev, index);
	if (((struct inproc_vm *)job->context->vm)->unusable)
		return fail_vm_unusable(dev, "submit");
	if (job->perfmon && !perf_find(inproc_device(dev), job->perfmon))
		return fail_job_perfmon(dev, index, job->perfmon);
	for (i = 0; i < job->sync_count; i++) {
		const struct pumice_job_sync *s = &job->syncs[i];

		if (!s->signal &&
		    !sync_is_submitted((struct inproc_sync *)s->sync, s->point) &&
		    !sync_signaled_before(jobs, index, s))
			return fail_job_unsignaled(dev, index, i);
	}
	return 0;
}

static u32 job_bytes(const struct wait_set *set)
{
	/* Size of the largest command of a job. */
	return (u32)(set->count * sizeof(struct fwif_cccb_wait) +
		     sizeof(struct fwif_cccb_render) + sizeof(struct fwif_cccb_update));
}

static bool cccb_has_room(const struct inproc_context *c, u32 bytes)
{
	u32 read = __atomic_load_n(&c->shared->context.cccb_read, __ATOMIC_ACQUIRE);

	return pumice_cccb_room(CCCB_BYTES, c->write, read) >=
	       pumice_cccb_needs(CCCB_BYTES, c->write, bytes);
}

static bool has_room(const struct inproc_context *c, u32 bytes)
{
	return cccb_has_room(c, bytes) && context_busy(c) < RESULT_COUNT;
}

/* Wait until the job can be queued without waiting. */
static int wait_for_room(struct inproc_device *d, struct inproc_context *c, u32 bytes)
{
	u64 seen;

	for (;;) {
		seen = event_count(d);
		event_process(d);
		watch_jobs(d);
		if (d->lost)
			return fw_lost(d);
		if (has_room(c, bytes) && fw_has_room(d))
			return 0;
		event_wait(d, seen, PUMICE_FOREVER);
	}
}

static void put(struct inproc_context *c, const void *cmd, u32 bytes)
{
	c->write = pumice_cccb_write(c->shared->cccb, CCCB_BYTES, c->write, cmd, bytes);
}

/* Write a filler if the commands of a job would wrap. */
static void put_pad(struct inproc_context *c, u32 bytes)
{
	c->write = pumice_cccb_pad(c->shared->cccb, CCCB_BYTES, c->write, bytes);
}

/* Return the operations on caches of a job, FWIF_CACHES_*. */
static u32 caches_of(const struct inproc_context *c)
{
	const struct inproc_device *d = inproc_device(c->base.dev);
	struct inproc_vm *vm = (struct inproc_vm *)c->base.vm;
	u32 caches = pumice_cccb_caches(c->shared->context.dm, d->fw->boot.fw_version, vm->cached);

	vm->cacheless_job |= !vm->cached;
	if (d->omitted & INPROC_OMIT_START)
		caches &= ~(FWIF_CACHES_START_CORES | FWIF_CACHES_START_SYSTEM);
	if (d->omitted & INPROC_OMIT_START_SYSTEM)
		caches &= ~FWIF_CACHES_START_SYSTEM;
	if (d->omitted & INPROC_OMIT_END)
		caches &= ~FWIF_CACHES_END;
	return caches;
}

static void put_present(struct inproc_context *c, const struct pumice_gfx_job *job, u32 seqno,
			u32 perf)
{
	const struct fwif_cccb_present present = {
		.header = { FWIF_CCCB_PRESENT | caches_of(c), sizeof(present) },
		.stream = job->stream,
		.seqno = seqno,
		.perf = perf,
		.presents = c->flips[seqno % RESULT_COUNT].left,
	};

	put(c, &present, sizeof(present));
}

static void put_command(struct inproc_context *c, const struct pumice_gfx_job *job, u32 seqno,
			u32 perf)
{
	const u32 dm = c->shared->context.dm, caches = caches_of(c);
	const struct fwif_cccb_compute compute = {
		.header = { caches | (dm == FWIF_DM_TDM ? FWIF_CCCB_TRANSFER :
				      dm == FWIF_DM_RDM ? FWIF_CCCB_RAYS : FWIF_CCCB_COMPUTE),
			    sizeof(compute) },
		.stream = job->stream,
		.seqno = seqno,
		.perf = perf,
	};
	struct fwif_cccb_render render = {
		.header = { FWIF_CCCB_FRAGMENT | caches, sizeof(render) },
		.stream = job->stream,
		.seqno = seqno,
		.perf = perf,
	};

	if (c->flips[seqno % RESULT_COUNT].left) {
		put_present(c, job, seqno, perf);
		return;
	}
	if (!job->hwrt) {
		put(c, &compute, sizeof(compute));
		return;
	}
	render.scene = hwrt_scene((const struct inproc_hwrt *)job->hwrt, job->hwrt_data);
	if (job->type == PUMICE_JOB_GEOMETRY) {
		render.header.type = FWIF_CCCB_GEOMETRY | caches;
		render.render = job[1].stream;
		render.before = c->second->timeline->object;
		render.before_value = c->second->timeline->submitted;
	}
	put(c, &render, sizeof(render));
}

static void put_job(struct inproc_context *c, const struct wait_set *set,
		    const struct pumice_gfx_job *job, u32 seqno, u32 perf)
{
	const struct fwif_cccb_update update = {
		.header = { FWIF_CCCB_UPDATE, sizeof(update) },
		.object = c->timeline->object,
		.value = seqno,
	};
	u32 i;

	put_pad(c, job_bytes(set));
	for (i = 0; i < set->count; i++) {
		const struct fwif_cccb_wait wait = {
			.header = { FWIF_CCCB_WAIT, sizeof(wait) },
			.object = set->fence[i].timeline->object,
			.value = set->fence[i].seqno,
		};

		put(c, &wait, sizeof(wait));
	}
	put_command(c, job, seqno, perf);
	put(c, &update, sizeof(update));
}

static void send_kick(struct inproc_device *d, struct inproc_context *c)
{
	const struct fwif_kccb_cmd kick = {
		.type = FWIF_KCCB_KICK,
		.context = c->buffer.addr + (u32)offsetof(struct context_shared, context),
		.write = c->write,
	};

	fw_send(d, &kick);
}

bool submit_update(struct inproc_device *d, struct inproc_context *c, u32 seqno)
{
	const struct fwif_cccb_update update = {
		.header = { FWIF_CCCB_UPDATE, sizeof(update) },
		.object = c->timeline->object,
		.value = seqno,
	};

	if (!cccb_has_room(c, sizeof(update)) || !fw_has_room(d))
		return false;
	put_pad(c, sizeof(update));
	put(c, &update, sizeof(update));
	send_kick(d, c);
	return true;
}

/* Attach the job to its monitor until it ends. Return: the monitor's firmware address, or 0. */
static u32 attach_perf(struct inproc_device *d, struct inproc_context *c, u32 id, u32 seqno)
{
	struct perf_buffer *buffer = id ? perf_find(d, id) : NULL;

	if (!buffer)
		return 0;
	buffer->refs++;
	buffer->busy++;
	c->perf[seqno % RESULT_COUNT] = buffer;
	return buffer->buffer.addr;
}

/* Make later jobs of the scene wait for this one. */
static void note_scene(const struct pumice_gfx_job *job, struct timeline *timeline, u32 seqno)
{
	struct inproc_hwrt *h = (struct inproc_hwrt *)job->hwrt;

	if (job->type == PUMICE_JOB_GEOMETRY)
		fence_replace(&h->binned[job->hwrt_data], timeline, seqno);
	else if (job->type == PUMICE_JOB_FRAGMENT)
		fence_replace(&h->rendered[job->hwrt_data], timeline, seqno);
}

/* Queue job @index. @present: or NULL; @nodes: one for each signal of a timeline, consumed */
static int queue(struct inproc_device *d, const struct pumice_gfx_job *jobs, u32 index,
		 const struct pumice_present_job *present, struct sync_point **nodes)
{
	const struct pumice_gfx_job *job = &jobs[index];
	struct inproc_context *user = (struct inproc_context *)job->context;
	struct inproc_context *c = queue_of(job);
	struct wait_set set;
	u32 seqno;
	int err;

	/* The number of waits can only decrease while this waits for room. */
	collect_waits(job, &set);
	err = wait_for_room(d, c, job_bytes(&set));
	if (err)
		return err;
	/* A job of this context may have exceeded its time-out meanwhile. */
	if (user->dead)
		return fail_context_stopped(&d->base, index);
	if (present)
		err = flip_reserve(d, present->presents);
	if (err)
		return err;
	collect_waits(job, &set);
	seqno = ++c->timeline->submitted;
	c->flips[seqno % RESULT_COUNT] = (struct job_flips){
		.left = present ? present->presents : 0,
		.user_data = present ? present->user_data : 0,
	};
	c->number[seqno % RESULT_COUNT] = ++user->numbered;
	c->stream[seqno % RESULT_COUNT] = job->stream;
	put_job(c, &set, job, seqno, attach_perf(d, c, job->perfmon, seqno));
	send_kick(d, c);
	d->jobs_submitted++;
	note_scene(job, c->timeline, seqno);
	sync_put_signals(job->syncs, job->sync_count, c->timeline, seqno, nodes);
	return 0;
}

/* Allocate memory for all signals of timelines. Return: false if out of memory. */
static bool make_nodes(const struct pumice_gfx_job *jobs, u32 count, struct sync_point **nodes)
{
	u32 j;

	*nodes = NULL;
	for (j = 0; j < count; j++)
		if (!sync_make_nodes(jobs[j].syncs, jobs[j].sync_count, nodes))
			return false;
	return true;
}

int inproc_submit(struct pumice_device *dev, const struct pumice_gfx_job *jobs, u32 count,
		  const struct pumice_present_job *present, u32 *failed)
{
	struct inproc_device *d = inproc_device(dev);
	struct sync_point *nodes;
	int err = 0;
	u32 i;

	if (!make_nodes(jobs, count, &nodes))
		return fail(dev, ENOMEM, "submit: out of memory");
	pthread_mutex_lock(&d->lock);
	for (i = 0; i < count && !err; i++)
		err = check(dev, jobs, i);
	if (err)
		*failed = i - 1;
	for (i = 0; i < count && !err; i++) {
		err = queue(d, jobs, i, present, &nodes);
		if (err)
			*failed = i;
	}
	pthread_mutex_unlock(&d->lock);
	sync_free_nodes(nodes);
	/* Other threads may be waiting for a submission. */
	event_raise(d);
	return err;
}
