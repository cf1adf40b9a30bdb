// SPDX-License-Identifier: MIT
/* In-process backend: contexts and the results of their jobs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inproc.h"

void timeline_get(struct timeline *t)
{
	if (t)
		t->refs++;
}

void timeline_put(struct timeline *t)
{
	if (t && !--t->refs)
		free(t);
}

/* Get the firmware address of a field of the context's buffer. */
#define BUFFER_ADDR(c, field) ((c)->buffer.addr + (u32)offsetof(struct context_shared, field))

static void fill_shared(struct inproc_context *c, u64 catalogue, u32 dm, u32 priority)
{
	c->shared = c->buffer.cpu;
	c->shared->context = (struct fwif_context){
		.magic = FWIF_CONTEXT_MAGIC,
		.id = c->buffer.addr / PAGE_BYTES,
		.dm = dm,
		.priority = priority,
		.catalogue = catalogue,
		.cccb = BUFFER_ADDR(c, cccb),
		.cccb_bytes = CCCB_BYTES,
		.results = BUFFER_ADDR(c, results),
		.result_count = RESULT_COUNT,
		.save = BUFFER_ADDR(c, save),
		.stuck = BUFFER_ADDR(c, stuck),
		.flips = dm == FWIF_DM_TDM ? BUFFER_ADDR(c, flips) : 0,
	};
}

/* Allocate an update object, and continue from its value. */
static bool alloc_object(struct inproc_device *d, struct inproc_context *c)
{
	u32 i = 0;

	while (i < FWIF_MAX_CONTEXTS && d->object_used[i])
		i++;
	if (i == FWIF_MAX_CONTEXTS)
		return false;
	d->object_used[i] = true;
	c->object = i;
	c->timeline->object = fw_addr(d, &d->fw->objects[i]);
	c->timeline->submitted = c->timeline->done = d->fw->objects[i];
	return true;
}

/* Release it; remaining waiters are woken. */
static void free_object(struct inproc_device *d, struct inproc_context *c)
{
	__atomic_store_n(&d->fw->objects[c->object], c->timeline->submitted, __ATOMIC_RELEASE);
	d->object_used[c->object] = false;
	c->timeline->object = 0;
}

/* Create the firmware's part; a kick without work announces the context to the firmware. */
static int register_context(struct inproc_device *d, struct inproc_context *c, u32 dm,
			    u32 priority)
{
	struct inproc_vm *vm = (struct inproc_vm *)c->base.vm;
	struct fwif_kccb_cmd kick = { .type = FWIF_KCCB_KICK };
	int err = fw_buffer_create(d, sizeof(*c->shared), &c->buffer);

	if (err)
		return fail(&d->base, ENOMEM, "context: " OUT_OF_GPU_MEMORY);
	if (!alloc_object(d, c)) {
		fw_buffer_destroy(d, &c->buffer);
		return fail(&d->base, ENOSPC, TOO_MANY_CONTEXTS);
	}
	fill_shared(c, vm->space.tables.catalogue, dm, priority);
	kick.context = BUFFER_ADDR(c, context);
	err = fw_call(d, &kick);
	if (err) {
		free_object(d, c);
		fw_buffer_destroy(d, &c->buffer);
		return err;
	}
	c->base.id = c->shared->context.id;
	c->next = d->contexts;
	d->contexts = c;
	return 0;
}

int context_create(struct inproc_device *d, struct inproc_vm *vm, u32 dm, u32 priority,
		   struct inproc_context **out)
{
	struct inproc_context *c = calloc(1, sizeof(*c));
	int err;

	if (c)
		c->timeline = calloc(1, sizeof(*c->timeline));
	if (!c || !c->timeline) {
		free(c);
		return fail(&d->base, ENOMEM, "context: out of memory");
	}
	c->base = (struct pumice_context){ .dev = &d->base, .vm = &vm->base };
	c->timeline->refs = 1;
	err = register_context(d, c, dm, priority);
	if (err) {
		timeline_put(c->timeline);
		free(c);
		return err;
	}
	*out = c;
	return 0;
}

/* Get the data master of a context, for a render context that of its first queue. */
static u32 data_master(enum pumice_context_type type)
{
	switch (type) {
	case PUMICE_CONTEXT_RENDER:
		return FWIF_DM_VDM;
	case PUMICE_CONTEXT_TRANSFER:
		return FWIF_DM_TDM;
	case PUMICE_CONTEXT_RAYS:
		return FWIF_DM_RDM;
	default:
		return FWIF_DM_CDM;
	}
}

int inproc_context_create(struct pumice_vm *base, enum pumice_context_type type,
			  enum pumice_priority priority, struct pumice_context **out)
{
	struct inproc_device *d = inproc_device(base->dev);
	struct inproc_vm *vm = (struct inproc_vm *)base;
	struct inproc_context *c;
	int err;

	pthread_mutex_lock(&d->lock);
	err = context_create(d, vm, data_master(type), (u32)priority, &c);
	if (!err && type == PUMICE_CONTEXT_RENDER) {
		err = context_create(d, vm, FWIF_DM_PDM, (u32)priority, &c->second);
		if (err)
			context_destroy(d, c);
		else
			c->second->first = c;
	}
	pthread_mutex_unlock(&d->lock);
	if (!err)
		*out = &c->base;
	return err;
}

u32 context_busy(const struct inproc_context *c)
{
	return c->timeline->submitted - c->timeline->done;
}

/* Get the errno of the fence of a job. */
static int fault_error(u32 fault)
{
	switch (fault) {
	case PUMICE_FAULT_NONE:
		return 0;
	case PUMICE_FAULT_KILLED:
	case PUMICE_FAULT_RESET:
		return -ECANCELED;
	default:
		return -EIO;
	}
}

struct inproc_context *context_user(struct inproc_context *c)
{
	return c->first ? c->first : c;
}

/* Count a job that has ended, and store its result. */
static void end_job(struct inproc_device *d, struct inproc_context *c,
		    struct pumice_job_result *r)
{
	struct inproc_context *user = context_user(c);
	u32 slot = ++c->timeline->done % RESULT_COUNT;

	user->state.jobs_done++;
	r->job = c->number[slot];
	r->error = fault_error(r->fault);
	if (r->fault == PUMICE_FAULT_KILLED && c->timed_out && c->timeline->done == c->watch_seqno)
		r->error = -ETIMEDOUT;
	if (r->fault == PUMICE_FAULT_KILLED && c->held) {	/* the first that was killed ran */
		r->error = -ETIMEDOUT;
		c->held = false;
	}
	/* Of a fragment job that started because its geometry job was killed. */
	if (r->fault == PUMICE_FAULT_PM_NO_SCENE && user->dead)
		r->error = -ECANCELED;
	flip_end(d, c, c->timeline->done, r->error);
	user->kept[r->job % KEPT_RESULTS] = *r;
	user->last = r->job;
	user->state.jobs_faulted += !!r->fault;
	d->jobs_done++;
	d->jobs_faulted += !!r->fault;
	if (!c->perf[slot])
		return;
	c->perf[slot]->busy--;
	perf_put(d, c->perf[slot]);
	c->perf[slot] = NULL;
}

void context_add_places(const struct fwif_stuck *s, struct pumice_job_result *result)
{
	u32 i;

	result->waves = s->waves;
	result->waves_looked = s->sampled;
	for (i = 0; i < s->places && i < PUMICE_STUCK_PLACES; i++)
		result->places[i] = (struct pumice_stuck_place){
			.code = s->place[i].code,
			.pc = s->place[i].pc,
			.waves = s->place[i].waves,
			.barrier = s->place[i].state == PUMICE_WAVE_STATE_BARRIER,
			.lanes = s->place[i].lanes,
			.usc = s->place[i].usc,
			.slot = s->place[i].slot,
			.wave = s->place[i].wave,
		};
	result->place_count = i;
}

/* Store the places a job was at when it was killed. */
static void add_places(const struct inproc_context *c, u32 seqno, struct pumice_job_result *result)
{
	const struct fwif_stuck s = c->shared->stuck;

	if (s.seqno == seqno)
		context_add_places(&s, result);
}

/* Store where a job faulted, in terms of pumice_job_result. */
static void add_fault_place(const struct inproc_context *c, u32 seqno,
			    struct pumice_job_result *result)
{
	const struct fwif_stuck s = c->shared->stuck;

	if (s.seqno != seqno || !s.places)
		return;
	result->known = PUMICE_FAULT_PROGRAM;
	result->code = s.place[0].code;
	if (s.known & FWIF_KNOWN_WAVE) {
		result->known |= PUMICE_FAULT_WAVE;
		result->lanes = s.place[0].lanes;
		result->slot = s.place[0].slot;
		result->wave = s.place[0].wave;
	}
	if (s.known & FWIF_KNOWN_LANE) {
		result->known |= PUMICE_FAULT_LANE;
		result->lane = s.lane;
		result->instance = s.instance;
	}
	if (s.known & FWIF_KNOWN_GROUP) {
		result->known |= PUMICE_FAULT_GROUP;
		memcpy(result->group, s.group, sizeof(result->group));
	}
}

/* Process the result of one job. */
static void account(struct inproc_device *d, struct inproc_context *c, u32 seqno)
{
	struct fwif_job_result r = c->shared->results[seqno % RESULT_COUNT];
	struct pumice_context_state *s = &context_user(c)->state;
	bool good = r.seqno == seqno;
	struct pumice_job_result kept = {
		.fault = good ? r.fault : PUMICE_FAULT_FW_COMMAND,
		.unit = r.unit,
		.access = r.access,
		.pc = r.pc,
		.usc = r.usc,
		.fault_va = r.addr,
		.start = r.time_start,
		.end = r.time_end,
		.run_ticks = r.run_ticks,
		.groups = r.groups,
		.slices = r.slices,
		.partial_renders = r.partials,
	};

	if (kept.fault == PUMICE_FAULT_KILLED)
		add_places(c, seqno, &kept);
	else if (kept.fault && good)
		add_fault_place(c, seqno, &kept);
	end_job(d, c, &kept);
	s->last_start = r.time_start;
	s->last_end = r.time_end;
	if (!kept.fault)
		return;
	/* A user kills jobs that run too long: this acts as their time-out. */
	if (kept.error == -EIO ||
	    (kept.fault == PUMICE_FAULT_KILLED && kept.unit != PUMICE_UNIT_FW &&
	     s->flags & PUMICE_CONTEXT_GUILTY))
		vm_note_fault((struct inproc_vm *)c->base.vm, context_user(c)->base.id, &kept);
	s->flags |= PUMICE_CONTEXT_FAULTED;
	s->fault = kept.fault;
	s->unit = r.unit;
	s->access = r.access;
	s->pc = r.pc;
	s->fault_va = r.addr;
}

/* A context that runs updates only has no results. */
static bool is_binder(const struct inproc_context *c)
{
	return ((struct inproc_vm *)c->base.vm)->binder == c;
}

static bool is_killed(const struct inproc_context *c)
{
	return __atomic_load_n(&c->shared->context.state, __ATOMIC_ACQUIRE) == FWIF_CONTEXT_KILLED;
}

/*
 * Stop a context that the firmware has killed without a command of this library: a job of one queue
 * had held a data master that others waited for. watch_jobs() kills the other queue.
 */
static void note_hold(struct inproc_device *d, struct inproc_context *user)
{
	struct inproc_context *queue = user;

	if (user->dead)
		return;
	if (!is_killed(user))
		queue = user->second;
	if (!queue || !is_killed(queue))
		return;
	context_set_guilty(d, user);
	user->dead = true;
	user->other_lives = user->second;
	queue->held = true;
}

void context_process(struct inproc_device *d, struct inproc_context *c)
{
	struct timeline *t = c->timeline;
	u32 state = __atomic_load_n(&c->shared->context.state, __ATOMIC_ACQUIRE);
	u32 done = __atomic_load_n(&d->fw->objects[c->object], __ATOMIC_ACQUIRE);

	/* A count above the number of submitted jobs is rejected. */
	if (done - t->done > t->submitted - t->done)
		return;
	flip_collect(d, c);
	/* The firmware sets the state before it counts the killed job, and starts later ones. */
	note_hold(d, context_user(c));
	if (is_binder(c))
		t->done = done;
	while (t->done != done)
		account(d, c, t->done + 1);
	if (state == FWIF_CONTEXT_BROKEN)
		context_lose(d, c, PUMICE_CONTEXT_GUILTY);
}

/* The first reason is kept. */
static void count_stopped(struct inproc_device *d, struct inproc_context *user, u32 flag)
{
	if (user->state.flags & (PUMICE_CONTEXT_GUILTY | PUMICE_CONTEXT_INNOCENT))
		return;
	user->state.flags |= flag;
	d->guilty += flag == PUMICE_CONTEXT_GUILTY;
	d->innocent += flag == PUMICE_CONTEXT_INNOCENT;
}

void context_set_guilty(struct inproc_device *d, struct inproc_context *user)
{
	count_stopped(d, user, PUMICE_CONTEXT_GUILTY);
}

void context_lose(struct inproc_device *d, struct inproc_context *c, u32 flag)
{
	struct timeline *t = c->timeline;
	struct pumice_job_result lost = {
		.fault = flag == PUMICE_CONTEXT_GUILTY ? PUMICE_FAULT_FW_COMMAND :
							 PUMICE_FAULT_RESET,
	};

	c->dead = true;
	context_user(c)->dead = true;
	if (t->done == t->submitted)
		return;
	count_stopped(d, context_user(c), flag);
	context_user(c)->state.fault = lost.fault;
	if (is_binder(c))
		t->done = t->submitted;
	while (t->done != t->submitted)
		end_job(d, c, &lost);
}

/* Send a command that concerns the whole context. */
static int send_command(struct inproc_device *d, struct inproc_context *c, u32 type)
{
	const struct fwif_kccb_cmd cmd = { .type = type, .context = BUFFER_ADDR(c, context) };

	return fw_call(d, &cmd);
}

static int kill_jobs(struct inproc_device *d, struct inproc_context *c)
{
	int err = 0, first;

	c->dead = true;
	c->other_lives = false;		/* its second queue may be freed before it */
	/* Kill fragment jobs before their dependencies, so that none starts without a scene. */
	if (c->second)
		err = send_command(d, c->second, FWIF_KCCB_CONTEXT_KILL);
	first = send_command(d, c, FWIF_KCCB_CONTEXT_KILL);
	err = err ? err : first;
	event_process(d);
	/* Other threads may be waiting for the jobs. */
	event_raise(d);
	return err;
}

static void unlink_context(struct inproc_device *d, struct inproc_context *c)
{
	struct inproc_context **link;

	for (link = &d->contexts; *link; link = &(*link)->next)
		if (*link == c)
			break;
	*link = c->next;
}

void context_destroy(struct inproc_device *d, struct inproc_context *c)
{
	int err;

	kill_jobs(d, c);
	if (c->second)
		context_destroy(d, c->second);
	err = send_command(d, c, FWIF_KCCB_CONTEXT_RELEASE);
	context_lose(d, c, PUMICE_CONTEXT_INNOCENT);
	unlink_context(d, c);
	free_object(d, c);
	timeline_put(c->timeline);
	/* Memory that the firmware may still use is kept until the device is destroyed. */
	if (!err || d->lost)
		fw_buffer_destroy(d, &c->buffer);
	free(c);
}

void inproc_context_destroy(struct pumice_context *base)
{
	struct inproc_device *d = inproc_device(base->dev);

	pthread_mutex_lock(&d->lock);
	context_destroy(d, (struct inproc_context *)base);
	pthread_mutex_unlock(&d->lock);
}

int inproc_context_get_state(struct pumice_context *base, struct pumice_context_state *state)
{
	struct inproc_device *d = inproc_device(base->dev);

	pthread_mutex_lock(&d->lock);
	event_process(d);
	*state = ((struct inproc_context *)base)->state;
	pthread_mutex_unlock(&d->lock);
	return 0;
}

int inproc_context_set_priority(struct pumice_context *base, enum pumice_priority priority)
{
	struct inproc_device *d = inproc_device(base->dev);
	struct inproc_context *c = (struct inproc_context *)base;
	struct fwif_kccb_cmd cmd = {
		.type = FWIF_KCCB_CONTEXT_PRIORITY, .priority = (u32)priority,
	};
	int err = 0;

	pthread_mutex_lock(&d->lock);
	for (; c && !err; c = c->second) {
		cmd.context = BUFFER_ADDR(c, context);
		err = fw_call(d, &cmd);
	}
	pthread_mutex_unlock(&d->lock);
	return err;
}

int inproc_resets(struct pumice_device *dev, struct pumice_device_resets *resets)
{
	struct inproc_device *d = inproc_device(dev);

	pthread_mutex_lock(&d->lock);
	event_process(d);
	*resets = (struct pumice_device_resets){
		.guilty = d->guilty, .innocent = d->innocent,
		.flags = d->lost ? PUMICE_RESETS_LOST : 0,
	};
	pthread_mutex_unlock(&d->lock);
	return 0;
}

int inproc_context_kill(struct pumice_context *base)
{
	struct inproc_device *d = inproc_device(base->dev);
	struct inproc_context *c = (struct inproc_context *)base;
	int err;

	pthread_mutex_lock(&d->lock);
	context_set_guilty(d, c);
	err = kill_jobs(d, c);
	pthread_mutex_unlock(&d->lock);
	return err;
}

/* Return whether a submitted job has not ended. */
static bool is_pending(const struct inproc_context *c, u64 job)
{
	u32 seqno;

	for (seqno = c->timeline->done; seqno != c->timeline->submitted; seqno++)
		if (c->number[(seqno + 1) % RESULT_COUNT] == job)
			return true;
	return c->second && is_pending(c->second, job);
}

int inproc_job_result(struct pumice_context *base, u64 job, struct pumice_job_result *result)
{
	struct inproc_device *d = inproc_device(base->dev);
	struct inproc_context *c = (struct inproc_context *)base;
	int err = 0;

	pthread_mutex_lock(&d->lock);
	event_process(d);
	if (!job)
		job = c->last;
	if (job > c->numbered)
		err = fail_job_result(base->dev, ENOENT, job);
	else if (is_pending(c, job))
		err = fail_job_result(base->dev, EBUSY, job);
	else if (!job || c->kept[job % KEPT_RESULTS].job != job)
		err = fail_job_result(base->dev, ENODATA, job);
	else
		*result = c->kept[job % KEPT_RESULTS];
	pthread_mutex_unlock(&d->lock);
	return err;
}
